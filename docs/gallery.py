"""Makes the gallery of plots: `python docs/gallery.py [NAME...]` draws them into `docs/gallery/img` and writes their pages.

Each picture is made twice, by the commands and by the Python call that its page shows, and both have to be the same to the last byte.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "gallery"
ROOT = HERE.parent
_QUICK = "examples/quickstart.toml"


@dataclass(frozen=True)
class Entry:
    """A page: what is drawn, by which commands and by which call, and what there is to see."""

    name: str
    commands: str
    """`{file}` is the picture."""
    python: str
    see: str
    title: str = ""
    """For a page that is not of a kind."""

    @property
    def kind(self) -> str:
        """The kind that is drawn."""
        return self.name if not self.title else self.commands.split(" -o ")[0].split()[-1]


ENTRIES = [
    Entry(
        "window",
        f"fairlane plot {_QUICK} window --set duration=30s --theory bdp,fair -o {{file}}",
        f"""result = fl.run("{_QUICK}", sets={{"duration": "30s"}})
result.plot("window", theory=("bdp", "fair"), path="{{file}}")""",
        "The sawtooth of two flows with a buffer of 50 packets. A loss halves the window to the dotted threshold. Together the windows stay above the "
        "bandwidth-delay product, so the link is always busy.",
    ),
    Entry(
        "sequence",
        f"fairlane plot {_QUICK} sequence --set duration=15s --set flows.tcp.tcp.receive_window=100kB --flow tcp.0 --time 300ms..800ms -o {{file}}",
        f"""result = fl.run("{_QUICK}", sets={{"duration": "15s", "flows.tcp.tcp.receive_window": "100kB"}}, trace=True, pcap="tcp.0")
result.plot("sequence", flow="tcp.0", time="300ms..800ms", path="{{file}}")""",
        "The end of slow start. Each stroke is a segment; crosses are segments that the full queue will drop. The lower staircase is the acknowledged data, the "
        "upper one the end of the advertised window. SACK blocks report which segments arrived, so that only the lost ones are retransmitted.",
    ),
    Entry(
        "rtt",
        f"fairlane plot {_QUICK} rtt --set duration=20s --theory rtt,full -o {{file}}",
        f"""result = fl.run("{_QUICK}", sets={{"duration": "20s"}}, trace="send,retransmit,receive")
result.plot("rtt", theory=("rtt", "full"), path="{{file}}")""",
        "The round-trip time lies between that of the empty path and that of the full buffer. Dots are the sender's samples (none of retransmitted "
        "data), lines its smoothed value.",
    ),
    Entry(
        "rtt-cdf",
        f"fairlane plot {_QUICK} rtt-cdf --set duration=30s --seeds 1..5 --seed all --theory rtt -o {{file}}",
        f"""result = fl.run("{_QUICK}", seeds="1..5", sets={{"duration": "30s"}}, trace="send,retransmit,receive")
result.plot("rtt-cdf", seed="all", theory="rtt", path="{{file}}")""",
        "The mean of five runs at each share of the samples, with its 95 % interval.",
    ),
    Entry(
        "queue-events",
        f"fairlane plot {_QUICK} queue-events --set duration=30s --set links.bottleneck.queue=red --set links.bottleneck.queue.red.min=5p --set links.bottleneck.queue.red.max=15p --set links.bottleneck.queue.red.limit=60p --time 10s..20s -o {{file}}",
        f"""red = {{"duration": "30s", "links.bottleneck.queue": {{"red": {{"min": "5p", "max": "15p", "limit": "60p"}}}}}}
result = fl.run("{_QUICK}", sets=red, trace="drop,mark")
result.plot("queue-events", time="10s..20s", path="{{file}}")""",
        "RED drops by its average (dashed), not by the queue: the average passes the lower threshold only after a while. Crosses are drops at the length of the queue at that time.",
    ),
    Entry(
        "throughput-stack",
        f"fairlane plot {_QUICK} throughput-stack --set duration=30s --set topology.dumbbell.pairs=4 --set flows.tcp.count=4 --set flows.tcp.stagger=5s --theory capacity -o {{file}}",
        f"""sets = {{"duration": "30s", "topology.dumbbell.pairs": 4, "flows.tcp.count": 4, "flows.tcp.stagger": "5s"}}
