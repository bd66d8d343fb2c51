"""The stored run: all numbers of its tables, compared with the tables themselves; and the run on the calling thread."""

from __future__ import annotations

import threading

import polars as pl
import pytest

from conftest import DUMBBELL
from fairlane import _core
from fairlane.errors import RunError
from fairlane.study.one_run import SCHEMA

LABELS = ("name", "from", "to", "transport", "flow", "link", "time")
TABLES = ("flows", "groups", "links", "network", "flow_series", "link_series")


def resolved(**sets: str) -> _core.Resolved:
    return _core.resolve(DUMBBELL, "d.toml", "toml", list(sets.items()))


def rows(run: _core.Run, table: str) -> list[tuple]:
    """The rows of the long table that these columns come to: a metric after the other, what is not a number left out."""
    columns = getattr(run, table)()
    if not columns:
        return []
    n = len(next(iter(columns.values())))
    names = columns.get("name") or columns.get("flow") or columns.get("link") or [""] * n
    times = columns.get("time", [None] * n)
    return [
        (table, names[i], times[i], metric, value)
        for metric, values in columns.items()
        if metric not in LABELS
        for i, value in enumerate(values)
        if value == value
    ]


def kept(run: _core.Run, wanted=None) -> pl.DataFrame:
    return pl.read_parquet(run.cell("the key", "the engine", wanted))


@pytest.mark.parametrize("sets", [{"duration": "3s"}, {"duration": "3s", "report": "groups"}, {"duration": "12s", "sample": "5ms"}])
def test_a_run_has_every_number_of_every_table_once(sets):
    """With samples there are more rows than a page of the file has, and instants."""
    (run,) = _core.run(resolved(**sets), [3], 1)
    found = kept(run)
    assert dict(found.schema) == SCHEMA and set(found["key"]) == {"the key"}
    expected = [row for table in TABLES for row in rows(run, table)]
    assert len(expected) > (1 << 14) or "sample" not in sets
    assert found.filter(pl.col("table") != "run").select("table", "name", "time", "metric", "value").rows() == expected
    own = found.filter(pl.col("table") == "run")
    facts = {"seed": 3.0, "events": float(run.events), "packet_hops": float(run.packet_hops), "peak_packets": float(run.peak_packets)}
    texts = [("fingerprint", run.fingerprint), ("engine", "the engine"), *(("warning", text) for _, text in run.warnings)]
    assert own.select("metric", "value", "text").rows() == [*((m, v, None) for m, v in facts.items()), *((m, None, t) for m, t in texts)]
    assert found.filter(pl.col("value").is_null() == pl.col("text").is_null()).is_empty()


def test_a_run_has_of_the_tables_what_is_wanted():
    (run,) = _core.run(resolved(duration="2s", sample="100ms"), [1], 1)
    name = run.flows()["name"][1]
    wanted = [("flows", "goodput", (name,)), ("links", "utilisation", ("bottleneck",)), ("links", "utilisation", ("no link",))]
    wanted += [("link_series", "throughput", ("bottleneck",))]
    found = kept(run, wanted)
    names = {(table, metric): set(names) for table, metric, names in wanted if "no link" not in names}
    expected = [row for table in TABLES for row in rows(run, table) if row[1] in names.get((row[0], row[3]), ())]
    assert {(row[0], row[3]) for row in expected} == set(names)
    assert found.filter(pl.col("table") != "run").select("table", "name", "time", "metric", "value").rows() == expected


def test_a_run_here_is_the_run_on_a_thread_of_its_own():
    ours, theirs = (_core.run(resolved(duration="2s"), [5], 1, here=here)[0] for here in (True, False))
    assert ours.fingerprint == theirs.fingerprint and ours.cell("k", "e") == theirs.cell("k", "e")


def test_a_run_here_asks_whether_to_go_on():
    """On its own thread, while others hold Python's lock as they please; what the answer raises is raised."""
    asked: list[tuple[float, int]] = []

    def once(fraction: float, *_: int) -> bool:
        asked.append((fraction, threading.get_ident()))
        return len(asked) < 2

    long = resolved(duration="20000s")
    with pytest.raises(RunError, match="stopped by the progress function"):
        _core.run(long, [1], 1, False, once, here=True)
    assert len(asked) == 2 and 0 < asked[0][0] < asked[1][0] < 0.5 and {thread for _, thread in asked} == {threading.get_ident()}
    with pytest.raises(ZeroDivisionError):
        _core.run(long, [1], 1, False, lambda *_: 1 // 0, here=True)
