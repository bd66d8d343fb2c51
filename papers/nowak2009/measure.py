"""Nowak et al. 2009: what is measured of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fairlane.papers import Combination, Curve, RunTables, Tree, quantity

from .net import SECONDS, Drawn, Scenarios, bottleneck, tcp_class

TCP_HEADER, VIDEO_HEADER = 47, 35
SETTLED = 3.0
"""Seconds left out where moments of a short queue are taken."""
WINDOW_SETTLED = 100.0
"""Seconds after which one connection has left slow start with every path and queue, and has lost a packet if it keeps growing."""
Values = np.ndarray[tuple[int], np.dtype[np.float64]]


def _known(values: Sequence[float | None]) -> list[float]:
    return [x for x in values if x is not None and math.isfinite(x)]


def _series(run: RunTables, name: str, column: str) -> tuple[Values, Values]:
    """Times and values of a series of a flow or link; NaN where there is no value."""
    table = run.flow_series if name in run.flow_series.names else run.link_series
    return table.times, table.columns[column][table.names.index(name)]


def _moments(values: Values, weights: Values) -> tuple[float, float]:
    """Mean and standard deviation of weighted values."""
    whole = weights.sum()
    if not whole:
        return math.nan, math.nan
    mean = (weights * values).sum() / whole
    return float(mean), float(np.sqrt((weights * (values - mean) ** 2).sum() / whole))


def changes(values: Values) -> np.ndarray:
    """Returns true for each value that differs from the previous one; the first one does not."""
    changed: np.ndarray = np.diff(values, prepend=values[:1]) != 0
    return changed


def samples_of(updates: Values) -> Values:
    """The samples behind a smoothed round trip (weight 1/8; the first sample as it is).

    >>> samples_of(np.array([8.0, 9.0])).tolist()
    [8.0, 16.0]
    """
    return np.concatenate([updates[:1], 8 * updates[1:] - 7 * updates[:-1]])


def smoothed_from_zero(updates: Values) -> Values:
    """The filter that begins at 0, as that of the paper's simulator does, from the one that begins with its first sample: the
    difference, that first sample, fades by 1/8 with each.

    >>> smoothed_from_zero(np.array([0.8, 0.8])).round(4).tolist()
    [0.1, 0.1875]
    """
    return updates - updates[:1] * 0.875 ** np.arange(1, len(updates) + 1)


class Measures(Scenarios):
    """Quantities and series of a run."""

    flow_columns = (
        "packets_sent", "packets_received", "packets_lost", "throughput", "goodput", "delay_p99", "rtt_mean", "retransmits", "timeouts",
        "completion_time", "cwnd_cuts",
    )  # fmt: skip
    link_columns = ("utilisation", "queue_mean", "queue_std", "arrivals", "drops", "drops_early", "drops_overflow")
    links = ("bottleneck",)
    hop_probe = False
    meant = ("sampling step", "delivered no data", "so the window limits it")

    def series_of(self, combination: Combination) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the series of a combination that are measured or drawn."""
        if combination["set"] == "window":
            return ("cwnd",), ("drops",)
        if combination["set"] in ("alone", "long", "unseen"):
            return (), ()
        queues = {"C1": ("queue",), "C2": ("queue", "avg")}.get(combination["case"], ("class0_queue", "class1_queue"))
        if combination["set"] == "events":
            return (), queues
        if isinstance(combination, Drawn):
            return ("srtt", "in_flight", "throughput"), queues
        return ("srtt", "throughput"), queues

    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The paper's quantities, and what its figures show."""
        if combination["set"] == "window":
            return self._of_window(run, combination.tree(1))
        if combination["set"] == "alone":
            return self._of_tcp_alone(run)
        t = combination.tree(1)
        if combination["set"] == "events":
            return self._of_events(run, t)
        return self._of_case(run, combination, t)

    def _of_window(self, run: RunTables, t: Tree) -> dict[str, float]:
        times, drops = _series(run, "bottleneck", "drops")
        late = times > WINDOW_SETTLED
        windows = _series(run, "tcp", "cwnd")[1][late] / quantity(t["flows"]["tcp"]["tcp"]["mss"])
        return {
            "window_cuts": float(run.flows["cwnd_cuts"][0]),
            "losses_after_slow_start": float(np.nansum(drops[late])),
            "window_mean": float(np.nanmean(windows)),
            "window_max": float(np.nanmax(windows)),
            "window_least": float(100 * np.nanmin(windows) / np.nanmax(windows)),
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
        times, lengths = _series(run, "bottleneck", self._column(t, video=True))
        late = np.nan_to_num(lengths[times >= SETTLED])
        values = late[changes(late)]
        mean, sd = _moments(values, np.ones(len(values)))
        return {"queue2_mean": mean, "queue2_sd": sd}

    @staticmethod
    def _column(t: Tree, video: bool) -> str:
        """The series of a stream's queue."""
        of_tcp = tcp_class(t)
        if of_tcp is None:
            return "queue"
        return f"class{1 - of_tcp if video else of_tcp}_queue"

    def _of_case(self, run: RunTables, combination: Combination, t: Tree) -> dict[str, float]:
        f = run.flows
        tcp = [i for i, name in enumerate(f["name"]) if name.startswith("tcp")]
        video = f["name"].index("video")
        of_packets, finished = (_known([f[column][i] for i in tcp]) for column in ("rtt_mean", "completion_time"))
        out = {
            "udp_delivered": 100 * f["packets_received"][video] / f["packets_sent"][video],
            "udp_delay_p99": 1e3 * (f["delay_p99"][video] or math.nan),
            "tcp_goodput": 1e-3 * sum(f["goodput"][i] for i in tcp),
            "tcp_drops": float(sum(f["packets_lost"][i] for i in tcp)),
            "tcp_loss": 100 * sum(f["packets_lost"][i] for i in tcp) / sum(f["packets_sent"][i] for i in tcp),
            "udp_drops": float(f["packets_lost"][video]),
            "udp_loss": 100 * f["packets_lost"][video] / f["packets_sent"][video],
            "timeouts": float(sum(f["timeouts"][i] for i in tcp)),
            "rtt_all": sum(of_packets) / max(1, len(of_packets)),
            "transfers_finished": float(len(finished)),
        }
        if combination["set"] in ("long", "unseen"):
            return out
        rates = {n: np.nan_to_num(_series(run, n, "throughput")[1]) for n in f["name"]}
        times = run.flow_series.times
        busy = np.sum([rates[f["name"][i]] for i in tcp], axis=0) > 0
        last = float(times[busy][-1]) if len(finished) == len(tcp) and busy.any() else SECONDS
        meanwhile = (times > 1.0) & (times <= last)
        shares = {n: 100 * float(x[meanwhile].mean()) / self._rate(t) if meanwhile.any() else 0.0 for n, x in rates.items()}
        out |= {"tcp_share": sum(shares[f["name"][i]] for i in tcp), "udp_share": shares["video"], "transfer_last": last}
        if combination["case"] == "C2":
            out["average_swing"] = self._swing(run, times, last)
        for k, i in enumerate(tcp, 1):
            name = f["name"][i]
            out[f"transfer_{k}"] = math.nan if f["completion_time"][i] is None else f["completion_time"][i]
            every = t["flows"]["tcp"]["tcp"]["rtt_sampling"] == "every"
            out |= {f"{q}_{k}": x for q, x in self._round_trips(run, name, f["rtt_mean"][i] if every else None).items()}
            if "in_flight" in run.flow_series:
                waits = _series(run, name, "in_flight")[1]
                waits = waits[waits > 0]
                out[f"unacknowledged_{k}"] = float(waits.mean()) / self._segment(t) if len(waits) else math.nan
        own = _known([out[f"rtt_{k}"] for k in range(1, len(tcp) + 1)])
        out["rtt"] = sum(own) / max(1, len(own))
        return out | self._queues(run, t, times, rates)

    @staticmethod
    def _swing(run: RunTables, times: Values, last: float) -> float:
        """How far RED's average moves while TCP sends, in percent of its mean; the first quarter of that time is left out."""
        average = _series(run, "bottleneck", "avg")[1]
        known = average[(times > last / 4) & (times <= last) & np.isfinite(average)]
        return float(100 * (known.max() - known.min()) / known.mean()) if len(known) and known.mean() else 0.0

    def _round_trips(self, run: RunTables, name: str, of_all: float | None) -> dict[str, float]:
        """Means of what the paper's simulator recorded of a connection: a measured and a smoothed round trip a window, each counting once.

        A mean over all segments (`rtt_mean`) is larger, as it counts each window with its segments, and large windows wait longest;
        where every segment is timed it is given as `of_all` and is the measured one.
        """
        _, filtered = self._updates(run, name)
        if not len(filtered):
            return {"rtt": math.nan, "srtt": math.nan, "samples": 0.0}
        measured = float(samples_of(filtered).mean()) if of_all is None else of_all
        return {"rtt": measured, "srtt": float(smoothed_from_zero(filtered).mean()), "samples": float(len(filtered))}

    @staticmethod
    def _updates(run: RunTables, name: str) -> tuple[Values, Values]:
        """When the smoothed round trip of a connection got a new value, and that value."""
        times, filtered = _series(run, name, "srtt")
        known = np.isfinite(filtered)
        times, filtered = times[known], filtered[known]
        new = changes(filtered)
        new[:1] = True
        return times[new], filtered[new]

    @staticmethod
    def _rate(t: Tree) -> float:
        return quantity(bottleneck(t)["rate"])

    @staticmethod
    def _segment(t: Tree) -> int:
        return int(t["flows"]["tcp"]["tcp"]["mss"].removesuffix("B"))

    def _queues(self, run: RunTables, t: Tree, times: Values, rates: Mapping[str, Values]) -> dict[str, float]:
        """Length of each queue: weighted by the packets that go in and out, as the paper's recorder was, and by time."""
        source = t["flows"]["video"]["source"]
        frame = int(source["cbr"]["size"].removesuffix("B")) if "cbr" in source else 1000
        sizes = {n: (frame + VIDEO_HEADER if n == "video" else self._segment(t) + TCP_HEADER) for n in rates}
        whole, spans = tcp_class(t) is None, np.diff(times)
        out = {}
        for number, own in ((1, [n for n in sizes if whole or n != "video"]), (2, [] if whole else ["video"])):
            if not own:
                continue
            q = np.nan_to_num(_series(run, "bottleneck", self._column(t, video=number == 2))[1])
            left = sum(rates[n][1:] / 8 / sizes[n] for n in own) * spans
            means, grown = (q[1:] + q[:-1]) / 2, np.diff(q)
            # A packet that finds the link idle never waits, and the recorder does not see it.
            events = np.where(means > 0, left + np.maximum(0.0, left + grown), 0.0)
            out[f"queue{number}_mean"], out[f"queue{number}_sd"] = _moments(means, events)
            out[f"queue{number}_time_mean"], out[f"queue{number}_time_sd"] = _moments(means, spans)
            out[f"queue{number}_max"] = float(q.max())
        return out

    def curves(self, run: RunTables, combination: Combination) -> dict[str, Curve]:
        """Queue lengths, RED's average, round trips, unacknowledged segments and windows over time."""
        if combination["set"] == "window":
            times, windows = run.series("tcp", "cwnd")
            segment = self._segment(combination.tree(1))
            return {"window": (times, [None if w is None else w / segment for w in windows])}
        if combination["set"] == "events":
            return {"queue2": run.series("bottleneck", self._column(combination.tree(1), video=True))}
        if not isinstance(combination, Drawn):
            return {}
        t = combination.tree(1)
        out: dict[str, Curve] = {"queue1": run.series("bottleneck", self._column(t, video=False))}
        if combination["case"] == "C2":
            out["average"] = run.series("bottleneck", "avg")
        if tcp_class(t) is not None:
            out["queue2"] = run.series("bottleneck", self._column(t, video=True))
        segment = self._segment(t)
        for name in (n for n in run.flows["name"] if n.startswith("tcp")):
            times, flight = run.series(name, "in_flight")
            out[f"unacknowledged {name}"] = (times, [None if x is None else x / segment for x in flight])
            moments, filtered = self._updates(run, name)
            rtt: list[float | None] = [*samples_of(filtered).tolist()]
            srtt: list[float | None] = [*smoothed_from_zero(filtered).tolist()]
            out[f"rtt {name}"] = (moments.tolist(), rtt)
            out[f"srtt {name}"] = (moments.tolist(), srtt)
        return out
