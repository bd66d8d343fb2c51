"""Readers of SNDlib (Orlowski, Pióro, Tomaszewski, Wessäly, Networks 55, 2010): native and XML networks, with their demands."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from ..errors import FairlaneError, short
from .edges import PlainGraph, text_of

_TOKEN = re.compile(r"[()]|[^\s()]+")
_HELP = "\n  = help: the format is on the site of SNDlib; its networks are such as germany50.txt and abilene.xml"


def _unit(text: str) -> str:
    """Returns the unit of SNDlib's metadata, such as MBITPERSEC."""
    low = text.strip().lower()
    return low if low.endswith("bitpersec") else ""


class _Words:
    """Words of a section with their lines."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.words: list[tuple[str, int]] = []
        for number, line in enumerate(text.splitlines(), 1):
            if number == 1 and line.startswith("?"):
                continue
            self.words += [(w, number) for w in _TOKEN.findall(line.partition("#")[0])]
        self.at = 0

    def more(self) -> bool:
        return self.at < len(self.words)

    def line(self) -> int:
        return self.words[min(self.at, len(self.words) - 1)][1] if self.words else 1

    def wrong(self, expected: str) -> FairlaneError:
        found = short(self.words[self.at][0]) if self.more() else "the end"
        return FairlaneError(f"{self.name}:{self.line()}: found {found}, expected {expected}{_HELP}")

    def peek(self) -> str:
        return self.words[self.at][0] if self.more() else ""

    def take(self, expected: str = "a word") -> str:
        word = self.peek()
        if not word or (expected in ("(", ")") and word != expected) or (expected not in ("(", ")") and word in "()"):
            raise self.wrong(expected)
        self.at += 1
        return word

    def number(self, what: str) -> float:
        try:
            found = float(self.peek())
        except ValueError:
            raise self.wrong(what) from None
        if not 0 <= abs(found) < 1e18:
            raise self.wrong(what)
        self.at += 1
        return found

    def skip(self) -> None:
        """Skips one table in parentheses."""
        self.take("(")
        depth = 1
        while depth:
            if not self.more():
                raise self.wrong(")")
            depth += {"(": 1, ")": -1}.get(self.words[self.at][0], 0)
            self.at += 1


def native(data: bytes, name: str) -> PlainGraph:
    """Reads a network in SNDlib's native format."""
    text = text_of(data, name)
    if not text.lstrip().startswith("?SNDlib"):
        raise FairlaneError(
            f"{name}:1: this text is no network of SNDlib: its first line is expected to begin with ?SNDlib native format{_HELP}"
        )
    words = _Words(name, text.lstrip())
    out = PlainGraph()
    links: list[tuple[str, str, dict[str, Any]]] = []
    while words.more():
        section = words.take("the name of a section, such as NODES")
        if section == "META":
            _meta(words, out)
        elif section == "NODES":
            words.take("(")
            while words.peek() != ")":
                line, node = words.line(), words.take("the name of a node")
                place: dict[str, Any] = {"_line": line}
                if words.peek() == "(":
                    words.take("(")
                    x, y = words.number("a longitude"), words.number("a latitude")
                    words.take(")")
                    place |= _place(x, y, abs(x) <= 180 and abs(y) <= 90)
                if node in out.nodes():
                    raise FairlaneError(f"{name}:{line}: the node {short(node)} occurs twice{_HELP}")
                out.add_node(node, place)
            words.take(")")
        elif section in ("LINKS", "DEMANDS"):
            words.take("(")
            while words.peek() != ")":
                line, own = words.line(), words.take("the name of a link or a demand")
                words.take("(")
                start, end = words.take("a node"), words.take("a node")
                words.take(")")
                if section == "LINKS":
                    links.append((start, end, {"id": own, **_link(words), "_line": line}))
                else:
                    unit, value = words.number("a routing unit"), words.number("the value of a demand")
                    words.take("the longest path, or UNLIMITED")
                    out.demands.append((start, end, unit * value, line))
            words.take(")")
        else:
            words.skip()
    return _filled(out, links, name)


