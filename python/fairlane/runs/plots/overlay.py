"""`plot`: one figure of one or several results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from ...base.extras import need
from ...errors import ArgumentError, FairlaneError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..data import ResultData

Several: TypeAlias = "Mapping[str, ResultData | str | PathLike[str]] | Iterable[ResultData | str | PathLike[str]] | str | PathLike[str]"
"""Results or result folders."""


class KindOptions(TypedDict, total=False):
    """Options of `plot` besides results and kind."""

    flow: str | Iterable[str] | None
    link: str | Iterable[str] | None
    seed: int | str | None
    theory: str | Iterable[str]
    time: str | tuple[float | None, float | None] | None
    style: str
    size: tuple[float, float] | None


def plot(
    results: Several,
    kind: str,
    *,
    path: str | PathLike[str] | None = None,
    ax: Axes | Iterable[Axes] | None = None,
    **options: Unpack[KindOptions],
) -> Figure:
    """Draws several results in one figure, in shared panels or side by side.

    `results`: results or folders, as a list or as a dict from names to them; `Result.plot` draws one result. `kind`: one of
    `fairlane plot --list` ("window", "delay-cdf", "ellipses"...), or a time series or metric ("queue", "goodput"...). `path` saves the
    figure as SVG, PNG or PDF; `ax`: your own axes, one per panel.

    `flow`, `link`: names, one or several. `seed`: one run (default: the first; kinds with a point per flow use all runs), or "all" for
    means with 95 % intervals as bands. `theory`: theoretical curves such as "bdp" or ("rtt", "full"). `time`: "10s..20s". `style`: column
    width and font of a paper, such as "ieee" or "acm-wide". See docs/guides/plots.md.
    """
    need("plots")
    from .figure import draw

    figure = draw(pairs(results), kind, ax=ax, **options).figure
    if path is not None:
        save(figure, path, options.get("style", "screen"))
    return figure


def save(figure: Figure, path: str | PathLike[str], style: str = "screen", *, new: bool = False) -> None:
    """Writes a figure, at print resolution if it is for a paper; with `new` an existing file is an error."""
    from ...look.figures import save_figure

    save_figure(figure, path, dpi=160 if style == "screen" else 300, new=new)


def pairs(results: Any) -> list[tuple[str, ResultData]]:
    """Returns labels and results for the argument of `plot`; reads folders."""
    from ..data import ResultData
    from ..folder import load

    def one(x: Any) -> ResultData:
        if isinstance(x, ResultData):
            return x
        if isinstance(x, str | PathLike):
            return load(x, ResultData)
        raise FairlaneError(f"cannot draw {x!r}: give a Result, a result folder, a list of them, or a dict from names to them")

    if isinstance(results, Mapping):
        return [(str(name), one(x)) for name, x in results.items()]
    if not isinstance(results, str | PathLike | Iterable):
        raise ArgumentError(f"cannot draw {results!r} here: give several results or folders; one result has `plot`")
    given = [results] if isinstance(results, str | PathLike) else list(results)
    found = [one(x) for x in given]
    names = [
        Path(fspath(x)).name if isinstance(x, str | PathLike) else r.description.get("name") or ""
        for x, r in zip(given, found, strict=True)
    ]
    return list(zip(labels(names), found, strict=True))


def labels(names: list[str]) -> list[str]:
    """Returns unique names of results, numbered if needed.

    >>> labels(["red", "", "red"])
    ['red, 1', 'result 2', 'red, 3']
    """
    return [n if n and names.count(n) == 1 else f"{n}, {i}" if n else f"result {i}" for i, n in enumerate(names, 1)]
