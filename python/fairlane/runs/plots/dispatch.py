"""`Result.plot` for kinds of plots: separates their options from those of quantities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import FairlaneError
from . import KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..data import ResultData

OF_KINDS = ("theory", "time", "style")
OF_QUANTITIES = ("group", "aggregate", "kind")


def single(result: ResultData, names: Sequence[str], ax: Axes | Iterable[Axes] | None, options: Mapping[str, Any]) -> Figure | None:
    """Returns the figure of a kind; None for quantities, which `runs.plot` draws."""
    kinds = [n for n in names if n in KINDS]
    given_options = [k for k in OF_KINDS if options.get(k)]
    if not kinds and not given_options:
        return None
    if len(names) > 1:
        what = f"{kinds[0]!r} is a figure of its own" if kinds else f"{given_options[0]}= needs a single quantity"
        raise FairlaneError(f"{what}: draw it alone, or give each its own axes (ax=)")
    for name in OF_QUANTITIES:
        if options.get(name):
            raise FairlaneError(
                f'{name}= applies to quantities such as "queue", not to {kinds[0] if kinds else given_options[0] + "="!r}: leave it out'
            )
    from .figure import draw

    given = {k: v for k, v in options.items() if k not in OF_QUANTITIES}
    return draw([("", result)], names[0], ax=ax, **given).figure
