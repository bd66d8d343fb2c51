"""The commands. Each imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..base.extras import need
from ..errors import FairlaneError, ScenarioError
from . import completion
from .figures import check_quantities, drawn, new_figures, page_file
from .file_kinds import other_kind
from .log import current, given, verbose_option
from .output import (
    Commands,
    Later,
    assignments,
    emit,
    emit_json,
    emit_pieces,
    line_width,
    notes,
    plugin_option,
    progress_bar,
    render,
    wrote,
)

_SCHEMAS = [
    "scenario", "run", "bench", "bench-queues", "bench-against", "claims-file", "compare", "draw", "export", "paper-file", "plot", "query",
    "report", "top", "reproduction", "script", "study", "study-file", "tc", "tune", "tune-file", "verify", "watch",
]  # fmt: skip
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from .. import _core

        emit(f"fairlane {_core.version()}")
        ctx.exit()


_EPILOG = """
Documents and tables go to standard output; --json prints one document in place of tables (docs/reference/json.md). Progress goes to
standard error, and only to a terminal. Where these are not UTF-8, signs are written as plain ones that look like them, letters that are
missing as numbers such as \\u00e9, and documents (JSON, SVG, TOML) with the escapes that they have.

A failure is one message on standard error that says what is wrong, where, and what to write instead; several problems in one file are told
at once. Wrong input is found before anything is run or written. Each file and each result folder is complete or absent; finished cells of
a study, a search or a reproduction are kept.

What exists is not replaced, be it a figure, a page, a capture or a result folder, unless --force is given. The folder of a study, a search
or a reproduction is gone on with by the same command, which writes its tables, pictures and pages again; a folder with other things in it
is refused. Names and places are tried before anything is run, and what was written is said (with --json on standard error).

--plugin FILE loads queues (docs/guides/own-queue.md) and congestion controls (docs/guides/own-congestion-control.md) of your own: a Python
file, or a shared library with congestion controls written in C; it may be given several times. Plug-ins, also those
that a study or a search names, and the study.py of a reproduction run with all rights of your account: run only what you trust.

\b
Exit code:
  0    done
  1    cells of a study failed, a search met no constraints, a packet script
       fails, a kept file is damaged, doctor found something that does not
       work, or the code of a queue or congestion control of one's own failed
       during a run
  2    bad input, or a file that cannot be read or written
  130  stopped by Ctrl-C, within a second
  141  the reader of standard output went away
"""


_ELSEWHERE = {
    **{
        "compare": "queues",
        "draw": "draw",
        "new": "new",
        "plot": "plot",
        "report": "report",
        "reproduce": "reproduce",
        "script": "script",
        "study": "study",
        "tc": "queues",
        "top": "top",
        "tune": "tune",
        "watch": "watch",
    },
    **{"export": "import_export", "import": "import_export", "query": "query", "verify": "verify"},
}
"""Commands that have a file of their own."""


@click.group(cls=Commands, commands=Later(_ELSEWHERE), context_settings=_HELP, epilog=_EPILOG, invoke_without_command=True)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A packet-level laboratory for TCP, UDP and the queues they share."""
    if ctx.invoked_subcommand is None:
        from .greeting import greeting

        emit(greeting())


