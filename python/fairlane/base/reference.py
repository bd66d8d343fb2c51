"""Entries of `fairlane explain`: terms from the glossary; algorithms, parameters, metrics and presets from the core's declarations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from .. import _core
from ..errors import UnknownNameError, short, suggest
from .glossary import find, normal, terms
from .metrics import AGGREGATES, TABLES, metrics, metrics_in, series, series_of
from .paths import split


@dataclass(frozen=True, slots=True)
class Parameter:
    """One row of an explanation."""

    name: str
    kind: str
    default: str
    limits: str
    doc: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An explanation of a name or path."""

    title: str
    kind: str
    doc: str
    parameters: tuple[Parameter, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)


_FORMATS = {"fl-dur": "duration", "fl-rate": "rate", "fl-bytes": "bytes", "fl-len": "packets or bytes", "fl-file": "path of a file"}


@lru_cache(maxsize=1)
def built_in() -> tuple[dict[str, Any], ...]:
    """Returns the built-in algorithms: kind, name, aliases, doc, schema."""
    return tuple(json.loads(_core.registry()))


PASSIVE = ("plugin", "external")
"""Entries that do nothing by themselves."""


def active(kind: str) -> list[str]:
    """Returns the names of the built-in algorithms of a kind that act by themselves."""
    return [e["name"] for e in built_in() if e["kind"] == kind and e["name"] not in PASSIVE]


def registry() -> tuple[dict[str, Any], ...]:
    """Returns all algorithms: kind, name, aliases, doc, schema; plug-ins (`fairlane.own`) last."""
    own = json.loads(_core.plugins())
    return (*built_in(), *({"aliases": [], **entry} for entry in own))


@lru_cache(maxsize=1)
def presets() -> tuple[dict[str, Any], ...]:
    """Returns all presets: kind, algorithm, name, doc, values."""
    return tuple(json.loads(_core.presets()))


_CARRIES = ("rate", "trace", "rates", "delay", "queue")


def impairments() -> tuple[str, ...]:
    """Returns the names of the impairments of a link."""
    return tuple(key for key in scenario_schema()["$defs"]["Direction"]["properties"] if key not in _CARRIES)


@lru_cache(maxsize=1)
def scenario_schema() -> dict[str, Any]:
    """Returns the JSON Schema of scenario files."""
    made: dict[str, Any] = json.loads(_core.schema())
    return made


@lru_cache(maxsize=1)
def codes() -> tuple[dict[str, str], ...]:
    """Returns the codes of errors and warnings: kind, name, doc."""
    return tuple(json.loads(_core.codes()))


_KINDS = {"error": "an error", "warning": "a warning"}


def contents() -> dict[str, list[str]]:
    """Returns every name that can be explained, by kind."""
    out: dict[str, list[str]] = {"term": sorted(t.name for t in terms())}
    for entry in registry():
        out.setdefault(entry["kind"], []).append(entry["name"])
    for preset in presets():
        out.setdefault(f"preset of {preset['algorithm']}", []).append(preset["name"])
    for metric in metrics():
        out.setdefault(f"metric of {metric.table}", []).append(metric.name)
    for s in series():
        out.setdefault(f"time series of {s.table.removesuffix('_series')}s", []).append(s.name)
    out["setting"] = list(scenario_schema().get("properties", {}))
    return out


