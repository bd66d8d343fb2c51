"""Commands of tc as input: what `fairlane tc` writes comes back as the same scenario, and lines of others as the kernel takes them."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from typing import Any

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane import _core
from fairlane.errors import FairlaneError
from fairlane.linux import Imported, directions, export, import_tc, queue_text, scripts
from fairlane.linux import quantities as q
from fairlane.linux import tc_units as u
from fairlane.linux.disciplines import READERS
from fairlane.linux.kinds import WRITERS
from fairlane.linux.tc_tree import CLASSFUL
from fairlane.linux.words import WORDS
from test_tc import network
from test_tc_parameters import PARAMETERS, REGISTRY, TOGETHER, VALUES, others

NAMED = {
    "memory_limit": "memory", "min_th": "step", "k": "coupling", "hash": "hash", "gentle": "not gentle", "measure": "measure",
    "inv_sqrt": "1/sqrt", "mtu": "MTU", "limit": "limit", "refuse": "refus", "drop_batch": "packets leave", "mean_packet": "typical packet",
    "buckets": "hashed", "quantum": "turns", "count": "in packets", "w_q": "powers of two", "alpha": "alpha", "beta": "beta",
    "hard_drop": "hard", "interval": "microseconds", "range": "ramp", "penalty_rate": "penalty", "penalty_burst": "penalty",
}  # fmt: skip
"""How notes name a parameter other than by its key."""
WITHOUT_EFFECT = {("sfb", "warmup"): "rehash", ("tbf", "mtu"): "peakrate", ("drr", "limit"): "classes", ("drr", "buckets"): "classes",
                  ("drr", "quantum"): "classes", ("wrr", "queue"): "limit", ("red", "hard_drop"): "preset", ("fq_pie", "mark_ecnth"): "hash",
                  ("dualpi2", "rtt_max"): "limit", ("dualpi2", "t_shift"): "limit", ("wrr", "quantum"): "limit",
                  ("red", "target_delay"): "limit", ("red", "averaging"): "limit", ("ared", "target_delay"): "limit",
                  ("ared", "averaging"): "limit", ("choke", "target_delay"): "limit"}  # fmt: skip
"""Parameters whose effect the commands have in another word, or that have none beside others."""


def round_trip(queue: Any, **link: Any) -> tuple[list[str], list[str], Any, list[str]]:
    """Commands of a queue, their notes, the queue that they become, and the commands of that one."""
    (one,) = export(network(queue, **link), "x")
    text = "\n".join([*one.commands, *(f"# note: {n}" for n in one.notes)])
    (made,) = directions(text)[0].values()
    assert made.rate == link.get("rate", "10Mbit/s")
    (two,) = export(network(made.queue, **link), "x")
    return one.commands, [*one.notes, *one.missing, *made.notes], made.queue, two.commands


def resolved(queue: Any) -> dict[str, Any]:
    (values,) = network(queue).resolve()["links"]["x"]["queue"].values()
    return values


def same(a: Any, b: Any, mean: int) -> bool:
    """Equal values, in any unit; classes by their queues, the last of them with what no other takes."""
    if isinstance(a, str) and isinstance(b, str):
        for kind in ("s", "bit/s"):
            try:
                return q.number(a, kind) == q.number(b, kind)
            except ValueError:
                pass
        try:
            return q.length(a, mean) == q.length(b, mean)
        except ValueError:
            return a == b
    if isinstance(a, float):
        return b is not None and abs(a - b) <= 5e-7 + 1e-4 * abs(a)
    return bool(a == b)


def lost(name: str, before: dict[str, Any], after: dict[str, Any], notes: list[str]) -> list[str]:
    """Parameters that changed on the way through the kernel's words and that nothing names."""
    mean = q.size(before.get("mean_packet") or "1500B")
    before = dict(before)
    # 37 packets "under" a limit are 36 that fit; whole packets fit or the queue is full.
    if any("admit" in n for n in notes):
        pass
    elif before.get("admit") == "under":
        n = q.packets(before["limit"])
        before |= {"admit": "fits", "limit": f"{n - 1}p" if n else f"{q.size(before['limit']) - 1}B"}
    elif before.get("admit") == "not_full" and q.packets(before["limit"]):
        before["admit"] = "fits"
    out = []
    for key, value in before.items():
        if key in ("classes", "levels", "queue") or value is None or same(value, after.get(key), mean):
            continue
        words = (key, NAMED.get(key, key))
        if not any(w in n for n in notes for w in words) and (name, key) not in WITHOUT_EFFECT:
            out.append(f"{key}: {value} -> {after.get(key)}")
    return out


def test_every_queue_that_is_exported_is_read():
    written = set()
    for name in WRITERS:
        commands, *_ = round_trip({name: {}})
        written |= {w for c in commands for w in c.split() if w in {*READERS, *CLASSFUL}}
    assert {*READERS, *CLASSFUL} - written == {"hfsc", "netem", "bfifo"}


@pytest.mark.parametrize("name", WRITERS)
def test_out_and_in_again_is_the_same_scenario(name):
    for values in ({}, *({"preset": p["name"]} for p in json.loads(_core.presets()) if p["algorithm"] == name and p["name"] == "linux")):
        commands, notes, queue, again = round_trip({name: values})
        assert next(iter(queue)) == name
        assert lost(name, resolved({name: values}), resolved(queue), notes) == []
        # The kernel gets the same commands; only what it limits by itself is written out.
        assert [c.replace(" memory_limit 33554432", "") for c in again] == [c.replace(" memory_limit 33554432", "") for c in commands]
        assert resolved(round_trip(queue)[2]) == resolved(queue)


@pytest.mark.parametrize(("name", "key"), PARAMETERS)
def test_each_parameter_comes_back_or_is_named(name, key):
    base = TOGETHER.get((name, key), {})
    for value in VALUES.get((name, key)) or others(REGISTRY[name][key]):
        given = {name: {**base, key: value}}
        try:
            network(given).resolve()
        except fl.ScenarioError:
            continue
        if (name, key) == ("wrr", "queue"):
            continue  # wrr without classes is not exported
        commands, notes, queue, again = round_trip(given)
        assert lost(name, resolved(given), resolved(queue), notes) == []
        clean = [[re.sub(r" memory_limit 33554432", "", c) for c in cs] for cs in (commands, again)]
        if (name, key) != ("tbf", "limit"):  # of tbf with a queue below it, the kernel's own limit has no effect
            assert clean[0] == clean[1], value
        assert resolved(round_trip(queue)[2]) == resolved(queue)
