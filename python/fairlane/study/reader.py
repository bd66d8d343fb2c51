"""Reads and checks study files; each fault is reported with its place. docs/reference/studies.md lists the keys."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .. import _core
from ..base.document import json_schema
from ..base.escapes import names_folder
from ..base.metrics import metrics as known_metrics
from ..base.paths import join, split
from ..base.scenario import read_scenario
from ..base.seeds import parse_seeds
from ..errors import FairlaneError
from ..runs import selection
from .diagnostics import Place, Troubles
from .display import read_plots, read_precision
from .factors import RESERVED, Reader, is_table_of_factor, name_all
from .model import Factor, Selector, StudySpec
from .paths import beside, kind_of, leaves
from .sentences import read_claims
from .settings import SETTING, draw, read_open

Sets = Iterable[tuple[str, str]]
MOST_RUNS = 10_000_000
_HELP = "\n  = help: "


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON Schema of study files: the one declaration of their keys."""
    return json_schema("study-file")


def read_study(
    path: str | PathLike[str], sets: Sets = (), seeds: int | str | Iterable[int] | None = None, plugins: Iterable[str] = ()
) -> StudySpec:
    """Reads a study file; raises `FairlaneError` (`ScenarioError` with all places) if anything in it is wrong.

    `sets` are the paths and values of `--set`, laid over the file's own `[set]`; `seeds` replaces its seeds; `plugins` are loaded
    besides its own. What only shows when the scenarios are made (`make_plan`) is not found here.
    """
    try:
        text, name, form = read_scenario(path)
    except FairlaneError as e:
        message, sign, _ = str(e).partition(_HELP)
        raise FairlaneError(
            f"{message}{_HELP}give the path of a study, a text file in TOML (.toml) or JSON (.json)" if sign else message
        ) from None
    return read_text(text, name, form, sets, seeds, plugins)


def read_text(
    text: str,
    name: str,
    form: str = "toml",
    sets: Sets = (),
    seeds: int | str | Iterable[int] | None = None,
    plugins: Iterable[str] = (),
    more: Mapping[str, Any] = MappingProxyType({}),
) -> StudySpec:
    """Reads a study from the text of a file called `name`; see `read_study`.

    `more`: JSON Schema of other keys at the top of the file, which are checked with those of the study, and left to the caller.
    """
    tree = _checked(text, name, form, more)
    return _Study(tree, Troubles(text, name, form), list(sets), seeds, list(plugins)).spec()


