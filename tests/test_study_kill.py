"""A study that is killed again and again ends with exactly the results of an uninterrupted one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest

from conftest import DUMBBELL
from fairlane.study import Factor, Level, Study, StudySpec, selector
from fairlane.study.store import Store

COMBINATIONS, SEEDS, KILLS = 5, 150, 6
RUNS = COMBINATIONS * SEEDS

CHILD = """
import signal, sys
sys.path.insert(0, sys.argv[2])
from fairlane.study import store
from test_study_kill import study
store.PART_RUNS = 24  # many parts, so that many kills fall into the making of one
try:
    study().run(sys.argv[1], threads=2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
except KeyboardInterrupt as e:
    print(e, file=sys.stderr)
    sys.exit(130)
"""


def study() -> Study:
    rates = tuple(Level(r, (("topology.dumbbell.bottleneck.rate", f"{r}Mbit/s"),)) for r in range(3, 3 + COMBINATIONS))
    spec = StudySpec(
        "kill", DUMBBELL, "kill.toml", "toml", (Factor("rate", rates),), tuple(range(1, SEEDS + 1)),
        (selector("links.bottleneck.utilisation"), selector("flows.tcp.goodput.sum"), selector("network.jain")), (("duration", "60s"),),
    )  # fmt: skip
    return Study(spec)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return study().run(tmp_path_factory.mktemp("undisturbed") / "out")


def everything(result) -> pl.DataFrame:
    """All rows of all runs."""
    keys = result.index["key"].to_list()
    return result._store.scan(keys).collect().sort("key", "table", "name", "metric", "text")


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_is_stopped_at_random_loses_nothing_and_doubles_nothing(tmp_path, undisturbed, kill):
    chance = random.Random(kill)
    out = tmp_path / "out"
    kills = 0
    while True:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(out), str(Path(__file__).parent)], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        # Not before this run has put results in place, so that every attempt brings the study on; then at any instant.
        began = {p.name for p in out.glob("runs/*.parquet")}
        while child.poll() is None and not {p.name for p in out.glob("runs/*.parquet")} - began:
            time.sleep(0.002)
        try:
            child.wait(chance.uniform(0.02, 0.4) if kills < KILLS else None)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, kill)
        output = child.communicate()[1]
        if child.returncode == 0:
            break
        kills += 1
        if kill == signal.SIGINT:
            assert child.returncode == 130, output
            index = pl.read_parquet(out / "index.parquet")
            with Store(out, read_only=True) as store:
                # Ctrl-C leaves an index that is right: not a result more, not one less.
                assert set(index.filter(pl.col("status") == "done")["key"]) == set(store)
                assert not store.notes
                assert len(store) == RUNS or (f"{len(store)} of {RUNS} runs are finished" in output and "to resume" in output), output
        else:
            assert child.returncode == -signal.SIGKILL, output
    assert child.returncode == 0 and kills >= 3, kills

    result = study().run(out)
    assert (result.tally.runs, result.tally.reused, result.tally.failed) == (RUNS, RUNS, 0) and not result.notes
    names = [p.stem for p in (out / "runs").iterdir()]
    assert all(len(n) == 32 for n in names) and not list(out.rglob("*.part"))
    once = duckdb.sql(f"SELECT key, count(*) FROM '{out}/*/*.parquet' WHERE metric = 'fingerprint' GROUP BY key").fetchall()
    assert sorted(once) == sorted((k, 1) for k in undisturbed.index["key"])
    assert everything(result).equals(everything(undisturbed), null_equal=True)
    assert result.index["fingerprint"].equals(undisturbed.index["fingerprint"])
    for name in ("runs", "summary"):
        assert result.frame(name).equals(undisturbed.frame(name), null_equal=True)


def test_an_interrupt_between_a_result_and_its_row_is_in_the_index(tmp_path, monkeypatch):
    kept = Store._write

    def interrupted(self, path, data, **how):
        kept(self, path, data, **how)
        if path.parent.name == "runs":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt, match=f"1 of {RUNS} runs are finished"):
            study().run(tmp_path / "out", threads=1)
    index = pl.read_parquet(tmp_path / "out/index.parquet").filter(pl.col("status") == "done")
    with Store(tmp_path / "out", read_only=True) as store:
        assert index["key"].to_list() == list(store) and index["fingerprint"].null_count() == 0
