"""The command `script`: tests in packetdrill's notation against our TCP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import FairlaneError
from .output import emit, emit_json
from .queues import assignments

if TYPE_CHECKING:
    from ..script import Outcome


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE.pkt...]")
@click.option("--preset", default="linux", show_default=True, metavar="NAME", help="The dialect of TCP under test.")
@click.option(
    "--set", "sets", multiple=True, metavar="PARAMETER=VALUE", help="Change any parameter of TCP, such as dupthresh=4 or cc=reno."
)
@click.option("-D", "defines", multiple=True, metavar="NAME=VALUE", help="Define a symbol for the scripts.")
@click.option("--verbose", "-v", is_flag=True, help="Print each call and packet as a time line, and what the scripts print.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document: passed, failed, and for each script file, line, message and warnings; with --verbose its time line.",
)
def script(files: tuple[str, ...], preset: str, sets: tuple[str, ...], defines: tuple[str, ...], verbose: bool, as_json: bool) -> int:
    """Run scripts in packetdrill's notation against our TCP; a folder stands for all scripts in it.

    Without FILE: run the scripts that come with fairlane. docs/guides/packet-scripts.md shows how to write scripts.

    Exit code 0 if all pass, 1 if one fails, 2 if one cannot be read.
    Python between %{ and }% is executed: run only scripts that you trust. Shell lines are read for settings, never executed.
    """
    from ..script import ScriptError, run_file
    from ..script.document import document

    paths = _find(files or (str(Path(__file__).parent.parent / "scripts"),))
    changes: dict[str, Any] = {name: _plain(value) for name, value in assignments(sets)}
    symbols = dict(assignments(defines))
    done: list[Outcome] = []
    unread = 0
    for path in paths:
        try:
            outcome = run_file(path, preset=preset, changes=changes, defines=symbols)
        except ScriptError as e:
            if len(paths) == 1 or as_json:
                raise
            unread += 1
            click.echo(str(e), err=True)
            continue
        done.append(outcome)
        if not as_json:
            _show(outcome, verbose)
    failed = sum(not o.passed for o in done)
    if as_json:
        emit_json(document(done, timeline=verbose))
    elif len(paths) > 1:
        emit(f"{len(paths)} scripts: {len(done) - failed} pass, {failed} fail" + (f", {unread} cannot be read" if unread else ""))
    return 2 if unread else 1 if failed else 0


def _find(names: tuple[str, ...]) -> list[Path]:
    out: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(path.rglob("*.pkt"))
            if not inside:
                raise FairlaneError(f"{name}: no script (*.pkt) in this folder")
            out += inside
        elif path.is_file():
            out.append(path)
        else:
            raise FairlaneError(f"{name}: there is no such file or folder")
    return out


def _plain(text: str) -> Any:
    """true, false, null and numbers as JSON has them, anything else as text."""
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text.strip("\"'")


def _show(outcome: Outcome, verbose: bool) -> None:
    if verbose:
        emit("\n".join([f"{outcome.file}:", *outcome.timeline]))
        if outcome.printed:
            emit(outcome.printed.rstrip("\n"))
    for warning in outcome.warnings:
        emit(f"warning: {warning}")
    emit(f"ok    {outcome.file}" if outcome.passed else f"FAILS {outcome.message}")
