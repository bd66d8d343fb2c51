"""Default ranges of a search: usual values, from a tenth to ten times the usual value.

The ranges that the engine accepts (`fairlane explain red`) are far wider: a target of 100 s is valid, and no choice.
"""

from __future__ import annotations

from typing import Any

from ..base.reference import built_in

_TARGET = {"from": "1ms", "to": "50ms", "scale": "log"}
_INTERVAL = {"from": "20ms", "to": "500ms", "scale": "log"}
_LIMIT = {"from": "5p", "to": "200p", "scale": "log"}
_THRESHOLDS = {
    "min": {"from": "2p", "to": "50p", "scale": "log"},
    "max": {"of": "min", "from": 1.5, "to": 5.0},
    "max_p": {"from": 0.01, "to": 0.5, "scale": "log"},
}
_PIE = {"target": {"from": "2ms", "to": "60ms", "scale": "log"}, "tupdate": {"from": "5ms", "to": "50ms", "scale": "log"}}
_QUANTUM = {"from": "300B", "to": "3000B", "scale": "log"}
_TWO = [{"match": "tcp", "queue": {"droptail": {"limit": _LIMIT}}}, {"match": "udp", "queue": {"droptail": {"limit": _LIMIT}}}]
_WEIGHT = {"from": 1, "to": 16, "scale": "log"}
_WEIGHED = [{**c, "weight": _WEIGHT} for c in _TWO]

RANGES: dict[str, dict[str, Any]] = {
    "droptail": {"limit": _LIMIT},
    "headdrop": {"limit": _LIMIT},
    "randomdrop": {"limit": _LIMIT},
    "red": _THRESHOLDS,
    "ared": {"target_delay": _TARGET, "interval": {"from": "100ms", "to": "2s", "scale": "log"}},
    "avq": {"gamma": {"from": 0.85, "to": 1.0}, "alpha": {"from": 0.02, "to": 1.0, "scale": "log"}},
    "rem": {"target": {"from": "2p", "to": "50p", "scale": "log"}, "gamma": {"from": 0.0002, "to": 0.01, "scale": "log"}},
    "pi": {"target": {"from": "2p", "to": "100p", "scale": "log"}},
    "blue": {
        "limit": _LIMIT,
        "increment": {"from": 0.0005, "to": 0.05, "scale": "log"},
        "freeze_time": {"from": "10ms", "to": "500ms", "scale": "log"},
    },
    "sfb": {"limit": _LIMIT, "increment": {"from": 0.0005, "to": 0.02, "scale": "log"}},
    "choke": _THRESHOLDS,
    "fred": {
        "min": _THRESHOLDS["min"],
        "max": _THRESHOLDS["max"],
        "max_p": _THRESHOLDS["max_p"],
        "min_q": {"from": "2p", "to": "8p", "scale": "log"},
    },
    "afd": {"target": {"from": "5p", "to": "100p", "scale": "log"}, "shadow": {"from": 100, "to": 2000, "scale": "log"}},
    "green": {"rtt": {"from": "20ms", "to": "500ms", "scale": "log"}},
    "codel": {"target": _TARGET, "interval": _INTERVAL},
    "cobalt": {"target": _TARGET, "interval": _INTERVAL},
    "pie": _PIE,
    "pi2": _PIE,
    "docsis_pie": {"target": _PIE["target"]},
    "dualpi2": {"target": _PIE["target"]},
    "prio": {"classes": _TWO},
    "rr": {"classes": _TWO},
    "wrr": {"classes": _WEIGHED},
    "drr": {"limit": _LIMIT, "quantum": _QUANTUM},
    "sfq": {"limit": _LIMIT, "depth": {"from": "2p", "to": "100p", "scale": "log"}},
    "fq": {"limit": _LIMIT},
    "wfq": {"classes": _WEIGHED},
    "wf2q": {"classes": _WEIGHED},
    "fq_codel": {"target": _TARGET, "interval": _INTERVAL, "quantum": _QUANTUM},
    "fq_pie": {**_PIE, "quantum": _QUANTUM},
    "cake": {"rtt": {"from": "10ms", "to": "500ms", "scale": "log"}},
}
"""Queue -> its parameters with ranges, as a tune file writes them."""

LEFT_OUT = {
    "management": "it needs a rate of management traffic",
    "modred": "it rewrites windows of the other direction's acknowledgments",
    "wred": "it needs packets that are marked beforehand",
    "rio": "it needs packets that are marked beforehand",
    "tbf": "it needs a rate",
    "htb": "it needs classes with rates",
    "hfsc": "it needs classes with service curves",
    "srtcm": "it needs a rate",
    "trtcm": "it needs rates",
    "policer": "it needs a rate",
    "plugin": "it is a plug-in: give its parameters ranges",
}
"""Queues that "all" leaves out, and why."""


def ranges() -> dict[str, dict[str, Any]]:
    """Returns the ranges of every queue; a queue in neither table gets its `limit`, which every queue with a buffer has."""
    unknown = [e for e in built_in() if e["kind"] == "queue" and e["name"] not in RANGES and e["name"] not in LEFT_OUT]
    return RANGES | {e["name"]: {"limit": _LIMIT} for e in unknown if "limit" in e["schema"]["properties"]}
