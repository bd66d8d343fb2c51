"""Limits of flows, against cases in which the answer is known: by the definition of each limit, RFC 6298, and arithmetic."""

from __future__ import annotations

import json

import pytest

import fairlane as fl
from conftest import started as command


def one(source="bulk", *, duration="20s", rate="10Mbit/s", delay="50ms", queue=None, warmup="0s", loss=None, **tcp) -> fl.Network:
    net = fl.Network(duration=duration, warmup=warmup)
    extra = {} if loss is None else {"loss": loss, "reverse": {"loss": 0.0}}
    net.link("a", "b", name="out", rate=rate, delay=delay, queue=queue or {"droptail": {"limit": "1000p"}}, **extra)
    return net.flow("f", "a", "b", tcp=tcp, source=source)


def shares(net: fl.Network, seeds=1) -> dict[str, float]:
    why = net.run(seeds=seeds, why=True).why()
    flow = why.flow("f")
    for run in flow.picoseconds:
        assert all(isinstance(v, int) and v >= 0 for v in run.values())
    means = {k: v.mean for k, v in flow.shares.items()}
    assert sum(means.values()) == pytest.approx(1.0, abs=1e-12)
    return means


def test_watching_changes_nothing():
    net = one(loss=0.01)
    assert net.run(seeds="1..2", why=True).fingerprints == net.run(seeds="1..2").fingerprints


def test_the_times_add_up_to_the_picosecond():
    for warmup, duration in (("0s", 7), ("3s", 7)):
        flow = one(loss=0.01, duration="7s", warmup=warmup).run(why=True).why().flow("f")
        span = duration - (3 if warmup == "3s" else 0)
        assert sum(flow.picoseconds[0].values()) == span * 10**12
        assert flow.seconds.mean == span


def test_a_slow_application():
    """2 Mbit/s of CBR over 10 Mbit/s: the application limits for all but the handshake of one round trip and moments."""
    got = shares(one({"cbr": {"rate": "2Mbit/s", "size": "1000B"}}))
    assert got["application"] > 0.97
    assert got["handshake"] == pytest.approx(0.1 / 20, rel=0.02)
    assert got["avoidance"] == got["recovery"] == got["timeout"] == 0


def test_a_receive_window_of_one_segment_on_a_long_path():
    """One segment a round trip: but for the handshake there is always more to send and never room for it."""
    got = shares(one(receive_window="1460B", window_scaling=False))
    assert got["receive_window"] > 0.98 and got["handshake"] == pytest.approx(0.1 / 20, rel=0.02)
    assert got["receive_window"] + got["handshake"] + got["application"] == pytest.approx(1.0)


def test_a_send_buffer_below_the_path():
    """ns-2's window_ of 20 packets, a path of 10 Mbit/s times 100 ms = 83: after slow start nothing else limits."""
    got = shares(one(window="20p", cc="reno"))
    assert got["send_buffer"] > 0.96 and got["avoidance"] == 0 and got["timeout"] == 0
    assert got["slow_start"] < 0.03


def test_a_bulk_transfer_in_a_small_queue():
    """Reno over a queue that overflows: the congestion window limits, mostly in avoidance; never the application or the receiver."""
    got = shares(one(queue={"droptail": {"limit": "40p"}}, cc="reno", duration="60s"))
    assert got["avoidance"] > 0.8 and got["recovery"] > 0 and got["slow_start"] > 0
    assert got["application"] == got["receive_window"] == got["send_buffer"] == 0


def test_slow_start_alone():
    """No loss and no threshold: all but the handshake is slow start."""
    got = shares(one(duration="1s", rate="1Gbit/s", cc="reno"))
    assert got["slow_start"] + got["handshake"] == pytest.approx(1.0)
    assert got["handshake"] == pytest.approx(0.1, rel=0.01)


def lost(packets, **tcp) -> fl.Network:
    """One segment of data, the n-th packets of the link lost: the SYN is 1, the acknowledgment that opens 2 (with data after it)."""
    return one({"file": {"size": "1000B"}}, loss={"list": packets}, duration="60s", rto_min="1s", cc="reno", **tcp)


def test_one_loss_with_a_timeout():
    """RFC 6298: with a round trip of 100 ms and a least timeout of 1 s it waits exactly that."""
    net = lost([3])
    flow = net.run(why=True).why().flow("f")
    times = flow.picoseconds[0]
    assert flow.timeouts.mean == 1
    assert times["timeout"] == 10**12
    assert times["recovery"] == times["avoidance"] == 0
    # The handshake and the round trip of what was sent again.
    assert 0.19e12 < times["handshake"] + times["application"] + times["slow_start"] < 0.22e12
    assert "(1 timeout)" in str(flow)