@cli.command()
@click.argument("file", shell_complete=completion.scenarios)
@completion.set_option("Change any value, also of links that a topology builder makes: links.bottleneck.queue.red.min=10p.")
@click.option("--seeds", metavar="LIST", help="Replications: 1..10 or 1,2,3 (default: the scenario's seed).")
@click.option(
    "--threads",
    type=click.IntRange(0, 4096),
    default=0,
    metavar="N",
    help="Threads (default: one a core, at most one a run): so many runs at once, and more than that together in one run "
    "(docs/guides/threads.md); results do not depend on it.",
)
@click.option(
    "--partition",
    is_flag=True,
    help="Say how the run would be cut into parts for several threads (with --threads for so many), or why not; nothing runs.",
)
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    help="Write a result folder: scenario, tables in Parquet, manifest; one that exists is an error without --force.",
)
@click.option("--flows", "each", is_flag=True, help="One row a flow, however many there are (default: one row a group if more than eight).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="NAME.svg",
    help="Draw what the name says, as SVG, PNG or PDF: a series such as cwnd or queue, or a metric such as goodput. One that exists is an "
    "error without --force.",
)
@click.option("--page", "page", metavar="FILE.html", help="Write one page with everything (docs/guides/reports.md); it opens offline.")
@click.option("--force", is_flag=True, help="Replace what exists: the result folder, the page, figures, captures.")
@click.option("--hop-probe", is_flag=True, help="Measure delays from the second node on too (slower).")
@click.option(
    "--pcap",
    "pcaps",
    multiple=True,
    metavar="NAME[=FILE]",
    help="Capture the packets of a link, node, flow, group of flows or wireless channel in NAME.pcapng (docs/guides/captures.md).",
)
@click.option("--snaplen", type=int, metavar="BYTES", help="Bytes captured of a packet, 128 to 262144, 0 for all (default: its headers).")
@click.option("--pcap-ip", type=click.Choice(["4", "6"]), default="4", help="IP version of the captured packets (default: 4).")
@click.option("--pcap-queue", is_flag=True, help="Comment each captured packet that leaves a queue with its length.")
@click.option(
    "--trace",
    is_flag=False,
    flag_value="",
    metavar="[FILTER]",
    help="Record events into the result folder, one row each (docs/guides/traces.md); FILTER, such as "
    "'event=drop,mark flow=tcp link=bottleneck time=10s..20s', says which (default: all).",
)
@click.option(
    "--trace-format",
    type=click.Choice(["parquet", "ns2", "nam"]),
    default="parquet",
    help="ns2: lines as ns-2 writes them, for awk and perl; nam: those of its animator (default: parquet).",
)
@click.option("--why", is_flag=True, help="Say what limited each flow, and who filled each queue; a page says it in any case.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
@plugin_option
def run(
    file: str,
    sets: tuple[str, ...],
    seeds: str | None,
    threads: int,
    partition: bool,
    out: str | None,
    each: bool,
    as_json: bool,
    plots: tuple[str, ...],
    page: str | None,
    force: bool,
    hop_probe: bool,
    pcaps: tuple[str, ...],
    snaplen: int | None,
    pcap_ip: str,
    pcap_queue: bool,
    trace: str | None,
    trace_format: str,
    why: bool,
    quiet: bool,
) -> None:
    """Run the scenario FILE (TOML or JSON; - reads a pipe) and show what came of it.

    On a terminal a picture of the queue and of the flows follows the tables. `fairlane new` writes scenarios to begin with.

    --plot knows the series (cwnd, ssthresh, srtt, queue...) and all metrics (docs/reference/metrics.md). Without `sample` in the
    scenario a series is sampled a thousand times; that changes no result.
    docs/reference/json.md has what lies in a result folder.
    """
    from ..base.scenario import checked
    from ..base.seeds import parse_seeds
    from ..runs.result import run_resolved
    from .terminal_picture import draws, few, forget_coarseness, picture_of

    changes = assignments(sets)
    chosen = None if seeds is None else parse_seeds(seeds)
    if out is not None:
        need("tables")
        from ..runs.folder import check_free

        check_free(out, force=force)
    if plots:
        need("plots")
    if page is not None:
        need("study")
    html = None if page is None else page_file(page, force=force)
    targets = new_figures(plots, force=force) if plots else []
    log = current()
    source = given(file)
    log.read(source, changes)
    try:
        resolved = checked(source, changes)
    except ScenarioError as e:
        raise other_kind(file, e, "scenario") from None
    log.checked(resolved)
    grouped = json.loads(resolved.json(expanded=False)).get("report") == "groups"
    if grouped and each:
        raise FairlaneError('--flows wants a row for each flow, and the scenario has report = "groups": add --set report=flows')
    if partition:
        from ..runs.partition import partition_of

        told = partition_of(resolved, None if chosen is None else chosen[0], threads if threads > 1 else None)
        return emit_json(told.document()) if as_json else emit(str(told))
    # A picture is made of time series, and a run that records some stays on one thread.
    together = threads > len(chosen or [0])
    seen = not (quiet or as_json or together) and draws()
    only_seen = False
    asked = bool(targets or html)
    if asked or (seen and out is None):
        tree = json.loads(resolved.json(expanded=False))
        if targets:
            check_quantities(source, changes, tree["duration"], [t.stem for t in targets])
        if not tree.get("sample") and (targets or few(tree, len(chosen or [0]))):
            resolved = checked(source, [*changes, ("sample", _fine(tree["duration"]))])
            only_seen = not targets  # nobody asked for so fine a step, or any
    if together and not (quiet or as_json) and sys.stderr.isatty():
        watched = bool(pcaps or why or html is not None or hop_probe or trace is not None)
        if (reason := _in_one_piece(resolved, chosen, watched=watched)) is not None:
            notes([f"the run takes one thread: {reason}"])
    settings = {"snaplen": snaplen, "ip": int(pcap_ip), "queue": pcap_queue, "force": force}
    with _capture(pcaps, out, settings) as (pcap, stage), _recorded(trace, out, trace_format, force=force) as recorded:
        began = time.monotonic()
        with progress_bar("running", len(chosen or [0]), quiet=quiet) as progress:
            settled = {
                "threads": threads,
                "hop_probe": hop_probe,
                "pcap": pcap,
                "trace": recorded,
                "why": why or (html is not None and not grouped),
            }
            result = run_resolved(resolved, chosen, progress=progress, **settled)
        spent = time.monotonic() - began
        if only_seen:
            forget_coarseness(result)
        log.ran(result, spent)
        figures, undrawn = drawn(result, targets)
        if out is not None:
            from ..runs.folder import save

            save(result, out, force=force, captures=[c for c in result.captures if c.parent == stage], moves=True)
    for path, figure in figures:
        from ..look.figures import save_figure

        save_figure(figure, path, new=not force)
    if html is not None:
        from ..base.files import save_bytes

        save_bytes(html, result.page(out or "").encode(), new=not force)
    if as_json:
        from ..runs.document import json_chunks as pieces

        emit_pieces(pieces(result))
    elif not quiet:
        from ..runs.terminal import run_report

        emit(render(*run_report(result, spent, each, why), *(picture_of(result) if seen else ())))
    kept = result.captures if out is None else [Path(out)]
    wrote([*kept, *([html] if html is not None else []), *(path for path, _ in figures)], as_json=as_json, quiet=quiet)
    log.done()
    if undrawn is not None:
        raise undrawn


def _in_one_piece(resolved: Any, seeds: list[int] | None, *, watched: bool) -> str | None:
    """Why a run that could have several threads takes one."""
    from ..base.cores import available_threads
    from ..runs.partition import partition_of

    if available_threads() < 2:
        return "there is one core"
    if watched:
        return "what happens in it is recorded"
    return partition_of(resolved, None if seeds is None else seeds[0]).whole


@contextmanager
def _capture(names: tuple[str, ...], out: str | None, settings: dict[str, Any]) -> Iterator[tuple[Any, Path | None]]:
    """What to capture, and where its files wait until the folder `out` takes them in."""
    if not names:
        given = [
            option for option, value in zip(("--snaplen", "--pcap-queue"), (settings["snaplen"], settings["queue"]), strict=True) if value
        ]
        if given:
            raise click.UsageError(f"{given[0]} needs --pcap NAME")
        yield None, None
        return
    from ..base.files import staging
    from ..runs.pcap import Pcap

    if out is None:
        yield Pcap(names, **settings), None
        return
    for name in names:
        file = Path(name.partition("=")[2])
        if not file.is_absolute() and file.name != str(file) and file.name:
            raise click.UsageError(f"--pcap {name}: with --out the file goes into {out}: write {name.partition('=')[0]}={file.name}")
    with staging(out) as stage:
        yield Pcap(names, stage, **settings), stage


@contextmanager
def _recorded(words: str | None, out: str | None, form: str, *, force: bool) -> Iterator[Any]:
    """Which events are recorded, and where their files wait until the folder `out` takes them in."""
    if words is None:
        if form != "parquet":
            raise click.UsageError("--trace-format needs --trace")
        yield None
        return
    if out is None:
        raise click.UsageError("--trace needs --out DIR: the result folder takes the events")
    from ..runs.trace import parse_filter
    from ..runs.trace import recording_folder as beside

    parse_filter(words, format=form).arguments(Path())
    with beside(out, force=force) as place:
        yield parse_filter(words, place, form)


def _fine(duration: str) -> str:
    """A sampling step that gives a figure about a thousand points."""
    from ..base.format import seconds

    return f"{max(1, round(seconds(duration) * 1e6 / 1000))}us"


@cli.command()
@click.argument("words", nargs=-1, metavar="[NAME]", shell_complete=completion.explained)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@plugin_option
def explain(words: tuple[str, ...], as_json: bool) -> None:
    """Explain a term (ecn), an algorithm (red), a parameter (red.min), a metric (goodput), a preset (ns2) or a path (links.x.queue).

    Capitals, spaces and hyphens do not matter in terms. Without NAME: list all names.
    """
    from dataclasses import asdict

    from ..base.reference import contents
    from ..base.reference import explain as look_up

    if not words:
        names = contents()
        emit_json(names) if as_json else emit("\n".join(f"{kind}: {', '.join(of_kind)}" for kind, of_kind in names.items()))
        return
    entries = look_up(" ".join(words))
    if as_json:
        emit_json([asdict(e) for e in entries])
        return
    from .explain import show

    emit(render(*(part for entry in entries for part in show(entry))))


@cli.command()
@click.argument("which", type=click.Choice(_SCHEMAS), default="scenario")
def schema(which: str) -> None:
    """Print the JSON Schema of scenario, study and tune files, or of the documents that the commands print with --json.

    See docs/reference/json.md, docs/reference/studies.md and docs/reference/tuning.md.
    """
    from ..base.document import json_schema

    emit_json(json_schema(which))


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Measure each so often (default: 1, the least CPU time counts; beside another simulator 5, the median counts).",
)
@click.option("--against", type=click.Choice(["ns2", "ns3", "htsim"]), help="Run another simulator on P1 or P2 in turn with ours.")
@plugin_option
def bench(names: tuple[str, ...], as_json: bool, repeat: int | None, against: str | None) -> None:
    """Measure the benchmark set P1-P6 (or the NAMES given): CPU time and memory of a packet transmitted over a link.

    bench queues [NAMES]: what each queue costs, alone and at the bottleneck of P1.
    """
    if against is not None:
        _bench_against(against, names, as_json, repeat)
        return
    repeat = repeat or 1
    if names[:1] == ("queues",):
        _bench_queues(names[1:], as_json, repeat)
        return
    from ..bench.benchmarks import choose, run_bench
    from ..bench.terminal import scenario_heads, scenario_row

    choose(names)
    if as_json:
        emit_json(run_bench(names, repeat=repeat))
        return
    width = line_width()
    emit(scenario_heads(width))
    run_bench(names, repeat=repeat, report=lambda r: emit(scenario_row(r, width)))


