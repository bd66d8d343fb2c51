"""Policers and link layers: lines of tc-police(8), tc-htb(8) and tc-tbf(8) read and written."""

from __future__ import annotations

from typing import Any

import pytest

from fairlane.linux import directions, export, import_tc, queue_text
from fairlane.linux.tc_units import TcError
from test_tc import network

INGRESS = "tc qdisc add dev eth0 handle ffff: ingress\n"


def arriving(line: str) -> tuple[dict[str, Any], list[str]]:
    """The queue of what arrives at a device with one filter, and notes."""
    text = f"{INGRESS}tc filter add dev eth0 parent ffff: {line}\n"
    _, into, notes = directions(text)
    return into["eth0"].queue, [*notes, *into["eth0"].notes]


@pytest.mark.parametrize(
    ("line", "policer"),
    [
        # tc-police(8), the example of EXAMPLES; the actions are those of its page.
        ("protocol ip u32 match u32 0 0 police rate 1mbit burst 100k conform-exceed drop",
         {"rate": "1Mbit/s", "burst": "102400B", "mtu": "2040B", "exceed": "drop", "conform": "keep"}),
        ("protocol ip prio 50 u32 match ip src 0.0.0.0/0 police rate 8mbit burst 10k drop flowid :1",
         {"rate": "8Mbit/s", "burst": "10240B", "mtu": "2040B", "exceed": "drop", "conform": "keep"}),
        ("matchall action police rate 2mbit burst 15000 mtu 64k peakrate 4mbit conform-exceed drop/ok",
         {"rate": "2Mbit/s", "burst": "15000B", "peakrate": "4Mbit/s", "exceed": "drop", "conform": "keep"}),
        ("protocol ip u32 match ip protocol 17 0xff police rate 2mbit burst 15000 overhead 24 linklayer atm mpu 40 conform-exceed ok/drop",
         {"match": "udp", "rate": "2Mbit/s", "burst": "15000B", "overhead": "24B", "linklayer": "atm", "mpu": "40B", "mtu": "2040B",
          "exceed": "keep", "conform": "drop"}),
    ],
)  # fmt: skip
def test_a_policer_of_arriving_packets_precedes_the_other_direction(line, policer):
    queue, _ = arriving(line)
    assert queue == {"policer": {**policer, "queue": {"droptail": {"limit": "1000p"}}}}


def test_what_a_policer_does_not_model_is_said():
    _, notes = arriving("matchall action police rate 1mbit burst 10k avrate 1mbit")
    assert any("avrate" in n for n in notes) and any("reclassify" in n for n in notes)
    _, notes = arriving("protocol ip u32 match ip dport 80 0xffff police rate 1mbit burst 10k drop")
    assert any("the policer of u32" in n and "not modelled" in n for n in notes)
    for wrong, word in (("rate 1mbit drop", "rate and burst"), ("rate 1mbit burst 1k conform-exceed foo", "no action foo"),
                        ("rate 1mbit burst 1k linklayer token", "link layer")):  # fmt: skip
        with pytest.raises(TcError, match=word):
            arriving(f"matchall action police {wrong}")


def test_policers_of_leaving_packets():
    out, _, _ = directions(
        "tc qdisc add dev eth0 clsact\ntc filter add dev eth0 egress matchall action police rate 2mbit burst 15k conform-exceed drop\n"
        "tc qdisc add dev eth0 root fq_codel\n"
    )
    assert out["eth0"].queue["policer"]["queue"] == {"fq_codel": {"preset": "linux"}}
    out, _, _ = directions(
        "tc qdisc add dev eth0 root handle 1: prio\n"
        "tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff police rate 1mbit burst 10k drop flowid 1:3\n"
    )
    made = out["eth0"].queue["policer"]
    assert made["match"] == "udp" and len(made["queue"]["prio"]["classes"]) > 1
    made = import_tc("tc qdisc add dev eth0 ingress\ntc filter add dev eth0 ingress matchall action police rate 1mbit burst 10k drop\n")
    assert "policer" in made.tree["links"]["eth0"]["reverse"]["queue"]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"rate": "3Mbit/s", "burst": "20kB", "queue": "codel"},
        {"peakrate": "9Mbit/s", "mtu": "1500B", "exceed": "keep", "conform": "drop"},
        {"overhead": "20B", "mpu": "64B", "linklayer": "atm", "match": "udp"},
    ],
)
def test_a_written_policer_is_read_again(values):
    (one,) = export(network({"policer": values}), "x", queue_only=True)
    assert not one.missing
    again, _ = queue_text("; ".join(one.commands))
    (before,), (after,) = (network(q).resolve()["links"]["x"]["queue"].values() for q in ({"policer": values}, again))
    assert {**before, "rate": None, "queue": None} == {**after, "rate": None, "queue": None}
    assert after["rate"] == (before["rate"] or "5Mbit/s") and [*before["queue"]] == [*after["queue"]]


