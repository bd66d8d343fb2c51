"""Specification curves and other small figures of many parameter settings, written directly as compact SVG.

The specification curve (Simonsohn, Simmons and Nelson, Nature Human Behaviour 4, 2020) sorts the settings by the margin of a claim and
shows their parameter values below: the dots of a parameter that matters follow that order, those of another are scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

_LEFT, _WIDE = 132, 254
_CURVE, _ROW, _TOP = 110, 46, 20
_LETTER = 7.4
"""Width of a letter with a margin."""
_LINE = 11
"""Most letters of a name next to a row; longer names are wrapped."""
_LONGEST = 11
"""Most letters of the name of a level next to a row."""
_READABLE = 0.68
"""Least scale of a figure: letters are 13 high, and the figure fits a telephone."""


@dataclass(frozen=True)
class Choice:
    """Unstated or varied parameter: the position of each setting in its range, 0 to 1, and named positions."""

    name: str
    places: Sequence[float]
    ends: Sequence[tuple[float, str]]
    """Position and text: the two ends of a range, or the levels."""
    turns: Sequence[float] = ()
    """Positions at which the claim changes."""
    levels: bool = False
    """True for a few discrete levels: marks are spread around them."""

    def spread(self) -> list[float]:
        """Returns the positions, for levels spread around them."""
        width = 0.6 / max(1, len(self.ends)) if self.levels else 0.0
        return [p + width * ((5 * i % 13) / 12 - 0.5) for i, p in enumerate(self.places)]


def curve(holds: Sequence[bool], margins: Sequence[float], choices: Sequence[Choice], label: str) -> Markup:
    """Draws the specification curve: one mark per setting, sorted by the margin."""
    order = sorted(range(len(margins)), key=margins.__getitem__)
    n, high = len(order), _TOP + _CURVE + _ROW * len(choices) + 22
    most = max((abs(m) for m in margins), default=0.0) or 1.0
    middle, dx = _TOP + _CURVE / 2, _WIDE / max(1, n)
    parts = _curve(order, margins, middle, _CURVE / 2 / most, dx, _LEFT)
    parts.append(f'<path d="M{_LEFT} {middle:g}h{_WIDE}" class="axis"/>')
    k = sum(map(bool, holds))
    words = ((f"fails in {n - k}", _LEFT + 2, "start", "f"), (f"holds in {k}", _LEFT + _WIDE - 2, "end", "t"))
    for text, x, anchor, kind in words:
        if not text.endswith(" 0"):
            parts.append(_text(x, _TOP - 6, text, anchor, kind))
    parts.append(_text(_LEFT - 8, middle + 4, "margin", "end"))
    ticks = ((f"+{100 * most:.0f} %", _TOP + 10), (f"−{100 * most:.0f} %", _TOP + _CURVE - 4))
    parts += [_text(_LEFT + _WIDE + 8, y, t, "start", "m") for t, y in ticks]
    for i, choice in enumerate(choices):
        top = _TOP + _CURVE + 10 + _ROW * i
        at = [(_LEFT + dx * (rank + 0.5), top + 28 * (1 - choice.places[w]) + 2, w) for rank, w in enumerate(order)]
        parts += [_dots([(x, y) for x, y, w in at if holds[w] == side], kind) for side, kind in ((True, "t"), (False, "f"))]
        names = wrap(choice.name, int((_LEFT - 10) / _LETTER))
        parts += [_text(_LEFT - 8, top + 20 + 14 * (k - (len(names) - 1) / 2), name, "end") for k, name in enumerate(names)]
        parts += [_text(_LEFT + _WIDE + 8, top + 28 * (1 - p) + 6, _shortened(t), "start", "m") for p, t in _apart(choice.ends, 2)]
    parts.append(_text(_LEFT + _WIDE / 2, high - 5, f"{n} settings sorted by the margin", "middle", "m"))
    right = 16 + _LETTER * max([7, *(len(_shortened(t)) for c in choices for _, t in _apart(c.ends, 2))])
    return _svg(_LEFT + _WIDE + right, high, parts, label, "curve", 1.5)


def thumbnail(margins: Sequence[float], label: str) -> Markup:
    """Draws the curve without parameters, in the size of a word."""
    order = sorted(range(len(margins)), key=margins.__getitem__)
    most = max((abs(m) for m in margins), default=0.0) or 1.0
    parts = [*_curve(order, margins, 15, 14 / most, 96 / max(1, len(order)), 0), '<path d="M0 15h96" class="axis"/>']
    return _svg(96, 30, parts, label, "curve small", 1.0)


def strip(places: Sequence[float], marked: Sequence[bool], label: str) -> Markup:
    """Draws the positions of settings in the range of one parameter, some of them marked."""
    at = [(4 + 172 * p, 11) for p in places]
    parts = ['<path d="M4 11h172" class="axis"/>', _dots([xy for xy, m in zip(at, marked, strict=True) if not m], "faint")]
    parts.append(_dots([xy for xy, m in zip(at, marked, strict=True) if m], "t large"))
    return _svg(180, 22, parts, label, "curve small", 1.0)


def chart(holds: Sequence[bool], across: Choice, up: Choice, label: str, words: tuple[str, str] = ("holds", "fails")) -> Markup:
    """Draws where a claim holds over two parameters, with dashed lines at changes."""
    rows = _apart(up.ends, 6)
    left, top, wide, high = 42 + _LETTER * max(len(line) for _, t in rows for line in wrap(t, _LINE)), 26, 280, 230
    at = [(left + wide * x, top + high * (1 - y)) for x, y in zip(across.spread(), up.spread(), strict=True)]
    parts = [f'<rect x="{left - 6}" y="{top - 6}" width="{wide + 12}" height="{high + 12}" class="frame"/>']
    parts += [f'<path d="M{left + wide * p:.0f} {top - 6}v{high + 12}" class="turn"/>' for p in across.turns]
    parts += [f'<path d="M{left - 6} {top + high * (1 - p):.0f}h{wide + 12}" class="turn"/>' for p in up.turns]
    parts.append(_dots([xy for xy, h in zip(at, holds, strict=True) if h], "t large"))
    crosses = "".join(f"M{x - 3:.0f} {y - 3:.0f}l6 6m0-6l-6 6" for (x, y), h in zip(at, holds, strict=True) if not h)
    parts.append(f'<path d="{crosses}" class="cross"/>')
    parts += [_text(left, 13, f"● {words[0]}", "start", "t"), _text(left + wide, 13, f"× {words[1]}", "end", "f")]
    parts += [_text(left + wide * p, top + high + 22, t, _side(p), "m") for p, t in _fitting(across.ends, wide)]
    parts += [x for p, t in rows for x in _lines(left - 12, top + high * (1 - p) + 4, t, "end")]
    parts.append(_text(left + wide / 2, top + high + 40, across.name, "middle"))
    parts.append(f'<text transform="translate(14 {top + high / 2:g}) rotate(-90)" text-anchor="middle">{_escaped(up.name)}</text>')
    return _svg(left + wide + 30, top + high + 46, parts, label, "curve", 1.5)


def _curve(order: Sequence[int], margins: Sequence[float], middle: float, scale: float, dx: float, left: float) -> list[str]:
    """Returns the margins as two areas, from the smallest to the largest."""
    parts = []
    for kind, sign in (("f", -1), ("t", 1)):
        ranks = [r for r, i in enumerate(order) if margins[i] * sign > 0]
        if ranks:
            steps = "".join(f"V{middle - scale * margins[order[r]]:.1f}h{dx:.2f}" for r in ranks)
            parts.append(f'<path d="M{left + dx * ranks[0]:.1f} {middle:g}{steps}V{middle:g}z" class="{kind}"/>')
    return parts


def _dots(points: Sequence[tuple[float, float]], kind: str) -> str:
    return f'<path d="{"".join(f"M{x:.0f} {y:.0f}h0" for x, y in points)}" class="dots {kind}"/>' if points else ""


def _apart(ends: Sequence[tuple[float, str]], most: int) -> list[tuple[float, str]]:
    """Returns all names if they are few, else those of the two ends."""
    return list(ends) if len(ends) <= most else [ends[0], ends[-1]]


def _shortened(text: str) -> str:
    """Returns a name that fits on one line: a row has no room for two."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _fitting(ends: Sequence[tuple[float, str]], wide: float) -> list[tuple[float, str]]:
    """Returns the names that fit next to each other."""
    return _apart(ends, len(ends) if _LETTER * sum(len(t) + 2 for _, t in ends) <= wide else 2)


def _side(place: float) -> str:
    return "start" if place < 0.1 else "end" if place > 0.9 else "middle"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{_escaped(text)}</text>'


def _lines(x: float, y: float, text: str, anchor: str) -> list[str]:
    """Returns the wrapped name of a position next to a row."""
    lines = wrap(text, _LINE)
    return [_text(x, y + 13 * (k - (len(lines) - 1) / 2), line, anchor, "m") for k, line in enumerate(lines)]


def _svg(wide: float, high: float, parts: Sequence[str], label: str, kind: str, largest: float) -> Markup:
    from markupsafe import Markup

    alt = _escaped(label).replace('"', "'")
    least = f";min-width:{_READABLE * wide:.0f}px" if "small" not in kind else ""
    size = f"max-width:{largest * wide:.0f}px{least}"
    head = f'<svg viewBox="0 0 {wide:g} {high:g}" class="{kind}" style="{size}" role="img" aria-label="{alt}">'
    return Markup(head + "".join(parts) + "</svg>")
