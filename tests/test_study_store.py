"""The folder of a study: what is in it is whole, each result is there once, and it says what it holds: DuckDB is the judge."""

from __future__ import annotations

import errno
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl
import pytest

from conftest import DUMBBELL
from fairlane.base.checksums import seal_parquet
from fairlane.errors import FolderError, RunError
from fairlane.study import Factor, Level, Study, StudySpec, one_run, selector
from fairlane.study import store as store_module
from fairlane.study.model import Outcome
from fairlane.study.store import INDEX_COLUMNS, Store

SELECTORS = (selector("links.bottleneck.utilisation"), selector("flows.tcp.goodput.sum"))
RATE = "topology.dumbbell.bottleneck.rate"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "background" / "study-folders.md"
ONCE = PAGE.read_text("utf-8").split("```sql")[1].split("```")[0]
"""The query of the documentation: no key counts twice, wherever its rows are."""


def spec_of(rates=(2, 5), seeds=range(1, 4), **more) -> StudySpec:
    base = dict(name="t", base=DUMBBELL, base_name="t.toml", base_format="toml", seeds=tuple(seeds), metrics=SELECTORS)
    levels = tuple(Level(r, ((RATE, f"{r}Mbit/s"), ("duration", "2s"))) for r in rates)
    return StudySpec(**{**base, "factors": (Factor("rate", levels),), **more})


def outcome(i: int, rows: int = 3) -> Outcome:
    key = f"{i:032x}"
    columns = {
        "key": [key] * rows, "table": ["links"] * rows, "name": ["bottleneck"] * rows, "time": [None] * rows,
        "metric": [f"m{k}" for k in range(rows)], "value": [i + k / 8 for k in range(rows)], "text": [None] * rows,
    }  # fmt: skip
    data = seal_parquet(_parquet(pl.DataFrame(columns, schema=one_run.SCHEMA)), one_run.seal_of(key))
    return Outcome(key, i, data, fingerprint=f"{i:016x}", events=i, cpu_s=0.1)


