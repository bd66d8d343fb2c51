"""The command `reproduce`."""

from __future__ import annotations

import click

from ..base.extras import need
from ..errors import FairlaneError
from . import completion
from .log import current, verbose_option
from .output import emit, emit_json, notes, printed, render, step_bar


@click.command()
@click.argument("key", required=False, metavar="[KEY|FOLDER|all]", shell_complete=completion.studies)
@click.option("--only", metavar="ID", help="Tables, figures or claims: table3 or fig4,S7 (a claim selects the experiments it depends on).")
@click.option("--list", "as_list", is_flag=True, help="List the tables and figures of a study: id, title, runs, time; runs nothing.")
@click.option(
    "--quick", is_flag=True, help="Quick check: few replications of the paper's setup. Results of other setups come from the record."
)
@click.option(
    "--settings",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of sampled settings of the parameters that the paper does not state, recorded ones included (default: the recorded ones, "
    "of which 25 are rerun).",
)
@click.option(
    "--replay",
    "replays",
    multiple=True,
    metavar="'FACTOR=LEVEL...'",
    help="Embed an animated run in the page, with the limits of its flows, such as 'queue=RED flows=10'; up to four.",
)
@click.option(
    "--why", is_flag=True, help="Add to the page what limited the flows: reruns one seed of up to twelve scenarios with limit tracking."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-o", "--out", metavar="DIR", help="Output folder of pages, figures and tables (default: results/KEY; all: results).")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
def reproduce(
    key: str | None,
    only: str | None,
    as_list: bool,
    quick: bool,
    settings: int | None,
    replays: tuple[str, ...],
    why: bool,
    as_json: bool,
    out: str | None,
    quiet: bool,
) -> None:
    """Reproduce a published study next to its published values; `all`: every study, with an overview page.

    KEY is a study that comes with fairlane, FOLDER is your own (`fairlane new paper` creates one). Without either: list the studies.

    A study contains code: study.py in FOLDER runs with all rights of your account, so run only folders that you trust. Listing the studies,
    `fairlane verify` and `fairlane report` run no code of a study, and pages contain none.

    docs/papers/README.md describes the output and how claims are judged. The same command resumes a reproduction.
    """
    need("study")
    from .. import papers
    from ..papers.folders import find

    if key is None:
        emit_json(papers.keys()) if as_json else emit(_listed())
        return
    if key != "all":
        find(key, "all")
    if as_list:
        if only is not None:
            raise FairlaneError("--list lists all tables and figures: leave out --only")
        _list(key, as_json)
        return
    if key == "all" and only is not None:
        raise FairlaneError(f"--only selects parts of one study: write its key instead of `all` ({', '.join(papers.keys())})")
    if settings is not None and (quick or only is not None or key == "all"):
        raise FairlaneError("--settings takes one study whole: leave out --quick and --only, and name its key")
    if why and key == "all":
        raise FairlaneError(f"--why needs one study: write its key instead of `all` ({', '.join(papers.keys())})")
    if replays and key == "all":
        raise FairlaneError(f"--replay selects runs of one study: write its key instead of `all` ({', '.join(papers.keys())})")
    log = current()
    log.say(f"studies: {', '.join(papers.keys()) if key == 'all' else key}; {'few replications' if quick else 'all replications'}")
    with step_bar(key, quiet=quiet) as progress:
        everything = key == "all"
        alone = None if everything else papers.reproduce(key, only, quick, out, progress, settings=settings, replays=replays, why=why)
        done = alone or papers.reproduce_all(quick, out, progress)
    log.done()
    notes(done.notes)
    if as_json:
        emit_json(done.to_json())
    elif not quiet:
        emit(printed(done.print))


def _list(key: str, as_json: bool) -> None:
    """Prints the tables and figures of a study, or of all."""
    from ..papers import keys, load
    from ..papers.listing import listed, sheet

    papers = [load(k) for k in (keys() if key == "all" else [key])]
    if as_json:
        found = [{"paper": p.key, **x.to_json()} for p in papers for x in listed(p)]
        emit_json(found)
    else:
        emit("\n".join(render(sheet(p)) for p in papers))


def _listed() -> str:
    """Returns the studies, one per line, with their run time."""
    from ..look.sheet import Sheet
    from ..papers import keys, load

    known = [load(key) for key in keys()]
    rows = [[p.key, p.words["title"], f"about {max(1, round(p.minutes))} min on two cores"] for p in known]
    rows.append(["all", "all studies, with an overview page", f"about {round(sum(p.minutes for p in known))} min"])
    return render(Sheet(["", "", ""], rows, words=(1, 2)))
