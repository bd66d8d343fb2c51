"""What is compared, and what each side found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from fairlane import _core
from fairlane.runs.result import run_resolved

from .cases import MSS, Case


@dataclass(frozen=True)
class Found:
    """Means from the end of the warm-up on, over all flows."""

    goodput: float
    """Sum of the bytes acknowledged over the time, Mbit/s."""
    rtt: float
    """Mean of the smoothed round-trip times, ms."""
    cwnd: float
    """Mean congestion window of a flow, segments."""
    queue: float
    """Mean packets that wait, over the whole run."""
    retransmits: float
    """Segments sent again, over the whole run."""

    def as_dict(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True)
class Measure:
    """A quantity, and how far the two sides may differ; None: shown, not judged."""

    name: str
    unit: str
    bound: float | None


MEASURES = [
    Measure("goodput", "Mbit/s", 0.05),
    Measure("rtt", "ms", 0.10),
    Measure("cwnd", "segments", None),
    Measure("queue", "packets", None),
    Measure("retransmits", "segments", None),
]


def of_kernel(case: Case, run: dict[str, Any]) -> Found:
    """From the rows of a run on the kernel."""
    rows = np.array(run["rows"])
    late = rows[rows[:, 0] >= case.warmup]
    goodput = 0.0
    for flow in range(case.flows):
        of = late[late[:, 1] == flow]
        goodput += (of[-1, 4] - of[0, 4]) * 8e-6 / (of[-1, 0] - of[0, 0])
    last = rows[rows[:, 0] == rows[-1, 0]]
    return Found(
        goodput=float(goodput),
        rtt=float(late[:, 3].mean() / 1e3),
        cwnd=float(late[:, 2].mean()),
        queue=float(run["queue_mean"]),
        retransmits=float(last[:, 5].sum()),
    )


def of_simulation(case: Case, seed: int = 1) -> Found:
    """The same of a simulated run."""
    result = run_resolved(_core.resolve(case.scenario(), f"{case.name}.toml", "toml", []), [seed])
    late = result.flow_series.filter(pl.col("time") >= case.warmup)
    link = result.links.filter(pl.col("link") == "bottleneck")
    return Found(
        goodput=late["goodput"].mean() * case.flows * 1e-6,
        rtt=late["srtt"].mean() * 1e3,
        cwnd=late["cwnd"].mean() / MSS,
        queue=link["queue_mean"][0],
        retransmits=float(result.flows["retransmits"].sum()),
    )
