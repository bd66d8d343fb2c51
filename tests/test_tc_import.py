"""Commands of tc as input: what `fairlane tc` writes comes back as the same scenario, and lines of others as the kernel takes them."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

import fairlane as fl
from conftest import fairlane
from fairlane import _core
from fairlane.base.document import json_schema
from fairlane.base.scenario import resolve
from fairlane.errors import FairlaneError
from fairlane.linux import Imported, directions, export, import_tc, queue_text, scripts
from fairlane.linux import quantities as q
from fairlane.linux import tc_units as u
from fairlane.linux.disciplines import READERS
from fairlane.linux.kinds import WRITERS
from fairlane.linux.tc_tree import CLASSFUL
from fairlane.linux.words import WORDS
from test_tc import network
from test_tc_parameters import PARAMETERS, REGISTRY, TOGETHER, VALUES, others

NAMED = {
    "memory_limit": "memory", "min_th": "step", "k": "coupling", "hash": "hash", "gentle": "not gentle", "measure": "measure",
    "inv_sqrt": "1/sqrt", "mtu": "MTU", "limit": "limit", "refuse": "refus", "drop_batch": "packets leave", "mean_packet": "typical packet",
    "buckets": "hashed", "quantum": "turns", "count": "in packets", "w_q": "powers of two", "alpha": "alpha", "beta": "beta",
    "hard_drop": "hard", "interval": "microseconds", "range": "ramp", "penalty_rate": "penalty", "penalty_burst": "penalty",
}  # fmt: skip
"""How notes name a parameter other than by its key."""
WITHOUT_EFFECT = {
    ("sfb", "warmup"): "it precedes a rehash, and there is none",
    **{(queue, "target_delay"): "min is worked out from it" for queue in ("red", "ared", "choke")},
    **{(queue, "averaging"): "the weight is worked out from it" for queue in ("red", "ared")},
    ("dualpi2", "rtt_max"): "tupdate, alpha and beta are worked out from it",
}
"""Parameters that other words have, or that nothing has to name."""


def round_trip(queue: Any, **link: Any) -> tuple[list[str], list[str], Any, list[str]]:
    """Commands of a queue, their notes, the queue that they become, and the commands of that one."""
    (one,) = export(network(queue, **link), "x")
    text = "\n".join([*one.commands, *(f"# note: {n}" for n in one.notes)])
    (made,) = directions(text)[0].values()
    assert made.rate == link.get("rate", "10Mbit/s")
    (two,) = export(network(made.queue, **link), "x")
    return one.commands, [*one.notes, *one.missing, *made.notes], made.queue, two.commands


def resolved(queue: Any) -> dict[str, Any]:
    (values,) = network(queue).resolve()["links"]["x"]["queue"].values()
    return values


def same(a: Any, b: Any, mean: int) -> bool:
    """Equal values, in any unit; classes by their queues, the last of them with what no other takes."""
    if isinstance(a, str) and isinstance(b, str):
        for kind in ("s", "bit/s"):
            try:
                return q.number(a, kind) == q.number(b, kind)
            except ValueError:
                pass
        try:
            return q.length(a, mean) == q.length(b, mean)
        except ValueError:
            return a == b
    if isinstance(a, float):
        return b is not None and abs(a - b) <= 5e-7 + 1e-4 * abs(a)
    return bool(a == b)


def lost(name: str, before: dict[str, Any], after: dict[str, Any], notes: list[str]) -> list[str]:
    """Parameters that changed on the way through the kernel's words and that nothing names."""
    mean = q.size(before.get("mean_packet") or "1500B")
    before = dict(before)
    # 37 packets "under" a limit are 36 that fit; whole packets fit or the queue is full.
    if any("admit" in n for n in notes):
        pass
    elif before.get("admit") == "under":
        n = q.packets(before["limit"])
        before |= {"admit": "fits", "limit": f"{n - 1}p" if n else f"{q.size(before['limit']) - 1}B"}
    elif before.get("admit") == "not_full" and q.packets(before["limit"]):
        before["admit"] = "fits"
    out = []
    for key, value in before.items():
        if key in ("classes", "levels", "queue") or value is None or same(value, after.get(key), mean):
            continue
        words = (key, NAMED.get(key, key))
        if not any(w in n for n in notes for w in words) and (name, key) not in WITHOUT_EFFECT:
            out.append(f"{key}: {value} -> {after.get(key)}")
    return out


