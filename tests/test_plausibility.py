"""Impossible numbers are not reported: no goodput above the throughput, no link above its rate, and series that add up to the metrics."""

from __future__ import annotations

import polars as pl
import pytest

import fairlane as fl

RATE = 10e6
STEP = 0.05


def link(**table) -> fl.Network:
    net = fl.Network(duration="1s", warmup="500ms", sample=f"{STEP}s")
    rate = {} if "trace" in table else {"rate": "10Mbit/s"}
    return net.link("a", "b", name="l", delay="20ms", **({**rate, "queue": {"droptail": {"limit": "30p"}}} | table))


def check(result: fl.Result, step: float = STEP) -> None:
    flows, links = result.flows, result.links
    assert (flows["goodput"] <= flows["throughput"]).all()
    assert (links["utilisation"] <= 1).all()
    assert (result.flow_series["goodput"] <= result.flow_series["throughput"]).all()
    after = pl.col("time") > 0.5 + 1e-9
    for table, key, metrics in (("flow_series", "flow", ("goodput", "throughput")), ("link_series", "link", ("throughput",))):
        series = result.table(table).filter(after).group_by("seed", key).agg(*(pl.col(m).sum() * step / 0.5 for m in metrics))
        both = series.join(flows if key == "flow" else links, on=["seed", key], suffix="_whole")
        assert both.height == series.height > 0
        for m in metrics:
            assert both[m].to_list() == pytest.approx(both[f"{m}_whole"].to_list(), rel=1e-9, abs=1e-3)


SHAPES = {
    "plain": {},
    "uneven": {"rate": "9999991bit/s"},
    "device": {"device": "3p"},
    "device in bytes": {"device": "5000B"},
    "lossy": {"loss": 0.02},
    "late": {"reorder": {"share": 0.05, "delay": "10ms"}},
    "steps": {
        "rate": "10Mbit/s",
        "rates": [{"at": f"{t}ms", "rate": f"{r}Mbit/s"} for t, r in ((300, 4), (497, 0.5), (503, 7), (900, 10))],
    },
    "outage": {"rate": "10Mbit/s", "rates": [{"at": "490ms", "rate": "0bit/s"}, {"at": "600ms", "rate": "10Mbit/s"}]},
    "trace": {"trace": True},
    "trace and device": {"trace": True, "device": "3p"},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", [STEP, 0.03])
def test_no_share_above_one_and_no_goodput_above_the_throughput(shape, step, tmp_path):
    """The end of the warm-up lies in a recovery for some seeds, and in a transmission for nearly all; it need not be a sample."""
    table = dict(SHAPES[shape])
    if table.get("trace"):  # an opportunity every 3, 1 and 5 ms; none is at the end of the warm-up
        (tmp_path / "trace").write_text("3\n4\n9\n")
        table |= {"trace": str(tmp_path / "trace")}
    net = link(**table).replace("sample", f"{step}s")
    net.flow("tcp", "a", "b", tcp="sack", count=2, stagger="30ms")
    for size in (700, 4000):  # the large ones need several opportunities
        net.flow(f"udp{size}", "a", "b", udp={}, source={"cbr": {"rate": "1.5Mbit/s", "size": f"{size}B"}})
    result = net.run(seeds="1..20")
    if step == STEP:
        check(result)
    assert (result.flows["goodput"] <= result.flows["throughput"]).all()
    assert (result.flow_series["goodput"] <= result.flow_series["throughput"]).all()
    assert (result.links["utilisation"] <= 1).all()
    carried = result.link_series["throughput"]
    assert carried.min() >= 0
    if "trace" not in shape:
        assert carried.max() <= RATE * (1 + 1e-9)
