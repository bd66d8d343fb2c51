"""Writes the tables of the validation pages: `python docs/validation/tables.py [DOCUMENT.json ...]`, with fairlane installed.

A document is the output of `python -m validation.ns2|ns3|kernel --stored --json`; its compared values replace those in ns2.csv, ns3.csv or
kernel.csv next to this file. Without a document the tables are written from these files. L4S comes from the record of its study.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

from fairlane import papers
from fairlane.papers.records import recorded_reach

HERE = Path(__file__).resolve().parent
FIELDS = ("case", "metric", "unit", "peer", "fairlane", "verdict")
NEAR = 0.05
"""Difference in the share of Prague up to which a value of the test bed agrees."""


@dataclass(frozen=True)
class Value:
    """A compared value: means of both sides, and the verdict of the comparison."""

    case: str
    metric: str
    unit: str
    peer: float
    fairlane: float
    verdict: str

    @property
    def family(self) -> str:
        """The first part of the name of its case."""
        return self.case.partition("/")[0]

    @property
    def kind(self) -> str:
        """The metric; one for all flows."""
        return "goodput of a flow" if self.metric.startswith("flow") else "share of a flow" if self.metric[:5] == "share" else self.metric

    @property
    def off(self) -> float:
        """Difference in percent of the other side's value."""
        return 100 * (self.fairlane - self.peer) / self.peer if self.peer else 0.0

    @property
    def near(self) -> bool:
        """True if it is within its bound or interval."""
        return self.verdict.startswith("ok")


def values_of(document: dict[str, Any]) -> tuple[str, list[Value]]:
    """Returns the side of a document and its compared values."""
    side = document["schema"].split(".")[2].partition("/")[0]
    found = []
    for row in document["rows"]:
        if side == "kernel":
            for name, both in row.items():
                if isinstance(both, dict) and both["judged"]:
                    ends = fmean(both["kernel"]), fmean(both["ours"])
                    found.append(Value(row["case"], name, "", *ends, "outside" if both["failed"] else "ok"))
        elif row["verdict"] != "shown":
            found.append(Value(row["case"], row["metric"], row["unit"], row[side]["mean"], row["fairlane"]["mean"], row["verdict"].lower()))
    return side, found