result = fl.run("{_QUICK}", sets=sets)
result.plot("throughput-stack", theory="capacity", path="{{file}}")""",
        "Flows that start one after the other. The upper edge is the total rate of the link.",
    ),
    Entry(
        "delay-cdf",
        f"""fairlane run {_QUICK} --set duration=20s --trace event=send,retransmit,receive -o droptail
fairlane run {_QUICK} --set duration=20s --set links.bottleneck.queue=codel --trace event=send,retransmit,receive -o codel
fairlane plot droptail codel delay-cdf --flow tcp.0 --theory delay -o {{file}}""",
        f"""trace, sets = "send,retransmit,receive", {{"duration": "20s"}}
results = {{
    "droptail": fl.run("{_QUICK}", sets=sets, trace=trace),
    "codel": fl.run("{_QUICK}", sets={{**sets, "links.bottleneck.queue": "codel"}}, trace=trace),
}}
fl.plot(results, "delay-cdf", flow="tcp.0", theory="delay", path="{{file}}")""",
        "Two results in one plot: the same network with DropTail and with CoDel.",
    ),
    Entry(
        "delay-ccdf",
        "fairlane plot examples/poisson.toml delay-ccdf --set flows.packets.source.poisson.sizes=fixed --theory delay,md1 -o {file}",
        """result = fl.run("examples/poisson.toml", sets={"flows.packets.source.poisson.sizes": "fixed"}, trace="send,retransmit,receive")
result.plot("delay-ccdf", theory=("delay", "md1"), path="{file}")""",
        "Packets of one size with Poisson arrivals: the tail of the delay is that of an M/D/1 queue, a straight line on this axis.",
    ),
    Entry(
        "ellipses",
        f"""fairlane run {_QUICK} --seeds 1..8 -o droptail
fairlane run {_QUICK} --seeds 1..8 --set links.bottleneck.queue=codel -o codel
fairlane run {_QUICK} --seeds 1..8 --set links.bottleneck.queue=fq_codel -o fq_codel
fairlane plot droptail codel fq_codel ellipses --theory fair -o {{file}}""",
        f"""queues = {{"droptail": {{}}, "codel": {{"links.bottleneck.queue": "codel"}}, "fq_codel": {{"links.bottleneck.queue": "fq_codel"}}}}
results = {{name: fl.run("{_QUICK}", seeds="1..8", sets=sets) for name, sets in queues.items()}}
fl.plot(results, "ellipses", theory="fair", path="{{file}}")""",
        "Each point is a flow of a run. Better is up and to the right; a low ellipse means equal throughput of all flows in every run.",
    ),
    Entry(
        "jain-time",
        f"fairlane plot {_QUICK} jain-time --set duration=40s --seeds 1..5 --seed all -o {{file}}",
        f"""result = fl.run("{_QUICK}", seeds="1..5", sets={{"duration": "40s"}})
result.plot("jain-time", seed="all", path="{{file}}")""",
        "Two flows have unequal shares at the start, and again after each loss of only one of them.",
    ),
    Entry(
        "jain-scale",
        f"""fairlane run {_QUICK} --seeds 1..5 -o droptail
fairlane run {_QUICK} --seeds 1..5 --set links.bottleneck.queue=fq_codel -o fq_codel
fairlane plot droptail fq_codel jain-scale --seed all -o {{file}}""",
        f"""results = {{
    "droptail": fl.run("{_QUICK}", seeds="1..5"),
    "fq_codel": fl.run("{_QUICK}", seeds="1..5", sets={{"links.bottleneck.queue": "fq_codel"}}),
}}
fl.plot(results, "jain-scale", seed="all", path="{{file}}")""",
        "A fair scheduler gives equal shares from a few packets on; without one this takes many round trips.",
    ),
    Entry(
        "drop-timeline",
        f"fairlane plot {_QUICK} drop-timeline --set duration=30s --set links.bottleneck.queue=red --set links.bottleneck.queue.red.min=5p --set links.bottleneck.queue.red.max=15p --set links.bottleneck.queue.red.limit=40p -o {{file}}",
        f"""red = {{"duration": "30s", "links.bottleneck.queue": {{"red": {{"min": "5p", "max": "15p", "limit": "40p"}}}}}}
