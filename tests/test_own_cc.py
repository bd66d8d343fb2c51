"""User-defined congestion controls: the same AIMD in Python, Rust and C is Reno to the last packet; faults have clear errors."""

from __future__ import annotations

import copy
import json
import math
import re
import subprocess
from collections import deque
from pathlib import Path
from typing import ClassVar

import pytest

import fairlane as fl
from conftest import ROOT, rust_binary
from conftest import started as fairlane
from fairlane import tcp
from fairlane.own import plugin

FOLDER = ROOT / "examples" / "own_cc"
SCENARIO = FOLDER / "scenario.toml"


class Additive(fl.CongestionControl):
    """Additive increase by a, multiplicative decrease by b."""

    a = fl.Parameter(1.0, "Segments a round trip.", min=0)
    b = fl.Parameter(0.5, "Share that a loss takes.", min=0, max=1)

    def start(self):
        if self.a == self.b == 0:
            raise ValueError("a window that never changes")

    def on_ack(self, sample):
        if not self.unused(sample):
            left = self.slow_start(sample)
            self.cwnd += self.a * left * self.mss / self.cwnd

    def on_congestion(self, event):
        self.cut(event, (1 - self.b) * self.basis(event))


def network(cc: object, **more: object) -> fl.Network:
    net = fl.Network(duration="5s", sample="100ms")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": {"droptail": {"limit": "20p"}}},
    )
    return net.flow("f", "s{i}", "d{i}", count=2, tcp={"cc": cc, **more})


def fingerprint(scenario: Path, *options: str) -> str:
    done = fairlane("run", str(scenario), "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["fingerprints"][0]


def guide() -> set[str]:
    text = (ROOT / "docs" / "guides" / "own-congestion-control.md").read_text("utf-8")
    return set(re.findall(r"\| `([0-9a-f]{16})` \|", text))


# One algorithm, four ways.


def test_python_c_and_built_in_give_one_fingerprint(tmp_path, compiled):
    text = SCENARIO.read_text("utf-8")
    (tmp_path / "built_in.toml").write_text(text.replace("cc.AIMD = { a = 1.0, b = 0.5 }", 'cc = "reno", recovery = "sack"'), "utf-8")
    python = fingerprint(SCENARIO, "--plugin", str(FOLDER / "cc.py"))
    c = fingerprint(SCENARIO, "--plugin", str(compiled(FOLDER / "aimd.c", "aimd")))
    assert {python, c, fingerprint(tmp_path / "built_in.toml")} == guide()


def test_rust():
    done = subprocess.run([rust_binary("own-cc"), str(SCENARIO)], capture_output=True, text=True, cwd=ROOT, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert {re.search(r"fingerprint ([0-9a-f]{16})", done.stdout)[1]} == guide()


# ns-3 cuts growth to whole segments, which is the built-in algorithm's own way to count.
@pytest.mark.parametrize(
    "more", [{}, {"preset": "ns2", "window": None}, {"preset": "ns3", "growth_unit": "fraction"}, {"recovery": "newreno", "mss": "536B"}]
)
def test_presets_and_recovery_hold_for_ones_own(more):
    built_in = {"recovery": "sack"} | more
    own = network("Additive", **built_in).run(seeds="1..2")
    assert own.fingerprints == network("reno", **built_in).run(seeds="1..2").fingerprints


def test_class_table_and_name_mean_the_same():
    runs = [network(c).run(seeds=[1]).fingerprints for c in (Additive, "additive", Additive.spec(), {"Additive": {"a": 1.0}})]
    assert runs[0] == runs[1] == runs[2] == runs[3] != network(Additive.spec(a=2.0)).run(seeds=[1]).fingerprints


# Floyd, Handley and Padhye, "A Comparison of Equation-Based and AIMD Congestion Control" (2000): T = sqrt(a (2 - b) / (2 b p)) segments a
# round trip, from a window that swings between (1 - b) W and W with one loss each time.


class EveryNth(fl.Qdisc):
    """Drops every n-th packet with data."""

    n = fl.Parameter(1000, "Packets per drop.")

    def start(self):
        self.waiting, self.seen = deque(), 0

    def enqueue(self, packet):
        self.seen += packet.data
        if packet.data and self.seen % self.n == 0:
            self.drop(packet)
        else:
            self.waiting.append(packet)

    def dequeue(self):
        return self.waiting.popleft() if self.waiting else None


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.5), (0.2, 0.125), (1.0, 0.25)])
def test_throughput_follows_the_formula_of_floyd_handley_and_padhye_2000(a, b):
    n = 5000
    expected = math.sqrt(a * (2 - b) / (2 * b / n))
    net = fl.Network(duration="22s", warmup="4s")
    bottleneck = {"rate": "1Gbit/s", "delay": "8ms", "queue": EveryNth.spec(n=n)}
    net.dumbbell(pairs=1, access={"rate": "10Gbit/s", "delay": "1ms"}, bottleneck=bottleneck)
    # It starts where it will swing about: a gentle algorithm would take long to get there.
    tcp = {"cc": Additive.spec(a=a, b=b), "ack_every": 1, "receive_window": None, "initial_ssthresh": f"{round(expected)}p"}
    net.flow("f", "s0", "d0", tcp=tcp)
    segments = net.run(seeds=[1]).value("goodput", flow="f").mean / (8 * 1460) * 0.02
    # A round trip of each swing goes by in recovery, without growth.
    assert segments == pytest.approx(expected, rel=0.04)


