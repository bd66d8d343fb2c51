"""`fairlane tc`: the commands are tc's, their numbers are the scenario's, and missing features of Linux are reported."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from fractions import Fraction
from itertools import pairwise

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlane as fl
from conftest import fairlane
from fairlane import _core
from fairlane.base.document import json_schema
from fairlane.base.reference import impairments, presets
from fairlane.linux import document, export, netem, scripts
from fairlane.linux import quantities as q
from fairlane.linux.kinds import ABSENT, WRITERS
from fairlane.linux.plan import Link, Plan
from test_cli_errors import check

QUEUES = [e["name"] for e in json.loads(_core.registry()) if e["kind"] == "queue"]
DIALECTS = [(p["algorithm"], p["name"]) for p in presets() if p["kind"] == "queue"]


def network(queue: object = "droptail", rate: str = "10Mbit/s", **link: object) -> fl.Network:
    net = fl.Network(duration="1s").link("a", "b", name="x", rate=rate, delay="20ms", queue=queue, **link)
    return net.flow("web", "a", "b", tcp="newreno").flow("voice", "a", "b", udp={}, source={"cbr": {"rate": "1Mbit/s"}})


def lines(queue: object, **options: object) -> list[str]:
    (one,) = export(network(queue, **options), "x", queue_only=True)
    return one.commands


def words(line: str) -> dict[str, str]:
    """The options of a command by name."""
    parts = line.split()
    return dict(pairwise(parts))


def test_what_is_said_of_queues_is_said_once_and_of_queues_that_there_are():
    assert not set(WRITERS) & set(ABSENT)
    assert set(WRITERS) | set(ABSENT) <= set(QUEUES)


def test_a_queue_that_nobody_has_described_is_said_to_be_absent(monkeypatch):
    monkeypatch.delitem(ABSENT, "blue")
    (link,) = export(network({"blue": {}}), "x")
    assert (link.supported, link.commands) == (False, [])
    assert any("blue is not in Linux: no equivalent is known" in n for n in link.notes)


def defaults_run(name: str) -> bool:
    try:
        network(name).resolve()
    except fl.ScenarioError:
        return False
    return True


def have_tc() -> bool:
    if shutil.which("tc") is None or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0


# What the kernel of this machine may not have is no mistake of ours; everything else tc says is.
FINE = re.compile(
    r"Specified qdisc kind is unknown|NLM_F_CREATE|TC classifier not found|We have an error talking to the kernel"
    r"|Failed to find specified qdisc|Parent Qdisc doesn't exists|RTNETLINK answers: No such file or directory"  # below one that is unknown
    r"|Unknown qdisc \"dualpi2\""  # iproute2 before 6.17
    r"|(?:RED|CHOKE): WARNING. Burst \d+ seems to be too large"  # a weight of 2^-10 or less
)


def refused(commands: list[str]) -> list[str]:
    """Returns tc's output for commands, run in a network namespace of their own."""
    script = "ip link set lo up\n" + "\n".join(commands)
    done = subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    return [line for line in (done.stderr + done.stdout).splitlines() if line.strip() and not FINE.search(line)]


@pytest.mark.skipif(not have_tc(), reason="needs tc and a network namespace")
@pytest.mark.parametrize("name", [n for n in QUEUES if n in WRITERS])
def test_tc_understands_the_commands(name):
    values = [{}, *({"preset": p} for a, p in DIALECTS if a == name)] if defaults_run(name) else []
    for value in values:
        for only in (True, False):
            (one,) = export(network({name: value}), "x", dev="lo", queue_only=only)
            assert refused(one.commands) == []
            assert refused([c.replace("ifb0", "lo") for c in one.far_end if "netem" in c]) == []


@pytest.mark.skipif(not have_tc(), reason="needs tc and a network namespace")
def test_tc_is_heard():
    assert refused(["tc qdisc add dev lo root red limit 1000 minimum 5"])


@pytest.mark.skipif(not have_tc(), reason="needs tc and a network namespace")
@pytest.mark.parametrize("low", [3, 5, 17, 60, 200])
def test_tc_finds_the_weight_from_the_burst(low):
    # tc warns from 2^-10 on, which shows what it takes: our longest burst for 2^-9 passes silently, one more packet does not.
    longest = q.burst_below(low, 9)
    for burst, warned in ((longest, False), (longest + 1, True)):
        options = f"limit 9000000 min {1000 * low} max {3000 * low} avpkt 1000 burst {burst} bandwidth 10mbit probability 0.1"
        done = subprocess.run(
            ["unshare", "-n", "tc", *f"qdisc add dev lo root red {options}".split()], capture_output=True, text=True, check=False
        )
        assert ("too large" in done.stderr) == warned, done.stderr


