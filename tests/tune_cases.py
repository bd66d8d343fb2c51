"""Small searches whose answers are known, for tests of `fairlane tune`."""

from __future__ import annotations

from pathlib import Path

import pytest

# A Poisson stream of fixed packets on one link: M/D/1 with a finite buffer.
POISSON = """
duration = "40s"
warmup = "1s"
links.l = { from = "a", to = "b", rate = "1Mbit/s", delay = "1ms" }
[flows.p]
from = "a"
to = "b"
udp = { header = "0B" }
source.poisson = { rate = "800kbit/s", size = "125B" }
"""

BUFFER = """
scenario = "poisson.toml"
seeds = "1..2"
holdout_seeds = "11..14"
trials = 24
[objectives]
"links.l.queue_max" = "min"
[constraints]
"links.l.loss" = "<= 1%"
[search]
droptail.limit = { from = "2p", to = "200p", scale = "log" }
[baselines]
small = "droptail{limit=3p}"
large = "droptail{limit=100p}"
"""

# A thin stream and a greedy TCP flow: only a tree keeps its delay low.
STREAM = """
duration = "4s"
warmup = "1s"
links.l = { from = "a", to = "b", rate = "2Mbit/s", delay = "10ms" }
[flows.tcp]
from = "a"
to = "b"
tcp = "newreno"
[flows.call]
from = "a"
to = "b"
udp = {}
source.cbr = { rate = "200kbit/s", size = "200B", jitter = 0.5 }
"""

TREE = """
scenario = "stream.toml"
seeds = "1..2"
holdout_seeds = [11, 12, 13]
trials = 20
[objectives]
late = { metric = "flows.call.delay_p99", goal = "min", good = "10ms", bad = "100ms" }
"flows.tcp.goodput" = { goal = "max", good = "1.8Mbit/s", bad = "0bit/s" }
[search]
droptail.limit = { from = "5p", to = "100p", scale = "log" }
red = "auto"
calls_last = "prio{classes=[{match=tcp, queue.droptail.limit={from=5p, to=50p}}, {match=udp}]}"
[search.calls_first.prio]
classes = [{ match = "udp" }, { match = "tcp", queue = { choices = [{ codel = {} }, { droptail.limit = { from = "5p", to = "50p" } }] } }]
[baselines]
"one buffer" = "droptail{limit=50p}"
[[training_scenarios]]
name = "alone"
[[training_scenarios]]
name = "two"
set.flows.tcp.count = 2
[[holdout]]
name = "three"
set.flows.tcp.count = 3
"""


@pytest.fixture
def where(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("poisson.toml", POISSON), ("buffer.toml", BUFFER), ("stream.toml", STREAM), ("tree.toml", TREE)):
        (tmp_path / name).write_text(text)
    return tmp_path
