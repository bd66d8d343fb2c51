"""`fairlane study`: the document, dry runs, exit codes, progress, failures, resumption."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import jsonschema
import polars as pl
import pytest

import fairlane as fl
from conftest import DUMBBELL, shown_on
from conftest import started as fairlane
from fairlane.base.document import json_schema
from test_cli_errors import check

STUDY = """
# study
name = "aqm"
scenario = "dumbbell.toml"
seeds = "1..3"
metrics = ["links.bottleneck.utilisation", "flows.tcp.goodput.sum", "links.bottleneck.sojourn_mean"]

[set]
duration = "3s"

[factors]
"links.bottleneck.queue" = ["droptail{limit=20p}", "red{min=5p,max=15p}"]
"links.bottleneck.rate" = ["2Mbit/s", "5Mbit/s", "10Mbit/s"]
"""

BAD_QUEUE = '''
import fairlane as fl


class Picky(fl.Qdisc):
    """Fails in some runs, by chance."""

    def start(self):
        self.waiting, self.seen = [], 0

    def enqueue(self, packet):
        self.seen += 1
        if self.seen == 100 and self.random() < 0.25:
            raise ValueError("no luck today")
        self.waiting.append(packet)

    def dequeue(self):
        return self.waiting.pop(0) if self.waiting else None
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    (path / "dumbbell.toml").write_text(DUMBBELL)
    (path / "aqm.toml").write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def first(place):
    done = fairlane("study", "aqm.toml", "--json", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_the_document_follows_its_schema(first):
    jsonschema.validate(first, json_schema("study"))
    assert first["runs"] == {"planned": 18, "done": 18, "reused": 0, "failed": 0}
    (queue, rate) = first["study"]["factors"]
    assert [x["label"] for x in rate["levels"]] == [2e6, 5e6, 10e6] and rate["unit"] == "bit/s"
    assert [x["label"] for x in queue["levels"]] == ["droptail{limit=20p}", "red{min=5p,max=15p}"]
    assert len(first["rows"]) == 6 * 3


def test_the_numbers_of_the_document_are_those_of_the_runs(first, place):
    (row,) = [
        r for r in first["rows"]
        if r["factors"] == {"queue": "red{min=5p,max=15p}", "rate": 5e6} and r["metric"] == "links.bottleneck.utilisation"
    ]  # fmt: skip
    sets = {"duration": "3s", "links.bottleneck.queue.red": {"min": "5p", "max": "15p"}, "links.bottleneck.rate": "5Mbit/s"}
    alone = fl.run(place / "dumbbell.toml", "1..3", sets={**sets, "links.bottleneck.queue": {"red": {"min": "5p", "max": "15p"}}})
    iv = alone.value("utilisation", link="bottleneck")
    assert (row["mean"], row["low"], row["high"], row["n"]) == pytest.approx((iv.mean, iv.low, iv.high, 3))


def test_the_same_command_reuses_everything(first, place):
    done = fairlane("study", "aqm.toml", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    assert "18 of them from an earlier call" in done.stdout
    again = json.loads(fairlane("study", "aqm.toml", "--json", cwd=place).stdout)
    assert again["runs"] == {"planned": 18, "done": 18, "reused": 18, "failed": 0}
    assert again["rows"] == first["rows"]


def test_tables_for_people(first, place):
    out = fairlane("study", "aqm.toml", cwd=place).stdout
    assert re.search(r"^aqm: 6 combinations, 18 runs finished in .*seeds 1 to 3, means with 95 % intervals$", out, re.M)
    assert re.search(r"^queue +rate +utilisation +goodput.sum +sojourn_mean$", out, re.M)
    assert re.search(r"^red\{min=5p,max=15p\} +5 Mbit/s +\d.* ± .* % ", out, re.M)
    assert "results/aqm: index.html, runs.csv, summary.csv, plots/ (3)" in out
    assert fairlane("study", "aqm.toml", "--quiet", cwd=place).stdout == ""


def test_a_dry_run_says_what_is_left_and_writes_nothing(first, place):
    before = sorted(p.name for p in place.rglob("*"))
    none = fairlane("study", "aqm.toml", "--out", "elsewhere", "--dry-run", cwd=place)
    assert none.returncode == 0
    assert "6 combinations, 3 seeds (1 to 3), 18 runs" in none.stdout
    assert "to run: 18 runs (none of them in elsewhere yet)" in none.stdout
    assert "rate: 2 Mbit/s, 5 Mbit/s, 10 Mbit/s (3)" in none.stdout
    more = fairlane("study", "aqm.toml", "--seeds", "1..4", "--dry-run", cwd=place)
    assert "to run: 6 runs (18 of them in results/aqm already)" in more.stdout
    assert re.search(r"about [\d.]+ s on \d+ worker", more.stdout)
    document = json.loads(fairlane("study", "aqm.toml", "--seeds", "1..4", "--dry-run", "--json", cwd=place).stdout)
    jsonschema.validate(document, json_schema("study"))
    assert document["runs"] == {"planned": 24, "done": 18, "reused": 18, "failed": 0, "combinations": 6, "to_run": 6}
    assert document["estimate_s"] > 0
    assert sorted(p.name for p in place.rglob("*")) == before


def test_options_change_the_study(place):
    done = fairlane("study", "aqm.toml", "--set", "duration=2s", "--seeds", "7,9", "--out", "other", "--json", "--threads", "1", cwd=place)
    document = json.loads(done.stdout)
    assert document["study"]["seeds"] == [7, 9]
    assert document["runs"] == {"planned": 12, "done": 12, "reused": 0, "failed": 0}
    result = fl.load_study(place / "other")
    assert result.runs()["seed"].to_list() == [7, 9] * 6
    assert result.spec.sets[-1] == ("duration", "2s")


def test_failing_runs_are_shown_and_the_rest_is_whole(place):
    (place / "picky.py").write_text(BAD_QUEUE)
    text = STUDY.replace('"red{min=5p,max=15p}"', '"picky"').replace('name = "aqm"', 'name = "picky"\nplugins = ["picky.py"]')
    (place / "picky.toml").write_text(text)
    done = fairlane("study", "picky.toml", "--json", cwd=place)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    jsonschema.validate(document, json_schema("study"))
    failed = document["runs"]["failed"]
    assert 0 < failed < 9 and document["runs"]["done"] == 18 - failed == sum(
        r["n"] for r in document["rows"] if r["metric"] == "flows.tcp.goodput.sum"
    )
    assert {f["factors"]["queue"] for f in document["failures"]} == {"picky"}
    assert all("no luck today" in f["error"] for f in document["failures"])
    people = fairlane("study", "picky.toml", cwd=place)
    assert people.returncode == 1
    assert f"{failed} runs failed:" in people.stdout and "no luck today" in people.stdout
    assert re.search(r"at queue picky, rate .*, seed \d", people.stdout)
    assert f"{failed} x PluginError" in people.stdout, "one reason, though the times differ"


BAD = {
    "no file": (["nothing.toml"], r"nothing\.toml"),
    "bad seeds": (["aqm.toml", "--seeds", "one"], r"1\.\.10"),
    "bad set": (["aqm.toml", "--set", "duration"], r"path=value"),
    "two kinds of workers": (["aqm.toml", "--threads", "1", "--processes", "1"], r"threads.*processes|processes.*threads"),
    "out is a file": (["aqm.toml", "--out", "aqm.toml"], r"aqm\.toml"),
    "no cluster": (["aqm.toml", "--cluster", "tcp://127.0.0.1:1"], r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"),
    "unknown plugin": (["aqm.toml", "--plugin", "nope.py"], r"nope\.py"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, tmp_path):
    (tmp_path / "dumbbell.toml").write_text(DUMBBELL)
    (tmp_path / "aqm.toml").write_text(STUDY)
    args, expected = BAD[name]
    check(fairlane("study", *args, cwd=tmp_path), expected)
    assert {p.name for p in tmp_path.iterdir()} == {"dumbbell.toml", "aqm.toml"}


@pytest.mark.parametrize(("keys", "command"), [("[factors]", "fairlane study s.toml"), ("[objectives]", "fairlane tune s.toml")])
def test_running_another_kind_of_file_is_answered_with_its_command(keys, command, tmp_path):
    (tmp_path / "s.toml").write_text(f'scenario = "dumbbell.toml"\n{keys}\n')
    check(fairlane("run", "s.toml", cwd=tmp_path), command)


def test_a_picture_that_cannot_be_drawn_is_told_before_anything_runs(tmp_path):
    (tmp_path / "dumbbell.toml").write_text(DUMBBELL)
    (tmp_path / "aqm.toml").write_text(STUDY + '[[plots]]\nkind = "scatter"\nx = "queue"\ny = "utilisation"\n')
    check(fairlane("study", "aqm.toml", cwd=tmp_path), r"scatter over 'queue'.*box")
    assert {p.name for p in tmp_path.iterdir()} == {"dumbbell.toml", "aqm.toml"}


def test_a_stopped_study_says_how_to_go_on_and_does(tmp_path):
    (tmp_path / "dumbbell.toml").write_text(DUMBBELL)
    (tmp_path / "aqm.toml").write_text(STUDY.replace('"1..3"', '"1..40"').replace('"3s"', '"20s"'))
    command = [sys.executable, "-m", "fairlane", "study", "aqm.toml", "--threads", "1"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    runs = tmp_path / "results" / "aqm" / "runs"
    while running.poll() is None and len(list(runs.glob("*.parquet"))) < 3:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert re.fullmatch(r"interrupted: \d+ of 240 runs .*results/aqm.*again.*\n", err)
    kept = len(list(runs.glob("*.parquet")))
    assert 3 <= kept < 240
    again = fairlane("study", "aqm.toml", "--seeds", "1", "--json", cwd=tmp_path)
    document = json.loads(again.stdout)
    assert document["runs"]["reused"] == 1 and document["runs"]["done"] == 6


def test_progress_is_drawn_on_a_terminal_only(place):
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "fairlane", "study", "aqm.toml", "--out", "watched", "--set", "duration=4s"]
    running = subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    drawn = shown_on(leader)
    out, _ = running.communicate()
    assert running.returncode == 0
    assert re.search(rb"aqm \[[#.]{24}\] +\d+%, \d+/18 runs", drawn)
    assert drawn.endswith(b"\r\x1b[2K") and b"\r" not in out


def test_pictures_are_there_and_follow_the_data(first, place):
    own = sorted((place / "results" / "aqm" / "plots").glob("*.svg"))
    assert [p.stem for p in own] == [
        "line-flows.tcp.goodput.sum-rate", "line-links.bottleneck.sojourn_mean-rate", "line-links.bottleneck.utilisation-rate"
    ]  # fmt: skip
    texts = [p.read_text("utf-8") for p in own]
    for text in texts:
        assert ET.fromstring(text).tag.endswith("svg")
    assert "bottleneck sojourn mean (ms)" in texts[1] and "rate (Mbit/s)" in texts[1]
    assert fairlane("study", "aqm.toml", "--out", "changed", "--set", "duration=2s", "--quiet", cwd=place).returncode == 0
    other = [(place / "changed" / "plots" / p.name).read_text("utf-8") for p in own]
    assert all(a != b for a, b in zip(texts, other, strict=True))
    assert fairlane("study", "aqm.toml", "--quiet", cwd=place).returncode == 0
    assert [p.read_text("utf-8") for p in own] == texts


def test_duckdb_reads_the_index(first, place):
    import duckdb

    rows = duckdb.sql(
        f"select queue, rate, count(*) from '{place}/results/aqm/index.parquet' where status = 'done' group by all"
    ).fetchall()
    assert len(rows) == 6 and {n for _, _, n in rows} == {3}
    csv = pl.read_csv(place / "results" / "aqm" / "summary.csv")
    assert csv.height == 18