def test_every_queue_that_is_exported_is_read():
    written = set()
    for name in WRITERS:
        commands, *_ = round_trip({name: {}})
        written |= {w for c in commands for w in c.split() if w in {*READERS, *CLASSFUL}}
    assert {*READERS, *CLASSFUL} - written == {"netem", "bfifo"}


@pytest.mark.parametrize("name", WRITERS)
def test_out_and_in_again_is_the_same_scenario(name):
    for values in ({}, *({"preset": p["name"]} for p in json.loads(_core.presets()) if p["algorithm"] == name and p["name"] == "linux")):
        commands, notes, queue, again = round_trip({name: values})
        assert next(iter(queue)) == name
        assert lost(name, resolved({name: values}), resolved(queue), notes) == []
        # The kernel gets the same commands; only what it limits by itself is written out.
        assert [c.replace(" memory_limit 33554432", "") for c in again] == [c.replace(" memory_limit 33554432", "") for c in commands]
        assert resolved(round_trip(queue)[2]) == resolved(queue)


@pytest.mark.parametrize(("name", "key"), PARAMETERS)
def test_each_parameter_comes_back_or_is_named(name, key):
    base = TOGETHER.get((name, key), {})
    for value in VALUES.get((name, key)) or others(REGISTRY[name][key]):
        given = {name: {**base, key: value}}
        try:
            network(given).resolve()
        except fl.ScenarioError:
            continue
        if (name, key) == ("wrr", "queue"):
            continue  # wrr without classes is not exported
        commands, notes, queue, again = round_trip(given)
        assert lost(name, resolved(given), resolved(queue), notes) == []
        clean = [[re.sub(r" memory_limit 33554432", "", c) for c in cs] for cs in (commands, again)]
        if (name, key) != ("tbf", "limit"):  # of tbf with a queue below it, the kernel's own limit has no effect
            assert clean[0] == clean[1], value
        assert resolved(round_trip(queue)[2]) == resolved(queue)


# --- what others write --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # tc(8), section UNITS: bps are bytes, a bare number is in bits, mbit is 10^6 and mibit 2^20.
        ("1mbit", "1Mbit/s"), ("1mbps", "8Mbit/s"), ("8000", "8kbit/s"), ("1MiBit", "1048576bit/s"), ("100Kbit", "100kbit/s"),
        ("2.5gbit", "2500Mbit/s"), ("1kbps", "8kbit/s"),
    ],
)  # fmt: skip
def test_rates_of_tc(text, expected):
    assert u.rate(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1600", 1600), ("15k", 15360), ("15kb", 15360), ("1m", 1 << 20), ("10kbit", 1280), ("5Kb/8", 5120), ("32Mb", 32 << 20)],
)
def test_sizes_of_tc(text, expected):
    """Here k is 1024, and mbit 2^20 bits."""
    assert u.size(text) == expected


def test_times_and_shares_of_tc():
    assert u.seconds("250") == Fraction(250, 10**6) and u.seconds("250", fine=True) == Fraction(250, 10**9)
    assert u.seconds("1.5sec") == Fraction(3, 2) and u.seconds("20msecs") == Fraction(1, 50)
    assert u.percent("1%") == u.percent("1") == 0.01 and u.share("0.02") == 0.02
    for bad in ("10 mbit", "mbit", "-5", "1e99mbit", "5x", "", "10%", "٣mbit"):
        with pytest.raises(u.TcError, match=r"no rate|share of the device|too large"):
            u.rate(bad)


