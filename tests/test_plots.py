"""Pictures: what is drawn beside numbers that are worked out here from the tables, and beside formulas and libraries that are not ours."""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from validation.formulas import formulas as elsewhere

import fairlane as fl
from conftest import ROOT
from fairlane.base.document import json_schema
from fairlane.base.metrics import jain, metrics, series
from fairlane.look import theme
from fairlane.runs.plots import KINDS
from fairlane.runs.plots import theory as formulas
from fairlane.runs.plots.figure import draw
from fairlane.runs.plots.pen import ink
from fairlane.runs.plots.styles import STYLES

RED = {"red": {"min": "5p", "max": "15p", "limit": "60p", "ecn": True}}
GOLDEN = Path(__file__).parent / "golden" / "plots"


def network(**settings) -> fl.Network:
    net = fl.Network(**({"duration": "6s", "warmup": "1s", "sample": "20ms", "name": "two kinds of flows"} | settings))
    net.dumbbell(pairs=3, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "5Mbit/s", "delay": "10ms", "queue": RED})
    net.flow("plain", "s{i}", "d{i}", tcp="sack", count=2, spread="100ms")
    return net.flow("ecn", "s2", "d2", tcp={"cc": "newreno", "ecn": "classic"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("captures")


@pytest.fixture(scope="module")
def result(folder) -> fl.Result:
    return network().run(seeds="1..2", trace=True, pcap=fl.Pcap("plain.0", folder=folder))


@pytest.fixture(scope="module")
def files() -> fl.Result:
    net = fl.Network(duration="20s", sample="100ms", name="files")
    net.dumbbell(pairs=60, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "10Mbit/s", "delay": "5ms", "queue": "codel"})
    net.flow("f", "s{i}", "d{i}", tcp="cubic", count=60, spread="15s", source={"file": {"size": "60kB", "sizes": "lognormal", "cv": 2.0}})
    return net.run(seeds="1..2")


@pytest.fixture(scope="module")
def events(result) -> list[dict]:
    """The events of the first run, one after the other."""
    return result.trace().filter(pl.col("seed") == 1).collect().to_dicts()


def axes_of(given, kind, **options):
    (axes,) = draw([("", given)], kind, **options).figure.axes[:1]
    return axes


def lines(axes, role="line"):
    return [x for x in axes.get_lines() if x.get_gid() == role]


def strokes(axes, role):
    """Time, lower and upper end of each upright stroke."""
    return [(s[0][0], s[0][1], s[1][1]) for c in axes.collections if c.get_gid() == role for s in c.get_segments()]


def per(axes) -> float:
    """Bytes in the unit of the upright axis."""
    return {"(kB)": 1e3, "(MB)": 1e6}[axes.get_ylabel().split()[-1]]


# --- each kind ------------------------------------------------------------------------------------------------


def test_windows_are_those_of_the_table(result):
    axes = axes_of(result, "window", flow="plain.1")
    (cwnd,), (threshold,) = lines(axes), lines(axes, "ssthresh")
    rows = result.flow_series.filter((pl.col("seed") == 1) & (pl.col("flow") == "plain.1"))
    assert axes.get_ylabel() == "window (kB)" and axes.get_xlabel() == "time (s)"
    assert cwnd.get_ydata() == pytest.approx([x / 1000 if x is not None else math.nan for x in rows["cwnd"].to_list()], nan_ok=True)
    told = [math.nan if x is None or math.isinf(x) else x / 1000 for x in rows["ssthresh"].to_list()]
    assert threshold.get_ydata() == pytest.approx(told, nan_ok=True)
    assert cwnd.get_color() == threshold.get_color()


def test_a_sequence_graph_has_what_was_sent_and_acknowledged(result, events):
    axes = axes_of(result, "sequence", flow="plain.0", time="1s..3s")
    own = [e for e in events if e["flow"] == "plain.0" and 1 <= e["time"] <= 3]
    for event, role in (("send", "segment"), ("retransmit", "retransmission")):
        sent = [
            (e["time"], e["seq"] / per(axes), (e["seq"] + e["payload"]) / per(axes))
            for e in own
            if e["event"] == event and not e["back"] and e["payload"]
        ]
        assert sent and np.array(strokes(axes, role)) == pytest.approx(np.array(sent))
    highest, stairs = 0, []
    for e in own:
        if e["event"] == "receive" and e["back"]:
            highest = max(highest, e["ack"])
            stairs.append((e["time"], highest / per(axes)))
    (line,) = lines(axes, "acknowledged")
    assert np.array(stairs) == pytest.approx(np.column_stack([line.get_xdata(), line.get_ydata()]))
    # A packet that the queue dropped stands where it was sent.
    began = {e["packet"]: e["time"] for e in events if e["event"] in ("send", "retransmit")}
    lost = sorted(began[e["packet"]] for e in events if e["event"] == "drop" and e["flow"] == "plain.0" and not e["back"])
    (crosses,) = lines(axes, "dropped")
    assert sorted(crosses.get_xdata()) == pytest.approx([t for t in lost if 1 <= t <= 3])
    assert axes.get_ylabel() in ("sequence number (MB)", "sequence number (kB)")


def test_marks_stand_on_the_segments_that_were_marked(result, events):
    axes = axes_of(result, "sequence", flow="ecn")
    (dots,) = lines(axes, "marked")
    began = {e["packet"]: e for e in events if e["event"] in ("send", "retransmit") and e["flow"] == "ecn"}
    marked = [began[e["packet"]] for e in events if e["event"] == "mark" and e["flow"] == "ecn" and not e["back"]]
    assert len(marked) > 5
    assert sorted(dots.get_xdata()) == pytest.approx(sorted(e["time"] for e in marked))
    assert sorted(dots.get_ydata()) == pytest.approx(sorted((e["seq"] + e["payload"] / 2) / per(axes) for e in marked))


def test_sack_blocks_and_the_window_are_those_of_the_capture(result, folder):
    """RFC 2018 section 4: a block lies above the acknowledgment that carries it, and within what was sent."""
    axes = axes_of(result, "sequence", flow="plain.0")
    blocks = strokes(axes, "SACK")
    (stairs,), (window,) = lines(axes, "acknowledged"), lines(axes, "window")
    assert len(blocks) > 10
    highest = max(high for *_, high in strokes(axes, "segment"))
    for time, low, high in blocks:
        at = np.searchsorted(stairs.get_xdata(), time, "right") - 1
        assert stairs.get_ydata()[at] < low < high <= highest + 1e-9
    assert (np.diff(window.get_ydata()) >= 0).all() and window.get_ydata()[0] * per(axes) > 60_000
    if shutil.which("tshark"):
        fields = ["frame.time_epoch", "tcp.options.sack_le", "tcp.options.sack_re"]
        picked = [x for f in fields for x in ("-e", f)]
        path = str(folder / "plain.0.1.pcapng")
        told = subprocess.run(
            ["tshark", "-r", path, "-Y", "frame.p2p_dir == 1 && tcp.options.sack_le", "-T", "fields", *picked],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        theirs = [
            (float(t), int(a), int(b))
            for t, le, re in (x.split("\t") for x in told)
            for a, b in zip(le.split(","), re.split(","), strict=True)
        ]
        assert sorted(round(t, 6) for t, *_ in theirs) == sorted(round(t, 6) for t, *_ in blocks)
        lengths = sorted((b - a) % 2**32 for _, a, b in theirs)
        assert lengths == pytest.approx(sorted((b - a) * per(axes) for _, a, b in blocks), abs=0.5)


def round_trips(events, flow) -> list[tuple[float, float]]:
    """Time and round trip of each acknowledgment of new data that covers nothing sent twice: Karn's rule, in plain words."""
    sent: dict[int, float] = {}
    again: set[int] = set()
    found, known = [], -1
    for e in events:
        if e["flow"] != flow:
            continue
        if e["event"] in ("send", "retransmit") and not e["back"] and e["payload"]:
            end = e["seq"] + e["payload"]
            sent[end] = e["time"]
            if e["event"] == "retransmit":
                again.add(end)
        elif e["event"] == "receive" and e["back"] and e["ack"] is not None and e["ack"] > known:
            # What is sent again later counts as well: nothing of it may have been covered before.
            found.append((e["time"], known, e["ack"]))
            known = e["ack"]
    return [(t, t - sent[ack]) for t, before, ack in found if ack in sent and not any(before < a <= ack for a in again)]


def test_round_trips_are_timed_as_a_sender_may(result, events):
    axes = axes_of(result, "rtt", flow="plain.0")
    dots = next(x for x in axes.get_lines() if x.get_gid() == "points")
    told = round_trips(events, "plain.0")
    assert len(told) > 300
    assert dots.get_xdata() == pytest.approx([t for t, _ in told])
    assert dots.get_ydata() == pytest.approx([1e3 * r for _, r in told])
    assert axes.get_ylabel().endswith("(ms)")
    # The engine's own samples after the warm-up.
    mine = np.mean([r for t, r in told if t >= 1])
    assert mine == pytest.approx(result.flows.filter((pl.col("seed") == 1) & (pl.col("flow") == "plain.0"))["rtt_mean"][0], rel=0.01)


def test_the_distribution_of_round_trips(result, events):
    (line,) = lines(axes_of(result, "rtt-cdf", flow="plain.0"))
    told = np.sort([1e3 * r for t, r in round_trips(events, "plain.0") if 1 <= t <= 6])
    for x, y in list(zip(line.get_xdata(), line.get_ydata(), strict=True))[1::17]:
        assert (told < x - 1e-6).mean() - 1e-9 <= y <= (told < x + 1e-6).mean() + 1e-9


def one_way(events, flow, since=1) -> list[float]:
    sent = {
        e["packet"]: e["time"]
        for e in events
        if e["event"] in ("send", "retransmit") and e["flow"] == flow and not e["back"] and e["payload"]
    }
    return [e["time"] - sent[e["packet"]] for e in events if e["event"] == "receive" and e["packet"] in sent and since <= e["time"] <= 6]


def test_delays_are_from_sending_to_arrival(result, events):
    told = np.sort([1e3 * d for d in one_way(events, "ecn")])
    (line,), (tail,) = lines(axes_of(result, "delay-cdf", flow="ecn")), lines(axes_of(result, "delay-ccdf", flow="ecn"))
    for x, y in list(zip(line.get_xdata(), line.get_ydata(), strict=True))[1::13]:
        assert (told < x - 1e-6).mean() - 1e-9 <= y <= (told < x + 1e-6).mean() + 1e-9
    for x, y in list(zip(tail.get_xdata(), tail.get_ydata(), strict=True))[1::13]:
        assert (told > x + 1e-6).mean() - 1e-9 <= y <= (told > x - 1e-6).mean() + 1e-9
    # The engine's own percentiles are good to 1/64.
    own = result.flows.filter((pl.col("seed") == 1) & (pl.col("flow") == "ecn"))
    for q in ("p50", "p95", "p99"):
        assert np.quantile(told, int(q[1:]) / 100) / 1e3 == pytest.approx(own[f"delay_{q}"][0], rel=1 / 50)
    assert tail.axes.get_yscale() == "log"


def test_the_queue_with_thresholds_average_drops_and_marks(result, events):
    axes = axes_of(result, "queue-events", link="bottleneck")
    rows = result.link_series.filter((pl.col("seed") == 1) & (pl.col("link") == "bottleneck"))
    (queue,), (average,) = lines(axes), lines(axes, "average")
    assert queue.get_ydata() == pytest.approx(rows["queue"].to_list()) and average.get_ydata() == pytest.approx(rows["avg"].to_list())
    # min and max as written, and the end of the gentle region at twice max (Floyd 2000); the limit of 60 lies too far above.
    assert {x.get_ydata()[0] for x in lines(axes, "threshold")} >= {5.0, 15.0}
    assert {x.get_ydata()[0] for x in lines(axes, "threshold")} <= {5.0, 15.0, 30.0, 60.0}
    for event, role in (("drop", "drops"), ("mark", "marks")):
        told = [(e["time"], e["queue_packets"]) for e in events if e["event"] == event and e["link"] == "bottleneck"]
        (dots,) = lines(axes, role)
        assert told and np.column_stack([dots.get_xdata(), dots.get_ydata()]) == pytest.approx(np.array(told))


def test_a_time_is_a_length_at_the_rate_of_the_link():
    """CoDel's 5 ms at 8 Mbit/s are 5000 bytes: 5 packets of 1000 bytes."""
    net = fl.Network(duration="3s", sample="10ms")
    net.link("a", "b", name="l", rate="8Mbit/s", delay="1ms", queue="codel")
    net.flow("u", "a", "b", udp={"header": "0B"}, source={"poisson": {"rate": "7.9Mbit/s", "size": "1000B"}})
    (target,) = [x for x in lines(axes_of(net.run(), "queue-events"), "threshold") if x.get_ydata()[0] < 100]
    assert target.get_ydata()[0] == pytest.approx(5.0)


def test_layers_lie_on_one_another(result):
    drawn = draw([("", result)], "throughput-stack")
    layers = [d for d in drawn.pens[0].drawn if d["role"] == "layer"]
    assert [x["name"] for x in layers] == ["plain.0", "plain.1", "ecn"]
    for below, above in itertools.pairwise(layers):
        assert above["low"] == pytest.approx(below["high"])
    frame = result.flow_series.filter((pl.col("seed") == 1) & (pl.col("time") > 0))
    total = frame.group_by("time").agg(pl.col("throughput").sum()).sort("time")["throughput"].to_numpy() / 1e6
    assert layers[-1]["high"] == pytest.approx(total, abs=1e-6) and len(total) == 300
    areas = [c for c in drawn.figure.axes[0].collections if c.get_gid() == "layer"]
    assert len({c.get_hatch() for c in areas}) == 3
    assert areas[-1].get_paths()[0].vertices[:, 1].max() == pytest.approx(total.max())


def test_an_ellipse_lies_at_one_standard_deviation(result):
    axes = axes_of(result, "ellipses", flow="plain")
    points = result.flows.filter(pl.col("flow").str.starts_with("plain")).select("delay_mean", "throughput").to_numpy() * [1e3, 1e-6]
    (shape,) = lines(axes, "ellipse")
    inverse = np.linalg.inv(np.cov(points.T, ddof=0))
    off = np.column_stack([shape.get_xdata(), shape.get_ydata()]) - points.mean(axis=0)
    assert np.einsum("ij,jk,ik->i", off, inverse, off) == pytest.approx(1.0, rel=1e-4)
    assert axes.xaxis_inverted() and axes.get_ylabel() == "flow throughput (Mbit/s)"


def test_fairness_over_time_and_over_scales(result):
    frame = result.flow_series.filter((pl.col("seed") == 1) & (pl.col("time") > 0)).sort("time")
    flows = ["plain.0", "plain.1", "ecn"]
    each = np.column_stack([frame.filter(pl.col("flow") == f)["goodput"].to_numpy() for f in flows])
    (line,) = lines(axes_of(result, "jain-time"))
    told = [jain(each[i : i + 3].mean(axis=0).tolist()) for i in range(0, 300, 3)]
    assert line.get_ydata() == pytest.approx(told, nan_ok=True)
    (curve,) = lines(axes_of(result, "jain-scale"))
    after = each[50:]  # of 300 samples those behind the first second
    for span, value in list(zip(curve.get_xdata(), curve.get_ydata(), strict=True))[::5]:
        k = round(span / 0.02)
        windows = [jain(after[i : i + k].mean(axis=0).tolist()) for i in range(0, len(after) - k + 1, k)]
        assert value == pytest.approx(np.nanmean(windows))


def test_drops_stand_in_lanes_by_reason(result, events):
    drawn = draw([("", result)], "drop-timeline")
    told: dict[str, list[float]] = {}
    for e in events:
        if e["event"] == "drop":
            told.setdefault(e["reason"], []).append(e["time"])
    lanes = {d["name"]: d["x"] for d in drawn.pens[0].drawn}
    assert {k.split(",")[0] for k in lanes} == set(told)
    for name, times in lanes.items():
        assert times == pytest.approx(told[name.split(",")[0]])
    # Every stroke is drawn, and the counts are those of the table of links.
    assert len(strokes(drawn.figure.axes[0], "drops")) == sum(map(len, told.values()))
    counted = result.links.filter((pl.col("seed") == 1) & (pl.col("link") == "bottleneck"))
    late = sum(t >= 1 for times in told.values() for t in times)
    assert late == counted["drops"][0]


def test_a_phase_plot_is_windows_over_the_queue_at_the_same_instants(result):
    (line,) = lines(axes_of(result, "phase", flow="plain", link="bottleneck", theory="bdp"), "phase")
    flows = result.flow_series.filter((pl.col("seed") == 1) & pl.col("flow").str.starts_with("plain") & (pl.col("time") >= 1))
    windows = flows.group_by("time").agg(pl.col("cwnd").sum()).sort("time")["cwnd"].to_numpy() / 1e3
    queue = (
        result.link_series.filter((pl.col("seed") == 1) & (pl.col("link") == "bottleneck") & (pl.col("time") >= 1))[
            "queue_bytes"
        ].to_numpy()
        / 1e3
    )
    assert line.get_xdata() == pytest.approx(queue) and line.get_ydata() == pytest.approx(windows)


def test_the_heat_map_is_the_table(result):
    axes = axes_of(result, "sharing")
    (image,) = axes.get_images()
    for row, flow in enumerate(["plain.0", "plain.1", "ecn"]):
        told = (
            result.flow_series.filter((pl.col("seed") == 1) & (pl.col("flow") == flow) & (pl.col("time") > 0))
            .sort("time")["goodput"]
            .to_numpy()
        )
        pairs = np.nan_to_num(told[: len(told) // 2 * 2]).reshape(-1, 2).mean(axis=1)  # 300 samples, 200 columns are the most
        assert image.get_array()[row].filled(0) == pytest.approx(pairs / 1e6, abs=1e-9)
    assert [t.get_text() for t in axes.get_yticklabels()] == ["plain.0", "plain.1", "ecn"]


def test_completion_times_by_size(files):
    drawn = draw([("", files)], "fct", theory="ideal")
    axes = drawn.figure.axes[0]
    ended = [(g * 20 / 8 / 1e3, t) for g, t in files.flows.select("goodput", "completion_time").iter_rows() if math.isfinite(t)]
    dots = next(x for x in axes.get_lines() if x.get_gid() == "points")
    unit = 1e3 if axes.get_ylabel().endswith("(ms)") else 1.0
    assert np.array(sorted(zip(dots.get_xdata(), dots.get_ydata(), strict=True))) == pytest.approx(
        np.array(sorted((s, t * unit) for s, t in ended))
    )
    assert f"({len(ended)} of 120 ended)" in drawn.pens[0].keys[0][1]
    # Classes of equal number, smallest first: the percentiles of their flows.
    ended.sort()
    n = len(ended)
    edges = [round(i * n / (n // 20)) for i in range(n // 20 + 1)]
    (median,) = lines(axes, "p50")
    assert median.get_ydata() == pytest.approx([np.median([t for _, t in ended[a:b]]) * unit for a, b in itertools.pairwise(edges)])
    # Nobody is faster than light: the base round trip of 14 ms and the size at 10 Mbit/s.
    (ideal,) = lines(axes, "theory")
    assert all(t >= s * 8e3 / 10e6 for s, t in ended)
    assert ideal.get_ydata()[0] / unit == pytest.approx(0.014 + 8 * ideal.get_xdata()[0] * 1e3 / 10e6, rel=0.2)


def test_goodput_against_loss_with_the_laws(result):
    axes = axes_of(result, "loss-throughput", theory=("sqrt", "pftk"), flow="plain")
    rows = result.flows.filter(pl.col("flow").str.starts_with("plain") & (pl.col("loss") > 0))
    dots = next(x for x in axes.get_lines() if x.get_gid() == "points")
    assert dots.get_xdata() == pytest.approx(rows["loss"].to_list())
    assert dots.get_ydata() == pytest.approx((rows["goodput"] / 1e6).to_list())
    law, timeouts = lines(axes, "theory")
    p, rtt = law.get_xdata()[40], rows["rtt_mean"].drop_nans().mean()
    assert law.get_ydata()[40] == pytest.approx(8 * 1460 * elsewhere.square_root(p, rtt, 2) / 1e6)
    assert timeouts.get_ydata()[40] == pytest.approx(8 * 1460 * elsewhere.pftk(p, rtt, 2, 1.0) / 1e6)


# --- over runs, results and studies ---------------------------------------------------------------------------


def test_a_band_is_the_interval_over_the_runs(result):
    axes = axes_of(result, "window", flow="ecn", seed="all")
    (line,), (band,) = lines(axes), [c for c in axes.collections if c.get_gid() == "band"]
    at = 120
    time = line.get_xdata()[at]
    told = fl.interval(result.flow_series.filter((pl.col("flow") == "ecn") & (pl.col("time") == time))["cwnd"].cast(pl.Float64).to_list())
    assert line.get_ydata()[at] == pytest.approx(told.mean / 1e3)
    ends = {round(y, 6) for x, y in band.get_paths()[0].vertices if x == time}
    assert {round(told.low / 1e3, 6), round(told.high / 1e3, 6)} <= ends


def test_a_band_of_a_distribution_is_the_interval_of_its_quantiles(result):
    drawn = draw([("", result)], "delay-cdf", flow="ecn", seed="all").pens[0].drawn
    line, band = (next(d for d in drawn if d["role"] == role) for role in ("line", "band"))
    runs = []
    for seed in (1, 2):
        events = result.trace().filter(pl.col("seed") == seed).collect().to_dicts()
        runs.append(np.sort([1e3 * d for d in one_way(events, "ecn")]))
    at = int(np.argmin(np.abs(line["y"] - 0.5)))
    medians = [r[math.ceil(line["y"][at] * len(r)) - 1] for r in runs]
    told = fl.interval(medians)
    assert line["x"][at] == pytest.approx(told.mean) and band["low"][at] == pytest.approx(told.low)


def test_results_lie_over_one_another_by_their_names(result):
    other = network(duration="4s").set("topology.dumbbell.bottleneck.queue", "codel").run()
    figure = fl.plot({"red": result, "codel": other}, "jain-time")
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["red", "codel"]
    assert len({(x.get_color(), str(x.get_linestyle())) for x in lines(figure.axes[0])}) == 2
    both = fl.plot([result, other], "queue", link="bottleneck")
    assert len(lines(both.axes[0])) == 2
    # What would cover one another stands side by side.
    side = fl.plot({"red": result, "codel": other}, "queue-events", link="bottleneck")
    assert [a.get_title("left") for a in side.axes] == ["red", "codel"]


def test_a_metric_of_several_results_has_its_intervals(result, files):
    figure = fl.plot({"red": result, "files": files}, "jain")
    told = result.value("jain")
    first = lines(figure.axes[0], "points")[0]
    assert first.get_xdata()[0] == pytest.approx(told.mean)
    (bar, _) = [c.get_segments()[0] for c in figure.axes[0].collections if c.get_gid() == "interval"]
    assert (bar[0][0], bar[1][0]) == pytest.approx((told.low, told.high))


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> fl.StudyResult:
    base = fl.Network(duration="2s", warmup="500ms", sample="20ms").dumbbell(
        pairs=2, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "5Mbit/s", "delay": "10ms", "queue": "droptail"}
    )  # fmt: skip
    base.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=2, spread="100ms")
    factors = {"links.bottleneck.queue": ["droptail", "codel"], "links.bottleneck.rate": ["2Mbit/s", "5Mbit/s"]}
    made = fl.Study(base, factors=factors, seeds="1..2", metrics=["network.goodput"])
    return made.run(tmp_path_factory.mktemp("study") / "s")


def test_points_of_a_study_are_results(study):
    """A cell is a run: the same scenario by itself has the same tables."""
    found = study.results(queue="codel")
    assert len(found) == 2
    own = next(r for name, r in found.items() if "2" in name)
    net = fl.Network(duration="2s", warmup="500ms", sample="20ms").dumbbell(
        pairs=2, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "2Mbit/s", "delay": "10ms", "queue": "codel"}
    )  # fmt: skip
    alone = net.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=2, spread="100ms").run(seeds="1..2")
    assert own.fingerprints == alone.fingerprints and own.seeds == [1, 2]
    assert own.flows["goodput"].to_list() == alone.flows["goodput"].to_list()
    mine, theirs = (r.link_series.sort("seed", "link", "time").select("seed", "link", "time", "queue") for r in (own, alone))
    assert mine.rows() == theirs.rows()


def test_small_multiples_have_the_levels_as_titles_and_one_scale(study):
    figure = study.plot("window", panel="queue", where={"rate": "5Mbit/s"})
    assert [a.get_title("left") for a in figure.axes] == ["droptail", "codel"]
    assert len({a.get_ylim() for a in figure.axes}) == len({a.get_xlim() for a in figure.axes}) == 1
    with pytest.raises(fl.FairlaneError, match="needs events on record"):
        study.plot("delay-cdf")
    with pytest.raises(fl.FairlaneError, match="theory= goes with kinds"):
        study.plot("network.goodput", theory="bdp")


# --- theory ---------------------------------------------------------------------------------------------------


def test_what_theory_says_of_a_path(result):
    """By hand: 1500 B over 100, 5 and 100 Mbit/s and 1 + 10 + 1 ms there; 40 B and 12 ms back."""
    path = formulas.Routes(result.scenario).path("plain.0")
    there = 0.012 + 12000 * (2 / 100e6 + 1 / 5e6)
    back = 0.012 + 320 * (2 / 100e6 + 1 / 5e6)
    assert (path.delay, path.back) == pytest.approx((there, back)) and path.narrowest == "bottleneck"
    assert path.full - path.rtt == pytest.approx(60 * 12000 / 5e6)
    assert formulas.Routes(result.scenario).over("bottleneck") == 3
    axes = axes_of(result, "window", theory=("bdp", "fair"))
    bdp = 5e6 * (there + back) / 8 / 1e3
    assert sorted(x.get_ydata()[0] for x in lines(axes, "theory")) == pytest.approx([bdp / 3, bdp])


def test_who_never_waits_takes_the_base_delay(result, events):
    assert min(one_way(events, "plain.0")) == pytest.approx(formulas.Routes(result.scenario).path("plain.0").delay, rel=0.02)
    alone = fl.Network(duration="1s").link("a", "b", rate="10Mbit/s", delay="3ms").link("b", "c", rate="1Mbit/s", delay="4ms")
    done = alone.flow("f", "a", "c", tcp={"initial_window": "1p"}).run(trace=True)
    # The first packet waits behind the acknowledgment of the handshake, the one after the next round trip behind nothing.
    rows = done.trace().filter(pl.col("event").is_in(["send", "receive"])).collect().to_dicts()
    assert min(one_way(rows, "f", since=0)) == pytest.approx(formulas.Routes(done.scenario).path("f").delay, rel=1e-9)


def test_theory_refuses_what_it_cannot_know():
    net = fl.Network(duration="1s", sample="10ms")
    for way, delay in (("x", "1ms"), ("y", "5ms")):
        net.link("a", way, rate="10Mbit/s", delay=delay).link(way, "b", rate="10Mbit/s", delay=delay)
    done = net.flow("f", "a", "b", tcp={}).run()
    with pytest.raises(fl.FairlaneError, match="several paths that differ are equally short"):
        done.plot("window", theory="bdp")
    done.plot("window")


@pytest.mark.parametrize("load", [0.3, 0.7, 0.9, 0.97])
def test_the_waiting_time_of_m_d_1(load):
    """Its mean is Pollaczek and Khinchine's, P(0) = 1 - load, and near zero it is Erlang's own closed form (1909)."""
    t = np.arange(0, 200, 0.1)
    tail = 1 - formulas.md1_cdf(t, load, 1.0)
    assert tail[0] == pytest.approx(load) and (np.diff(tail) <= 1e-12).all() and tail[-1] < 2e-3
    mean = np.trapezoid(tail, t)
    assert mean == pytest.approx(load / (2 * (1 - load)), rel=0.02)
    assert formulas.md1_waiting(load) == pytest.approx(load * mean, rel=0.02)  # Little
    early = t[t < 3]
    erlang = [
        (1 - load) * sum((-load * (x - k)) ** k / math.factorial(k) * math.exp(load * (x - k)) for k in range(int(x) + 1)) for x in early
    ]
    assert 1 - tail[: len(early)] == pytest.approx(erlang, abs=1e-9)


def test_a_simulated_m_d_1_lies_on_its_curve():
    net = fl.Network(duration="100s", warmup="5s", sample="1s")
    net.link("a", "b", name="l", rate="8Mbit/s", delay="1ms", queue={"droptail": {"limit": "10000p"}})
    net.flow("u", "a", "b", udp={"header": "0B"}, source={"poisson": {"rate": "6.4Mbit/s", "size": "1000B"}})
    drawn = draw([("", net.run(trace="send,receive"))], "delay-cdf", theory=("md1", "delay")).pens[0].drawn
    measured, theory = drawn[0], next(d for d in drawn if "M/D/1" in d["name"])
    there = np.interp(theory["x"], measured["x"], measured["y"])
    assert np.abs(there - theory["y"])[2:].max() < 0.03
    assert next(d for d in drawn if "base" in d["name"])["x"] == pytest.approx([2.0])  # 1 ms of wire, 1 ms at the rate


def test_laws_are_those_of_another_source():
    for p in (1e-4, 1e-3, 1e-2, 0.1):
        assert formulas.square_root(0.1, p, 1000, 2) == pytest.approx(8000 * elsewhere.square_root(p, 0.1, 2))
        assert formulas.pftk(0.1, p, 1000, 2, 1.0) == pytest.approx(8000 * elsewhere.pftk(p, 0.1, 2, 1.0))


# --- for everybody, and for paper -----------------------------------------------------------------------------

_MACHADO = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])
"""Deuteranopia, severity 1 (Machado, Oliveira and Fernandes 2009, table 1)."""


def _lab(colour: str, matrix: np.ndarray) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.clip(matrix @ np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4), 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_neighbours_stay_apart_without_red_and_green_and_in_grey():
    for i in range(12):
        for j in range(i):
            a, b = ink(i), ink(j)
            seen = np.linalg.norm(_lab(a.colour, _MACHADO) - _lab(b.colour, _MACHADO))
            assert seen > 11 or a.dash != b.dash, (i, j)
            # Five curves are told apart by colour alone, and all of them in grey.
            assert i > 4 or seen > 11, (theme.HUES[i], theme.HUES[j], seen)
            assert i > 6 or a.dash != b.dash
            assert i > 8 or a.marker != b.marker


@pytest.mark.parametrize("style", [s for s in STYLES if s != "screen"])
def test_a_figure_has_the_width_of_the_column(result, style, tmp_path):
    path = tmp_path / "x.pdf"
    result.plot("window", style=style, path=path)
    data = path.read_bytes()
    box = data[data.index(b"/MediaBox") :].split(b"]")[0].split(b"[")[1].split()
    assert float(box[2]) / 72 == pytest.approx(STYLES[style].width, abs=0.01)
    # Letters as TrueType outlines, no bitmaps of the kind 3 that publishers refuse.
    assert b"/FontFile2" in data and b"/Type3" not in data


def test_columns_are_those_of_the_templates():
    told = {"ieee": 3.5, "ieee-wide": 7.16, "acm": 3.336, "usenix": 3.335, "lncs": 122 / 25.4, "a4": 160 / 25.4}
    assert {s: STYLES[s].width for s in told} == pytest.approx(told, abs=0.01)


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_picture_has_the_same_bytes(result, ending, tmp_path):
    kind = {"svg": "throughput-stack", "pdf": "sequence", "png": "sharing"}[ending]
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    result.plot(kind, path=first, style="acm")
    result.plot(kind, path=second, style="acm")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_looks_as_it_did(kind, result, files):
    """Small, and without letters, so that fonts and versions of the library may differ."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.testing.compare import calculate_rms
    from PIL import Image

    kept = {"flow": "plain.0"} if kind == "sequence" else {}
    drawn = draw([("", files if kind == "fct" else result)], kind, size=(3.0, 2.0), **kept)
    jsonschema.validate(json.loads(json.dumps(drawn.document(), allow_nan=False)), json_schema("plot"))
    figure = drawn.figure
    for axes in figure.axes:
        for text in axes.texts:
            text.set_visible(False)
        axes.set(title="", xlabel="", ylabel="")
        axes.tick_params(labelbottom=False, labelleft=False, labelright=False, which="both")
    for legend in figure.legends:
        legend.remove()
    figure.set_layout_engine("none")
    figure.subplots_adjust(0.05, 0.05, 0.95, 0.95)
    for axes, place in zip(figure.axes, ([0.05, 0.05, 0.8, 0.9], [0.9, 0.05, 0.05, 0.9]), strict=False):
        axes.set_position(place)
    figure.set_dpi(60)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    now = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    path = GOLDEN / f"{kind}.png"
    if os.environ.get("FAIRLANE_BLESS"):
        GOLDEN.mkdir(parents=True, exist_ok=True)
        Image.fromarray(now.astype(np.uint8)).save(path, optimize=True)
    before = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert before.shape == now.shape
    assert calculate_rms(before, now) < 9
    assert now.std() > 4  # something is drawn


# --- strangers ------------------------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>$x^{$&\"'_%\\frac"


def test_names_are_text(tmp_path):
    from xml.etree import ElementTree as ET

    net = fl.Network(duration="2s", sample="20ms", name=EVIL)
    net.link("a", "b", name="l<i>&$", rate="2Mbit/s", delay="5ms", queue={"droptail": {"limit": "5p"}})
    net.flow(EVIL, "a", "b", tcp="sack").flow("_$\\alpha$", "a", "b", tcp="sack")
    done = net.run(trace=True)
    for kind in ("sequence", "queue-events", "sharing", "drop-timeline", "loss-throughput", "ellipses"):
        path = tmp_path / f"{kind}.svg"
        fl.plot({EVIL: done, "$y_{": done}, kind, path=path, **({"flow": EVIL} if kind == "sequence" else {}))
        root = ET.fromstring(path.read_text("utf-8"))
        assert not [e for e in root.iter() if e.tag.endswith("script")]
    texts = "".join((t.text or "") for t in ET.fromstring((tmp_path / "sequence.svg").read_text("utf-8")).iter())
    assert "<script>" in texts
    for ending in ("pdf", "png"):
        fl.plot({EVIL: done}, "window", path=tmp_path / f"x.{ending}")


def test_very_long_names_leave_room_for_the_picture():
    net = fl.Network(duration="1s", sample="20ms", name="n" * 3000)
    net.link("a", "b", rate="2Mbit/s", delay="5ms").flow("f" * 500, "a", "b", tcp="sack").flow("g" * 500, "a", "b", tcp="sack")
    figure = fl.plot({"r" * 900: net.run()}, "window")
    figure.canvas.draw()
    box = figure.axes[0].get_position()
    assert box.width > 0.5 and box.height > 0.35
    assert max(len(t.get_text()) for t in figure.legends[0].get_texts()) < 120


def test_a_thousand_flows():
    net = fl.Network(duration="1s", sample="50ms")
    net.dumbbell(
        pairs=1000, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "100Mbit/s", "delay": "5ms", "queue": "droptail"}
    )
    many = net.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=1000, spread="500ms").run(trace="drop,send,retransmit,receive")
    assert len(lines(axes_of(many, "window", theory="fair"))) == 1  # the mean of the group
    assert axes_of(many, "sharing").get_images()[0].get_array().shape[0] == 1000
    for kind in ("rtt", "delay-cdf", "throughput-stack", "jain-time", "drop-timeline", "ellipses", "phase", "loss-throughput"):
        draw([("", many)], kind)
    with pytest.raises(fl.FairlaneError, match="most"):
        draw([("", many)], "sequence", flow="tcp")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_is_said_in_one_line(kind):
    """No samples, no events, nobody who sends: a picture, or an error that says what gets it."""
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="5ms")
    bare = net.flow("u", "a", "b", udp={}, source={"cbr": {"rate": "100kbit/s", "size": "100B"}}, start="900ms").run()
    try:
        figure = bare.plot(kind)
    except fl.FairlaneError as e:
        told = str(e)
        assert "\n" not in told and len(told) < 320
        if KINDS[kind].sample:
            assert "--set sample=" in told
        elif KINDS[kind].trace:
            assert "--trace" in told or "TCP" in told
    else:
        assert kind == "ellipses" and figure.axes


@pytest.mark.parametrize("kind", KINDS)
def test_one_sample_constant_series_and_nobody(kind):
    net = fl.Network(duration="1s", sample="600ms").link("a", "b", name="l", rate="1Mbit/s", delay="5ms")
    net.flow("u", "a", "b", udp={}, source={"cbr": {"rate": "100kbit/s", "size": "100B"}})
    net.flow("idle", "a", "b", tcp={}, start="990ms").flow("tcp", "a", "b", tcp={}, source={"file": {"size": "3kB"}})
    done = net.run(trace=True)
    try:
        figure = done.plot(kind)
    except fl.FairlaneError as e:
        assert kind in ("jain-scale", "loss-throughput"), str(e)
        return
    figure.canvas.draw()
    assert all(np.isfinite([*a.get_xlim(), *a.get_ylim()]).all() for a in figure.axes)


def test_no_flow_that_ends_is_an_error_that_says_what_to_do(result):
    with pytest.raises(fl.FairlaneError, match="none did: give sources an end"):
        result.plot("fct")


def test_ones_own_axes_are_drawn_into(result):
    from matplotlib.figure import Figure

    own = Figure()
    left, right = own.subplots(1, 2)
    assert result.plot("window", ax=left) is own and result.plot("rtt", ax=right) is own
    assert left.get_lines() and right.get_lines() and left.get_legend() is not None and not own.legends
    left.set_title("mine")
    assert left.get_title() == "mine"
    with pytest.raises(fl.FairlaneError, match="2 panels need 2 axes"):
        fl.plot({"a": result, "b": result}, "sharing", ax=left)


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("window", {"theory": "pftk"}, "can draw in bdp, fair; pftk goes with loss-throughput"),
        ("window", {"theory": "bpd"}, "'bdp'"),
        ("window", {"time": "3s"}, "write 10s..20s"),
        ("window", {"time": "3s..2s"}, "has no length"),
        ("window", {"time": "100s..200s"}, "no samples in the span"),
        ("window", {"style": "eee"}, "'ieee'"),
        ("window", {"seed": 7}, "known are 1, 2, all"),
        ("window", {"flow": "plian"}, "did you mean 'plain'"),
        ("window", {"group": True}, "group= goes with quantities"),
        ("queue-events", {"link": "botleneck"}, "did you mean 'bottleneck'"),
        ("queue-events", {"link": "bottleneck", "theory": "md1"}, None),
        ("delay-cdf", {"theory": "md1"}, None),
        ("fct", {"time": "1s..2s"}, "leave out --time"),
        ("jain-time", {"flow": "ecn"}, "at least two flows"),
    ],
)
def test_what_cannot_be_drawn_names_what_can(result, what, options, words):
    if words is None:  # a link that is always busy has no such queue, one that is not has
        try:
            result.plot(what, **options)
        except fl.FairlaneError as e:
            assert "always busy" in str(e)
        return
    with pytest.raises(fl.FairlaneError) as e:
        result.plot(what, **options)
    assert words in str(e.value) and "\n" not in str(e.value)


def test_two_pictures_at_once_are_refused(result):
    with pytest.raises(fl.FairlaneError, match="'window' is a picture by itself"):
        result.plot("window", "queue")


def test_no_kind_is_called_as_a_quantity():
    known = {m.name for m in metrics()} | {s.name for s in series()}
    assert not set(KINDS) & known
    assert all(set(k.theory) <= set(formulas.NAMES) for k in KINDS.values())
    assert set(formulas.NAMES) == {t for k in KINDS.values() for t in k.theory}


def test_the_document_has_the_numbers_of_the_picture(result):
    told = draw([("", result)], "window", flow="ecn").document()
    rows = result.flow_series.filter((pl.col("seed") == 1) & (pl.col("flow") == "ecn"))
    assert told["panels"][0]["y"]["unit"] == "kB"
    assert [y for y in told["panels"][0]["drawn"][0]["y"] if y is not None] == pytest.approx(
        [x / 1e3 for x in rows["cwnd"].to_list() if x == x]
    )


def test_the_gallery_shows_every_kind():
    pages = {p.stem for p in (ROOT / "docs" / "gallery").glob("*.md")}
    assert set(KINDS) <= pages
