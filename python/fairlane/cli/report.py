"""The command `report`."""

from __future__ import annotations

import click

from ..base.extras import need
from .figures import page_file
from .output import emit, emit_json, render, wrote


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@click.option("-o", "--out", "out", metavar="PAGE.html", help="The page to write; one that exists is an error without --force.")
@click.option(
    "--label", "labels", multiple=True, metavar="NAME", help="What a result is called, once for each in their order (default: its folder)."
)
@click.option(
    "--margin",
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="What does not matter between several: equivalence is tested within it.",
)
@click.option("--force", is_flag=True, help="Replace a page that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def report(results: tuple[str, ...], out: str | None, labels: tuple[str, ...], margin: str, force: bool, as_json: bool) -> None:
    """Write one page for any RESULT: a result folder, the folder of a study, a search or a reproduction, or what was imported.

    The page opens offline, on a telephone and on paper: what was run, the answer in three sentences and a table, what held each flow back,
    charts to zoom into with their numbers as CSV, the scenario, and the command that runs it again. Several results are held against the
    first: differences with 95 % intervals come first, paired by seed where both have the same seeds.

    docs/guides/reports.md shows what stands in a page. Without -o the sentences are printed alone.
    """
    need("study")
    from ..reports import report as make

    target = None if out is None else page_file(out, force=force)
    made = make(list(results), labels=list(labels) or None, margin=margin)
    if target is not None:
        made.save(target, force=force)
    if as_json:
        emit_json(made.document())
    else:
        from ..look.sheet import Words

        emit(render(*(Words(s) for s in made.sentences or [repr(made)]), *(Words(f"warning: {w}") for w in made.warnings)))
    wrote([target] if target is not None else [], as_json=as_json, quiet=False)
