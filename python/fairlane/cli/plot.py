"""The command `plot`: plots of results, of studies, or of a scenario that it runs."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.extras import need
from ..errors import FairlaneError, FolderError, ScenarioError
from . import completion
from .file_kinds import other_kind
from .output import assignments, emit, emit_document, emit_json, notes, plugin_option, progress_bar, render, wrote
from .seeds import seed_options

if TYPE_CHECKING:
    from ..runs.result import Result

_FILES = (".toml", ".json")
_SAMPLES = 1000


@click.command()
@click.argument("words", nargs=-1, metavar="RESULT... KIND", shell_complete=completion.plotted)
@click.option(
    "-o", "--out", "out", metavar="NAME.svg", help="Write NAME.svg, NAME.pdf or NAME.png. An existing file is an error without --force."
)
@click.option("--list", "listed", is_flag=True, help="List the kinds of plots, their requirements and the theoretical curves.")
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="Flows or groups of flows; repeatable.")
@click.option("--link", "links", multiple=True, metavar="NAME", help="Links to draw (default: the one with the longest queue); repeatable.")
@click.option(
    "--seed",
    metavar="N",
    help="The run to draw, or all: means with 95 % confidence bands (default: the first); a scenario file is run with this seed.",
)
@click.option("--theory", metavar="NAME,NAME", default="", help="Overlay theoretical curves: bdp, fair, rtt, pftk... (see --list).")
@click.option("--time", "time", metavar="SPAN", help="The time span to draw, such as 10s..20s.")
@click.option(
    "--style",
    metavar="NAME",
    default="screen",
    help="Figure width and font size: ieee, ieee-wide, acm, acm-wide, usenix, usenix-wide, lncs, a4, slides.",
)
@click.option("--panel", metavar="FACTOR", default="", help="For a study: one panel per level of this factor.")
@click.option("--where", "where", multiple=True, metavar="FACTOR=LEVEL", help="For a study: only these combinations.")
@completion.set_option("Change a value of a scenario file.")
@seed_options("Replications of a scenario file", single=False)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print the plotted values as one JSON document.")
@plugin_option
def plot(
    words: tuple[str, ...],
    out: str | None,
    listed: bool,
    flows: tuple[str, ...],
    links: tuple[str, ...],
    seed: str | None,
    theory: str,
    time: str | None,
    style: str,
    panel: str,
    where: tuple[str, ...],
    sets: tuple[str, ...],
    seeds: list[int] | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw a plot of one or more results, overlaid or side by side.

    RESULT is a result folder (LABEL=FOLDER sets its label), the folder of a study (every combination is drawn), or a scenario file, which
    is run with the samples and traces that the plot needs. KIND is one of --list, or any time series or metric. Without -o the plot (SVG)
    goes to standard output. docs/gallery shows every kind, docs/guides/plots.md every option.
    """
    need("plots")
    if listed:
        return _list(as_json=as_json)
    if len(words) < 2:
        if words and not _is_kind(words[0]):
            raise click.UsageError(f"which plot? fairlane plot {shlex.quote(words[0])} KIND, such as queue or cwnd; --list shows the kinds")
        raise click.UsageError("give a result folder and a kind of plot, such as fairlane plot results window, or --list")
    from ..base.outputs import new_file
    from ..look.figures import check_path
    from ..runs.plots import KINDS
    from ..runs.plots.figure import draw, span
    from ..runs.plots.formula_curves import check
    from ..runs.plots.overlay import save
    from ..runs.plots.styles import style_of

    *given, kind = words
    if len(given) > 1 and (whole := f"{given[-1]}-{kind}") in KINDS:
        raise FairlaneError(f"the plot is called {whole}: fairlane plot {shlex.join([*given[:-1], whole])}")
    if not _is_kind(kind) and (first := next((w for w in given if _is_kind(w) and not Path(w).exists()), None)) is not None:
        others = [w for w in words if w != first]
        raise FairlaneError(f"the plot kind comes last: fairlane plot {shlex.join([*others, first])}")
    if not _is_kind(kind) and (Path(kind).exists() or kind.endswith(_FILES)):
        raise FairlaneError(f"the plot kind comes last: fairlane plot {shlex.join(words)} KIND (--list shows the kinds)")
    # Errors in the arguments are reported before anything is read or run.
    formulas = tuple(t for t in theory.split(",") if t)
    if kind in KINDS:
        check(KINDS[kind], formulas)
    form, cut = style_of(style), span(time)
    target = None if out is None else new_file(check_path(out), force=force)
    with ExitStack() as stack:
        chosen = None if seed is None else seed if seed == "all" else _number(seed)
        only = [chosen] if seeds is None and isinstance(chosen, int) else seeds
        results, panels = _results(given, kind, _Run(sets, seeds, only, flows, links), panel, where, stack, quiet=as_json)
        drawn = draw(
            results, kind, flow=flows or None, link=links or None, seed=chosen, theory=formulas, time=cut, style=form.name, panels=panels
        )  # fmt: skip
    if target is not None:
        save(drawn.figure, target, style, new=not force)
    if as_json:
        emit_json(drawn.document() | {"file": None if target is None else str(target)})
    elif target is None:
        from ..look.theme import svg

        emit_document(svg(drawn.figure), "xml")
    notes(drawn.notes)
    wrote([target] if target is not None else [], as_json=as_json, quiet=False)


