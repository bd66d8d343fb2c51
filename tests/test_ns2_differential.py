"""Random open-loop traffic through the same queue in ns-2 and in fairlane.

Streams of constant but odd rates meet at the bottleneck in the same order in both simulators, so what a queue does without
chance must agree to every digit that ns-2 prints, and what it does by chance in its means.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.ns2 import network, peer, tcl, trace

core = pytest.importorskip("fairlane._core")

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")

DURATION, STEP = 10.0, 0.05


def streams(draw: random.Random, load: float) -> str:
    """Groups of one CBR stream each; `load` is the sum of their rates over the capacity."""
    weights = [draw.uniform(0.5, 2.0) for _ in range(draw.randint(3, 6))]
    out = ""
    for k, weight in enumerate(weights):
        rate = round(10e6 * load * weight / sum(weights))
        out += f"""
            [flows.f{k}]
            from = "s{k}"
            to = "d{k}"
            start = "{draw.randint(1, 99_999)}us"
            udp = {{ header = "0B" }}
            source.cbr = {{ rate = "{rate}bit/s", size = "{draw.randint(200, 1500)}B" }}
        """
    return f"topology.dumbbell.pairs = {len(weights)}\n{out}"


def scenario(queue: str, flows: str) -> str:
    return f"""
        duration = "{DURATION:g}s"
        sample = "{STEP * 1e3:g}ms"
        topology.dumbbell.bottleneck = {{ rate = "10Mbit/s", delay = "20ms", queue = {queue}, reverse = {{ queue = "droptail" }} }}
        {flows}
    """


def red(draw: random.Random, low: int, high: int, w_q: float) -> str:
    in_bytes = draw.random() < 0.5
    unit = draw.choice([500, 1000])
    return (
        f'{{ red = {{ preset = "ns2", limit = "400p", min = "{low}p", max = "{high}p", w_q = {w_q!r}, mean_packet = "{unit}B", '
        f'measure = "{"bytes" if in_bytes else "packets"}", byte_mode = {str(in_bytes).lower()} }} }}'
    )


def ours(text: str, seeds: list[int], gauge: str = "avg") -> list[tuple[list[float], float, int]]:
    """Returns for each run an inner variable of the queue at each sample, the mean backlog, and the drops."""
    out = []
    for run in core.run(core.resolve(text, "test.toml", "toml", []), seeds, 1, False, None):
        series, links = run.link_series(), run.links()
        average = [float(v) for name, v in zip(series["link"], series[gauge], strict=True) if name == "bottleneck"]
        row = list(links["name"]).index("bottleneck")
        out.append((average, float(links["queue_mean"][row]), int(sum(run.flows()["packets_lost"]))))
    return out


def theirs(text: str, seed: int, folder: Path, variable: str = "ave_") -> tuple[list[float], float, int]:
    """Returns the inner variable, the mean backlog and the drops in ns-2."""
    net = network.read(core.resolve(text, "test.toml", "toml", []).json())
    watched = tcl.watched_link(net, "bottleneck")
    number = tcl.node_numbers(net)
    ends = str(number[watched.source]), str(number[watched.target])
    script = tcl.script(net, "bottleneck", seed)
    times = [k * STEP for k in range(round(DURATION / STEP))]
    samples = [f'$ns at {time!r} {{puts "A [[[$ns link $n({ends[0]}) $n({ends[1]})] queue] set {variable}]"}}' for time in times]
    path = folder / "scenario.tcl"
    path.write_text(script.replace("\n$ns run\n", "\n" + "\n".join(samples) + "\n$ns run\n"), encoding="ascii")
    done = subprocess.run([peer.executable(), str(path)], capture_output=True, text=True, check=True, cwd=folder)
    lines = done.stdout.splitlines()
    measured = trace.read((line for line in lines if line[0] != "A"), DURATION, ends)
    assert measured.complete
    drops = sum(flow.drops for flow in measured.flows.values())
    return [float(line.split()[1]) for line in lines if line[0] == "A"], measured.queue.mean(), drops


@pytest.mark.parametrize("seed", range(8))
def test_red_average_without_chance(seed: int, tmp_path: Path) -> None:
    """Below its thresholds RED only averages, idle times included: equal at every sample."""
    draw = random.Random(seed)
    load = draw.uniform(0.6, 0.98) if seed % 2 else draw.uniform(1.001, 1.01)
    text = scenario(red(draw, 380, 390, draw.uniform(0.001, 0.05)), streams(draw, load))
    (mine, mean, drops), (other, their_mean, their_drops) = ours(text, [1])[0], theirs(text, 1, tmp_path)
    assert drops == their_drops == 0
    assert max(other) > 0.0
    # ns-2 prints six digits.
    assert mine[: len(other)] == pytest.approx(other, rel=5e-6, abs=1e-12)
    assert mean == pytest.approx(their_mean, rel=1e-4)


def means(runs: list[tuple[list[float], float, int]]) -> tuple[float, float, float]:
    """Drops, mean queue, mean of the samples."""
    n = len(runs)
    return sum(r[2] for r in runs) / n, sum(r[1] for r in runs) / n, sum(sum(r[0]) / len(r[0]) for r in runs) / n


# Gains large enough to settle within a second or two; the class defaults take minutes on such a load.
LAWS = {
    "pi": '{{ pi = {{ preset = "ns2", limit = "200p", target = "{target}p", a = {a!r}, b = {b!r} }} }}',
    "rem": '{{ rem = {{ preset = "ns2", limit = "200p", target = "{target}p", gamma = {gamma!r} }} }}',
}


@pytest.mark.parametrize("law", ["red", *LAWS])
@pytest.mark.parametrize("seed", range(3))
def test_in_force(law: str, seed: int, tmp_path: Path) -> None:
    """Random drops: number, mean queue, and the mean of the average queue or the probability."""
    draw = random.Random(f"{law}{seed}")
    if law == "red":
        queue, ours_of, theirs_of = red(draw, 10, 30, draw.uniform(0.002, 0.02)), "avg", "ave_"
    else:
        a = draw.uniform(1e-3, 2e-3)
        values = {"target": draw.randint(30, 80), "a": a, "b": a - draw.uniform(2e-5, 8e-5), "gamma": draw.uniform(0.02, 0.06)}
        queue, ours_of, theirs_of = LAWS[law].format(**values), "drop_prob", "prob_"
    text = scenario(queue, streams(draw, draw.uniform(1.05, 1.3)))
    seeds = range(1, 7)
    mine, other = ours(text, list(seeds), ours_of), [theirs(text, s, tmp_path, theirs_of) for s in seeds]
    assert means(other)[0] > 100
    assert means(mine) == pytest.approx(means(other), rel=0.03)


@pytest.mark.parametrize("seed", range(6))
def test_avq_without_chance(seed: int, tmp_path: Path) -> None:
    """AVQ draws nothing: the same number of packets is dropped, and the queue is the same at all times."""
    draw = random.Random(f"avq{seed}")
    in_bytes = seed % 2 == 0
    values = f'limit = "{draw.randint(20, 100)}p", gamma = {draw.uniform(0.85, 0.99)!r}, measure = "{"bytes" if in_bytes else "packets"}"'
    text = scenario(f'{{ avq = {{ preset = "ns2", {values} }} }}', streams(draw, draw.uniform(0.98, 1.3)))
    (_, mean, drops), (_, their_mean, their_drops) = ours(text, [1], "virtual_share")[0], theirs(text, 1, tmp_path, "curq_")
    assert their_drops > 50
    assert drops == their_drops
    assert mean == pytest.approx(their_mean, rel=1e-3)
