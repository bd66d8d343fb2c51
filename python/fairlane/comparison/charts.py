"""Interactive charts of a comparison: the queue length over time, a line per setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..look.web_charts import Chart, downsample, points_per_curve, resolution_note
from ..runs.charts import warmup
from .plots import short_names

if TYPE_CHECKING:
    from .data import ComparisonData

EACH = 6
"""Most settings of a chart."""
MOST = 48
"""Most settings that are drawn."""


def queues(c: ComparisonData) -> list[Chart]:
    """Returns charts of the queue length at the link for the first seed; several linked charts for many settings."""
    short = short_names([q.label for q in c.settings])
    settings = [(q, short[q.label].replace("\n", "")) for q in c.settings[:MOST]]
    parts = [settings[i : i + EACH] for i in range(0, len(settings), EACH)]
    out = []
    for n, part in enumerate(parts):
        drawn = []
        begin = n * EACH
        for q, name in part:
            times, waiting = q.series()
            drawn.append((name, downsample(np.asarray(times), np.asarray(waiting), points_per_curve(len(part)))))
        lines = [s.line(name, begin + i) for i, (name, s) in enumerate(drawn) if len(s.x)]
        if not lines:
            continue
        more = f" {len(c.settings) - MOST} more settings not drawn." if n == len(parts) - 1 and len(c.settings) > MOST else ""
        caption = f"Queue length at the link, seed {c.seeds[0]}. {resolution_note([s.span for _, s in drawn], False)}{more}".strip()
        title = f"Queue length of {c.link}" + (f" ({n + 1} of {len(parts)})" if len(parts) > 1 else "")
        spans = warmup(part[0][0].result)
        out.append(Chart(f"queue-{n}", title, "time (s)", "queue length (packets)", lines, link="time", spans=spans, caption=caption))
    return out
