"""Output of the commands: documents and tables to stdout, progress to stderr if it is a terminal."""

from __future__ import annotations

import io
import json
import shutil
import sys
import time
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from ..base.encodings import document, encodable
from ..base.escapes import json_safe, one_line, printable
from ..base.extras import need
from ..base.format import duration
from ..base.paths import partition
from ..base.status import steps, terminal_line
from ..errors import FairlaneError, suggest

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem
    from rich.console import Console
    from rich.text import Text


class Later(UserDict[str, click.Command]):
    """Commands by name; commands of other files are loaded on first use."""

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__()
        self._files = dict(files)
        self.data = dict.fromkeys(files)  # type: ignore[assignment]

    def __getitem__(self, name: str) -> click.Command:
        if self.data[name] is None:
            self.data[name] = getattr(import_module(f".{self._files[name]}", __package__), name + "_" * iskeyword(name))
        return self.data[name]


class Commands(click.Group):
    """Commands in alphabetical order, each with the whole first sentence of its help."""

    what = "command"
    """Noun for a command of this group in errors."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command; an unknown name is an error with the nearest ones."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            raise click.UsageError(self.unknown(name), ctx)
        return super().resolve_command(ctx, args)

    def unknown(self, name: str) -> str:
        """Returns the error for a name that is no command."""
        return str(suggest(name, list(self.commands), self.what))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes names of commands, with the whole first sentence of their help."""
        found = super().shell_complete(ctx, incomplete)
        for item in found:
            if item.value in self.commands:
                item.help = self.commands[item.value].get_short_help_str(limit=1000)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands with sentences wrapped, not cut."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=1000)) for name in self.list_commands(ctx)])


