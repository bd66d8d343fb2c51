"""What `run` draws, tried before the run: a name that nothing has would cost the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError, ScenarioError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..runs.result import Result


def new_figures(paths: Iterable[str], *, force: bool) -> list[Path]:
    """The files of figures, as `base.outputs.new_files` lets them be."""
    from ..base.outputs import new_files
    from ..look.figures import check_path

    return new_files([check_path(p) for p in paths], force=force)


def page_file(path: str, *, force: bool) -> Path:
    """The file of a page: its name ends in .html."""
    from ..base.outputs import new_file

    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise FairlaneError(f"cannot write a page as {path}: the name must end in .html")
    return new_file(path, force=force)


_INSTANTS = ("3ms", "30ms", "300ms", "3s", "30s", "300s")
"""Long enough for every table to have its columns; the first in which all that the scenario names has begun."""


def _begun(source: Any, changes: Sequence[tuple[str, str]], duration: str) -> Result | None:
    """The first instant of a run; None if what is wrong with it is better told by the run, or it is no shorter."""
    from ..base.format import seconds
    from ..base.scenario import checked
    from ..runs.result import run_resolved

    for instant in _INSTANTS:
        if seconds(instant) > seconds(duration):
            return None
        short = [("duration", instant), ("warmup", "0s"), ("sample", f"{seconds(instant) / 3 * 1e6:.0f}us")]
        try:
            resolved = checked(source, [*changes, *short])
        except ScenarioError:
            continue  # something is to happen later than that
        try:
            return run_resolved(resolved, 1, threads=1)
        except FairlaneError:
            return None
    return None


def check_quantities(
    source: Any,
    changes: Sequence[tuple[str, str]],
    duration: str,
    names: Iterable[str],
    tried: Callable[[Result, str], object] | None = None,
) -> None:
    """Raises `UnknownNameError` for a name that the figures of this scenario do not know; `tried` draws one, or looks it up.

    Which quantities there are depends on the queues and congestion controls, and on those of one's own: the first instant tells.
    """
    first = _begun(source, changes, duration)
    if first is None:
        return
    for name in dict.fromkeys(names):
        try:
            first.plot(name) if tried is None else tried(first, name)
        except UnknownNameError:
            raise
        except (FairlaneError, ArithmeticError, LookupError, ValueError):
            continue  # an instant may be too little to draw


def drawn(result: Result, targets: Iterable[Path]) -> tuple[list[tuple[Path, Figure]], FairlaneError | None]:
    """The figures, and why one cannot be drawn: to be told when the results, which took their time, are shown and kept."""
    figures: list[tuple[Path, Figure]] = []
    fault = None
    for path in targets:
        try:
            figures.append((path, result.plot(path.stem)))
        except FairlaneError as e:
            fault = e
    return figures, fault