def _parquet(frame: pl.DataFrame) -> bytes:
    import io

    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def sql(folder: Path, text: str) -> list[tuple]:
    """Asks DuckDB with the folder as the current one, as a person would."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return duckdb.sql(text).fetchall()
    finally:
        os.chdir(before)


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_duckdb_reads_index_runs_and_parts_with_plain_sql(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "PART_RUNS", 4)
    result = Study(spec_of()).run(tmp_path / "out")
    out = tmp_path / "out"
    assert len(list((out / "parts").iterdir())) == 1 and len(list((out / "runs").iterdir())) == 2
    rows = sql(out, ONCE)
    means = result.runs().group_by("rate").agg(pl.col("links.bottleneck.utilisation").mean()).sort("rate").rows()
    assert [(rate, runs, n) for rate, runs, n, _ in rows] == [(2, 3, 3), (5, 3, 3)]
    assert [u for *_, u in rows] == pytest.approx([u for _, u in means], rel=1e-12)
    described = sql(out, "SELECT column_name FROM (DESCRIBE SELECT * FROM 'index.parquet')")
    assert [c for (c,) in described] == [*INDEX_COLUMNS, "rate"]
    assert sql(out, "SELECT count(*), count(DISTINCT key), min(events) > 0, min(cpu_s) > 0 FROM 'index.parquet'") == [(6, 6, True, True)]


def test_the_index_agrees_with_the_results_it_names(tmp_path):
    result = Study(spec_of()).run(tmp_path)
    facts = "SELECT i.fingerprint = c.text FROM 'index.parquet' i JOIN '*/*.parquet' c USING (key) WHERE c.metric = 'fingerprint'"
    assert sql(tmp_path, facts) == [(True,)] * 6
    assert sql(tmp_path, "SELECT DISTINCT text FROM '*/*.parquet' WHERE metric = 'engine'") == [(one_run.engine(),)]
    # Without the index everything but the CPU time, which is no part of a result, comes back from the runs.
    (tmp_path / "index.parquet").unlink()
    again = Study(spec_of()).run(tmp_path)
    assert again.tally.reused == 6
    assert again.index.drop("cpu_s").equals(result.index.drop("cpu_s")) and again.index["cpu_s"].is_null().all()


def test_a_second_study_runs_only_what_the_first_does_not_share(tmp_path):
    first = Study(spec_of((2, 5))).run(tmp_path)
    second = Study(spec_of((5, 8))).run(tmp_path)
    assert (second.tally.reused, second.tally.done) == (3, 6)
    shared = set(first.index["key"]) & set(second.index["key"])
    assert len(shared) == 3 and second.index.filter(pl.col("key").is_in(list(shared)))["rate"].unique().to_list() == [5]
    assert sql(tmp_path, ONCE)[0][:3] == (5, 3, 3)


def test_combinations_that_come_to_the_same_scenario_are_computed_once_and_both_told(tmp_path):
    twice = (Level("a", (("name", "a"),)), Level("b", (("name", "b"),)))
    result = Study(spec_of(factors=(Factor("who", twice),))).run(tmp_path)
    assert len(files(tmp_path / "runs")) == 3 and result.index.height == 6 and result.tally.done == 6
    runs = result.runs()
    a, b = (runs.filter(pl.col("who") == w).drop("who") for w in "ab")
    assert a.drop("row", strict=False).equals(b.drop("row", strict=False)) and a.height == 3


def test_a_moved_or_copied_folder_stays_valid(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "PART_RUNS", 4)
    first = Study(spec_of()).run(tmp_path / "a").runs()
    (tmp_path / "a").rename(tmp_path / "b")
    shutil.copytree(tmp_path / "b", tmp_path / "c")
    for place in ("b", "c"):
        again = Study(spec_of()).run(tmp_path / place)
        assert again.tally.reused == 6 and again.runs().equals(first) and len(sql(tmp_path / place, ONCE)) == 2


@pytest.mark.parametrize("how", ["empty", "head", "half", "tail", "zero block", "zeros", "garbage", "another key", "another table"])
def test_a_torn_or_foreign_file_is_no_result(tmp_path, how):
    first = Study(spec_of()).run(tmp_path)
    victim, other = sorted((tmp_path / "runs").iterdir())[:2]
    data = victim.read_bytes()
    middle = len(data) // 2
    victim.write_bytes(
        {
            "empty": b"",
            "head": data[:10],
            "half": data[:middle],
            "tail": data[:-1],
            "zero block": data[:64] + bytes(middle) + data[64 + middle :],
            "zeros": bytes(len(data)),
            "garbage": b"PAR1" + b"\xff" * 300 + b"PAR1",
            "another key": other.read_bytes(),
            "another table": _parquet(pl.DataFrame({"key": [victim.stem], "x": [1]})),
        }[how]
    )
    again = Study(spec_of()).run(tmp_path)
    assert (again.tally.reused, again.tally.done) == (5, 6)
    message = "no checksum of this version" if how == "another table" else "not a whole result"
    assert [n for n in again.notes if message in n and victim.name in n]
    assert victim.read_bytes() == data and again.runs().equals(first.runs())


def test_a_torn_part_is_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "PART_RUNS", 4)
    first = Study(spec_of()).run(tmp_path)
    (part,) = (tmp_path / "parts").iterdir()
    part.write_bytes(part.read_bytes()[:-9])
    again = Study(spec_of()).run(tmp_path)
    assert again.tally.reused == 2 and again.runs().equals(first.runs()) and again.notes


def test_files_that_are_no_results_are_left_alone_and_what_a_killed_writer_left_is_removed(tmp_path):
    Study(spec_of()).run(tmp_path)
    (tmp_path / "runs" / "my notes.parquet").write_text("mine")
    for left in ("runs/0123.part", "index.part", "study.part"):
        (tmp_path / left).write_text("half of")
    again = Study(spec_of()).run(tmp_path)
    assert again.tally.reused == 6 and any("my notes" in n for n in again.notes)
    assert not [f for f in files(tmp_path) if f.endswith(".part")]
    assert (tmp_path / "runs" / "my notes.parquet").read_text() == "mine"


def test_without_a_folder_results_live_as_long_as_the_result(monkeypatch):
    result = Study(spec_of()).run()
    place = result.folder
    assert result.runs().height == 6 and len(files(place / "runs")) == 6
    del result
    gc.collect()
    assert not place.exists()

    def ctrl_c(tally):
        raise KeyboardInterrupt

    made = []
    real = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **how: made.append(real(**how)) or made[-1])
    with pytest.raises(KeyboardInterrupt, match="nothing is kept, as the study has no folder"):
        Study(spec_of(seeds=range(1, 40))).run(progress=ctrl_c)
    assert len(made) == 1 and not Path(made[0]).exists()


def test_a_folder_with_other_things_is_not_used(tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(FolderError, match="not empty: choose another folder"):
        Study(spec_of()).run(tmp_path)
    assert files(tmp_path) == {"thesis.tex"}


class Crash(BaseException):
    """The process ends here: nothing that follows is done, no handler runs."""


def _crash_at(monkeypatch, n: int) -> None:
    """Ends the process before its `n`th operation on files."""
    count = iter(range(1, 10**6))

    def guarded(real):
        def call(*args, **kwargs):
            if next(count) == n:
                raise Crash
            return real(*args, **kwargs)

        return call

    for name in ("replace", "unlink", "mkdir", "open"):
        monkeypatch.setattr(Path, name, guarded(getattr(Path, name)))
    monkeypatch.setattr(os, "fsync", guarded(os.fsync))


def test_making_a_part_may_be_cut_off_at_any_step(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "PART_RUNS", 4)
    outcomes = [outcome(i) for i in range(6)]
    keys = [o.key for o in outcomes]
    whole = pl.concat([pl.read_parquet(o.data) for o in outcomes])
    steps = 0
    for n in range(1, 50):
        folder = tmp_path / str(n)
        with Store(folder) as store:
            for o in outcomes:
                store.put(o)

            def index(store=store):
                rows = {"key": keys, "seed": range(6), "status": ["done"] * 6}
                empty = dict.fromkeys(INDEX_COLUMNS, [None] * 6)
                store.write_index(store_module.index_frame({**empty, **rows}, {"rate": [1] * 6}, store.file))

            index()
            with monkeypatch.context() as patch:
                _crash_at(patch, n)
                try:
                    store.tidy(index)
                    finished = True
                except Crash:
                    finished = False
        # Just as it lies there: DuckDB sees every row once, by the file that the index names.
        once = (
            "FROM 'index.parquet' i JOIN read_parquet('*/*.parquet', filename = true) c ON c.key = i.key AND ends_with(c.filename, i.file)"
        )
        assert sql(folder, f"SELECT count(*), sum(c.value) {once}") == [(18, whole["value"].sum())], n
        for again in (Store(folder, read_only=True), Store(folder)):
            with again:
                assert not again.notes and sorted(again) == keys
                assert again.scan(keys).sort("key", "metric").collect().equals(whole)
        # Opening it to write has put it in order: nothing is there twice any more.
        assert sql(folder, "SELECT count(*) FROM '*/*.parquet'") == [(18,)]
        assert not [f for f in files(folder) if f.endswith(".part")]
        steps += 1
        if finished:
            break
    assert finished and steps > 8


def test_what_was_brought_together_meanwhile_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "PART_RUNS", 4)
    with Store(tmp_path) as store:
        for i in range(4):
            store.put(outcome(i))
        reader = Store(tmp_path, read_only=True)
        store.tidy()
    assert not files(tmp_path / "runs")
    assert reader.scan([outcome(2).key]).collect()["value"].to_list() == [2.0, 2.125, 2.25]
    with pytest.raises(FolderError, match="no result for 1 runs"):
        reader.scan(["f" * 32])


def test_large_runs_stay_files_and_count_only_with_their_own_key(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "SMALL", 100)
    monkeypatch.setattr(store_module, "PART_RUNS", 2)
    with Store(tmp_path) as store:
        for i in range(3):
            store.put(outcome(i))
        store.tidy()
    assert len(files(tmp_path / "runs")) == 3 and not (tmp_path / "parts").exists()
    (tmp_path / "runs" / f"{outcome(1).key}.parquet").write_bytes(outcome(2).data)
    with Store(tmp_path) as store:
        assert sorted(store) == [outcome(0).key, outcome(2).key]


def test_one_study_at_a_time(tmp_path):
    with Store(tmp_path), pytest.raises(FolderError, match=rf"in use by this process \({os.getpid()}\)"):
        Store(tmp_path)
    with Store(tmp_path):
        pass
    assert "lock" not in files(tmp_path)


HOLD = """
    import os, sys, time
    from fairlane.study.store import Store
    store = Store(sys.argv[1])
    # With "fork", it is the worker that says it is there: before its first line it has let go of what it shares with its parent.
    if len(sys.argv) < 3 or not os.fork():
        os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(60)
