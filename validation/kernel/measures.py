"""Measures, and the results of each side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from fairlane import _core
from fairlane.runs.result import run_resolved

from .cases import MSS, Case

#: Slow-start threshold of a flow that has not left slow start.
INFINITE = 1 << 30


@dataclass(frozen=True)
class Found:
    """Results of a run: unless stated otherwise, means over all flows from the end of the warm-up on."""

    goodput: float
    """Sum of the bytes acknowledged over the time, Mbit/s."""
    flows: tuple[float, ...]
    """Goodput of each flow, Mbit/s."""
    rtt: float
    """Mean of the smoothed round-trip times, ms."""
    retransmits: float
    """Segments sent again, over the whole run."""
    exit: float
    """The first slow-start threshold of the first flow, segments: the window when HyStart ended slow start, or what a loss left of it."""
    cwnd: float
    """Mean congestion window of a flow, segments."""
    queue: float
    """Mean packets that wait, over the whole run."""
    late_p99_us: float = 0.0
    """99th percentile of the lateness of the relay's packets."""
    late_max_us: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """By name."""
        return asdict(self)


def of_kernel(case: Case, run: dict[str, Any]) -> Found:
    """From the rows of a run on the kernel."""
    rows = np.array(run["rows"])
    late = rows[rows[:, 0] >= case.warmup]
    flows = []
    for flow in range(case.flows):
        of = late[late[:, 1] == flow]
        flows.append(float((of[-1, 4] - of[0, 4]) * 8e-6 / (of[-1, 0] - of[0, 0])))
    last = rows[rows[:, 0] == rows[-1, 0]]
    thresholds = rows[(rows[:, 1] == 0) & (rows[:, 6] < INFINITE)][:1, 6]
    return Found(
        goodput=sum(flows),
        flows=tuple(flows),
        rtt=float(late[:, 3].mean() / 1e3),
        retransmits=float(last[:, 5].sum()),
        exit=float(thresholds.sum()),
        cwnd=float(late[:, 2].mean()),
        queue=float(run["queue_mean"]),
        late_p99_us=run["late_p99_us"],
        late_max_us=run["late_max_us"],
    )


def of_simulation(case: Case, run: int = 1) -> Found:
    """Returns the results of a simulated run."""
    result = run_resolved(_core.resolve(case.scenario(run, simulated=True), f"{case.name}.toml", "toml", []), [run])
    late = result.flow_series.filter(pl.col("time") >= case.warmup)
    link = result.links.filter(pl.col("link") == "bottleneck")
    flows = [late.filter(pl.col("flow") == f"f{i}")["goodput"].mean() * 1e-6 for i in range(case.flows)]
    first = result.flow_series.filter((pl.col("flow") == "f0") & pl.col("ssthresh").is_between(1, INFINITE))["ssthresh"]
    return Found(
        goodput=sum(flows),
        flows=tuple(flows),
        rtt=late["srtt"].mean() * 1e3,
        retransmits=float(result.flows["retransmits"].sum()),
        exit=first[0] / MSS if len(first) else 0.0,
        cwnd=late["cwnd"].mean() / MSS,
        queue=link["queue_mean"][0],
    )
