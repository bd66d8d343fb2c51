"""Shell completion: names of algorithms, terms, studies and metrics, files of scenarios, and paths of parameters.

Functions here neither fail nor print: on an error the shell shows no completions.
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
    """Completion for fish that splits at the first comma only: `red,fq_codel` is one word."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')


add_completion_class(Fish)


def _safe(names: Callable[[click.Context, str], Iterable[str]]) -> Complete:
    """Returns a completion that shows nothing on an error, such as one in the file."""

    def complete(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            return [CompletionItem(name) for name in dict.fromkeys(names(ctx, begun)) if name.startswith(begun)]
        except Exception:
            return []

    return complete


def _files(_ctx: click.Context, begun: str, endings: tuple[str, ...] = _FILES) -> Iterator[str]:
    """Yields folders, and files with these extensions, that start with the typed text."""
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
    """Yields published studies, `all`, and folders."""
    from importlib.resources import files

    yield from sorted(p.name for p in files("fairlane").joinpath("papers", "studies").iterdir() if p.is_dir() and p.name[0].isalpha())
    yield "all"
    yield from (name for name in _files(_ctx, begun, ()) if not name.startswith("__"))


@_safe
def explained(_ctx: click.Context, begun: str) -> Iterator[str]:
    """Yields the names of `fairlane explain`; paths segment by segment."""
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
    """Yields paths for `--set`, with names from the scenario on the command line, and values after `=`."""
    path, sign, value = begun.partition("=")
    if sign:
        yield from (f"{path}={word}" for word in _values(path) if word.startswith(value))
        return
    for name in _members(begun, _scenario(ctx)):
        yield name
        yield f"{name}="


def _values(path: str) -> Iterator[str]:
    """Yields the algorithms and enumerated values allowed at a path."""
    from ..base.reference import branches_of, registry, scenario_schema

    root = scenario_schema()
    for node in _nodes(path.split(".")):
        for branch in branches_of(root, node):
            if "x-registry" in branch:
                yield from (e["name"] for e in registry() if e["kind"] == branch["x-registry"])
            yield from (str(word) for word in (*branch.get("enum", ()), branch.get("const")) if word is not None)


def _nodes(parts: list[str]) -> list[dict[str, Any]]:
    """Returns the schemas of the value at a path."""
    from ..base.reference import member_of, scenario_schema

    root = scenario_schema()
    nodes = [root]
    for part in parts:
        nodes = [below for node in nodes for below in member_of(root, node, part)]
    return nodes


def _members(begun: str, tree: dict[str, Any] | None) -> Iterator[str]:
    """Yields the paths that may follow the last dot."""
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
    """Returns the scenario on the command line; None if there is none or it cannot be read."""
    import tomllib

    from ..base.scenario import resolve
    from ..errors import FairlaneError

    file = ctx.params.get("file") or ctx.params.get("scenario")
    if not isinstance(file, str):
        # click does not parse the words before an option whose value is being completed.
        words = os.environ.get("COMP_WORDS", "").split()
        file = next((w for w in words if w.endswith(_FILES) and Path(w).is_file()), None)
    if file is None or file == "-":
        return None
    try:
        return resolve(file)
    except FairlaneError:
        pass
    try:
        # A study or a tune file names it.
        inner = tomllib.loads(Path(file).read_text("utf-8")).get("scenario")
        return resolve(Path(file).parent / inner if isinstance(inner, str) else inner) if inner else None
    except (FairlaneError, OSError, ValueError):
        return None


def each(kinds: tuple[str, ...]) -> Complete:
    """Returns a completion for a comma-separated list of algorithms of these kinds."""

    @_safe
    def names(_ctx: click.Context, begun: str) -> Iterator[str]:
        from ..base.reference import registry

        before, comma, _ = begun.rpartition(",")
        yield from (f"{before}{comma}{e['name']}" for e in registry() if e["kind"] in kinds)

    return names


@_safe
def plotted(ctx: click.Context, begun: str) -> Iterator[str]:
    """Yields result folders and scenarios; after the first one also the kinds of plots."""
    from ..runs.plots import KINDS

    if ctx.params.get("words") or "/" not in begun:
        yield from KINDS
    yield from _files(ctx, begun)


@_safe
def links(ctx: click.Context, _begun: str) -> Iterator[str]:
    """Yields the links of the scenario on the command line."""
    tree = _scenario(ctx)
    yield from (x["name"] for x in (tree or {}).get("expanded", {}).get("links", ()))


@_safe
def presets(_ctx: click.Context, _begun: str) -> Iterator[str]:
    """Yields the presets of TCP."""
    from ..base.reference import presets as known

    yield from (p["name"] for p in known() if p["algorithm"] == "tcp")


def set_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns the option `--set` of a command that reads a scenario, a study or a tune file."""
    return click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", shell_complete=settings, help=help)