def _checked(text: str, name: str, form: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of a study file that fits the schema."""
    if not text.strip():
        raise _core.remarks(
            text + "\n#", name, "toml", [([], False, "empty-file", "the file is empty", "a study needs at least `scenario` and `metrics`")]
        )
    # Which of its forms a factor has decides what it is checked against: the schema is made narrower for the file at hand.
    tree: dict[str, Any] = json.loads(_core.read_document(text, name, form, '{"type": "object", "additionalProperties": true}'))
    nulls = list(_nulls({k: v for k, v in tree.items() if k != "scenario"}))
    if nulls:
        advice = 'leave the key out; a parameter that can be absent has a word for it, such as "none"'
        raise _core.remarks(text, name, form, [(list(place), False, "wrong-type", "null is not a value", advice) for place in nulls])
    if not tree.keys() & {"scenario", "metrics", "factors", "zip"} and tree.keys() & {"duration", "topology", "links", "wireless", "flows"}:
        advice = 'name it in a study, as scenario = "FILE", or run it by itself: fairlane run FILE'
        raise _core.remarks(text, name, form, [([], False, "remark", "this is a scenario, not a study of one", advice)])
    exact = json.loads(json.dumps(schema()))
    properties = exact["properties"]
    properties |= more.get("properties", {})
    exact["required"] += more.get("required", [])
    if isinstance(tree.get("factors"), dict):
        properties["factors"] = _shape(tree["factors"])
    if isinstance(tree.get("open"), dict):
        properties["open"] = _shape(tree["open"], of=("OpenRange", "Open"))
    if isinstance(tree.get("zip"), list):
        # One schema for the items of a list: their paths distinguish the tables.
        items: dict[str, Any] = {"type": "object", "additionalProperties": True, "properties": {}}
        for table in tree["zip"]:
            if isinstance(table, dict):
                _join(items, _shape(table, of=("Range", "Range")))
        properties["zip"]["items"] = items
    json.loads(_core.read_document(text, name, form, json.dumps(exact)))
    return tree


def _nulls(value: Any, place: Place = ()) -> Iterator[Place]:
    """Where JSON says null."""
    if value is None:
        yield place
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _nulls(inner, (*place, str(key)))


def _join(schema: dict[str, Any], more: dict[str, Any]) -> None:
    """Puts the properties of a second schema into the first."""
    for key, inner in more["properties"].items():
        known = schema["properties"].get(key)
        if known is not None and "properties" in known and "properties" in inner:
            _join(known, inner)
        else:
            schema["properties"].setdefault(key, inner)


def _shape(table: dict[str, Any], *, of: tuple[str, str] = ("Range", "Factor"), top: bool = True) -> dict[str, Any]:
    """The schema of a table of factors as it stands; `of`: the forms of a factor without a name of its own, and of one with a name."""
    out: dict[str, Any] = {"type": "object", "additionalProperties": True, "properties": {}}
    for key, value in table.items():
        if is_table_of_factor(value, key if top else ""):
            named = any(k in value for k in ("path", "levels", "values"))
            out["properties"][key] = {"$ref": f"#/$defs/{of[named]}"}
        elif isinstance(value, dict):
            out["properties"][key] = _shape(value, of=of, top=False)
    return out


class _Study:
    """Turns a tree into a `StudySpec`."""

    def __init__(self, tree: dict[str, Any], troubles: Troubles, sets: list[tuple[str, str]], seeds: Any, plugins: list[str]) -> None:
        self.tree = tree
        self.troubles = troubles
        self.sets = sets
        self.seeds = seeds
        self.folder = str(Path(troubles.name).parent)
        self.more_plugins = plugins

    def spec(self) -> StudySpec:
        """The study; raises everything that is wrong with it."""
        t, tree = self.troubles, self.tree
        plugins = self._plugins()
        base, base_name, base_format = self._base()
        metrics = self._metrics()
        sets, set_places = self._sets()
        reader = Reader(t, self.folder)
        opened = read_open(tree, reader)
        found = [*reader.factors(tree.get("factors", {})), *reader.zips(tree.get("zip", []))]
        taken = {m.label for m in metrics} | ({SETTING} if "settings" in tree else set())
        named = name_all([*(o.factor for o in opened), *found], taken, t)
        self._once(tuple(named), sets, set_places)
        ends, factors = named[: len(opened)], tuple(named[len(opened) :])
        drawn = draw(tree.get("settings"), opened, ends, t) if not t.found or not opened else None
        settings = drawn[0] if drawn else None
        claims = read_claims(tree.get("claims", []), metrics, factors, settings, t)
        factors = (drawn[1], *factors) if drawn else factors
        seeds = self._seeds()
        spec = StudySpec(
            name=self._name(),
            base=base,
            base_name=base_name,
            base_format=base_format,
            factors=factors,
            seeds=tuple(seeds),
            metrics=metrics,
            sets=tuple(sets),
            plots=read_plots(tree.get("plots", []), factors, metrics, t),
            precision=read_precision(tree.get("precision"), metrics, t),
            keep=str(tree.get("keep", "all")).lower(),
            plugins=tuple(plugins),
            confidence=float(tree.get("confidence", 0.95)),
            hop_probe=tree.get("hop_probe", False),
            run_limit=_core.quantity("dur", tree["run_limit"])[0] if "run_limit" in tree else None,
            description=tree.get("description", ""),
            source=(t.text, t.name, t.format),
            inline=isinstance(tree.get("scenario"), dict),
            set_places=tuple(set_places),
            settings=settings,
            ends=tuple(ends),
            claims=claims,
        )
        self._size(spec)
        t.check()
        return spec

    # --- parts ----------------------------------------------------------------------------------------

    def _name(self) -> str:
        name: str | None = self.tree.get("name")
        if name is None:
            stem = Path(self.troubles.name).stem
            return stem if not stem.startswith("<") and names_folder(stem) else "study"
        if not names_folder(name):
            self.troubles.add(("name",), f'"{name}" cannot name a study: it names a folder, too', "write letters, digits, spaces, - or _")
        return name

    def _base(self) -> tuple[str, str, str]:
        base = self.tree.get("scenario")
        if isinstance(base, dict):
            # Places of what is wrong in it are looked up in the study file; files that it names are relative to that as well.
            return json.dumps(base), self.troubles.name, "json"
        try:
            return read_scenario(beside(self.folder, str(base)))
        except FairlaneError as e:
            message, _, help = str(e).partition(_HELP)
            self.troubles.add(("scenario",), message, help and "give the path of a scenario file, relative to the study file")
            return "", "", "toml"

    def _plugins(self) -> list[str]:
        from .one_run import planned

        for p in self.more_plugins:
            planned(p)
        out = []
        for i, path in enumerate(self.tree.get("plugins", [])):
            file = beside(self.folder, path)
            try:
                planned(file)
                out.append(file)
            except FairlaneError as e:
                first, *_, last = [*str(e).split("\n"), ""]
                message = f"{first} {last}" if last else first
                self.troubles.add(
                    ("plugins", str(i)), message, "give the path of a Python file or a shared library, relative to the study file"
                )
        return [*out, *(p for p in self.more_plugins if p not in out)]

    def _metrics(self) -> tuple[Selector, ...]:
        written = self.tree.get("metrics", [])
        rows = list(written.items()) if isinstance(written, dict) else [("", m) for m in written]
        if not rows:
            self.troubles.add(("metrics",), "no metric is named", 'write for instance metrics = ["network.jain"]')
        out: dict[str, Selector] = {}
        for i, (label, text) in enumerate(rows):
            place = ("metrics", label if isinstance(written, dict) else str(i))
            try:
                found = replace(selection.selector(text, label), place=place)
            except FairlaneError as e:
                message, help = selection.message_and_help(e)
                self.troubles.add(place, message, help)
                continue
            if found.label in RESERVED:
                self.troubles.add(
                    place,
                    f"a metric cannot be called `{found.label}`: the tables of every study have that column",
                    "give it another name",
                    key=True,
                )
            elif found.label in out:
                self.troubles.add(place, f"the metric `{found.label}` is there twice", "write each metric once")
            elif not self.tree.get("hop_probe") and any(m.name == found.metric and "hop probe" in m.doc for m in known_metrics()):
                self.troubles.add(place, f"`{found.metric}` is measured only with the hop probe", "write hop_probe = true")
            out.setdefault(found.label, found)
        return tuple(out.values())

    def _sets(self) -> tuple[list[tuple[str, Any]], list[tuple[Place, Place]]]:
        reader = Reader(self.troubles, self.folder)
        sets, places = reader.changes(self.tree.get("set", {}), ("set",))
        changes = dict(zip((p for p, _ in sets), zip((v for _, v in sets), places, strict=True), strict=True))
        for path, value in options(self.sets):
            # The command line has the last word: a change of the file's at the same path is gone.
            changes.pop(path, None)
            changes[path] = (value, ((), ()))
        return [(p, v) for p, (v, _) in changes.items()], [place for _, place in changes.values()]

    def _seeds(self) -> list[int]:
        if self.seeds is not None:
            return parse_seeds(self.seeds)
        # With many settings each is one more replication, so one seed is enough.
        written = self.tree.get("seeds", 1 if "settings" in self.tree else schema()["properties"]["seeds"]["default"])
        try:
            return parse_seeds(written)
        except FairlaneError as e:
            message, sign, help = str(e).partition(": ")
            place: Place = ("seeds",)
            if isinstance(written, list):
                twice = next((i for i, s in enumerate(written) if s in written[:i]), None)
                place = place if twice is None else ("seeds", str(twice))
            self.troubles.add(place, message if sign else str(e), help or 'write for instance seeds = "1..10"')
            return [1]

    # --- the whole ------------------------------------------------------------------------------------

    def _once(self, factors: tuple[Factor, ...], sets: list[tuple[str, Any]], places: list[tuple[Place, Place]]) -> None:
        """Nothing is set twice: by two factors, or by a factor and `[set]`."""
        seen: dict[tuple[str, ...], tuple[str, set[str]]] = {}
        groups: list[tuple[str, list[tuple[str, Any, Place, Place]]]] = []
        for (path, value), (at, where) in zip(sets, places, strict=True):
            groups.append(("[set]" if at else f"--set {path}", [(path, value, at, where)]))
        for f in factors:
            rows = [(p, v, at, where) for level in f.levels for (p, v), (at, where) in zip(level.sets, level.keys, strict=True)]
            groups.append((f"the factor `{f.name}`", rows))
        reported: set[tuple[str, ...]] = set()
        for who, rows in groups:
            mine: dict[tuple[str, ...], set[str]] = {}
            for path, value, at, where in rows:
                for keys, named in leaves(split(path) or (), value):
                    mine.setdefault(keys, set()).add(named)
                    before = seen.get(keys)
                    if before is None or any(keys[:n] in reported for n in range(1, len(keys) + 1)):
                        continue
                    other = min((n for n in before[1] if n != named), default="")
                    if named and not other:
                        continue  # Both name the same algorithm.
                    reported.add(keys)
                    self._clash(join(keys), who, named, before[0], other, at, where)
            for keys, names in mine.items():
                seen.setdefault(keys, (who, set()))[1].update(names)

    def _clash(self, path: str, who: str, named: str, before: str, other: str, at: Place, where: Place) -> None:
        message = f"`{path}` is set twice: by {before}, and by {who}"
        help = "write each path once; what varies together is a [[zip]], or a factor with `levels`"
        if named:
            message = f"{who} makes `{path}` {named}, {before} makes it {other}: one undoes the other"
            help = "write what goes together as the levels of one factor"
        if not at:
            raise FairlaneError(message)
        self.troubles.add(at, message, help, key=at == where or where[: len(at)] == at)

    def _size(self, spec: StudySpec) -> None:
        runs = len(spec.seeds)
        for f in spec.factors:
            runs *= len(f.levels)
        if runs > MOST_RUNS:
            product = " x ".join([*(str(len(f.levels)) for f in spec.factors), f"{len(spec.seeds)} seeds"])
            place: Place = (
                ("settings",)
                if spec.settings
                else ("factors",)
                if "factors" in self.tree
                else ("seeds",)
                if "seeds" in self.tree
                else ("zip",)
            )
            self.troubles.add(
                place, f"the study has {runs:,} runs ({product}), the most is {MOST_RUNS:,}", "write fewer levels or seeds", key=True
            )


def options(sets: Sets) -> Iterator[tuple[str, Any]]:
    """Paths and values of `--set`."""
    for path, text in sets:
        keys = split(path)
        if keys is None:
            raise FairlaneError(f"cannot read --set {path}={text}: `{path}` is not a path, such as links.bottleneck.rate")
        if keys[0] == "seed":
            raise FairlaneError(f"cannot use --set {path}={text}: seeds are set by --seeds")
        yield join(keys), _option(keys, text)


def _option(keys: tuple[str, ...], text: str) -> Any:
    """The value of `--set`; a queue may be written as in a list of levels."""
    if kind_of(keys).registry == "queue" and re.search(r"[{:]", text):
        from ..base.choices import choices

        try:
            found = choices(text)
        except FairlaneError as e:
            raise FairlaneError(f"cannot use --set {join(keys)}={text}: {e}") from None
        if len(found) == 1:
            return found[0].value
    return from_option(text)


def from_option(text: str) -> Any:
    """The value of `--set`: what TOML reads it as, else the text."""
    text = text.strip()
    try:
        value = tomllib.loads(f"x = {text}")["x"]
    except (ValueError, KeyError, RecursionError):
        return text
    # Dates and numbers that no scenario holds are text as well.
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return text
    return value if isinstance(value, (str, bool, int, float, list, dict)) else text