result = fl.run("{_QUICK}", sets=red, trace="drop")
result.plot("drop-timeline", path="{{file}}")""",
        "One row for each reason. RED drops early and single packets; when slow start is faster than its average, the buffer overflows.",
    ),
    Entry(
        "phase",
        f"fairlane plot {_QUICK} phase --set duration=40s --set flows.tcp.count=1 --theory bdp -o {{file}}",
        f"""result = fl.run("{_QUICK}", sets={{"duration": "40s", "flows.tcp.count": 1}})
result.plot("phase", theory="bdp", path="{{file}}")""",
        "The window of one flow grows along the line on which everything beyond the bandwidth-delay product waits, and falls with each loss: a closed loop.",
    ),
    Entry(
        "sharing",
        f"fairlane plot {_QUICK} sharing --set duration=40s --set topology.dumbbell.pairs=10 --set flows.tcp.count=10 --set flows.tcp.stagger=2s -o {{file}}",
        f"""sets = {{"duration": "40s", "topology.dumbbell.pairs": 10, "flows.tcp.count": 10, "flows.tcp.stagger": "2s"}}
result = fl.run("{_QUICK}", sets=sets)
result.plot("sharing", path="{{file}}")""",
        "Each new flow takes from those before it; after a while all have similar shares.",
    ),
    Entry(
        "fct",
        f"fairlane plot {_QUICK} fct --set topology.dumbbell.pairs=300 --set flows.tcp.count=300 --set flows.tcp.spread=50s "
        "--set flows.tcp.source.file.size=100kB --set flows.tcp.source.file.sizes=lognormal --set flows.tcp.source.file.cv=2.0 --set warmup=0s --seeds 1..3 --theory ideal -o {file}",
        f"""source = {{"file": {{"size": "100kB", "sizes": "lognormal", "cv": 2.0}}}}
sets = {{"topology.dumbbell.pairs": 300, "flows.tcp.count": 300, "flows.tcp.spread": "50s", "flows.tcp.source": source, "warmup": "0s"}}
result = fl.run("{_QUICK}", seeds="1..3", sets=sets)
result.plot("fct", theory="ideal", path="{{file}}")""",
        "No flow is faster than one round trip plus the size at the full rate. Flows in a row above one second waited for a timer.",
    ),
    Entry(
        "loss-throughput",
        f"""fairlane run {_QUICK} --seeds 1..4 --set links.bottleneck.rate=1Gbit/s --set links.bottleneck.loss=0.001 -o few
fairlane run {_QUICK} --seeds 1..4 --set links.bottleneck.rate=1Gbit/s --set links.bottleneck.loss=0.02 -o many
fairlane plot few many loss-throughput --theory sqrt,pftk -o {{file}}""",
        f"""sets = {{"links.bottleneck.rate": "1Gbit/s"}}
results = {{
    "few": fl.run("{_QUICK}", seeds="1..4", sets={{**sets, "links.bottleneck.loss": 0.001}}),
    "many": fl.run("{_QUICK}", seeds="1..4", sets={{**sets, "links.bottleneck.loss": 0.02}}),
}}
fl.plot(results, "loss-throughput", theory=("sqrt", "pftk"), path="{{file}}")""",
        "Random losses on a link that is never full: the flows follow the square-root formula while losses are few, and PFTK, below it, where timeouts matter.",
    ),
    Entry(
        "small-multiples",
        """fairlane study examples/studies/queues.toml --seeds 1..3 --out queues --quiet
fairlane plot queues ellipses --panel rate -o {file}""",
        """study = fl.Study.from_file("examples/studies/queues.toml", seeds="1..3").run("queues-again")
study.plot("ellipses", panel="rate", path="{file}")""",
        "Any kind of plot of a study, with a panel for each level of a factor, all with the same scales.",
        "Small multiples of a study",
    ),
    Entry(
        "paper",
        f"fairlane plot {_QUICK} window --set duration=30s --style ieee --theory bdp -o {{file}}",
        f"""result = fl.run("{_QUICK}", sets={{"duration": "30s"}})
