"""The commands. Each imports its modules when it runs, so that `--help` is quick."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from ..base.extras import need
from ..errors import FairlaneError, ScenarioError
from . import completion
from .figures import check_quantities, draw_figures, new_figures, page_file
from .file_kinds import other_kind
from .log import current, given, verbose_option
from .output import (
    Commands,
    Later,
    assignments,
    emit,
    emit_json,
    emit_pieces,
    notes,
    plugin_option,
    progress_bar,
    render,
    wrote,
)
from .recording import calls, capture, recorded, write_keys, write_logs
from .seeds import seed_options

_SCHEMAS = [
    "scenario", "run", "bench", "bench-queues", "bench-growth", "bench-against", "card", "card-file", "claims-file", "compare",
    "draw", "export", "paper-file", "plot", "query", "report", "top", "reproduction", "script", "study", "study-file", "tc", "tune",
    "tune-file", "verify", "watch", "worst",
]  # fmt: skip
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from .. import _core

        emit(f"fairlane {_core.version()}")
        ctx.exit()


_EPILOG = """
Documents and tables go to standard output; --json prints one document instead of tables (docs/reference/json.md). Progress goes to
standard error, and only to a terminal. If the output is not UTF-8, other characters are replaced by similar ASCII ones, or by codes such as
\\u00e9.

Errors go to standard error with the place and a suggested fix; all errors of a file are reported together. Input is checked before
anything is run or written. After an error, standard output is empty and no partial file is left behind; finished runs of a study, a tuning
run or a reproduction are kept.

Existing files are kept unless you pass --force. Run the same command again to resume a study, a tuning run or a reproduction; its tables,
plots and pages are written again. A folder with other contents is refused. Output paths are checked before the simulation starts; the
files written are listed at the end (with --json on standard error).

--plugin FILE loads your own queues (docs/guides/own-queue.md) and congestion controls (docs/guides/own-congestion-control.md): a Python
file, or a shared library written in C; repeatable. Plug-ins, also those named in a study or a tune file, and the study.py of a
reproduction run with all rights of your account: run only code that you trust.

\b
Exit code:
  0    success
  1    runs of a study failed, no setting satisfied the constraints, a packet
       script failed, a stored file is damaged, doctor found a fault, or a
       plug-in failed during a run
  2    invalid input, or a file that cannot be read or written
  130  stopped by Ctrl-C, within a second
  141  the reader of standard output closed the pipe
"""


_ELSEWHERE = {
    **{
        "bench": "bench",
        "card": "card",
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
        "worst": "worst",
    },
    **{"export": "import_export", "import": "import_export", "query": "query", "verify": "verify"},
}
"""Commands with a file of their own, by name."""


_FILES = (".toml", ".json")


class Cli(Commands):
    """All commands; a scenario file instead of a command is run."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command: `run` for a file."""
        name = args[0]
        if name not in self.commands and (name == "-" or name.endswith(_FILES) or Path(name).is_file()):
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def unknown(self, name: str) -> str:
        """Returns the error for a name that is no command: a folder and a template have commands of their own."""
        from .new import new

        if Path(name).is_dir():
            return f"{name} is a folder: fairlane report {name}, or fairlane plot {name} KIND"
        if name == "version":
            return "the version is an option: fairlane --version"
        if name in new.commands:
            return f"{name} is a template: fairlane new {name}"
        from ..base.reference import explain
        from ..errors import UnknownNameError

        error = super().unknown(name)
        with suppress(UnknownNameError):
            explain(name)
            return f"{error.partition(':')[0]}: fairlane explain {name} says what it is"
        return error


