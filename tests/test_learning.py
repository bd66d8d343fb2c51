"""Environments for learners: Gymnasium and PettingZoo accept them, episodes repeat, actions act, and an episode is a scenario."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import fairlane as fl
from fairlane.base.extras import installing
from test_startup import bare

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from fairlane.learning import ACTIONS, OBSERVED, FlowEnv, FlowsEnv, Reward

AT = {q.name: i for i, q in enumerate(OBSERVED)}


def line(duration: str = "2s", limit: str = "50p", **link: object) -> fl.Network:
    net = fl.Network(duration=duration).link(
        "a", "b", name="line", **{"rate": "10Mbit/s", "delay": "20ms", "queue": {"droptail": {"limit": limit}}, **link}
    )
    return net.flow("flow", "a", "b", tcp="external")


def pair(duration: str = "1s") -> fl.Network:
    net = line(duration)
    return net.flow("other", "a", "b", tcp="external")


def act(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def played(env: FlowEnv, seed: int) -> list[tuple[list[float], float]]:
    """Plays an episode with random actions that follow from the seed."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    steps = []
    while True:
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        steps.append((seen.tolist(), reward))
        assert not terminated
        if truncated:
            return steps


# --- the interfaces -----------------------------------------------------------------------------------------------------------


def test_gymnasium_accepts_the_environment():
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("fairlane.learning:fairlane/Flow-v0", scenario=line("500ms"), vary={"links.line.rate": ["5Mbit/s", "20Mbit/s"]})
    with warnings.catch_warnings():
        # A bound of infinity is meant: no rate is too high.
        warnings.filterwarnings("ignore", message=".*(maximum|minimum) value is.*infinity.*")
        check_env(env.unwrapped, skip_render_check=True)


def test_pettingzoo_accepts_the_environment():
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(FlowsEnv(pair("300ms")), num_cycles=40)
    parallel_seed_test(lambda: FlowsEnv(pair("100ms")), num_cycles=10)


def test_every_number_has_a_unit():
    assert [q.unit for q in ACTIONS] == ["byte", "bit/s"]
    assert all(q.about and q.unit in ("bit/s", "s", "1", "byte") for q in OBSERVED)
    env = FlowEnv(line())
    # From one segment to four bandwidth-delay products; a hundredth to twice the link.
    assert env.action_space.low.tolist() == pytest.approx([1460, 1e5])
    assert env.action_space.high.tolist() == pytest.approx([4 * 10e6 * 0.04 / 8, 2e7])
    assert FlowEnv(line(), window=("3kB", "30kB")).action_space.low[0] == 3000


# --- repetition ---------------------------------------------------------------------------------------------------------------


def test_an_episode_repeats_with_its_seed():
    net = line(loss=0.01)
    a, b, c = (played(FlowEnv(net), seed) for seed in (3, 3, 4))
    assert a == b != c


def test_an_episode_is_a_scenario(tmp_path):
    """A run of the result's scenario, which has the actions as changes, goes the same way."""
    env = FlowEnv(line("600ms", loss=0.01))
    played(env, 7)
    result = env.simulation.result()
    file = tmp_path / "episode.json"
    file.write_text(json.dumps({k: v for k, v in result.scenario.items() if k not in ("expanded", "warnings")}))
    assert len(result.scenario["at"]) == 60
    assert fl.run(file, seeds=[7]).fingerprints == [env.simulation.fingerprint]


def test_values_vary_from_episode_to_episode():
    env = FlowEnv(line("200ms"), vary={"links.line.rate": ["5Mbit/s", "20Mbit/s"]})
    rates = [env.reset(seed=1 if i == 0 else None)[1]["values"]["links.line.rate"] for i in range(12)]
    assert set(rates) == {"5Mbit/s", "20Mbit/s"}
    assert rates == [env.reset(seed=1 if i == 0 else None)[1]["values"]["links.line.rate"] for i in range(12)]


# --- actions ------------------------------------------------------------------------------------------------------------------


def test_a_window_gives_its_bytes_in_each_round_trip():
    """The throughput of a window below the bandwidth-delay product is window / RTT."""
    env = FlowEnv(line("3s"), step="1s", actions=["window"])
    env.reset(seed=1)
    for _ in range(3):
        seen = env.step(act(14600))[0]
    assert seen[AT["window"]] == 14600
    assert seen[AT["rtt"]] == pytest.approx(0.0425, rel=0.05)
    assert seen[AT["acked_rate"]] == pytest.approx(8 * 14600 / seen[AT["rtt"]], rel=0.05)


def test_a_pacing_rate_is_the_rate_of_the_payload():
    env = FlowEnv(line("8s"), step="1s")
    env.reset(seed=1)
    for rate in (1e6, 4e6, 0.5e6, 8e6):
        for _ in range(2):
            seen = env.step(act(200_000, rate))[0]
        assert seen[AT["acked_rate"]] == pytest.approx(rate, rel=0.05), rate
        assert seen[AT["pacing_rate"]] == rate


def test_a_faster_rate_counts_at_once():
    """The departure that was planned at a very low rate does not hold up the next ones."""
    env = FlowEnv(line(), step="100ms", pacing_rate=("1kbit/s", "10Mbit/s"))
    env.reset(seed=1)
    for _ in range(3):
        env.step(act(200_000, 1000))
    assert env.step(act(200_000, 8e6))[0][AT["sent_rate"]] > 6e6