def _is_kind(word: str) -> bool:
    """Returns True for a kind of --list, a time series or a metric."""
    from ..base.metrics import metrics, series_of
    from ..runs.plots import KINDS

    return word in KINDS or bool(series_of(word)) or any(m.name == word for m in metrics())


class _Run:
    """Options for a scenario that the plot runs."""

    def __init__(
        self, sets: tuple[str, ...], asked: list[int] | None, seeds: list[int] | None, flows: tuple[str, ...], links: tuple[str, ...]
    ) -> None:
        self.sets, self.asked, self.seeds, self.flows, self.links = sets, asked, seeds, flows, links

    def refuse(self, name: str) -> None:
        """Raises an error if an option for scenarios is given for a result."""
        for option, value in (("--set", self.sets), ("--seeds", self.asked)):
            if value:
                raise FairlaneError(
                    f"{option} needs a scenario file, but {name} is a result" + (": --seed N selects a run" if option == "--seeds" else "")
                )


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise FairlaneError(f"cannot read --seed {text!r}: write a number, or all") from None


def _results(
    given: Sequence[str], kind: str, run: _Run, panel: str, where: Sequence[str], stack: ExitStack, *, quiet: bool
) -> tuple[list[tuple[str, Result]], list[str]]:
    """Returns labels and results, and the panel of each."""
    from ..base.partial_files import where_it_is
    from ..runs.plots.overlay import labels
    from ..runs.result import load

    names, found, panels = [], list[Any](), list[str]()
    for word in given:
        label, path = _named(word)
        if path.is_dir() and (path / "study.json").is_file():
            run.refuse(word)
            points = _study(path, panel, where)
            for title, name, result in points:
                names.append(f"{label or path.name}: {name}" if len(given) > 1 else name)
                found.append(result)
                panels.append(title)
            continue
        if panel or where:
            raise FairlaneError(f"--panel and --where need the folder of a study, and {word} is not one")
        if path.is_file() or str(path) == "-":
            result = _ran(str(path), kind, run, stack, quiet=quiet)
            names.append(label or result.description.get("name") or path.stem)
        elif path.is_dir():
            run.refuse(word)
            result = load(path)
            names.append(label or path.resolve().name)
        else:
            raise FolderError(
                f"result {word} not found: give a result folder (fairlane run FILE -o DIR), the folder of a study, or a scenario file"
                + where_it_is(path)
            )
        found.append(result)
        panels.append("")
    shown = labels(names) if not any(panels) else names
    return list(zip(shown, found, strict=True)), panels if any(panels) else []


