"""Queues in command-line syntax: `red`, `red:ns2`, `codel{target=10ms}`, `prio{classes=[{match=tcp, queue.red={}}, {queue=sfq}]}`;
congestion controls likewise: `cubic`, `cubic:linux`, `bbr{...}`.

Braces contain an inline table of TOML, in which text needs no quotes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from .. import _core
from ..errors import FairlaneError, short, suggest

_NAME = re.compile(r"[A-Za-z][\w./-]*")
_KEY = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")
_BARE = re.compile(r"[^,{}\[\]\"'=\s]+(?: +[^,{}\[\]\"'=\s]+)*")
_INTEGER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?[eE][+-]?\d+)")
_DEEPEST = 40
WORDS = {"queue": "queue", "cc": "congestion control", "stack": "stack"}
"""Names of the registries in messages."""
_EXAMPLES = {"queue": "red or codel{target=10ms}", "cc": "cubic or cubic{beta=0.8}", "stack": "str0m or str0m{most=1Mbit/s}"}


@dataclass(frozen=True)
class Choice:
    """A queue or a congestion control, with its text on the command line."""

    label: str
    value: dict[str, Any]
    """The table `{ NAME = { ... } }` of a scenario file."""

    @property
    def name(self) -> str:
        """Registered name."""
        return next(iter(self.value))


def choices(text: str, kind: str = "queue") -> list[Choice]:
    """Parses a comma-separated list of queues, or of entries of another registry (`kind`).

    >>> [c.value for c in choices("red:ns2, codel{target=10ms, ecn=true}")]
    [{'red': {'preset': 'ns2'}}, {'codel': {'target': '10ms', 'ecn': True}}]
    """
    reader = _Reader(text, kind)
    out = [reader.choice()]
    while reader.take(","):
        out.append(reader.choice())
    reader.end()
    return out


def written(text: str) -> Any:
    """Parses a table or a list in the syntax of a choice: text needs no quotes.

    >>> written("{cc=cubic, mss=1000B}")
    {'cc': 'cubic', 'mss': '1000B'}
    """
    reader = _Reader(text, "queue", "a value")
    found = reader.value()
    reader.end()
    return found


def known(kind: str = "queue") -> dict[str, str]:
    """Returns the registered name of each name and alias, in lower case."""
    from .reference import registry

    queues = [e for e in registry() if e["kind"] == kind]
    spelt = {alias.lower(): e["name"] for e in queues for alias in e.get("aliases", ())}
    return spelt | {e["name"].lower(): e["name"] for e in queues}


def limited(choice: Choice, limit: str | None) -> dict[str, Any]:
    """Returns the queue with this buffer limit if it has none of its own; in a class tree the limit applies to the leaf queues."""
    return choice.value if limit is None else _with_limit(choice.value, limit)


def _with_limit(queue: dict[str, Any] | str, limit: str) -> dict[str, Any]:
    from ..base.choices import known
    from ..base.reference import registry

    name, own = (queue, {}) if isinstance(queue, str) else next(iter(queue.items()))
    registered = known().get(name.lower(), name)
    schema = next((e.get("schema") or {} for e in registry() if e["kind"] == "queue" and e["name"] == registered), {})
    has = schema.get("properties", {})
    values = dict(own or {})
    # With a shared limit one class could lock out the others, so each class queue gets the limit.
    if values.get("classes"):
        values["classes"] = [{**c, "queue": _with_limit(c.get("queue", "droptail"), limit)} for c in values["classes"]]
    elif "queue" in has:
        values["queue"] = _with_limit(values.get("queue", "droptail"), limit)
    elif "limit" in has and "limit" not in values:
        values["limit"] = limit
    return {name: values}


class _Reader:
    def __init__(self, text: str, kind: str, all_of_it: str = "") -> None:
        self.text = text
        self.kind = kind
        self.what = WORDS[kind]
        self.all_of_it = all_of_it or f"{self.what}s"
        self.at = 0

    def choice(self) -> Choice:
        self._space()
        start = self.at
        if self.kind == "queue" and self.text.startswith("tc:", start):
            self.at = end if (end := self.text.find(",", start)) >= 0 else len(self.text)
            line = self.text[start : self.at].strip()
            queue, _ = _core.read_tc(line.removeprefix("tc:"))
            return Choice(line, json.loads(queue))
        if self.text[self.at : self.at + 1] == "{":
            table = self._table(0)
            if len(table) != 1:
                raise FairlaneError(
                    f"cannot read {self.what} {short(self.text[start : self.at])}: a table has one key, the {self.what}'s name"
                )
            (name, inner), preset = next(iter(table.items())), None
            inner = {} if inner is None else inner
            if not isinstance(inner, dict):
                raise FairlaneError(f"cannot read {self.what} {short(self.text[start : self.at])}: the parameters of {name} are a table")
        else:
            name = self._match(_NAME, f"the name of a {self.what}, such as {_EXAMPLES[self.kind]}")
            preset = self._match(_NAME, f"the name of a preset of {name}") if self.take(":") else None
            self._space()
            inner = self._table(0) if self.text[self.at : self.at + 1] == "{" else {}
        names = known(self.kind)
        if name.lower() not in names:
            raise suggest(name, sorted(set(names.values())), self.what)
        label = " ".join(self.text[start : self.at].split())
        return Choice(label, {names[name.lower()]: ({"preset": preset} if preset else {}) | inner})

    def value(self) -> Any:
        return self._value(0)

    def take(self, mark: str) -> bool:
        self._space()
        if self.text[self.at : self.at + 1] != mark:
            return False
        self.at += 1
        return True

    def end(self) -> None:
        self._space()
        if self.at < len(self.text):
            self._fail(f"a comma between {self.all_of_it}" if self.all_of_it != "a value" else "the end")

    def _table(self, depth: int) -> dict[str, Any]:
        self._need("{", depth)
        out: dict[str, Any] = {}
        while not self.take("}"):
            path = self._match(_KEY, "a parameter's name").split(".")
            self._need("=", depth)
            node = out
            for part in path[:-1]:
                node = node.setdefault(part, {})
                if not isinstance(node, dict):
                    self._fail(f"another name than {part}, which has a value")
            if path[-1] in node:
                self._fail(f"each parameter once: {'.'.join(path)} is there twice")
            node[path[-1]] = self._value(depth)
            if not self.take(","):
                self._need("}", depth)
                break
        return out

    def _list(self, depth: int) -> list[Any]:
        self._need("[", depth)
        out = []
        while not self.take("]"):
            out.append(self._value(depth))
            if not self.take(","):
                self._need("]", depth)
                break
        return out

    def _value(self, depth: int) -> Any:
        self._space()
        first = self.text[self.at : self.at + 1]
        if first == "{":
            return self._table(depth + 1)
        if first == "[":
            return self._list(depth + 1)
        if first in ("'", '"') and first:
            end = self.text.find(first, self.at + 1)
            if end < 0:
                self._fail("the quote that ends the text")
            quoted, self.at = self.text[self.at + 1 : end], end + 1
            return quoted
        word = self._match(_BARE, "a value, such as 10ms, 0.1, true or {...}")
        if word in ("true", "false"):
            return word == "true"
        if _INTEGER.fullmatch(word):
            return int(word)
        return float(word) if _FLOAT.fullmatch(word) else word

    def _need(self, mark: str, depth: int) -> None:
        if depth > _DEEPEST:
            self._fail("fewer braces inside one another")
        if not self.take(mark):
            self._fail(repr(mark))

    def _match(self, pattern: re.Pattern[str], what: str) -> str:
        self._space()
        m = pattern.match(self.text, self.at)
        if not m:
            self._fail(what)
        self.at = m.end()
        return m[0]

    def _space(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def _fail(self, wanted: str) -> NoReturn:
        rest = self.text[self.at : self.at + 20]
        there = f"{rest!r} begins" if rest else "it ends"
        raise FairlaneError(f"cannot read {self.all_of_it} {short(self.text, 300)}: expected {wanted} where {there}")
