"""`compare --metric`: names, against the tables of the runs; grouped figures, styles, LaTeX and Markdown."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

import fairlane as fl
from fairlane.base.metrics import jain
from fairlane.cli import invoke
from fairlane.comparison.plots import grouped
from fairlane.stats import interval

HOME = """
duration = "3s"
warmup = "1s"
links.up = { from = "home", to = "net", rate = "5Mbit/s", delay = "15ms" }
flows.call = { from = "home", to = "net", udp = {}, source.cbr = { rate = "64kbit/s", size = "200B" } }
flows.up_load = { from = "home", to = "net", count = 2, spread = "500ms", tcp = "cubic" }
"""
NAMES = ("flows.*.delay_p95", "flows.up_load.goodput.jain", "links.*.loss_synchronisation", "network.loss", "flows.*.goodput.sum")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("metrics") / "home.toml"
    path.write_text(HOME)
    return path


@pytest.fixture(scope="module")
def made(file):
    return fl.compare(file, queues="droptail{limit=20p},fq_codel", seeds="1..3", metrics=NAMES)


def per_run(made, at: int, number: int) -> list[float]:
    return made.settings[at].of_metric(made.metrics[number])


def test_a_star_stands_for_each_and_an_aggregate_for_all(made):
    named = [(m.table, m.name, m.metric, m.how) for m in made.metrics]
    assert named == [
        ("flows", "call", "delay_p95", "mean"), ("flows", "up_load", "delay_p95", "mean"), ("flows", "up_load", "goodput", "jain"),
        ("links", "up", "loss_synchronisation", "mean"), ("links", "up.reverse", "loss_synchronisation", "mean"),
        ("network", "", "loss", "mean"),
        ("flows", "*", "goodput", "sum"),
    ]  # fmt: skip


def test_values_are_those_of_the_tables(made):
    for at, q in enumerate(made.settings):
        flows, result = q.result.flows, q.result
        call = flows.filter(pl.col("flow") == "call")["delay_p95"].to_list()
        assert per_run(made, at, 0) == call
        own = [run["goodput"].to_list() for _, run in flows.filter(pl.col("flow") != "call").group_by("seed", maintain_order=True)]
        assert per_run(made, at, 2) == pytest.approx([jain(x) for x in own])
        assert per_run(made, at, 5) == result.network["loss"].to_list()
        sums = [run["goodput"].sum() for _, run in flows.group_by("seed", maintain_order=True)]
        assert per_run(made, at, 6) == pytest.approx(sums)


def test_differences_concern_the_named_metrics(made):
    found = made.differences()
    assert set(zip(found["group"], found["metric"], strict=True)) == {(m.name, m.metric) for m in made.metrics}
    row = found.row(0, named=True)
    first, second = per_run(made, 0, 0), per_run(made, 1, 0)
    assert row["difference"] == pytest.approx(sum(b - a for a, b in zip(first, second, strict=True)) / 3)
    assert len(made.sentences()) == len(made.metrics) and made.sentences()[0].startswith("Delay (p95) of call: fq_codel ")
    text = str(made)
    assert "\nmetrics\n" in text and "Loss synchronisation at up" in text and "\nlink up\n" not in text


def test_figures_have_a_group_for_each_name_and_a_mark_for_each_setting(made):
    panels = grouped(made, bars=True)
    assert [p.title for p in panels][:2] == ["delay (p95)", "Jain's index of goodput"]
    assert panels[0].names == ["call", "up_load"] and list(panels[0].settings) == ["droptail{limit=20p}", "fq_codel"]
    iv = interval(per_run(made, 1, 0), within=(0.0, float("inf")))
    assert panels[0].rows[0][1].mean == pytest.approx(iv.mean) and panels[0].rows[0][1].low == pytest.approx(iv.low)
    figure = made.plot("bars")
    assert len(figure.axes) == len(panels) and len(figure.axes[0].patches) == 4
    narrow = made.plot("points", style="ieee")
    assert narrow.get_size_inches()[0] == pytest.approx(3.5) and made.plot("bars", style="acm-wide").get_size_inches()[0] == pytest.approx(
        7.0, abs=0.1
    )


def test_tables_for_papers_and_web_pages(made):
    tex, md = made.latex(), made.markdown()
    rows = [line for line in tex.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 3 and {len(re.findall(r" & ", r)) for r in rows} == {len(made.metrics)}
    assert r"droptail\{limit=20p\}" in tex and r"up\_load" in tex and not re.search(r"(?<!\\)[%_#](?!.*tabular)", tex.split("\n", 1)[1])
    lines = md.splitlines()
    assert len({line.count("|") for line in lines[:4]}) == 1 and "fq\\_codel" in md and "- Delay (p95) of call: " in md


def test_the_command_writes_them(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    args = ["compare", "--scenario", str(file), "--queues", "droptail,codel", "--seeds", "1..2", "--metric", "flows.*.delay_p95"]
    outputs = ["--markdown", "t.md", "--latex", "t.tex", "--plot", "points.svg", "--style", "ieee", "--page", "p.html"]
    assert invoke([*args, *outputs, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {d["metric"] for d in document["differences"]} == {"delay_p95"} and "--metric" in document["command"]
    assert "t.md" not in document["command"] and "--style" not in document["command"]
    page = (tmp_path / "p.html").read_text("utf-8")
    assert 'id="metrics"' in page and "delay (p95) of up_load" in page
    assert {p.name for p in tmp_path.iterdir()} == {"t.md", "t.tex", "points.svg", "p.html"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("flows.upload.delay_p95", "did you mean 'up_load'"),
        ("links.up.delay_p59", "metric of links"),
        ("link.up.drops", "did you mean 'links'"),
        ("delay_p95", "table in"),
        ("flows.call", "write a name such as"),
    ],
)
def test_a_wrong_name_is_an_error_before_any_run(file, name, message, capsys):
    assert invoke(["compare", "--scenario", str(file), "--queues", "red,codel", "--metric", name, "-q"]) == 2
    assert message in capsys.readouterr().err
