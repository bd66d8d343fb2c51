"""A learner: CMA-ES finds a policy that sets the pacing rate of a flow from what its sender measures.

`python examples/learner.py [PICTURE]` learns in about ten seconds of CPU, and draws the policy on a path that it was not trained on.

The policy is linear: the logarithm of the rate changes in each step by the weighted sum of a constant, the relative queueing delay, the
share that was sent again, and the share of the rate that was delivered. Needs `pip install 'fairlane[rl]' cmaes`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
from cmaes import CMA  # pyright: ignore[reportMissingTypeStubs]

from fairlane import Network
from fairlane.learning import OBSERVED, FlowEnv

AT = {q.name: i for i, q in enumerate(OBSERVED)}
WEIGHTS = 4
RATES = ["4Mbit/s", "8Mbit/s", "16Mbit/s", "32Mbit/s"]
BEGINS = [1e6, 1e5, 3e6, 4e7]
"""Rates in bit/s with which episodes begin: far below and far above the path, as after a change of it."""
STEPS = [("0s", 8), ("5s", 24), ("10s", 5), ("15s", 16)]
"""Rates of the path in the picture: time, Mbit/s."""


def network(duration: str = "5s") -> Network:
    """Returns a path with a buffer of 200 packets; the window does not limit the flow."""
    net = Network(duration=duration)
    net.link("a", "b", name="line", rate="16Mbit/s", delay="20ms", queue={"droptail": {"limit": "200p"}})
    return net.flow("flow", "a", "b", tcp={"cc": {"external": {"window": "2000p"}}})


def environment(net: Network, rates: Sequence[str]) -> FlowEnv:
    """Returns an environment whose actions are pacing rates, each for 40 ms."""
    vary = {"links.line.rate": rates}
    return FlowEnv(net, actions=["pacing_rate"], step="40ms", pacing_rate=("100kbit/s", "100Mbit/s"), vary=vary)


TRAINING = environment(network(), RATES)


def episode(weights: Sequence[float], seed: int, env: FlowEnv = TRAINING) -> tuple[float, list[list[float]]]:
    """Returns the mean reward of a step, with the rate of the path as the capacity, and the observations."""
    first, info = env.reset(seed=seed)
    capacity = 1e6 * float(info["values"]["links.line.rate"].removesuffix("Mbit/s"))
    rate, rewards, history, over = BEGINS[seed % len(BEGINS)], 0.0, [first.tolist()], False
    while not over:
        seen = history[-1]
        least = max(seen[AT["min_rtt"]], 1e-3)
        features = (1.0, seen[AT["rtt"]] / least - 1, seen[AT["resent"]], seen[AT["acked_rate"]] / rate)
        change = sum(w * x for w, x in zip(weights, features, strict=True))
        rate = min(max(rate * math.exp(min(max(change, -1.0), 1.0)), 1e5), 1e8)
        observed, _, _, over, _ = env.step(np.array([rate], dtype=np.float32))
        history.append(observed.tolist())
        rewards += env.reward(history[-1], capacity)
    return rewards / (len(history) - 1), history


def score(weights: Sequence[float], seeds: range) -> float:
    """Returns the mean reward over some episodes."""
    return sum(episode(weights, seed)[0] for seed in seeds) / len(seeds)


def learn(generations: int = 20, show: bool = False) -> list[float]:
    """Returns the best weights; all policies are judged by the same episodes."""
    search = CMA(mean=np.zeros(WEIGHTS), sigma=0.3, seed=1, population_size=8)
    best, weights = -math.inf, [0.0] * WEIGHTS
    for generation in range(generations):
        asked = [search.ask() for _ in range(search.population_size)]
        scores = [score([float(w) for w in one], range(1, 9)) for one in asked]
        search.tell([(one, -value) for one, value in zip(asked, scores, strict=True)])
        if max(scores) > best:
            best = max(scores)
            weights = [float(w) for w in asked[scores.index(best)]]
        if show and generation % 5 == 4:
            print(f"generation {generation + 1}: best reward {best:.2f}")
    return weights


def picture(weights: Sequence[float], file: str) -> None:
    """Draws rate and round-trip time of a policy on a path whose rate changes."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "learner"
    from matplotlib import pyplot as plt

    net = network("20s")
    net.set("links.line.rates", [{"at": at, "rate": f"{rate}Mbit/s"} for at, rate in STEPS])
    _, history = episode(weights, 1, environment(net, ["16Mbit/s"]))
    times = [0.04 * i for i in range(len(history))]
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7.2, 3.8), height_ratios=(2, 1), layout="constrained")
    corners = [float(at[:-1]) for at, _ in STEPS] + [20.0]
    upper.stairs([rate for _, rate in STEPS], corners, color="0.6", label="link", baseline=None)
    upper.plot(times, [seen[AT["acked_rate"]] / 1e6 for seen in history], lw=1, label="acknowledged")
    upper.set_ylabel("rate (Mbit/s)")
    upper.legend(frameon=False, fontsize=8)
    lower.plot(times, [1e3 * seen[AT["rtt"]] for seen in history], lw=1, color="C1")
    lower.set(xlabel="time (s)", ylabel="RTT (ms)", xlim=(0, 20), ylim=(0, None))
    figure.savefig(file, metadata={"Date": None})  # pyright: ignore[reportUnknownMemberType]


def main() -> None:
    """Entry point."""
    print(f"reward of a step without learning: {score([0.0] * WEIGHTS, range(100, 108)):.2f}")
    weights = learn(show=True)
    print(f"on eight other episodes: {score(weights, range(100, 108)):.2f}")
    print("weights:", " ".join(f"{w:.2f}" for w in weights))
    if len(sys.argv) > 1:
        picture(weights, sys.argv[1])


if __name__ == "__main__":
    main()
