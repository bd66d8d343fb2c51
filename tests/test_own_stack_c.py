"""Transport stacks in shared libraries (`fairlane_stack.h`): the example in C in a network, and broken rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fairlane as fl
from conftest import ROOT
from conftest import started as fairlane
from fairlane.own.plugin import PluginLoadError

SOURCE = ROOT / "examples/stacks/window.c"
SCENARIO = """
duration = "5s"
[links.line]
from = "a"
to = "b"
rate = "10Mbit/s"
delay = "20ms"
[flows.own]
from = "a"
to = "b"
stack.window = { packets = 20 }
"""


@pytest.fixture(scope="module")
def window(compiled):
    library = compiled(SOURCE, "window")
    assert fl.load_stack(library) == ["window"]
    return library


def net(**params: object) -> fl.Network:
    net = fl.Network(duration="5s", warmup="1s").link("a", "b", name="line", rate="10Mbit/s", delay="20ms")
    return net.flow("own", "a", "b", stack={"window": params})


def value(result: fl.Result, metric: str, **of: str) -> float:
    return result.value(metric, **of).mean or 0.0


def test_a_fixed_window_sends_a_window_each_round_trip(window):
    """The model of the example is exact: 20 packets of 1200 bytes in (40 ms + one packet and its acknowledgment on the wire)."""
    result = net(packets=20).run(seeds=[1])
    round_trip = 0.04 + (1200 + 5 + 28 + 5 + 28) * 8 / 10e6
    assert value(result, "goodput", flow="own") == pytest.approx(20 * 1200 * 8 / round_trip, rel=0.01)
    assert value(result, "rtt_mean", flow="own") == pytest.approx(round_trip, rel=0.02)
    assert value(result, "retransmits", flow="own") == 0
    assert result.flows["transport"][0] == "window"


def test_losses_are_sent_again_and_a_file_ends(window):
    lossy = net(timeout=0.1).replace("links.line.loss", 0.02).replace("flows.own.source", {"file": {"size": "1MB"}})
    result = lossy.run(seeds=[1, 2])
    assert all(result.flows["completion_time"] > 0.8)
    assert value(result, "retransmits", flow="own") > 5
    assert result.fingerprints == lossy.run(seeds=[1, 2]).fingerprints
    assert result.fingerprints[0] != result.fingerprints[1]


def test_parameters_are_checked_and_runs_have_no_branch(window):
    with pytest.raises(fl.ScenarioError, match="thirteen packets are unlucky"):
        net(packets=13).run(seeds=[1])
    with pytest.raises(fl.ScenarioError, match="300"):
        net(packets=300).run(seeds=[1])
    with pytest.raises(fl.ScenarioError, match="pakets"):
        net(pakets=3).run(seeds=[1])
    simulation = net().start()
    simulation.advance("1s")
    with pytest.raises(fl.ArgumentError, match="a stack cannot be copied"):
        simulation.branch()


def test_the_command_loads_a_library(window, tmp_path):
    (tmp_path / "x.toml").write_text(SCENARIO)
    done = fairlane("run", "x.toml", "--plugin", str(window), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = fairlane("run", "x.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert 'unknown stack "window"' in done.stderr


def test_a_datagram_on_its_way_takes_its_own_bytes(window, tmp_path):
    """One that was dropped stays for a while: 1,000 of them are 1.2 MB, and were 65 MB with the room that a stack is given."""
    lossy = (
        SCENARIO.replace('delay = "20ms"', 'delay = "10ms"\nloss = 0.05')
        .replace("10Mbit", "100Mbit")
        .replace("packets = 20", "packets = 200, timeout = 0.1")
    )
    (tmp_path / "x.toml").write_text(lossy.replace('"5s"', '"20s"'))
    program = (
        "import fairlane as fl; from fairlane.bench.benchmarks import memory_kib; fl.load_stack(sys.argv[1]); "
        "fl.Network.from_file('x.toml').run(seed=1); print(memory_kib('VmHWM'))"
    )
    words = [sys.executable, "-W", "ignore", "-c", f"import sys; {program}", str(window)]
    peak = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert int(peak) < 100 * 1024


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("FAIRLANE_STACK_VERSION, .size", "7, .size", "it uses version 7 of fairlane_stack.h"),
        (".name = \"window\"", ".name = \"\"", "it has no name"),
        (".timeout = timeout,", "", "`window` has no timeout: these are required"),
        (".name = \"window\"", ".name = \"quinn\"", "`quinn` is built in: choose another name"),
        ("fairlane_stack_get", "fairlane_stack_got", "fairlane_stack_get: see fairlane_stack.h"),
    ],
)  # fmt: skip
def test_a_broken_table_is_refused(compiled, old, new, message):
    text = '#pragma GCC diagnostic ignored "-Wunused-function"\n' + SOURCE.read_text("utf-8").replace(old, new)
    declared = "#include <stdint.h>\nconst struct fairlane_stack *fairlane_stack_got(uint32_t index);\n"
    text = text.replace('#include "fairlane_stack.h"\n', '#include "fairlane_stack.h"\n' + declared) if "got" in new else text
    with pytest.raises(PluginLoadError) as e:
        fl.load_stack(compiled(text, "broken"))
    assert message in str(e.value)
