"""The tables that `fairlane run` prints for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.format import number, quantity
from ..base.metrics import unit
from ..stats import Interval
from .tables import intervals

if TYPE_CHECKING:
    from .result import Result

MAX_ROWS = 24
MAX_LINKS = 12
_TRANSACTIONS = ("transactions", "transaction_time_mean", "transaction_time_p95")
_FLOWS = ("goodput", "share", "delay_mean", "delay_p95", "rtt_mean", "loss", "retransmits", "timeouts", "completion_time", *_TRANSACTIONS)
_LINKS = ("utilisation", "queue_mean", "queue_max", "sojourn_mean", "sojourn_p95", "drops", "marks", "loss")
_PERCENT = ("utilisation", "loss", "share", "jain", "worst_share")


def cell(name: str, iv: Interval) -> str:
    """One number with its interval and unit."""
    if name in _PERCENT and unit(name) in ("1", "", "fraction", "ratio") and iv.mean is not None and name in ("utilisation", "loss"):
        return quantity(iv.times(100), "%")
    return quantity(iv, unit(name))


def run_report(result: Result, seconds: float) -> list[Any]:
    """What to print after a run: head line, the three tables, warnings."""
    from rich.text import Text

    runs = len(result.info)
    hops = sum(r["packet_hops"] for r in result.info)
    cpu = sum(r["cpu_s"] for r in result.info)
    cost = f", {cpu * 1e9 / hops:.0f} ns a packet-hop" if hops and cpu else ""
    name = result.scenario.get("name") or "run"
    many = f", {runs} runs, means with 95 % intervals" if runs > 1 else f", seed {result.seeds[0]}"
    head = Text(f"{name}: {result.scenario['duration']} simulated in {seconds:.2f} s{many} ({number(hops)} packet-hops{cost})")
    parts: list[Any] = [head, _table(result, "flows", _FLOWS), _links(result), _network(result)]
    parts += [Text(f"warning: {w}") for w in result.warnings]
    if runs == 1:
        parts.append(Text(f"fingerprint {result.fingerprints[0]}"))
    return [p for p in parts if p is not None]


def _table(result: Result, name: str, wanted: tuple[str, ...], keep: Any = None) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    rows = intervals(result, name)
    total = len(rows)
    if keep is not None:
        rows = [r for r in rows if keep(r[1])] or rows[:1]
    if not rows:
        return None
    columns = [c for c in wanted if c in rows[0][1] and any(_tells(per[c], c) for _, per in rows)]
    hidden = max(0, len(rows) - MAX_ROWS)
    rest = total - len(rows) + hidden
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(name[:-1] if name != "network" else name, no_wrap=True)
    for c in columns:
        table.add_column(c.replace("_", " "), justify="right")
    for labels, per in rows[: len(rows) - hidden]:
        table.add_row(next(iter(labels.values())), *(cell(c, per[c]) for c in columns))
    return (
        Group(table, Text(f"and {rest} more {name if rest > 1 else name[:-1]} (--json and --out have all)", style="dim")) if rest else table
    )


def _tells(iv: Interval, name: str) -> bool:
    return iv.mean is not None and (
        iv.mean != 0 or name not in ("marks", "timeouts", "retransmits", "drops", "completion_time", "transactions")
    )


def _links(result: Result) -> Any:
    """The links where most waits or is lost; idle ones say nothing."""

    def weight(per: dict[str, Interval]) -> tuple[float, float, float]:
        drops, waiting, used = ((per[c].mean or 0.0) if c in per else 0.0 for c in ("drops", "queue_mean", "utilisation"))
        return drops, waiting, used

    def busy(per: dict[str, Interval]) -> bool:
        drops, waiting, used = weight(per)
        return drops > 0 or waiting > 0.5 or used > 0.9

    weights = sorted((weight(per) for _, per in intervals(result, "links")), reverse=True)
    least = weights[min(MAX_LINKS, len(weights)) - 1]
    return _table(result, "links", _LINKS, lambda per: busy(per) and weight(per) >= least)


def _network(result: Result) -> Any:
    from rich.text import Text

    ((_, per),) = intervals(result, "network")
    words = [f"{name.replace('_', ' ')} {cell(name, iv)}" for name, iv in per.items() if iv.mean]
    return Text("network: " + ", ".join(words))
