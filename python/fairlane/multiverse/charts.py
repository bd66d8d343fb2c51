"""A claim in many settings as pages draw it: the specification curve, and the map of where it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .model import Levels, Open, Span, Value, text_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..look.curves import Choice
    from .verdicts import Boundary


@dataclass(frozen=True)
class Outcomes:
    """A claim in settings: the parameters, the values of each setting, the outcome there and its margin."""

    opens: Sequence[Open]
    settings: Sequence[Mapping[str, Value]]
    holds: Sequence[bool | None]
    margins: Sequence[float | None]
    matters: Mapping[str, float]
    boundaries: Sequence[Boundary] = ()

    def known(self) -> list[int]:
        """The settings that say something, from the least margin to the greatest."""
        told = [(m, i) for i, m in enumerate(self.margins) if m is not None and self.holds[i] is not None]
        return [i for _, i in sorted(told)]

    def ranked(self) -> list[Open]:
        """Returns the unstated parameters, largest effect first: those at boundaries, then by share of the margin's variance."""
        first = [t.name for t in self.boundaries]
        return sorted(self.opens, key=lambda o: (first.index(o.name) if o.name in first else len(first), -self.matters.get(o.name, 0.0)))


@dataclass(frozen=True)
class Drawn:
    """The pictures of a claim."""

    curve: Markup
    map: Markup | None
    """None if it comes out the same everywhere, or over one thing alone."""


def drawn(id: str, of: Outcomes, rows: int) -> Drawn | None:
    """Returns the figures of a claim, with `rows` parameters below its curve; None if no setting can evaluate it."""
    from ..look import curves

    known = of.known()
    if not known:
        return None
    holds, margins = [bool(of.holds[i]) for i in known], [float(of.margins[i] or 0.0) for i in known]
    choices = [choice(o, [of.settings[i][o.name] for i in known], of.boundaries) for o in of.ranked()[:rows]]
    said = f"{id}, {len(known)} settings: holds in {sum(holds)} of them"
    map = None
    if len(choices) > 1 and 0 < sum(holds) < len(holds):
        across, up = choices[:2]
        map = curves.chart(holds, across, up, f"{said}, over {across.name} and {up.name}")
    return Drawn(curves.curve(holds, margins, choices, f"{said}, in the order of the margin"), map)


def choice(o: Open, values: Sequence[Value], boundaries: Sequence[Boundary] = ()) -> Choice:
    """Returns a parameter with its values in settings, as a row of a curve or an axis of a map, with its own boundaries."""
    from ..look.curves import Choice

    ends: list[tuple[float, str]] = []
    if isinstance(o.over, Levels):
        ends = [(o.over.place(v), text_of(v)) for v in o.over.values]
    elif isinstance(o.over, Span):
        ends = [(0.0, text_of(o.over.low)), (1.0, text_of(o.over.high))]
    own = [o.over.place(t.value) for t in boundaries if t.name == o.name and not t.where and isinstance(t.value, str)]
    return Choice(o.name, [o.over.place(v) for v in values], ends, own, isinstance(o.over, Levels))
