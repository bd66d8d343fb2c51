"""Interactive charts of a page: linked zoom, values at the cursor, and the data as a table and a CSV file.

uPlot draws them (`charts.js`, built from `web/`); the page contains the data as JSON without markup. A curve with more points than pixels
is downsampled to the mean, the minimum and the maximum of each interval, so that no peak is lost.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..base.format import number
from .theme import FACE, GRID, HUES, INK, MUTED

if TYPE_CHECKING:
    import numpy as np
    from markupsafe import Markup

MOST_POINTS = 1200
"""Most points of a curve: about two per pixel."""
MOST_OF_CHART = 6000
"""Most points of all curves of a chart."""
LEAST_POINTS = 150
DIGITS = 5
"""Significant digits of drawn values; tables have all digits."""
_PAPER = {"ink": INK, "muted": MUTED, "grid": GRID, "face": FACE, **{f"hue{i}": h for i, h in enumerate(HUES)}}


@dataclass(frozen=True)
class Line:
    """Curve or set of marks; None and NaN are missing values."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    """Upper end of a band or of intervals; the chart's `ends` names both ends."""
    hue: int | None = 0
    """Number of the colour, with a pattern from the ninth on; None: grey marks only."""
    bars: bool = False
    """True for marks with intervals instead of a band."""
    mark: str = "dot"
    """Shape of marks: dot, square, star or cross."""
    hollow: bool = False
    """True for outlined marks with a dotted line, as for published values."""
    size: float = 4.0
    labels: Sequence[str] = ()
    """Names of single marks."""


@dataclass(frozen=True)
class Chart:
    """Interactive chart."""

    name: str
    """Name of its CSV file and of its element, unique in a page."""
    title: str
    x: str
    y: str
    """Label of the y axis with its unit."""
    lines: Sequence[Line]
    kind: str = "line"
    """Kind of chart: line or dots."""
    link: str = ""
    """Charts with equal `link` share zoom and cursor."""
    ends: tuple[str, str] = ("minimum", "maximum")
    spans: Sequence[tuple[float, float, str]] = ()
    """Named spans of the x axis."""
    levels: Sequence[tuple[float, str]] = ()
    """Named horizontal lines."""
    from_zero: bool = True
    log_x: bool = False
    log_y: bool = False
    names: Sequence[str] = ()
    """Names of the positions 0, 1, 2... of a categorical x axis."""
    ticks: Sequence[float] = ()
    caption: str = ""

    @property
    def alt(self) -> str:
        """Text alternative."""
        ranges = [f"{line.name}: {_range(line.y)}" for line in self.lines[:8]]
        more = [f"and {len(self.lines) - 8} more"] if len(self.lines) > 8 else []
        kind = "Chart" if self.kind == "line" else "Scatter plot"
        return f"{kind} of {self.title}, {self.y} over {self.x}. {'; '.join([*ranges, *more])}."


def _range(values: Iterable[float | None]) -> str:
    known = [v for v in values if v is not None and math.isfinite(v)]
    if not known:
        return "no value"
    low, high = min(known), max(known)
    if low == high:
        return number(low)
    return f"from {number(low)} to {number(high)}, mean {number(math.fsum(known) / len(known))}"


class Charts:
    """Charts of one page: its head, the elements of the charts, and the script."""

    def __init__(self, charts: Iterable[Chart], scripts: Sequence[str] = ()) -> None:
        """`scripts`: further scripts to allow, in frames of the page."""
        self._charts = {c.name: c for c in charts}
        self._scripts = scripts

    def __bool__(self) -> bool:
        return bool(self._charts)

    def __iter__(self) -> Any:
        return iter(self._charts.values())

    @property
    def head(self) -> Markup:
        """Style of the charts, and a policy that allows no external resources and no other scripts."""
        from markupsafe import Markup

        rules = policy([*([_shipped("charts.js")] if self else []), *self._scripts])
        return Markup(f"{rules}\n<style>{_shipped('charts.css') if self else ''}{_shipped('live.css')}</style>")

    def figure(self, name: str) -> Markup:
        """Returns the element of a chart, with its text alternative if scripts are disabled."""
        from markupsafe import Markup

        c = self._charts[name]
        caption = Markup("<figcaption>{}</figcaption>").format(c.caption) if c.caption else ""
        return Markup('<figure class="live"><div data-chart="{}"><p><b>{}</b></p><p class="small">{}</p></div>{}</figure>').format(
            name, c.title, c.alt, caption
        )

    @property
    def foot(self) -> Markup:
        """Data and script for the end of the body."""
        from markupsafe import Markup

        if not self:
            return Markup("")
        data = f'<script type="application/json" id="charts-of-page">{inert_json(self.document())}</script>'
        return Markup(f"{data}\n<script>{_shipped('charts.js')}</script>")

    def document(self) -> dict[str, Any]:
        """Returns the data for `charts.js`; curves with equal times share one list."""
        axes: dict[tuple[float | None, ...], int] = {}
        charts = {name: _chart_data(c, axes) for name, c in self._charts.items()}
        return {"paper": _PAPER, "x": [list(x) for x in axes], "charts": charts}