def explain(name: str) -> list[Entry]:
    """Returns everything called `name`, terms first, or the value at a path such as `links.bottleneck.queue.red.min`."""
    wanted = name.strip().lower()
    term = find(name)
    found = [_algorithm(e) for e in registry() if wanted in (n.lower() for n in (e["name"], *e.get("aliases", ())))]
    for metric in metrics():
        if metric.name == wanted:
            facts = {"table": metric.table, "unit": metric.unit, "formula": metric.formula, "source": metric.source}
            facts["of a group"] = _POOLED.get(metric.pooled, "")
            found.append(Entry(metric.name, "metric", metric.doc, facts={k: v for k, v in facts.items() if v}))
    if found and wanted in scenario_schema().get("properties", {}):  # `flows` is also a metric of groups
        found = [*_path(wanted), *found]
    found += [_preset(p) for p in presets() if p["name"].lower() == wanted]
    if not found:
        found = _measured(name.strip())
        # `flows.loss` is a metric alone; `links.x.loss` is also a setting.
        found = found if found and name.count(".") == 1 else [*_path(name.strip()), *found]
    for s in series_of(wanted):
        facts = {"table": s.table, "unit": s.unit, "from": s.feed}
        found.append(Entry(s.name, "time series", s.doc, facts=facts))
    found += [Entry(c["name"], f"code of {_KINDS[c['kind']]}", c["doc"]) for c in codes() if c["name"] == wanted]
    found += _keys_called(wanted, {e.title for e in found})
    if term is not None:
        found.insert(0, Entry(term.name, "term", term.definition, facts=term.facts()))
    if not found:
        raise _unknown(name)
    return found


def _unknown(name: str) -> UnknownNameError:
    """Returns the error for a name that cannot be explained, with similar names only."""
    table, last = name.strip().partition(".")[0], name.strip().rpartition(".")[2]
    if table in TABLES and "." in name:
        inner = [p.name for e in _path(table) for p in e.parameters]
        return suggest(last, [*(m.name for m in metrics_in(table)), *inner], f"metric or setting of {table}")
    known = [e["name"] for e in registry()] + [m.name for m in metrics()] + [s.name for s in series()] + [p["name"] for p in presets()]
    known += [n for t in terms() for n in (t.name, *t.aliases)] + list(_keys())
    near = near_names(name, known) if len(name) <= _LONGEST else []
    hint = f": did you mean {' or '.join(map(repr, near))}?" if near else "; `fairlane explain` lists all names"
    return UnknownNameError(f"{short(name)} not found{hint}")


_LONGEST = 60
"""Characters of a name that similar ones are looked up for."""


def near_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Returns the names that begin with `name`, or differ in one character of three at most; the nearest first.

    >>> near_names("bpd", ["bdp", "udp", "red"]), near_names("global-sync", ["global synchronisation", "glob"])
    (['bdp'], ['global synchronisation'])
    """
    wanted = normal(name)
    found: list[tuple[int, bool, str]] = []
    for other in dict.fromkeys(known):
        spelt = normal(other)
        if len(wanted) > 2 and spelt.startswith(wanted):
            found.append((0, False, other))
        elif abs(len(spelt) - len(wanted)) <= max(1, len(wanted) // 3):
            apart = edit_distance(wanted, spelt)
            if apart <= max(1, len(wanted) // 3) and apart < len(wanted):
                found.append((apart, sorted(wanted) != sorted(spelt), other))
    found.sort(key=lambda f: f[:2])
    return [other for *order, other in found if order == list(found[0][:2])][:most]


def edit_distance(a: str, b: str) -> int:
    """Returns the fewest insertions, deletions, substitutions and swaps of neighbours that make `b` of `a` (Damerau 1964).

    >>> edit_distance("bpd", "bdp"), edit_distance("cubik", "cubic"), edit_distance("", "red")
    (1, 1, 3)
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row, older = row, [i], before
        before = last
        for j, y in enumerate(b, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, older[j - 2] + 1)
            row.append(best)
    return row[-1]


