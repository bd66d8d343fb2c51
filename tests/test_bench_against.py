"""`fairlane bench --against`: the peer does the same work, and one line names what is missing or wrong."""

from __future__ import annotations

import json
import os
import shutil

import jsonschema
import pytest

from conftest import fairlane
from fairlane.base.document import json_schema


def test_ns2_transmits_as_many_packets():
    """On P1 the bottleneck is full, so both simulators carry what it carries: within a percent."""
    if shutil.which("ns") is None:
        pytest.skip("ns-2 is not installed")
    done = fairlane("bench", "--against", "ns2", "--repeat", "2", "--json")
    assert done.returncode == 0, done.stderr
    doc = json.loads(done.stdout)
    jsonschema.validate(doc, json_schema("bench-against"))
    (row,) = doc["results"]
    assert row["scenario"] == "P1" and row["simulated_s"] == 60
    assert row["peer_packet_hops"] == pytest.approx(row["packet_hops"], rel=0.01)
    ratios = sorted(p["ratio"] for p in row["pairs"])
    assert (row["ratio_low"], row["ratio_high"]) == (ratios[0], ratios[-1]) and len(ratios) == 2
    assert row["ratio"] == pytest.approx(sum(ratios) / 2)


def test_htsim_transmits_as_many_packets():
    """Queues of a fat-tree with a permutation are full in places only, so what is carried depends on TCP: within a half."""
    if not os.environ.get("FAIRLANE_HTSIM"):
        pytest.skip("csg-htsim is not there")
    done = fairlane("bench", "--against", "htsim", "--repeat", "1", "--json")
    assert done.returncode == 0, done.stderr
    doc = json.loads(done.stdout)
    jsonschema.validate(doc, json_schema("bench-against"))
    (row,) = doc["results"]
    assert row["scenario"] == "P5" and row["peer_packet_hops"] == pytest.approx(row["packet_hops"], rel=0.5)


def test_each_peer_has_its_scenarios():
    from fairlane.bench.simulators import PEERS, scenarios
    from fairlane.errors import FairlaneError

    with pytest.raises(FairlaneError, match="use P5 or P6 or P7"):
        scenarios(PEERS["htsim"], ["P1"])
    assert list(scenarios(PEERS["ns3"], [])) == ["P1"] and list(scenarios(PEERS["htsim"], ["p7"])) == ["P7"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--against", "htsim"], "htsim comes as sources"),
        (["--against", "ns2", "P5"], "P5 cannot run in ns-2"),
        (["--against", "ns2", "P99"], "P99"),
        (["--against", "ns4"], "ns4"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, expected, monkeypatch):
    monkeypatch.delenv("FAIRLANE_HTSIM", raising=False)
    done = fairlane("bench", *arguments)
    assert done.returncode == 2 and expected in done.stderr and done.stdout == ""


def test_a_peer_that_is_not_there_or_fails_is_told(tmp_path, monkeypatch):
    everything = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path))
    nothing = fairlane("bench", "--against", "ns2")
    assert nothing.returncode == 2 and "apt-get install ns2" in nothing.stderr and "Traceback" not in nothing.stderr
    compiler = fairlane("bench", "--against", "ns3")
    assert compiler.returncode == 2 and "no C++ compiler" in compiler.stderr
    broken = tmp_path / "ns"
    broken.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{everything}")
    done = fairlane("bench", "--against", "ns2")
    assert done.returncode == 2 and "ns-2 failed: no such package" in done.stderr and "Traceback" not in done.stderr
    for expected in ("0", "1", "99999999"):
        broken.write_text(f"#!/bin/sh\necho {expected}\n")
        done = fairlane("bench", "--against", "ns2")
        assert done.returncode == 2 and "the workloads differ" in done.stderr and "Traceback" not in done.stderr


def test_lines_are_as_long_as_the_terminal_is_wide(monkeypatch, capsys):
    """The measurements are made up."""
    from fairlane.bench import simulators
    from fairlane.cli import bench

    row = {"scenario": "P1", "simulated_s": 60, "ours_ns": 46.7, "peer_ns": 270.7, "ratio": 5.8, "ratio_low": 5.7, "ratio_high": 6.0}
    monkeypatch.setattr(simulators, "run_against", lambda *_, report, **__: report(row) or {"results": [row]})
    monkeypatch.setenv("COLUMNS", "60")
    bench._bench_against("ns2", ("P1",), False, 3)
    shown = capsys.readouterr().out
    assert "5.8" in shown and "60 s simulated" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 60