def test_red_in_bytes_and_powers_of_two():
    red = {"limit": "100p", "min": "10p", "max": "30p", "max_p": 0.02, "w_q": 0.002, "mean_packet": "500B", "gentle": False, "ecn": True}
    (line,) = lines({"red": red})
    got = words(line)
    assert (got["limit"], got["min"], got["max"], got["avpkt"]) == ("50000", "5000", "15000", "500")
    assert (got["probability"], got["bandwidth"]) == ("0.02", "10mbit")
    assert "ecn" in line.split() and "adaptive" not in line.split()
    (line,) = lines({"ared": {}})
    assert line.endswith("adaptive")


@pytest.mark.parametrize(
    ("red", "hard"),
    [
        # sch_red drops above max with harddrop, and marks without (tc-red(8)).
        ({"gentle": False, "hard_drop": True}, True),
        ({"gentle": False, "hard_drop": False}, False),
        ({"gentle": True, "mark_p": 0.1}, True),
        ({"gentle": True, "mark_p": 0.1, "hard_drop": False}, False),
        ({"preset": "dctcp"}, False),
        ({"gentle": False, "ecn": False}, False),
    ],
)
def test_harddrop_is_what_the_scenario_has(red, hard):
    (line,) = lines({"red": {"ecn": True, **red}})
    assert ("harddrop" in line.split()) == hard
    assert ("ecn" in line.split()) == red.get("ecn", True)


def average_after(burst: int, w: float) -> float:
    """RED's average after so many arrivals at an empty queue that stays (Floyd and Jacobson 1993, section 4)."""
    average = 0.0
    for waiting in range(1, burst + 1):
        average += w * (waiting - average)
    return average


@given(st.floats(2.0, 200.0), st.integers(2, 14))
def test_the_burst_says_the_weight(low, log):
    burst = q.burst_below(low, log)
    if q.log_of_burst(low, burst) == log:
        # The arrival after such a burst may add one packet to the average (Floyd and Jacobson 1993, section 6, with the sum written out)...
        assert average_after(burst - 1, 0.5**log) + 1 <= low * (1 + 1e-9)
        # ...and with a weight twice as large that would pass the threshold, so tc does not take it.
        assert average_after(burst - 1, 0.5 ** (log - 1)) + 1 > low
    else:
        assert low < 3


def test_thresholds_below_a_packet():
    (one,) = export(network({"red": {"min": "0p", "max": "3p", "w_q": 0.5}}), "x", queue_only=True)
    assert words(one.commands[0])["min"] == "1000"
    assert any("min" in n and "1000" in n for n in one.notes)


def test_automatic_red_is_what_explain_says():
    # 10 Mbit/s are 1250 packets of 1000 bytes a second: half of 5 ms is 3.1 packets, so min is 5 and max three times that.
    got = words(lines("red")[0])
    assert (got["min"], got["max"]) == ("5000", "15000")
    # 100 Mbit/s: 31.25 packets.
    got = words(lines("red", rate="100Mbit/s")[0])
    assert (got["min"], got["max"]) == ("31250", "93750")


@pytest.mark.parametrize(
    ("queue", "line"),
    [
        ({"droptail": {"limit": "50p"}}, "pfifo limit 50"),
        ({"droptail": {"limit": "50p", "admit": "under"}}, "pfifo limit 49"),
        ({"droptail": {"limit": "64KiB"}}, "bfifo limit 65536"),
        ({"headdrop": {"limit": "7p"}}, "pfifo_head_drop limit 7"),
        ({"codel": {"limit": "99p", "target": "2500us", "ecn": True}}, "codel limit 99 target 2500us interval 100ms ecn"),
        ({"codel": {"ce_threshold": "1ms"}}, "codel limit 1000 target 5ms interval 100ms noecn ce_threshold 1ms"),
        # RFC 8033's 0.125 and 1.25 are tc's 2 and 20 (tc-pie(8), examples).
        ("pie", "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 nobytemode no_dq_rate_estimator noecn"),
    ],
)
def test_lines(queue, line):
    assert lines(queue) == [f"tc qdisc add dev eth0 root handle 10: stab overhead -14 linklayer ethernet {line}"]


