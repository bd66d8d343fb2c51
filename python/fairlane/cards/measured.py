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
from .judge import NOTHING, Answer, judged, sentence
from .question import Question
from .subject import Subject

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


def measured(question: Question, subject: Subject) -> Answer:
    """Returns the answer of a question with `measure`; the numbers come with their names of the claim."""
    if subject.kind != "queue" or subject.value[subject.name]:
        return Answer(question, "not applicable", NOTHING, "it is measured with default parameters")
    try:
        numbers, words = _MEASURES[question.measure](subject.name)
    except FairlaneError:
        return Answer(question, "not applicable", NOTHING, "the queue cannot be measured alone: it needs parameters, or is a plug-in")
    tables = Tables({name: [{"value": repr(x)}] for name, x in numbers.items()})
    value = Check(f"({question.number}) {question.sign} {question.bound!r}").comparisons(tables)[-1].left
    word, iv, decided = judged([value, value, value], question, 1)
    return Answer(question, word, iv, f"{sentence(word, iv, question, decided)}; measured here, {words}", (value,))


def _cost(name: str) -> tuple[dict[str, float], str]:
    """Returns the time of a packet in this queue and in DropTail."""
    rows = run_queues([name], packets=300_000, repeat=3, hops=False)["queues"]
    if rows[-1]["ns"] is None:
        raise FairlaneError(f"{name} needs parameters")
    ns, base = float(rows[-1]["ns"]), float(rows[0]["ns"])
    return {"ns": ns, "droptail_ns": base}, f"{ns:.0f} ns a packet"


def _memory(name: str) -> tuple[dict[str, float], str]:
    """Returns the memory of a flow that is more than DropTail's: the growth from one flow to many, each with a packet in the queue."""
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


_MEASURES: dict[str, Callable[[str], tuple[dict[str, float], str]]] = {"cost": _cost, "memory": _memory}
