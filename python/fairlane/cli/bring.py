"""The command `import`: files of other programs as result folders."""

from __future__ import annotations

import click

from .output import wrote


@click.command(name="import")
@click.argument("file")
@click.option("-o", "--out", metavar="DIR", required=True, help="The folder to write; one that exists is an error without --force.")
@click.option("--force", is_flag=True, help="Replace a result folder.")
def import_(file: str, out: str, force: bool) -> None:
    """Read a trace of ns-2 (wired links, trace-all) into an event table that `fairlane query` and polars read.

    docs/guides/traces.md says what becomes of its lines.
    """
    from ..runs.ns2 import import_trace

    wrote([import_trace(file, out, force=force)], as_json=False, quiet=False)