def test_class_trees_have_parents_children_and_filters():
    tree = {
        "prio": {
            "classes": [
                {"match": ["tcp", "dscp:ef"], "queue": {"red": {"limit": "60p"}}},
                {"match": "flow:voice", "queue": {"sfq": {}}},
                {"match": "any", "queue": "droptail"},
            ]
        }
    }
    (one,) = export(network(tree), "x", queue_only=True)
    text = "\n".join(one.commands)
    assert one.commands[0].endswith("root handle 10: stab overhead -14 linklayer ethernet prio bands 3 priomap" + 16 * " 2")
    assert "parent 10:1 handle 20: red limit 60000" in text
    assert "parent 10:2 handle 30: sfq" in text
    assert "parent 10:3 handle 40: pfifo" in text
    assert "parent 10: protocol ip prio 1 u32 match ip protocol 6 0xff flowid 10:1" in text
    # EF is 46 (RFC 3246), which is 0xb8 with the two bits of ECN.
    assert "prio 2 u32 match ip dsfield 0xb8 0xfc flowid 10:1" in text
    assert "prio 3 handle 3 fw classid 10:2" in text
    assert any("voice" in n and "mark" in n for n in one.notes)
    # The last class takes the rest by the priomap and needs no filter.
    assert "flowid 10:3" not in text and "classid 10:3" not in text


def test_weights_become_quanta():
    classes = [{"match": "tcp", "weight": 1}, {"match": "udp", "weight": 4}]
    (line, *_) = lines({"wrr": {"classes": classes, "count": "bytes", "quantum": "1000B"}})
    assert "ets bands 2 quanta 1000 4000 priomap" in line
    (line, *_) = lines({"wrr": {"classes": classes}})
    assert "quanta 1500 6000" in line


def test_drr_by_classes_leaves_nobody_without_a_class():
    classes = [{"match": "tcp", "quantum": "3000B", "queue": "codel"}, {"match": "udp", "quantum": "1500B"}]
    text = "\n".join(lines({"drr": {"classes": classes}}))
    assert "classid 10:1 drr quantum 3000" in text and "classid 10:2 drr quantum 1500" in text
    assert "parent 10:1 handle 20: codel" in text
    # tc-drr(8): packets that no filter classifies are dropped.
    assert "protocol all prio 2 matchall classid 10:2" in text


def test_a_shaper_holds_its_queue():
    got = lines({"tbf": {"rate": "2Mbit/s", "burst": "3000B", "queue": "codel"}})
    assert words(got[0])["rate"] == "2mbit" and words(got[0])["burst"] == "3000"
    assert "parent 10:1 handle 20: codel" in got[1]


def test_the_gains_of_dualpi2_are_those_of_the_appendix():
    # RFC 9332 appendix A.1, lines 9 to 11 of Figure 2: 15 ms and 100 ms give 0.15 and 3.
    got = words(lines({"dualpi2": {"target": "15ms", "rtt_max": "100ms"}})[0])
    assert (float(got["alpha"]), float(got["beta"]), got["tupdate"]) == (0.15, 3.0, "15ms")
    assert got["classic_protection"] == "10%"


def test_precedences_share_an_average_and_profiles_add_theirs():
    got = lines("wred")
    assert "grio" in got[0] and {words(x)["prio"] for x in got[1:]} == {"1"}
    inside, outside = lines("rio")[1:]
    assert (words(inside)["prio"], words(outside)["prio"]) == ("1", "2")
    assert "grio" not in lines({"rio": {"coupling": "decoupled"}})[0]


def test_a_class_that_linux_lacks_is_named():
    (one,) = export(network({"prio": {"classes": [{"match": "tcp", "queue": "management"}, {"queue": "codel"}]}}), "x")
    assert not one.supported and one.missing == ["management"] and "codel" in "\n".join(one.commands)
    (script,) = scripts(network({"prio": {"classes": [{"match": "tcp", "queue": "management"}, {"queue": "codel"}]}}), "x")
    assert "Linux does not have management; the following commands are incomplete" in script.text()


def test_what_differs_is_noted_and_what_agrees_is_not():
    (own,) = export(network({"red": {"wait": True, "w_q": 0.001953125, "gentle": False, "measure": "bytes"}}), "x")
    text = "\n".join(own.notes)
    assert "red.wait is true here, false in the kernel" in text
    assert "gentle" not in text and "powers of two" not in text and "mean_packet" not in text
    (linux,) = export(network({"codel": {"preset": "linux"}}), "x")
    assert "sqrt" not in "\n".join(linux.notes)


