"""The glossary: its file, GLOSSARY.md, and `fairlane explain TERM`."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT, fairlane
from fairlane.base.glossary import find, normal, page, terms
from fairlane.base.reference import edit_distance, explain
from fairlane.errors import UnknownNameError
from test_first_minute import completed


def test_the_page_is_current():
    assert (ROOT / "GLOSSARY.md").read_text("utf-8") == page(), "run: python -m fairlane.base.glossary > GLOSSARY.md"


def test_each_name_means_one_term():
    names = [normal(n) for t in terms() for n in (t.name, *t.aliases)]
    assert len(names) == len(set(names)) and len(terms()) >= 60


@pytest.mark.parametrize("term", terms(), ids=lambda t: t.name)
def test_terms_are_whole(term):
    assert term.definition.endswith(".") and term.source
    assert all(find(other) not in (None, term) for other in term.see), term.see
    for name in term.names:
        assert explain(name), name


@pytest.mark.parametrize(
    "name",
    [
        "bdp",
        "rack",
        "rto",
        "aqm",
        "ecn",
        "l4s",
        "bufferbloat",
        "global-synchronization",
        "mos",
        "fairness",
        "starvation",
        "aging",
        "front",
        "spread",
        "why",
        "Jitter",
        "TAIL_DROP",
    ],
)
def test_terms_are_explained(name):
    first, *_ = explain(name)
    assert first.kind == "term" and first.facts["source"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("sack", ["term", "cc"]), ("droptail", ["term", "queue"]), ("goodput", ["term", "metric"]), ("spread", ["term", "setting"])],
)
def test_a_term_stands_before_a_model_of_the_same_name(name, kinds):
    assert [e.kind for e in explain(name)][:2] == kinds


def test_keys_of_scenarios_are_found_by_their_last_name():
    assert {"links.NAME.rate", "flows.NAME.udp.rate"} <= {e.title for e in explain("rate")}
    assert "red.limit" in explain("limit")[-1].facts
    assert [e.title for e in explain("spread")][:2] == ["spread", "flows.NAME.spread"]


def test_the_command_takes_words():
    for words in (["global", "synchronisation"], ["Global-Synchronisation"], ["global_synchronisation"]):
        (entry,) = json.loads(fairlane("explain", *words, "--json").stdout)
        assert (entry["title"], entry["kind"]) == ("global synchronisation", "term")
    assert fairlane("explain", "ecn").stdout.startswith("explicit congestion notification (term)\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bufferblot", "'bufferblot' not found: did you mean 'bufferbloat'?"),
        ("bpd", "'bpd' not found: did you mean 'bdp'?"),
        ("cubik", "'cubik' not found: did you mean 'cubic'?"),
        ("xyzzy", "'xyzzy' not found; `fairlane explain` lists all names"),
        ("x" * 5000, "not found; `fairlane explain` lists all names"),
    ],
)
def test_wrong_names(name, expected):
    with pytest.raises(UnknownNameError) as e:
        explain(name)
    assert expected in str(e.value) and len(str(e.value)) < 300


def test_terms_are_completed():
    assert "bufferbloat" in completed("explain", "buff") and "global-synchronisation" in completed("explain", "glob")
    assert "rto" in completed("explain", "rt")


def test_distances():
    cases = [("", "", 0), ("ab", "ba", 1), ("abc", "", 3), ("kitten", "sitting", 3), ("rtae", "rate", 1), ("goodptu", "goodput", 1)]
    assert [edit_distance(a, b) for a, b, _ in cases] == [n for *_, n in cases]