"""


def _holder(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_the_lock_names_who_has_it_and_goes_with_its_process(tmp_path):
    with _holder(tmp_path) as holder:
        holder.stdout.readline()
        with pytest.raises(FolderError, match=f"in use by process {holder.pid} on .*, since .*: wait for it, stop it, or choose another"):
            Store(tmp_path)
        assert len(Store(tmp_path, read_only=True)) == 0
        holder.kill()
        holder.wait()
    assert (tmp_path / "lock").exists()
    with Store(tmp_path):
        pass


def test_a_worker_that_outlives_its_parent_does_not_hold_the_lock(tmp_path):
    with _holder(tmp_path, "fork") as holder:
        child = int(holder.stdout.readline())
        holder.kill()
        os.waitpid(holder.pid, 0)
        try:
            os.kill(child, 0)
            with Store(tmp_path):
                pass
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EFBIG, "larger than allowed"),
        (errno.EROFS, "read-only file system"),
    ],
)
def test_a_disk_that_takes_no_more_stops_the_study_with_one_line_and_loses_nothing(tmp_path, monkeypatch, number, says):
    undisturbed = Study(spec_of()).run(tmp_path / "undisturbed").runs()
    real, out = Path.open, tmp_path / "out"

    class Full:
        """A file on a disk with place for half of it."""

        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def fileno(self):
            return self.file.fileno()

        def write(self, data):
            self.file.write(bytes(data)[: len(data) // 2])
            raise OSError(number, os.strerror(number))

    def opened(path, mode="r", *args, **kwargs):
        file = real(path, mode, *args, **kwargs)
        return Full(file) if "w" in mode and len(list((out / "runs").glob("*.parquet"))) >= 3 else file

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", opened)
        with pytest.raises(FolderError, match=says) as error:
            Study(spec_of()).run(out)
    assert "\n" not in str(error.value) and "run the study again to resume" in str(error.value)
    assert len(files(out / "runs")) == 3 and not [f for f in files(out) if f.endswith(".part")]
    result = Study(spec_of()).run(out)
    assert result.tally.reused == 3 and not result.notes and result.runs().equals(undisturbed)


def test_a_small_file_system_fills_up_and_the_study_goes_on_when_there_is_room(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        study = Study(spec_of(seeds=range(1, 21)))
        with pytest.raises(FolderError, match="the disk is full") as error:
            study.run(place / "out")
        assert "\n" not in str(error.value)
        for path in (place / "out" / "runs").glob("*.parquet"):
            assert pl.read_parquet(path)["key"].unique().to_list() == [path.stem]
        kept = len(list((place / "out" / "runs").glob("*.parquet")))
        assert 0 < kept < 40 and not [f for f in files(place) if f.endswith(".part")]
        with pytest.raises(FolderError, match="the disk is full"):
            study.run(place / "out")
        subprocess.run(["mount", "-o", "remount,size=4m", str(place)], check=True)
        result = study.run(place / "out")
        assert result.tally.reused >= kept and result.tally.done == 40
        assert result.runs().equals(study.run(tmp_path / "undisturbed").runs())
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_limit_on_the_size_of_files_is_named(tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    code = """
        import sys
        from test_study_store import Study, spec_of
        from fairlane.errors import FolderError
        try:
            Study(spec_of()).run(sys.argv[1])
        except FolderError as e:
            print(e)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "out")],
        capture_output=True, text=True, preexec_fn=small_files, cwd=Path(__file__).parent, check=True,
    )  # fmt: skip
    assert "larger than allowed" in ran.stdout and ran.stdout.count("\n") == 1 and not ran.stderr
    assert not [f for f in files(tmp_path / "out") if f.endswith((".parquet", ".part"))]