def record(side: str, found: Iterable[Value]) -> None:
    """Writes the values of a side, after the day of their measurement."""
    with (HERE / f"{side}.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {datetime.now(UTC):%Y-%m-%d}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(FIELDS)
        out.writerows((v.case, v.metric, v.unit, f"{v.peer:.6g}", f"{v.fairlane:.6g}", v.verdict) for v in found)


def recorded(side: str) -> tuple[str, list[Value]]:
    """Returns the day of the measurement and the values of a side."""
    day, *lines = (HERE / f"{side}.csv").read_text("utf-8").splitlines()
    rows = csv.DictReader(lines)
    return day[2:], [Value(r["case"], r["metric"], r["unit"], float(r["peer"]), float(r["fairlane"]), r["verdict"]) for r in rows]


def table(heads: Iterable[str], rows: Iterable[Iterable[object]], text: Container[int] = (0,)) -> str:
    """Returns a table of Markdown; all columns but `text` are numbers."""
    heads = list(heads)
    rule = "|" + "|".join("---" if i in text else "---:" for i in range(len(heads))) + "|"
    return "\n".join([f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(map(str, r))} |" for r in rows)])


def grouped(values: Iterable[Value], key: Callable[[Value], str]) -> dict[str, list[Value]]:
    """Returns the values by a key, in the order of their first."""
    out: dict[str, list[Value]] = {}
    for v in values:
        out.setdefault(key(v), []).append(v)
    return out


def judgement(subject: str, values: list[Value]) -> str:
    """Returns the sentence at the top of a page: how many values agree."""
    near, known = sum(v.near for v in values), sum(v.verdict == "explained" for v in values)
    rest = len(values) - near - known
    text = (
        f"{subject}: {near} of {len(values)} compared values are within their bounds or intervals ({len({v.case for v in values})} cases)"
    )
    text += f"; {known} differ for reasons explained below" if known else ""
    return text + (f"; {rest} differ." if rest else ".")


def by_family(values: list[Value]) -> str:
    """Returns the verdicts by family."""
    heads = ["family", "cases", "values", "within the bound", "within an interval", "explained", "outside"]
    rows = []
    for name, found in grouped(values, lambda v: v.family).items():
        of = [sum(v.verdict == word for v in found) for word in ("ok", "explained")]
        interval = sum(v.near for v in found) - of[0]
        rest = len(found) - of[0] - of[1] - interval
        rows.append([name, len({v.case for v in found}), len(found), of[0], interval, of[1], rest])
    return table(heads, rows)


def percent(x: float) -> str:
    """Returns a percentage with two significant digits."""
    return f"{x:.2g} %" if x < 99.5 else f"{x:.0f} %"


def by_metric(values: list[Value]) -> str:
    """Returns the median and the largest difference of each metric."""
    rows = []
    for name, found in grouped(values, lambda v: v.kind).items():
        compared = [v for v in found if v.peer]
        if compared:
            most = max((v for v in compared if v.near), key=lambda v: abs(v.off), default=compared[0])
            rows.append([name, percent(median(abs(v.off) for v in compared)), percent(abs(most.off)), f"`{most.case}`"])
    return table(["metric", "median difference", "largest within its bound or interval", "case"], rows, text=(0, 3))


def outside(values: list[Value], peer: str) -> str:
    """Returns the values that are outside of their bounds; `peer` is the name of the other side."""
    rows = [
        [f"`{v.case}`", f"{v.metric}{f' ({v.unit})' if v.unit not in ('', '1') else ''}", f"{v.peer:.4g}", f"{v.fairlane:.4g}"]
        for v in values
        if not v.near
    ]
    return table(["case", "metric", peer, "fairlane"], rows, text=(0, 1))


def shares() -> str:
    """Returns the share of TCP Prague by competitor and queue: published / fairlane for each buffer."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    near: dict[tuple[str, str], list[bool]] = {}
    buffers: list[str] = []
    for r in recorded_reach(papers.load("sarpkaya2025")):
        if r["table"] == "share" and r["ours"]:
            of = dict(part.split(" ", 1) for part in r["of"].split(", "))
            key, buffer = (of["competitor"], of["queue"]), of["buffer_bdp"]
            buffers += [buffer] if buffer not in buffers else []
            rows.setdefault(key, {})[buffer] = f"{float(r['published']):.2f} / {float(r['ours']):.2f}"
            near.setdefault(key, []).append(abs(float(r["published"]) - float(r["ours"])) <= NEAR)
    lines = [[*key, *(cells.get(b, "") for b in buffers), f"{sum(near[key])} of {len(near[key])}"] for key, cells in rows.items()]
    return table(["next to", "queue", *buffers, f"within {NEAR}"], lines, text=(0, 1))


def testbed() -> str:
    """Returns the judgement on the shares and the round trips of the test bed."""
    off: dict[str, list[float]] = {}
    for r in recorded_reach(papers.load("sarpkaya2025")):
        if r["ours"]:
            a, b = float(r["published"]), float(r["ours"])
            off.setdefault(r["table"], []).append(abs(a - b) if r["table"] == "share" else abs(b / a - 1))
    near = sum(x <= NEAR for x in off["share"])
    return (
        f"{near} of {len(off['share'])} shares of TCP Prague agree with real Linux kernels within {NEAR}; the median difference of "
        f"{len(off['srtt'])} round-trip times is {100 * median(off['srtt']):.1f} %."
    )


def stored() -> str:
    """Returns the table of figures.md on the recorded comparisons."""
    rows = []
    for side, name, command in (
        ("ns2", "ns-2", "python -m validation.ns2 --all --stored"),
        ("ns3", "ns-3", "python -m validation.ns3 --all --stored"),
        ("kernel", "Linux kernel", "python -m validation.kernel --stored"),
    ):
        day, values = recorded(side)
        of = sum(v.near for v in values), sum(v.verdict == "explained" for v in values)
        rows.append([name, *of, len(values), day, f"`{command}`"])
    return table(["compared with", "within bounds", "explained", "of", "measured", "how"], rows, text=(0, 4, 5))


def parts() -> dict[str, dict[str, Callable[[], str]]]:
    """Returns the generated parts of each page by the names of their marks."""
    ns3, kernel = recorded("ns3")[1], recorded("kernel")[1]
    queues, tcp = [], []
    for v in recorded("ns2")[1]:
        (queues if v.family in ("C3", "C8") or v.family.startswith("Q") else tcp).append(v)
    pages: dict[str, dict[str, Callable[[], str]]] = {"testbed": {"judgement": testbed, "shares": shares}, "figures": {"stored": stored}}
    for name, peer, subject, values in (
        ("ns2", "ns-2", "TCP over DropTail and RED agrees with ns-2", tcp),
        ("ns2-queues", "ns-2", "The queue disciplines agree with ns-2", queues),
        ("ns3", "ns-3", "Queue disciplines and TCP agree with ns-3", ns3),
        ("kernel", "Linux", 'TCP with `preset = "linux"` agrees with Linux 6.18', kernel),
    ):
        pages[name] = {
            "judgement": partial(judgement, subject, values),
            "families": partial(by_family, values),
            "metrics": partial(by_metric, values),
            "outside": partial(outside, values, peer),
            "differing": partial(outside, [v for v in values if v.verdict != "explained"], peer),
        }
    return pages


def between(text: str, name: str, made: str) -> str:
    """Returns the page with a new part between the marks of this name; the page as it is if it has none."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, mark, rest = text.partition(begin)
    return f"{before}{mark}{made}\n{end}{rest.partition(end)[2]}" if mark else text


def written(name: str, text: str) -> str:
    """Returns an up-to-date page."""
    for mark, made in parts()[name].items():
        if f"<!-- {mark} -->\n" in text:
            text = between(text, mark, made())
    return text


if __name__ == "__main__":
    for document in sys.argv[1:]:
        record(*values_of(json.loads(Path(document).read_text("utf-8"))))
    for name in parts():
        page = HERE / f"{name}.md"
        page.write_text(written(name, page.read_text("utf-8")), "utf-8")
