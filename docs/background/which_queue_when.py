"""Runs the situations of which-queue-when.md: `python docs/background/which_queue_when.py`, with fairlane installed.

Writes every number to which-queue-when.csv, the tables of the page from it, and the figures. `--page` only writes the tables again.
The same version of fairlane writes the same files.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fairlane as fl
from fairlane.comparison import Comparison, default_network

HERE = Path(__file__).resolve().parent
PAGE, DATA, PICTURES = HERE / "which-queue-when.md", HERE / "which-queue-when.csv", HERE / "img"
SEEDS = "1..10"
FIELDS = ("situation", "queue", "of", "metric", "mean", "low", "high", "n")
Row = dict[str, str]


@dataclass(frozen=True)
class Column:
    """One column: of a group of flows, of the link (""), or of all flows ("jain" of "")."""

    head: str
    of: str
    metric: str
    factor: float = 1.0
    places: int = 1


@dataclass(frozen=True)
class Situation:
    """One table of the page."""

    network: Callable[[], fl.Network]
    queues: tuple[str, ...]
    columns: tuple[Column, ...]
    link: str = "bottleneck"
    limit: str | None = "100p"


def percent(head: str, of: str, metric: str, places: int = 1) -> Column:
    """A share."""
    return Column(f"{head} (%)", of, metric, 100.0, places)


def ms(head: str, of: str, metric: str, places: int = 1) -> Column:
    """A delay."""
    return Column(f"{head} (ms)", of, metric, 1e3, places)


def mbit(head: str, of: str, metric: str = "goodput_sum", places: int = 2) -> Column:
    """A rate."""
    return Column(f"{head} (Mbit/s)", of, metric, 1e-6, places)


TCP = "sack"
ACCESS = {"rate": "100Mbit/s", "delay": "1ms"}
TIMES = {"duration": "70s", "warmup": "10s"}
VOICE = {"udp": {}, "source": {"cbr": {"rate": "100kbit/s", "size": "200B", "jitter": 0.2}}}


def dumbbell(name: str, pairs: int, rate: str = "10Mbit/s", **settings: object) -> fl.Network:
    """The dumbbell of all situations but the last."""
    net = fl.Network(name=name, **TIMES)
    return net.dumbbell(pairs=pairs, access=ACCESS, bottleneck={"rate": rate, "delay": "20ms"}, **settings)


def bulk() -> fl.Network:
    """Four TCP flows and nothing else."""
    return dumbbell("bulk TCP alone", 4).flow("tcp", "s{i}", "d{i}", count=4, spread="1s", tcp=TCP)


def beside_udp(rate: str) -> Callable[[], fl.Network]:
    """Five TCP flows and an unresponsive UDP stream."""
    return lambda: default_network(udp=rate, tcp=TCP, **TIMES)


def many() -> fl.Network:
    """Fifty TCP flows: each has a window of a few packets."""
    return dumbbell("many flows", 50).flow("tcp", "s{i}", "d{i}", count=50, spread="2s", tcp=TCP)


def unequal() -> fl.Network:
    """Two near and two far flows: round trips of 24 ms and 204 ms without a queue."""
    net = fl.Network(name="unequal round trips", **TIMES)
    net.link("r1", "r2", name="bottleneck", rate="10Mbit/s", delay="10ms")
    for group, delay in (("near", "1ms"), ("far", "46ms")):
        for i in range(2):
            net.link(f"{group}{i}", "r1", rate="100Mbit/s", delay=delay)
            net.link("r2", f"{group}d{i}", rate="100Mbit/s", delay=delay)
        net.flow(group, f"{group}{{i}}", f"{group}d{{i}}", count=2, spread="1s", tcp=TCP)
    return net


def voice() -> fl.Network:
    """A call and two bulk flows."""
    net = dumbbell("a call and bulk TCP", 3).flow("tcp", "s{i}", "d{i}", count=2, spread="1s", tcp=TCP)
    return net.flow("voice", "s2", "d2", **VOICE)


def uplink() -> fl.Network:
    """A home router before a modem that buffers 256 KiB; the queue compared is the router's."""
    net = fl.Network(name="home uplink", **TIMES)
    net.link("desk", "router", rate="1Gbit/s", delay="100us")
    net.link("phone", "router", rate="1Gbit/s", delay="100us")
    net.link("router", "modem", name="router", rate="1Gbit/s", delay="100us")
    net.link("modem", "net", name="modem", rate="5Mbit/s", delay="15ms", queue={"droptail": {"limit": "256KiB"}})
    net.flow("upload", "desk", "net", count=2, spread="1s", tcp=TCP)
    return net.flow("voice", "phone", "net", **VOICE)