# Errors.


@pytest.mark.parametrize(
    ("cc", "words"),
    [
        ({"Additive": {"a": -1.0}}, "allowed is 0"),
        ({"Additive": {"aa": 1.0}}, "unknown key `aa`"),
        ({"Additive": {"a": 0.0, "b": 0.0}}, "a window that never changes"),
        ("Addditive", "Additive"),
    ],
)
def test_bad_parameters_are_scenario_errors(cc, words):
    with pytest.raises(fl.ScenarioError, match=words.replace("`", ".")):
        network(cc).run(seeds=[1])


def broken(body: str) -> type:
    """A copy of Additive whose fiftieth acknowledgment does something else."""
    space: dict[str, object] = {"Additive": Additive, "math": math}
    exec(
        "class Broken(Additive):\n    '''Fails.'''\n    seen = 0\n    def on_ack(self, sample):\n"
        f"        super().on_ack(sample)\n        self.seen += 1\n        if self.seen == 50:\n            {body}\n",
        space,
    )
    return space["Broken"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise KeyError('lost')", "KeyError: 'lost'"),
        ("self.cwnd = self.mss - 1", "less than a segment of 1460 bytes"),
        ("self.cwnd = math.nan", "self.cwnd is NaN"),
        ("self.cwnd = math.inf", "not a number of bytes"),
        ("self.cwnd = 'wide'", "TypeError"),
        ("self.ssthresh = -1", "self.ssthresh is -1"),
        ("del self.cwnd", "cwnd"),
    ],
)
def test_faults_end_the_run_with_flow_and_time(body, words):
    broken(body)
    with pytest.raises(fl.PluginError, match=words) as e:
        network("Broken").run(seeds=[1, 2])
    text = str(e.value)
    assert "congestion control `Broken` of flow `f." in text and "a plug-in congestion control failed at" in text
    assert 0 < e.value.time < 2
    assert "fairlane/own/" not in text


def test_a_traceback_leads_through_helpers_to_the_users_line():
    class Wrong(Additive):
        """Cuts by a word."""

        def on_congestion(self, event):
            self.cut(event, "half")

    with pytest.raises(fl.PluginError) as e:
        network("Wrong").run(seeds=[1])
    assert 'self.cut(event, "half")' in str(e.value) and "fairlane/own/" not in str(e.value)


def test_names_of_built_in_algorithms_are_taken_and_choices_are_checked():
    with pytest.raises(plugin.PluginLoadError, match="choose another name"):
        type("Reno", (Additive,), {"__doc__": "Another Reno."})
    with pytest.raises(plugin.PluginLoadError, match="recovery"):
        type("Guess", (Additive,), {"__doc__": "No such recovery.", "recovery": "guess"})


