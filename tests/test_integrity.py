"""Stored files are never silently wrong: any flipped bit is found before the file is read, and special files never block."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import duckdb
import polars as pl
import pytest

import fairlane as fl
from conftest import DUMBBELL, fairlane
from fairlane.base import checksums as sealed
from fairlane.base import sha256sums
from fairlane.base.document import json_schema
from fairlane.errors import FolderError
from fairlane.runs import folder as results
from fairlane.study import Study, integrity, load_study, one_run, plan_file, verify
from fairlane.study import store as store_module
from test_study_store import spec_of

SPEC = spec_of((2, 5), range(1, 3), keep="selected")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study with runs, a part, an index, tables, pictures and a page."""
    folder = tmp_path_factory.mktemp("whole") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "PART_RUNS", 3)
        Study(SPEC).run(folder).save()
    assert len(list((folder / "runs").iterdir())) == 1 and len(list((folder / "parts").iterdir())) == 1
    return folder


@pytest.fixture(scope="module")
def kept_result(tmp_path_factory):
    place = tmp_path_factory.mktemp("result")
    (place / "d.toml").write_text(DUMBBELL)
    fl.run(place / "d.toml", [1, 2], sets={"duration": "2s", "sample": "100ms"}).save(place / "out")
    return place / "out"


def flipped(data: bytes, bit: int) -> bytes:
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def fault_of(name: str, data: bytes) -> str:
    """Returns the fault that the checker of this file finds in these bytes."""
    path = Path(name)
    if path.parent.name == "runs":
        return sealed.fault_of(data, one_run.seal_of(path.stem))
    if path.parent.name == "parts":
        return sealed.fault_of(data, integrity.seal_of_part(path.stem))
    if path.name == "index.parquet":
        return sealed.fault_of(data, integrity.SEAL_OF_INDEX)
    return sealed.fault_of_text(data, b"# seal " if path.name == sha256sums.NAME else sealed.MEMBER)


def test_every_single_bit_of_a_run_counts(whole):
    (path,) = (whole / "runs").iterdir()
    data = path.read_bytes()
    assert fault_of(f"runs/{path.name}", data) == ""
    missed = [bit for bit in range(8 * len(data)) if not sealed.fault_of(flipped(data, bit), one_run.seal_of(path.stem))]
    assert missed == [] and len(data) > 1000


def test_ten_thousand_bits_of_all_that_is_kept(whole, kept_result):
    """Each kept file that carries its own sum; files that a list names are compared as a whole below."""
    own = {str(p.relative_to(whole)): p.read_bytes() for p in whole.rglob("*") if p.parent.name in ("runs", "parts")}
    own |= {name: (whole / name).read_bytes() for name in ("index.parquet", plan_file.NAME, sha256sums.NAME)}
    own["manifest.json"] = (kept_result / "manifest.json").read_bytes()
    assert len(own) == 6 and not any(fault_of(name, data) for name, data in own.items())
    chance = random.Random(16)
    names = sorted(own)
    for _ in range(10_000):
        name = chance.choice(names)
        bit = chance.randrange(8 * len(own[name]))
        assert fault_of(name, flipped(own[name], bit)), (name, bit)


@pytest.mark.parametrize("seed", range(12))
def test_a_study_with_a_flipped_bit_ends_as_if_nothing_had_been(whole, tmp_path, seed):
    """The whole way: told once, run again, the same numbers; for readers an error in one line or the same numbers."""
    chance = random.Random(seed)
    right = load_study(whole).runs()
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in (".parquet", ".json"))
    victim = files[seed % len(files)]
    data = victim.read_bytes()
    victim.write_bytes(flipped(data, chance.randrange(8 * len(data))))
    try:
        assert load_study(folder).runs().equals(right)
    except FolderError as e:
        assert "\n" not in str(e) and victim.name in str(e)
    found = fl.verify(folder)
    assert not found.whole and list(found.damaged) == [str(victim.relative_to(folder))]
    again = Study(SPEC).run(folder)
    assert again.runs().equals(right)
    (note,) = again.notes
    assert victim.name in note and "\n" not in note
    again.save()
    assert fl.verify(folder).whole


