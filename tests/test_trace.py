"""Event tables: every packet is accounted for; they agree with metrics, series, formulas and tshark; a killed run leaves what it wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from conftest import fairlane as command
from fairlane.runs.trace import parse_filter

pytest.importorskip("pyarrow")
ECN = {"red": {"min": "5p", "max": "15p", "max_p": 0.1, "limit": "30p", "ecn": True}}


def fairlane(*args: object, code: int = 0) -> str:
    """Returns the output of the command: standard output, or standard error if it fails."""
    done = command(*map(str, args))
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def network(queue="droptail", *, cc="newreno", loss=0.0, duration="12s", ecn="off", **link) -> fl.Network:
    net = fl.Network(duration=duration, sample="100ms")
    net.link("a", "b", name="in", rate="100Mbit/s", delay="2ms")
    queue = {"droptail": {"limit": "10p"}} if queue == "droptail" else queue
    net.link("b", "c", name="out", rate="2Mbit/s", delay="10ms", queue=queue, loss=loss, **link)
    net.flow("tcp", "a", "c", count=2, tcp={"cc": cc, "ecn": ecn})
    return net.flow("udp", "a", "c", udp={}, source={"cbr": {"rate": "300kbit/s", "size": "500B"}})


def count(frame: pl.DataFrame, event: str, **of: str) -> int:
    return frame.filter(pl.col("event") == event, *(pl.col(k) == v for k, v in of.items())).height


@pytest.mark.parametrize(
    "net",
    [
        network(),
        network(loss=0.01),
        network(loss=0.01, duplicate=0.02),
        network(ECN, ecn="classic"),
        network("fq_codel", cc="cubic"),
        network("codel", cc="bbr"),
        network("sfq", cc="sack", jitter="3ms"),
    ],
    ids=["droptail", "loss", "copies", "marks", "fq_codel", "codel", "sfq"],
)
def test_every_packet_is_accounted_for(net: fl.Network) -> None:
    result = net.run(1, trace=True)
    assert result.fingerprints == net.run(1).fingerprints, "watching changes nothing"
    rows = result.trace().collect()
    assert rows["time_ps"].is_sorted()
    for link in result.links["link"]:
        at = rows.filter(pl.col("link") == link)
        lost = at.filter(pl.col("event") == "drop", pl.col("reason") == "link").height
        dropped = count(at, "drop") - lost
        waiting = at.filter(pl.col("event") != "arrive").tail(1)["queue_packets"].sum()
        assert count(at, "enqueue") == count(at, "dequeue") + dropped + waiting
        of = result.links.filter(pl.col("link") == link)
        assert (dropped, lost) == (of["drops"].item(), of["lost"].item())
        assert count(at, "mark") == of["marks"].item()
    for flow in result.flows.iter_rows(named=True):
        of_flow = rows.filter(pl.col("flow") == flow["flow"])
        if flow["transport"] == "tcp":
            assert count(of_flow, "retransmit") == flow["retransmits"]
            assert count(of_flow, "timeout") == flow["timeouts"]
    # A packet is sent, or copied on a link, once; and it ends once.
    ends = rows.filter(pl.col("event").is_in(["receive", "drop"]))
    assert ends["packet"].is_unique().all()
    sent = rows.filter(pl.col("event").is_in(["send", "retransmit"]))
    assert sent["packet"].is_unique().all()


def test_times_on_a_link_are_those_of_the_formula() -> None:
    rows = network().run(1, trace="enqueue,dequeue,arrive link=out").trace().collect()
    assert set(rows["link"]) == {"out"} and set(rows["event"]) == {"enqueue", "dequeue", "arrive"}
    times = rows.pivot("event", index=["packet", "length"], values="time_ps").drop_nulls()
    took = times["arrive"] - times["dequeue"] - times["length"].cast(pl.Int64) * 8 * 500_000
    assert set(took) == {10_000_000_000}, "2 Mbit/s and 10 ms"
    assert (times["dequeue"] >= times["enqueue"]).all()


def test_windows_are_those_of_the_series() -> None:
    result = network(cc="cubic").run(1, trace="window flow=tcp.0")
    rows = result.trace().collect()
    series = result.flow_series.filter(pl.col("flow") == "tcp.0").select("time", "cwnd")
    seen = series.join_asof(rows.select("time", window="cwnd").sort("time"), on="time").drop_nulls()
    mss = 1460
    unit = 1 if seen["cwnd"].max() > 1000 else mss
    assert ((seen["cwnd"] * unit - seen["window"]).abs() < 1).mean() > 0.99


def test_states_of_a_connection() -> None:
    net = fl.Network(duration="9s").link("a", "b", rate="1Mbit/s", delay="10ms", name="x")
    net.flow("f", "a", "b", tcp="newreno", amount="30kB")
    states = net.run(1, trace="state").trace().collect()["state"].to_list()
    kept = [s for s in states if s.isupper()]
    assert kept[:2] == ["SYN-SENT", "ESTABLISHED"] and "FIN-WAIT-1" in kept


GAUGES = {"red": {"min": "5p", "max": "15p", "max_p": 0.1, "limit": "30p"}}


def test_variables_are_those_of_the_series() -> None:
    """At each sample a variable is what the last row before it says."""
    net = network(GAUGES, cc="cubic")
    result = net.run(1, trace="gauge")
    assert result.fingerprints == net.run(1).fingerprints
    rows = result.trace().collect()
    assert set(rows["event"]) == {"gauge"} and {"avg", "w_max"} <= set(rows["gauge"])
    for key, name, series in (("link", "avg", result.link_series), ("flow", "w_max", result.flow_series)):
        of = "out" if key == "link" else "tcp.0"
        changes = rows.filter((pl.col(key) == of) & (pl.col("gauge") == name)).select("time", "value")
        assert changes.height > 5 and (changes["value"].diff().drop_nulls() != 0).all(), "a row where it changes"
        seen = series.filter(pl.col(key) == of).select("time", name).join_asof(changes.sort("time"), on="time").drop_nulls()
        assert (seen[name] == seen["value"]).mean() > 0.99
    assert net.run(1, trace="gauge link=out").trace().collect()["flow"].null_count() > 0
    assert "gauge" not in set(net.run(1, trace=True).trace().select("event").unique().collect()["event"])


def test_other_readers_take_the_files(tmp_path: Path) -> None:
    """Arrow, DuckDB and polars read the same table, each with its own decoder of pages."""
    duckdb = pytest.importorskip("duckdb")
    import pyarrow.parquet as pq

    many = [
        e for e in ("enqueue", "dequeue", "arrive", "drop", "mark", "send", "retransmit", "receive", "timeout", "window", "state", "gauge")
    ]
    network(ECN, ecn="classic", loss=0.01).run(1, trace=fl.Trace(events=many, folder=tmp_path / "t"))
    files = sorted((tmp_path / "t" / "seed=1").glob("*.parquet"))
    theirs = pl.from_arrow(pq.ParquetFile(files[0]).read())
    ours = pl.read_parquet(files[0])
    assert ours.height > 30_000 and ours.equals(theirs)
    assert set(ours["event"]) == set(many)
    arrow = duckdb.sql(f"select * from read_parquet('{files[0]}', hive_partitioning = false)").arrow()
    third = pl.from_arrow(arrow.read_all() if hasattr(arrow, "read_all") else arrow)
    assert third.equals(ours)
    assert pq.ParquetFile(files[0]).metadata.row_group(0).column(0).statistics.max == ours["time_ps"].max()


def test_a_disk_that_is_full_is_told(tmp_path: Path) -> None:
    network(duration="3s").save(tmp_path / "s.toml")
    code = "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); sys.argv[0] = 'fairlane'; "
    limited = [sys.executable, "-c", code + "runpy.run_module('fairlane', run_name='__main__')"]
    for more in ([], ["--trace-format", "ns2"]):
        run = [*limited, "run", "s.toml", "--trace", "-o", "r", "-q", *more]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0 and "larger than allowed" in done.stderr and "Traceback" not in done.stderr
        assert sorted(p.name for p in tmp_path.iterdir()) == ["s.toml"]


def test_time_and_several_seeds(tmp_path: Path) -> None:
    result = network().run("1..3", threads=2, trace=fl.Trace(events=["dequeue"], links="out", time=("2s", "3s"), folder=tmp_path / "t"))
    rows = result.trace().collect()
    assert set(rows["seed"]) == {1, 2, 3} and rows["time"].min() >= 2 and rows["time"].max() <= 3
    assert sorted(p.name for p in (tmp_path / "t").iterdir()) == ["seed=1", "seed=2", "seed=3"]
    assert network().run(1, trace="timeout link=in").trace().collect().height == 0


def test_tshark_sees_the_same_packets(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    net = network()
    result = net.run(1, trace="dequeue,arrive", pcap=fl.Pcap({"out": tmp_path / "out.pcapng"}))
    done = subprocess.run(
        ["tshark", "-n", "-r", tmp_path / "out.pcapng", "-Y", "frame.interface_id == 0", "-T", "fields", "-e", "frame.time_epoch"],
        capture_output=True,
        text=True,
        check=True,
    )
    seen = sorted(round(float(t) * 1e9) for t in done.stdout.split())
    leave, reach = pl.col("event") == "dequeue", pl.col("event") == "arrive"
    here = (leave & (pl.col("link") == "out")) | (reach & (pl.col("link") == "out.reverse"))
    ours = sorted(result.trace().filter(here).collect()["time_ps"] // 1000)
    assert len(seen) == len(ours) and all(abs(a - b) <= 1000 for a, b in zip(seen, ours, strict=True))


# The command and the folder.


def test_a_result_folder_takes_the_events(tmp_path: Path) -> None:
    network(duration="3s").save(tmp_path / "s.toml")
    done = fairlane("run", tmp_path / "s.toml", "--trace", "-o", tmp_path / "r", "--seeds", "1..2", "--json")
    assert json.loads(done)["schema"].startswith("fairlane.run/")
    assert not (tmp_path / "r.unfinished").exists()
    kept = fl.load(tmp_path / "r")
    assert kept.trace().select(pl.len()).collect().item() > 1000
    assert "trace/seed=2/000000.parquet" in json.loads((tmp_path / "r" / "manifest.json").read_text())["files"]
    fairlane("verify", tmp_path / "r")
    copy = kept.save(tmp_path / "copy")
    assert fl.load(copy).trace().collect().equals(kept.trace().collect())
    part = tmp_path / "copy" / "trace" / "seed=1" / "000000.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(fl.FairlaneError, match=r"000000\.parquet was changed"):
        fl.load(copy)
    fairlane("verify", copy, code=1)


def test_a_killed_run_leaves_what_it_has_written(tmp_path: Path) -> None:
    network(duration="100000s").save(tmp_path / "s.toml")
    place = tmp_path / "r.unfinished"
    run = [sys.executable, "-m", "fairlane", "run", str(tmp_path / "s.toml"), "--trace", "-o", str(tmp_path / "r"), "-q"]
    going = subprocess.Popen(run, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while len(list(place.glob("trace/seed=1/0*.parquet"))) < 3 and going.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        os.kill(going.pid, signal.SIGKILL)
        going.wait()
    rows = pl.scan_parquet(place / "trace" / "seed=*" / "*.parquet").collect()
    assert rows.height >= 3 * 2**18 and rows["time_ps"].is_sorted()
    assert "the trace of an interrupted run" in fairlane("run", tmp_path / "s.toml", "--trace", "-o", tmp_path / "r", code=2)
    fairlane("run", tmp_path / "s.toml", "--set", "duration=1s", "--trace", "-o", tmp_path / "r", "--force")
    assert not place.exists() and (tmp_path / "r" / "trace").is_dir()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("event=dorp", "did you mean `drop`"),
        ("link=inn", "did you mean `in`"),
        ("flow=tpc", "did you mean `tcp`"),
        ("links=in", "link"),
        ("time=3s", "time=10s..20s"),
        ("time=3..4s", "3"),
        ("flow=", "flow=NAME,NAME"),
    ],
)
def test_a_filter_that_cannot_be_is_told(tmp_path: Path, words: str, expected: str) -> None:
    network(duration="1s").save(tmp_path / "s.toml")
    assert expected in fairlane("run", tmp_path / "s.toml", "--trace", words, "-o", tmp_path / "r", code=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.toml"]


def test_what_else_is_told(tmp_path: Path) -> None:
    network(duration="1s").save(tmp_path / "s.toml")
    assert "--trace needs --out DIR" in fairlane("run", tmp_path / "s.toml", "--trace", code=2)
    with pytest.raises(fl.FairlaneError, match="no recorded events"):
        network(duration="1s").run(1).trace()
    with pytest.raises(fl.FairlaneError, match="cannot record 3"):
        network(duration="1s").run(1, trace=3)
    assert parse_filter("drop,mark time=..3s") == fl.Trace(events=["drop", "mark"], time=(None, "3s"))
