"""Lessons: each scenario runs and has a page for students, and the answers on the page for teachers are those of the simulation."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

import fairlane as fl
from conftest import ROOT
from conftest import fairlane as command
from fairlane import watch
from fairlane.claims import Check, Tables

LESSONS = sorted(p.parent for p in (ROOT / "examples" / "lessons").glob("*/scenario.toml"))
WANTED = {"slow-start", "sawtooth", "standing-queue", "red", "tcp-beside-udp", "round-trips", "ecn", "fair-queue"}


def tidy(run: str, result: fl.Result) -> dict[str, list[dict[str, str]]]:
    """Tables of a run as checks see them: one value a row."""
    tables: dict[str, list[dict[str, str]]] = {"flows": [], "links": [], "network": [], "series": [], "why": []}
    for name in ("flows", "links", "network"):
        for row in result.table(name).iter_rows(named=True):
            of = row.get("flow", row.get("link", "all"))
            tables[name] += [
                {"run": run, "of": of, "metric": m, "value": repr(float(x))}
                for m, x in row.items()
                if isinstance(x, (int, float)) and m != "seed"
            ]
    for frame, key, metrics in ((result.flow_series, "flow", ("cwnd", "goodput")), (result.link_series, "link", ("queue",))):
        for metric in metrics:
            if metric not in frame.columns:
                continue
            for of, t, x in frame.select(key, "time", metric).iter_rows():
                if x is not None and x == x:
                    tables["series"].append({"run": run, "of": of, "metric": metric, "t": repr(t), "value": repr(float(x))})
    for flow in result.why().flows.values():
        tables["why"] += [{"run": run, "of": flow.flow, "metric": k, "value": repr(v.mean)} for k, v in flow.shares.items()]
        tables["why"].append({"run": run, "of": flow.flow, "metric": "timeouts", "value": repr(flow.timeouts.mean)})
    for queue in result.why().queues.values():
        tables["why"] += [{"run": run, "of": queue.link, "metric": f"filled by {f}", "value": repr(x)} for f, x in queue.filled.items()]
    return tables


def test_there_are_lessons():
    assert {p.name for p in LESSONS} == WANTED


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.name)
def test_the_simulation_gives_the_answers(lesson):
    data = tomllib.loads((lesson / "questions.toml").read_text("utf-8"))
    tables: dict[str, list[dict[str, str]]] = {}
    for run, of in {"base": {}, **data.get("runs", {})}.items():
        result = fl.run(lesson / "scenario.toml", sets=of.get("set", {}), why=True)
        for name, rows in tidy(run, result).items():
            tables.setdefault(name, []).extend(rows)
    seen = Tables(tables)
    assert len(data["questions"]) >= 3
    assert len(data["steps"]) >= 4
    for step in data["steps"]:
        if "check" in step:
            assert Check(step["check"]).outcome(seen) == "holds", (step["say"], Check(step["check"]).comparisons(seen))
    page, answers = ((lesson / name).read_text("utf-8") for name in ("README.md", "answers.md"))
    for question in data["questions"]:
        check = Check(question["check"])
        assert check.outcome(seen) == "holds", (question["ask"], check.comparisons(seen))
        # What a reader sees is what was checked.
        assert question["ask"] in page and question["ask"] in answers, question["ask"]
        assert question["answer"] in answers and question["answer"] not in page, question["answer"]
    for run, of in data.get("runs", {}).items():
        for path, value in of["set"].items():
            assert path in page and str(value) in page, f"the page does not say how to make the run {run!r}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.name)
def test_the_page_for_a_classroom_has_the_sentences(lesson, tmp_path):
    page = tmp_path / "lesson.html"
    made = command("watch", str(lesson / "scenario.toml"), "--lesson", str(lesson / "questions.toml"), "--save", str(page), cwd=ROOT)
    assert made.returncode == 0, made.stderr
    assert page.stat().st_size < 1_000_000
    text = page.read_text("utf-8")
    data = tomllib.loads((lesson / "questions.toml").read_text("utf-8"))
    for sentence in [*(s["say"] for s in data["steps"]), *(q["answer"] for q in data["questions"])]:
        assert json.dumps(sentence)[1:-1].replace("&", "\\u0026").replace("<", "\\u003c") in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no sentence to show"),
        ("steps = 3", r"\[\[steps\]\]"),
        ('[[steps]]\nat = "1s"', "lacks the text `say`"),
        ('[[steps]]\nat = "soon"\nsay = "x"', "not a time"),
        ('[[steps]]\nat = "2s"\nsay = "x"\n[[steps]]\nat = "1s"\nsay = "y"', "must be later"),
        ('[[steps]]\nat = "900s"\nsay = "x"', "outside of the recorded span"),
        ('[[steps]]\nat = "1s"\nsay = "x"\n[[questions]]\nask = "Why?"', "lacks the text `answer`"),
        ("[[steps", "line 1|end of"),
    ],
)
def test_a_lesson_with_a_mistake_writes_nothing(text, why, tmp_path):
    (tmp_path / "lesson.toml").write_text(text)
    with pytest.raises(fl.FairlaneError, match=why):
        watch.save(LESSONS[0] / "scenario.toml", tmp_path / "x.html", lesson=tmp_path / "lesson.toml")
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.name)
def test_commands_of_a_page_name_what_is_there(lesson):
    """Every command names the scenario of the lesson, and its options are read."""
    page = (lesson / "README.md").read_text("utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.replace("\\\n", " ").splitlines()]
    own = f"examples/lessons/{lesson.name}/scenario.toml"
    assert lines and all(own in line for line in lines)
    assert f"fairlane top {own}" in page
    dry = [line for line in lines if line.startswith("fairlane run")]
    assert dry
    import shlex

    done = command(*shlex.split(dry[-1])[1:], "--quiet", cwd=ROOT)
    assert done.returncode == 0, done.stderr
