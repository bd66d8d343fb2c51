"""The command `verify`: kept files against their checksums."""

from __future__ import annotations

import click

from ..base.extras import need
from .output import emit, emit_json


@click.command()
@click.argument("folder")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def verify(folder: str, as_json: bool) -> int:
    """Compare every file that fairlane keeps in FOLDER with its checksum: studies, searches, reproductions, result folders.

    Folders inside of FOLDER are looked through as well. Nothing is changed: a study, search or reproduction that is run again removes what
    is damaged and runs it again. docs/background/study-folders.md says what carries which checksum.

    Exit code 0 if all is whole, 1 if something is damaged or missing, 2 if there is nothing to check or it cannot be read.
    """
    return check(folder, as_json)


def check(folder: str, as_json: bool) -> int:
    """Prints what came of it; the exit code."""
    need("study")
    from ..study import verify as run
    from . import FAILED

    done = run(folder)
    emit_json(done.document()) if as_json else emit("\n".join(done.lines()))
    return 0 if done.whole else FAILED
