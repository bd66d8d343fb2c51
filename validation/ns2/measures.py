"""Measures, defined equally on both sides."""

from __future__ import annotations

from validation.sides.judge import Measure, Simulator, Values

from fairlane.base.metrics import jain

NS2 = Simulator("ns-2", "ns2", width=34, digits=5, either=False)

MEASURES = (
    Measure("utilisation", "%", "wire bytes whose transmission began on the watched link / its capacity", None, 0.5),
    Measure("goodput", "Mbit/s", "payload delivered, each byte once, all flows", 0.01),
    Measure("queue_mean", "packets", "time average of the packets waiting, without the one in transmission", 0.05, 0.05),
    Measure("drops", "packets", "data packets lost at all queues of the path", 0.10, 2.0),
    Measure("loss", "%", "data packets lost / data packets sent", 0.10, 0.005),
    Measure("retransmits", "packets", "data packets sent again", 0.10, 2.0),
    Measure("period", "s", "mean time between window cuts after the first 20 s", 0.02),
    Measure("peak", "packets", "mean window before a cut after the first 20 s", 0.02),
    Measure("queue_std", "packets", "standard deviation of the queue over time"),
    Measure("wait", "ms", "mean waiting time at the watched link"),
    Measure("timeouts", "count", "expirations of the retransmission timer with data outstanding"),
)
"""Measures of the reference tables. Absolute bounds are for counts of a few packets, where a relative one says little."""

QUEUE_MEASURES = (
    Measure("utilisation", "%", "wire bytes whose transmission began on the watched link / its capacity", None, 1.0),
    Measure("goodput", "Mbit/s", "payload delivered, each byte once, all flows"),
    Measure("queue_mean", "packets", "time average of the packets waiting, without the one in transmission", 0.10, 0.05),
    Measure("drops", "packets", "data packets lost at all queues of the path", 0.15, 2.0),
    Measure("jain", "", "Jain's index of the goodputs of the TCP flows", None, 0.03),
    Measure("share", "%", "goodput of a flow / capacity; the flow that differs most", None, 5.0),
    Measure("queue_std", "packets", "standard deviation of the queue over time"),
    Measure("loss", "%", "data packets lost / data packets sent"),
    Measure("retransmits", "packets", "data packets sent again"),
    Measure("timeouts", "count", "expirations of the retransmission timer with data outstanding"),
    Measure("wait", "ms", "mean waiting time at the watched link"),
)
"""Measures of queues other than DropTail and RED: they test the discipline, not TCP."""

FLOW_MEASURES = (
    Measure("goodput", "Mbit/s", "payload delivered, each byte once, all flows", 0.02),
    Measure("utilisation", "%", "wire bytes whose transmission began on the watched link / its capacity", None, 1.0),
    Measure("queue_mean", "packets", "time average of the packets waiting, without the one in transmission", 0.10, 0.05),
    Measure("retransmits", "packets", "data packets sent again", 0.15, 2.0),
    Measure("jain", "", "Jain's index of the goodputs of the TCP flows", None, 0.03),
    Measure("drops", "packets", "data packets lost at all queues of the path"),
    Measure("share", "%", "goodput of a flow / capacity; the flow that differs most"),
    Measure("queue_std", "packets", "standard deviation of the queue over time"),
    Measure("timeouts", "count", "expirations of the retransmission timer with data outstanding"),
)
"""Measures of several TCP flows beyond the reference tables."""

TABLES = {"tcp": MEASURES, "queue": QUEUE_MEASURES, "flows": FLOW_MEASURES}
"""Measures by `Case.bounds`."""

BY_NAME = {measure.name: measure for measure in (*QUEUE_MEASURES, *MEASURES)}


def with_shares(out: Values, rates: list[float], capacity: float, tcp: list[bool]) -> Values:
    """Adds Jain's index of the TCP flows and the share of each flow. `rates` and `capacity` are in the same unit."""
    responsive = [rate for rate, is_tcp in zip(rates, tcp, strict=True) if is_tcp]
    if responsive:
        out["jain"] = jain(responsive)
    return out | {f"share.{k}": 100.0 * rate / capacity for k, rate in enumerate(rates)}


def sawtooth(times: list[float], windows: list[float], begin: float = 20.0) -> tuple[float, float] | None:
    """Period and peak of a sawtooth: mean time between cuts, and mean value before a cut. A cut is a fall to less
    than three quarters between two samples; falls within half a second belong to one event. None if there are
    fewer than three cuts."""
    cuts: list[tuple[float, float]] = []
    for before, after, time in zip(windows, windows[1:], times[1:], strict=False):
        if time < begin or after >= 0.75 * before:
            continue
        if not cuts or time - cuts[-1][0] > 0.5:
            cuts.append((time, before))
    if len(cuts) < 3:
        return None
    period = (cuts[-1][0] - cuts[0][0]) / (len(cuts) - 1)
    return period, sum(peak for _, peak in cuts) / len(cuts)