def test_rate_and_delay_come_as_htb_and_netem():
    (one,) = export(network("codel", rate="2500kbit/s", loss=0.01), "x")
    assert one.commands[0] == "tc qdisc add dev eth0 root handle 1: stab overhead -14 linklayer ethernet htb default 1"
    assert words(one.commands[1])["rate"] == "2500kbit"
    assert "parent 1:1 handle 10: codel" in one.commands[2]
    assert "netem delay 20ms loss 1% limit 1000" in one.far_end[-1]
    (only,) = export(network("codel"), "x", queue_only=True)
    assert only.far_end == [] and "root handle 10: stab overhead -14 linklayer ethernet codel" in only.commands[0]


def far_end(**link):
    (one,) = export(network("codel", **link), "x")
    return one.far_end, "\n".join(one.notes)


def test_losses_in_bursts_come_as_gemodel():
    chain = {"p": 0.01, "r": 0.25, "bad": 0.9}
    far, notes = far_end(loss={"gilbert_elliott": chain})
    assert "netem delay 20ms loss gemodel 1% 25% 90% 0% limit 1000" in far[-1] and "loss" not in notes
    far, notes = far_end(loss={"every": 100})
    assert "loss" not in far[-1] and "loss.every is omitted" in notes


def test_jitter_and_reordering_come_as_netem_has_them():
    far, notes = far_end(jitter="5ms")
    assert "netem delay 20ms 5ms limit 1000" in far[-1]
    far, notes = far_end(jitter={"width": "2ms", "distribution": "normal", "keep_order": True})
    assert "netem delay 20ms 2ms distribution normal limit 1000" in far[-1] and "keep_order" in notes
    # One packet in a hundred is 5 ms late: the other 99 % are what netem calls reordered.
    far, notes = far_end(reorder={"share": 0.01, "delay": "5ms"})
    assert "root handle 1: netem delay 5ms reorder 99% limit" in far[-2]
    assert "parent 1:1 netem delay 20ms limit" in far[-1] and "not late" in notes


def test_the_other_words_of_netem():
    """tc-netem(8): `delay TIME JITTER CORRELATION`, `loss state P13 P31 P32 P23 P14`, `corrupt`, `slot`, `reorder P CORRELATION gap N`."""
    far, _ = far_end(jitter={"width": "2ms", "distribution": "pareto_normal", "correlation": 0.25})
    assert "netem delay 20ms 2ms 25% distribution paretonormal limit" in far[-1]
    far, _ = far_end(loss={"share": 0.01, "correlation": 0.5})
    assert "loss 1% 50% limit" in far[-1]
    far, _ = far_end(loss={"four_states": {"p13": 0.01, "p31": 0.3, "p32": 0.2, "p23": 0.5, "p14": 0.001}})
    assert "loss state 1% 30% 20% 50% 0.1% limit" in far[-1]
    far, notes = far_end(corrupt={"share": 0.001, "correlation": 0.1}, slot={"min": "4ms", "max": "6ms", "packets": 20})
    assert "corrupt 0.1% 10% slot 4ms 6ms packets 20 limit" in far[-1] and "checksum" in notes
    far, _ = far_end(reorder={"share": 0.25, "delay": "5ms", "ahead": True, "gap": 5, "correlation": 0.5})
    assert "netem delay 5ms reorder 25% 50% gap 5 limit" in far[-2]


def test_htb_and_hfsc_come_with_their_classes():
    tree = [
        {"name": "all", "rate": "5Mbit/s"},
        {"name": "a", "parent": "all", "rate": "1Mbit/s", "ceil": "5Mbit/s", "match": "tcp", "quantum": "3000B"},
        {"name": "b", "parent": "all", "rate": "4Mbit/s", "prio": 1, "queue": "codel"},
    ]
    (one,) = export(network({"htb": {"classes": tree}}), "x", queue_only=True)
    text = "\n".join(one.commands)
    assert "htb default 3 r2q 10 direct_qlen 1000" in text
    assert "parent 1:1 classid 1:2 htb rate 1mbit ceil 5mbit burst 1600 cburst 1600 prio 0 quantum 3000" in text.replace("10:", "1:")
    curves = [
        {"name": "a", "rt": {"m1": "2Mbit/s", "d": "10ms", "m2": "1Mbit/s"}, "match": "tcp"},
        {"name": "b", "ls": {"m2": "4Mbit/s"}, "ul": {"m2": "8Mbit/s"}},
    ]
    (one,) = export(network({"hfsc": {"classes": curves}}), "x", queue_only=True)
    text = "\n".join(one.commands).replace("10:", "1:")
    assert "classid 1:1 hfsc rt m1 2mbit d 10ms m2 1mbit" in text and "classid 1:2 hfsc ls m2 4mbit ul m2 8mbit" in text


