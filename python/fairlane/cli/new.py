"""The commands `new ...`: the beginning of what a user writes himself, a scenario or the study of a paper."""

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
    "lan": "A local network: four computers save files on one server.",
    "wan": "Two sites joined by one long line: backups beside people at work.",
    "home": "A home behind one line: an upload beside a call.",
    "datacentre": "A rack: fifteen servers answer one at the same time.",
}
"""The scenarios of `fairlane/scenarios/new`, and what each is about."""


@click.group(cls=Commands)
def new() -> None:
    """Write the beginning of something of your own: it runs as it is."""


def text_of(name: str) -> str:
    """The scenario file that `fairlane new NAME` writes."""
    return files("fairlane").joinpath("scenarios", "new", f"{name}.toml").read_text("utf-8")


def _write(name: str, file: str) -> None:
    if file == "-":
        emit_document(text_of(name), "toml")
        return
    path, shown = Path(file), shlex.quote(file)
    if path.suffix != ".toml":
        raise FairlaneError(f"{file!r} is no name for a scenario: it ends in .toml, such as mine.toml")
    if os.path.lexists(path):
        other = shlex.quote(str(_free(path)))
        raise FolderError(f"{file} exists and is left as it is: give another name, such as fairlane new {name} {other}")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"cannot write {file}: the folder {path.parent} does not exist")
    save_bytes(path, text_of(name).replace(f"fairlane run {name}.toml", f"fairlane run {shown}").encode(), new=True)
    lines = (f"wrote {file}: {_SCENARIOS[name]}", "", f"  fairlane run {shown}", f"  fairlane run {shown} --seeds 1..10")
    emit("\n".join(lines))


def _free(path: Path) -> Path:
    """A name beside `path` that nothing has."""
    return next(p for n in range(2, 10_000) if not os.path.lexists(p := path.with_stem(f"{path.stem}{n}")))


def _command(name: str, about: str) -> click.Command:
    def write(file: str | None) -> None:
        _write(name, file if file is not None else f"{name}.toml")

    help_text = f"{about} Writes the scenario FILE (default: {name}.toml; -: prints it), with comments; what exists is not touched."
    return click.Command(name, callback=write, params=[click.Argument(["file"], required=False)], help=help_text)


for _name, _about in _SCENARIOS.items():
    new.add_command(_command(_name, _about))


@new.command()
@click.argument("key")
def paper(key: str) -> None:
    """The folder KEY with the study of a paper, to be run by `fairlane reproduce KEY`; see docs/guides/own-paper.md."""
    need("study")
    from ..papers.template import new_paper

    folder = new_paper(key)
    emit("\n".join([*(str(p) for p in sorted(folder.iterdir())), f"\nfairlane reproduce {key} --quick"]))


@new.command()
@click.argument("graph")
@click.argument("file", required=False)
@click.option("--rate", default="10Mbit/s", show_default=True, metavar="RATE", help="The rate of links that have none.")
@click.option(
    "--delay", default="5ms", show_default=True, metavar="TIME", help="The delay of links with none, and no coordinates at their ends."
)
@click.option("--most", type=click.IntRange(1), metavar="N", help="Links that are read at most (default: 200000).")
def network(graph: str, file: str | None, rate: str, delay: str, most: int | None) -> None:
    """The network of GRAPH: a GraphML, GML or CSV file. Writes the scenario FILE (default: GRAPH.toml; -: prints it) with one flow.

    docs/guides/graphs-of-others.md has the attributes that are read.
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
        raise FairlaneError(f"{str(path)!r} is no name for a scenario: it ends in .toml, such as mine.toml")
    if os.path.lexists(path):
        raise FolderError(f"{path} exists and is left as it is: give another name")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"cannot write {path}: the folder {path.parent} does not exist")
