"""Results to be drawn, and what is looked at in pictures, for tests of `fairlane plot`."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import polars as pl

import fairlane as fl
from fairlane.runs.plots.figure import draw

RED = {"red": {"min": "5p", "max": "15p", "limit": "60p", "ecn": True}}
_KEPT = tempfile.TemporaryDirectory(prefix="fairlane-plotted-")
FOLDER = Path(_KEPT.name)
"""Where the capture of `plain.0` is."""


def network(**settings) -> fl.Network:
    net = fl.Network(**({"duration": "6s", "warmup": "1s", "sample": "20ms", "name": "two kinds of flows"} | settings))
    net.dumbbell(pairs=3, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "5Mbit/s", "delay": "10ms", "queue": RED})
    net.flow("plain", "s{i}", "d{i}", tcp={"preset": "rfc", "cc": "sack"}, count=2, spread="100ms")
    return net.flow("ecn", "s2", "d2", tcp={"preset": "rfc", "cc": "newreno", "ecn": "classic"})


@functools.cache
def result() -> fl.Result:
    """Two runs of it, with all of their events and the packets of one flow."""
    return network().run(seeds="1..2", trace=True, pcap=fl.Pcap("plain.0", folder=FOLDER))


@functools.cache
def files() -> fl.Result:
    """Flows that end, of many sizes."""
    net = fl.Network(duration="20s", sample="100ms", name="files")
    net.dumbbell(pairs=60, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "10Mbit/s", "delay": "5ms", "queue": "codel"})
    net.flow(
        "f",
        "s{i}",
        "d{i}",
        tcp={"preset": "rfc", "cc": "cubic"},
        count=60,
        spread="15s",
        source={"file": {"size": "60kB", "sizes": "lognormal", "cv": 2.0}},
    )
    return net.run(seeds="1..2")


@functools.cache
def events() -> list[dict]:
    """The events of the first run, one after the other."""
    return result().trace().filter(pl.col("seed") == 1).collect().to_dicts()


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


def one_way(events, flow, since=1) -> list[float]:
    sent = {
        e["packet"]: e["time"]
        for e in events
        if e["event"] in ("send", "retransmit") and e["flow"] == flow and not e["back"] and e["payload"]
    }
    return [e["time"] - sent[e["packet"]] for e in events if e["event"] == "receive" and e["packet"] in sent and since <= e["time"] <= 6]
