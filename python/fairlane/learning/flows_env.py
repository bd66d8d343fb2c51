"""`FlowsEnv`: an environment of PettingZoo with several flows, which act at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv

from ..errors import ArgumentError
from ..runs.network import Network
from ..runs.simulation import Simulation
from .episode import Array, Episodes, Reward, RewardFunction, Scenario
from .flow_env import SEEDS


def default_scenario() -> Network:
    """Returns two flows with access links of their own that share a link of 10 Mbit/s, for 10 s."""
    net = Network(duration="10s")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "5ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "10ms", "queue": {"droptail": {"limit": "50p"}}},
    )
    net.flow("first", "s0", "d0", tcp="external")
    return net.flow("second", "s1", "d1", tcp="external")


class FlowsEnv(ParallelEnv[str, Array, Array]):  # type: ignore[misc]
    """Several flows; an agent for each sets its congestion window and pacing rate at each step.

    Agents are named like their flows: those in `flows`, or all with the control `external`. The other arguments, the observations and the
    rewards are those of `FlowEnv`; each agent observes its own flow alone.

    >>> env = FlowsEnv()
    >>> seen, info = env.reset(seed=1)
    >>> seen, rewards, terminated, truncated, info = env.step({a: env.action_space(a).high for a in env.agents})
    >>> sorted(rewards)
    ['first', 'second']
    """

    metadata: dict[str, Any] = {"name": "fairlane_flows_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        flows: Sequence[str] | None = None,
        step: str = "10ms",
        actions: Sequence[str] = ("window", "pacing_rate"),
        window: tuple[str, str] | None = None,
        pacing_rate: tuple[str, str] | None = None,
        reward: RewardFunction | None = None,
        vary: Mapping[str, Sequence[Any]] | None = None,
        render_mode: None = None,
    ) -> None:
        """Raises `ArgumentError` or `ScenarioError` with what is wrong."""
        chosen = default_scenario() if scenario is None else scenario
        self._episodes = Episodes(chosen, flows, step=step, actions=actions, window=window, pacing_rate=pacing_rate, vary=vary)
        self.possible_agents = list(self._episodes.flows)
        self.agents: list[str] = []
        self.reward: RewardFunction = reward or Reward()
        self.render_mode = render_mode
        # One object for each agent, as PettingZoo wants it.
        space = self._episodes.observation_space
        self.observation_spaces = {name: Box(space.low, space.high, dtype=np.float32) for name in self.possible_agents}
        self.action_spaces = dict(self._episodes.action_space)
        self._random, _ = seeding.np_random(None)

    @property
    def simulation(self) -> Simulation:
        """The run of the present episode, to inspect; its `result().scenario` repeats the episode with every action."""
        return self._episodes.simulation

    def observation_space(self, agent: str) -> Box:
        """Returns the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """Returns the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Starts the next episode."""
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        own = int(self._random.integers(SEEDS)) if seed is None else seed
        seen = self._episodes.begin(own, self._random).astype(np.float32)
        self.agents = list(self.possible_agents)

        return dict(zip(self.agents, seen, strict=True)), {name: self._episodes.info() for name in self.agents}

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Sets windows and rates, and advances by a step."""
        if missing := [name for name in self.agents if name not in actions]:
            raise ArgumentError(f"no action for {', '.join(missing)}")
        if not self.agents:
            return {}, {}, {}, {}, {}
        seen, over = self._episodes.step([actions[name] for name in self.agents])
        names = self.agents
        if over:
            self.agents = []
        capacity = self._episodes.capacity
        rewards = {name: self.reward(row, c) for name, row, c in zip(names, seen.tolist(), capacity, strict=True)}
        observed = dict(zip(names, seen.astype(np.float32), strict=True))
        return observed, rewards, dict.fromkeys(names, False), dict.fromkeys(names, over), {name: self._episodes.info() for name in names}
