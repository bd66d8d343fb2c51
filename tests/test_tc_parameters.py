"""Every parameter of every queue that Linux has: its value is in the commands of `fairlane tc`, or a note names it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import fairlane as fl
from fairlane import _core
from fairlane.linux import export
from fairlane.linux.kinds import WRITERS
from test_tc import network

REGISTRY = {e["name"]: e["schema"]["properties"] for e in json.loads(_core.registry()) if e["kind"] == "queue"}
PARAMETERS = [(queue, key) for queue in WRITERS for key in REGISTRY[queue] if key != "preset"]
LENGTHS = {
    "fl-len": ["37p", "7p", "200p"],
    "fl-dur": ["7ms", "70ms", "2s"],
    "fl-bytes": ["700B", "70B"],
    "fl-rate": ["3Mbit/s", "20Mbit/s"],
}
CLASSES = [{"match": "tcp", "queue": "codel"}, {"match": "any", "queue": "pie"}]
TREE = [
    {"name": "all", "rate": "5Mbit/s"},
    {"name": "a", "parent": "all", "rate": "1Mbit/s", "ceil": "5Mbit/s", "match": "tcp"},
    {"name": "b", "parent": "all", "rate": "4Mbit/s", "prio": 1, "quantum": "2000B", "queue": "codel"},
]
CURVES = [
    {"name": "a", "rt": {"m1": "2Mbit/s", "d": "10ms", "m2": "1Mbit/s"}, "ls": {"m2": "1Mbit/s"}, "match": "tcp"},
    {"name": "b", "ls": {"m2": "4Mbit/s"}, "ul": {"m2": "8Mbit/s"}, "queue": "codel"},
]
VALUES: dict[tuple[str, str], list[Any]] = {
    ("drr", "classes"): [CLASSES],
    ("prio", "classes"): [CLASSES],
    ("wrr", "classes"): [CLASSES],
    ("wrr", "queue"): ["codel"],
    ("cake", "uncounted"): ["20B", "64B"],
    ("tbf", "queue"): ["codel"],
    ("policer", "queue"): ["codel"],
    ("policer", "match"): ["udp"],
    ("policer", "conform"): ["drop", "af11"],
    ("policer", "exceed"): ["keep", "af13"],
    ("htb", "classes"): [TREE],
    ("hfsc", "classes"): [CURVES],
    ("htb", "default"): ["a"],
    ("hfsc", "default"): ["a"],
    ("wred", "levels"): [[{"match": "any", "min": "3p", "max": "9p"}]],
    ("rio", "in_profile"): ["dscp:ef"],
}
"""Values of parameters that are no single quantity."""
TOGETHER: dict[tuple[str, str], dict[str, Any]] = {
    ("wrr", "quantum"): {"count": "bytes"},
    ("wrr", "queue"): {"classes": []},
    ("htb", "default"): {"classes": TREE},
    ("hfsc", "default"): {"classes": CURVES},
    ("tbf", "mtu"): {"peakrate": "20Mbit/s"},
    ("sfb", "warmup"): {"rehash": "60s"},
    ("dualpi2", "t_shift"): {"scheduler": "ts_fifo"},
    ("ared", "fixed_gentle"): {"gentle": True},
    ("fq_pie", "mark_ecnth"): {"ecn": True},
    ("red", "hard_drop"): {"ecn": True, "gentle": False},
    ("red", "mark_p"): {"ecn": True},
    ("ared", "mark_p"): {"ecn": True},
}
"""Settings without which a parameter has no effect."""
WORDS = {
    ("codel", "inv_sqrt"): "1/sqrt", ("fq_codel", "inv_sqrt"): "1/sqrt", ("codel", "mtu"): "MTU", ("fq_codel", "mtu"): "MTU",
    ("wrr", "limit"): "limit", ("htb", "limit"): "limit", ("hfsc", "limit"): "limit",
    ("prio", "limit"): "limit", ("fq_pie", "refuse"): "refuses", ("fq_pie", "drop_batch"): "packets leave",
    ("rio", "in_profile"): "virtual queue",
    ("pie", "mean_packet"): "typical packet", ("fq_pie", "mean_packet"): "typical packet",
}  # fmt: skip
"""How notes name a parameter other than by its key."""


def others(schema: dict[str, Any]) -> list[Any]:
    """Values that are not the default."""
    default = schema.get("default")
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if "oneOf" in schema:
        found = [x["const"] for x in schema["oneOf"]]
    elif kind == "boolean":
        found = [True, False]
    elif kind in ("integer", "number"):
        found = [(int if kind == "integer" else float)(x) for x in ((default or 4) * 2, (default or 4) / 2, 0.3, 1)]
        found = [x for x in found if schema.get("minimum", 0) <= x <= schema.get("maximum", 2**40)]
    else:
        found = LENGTHS[schema["format"]]
    return [x for x in found if x != default]


def exported(queue: str, /, **values: Any) -> tuple[list[str], list[str]]:
    (one,) = export(network({queue: values}), "x", queue_only=True)
    return one.commands, [*one.notes, *one.missing]


@pytest.mark.parametrize(("queue", "key"), PARAMETERS)
def test_a_parameter_is_exported_or_named(queue, key):
    base = TOGETHER.get((queue, key), {})
    commands, notes = exported(queue, **base)
    seen = []
    for value in VALUES.get((queue, key)) or others(REGISTRY[queue][key]):
        try:
            changed, more = exported(queue, **{**base, key: value})
        except fl.ScenarioError:
            continue
        word = WORDS.get((queue, key), key)
        named = any(word in n for n in {*notes} ^ {*more})
        seen.append(changed != commands or named)
    assert seen and any(seen), f"{queue}.{key} changes no command, and no note names it"