def _chart_data(c: Chart, axes: dict[tuple[float | None, ...], int]) -> dict[str, Any]:
    lines = []
    for line in c.lines:
        own: dict[str, Any] = {"name": line.name, "x": axes.setdefault(tuple(_numbers(line.x, 10)), len(axes)), "hue": line.hue}
        own["y"] = _numbers(line.y)
        if len(line.low):
            own |= {"low": _numbers(line.low), "high": _numbers(line.high)}
        own |= {k: v for k, v in (("bars", line.bars), ("hollow", line.hollow), ("labels", list(line.labels))) if v}
        if c.kind == "dots" or line.bars:
            own |= {"mark": line.mark, "size": line.size}
        lines.append(own)
    return {
        "name": c.name, "title": c.title, "alt": c.alt, "kind": c.kind, "link": c.link, "ends": list(c.ends), "lines": lines,
        "spans": [list(s) for s in c.spans], "levels": [list(v) for v in c.levels],
        "x": {"label": c.x, "log": c.log_x, "names": list(c.names) or None, "ticks": list(c.ticks) or None},
        "y": {"label": c.y, "log": c.log_y, "from": 0 if c.from_zero else None},
    }  # fmt: skip


def _numbers(values: Sequence[float | None], digits: int = DIGITS) -> list[float | None]:
    """Rounds numbers for display; None for missing values."""
    out: list[float | None] = []
    for v in values:
        if v is None or not math.isfinite(v):
            out.append(None)
        else:
            short = float(f"{v:.{digits}g}")
            out.append(int(short) if short.is_integer() and abs(short) < 1e15 else short)
    return out


def inert_json(value: Any) -> str:
    """Returns JSON that contains no markup, so that names cannot end or start an element.

    >>> inert_json({"</script>": "<!-- & -->"})
    '{"\\\\u003c/script\\\\u003e":"\\\\u003c!-- \\\\u0026 --\\\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def policy(scripts: Sequence[str] = (), connect: str = "") -> str:
    """Returns a Content-Security-Policy: no external resources, only these scripts, connections only to `connect`."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    runs = " ".join(f"'sha256-{d}'" for d in digests) or "'none'"
    rules = f"default-src 'none'; script-src {runs}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    rules += f"; connect-src {connect}" if connect else ""
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


def points_per_curve(curves: int) -> int:
    """Returns the most points of each of `curves` curves of a chart."""
    return max(LEAST_POINTS, min(MOST_POINTS, MOST_OF_CHART // max(1, curves)))


@dataclass(frozen=True)
class Downsampled:
    """Series reduced to the points that a chart can show."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    span: float = 0.0
    """Length of the interval of each point; 0 without downsampling."""

    def line(self, name: str, hue: int) -> Line:
        """Returns the series as a curve."""
        return Line(name, self.x, self.y, self.low, self.high, hue)


def downsample(
    times: np.ndarray, values: np.ndarray, most: int, *, rate: bool = False, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> Downsampled:
    """Downsamples a series to at most `most` points.

    Each point is the mean of its interval. `low` and `high` are the minimum and maximum of its values, or of the given series. A rate has
    neither: its mean is the rate over the interval, while over single packets it jumps between zero and the link rate.
    """
    import numpy as np

    n = len(times)
    given = low is not None and high is not None and not rate
    bottom, top = values if low is None else low, values if high is None else high
    if n <= most:
        return Downsampled(times.tolist(), values.tolist(), *((bottom.tolist(), top.tolist()) if given else ()))
    size = -(-n // most)
    # The last interval may be shorter: it is padded with missing values.
    rows = [np.pad(v.astype(float), (0, -n % size), constant_values=np.nan).reshape(-1, size) for v in (times, values, bottom, top)]
    with np.errstate(all="ignore"):
        there = np.isfinite(rows[1])
        some = there.any(axis=1)
        mean = np.where(some, np.where(there, rows[1], 0.0).sum(axis=1) / np.maximum(1, there.sum(axis=1)), np.nan)
        least = np.where(np.isfinite(rows[2]), rows[2], np.inf).min(axis=1)
        greatest = np.where(np.isfinite(rows[3]), rows[3], -np.inf).max(axis=1)
    ends: list[list[float]] = [[], []] if rate else [np.where(some, v, np.nan).tolist() for v in (least, greatest)]
    span = size * float(times[-1] - times[0]) / max(1, n - 1)
    return Downsampled(rows[0][:, 0].tolist(), mean.tolist(), ends[0], ends[1], span)


def resolution_note(spans: Iterable[float], rate: bool) -> str:
    """Returns the note of a caption on downsampling; empty if every value is drawn."""
    longest = max(spans, default=0.0)
    if not longest:
        return ""
    lead = f"Each point is the mean over {longest:.3g} s"
    return f"{lead}." if rate else f"{lead}; the band shows minimum and maximum."