class Failing:
    """The core, with a run that fails for one seed."""

    real = one_run._core

    def __getattr__(self, name):
        return getattr(self.real, name)

    def run(self, resolved, seeds, *rest, **more):
        if seeds == [2]:
            raise RunError("the run needs more than the clock can hold")
        return self.real.run(resolved, seeds, *rest, **more)


def test_failed_runs_are_told_and_tried_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(one_run, "_core", Failing())
        result = Study(spec_of()).run(tmp_path)
    assert (result.tally.done, result.tally.failed) == (4, 2)
    failed = "SELECT seed, kind, error, file FROM 'index.parquet' WHERE status = 'failed'"
    assert sql(tmp_path, failed) == [(2, "RunError", "the run needs more than the clock can hold", None)] * 2
    again = Study(spec_of()).run(tmp_path)
    assert (again.tally.reused, again.tally.done, again.tally.failed) == (4, 6, 0)
    assert sql(tmp_path, "SELECT DISTINCT status, kind, error FROM 'index.parquet'") == [("done", "", "")]


def test_an_answer_that_is_not_whole_is_a_failed_run(tmp_path, monkeypatch):
    whole = one_run._encode
    monkeypatch.setattr(one_run, "_encode", lambda task, run: whole(task, run)[: -8 if task.seed == 1 else None])
    result = Study(spec_of()).run(tmp_path)
    assert result.tally.failed == 2 and result.index.filter(pl.col("status") == "failed")["kind"].to_list() == ["Torn"] * 2