def _named(word: str) -> tuple[str, Path]:
    """Splits LABEL=FOLDER into its parts; the label of a path is empty."""
    label, equals, rest = word.partition("=")
    if equals and rest and not Path(word).exists():
        return label, Path(rest)
    return "", Path(word)


def _study(path: Path, panel: str, where: Sequence[str]) -> list[tuple[str, str, Result]]:
    need("study")
    from ..study import load_study
    from ..study.combinations import panelled

    chosen = {}
    for pair in where:
        name, equals, level = pair.partition("=")
        if not equals:
            raise FairlaneError(f"cannot read --where {pair!r}: write FACTOR=LEVEL")
        chosen[name] = level
    return panelled(load_study(path), panel, chosen)


def _ran(file: str, kind: str, run: _Run, stack: ExitStack, *, quiet: bool) -> Result:
    """Runs a scenario with the samples, events and packets that the plot needs."""
    from ..base.format import seconds
    from ..base.scenario import checked
    from ..runs.pcap import Pcap
    from ..runs.plots import KINDS
    from ..runs.plots.quantity import kind_of
    from ..runs.result import run_resolved
    from ..runs.tables import missing_table
    from ..runs.trace import Trace
    from .figures import check_quantities
    from .log import given

    changes = assignments(run.sets)
    source = given(file)
    try:
        resolved = checked(source, changes)
    except ScenarioError as e:
        raise other_kind(file, e, "scenario") from None
    import json

    tree = json.loads(resolved.json())
    if not tree.get("sample"):
        step = max(1e-9, seconds(tree["duration"]) / _SAMPLES)
        resolved = checked(source, [*changes, ("sample", f"{step * 1e9:.0f}ns")])
    own = KINDS.get(kind)
    if own is None:
        check_quantities(source, changes, tree["duration"], [kind], lambda first, name: kind_of([first], name, link=bool(run.links)))
    elif own.flows and (why := missing_table("flows", tree.get("report") or "flows")):
        raise FairlaneError(why)
    events = ",".join(x for x in (own.trace, own.more) if x) if own is not None else ""
    trace, pcap = None, None
    if events:
        trace = Trace(events=events.split(","), flows=run.flows)
    if kind == "sequence":
        first = next((f["name"] for f in tree["expanded"]["flows"] if f["transport"] == "tcp"), None)
        wanted = run.flows or ((first,) if first else ())
        if wanted:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-plot-"))
            pcap = Pcap([f"flow:{f}" for f in wanted], folder=folder)
    with progress_bar("running", len(run.seeds or [0]), quiet=quiet) as progress:
        return run_resolved(resolved, run.seeds, trace=trace, pcap=pcap, progress=progress)


def _list(*, as_json: bool) -> None:
    from .. import _core
    from ..look.sheet import Sheet
    from ..runs.plots import KINDS, SAMPLE
    from ..runs.plots.formulas import NAMES
    from ..runs.plots.styles import STYLES

    if as_json:
        return emit_json(
            {
                "schema": "fairlane.plot-list/1",
                "fairlane": _core.version(),
                "kinds": [k.document() for k in KINDS.values()],
                "theory": [{"name": n, "says": s} for n, s in NAMES.items()],
                "styles": [{"name": s.name, "width_in": round(s.width, 4), "font_pt": s.font, "source": s.source} for s in STYLES.values()],
            }
        )
    rows = [
        (k.name, k.shows, ", ".join(x for x in ("sample" if k.sample else "", "trace" if k.trace else "") if x), ", ".join(k.theory))
        for k in KINDS.values()
    ]
    styles = [(s.name, f"{s.width:.2f} in", f"{s.font:g} pt", s.source) for s in STYLES.values()]
    emit(
        render(
            Sheet(
                ["kind", "shows", "needs", "theory"],
                rows,
                words=(1, 3),
                note=f"sample: {SAMPLE}; trace: --trace. Every time series and metric is also a kind.",
            ),
            "",
            Sheet(["theory", "formula"], list(NAMES.items()), words=(1,)),
            "",
            Sheet(["style", "width", "font size", "source"], styles, words=(3,)),
        )
    )
