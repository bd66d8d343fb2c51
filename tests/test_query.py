"""SQL over result folders: the predefined queries agree with the metrics, and mistakes are reported in one message."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairlane as fl
from conftest import started as fairlane
from fairlane.runs.query import QUESTIONS, Limits, query

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

ENDLESS = "select sum(sin(range)) from range(1000000000000000)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    net = fl.Network(duration="20s", sample="100ms")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "2ms"},
        bottleneck={"rate": "3Mbit/s", "delay": "15ms", "queue": fl.queues.Droptail(limit="12p"), "loss": 0.002},
    )
    net.flow("tcp", "s{i}", "d{i}", count=2, tcp="newreno")
    return net.run("1..2", trace=True, why=True).save(tmp_path_factory.mktemp("q") / "it's asked")


def answer(folder: Path, question: str) -> list[dict]:
    heads, rows = query(folder, question)
    return [dict(zip(heads, row, strict=True)) for row in rows]


def test_all_questions_are_answered(folder: Path) -> None:
    assert len(QUESTIONS) == 13
    for question in QUESTIONS:
        assert answer(folder, question.name), question.name


def test_answers_are_those_of_the_metrics(folder: Path) -> None:
    result = fl.load(folder)
    at = result.links.filter(result.links["link"] == "bottleneck")
    drops = {(r["link"], r["reason"]): r["packets"] for r in answer(folder, "drops")}
    assert drops["bottleneck", "overflow"] == at["drops_overflow"].sum() > 0
    assert drops["bottleneck", "link"] == at["lost"].sum() > 0
    for row in answer(folder, "retransmissions"):
        of = result.flows.filter(result.flows["flow"] == row["flow"])
        assert (row["again"], row["timeouts"]) == (of["retransmits"].sum(), of["timeouts"].sum())
    for row in answer(folder, "goodput"):
        assert row["goodput"] == pytest.approx(result.value("goodput", flow=row["flow"]).mean)
    for row in answer(folder, "path-delay"):
        of = result.flows.filter(result.flows["flow"] == row["flow"])
        mean = (of["delay_mean"] * of["packets_received"]).sum() / of["packets_received"].sum()
        assert row["mean_ms"] == pytest.approx(mean * 1e3, rel=1e-6)
    waits = {r["link"]: r["mean_ms"] for r in answer(folder, "queueing-delay")}
    assert waits["bottleneck"] == pytest.approx((at["sojourn_mean"] * at["departures"]).sum() / at["departures"].sum() * 1e3, rel=0.01)


def test_the_command(folder: Path) -> None:
    done = fairlane("query", str(folder), "select flow, '=1+1' as text, 0.1::double as x from flows where seed = 1 order by flow", "--csv")
    assert list(csv.reader(done.stdout.splitlines())) == [["flow", "text", "x"], *([f"tcp.{i}", "'=1+1", "0.1"] for i in range(2))]
    assert "longest_s" in fairlane("query", str(folder), "gaps").stdout
    shown = fairlane("query", str(folder)).stdout
    assert all(f"{table}:" in shown for table in ("flows", "links", "network", "flow_series", "trace"))
    assert all(q.name in fairlane("query", "--list").stdout for q in QUESTIONS)
    assert "quantile_cont" in fairlane("query", "--list", "--sql").stdout


@pytest.mark.parametrize(
    ("question", "expected"),
    [("drop", "unknown query `drop`"), ("select x from flows", "x"), ("select 1 from trac", "trac"), ("", "empty query")],
)
def test_mistakes(folder: Path, question: str, expected: str) -> None:
    done = fairlane("query", str(folder), question)
    assert done.returncode == 2 and expected in done.stderr and "Traceback" not in done.stderr


def test_what_is_not_there(tmp_path: Path) -> None:
    net = fl.Network(duration="1s").link("a", "b", name="l", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", tcp="newreno")
    kept = net.run(1).save(tmp_path / "r")
    assert "no table `trace`: run with --trace" in fairlane("query", str(kept), "drops").stderr
    assert "no table `events` (`trace` here): run with --trace" in fairlane("query", str(kept), "select * from events").stderr
    assert "unknown table 'flow': did you mean 'flows'?" in fairlane("query", str(kept), "select * from flow").stderr
    assert "has no tables" in fairlane("query", str(tmp_path), "drops").stderr
    assert "is not a result folder" in fairlane("query", str(tmp_path / "none"), "drops").stderr
    assert "give a result folder" in fairlane("query").stderr
    hidden = "import importlib.util as u, sys; f = u.find_spec; u.find_spec = lambda n, *a: None if n == 'duckdb' else f(n, *a)\n"
    hidden += f"from fairlane.cli import main; sys.argv = ['fairlane', 'query', {json.dumps(str(kept))}, 'goodput']; main()"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install 'fairlane[query]'" in done.stderr


def test_an_answer_as_a_document(folder: Path) -> None:
    import jsonschema

    document = json.loads(
        fairlane("query", str(folder), "select flow, goodput, 'inf'::double as x from flows order by all", "--json").stdout
    )
    jsonschema.validate(document, json.loads(fairlane("schema", "query").stdout))
    assert document["columns"] == ["flow", "goodput", "x"] and [row[2] for row in document["rows"]] == [None] * len(document["rows"])
    assert [row[:2] for row in document["rows"]] == [
        [r["flow"], r["goodput"]] for r in answer(folder, "select flow, goodput from flows order by all")
    ]
    assert len(json.loads(fairlane("query", "--list", "--json").stdout)["rows"]) == len(QUESTIONS)
    assert ["flows", "goodput", "double"] in json.loads(fairlane("query", str(folder), "--json").stdout)["rows"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("copy flows to 'pwned.csv'", "queries are read-only"),
        ("create table x as select 1", "queries are read-only"),
        ("drop view flows", "queries are read-only"),
        ("attach 'pwned.db'", "queries are read-only"),
        ("install httpfs", "queries are read-only"),
        ("set enable_external_access = true", "queries are read-only"),
        ("pragma database_list; copy flows to 'pwned.csv'", "queries are read-only"),
        ("select 1; select 2", "one at a time"),
        ("select * from read_csv('{secret}')", "DuckDB reports"),
        ("select * from '{secret}'", "DuckDB reports"),
        ("select * from 'http://127.0.0.1:9/x.parquet'", "DuckDB reports"),
    ],
)
def test_a_question_reads_this_folder_and_nothing_else(folder: Path, tmp_path: Path, sql: str, expected: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    before = sorted(p.name for p in folder.rglob("*"))
    with pytest.raises(fl.FairlaneError, match=expected):
        query(folder, sql.format(secret=tmp_path / "secret.csv"))
    assert sorted(p.name for p in folder.rglob("*")) == before
    assert [p.name for p in tmp_path.iterdir()] == ["secret.csv"] and not Path("pwned.csv").exists()


def test_files_of_a_temporary_folder_are_other_files(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB lets a question read its temporary directory, `.tmp` unless another is named, whatever is forbidden."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "secret.txt").write_text("topsecret")
    for path in (".tmp/secret.txt", tmp_path / ".tmp" / "secret.txt"):
        with pytest.raises(fl.FairlaneError, match="DuckDB reports"):
            query(folder, f"select content from read_text('{path}')")
    ((place,),) = query(folder, "select current_setting('temp_directory')")[1]
    assert not Path(place).exists() and Path(place).parent != tmp_path
    assert [p.name for p in (tmp_path / ".tmp").iterdir()] == ["secret.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say how much a process has")
@pytest.mark.parametrize(
    "sql", ["select length(repeat('a', 1000000000))", "select len(range(200000000))", "select md5(repeat('a', 1000000000))"]
)
def test_one_value_does_not_take_the_machine(folder: Path, sql: str) -> None:
    code = "import resource, sys, subprocess as s; done = s.run(sys.argv[1:], capture_output=True, text=True)\n"
    code += "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, done.stderr)"
    command = [sys.executable, "-c", code, sys.executable, "-m", "fairlane", "query", str(folder), sql, "--memory", "0.1"]
    code, mib, output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(" ", 2)
    assert code == "2" and "needs more than 0.1 GiB of memory" in output and int(mib) < 900


def test_a_question_has_its_time(folder: Path) -> None:
    """The limit holds if DuckDB can be interrupted, as between rows, and if not, as within one function."""
    for sql in (ENDLESS, "select length(repeat('a', 3000000000))"):
        done = fairlane("query", str(folder), sql, "--seconds", "0.5")
        assert done.returncode == 2 and "took longer than 0.5 s" in done.stderr and done.stderr.count("error") == 1, done.stderr
    with pytest.raises(fl.FairlaneError, match=r"longer than 0\.2 s"):
        query(folder, ENDLESS, Limits(seconds=0.2))


def test_describe_and_explain_are_questions(folder: Path) -> None:
    assert answer(folder, "describe flows")[0]["column_name"] == "seed"
    assert query(folder, "explain select 1")[1] and answer(folder, "summarize network")


def test_names_of_folders_are_no_patterns(folder: Path, tmp_path: Path) -> None:
    copy = fl.load(folder).save(tmp_path / "r[1]*{a,b}?")
    fl.load(folder).save(tmp_path / "r1")
    assert query(copy, "select count(*) from trace")[1] == query(folder, "select count(*) from trace")[1]
    assert fl.load(copy).trace().collect().height == fl.load(folder).trace().collect().height


def test_a_flipped_bit_is_told_before_an_answer(folder: Path, tmp_path: Path) -> None:
    for name in ("flows.parquet", "why.parquet", "trace/seed=1/000000.parquet"):
        copy = tmp_path / name.replace("/", "-")
        shutil.copytree(folder, copy)
        data = bytearray((copy / name).read_bytes())
        data[len(data) // 2] ^= 1
        (copy / name).write_bytes(data)
        with pytest.raises(fl.FolderError, match="was changed after it was written"):
            query(copy, "select 1 as one")


def test_the_largest_seed_is_one_as_any_other(tmp_path: Path) -> None:
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="5ms").flow("f", "a", "b", tcp={})
    kept = net.run([2**64 - 1], trace=True).save(tmp_path / "r")
    assert query(kept, "select distinct seed from trace union select distinct seed from flows")[1] == [(2**64 - 1,)]
    assert fl.load(kept).trace().select("seed").unique().collect().item() == 2**64 - 1


def test_a_question_without_end_can_be_stopped(folder: Path) -> None:
    going = subprocess.Popen([sys.executable, "-m", "fairlane", "query", str(folder), ENDLESS], stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(4)
        assert going.poll() is None, "the query is still running"
        going.send_signal(signal.SIGINT)
        _, output = going.communicate(timeout=60)
    finally:
        going.kill()
    assert going.returncode != 0 and "Traceback" not in output


def test_long_answers_are_cut_on_a_terminal(folder: Path) -> None:
    assert "the first 1000 rows" in fairlane("query", str(folder), "select range from range(2000)").stdout
    assert len(fairlane("query", str(folder), "select range from range(25000)", "--csv").stdout.splitlines()) == 25_001
