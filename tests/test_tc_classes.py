"""Trees of classes of HTB and HFSC from commands of tc."""

from __future__ import annotations

import pytest

from fairlane.errors import FairlaneError
from fairlane.linux import directions, import_tc
from test_tc import network
from test_tc_import import round_trip

HOME = """tc qdisc add dev e root handle 1: htb default 30
tc class add dev e parent 1: classid 1:1 htb rate 6mbit burst 15k
tc class add dev e parent 1:1 classid 1:10 htb rate 5mbit burst 15k
tc class add dev e parent 1:1 classid 1:20 htb rate 3mbit ceil 6mbit burst 15k prio 9
tc class add dev e parent 1:1 classid 1:30 htb rate 1kbit ceil 6mbit burst 15k quantum 1500
tc qdisc add dev e parent 1:10 handle 10: sfq perturb 10
tc filter add dev e protocol ip parent 1:0 prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:20
tc filter add dev e protocol ip parent 1:0 prio 2 u32 match ip protocol 6 0xff flowid 1:10
"""
"""The tree of the HTB user guide (section 3), with filters of ours."""


def test_classes_of_htb_lend_to_each_other():
    (made,) = directions(HOME)[0].values()
    assert made.rate is None  # the device's own, see --rate
    top, *leaves = made.queue["htb"]["classes"]
    assert (top["name"], top["rate"], top["ceil"], top["burst"]) == ("1:1", "6Mbit/s", "6Mbit/s", "15360B") and "match" not in top
    # In the order of the filters; what none names goes to the default, the last.
    assert [(c["name"], c["parent"], c["match"]) for c in leaves] == [
        ("1:20", "1:1", "dscp:46"), ("1:10", "1:1", "tcp"), ("1:30", "1:1", "any"),
    ]  # fmt: skip
    assert (leaves[0]["prio"], leaves[1]["ceil"], leaves[2]["quantum"]) == (7, "5Mbit/s", "1500B")
    assert next(iter(leaves[1]["queue"])) == "sfq" and any("prio 9 is 7" in n for n in made.notes)
    assert "default" not in made.queue["htb"]
    network(made.queue).resolve()
    # A default of 0, or none, means that packets bypass the classes.
    for without in ("", " default 0", " default 1", " default 99"):
        (made,) = directions(HOME.replace(" default 30", without))[0].values()
        assert made.queue["htb"]["default"] == "direct" and len(made.queue["htb"]["classes"]) == 3
        assert any("class 1:30: it is left out" in n for n in made.notes)
    (made,) = directions(HOME.replace("default 30", "default 20 r2q 5 direct_qlen 77"))[0].values()
    assert {k: v for k, v in made.queue["htb"].items() if k != "classes"} == {
        "default": "1:20", "rate2quantum": 5, "direct_limit": "77p",
    }  # fmt: skip
    # What tc shows of the same tree.
    shown = (
        "qdisc htb 1: dev e root refcnt 2 r2q 10 default 0x30 direct_packets_stat 0 direct_qlen 1000\n"
        "class htb 1:1 root rate 6Mbit ceil 6Mbit burst 15Kb cburst 1599b\n"
        "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 5Mbit ceil 5Mbit burst 15Kb cburst 1600b\n"
        "class htb 1:30 parent 1:1 prio 0 quantum 1500 rate 1Kbit ceil 6Mbit burst 15Kb/1 mpu 0b cburst 1599b/1 mpu 0b level 0\n"
    )
    (made,) = directions(shown)[0].values()
    assert [c["name"] for c in made.queue["htb"]["classes"]] == ["1:1", "1:30"] and made.queue["htb"]["direct_limit"] == "1000p"


def test_the_delay_of_one_of_several_classes_is_refused():
    with pytest.raises(FairlaneError, match="the delay of one class is not modelled"):
        import_tc(HOME + "tc qdisc add dev e parent 1:30 netem delay 5ms")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sc rate 5mbit", {"rt": {"m2": "5Mbit/s"}, "ls": {"m2": "5Mbit/s"}}),
        ("rt m1 2mbit d 10ms m2 1mbit ul m2 8mbit", {"rt": {"m1": "2Mbit/s", "d": "10ms", "m2": "1Mbit/s"}, "ul": {"m2": "8Mbit/s"}}),
        ("ls m1 0bit d 0us m2 4Mbit", {"ls": {"m2": "4Mbit/s"}}),
        # tc-hfsc(7): 1500 bytes within 10 ms are 1.2 Mbit/s, above the rate: the first part is steep.
        ("rt umax 1500 dmax 10ms rate 1mbit", {"rt": {"m1": "1200kbit/s", "d": "10ms", "m2": "1Mbit/s"}}),
        # 1500 bytes at 2 Mbit/s take 6 ms: the curve begins 4 ms late, and reaches them after 10.
        ("rt umax 1500 dmax 10ms rate 2mbit", {"rt": {"m1": "0bit/s", "d": "4ms", "m2": "2Mbit/s"}}),
    ],
)
def test_curves_of_hfsc(words, expected):
    text = (
        "tc qdisc add dev e root handle 1: hfsc default 2\ntc class add dev e parent 1: classid 1:1 hfsc " + words + "\n"
        "tc class add dev e parent 1: classid 1:2 hfsc ls rate 1mbit\n"
        "tc filter add dev e parent 1: protocol ip prio 1 u32 match ip protocol 17 0xff flowid 1:1\n"
    )
    (made,) = directions(text)[0].values()
    first, last = made.queue["hfsc"]["classes"]
    assert {k: v for k, v in first.items() if k in ("rt", "ls", "ul")} == expected
    assert (first["match"], last["match"], "default" in made.queue["hfsc"]) == ("udp", "any", False)
    network(made.queue).resolve()


@pytest.mark.parametrize("kind", ["htb", "hfsc"])
def test_classes_keep_their_names_and_their_tree(kind):
    own = {"htb": {"rate": "2Mbit/s"}, "hfsc": {"ls": {"m2": "2Mbit/s"}}}[kind]
    tree = [
        {"name": "calls", "parent": "all", "match": ["dscp:ef", "flow:voice"], **own},
        {"name": "all", **own},
        {"name": "", "parent": "all", "match": "udp", "queue": {kind: {"classes": [{"name": "calls", "match": "any", **own}]}}, **own},
    ]
    _, _, queue, _ = round_trip({kind: {"classes": tree, "default": "calls"}})
    first, inner, last = queue[kind]["classes"]
    assert (first["name"], first["parent"], first["match"]) == ("calls", "all", ["dscp:46", "flow:voice"]) and inner["name"] == "all"
    assert last["queue"][kind]["classes"][0]["name"] == "calls" and last["match"] == "udp"
    assert queue[kind]["default"] == "calls"
