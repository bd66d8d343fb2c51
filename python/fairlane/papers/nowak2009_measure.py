"""Nowak et al. 2009: what is measured of a run."""

from __future__ import annotations

import math
from itertools import pairwise

from .definition import Cell, Curve, RunTables, Tree
from .nowak2009_net import SECONDS, Scenarios, bottleneck, tcp_class

TCP_HEADER, VIDEO_HEADER = 47, 35
SETTLED = 3.0
"""Seconds left out where moments of a short queue are taken."""
SLOW_START = 5.0
"""Seconds after which one connection has long left slow start."""


def _known(values: list[float | None]) -> list[float]:
    return [x for x in values if x is not None and math.isfinite(x)]


def _moments(values: list[float], weights: list[float]) -> tuple[float, float]:
    """Mean and standard deviation of weighted values."""
    whole = sum(weights)
    if not whole:
        return math.nan, math.nan
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / whole
    return mean, math.sqrt(max(0.0, sum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)) / whole))


def steps(values: list[float]) -> list[float]:
    """The values after each change: what a recorder writes that is called at every packet put in or taken out.

    >>> steps([0, 0, 1, 1, 0, 2, 2])
    [1, 0, 2]
    """
    return [b for a, b in pairwise(values) if b != a]


def samples_of(filtered: list[float]) -> list[float]:
    """The samples behind a smoothed round trip (weight 1/8; the first sample as it is).

    >>> samples_of([8.0, 8.0, 9.0])
    [8.0, 16.0]
    """
    updates = filtered[:1] + steps(filtered)
    return updates[:1] + [8 * b - 7 * a for a, b in pairwise(updates)]


def smoothed_from_zero(samples: list[float]) -> list[float]:
    """A filter of weight 1/8 that begins at 0, as that of the paper's simulator does."""
    out, level = [], 0.0
    for x in samples:
        level += (x - level) / 8
        out.append(level)
    return out


