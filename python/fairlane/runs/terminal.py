"""What `fairlane run` prints for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.format import number
from ..base.printable import one_line
from ..look.sheet import Words
from .sheets import flow_sheet, link_sheet, network_words

if TYPE_CHECKING:
    from .result import Result


def head(result: Result, seconds: float | None = None) -> str:
    """What was simulated, how often, and if it is known how fast."""
    runs = len(result.info)
    hops = sum(r["packet_hops"] for r in result.info)
    cpu = sum(r["cpu_s"] for r in result.info)
    cost = f", {cpu * 1e9 / hops:.0f} ns a packet-hop" if hops and cpu else ""
    many = f", {runs} runs, means with 95 % intervals" if runs > 1 else f", seed {result.seeds[0]}"
    name, span = one_line(result.description.get("name") or "run"), result.description["duration"]
    if seconds is None:
        return f"{name}: {span} simulated{many}"
    return f"{name}: {span} simulated in {seconds:.2f} s{many} ({number(hops)} packet-hops{cost})"


def run_report(result: Result, seconds: float, each: bool = False, why: bool = False) -> list[Any]:
    """What to print after a run: head line, flows (`each`: one by one however many), links, network, `why`, warnings."""
    sheets = [s for s in (flow_sheet(result, each), link_sheet(result)) if s is not None]
    parts: list[Any] = [Words(head(result, seconds)), *(x for s in sheets for x in ("", s)), "", Words(network_words(result))]
    if why:
        parts += ["", *(Words(sentence) for sentence in result.why().sentences())]
    parts += [Words(f"warning: {w}") for w in result.warnings]
    if len(result.info) == 1:
        parts.append(Words(f"fingerprint {result.fingerprints[0]}"))
    return parts
