"""What the shell completes: names of algorithms, studies and metrics, files of scenarios, and paths of parameters.

Nothing here may fail or print: a shell that completes shows nothing if there is nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, FishComplete, add_completion_class

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_FILES = (".toml", ".json")


class Fish(FishComplete):
    """click's words for fish cut what they get at every comma: `red,fq_codel` is one word, and a sentence may have several."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')


add_completion_class(Fish)


def _safe(names: Callable[[click.Context, str], Iterable[str]]) -> Complete:
    """A completion that shows nothing where it fails: of a file that has mistakes, for instance."""

    def complete(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            return [CompletionItem(name) for name in dict.fromkeys(names(ctx, begun)) if name.startswith(begun)]
        except Exception:
            return []

    return complete


def _files(_ctx: click.Context, begun: str, endings: tuple[str, ...] = _FILES) -> Iterator[str]:
    """Files with these endings, and folders, that begin as what is typed."""
    folder, _, first = begun.rpartition("/")
    place = Path(folder or ("/" if begun.startswith("/") else "."))
    for path in sorted(place.iterdir()):
        if path.name.startswith(first) and (first.startswith(".") or not path.name.startswith(".")):
            name = begun[: len(begun) - len(first)] + path.name
            if path.is_dir():
                yield f"{name}/"
            elif path.suffix in endings:
                yield name


scenarios = _safe(_files)
scripts = _safe(lambda ctx, begun: _files(ctx, begun, (".pkt",)))


@_safe
def studies(_ctx: click.Context, begun: str) -> Iterator[str]:
    """Published studies, `all`, and folders."""
    from importlib.resources import files

    yield from sorted(p.name for p in files("fairlane").joinpath("papers", "studies").iterdir() if p.is_dir() and p.name[0].isalpha())
    yield "all"
    yield from (name for name in _files(_ctx, begun, ()) if not name.startswith("__"))


@_safe
def explained(_ctx: click.Context, begun: str) -> Iterator[str]:
    """Whatever `fairlane explain` knows; paths segment by segment."""
    from ..base.glossary import terms
    from ..base.metrics import TABLES
    from ..base.reference import contents

    if "." in begun:
        yield from _members(begun, None)
        yield from _measured(begun)
        return
    for kind, names in contents().items():
        yield from (n.replace(" ", "-") for n in names) if kind == "term" else names
    yield from (alias.replace(" ", "-") for term in terms() for alias in term.aliases)
    yield from (f"{table}." for table in TABLES)


@_safe
def settings(ctx: click.Context, begun: str) -> Iterator[str]:
    """Paths for `--set`, with the names of the scenario that the command line has; a value after `=` by what may stand there."""
    path, sign, value = begun.partition("=")
    if sign:
        yield from (f"{path}={word}" for word in _values(path) if word.startswith(value))
        return
    for name in _members(begun, _scenario(ctx)):
        yield name
        yield f"{name}="


def _values(path: str) -> Iterator[str]:
    """Algorithms, and words to choose from."""
    from ..base.reference import branches_of, registry, scenario_schema

    root = scenario_schema()
    for node in _nodes(path.split(".")):
        for branch in branches_of(root, node):
            if "x-registry" in branch:
                yield from (e["name"] for e in registry() if e["kind"] == branch["x-registry"])
            yield from (str(word) for word in (*branch.get("enum", ()), branch.get("const")) if word is not None)


def _nodes(parts: list[str]) -> list[dict[str, Any]]:
    """The schemas of what a path means."""
    from ..base.reference import member_of, scenario_schema

    root = scenario_schema()
    nodes = [root]
    for part in parts:
        nodes = [below for node in nodes for below in member_of(root, node, part)]
    return nodes


def _members(begun: str, tree: dict[str, Any] | None) -> Iterator[str]:
    """What may follow the last dot of a path."""
    from ..base.reference import branches_of, scenario_schema

    before, dot, _ = begun.rpartition(".")
    parts = before.split(".") if dot else []
    root = scenario_schema()
    for node in _nodes(parts):
        for branch in branches_of(root, node):
            yield from (f"{before}{dot}{key}" for key in branch.get("properties", {}))
    if tree is not None and len(parts) == 1 and parts[0] in ("links", "flows"):
        names = tree.get(parts[0], {})
        expanded = (x["name"] for x in tree.get("expanded", {}).get("links", ())) if parts[0] == "links" else ()
        yield from (f"{before}.{name}" for name in [*names, *expanded])


def _measured(begun: str) -> Iterator[str]:
    from ..base.metrics import metrics_in

    before, _, _ = begun.rpartition(".")
    table = before.partition(".")[0]
    yield from (f"{before}.{m.name}" for m in metrics_in(table) if table != "network" or before == table)


def _scenario(ctx: click.Context) -> dict[str, Any] | None:
    """The scenario that stands on the command line already, if it can be read."""
    import tomllib

    from ..base.scenario import resolve
    from ..errors import FairlaneError

    file = ctx.params.get("file") or ctx.params.get("scenario")
    if not isinstance(file, str):
        # An option that waits for its value keeps click from reading the words before it.
        words = os.environ.get("COMP_WORDS", "").split()
        file = next((w for w in words if w.endswith(_FILES) and Path(w).is_file()), None)
    if file is None or file == "-":
        return None
    try:
        return resolve(file)
    except FairlaneError:
        pass
    try:
        # A study or a search names it.
        inner = tomllib.loads(Path(file).read_text("utf-8")).get("scenario")
        return resolve(Path(file).parent / inner if isinstance(inner, str) else inner) if inner else None
    except (FairlaneError, OSError, ValueError):
        return None


def each(kinds: tuple[str, ...]) -> Complete:
    """Names of algorithms of some kinds, in a list with commas."""

    @_safe
    def names(_ctx: click.Context, begun: str) -> Iterator[str]:
        from ..base.reference import registry

        before, comma, _ = begun.rpartition(",")
        yield from (f"{before}{comma}{e['name']}" for e in registry() if e["kind"] in kinds)

    return names


@_safe
def plotted(ctx: click.Context, begun: str) -> Iterator[str]:
    """Result folders, scenarios, and behind the first of them the kinds of pictures."""
    from ..runs.plots import KINDS

    if ctx.params.get("words") or "/" not in begun:
        yield from KINDS
    yield from _files(ctx, begun)


@_safe
def links(ctx: click.Context, _begun: str) -> Iterator[str]:
    """Links of the scenario on the command line."""
    tree = _scenario(ctx)
    yield from (x["name"] for x in (tree or {}).get("expanded", {}).get("links", ()))


@_safe
def presets(_ctx: click.Context, _begun: str) -> Iterator[str]:
    """Dialects of TCP."""
    from ..base.reference import presets as known

    yield from (p["name"] for p in known() if p["algorithm"] == "tcp")


def set_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option `--set` of a command that reads a scenario, a study or a search."""
    return click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", shell_complete=settings, help=help)