class Measures(Scenarios):
    """Quantities and series of a run."""

    flow_columns = (
        "packets_sent", "packets_received", "packets_lost", "throughput", "goodput", "delay_p99", "rtt_mean", "retransmits", "timeouts",
        "completion_time", "cwnd_cuts",
    )  # fmt: skip
    link_columns = ("utilisation", "queue_mean", "queue_std", "arrivals", "drops", "drops_early", "drops_overflow")
    links = ("bottleneck",)
    flow_series = ("cwnd", "srtt", "in_flight", "throughput")
    link_series = ("queue", "avg", "class0_queue", "class1_queue", "class0_avg", "class1_avg", "drops")
    hop_probe = False
    meant = ("sampling step", "delivered nothing", "so the window limits it")

    def measure(self, run: RunTables, cell: Cell) -> dict[str, float]:
        """The paper's quantities, and what its figures show."""
        if cell["set"] == "window":
            return self._of_window(run)
        if cell["set"] == "alone":
            return self._of_tcp_alone(run)
        t = cell.tree(1)
        if cell["set"] == "events":
            return self._of_events(run, t)
        return self._of_case(run, t)

    def _of_window(self, run: RunTables) -> dict[str, float]:
        times, drops = run.series("bottleneck", "drops")
        windows = [w / 1024 for t, w in zip(*run.series("tcp", "cwnd"), strict=True) if w is not None and t > SLOW_START]
        return {
            "window_cuts": float(run.flows["cwnd_cuts"][0]),
            "losses_after_slow_start": float(sum(d or 0 for t, d in zip(times, drops, strict=True) if t > SLOW_START)),
            "window_mean": sum(windows) / len(windows),
            "window_max": max(windows),
            "goodput": run.flows["goodput"][0] * 1e-6,
            "queue": run.link("bottleneck", "queue_mean"),
        }

    def _of_tcp_alone(self, run: RunTables) -> dict[str, float]:
        rtt = _known(run.flows["rtt_mean"])
        return {
            "mean_size": run.link("bottleneck", "queue_mean"),
            "stddev_size": run.link("bottleneck", "queue_std"),
            "rtt": sum(rtt) / len(rtt),
            "utilisation": 100 * run.link("bottleneck", "utilisation"),
            "timeouts": float(sum(run.flows["timeouts"])),
        }

    def _of_events(self, run: RunTables, t: Tree) -> dict[str, float]:
        """The video's queue, a value at every packet put in or taken out, from samples a millisecond apart."""
        pairs = zip(*run.series("bottleneck", self._column(t, video=True)), strict=True)
        values = steps([x for at, x in pairs if x is not None and at >= SETTLED])
        mean, sd = _moments(values, [1.0] * len(values))
        return {"queue2_mean": mean, "queue2_sd": sd}

    @staticmethod
    def _column(t: Tree, video: bool) -> str:
        """The series of a stream's queue."""
        of_tcp = tcp_class(t)
        if of_tcp is None:
            return "queue"
        return f"class{1 - of_tcp if video else of_tcp}_queue"

    def _of_case(self, run: RunTables, t: Tree) -> dict[str, float]:
        f = run.flows
        tcp = [i for i, name in enumerate(f["name"]) if name.startswith("tcp")]
        video = f["name"].index("video")
        seconds = SECONDS
        rtt = [f["rtt_mean"][i] for i in tcp]
        finished = _known([f["completion_time"][i] for i in tcp])
        last = max(finished) if len(finished) == len(tcp) else seconds
        shares = {n: self._share(run, n, last) / self._rate(t) for n in f["name"]}
        out = {
            "tcp_share": 100 * sum(shares[f["name"][i]] for i in tcp),
            "udp_share": 100 * shares["video"],
            "udp_delivered": 100 * f["packets_received"][video] / f["packets_sent"][video],
            "udp_delay_p99": 1e3 * (f["delay_p99"][video] or math.nan),
            "tcp_goodput": 1e-3 * sum(f["goodput"][i] for i in tcp),
            "tcp_drops": float(sum(f["packets_lost"][i] for i in tcp)),
            "tcp_loss": 100 * sum(f["packets_lost"][i] for i in tcp) / sum(f["packets_sent"][i] for i in tcp),
            "udp_drops": float(f["packets_lost"][video]),
            "timeouts": float(sum(f["timeouts"][i] for i in tcp)),
            "utilisation": 100 * run.link("bottleneck", "utilisation"),
            "rtt": sum(_known(rtt)) / max(1, len(_known(rtt))),
            "queue_time_mean": run.link("bottleneck", "queue_mean"),
        }
        out["transfers_finished"] = float(len(finished))
        out["transfer_last"] = last
        for k, i in enumerate(tcp, 1):
            name = f["name"][i]
            out[f"rtt_{k}"] = math.nan if rtt[k - 1] is None else rtt[k - 1]
            smooth = smoothed_from_zero(samples_of(_known(run.series(name, "srtt")[1])))
            out[f"srtt_{k}"] = sum(smooth) / len(smooth) if smooth else math.nan
            waits = _known(run.series(name, "in_flight")[1])
            busy = [x for x in waits if x > 0]
            out[f"unacknowledged_{k}"] = sum(busy) / len(busy) / self._segment(t) if busy else math.nan
            out[f"transfer_{k}"] = f["completion_time"][i] if f["completion_time"][i] is not None else math.nan
        out |= self._queues(run, t)
        return out

    @staticmethod
    def _share(run: RunTables, name: str, until: float) -> float:
        """Rate of a flow at its receiver while TCP has something to send, bit/s on the wire."""
        rates = [x or 0.0 for t, x in zip(*run.series(name, "throughput"), strict=True) if 1.0 < t <= until]
        return sum(rates) / max(1, len(rates))

    @staticmethod
    def _rate(t: Tree) -> float:
        from fairlane import _core

        return float(_core.quantity("rate", bottleneck(t)["rate"])[0])

    @staticmethod
    def _segment(t: Tree) -> int:
        return int(t["flows"]["tcp"]["tcp"]["mss"].removesuffix("B"))

    def _queues(self, run: RunTables, t: Tree) -> dict[str, float]:
        """Length of each queue: weighted by the packets that go in and out, as the paper's recorder was, and by time."""
        source = t["flows"]["video"]["source"]
        frame = int(source["cbr"]["size"].removesuffix("B")) if "cbr" in source else 1000
        sizes = {n: (frame + VIDEO_HEADER if n == "video" else self._segment(t) + TCP_HEADER) for n in run.flows["name"]}
        whole = tcp_class(t) is None
        out = {}
        for number, own in ((1, [n for n in sizes if whole or n != "video"]), (2, [] if whole else ["video"])):
            if not own:
                continue
            times, lengths = run.series("bottleneck", self._column(t, video=number == 2))
            q = [x or 0.0 for x in lengths]
            gone = [0.0] * len(q)
            for n in own:
                for i, x in enumerate(run.series(n, "throughput")[1]):
                    gone[i] += (x or 0.0) / 8 / sizes[n]
            means, events, spans = [], [], []
            for i in range(1, len(q)):
                left = gone[i] * (times[i] - times[i - 1])
                means.append((q[i] + q[i - 1]) / 2)
                # A packet that finds the link idle never waits, and the recorder does not see it.
                events.append(left + max(0.0, left + q[i] - q[i - 1]) if q[i] or q[i - 1] else 0.0)
                spans.append(times[i] - times[i - 1])
            out[f"queue{number}_mean"], out[f"queue{number}_sd"] = _moments(means, events)
            out[f"queue{number}_time_mean"], out[f"queue{number}_time_sd"] = _moments(means, spans)
            out[f"queue{number}_max"] = max(q)
        return out

    def curves(self, run: RunTables, cell: Cell) -> dict[str, Curve]:
        """Queue lengths, RED's average, round trips, unacknowledged segments and windows over time."""
        if cell["set"] == "window":
            times, windows = run.series("tcp", "cwnd")
            return {"window": (times, [None if w is None else w / 1024 for w in windows])}
        if cell["set"] != "table":
            return {}
        t = cell.tree(1)
        out: dict[str, Curve] = {"queue1": run.series("bottleneck", self._column(t, video=False))}
        average = self._column(t, video=False).replace("queue", "avg")
        if average in run.link_series:
            out["average"] = run.series("bottleneck", average)
        if tcp_class(t) is not None:
            out["queue2"] = run.series("bottleneck", self._column(t, video=True))
        for name in (n for n in run.flows["name"] if n.startswith("tcp")):
            times, flight = run.series(name, "in_flight")
            out[f"unacknowledged {name}"] = (times, [None if x is None else x / self._segment(t) for x in flight])
            times, smooth = run.series(name, "srtt")
            first = [(at, x) for at, x in zip(times, smooth, strict=True) if x is not None]
            changed = first[:1] + [b for a, b in pairwise(first) if b[1] != a[1]]
            moments = [at for at, _ in changed]
            samples = samples_of([x for _, x in first])
            out[f"rtt {name}"] = (moments, list(samples))
            out[f"srtt {name}"] = (moments, list(smoothed_from_zero(samples)))
        return out
