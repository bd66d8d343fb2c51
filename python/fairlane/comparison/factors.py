"""What a comparison varies: queues, congestion controls, values at any path. Levels as they are written, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ..base.choices import Choice, choices, limited, written
from ..base.paths import join, split
from ..base.reference import registry, registry_at
from ..base.spec import plain
from ..base.toml import value as as_toml
from ..errors import FairlaneError, suggest

MOST_SETTINGS = 1000
"""Combinations of levels of one comparison."""
_PAIRS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a factor."""

    label: str
    """As it was written."""
    sets: tuple[tuple[str, Any], ...]
    """Paths and values, as `--set` takes them."""
    optional: bool = False
    """Whether it is left out if it does not run: `all` brought it in."""


@dataclass(frozen=True)
class Factor:
    """What is varied, and its levels."""

    name: str
    """Short: queue, tcp, or the end of the path."""
    said: str
    """How it was asked for: queues, tcp, or vary and the path."""
    paths: tuple[str, ...]
    levels: tuple[Level, ...]


def read_factors(
    base: Mapping[str, Any],
    link: str | None,
    queues: Any,
    tcp: Any,
    vary: Mapping[str, Any] | Iterable[tuple[str, Any]] | None,
    limit: str | None,
    sets: Iterable[tuple[str, Any]],
) -> list[Factor]:
    """All factors, checked against one another and against what is set; `link` is the one whose queue is replaced."""
    out = []
    if queues is not None:
        assert link is not None
        out.append(_queues(queues, link, limit))
    elif limit is not None:
        raise FairlaneError(
            f"a limit ({limit}) is for the queues that are compared, and none are\n"
            "  = help: name queues, or set the limit of the queue that is there"
        )
    if tcp is not None:
        out.append(_tcp(tcp, base))
    for path, values in [] if vary is None else vary.items() if isinstance(vary, Mapping) else vary:
        out.append(_varied(path, values, base))
    if not out:
        raise FairlaneError("nothing to compare: name queues, congestion controls (tcp), or a path and its values (vary)")
    _no_clash(out, [path for path, _ in sets])
    count = 1
    for f in out:
        count *= len(f.levels)
    if count > MOST_SETTINGS:
        counts = " x ".join(str(len(f.levels)) for f in out)
        raise FairlaneError(f"{counts} levels are {count} settings, more than {MOST_SETTINGS}: a study is for that, see `fairlane study`")
    return _named(out)


def _queues(queues: Any, link: str, limit: str | None) -> Factor:
    """The queue of the link."""
    own, back = link.removesuffix(".reverse"), link.endswith(".reverse")
    path = join(("links", own, *(("reverse",) if back else ()), "queue"))
    every = [e["name"] for e in registry() if e["kind"] == "queue"]
    levels = []
    for text in [queues] if isinstance(queues, str) else list(queues):
        if isinstance(text, str) and text.strip() == "all":
            levels += [Level(c.label, ((path, limited(c, limit)),), True) for c in choices(",".join(every))]
        else:
            levels += [Level(c.label, ((path, limited(c, limit)),)) for c in _chosen(text, "queue")]
    if not levels:
        raise FairlaneError("name at least one queue, such as red,codel")
    return _once(Factor("queue", "queues", (path,), tuple(levels)))


def _tcp(tcp: Any, base: Mapping[str, Any]) -> Factor:
    """The congestion control of all TCP flows; their other parameters stay."""
    groups = [g for g, flow in base["flows"].items() if flow.get("tcp") is not None]
    if not groups:
        raise FairlaneError("no flow of this scenario is TCP, so there is no congestion control to vary")
    levels = []
    for text in [tcp] if isinstance(tcp, str) else list(tcp):
        levels += [Level(c.label, tuple(_controls(c, groups))) for c in _chosen(text, "cc")]
    if not levels:
        raise FairlaneError("name at least one congestion control, such as cubic,reno")
    paths = tuple(dict.fromkeys(p for level in levels for p, _ in level.sets))
    return _once(Factor("tcp", "tcp", paths, tuple(levels)))


def _controls(choice: Choice, groups: list[str]) -> Iterator[tuple[str, Any]]:
    """What a congestion control sets in each group; the preset is TCP's."""
    own = dict(choice.value[choice.name])
    preset = own.pop("preset", None)
    for g in groups:
        if preset is not None:
            yield join(("flows", g, "tcp", "preset")), preset
        yield join(("flows", g, "tcp", "cc")), {choice.name: own} if own else choice.name


def _chosen(value: Any, kind: str) -> list[Choice]:
    """Choices of a text; a class of parameters is one."""
    if isinstance(value, str):
        return choices(value, kind)
    spec = plain(value)
    if isinstance(spec, str):
        spec = {spec: {}}
    if not isinstance(spec, dict) or len(spec) != 1:
        raise FairlaneError(f"cannot read {value!r}: write text such as {'red' if kind == 'queue' else 'cubic'}, or a class of parameters")
    return [Choice(shown(spec), spec)]


