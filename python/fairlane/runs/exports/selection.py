"""Selection of a result that an export format writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import FairlaneError, suggest

if TYPE_CHECKING:
    import polars as pl

    from ..result import Result


@dataclass(frozen=True)
class Selection:
    """Run of a result, with selected flows or links."""

    result: Result
    seed: int
    flows: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def sampled(part: Selection, table: str, key: str, named: Sequence[str]) -> pl.DataFrame:
    """Returns the time series of one run, of the named flows or links (none: all)."""
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
