"""A learner: CMA-ES finds a policy that sets the pacing rate of a flow from what its sender measures. `python examples/learner.py`

The policy is linear: the logarithm of the rate changes in each step by the weighted sum of queueing delay, share of losses, delivery and
a constant. Needs `pip install 'fairlane[rl]' cmaes`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cmaes import CMA

from fairlane import Network
from fairlane.learning import OBSERVED, FlowEnv

AT = {q.name: i for i, q in enumerate(OBSERVED)}
WEIGHTS = 4
RATES = ["4Mbit/s", "8Mbit/s", "16Mbit/s", "32Mbit/s"]


def network() -> Network:
    """Returns a path whose rate differs from episode to episode."""
    net = Network(duration="5s")
    net.link("a", "b", name="line", rate="16Mbit/s", delay="20ms", queue={"droptail": {"limit": "200p"}})
    return net.flow("flow", "a", "b", tcp={"cc": {"external": {"window": "2000p"}}})


ENV = FlowEnv(network(), actions=["pacing_rate"], step="40ms", pacing_rate=("100kbit/s", "100Mbit/s"), vary={"links.line.rate": RATES})


def episode(weights: Sequence[float], seed: int) -> float:
    """Returns the mean reward of a step, with the rate of the path as the capacity."""
    seen, info = ENV.reset(seed=seed)
    capacity = 1e6 * float(info["values"]["links.line.rate"].removesuffix("Mbit/s"))
    rate, rewards, over = 1e6, [], False
    while not over:
        least = max(float(seen[AT["min_rtt"]]), 1e-3)
        features = [1.0, float(seen[AT["rtt"]]) / least - 1, float(seen[AT["resent"]]), float(seen[AT["acked_rate"]]) / rate]
        change = sum(w * x for w, x in zip(weights, features, strict=True))
        rate = min(max(rate * np.exp(min(max(change, -1.0), 1.0)), 1e5), 1e8)
        seen, _, _, over, _ = ENV.step(np.array([rate], dtype=np.float32))
        rewards.append(ENV.reward(seen.tolist(), capacity))
    return sum(rewards) / len(rewards)


def learn(generations: int = 30, show: bool = False) -> Sequence[float]:
    """Returns the weights after some generations; a policy is judged by the same four episodes as the others of its generation."""
    search = CMA(mean=np.zeros(WEIGHTS), sigma=0.3, seed=1, population_size=8)
    best: tuple[float, Sequence[float]] = (-np.inf, np.zeros(WEIGHTS))
    for generation in range(generations):
        tried = []
        for _ in range(search.population_size):
            weights = search.ask()
            score = sum(episode(weights, seed) for seed in range(1, 5)) / 4
            tried.append((weights, -score))
            if score > best[0]:
                best = score, weights
        search.tell(tried)
        if show and generation % 5 == 4:
            print(f"generation {generation + 1}: best reward {best[0]:.2f}")
    return best[1]


if __name__ == "__main__":
    print(f"reward of a step without learning: {sum(episode([0.0] * WEIGHTS, s) for s in range(100, 108)) / 8:.2f}")
    learnt = learn(show=True)
    print(f"on eight other episodes: {sum(episode(learnt, s) for s in range(100, 108)) / 8:.2f}")
    print("weights:", " ".join(f"{w:.2f}" for w in learnt))