@click.group(cls=Cli, commands=Later(_ELSEWHERE), context_settings=_HELP, epilog=_EPILOG, invoke_without_command=True)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A packet-level network simulator for TCP, UDP and queue management."""
    if ctx.invoked_subcommand is None:
        from .greeting import greeting

        emit(greeting())


@cli.command()
@click.argument("file", shell_complete=completion.scenarios)
@completion.set_option("Change any value, also of links that a topology builder makes: links.bottleneck.queue.red.min=10p.")
@seed_options(default="one run with the scenario's seed")
@click.option(
    "--threads",
    type=click.IntRange(0, 4096),
    default=0,
    metavar="N",
    help="Worker threads (default: one per core, at most one per run). If you ask for more threads than runs, single runs are split "
    "(docs/guides/threads.md). Results never depend on it.",
)
@click.option(
    "--partition",
    is_flag=True,
    help="Print how --threads would split the run, or why it cannot; nothing runs.",
)
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    help="Write a result folder: scenario, tables in Parquet, manifest. An existing one is an error without --force.",
)
@click.option("--flows", "each", is_flag=True, help="One row per flow (default: one row per group if there are more than eight flows).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="NAME.svg",
    help="Draw a figure as SVG, PNG or PDF. NAME is a time series such as cwnd or queue, or a metric such as goodput. An existing file is "
    "an error without --force.",
)
@click.option("--page", "page", metavar="FILE.html", help="Write an HTML report (docs/guides/reports.md); it opens offline.")
@click.option("--force", is_flag=True, help="Replace existing outputs: the result folder, the page, figures, captures.")
@click.option("--hop-probe", is_flag=True, help="Also measure one-way delay from the first router, excluding the access link (slower).")
@click.option(
    "--pcap",
    "pcaps",
    multiple=True,
    metavar="NAME[=FILE]",
    help="Capture the packets of a link, node, flow, group of flows or wireless channel in NAME.pcapng (docs/guides/captures.md).",
)
@click.option("--snaplen", type=int, metavar="BYTES", help="Bytes captured per packet, 128 to 262144, 0 for all (default: the headers).")
@click.option("--pcap-ip", type=click.Choice(["4", "6"]), default="4", help="IP version of the captured packets (default: 4).")
@click.option("--pcap-queue", is_flag=True, help="Add the queue length as a comment to each captured packet that leaves a queue.")
@click.option(
    "--keylog",
    metavar="FILE",
    help="Write the secrets of captured real transport stacks, by which Wireshark decrypts (docs/models/stacks.md). Needs --pcap.",
)
@click.option(
    "--qlog",
    "qlogs",
    multiple=True,
    metavar="FLOW",
    help="Write the logs of a flow's real transport stack: FLOW.sender.sqlog and FLOW.receiver.sqlog (docs/models/stacks.md).",
)
@click.option(
    "--trace",
    is_flag=False,
    flag_value="",
    metavar="[FILTER]",
    help="Record events in the result folder, one row per event (docs/guides/traces.md). FILTER selects them, such as "
    "'event=drop,mark flow=tcp link=bottleneck time=10s..20s' (default: all).",
)
@click.option(
    "--trace-format",
    type=click.Choice(["parquet", "ns2", "nam"]),
    default="parquet",
    help="ns2: the text format of ns-2, for awk and perl; nam: the format of its animator (default: parquet).",
)
@click.option("--why", is_flag=True, help="Report what limited each flow and which flows filled each queue (always included in --page).")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
@plugin_option
def run(
    file: str,
    sets: tuple[str, ...],
    seeds: list[int] | None,
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
    keylog: str | None,
    qlogs: tuple[str, ...],
    trace: str | None,
    trace_format: str,
    why: bool,
    quiet: bool,
) -> None:
    """Run a scenario (TOML or JSON; - reads standard input) and print the results.

    On a terminal a chart of the queue and the flows follows the tables. `fairlane new` writes scenarios to start from.

    --plot draws any time series (cwnd, ssthresh, srtt, queue...) and any metric (docs/reference/metrics.md). Without `sample` in the
    scenario a series has a thousand samples; sampling changes no result.
    docs/reference/json.md describes the result folder.
    """
    from ..base.scenario import checked
    from ..runs.result import run_resolved
    from .terminal_picture import can_draw, chart_of, drop_sampling_warnings, is_small

    changes = assignments(sets)
    chosen = seeds
    wanted = (("study", page), ("plots", plots), ("tables", out))
    if (extra := next((name for name, value in wanted if value), None)) is not None:
        need(extra)
    if out is not None:
        from ..runs.folder import check_free

        check_free(out, force=force)
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
        raise FairlaneError('--flows needs one row per flow, but the scenario has report = "groups": add --set report=flows')
    if partition:
        from ..runs.partition import partition_of

        plan = partition_of(resolved, None if chosen is None else chosen[0], threads if threads > 1 else None)
        return emit_json(plan.document()) if as_json else emit(str(plan))
    # The chart needs time series, and a run that records some stays on one thread.
    together = threads > len(chosen or [0])
    seen = not (quiet or as_json or together) and can_draw()
    only_seen = False
    asked = bool(targets or html)
    if asked or (seen and out is None):
        tree = json.loads(resolved.json(expanded=False))
        if targets:
            check_quantities(source, changes, tree["duration"], [t.stem for t in targets])
        if not tree.get("sample") and (targets or is_small(tree, len(chosen or [0]))):
            resolved = checked(source, [*changes, ("sample", _fine(tree["duration"]))])
            only_seen = not targets  # a step for the chart alone
    if together and not (quiet or as_json) and sys.stderr.isatty():
        watched = bool(pcaps or why or html is not None or hop_probe or trace is not None or qlogs)
        if (reason := _in_one_piece(resolved, chosen, watched=watched)) is not None:
            notes([f"the run uses one thread: {reason}"])
    if keylog is not None and not pcaps:
        raise click.UsageError("--keylog needs --pcap NAME")
    settings = {"snaplen": snaplen, "ip": int(pcap_ip), "queue": pcap_queue, "force": force}
    with capture(pcaps, out, settings) as (pcap, stage), recorded(trace, out, trace_format, force=force) as events:
        began = time.monotonic()
        with progress_bar("running", len(chosen or [0]), quiet=quiet) as progress:
            settled = {
                "threads": threads,
                "hop_probe": hop_probe,
                "pcap": pcap,
                "trace": events if events is not None or html is None or grouped else calls(resolved, len(chosen or [0])),
                "why": why or (html is not None and not grouped),
                "qlog": qlogs,
            }
            result = run_resolved(resolved, chosen, progress=progress, **settled)
        spent = time.monotonic() - began
        if only_seen:
            drop_sampling_warnings(result)
        log.ran(result, spent)
        write_keys(result, keylog, out, force=force)
        text = None
        if html is not None:
            from ..runs.page import page as page_of

            text = page_of(result, out or "")
            if events is None:
                result.trace_folder = None  # the events were for the page alone
        figures, undrawn = draw_figures(result, targets)
        if out is not None:
            from ..runs.folder import save

            save(result, out, force=force, captures=[c for c in result.captures if c.parent == stage], moves=True)
    write_logs(result, out, force=force)
    for path, figure in figures:
        from ..look.figures import save_figure

        save_figure(figure, path, new=not force)
    if html is not None and text is not None:
        from ..base.files import save_bytes

        save_bytes(html, text.encode(), new=not force)
    if as_json:
        from ..runs.document import json_chunks

        emit_pieces(json_chunks(result))
    elif not quiet:
        from ..runs.terminal import run_report

        emit(render(*run_report(result, spent, each, why), *(chart_of(result) if seen else ())))
    kept = result.captures if out is None else [Path(out)]
    wrote([*kept, *([html] if html is not None else []), *(path for path, _ in figures)], as_json=as_json, quiet=quiet)
    log.done()
    if undrawn is not None:
        raise undrawn


def _in_one_piece(resolved: Any, seeds: list[int] | None, *, watched: bool) -> str | None:
    """Returns why a run that could use several threads uses one; None if it does not."""
    from ..base.cores import available_threads
    from ..runs.partition import partition_of

    if available_threads() < 2:
        return "there is one core"
    if watched:
        return "events, packets or limits are recorded"
    return partition_of(resolved, None if seeds is None else seeds[0]).whole


def _fine(duration: str) -> str:
    """Returns the sampling step that gives a figure about a thousand points."""
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
        if as_json:
            emit_json(names)
            return
        from ..look.sheet import Words

        emit(render(*(Words(f"{kind}: {', '.join(of_kind)}", indent=2) for kind, of_kind in names.items())))
        return
    entries = look_up(" ".join(words))
    if as_json:
        emit_json([asdict(e) for e in entries])
        return
    from .explain import show

    emit(render(*(part for entry in entries for part in show(entry))))


@cli.command()
@click.argument("which", type=click.Choice(_SCHEMAS), default="scenario", metavar="[NAME]")
def schema(which: str) -> None:
    """Print the JSON Schema of an input file (scenario, study, tune) or of a document that --json prints.

    See docs/reference/json.md, docs/reference/studies.md and docs/reference/tuning.md.
    """
    from ..base.document import json_schema

    emit_json(json_schema(which))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Check this installation and list the optional programs that it finds."""
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
