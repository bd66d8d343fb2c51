"""The commands `new ...`: templates of scenarios, studies, searches, lessons and studies of papers."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import click

from ..base.extras import need
from ..base.files import replacing, save_bytes
from ..errors import FairlaneError, FolderError
from .output import Commands, emit, emit_document, render

_SCENARIOS = {
    "lan": "Local network: four computers save files on one server.",
    "wan": "Two sites on one long line: backups and interactive work.",
    "home": "Home uplink: an upload, a VoIP call and a video download share it.",
    "datacentre": "Incast: fifteen servers answer one client at once.",
}
"""Scenarios with their descriptions."""
_FILES = {
    **{name: (about, ("run {}", "run {} --seeds 10")) for name, about in _SCENARIOS.items()},
    "study": ("Study: every combination of queues and rates, ten lines to change.", ("study {} --dry-run", "study {}")),
    "tune": ("Search: the queue of an uplink, and its parameters, that suit calls and uploads best.", ("tune {}",)),
}
"""The files of `fairlane/scenarios/new`: what they are, and the commands to use them."""
_LESSON = ("scenario.toml", "README.md")
_ORDER = ("home", "lan", "wan", "datacentre", "study", "tune", "lesson", "card", "paper", "network")


class Templates(Commands):
    """The templates in the order in which they are of use."""

    what = "template"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the templates."""
        return list(_ORDER)


@click.group(cls=Templates, invoke_without_command=True)
@click.pass_context
def new(ctx: click.Context) -> None:
    """Create a scenario, a study, a search, a lesson or the study of a paper from a template; without NAME: list the templates."""
    if ctx.invoked_subcommand is not None:
        return
    from ..look.sheet import Sheet

    group = ctx.command
    assert isinstance(group, click.Group)
    rows = [[f"fairlane new {name}{_arguments(group.commands[name])}", group.commands[name].get_short_help_str(1000)] for name in _ORDER]
    emit(render(Sheet(["template", "what it writes"], rows, words=(1,), note="Existing files are kept.")))


def _arguments(command: click.Command) -> str:
    return "".join(f" {p.make_metavar(click.Context(command))}" for p in command.params if isinstance(p, click.Argument) and p.required)


def text_of(name: str) -> str:
    """Returns the file that `fairlane new NAME` writes."""
    return files("fairlane").joinpath("scenarios", "new", f"{name}.toml").read_text("utf-8")


def _write(name: str, file: str) -> None:
    if file == "-":
        emit_document(text_of(name), "toml")
        return
    about, uses = _FILES[name]
    path, shown = Path(file), shlex.quote(file)
    _check_name(path, f"fairlane new {name}")
    text = text_of(name)
    for verb in ("run", "study", "tune"):
        text = text.replace(f"fairlane {verb} {name}.toml", f"fairlane {verb} {shown}")
    save_bytes(path, text.encode(), new=True)
    from ..look.sheet import Words

    emit(render(Words(f"wrote {file}: {about}")) + "\n\n" + "\n".join(f"  fairlane {use.format(shown)}" for use in uses))


def _check_name(path: Path, command: str = "") -> None:
    """Raises an error if the file cannot be written; `command` is completed with a free name."""
    if path.suffix != ".toml":
        raise FairlaneError(f"{str(path)!r} is not a valid file name: it must end in .toml, such as mine.toml")
    if os.path.lexists(path):
        other = f", such as {command} {shlex.quote(str(_free(path)))}" if command else ""
        raise FolderError(f"{path} exists and was not changed: choose another name{other}")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"cannot write {path}: the folder {path.parent} does not exist")


def _free(path: Path) -> Path:
    """Returns an unused name in the folder of `path`."""
    return next(p for n in range(2, 10_000) if not os.path.lexists(p := path.with_stem(f"{path.stem}{n}")))


def _command(name: str, about: str) -> click.Command:
    def write(file: str | None) -> None:
        _write(name, file if file is not None else f"{name}.toml")

    help_text = f"{about} Writes FILE with comments (default: {name}.toml; -: prints it)."
    return click.Command(name, callback=write, params=[click.Argument(["file"], required=False)], help=help_text)


for _name, (_about, _) in _FILES.items():
    new.add_command(_command(_name, _about))


@new.command()
@click.argument("folder", default="lesson")
def lesson(folder: str) -> None:
    """Lesson for a course: a scenario, a page with questions and answers. Writes FOLDER (default: lesson)."""
    path = Path(folder)
    if os.path.lexists(path):
        other = shlex.quote(str(_free(path)))
        raise FolderError(f"{folder} exists and was not changed: choose another name, such as fairlane new lesson {other}")
    shown = shlex.quote(folder.rstrip("/"))
    source = files("fairlane").joinpath("scenarios", "new", "lesson")
    texts: Mapping[str, str] = {name: source.joinpath(name).read_text("utf-8").replace("lesson/", f"{shown}/") for name in _LESSON}
    with replacing(path) as place:
        for name, text in texts.items():
            (place / name).write_text(text, "utf-8")
    wrote = [str(path / name) for name in _LESSON]
    emit(
        "\n".join([f"wrote {', '.join(wrote)}", "", f"  fairlane top {shown}/scenario.toml", f"  fairlane run {shown}/scenario.toml --why"])
    )


