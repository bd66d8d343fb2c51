"""One run on several threads: the partition is reported, and results do not depend on it; `crates/scenario/tests/parallel.rs` has more."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fairlane as fl
from conftest import shown_on
from fairlane.base.cores import available_threads
from fairlane.cli import invoke
from fairlane.runs.partition import Part, Partition


def dumbbell(duration: str = "20s") -> fl.Network:
    """Four flows through a bottleneck of 20 ms; some 600,000 events."""
    net = fl.Network(duration=duration, warmup="1s")
    net.dumbbell(
        pairs=4,
        access={"rate": "1Gbit/s", "delay": "1ms"},
        bottleneck={"rate": "100Mbit/s", "delay": "20ms", "queue": {"droptail": {"limit": "200p"}}},
    )
    net.flow("f", "s{i}", "d{i}", count=4, stagger="50ms", tcp="sack")
    return net


def test_threads_change_nothing() -> None:
    net = dumbbell()
    assert net.partition().whole is None, "else nothing would be compared here"
    one, two = net.run(threads=1), net.run(threads=2)
    assert one.fingerprints == two.fingerprints
    for table in ("flows", "links", "network"):
        assert getattr(one, table).equals(getattr(two, table), null_equal=True), table
    assert one.info[0]["packet_hops"] == two.info[0]["packet_hops"]


def test_more_threads_than_seeds_go_into_the_runs() -> None:
    net = dumbbell("12s")
    assert net.run("1..2", threads=1).fingerprints == net.run("1..2", threads=4).fingerprints


def test_fewer_threads_have_fewer_parts() -> None:
    fabric = fl.Network.from_file(Path(fl.__file__).parent / "scenarios" / "P5.toml")
    parts = fabric.partition().parts
    two = fabric.partition(threads=2).parts
    assert len(parts) > len(two) == 2
    for part in parts:
        assert [set(part.nodes) <= set(bundle.nodes) for bundle in two].count(True) == 1
    with pytest.raises(fl.FairlaneError, match="2 or more"):
        fabric.partition(threads=1)


def test_a_partition_is_told() -> None:
    cut = dumbbell().partition()
    assert cut.links == ("bottleneck", "bottleneck.reverse")
    assert cut.window == pytest.approx(0.02)
    assert sorted(len(p.nodes) for p in cut.parts) == [5, 5]
    assert sum(p.load for p in cut.parts) == pytest.approx(1)
    assert {n for p in cut.parts for n in p.nodes} >= {"s0", "s3", "d0", "d3"}
    assert "2 parts" in str(cut)
    assert "windows of 20 ms" in str(cut)
    assert str(cut).endswith("runs on several threads")
    shown = cut._repr_html_()
    assert all(words in shown for words in ("<h4>2 parts, windows of 20 ms", "5 nodes (", "runs on several threads"))
    assert "&lt;b&gt;" in Partition((), (), None, 0.0, 0.0, "<b>")._repr_html_()
    assert max(map(len, str(cut).splitlines())) <= 80
    wide = Partition(
        (Part(tuple(f"a-node-with-a-name-{i}" for i in range(9)), 1.0),), ("one-link", "another-link") * 9, 1e-6, 865.0, 0.3, None
    )
    assert max(map(len, str(wide).splitlines())) <= 80


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"sample": "10ms"}, "time series are recorded"),
        ({"duration": "1s", "warmup": "0s"}, "the run is too short for threads to pay"),
        ({"routing": "ecmp_packets"}, "routes change, or packets of a flow take several"),
    ],
)
def test_why_a_run_stays_whole(change: dict[str, str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.toml"
    file.write_text(dumbbell().to_toml(), "utf-8")
    sets = [x for key, value in change.items() for x in ("--set", f"{key}={value}")]
    assert invoke(["run", str(file), *sets, "--partition", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["whole"] == why
    assert invoke(["run", str(file), *sets, "--partition"]) == 0
    assert why in capsys.readouterr().out


def test_the_guide_says_which_queues_can_be_cut() -> None:
    """A dumbbell falls into parts at its bottleneck of 20 ms, if the queue there lets it, else at access links of 1 ms."""
    plain, others = ("droptail", "red", "pie", "blue"), ("codel", "fq_codel", "sfq", "drr", "cake", "tbf", "policer", "htb", "prio")
    for queue in (*plain, *others):
        net = dumbbell("60s")
        net.set("topology.dumbbell.bottleneck.queue", queue)
        window = net.partition().window
        assert (window == pytest.approx(0.02)) == (queue in plain), (queue, window)


def test_a_terminal_hears_why_more_threads_do_not_help(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    file = tmp_path / "net.toml"
    file.write_text(dumbbell("2s").to_toml(), "utf-8")
    command = [sys.executable, "-m", "fairlane", "run", str(file), "--threads", "2"]
    for options, why in (
        ([], "the run is too short for threads to pay" if available_threads() > 1 else "there is one core"),
        (["--why"], "events, packets or limits are recorded" if available_threads() > 1 else "there is one core"),
        (["--quiet"], None),
        (["--json"], None),
    ):
        main, side = pty.openpty()
        with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=side):
            os.close(side)
            output = shown_on(main).decode()
        assert re.findall(r"note: the run uses one thread: ([^\r\n]*)", output) == ([] if why is None else [why]), (options, output)
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