@lru_cache(maxsize=1)
def _keys() -> dict[str, tuple[str, ...]]:
    """Returns the paths of each key of scenario files, NAME for a name of the user's; one path per meaning, none inside algorithms."""
    root = scenario_schema()
    found: dict[str, dict[str, str]] = {}

    def depth(path: str) -> int:
        return path.count(".")

    def walk(node: Any, path: str, inside: frozenset[str]) -> None:
        branches = branches_of(root, node)
        if any("x-registry" in b for b in branches):
            return
        for branch in branches:
            for key, below in branch.get("properties", {}).items():
                doc = below.get("description") or _deref(root, below).get("description", "")
                paths = found.setdefault(key.lower(), {})
                paths[doc] = min(paths.get(doc, f"{path}{key}"), f"{path}{key}", key=depth)
                if key not in inside:
                    walk(below, f"{path}{key}.", inside | {key})
            if isinstance(branch.get("additionalProperties"), dict):
                walk(branch["additionalProperties"], f"{path}NAME.", inside)

    # Links of topology builders have the same keys as links.
    tops = root.get("properties", {})
    for key in sorted(tops, key=lambda k: k == "topology"):
        found.setdefault(key, {})[""] = key
        walk(tops[key], f"{key}.", frozenset({key}))
    return {key: tuple(sorted(docs.values(), key=depth)) for key, docs in found.items()}


_MOST_KEYS = 3
"""Keys of one name that are explained in full; of more the path and the first sentence."""


def _keys_called(name: str, known: set[str]) -> list[Entry]:
    """Returns the keys of scenario files and the parameters of algorithms with this name; `known` has titles that are shown already."""
    paths = [p for p in _keys().get(name, ()) if "." in p and p not in known]
    out = [e for p in paths[:_MOST_KEYS] for e in _path(p)]
    more = {p: _first_sentence(e.doc) for p in paths[_MOST_KEYS:] for e in _path(p)}
    for entry in registry():
        schema = entry.get("schema") or {}
        shown = {e.doc for e in out}
        rows = (p for p in _parameters(schema, schema) if p.name == name and p.doc not in shown)
        more |= {f"{entry['name']}.{p.name}": _first_sentence(p.doc) for p in rows}
    return [*out, Entry(name, "parameter", "Parameters with this name:", facts=more)] if more else out


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def _measured(path: str) -> list[Entry]:
    """Explains a path of results as in studies: `network.jain`, `flows.loss`, `flows.tcp.goodput.sum`, `links.x.queue`."""
    table, *rest = split(path) or path.split(".")
    table = {"flow": "flows", "group": "groups", "link": "links"}.get(table, table)
    if path == "network":
        about = {m.name: m.doc for m in metrics() if m.table == "network"}
        return [Entry(path, "table of metrics", "Metrics of the whole network, over all flows and links.", facts=about)]
    if table not in TABLES or not rest or not all(rest):
        return []
    own = {m.name for m in metrics_in(table)}
    # Groups and links have a metric `jain` of their own: `groups.flows.jain`, `links.x.jain`.
    is_metric = len(rest) > 1 and table in ("groups", "links") and (rest[-2] not in own or (len(rest) == 2 and rest[-1] in own))
    how = rest.pop() if len(rest) > 1 and rest[-1] in AGGREGATES and table != "network" and not is_metric else ""
    name, of = rest[-1], ".".join(rest[:-1])
    whose = {"flows": "flow or group of flows", "groups": "group of flows", "links": "link", "network": "network"}[table]
    facts = {"of": f"the {whose} {of}"} if of and of != "*" else {"of": f"every {whose}"} if table != "network" else {}
    facts |= {"several members": _HOW[how or "mean"]} if table == "flows" and (of or how) else {}
    out = []
    for metric in metrics_in(table):
        if metric.name == name:
            about = {"unit": "1" if how == "jain" else metric.unit, "formula": metric.formula, "source": metric.source}
            about["of a group"] = _POOLED.get(metric.pooled, "") if table == "groups" else ""
            out.append(Entry(path, f"metric of {table}", metric.doc, facts={k: v for k, v in (about | facts).items() if v}))
    if not how:
        for s in series_of(name):
            if s.table == f"{table.removesuffix('s')}_series":
                out.append(Entry(path, f"time series of {table}", s.doc, facts={"unit": s.unit, "from": s.feed} | facts))
    return out