# What an algorithm may ask for.


def test_rate_samples_pacing_sending_and_random_numbers():
    class Paced(fl.CongestionControl):
        """A fixed rate."""

        wants_rate = True
        pacing = True
        seen: ClassVar[list[float]] = []
        sent: ClassVar[list[int]] = []

        def on_established(self, now, window):
            self.cwnd = 100 * self.mss

        def on_ack(self, sample):
            if sample.rate is not None and sample.rate.rate > 0:
                self.seen.append(sample.rate.rate)
            self.random()

        def on_sent(self, now, bytes, in_flight):
            self.sent.append(bytes)

        def on_congestion(self, event):
            pass

        def pacing_rate(self):
            return 2e6

    first = network("Paced").run(seeds=[1])
    # Two flows at 2 Mbit/s of payload each, and the path has room.
    assert first.value("goodput", flow="f.0").mean == pytest.approx(2e6, rel=0.03)
    assert sorted(Paced.seen)[len(Paced.seen) // 2] == pytest.approx(2e6, rel=0.05)
    assert sum(Paced.sent) == pytest.approx(2 * 2e6 / 8 * 5, rel=0.03)
    assert network("Paced").run(seeds=[1]).fingerprints == first.fingerprints


def test_an_endpoint_without_a_network():
    a, b = tcp.Endpoint({"cc": Additive.spec(a=2.0)}), tcp.Endpoint("Additive", passive=True)
    b.start(0.0)
    (syn,) = a.start(0.0)
    a.receive(0.01, b.receive(0.01, syn)[0])
    assert a.write(0.02, 100_000) and a.view()["cwnd"] == 14_600
    with pytest.raises(fl.ScenarioError, match="known: a, b"):
        tcp.Endpoint({"cc": {"Additive": {"c": 1.0}}})


def test_copies_have_the_same_future():
    class Kept(Additive):
        """Can be looked at after the run."""

        made: ClassVar[list[fl.CongestionControl]] = []

        def start(self):
            self.made.append(self)

    network("Kept").run(seeds=[1])
    cc = Kept.made[-1]
    twin = copy.deepcopy(cc)
    assert [cc.random() for _ in range(5)] == [twin.random() for _ in range(5)]
    kept, twin.cwnd = cc.cwnd, 5.0
    assert cc.cwnd == kept != 5.0


# Shared libraries.


TABLE = """
#include "fairlane_cc.h"
static void established(void *s, uint64_t now, uint64_t window) { (void)now; *(uint64_t *)s = window; }
static void ack(void *s, const struct fairlane_cc_ack *a) { (void)s; (void)a; %(ack)s }
static void congestion(void *s, const struct fairlane_cc_event *e) { (void)s; (void)e; }
static uint64_t cwnd(const void *s) { return *(const uint64_t *)s; }
static const struct fairlane_cc table = {.version = FAIRLANE_CC_VERSION, .size = sizeof(struct fairlane_cc), .name = "cbase",
    .state_size = 8, .on_established = established, .on_ack = ack, .on_congestion = congestion, .cwnd = cwnd, %(more)s};
const struct fairlane_cc *fairlane_cc_get(uint32_t index) {
    (void)established; (void)ack; (void)congestion; (void)cwnd;
    return index == 0 ? &table : NULL;
}
"""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (".version = 7", "version 7 of fairlane_cc.h, this fairlane needs version 1"),
        (".size = 40", "its size is 40"),
        (".name = NULL", "has no name"),
        (".cwnd = NULL, .on_ack = NULL", "no on_ack, no cwnd"),
        (".state_size = 0", "state_size is 0"),
        ('.recovery = "guess"', 'unknown recovery "guess"'),
        (".flags = 1024", "unknown to version 1: 0x400"),
        (".param_count = 3", "param_count is 3"),
        ('.name = "two words"', "is not a name"),
        ('.name = "cubic"', "choose another name"),
    ],
)
def test_tables_that_break_the_rules_are_refused(compiled, more, words):
    # A later initialiser of a field counts.
    source = '#pragma GCC diagnostic ignored "-Woverride-init"\n' + TABLE % {"more": more, "ack": ""}
    with pytest.raises(plugin.PluginLoadError, match=words):
        fl.load_cc(compiled(source, "bad"))


