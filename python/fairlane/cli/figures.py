"""Checks of the figures that `run` draws, made before the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError, ScenarioError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..runs.result import Result


def new_figures(paths: Iterable[str], *, force: bool) -> list[Path]:
    """Returns the checked files of figures (`base.outputs.new_files`)."""
    from ..base.outputs import new_files
    from ..look.figures import check_path

    return new_files([check_path(p) for p in paths], force=force)


def page_file(path: str, *, force: bool) -> Path:
    """Returns the checked file of a page: its name ends in .html."""
    from ..base.outputs import new_file

    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise FairlaneError(f"cannot write a page as {path}: the name must end in .html")
    return new_file(path, force=force)


_INSTANTS = ("3ms", "30ms", "300ms", "3s", "30s", "300s")
"""Lengths of a trial run; the first one that reaches all events of the scenario is used."""


def _trial_run(source: Any, changes: Sequence[tuple[str, str]], duration: str) -> Result | None:
    """Returns the start of a run; None if it fails, or would not be shorter than the run."""
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
            continue  # an event of the scenario is later
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
    """Raises `UnknownNameError` for a quantity that the scenario does not have; `tried` draws it or looks it up.

    Queues, congestion controls and plug-ins add quantities of their own, so a short trial run lists them.
    """
    first = _trial_run(source, changes, duration)
    if first is None:
        return
    for name in dict.fromkeys(names):
        try:
            first.plot(name) if tried is None else tried(first, name)
        except UnknownNameError:
            raise
        except (FairlaneError, ArithmeticError, LookupError, ValueError):
            continue  # a short run may be too little to draw


def draw_figures(result: Result, targets: Iterable[Path]) -> tuple[list[tuple[Path, Figure]], FairlaneError | None]:
    """Returns the figures, and the error of one that cannot be drawn, to be raised after the results are saved."""
    figures: list[tuple[Path, Figure]] = []
    fault = None
    for path in targets:
        try:
            figures.append((path, result.plot(path.stem)))
        except FairlaneError as e:
            fault = e
    return figures, fault