def test_losses_do_not_change_what_was_set():
    env = FlowEnv(line(loss=0.05), step="500ms", actions=["window"])
    env.reset(seed=1)
    seen = [env.step(act(30_000))[0] for _ in range(4)]
    assert {float(s[AT["window"]]) for s in seen} == {30_000}
    assert max(s[AT["resent"]] for s in seen) > 0.01


def test_a_change_of_the_link_keeps_the_actions():
    env = FlowEnv(line(), step="100ms", actions=["window"])
    env.reset(seed=1)
    for _ in range(4):
        env.step(act(20_000))
    env.simulation.set("links.line.delay", "30ms")
    assert env.step(act(20_000))[0][AT["window"]] == 20_000
    sets = [list(at["set"]) for at in env.simulation.result().scenario["at"]]
    assert sets == [["flows.flow.tcp.cc.external.window", "flows.flow.tcp.cc.external.pacing_rate"], ["links.line.delay"]]


def test_set_takes_window_and_rate():
    sim = line().start(seed=1)
    sim.advance("500ms")
    sim.set({"flows.flow.tcp.cc.external.window": "20p", "flows.flow.tcp.cc.external.pacing_rate": "1Mbit/s"})
    assert sim.flows["flow"].tcp.cwnd == 20 * sim.flows["flow"].tcp.mss
    before = sim.flows["flow"].delivered
    sim.advance("1s")
    assert 8 * (sim.flows["flow"].delivered - before) == pytest.approx(1e6, rel=0.1)
    with pytest.raises(fl.ScenarioError, match="tcp` cannot change"):
        sim.set("flows.flow.tcp.mss", "1000B")


def test_agents_share_a_link():
    env = FlowsEnv(pair(), step="100ms")
    env.reset(seed=1)
    for _ in range(8):
        seen, rewards, *_ = env.step({"flow": act(60_000, 6e6), "other": act(60_000, 2e6)})
    assert seen["flow"][AT["acked_rate"]] == pytest.approx(6e6, rel=0.1)
    assert seen["other"][AT["acked_rate"]] == pytest.approx(2e6, rel=0.1)
    assert rewards["flow"] > rewards["other"]


def test_the_reward_weighs_rate_delay_and_losses():
    seen = [0.0] * len(OBSERVED)
    seen[AT["acked_rate"]], seen[AT["rtt"]], seen[AT["min_rtt"]], seen[AT["resent"]] = 5e6, 0.06, 0.04, 0.1
    assert Reward(delay=0.5, loss=1.0)(seen, 10e6) == pytest.approx(0.5 - 0.25 - 0.1)
    env = FlowEnv(line(), reward=lambda seen, capacity: -1.0)
    env.reset(seed=1)
    assert env.step(env.action_space.low)[1] == -1.0


# --- mistakes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FlowEnv(line(), flow="flaw"), "did you mean 'flow'"),
        (lambda: FlowEnv(line().flow("x", "a", "b", tcp="cubic"), flow="x"), "takes no actions"),
        (lambda: FlowEnv(fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("x", "a", "b", tcp={})), "external"),
        (lambda: FlowEnv(pair()), "several flows take actions"),
        (lambda: FlowEnv(line().flow("many", "a", "b", count=2, tcp="external"), flow="many"), "several members"),
        (lambda: FlowEnv(line(), actions=["windows"]), "did you mean 'window'"),
        (lambda: FlowEnv(line(), actions=[]), "write window, pacing_rate, or both"),
        (lambda: FlowEnv(line(), step="10"), "unit"),
        (lambda: FlowEnv(line(), step="0s"), "longer than 0"),
        (lambda: FlowEnv(line(), window=("5kB", "1kB")), "below the second"),
        (lambda: FlowEnv(line(), window=(1, 2)), "two values with units"),
        (lambda: FlowEnv(line(), vary={"links.line.rate": []}), "no values"),
        (lambda: FlowEnv(line(), vary={"links.lime.rate": ["1Mbit/s"]}), "lime"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(fl.FairlaneError, match=message):
        make()


def test_the_end_of_an_episode_is_an_error_once_more():
    env = FlowEnv(line("20ms"))
    env.reset(seed=1)
    env.step(env.action_space.low)
    assert env.step(env.action_space.low)[3]
    with pytest.raises(fl.ArgumentError, match="reset"):
        env.step(env.action_space.low)


@pytest.mark.parametrize("gone", ["gymnasium", "pettingzoo"])
def test_a_missing_library_is_named(gone):
    done = bare("try:\n    import fairlane.learning\nexcept ImportError as e:\n    print(type(e).__name__, e)", gone={gone})
    assert done.stdout == f"MissingError {gone} is not installed: {installing('fairlane[rl]')}\n", done.stderr


def test_the_example_learns():
    """The policy of a few generations gets more than one that never changes the rate."""
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    pytest.importorskip("cmaes")
    spec = spec_from_file_location("learner", Path(__file__).parents[1] / "examples" / "learner.py")
    learner = module_from_spec(spec)
    spec.loader.exec_module(learner)
    zero, unseen = [0.0] * learner.WEIGHTS, range(100, 102)
    assert learner.score(learner.learn(generations=4), unseen) > learner.score(zero, unseen) + 0.1