def test_files_that_are_no_libraries(tmp_path, compiled):
    with pytest.raises(plugin.PluginLoadError, match=r"plug-in file .*not found"):
        fl.load_cc(tmp_path / "none.so")
    (tmp_path / "text.so").write_text("not a library")
    with pytest.raises(plugin.PluginLoadError, match="cannot load the shared library"):
        fl.load_cc(tmp_path / "text.so")
    with pytest.raises(plugin.PluginLoadError, match="fairlane_cc_get"):
        fl.load_cc(compiled("int nothing;", "nothing"))
    done = fairlane("run", str(SCENARIO), "--plugin", str(tmp_path / "none.so"))
    assert (done.returncode, done.stdout) == (2, "") and "none.so" in done.stderr


def test_a_window_below_a_segment_in_c_ends_the_run(compiled):
    source = TABLE % {"more": ".doc = NULL", "ack": "*(uint64_t *)s = 12;"}
    assert fl.load_cc(compiled(source, "small")) == ["cbase"]
    with pytest.raises(fl.PluginError, match=r"`cbase` of flow `f\.[01]`: cwnd.. is 12 after on_ack") as e:
        network("cbase").run(seeds=[1])
    assert 0 < e.value.time < 1


def test_state_is_copied_and_given_back(compiled):
    # A state that holds memory of its own; every live one is counted, and a copy without `clone` would give the same memory back twice.
    source = """
#include <stdlib.h>
#include "fairlane_cc.h"
static const char *init(void *s, const struct fairlane_cc_config *c, const double *p) {
    (void)c; (void)p; *(uint64_t **)s = malloc(8); **(uint64_t **)s = 1460; return NULL; }
static void copy(void *to, const void *from) { *(uint64_t **)to = malloc(8); **(uint64_t **)to = **(uint64_t *const *)from; }
static void give_back(void *s) { free(*(uint64_t **)s); }
static void established(void *s, uint64_t now, uint64_t window) { (void)now; **(uint64_t **)s = window; }
static void ack(void *s, const struct fairlane_cc_ack *a) { **(uint64_t **)s += a->acked / 10; }
static void congestion(void *s, const struct fairlane_cc_event *e) { (void)e; **(uint64_t **)s = 14600; }
static uint64_t cwnd(const void *s) { return **(uint64_t *const *)s; }
static const struct fairlane_cc table = {.version = FAIRLANE_CC_VERSION, .size = sizeof(struct fairlane_cc), .name = "holds",
    .state_size = sizeof(void *), .init = init, .clone = copy, .free = give_back, .on_established = established, .on_ack = ack,
    .on_congestion = congestion, .cwnd = cwnd};
const struct fairlane_cc *fairlane_cc_get(uint32_t index) { return index == 0 ? &table : NULL; }
"""
    fl.load_cc(compiled(source, "holds"))
    runs = network("holds").run(seeds="1..3")
    assert runs.fingerprints == network("holds").run(seeds="1..3").fingerprints
    assert runs.value("utilisation", link="bottleneck").mean > 0.3


# The command line.


def test_command_line_explains_and_misses(compiled):
    own = ("--plugin", str(FOLDER / "cc.py"))
    output = fairlane("explain", "AIMD", *own).stdout
    assert "Share of the window that a loss takes." in output and "cc" in output
    assert "AIMD" in json.dumps(json.loads(fairlane("explain", "--json", *own).stdout))
    library = ("--plugin", str(compiled(FOLDER / "aimd.c", "aimd")))
    assert "Share of the window that a loss takes." in fairlane("explain", "AIMD.b", *library).stdout
    done = fairlane("run", str(SCENARIO))
    assert done.returncode == 2 and "AIMD" in done.stderr
