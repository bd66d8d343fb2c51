"""Nowak et al. 2009: the rows of its tables, and what it shows over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fairlane.papers import (
    Built,
    Combination,
    Compared,
    Comparison,
    Curve,
    Picture,
    Results,
    Row,
    compare,
    drawings,
    factors_of,
    row_of,
    series,
)

from .measure import Measures
from .net import CAPTIONED, CASES

PUBLISHED = CASES[:8]
LAYOUT = {
    "C1": ("one_queue", "droptail", "none"), "C2": ("one_queue", "red", "none"), "C3": ("prio_tcp", "red", "fifo"),
    "C4": ("prio_tcp", "fifo", "fifo"), "C5": ("wrr_4udp_1tcp", "fifo", "fifo"), "C6": ("rr_1udp_1tcp", "fifo", "fifo"),
    "C7": ("rr_1udp_1tcp", "red", "fifo"), "C8": ("prio_udp", "red", "fifo"), "C9": ("wrr_4udp_1tcp", "red", "fifo"),
    "C3m": ("prio_tcp_modified", "red", "fifo"), "C8m": ("prio_udp_modified", "red", "red"),
}  # fmt: skip
"""Scheduler and the two queues of each case; queue 1 has TCP where there are two."""
FIGURES = {"fig5": "C3", "fig6": "C8", "fig6-captioned": CAPTIONED, "fig7": "C6", "fig8": "C5", "fig9": "C9"}
WORDS = {
    "C1": "one queue, drop tail", "C2": "one queue, RED", "C3": "TCP first, RED", "C4": "TCP first, FIFO", "C5": "4:1, FIFO",
    "C6": "1:1, FIFO", "C7": "1:1, RED", "C8": "video first, RED", "C9": "4:1, RED", "C3m": "TCP first, modified",
    "C8m": "video first, modified, RED in both",
    "chosen": "chosen by fairlane tune",
}  # fmt: skip
_SUSPECT = {("C1", "queue1"): 1} | {(c, "queue1"): 2 for c in ("C2", "C3", "C7", "C8")}
"""Published values that contradict others, and the number of the contradiction in paper.toml."""


_ARRANGEMENT = ("case", "scheduler", "queue1_type", "queue2_type")


def _factors(case: str, thing: str) -> dict[str, object]:
    scheduler, first, second = LAYOUT[case]
    return {"case": case, "scheduler": scheduler, "queue1_type": first, "queue2_type": second, "object": thing}


class Shows(Measures):
    """Rows, and figures over time."""

    # Tables

    def _case_rows(self, r: Results, case: str) -> list[Row]:
        """The rows of a case as Table 1 has them: lengths of the queues, round trips of the connections."""
        combination, rows = r.combination(set="table", case=case), []
        for number in (1, 2):
            own = combination
            if number == 2 and r.has(set="events", case=case):
                own = r.combination(set="events", case=case)
            for metric, quantity in (("mean_size", "mean"), ("stddev_size", "sd")):
                rows += self._row(r, own, f"queue{number}_{quantity}", _factors(case, f"queue{number}"), metric, "packets")
        for k in (1, 2, 3):
            for metric in ("rtt", "srtt"):
                rows += self._row(r, combination, f"{metric}_{k}", _factors(case, f"TCP{k}"), metric, "s")
        return rows

    @staticmethod
    def _row(r: Results, combination: Combination, quantity: str, factors: Mapping[str, object], metric: str, unit: str) -> list[Row]:
        try:
            samples = [x for x in r.samples(combination, quantity) if math.isfinite(x)]
        except KeyError:
            return []
        return [row_of(factors, metric, samples, unit)] if samples else []

    def _quantities(
        self, r: Results, combinations: Sequence[tuple[Combination, Mapping[str, object]]], of: Sequence[tuple[str, str, str]]
    ) -> list[Row]:
        """Rows of some quantities (quantity, its name, unit), each over all combinations (with the factors to show)."""
        return [
            x
            for quantity, name, unit in of
            for combination, factors in combinations
            for x in self._row(r, combination, quantity, factors, name, unit)
        ]

    @staticmethod
    def _ours(x: Row) -> Compared:
        """A line of a table without a published value."""
        return Compared(x.factors, x.metric, x.unit, None, x.value, x.low, x.high, len(x.samples))

    def _share_rows(self, r: Results, case: str) -> list[Row]:
        combination = r.combination(set="table", case=case)
        unit: Callable[[str], str] = lambda metric: "ms" if metric.endswith("_ms") else "percent"  # noqa: E731
        of = (
            ("TCP", "link_share_percent", "tcp_share"),
            ("UDP", "link_share_percent", "udp_share"),
            ("UDP", "delivered_percent", "udp_delivered"),
            ("UDP", "loss_percent", "udp_loss"),
            ("UDP", "delay_p99_ms", "udp_delay_p99"),
            ("TCP", "loss_percent", "tcp_loss"),
            ("queue1", "average_swing_percent", "average_swing"),
        )
        return [x for thing, metric, q in of for x in self._row(r, combination, q, {"case": case, "object": thing}, metric, unit(metric))]

    def _window_rows(self, r: Results, names: Sequence[str] = ("Reno", "Vegas")) -> list[Row]:
        of = (("window_cuts", "count"), ("losses_after_slow_start", "packets"), ("window_mean", "segments"), ("window_max", "segments"),
              ("window_least", "percent"))  # fmt: skip
        combinations = [
            (n, r.combination(set="window", tcp=n)) for n in names if any(c["set"] == "window" and c["tcp"] == n for c in r.combinations)
        ]
        return [x for n, c in combinations for metric, unit in of for x in self._row(r, c, metric, {"tcp": n}, metric, unit)]

    @staticmethod
    def _cases(r: Results) -> list[str]:
        return [c["case"] for c in r.combinations if c["set"] == "table" and c["case"] != CAPTIONED]

    def _against_published(self, rows: Sequence[Row]) -> Comparison:
        cases = {dict(x.factors)["case"] for x in rows}
        published = [p for p in self.published("table1") if p["case"] in cases]
        suspect = {factors_of(**_factors(case, thing)): n for (case, thing), n in _SUSPECT.items()}
        return compare(rows, published, (), suspect)

    # Figures over time

    def _first(self, r: Results, case: str, name: str) -> Curve:
        found = r.curves(r.combination(set="table", case=case), name)
        return found[0] if found else ([], [])

    def _end(self, r: Results, case: str) -> float:
        """Seconds after which nothing happens any more: transfers are over, and the video no longer waits."""
        waits = [t for t, x in zip(*self._first(r, case, "queue2"), strict=True) if x is not None and x > 5]
        return max(r.samples(r.combination(set="table", case=case), "transfer_last")[0], waits[-1] if waits else 0.0) + 5

    def _trace(self, r: Results, case: str, name: str, label: str, end: float | None = None) -> series.Trace:
        """A series of the first replication, as far as something happens."""
        times, values = self._first(r, case, name)
        end = self._end(r, case) if end is None else end
        kept = [(t, x) for t, x in zip(times, values, strict=True) if t <= end]
        return series.Trace(label, [t for t, _ in kept], [x for _, x in kept])

    @staticmethod
    def _close(r: Results, case: str) -> series.Trace:
        """A short queue of the video, each packet of it."""
        times, values = r.curves(r.combination(set="events", case=case), "queue2")[0]
        kept = [(t, x) for t, x in zip(times, values, strict=True) if 5.0 <= t <= 5.3]
        return series.Trace("video", [t for t, _ in kept], [x for _, x in kept])

    def _series_rows(self, r: Results, case: str, names: Mapping[str, tuple[str, str]]) -> list[Row]:
        """The first replication's series, one value a second."""
        rows = []
        for name, (thing, metric) in names.items():
            times, values = self._first(r, case, name)
            last = -1
            for t, v in zip(times, values, strict=True):
                if int(t) > last and v is not None:
                    last = int(t)
                    rows.append(row_of({"case": case, "object": thing, "t": f"{t:g}"}, metric, [v], "packets"))
        return rows

    def _published_mean(self, case: str, thing: str) -> float | None:
        wanted = (case, thing, "mean_size")
        return next((float(p["value"]) for p in self.published("table1") if (p["case"], p["object"], p["metric"]) == wanted), None)

    def _fig4(self, r: Results) -> Built:
        table = [x for x in self._case_rows(r, "C2") if dict(x.factors)["object"] == "queue1"]
        rows = self._series_rows(r, "C2", {"queue1": ("queue1", "queue_length"), "average": ("queue1", "avg_queue_length")})
        shown = [x for x in self._share_rows(r, "C2") if x.metric not in ("loss_percent", "delay_p99_ms")]
        shares = [replace(self._ours(x), factors=factors_of(**_factors("C2", dict(x.factors)["object"]))) for x in shown]
        built = Built(Comparison([*self._against_published(table).rows[: len(table)], *shares]), rows, group_by=_ARRANGEMENT)
        average = self._first(r, "C2", "average")
        end = self._end(r, "C2") - 5
        known = [v for t, v in zip(*average, strict=True) if v is not None and 20 < t < end]
        video, tcp = (r.mean(q, set="table", case="C2") for q in ("udp_share", "tcp_share"))
        if known:
            built.notes.append(
                f"RED's average moves between {min(known):.0f} and {max(known):.0f} packets after the first 20 s, as long as TCP sends. "
                f"The video takes {video:.0f} % of the link, TCP {tcp:.0f} %: what the video leaves, which is not nothing."
            )
        panels = [
            series.Series(
                [self._trace(r, "C2", "average", "average")],
                "RED's average",
                "time, s",
                "packets",
                level=self._published_mean("C2", "queue1"),
            ),
            series.Series([self._trace(r, "C2", "queue1", "length")], "packets waiting", "time, s", "packets"),
        ]
        caption = "First replication. Dashed: the published mean length of Table 1. The paper's curve is not available as numbers."
        built.pictures.append(Picture("fig4", self.title_of("fig4"), caption, list(panels)))
        return built

    def _queues_over_time(self, name: str, case: str, r: Results) -> Built:
        table = [x for x in self._case_rows(r, case) if dict(x.factors)["object"].startswith("queue")]
        rtt = [x for x in self._case_rows(r, case) if x.metric == "rtt"]
        rows = self._series_rows(r, case, {"queue1": ("queue1", "queue_length"), "queue2": ("queue2", "queue_length")})
        kept = [x for x in self._against_published([*table, *rtt]).rows if x.ours is not None]
        built = Built(Comparison(kept), rows, group_by=_ARRANGEMENT)
        panels = []
        ended = r.samples(r.combination(set="table", case=case), "transfer_last")
        short = r.has(set="events", case=case)
        traces = (
            self._trace(r, case, "queue1", "TCP", ended[0] + 2),
            self._close(r, case) if short else self._trace(r, case, "queue2", "video"),
        )
        for number, trace in enumerate(traces, 1):
            level = self._published_mean(case, f"queue{number}")
            panels.append(series.Series([trace], f"queue {number} ({trace.name})", "time, s", "packets", level, size=(4.4, 2.6)))
        caption = "First replication. Left: until the transfers are over. "
        if short:
            caption += "Right: 0.3 s of a run with a sample every millisecond, while three connections send."
        else:
            caption += "Right: until the video no longer waits."
        if self._published_mean(case, "queue1") is not None:
            caption += " Dashed: the published means of Table 1. The paper's curves are not available as numbers."
        built.pictures.append(Picture(name, self.title_of(name), caption, list(panels)))
        if name in ("fig5", "fig7"):
            longest = r.mean("queue2_max", set="table", case=case)
            built.notes.append(
                f"The last transfer ends after {min(ended):.0f} to {max(ended):.0f} s, when the video's queue is longest "
                f"({longest:.0f} packets); from then on it empties."
            )
        return built

    def _observed(self, r: Results) -> Built:
        """Returns quantities recorded by the paper, not published: drops, transfer times, unacknowledged segments, round trips."""
        of = (
            *((f"transfer_{k}", f"transfer of TCP {k} takes", "s") for k in (1, 2, 3)), ("transfer_last", "last transfer ends", "s"),
            ("tcp_drops", "TCP packets dropped", "packets"), ("udp_drops", "video packets dropped", "packets"),
        )  # fmt: skip
        rest = (
            *((f"unacknowledged_{k}", f"unacknowledged, TCP {k}", "segments") for k in (1, 2, 3)), ("timeouts", "TCP timeouts", "count"),
            ("tcp_share", "TCP's share", "percent"), ("udp_share", "video's share", "percent"),
            ("udp_delivered", "video delivered", "percent"),
        )  # fmt: skip
        combinations = [(r.combination(set="table", case=c), {"case": c, "queues": WORDS[c]}) for c in self._cases(r)]
        rows, more = self._quantities(r, combinations, of), self._quantities(r, combinations, rest)
        built = Built(Comparison([self._ours(x) for x in rows]), [*rows, *more], group_by=("metric",))
        built.more, built.more_title = [self._ours(x) for x in more], "Unacknowledged segments, timeouts and shares of the link"
        pictures = []
        for case in ("C3", "C5", "C8"):
            end = r.samples(r.combination(set="table", case=case), "transfer_last")[0] + 2
            flights = [self._trace(r, case, f"unacknowledged tcp.{k}", f"TCP {k + 1}", end) for k in range(3)]
            pictures.append(series.Series(flights, f"{case}: unacknowledged", "time, s", "segments", size=(4.4, 2.6)))
        trips = []
        for case in ("C3", "C5", "C8"):
            both = [self._trace(r, case, "rtt tcp.0", "measured"), self._trace(r, case, "srtt tcp.0", "smoothed")]
            trips.append(series.Series(both, f"{case}: round trip of TCP 1", "time, s", "s", size=(4.4, 2.6)))
        caption = "First replication. Each measured round trip is one segment a window; the smoothed one begins at 0."
        built.pictures.append(Picture("observed-flight", "Unacknowledged segments", "First replication of C3, C5 and C8.", list(pictures)))
        built.pictures.append(Picture("observed-rtt", "Round trips", caption, list(trips)))
        return built

    def _prio_mod(self, r: Results) -> Built:
        of = (
            ("queue1_mean", "queue 1", "packets"), ("queue2_mean", "queue 2", "packets"), ("rtt", "TCP round trip", "s"),
            ("tcp_share", "TCP's share", "percent"), ("udp_share", "video's share", "percent"), ("tcp_loss", "TCP loss", "percent"),
            ("timeouts", "TCP timeouts", "count"),
        )  # fmt: skip
        names = {"C3": "plain", "C3m": "modified"}
        rows = self._quantities(r, [(r.combination(set="table", case=c), {"case": c, "priority": name}) for c, name in names.items()], of)
        built = Built(Comparison([self._ours(x) for x in rows]), rows, group_by=("metric",))
        end = max(r.samples(r.combination(set="table", case=c), "transfer_last")[0] for c in names) + 2
        panels = [
            series.Series([self._trace(r, c, "queue1", "TCP", end)], f"queue 1, {name} priority", "time, s", "packets", size=(4.4, 2.6))
            for c, name in names.items()
        ]
        both = [self._trace(r, c, "queue2", name) for c, name in names.items()]
        panels.append(series.Series(both, "queue 2 (video)", "time, s", "packets", size=(4.4, 2.6)))
        built.pictures.append(Picture("prio-mod", self.title_of("prio-mod"), "First replication.", list(panels)))
        return built

    def _window(self, name: str, tcp: str, r: Results) -> Built:
        rows = self._window_rows(r, [tcp])
        built = Built(Comparison([self._ours(x) for x in rows]), group_by=("tcp",))
        times, values = r.curves(r.combination(set="window", tcp=tcp), "window")[0]
        panel = series.Series([series.Trace(tcp, times, values)], f"TCP {tcp}", "time, s", "window, segments")
        built.pictures.append(Picture(name, self.title_of(name), "First replication, one connection alone.", [panel]))
        return built

    def _fig3(self, _: Results) -> Built:
        t = self.topology()
        rows = []
        for link, values in t["links"].items():
            rate = float(values["rate"].removesuffix("Mbit/s"))
            rows.append(Compared(factors_of(link=link), "rate", "Mbit/s", None if link == "bottleneck" else 100.0, rate))
            rows.append(Compared(factors_of(link=link), "delay", "ms", None, float(values["delay"].removesuffix("ms"))))
        picture = Picture("fig3", self.title_of("fig3"), "The declared setting.", [drawings.Topology(t)])
        return Built(Comparison(rows), [], [picture], group_by=("link",))