def test_timeouts_back_off():
    """RFC 6298 section 5.5: the second wait is twice the first; 1 + 2 + 4 seconds for three losses of the same segment."""
    flow = lost([3, 4, 5]).run(why=True).why().flow("f")
    assert flow.timeouts.mean == 3 and flow.picoseconds[0]["timeout"] == 7 * 10**12


def test_idle_time_before_a_loss_is_no_waiting():
    """Two seconds of silence between segments, and the fourth is lost: one second is waited for, and not the silence before it."""
    source = {"cbr": {"rate": "4kbit/s", "size": "1000B"}}
    flow = one(source, loss={"list": [6]}, rate="100Mbit/s", rto_min="1s", cc="reno").run(why=True).why().flow("f")
    assert flow.timeouts.mean == 1 and flow.picoseconds[0]["timeout"] == 10**12
    assert flow.shares["application"].mean > 0.9


def test_pacing():
    """BBR's windows hold two path's worth, so that its pace is what holds packets back once it knows the path."""
    got = shares(one(cc="bbr", duration="30s"))
    assert got["pacing"] > 0.7


def test_a_flow_over_udp_is_limited_by_its_application():
    net = fl.Network(duration="5s").link("a", "b", rate="1Mbit/s", delay="5ms")
    net.flow("f", "a", "b", udp={}, source={"cbr": {"rate": "2Mbit/s", "size": "500B"}}, start="1s")
    why = net.run(why=True).why()
    assert why.flow("f").picoseconds[0]["application"] == 4 * 10**12
    assert why.flow("f").shares["application"].mean == 1.0
    assert str(why.flow("f")) == "f: limited by its application all the time."


def test_who_fills_a_queue_and_whom_its_drops_hit():
    """Against the event table: drops by flow, waiting times bytes by flow."""
    pytest.importorskip("pyarrow")
    import polars as pl

    net = fl.Network(duration="10s").link("a", "b", name="out", rate="2Mbit/s", delay="10ms", queue={"droptail": {"limit": "20p"}})
    net.flow("tcp", "a", "b", count=2, tcp={"cc": "reno"})
    net.flow("udp", "a", "b", udp={}, source={"cbr": {"rate": "500kbit/s", "size": "500B"}})
    result = net.run(why=True, trace="event=enqueue,dequeue,drop link=out")
    rows = result.trace().collect()
    queue = result.why().queue("out")
    drops = rows.filter(pl.col("event") == "drop").group_by("flow").len()
    assert queue.drops == {f: float(n) for f, n in zip(drops["flow"], drops["len"], strict=True)}
    came = rows.filter(pl.col("event") == "enqueue").select("packet", "flow", "length", came="time_ps")
    left = rows.filter(pl.col("event") == "dequeue").select("packet", left="time_ps")
    both = came.join(left, on="packet").with_columns(area=(pl.col("left") - pl.col("came")).cast(pl.Float64) * pl.col("length"))
    total = both["area"].sum()
    for flow, area in both.group_by("flow").agg(pl.col("area").sum()).iter_rows():
        assert queue.filled[flow] == pytest.approx(area / total, rel=1e-9)
    assert sum(queue.filled.values()) == pytest.approx(1.0)


def test_marks_hit_whom_they_mark():
    net = fl.Network(duration="10s").link(
        "a", "b", name="out", rate="2Mbit/s", delay="10ms", queue={"red": {"min": "5p", "max": "15p", "limit": "60p", "ecn": True}}
    )
    net.flow("ecn", "a", "b", tcp={"cc": "reno", "ecn": "classic"})
    net.flow("udp", "a", "b", udp={}, source={"cbr": {"rate": "200kbit/s", "size": "500B"}})
    result = net.run(why=True)
    queue = result.why().queue("out")
    marks = result.links.filter(result.links["link"] == "out")["marks"].item()
    assert marks > 0 and queue.marks == {"ecn": float(marks)} and "udp" in queue.drops


def test_a_queue_that_stands_empty_though_there_is_data():
    """A window of one segment: it is sent into an empty queue, which is empty again at once; there is data all the time."""
    result = one(receive_window="1460B", window_scaling=False).run(why=True)
    assert result.why().queue("out").starved > 0.9999
    full = one(queue={"droptail": {"limit": "200p"}}, duration="60s", warmup="20s", cc="reno", delay="5ms").run(why=True)
    assert full.why().queue("out").starved < 0.01


