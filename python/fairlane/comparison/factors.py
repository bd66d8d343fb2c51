"""Factors of a comparison: queues, congestion controls, or values at any path; parsing and checks of their levels."""

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
from .transports import changed

MOST_SETTINGS = 1000
"""Most combinations of levels of a comparison."""
_PAIRS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, eq=False)
class Level:
    """Level of a factor."""

    label: str
    """Text of the level as written."""
    sets: tuple[tuple[str, Any], ...]
    """Paths and values in the form of `--set`."""
    optional: bool = False
    """True if it is skipped when invalid, because `all` added it."""


@dataclass(frozen=True)
class Factor:
    """Factor with its levels."""

    name: str
    """Short name: queue, tcp, or the end of the path."""
    option: str
    """Option that requested it: queues, tcp, or vary with the path."""
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
    """Reads all factors and checks them against each other and against `sets`; `link`: the link whose queue is replaced."""
    out = []
    if queues is not None:
        assert link is not None
        out.append(_queues(queues, link, limit))
    elif limit is not None:
        raise FairlaneError(
            f"a limit ({limit}) applies to compared queues, but there are none\n"
            "  = help: name queues, or set the limit of the existing queue"
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
        raise FairlaneError(f"{counts} levels are {count} settings, more than {MOST_SETTINGS}: use `fairlane study`")
    return _named(out)


def _queues(queues: Any, link: str, limit: str | None) -> Factor:
    """Returns the factor of the link's queue."""
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
    """Returns the factor of the congestion control of all TCP flows; their other parameters stay."""
    groups = [g for g, flow in base["flows"].items() if flow.get("tcp") is not None]
    if not groups:
        raise FairlaneError("this scenario has no TCP flow, so there is no congestion control to vary")
    levels = []
    for text in [tcp] if isinstance(tcp, str) else list(tcp):
        levels += [Level(c.label, tuple(_controls(c, groups))) for c in _chosen(text, "cc")]
    if not levels:
        raise FairlaneError("name at least one congestion control, such as cubic,reno")
    paths = tuple(dict.fromkeys(p for level in levels for p, _ in level.sets))
    return _once(Factor("tcp", "tcp", paths, tuple(levels)))


def _controls(choice: Choice, groups: list[str]) -> Iterator[tuple[str, Any]]:
    """Yields the settings of a congestion control in each group; the preset is a parameter of TCP."""
    own = dict(choice.value[choice.name])
    preset = own.pop("preset", None)
    for g in groups:
        if preset is not None:
            yield join(("flows", g, "tcp", "preset")), preset
        yield join(("flows", g, "tcp", "cc")), {choice.name: own} if own else choice.name


def _chosen(value: Any, kind: str) -> list[Choice]:
    """Parses choices from text or a parameter class."""
    if isinstance(value, str):
        return choices(value, kind)
    spec = plain(value)
    if isinstance(spec, str):
        spec = {spec: {}}
    if not isinstance(spec, dict) or len(spec) != 1:
        raise FairlaneError(f"cannot read {value!r}: write text such as {'red' if kind == 'queue' else 'cubic'}, or a class of parameters")
    return [Choice(shown(spec), spec)]


def shown(value: Any) -> str:
    """Formats a value briefly.

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
    """Formats a table briefly.

    >>> shown_table({"a": 1, "b": "2p"})
    '{a=1, b=2p}'
    """
    return "{" + ", ".join(f"{k}={shown(v)}" for k, v in table.items()) + "}"


def _varied(path: str, values: Any, base: Mapping[str, Any]) -> Factor:
    """Returns the factor of the value at a path."""
    option = f"vary {path}"
    keys = split(path.strip())
    if keys is None:
        raise FairlaneError(f"cannot read the path {path!r}: write for instance links.bottleneck.rate, and quote names with dots")
    if keys[0] == "seed":
        raise FairlaneError("the seed cannot be varied: all levels use the same seeds\n  = help: set them with --seeds 1..10")
    _there(keys, base)
    text = join(keys)
    kind = registry_at(keys)
    levels: list[Level] = []
    if isinstance(values, str) and kind in ("queue", "cc"):
        levels = [Level(c.label, ((text, c.value if any(c.value.values()) else c.name),)) for c in choices(values, kind)]
    elif keys[0] == "flows" and len(keys) == 2:
        levels = [Level(word, ((text, flow),)) for word, flow in _transports(path, values, base["flows"][keys[1]])]
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
        raise FairlaneError(f"{option}: name at least one level, such as {path}=A,B")
    return _once(Factor("", option, (text,), tuple(levels)))


def _transports(path: str, values: Any, flow: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the levels of a flow as a whole: each word, and the flow with the transport that it names."""
    words = _parts(path, values) if isinstance(values, str) else list(values)
    text, at = values if isinstance(values, str) else ",".join(map(str, words)), 0
    for word in words:
        if not isinstance(word, str):
            raise FairlaneError(f"vary {path}: {word!r} is no transport: write for instance quinn:cubic or tcp:bbr3")
        at = text.index(word, at)
        try:
            yield word, changed(word, flow)
        except FairlaneError as e:
            _at(
                path,
                text,
                at,
                len(word),
                str(e),
                "write TRANSPORT:CONTROL, such as quinn:cubic, noq:newreno or tcp:bbr3, or a TRANSPORT alone",
            )
        at += len(word)


def _there(keys: tuple[str, ...], base: Mapping[str, Any]) -> None:
    """Raises an error if the link or group of flows in a path does not exist."""
    if len(keys) < 2:
        return
    if keys[0] == "links":
        names = [x["name"] for x in base["expanded"]["links"] if not x["name"].endswith(".reverse")]
        if keys[1] not in names:
            raise suggest(keys[1], names, "link")
    if keys[0] == "flows" and keys[1] not in base["flows"]:
        raise suggest(keys[1], list(base["flows"]), "group of flows")


def _parts(path: str, text: str) -> list[str]:
    """Splits a list of levels at commas outside of brackets and quotes."""
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
        what = f"the quote {quote} is not closed" if quote else f"{open_[-1]} is missing" if open_ else "it is not closed"
        _at(path, text, start, len(text) - start, f"cannot read this level: {what}", "close what is open")
    return out


def _at(path: str, text: str, at: int, width: int, message: str, help: str) -> NoReturn:
    """Raises an error with a caret at a position of the levels, in the form of errors of `--set`."""
    line = f"{path}={text}"
    caret = " " * (len(path) + 1 + at) + "^" * max(1, width)
    raise FairlaneError(f"{message}\n --> --vary {line}\n |\n | {line}\n | {caret}\n = help: {help}")


def _once(factor: Factor) -> Factor:
    """Returns the factor; an error if a level occurs twice."""
    for i, level in enumerate(factor.levels):
        same = next((other for other in factor.levels[:i] if other.sets == level.sets), None)
        if same is not None:
            raise FairlaneError(
                f"{factor.option}: {level.label!r} is given twice" + (f", first as {same.label!r}" if same.label != level.label else "")
            )
    return factor


def _no_clash(factors: list[Factor], sets: list[str]) -> None:
    """Raises an error if a path, or a part of it, is varied by two factors, or both varied and set."""
    taken: list[tuple[tuple[str, ...], str, str]] = []
    for f in factors:
        here = []
        for path in f.paths:
            keys = split(path) or ()
            for other, by, name in taken:
                if _touch(keys, other):
                    what = f"{path} is varied twice" if keys == other else f"{path} and {name} are varied, and one contains the other"
                    raise FairlaneError(f"{what}: by {by} and by {f.option}\n  = help: write all levels in one of them")
            for name in sets:
                if _touch(keys, split(name) or ()):
                    also = "" if split(name) == keys else f" (overlaps {name})"
                    raise FairlaneError(f"{path}{also} is both set and varied: remove one of them")
            here.append((keys, f.option, path))
        taken += here


def _touch(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    n = min(len(a), len(b))
    return n > 0 and a[:n] == b[:n]


def _named(factors: list[Factor]) -> list[Factor]:
    """Names factors by the shortest unique end of their path."""
    taken = {f.name for f in factors if f.name}
    ends = [_ends(f.paths[0]) if not f.name else [] for f in factors]
    out = []
    for i, f in enumerate(factors):
        others = taken | {e for k, own in enumerate(ends) if k != i for e in own}
        out.append(f if f.name else replace(f, name=next((e for e in ends[i] if e not in others), f.paths[0])))
    return out


def _ends(path: str) -> list[str]:
    """Returns the ends of a path, shortest first.

    >>> _ends("links.a.rate")
    ['rate', 'a.rate', 'links.a.rate']
    """
    keys = split(path) or (path,)
    return [join(keys[i:]) for i in range(len(keys) - 1, -1, -1)]
