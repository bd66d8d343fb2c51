"""Time series in result folders: written in memory that does not grow with them, read as far as is asked for, whole or not there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fairlane as fl
from fairlane.runs.query import query
from fairlane.runs.tables import series, series_names

SAMPLED = """
import json, resource, sys
import polars, numpy
import fairlane as fl
from fairlane.runs import folder

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

net = fl.Network(duration=sys.argv[1], sample="1ms")
net.link("a", "b", name="x", rate="20Mbit/s", delay="5ms", queue="droptail")
net.flow("f", "a", "b", count=80, tcp="newreno")
result = net.run(1)
small = fl.Network(duration="1s", sample="100ms").link("a", "b", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", tcp="newreno")
small.run(1).save(sys.argv[2] + "0")
before = peak()
result.save(sys.argv[2])
wrote = peak()
kept = fl.load(sys.argv[2])
numbers = sum(polars.scan_parquet(f"{sys.argv[2]}/{t}.parquet").select(polars.len()).collect().item() * len(kept._tables.names(t))
              for t in ("flow_series", "link_series"))
print(json.dumps({"numbers": numbers, "grew": wrote - before, "opened": peak() - wrote}))
"""


def _child(duration: str, path: Path) -> dict[str, int]:
    done = subprocess.run([sys.executable, "-c", SAMPLED, duration, str(path)], capture_output=True, text=True, check=True)
    document: dict[str, int] = json.loads(done.stdout)
    return document


def test_memory_does_not_grow_with_what_is_written(tmp_path: Path) -> None:
    """MiB by which the largest memory of a process rises while it writes a folder. A frame of the longer run takes 80 alone."""
    short, long = (_child(duration, tmp_path / duration) for duration in ("2s", "16s"))
    assert long["numbers"] > 10_000_000 > 6 * short["numbers"] > 0
    assert long["grew"] < 64, long
    assert long["grew"] < short["grew"] + 24, (short, long)
    assert long["opened"] < 24, long


@pytest.fixture(scope="module")
def result() -> fl.Result:
    """Two runs; flows of several kinds, one of which begins later and some of which never, and gauges that only some have."""
    net = fl.Network(duration="3s", sample="10ms", warmup="500ms")
    net.link("a", "b", name="x=[1]", rate="3Mbit/s", delay="10ms", queue={"red": {}})
    net.flow("tcp", "a", "b", count=2, tcp="cubic")
    net.flow('"later"', "a", "b", tcp="bbr", start="1s")
    net.flow("some", "a", "b", count=1, room=3, tcp="reno")
    net.flow("udp", "a", "b", udp={}, source={"cbr": {"rate": "200kbit/s", "size": "500B"}})
    return net.run("1..2")


def test_a_folder_has_the_columns_that_the_core_has(result: fl.Result, tmp_path: Path) -> None:
    """The written columns equal a frame of these columns in names, types, order and values, by polars and by Arrow."""
    folder = result.save(tmp_path / "a[1]*")
    for table in ("flow_series", "link_series"):
        mine = result.table(table)
        kept = fl.load(folder)
        assert series_names(kept, table) == mine.columns
        some = series(kept, table, mine.columns[-1])
        assert_frame_equal(some, mine.select(some.columns))
        assert_frame_equal(kept.table(table), mine)
        arrow = pytest.importorskip("pyarrow.parquet").read_table(folder / f"{table}.parquet")
        assert_frame_equal(pl.DataFrame(pl.from_arrow(arrow)), mine)
    # A folder of a folder is the same, and so is one of frames.
    again = fl.load(folder).save(tmp_path / "b")
    sums = [{n: f["sha256"] for n, f in json.loads((p / "manifest.json").read_bytes())["files"].items()} for p in (folder, again)]
    assert sums[0]["flow_series.parquet"] == sums[1]["flow_series.parquet"]


def test_questions_are_answered_over_it(result: fl.Result, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    folder = result.save(tmp_path / "r")
    _, rows = query(folder, "select seed, flow, count(*), max(cwnd) from flow_series group by all order by seed, flow")
    mine = result.flow_series.group_by("seed", "flow").agg(pl.len(), pl.col("cwnd").max()).sort("seed", "flow")
    assert [r[:3] for r in rows] == [r[:3] for r in mine.iter_rows()]


def test_a_folder_that_is_replaced_is_not_taken_for_the_one_that_was_read(result: fl.Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "r")
    kept = fl.load(folder)
    result.save(folder, force=True)
    with pytest.raises(fl.FolderError, match="read it again"):
        _ = kept.flow_series
    kept = fl.load(folder)
    data = (folder / "link_series.parquet").read_bytes()
    (folder / "link_series.parquet").write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    with pytest.raises(fl.FolderError, match="changed"):
        fl.load(folder)


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path) -> None:
    """Files may have 64 KiB: the writing of the series fails in the middle."""
    code = SAMPLED.replace("before = peak()", "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))")
    done = subprocess.run([sys.executable, "-c", code, "3s", str(tmp_path / "r")], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no part of it was written" in done.stderr, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["r0"]
