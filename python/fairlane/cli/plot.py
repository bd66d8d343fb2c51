"""The command `plot`: pictures of results, of studies, or of a scenario that is run for it."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from ..runs.result import Result

_FILES = (".toml", ".json")
_SAMPLES = 1000


@click.command()
@click.argument("words", nargs=-1, metavar="RESULT... KIND", shell_complete=completion.plotted)
@click.option(
    "-o", "--out", "out", metavar="NAME.svg", help="Write NAME.svg, NAME.pdf or NAME.png; one that exists is an error without --force."
)
@click.option("--list", "listed", is_flag=True, help="Show the kinds, what they need and the theory that can be drawn in.")
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="Flows, or groups of flows (may be given several times).")
@click.option("--link", "links", multiple=True, metavar="NAME", help="Links; by default the one where most waits.")
@click.option("--seed", metavar="N", help="The run to draw, or all: means with 95 % intervals as bands (default: the first).")
@click.option("--theory", metavar="NAME,NAME", default="", help="Draw in what formulas say: bdp, fair, rtt, pftk... (--list has all).")
@click.option("--time", "time", metavar="SPAN", help="The span to draw, such as 10s..20s.")
@click.option(
    "--style",
    metavar="NAME",
    default="screen",
    help="Width and type of a paper's column: ieee, ieee-wide, acm, acm-wide, usenix, usenix-wide, lncs, a4, slides.",
)
@click.option("--panel", metavar="FACTOR", default="", help="Of a study: a panel for each level of this factor.")
@click.option("--where", "where", multiple=True, metavar="FACTOR=LEVEL", help="Of a study: these points alone.")
@completion.set_option("Change a value of a scenario that is run.")
@click.option("--seeds", metavar="LIST", help="Replications of a scenario that is run: 1..10 or 1,2,3.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers of the picture as one JSON document.")
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
    seeds: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw a KIND of picture of result folders, over one another or side by side.

    RESULT is a result folder (LABEL=FOLDER names it in the picture), the folder of a study, each of whose points is drawn, or a scenario
    file, which is run with what the picture needs. KIND is one of --list, or any time series or metric. Without -o the picture (SVG) goes
    to standard output. docs/gallery shows every kind, docs/guides/plots.md all that can be chosen.
    """
    if listed:
        return _list(as_json=as_json)
    if len(words) < 2:
        raise click.UsageError("give a result folder and a kind of picture, such as fairlane plot results window, or --list")
    need("plots")
    from ..base.outputs import new_file
    from ..look.figures import check_path
    from ..runs.plots import KINDS
    from ..runs.plots.figure import draw, span
    from ..runs.plots.formula_curves import check
    from ..runs.plots.overlay import save
    from ..runs.plots.styles import style_of

    *given, kind = words
    if kind not in KINDS and (Path(kind).exists() or kind.endswith(_FILES)):
        raise FairlaneError(f"{kind} is in the place of the kind of picture: fairlane plot {' '.join(words)} KIND (--list has the kinds)")
    # What can be told of the words alone is told before anything is read or run.
    formulas = tuple(t for t in theory.split(",") if t)
    if kind in KINDS:
        check(KINDS[kind], formulas)
    form, cut = style_of(style), span(time)
    target = None if out is None else new_file(check_path(out), force=force)
    with ExitStack() as stack:
        results, panels = _results(given, kind, _Run(sets, seeds, flows, links), panel, where, stack, quiet=as_json)
        chosen = None if seed is None else seed if seed == "all" else _number(seed)
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


class _Run:
    """What a scenario is run with."""

    def __init__(self, sets: tuple[str, ...], seeds: str | None, flows: tuple[str, ...], links: tuple[str, ...]) -> None:
        self.sets, self.seeds, self.flows, self.links = sets, seeds, flows, links

    def refuse(self, name: str) -> None:
        """An error if something is to be changed that has been run."""
        for option, value in (("--set", self.sets), ("--seeds", self.seeds)):
            if value:
                raise FairlaneError(
                    f"{option} is for scenarios that are run, and {name} is a result"
                    + (": --seed N chooses a run" if option == "--seeds" else "")
                )


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise FairlaneError(f"cannot read --seed {text!r}: write a number, or all") from None


def _results(
    given: Sequence[str], kind: str, run: _Run, panel: str, where: Sequence[str], stack: ExitStack, *, quiet: bool
) -> tuple[list[tuple[str, Result]], list[str]]:
    """Labels and results, and the panel of each."""
    from ..base.partial_files import where_it_is
    from ..runs.plots.many import labels
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
            raise FairlaneError(f"--panel and --where are for studies, and {word} is none")
        if path.is_file() or str(path) == "-":
            result = _ran(str(path), kind, run, stack, quiet=quiet)
            names.append(label or result.description.get("name") or path.stem)
        elif path.is_dir():
            run.refuse(word)
            result = load(path)
            names.append(label or path.resolve().name)
        else:
            raise FolderError(
                f"there is no result {word}: give a result folder (fairlane run FILE -o DIR), the folder of a study, or a scenario file"
                + where_it_is(path)
            )
        found.append(result)
        panels.append("")
    told = labels(names) if not any(panels) else names
    return list(zip(told, found, strict=True)), panels if any(panels) else []


def _named(word: str) -> tuple[str, Path]:
    """LABEL=FOLDER, or a path."""
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
    """Runs a scenario with the samples, events and packets that the picture is made of."""
    from ..base.format import seconds
    from ..base.scenario import checked
    from ..base.seeds import parse_seeds
    from ..runs.pcap import Pcap
    from ..runs.plots import KINDS
    from ..runs.plots.quantity import kind_of
    from ..runs.result import run_resolved
    from ..runs.tables import missing_table as absent
    from ..runs.trace import Trace
    from .figures import check_quantities
    from .log import given

    changes = assignments(run.sets)
    seeds = None if run.seeds is None else parse_seeds(run.seeds)
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
    elif own.flows and (why := absent("flows", tree.get("report") or "flows")):
        raise FairlaneError(why)
    events = ",".join(x for x in (own.trace, own.more) if x) if own is not None else ""
    trace, pcap = None, None
    if events:
        need("arrow")
        trace = Trace(events=events.split(","), flows=run.flows)
    if kind == "sequence":
        first = next((f["name"] for f in tree["expanded"]["flows"] if f["transport"] == "tcp"), None)
        wanted = run.flows or ((first,) if first else ())
        if wanted:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-plot-"))
            pcap = Pcap([f"flow:{f}" for f in wanted], folder=folder)
    with progress_bar("running", len(seeds or [0]), quiet=quiet) as progress:
        return run_resolved(resolved, seeds, trace=trace, pcap=pcap, progress=progress)


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
                ["kind", "what it shows", "needs", "theory"],
                rows,
                words=(1, 3),
                note=f"sample: {SAMPLE}; trace: --trace. Any time series or metric is a kind, too.",
            ),
            "",
            Sheet(["theory", "what it says"], list(NAMES.items()), words=(1,)),
            "",
            Sheet(["style", "width", "letters", "of"], styles, words=(3,)),
        )
    )
