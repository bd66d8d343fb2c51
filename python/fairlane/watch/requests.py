"""Requests of a page to its live simulation, validated and executed."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..base import toml
from ..base.reference import contents
from ..errors import FairlaneError
from ..runs.simulation import Simulation
from .topology import queue_of, running_groups, state_of

SPEND = 50_000
"""Most wall-clock microseconds of a request."""
FINE = 1000
"""Steps of a run while seeking an event, so that curves keep their shape."""
SOUGHT = ("packet", "drop", "mark", "timeout")
MOST_VALUES = 8
MOST_TEXT = 200
MOST_CHANGES = 10_000
"""Most changes per page: each is stored in the scenario that repeats the run."""
_NAME = r"""("([^"\\]|\\.)*"|'[^']*'|[^."'\s]+)"""
_MAY = re.compile(rf"links\.{_NAME}(\.reverse)?\.(rate|delay|loss|duplicate|queue)(\..+)?|flows\.{_NAME}\.(start|stop|count)")
"""Paths that a page may change. Other paths may name files (`trace`), whose lines would appear in error messages."""


class InvalidRequest(FairlaneError):
    """Invalid request."""


class Session:
    """Simulation of one page, with an optional branch."""

    def __init__(self, sim: Simulation, head: Mapping[str, Any]) -> None:
        self._futures, self._head = [sim], head
        self._end, self._changes = sim._core.end, 0
        sim._core.watch(1)
        self._acts: dict[str, Callable[[dict[str, Any]], tuple[list[bytes], dict[str, Any]]]] = {
            "go": self._go, "mode": self._mode, "seek": self._seek, "set": self._set, "flow": self._flow, "branch": self._branch,
            "drop": self._drop, "knobs": self._knobs,
        }  # fmt: skip

    def do(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        """Executes a request; returns chunks of the animation and the answer."""
        act = self._acts.get(what["op"]) if isinstance(what.get("op"), str) else None
        if act is None:
            raise InvalidRequest(f"unknown request {str(what.get('op'))[:40]!r}")
        return act(what)

    def _pieces(self) -> list[bytes]:
        return [bytes([k]) + (sim._core.chunk() or b"") for k, sim in enumerate(self._futures)]

    def _go(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        to = min(self._end, int(_number(what, "to", 0, 1e19) * 1000))
        spend = int(_number(what, "spend", 0, SPEND)) // len(self._futures)
        first = self._futures[0]._core
        first.go(max(to, first.now), spend)
        # The branch advances to the same time.
        for sim in self._futures[1:]:
            sim._core.advance(first.now)
        return self._pieces(), {"over": first.now >= self._end}

    def _mode(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        one_of = int(_number(what, "oneOf", 0, 1 << 20))
        for sim in self._futures:
            sim._core.watch(one_of or None)
        return self._pieces(), {}

    def _seek(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        kind, fresh = what.get("what"), what.get("fresh")
        if kind not in SOUGHT or not isinstance(fresh, bool):
            raise InvalidRequest("seek takes an event (packet, drop, mark or timeout) and `fresh` (true or false)")
        first = self._futures[0]._core
        pieces: list[bytes] = []
        found, over, step = None, time.monotonic() + SPEND / 1e6, max(1, self._end // FINE)
        while found is None and (left := over - time.monotonic()) > 0:
            to = min(self._end, first.now + step)
            found = first.seek(to, kind, fresh, int(left * 1e6) // len(self._futures))
            fresh = False
            if found is False and to < self._end:
                found = None
            for sim in self._futures[1:]:
                sim._core.advance(first.now)
            pieces += self._pieces()
        return pieces, {"found": found, "over": first.now >= self._end}

    def _future(self, what: dict[str, Any]) -> Simulation:
        number = what.get("future", 0)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self._futures):
            raise InvalidRequest("unknown branch")
        return self._futures[number]

    def _set(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        values = what.get("values")
        if not isinstance(values, dict) or not 0 < len(values) <= MOST_VALUES:
            raise InvalidRequest("values must be a few paths with their values")
        pairs = []
        for path, value in values.items():
            if (
                isinstance(value, bool)
                or not isinstance(value, str | int | float)
                or (isinstance(value, float) and not math.isfinite(value))
            ):
                raise InvalidRequest(f"{path[:60]!r} takes a number or text")
            path = self._path(path)
            if not _MAY.fullmatch(path):
                raise InvalidRequest("only rate, delay, loss, duplicate and queue of links, and start, stop and count of flows can change")
            if len(path) > MOST_TEXT or len(str(value)) > MOST_TEXT:
                raise InvalidRequest("path or value too long")
            pairs.append((path, str(value)))
        sim = self._future(what)
        return self._change(sim, pairs), {}

    def _path(self, path: str) -> str:
        """Quotes the name of a link in a path if it has blanks or dots; pages send it unquoted."""
        for name in sorted((way["name"] for way in self._head["links"]), key=len, reverse=True):
            rest = path.removeprefix(f"links.{name}.")
            if rest != path:
                front = name.removesuffix(".reverse")
                return f"links.{toml.key(front)}{'.reverse' if front != name else ''}.{rest}"
        return path

    def _change(self, sim: Simulation, pairs: list[tuple[str, str]]) -> list[bytes]:
        if self._changes >= MOST_CHANGES:
            raise InvalidRequest(f"limit of {MOST_CHANGES:,} changes reached; reload the page")
        # Ends the current chunk, whose rates and delays are constant.
        pieces = self._pieces()
        sim._core.set(pairs, False)
        self._changes += 1
        return [*pieces, *self._pieces()]

    def _flow(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        group, on = what.get("group"), what.get("on")
        if not any(f["group"] == group for f in self._head["flows"]) or not isinstance(on, bool):
            raise InvalidRequest("flow takes a group and `on` (true or false)")
        sim = self._future(what)
        runs = running_groups(state_of(sim), sim._core.now)[str(group)]
        if on == runs:
            raise InvalidRequest(f"flows of {group} run already" if on else f"flows of {group} are not running")
        return self._change(sim, [(f"flows.{toml.key(str(group))}.{'start' if on else 'stop'}", f"{sim._core.now}ps")]), {}

    def _branch(self, _what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        if len(self._futures) > 1:
            raise InvalidRequest("only one branch at a time")
        self._futures.append(self._futures[0].branch())
        return [], {}

    def _drop(self, _what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        del self._futures[1:]
        return [], {}

    def _knobs(self, what: dict[str, Any]) -> tuple[list[bytes], dict[str, Any]]:
        name = what.get("link")
        sim = self._future(what)
        if not isinstance(name, str) or name not in sim.links:
            raise InvalidRequest("unknown link")
        now = state_of(sim)
        kind, parameters, loss = queue_of(now, name)
        link = sim.links[name]
        queues = [q for q in contents()["queue"] if q != "management"]
        shown = [
            (k, str(v).lower() if isinstance(v, bool) else str(v), "switch" if isinstance(v, bool) else "text")
            for k, v in parameters.items()
            if isinstance(v, str | int | float)
        ]
        return [], {
            "rate": link.rate, "delay": link.delay * 1e9, "loss": loss, "queue": kind, "queues": queues, "parameters": shown,
            "flows": running_groups(now, sim._core.now),
        }  # fmt: skip


def _number(what: dict[str, Any], key: str, low: float, high: float) -> float:
    value = what.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidRequest(f"{key} must be a number from {low:g} to {high:g}")
    return float(value)