LINES = [
    ("cake bandwidth 20mbit besteffort", {"cake": {"preset": "linux", "bandwidth": "20Mbit/s", "tins": "besteffort", "overhead": "14B"}}),
    # tc-cake(8): docsis is "overhead 18 mpu 64 noatm", pppoe-ptm "ptm overhead 30"; overhead counts from the IP packet.
    ("cake docsis", {"cake": {"preset": "linux", "bandwidth": "off", "framing": "none", "overhead": "18B", "mpu": "64B"}}),
    ("cake pppoe-ptm ether-vlan", {"cake": {"preset": "linux", "bandwidth": "off", "framing": "ptm", "overhead": "34B"}}),
    ("cake ingress wash ack-filter-aggressive diffserv8",
     {"cake": {"preset": "linux", "bandwidth": "off", "ingress": True, "wash": True, "ack_filter": "aggressive", "tins": "diffserv8",
               "overhead": "14B"}}),
    ("cake overhead -20", {"cake": {"preset": "linux", "bandwidth": "off", "overhead": "0B", "uncounted": "20B"}}),
    ("cake metro", {"cake": {"preset": "linux", "bandwidth": "off", "rtt": "10ms", "overhead": "14B"}}),
    ("fq_codel limit 100 noecn", {"fq_codel": {"preset": "linux", "limit": "100p", "ecn": False}}),
    ("pie limit 90 alpha 2 beta 20", {"pie": {"preset": "linux", "limit": "90p", "alpha": 0.125, "beta": 1.25, "start": "30p"}}),
    ("pfifo", {"droptail": {"limit": "1000p"}}),
    ("bfifo limit 10k", {"droptail": {"limit": "10240B"}}),
    ("pfifo_head_drop limit 7", {"headdrop": {"limit": "7p"}}),
    # tc-tbf(8): limit = rate * latency + burst.
    ("tbf rate 8mbit burst 10k latency 50ms", {"tbf": {"rate": "8Mbit/s", "burst": "10240B", "queue": {"droptail": {"limit": "60240B"}}}}),
    ("tbf rate 8mbit buffer 1540 limit 3000", {"tbf": {"rate": "8Mbit/s", "burst": "1540B", "queue": {"droptail": {"limit": "3000B"}}}}),
    ("sfb", {"sfb": {"preset": "linux", "limit": "1000p", "penalty_rate": "120kbit/s", "penalty_burst": "30000B"}}),
    ("prio", None),
    ("tc qdisc replace dev eth0 root handle 1: codel", {"codel": {"preset": "linux"}}),
    ("tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 10k limit 9k; tc qdisc add dev eth0 parent 1:1 codel target 7ms",
     {"tbf": {"rate": "8Mbit/s", "burst": "10240B", "queue": {"codel": {"preset": "linux", "target": "7ms"}}}}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_lines_become_queues_of_the_kernel(line, expected):
    queue, _ = queue_text(line)
    if expected is not None:
        assert queue == expected
    network(queue).resolve()


def test_red_takes_the_defaults_and_the_weight_of_tc():
    """tc-red(8), the example: avpkt 1000, burst (2 min + max) / (3 avpkt) = 50 packets."""
    queue, notes = queue_text("red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10Mbit probability 0.1")
    # tc_red_eval_ewma: the largest w = 1/2, 1/4... with 56 - 30 <= (1 - (1 - w)^55) / w.
    log = next(n for n in range(1, 32) if (1 - (1 - 0.5**n) ** 55) * 2**n >= 26)
    assert queue["red"]["w_q"] == 0.5**log
    assert (queue["red"]["hard_drop"], queue["red"]["gentle"], queue["red"]["ecn"], queue["red"]["max_p"]) == (False, False, True, 0.1)
    assert any("bandwidth 10Mbit/s is not used" in n for n in notes) and any("14 bytes" in n for n in notes)
    shorter, _ = queue_text("red limit 400000 min 30000 avpkt 1000 harddrop ecn")
    assert (shorter["red"]["max"], shorter["red"]["max_p"], shorter["red"]["hard_drop"]) == ("90000B", 0.02, True)


def test_prio_without_filters_is_the_preset_of_linux():
    """The default priomap and the kernel's ip_tos2prio: the preset has it as matches of code points."""
    assert resolved(queue_text("prio")[0])["classes"] == resolved({"prio": {"preset": "linux"}})["classes"]
    queue, _ = queue_text(
        "tc qdisc add dev e root handle 1: prio; tc qdisc add dev e parent 1:1 handle 10: fq_codel; "
        "tc filter add dev e parent 1: protocol ip prio 1 u32 match ip protocol 17 0xff flowid 1:1; "
        "tc filter add dev e parent 1: protocol ip prio 2 u32 match ip dsfield 0xb8 0xfc flowid 1:1"
    )
    first = queue["prio"]["classes"][0]
    assert first["match"][:2] == ["udp", "dscp:46"] and next(iter(first["queue"])) == "fq_codel"


def test_ets_has_strict_bands_before_those_that_share():
    text = "tc qdisc add dev e root handle 1: ets strict 1 quanta 3000 1500; " + "; ".join(
        f"tc filter add dev e parent 1: protocol ip prio {i} u32 match ip dsfield {dscp * 4:#x} 0xfc flowid 1:{i}"
        for i, dscp in ((1, 46), (2, 34))
    )
    queue, _ = queue_text(text)
    strict, fair = queue["prio"]["classes"]
    assert strict["match"] == "dscp:46"
    assert [(c["match"], c["weight"]) for c in fair["queue"]["wrr"]["classes"]] == [("dscp:34", 2), ("any", 1)]


SHOWN = """qdisc noqueue 0: dev lo root refcnt 2
qdisc htb 1: dev wan0 root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 1234 bytes 12 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc fq_codel 10: dev wan0 parent 1:1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64
  maxpacket 1514 drop_overlimit 0 new_flow_count 3 ecn_mark 0
class htb 1:1 root leaf 10: prio 0 rate 20Mbit ceil 25Mbit burst 1600b cburst 1600b
qdisc cake 8001: dev lan0 root refcnt 2 bandwidth 50Mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0
qdisc sfq 8002: dev lan1 root refcnt 2 limit 127p quantum 1514b depth 127 divisor 1024 perturb 10sec
qdisc tbf 8003: dev lan2 root refcnt 2 rate 8Mbit burst 10Kb lat 50ms
qdisc red 8004: dev lan3 root refcnt 2 limit 400000b min 30000b max 90000b ecn harddrop ewma 5 probability 0.1 Scell_log 11
qdisc netem 8005: dev lan4 root refcnt 2 limit 1000 delay 100ms  10ms loss 1% rate 5Mbit
qdisc sfb 8006: dev lan5 root refcnt 2 rehash 600s db 60s limit 1000p max 25p target 20p increment 0.00050 decrement 0.00005 penalty_rate 10pps penalty_burst 20p
qdisc pie 8007: dev lan6 root refcnt 2 limit 1000p target 15ms tupdate 15ms alpha 2 beta 20
qdisc prio 8008: dev lan7 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
"""  # noqa: E501


def test_what_tc_shows_is_read():
    out, _, _ = directions(SHOWN, "shown")
    assert list(out) == ["wan0", *(["lan0"] + [f"lan{i}" for i in range(1, 8)])]
    assert out["wan0"].rate == "25Mbit/s" and resolved(out["wan0"].queue) == resolved({"fq_codel": {"preset": "linux"}})
    assert out["lan0"].queue["cake"]["overhead"] == "14B" and out["lan0"].queue["cake"]["bandwidth"] == "50Mbit/s"
    assert resolved(out["lan1"].queue) == resolved({"sfq": {"preset": "linux", "perturb": "10s"}})
    assert out["lan2"].queue == queue_text("tbf rate 8mbit burst 10k latency 50ms")[0]
    assert out["lan3"].queue["red"]["w_q"] == 0.5**5 and any("avpkt" in n for n in out["lan3"].notes)
    line = out["lan4"].line
    assert (out["lan4"].rate, line.delay, line.loss, line.jitter["width"]) == ("5Mbit/s", Fraction(1, 10), 0.01, "10ms")
    assert resolved(out["lan5"].queue) == resolved(queue_text("sfb")[0])
    assert resolved(out["lan7"].queue) == resolved(queue_text("prio")[0])


# --- delay lines --------------------------------------------------------------------------------------

IMPAIRED = [
    {"delay": "20ms"},
    {"jitter": "3ms"},
    {"jitter": {"width": "3ms", "distribution": "normal"}},
    {"loss": 0.0125},
    {"loss": {"gilbert_elliott": {"p": 0.01, "r": 0.25, "good": 0.001, "bad": 0.5}}},
    {"duplicate": 0.02},
    {"reorder": {"share": 0.1, "delay": "5ms"}},
    {"reorder": {"share": 0.1, "delay": "5ms"}, "loss": 0.01, "jitter": "2ms"},
    {"jitter": {"width": "3ms", "distribution": "pareto_normal", "correlation": 0.25}},
    {"jitter": {"width": "3ms", "distribution": "pareto"}, "reorder": {"share": 0.3, "delay": "5ms", "ahead": True, "gap": 4}},
    {"reorder": {"share": 0.3, "delay": "5ms", "ahead": True, "correlation": 0.5}},
    {"loss": {"share": 0.02, "correlation": 0.25}},
    {"loss": {"four_states": {"p13": 0.02, "p31": 0.4, "p32": 0.1, "p23": 0.3, "p14": 0.01}}},
    {"corrupt": 0.01},
    {"corrupt": {"share": 0.01, "correlation": 0.25}},
    {"slot": {"min": "4ms", "max": "6ms", "packets": 20}},
    {"slot": {"min": "4ms", "bytes": "3000B"}},
    {"slot": {"delay": "5ms", "jitter": "1ms", "distribution": "pareto_normal", "packets": 20, "bytes": "3000B"}},
]


@pytest.mark.parametrize("link", IMPAIRED, ids=lambda x: " ".join(x))
def test_delay_and_impairments_come_back(link):
    net = fl.Network(duration="1s").link("a", "b", name="x", **{"rate": "10Mbit/s", "delay": "20ms", **link}).flow("f", "a", "b", tcp={})
    (one,) = export(net, "x")
    _, into, _ = directions("\n".join(one.far_end), "far")
    (arrives,) = into.values()
    back = fl.Network(duration="1s").link("a", "b", name="x", rate="10Mbit/s", **arrives.line.settings()).flow("f", "a", "b", tcp={})
    keys = ("delay", "jitter", "loss", "duplicate", "reorder", "corrupt", "slot")
    before, after = (n.resolve()["links"]["x"] for n in (net, back))
    assert [before.get(k) for k in keys] == [after.get(k) for k in keys]


UNIFORM = {"width": "0s", "distribution": "uniform", "keep_order": False}


@pytest.mark.parametrize(
    ("words", "expected", "named"),
    [
        # tc-netem(8): a bare number is nanoseconds to the parser, a percentage may lack its sign; words may be shortened.
        ("delay 100ms 10ms 25%", {"delay": "100ms", "jitter": {**UNIFORM, "width": "10ms", "correlation": 0.25}}, ""),
        ("del 1000000", {"delay": "1ms"}, ""),
        ("loss random 0.3% 25%", {"delay": "0s", "loss": {"share": 0.003, "correlation": 0.25}}, ""),
        ("loss gemodel 1%", {"delay": "0s", "loss": {"gilbert_elliott": {"p": 0.01, "r": 0.99, "good": 0.0, "bad": 1.0}}}, ""),
        ("loss state 2 40%", {"delay": "0s", "loss": {"gilbert_elliott": {"p": 0.02, "r": 0.4, "good": 0.0, "bad": 1.0}}}, ""),
        ("delay 10ms reorder 25%", {"delay": "0s", "reorder": {"share": 0.75, "delay": "10ms"}}, ""),
        ("delay 10ms reorder 25% 50%",
         {"delay": "0s", "reorder": {"share": 0.25, "delay": "10ms", "ahead": True, "correlation": 0.5}}, ""),
        # tc-netem(8): "gap 5" lets every fifth packet go at once.
        ("gap 5 delay 10ms", {"delay": "0s", "reorder": {"share": 1.0, "delay": "10ms", "ahead": True, "gap": 5}}, ""),
        ("delay 9ms 3ms distribution pareto", {"delay": "9ms", "jitter": {**UNIFORM, "width": "3ms", "distribution": "pareto"}}, ""),
        ("delay 9ms 3ms distribution experimental",
         {"delay": "9ms", "jitter": {**UNIFORM, "width": "3ms", "distribution": "normal"}}, "distribution 'experimental'"),
        ("corrupt 0.1% slot 800us 1ms packets 32",
         {"delay": "0s", "corrupt": 0.001, "slot": {"min": "800us", "max": "1ms", "packets": 32}}, "corrupted packet"),
        # get_slot_next of sch_netem: the slots have a distribution of their own.
        ("slot distribution normal 5ms 1ms packets 3",
         {"delay": "0s", "slot": {"delay": "5ms", "jitter": "1ms", "distribution": "normal", "packets": 3}}, ""),
        ("slot distribution uniform 5ms 1ms", {"delay": "0s", "slot": {"delay": "5ms", "jitter": "1ms", "distribution": "uniform"}}, ""),
        ("slot distribution lab 5ms 1ms",
         {"delay": "0s", "slot": {"delay": "5ms", "jitter": "1ms", "distribution": "normal"}}, "slot distribution 'lab'"),
        ("slot 4ms bytes 6k", {"delay": "0s", "slot": {"min": "4ms", "bytes": "6144B"}}, "slot bytes"),
        ("loss state 2% 40% 10% 30% 1%",
         {"delay": "0s", "loss": {"four_states": {"p13": 0.02, "p31": 0.4, "p32": 0.1, "p23": 0.3, "p14": 0.01}}}, ""),
        ("duplicate 1% 50%", {"delay": "0s", "duplicate": 0.01}, "correlation of duplicate"),
        ("duplicate 1% ecn gap 5", {"delay": "0s", "duplicate": 0.01}, "gap"),
    ],
)  # fmt: skip
def test_lines_of_netem(words, expected, named):
    (made,) = directions(f"tc qdisc add dev e root netem {words}")[0].values()
    assert made.line.settings() == expected
    assert any(named in n for n in [*made.notes, *made.line.notes]) if named else not [n for n in made.notes if "netem:" in n]


# --- scripts, files, options --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "queue", [{"red": {"ecn": True}}, {"drr": {}}, {"cake": {"bandwidth": "4Mbit/s"}}, {"wred": {}}, {"prio": {}}], ids=str
)
def test_scripts_of_ours_are_read_as_their_commands(queue):
    net = network(queue, reverse={"rate": "30Mbit/s", "queue": "fq_codel"})
    (script,) = scripts(net, "x")
    out, _, _ = directions(script.text(), "router.sh")
    (up,), (down,) = export(net, "x"), export(net, "x.reverse")
    for name, one in (("eth0", up), ("eth1", down)):
        (made,) = directions("\n".join([*one.commands, *(f"# note: {n}" for n in one.notes)]))[0].values()
        assert (out[name].queue, out[name].rate) == (made.queue, made.rate)
    # The laboratory: each machine delays what arrives.
    for script in scripts(net, emulate=True):
        out, into, _ = directions(script.text(), "machine.sh")
        assert [d.line.settings() for d in into.values()] == [{"delay": "20ms"}] and len(out) == 1


def test_a_queue_may_be_a_line_of_tc_everywhere(tmp_path):
    text = (
        'duration = "2s"\n[links.x]\nfrom = "a"\nto = "b"\nrate = "10Mbit/s"\ndelay = "5ms"\nqueue = "tc: codel limit 90 target 7ms"\n'
        'reverse = { queue.tbf = { queue = "tc: pfifo limit 5" } }\n[flows.f]\nfrom = "a"\nto = "b"\ntcp = "reno"\n'
        '[[at]]\ntime = "1s"\nset = { "links.x.queue" = "tc: fq_codel nat" }\n'
    )
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(fl.ScenarioError, match=r"fq_codel has no word 'nat'(?s:.*)x.toml:15:"):
        resolve(file)
    file.write_text(text.replace("fq_codel nat", "cake bandwidth 5mbit nat"))
    found = resolve(file)
    assert found["links"]["x"]["queue"]["codel"]["target"] == "7ms"
    assert found["links"]["x"]["reverse"]["queue"]["tbf"]["queue"] == {"droptail": {"limit": "5p", "admit": "fits"}}
    assert [w for w in found["warnings"] if "nat" in w] == ["tc: cake: nat is not modelled: addresses are not translated here"]
    assert resolve(file, {"links.x.queue": "tc: pfifo"})["links"]["x"]["queue"] == {"droptail": {"limit": "1000p", "admit": "fits"}}
    done = fairlane("run", str(file), "--set", "links.x.queue=tc: sfq perturb 10", "--quiet")
    assert done.returncode == 0, done.stderr
    done = fairlane("run", str(file), "--set", "links.x.queue=tc: sfq perturbe 10")
    assert done.returncode == 2 and "did you mean perturb?" in done.stderr and "Traceback" not in done.stderr
    # A study and a comparison have the same reader.
    study = tmp_path / "s.toml"
    study.write_text(
        'name = "s"\nseeds = "1..2"\nmetrics = ["network.goodput"]\nscenario = "x.toml"\n[factors]\n'
        '"links.x.queue" = ["tc: pfifo limit 20", "tc: fq_codel", "red"]\n'
    )
    assert fairlane("study", str(study), "--dry-run").returncode == 0
    done = fairlane("compare", "--scenario", str(file), "--queues", "tc: pfifo limit 30,red", "--json")
    assert done.returncode == 0 and "tc: pfifo limit 30" in done.stdout, done.stderr


def test_the_command_prints_or_writes_a_scenario(tmp_path):
    (tmp_path / "r.tc").write_text("tc qdisc add dev eth0 root netem delay 20ms corrupt 1% slot 2ms ecn\n")
    done = fairlane("import", "tc", "r.tc", "-o", "r.toml", cwd=tmp_path)
    assert done.returncode == 0 and "note: netem: ecn is not modelled" in done.stdout, done.stderr
    assert fairlane("run", "r.toml", "--quiet", "--set", "duration=6s", cwd=tmp_path).returncode == 0
    assert "exists" in fairlane("import", "tc", "r.tc", "-o", "r.toml", cwd=tmp_path).stderr
    document = json.loads(fairlane("import", "tc", "r.tc", "--json", "--rate", "50Mbit/s", cwd=tmp_path).stdout)
    jsonschema.validate(document, json_schema("import"))
    assert document["scenario"]["links"]["eth0"]["rate"] == "50Mbit/s"
    assert isinstance(import_tc((tmp_path / "r.tc").read_text()), Imported)


WRONG = [
    ("tc qdisc add dev eth0 root fq_codle", r"<tc>:1: 'fq_codle' is not modelled"),
    ("\ntc qdisc add dev eth0 root fq_codel limt 9", r"<tc>:2: fq_codel has no word 'limt'\n  = help: did you mean limit"),
    ("tc qdisc add dev eth0 root fq", r"it paces the flows of an end host"),
    ("tc qdisc add root fq_codel", r"a command without `dev`"),
    ("tc qdisc add dev e root tbf rate 5mbit", r"tbf needs rate and burst"),
    ("tc qdisc add dev e root red limit 5000", r"red needs limit and avpkt"),
    ("tc qdisc add dev e root handle 1: htb\n" + "".join(f"tc class add dev e parent 1: classid 1:{i} htb rate 5mbit\n" for i in (1, 2)),
     r"htb with 2 classes is not modelled"),
    ("tc qdisc add dev e root handle 1: prio\ntc qdisc add dev e parent 1:1 netem delay 5ms", r"the delay of one class is not modelled"),
    ("tc qdisc add dev e root handle 1: netem delay 1ms\ntc qdisc add dev e parent 1:1 handle 1: netem delay 1ms", r"nested more than"),
    ("echo hello", r"has no commands of tc"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=lambda x: x[:40])
def test_what_cannot_be_read_is_one_error_with_its_line(text, message):
    with pytest.raises(FairlaneError, match=message):
        import_tc(text)


def test_every_word_is_written_or_read_by_one_table():
    """Each word of a table has a form, a value or a note; those of a writer are among them."""
    for kind, words in WORDS.items():
        names = [w.word for w in words]
        assert len(names) == len(set(names)), kind
    for name in ("codel", "pie", "fq_codel", "fq_pie", "choke", "sfb", "sfq", "tbf", "cake", "dualpi2"):
        for command in export(network({name: {}}), "x", queue_only=True)[0].commands:
            rest = command.split(f" {name} ", 1)[-1].split() if f" {name} " in command else []
            known = {w.word for w in WORDS[name]}
            assert all(w in known for w in rest if re.fullmatch(r"[a-z][a-z_-]*", w)), command


def test_damaged_commands_are_read_or_refused():
    """Fixed seeds: words lost, doubled, exchanged; a scenario or one error."""
    lines = [c for name in WRITERS for c in export(network({name: {}}), "x")[0].commands] + SHOWN.splitlines()
    for seed in range(300):
        rnd = random.Random(seed)
        text = rnd.sample(lines, k=rnd.randrange(1, 6))
        for _ in range(rnd.randrange(1, 5)):
            i = rnd.randrange(len(text))
            words = text[i].split()
            at = rnd.randrange(len(words))
            words[at : at + rnd.randrange(3)] = rnd.choice(
                ([], ["1:"], ["root"], ["-1"], ["9" * 30], ["$x"], ["parent", "1:1"], ['"'], ["10%"])
            )
            text[i] = " ".join(words) or "tc"
        try:
            import_tc("\n".join(text))
        except FairlaneError as e:
            assert len(str(e)) < 2000 and "Traceback" not in str(e)
