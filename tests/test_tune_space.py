"""Parameters that a search varies: default ranges, and settings inside them."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
from fairlane import _core
from fairlane.base.scenario import resolve
from fairlane.tuning import space
from fairlane.tuning.default_ranges import LEFT_OUT, RANGES, ranges
from fairlane.tuning.model import Entry

pytest.importorskip("optuna")


def test_the_reference_page_is_made_from_the_schema():
    from fairlane.tuning.manual import page

    file = ROOT / "docs" / "reference" / "tuning.md"
    assert file.read_text("utf-8") == page(), "run: python -m fairlane.tuning.manual > docs/reference/tuning.md"


def test_every_queue_has_ranges_of_the_house_or_a_reason_for_none():
    # Not the registry in Python, which has the plug-ins of other tests too.
    built_in = {e["name"] for e in json.loads(_core.registry()) if e["kind"] == "queue"}
    assert built_in == (set(ranges()) | set(LEFT_OUT)) - {"plugin"}
    assert not set(ranges()) & set(LEFT_OUT)


def test_a_queue_that_nobody_has_described_has_its_limit_searched(monkeypatch):
    of_headdrop = RANGES["headdrop"]
    monkeypatch.delitem(RANGES, "headdrop")
    assert "headdrop" not in RANGES
    assert ranges()["headdrop"] == of_headdrop == {"limit": {"from": "5p", "to": "200p", "scale": "log"}}


@pytest.mark.parametrize("name", RANGES)
def test_ranges_of_the_house_are_valid_at_both_ends(name):
    entry = Entry(name, {name: space.Parser().parse(RANGES[name], ())})
    assert space.searched(entry.template)
    for setting in space.corners(entry):
        resolve(ROOT / "examples" / "mixed.toml", {"links.bottleneck.queue": setting.queue})


def test_a_multiple_of_another_parameter_never_lies_below_it():
    class Seen:
        def __init__(self, x):
            self.x = x

        def number(self, _name, r):
            return r.low + self.x * (r.high - r.low)

        def index(self, _name, _p):
            return 0

    entry = Entry("red", {"red": space.Parser().parse(RANGES["red"], ())})
    for x in (0.0, 0.013, 0.5, 0.77, 1.0):
        red = space.Setting(entry, Seen(x)).queue["red"]
        assert int(red["max"][:-1]) > int(red["min"][:-1])


def test_a_baseline_inside_the_space_is_found_there():
    template = {"prio": {"classes": [{"match": "udp"}, {"match": "tcp", "queue": {"choices": [{"codel": {}}, {"red": RANGES["red"]}]}}]}}
    entry = Entry("x", space.Parser().parse(template, ()))
    queue = {"prio": {"classes": [{"match": "udp"}, {"match": "tcp", "queue": {"red": {"min": "10p", "max": "20p", "max_p": 0.1}}}]}}
    params = space.match(entry, queue)
    assert params is not None

    class Given:
        def number(self, name, _r):
            return params[name]

        def index(self, name, _p):
            return params[name]

    assert space.Setting(entry, Given()).queue == queue
    outside = json.loads(json.dumps(queue).replace("10p", "51p"))
    assert space.match(entry, outside) is None and space.match(entry, {"red": {}}) is None
