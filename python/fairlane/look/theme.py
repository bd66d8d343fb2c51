"""Colours and fonts of figures and pages; colours of an inline figure become CSS variables."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .texts import sanitize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, GRID, FACE = "#1b2430", "#5f6b7a", "#dfe4ea", "#fdfdfe"
"""Text, secondary text, grid lines, and page background."""

HUES = ("#0072b2", "#d55e00", "#005136", "#6b006b", "#868694", "#5e4300", "#bc795e", "#a10dff")
"""Colours of flows, links and curves: distinct with normal sight and each kind of colour blindness, and visible on white.

From the ninth on, a curve has a pattern (`dash`). `page.css` has the colours of dark screens.
"""

TINTS = ("#d9efe6", "#fbeecb", "#f8dcd2")
"""Backgrounds of regions: free, careful, full."""

VARIABLES = {
    INK: "ink", MUTED: "muted", GRID: "grid", FACE: "face",
    **{h: f"hue{i}" for i, h in enumerate(HUES)}, **{t: f"tint{i}" for i, t in enumerate(TINTS)},
}  # fmt: skip
"""CSS variable of each colour."""

_DASHES = ("-", "--", ":", "-.")
_NAMED = {"DropTail": 0, "RED": 1, "TCP": 2, "UDP": 3}


def hue(name: str, number: int = 0) -> str:
    """Returns the colour of a curve: by its name if that has a fixed colour, else by its number."""
    return colour(hue_number(name, number))


def hue_number(name: str, number: int) -> int:
    """Returns the number of the colour of a curve; see `hue`."""
    return _NAMED.get(name, number)


def colour(number: int) -> str:
    """Returns the colour with a number."""
    return HUES[number % len(HUES)]


def dash(number: int) -> str:
    """Returns the pattern of a curve by the number of its colour.

    >>> dash(7), dash(8)
    ('-', '--')
    """
    return _DASHES[number // len(HUES) % len(_DASHES)]


def flow_numbers(flows: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Returns the number of the colour of each flow, given by group and name in the order of declaration.

    A group has the number of its first flow.

    >>> flow_numbers([("web", "web.0"), ("web", "web.1"), ("call", "call")])
    {'web.0': 0, 'web': 0, 'web.1': 1, 'call': 2}
    """
    out: dict[str, int] = {}
    for number, (group, name) in enumerate(flows):
        out[name] = number
        out.setdefault(group, number)
    return out


def link_numbers(links: Sequence[str]) -> dict[str, int]:
    """Returns the number of the colour of each link direction in the order of declaration, reverse directions last.

    Flows are numbered from the first colour and links from the last, so that a few flows and a few links share none.

    >>> link_numbers(["a", "a.reverse", "b"])
    {'a': 7, 'b': 6, 'a.reverse': 5}
    """
    n = len(HUES)
    order = sorted(links, key=lambda name: name.endswith(".reverse"))
    return {name: n - 1 - k % n + n * (k // n) for k, name in enumerate(order)}


def style() -> dict[Any, Any]:
    """Returns the Matplotlib settings of all figures."""
    return {
        "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "font.size": 9, "font.family": "sans-serif",
        "text.color": INK, "axes.labelcolor": MUTED, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED,
        "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
        "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.7, "axes.axisbelow": True, "axes.titlesize": 10,
        "axes.titleweight": "bold", "axes.titlelocation": "left", "svg.fonttype": "none", "svg.hashsalt": "fairlane",
        "pdf.fonttype": 42, "ps.fonttype": 42,
        "text.parse_math": False, "xtick.minor.bottom": False, "ytick.minor.left": False, "path.simplify": True,
    }  # fmt: skip


class Panel(Protocol):
    """Drawing with a known size."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top margins in inches."""

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws into the axes."""


def figure_of(panels: Sequence[Panel]) -> Figure:
    """Draws panels side by side; texts of users are safe in SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(style()):
        wide, high = sum(p.size[0] for p in panels), max(p.size[1] for p in panels)
        figure = Figure(figsize=(wide, high))
        x = 0.0
        for p in panels:
            (w, h), (left, bottom, right, top) = p.size, p.margins
            rect = ((x + left) / wide, (high - h + bottom) / high, (w - left - right) / wide, (h - bottom - top) / high)
            p.draw(figure, figure.add_axes(rect))
            x += w
        sanitize(figure)
    return figure


def svg(figure: Figure) -> str:
    """Returns the figure as stand-alone SVG; equal figures give equal text."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(style()):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "fairlane"})
    return buffer.getvalue()


def side_by_side(drawings: Sequence[str]) -> str:
    """Joins stand-alone SVGs of `svg` into one, from left to right, top edges in a line.

    >>> one = '<?xml version="1.0"?>\\n<svg width="72pt" height="36pt" viewBox="0 0 72 36"><g id="a"/></svg>'
    >>> side_by_side([one, one]).splitlines()[1]
    '<svg xmlns="http://www.w3.org/2000/svg" width="144pt" height="36pt" viewBox="0 0 144 36" version="1.1">'
    """
    x = high = 0.0
    parts = []
    for i, text in enumerate(drawings):
        head, rest = text[text.index("<svg") :].split(">", 1)
        wide, tall = (float(size) for size in re.findall(r' (?:width|height)="([\d.]+)pt"', head))
        head = re.sub(r'( width| height)="([\d.]+)pt"', r'\1="\2"', head).replace("<svg", f'<svg x="{x:g}"')
        parts.append(f"{head}>{prefixed(rest, f'panel{i}').rstrip()}")
        x, high = x + wide, max(high, tall)
    first = drawings[0]
    size = f'width="{x:g}pt" height="{high:g}pt" viewBox="0 0 {x:g} {high:g}"'
    return "\n".join([
        first[: first.index("<svg")].rstrip(), f'<svg xmlns="http://www.w3.org/2000/svg" {size} version="1.1">', *parts, "</svg>\n"
    ])  # fmt: skip


def png(figure: Figure) -> bytes:
    """Returns the figure as PNG on white."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160, facecolor="white", metadata={"Software": "fairlane"})
    return buffer.getvalue()


def prefixed(text: str, prefix: str) -> str:
    """Returns SVG with a prefix before all ids and references to them, so that several drawings can be in one document."""
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    return re.sub(r"url\(#", f"url(#{prefix}-", text)


def inline(text: str, prefix: str, label: str) -> str:
    """Converts SVG for a page: no prolog, colours as CSS variables, unique ids, a label for screen readers."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for colour, name in VARIABLES.items():
        text = text.replace(colour, f"var(--{name}, {colour})")
    head, rest = prefixed(text, prefix).split(">", 1)
    width = re.search(r'width="([\d.]+)pt"', head)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    if width:  # at its natural size on a wide screen, narrower with the column
        if float(width[1]) > 400:
            head += ' class="wide"'
        head += f' style="max-width:{float(width[1]) * 1.75:.0f}px"'
    words = label.replace("&", "and").replace("<", "").replace('"', "'")
    return f'{head} role="img" aria-label="{words}">{rest}'
