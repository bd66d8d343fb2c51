"""The command `tune`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.extras import need
from ..errors import ScenarioError
from . import completion
from .file_kinds import other_kind
from .log import count, current, verbose_option
from .output import assignments, emit, emit_json, need_workers, notes, render, status_line, tell, worker_options, worker_plugins, wrote
from .seeds import seed_options

if TYPE_CHECKING:
    from ..tuning import TuneProgress, TuneTally


@click.command()
@click.argument("file", shell_complete=completion.scenarios)
@click.option("-o", "--out", metavar="DIR", help="Output folder (default: results/NAME). Finished runs are kept in it.")
@click.option("--trials", type=click.IntRange(1, 100_000), metavar="N", help="Number of settings to try (default: the file's).")
@seed_options("Replications of each trial", "the file's")
@click.option("--holdout-seeds", metavar="N|LIST", help="Replications of the held-out test (default: the file's).")
@worker_options
@completion.set_option("Change any value of the scenario, such as duration=10s.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
@worker_plugins
def tune(
    file: str,
    out: str | None,
    trials: int | None,
    seeds: list[int] | None,
    holdout_seeds: str | None,
    sets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    plugins: tuple[str, ...],
    **workers: Any,
) -> None:
    """Search for the best queue of a link and its parameters, and test the result on held-out scenarios.

    FILE states the objectives and the candidate queues. docs/guides/tuning.md explains a tuning run; docs/reference/tuning.md lists every
    key. The same command resumes a stopped run. Plug-ins named in FILE are loaded: run only files that you trust. Needs Optuna:
    pip install 'fairlane[tune]'.

    Exit code 0; 1 if no setting satisfies the constraints (the closest one is reported), 2 for an invalid file or a full disk.
    """
    need("tune")
    need_workers(workers)
    from ..own.plugin import load
    from ..tuning import Tuning

    for plugin in plugins:
        load(plugin)
    log, changes = current(), assignments(sets)
    log.read(file, changes)
    try:
        read = Tuning.from_file(file, sets=changes)
    except ScenarioError as e:
        raise other_kind(file, e, "tune file") from None
    asked = read.but(trials=trials, seeds=seeds, holdout_seeds=holdout_seeds, plugins=plugins)
    folder = Path(out) if out is not None else Path("results") / asked.spec.name
    log.say(f"checked: {count(asked.spec.trials, 'trial')} on {count(len(asked.spec.seeds), 'seed')}; runs are kept in {folder}")
    try:
        with bar(quiet=quiet) as progress:
            result = asked.run(folder, progress=progress, **workers)
    except KeyboardInterrupt:
        tell(f"finished runs are kept in {folder}; the same command resumes")
        raise
    log.say(f"{count(len(result.trials), 'setting')} tried")
    log.warnings(result.warnings)
    log.done()
    notes(result.notes)
    if as_json:
        emit_json(result.document())
        wrote([folder], as_json=True, quiet=quiet)
    elif not quiet:
        from ..tuning.terminal import report

        emit(render(*report(result)) + f"\n{folder / 'index.html'}, chosen.toml, tc.sh, front.csv, trials.csv")
    if not result.met:
        click.get_current_context().exit(1)


@contextmanager
def bar(*, quiet: bool) -> Iterator[TuneProgress | None]:
    """Yields a callback that draws the progress with the time left; None unless stderr is a terminal."""
    from ..base.format import duration

    began = time.monotonic()
    with status_line(quiet=quiet) as line:
        if line is None:
            yield None
            return

        def show(t: TuneTally) -> None:
            spent, fresh = time.monotonic() - began, t.done - t.reused + t.failed
            rate = fresh / spent if spent > 0.5 and fresh > 3 else 0.0
            left = max(0, t.runs - t.done - t.failed)
            eta = f", {rate:.1f} runs/s, at most {duration(left / rate)} left" if rate else ""
            failed = f", {t.failed} failed" if t.failed else ""
            line(f"tuning {t.done}/{t.runs} runs{failed}{eta}, {t.stage}")

        yield show
