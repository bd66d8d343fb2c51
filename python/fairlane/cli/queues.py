"""The commands about queues: `compare` and `tc`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.extras import need
from ..base.paths import partition
from ..errors import FairlaneError
from . import completion
from .figures import new_figures, page_file
from .log import count, current, verbose_option
from .output import assignments, emit, emit_json, plugin_option, render, step_bar, wrote
from .seeds import seed_options

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..linux.script import Script
    from ..runs.network import Network

DEFAULT_QUEUES = "droptail{limit=100p},red,codel,fq_codel"


@click.command(context_settings={"allow_extra_args": True}, options_metavar="[FILE] [OPTIONS]")
@click.option(
    "--queues", "queues", multiple=True, metavar="LIST", shell_complete=completion.each(("queue",)),
    help="Queues such as red,codel{target=10ms},red:ns2 (name, preset after a colon, parameters in braces), or all.  "
    f"[default: {DEFAULT_QUEUES}, if nothing else is compared]",
)  # fmt: skip
@click.option(
    "--tcp", "tcp", multiple=True, metavar="LIST", shell_complete=completion.each(("cc",)),
    help="Congestion controls of all TCP flows, such as cubic,bbr,reno:linux.",
)  # fmt: skip
@click.option(
    "--vary", "vary", multiple=True, metavar="PATH=A,B,C", shell_complete=completion.settings,
    help="Values of any path that --set takes, such as links.bottleneck.rate=5Mbit/s,10Mbit/s; several options: all combinations.",
)  # fmt: skip
@click.option(
    "--scenario",
    metavar="FILE",
    shell_complete=completion.scenarios,
    help="Compare on this scenario instead of the built-in dumbbell with TCP and UDP; the same as FILE.",
)
@click.option(
    "--link", metavar="NAME", shell_complete=completion.links,
    help="The link to compare at; its queue is replaced by --queues (default: bottleneck, or the only link).",
)  # fmt: skip
@click.option("--flows", type=click.IntRange(0, 10_000), metavar="N", help="TCP flows of the dumbbell (default: 5).")
@click.option("--udp", metavar="RATE", help='Rate of the UDP stream in the dumbbell, or "none" (default: 5Mbit/s, half of the bottleneck).')
@click.option(
    "--duration",
    metavar="TIME",
    help="Simulated time of each run (default: 60s, or the scenario's). In the built-in dumbbell a sixth of it is warm-up.",
)
@click.option("--limit", metavar="LEN", help="Buffer limit of the queues that do not set their own, such as 100p.")
@completion.set_option("Change any value, such as links.bottleneck.rate=5Mbit/s.")
@seed_options("Replications, the same for all", "1..10")
@click.option(
    "--margin", metavar="SHARE", default="5%", show_default=True, help="Equivalence margin: differences below it count as no difference."
)
@click.option("--threads", type=click.IntRange(0, 4096), default=0, metavar="N", help="Runs in parallel (default: one per core).")
@click.option("--why", is_flag=True, help="Add to the page and the document what limited each flow and which flows filled the queues.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME",
    help="Compare this metric, such as flows.upload.delay_p95, flows.*.goodput or links.*.loss_synchronisation, instead of goodput, delay, "
    "loss and fairness; * stands for each group of flows or link.",
)  # fmt: skip
@click.option("--page", "page", metavar="FILE.html", help="Write an HTML report with all plots and tables; it opens offline.")
@click.option("--markdown", metavar="FILE.md", help="Write the compared metrics and differences as Markdown.")
@click.option("--latex", metavar="FILE.tex", help="Write the compared metrics as a LaTeX table (package booktabs).")
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="NAME.svg",
    help="Draw a plot, chosen by its name: ellipses.svg, queue.png, jain.pdf, points.svg, bars.svg.",
)
@click.option("--style", default="screen", metavar="NAME", help="Width and fonts of the plots, as in fairlane plot: ieee, acm, slides...")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@verbose_option
@plugin_option
def compare(
    queues: tuple[str, ...],
    tcp: tuple[str, ...],
    vary: tuple[str, ...],
    scenario: str | None,
    link: str | None,
    flows: int | None,
    udp: str | None,
    duration: str | None,
    limit: str | None,
    sets: tuple[str, ...],
    seeds: list[int] | None,
    margin: str,
    threads: int,
    why: bool,
    metrics: tuple[str, ...],
    page: str | None,
    markdown: str | None,
    latex: str | None,
    plots: tuple[str, ...],
    style: str,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the same scenario under several queues, congestion controls or other values, and report the differences.

    All variants use the same seeds, so differences are paired; each has a confidence interval. Several of
    --queues, --tcp and --vary give all combinations.

    Without FILE: five TCP flows (NewReno) and a UDP stream at half the rate of their common 10 Mbit/s, 20 ms link.
    docs/guides/comparing.md shows how to write queues, congestion controls and levels.
    """
    context = click.get_current_context()
    extra = context.args
    if extra and scenario is None and Path(extra[0]).suffix in (".toml", ".json"):
        scenario = context.params["scenario"] = extra.pop(0)
        context.set_parameter_source("scenario", click.core.ParameterSource.COMMANDLINE)
    if extra:
        if Path(extra[0]).suffix in (".toml", ".json"):
            raise click.UsageError(f'unexpected argument "{extra[0]}": one scenario can be given, and {scenario} is')
        option, given = next(((o, v) for o, v in (("--queues", queues), ("--tcp", tcp), ("--vary", vary)) if v), ("--queues", ()))
        raise click.UsageError(f'unexpected argument "{extra[0]}": separate values with commas: {option} {",".join([*given, *extra])}')
    need("study")
    from ..base.outputs import new_file
    from ..comparison import compare as run
    from ..comparison.plots import PICTURES
    from ..runs.plots.styles import style_of

    targets = [_target(p, PICTURES) for p in new_figures(plots, force=force)]
    html = None if page is None else page_file(page, force=force)
    texts = {form: new_file(name, force=force) for form, name in (("markdown", markdown), ("latex", latex)) if name is not None}
    style_of(style)
    changes = assignments(sets) + ([("duration", duration)] if duration is not None else [])
    if scenario is not None and (flows is not None or udp is not None):
        raise FairlaneError("--flows and --udp belong to the built-in dumbbell: with a FILE use --set, such as --set flows.tcp.count=9")
    source = scenario if scenario is not None else _built_in(flows, udp)
    if scenario is None and duration is not None and not any(path == "warmup" for path, _ in changes):
        changes.append(("warmup", _sixth(source, changes)))
    log = current()
    log.read(scenario or "the built-in dumbbell", changes)
    with step_bar("comparing", quiet=quiet) as progress:
        done = run(
            source, queues=queues or (None if tcp or vary else DEFAULT_QUEUES), tcp=tcp or None, vary=_levels(vary), link=link, seeds=seeds,
            sets=changes, limit=limit, margin=margin, threads=threads, why=why, metrics=metrics, progress=progress,
        )  # fmt: skip
    done.command = _command()
    for setting in done.settings:
        log.say(f"{setting.label}: {sum(r['cpu_s'] for r in setting.result.info):.3f} s of CPU for {count(len(done.seeds), 'seed')}")
    log.warnings(done.warnings)
    document = done.document() if as_json else None
    _write(done, targets, html, texts, style, force=force)
    if document is not None:
        emit_json(document)
    elif not quiet:
        from ..comparison.terminal import report

        emit(render(*report(done)))
    log.done()
    wrote([*([html] if html is not None else []), *texts.values(), *targets], as_json=as_json, quiet=quiet)