SINGLE = ("droptail{limit=20p}", "droptail", "droptail{limit=1000p}", "red", "ared", "pie", "codel", "fq_codel", "cake")
ISOLATING = ("droptail", "red", "codel", "choke", "sfb", "sfq", "drr", "fq_codel", "cake")
TCP_FIRST = "prio{classes=[{match=tcp, queue.codel={}}, {match=udp, queue.droptail={limit=100p}}]}"
CALL_FIRST = "prio{classes=[{match='flow:voice', queue.droptail={limit=100p}}, {match=any, queue.codel={}}]}"
SHAPED = "4750kbit/s"
"""95 % of the modem's rate."""
JAIN = Column("Jain", "", "jain", places=3)
USED = percent("utilisation", "", "utilisation")
TCP_DELAY, LOSS = ms("TCP delay", "tcp", "delay_mean"), percent("TCP loss", "tcp", "loss", 2)
CALL = (ms("call delay", "voice", "delay_mean"), ms("95 %", "voice", "delay_p95"), percent("call loss", "voice", "loss", 2))
SITUATIONS = {
    "bulk": Situation(bulk, SINGLE, (USED, TCP_DELAY, ms("95 %", "tcp", "delay_p95"), LOSS, JAIN)),
    "udp": Situation(
        beside_udp("5Mbit/s"), ISOLATING, (mbit("TCP", "tcp"), mbit("UDP", "udp"), JAIN, TCP_DELAY, ms("UDP delay", "udp", "delay_mean"))
    ),
    "flood": Situation(beside_udp("12Mbit/s"), (*ISOLATING, TCP_FIRST), (mbit("TCP", "tcp"), mbit("UDP", "udp"), JAIN, TCP_DELAY, USED)),
    "many": Situation(many, SINGLE, (USED, TCP_DELAY, LOSS, JAIN)),
    "rtt": Situation(
        unequal,
        ("droptail", "red", "pie", "codel", "sfq", "drr", "fq_codel", "cake"),
        (mbit("near", "near"), mbit("far", "far"), JAIN, USED, ms("near delay", "near", "delay_mean")),
    ),
    "voice": Situation(voice, (*SINGLE, CALL_FIRST), (*CALL, mbit("bulk", "tcp"))),
    "uplink": Situation(
        uplink,
        (
            "droptail",
            "fq_codel",
            f"tbf{{rate={SHAPED}, queue.droptail={{limit=100p}}}}",
            f"tbf{{rate={SHAPED}, queue.codel={{}}}}",
            f"tbf{{rate={SHAPED}, queue.fq_codel={{}}}}",
            f"cake{{bandwidth={SHAPED}}}",
        ),
        (*CALL, mbit("upload", "upload")),
        link="router",
    ),
}
DRAWN = {"udp": "ellipses", "voice": "ellipses"}
"""Figures of the page."""


def run(name: str, situation: Situation) -> Comparison:
    """All runs of a situation."""

    sys.stderr.write(f"{name}: {len(situation.queues)} queues\n")
    return fl.compare(situation.network(), queues=situation.queues, link=situation.link, seeds=SEEDS, limit=situation.limit)


def record(name: str, situation: Situation, done: Comparison) -> list[Row]:
    """The numbers of a situation, all digits."""
    rows = []
    for queue in done.settings:
        for c in situation.columns:
            iv = queue.jain() if (c.of, c.metric) == ("", "jain") else queue.of_group(c.of, c.metric) if c.of else queue.of_link(c.metric)
            numbers = {k: "" if (v := getattr(iv, k)) is None else repr(v) for k in ("mean", "low", "high")}
            rows.append({"situation": name, "queue": queue.label, "of": c.of, "metric": c.metric, **numbers, "n": str(iv.n)})
    return rows


def read() -> list[Row]:
    """The recorded numbers."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(name: str, rows: list[Row]) -> str:
    """A table of the page in Markdown."""
    situation = SITUATIONS[name]
    found = {(r["queue"], r["of"], r["metric"]): r for r in rows if r["situation"] == name}
    lines = [" | ".join(["", "queue", *(c.head for c in situation.columns), ""]).strip(), "|---|" + "---:|" * len(situation.columns)]
    for queue in dict.fromkeys(r["queue"] for r in rows if r["situation"] == name):
        cells = [_cell(found[queue, c.of, c.metric], c) for c in situation.columns]
        lines.append("| " + " | ".join([f"`{queue}`", *cells]) + " |")
    return "\n".join(lines)


def _cell(row: Row, c: Column) -> str:
    if not row["mean"]:
        return "-"
    mean, low, high = (float(row[k]) for k in ("mean", "low", "high"))
    return format(fl.Interval(mean, low, high, None, int(row["n"])).times(c.factor), f".{c.places}f")


def marks(name: str) -> tuple[str, str]:
    """Returns the text before and after a table of the page."""
    return f"<!-- {name}: written by which_queue_when.py -->\n", f"\n<!-- end of {name} -->"


def page(text: str, rows: list[Row]) -> str:
    """The page with its tables from the recorded numbers."""
    for name in SITUATIONS:
        first, last = marks(name)
        before, rest = text.split(first)
        text = before + first + table(name, rows) + last + rest.split(last, 1)[1]
    return text


def main(arguments: list[str]) -> int:
    """Runs, records, draws and writes."""
    if arguments not in ([], ["--page"]):
        print("usage: which_queue_when.py [--page]", file=sys.stderr)
        return 2
    if not arguments:
        PICTURES.mkdir(exist_ok=True)
        rows: list[Row] = []
        for name, situation in SITUATIONS.items():
            done = run(name, situation)
            rows += record(name, situation, done)
            if name in DRAWN:
                done.plot(DRAWN[name], path=PICTURES / f"which-queue-{name}.svg")
        with DATA.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    PAGE.write_text(page(PAGE.read_text("utf-8"), read()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
