"""Answers that are measured on this machine instead of simulated: what a queue costs in time and in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ..base.choices import choices, limited
from ..bench import benchmarks
from ..bench.queues import run_queues
from ..claims import Check, Tables
from ..errors import FairlaneError
from .heap import PACKETS, packet_bytes
from .judge import NOTHING, Answer, judged, sentence
from .question import Question
from .subject import Subject, registered

FLOWS = 20_000
"""Flows of the measurement of memory; each has one packet in the queue."""
_BACKLOG = """
duration = "2s"

[links.line]
from = "a"
to = "b"
rate = "1Mbit/s"
delay = "1ms"
queue = "droptail"

[flows.burst]
from = "a"
to = "b"
count = 1
udp = {}
source = { cbr = { rate = "400bit/s", size = "100B" } }
"""


class Unmeasured(FairlaneError):
    """A subject that cannot be measured; the message says why."""


def measured(question: Question, subject: Subject) -> Answer:
    """Returns the answer of a question with `measure`; the numbers come with their names of the claim."""
    try:
        if subject.kind != "queue":
            raise Unmeasured("only queues are measured")
        if subject.name not in registered("queue"):
            raise Unmeasured("a plug-in cannot be measured apart from its caller")
        numbers, words = _MEASURES[question.measure](subject)
    except Unmeasured as e:
        return Answer(question, "not applicable", NOTHING, str(e))
    tables = Tables({name: [{"value": repr(x)}] for name, x in numbers.items()})
    value = Check(f"({question.number}) {question.sign} {question.bound!r}").comparisons(tables)[-1].left
    word, iv, decided = judged([value, value, value], question, 1)
    return Answer(question, word, iv, f"{sentence(word, iv, question, decided)}; measured here, {words}", (value,))


def _by_default(subject: Subject) -> str:
    if subject.value[subject.name]:
        raise Unmeasured("it is measured with default parameters")
    return subject.name


def _cost(subject: Subject) -> tuple[dict[str, float], str]:
    """Returns the time of a packet in this queue and in DropTail."""
    rows = run_queues([_by_default(subject)], packets=300_000, repeat=3, hops=False)["queues"]
    if rows[-1]["ns"] is None:
        raise Unmeasured("the queue cannot be measured alone: it needs parameters")
    ns, base = float(rows[-1]["ns"]), float(rows[0]["ns"])
    return {"ns": ns, "droptail_ns": base}, f"{ns:.0f} ns a packet"


def _packet_memory(subject: Subject) -> tuple[dict[str, float], str]:
    """Returns the memory of a packet in this queue and in DropTail, with the 96 bytes of the packet itself."""
    (mine, kept), (base, _) = packet_bytes(subject.value), packet_bytes({"droptail": {}})
    if kept < 0.9 * PACKETS:
        raise Unmeasured(f"the queue drops packets before it has {PACKETS}: it keeps {kept:.3g}")
    return {"packet_bytes": mine, "droptail_bytes": base}, f"{mine:.0f} bytes a packet in the queue, {base:.0f} with DropTail"


def _memory(subject: Subject) -> tuple[dict[str, float], str]:
    """Returns the memory of a flow that is more than DropTail's: the growth from one flow to many, each with a packet in the queue."""
    name = _by_default(subject)
    with TemporaryDirectory(prefix="fairlane-memory-") as folder:
        file = Path(folder) / "backlog.toml"
        file.write_text(_BACKLOG, "utf-8")

        def growth(queue: str) -> float:
            (choice,) = choices(queue)
            sets = {"links.line.queue": limited(choice, f"{2 * FLOWS}p")}
            few, many = (benchmarks.one(queue, file, {**sets, "flows.burst.count": n})["peak_rss_mib"] for n in (1, FLOWS))
            return float(many - few) * 2**20 / FLOWS

        mine, base = growth(name), growth("droptail")
    return {"flow_bytes": max(0.0, mine - base), "droptail_bytes": base}, f"{max(0.0, mine - base):.0f} bytes a flow with one packet"


_MEASURES: dict[str, Callable[[Subject], tuple[dict[str, float], str]]] = {
    "cost": _cost,
    "memory": _memory,
    "packet_memory": _packet_memory,
}