result.plot("window", style="ieee", theory="bdp", path="{{file}}")""",
        "The width of an IEEE column, letters of 8 points, no title: the caption of the paper describes the figure.",
        "Plot for a paper",
    ),
]  # fmt: skip


def page(entry: Entry) -> str:
    """The page of an entry."""
    from fairlane.runs.plots import KINDS

    kind = KINDS.get(entry.name)
    title = entry.title or f"`{entry.name}`"
    shows = f"{kind.shows[0].upper()}{kind.shows[1:]}." if kind is not None else ""
    file = f"{entry.name}.svg"
    needs = []
    if kind is not None and kind.sample:
        needs.append("time series (`sample` in the scenario)")
    if kind is not None and kind.trace:
        needs.append(f"an event table (`--trace event={kind.trace}`)")
    required = f"Requires {' and '.join(needs)}; when `fairlane plot` runs a scenario it records them. " if needs else ""
    theory = f"Formulas that can be drawn: {', '.join(f'`{t}`' for t in kind.theory)}." if kind is not None and kind.theory else ""
    parts = [
        "<!-- Generated by `python docs/gallery.py`; do not edit. -->",
        f"# {title}",
        *([shows] if shows else []),
        f"![{entry.see.split('.')[0]}](img/{file})",
        entry.see,
        *([f"{required}{theory}".strip()] if required or theory else []),
        "```sh\n" + entry.commands.replace("{file}", file) + "\n```",
        "```python\nimport fairlane as fl\n\n" + entry.python.replace("{file}", file) + "\n```",
        "[Gallery](README.md), [plots guide](../guides/plots.md)",
    ]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The page with all pictures."""
    from fairlane.runs.plots import KINDS

    rows = []
    for e in ENTRIES:
        what = KINDS[e.name].shows if e.name in KINDS else e.see.split(".")[0].split(":")[0]
        rows.append(f"| [![{e.name}](img/{e.name}.svg)]({e.name}.md) | [{e.title or f'`{e.name}`'}]({e.name}.md): {what} |")
    head = "<!-- Generated by `python docs/gallery.py`; do not edit. -->\n# Gallery\n\nAll kinds of plots of `fairlane plot`, each with the commands and the Python call that made it. "
    head += "Options: [plots guide](../guides/plots.md).\n\n| | |\n|---|---|\n"
    return head + "\n".join(rows) + "\n"


def by_command(entry: Entry, file: str) -> None:
    """Draws by the commands, in the present folder."""
    from fairlane.cli import invoke

    for line in entry.commands.replace("{file}", file).splitlines():
        words = shlex.split(line)
        if (code := invoke(words[1:])) != 0:
            raise SystemExit(f"{line}: exit code {code}")


def by_python(entry: Entry, file: str) -> None:
    """Draws by the call, in the present folder."""
    import fairlane as fl

    exec(compile(entry.python.replace("{file}", file), f"<{entry.name}>", "exec"), {"fl": fl})


def drawn(entry: Entry) -> bytes:
    """The picture, made twice in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        try:
            by_command(entry, "command.svg")
            by_python(entry, "python.svg")
            first, second = Path("command.svg").read_bytes(), Path("python.svg").read_bytes()
        finally:
            os.chdir(before)
    if first != second:
        raise SystemExit(f"{entry.name}: the command and the call draw different pictures")
    return first


def main(names: list[str]) -> int:
    """Draws the pictures named, or all, and writes all pages."""
    unknown = [n for n in names if n not in {e.name for e in ENTRIES}]
    if unknown:
        print(f"no picture is called {unknown[0]}; there are {', '.join(e.name for e in ENTRIES)}", file=sys.stderr)
        return 2
    (FOLDER / "img").mkdir(parents=True, exist_ok=True)
    for entry in ENTRIES:
        if not names or entry.name in names:
            (FOLDER / "img" / f"{entry.name}.svg").write_bytes(drawn(entry))
            print(FOLDER / "img" / f"{entry.name}.svg")
        (FOLDER / f"{entry.name}.md").write_text(page(entry), "utf-8")
    (FOLDER / "README.md").write_text(index(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