def shown(value: Any) -> str:
    """A value in few words.

    >>> shown({"codel": {"target": "10ms", "ecn": True}})
    'codel{target=10ms, ecn=true}'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
            return str(next(iter(value))) + (shown_table(inner) if inner else "")
        return shown_table(value)
    if isinstance(value, list):
        return "[" + ", ".join(shown(x) for x in value) + "]"
    return as_toml(value)


def shown_table(table: Mapping[str, Any]) -> str:
    """A table in few words.

    >>> shown_table({"a": 1, "b": "2p"})
    '{a=1, b=2p}'
    """
    return "{" + ", ".join(f"{k}={shown(v)}" for k, v in table.items()) + "}"


def _varied(path: str, values: Any, base: Mapping[str, Any]) -> Factor:
    """The value at a path."""
    said = f"vary {path}"
    keys = split(path.strip())
    if keys is None:
        raise FairlaneError(f"cannot read the path {path!r}: write for instance links.bottleneck.rate, with names in quotes that hold dots")
    if keys[0] == "seed":
        raise FairlaneError("the seed is not varied: all levels see the same seeds\n  = help: --seeds 1..10 says which")
    _there(keys, base)
    text = join(keys)
    kind = registry_at(keys)
    levels: list[Level] = []
    if isinstance(values, str) and kind in ("queue", "cc"):
        levels = [Level(c.label, ((text, c.value if any(c.value.values()) else c.name),)) for c in choices(values, kind)]
    elif isinstance(values, str):
        levels = [Level(" ".join(v.split()), ((text, written(v) if v[:1] in "{[" else v),)) for v in _parts(path, values)]
    else:
        for v in values:
            value = plain(v)
            if isinstance(value, str) and kind in ("queue", "cc"):
                levels += [Level(c.label, ((text, c.value if any(c.value.values()) else c.name),)) for c in choices(value, kind)]
            else:
                levels.append(Level(shown(value), ((text, value),)))
    if not levels:
        raise FairlaneError(f"{said}: name at least one level, such as {path}=A,B")
    return _once(Factor("", said, (text,), tuple(levels)))


def _there(keys: tuple[str, ...], base: Mapping[str, Any]) -> None:
    """The link or the group of flows that a path names exists: a new one cannot be made by varying it."""
    if len(keys) < 2:
        return
    if keys[0] == "links":
        names = [x["name"] for x in base["expanded"]["links"] if not x["name"].endswith(".reverse")]
        if keys[1] not in names:
            raise suggest(keys[1], names, "link")
    if keys[0] == "flows" and keys[1] not in base["flows"]:
        raise suggest(keys[1], list(base["flows"]), "group of flows")


def _parts(path: str, text: str) -> list[str]:
    """The levels of a list: commas within brackets and quotes belong to a level."""
    out: list[str] = []
    open_: list[str] = []
    start, quote = 0, ""
    for i, c in enumerate(f"{text},"):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in _PAIRS:
            open_.append(_PAIRS[c])
        elif open_ and c == open_[-1]:
            open_.pop()
        elif c == "," and not open_:
            if not text[start:i].strip():
                _at(path, text, start, 1, "a level is empty", "write values with commas between them, such as 5Mbit/s,10Mbit/s")
            out.append(text[start:i].strip())
            start = i + 1
    if start <= len(text):
        what = f"the quote {quote} has no end" if quote else f"{open_[-1]} is missing" if open_ else "it has no end"
        _at(path, text, start, len(text) - start, f"cannot read this level: {what}", "close what is open")
    return out


def _at(path: str, text: str, at: int, width: int, message: str, help: str) -> NoReturn:
    """An error at a place of the levels, as errors of `--set` look."""
    line = f"{path}={text}"
    caret = " " * (len(path) + 1 + at) + "^" * max(1, width)
    raise FairlaneError(f"{message}\n --> --vary {line}\n |\n | {line}\n | {caret}\n = help: {help}")


def _once(factor: Factor) -> Factor:
    """The factor, unless a level is there twice."""
    for i, level in enumerate(factor.levels):
        same = next((other for other in factor.levels[:i] if other.sets == level.sets), None)
        if same is not None:
            raise FairlaneError(
                f"{factor.said}: {level.label!r} is given twice" + (f", before as {same.label!r}" if same.label != level.label else "")
            )
    return factor


def _no_clash(factors: list[Factor], sets: list[str]) -> None:
    """No path is varied by two factors, or varied and set; one that lies in another is the same matter."""
    taken: list[tuple[tuple[str, ...], str, str]] = []
    for f in factors:
        here = []
        for path in f.paths:
            keys = split(path) or ()
            for other, by, name in taken:
                if _touch(keys, other):
                    what = f"{path} is varied twice" if keys == other else f"{path} and {name} are varied, and one holds the other"
                    raise FairlaneError(f"{what}: by {by} and by {f.said}\n  = help: write all levels in one of them")
            for name in sets:
                if _touch(keys, split(name) or ()):
                    also = "" if split(name) == keys else f", which is the same matter as {name}"
                    raise FairlaneError(f"{path}{also} is both set and varied: leave one of them out")
            here.append((keys, f.said, path))
        taken += here


def _touch(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    n = min(len(a), len(b))
    return n > 0 and a[:n] == b[:n]


def _named(factors: list[Factor]) -> list[Factor]:
    """Factors without a name get the shortest end of their path that no other has."""
    taken = {f.name for f in factors if f.name}
    ends = [_ends(f.paths[0]) if not f.name else [] for f in factors]
    out = []
    for i, f in enumerate(factors):
        others = taken | {e for k, own in enumerate(ends) if k != i for e in own}
        out.append(f if f.name else replace(f, name=next((e for e in ends[i] if e not in others), f.paths[0])))
    return out


def _ends(path: str) -> list[str]:
    """The ends of a path, shortest first.

    >>> _ends("links.a.rate")
    ['rate', 'a.rate', 'links.a.rate']
    """
    keys = split(path) or (path,)
    return [join(keys[i:]) for i in range(len(keys) - 1, -1, -1)]
