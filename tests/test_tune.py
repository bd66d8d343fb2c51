"""`fairlane tune`: it finds known answers, gives the same on any executor and after an interruption, and names mistakes in its file."""

from __future__ import annotations

import csv
import html
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import fairlane as fl
from conftest import ROOT
from conftest import started as fairlane
from fairlane.base.document import json_schema
from fairlane.base.extras import installing
from fairlane.base.scenario import resolve
from fairlane.study import Level, Study
from fairlane.study.plan import resolve_combination
from fairlane.tuning import Tuning, score
from fairlane.tuning.model import Trial
from tune_cases import BUFFER, STREAM, TREE, where

pytest.importorskip("optuna")

__all__ = ["where"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> tuple[Path, dict]:
    """The tree's tuning through the command line: its folder and document."""
    place = tmp_path_factory.mktemp("tree")
    (place / "stream.toml").write_text(STREAM)
    (place / "tree.toml").write_text(TREE)
    done = fairlane("tune", "tree.toml", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "results" / "tree", json.loads(done.stdout)


def loss_md1k(load: float, waiting: int) -> float:
    """Share that is lost in M/D/1 with room for `waiting` packets in addition to the one in service.

    From the embedded chain at departures, as in any textbook: arrivals in a service are Poisson, P(loss) = 1 - 1 / (pi_0 + load).
    """
    k = waiting + 1
    a = [math.exp(-load) * load**i / math.factorial(i) for i in range(k + 1)]
    pi = [1.0]
    for j in range(k - 1):
        # Balance of state j: pi_j = pi_0 a_j + sum over i = 1 .. j + 1 of pi_i a_{j - i + 1}.
        rest = pi[j] - a[j] * pi[0] - math.fsum(pi[i] * a[j - i + 1] for i in range(1, j + 1))
        pi.append(rest / a[0])
    p0 = 1 / math.fsum(pi)
    return 1 - 1 / (p0 + load)


def test_the_smallest_buffer_that_keeps_a_loss_is_that_of_the_formula(where):
    wanted = next(k for k in range(1, 100) if loss_md1k(0.8, k) <= 0.01)
    assert wanted == 7 and loss_md1k(0.8, 0) == pytest.approx(0.8 / 1.8)  # Erlang's loss without room
    found = fl.Tuning.from_file("buffer.toml").run()
    # Two runs of 40 s do not know the loss exactly: one packet more or less has 0.7 % to 1.4 %.
    assert abs(int(found.chosen.queue["droptail"]["limit"][:-1]) - wanted) <= 1
    assert found.met and found.chosen.values["links.l.loss"] <= 0.01
    by_rival = {v.rival.label: v for v in found.verdicts}
    assert by_rival["large"].word == "better" and by_rival["small"].word == "better"
    assert by_rival["small"].why == "constraint" and "links.l.loss" in by_rival["small"].sentence


def test_a_tree_is_found_where_nothing_else_keeps_the_delay_low(tree):
    _, doc = tree
    assert doc["chosen"]["label"] == "calls_first"
    # 10 ms of propagation, 228 bytes at 2 Mbit/s, and at most one packet of 1500 bytes ahead.
    longest = 0.010 + 0.000912 + 0.006
    late = doc["held_out"][0]["values"]["late"]["mean"]
    assert 0.0109 < late < longest * (1 + 1 / 64)
    best_single = min(t["values"]["late"]["mean"] for t in doc["trials"] if t["label"] in ("droptail", "red"))
    assert best_single > 1.5 * late
    (verdict,) = doc["verdicts"]
    assert verdict["verdict"] == "better" and verdict["cost"]["high"] < 0 and verdict["p_holm"] < 0.01


def test_the_document_is_as_its_schema_says(tree):
    jsonschema.validate(tree[1], json_schema("tune"))


def test_the_choice_is_never_worse_than_what_people_made_or_the_defaults(tree):
    _, doc = tree
    others = [t for t in doc["trials"] if t["kind"] != "search" and t["feasible"]]
    assert len(others) >= 4
    assert all(doc["chosen"]["cost"] <= t["cost"] for t in others)


def test_the_front_is_what_no_setting_dominates(tree):
    _, doc = tree
    sign = {"late": 1, "flows.tcp.goodput": -1}
    combinations = {t["trial"]: [s * t["values"][k]["mean"] for k, s in sign.items()] for t in doc["trials"] if t["feasible"]}

    def beats(a, b):
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    free = {n for n, p in combinations.items() if not any(beats(q, p) for q in combinations.values())}
    assert set(doc["front"]) <= free
    assert {tuple(combinations[n]) for n in doc["front"]} == {tuple(combinations[n]) for n in free}
    assert doc["chosen"]["trial"] in doc["front"]


def test_the_values_are_those_of_a_run(tree):
    folder, doc = tree
    base = folder.parent.parent / "stream.toml"
    late = []
    for seed in (1, 2):
        per_mix = []
        for count in (1, 2):
            r = fl.run(base, seed=seed, sets={"flows.tcp.count": count, "links.l.queue": doc["chosen"]["queue"]})
            per_mix.append(r.value("delay_p99", flow="call").mean)
        late.append(sum(per_mix) / 2)
    assert doc["chosen"]["values"]["late"]["mean"] == pytest.approx(sum(late) / 2, rel=1e-12)


def test_the_chosen_scenario_runs_and_its_tc_lines_are_those_of_the_command(tree):
    folder, doc = tree
    done = fairlane("run", "chosen.toml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert resolve(folder / "chosen.toml")["expanded"]["links"][0]["queue"].keys() == doc["chosen"]["queue"].keys()
    assert fairlane("tc", "chosen.toml", "l", cwd=folder).stdout.strip() in (folder / "tc.sh").read_text()
    # The shell has no word against it: comments are comments.
    assert subprocess.run(["sh", "-n", "tc.sh"], cwd=folder, check=False).returncode == 0


def test_the_tables_have_every_setting_and_the_page_stands_alone(tree):
    folder, doc = tree
    with (folder / "trials.csv").open() as f:
        rows = list(csv.DictReader(f))
    assert [int(r["trial"]) for r in rows] == list(range(len(doc["trials"])))
    assert sum(r["chosen"] == "true" for r in rows) == 1
    page = (folder / "index.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "").replace("http-equiv", "") and "calls_first" in page and "one buffer" in page


def test_the_page_says_how_to_run_it_again_and_is_the_report_of_its_folder(tree, tmp_path):
    folder, document = tree
    made = fl.report(folder)
    made.page(tmp_path / "page.html")
    page, own = (p.read_text() for p in (tmp_path / "page.html", folder / "index.html"))
    command = shlex.split(html.unescape(re.search(r'aria-label="Command">([^<]+)</pre>', page)[1]))
    assert (
        command[:2] == ["fairlane", "tune"]
        and command[2].endswith(".toml")
        and command[3:5] == ["--trials", str(document["tune"]["trials"])]
    )
    assert re.sub('href="[^"]*"', "", page) == re.sub('href="[^"]*"', "", own)
    assert made.kind == "search" and made.sentences == [f"The recommended setting is {v['sentence']}." for v in document["verdicts"][:3]]
    jsonschema.validate(made.document(), json_schema("report"))
    with pytest.raises(fl.FairlaneError, match="give it alone"):
        fl.report([folder, folder])


def test_threads_processes_and_a_shared_executor_give_the_same_bit_for_bit(where):
    file = where / "t.toml"
    file.write_text(TREE.replace("trials = 20", "trials = 12"))
    with ThreadPoolExecutor(3) as pool:
        ways = [{"threads": 1}, {"threads": 4}, {"processes": 2}, {"executor": pool}]
        documents = [json.dumps(fl.Tuning.from_file(file).run(where / f"out-{i}", **way).document()) for i, way in enumerate(ways)]
    assert len(set(documents)) == 1
    document = json.loads(documents[0])
    assert document["runs"]["done"] == len(pl.scan_parquet(where / "out-1" / "*" / "*.parquet").select("key").unique().collect())


def test_a_dask_cluster_gives_the_same(where, tree):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        document = Tuning.from_file("tree.toml").run(cluster=client).document()
    assert json.loads(json.dumps(document)) == tree[1]


def test_verify_misses_runs_that_a_search_is_made_of(where):
    from fairlane.study import verify

    tuned = Tuning.from_file("buffer.toml").but(trials=2)
    tuned.run("out")
    out = where / "out"
    whole = verify(out)
    assert whole.whole and not whole.notes and whole.checked == sum(p.is_file() for p in out.rglob("*"))
    runs = sorted((out / "runs").iterdir())
    runs[0].unlink()
    assert verify(out).damaged == {f"runs/{runs[0].name}": "is missing, and runs.json has it"}
    for name in (*runs[1:],):
        name.unlink()
    (out / "runs").rmdir()
    assert set(verify(out).damaged) == {f"runs/{c.name}" for c in runs}
    tuned.run("out")
    assert verify(out).whole and sorted((out / "runs").iterdir()) == runs
    (out / "runs.json").unlink()
    assert verify(out).damaged == {"runs.json": "is missing"}
    (out / "SHA256SUMS").unlink()
    assert set(verify(out).damaged) == {"SHA256SUMS"}
    shutil.rmtree(out / "runs")
    assert set(verify(out).damaged) == {"SHA256SUMS"}, "the document tells that there was a search"


def test_a_killed_search_goes_on_and_ends_as_if_nothing_had_happened(where, tree):
    command = [sys.executable, "-m", "fairlane", "tune", "tree.toml", "--json", "--threads", "1"]
    runs = where / "results" / "tree" / "runs"
    kept = 0
    for least in (10, 40):
        running = subprocess.Popen(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))
        while running.poll() is None and (len(list(runs.glob("*.parquet"))) if runs.is_dir() else 0) < least:
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
        running.wait()
        kept = len(list(runs.glob("*.parquet")))
        assert kept >= least
    tally = []
    done = Tuning.from_file("tree.toml").run("results/tree", progress=lambda t: tally.append((t.reused, t.done)))
    assert done.tally.reused >= kept - 1
    assert json.loads(json.dumps(done.document())) == tree[1]


def test_ctrl_c_says_how_to_go_on(where):
    command = [sys.executable, "-m", "fairlane", "tune", "tree.toml", "--trials", "5000"]
    # A shell starts what runs in the background deaf to Ctrl-C, and its children inherit that.
    running = subprocess.Popen(
        command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    runs = where / "results" / "tree" / "runs"
    while running.poll() is None and (len(list(runs.glob("*.parquet"))) if runs.is_dir() else 0) < 3:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    try:
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130 and out == ""
    assert "the same command resumes" in err and "Traceback" not in err


# --- costs, against numbers worked out by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("worst", 0.5 + 0.05 * (0.25 + 0.5)), ("weighted", (0.25 + 0.5) / 2), ("knee", math.sqrt((0.25**2 + 0.5**2) / 2))],
)
def test_costs_follow_their_formulas(rule, expected, where):
    from dataclasses import replace

    spec = replace(Tuning.from_file("tree.toml").spec, rule=rule)
    scale = {"late": (0.0, 0.2), "flows.tcp.goodput": (4e6, 0.0)}
    assert score.cost_of(spec, scale, {"late": 0.05, "flows.tcp.goodput": 2e6}) == pytest.approx(expected)


def test_a_setting_that_delivers_nothing_is_out_and_does_not_stop_the_search(where):
    (where / "s.toml").write_text(
        TREE.replace(
            '"one buffer" = "droptail{limit=50p}"', 'starved = "prio{classes=[{match=tcp, queue.droptail.limit=5000p}, {match=udp}]}"'
        )
        .replace('seeds = "1..2"', 'set.flows.tcp.tcp.initial_window = "4000p"\nset.flows.call.start = "1.5s"\nseeds = "1..2"')
        .replace("trials = 20", "trials = 8")
    )
    found = fl.Tuning.from_file("s.toml").run()
    starved = found.trials[0]
    assert starved.label == "starved" and not starved.feasible
    assert found.met and found.chosen.label != "starved"


def test_numbers_that_do_not_fit_together_are_settings_that_fail_not_errors(where):
    ranges = 'red = { min = { from = "2p", to = "30p" }, max = { from = "2p", to = "30p" } }'
    (where / "r.toml").write_text(BUFFER.replace('droptail.limit = { from = "2p", to = "200p", scale = "log" }', ranges))
    found = fl.Tuning.from_file("r.toml").run()
    wrong = [t for t in found.trials if t.error]
    assert wrong and all(t.error.startswith("not valid: ") and not t.feasible for t in wrong)
    assert all(int(t.queue["red"]["min"][:-1]) > int(t.queue["red"]["max"][:-1]) for t in wrong)
    assert found.met and found.tally.failed == 0


def test_weights_move_the_choice(where):
    def chosen(weight: float) -> float:
        (where / "w.toml").write_text(
            TREE.replace('bad = "100ms" }', f'bad = "100ms", weight = {weight} }}')
            .replace('good = "10ms"', 'good = "0s"')
            .replace("trials = 20", "trials = 16")
            + '[choice]\nrule = "weighted"\n'
        )
        return fl.Tuning.from_file("w.toml").run().chosen.values["late"]

    assert chosen(20.0) <= chosen(0.01)


def test_without_a_feasible_setting_the_nearest_is_told_and_the_exit_code_is_one(where):
    (where / "b.toml").write_text(BUFFER.replace('loss" = "<= 1%"', 'utilisation" = ">= 95%"').replace("trials = 24", "trials = 6"))
    done = fairlane("tune", "b.toml", cwd=where)
    assert done.returncode == 1, done.stderr
    assert "no setting keeps the constraints" in done.stdout


def test_python_and_the_file_give_the_same(where):
    from_file = fl.Tuning.from_file("buffer.toml").run().document()
    made = fl.Tuning(
        where / "poisson.toml", name="buffer", seeds="1..2", holdout_seeds="11..14", trials=24, objectives={"links.l.queue_max": "min"},
        constraints={"links.l.loss": "<= 1%"}, search={"droptail": {"limit": {"from": "2p", "to": "200p", "scale": "log"}}},
        baselines={"small": "droptail{limit=3p}", "large": "droptail{limit=100p}"},
    ).run()  # fmt: skip
    assert made.document() == from_file


def test_a_missing_optuna_is_one_line(where):
    code = "import sys; sys.modules['optuna'] = None\nimport importlib.util as u\nf = u.find_spec\n"
    code += "u.find_spec = lambda n, *a: None if n == 'optuna' else f(n, *a)\nfrom fairlane.cli import main\nmain(['tune', 'buffer.toml'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=where)
    assert done.returncode == 2 and done.stderr.strip() == "error: optuna is not installed: " + installing("fairlane[tune]")


def test_a_change_of_the_scenario_holds_in_all_scenarios_unless_they_say_otherwise(where):
    resolved = []
    for scenario in Tuning.from_file("tree.toml", sets=[("flows.tcp.count", "4"), ("duration", "3s")]).spec.training_scenarios:
        spec = Tuning.from_file("tree.toml", sets=[("flows.tcp.count", "4"), ("duration", "3s")]).spec
        combination = resolve_combination(spec.study, 0, (Level("", scenario.sets),))
        resolved.append((len(combination.groups["tcp"]), json.loads(combination.resolved)["duration"]))
    assert resolved == [(4, "3s"), (2, "3s")]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--set", "duration=soon"], "soon"),
        (["--set", "duration"], "path=value"),
        (["--cluster", "tcp://127.0.0.1:1"], "no Dask scheduler answers"),
        (["--threads", "1", "--processes", "1"], "threads"),
    ],
)
def test_a_search_that_cannot_run_leaves_nothing(where, arguments, expected):
    before = {p.name for p in where.iterdir()}
    done = fairlane("tune", "tree.toml", *arguments, cwd=where)
    assert (done.returncode, done.stdout) == (2, "") and expected in done.stderr, done.stderr
    assert {p.name for p in where.iterdir()} == before


def test_a_queue_of_one_s_own_is_tuned_in_all_workers(where):
    file = ROOT / "examples" / "own_queue" / "queue.py"
    name = re.search(r"^class (\w+)\(", file.read_text(), re.M)[1].lower()
    (where / "own.toml").write_text(BUFFER.replace("droptail.limit", f"{name}.limit").replace('"links.l.loss" = "<= 1%"', ""))
    done = fairlane("tune", "own.toml", "--plugin", str(file), "--processes", "2", "--trials", "4", "--seeds", "1", "--json", cwd=where)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["runs"]["failed"] == 0
    assert len([t for t in document["trials"] if t["label"] == name and not t["error"]]) == 5


def test_dominance_needs_one_better_value():
    class Spec:
        objectives = Tuning(
            fl.Network(duration="5s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("t", "a", "b", tcp={}),
            objectives={"links.a-b.sojourn_p99": "min", "flows.t.goodput": "max"}, search="droptail",
        ).spec.objectives  # fmt: skip

    def trial(n, a, b):
        return Trial(n, "x", "search", {}, values={"links.a-b.sojourn_p99": a, "flows.t.goodput": b})

    a, b, c, d = trial(0, 1, 5), trial(1, 1, 5), trial(2, 2, 5), trial(3, 0.5, 1)
    assert not score.dominates(Spec, a, b) and score.dominates(Spec, a, c) and not score.dominates(Spec, d, a)
    assert [t.number for t in score.front(Spec, [a, b, c, d])] == [0, 3]


# --- the closing question of nowak2009 ----------------------------------------------------------------------------------


def test_on_the_paper_s_network_the_choice_beats_what_was_made_by_hand(tmp_path):
    """A small budget: a fifth of the time and fewer trials; docs/guides/tuning.md has the whole."""
    text = (ROOT / "papers" / "nowak2009" / "tune.toml").read_text()
    network = ROOT / "papers" / "nowak2009" / "network.toml"
    for old, new in (
        ('scenario = "network.toml"', f'scenario = "{network}"\nset = {{ duration = "40s", warmup = "4s" }}'),
        ("trials = 160", "trials = 32"),
        ('seeds = "1..3"', "seeds = 1"),
        ('holdout_seeds = "301..310"', 'holdout_seeds = "401..404"'),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "small.toml").write_text(text)
    found = fl.Tuning.from_file(tmp_path / "small.toml").run()
    assert found.met and found.chosen_held_out.feasible
    assert [v.rival.label for v in found.verdicts] == ["C1", "C2", "C3", "C3m", "C4", "C5", "C6", "C7", "C8", "C9"]
    assert not [v.sentence for v in found.verdicts if v.word == "worse"]
    by_case = {v.rival.label: v for v in found.verdicts}
    # N10 of the paper: of its own cases, priority for UDP is the best compromise.
    assert by_case["C8"].rival.cost == min(v.rival.cost for v in found.verdicts if v.rival.feasible)
    assert by_case["C8"].word == "better" and by_case["C8"].difference.high < 0
    assert by_case["C8"].objectives["tcp_rtt"][0].high < 0


def test_the_paper_s_cases_are_the_baselines(root):
    import tomllib

    folder = root / "papers" / "nowak2009"
    tuned = tomllib.loads((folder / "tune.toml").read_text())["baselines"]
    cases = tomllib.loads((folder / "cases.toml").read_text())["factors"]["case"]["values"]
    assert [len(Study.from_file(folder / f"{name}.toml").plan().combinations) for name in ("cases", "stated-cases")] == [11, 44]
    assert list(tuned) == ["C1", "C2", "C3", "C3m", "C4", "C5", "C6", "C7", "C8", "C9"]
    assert {**tuned, "C8m": cases["C8m"]} == cases  # Fig. 6 as captioned has no place among the baselines: its queue is no variant of C8


def test_costs_that_chance_may_set_apart_are_not_called_equal():
    """Against each rival by the paired t test and the two one-sided tests; p-values as scipy gives them, corrected by hand."""
    from types import SimpleNamespace

    from scipy.stats import ttest_rel

    from fairlane.tuning.outcome import _verdicts

    def trial(label, *costs):
        return Trial(0, label, "baseline", {}, costs=list(costs), cost=math.fsum(costs) / len(costs))

    chosen = trial("chosen", 1.0, 1.2, 0.9, 1.1)
    noisy, near, far = trial("noisy", 1.3, 0.9, 1.1, 1.2), trial("near", 1.005, 1.2, 0.9, 1.1), trial("far", 2.0, 2.3, 1.8, 2.2)
    spec = SimpleNamespace(objectives=[], constraints=[], training_scenarios=[], holdout=[])
    found = _verdicts(spec, [chosen, noisy, near, far])
    assert [v.word for v in found] == ["inconclusive", "equivalent", "better"]
    ps = [ttest_rel(chosen.costs, r.costs).pvalue for r in (noisy, near, far)]
    assert [v.p for v in found] == pytest.approx(ps)
    order = sorted(ps)
    assert found[2].p_holm == pytest.approx(3 * order[0]) and found[0].p > 0.4
    assert found[0].sentence.startswith("neither different from nor equivalent to noisy (p = ")
    assert found[1].sentence.startswith("equivalent to near within 5 % (TOST p ")
    (alone,) = _verdicts(spec, [trial("chosen", 1.0), trial("rival", 2.0)])
    assert alone.word == "inconclusive" and "with one seed" in alone.sentence
    (same,) = _verdicts(spec, [chosen, trial("twin", *chosen.costs)])
    assert same.word == "equivalent" and same.sentence.startswith("identical to twin with every seed")