def _levels(pairs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the paths and levels of `--vary`."""
    out: list[tuple[str, str]] = []
    for pair in pairs:
        path, sign, values = partition(pair)
        if not sign or not path.strip() or not values.strip():
            raise FairlaneError(f"cannot read --vary {pair!r}: write path=a,b,c, such as links.bottleneck.rate=5Mbit/s,10Mbit/s")
        if any(path.strip() == other for other, _ in out):
            raise FairlaneError(f"{path.strip()} is varied twice: write all levels in one --vary")
        out.append((path.strip(), values))
    return out


def _command() -> str:
    """Returns the command line with the options that determine the results, quoted for a shell."""
    import shlex

    context = click.get_current_context()
    words = ["fairlane", "compare"]
    for file in context.meta.get("fairlane.plugins", ()):
        words += ["--plugin", file]
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if given and option.name not in (
            "threads",
            "page",
            "markdown",
            "latex",
            "plots",
            "style",
            "as_json",
            "quiet",
            "verbose",
            "plugins",
            "force",
        ):
            value = context.params[option.name or ""]
            for one in value if isinstance(value, tuple) else (value,):
                words += [option.opts[0], str(one)]
    return shlex.join(words)


def _built_in(flows: int | None, udp: str | None) -> Network:
    """Returns the built-in dumbbell with the given values."""
    from .. import _core
    from ..comparison import default_network

    if udp is not None and udp != "none":
        try:
            _core.quantity("rate", udp)
        except ValueError:
            bare = udp.replace(".", "", 1).isdigit()
            raise FairlaneError(
                f"--udp {udp} " + (f"has no unit: write --udp {udp}Mbit/s" if bare else "is not a rate such as 5Mbit/s, nor none")
            ) from None

    if flows is None:
        return default_network() if udp is None else default_network(udp=udp)
    return default_network(flows=flows) if udp is None else default_network(flows=flows, udp=udp)


def _sixth(source: Any, changes: list[tuple[str, str]]) -> str:
    """Returns a warm-up of a sixth of the duration."""
    from ..base.format import seconds
    from ..base.scenario import resolve

    resolved = resolve(source, [*changes, ("warmup", "0s")])
    sixth = seconds(resolved["duration"]) / 6
    # A whole number of seconds, or of milliseconds for a short run.
    return next((f"{int(sixth * f)}{unit}" for unit, f in (("s", 1), ("ms", 1e3)) if sixth * f >= 1), f"{round(sixth * 1e6)}us")


def _target(target: Path, known: tuple[str, ...]) -> Path:
    from ..errors import suggest

    if target.stem not in known:
        raise suggest(target.stem, list(known), "picture of a comparison")
    return target


def _write(done: Comparison, pictures: list[Path], html: Path | None, texts: dict[str, Path], style: str, *, force: bool) -> None:
    from ..base.files import save_bytes
    from ..look.figures import save_figure

    drawn = [(done.plot(path.stem, style=style), path) for path in pictures]
    text = done.page() if html is not None else ""
    tables = [(getattr(done, form)(), path) for form, path in texts.items()]
    for figure, path in drawn:
        save_figure(figure, path, new=not force)
    if html is not None:
        save_bytes(html, text.encode("utf-8"), new=not force)
    for table, path in tables:
        save_bytes(path, table.encode("utf-8"), new=not force)


@click.command()
@click.argument("scenario", shell_complete=completion.scenarios)
@click.argument("link", required=False, shell_complete=completion.links)
@click.option(
    "--dev", default="eth0", show_default=True, metavar="DEVICE", help="The network device that sends onto the link: default of UP_IF."
)
@click.option("--down-dev", metavar="DEVICE", help="The router's device towards its own network: default of DOWN_IF.  [default: eth1]")
@completion.set_option("Change any value, such as links.bottleneck.queue=codel.")
@click.option("--queue-only", is_flag=True, help="Leave out the rate of the link, for a device that has it itself.")
@click.option("--emulate", "--netem", is_flag=True, help="For a laboratory: add delay and impairments of links by netem.")
@click.option("--machine", metavar="NODE", help="Print the script of one node, with a device for each neighbour.")
@click.option("-o", "--out", metavar="DIR", help="Write each script as DIR/MACHINE.sh. An existing file is an error without --force.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@plugin_option
def tc(
    scenario: str, link: str | None, dev: str, down_dev: str | None, sets: tuple[str, ...], queue_only: bool, emulate: bool,
    machine: str | None, out: str | None, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Print a shell script that sets up the queues of a SCENARIO on Linux; its options are -n (dry run) and -u (undo).

    With LINK: one script for the router at its near end, with both directions. Without: one for each machine; equal ones come once.
    Comments state where the kernel differs, and which queues it does not have. docs/guides/linux-tc.md shows examples.
    """
    from ..base.scenario import resolve
    from ..linux import document, machines, merged

    expanded = resolve(scenario, assignments(sets))["expanded"]
    scripts = machines.scripts(expanded, link, dev=dev, down_dev=down_dev, queue_only=queue_only, emulate=emulate, machine=machine)
    written = _write_scripts(Path(out), scripts, force=force) if out is not None else []
    if as_json:
        if link is None and machine is None:
            sends = machines.exports(expanded, expanded["links"], dev, queue_only=queue_only)
        else:
            sends = [i.sends for s in scripts for i in s.interfaces]
        emit_json(document(merged(sends), dev, scripts))
    elif out is None:
        emit("\n\n".join(s.text() for s in scripts))
    wrote(written, as_json=as_json, quiet=False)


def _write_scripts(folder: Path, scripts: list[Script], *, force: bool) -> list[Path]:
    from ..base.files import make_folders, save_bytes
    from ..base.outputs import new_files

    make_folders(folder)
    targets = new_files([folder / s.file_name() for s in scripts], force=force)
    for target, s in zip(targets, scripts, strict=True):
        save_bytes(target, (s.text() + "\n").encode(), new=not force)
    return targets
