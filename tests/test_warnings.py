"""Warnings before the run: each appears with its cause, names the remedy, and disappears with it."""

from __future__ import annotations

import json
import tomllib

import pytest

from conftest import ROOT
from fairlane import _core, run
from fairlane.base import toml

GOOD = """
duration = "60s"
[topology.dumbbell]
pairs = 3
access = { rate = "100Mbit/s", delay = "1ms" }
bottleneck = { rate = "10Mbit/s", delay = "10ms", queue.droptail.limit = "50p" }
[flows.t]
from = "s{i}"
to = "d{i}"
count = 3
spread = "24ms"
tcp = {}
"""


def doubts(text: str = GOOD, **sets: str) -> list[str]:
    """The warnings of a scenario before it runs; `__` in a name stands for a dot."""
    pairs = [(path.replace("__", "."), value) for path, value in sets.items()]
    found: list[str] = json.loads(_core.resolve(text, "x.toml", "toml", pairs).json())["warnings"]
    return found


def test_a_sound_scenario_has_none() -> None:
    assert doubts() == []


# What is changed, what the warning must say, and what mends it.
CASES = {
    "access is slower": (
        {"topology__dumbbell__access__rate": "2Mbit/s"},
        "is not the bottleneck",
        {"topology__dumbbell__access__rate": "4Mbit/s"},
    ),
    "access is as fast": (
        {"topology__dumbbell__access__rate": "10Mbit/s", "flows__t__count": "1"},
        "is not the bottleneck",
        {"topology__dumbbell__access__rate": "11Mbit/s", "flows__t__count": "1"},
    ),
    "windows fit into the queue": (
        {"flows__t__tcp__window": "16p"},
        "can never fill",
        {"links__bottleneck__queue__droptail__limit": "40p"},
    ),
    "all at once": ({"flows__t__spread": "0s"}, "phase effects", {"flows__t__spread": "24ms"}),
    "over before slow start is": (
        {"topology__dumbbell__bottleneck__rate": "100Mbit/s", "topology__dumbbell__bottleneck__delay": "50ms", "duration": "300ms"},
        "slow start",
        {"duration": "10s"},
    ),
    "the amount takes longer": ({"flows__t__amount": "80MB"}, "its amount", {"flows__t__amount": "8MB"}),
    "sampler": ({"sample": "30ms"}, "coarser than the round-trip time", {"sample": "24ms"}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_doubt_comes_and_goes(case: str) -> None:
    changes, expected, mended = CASES[case]
    found = [w for w in doubts(**changes) if expected in w]
    assert len(found) == 1, doubts(**changes)
    assert any(word in found[0] for word in ("write ", "give ", "lower ")), found
    assert not [w for w in doubts(**{**changes, **mended}) if expected in w]


def test_phase_effects_need_flows_alike() -> None:
    """Floyd and Jacobson (1992): whatever is random on the way, or another queue than droptail, breaks the phases."""
    assert "phase effects" in " ".join(doubts(flows__t__spread="0s"))
    for change in (
        {"flows__t__stagger": "100ms"},
        {"topology__dumbbell__delays": '["1ms", "2ms", "3ms"]'},
        {"links__bottleneck__queue": "red"},
        {"links__bottleneck__jitter": '"1ms"'},
        {"links__bottleneck__loss": "0.001"},
        {"flows__t__count": "1"},
    ):
        try:
            found = doubts(flows__t__spread="0s", **change)
        except Exception as e:
            raise AssertionError(change) from e
        assert "phase effects" not in " ".join(found), change


def test_a_link_that_varies_is_not_judged() -> None:
    slow = {"topology__dumbbell__access__rate": "2Mbit/s"}
    assert doubts(**slow)
    assert not doubts(**slow, links__s0__rates='[{ at = "1s", rate = "50Mbit/s" }]')


def test_other_packets_may_fill_the_queue() -> None:
    cbr = '\n[flows.u]\nfrom = "s0"\nto = "d0"\nudp = {}\nsource.cbr = { rate = "1Mbit/s", size = "1000B" }\n'
    assert "never fill" not in " ".join(doubts(GOOD + cbr, flows__t__tcp__window="16p"))


def test_a_run_has_the_codes() -> None:
    tree = tomllib.loads(GOOD)
    tree["duration"] = "300ms"
    tree["flows"]["t"]["spread"] = "0s"
    path_codes = {w.code for w in run(_Built(toml.dumps(tree))).warnings}
    assert "phase-effects" in path_codes


class _Built:
    """A scenario as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def to_toml(self) -> str:
        """Its text."""
        return self.text


@pytest.mark.parametrize("file", sorted(ROOT.glob("examples/*.toml")), ids=lambda p: p.stem)
def test_no_example_is_doubtful(file) -> None:
    found = json.loads(_core.resolve(file.read_text(), str(file), "toml", []).json())["warnings"]
    new = [w for w in found if any(x in w for x in ("not the bottleneck", "never fill", "phase effects", "slow start over", "its amount"))]
    assert new == []
