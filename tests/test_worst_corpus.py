"""The corpus of worst paths: a page for each algorithm of the registry, whose scenarios can be run, with a mechanism and its source."""

from __future__ import annotations

import re
import tomllib

import pytest

import fairlane as fl
from conftest import ROOT
from fairlane.worst import corpus
from fairlane.worst.corpus_pages import mechanisms

pytest.importorskip("optuna")

FOLDER = ROOT / "docs" / "background" / "worst-paths"
PAGES = sorted(p.stem for p in FOLDER.glob("*.md"))
SCENARIO = re.compile(r"```toml\n(.*?)```", re.S)


def test_22_controls_and_ten_queues_have_a_page():
    """The page of a new control is made by `python -m fairlane.worst.corpus docs/background/worst-paths`."""
    assert set(PAGES) <= set(corpus.names()) and set(corpus.QUEUES) <= set(PAGES) and len(PAGES) >= 32
    overview = FOLDER.with_name("worst-paths.md").read_text("utf-8")
    assert all(f"(worst-paths/{name}.md)" in overview for name in PAGES)
    sizes = [p.stat().st_size for p in FOLDER.iterdir()]
    assert max(sizes) < 100_000 and sum(sizes) < 3_000_000


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_scenarios_that_resolve_and_a_mechanism_for_each(name):
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    kinds = corpus.METRICS if name in corpus.QUEUES else corpus.KINDS
    assert re.findall(r"^## (.*)$", text, re.M) == list(kinds)
    found = SCENARIO.findall(text)
    assert found and len(found) == text.count("**Mechanism.**") == len(kinds) - text.count("Nothing found")
    for scenario in found:
        net = fl.Network(duration="1s")
        net.set(tomllib.loads(scenario))
        assert name in str(net.resolve())


def test_a_mechanism_names_known_algorithms_and_its_source():
    changes = {"rate", "delay", "queue", "loss", "bursts", "jitter", "outages", "steps", "square", "cross"}
    known = changes | set(corpus.KINDS) | set(corpus.METRICS)
    for m in mechanisms():
        assert set(m) == {"of", "on", "text", "source"} and set(m["of"]) <= set(corpus.names()), m
        assert set(m["on"]) <= known, m
        assert re.search(r"RFC \d+|19\d\d|20\d\d|draft-|tc-", m["source"]) and not m["text"].endswith("."), m
    assert all(any(name in m["of"] for m in mechanisms()) for name in PAGES)


def test_what_is_kept_is_not_searched_again(tmp_path, monkeypatch):
    """Vegas on paths with jitter: Arun, Alizadeh and Balakrishnan (2022), section 5.1."""
    monkeypatch.setattr(corpus, "KINDS", {"Losses, jitter and failures": {"may": "jitter"}})
    (first,) = corpus.entries("vegas", tmp_path, budget=16)
    assert first.found and first.changes == ["jitter"] and first.rank[1] >= 22 and first.rank[0] > 11
    assert first.better and "vegas" not in [n for n, _ in first.better]
    monkeypatch.setattr(corpus, "WorstPaths", None)
    assert corpus.entries("vegas", tmp_path, budget=16) == [first]