def test_actions_without_a_word_are_notes():
    (one,) = export(network({"policer": {"exceed": "af13", "per": "flow"}}), "x", queue_only=True)
    assert any("af13" in n for n in one.notes) and any("per is flow" in n for n in one.notes)


def test_rates_of_classes_count_the_link_layer():
    """tc-htb(8), tc-stab(8): PPPoE over ATM. Without a size table Linux counts Ethernet's 14 bytes as well."""
    line = "tc qdisc add dev eth0 root handle 1: {}htb default 10; tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit; "
    line += "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1mbit overhead 26 linklayer adsl mpu 53; "
    line += "tc class add dev eth0 parent 1:1 classid 1:20 htb rate 1mbit; tc filter add dev eth0 parent 1: matchall classid 1:20"
    for sizes, total in (("", "40B"), ("stab overhead -14 linklayer ethernet ", "26B")):
        classes = {c["name"]: c for c in queue_text(line.format(sizes))[0]["htb"]["classes"]}
        assert {k: classes["1:10"][k] for k in ("overhead", "linklayer", "mpu")} == {"overhead": total, "linklayer": "atm", "mpu": "53B"}
        assert "overhead" not in classes["1:20"]
    made, _ = queue_text("tbf rate 1mbit burst 15k latency 50ms linklayer atm")
    assert (made["tbf"]["overhead"], made["tbf"]["linklayer"]) == ("14B", "atm")


def test_link_layers_are_written():
    layer = {"overhead": "20B", "mpu": "64B", "linklayer": "atm"}
    tree = {"classes": [{"name": "all", "rate": "5Mbit/s", **layer}, {"name": "a", "parent": "all", "rate": "1Mbit/s", "match": "udp"},
                        {"name": "b", "parent": "all", "rate": "2Mbit/s", "overhead": "4B"}]}  # fmt: skip
    for queue in ({"tbf": {"rate": "5Mbit/s", **layer}}, {"htb": tree}):
        (one,) = export(network(queue), "x", queue_only=True)
        assert any(c.endswith("overhead 20 mpu 64 linklayer atm") for c in one.commands), one.commands
        again, _ = queue_text("; ".join([*one.commands, *(f"# note: {n}" for n in one.notes if n.startswith("class "))]))
        (before,), (after,) = (network(q).resolve()["links"]["x"]["queue"].values() for q in (queue, again))
        keys = ("overhead", "mpu", "linklayer")
        if "classes" in before:
            assert [[c[k] for k in keys] for c in before["classes"]] == [[c[k] for k in keys] for c in after["classes"]]
        else:
            assert [before[k] for k in keys] == [after[k] for k in keys]


def test_one_class_is_the_rate_of_the_link_unless_it_counts_the_link_layer():
    """Which a link does not: ATM takes 53 bytes for 48 (tc-stab(8))."""
    line = "tc qdisc add dev eth0 root handle 1: htb default 10\ntc class add dev eth0 parent 1: classid 1:10 htb rate 10mbit "
    out, _, _ = directions(line)
    assert out["eth0"].rate == "10Mbit/s" and "htb" not in out["eth0"].queue
    out, _, _ = directions(f"{line}overhead 18 linklayer atm mpu 64")
    (one,) = out["eth0"].queue["htb"]["classes"]
    assert out["eth0"].rate is None and (one["rate"], one["overhead"], one["linklayer"]) == ("10Mbit/s", "32B", "atm")
