"""Heat map of goodput: one row per flow, time on the x axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.format import scale
from ...errors import FairlaneError
from ...look import theme
from .pen import Pen, named
from .view import View, blocks

MOST_NAMES = 24
MOST_COLUMNS = 200


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws the goodput of each flow in spans of equal length; the highest is lightest, grey is before the first value."""
    from matplotlib import colormaps

    (v,) = views
    flows = v.flows()
    if not flows:
        raise FairlaneError("sharing needs flows, and this result has none")
    runs = [v.rates("goodput", flows, seed) for seed in v.seeds]
    times, values, length = blocks(runs[0][0], np.mean([m for _, m in runs], axis=0), MOST_COLUMNS)
    finite = values[np.isfinite(values)]
    top = float(np.quantile(finite, 0.995)) if len(finite) and finite.max() > 0 else 1.0
    factor, unit = scale("bit/s", top)
    colours = colormaps["cividis"].with_extremes(bad=theme.GRID)
    start = float(times[0] - (length if len(times) > 1 else 0) / 2) if len(times) else 0.0
    end = float(times[-1] + length / 2) if len(times) else 1.0
    image = pen.ax.imshow(
        np.ma.masked_invalid(values.T * factor), aspect="auto", interpolation="nearest", cmap=colours, vmin=0, vmax=top * factor,
        extent=(start, end if end > start else start + 1, len(flows) - 0.5, -0.5),
    )  # fmt: skip
    image.set_gid("heat")
    pen.drawn.append({"name": "goodput", "role": "heat", "flows": flows, "x": times, "z": [row for row in values.T * factor]})
    step = max(1, -(-len(flows) // MOST_NAMES))
    pen.ax.set_yticks(range(0, len(flows), step), [named(f, 20) for f in flows[::step]])
    pen.label(("time", "s"), ("flow" if len(flows) > MOST_NAMES else "", ""))
    pen.ax.grid(visible=False)
    pen.axes["z"] = {"label": "goodput", "unit": unit}
    bar = pen.ax.figure.colorbar(image, ax=pen.ax, pad=0.02)
    bar.set_label(f"goodput ({unit}), means of {length:.3g} s" if length else f"goodput ({unit})")
    bar.outline.set_visible(False)
