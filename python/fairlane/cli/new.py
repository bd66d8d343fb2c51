"""The commands `new ...`: templates of scenarios and studies of papers."""

from __future__ import annotations

import os
import shlex
from importlib.resources import files
from pathlib import Path

import click

from ..base.extras import need
from ..base.files import save_bytes
from ..errors import FairlaneError, FolderError
from .output import Commands, emit, emit_document

_SCENARIOS = {
    "lan": "Local network: four computers save files on one server.",
    "wan": "Two sites on one long line: backups and interactive work.",
    "home": "Home uplink: an upload, a VoIP call and a video download share it.",
    "datacentre": "Incast: fifteen servers answer one client at once.",
}
"""The scenarios of `fairlane/scenarios/new` with their descriptions."""


@click.group(cls=Commands)
def new() -> None:
    """Create a scenario or study from a template."""


def text_of(name: str) -> str:
    """Returns the scenario file that `fairlane new NAME` writes."""
    return files("fairlane").joinpath("scenarios", "new", f"{name}.toml").read_text("utf-8")


def _write(name: str, file: str) -> None:
    if file == "-":
        emit_document(text_of(name), "toml")
        return
    path, shown = Path(file), shlex.quote(file)
    if path.suffix != ".toml":
        raise FairlaneError(f"{file!r} is not a valid scenario name: it must end in .toml, such as mine.toml")
    if os.path.lexists(path):
        other = shlex.quote(str(_free(path)))
        raise FolderError(f"{file} exists and was not changed: choose another name, such as fairlane new {name} {other}")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"cannot write {file}: the folder {path.parent} does not exist")
    save_bytes(path, text_of(name).replace(f"fairlane run {name}.toml", f"fairlane run {shown}").encode(), new=True)
    lines = (f"wrote {file}: {_SCENARIOS[name]}", "", f"  fairlane run {shown}", f"  fairlane run {shown} --seeds 1..10")
    emit("\n".join(lines))


def _free(path: Path) -> Path:
    """Returns an unused name in the folder of `path`."""
    return next(p for n in range(2, 10_000) if not os.path.lexists(p := path.with_stem(f"{path.stem}{n}")))


def _command(name: str, about: str) -> click.Command:
    def write(file: str | None) -> None:
        _write(name, file if file is not None else f"{name}.toml")

    help_text = f"{about} Writes the scenario FILE with comments (default: {name}.toml; -: prints it). Existing files are kept."
    return click.Command(name, callback=write, params=[click.Argument(["file"], required=False)], help=help_text)


for _name, _about in _SCENARIOS.items():
    new.add_command(_command(_name, _about))


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
@click.option("--most", type=click.IntRange(1), metavar="N", help="Largest number of links (default: 200000).")
def network(graph: str, file: str | None, rate: str, delay: str, most: int | None) -> None:
    """Network from GRAPH, a GraphML, GML or CSV file. Writes the scenario FILE with one flow (default: GRAPH.toml; -: prints it).

    docs/guides/importing-topologies.md lists the attributes that are read.
    """
    from ..base import toml
    from ..graphs import MOST, read_graph

    path = Path(file or f"{Path(graph).stem}.toml")
    if file != "-":
        _free_to_write(path)
    read = read_graph(graph, rate=rate, delay=delay, most=MOST if most is None else most)
    if not read.links:
        raise FairlaneError(f"{graph} has no links between different nodes\n  = help: a scenario needs two nodes and a link")
    first = next(iter(read.links.values()))
    tree = {"name": Path(graph).stem, "duration": "10s", "nodes": read.nodes, "positions": read.positions, "links": read.links}
    tree["flows"] = {"tcp": {"from": first["from"], "to": first["to"], "tcp": "cubic"}}
    text = toml.dumps({k: v for k, v in tree.items() if v})
    if file == "-":
        emit_document(text, "toml")
        return
    save_bytes(path, text.encode("utf-8"), new=True)
    shown = shlex.quote(str(path))
    lines = [f"wrote {path}: {len(read.nodes)} nodes, {len(read.links)} links", *(f"note: {n}" for n in read.notes)]
    emit("\n".join([*lines, "", f"  fairlane draw {shown} -o {shlex.quote(path.stem)}.svg", f"  fairlane run {shown}"]))


def _free_to_write(path: Path) -> None:
    if path.suffix != ".toml":
        raise FairlaneError(f"{str(path)!r} is not a valid scenario name: it must end in .toml, such as mine.toml")
    if os.path.lexists(path):
        raise FolderError(f"{path} exists and was not changed: choose another name")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"cannot write {path}: the folder {path.parent} does not exist")
