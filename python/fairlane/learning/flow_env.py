"""`FlowEnv`: an environment of Gymnasium with one flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from ..errors import ArgumentError
from ..runs.simulation import Simulation
from .episode import Array, Episodes, Reward, RewardFunction, Scenario

SEEDS = 2**63


class FlowEnv(gymnasium.Env[Array, Array]):
    """One flow whose congestion window and pacing rate an agent sets at each step.

    `scenario`: a `Network`, a dict or a file with a flow of the control `external`; by default a link of 10 Mbit/s. `flow`: its name,
    if there are several. `step`: simulated time of a step. `actions`: what the agent sets, "window" (bytes), "pacing_rate" (bit/s) or
    both; the rest stays as the scenario has it. `window`, `pacing_rate`: their ranges, such as ("3kB", "300kB"); by default from a segment
    to four bandwidth-delay products, and from a hundredth to twice the slowest link. `reward`: a `Reward`, or a function of the
    observation and the capacity. `vary`: values by path, of which each episode draws one.

    An observation has the numbers of `OBSERVED`. An episode lasts as long as the scenario, and is then truncated. With `reset(seed=n)`
    the first run has the seed n; later ones draw theirs from the environment's random numbers.

    >>> env = FlowEnv(actions=["window"])
    >>> seen, info = env.reset(seed=1)
    >>> seen, reward, terminated, truncated, info = env.step(np.array([50_000], dtype=np.float32))
    >>> seen.shape, truncated, info["time"]
    ((8,), False, 0.01)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        flow: str | None = None,
        step: str = "10ms",
        actions: Sequence[str] = ("window", "pacing_rate"),
        window: tuple[str, str] | None = None,
        pacing_rate: tuple[str, str] | None = None,
        reward: RewardFunction | None = None,
        vary: Mapping[str, Sequence[Any]] | None = None,
        render_mode: None = None,
    ) -> None:
        """Raises `ArgumentError` or `ScenarioError` with what is wrong."""
        flows = None if flow is None else [flow]
        self._episodes = Episodes(scenario, flows, step=step, actions=actions, window=window, pacing_rate=pacing_rate, vary=vary)
        if len(self._episodes.flows) > 1:
            names = ", ".join(self._episodes.flows)
            raise ArgumentError(f"several flows take actions ({names}): name one with flow=..., or use FlowsEnv")
        self.flow = self._episodes.flows[0]
        self.capacity = self._episodes.capacity[0]
        """Rate of the slowest link of the path in the scenario, bit/s."""
        self.reward: RewardFunction = reward or Reward()
        self.render_mode = render_mode
        self.observation_space = self._episodes.observation_space
        self.action_space = self._episodes.action_space[self.flow]

    @property
    def simulation(self) -> Simulation:
        """The run of the present episode, to inspect; its `result().scenario` repeats the episode with every action."""
        return self._episodes.simulation

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts the next episode."""
        super().reset(seed=seed)
        own = int(self.np_random.integers(SEEDS)) if seed is None else seed
        seen = self._episodes.begin(own, self.np_random)
        return seen[0].astype(np.float32), self._episodes.info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Sets window and rate, and advances by a step."""
        seen, over = self._episodes.step_one(action)
        return seen.astype(np.float32), self.reward(seen.tolist(), self.capacity), False, over, self._episodes.info()