def test_several_runs_and_several_flows():
    net = one(loss=0.02, duration="10s")
    net.flow("never", "a", "b", tcp={}, start="9.9s", stop="9.95s")
    why = net.run(seeds="1..3", why=True).why()
    assert why.flow("f").shares["recovery"].n == 3 and sum(s.mean for s in why.flow("f").shares.values()) == pytest.approx(1.0)
    with pytest.raises(fl.UnknownNameError, match="did you mean"):
        why.flow("nevr")
    with pytest.raises(fl.UnknownNameError):
        why.queue("outt")
    with pytest.raises(fl.FairlaneError, match="why=True"):
        net.run().why()


def test_a_simulation_says_why_so_far():
    net = one(loss=0.01)
    sim = net.start(seed=1, why=True)
    sim.advance("7s")
    branch = sim.branch()
    part = one(loss=0.01, duration="7s").run(seed=1, why=True).why()
    assert sim.result().why().document() == part.document()
    for s in (sim, branch):
        s.advance()
        assert s.result().why().document() == net.run(seed=1, why=True).why().document()


def test_the_command_tells_and_its_document_has_it(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(one(loss=0.01, duration="5s").to_toml())
    output = command("run", str(path), "--why")
    assert output.returncode == 0, output.stderr
    assert "f: limited by " in output.stdout and "queue of out: filled by f (100 %)" in output.stdout
    document = json.loads(command("run", str(path), "--why", "--json").stdout)
    assert sum(s["mean"] for s in document["why"]["flows"][0]["shares"].values()) == pytest.approx(1.0)
    assert "why" not in json.loads(command("run", str(path), "--json").stdout)
    jsonschema = pytest.importorskip("jsonschema")
    from importlib.resources import files

    jsonschema.validate(document, json.loads((files("fairlane") / "schemas" / "run.json").read_text()))


def test_a_folder_keeps_it_and_questions_find_it(tmp_path):
    """Read back it is the same, and the tables add up to what the run told."""
    from fairlane.runs.query import query

    net = one(queue={"red": {"min": "5p", "max": "15p", "limit": "40p"}}, duration="20s", warmup="2s", cc="reno")
    net.flow("late", "a", "b", udp={}, source={"cbr": {"rate": "1Mbit/s", "size": "500B"}}, start="12s")
    result = net.run(seeds="1..3", why=True)
    read = fl.load(result.save(tmp_path / "kept"))
    assert repr(read.why()) == repr(result.why()) and read.why().document() == result.why().document()
    assert read.document()["why"] == result.document()["why"]
    _, rows = query(tmp_path / "kept", "select seed, flow, sum(time_ps), sum(share) from why group by all order by seed, flow")
    assert [(s, f, int(t)) for s, f, t, _ in rows] == [(s, f, t * 10**12) for s in (1, 2, 3) for f, t in (("f", 18), ("late", 8))]
    assert all(share == pytest.approx(1.0) for *_, share in rows)
    heads, rows = query(tmp_path / "kept", "limits")
    shares = {(f, by): share for f, by, share, *_ in rows}
    assert heads[:3] == ["flow", "limited_by", "share"]
    assert shares["f", "avoidance"] == pytest.approx(result.why().flow("f").shares["avoidance"].mean)
    _, rows = query(tmp_path / "kept", "filled")
    assert {f: filled for link, f, filled, *_ in rows if link == "out"} == pytest.approx(result.why().queue("out").filled)
    largest = one(duration="3s").run(seeds=[2**64 - 1], why=True)
    assert repr(fl.load(largest.save(tmp_path / "largest")).why()) == repr(largest.why())
    _, rows = query(tmp_path / "kept", "select sum(drops) from why_queues where flow is null and link = 'out'")
    assert rows[0][0] == sum(result.links.filter(result.links["link"] == "out")["drops"])
    plain = net.run(seed=1).save(tmp_path / "plain")
    assert not (plain / "why.parquet").exists()
    with pytest.raises(fl.FairlaneError, match="run with --why"):
        query(plain, "limits")
    with pytest.raises(fl.FairlaneError, match="has no limit data"):
        fl.load(plain).why()


def test_pages_say_it_with_its_numbers(tmp_path):
    result = one(loss=0.01, duration="20s").run(why=True)
    page = result.page()
    assert "What limited each flow" in page and "estimated from counters" not in page
    text = str(result.why().flow("f"))
    assert text in page.replace("&#39;", "'")
    share = 100 * result.why().flow("f").shares["recovery"].mean
    assert f"{float(f'{share:.2g}'):g} %" in page
    again = fl.report([result.save(tmp_path / "a"), one(duration="20s").run(why=True).save(tmp_path / "b")])
    assert again.page().count("<li>f: limited by ") == 2
    assert "estimated from counters" in one(duration="20s").run().page()
