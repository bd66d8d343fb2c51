"""Episodes: runs of one scenario in steps of one length, in which agents set windows and pacing rates of flows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from .. import _core
from ..base.literals import quantity, si
from ..base.scenario import source_of
from ..errors import ArgumentError, suggest
from ..runs.network import Network
from ..runs.simulation import Simulation

Array = NDArray[np.float32]
Scenario = Network | Mapping[str, Any] | str | PathLike[str]


@dataclass(frozen=True)
class Quantity:
    """A number that an agent sets or observes."""

    name: str
    unit: str
    about: str


OBSERVED = tuple(Quantity(*row) for row in _core.observed())
"""Numbers of an observation, in order; all are known to a sender."""
ACTIONS = (
    Quantity("window", "byte", "congestion window of the next step"),
    Quantity("pacing_rate", "bit/s", "pacing rate of the next step"),
)
"""Numbers that an agent may set."""
_PLACE = {q.name: i for i, q in enumerate(OBSERVED)}
_ACKED, _RTT, _LEAST, _RESENT = (_PLACE[name] for name in ("acked_rate", "rtt", "min_rtt", "resent"))
WINDOWS = 4
"""Largest window by default, in bandwidth-delay products of the path."""
RATES = (0.01, 2.0)
"""Least and largest pacing rate by default, in rates of the slowest link of the path."""
SEGMENTS = 16
"""Least upper end of the window by default, in segments."""


@dataclass(frozen=True)
class Reward:
    """Reward of a step, without unit: `acked_rate / capacity - delay * (rtt - min_rtt) / min_rtt - loss * resent`.

    `capacity` is the rate of the slowest link of the flow's path in the scenario. A function of the observation and the capacity may
    stand for it.

    >>> round(Reward()(np.array([5e6, 5e6, 0.06, 0.04, 0.01, 0, 0, 0]), 10e6), 9)
    0.24
    """

    delay: float = 0.5
    """Weight of the relative queueing delay."""
    loss: float = 1.0
    """Weight of the share that was sent again."""

    def __call__(self, seen: Sequence[float], capacity: float) -> float:
        """Returns the reward of a step."""
        rtt, least = seen[_RTT], seen[_LEAST]
        waited = (rtt - least) / least if least > 0 and rtt > least else 0.0
        return float(seen[_ACKED] / capacity - self.delay * waited - self.loss * seen[_RESENT])


RewardFunction = Callable[[Sequence[float], float], float]


def default_scenario() -> Network:
    """Returns one flow on a link of 10 Mbit/s with a round-trip time of 40 ms and a buffer of 50 packets, for 10 s."""
    net = Network(duration="10s")
    net.link("a", "b", name="line", rate="10Mbit/s", delay="20ms", queue={"droptail": {"limit": "50p"}})
    return net.flow("flow", "a", "b", tcp="external")


class Episodes:
    """Runs of a scenario one after another; `begin` starts the next one, `step` continues it."""

    def __init__(
        self,
        scenario: Scenario | None,
        flows: Sequence[str] | None,
        *,
        step: str,
        actions: Sequence[str],
        window: tuple[str, str] | None,
        pacing_rate: tuple[str, str] | None,
        vary: Mapping[str, Sequence[Any]] | None,
    ) -> None:
        net = _network(scenario)
        self._core = _core.Prepared(*source_of(net), [])
        resolved = json.loads(self._core.resolve([]).json())
        self.flows = _flows(resolved, flows)
        self._step = _length(step)
        self._sets = _chosen(actions)
        self._vary = {path: [_text(v) for v in values] for path, values in (vary or {}).items()}
        for path, values in self._vary.items():
            if not values:
                raise ArgumentError(f"vary: {path} has no values")
            for value in values:
                self._core.resolve([(path, value)])
        self.begin(0, None)
        self.capacity, self.action_space = [], {}
        for name, (rate, rtt, mss) in zip(self.flows, self._paths, strict=True):
            if rate <= 0:
                raise ArgumentError(f"flow {name}: no link of its path has a rate at the start")
            least = max(SEGMENTS * mss, WINDOWS * rate * rtt / 8)
            ends = {
                "window": _ends("window", window, "byte") or (mss, least),
                "pacing_rate": _ends("pacing_rate", pacing_rate, "bit/s") or (RATES[0] * rate, RATES[1] * rate),
            }
            bounds = np.array([ends[word] for word in actions], dtype=np.float32)
            self.capacity.append(rate)
            self.action_space[name] = Box(bounds[:, 0], bounds[:, 1], dtype=np.float32)
        high = np.full(len(OBSERVED), np.inf, dtype=np.float32)
        high[_RESENT] = 1.0
        self.observation_space = Box(np.zeros(len(OBSERVED), dtype=np.float32), high, dtype=np.float32)

    def begin(self, seed: int, random: np.random.Generator | None) -> NDArray[np.float64]:
        """Starts a run with this seed; `random` draws the values that vary. Returns the observation of each flow at time 0."""
        values = [] if random is None else [(path, choices[int(random.integers(len(choices)))]) for path, choices in self._vary.items()]
        core = _core.Simulation(self._core.resolve(values), seed)
        self.values = dict(values)
        """Values of this episode by path."""
        self.simulation = Simulation(core)
        self._run, self._end, self._seed = core, core.end, seed
        self._now = 0
        names = core.flow_names()
        self._paths = core.set_agents([names.index(name) for name in self.flows])
        self._kept = [(float(window), float(rate)) for window, rate in core.actions()]
        seen = core.step([], 0)
        return np.frombuffer(seen).reshape(len(self.flows), -1)

    def step(self, actions: Sequence[Array]) -> tuple[NDArray[np.float64], bool]:
        """Sets the actions and advances by a step; returns the observation of each flow, and true at the end of the run."""
        sets = [self._sets(a.tolist(), kept) for a, kept in zip(actions, self._kept, strict=True)]
        return np.frombuffer(self._advanced(sets)).reshape(len(self.flows), -1), self._now >= self._end

    def step_one(self, action: Array) -> tuple[NDArray[np.float64], bool]:
        """Does what `step` does, for one flow, in less time."""
        return np.frombuffer(self._advanced([self._sets(action.tolist(), self._kept[0])])), self._now >= self._end

    def _advanced(self, sets: list[tuple[float, float]]) -> bytes:
        if self._now >= self._end:
            raise ArgumentError("the episode is over: call reset")
        self._now = min(self._now + self._step, self._end)
        return self._run.step(sets, self._now)

    def info(self) -> dict[str, Any]:
        """Returns time, seed and varied values of the episode."""
        return {"time": self._now / 1e12, "seed": self._seed, "values": dict(self.values)}


def _network(scenario: Scenario | None) -> Network:
    if scenario is None:
        return default_scenario()
    if isinstance(scenario, Network):
        return scenario
    if isinstance(scenario, Mapping):
        net = Network(duration="1s")
        net.set(dict(scenario))
        return net
    return Network.from_file(scenario)


def _flows(resolved: Mapping[str, Any], flows: Sequence[str] | None) -> tuple[str, ...]:
    """Returns the flows that agents control: those named, or all with the control `external`."""
    there = resolved.get("flows") or {}
    able = [name for name, flow in there.items() if isinstance(cc := (flow.get("tcp") or {}).get("cc"), dict) and "external" in cc]
    for name in flows or ():
        if name not in there:
            raise suggest(name, list(there), "flow")
        if name not in able:
            raise ArgumentError(f'flow {name} takes no actions: write tcp = "external"')
    if not able:
        raise ArgumentError('no flow takes actions: write tcp = "external" for one')
    for name in flows or able:
        if max(there[name].get("count") or 1, there[name].get("room") or 1) > 1:
            raise ArgumentError(f"flow {name} has several members: give each flow that takes actions a group of its own")
    return tuple(flows or able)


def _length(step: str) -> int:
    if not isinstance(step, str):
        raise ArgumentError(f"step {step!r} has no unit: write it as text, such as step='10ms'")
    length = _core.picoseconds(step)
    if length == 0:
        raise ArgumentError("a step must be longer than 0: write for instance step='10ms'")
    return length


def _chosen(actions: Sequence[str]) -> Callable[[list[float], tuple[float, float]], tuple[float, float]]:
    """Returns what makes window and rate of an action; what is not chosen stays as the scenario has it."""
    chosen = tuple(actions)
    for word in chosen:
        if word not in (q.name for q in ACTIONS):
            raise suggest(word, [q.name for q in ACTIONS], "action")
    if chosen == ("window", "pacing_rate"):
        return lambda a, _: (a[0], a[1])
    if chosen == ("window",):
        return lambda a, kept: (a[0], kept[1])
    if chosen == ("pacing_rate",):
        return lambda a, kept: (kept[0], a[0])
    raise ArgumentError(f"actions = {list(chosen)}: write window, pacing_rate, or both in this order")


def _ends(name: str, ends: tuple[str, str] | None, unit: str) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends
    for text in (low, high):
        if not isinstance(text, str) or quantity(text) is None or not quantity(text)[1]:  # type: ignore[index]
            raise ArgumentError(f"{name} = {ends!r}: write two values with units, such as {'5kB' if unit == 'byte' else '1Mbit/s'}")
    bounds = float(si(low) or 0), float(si(high) or 0)
    if not 0 < bounds[0] < bounds[1]:
        raise ArgumentError(f"{name} = {ends!r}: the first value must be above 0 and below the second")
    return bounds


def _text(value: Any) -> str:
    from ..base.toml import value as as_toml

    return value if isinstance(value, str) else as_toml(value)
