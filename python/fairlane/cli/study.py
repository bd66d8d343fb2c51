"""The command `study`: runs a study file, shows its progress, and prints the results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.extras import need
from ..base.format import duration
from ..errors import FairlaneError, ScenarioError
from . import completion
from .file_kinds import other_kind
from .log import count, current, verbose_option
from .output import assignments, emit, emit_json, need_workers, render, status_line, worker_options, worker_plugins
from .seeds import seed_options

if TYPE_CHECKING:
    from ..study.progress import Tally

_WIDTH = 24


@click.command()
@click.argument("file", shell_complete=completion.scenarios)
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    help="Folder of the results (default: results/NAME). Finished runs in it are not repeated.",
)
@worker_options
@completion.set_option("Override a value of the base scenario (not one that is a factor).")
@seed_options("Replications instead of the file's")
@click.option(
    "--why", is_flag=True, help="Add to the page what limited the flows of each combination: reruns its first seed with limit tracking."
)
@click.option(
    "--replay",
    "replays",
    multiple=True,
    metavar="'FACTOR=LEVEL...'",
    help="Embed an animated run in the page, such as 'queue=codel load=0.8' (other factors: first level); up to four.",
)
@click.option("--dry-run", is_flag=True, help="Print the runs and an estimate of their duration; run and write nothing.")
@click.option("--verify", "only_verify", is_flag=True, help="Compare the stored files with their checksums; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
@worker_plugins
def study(
    file: str,
    out: str | None,
    sets: tuple[str, ...],
    seeds: list[int] | None,
    why: bool,
    replays: tuple[str, ...],
    dry_run: bool,
    only_verify: bool,
    as_json: bool,
    quiet: bool,
    plugins: tuple[str, ...],
    **workers: Any,
) -> int:
    """Run the study FILE: every combination of its factors with every seed; print means, intervals and factor effects.

    The same command resumes a stopped study; finished runs are never repeated. Results are the same on threads, processes or a cluster.
    A folder may hold several studies. A damaged result file is reported and its run repeated. Plug-ins named in FILE are loaded, also with
    --dry-run and --verify: run only studies that you trust. docs/guides/studies.md explains a study; docs/reference/studies.md lists every
    key of FILE.

    Exit code 0 if all runs finished, 1 if some failed (the others are complete), 2 for an invalid study, a full disk or lost workers.
    """
    need("study")
    need_workers(workers)
    from ..own.plugin import load
    from ..study import Study, StudyResult, read_study
    from ..study.plots import check
    from ..study.replay import check as check_replays
    from . import FAILED, INTERRUPTED, say

    for plugin in plugins:
        load(plugin)
    log, changes = current(), assignments(sets)
    log.read(file, changes)
    try:
        todo = Study(read_study(file, changes, seeds, [str(Path(p).resolve()) for p in plugins]))
    except ScenarioError as e:
        raise other_kind(file, e, "study") from None
    check(todo.spec)
    check_replays(todo.spec, replays)
    if why and any(c.reports == "groups" for c in todo.plan().combinations):
        raise FairlaneError('--why needs one row per flow, but the scenario has report = "groups": add --set report=flows, or omit --why')
    folder = Path(out) if out is not None else Path("results") / todo.spec.name
    if only_verify:
        from .verify import check as compare

        return compare(str(folder), as_json)
    if dry_run:
        from ..study.dry_run import rehearse

        plan = rehearse(todo, folder, workers["threads"] or workers["processes"] or 0)
        emit_json(plan.document()) if as_json else emit(plan.text())
        return 0
    StudyResult.check_room(folder, todo.spec)
    log.say(f"checked: {count(len(todo.spec.factors), 'factor')}, {count(len(todo.spec.metrics), 'metric')}; runs are kept in {folder}")
    try:
        with study_bar(todo.spec.name, quiet=quiet) as progress:
            result = todo.run(folder, progress=progress, **workers)
    except KeyboardInterrupt as e:
        say(f"interrupted: {e}" if str(e) else "interrupted")
        return INTERRUPTED
    if (tally := result.tally) is not None:
        kept = f"{tally.reused} kept from before, {tally.failed} failed"
        log.say(f"{count(tally.done, 'run')} done in {tally.elapsed:.3f} s, of which {kept}")
    log.warnings(result.warnings)
    result.command = _command()
    files = result.save(why=why, replays=replays)
    log.done()
    if as_json:
        emit_json(result.document(why=why))
    elif not quiet:
        from ..study.terminal import report

        emit(render(*report(result, files)))
    return FAILED if result.failures.height else 0


def _command() -> str:
    """Returns the command line."""
    import shlex

    return shlex.join(["fairlane", *sys.argv[1:]])


@contextmanager
def study_bar(name: str, *, quiet: bool) -> Iterator[Callable[[Tally], object] | None]:
    """Yields a callback for `Study.run` that draws the progress; None unless stderr is a terminal."""
    with status_line(quiet=quiet) as line:
        if line is None:
            yield None
            return
        line(f"{name}: planning")
        yield lambda tally: line(progress_line(name, tally))


def progress_line(name: str, tally: Any) -> str:
    """Returns one line: a bar, runs, runs per second, failures, the time left.

    >>> from types import SimpleNamespace
    >>> progress_line("aqm", SimpleNamespace(runs=40, done=20, failed=1, fraction=0.525, rate=2.0, eta=9.5, expected=0))
    'aqm [############............]  52%, 21/40 runs, 2.0 runs/s, 1 failed, 9.5 s left'
    """
    full = int(_WIDTH * tally.fraction)
    more = f" and about {tally.expected} more" if tally.expected else ""
    parts = [f"{name} [{'#' * full}{'.' * (_WIDTH - full)}] {tally.fraction:4.0%}", f"{tally.done + tally.failed}/{tally.runs} runs{more}"]
    if tally.rate:
        parts.append(f"{tally.rate:.1f} runs/s")
    if tally.failed:
        parts.append(f"{tally.failed} failed")
    if tally.eta is not None and tally.fraction < 1:
        parts.append(f"{duration(tally.eta)} left")
    return ", ".join(parts)
