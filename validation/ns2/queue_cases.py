"""Cases that compare queue disciplines: C3 and C8 of the reference tables, and Q1 to Q5.

Q1: five flows; Q2: five flows against a CBR stream below or above the capacity; Q3: twenty flows at 20 Mbit/s; Q4: five
flows with unequal round trips; Q5: five flows of two packet lengths, queues with nothing but their class defaults. Flows of
Q1 to Q5 start at random times, the same in both simulators, so that a deterministic queue gives a distribution as well and
not one locked phase.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from .case import Case

QUEUE = "topology.dumbbell.bottleneck.queue"

NAMES = ("RED", "ARED", "PI", "REM", "AVQ", "SFQ", "DRR", "FQ", "RIO", "WRED")
"""Queues of Q1 to Q5; AVQ is ns-2's Vq, RIO its RED/RIO, WRED its dsRED."""

CLASSES = ("RIO", "WRED", "RIO-C", "RIO-D")
"""Queues that distinguish packets in and out of profile; their scenario files name a class for each flow."""

SEEDS = tuple(range(1, 11))


def _queue(name: str, scale: int) -> tuple[str, dict[str, object]]:
    """Registry name and parameters over ns-2's class defaults; `scale` is the capacity in 10 Mbit/s."""
    room = f"{100 * scale}p"
    in_packets = {"measure": "packets", "byte_mode": False, "mean_packet": "1000B"}
    match name:
        case "RED":
            low, high = ("10p", "30p") if scale == 1 else ("20p", "80p")
            return "red", {"limit": room, "min": low, "max": high, "w_q": 0.002, **in_packets}
        case "ARED":
            return "ared", {"limit": room, "target_delay": "20ms", **in_packets}
        case "PI":
            return "pi", {"limit": room, "mean_packet": "1000B"}
        case "REM":
            return "rem", {"limit": room, "target": f"{20 * scale}p"}
        case "AVQ":
            return "avq", {"limit": room}
        case "SFQ":
            return "sfq", {"limit": "50p" if scale == 1 else "200p", "buckets": 16 * scale}
        case "DRR":
            few = scale == 1
            return "drr", {"limit": "50000B" if few else "200000B", "buckets": 16 if few else 64, "quantum": "1000B"}
        case "FQ":
            return "fq", {}
        case "RIO":
            return "rio", {"limit": room, **_profile(scale), "mean_packet": "1000B"}
        case "RIO-C" | "RIO-D":
            coupling = "coupled" if name == "RIO-C" else "decoupled"
            return "rio", {"limit": room, **_profile(scale), "coupling": coupling}
        case "WRED":
            p = _profile(scale)
            levels = [{"match": point, **{key: p[f"{side}_{key}"] for key in ("min", "max", "max_p")}} for side, point in PROFILE.items()]
            return "wred", {"limit": room, "levels": levels}
    raise KeyError(name)


PROFILE = {"in": "dscp:af11", "out": "dscp:af12"}
"""Code points in and out of profile."""


def _profile(scale: int) -> dict[str, object]:
    """Thresholds of ns-2's RED/RIO, and its probabilities."""
    ends = {"in_min": 15, "in_max": 30, "out_min": 5, "out_max": 15}
    return {name: f"{value * scale}p" for name, value in ends.items()} | {"in_max_p": 0.02, "out_max_p": 0.1}


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)


def _sets(name: str, scale: int | None) -> Iterator[tuple[str, str]]:
    """The queue of a case; without a scale, with nothing but the class defaults."""
    queue, params = _queue(name, scale or 1)
    if scale is None:
        params = {"coupling": params["coupling"]} if "coupling" in params else {}
    preset = "dsred" if name.startswith("RIO-") else "ns2"
    yield QUEUE, _toml({queue: {"preset": preset} | params})


def _starts(groups: tuple[str, ...], spread: str = "100ms") -> Iterator[tuple[str, str]]:
    for group in groups:
        yield f"flows.{group}.spread", f'"{spread}"'


def _own(family: str, name: str, file: str, groups: tuple[str, ...], *extra: tuple[str, str]) -> Case:
    queue = name.rsplit("/", 1)[-1]
    if queue in CLASSES:
        # The flow that is out of profile stands alone: one of the TCP flows, or the CBR stream.
        file, groups = f"{file}-classes", {("tcp",): ("out", "in"), ("small", "large"): ("out", "small", "large")}.get(groups, groups)
    scale = {"twenty": 2, "mixed": None}.get(file.partition("-")[0], 1)
    return Case(
        name=name,
        family=family,
        file=f"{file}.toml",
        watch="bottleneck",
        sets=(*_sets(queue, scale), *_starts(groups), *extra),
        seeds=SEEDS,
        peer_runs=tuple((seed, 0.0) for seed in SEEDS),
        bounds="queue",
        quick=family == "Q1",
        random_starts=True,
    )


DELAYS = ("topology.dumbbell.delays", '["1ms", "5ms", "10ms", "20ms", "40ms"]')


def _q() -> Iterator[Case]:
    for name in (*NAMES, "RIO-C", "RIO-D"):
        yield _own("Q1", name, "five", ("tcp",))
    for rate in (5, 12):
        for name in NAMES:
            yield _own("Q2", f"CBR{rate}/{name}", "five-cbr", ("tcp", "cbr"), ("flows.cbr.source.cbr.rate", f'"{rate}Mbit/s"'))
    for name in NAMES:
        yield _own("Q3", name, "twenty", ("tcp",))
    for name in NAMES:
        yield _own("Q4", name, "five", ("tcp",), DELAYS)
    for name in (*NAMES, "RIO-C", "RIO-D"):
        yield _own("Q5", name, "mixed", ("small", "large"))


def _reference() -> Iterator[Case]:
    """C3 and C8: fixed starts; the deterministic queues of ns-2 are run once for each of a few phases of its round-trip clock."""
    for family, prefix, file, names, droptail in (
        ("C3", "cbr5/", "five-cbr", ("DropTail", "RED", "SFQ", "DRR", "FQ"), "50p"),
        ("C8", "", "twenty", ("DropTail", "RED", "PI", "SFQ", "DRR"), "200p"),
    ):
        for name in names:
            sets = ((f"{QUEUE}.droptail.limit", f'"{droptail}"'), (f"{QUEUE}.droptail.admit", '"under"'))
            yield Case(
                name=prefix + name,
                family=family,
                file=f"{file}.toml",
                watch="bottleneck",
                sets=sets if name == "DropTail" else tuple(_sets(name, 1 if family == "C3" else 2)),
                seeds=SEEDS,
                peer_runs=tuple((seed, 0.0) for seed in (SEEDS if name in ("RED", "PI") else range(5))),
                bounds="queue",
                quick=True,
            )


def catalogue() -> list[Case]:
    """All cases of queues."""
    return [*_reference(), *_q()]