_POOLED = {
    "sum": "the sum over its flows",
    "all": "the formula over all packets, acknowledgments and transactions of its flows",
    "mean": "the mean of its flows that have a value",
    "null": "none (null): the state of a single flow",
}
"""Meaning of a metric of flows in a row of a group (`report = "groups"`)."""
_HOW = {
    "mean": "their mean; append .sum, .min, .max or .jain for another aggregate",
    "sum": "their sum",
    "min": "the smallest of them",
    "max": "the largest of them",
    "jain": "Jain's fairness index among them",
}


def _algorithm(entry: dict[str, Any]) -> Entry:
    aliases = ", ".join(entry.get("aliases", ()))
    schema = entry.get("schema") or {}
    return Entry(
        entry["name"], entry["kind"], entry.get("doc", ""), _parameters(schema, schema), {"also called": aliases} if aliases else {}
    )


def _preset(preset: dict[str, Any]) -> Entry:
    facts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in preset["values"].items()}
    for algorithm, values in preset["with"].items():
        own = {f"cc.{k}": v for k, v in values.get("cc", {}).items()}
        pairs = ({k: v for k, v in values.items() if k != "cc"} | own).items()
        facts[f"with cc = {algorithm}"] = ", ".join(f"{k} = {json.dumps(v)}" for k, v in pairs)
    return Entry(preset["name"], f"preset of {preset['algorithm']}", preset["doc"], facts=facts)


def _path(path: str) -> list[Entry]:
    """Explains a dotted path of scenario files by their schema."""
    root = scenario_schema()
    nodes = [root]
    parts = list(split(path) or path.split("."))
    for part in parts:
        nodes = [below for node in nodes for below in member_of(root, node, part)]
        if not nodes:
            return _short(parts)
    node = next((n for n in nodes if n.get("description")), nodes[0])
    target = _deref(root, node)
    doc = node.get("description") or target.get("description", "")
    facts = {"type": _kind(root, node), "default": _default(node), "range": _limits(node)}
    # A table with user-defined names, such as `flows`, is explained by its entries.
    nodes = nodes + [
        b["additionalProperties"] for n in nodes for b in branches_of(root, n) if isinstance(b.get("additionalProperties"), dict)
    ]
    inner = next((p for n in nodes if (p := _parameters(root, n))), ())
    return [Entry(path, "setting", doc, inner, {k: v for k, v in facts.items() if v and not (k == "type" and inner)})]


def _short(parts: list[str]) -> list[Entry]:
    """Explains the parameter of an algorithm, such as `red.min`."""
    if len(parts) != 2:
        return []
    out = []
    for entry in registry():
        if parts[0] not in (entry["name"], *entry.get("aliases", ())):
            continue
        rows = _parameters(entry.get("schema") or {}, entry.get("schema") or {})
        match = [p for p in rows if p.name == parts[1]]
        if not match and rows:
            raise suggest(parts[1], [p.name for p in rows], f"parameter of {entry['name']}")
        for p in match:
            facts = {"type": p.kind, "default": p.default, "range": p.limits}
            out.append(
                Entry(
                    f"{entry['name']}.{p.name}",
                    f"parameter of the {entry['kind']} {entry['name']}",
                    p.doc,
                    facts={k: v for k, v in facts.items() if v},
                )
            )
    return out


def _deref(root: dict[str, Any], node: Any) -> dict[str, Any]:
    seen = 0
    while isinstance(node, dict) and "$ref" in node and seen < 32:
        target: Any = root
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target.get(part, {}) if isinstance(target, dict) else {}
        node, seen = target, seen + 1
    return node if isinstance(node, dict) else {}


def branches_of(root: dict[str, Any], node: Any, depth: int = 0) -> list[dict[str, Any]]:
    """Returns the node and all its alternatives, with references resolved."""
    node = _deref(root, node)
    out = [node]
    if depth < 8:
        for word in ("anyOf", "oneOf", "allOf"):
            for inner in node.get(word, ()):
                out.extend(branches_of(root, inner, depth + 1))
    return out