@new.command()
@click.argument("key")
def card(key: str) -> None:
    """Question of a report card: writes the folder KEY for `fairlane card`; see docs/guides/report-cards.md."""
    need("study")
    from ..cards.template import new_question

    folder = new_question(key)
    emit("\n".join([*(str(p) for p in sorted(folder.iterdir())), f"\nfairlane card queue codel --question {key} --only {key}"]))


@new.command()
@click.argument("key")
def paper(key: str) -> None:
    """Study of a paper: writes the folder KEY for `fairlane reproduce KEY`; see docs/guides/own-paper.md."""
    need("study")
    from ..papers.template import new_paper

    folder = new_paper(key)
    emit("\n".join([*(str(p) for p in sorted(folder.iterdir())), f"\nfairlane reproduce {key} --quick"]))


@new.command()
@click.argument("graph")
@click.argument("file", required=False)
@click.option("--rate", default="10Mbit/s", show_default=True, metavar="RATE", help="Rate of links without one.")
@click.option(
    "--delay", default="5ms", show_default=True, metavar="TIME", help="Delay of links without one, and without coordinates at their ends."
)
@click.option(
    "--map",
    "mapped",
    default="",
    metavar="MAP",
    help="Attributes and their units, such as rate=capacity:Gbit/s,delay=dist:km (km: in fibre).",
)
@click.option("--most", type=click.IntRange(1), metavar="N", help="Largest number of links (default: 200000).")
@click.option("--traffic", metavar="PATH", help="Folder or archive of demand matrices over time, as SNDlib's dynamic traffic.")
@click.option("--period", default="1s", show_default=True, metavar="TIME", help="How long a matrix of --traffic holds.")
@click.option("--matrices", metavar="FIRST:COUNT", help="Part of the matrices of --traffic, such as 0:24 (default: all).")
def network(
    graph: str,
    file: str | None,
    rate: str,
    delay: str,
    mapped: str,
    most: int | None,
    traffic: str | None,
    period: str,
    matrices: str | None,
) -> None:
    """Network from GRAPH: GraphML, GML, CSV, node-link JSON, SNDlib, REPETITA, Rocketfuel.

    Writes the scenario FILE with the demands of the graph, or with one flow (default: GRAPH.toml; -: prints it).

    docs/guides/importing-topologies.md lists the attributes that are read.
    """
    from ..base import toml
    from ..graphs import MOST, read_graph

    path = Path(file or f"{Path(graph).stem}.toml")
    if file != "-":
        _check_name(path)
    read = read_graph(graph, rate=rate, delay=delay, most=MOST if most is None else most, map=mapped)
    if not read.links:
        raise FairlaneError(f"{graph} has no links between different nodes\n  = help: a scenario needs two nodes and a link")
    first = next(iter(read.links.values()))
    tree = {"name": Path(graph).stem, "duration": "10s", "nodes": read.nodes, "positions": read.positions, "links": read.links}
    if any("weight" in x for x in read.links.values()):
        tree["route_by"] = "weight"
    over_time: list[str] = []
    if traffic is not None:
        from ..graphs.matrices import flows, read_matrices

        found, over_time = read_matrices(traffic, read.nodes, read.unit, *_part(matrices))
        tree["flows"], tree["duration"] = flows(found, period)
        over_time.append(f"{len(found)} matrices from {found[0].label} to {found[-1].label}, {period} each")
    else:
        tree["flows"] = read.flows() or {"tcp": {"from": first["from"], "to": first["to"], "tcp": "cubic"}}
    text = toml.dumps({k: v for k, v in tree.items() if v})
    if file == "-":
        emit_document(text, "toml")
        return
    save_bytes(path, text.encode("utf-8"), new=True)
    shown = shlex.quote(str(path))
    lines = [
        f"wrote {path}: {len(read.nodes)} nodes, {len(read.links)} links{f', {len(read.demands)} demands' if read.demands else ''}",
        *(f"note: {n}" for n in [*read.notes, *over_time]),
    ]
    emit("\n".join([*lines, "", f"  fairlane draw {shown} -o {shlex.quote(path.stem)}.svg", f"  fairlane run {shown}"]))


def _part(text: str | None) -> tuple[int, int | None]:
    """Returns the first matrix and the number of matrices."""
    if text is None:
        return 0, None
    first, _, count = text.partition(":")
    if not first.isdecimal() or not count.isdecimal() or not int(count) or max(len(first), len(count)) > 9:
        raise FairlaneError(f"--matrices {text[:40]}: a first number and a count are wanted\n  = help: write for instance --matrices 0:24")
    return int(first), int(count)
