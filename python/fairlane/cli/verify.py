"""The command `verify`: stored files against their checksums."""

from __future__ import annotations

import click

from ..base.extras import need
from .output import emit, emit_json


@click.command()
@click.argument("folder")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def verify(folder: str, as_json: bool) -> int:
    """Compare every file that fairlane stored in FOLDER with its checksum: studies, tuning runs, reproductions, result folders.

    Subfolders are checked as well. Nothing is changed: the next run of a study, a tuning run or a reproduction removes damaged files and
    repeats their runs. docs/background/study-folders.md lists the checksums.

    Exit code 0 if all files are intact, 1 if one is damaged or missing, 2 if there is nothing to check or FOLDER cannot be read.
    """
    return check(folder, as_json)


def check(folder: str, as_json: bool) -> int:
    """Prints the results of the check and returns the exit code."""
    need("study")
    from ..study import verify as run
    from . import FAILED

    done = run(folder)
    emit_json(done.document()) if as_json else emit("\n".join(done.lines()))
    return 0 if done.whole else FAILED