def assignments(pairs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the paths and values of `--set`."""
    out = []
    for pair in pairs:
        path, sign, value = partition(pair)
        if not sign or not path.strip():
            raise FairlaneError(f"cannot read --set {pair!r}: write path=value, such as links.bottleneck.rate=5Mbit/s")
        out.append((path.strip(), value.strip()))
    return out


class Styled(str):
    """Text for a terminal with our own control characters (colours). Added text is made printable first."""

    def __add__(self, more: str, /) -> Styled:
        return Styled("".join((self, more if isinstance(more, Styled) else printable(more))))


def emit(text: str) -> None:
    """Writes to stdout and flushes; control characters in foreign text are escaped."""
    safe = text if isinstance(text, Styled) else printable(text)
    sys.stdout.write(encodable(safe if safe.endswith("\n") else safe + "\n", sys.stdout.encoding))
    sys.stdout.flush()


def emit_document(text: str, kind: str) -> None:
    """Writes a TOML or XML document to stdout, the same document in every encoding."""
    safe = json_safe(text) if kind == "toml" else printable(text)  # TOML has the escapes of JSON
    emit(Styled(document(safe, kind, sys.stdout.encoding)))


def tell(text: str) -> None:
    """Writes to stderr as `emit` does to stdout."""
    click.echo(encodable(printable(text), sys.stderr.encoding), err=True)


def emit_pieces(pieces: Iterable[str]) -> None:
    """Writes a JSON document to stdout piece by piece."""
    for piece in pieces:
        sys.stdout.write(document(json_safe(piece), "json", sys.stdout.encoding))
    sys.stdout.flush()


def emit_json(value: Any) -> None:
    """Writes one JSON document to stdout."""
    text = json_safe(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))
    emit(Styled(document(text, "json", sys.stdout.encoding)))


def notes(lines: Iterable[str]) -> None:
    """Writes remarks that do not concern the results to stderr, one line each, with its help below."""
    for line in lines:
        remark, sign, advice = line.partition("\n  = help: ")
        tell(f"note: {one_line(remark)}")
        if sign:
            tell(f"  = help: {one_line(advice)}")


def wrote(paths: Iterable[Path], *, as_json: bool, quiet: bool) -> None:
    """Lists the files written: after the tables, or on stderr with a document."""
    if not quiet and (names := [str(_from_here(p)) for p in paths]):
        (tell if as_json else emit)(one_line(f"wrote {', '.join(names)}"))


def _from_here(path: Path) -> Path:
    from pathlib import Path

    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path


def line_width() -> int:
    """Returns the columns of the screen, or COLUMNS, in a pipe as well; 140 if neither is known."""
    return max(40, shutil.get_terminal_size((140, 40)).columns)


def safe_console(**options: Any) -> Console:
    """Returns a console that escapes control characters in foreign text before it adds colours."""
    from rich.console import Console
    from rich.errors import MarkupError
    from rich.segment import Segment

    class Safe(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            """Yields the segments with control characters escaped and without links."""
            for s in super().render(renderable, options):
                safe = s.text if s.control else printable(s.text)
                style = s.style.update_link() if s.style is not None and s.style.link is not None else s.style
                yield s if safe == s.text and style is s.style else Segment(safe, style, s.control)

        def render_str(self, text: str, **how: Any) -> Text:
            """Renders a string; a name that looks like style markup, such as [/x], stays unchanged."""
            try:
                return super().render_str(text, **how)
            except MarkupError:
                return super().render_str(text, **{**how, "markup": False})

    return Safe(highlight=False, **options)


def printed(write: Callable[[Console], object]) -> Styled:
    """Returns the output of `write` to a console as text for stdout: coloured on a terminal, plain in a pipe."""
    tty = sys.stdout.isatty()
    buffer = io.StringIO()
    write(safe_console(file=buffer, width=line_width(), force_terminal=tty, color_system="auto" if tty else None))
    return Styled("\n".join(line.rstrip() for line in buffer.getvalue().splitlines()))


def render(*parts: Any) -> Styled:
    """Returns Rich renderables as text for stdout."""

    def write(console: Console) -> None:
        for part in parts:
            console.print(part)

    return printed(write)


def _load_plugins(ctx: click.Context, _param: click.Parameter, files: tuple[str, ...]) -> None:
    ctx.meta["fairlane.plugins"] = files
    for file in files:
        from ..own.plugin import load

        load(file)


plugin_option = click.option(
    "--plugin", "plugins", multiple=True, metavar="FILE", callback=_load_plugins, expose_value=False, is_eager=True,
    help="Load your own queues or congestion controls: a Python file, or a shared library (.so) written in C. "
    "Its code runs with all rights of your account.",
)  # fmt: skip
"""The option of every command that reads scenarios or names of algorithms."""


_WORKERS = (
    click.option("--threads", type=click.IntRange(0, 4096), metavar="N", help="Parallel runs on threads (default: one per core)."),
    click.option("--processes", type=click.IntRange(0, 4096), metavar="N", help="Parallel runs on processes; 0: one per core."),
    click.option("--cluster", metavar="tcp://HOST:PORT", help="Run on the workers of a Dask scheduler."),
    click.option("--mpi", is_flag=True, help="Run on MPI: mpiexec -n N python -m mpi4py.futures -m fairlane ... --mpi"),
)
worker_plugins = click.option(
    "--plugin", "plugins", multiple=True, metavar="FILE",
    help="Load your own queues or congestion controls in all workers; their code runs with all rights of your account.",
)  # fmt: skip


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say who executes the runs. `fairlane.study.executors.choose` takes their values."""
    for option in reversed(_WORKERS):
        command = option(command)
    return command


def need_workers(chosen: Mapping[str, Any]) -> None:
    """Raises `MissingError` if the library of the chosen workers is missing."""
    for option, value in chosen.items():
        if option in ("cluster", "mpi") and value:
            need(option)


@contextmanager
def status_line(*, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Yields a callback that replaces the last line of the terminal; None unless stderr is a terminal."""
    from .log import current

    if (log := current()).on:
        yield log.step
        return
    with terminal_line(quiet=quiet) as line:
        yield line


@contextmanager
def progress_bar(what: str, runs: int, *, quiet: bool) -> Iterator[Callable[[float, int, int], bool] | None]:
    """Yields a callback for `fairlane.run` that draws a bar with the time left; None unless stderr is a terminal."""
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
    """Yields a callback for long studies that shows the fraction done and the current step; None unless stderr is a terminal."""
    with status_line(quiet=quiet) as line:
        yield None if line is None else steps(what, line)
