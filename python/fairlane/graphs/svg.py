"""Drawing of a network as stand-alone SVG; names cannot inject markup."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from ..base.escapes import printable
from ..base.literals import si
from ..errors import FairlaneError
from ..look.theme import FACE, HUES, INK, MUTED, TINTS
from .formats import xml_text
from .free_space import Box, FreeSpace
from .network import Graph, Link, Node
from .positions import Point, node_positions, to_drawing

MOST = 5000
"""Most nodes of a drawing."""
_KINDS = 15
"""Most kinds of links in a legend: five colours with three dashes."""
_DASHES = ("", "7 4", "2 3")
_LEGS = 24
"""Most drawn points of a mobility path."""
_MARGIN = 46.0
_NAME, _LABEL = 11.0, 10.0
"""Font sizes in pixels."""


def svg(graph: Graph) -> str:
    """Returns the drawing; an error for too many nodes."""
    if len(graph.nodes) > MOST:
        raise FairlaneError(
            f"{len(graph.nodes)} nodes are too many to draw: the limit is {MOST}\n"
            "  = help: export with -o network.graphml or -o network.dot to a tool for large graphs"
        )
    return _Drawing(graph).text()


class _Drawing:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.at = {n: (x + _MARGIN, y + _MARGIN) for n, (x, y) in node_positions(graph).items()}
        self.radius = 8.0 if len(graph.nodes) <= 60 else 6.5
        self.kinds = _Kinds(graph.links)
        self.space = FreeSpace()
        self.curves = _curves(graph.links, self.at)
        self.unlabelled = 0

    def text(self) -> str:
        lines, labels, names, nodes = (ET.Element("g") for _ in range(4))
        for x, y in self.at.values():
            self.space.take(Box(x, y, 2 * self.radius + 3, 2 * self.radius + 3))
        for curve in self.curves:
            self.space.cross(curve)
        for node in self.graph.nodes:
            self._node(nodes, node)
        for node in self.graph.nodes:
            self._name(names, node)
        for link, curve in zip(self.graph.links, self.curves, strict=True):
            self._line(lines, link, curve)
        for link, curve in zip(self.graph.links, self.curves, strict=True):
            self._label(labels, link, curve)
        walks = self._walks()
        boxes = [*self.space.boxes, *(Box(x, y, 4.0, 4.0) for _, way in walks for x, y in way)]
        right = max(b.x + b.wide / 2 for b in boxes) + _MARGIN / 2
        bottom = max(b.y + b.high / 2 for b in boxes) + _MARGIN / 2
        left = min(0.0, min(b.x - b.wide / 2 for b in boxes) - _MARGIN / 2)
        legend, wide, high = self._legend(left + 20.0, bottom + 14)
        right, bottom = max(right, left + wide + 40.0), bottom + high + 24.0
        head = 34.0
        # Mobility paths may extend above all nodes.
        head -= min(0.0, *(b.y for b in boxes))
        size = (right - left, bottom + head)
        root = ET.Element(
            "svg", xmlns="http://www.w3.org/2000/svg", width=_n(size[0]), height=_n(size[1]), role="img",
            viewBox=f"{_n(left)} {_n(-head)} {_n(size[0])} {_n(size[1])}",
        )  # fmt: skip
        root.set("font-family", "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif")
        title = _clean(self.graph.title) or "network"
        ET.SubElement(root, "title").text = title
        ET.SubElement(root, "rect", x=_n(left), y=_n(-head), width="100%", height="100%", fill=FACE)
        _text(root, left + 20.0, 26.0 - head, _cut(title, int(size[0] / 9)), 15.0, INK, weight="600")
        root.extend([self._paths(walks), lines, nodes, labels, names, legend])
        ET.indent(root, " ")
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"

    def _walks(self) -> list[tuple[str, list[Point]]]:
        """Returns mobility paths in the drawing, the start of long ones."""
        at = {n: (x - _MARGIN, y - _MARGIN) for n, (x, y) in self.at.items()}
        on = {n: to_drawing(self.graph, at, way[:_LEGS]) for n, way in self.graph.walks.items() if n in at}
        return [(n, [(x + _MARGIN, y + _MARGIN) for x, y in way]) for n, way in on.items()]

    def _paths(self, walks: list[tuple[str, list[Point]]]) -> ET.Element:
        group = ET.Element("g", fill="none", stroke=HUES[4])
        group.attrib.update({"stroke-width": "2", "stroke-dasharray": "1 5", "stroke-linecap": "round"})
        for name, way in walks:
            made = ET.SubElement(group, "polyline", points=" ".join(f"{_n(x)},{_n(y)}" for x, y in way))
            ET.SubElement(made, "title").text = _clean(f"path of {name}")
            x, y = way[-1]
            ET.SubElement(group, "circle", cx=_n(x), cy=_n(y), r="2.5", fill=HUES[4]).set("stroke", "none")
        return group

    def _node(self, into: ET.Element, node: Node) -> None:
        x, y = self.at[node.name]
        r = self.radius
        words = [w for w, is_so in (("sends", node.sends), ("receives", node.receives)) if is_so]
        if words:
            made = ET.SubElement(into, "rect", x=_n(x - r), y=_n(y - r), width=_n(2 * r), height=_n(2 * r), rx="1.5", fill=TINTS[0])
        else:
            made = ET.SubElement(into, "circle", cx=_n(x), cy=_n(y), r=_n(r), fill=FACE)
        made.attrib.update({"stroke": INK, "stroke-width": "1.4"})
        ET.SubElement(made, "title").text = _clean(" ".join([node.name, *(["(" + ", ".join(words) + ")"] if words else [])]))

    def _name(self, into: ET.Element, node: Node) -> None:
        x, y = self.at[node.name]
        name = _cut(_clean(node.name), 28)
        wide, off = _wide(name, _NAME), self.radius + 4
        tall = _NAME + 2
        aside = off + wide / 2
        around = [
            (0, off + tall / 2),
            (0, -off - tall / 2),
            (aside, 0),
            (-aside, 0),
            (aside, off),
            (-aside, off),
            (aside, -off),
            (-aside, -off),
        ]
        boxes = [Box(x + dx, y + dy, wide, tall) for dx, dy in around]
        free = [b for b in boxes if self.space.free(b)]
        crowded = len(self.graph.nodes) > 200
        if not free and crowded:
            return  # the tooltip of the node has its name
        box = min(free or boxes, key=self.space.crossed)
        self.space.take(box)
        _text(into, box.x, box.y + _NAME * 0.36, name, _NAME, INK, anchor="middle", halo=True)

    def _line(self, into: ET.Element, link: Link, curve: list[Point]) -> None:
        colour, dash, width = self.kinds.look(link)
        made = ET.SubElement(into, "path", d=_path(curve), fill="none", stroke=colour)
        made.set("stroke-width", _n(width))
        if dash:
            made.set("stroke-dasharray", dash)
        parts = [f"{link.name}: {link.start} {'→' if link.back is None else '↔'} {link.end}"]
        parts += [link.label("speed"), link.label("lag"), link.label("discipline")]
        ET.SubElement(made, "title").text = _clean("\n".join(parts), lines=True)
        if link.back is None:
            (x0, y0), (x1, y1) = curve[len(curve) * 5 // 8 - 1], curve[len(curve) * 5 // 8]
            angle = math.atan2(y1 - y0, x1 - x0)
            tip = [(x1 + 8 * math.cos(angle + t), y1 + 8 * math.sin(angle + t)) for t in (0.0, 2.4, -2.4)]
            ET.SubElement(into, "polygon", points=" ".join(f"{_n(x)},{_n(y)}" for x, y in tip), fill=colour)

    def _label(self, into: ET.Element, link: Link, curve: list[Point]) -> None:
        words = self.kinds.label(link)
        if not words:
            return
        wide, tall = max(_wide(w, _LABEL) for w in words), (_LABEL + 2) * len(words)
        n = len(curve) - 1
        for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73):
            x, y = curve[round(share * n)]
            for dx, dy in ((0, 0), (0, -tall / 2 - 3), (0, tall / 2 + 3), (wide / 2 + 5, 0), (-wide / 2 - 5, 0)):
                box = Box(x + dx, y + dy, wide, tall)
                if self.space.free(box):
                    self.space.take(box)
                    ground = ET.SubElement(into, "rect", x=_n(box.x - wide / 2), y=_n(box.y - tall / 2), fill=FACE)
                    ground.attrib.update({"width": _n(wide), "height": _n(tall), "fill-opacity": "0.9"})
                    for k, word in enumerate(words):
                        line = box.y - tall / 2 + (k + 0.8) * (_LABEL + 2)
                        _text(into, box.x, line, word, _LABEL, self.kinds.look(link)[0], anchor="middle")
                    return
        self.unlabelled += 1

    def _legend(self, x: float, y: float) -> tuple[ET.Element, float, float]:
        """Returns the legend with its width and height."""
        made, at, wide = ET.Element("g"), y, 0.0
        for colour, dash, width, text in self.kinds.rows():
            line = ET.SubElement(made, "line", x1=_n(x), y1=_n(at), x2=_n(x + 34), y2=_n(at), stroke=colour)
            line.set("stroke-width", _n(width))
            if dash:
                line.set("stroke-dasharray", dash)
            _text(made, x + 44, at + 4, text, 11.0, INK)
            wide, at = max(wide, 44 + _wide(text, 11.0)), at + 18
        ends = sum(n.sends or n.receives for n in self.graph.nodes)
        text = f"{_count(len(self.graph.nodes), 'node')}, {_count(len(self.graph.links), 'link')}; squares: ends of flows ({ends})"
        if self.unlabelled:
            text += f"; {_count(self.unlabelled, 'label')} hidden for lack of space (shown as tooltips)"
        _text(made, x, at + 5, text, 10.5, MUTED)
        return made, max(wide, _wide(text, 10.5)), at + 5 - y


class _Kinds:
    """Kinds of links by rate and queue, and by delay if there are few kinds."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._groups: dict[tuple[str, str], Counter[str]] = {}
        links = list(links)
        for x in links:
            self._groups.setdefault((x.label("speed"), x.label("discipline")), Counter())[x.label("lag")] += 1
        pairs: Counter[tuple[str, ...]] = Counter((x.label("speed"), x.label("discipline"), x.label("lag")) for x in links)
        self._split = len(pairs) <= 8
        kinds = pairs if self._split else Counter({key: sum(lags.values()) for key, lags in self._groups.items()})
        self._counts = dict(kinds.most_common())
        self._order = {key: i for i, key in enumerate(self._counts)}
        rates = [math.log10(max(1.0, si(x.there.rate) or 1.0)) for x in links]
        self._slow, self._span = min(rates, default=0.0), max(rates, default=0.0) - min(rates, default=0.0)
        self._width = {self._key(x): 1.5 + 2.7 * (r - self._slow) / (self._span or 1.0) for x, r in zip(links, rates, strict=True)}

    def _key(self, link: Link) -> tuple[str, ...]:
        key = (link.label("speed"), link.label("discipline"))
        return (*key, link.label("lag")) if self._split else key

    def _style(self, key: tuple[str, ...]) -> tuple[str, str, float]:
        number = self._order[key]
        if number >= _KINDS:
            return MUTED, "", self._width[key]
        return HUES[number % len(HUES)], _DASHES[number // len(HUES)], self._width[key]

    def look(self, link: Link) -> tuple[str, str, float]:
        """Returns colour, dashes and width of a link."""
        return self._style(self._key(link))

    def label(self, link: Link) -> list[str]:
        """Returns the properties of a link that the legend does not show; all properties of a rare link."""
        key = self._key(link)
        rare = self._order[key] >= _KINDS
        if self._split:
            return [link.label("speed"), link.label("lag")] if self._counts[key] <= 3 else []
        one_delay = len(self._groups[key[0], key[1]]) == 1
        words = [link.label("speed")] if rare else []
        words += [] if one_delay and not rare else [link.label("lag")]
        return words + ([link.label("discipline")] if rare else [])

    def rows(self) -> list[tuple[str, str, float, str]]:
        """Returns colour, dashes, width and label of each kind."""
        out = []
        for key, count in list(self._counts.items())[:_KINDS]:
            lags = self._groups[key[0], key[1]]
            delay = key[2] if self._split else next(iter(lags)) if len(lags) == 1 else "delay as labelled"
            out.append((*self._style(key), _clean(f"{key[0]}, {delay}, {key[1]}   ({_count(count, 'link')})")))
        if len(self._counts) > _KINDS:
            others = sum(list(self._counts.values())[_KINDS:])
            out.append((MUTED, "", 1.5, f"{_count(others, 'link')} of other kinds, as labelled"))
        return out


def _curves(links: Iterable[Link], at: dict[str, Point]) -> list[list[Point]]:
    """Returns each link as points; parallel links are curved."""
    links = list(links)
    several = Counter(frozenset((x.start, x.end)) for x in links)
    seen: Counter[frozenset[str]] = Counter()
    out = []
    for x in links:
        (x0, y0), (x1, y1) = at[x.start], at[x.end]
        pair = frozenset((x.start, x.end))
        bow = 26.0 * (seen[pair] - (several[pair] - 1) / 2) * (1 if x.start < x.end else -1)
        seen[pair] += 1
        length = math.dist((x0, y0), (x1, y1)) or 1.0
        cx, cy = (x0 + x1) / 2 - (y1 - y0) / length * 2 * bow, (y0 + y1) / 2 + (x1 - x0) / length * 2 * bow
        steps = max(8, min(200, int(length / 9)))
        points = [(t / steps, 1 - t / steps) for t in range(steps + 1)]
        out.append([(u * u * x0 + 2 * t * u * cx + t * t * x1, u * u * y0 + 2 * t * u * cy + t * t * y1) for t, u in points])
    return out


def _path(curve: list[Point]) -> str:
    (x0, y0), (xm, ym), (x1, y1) = curve[0], curve[len(curve) // 2], curve[-1]
    if abs((x1 - x0) * (ym - y0) - (y1 - y0) * (xm - x0)) < 1e-6 * (1 + math.dist((x0, y0), (x1, y1))):
        return f"M{_n(x0)} {_n(y0)}L{_n(x1)} {_n(y1)}"
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in curve)


def _text(into: ET.Element, x: float, y: float, words: str, size: float, colour: str, *, anchor: str = "start",
          weight: str = "400", halo: bool = False) -> None:  # fmt: skip
    made = ET.SubElement(into, "text", x=_n(x), y=_n(y), fill=colour)
    made.set("font-size", _n(size))
    if anchor != "start":
        made.set("text-anchor", anchor)
    if weight != "400":
        made.set("font-weight", weight)
    if halo:
        for key, value in (("paint-order", "stroke"), ("stroke", FACE), ("stroke-width", "3"), ("stroke-linejoin", "round")):
            made.set(key, value)
    made.text = words


def _n(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(1, most - 1)] + "…"


def _wide(text: str, size: float) -> float:
    """Estimates the width of a text in pixels."""
    return size * sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.58 for c in text)


def _clean(text: str, *, lines: bool = False) -> str:
    """Returns printable text that is valid in XML, in one line unless `lines`."""
    if lines:
        return "\n".join(xml_text(printable(line)) for line in text.split("\n"))
    return xml_text(printable(" ".join(text.split("\n"))))
