"""The command `report`."""

from __future__ import annotations

import click

from ..base.extras import need
from .figures import page_file
from .output import emit, emit_json, render, wrote


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@click.option("-o", "--out", "out", metavar="PAGE.html", help="The page to write. An existing file is an error without --force.")
@click.option(
    "--label", "labels", multiple=True, metavar="NAME", help="Label of a result, once per result in their order (default: its folder)."
)
@click.option(
    "--margin",
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="Equivalence margin between results: smaller differences count as no difference.",
)
@click.option("--force", is_flag=True, help="Replace an existing page.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def report(results: tuple[str, ...], out: str | None, labels: tuple[str, ...], margin: str, force: bool, as_json: bool) -> None:
    """Write an HTML report for any RESULT: the folder of a run, an import, a study, a tuning run or a reproduction.

    The page works offline, on a phone and in print. It has a summary in three sentences and a table, what limited each flow, interactive
    charts with CSV export, the scenario, and the command to reproduce it. Several results are compared with the first (the baseline):
    differences with 95 % intervals, paired by seed if both have the same seeds.

    docs/guides/reports.md describes the page. Without -o only the summary is printed.
    """
    need("study")
    from ..reports import report as make

    target = None if out is None else page_file(out, force=force)
    made = make(list(results), labels=list(labels) or None, margin=margin)
    if target is not None:
        made.page(target, force=force)
    if as_json:
        emit_json(made.document())
    else:
        from ..look.sheet import Words

        emit(render(*(Words(s) for s in made.sentences or [repr(made)]), *(Words(f"warning: {w}") for w in made.warnings)))
    wrote([target] if target is not None else [], as_json=as_json, quiet=False)