def test_what_is_damaged_while_a_result_is_in_use_is_not_read(whole, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    result = load_study(folder)
    (path,) = (folder / "runs").iterdir()
    before = path.stat()
    path.write_bytes(flipped(path.read_bytes(), 4000))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(FolderError, match=rf"{path.name} is damaged: its checksum differs: run the study again"):
        result.runs()


def test_an_answer_that_was_changed_on_its_way_is_no_result(tmp_path, monkeypatch):
    encode = one_run._encode
    monkeypatch.setattr(one_run, "_encode", lambda task, run: flipped(encode(task, run), 3000) if task.seed == 1 else encode(task, run))
    result = Study(SPEC).run(tmp_path / "out")
    assert result.index.filter(pl.col("status") == "failed")["kind"].to_list() == ["Torn"] * 2 and result.runs().height == 2


def test_other_programs_read_sealed_files(whole):
    (path,) = (whole / "runs").iterdir()
    assert duckdb.sql(f"SELECT DISTINCT key FROM '{path}'").fetchall() == [(path.stem,)]
    pq = pytest.importorskip("pyarrow.parquet")
    for file in whole.rglob("*.parquet"):
        assert pq.read_table(file).num_rows == pl.read_parquet(file).height
    if shutil.which("sha256sum"):
        assert (
            subprocess.run(["sha256sum", "--check", "--strict", sha256sums.NAME], cwd=whole, capture_output=True, check=False).returncode
            == 0
        )


def test_a_store_without_checksums_is_told_in_one_line_and_run_again(whole, tmp_path):
    """A store of an earlier version: plain Parquet, and a plan without a seal."""
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    for path in (*folder.glob("runs/*"), *folder.glob("parts/*")):
        pl.read_parquet(path).write_parquet(path)
    plan = json.loads((folder / plan_file.NAME).read_text())
    plan = {"schema": "fairlane.study-plan/1", **{k: v for k, v in plan.items() if k not in ("schema", "seal")}}
    (folder / plan_file.NAME).write_text(json.dumps(plan))
    with pytest.raises(FolderError, match=r"has the format 'fairlane.study-plan/1', this version reads .*: run the study again"):
        load_study(folder)
    again = Study(SPEC).run(folder)
    assert again.tally.reused == 0 and again.runs().equals(load_study(whole).runs())
    runs, plan_note = again.notes
    assert runs.startswith("2 files carry no checksum of this version (kept by another version of fairlane, or damaged)")
    assert plan_file.NAME in plan_note


def test_a_store_of_a_later_version_is_left_alone(whole, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    plan = {**json.loads((folder / plan_file.NAME).read_text()), "schema": "fairlane.study-plan/9"}
    del plan["seal"]
    (folder / plan_file.NAME).write_bytes(sealed.dump_json(plan))
    before = sorted((p, p.stat().st_mtime_ns) for p in folder.rglob("*.parquet"))
    with pytest.raises(FolderError, match=r"study\.json was written by a later version of fairlane: choose another folder"):
        Study(SPEC).run(folder)
    assert sorted((p, p.stat().st_mtime_ns) for p in folder.rglob("*.parquet")) == before


def test_a_clock_that_jumps_changes_nothing(whole, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    for i, path in enumerate(sorted(folder.rglob("*"))):
        os.utime(path, (0, 4_000_000_000 if i % 2 else -1_000_000_000))
    (folder / "lock").write_text('{"process": 1, "host": "elsewhere", "since": "2999-01-01 00:00:00"}')
    os.utime(folder / "lock", (0, 32_000_000_000))
    again = Study(SPEC).run(folder)
    assert again.tally.reused == 4 and not again.notes and fl.verify(folder).whole


def put(kind: str, path: Path) -> None:
    """Something that is no file."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(path.with_name("nowhere"))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as s:
            before = Path.cwd()
            os.chdir(path.parent)  # the name of a socket is short
            try:
                s.bind(path.name)
            finally:
                os.chdir(before)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "device", "socket"])
@pytest.mark.parametrize("where", ["run", "part", "index.parquet", "study.json", "lock"])
def test_what_is_no_file_in_the_place_of_one_is_named_in_one_line(whole, tmp_path, kind, where):
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    place = {"run": "runs", "part": "parts"}.get(where)
    path = next((folder / place).iterdir()) if place else folder / where
    put(kind, path)
    with pytest.raises(FolderError) as error:
        Study(SPEC).run(folder)
    words = {"folder": "a folder", "pipe": "a pipe", "link": "a link", "device": "a device", "socket": "a socket"}[kind]
    if where == "lock" and kind == "device":
        words = "a link"
    assert str(error.value).startswith(f"{path} is {words}") and "\n" not in str(error.value)
    assert not (path.parent / "nowhere").exists()
    if where != "lock":
        found = fl.verify(folder)
        assert str(path.relative_to(folder)) in found.damaged


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "device", "socket"])
def test_what_does_not_belong_into_a_folder_is_told_and_left_alone(whole, tmp_path, kind):
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    put(kind, folder / "runs" / "mine")
    again = Study(SPEC).run(folder)
    assert again.tally.reused == 4 and os.path.lexists(folder / "runs" / "mine")
    (note,) = again.notes
    assert "runs/mine (a " in note


@pytest.mark.parametrize("kind", ["pipe", "link", "device", "socket"])
@pytest.mark.parametrize("where", ["runs", "parts", "."])
def test_what_is_no_folder_in_the_place_of_one_is_named(whole, tmp_path, kind, where):
    folder = tmp_path / "study"
    shutil.copytree(whole, folder)
    path = folder if where == "." else folder / where
    put(kind, path)
    with pytest.raises(FolderError, match=r"not a folder: move it away, or choose another folder") as error:
        Study(SPEC).run(folder)
    assert str(error.value).startswith(f"{path} is a ")


def test_searches_and_reproductions_find_their_damaged_runs(tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    (tmp_path / "lan.toml").write_text(DUMBBELL.replace('"5s"', '"2s"'))
    tuning = fl.Tuning(
        tmp_path / "lan.toml", seeds="1..2", holdout_seeds="11..12", trials=1, objectives={"network.delay_p99": "min"},
        search={"droptail": {"limit": {"from": "5p", "to": "50p"}}},
    )  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert fairlane("new", "paper", "mine1999", cwd=tmp_path).returncode == 0
    for run, place in (
        (lambda: tuning.run(tmp_path / "tune"), tmp_path / "tune"),
        (lambda: fl.reproduce(tmp_path / "mine1999", quick=True, out=tmp_path / "paper"), tmp_path / "paper"),
    ):
        assert run().notes == [] and fl.verify(place).whole
        before = {p: p.read_bytes() for p in place.glob("*.csv")}
        victim = min(place.rglob("runs/*.parquet"))
        victim.write_bytes(flipped(victim.read_bytes(), 4999))
        assert list(fl.verify(place).damaged) == [str(victim.relative_to(place))]
        (note,) = run().notes
        assert victim.name in note and "run again" in note
        assert before and {p: p.read_bytes() for p in place.glob("*.csv")} == before and fl.verify(place).whole


# --- result folders ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(16))
def test_a_result_folder_with_a_flipped_bit_is_not_read(kept_result, tmp_path, seed):
    chance = random.Random(seed)
    folder = tmp_path / "out"
    shutil.copytree(kept_result, folder)
    names = sorted(p.name for p in folder.iterdir())
    victim = folder / names[seed % len(names)]
    data = victim.read_bytes()
    for _ in range(40):
        victim.write_bytes(flipped(data, chance.randrange(8 * len(data))))
        n, wrong = results.faults(folder)
        assert wrong and n in (1, len(names))
    with pytest.raises(FolderError) as error:
        fl.load(folder)
    assert "\n" not in str(error.value) and str(folder) in str(error.value)
    victim.write_bytes(data)
    assert fl.load(folder).fingerprints == fl.load(kept_result).fingerprints


def test_a_result_folder_of_before_is_read_as_before(kept_result, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(kept_result, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["seal"]
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schema": "fairlane.results/1"}, indent=1))
    assert fl.load(folder).flows.equals(fl.load(kept_result).flows) and fl.verify(folder).whole
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schema": "fairlane.results/9"}, indent=1))
    with pytest.raises(FolderError, match=r"has the format 'fairlane\.results/9', this version reads"):
        fl.load(folder)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "device", "socket"])
@pytest.mark.parametrize("name", ["manifest.json", "flows.parquet"])
def test_what_is_no_file_in_a_result_folder_is_named(kept_result, tmp_path, kind, name):
    folder = tmp_path / "out"
    shutil.copytree(kept_result, folder)
    put(kind, folder / name)
    with pytest.raises(FolderError) as error:
        fl.load(folder)
    assert name in str(error.value) and "\n" not in str(error.value)
    assert list(fl.verify(folder).damaged) == [name]


# --- the command ---------------------------------------------------------------------------------------


def test_verify_says_how_much_it_checked_and_names_what_is_damaged(whole, kept_result, tmp_path):
    import jsonschema

    shutil.copytree(whole, tmp_path / "all" / "study")
    shutil.copytree(kept_result, tmp_path / "all" / "out")
    ran = fairlane("verify", str(tmp_path / "all"))
    n = sum(p.is_file() for p in (tmp_path / "all").rglob("*"))
    assert (ran.returncode, ran.stdout) == (0, f"{tmp_path / 'all'}: {n} files checked, all are whole\n")
    picture = tmp_path / "all" / "study" / "summary.csv"
    picture.write_bytes(flipped(picture.read_bytes(), 77))
    (tmp_path / "all" / "out" / "network.parquet").unlink()
    ran = fairlane("verify", str(tmp_path / "all"))
    lines = ran.stdout.splitlines()
    assert ran.returncode == 1 and len(lines) == 3 and f"{n} files checked, 2 damaged or missing" in lines[-1]
    assert any("summary.csv was changed or damaged" in x for x in lines) and any("network.parquet is missing" in x for x in lines)
    ran = fairlane("verify", str(tmp_path / "all"), "--json")
    document = json.loads(ran.stdout)
    jsonschema.validate(document, json_schema("verify"))
    assert ran.returncode == 1 and {d["file"] for d in document["damaged"]} == {"study/summary.csv", "out/network.parquet"}
    for nothing in (tmp_path / "nowhere", tmp_path):
        (tmp_path / "all").exists() and shutil.rmtree(tmp_path / "all")
        ran = fairlane("verify", str(nothing))
        assert (ran.returncode, ran.stdout) == (2, "") and ran.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["study.json", "index.parquet"])
def test_verify_misses_the_plan_and_the_index(whole, tmp_path, name):
    """A study that ended has both; without one of them its folder cannot be opened."""
    shutil.copytree(whole, tmp_path / "s")
    assert (tmp_path / "s" / "SHA256SUMS").exists() and verify(tmp_path / "s").whole
    (tmp_path / "s" / name).unlink()
    assert set(verify(tmp_path / "s").damaged) == {name}


def test_verify_misses_the_list_of_sums(whole, tmp_path):
    """It is there whenever a table, picture or page is, but while a command writes them or after it was killed."""
    shutil.copytree(whole, tmp_path / "s")
    (tmp_path / "s" / "SHA256SUMS").unlink()
    assert set(verify(tmp_path / "s").damaged) == {"SHA256SUMS"}
    done = fairlane("verify", str(tmp_path / "s"))
    assert done.returncode == 1 and "SHA256SUMS is missing" in done.stdout
    for name in ("index.html", "runs.csv"):
        (tmp_path / "s" / name).unlink()
    assert set(verify(tmp_path / "s").damaged) == {"SHA256SUMS"}, "the other tables are there"


def test_verify_misses_what_the_index_has(whole, tmp_path):
    """A file that is gone has no sum that could be wrong."""
    shutil.copytree(whole, tmp_path / "s")
    keys = set(pl.read_parquet(tmp_path / "s" / "index.parquet").filter(pl.col("status") == "done")["key"])
    (run_file,) = (tmp_path / "s" / "runs").iterdir()
    (part,) = (tmp_path / "s" / "parts").iterdir()
    data = part.read_bytes()
    part.write_bytes(flipped(data, 999))
    assert set(verify(tmp_path / "s").damaged) == {f"parts/{part.name}"}, "its runs are not listed again"
    part.write_bytes(data)
    run_file.unlink()
    done = verify(tmp_path / "s")
    assert done.damaged == {f"runs/{run_file.name}": "is missing, and the index has it as done"}
    part.unlink()
    assert set(verify(tmp_path / "s").damaged) == {f"runs/{key}.parquet" for key in keys} and len(keys) == 4
    Study(SPEC).run(tmp_path / "s").save()
    assert verify(tmp_path / "s").whole


def test_study_verify_looks_at_the_folder_of_the_file_and_runs_nothing(tmp_path):
    (tmp_path / "lan.toml").write_text(DUMBBELL)
    (tmp_path / "s.toml").write_text(
        'name = "s"\nscenario = "lan.toml"\nseeds = "1..2"\nmetrics = ["network.jain"]\n[set]\nduration = "2s"\n'
    )
    ran = fairlane("study", "s.toml", "--verify", cwd=tmp_path)
    assert ran.returncode == 2 and "there is no folder results/s" in ran.stderr and not (tmp_path / "results").exists()
    fairlane("study", "s.toml", "-q", cwd=tmp_path)
    ran = fairlane("study", "s.toml", "--verify", cwd=tmp_path)
    assert ran.returncode == 0 and ran.stdout.endswith("files checked, all are whole\n")
    (run_file, _) = sorted((tmp_path / "results" / "s" / "runs").iterdir())
    run_file.write_bytes(flipped(run_file.read_bytes(), 5000))
    ran = fairlane("study", "s.toml", "--verify", cwd=tmp_path)
    assert ran.returncode == 1 and run_file.name in ran.stdout.splitlines()[0] and run_file.exists()


def test_a_list_of_sums_names_what_was_written_last(tmp_path):
    (tmp_path / "theirs").write_text("x")
    with sha256sums.listed(tmp_path) as put_file:
        put_file("a.csv", b"1\n")
        put_file("plots/b\nc\\.svg", b"2\n")
    assert sha256sums.faults(tmp_path) == (3, {})
    with pytest.raises(RuntimeError), sha256sums.listed(tmp_path) as put_file:
        assert not (tmp_path / sha256sums.NAME).exists()  # a process that is killed here leaves no list, never a wrong one
        put_file("a.csv", b"3\n")
        raise RuntimeError
    assert sha256sums.faults(tmp_path) == (3, {})
    (tmp_path / "a.csv").unlink()
    assert sha256sums.faults(tmp_path)[1] == {"a.csv": "is missing"}
    with sha256sums.listed(tmp_path) as put_file:
        put_file("d", b"")
    assert set(sha256sums.read(tmp_path)) == {"plots/b\nc\\.svg", "d"}