def test_each_impairment_is_translated_or_refused(monkeypatch):
    """A new impairment without a mapping is reported as missing."""
    written = {"loss": 0.01, "duplicate": 0.02, "reorder": {"share": 0.01, "delay": "5ms"}, "corrupt": 0.01, "slot": {"min": "4ms"}}
    written["jitter"] = {"width": "5ms", "distribution": "uniform", "keep_order": False}
    monkeypatch.setattr(netem, "impairments", lambda: (*impairments(), "fog"))
    # The device below the queue is refused in words of its own, see the next test.
    for name in {*netem.impairments()} - {"device"}:
        plan = Plan("eth0", Link(Fraction(10**6), Fraction(1, 100)))
        plain = netem.delay_line(plan, {})
        lines = netem.delay_line(plan, {name: written.get(name, 0.5)})
        assert (lines == plain) == (plan.missing == [f"the impairment {name}"]), name
        assert (lines != plain) == (name in written), name


def test_a_device_below_the_queue_is_refused():
    plan = Plan("eth0", Link(Fraction(10**6), Fraction(1, 100)))
    netem.delay_line(plan, {"device": "1p"})
    assert len(plan.missing) == 1 and "device of 1p" in plan.missing[0]


def test_a_rate_that_changes_is_told():
    (one,) = export(network("codel", rate="2Mbit/s", rates=[{"at": "1s", "rate": "1Mbit/s"}]), "x")
    assert words(one.commands[1])["rate"] == "2mbit" and "changes during the run" in "\n".join(one.notes)


@given(st.integers(1, 10**12))
def test_quantities_keep_their_value(n):
    number, unit = re.fullmatch(r"(\d+)([a-z]+)", q.rate(n)).groups()
    assert int(number) * {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}[unit] == n
    number, unit = re.fullmatch(r"(\d+)([a-z]+)", q.time(Fraction(n, 10**9))).groups()
    assert Fraction(int(number), {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]) == Fraction(n, 10**9)


def test_queues_that_linux_lacks(tmp_path):
    network("management").save(tmp_path / "x.toml")
    done = fairlane("tc", "x.toml", "x", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.startswith("#") for line in done.stdout.splitlines())
    assert "Linux does not have management" in done.stdout
    one = json.loads(fairlane("tc", "x.toml", "--json", cwd=tmp_path).stdout)["links"][0]
    assert (one["supported"], one["commands"], one["far_end"], one["missing"]) == (False, [], [], ["management"])


@pytest.mark.parametrize("name", QUEUES)
def test_documents_follow_the_schema(name):
    if not defaults_run(name):
        pytest.skip(f"{name} needs parameters")
    done = document(export(network(name)), "eth0")
    jsonschema.validate(done, json_schema("tc"))
    assert done["links"][0]["supported"] == (name in WRITERS)
    assert bool(done["links"][0]["commands"]) == (name in WRITERS)


def test_links_that_are_alike_come_once():
    net = fl.Network(duration="1s").dumbbell(
        pairs=3, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "5Mbit/s", "delay": "9ms", "queue": "red"}
    )
    done = export(net.flow("t", "s0", "d0", tcp="newreno"))
    assert len(done) == 2
    # Seven links, both directions.
    assert sum(1 + len(e.also) for e in done) == 14


def test_command_line(tmp_path):
    network("red").save(tmp_path / "x.toml")
    done = fairlane("tc", "x.toml", "x", "--dev", "wan0", "--set", "links.x.queue=codel", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "UP_IF=${UP_IF-wan0}" in done.stdout and 'dev "$1" parent 1:1 handle 10: codel' in done.stdout
    check(fairlane("tc", "x.toml", "y", cwd=tmp_path), r"unknown link 'y'")
    check(fairlane("tc", "nope.toml", cwd=tmp_path), r"nope\.toml")
    check(fairlane("tc", "x.toml", "--dev", "eth0; reboot", cwd=tmp_path), r"network device")
    check(fairlane("tc", "x.toml", "--set", "links.x.queue=codl", cwd=tmp_path), r"codl.*codel")
