"""Where output goes: documents and tables to stdout, progress to a terminal's stderr."""

from __future__ import annotations

import io
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..base.format import duration

if TYPE_CHECKING:
    from rich.console import Console


class Commands(click.Group):
    """Commands in alphabetical order, each with the whole first sentence of its help."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Where click would cut a sentence, it goes on in the next line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=1000)) for name in self.list_commands(ctx)])


def emit(text: str) -> None:
    """Writes to stdout and makes sure it arrives."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def emit_json(value: Any) -> None:
    """Writes one JSON document to stdout."""
    emit(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def printed(write: Callable[[Console], object]) -> str:
    """What `write` prints to a console, as text for stdout: coloured on a terminal, plain in a pipe."""
    from rich.console import Console

    tty = sys.stdout.isatty()
    width = shutil.get_terminal_size((140, 40)).columns if tty else 140
    console = Console(file=io.StringIO(), width=max(40, width), force_terminal=tty, color_system="auto" if tty else None, highlight=False)
    write(console)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]


def render(*parts: Any) -> str:
    """Rich renderables as text for stdout."""

    def write(console: Console) -> None:
        for part in parts:
            console.print(part)

    return printed(write)


def _load_plugins(_ctx: click.Context, _param: click.Parameter, files: tuple[str, ...]) -> None:
    from ..own.plugin import load

    for file in files:
        load(file)


plugin_option = click.option(
    "--plugin", "plugins", multiple=True, metavar="FILE", callback=_load_plugins, expose_value=False, is_eager=True,
    help="Load queues or congestion controls of your own: a Python file, or a shared library (.so) with congestion controls.",
)  # fmt: skip
"""The option of every command that reads scenarios or names of algorithms."""


_CREW = (
    click.option("--threads", type=click.IntRange(0, 4096), metavar="N", help="Cells at once, on threads (default: one a core)."),
    click.option("--processes", type=click.IntRange(0, 4096), metavar="N", help="Cells at once, on processes; 0: one a core."),
    click.option("--cluster", metavar="tcp://HOST:PORT", help="Run the cells on the workers of a Dask scheduler."),
    click.option("--mpi", is_flag=True, help="Run the cells on MPI: mpiexec -n N python -m mpi4py.futures -m fairlane ... --mpi"),
)


def crew_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that run cells: who runs them. `fairlane.study.crew.choose` takes their values."""
    for option in reversed(_CREW):
        command = option(command)
    return command


@contextmanager
def status_line(*, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """A callback that shows a text in the last line of the terminal, in place of the one before; None unless stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    def show(text: str) -> None:
        sys.stderr.write("\r\x1b[2K" + text)
        sys.stderr.flush()

    try:
        yield show
    finally:
        show("")


@contextmanager
def progress_bar(what: str, runs: int, *, quiet: bool) -> Iterator[Callable[[float, int, int], bool] | None]:
    """A callback for `fairlane.run` that draws a bar with the time left; None unless stderr is a terminal."""
    width = 24
    began = time.monotonic()
    with status_line(quiet=quiet) as line:
        if line is None:
            yield None
            return

        def show(fraction: float, done: int, events: int) -> bool:
            spent = time.monotonic() - began
            left = f", {duration(spent * (1 - fraction) / fraction)} left" if fraction > 0.005 and spent > 0.5 else ""
            full = int(width * min(1.0, fraction))
            speed = f", {events / spent / 1e6:.1f} M events/s" if spent > 0.2 else ""
            of = f", {done}/{runs} runs" if runs > 1 else ""
            line(f"{what} [{'#' * full}{'.' * (width - full)}] {fraction:4.0%}{of}{speed}{left}")
            return True

        yield show


@contextmanager
def step_bar(what: str, *, quiet: bool) -> Iterator[Callable[[float, str], None] | None]:
    """A callback for long studies: fraction done and what is being done; None unless stderr is a terminal."""
    began = time.monotonic()
    with status_line(quiet=quiet) as line:
        if line is None:
            yield None
            return

        def show(fraction: float, text: str = "") -> None:
            spent = time.monotonic() - began
            left = f", {duration(spent * (1 - fraction) / fraction)} left" if fraction > 0.01 and spent > 1 else ""
            line(f"{what} {fraction:4.0%}{left} {text}"[:150])

        yield show
