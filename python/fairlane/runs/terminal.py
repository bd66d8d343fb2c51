"""Output of `fairlane run` on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.escapes import one_line
from ..base.format import number
from ..base.seeds import seed_words
from ..look.sheet import Words
from .sheets import fairness_sheet, flow_sheet, link_sheet, network_sheet

if TYPE_CHECKING:
    from .data import ResultData


def head(result: ResultData, seconds: float | None = None) -> str:
    """Returns the name, the simulated time and the seeds; with `seconds` of wall-clock time also the speed."""
    runs = len(result.info)
    hops = sum(r["packet_hops"] for r in result.info)
    cpu = sum(r["cpu_s"] for r in result.info)
    cost = f", {cpu * 1e9 / hops:.0f} ns per hop" if hops and cpu else ""
    many = f", {runs} runs (seeds {seed_words(result.seeds)}), means with 95 % intervals" if runs > 1 else f", seed {result.seeds[0]}"
    name, span = one_line(result.description.get("name") or "run"), result.description["duration"]
    if seconds is None:
        return f"{name}: {span} simulated{many}"
    return f"{name}: {span} simulated in {seconds:.2f} s{many} ({_short(hops)} packet-hops{cost})"


def _short(count: int) -> str:
    """Returns a count with three digits and a prefix.

    >>> _short(472826), _short(1234567), _short(999999), _short(42)
    ('473 k', '1.23 M', '1.00 M', '42')
    """
    for size, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= 0.9995 * size:
            x = count / size
            return f"{x:.{2 if x < 9.995 else 1 if x < 99.95 else 0}f}{prefix}"
    return number(count)


def run_report(result: ResultData, seconds: float | None = None, each: bool = False, why: bool = False) -> list[Any]:
    """Returns what is printed after a run: head line, flows (`each`: a row per flow), links, network, limits (`why`), warnings.

    `seconds`: the wall-clock time, for the head line.
    """
    sheets = [s for s in (flow_sheet(result, each), fairness_sheet(result), link_sheet(result), network_sheet(result)) if s is not None]
    parts: list[Any] = [Words(head(result, seconds)), *(x for s in sheets for x in ("", s))]
    if why:
        parts += ["", *(Words(sentence) for sentence in result.why().sentences())]
    parts += [Words(f"warning: {w}") for w in result.warnings]
    if len(result.info) == 1:
        parts.append(Words(f"fingerprint {result.fingerprints[0]}"))
    return parts
