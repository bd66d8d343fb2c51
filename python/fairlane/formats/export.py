"""`export`: a run in the format of another program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.extras import need
from ..base.files import save_bytes
from ..base.outputs import new_file
from ..errors import FairlaneError, suggest
from ..runs.tables import series_tables

if TYPE_CHECKING:
    import polars as pl

    from ..runs.result import Result


@dataclass(frozen=True)
class Part:
    """What of a result is written."""

    result: Result
    seed: int
    series: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """A format that results are written in."""

    name: str
    ending: str
    what: str
    reads: str
    """Programs that read it."""
    write: Callable[[Part], bytes]
    takes: tuple[str, ...] = ()
    """Which of `series`, `flows` and `links` it heeds."""


def sampled(part: Part, table: str, key: str, named: Sequence[str]) -> pl.DataFrame:
    """The time series of one run, of the subjects that are named (none: all)."""
    import polars as pl

    frame = part.result.table(table)
    if not frame.height:
        raise FairlaneError("this result has no time series: set `sample` in the scenario, as in --set sample=10ms")
    frame = frame.filter(pl.col("seed") == part.seed)
    known = frame[key].unique(maintain_order=True).to_list()
    for name in named:
        if name not in known:
            raise suggest(name, known, key)
    return frame.filter(pl.col(key).is_in(list(named))) if named else frame


def subjects(part: Part) -> Iterable[tuple[str, str, pl.DataFrame]]:
    """Kind, name and samples of each flow and link that is asked for (of neither: of all of both)."""
    both = not part.flows and not part.links
    for table, key, named in (("flow_series", "flow", part.flows), ("link_series", "link", part.links)):
        if (named or (both and table in series_tables(part.result))) and part.result.table(table).height:
            for (name,), rows in sampled(part, table, key, named).group_by(key, maintain_order=True):
                yield key, str(name), rows.drop("seed", key)
    there = series_tables(part.result)
    if both and not any(part.result.table(t).height for t in there):
        sampled(part, there[0], there[0].removesuffix("_series"), ())


def _flent(part: Part) -> bytes:
    from .flent import flent_bytes

    sampled(part, "flow_series", "flow", ())
    return flent_bytes(part.result, part.seed)


def _qlog(part: Part) -> bytes:
    from .qlog import qlog_bytes

    return qlog_bytes(part)


def _mahimahi(part: Part) -> bytes:
    from .mahimahi import mahimahi_bytes

    return mahimahi_bytes(part)


def _xgraph(part: Part) -> bytes:
    from .points import xgraph_bytes

    return xgraph_bytes(part)


def _gnuplot(part: Part) -> bytes:
    from .points import gnuplot_bytes

    return gnuplot_bytes(part)


FORMATS = (
    Format("flent", ".flent.gz", "goodput and round trip of each flow over time", "flent", _flent),
    Format(
        "qlog",
        ".qlog",
        "window, round trip, recovery and timeouts of TCP flows, from the event table",
        "programs for qlog",
        _qlog,
        ("flows",),
    ),
    Format(
        "mahimahi", ".trace", "when a link can carry 1500 bytes, a millisecond a line", "mm-link, `trace` of a link", _mahimahi, ("links",)
    ),
    Format("xgraph", ".xg", "one series of flows or links over time", "xgraph", _xgraph, ("series", "flows", "links")),
    Format(
        "gnuplot", ".dat", "series of flows and links over time, an index each", "gnuplot, NumPy, R", _gnuplot, ("series", "flows", "links")
    ),
)


def export(
    result: Result,
    format: str,
    file: str | PathLike[str],
    *,
    seed: int | None = None,
    series: str | Iterable[str] = (),
    flow: str | Iterable[str] = (),
    link: str | Iterable[str] = (),
    force: bool = False,
) -> Path:
    """Writes one run of a result (default: the first) as a file of another program: "flent", "qlog", "mahimahi", "xgraph" or "gnuplot".

    `series`, `flow` and `link` say which, where a format takes several (default: all). `docs/guides/formats.md` says what is in each.
    """
    need("tables")
    known = {f.name: f for f in FORMATS}
    if format not in known:
        raise suggest(format, list(known), "format of export")
    of = known[format]
    given = {"series": _names(series), "flows": _names(flow), "links": _names(link)}
    for key, names in given.items():
        if names and key not in of.takes:
            takes = f"it takes {' and '.join(of.takes)}" if of.takes else "it takes the whole run"
            raise FairlaneError(f"{format} has no choice of {key}: {takes}")
    chosen = result.seeds[0] if seed is None else seed
    if chosen not in result.seeds:
        raise suggest(str(chosen), [str(s) for s in result.seeds], "seed")
    path = new_file(Path(fspath(file)), force=force)
    save_bytes(path, of.write(Part(result, chosen, given["series"], given["flows"], given["links"])), new=not force)
    return path


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
