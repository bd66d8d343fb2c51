"""Output of commands at 60, 80 and 120 columns: no line is longer, no number is lost, and ± stays with its numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

import fairlane as fl
from conftest import ROOT, fairlane
from fairlane.cli.output import printed, render
from tune_cases import BUFFER, POISSON

WIDTHS = (60, 80, 120)
NETWORK = fl.Network(duration="1s", warmup="200ms", name="a name that is long enough to be broken between its words somewhere")
NETWORK.dumbbell(pairs=12, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "10Mbit/s", "delay": "5ms", "queue": "red"})
NETWORK.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=11)
NETWORK.flow("a-stream-with-a-long-name", "s11", "d11", udp={}, source={"cbr": {"rate": "2Mbit/s", "size": "500B", "jitter": 0.5}})


def run(_: Path) -> Callable[[], str]:
    from fairlane.runs.terminal import run_report

    result = NETWORK.run(seeds="1..3")
    return lambda: render(*run_report(result, 1.0), *run_report(result, 1.0, each=True))


def compare(_: Path) -> Callable[[], str]:
    from fairlane.comparison.terminal import report

    done = fl.compare(NETWORK, queues="red,fq_codel{target=10ms,interval=200ms},droptail{limit=30p}", seeds="1..2")
    return lambda: render(*report(done))


def study(place: Path) -> Callable[[], str]:
    from fairlane.study.terminal import report

    factors = {"topology.dumbbell.bottleneck.queue": ["red", "droptail"], "flows.tcp.tcp": ["sack", "cubic"]}
    metrics = [
        "flows.tcp.goodput.sum",
        "flows.tcp.delay_p95",
        "network.jain",
        "links.bottleneck.utilisation",
        "links.bottleneck.queue_mean",
    ]
    result = fl.Study(NETWORK, factors=factors, seeds="1..2", metrics=metrics, name="narrow").run(place / "study")
    return lambda: render(*report(result, result.save()))


def tune(place: Path) -> Callable[[], str]:
    from fairlane.tuning.terminal import report

    (place / "poisson.toml").write_text(POISSON.replace('"40s"', '"4s"'))
    (place / "buffer.toml").write_text(BUFFER.replace("trials = 24", "trials = 12"))
    result = fl.Tuning.from_file(place / "buffer.toml").run(place / "tuned")
    return lambda: render(*report(result))


def reproduce(place: Path) -> Callable[[], str]:
    done = fl.reproduce(ROOT / "examples" / "papers" / "mathis1997", quick=True, out=place / "paper")
    return lambda: printed(done.print)


def explain(_: Path) -> Callable[[], str]:
    from fairlane.base.reference import explain
    from fairlane.cli.explain import show

    return lambda: render(*(part for name in ("red", "goodput", "links.bottleneck.queue") for e in explain(name) for part in show(e)))


def bench(_: Path) -> Callable[[], str]:
    from fairlane.bench.terminal import growth_heads, growth_row, queue_heads, queue_row, scenario_heads, scenario_row
    from fairlane.cli.output import line_width

    s = {
        "scenario": "P1",
        "packet_hops": 12345678,
        "events": 23456789,
        "cpu_s": 1.5,
        "ns_per_packet_hop": 123.4,
        "setup_s": 0.01,
        "peak_rss_mib": 99.9,
    }
    q = {"queue": "fq_codel", "ns": 123.4, "drops": 1234567, "hop_ns": 99.9, "hop_ratio": 1.23}

    g = {"case": "congestion_signal", "sizes": ["120Mbit/s", "1200Mbit/s", "10000 flows"], "ns": [123.4, 1234.5, 12345.6], "ratio": 100.04}

    def text() -> str:
        w = line_width()
        lines = [scenario_heads(w), scenario_row(s, w), queue_heads(w), queue_row(q, w), growth_heads(w), growth_row(g, w)]
        return "\n".join(lines)

    return text


@pytest.mark.parametrize("command", [run, compare, study, tune, reproduce, explain, bench], ids=lambda c: c.__name__)
def test_nothing_is_cut_and_nothing_lost(command, tmp_path, monkeypatch):
    write = command(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    wide = write()
    wanted = re.findall(
        r"-?\d+(?:\.\d+)?(?: ± \d+(?:\.\d+)?)?(?: [A-Za-zµ%]+(?:/s)?)?",
        "\n".join(x for x in wide.splitlines() if "±" in x or "→" in x or command is bench),
    )
    assert wanted or command is explain
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        found = write()
        lines = [x for x in found.splitlines() if not x.startswith("Page: ")]  # a path is copied whole
        assert max(map(cell_len, lines)) <= width
        assert not [x for x in lines if x.rstrip().endswith("±") or x.lstrip().startswith("±")]
        flat = " ".join(found.split())
        assert [n for n in wanted if "±" in n and n not in flat] == []
        words, there = sorted(set(re.findall(r"[\w.%±/]+", wide))), set(re.findall(r"[\w.%±/]+", found))
        broken = [w for w in words if w not in there and w not in "".join(found.split())]
        assert broken == []


def test_columns_count_in_a_pipe(dumbbell):
    lines = [
        subprocess.run(
            [sys.executable, "-m", "fairlane", "run", dumbbell.name, "--seeds", "1..3"],
            capture_output=True, text=True, check=True, cwd=dumbbell.parent, env={**os.environ, **columns},
        ).stdout.splitlines()
        for columns in ({"COLUMNS": "60"}, {"COLUMNS": "100"})
    ]  # fmt: skip
    assert max(map(len, lines[0])) <= 60 < max(map(len, lines[1])) <= 100


def test_each_flow_on_request(dumbbell):
    few = fairlane("run", dumbbell.name, cwd=dumbbell.parent).stdout
    assert "tcp.0" in few and "group" not in few
    many = (
        dumbbell.read_text()
        .replace("pairs = 3", "pairs = 13")
        .replace("count = 2", "count = 12")
        .replace('"s2"', '"s12"')
        .replace('"d2"', '"d12"')
    )
    (dumbbell.parent / "many.toml").write_text(many)
    groups = fairlane("run", "many.toml", cwd=dumbbell.parent).stdout
    assert "tcp.0" not in groups and "--flows" in groups and re.search(r"^tcp +12 ", groups, re.M)
    each = fairlane("run", "many.toml", "--flows", cwd=dumbbell.parent).stdout
    assert "tcp.0" in each and "tcp.11" in each
