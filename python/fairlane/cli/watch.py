"""The command `watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..base.extras import need
from ..errors import ScenarioError
from . import completion
from .figures import page_file
from .file_kinds import other_kind
from .log import given
from .output import assignments, emit, emit_json, plugin_option, wrote
from .seeds import SEED


@click.command()
@click.argument("file", shell_complete=completion.scenarios)
@click.option("--save", "page", metavar="FILE.html", help="Record a time span in one page that replays it offline, instead of a live view.")
@click.option("--seed", type=SEED, metavar="N", help="The seed (default: the scenario's).")
@completion.set_option("Change any value, such as links.bottleneck.queue=codel.")
@click.option("--from", "begin", default=None, metavar="TIME", help="With --save: start of the recording (default: 0s).")
@click.option("--until", default=None, metavar="TIME", help="With --save: end of the recording (default: the end of the run).")
@click.option(
    "--branch",
    "branches",
    multiple=True,
    metavar="'at=TIME PATH=VALUE...'",
    help="With --save: record a branch next to the run, such as 'at=20s links.bottleneck.queue=codel'; repeatable.",
)
@click.option(
    "--lesson", metavar="FILE.toml", help="With --save: show the sentences and questions of a file, such as a lesson's questions.toml."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Local port (default: any free one).")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: the address, or the saved file.")
@plugin_option
def watch(
    file: str,
    page: str | None,
    seed: int | None,
    sets: tuple[str, ...],
    begin: str | None,
    until: str | None,
    branches: tuple[str, ...],
    lesson: str | None,
    port: int,
    no_browser: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Animate a scenario in the browser: packets, queues and congestion windows as the simulation runs.

    The page runs, steps, changes and branches the simulation. Its server accepts connections from this machine only and stops with the
    command (Ctrl-C, exit code 0). --save writes one page that replays a time span offline. docs/guides/watch.md lists all keys.
    """
    changes = assignments(sets)
    if page is None:
        wrong = [
            name
            for name, value in (("--from", begin), ("--until", until), ("--branch", branches), ("--lesson", lesson), ("--force", force))
            if value
        ]
        if wrong:
            raise click.UsageError(f"{wrong[0]} needs --save FILE.html")
        need("watch")
    need("study")
    target = None if page is None else page_file(page, force=force)
    source = given(file)
    try:
        if target is None:
            _serve(source, seed, changes, port, browser=not (no_browser or as_json), as_json=as_json)
        else:
            _save(source, seed, changes, target, (begin or "0s", until), branches, lesson, new=not force, as_json=as_json)
    except ScenarioError as e:
        raise other_kind(file, e, "scenario") from None


def _save(
    source: Any, seed: int | None, changes: Any, target: Path, stretch: tuple[str, str | None], branches: tuple[str, ...],
    lesson: str | None, *, new: bool, as_json: bool,
) -> None:  # fmt: skip
    from ..watch import record

    made = record(source, seed, sets=changes, begin=stretch[0], until=stretch[1], branches=branches, lesson=lesson)
    made.save(target, new=new)
    if as_json:
        emit_json(made.document(str(target), target.stat().st_size))
    wrote([target], as_json=as_json, quiet=False)


def _serve(source: Any, seed: int | None, changes: Any, port: int, *, browser: bool, as_json: bool) -> None:
    from .. import _core
    from ..watch import serve

    def ready(address: str) -> None:
        import sys

        if as_json:
            emit_json({"schema": "fairlane.watch/1", "fairlane": _core.version(), "address": address})
        else:
            emit(f"watch at {address}\nCtrl-C ends it")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(source, seed, sets=changes, port=port, ready=ready)
