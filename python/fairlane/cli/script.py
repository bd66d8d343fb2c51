"""The command `script`: packetdrill scripts against fairlane's TCP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import FairlaneError, InputError
from .output import assignments, emit, emit_json
from .output import tell as on_stderr

if TYPE_CHECKING:
    from ..script import Outcome

_OPTIONS = (
    ("ip_version", "VERSION", "ipv4, ipv4-mapped-ipv6 or ipv6."),
    ("mtu", "BYTES", "MTU of the path [1500]."),
    ("mss", "BYTES", "Segment size: a longer packet in a script stands for several segments."),
    ("tolerance_usecs", "USECS", "Timing tolerance of a packet [4000]."),
    ("tolerance_percent", "PERCENT", "Timing tolerance as a percentage of the time since the previous event [12.5]."),
    ("tcp_ts_tick_usecs", "USECS", "Check that timestamps advance by one per this interval."),
    ("non_fatal", "KINDS", "Report failures of these kinds without failing: packet, syscall."),
    ("init_scripts", "FILES", "Files with settings, read before the script."),
)
"""Options of packetdrill; they prevail over those at the top of a script."""


def _packetdrill(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, metavar, words in reversed(_OPTIONS):
        spellings = dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}"))
        command = click.option(*spellings, name, metavar=metavar, help=words)(command)
    return click.option("--strict_segments", "--strict-segments", is_flag=True, help="Do not join segments to match an expected packet.")(
        command
    )


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE.pkt...]")
@click.option(
    "--preset",
    default="linux-6.12",
    show_default=True,
    metavar="NAME",
    help="The TCP preset under test; linux is the current kernel.",
)
@click.option(
    "--set", "sets", multiple=True, metavar="PARAMETER=VALUE", help="Change any parameter of TCP, such as dupthresh=4 or cc=reno."
)
@click.option("-D", "defines", multiple=True, metavar="NAME=VALUE", help="Define a symbol for the scripts.")
@_packetdrill
@click.option("--verbose", "-v", is_flag=True, help="Print a timeline of calls and packets, and the output of the scripts.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document, also on errors: counts, and outcome, line, message and warnings of each script; "
    "with --verbose its timeline.",
)
def script(
    files: tuple[str, ...], preset: str, sets: tuple[str, ...], defines: tuple[str, ...], verbose: bool, as_json: bool, **options: Any
) -> int:
    """Run packetdrill scripts against fairlane's TCP; a folder stands for all scripts in it.

    Without FILE: run the scripts that come with fairlane. docs/guides/packet-scripts.md shows how to write scripts.

    Exit code 0 if all pass, 1 if one fails, 2 if one cannot be read or needs a feature that is not simulated.
    Python between %{ and }% is executed: run only scripts that you trust. Shell lines are read for settings, never executed.
    """
    from .. import _core
    from ..script.document import document

    if not as_json:
        return _exit_code(_run(files, preset, sets, defines, options, lambda o: _show(o, verbose), totals=True))
    try:
        done = _run(files, preset, sets, defines, options, _on_stderr, totals=False)
    except FairlaneError as e:
        on_stderr(str(e) if str(e).startswith("error") else f"error: {e}")
        emit_json(document(_core.version(), [], error=str(e)))
        return 2
    emit_json(document(_core.version(), done, timeline=verbose))
    return _exit_code(done)


def _run(
    files: tuple[str, ...],
    preset: str,
    sets: tuple[str, ...],
    defines: tuple[str, ...],
    options: dict[str, Any],
    tell: Callable[[Outcome], None],
    *,
    totals: bool,
) -> list[Outcome]:
    from ..script import ScriptError, run_file
    from ..script.document import unread, warnings

    if (wrong := next((f for f in files if f.endswith((".toml", ".json")) and Path(f).is_file()), None)) is not None:
        raise FairlaneError(f"{wrong} is not a packet script (.pkt): fairlane run {wrong}")
    changes: dict[str, Any] = {name: _plain(value) for name, value in assignments(sets)}
    symbols = dict(assignments(defines))
    given = {name: "true" if value is True else str(value) for name, value in options.items() if value not in (None, False)}
    done: list[Outcome] = []
    for path in _find(files or (str(Path(__file__).parent.parent / "scripts"),)):
        try:
            outcome = run_file(path, preset=preset, changes=changes, defines=symbols, options=given)
        except (ScriptError, InputError, OSError) as e:
            outcome = unread(str(path), e)
        done.append(outcome)
        tell(outcome)
    if totals and len(done) > 1:
        count = {kind: sum(o.kind == kind for o in done) for kind in ("passed", "failed", "refused", "unreadable")}
        words = f"{len(done)} scripts: {count['passed']} pass, {count['failed']} fail"
        words += f", {count['refused']} refused" if count["refused"] else ""
        emit(words + (f", {count['unreadable']} cannot be read" if count["unreadable"] else ""))
    if found := warnings(done):
        messages = [text + (f" ({n} scripts)" if n > 1 else "") for text, n in found.items()]
        lead = (
            "warning: check this before you trust the result: "
            if len(messages) == 1
            else "warning: check these before you trust the result:\n  "
        )
        on_stderr(lead + "\n  ".join(messages))
    return done


def _exit_code(done: list[Outcome]) -> int:
    kinds = {o.kind for o in done}
    return 2 if kinds & {"refused", "unreadable"} else 1 if "failed" in kinds else 0


def _find(names: tuple[str, ...]) -> list[Path]:
    out: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(path.rglob("*.pkt"))
            if not inside:
                raise FairlaneError(f"{name}: no script (*.pkt) in this folder")
            out += inside
        else:
            out.append(path)
    return out


def _plain(text: str) -> Any:
    """Returns true, false, null and numbers as in JSON, anything else as text."""
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text.strip("\"'")


def _show(outcome: Outcome, verbose: bool) -> None:
    if outcome.kind in ("refused", "unreadable"):
        _on_stderr(outcome)
        return
    if verbose:
        emit("\n".join([f"{outcome.file}:", *outcome.timeline]))
        if outcome.printed:
            emit(outcome.printed.rstrip("\n"))
    emit(f"ok    {outcome.file}" if outcome.passed else f"FAILS {outcome.message}")


def _on_stderr(outcome: Outcome) -> None:
    if outcome.rendered:
        on_stderr(outcome.rendered)