def test_results_of_another_engine_are_kept_but_not_used_and_told(tmp_path, monkeypatch):
    from fairlane.study import plan

    with monkeypatch.context() as patch:
        for module in (one_run, plan):
            patch.setattr(module, "engine", lambda: "0.0.1+old")
        Study(spec_of()).run(tmp_path)
    result = Study(spec_of()).run(tmp_path)
    assert result.tally.reused == 0 and result.tally.done == 6 and len(files(tmp_path / "runs")) == 12
    (note,) = result.notes
    assert note == f"6 results in the folder are of fairlane 0.0.1+old, this is {one_run.engine()}: they are kept, not used"
    assert Study(replace(spec_of(), seeds=(1,))).run(tmp_path).notes == [note]


def test_equal_runs_are_equal_files_and_hold_what_the_run_said(tmp_path):
    import fairlane as fl

    a, b = Study(spec_of(seeds=(7,))).run(tmp_path / "a"), Study(spec_of(seeds=(7,))).run(tmp_path / "b")
    for path in (tmp_path / "a" / "runs").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / "runs" / path.name).read_bytes()
    (tmp_path / "d.toml").write_text(DUMBBELL)
    run = fl.run(tmp_path / "d.toml", seed=7, sets={RATE: "5Mbit/s", "duration": "2s"})
    row = a.runs().row(by_predicate=pl.col("rate") == 5, named=True)
    assert row["links.bottleneck.utilisation"] == run.value("utilisation", link="bottleneck").mean
    key = a.index.filter(pl.col("rate") == 5)["key"].item()
    kept = pl.read_parquet(tmp_path / "a" / "runs" / f"{key}.parquet")
    for table, name in (("flows", "flow"), ("links", "link")):
        long = run.table(table).drop("seed", "from", "to", "transport", strict=False).unpivot(index=name, variable_name="metric")
        expected = long.cast({"value": pl.Float64}).filter(pl.col("value").is_not_nan()).sort("metric", name)
        mine = kept.filter(pl.col("table") == table).sort("metric", "name")
        assert mine.select("name", "metric", "value").rows() == expected.select(name, "metric", "value").rows()
    assert b.index["fingerprint"].to_list()[1] == run.fingerprints[0]
