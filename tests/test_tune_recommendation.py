"""Recommendation of a tuning: defaults within chance, what a change buys, goals per flow or together, and the command to repeat it."""

from __future__ import annotations

import html
import re
import shlex

from fairlane.cli import invoke
from fairlane.tuning import score
from fairlane.tuning.model import Trial


def test_defaults_are_preferred_where_a_gain_is_within_chance():
    def trial(number, kind, costs):
        made = Trial(number, "q", kind, {}, cost=sum(costs) / len(costs), costs=list(costs))
        return made

    plain = trial(0, "default", [1.00, 1.02, 0.98])
    assert score.preferred([plain, trial(1, "search", [0.97, 1.03, 0.97])]) is plain
    sure, large = trial(1, "search", [0.97, 0.99, 0.95]), trial(1, "search", [0.5, 1.1, 0.6])
    assert score.preferred([plain, sure]) is sure, "the same gain with every seed"
    assert score.preferred([plain, large]) is large, "a large gain is recommended, and said to be within chance"
    assert score.preferred([trial(0, "default", [1.0]), trial(1, "search", [0.98])]).kind == "default"


def test_run_it_again_repeats_the_changes_and_goals_say_whose_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = """
link = "l"
seeds = "1..2"
holdout_seeds = "11..12"
trials = 2
[scenario]
duration = "2s"
links.l = { from = "a", to = "b", rate = "5Mbit/s", delay = "5ms" }
flows.up = { from = "a", to = "b", count = 8, spread = "100ms", tcp = "cubic" }
[objectives]
delay = { metric = "flows.up.delay_p95", goal = "min", good = "15ms", bad = "100ms" }
rate = { metric = "flows.up.goodput.sum", goal = "max", good = "4.7Mbit/s", bad = 0 }
[search]
codel = "auto"
"""
    (tmp_path / "t.toml").write_text(text)
    assert invoke(["tune", "t.toml", "--set", "duration=1s", "--set", "links.l.rate=4Mbit/s", "--out", "one"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "delay: per flow, the mean over the flows of up; small is good" in told and "rate: all flows together of up; large is good" in told
    )
    page = (tmp_path / "one" / "index.html").read_text("utf-8")
    assert "15 ms (good) to 100 ms (bad)" in page and "4.70 Mbit/s (good) to 0 bit/s (bad)" in page
    command = shlex.split(html.unescape(re.search(r'aria-label="Command">([^<]+)</pre>', page)[1]))
    assert invoke([*command[1:], "--out", "two", "-q"]) == 0
    assert (tmp_path / "two" / "trials.csv").read_text() == (tmp_path / "one" / "trials.csv").read_text()
