"""Unstated parameters on the page of a paper: claims over all settings, best-fitting settings, determined parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..look import curves
from ..multiverse import Levels, Open, Value, key_of, matters, text_of
from ..multiverse.charts import Outcomes, choice, drawn
from .full_reruns import CHANCE
from .tables import NEAR
from .verdicts import conditions, percent

if TYPE_CHECKING:
    from .claims import Judged
    from .joint_sample import Joint
    from .settings import Seen

ROWS = 4
"""Parameters below a specification curve, largest effect first."""
BEST = 5
"""Settings nearest to the published values that are listed."""
FEWEST = 4
"""Fewest matching settings for a statement on determined parameters."""
PINNED = 0.5
"""Part of its range within which the matching settings have something, for it to be pinned down."""


def of_claim(j: Judged, joint: Joint) -> dict[str, Any] | None:
    """A claim over the settings: the curve, and where it changes; None if no setting can evaluate it."""
    id = j.claim.id
    judging = joint.judging(id)
    settings, margins = [s.values for s in judging], [s.margins.get(id) for s in judging]
    holds = [None if s.outcomes[id] is None else (s.outcomes[id] or 0.0) >= 0.5 for s in judging]
    weight = matters(joint.opens, settings, margins)
    pictures = drawn(id, Outcomes(joint.opens, settings, holds, margins, weight, j.boundaries), ROWS)
    if pictures is None:
        return None
    return {"curve": pictures.curve, "map": pictures.map or "", "boundaries": conditions(j.boundaries)}


def of_paper(joint: Joint) -> dict[str, Any]:
    """Returns the unstated parameters, the best-fitting settings, and which parameters the published values determine."""
    sample, matching = joint.sample, {id(s) for s in joint.matching}
    inside = [s for s in sample if id(s) in matching]
    ranked = sorted(joint.opens, key=lambda o: -joint.matters[o.name])
    rows: list[dict[str, Any]] = []
    for o in ranked:
        places = [o.over.place(s.values[o.name]) for s in sample]
        label = f"{o.name}: {len(inside)} of {len(sample)} settings match the published values"
        rows.append({
            "open": o, "values": str(o.over), "base": text_of(o.base), "declared": text_of(joint.declared[o.name]),
            "matters": joint.matters[o.name], "pinned": pinned(o, inside),
            "strip": curves.strip(places, [id(s) in matching for s in sample], label),
        })  # fmt: skip
    best = [
        {"kind": s.kind, "values": [(o.name, text_of(s.values[o.name])) for o in ranked], "distance": s.distance} for s in joint.best[:BEST]
    ]
    used = next((s.distance for s in joint.seen if key_of(s.values) == key_of(joint.declared)), None)
    pair = ""
    if len(ranked) > 1 and inside and len(inside) < len(sample):
        across, up = (choice(o, [s.values[o.name] for s in sample]) for o in ranked[:2])
        text = f"Settings that match the published values, over {across.name} and {up.name}"
        pair = curves.chart([id(s) in matching for s in sample], across, up, text, ("matches", "does not"))
    return {
        "rows": rows, "names": [o.name for o in ranked], "best": best, "used": used, "pair": pair,
        "entire": _entire(joint), "again": joint.again, "inside": len(inside), "sample": len(sample),
        "beyond": len(joint.seen) - len(sample), "pinned": [r["open"].name for r in rows if r["pinned"]],
        "free": [r["open"].name for r in rows if not r["pinned"]],
    }  # fmt: skip


def _entire(joint: Joint) -> list[str]:
    """Returns paragraphs on all published values in the full reruns; none without full reruns."""
    w, e = joint.whole, joint.emulated
    if w is None:
        return []
    settings = [n for n in w.ours if n != CHANCE]
    least = e.least if e else NEAR
    most, needed = max(w.within(n, least) for n in settings), len(w.places) // 2 + 1
    text = (
        f"{len(settings)} settings were rerun in full, with all {len(w.places)} published values, and are recorded. The best one has a "
        f"median deviation of {percent(min(map(w.median, settings)))}. A median below {percent(least)} needs {needed} values within "
        f"it; the best of these settings has {most}."
    )
    return [text, e.sentences()] if e else [text]


def pinned(o: Open, inside: Sequence[Seen]) -> str:
    """Returns the values to which the matching settings of the sample restrict a parameter; empty if they do not, or are few."""
    if len(inside) < FEWEST:
        return ""
    values: list[Value] = [s.values[o.name] for s in inside]
    if isinstance(o.over, Levels):
        there = list(dict.fromkeys(text_of(v) for v in values))
        return " or ".join(there) if len(there) <= PINNED * len(o.over.values) else ""
    places = sorted((o.over.place(v), text_of(v)) for v in values)
    return f"{places[0][1]} to {places[-1][1]}" if places[-1][0] - places[0][0] <= PINNED else ""