def _meta(words: _Words, out: PlainGraph) -> None:
    words.take("(")
    while words.peek() != ")":
        key = words.take("a key")
        if words.peek() == "=":
            words.take()
        value = words.take("a value")
        if key.lower() == "unit" and _unit(value):
            out.about = {**out.about, "capacity_unit": _unit(value)}
    words.take(")")


def _link(words: _Words) -> dict[str, Any]:
    numbers = [words.number(what) for what in ("the installed capacity", "its cost", "the routing cost", "the setup cost")]
    found: dict[str, Any] = {"routing_cost": numbers[2] or None, "pre_installed_capacity": numbers[0] or None}
    words.take("(")
    modules = []
    while words.peek() != ")":
        modules.append(words.number("the capacity of a module"))
        words.number("its cost")
    words.take(")")
    if modules:
        found["module_capacity"] = modules[0] if len(modules) == 1 else modules
    return {k: v for k, v in found.items() if v is not None}


def _place(x: float, y: float, geographical: bool) -> dict[str, Any]:
    return {"Longitude": x, "Latitude": y} if geographical else {"x": x, "y": y}


def _filled(out: PlainGraph, links: list[tuple[str, str, dict[str, Any]]], name: str) -> PlainGraph:
    ends = [(a, b, d.get("_line")) for a, b, d in links] + [(a, b, line) for a, b, _, line in out.demands]
    for a, b, line in ends:
        for node in (a, b):
            if node not in out.nodes():
                raise FairlaneError(f"{name}{f':{line}' if line else ''}: the node {short(node)} does not exist{_HELP}")
    for a, b, found in links:
        out.add(a, b, found)
    return out


def xml(data: bytes, name: str) -> PlainGraph:
    """Reads a network in SNDlib's XML, whose root is <network>; its depth and entities were checked."""
    try:
        root = ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as e:
        raise FairlaneError(f"{name}: invalid XML: {short(str(e))}{_HELP}") from None
    for tag in root.iter():
        if isinstance(tag.tag, str):
            tag.tag = tag.tag.rpartition("}")[2]
    out = PlainGraph()
    unit = _unit(root.findtext("meta/unit") or "")
    if unit:
        out.about = {"capacity_unit": unit}
    holder = root.find("networkStructure/nodes")
    earth = (holder.get("coordinatesType") if holder is not None else None) != "pixel"
    for node in root.iterfind("networkStructure/nodes/node"):
        own = _text(node.get("id"), "a node has no id", name)
        if own in out.nodes():
            raise FairlaneError(f"{name}: the node {short(own)} occurs twice{_HELP}")
        x, y = (_maybe(node.findtext(f"coordinates/{axis}")) for axis in "xy")
        out.add_node(own, {} if x is None or y is None else _place(x, y, earth and abs(x) <= 180 and abs(y) <= 90))
    links = []
    for link in root.iterfind("networkStructure/links/link"):
        start, end = (_text(link.findtext(e), f"a link has no {e}", name) for e in ("source", "target"))
        modules = [n for n in (_maybe(m.findtext("capacity")) for m in link.iterfind("additionalModules/addModule")) if n]
        found = {
            "id": link.get("id") or None, "routing_cost": _maybe(link.findtext("routingCost")) or None,
            "pre_installed_capacity": _maybe(link.findtext("preInstalledModule/capacity")) or None,
            "module_capacity": (modules[0] if len(modules) == 1 else modules) if modules else None,
        }  # fmt: skip
        links.append((start, end, {k: v for k, v in found.items() if v is not None}))
    for demand in root.iterfind("demands/demand"):
        start, end = (_text(demand.findtext(e), f"a demand has no {e}", name) for e in ("source", "target"))
        value, times = _maybe(demand.findtext("demandValue")), _maybe(demand.findtext("routingUnit"))
        if value is None:
            raise FairlaneError(f"{name}: the demand from {short(start)} to {short(end)} has no value{_HELP}")
        out.demands.append((start, end, value * (1.0 if times is None else times), 0))
    return _filled(out, links, name)


def _text(found: str | None, missing: str, name: str) -> str:
    text = (found or "").strip()
    if not text:
        raise FairlaneError(f"{name}: {missing}{_HELP}")
    return text


def _maybe(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if abs(found) < 1e18 else None