def _bench_against(name: str, names: tuple[str, ...], as_json: bool, repeat: int | None) -> None:
    from textwrap import wrap

    from ..bench.simulators import PAIRS, choose, run_against, scenarios
    from ..bench.terminal import against_heads, against_row

    peer = choose(name)
    scenarios(names)
    if as_json:
        emit_json(run_against(peer, names, pairs=repeat or PAIRS))
        return
    width = line_width()
    emit(against_heads(width))
    found = run_against(peer, names, pairs=repeat or PAIRS, report=lambda r: emit(against_row(r, width)))
    lengths = " and ".join(f"{r['simulated_s']:g} s" for r in found["results"])
    told = f"{peer.called} against fairlane, {repeat or PAIRS} runs each in turn, {lengths} simulated: CPU time of a packet over a link"
    emit("\n".join(wrap(told, width)))


def _bench_queues(names: tuple[str, ...], as_json: bool, repeat: int) -> None:
    from ..bench.queues import choose, run_queues
    from ..bench.terminal import queue_heads, queue_row

    choose(names)
    if as_json:
        emit_json(run_queues(names, repeat=repeat))
        return
    width = line_width()
    emit(queue_heads(width))
    run_queues(names, repeat=repeat, report=lambda r: emit(queue_row(r, width)))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Check that this installation works, and say which optional peers it finds."""
    from ..look.sheet import Words
    from .doctor import examine

    rows = examine()
    healthy = all(r["ok"] is not False for r in rows)
    if as_json:
        emit_json({"ok": healthy, "checks": rows})
    else:
        mark = {True: "ok", False: "FAILS", None: "-"}
        emit(render(*(Words(f"{mark[r['ok']]:<6}{r['check']:<14}{r['detail']}", indent=20) for r in rows)))
    return 0 if healthy else 1