def member_of(root: dict[str, Any], node: Any, part: str) -> list[dict[str, Any]]:
    """Returns the schemas of the member `part` of a node, one per alternative that has it."""
    out = []
    for branch in branches_of(root, node):
        if part in branch.get("properties", {}):
            out.append(branch["properties"][part])
        elif isinstance(branch.get("additionalProperties"), dict):
            out.append(branch["additionalProperties"])
        elif isinstance(branch.get("items"), dict) and part.isdigit():
            out.append(branch["items"])
    return out


def registry_at(keys: tuple[str, ...]) -> str:
    """Returns the registry for a path of a scenario: queue, cc, source, topology; "" if its value is not an algorithm.

    >>> registry_at(("links", "bottleneck", "queue")), registry_at(("flows", "web", "tcp", "cc")), registry_at(("duration",))
    ('queue', 'cc', '')
    """
    root = scenario_schema()
    nodes: list[Any] = [root]
    for part in keys:
        nodes = [below for node in nodes for below in member_of(root, node, part)]
    return next((b["x-registry"] for n in nodes for b in branches_of(root, n) if "x-registry" in b), "")


def _parameters(root: dict[str, Any], node: Any) -> tuple[Parameter, ...]:
    rows: dict[str, Parameter] = {}
    for branch in branches_of(root, node):
        for name, p in branch.get("properties", {}).items():
            doc = p.get("description") or _deref(root, p).get("description", "")
            rows.setdefault(name, Parameter(name, _kind(root, p), _default(p), _limits(p), " ".join(doc.split())))
            # The tables of a list, such as the classes of a scheduler.
            items = _deref(root, p.get("items"))
            if "properties" in items and "x-registry" not in items:
                for inner in _parameters(root, items):
                    rows.setdefault(f"{name}.N.{inner.name}", replace(inner, name=f"{name}.N.{inner.name}"))
    return tuple(rows.values())


def _kind(root: dict[str, Any], node: dict[str, Any]) -> str:
    words: list[str] = []
    branches = branches_of(root, node)
    registered = next((b["x-registry"] for b in branches if "x-registry" in b), None)
    if registered:
        return f"{registered}: name or table"
    aliases = {alias for b in branches for alias in b.get("x-aliases", ())}
    for b in branches:
        if "enum" in b:
            words.extend(json.dumps(v) for v in b["enum"] if v is not None and v not in aliases)
        elif "const" in b:
            words.append(json.dumps(b["const"]))
        elif b.get("format") in _FORMATS:
            words.append(_FORMATS[b["format"]])
        elif "type" in b:
            types = b["type"] if isinstance(b["type"], list) else [b["type"]]
            names = {
                "integer": "whole number",
                "string": "text",
                "boolean": "true or false",
                "object": "table",
                "array": "list",
                "null": "",
            }
            words.extend(names.get(t, str(t)) for t in types)
    return " | ".join(dict.fromkeys(w for w in words if w))


def _default(node: dict[str, Any]) -> str:
    if "default" not in node:
        return ""
    value = node["default"]
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        # Classes are shown by their filters.
        return ", ".join(str(v.get("match", "...")) for v in value)
    if isinstance(value, dict) and len(value) == 1 and all(isinstance(v, dict) for v in value.values()):
        return str(next(iter(value)))
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if v is not None}
        return json.dumps(value) if value else ""
    return "unset" if value is None else value if isinstance(value, str) else json.dumps(value)


def _limits(node: dict[str, Any]) -> str:
    low = node.get("x-min", node.get("minimum"))
    high = node.get("x-max", node.get("maximum"))
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f"{low} to {high}"
    if above is not None and high is not None:
        return f"above {above}, to {high}"
    if above is not None and below is not None:
        return f"between {above} and {below}"
    words = [("at least", low), ("at most", high), ("above", above), ("below", below)]
    return ", ".join(f"{w} {v}" for w, v in words if v is not None)
