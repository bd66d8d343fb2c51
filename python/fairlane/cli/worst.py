"""The command `worst`."""

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
from .output import assignments, emit, emit_json, need_workers, render, status_line, tell, worker_options, worker_plugins, wrote
from .seeds import SEED

if TYPE_CHECKING:
    from ..worst import Progress


@click.command()
@click.argument("file", required=False, shell_complete=completion.scenarios)
@click.option("--tcp", metavar="NAME", help="Congestion control: alone on one link, or that of --flow in FILE.")
@click.option(
    "--reference", metavar="NAME", help="What it is compared with on the same path and seeds: a control, or a queue with --queue."
)
@click.option("--pair", is_flag=True, help="Two flows of the control share a link.")
@click.option("--competitor", metavar="NAME", help="A flow of this control shares the link.")
@click.option("--queue", metavar="NAME", help="Queue before a link; --traffic says what sends.")
@click.option("--traffic", metavar="LIST", default="tcp,udp", show_default=True, help="Senders before the queue: tcp, udp, web, voip.")
@click.option("--flow", metavar="NAME", help="Flow or group of flows of FILE that is to do badly.")
@click.option("--link", metavar="NAME", help="Link that words of --may are about (default: the slowest).")
@click.option("--least", metavar="METRIC", help="Find where this metric is least, such as goodput (the default).")
@click.option("--most", metavar="METRIC", help="Find where this metric is largest, such as delay_p99 or unfairness.")
@click.option(
    "--may",
    metavar="LIST",
    help="What may change: words (rate, delay, queue, loss, jitter, steps, square, outages, bursts, cross) and paths as of --set, each "
    "with =LOW..HIGH or =A|B if the default range is not meant.",
)
@click.option("--budget", metavar="N|TIME", default="400", show_default=True, help="Paths to try, or a time such as 60s.")
@click.option("--paths", type=click.IntRange(1, 50), default=3, show_default=True, metavar="N", help="Most worst paths to keep.")
@click.option("--seeds", metavar="N|LIST", default="3", show_default=True, help="Replications of each path: how many, or which.")
@click.option("--search-seed", type=SEED, default=1, show_default=True, metavar="N", help="Seed of the search.")
@worker_options
@click.option("-o", "--out", metavar="DIR", help="Output folder (default: results/NAME). The same command resumes in it.")
@completion.set_option("Change any value of the scenario, such as duration=10s.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
@worker_plugins
def worst(
    file: str | None,
    tcp: str | None,
    reference: str | None,
    pair: bool,
    competitor: str | None,
    queue: str | None,
    traffic: str,
    flow: str | None,
    link: str | None,
    least: str | None,
    most: str | None,
    may: str | None,
    budget: str,
    paths: int,
    seeds: str,
    search_seed: int,
    out: str | None,
    sets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    plugins: tuple[str, ...],
    **workers: Any,
) -> None:
    """Find the paths on which a congestion control, a flow or a queue does worst.

    Searches over rates, delays, buffers, losses, steps of the rate, outages, bursts of other traffic and any value that --set takes. What
    is found is shrunk to the fewest changes and the roundest values, confirmed on fresh seeds, explained, and written as scenarios 1.toml,
    2.toml... with a page. docs/guides/worst-paths.md explains a search. Needs Optuna: pip install 'fairlane[tune]'.

    The same number of paths (--budget N) and the same --search-seed find the same path.

    Exit code 0; 1 if nothing is found, 2 for a mistake or a full disk.
    """
    need("tune")
    need_workers(workers)
    from ..own.plugin import load
    from ..worst import WorstPaths

    for plugin in plugins:
        load(plugin)
    log, changes = current(), assignments(sets)
    if file is not None:
        log.read(file, changes)
    try:
        search = WorstPaths(
            file, tcp=tcp, reference=reference, competitor=competitor, pair=pair, queue=queue, traffic=traffic, flow=flow, link=link,
            least=least, most=most, may=may, sets=changes, seeds=seeds, seed=search_seed, paths=paths, plugins=plugins,
        )  # fmt: skip
    except ScenarioError as e:
        if file is None:
            raise
        raise other_kind(file, e, "scenario") from None
    folder = Path(out) if out is not None else Path("results") / search.spec.name
    log.say(f"checked: {count(len(search.spec.changes), 'change')} allowed; evaluations are kept in {folder}")
    try:
        with bar(budget, quiet=quiet) as progress:
            result = search.run(folder, budget=int(budget) if budget.isdigit() else budget, progress=progress, **workers)
    except KeyboardInterrupt:
        tell(f"finished evaluations are kept in {folder}; the same command resumes")
        raise
    log.say(f"{count(result.evaluations, 'path')} tried")
    log.done()
    if as_json:
        emit_json(result.document())
        wrote([folder], as_json=True, quiet=quiet)
    elif not quiet:
        from ..worst.terminal import report

        files = ", ".join([str(folder / "index.html"), *(f"{f.number}.toml" for f in result.findings), "worst.json"])
        emit(render(*report(result)) + f"\n{files}")
    if not result.found:
        click.get_current_context().exit(1)


@contextmanager
def bar(budget: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yields a callback that draws the progress; None unless stderr is a terminal."""
    began = time.monotonic()
    with status_line(quiet=quiet) as line:
        if line is None:
            yield None
            return

        def show(tried: int, effect: float | None, stage: str) -> None:
            spent = time.monotonic() - began
            seen = "" if effect is None else f", worst difference {effect:.3g}"
            line(f"{stage}: {tried} paths of {budget}{seen}, {spent:.0f} s")

        yield show
