"""`Result.plot` of a kind: what of its options is meant for kinds, and what for quantities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import FairlaneError
from . import KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

OF_KINDS = ("theory", "time", "style")
OF_QUANTITIES = ("group", "aggregate", "kind")


def single(result: Result, names: Sequence[str], ax: Axes | Iterable[Axes] | None, options: Mapping[str, Any]) -> Figure | None:
    """The figure of a kind; None if quantities are asked for, in the way of `runs.plot`."""
    kinds = [n for n in names if n in KINDS]
    asked = [k for k in OF_KINDS if options.get(k)]
    if not kinds and not asked:
        return None
    if len(names) > 1:
        what = f"{kinds[0]!r} is a picture by itself" if kinds else f"{asked[0]}= goes with one quantity"
        raise FairlaneError(f"{what}: draw it alone, or give each axes of its own (ax=)")
    for name in OF_QUANTITIES:
        if options.get(name):
            raise FairlaneError(
                f'{name}= goes with quantities such as "queue", not with {kinds[0] if kinds else asked[0] + "="!r}: leave it out'
            )
    from .figure import draw

    given = {k: v for k, v in options.items() if k not in OF_QUANTITIES}
    return draw([("", result)], names[0], ax=ax, **given).figure
