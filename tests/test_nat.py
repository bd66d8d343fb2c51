"""Timeouts of a NAT or a stateful firewall at a link, with flows that pause."""

from __future__ import annotations

from typing import Any

import pytest

import fairlane as fl
from fairlane import _core

OUT, IN = ("home", "net"), ("net", "home")


def network(nat: Any, ends: tuple[str, str], transport: dict[str, Any]) -> fl.Network:
    """A packet of 1000 bytes every 40 s, for 390 s."""
    link = {} if nat is None else {"nat": nat}
    net = fl.Network(duration="390s").link("home", "net", name="access", rate="10Mbit/s", delay="10ms", **link)
    source = {"cbr": {"rate": "200bit/s", "size": "1000B"}}
    return net.flow("f", *ends, **transport, source=source)


def lost(nat: Any, ends: tuple[str, str]) -> tuple[int, int]:
    """Packets sent, and packets lost."""
    result = network(nat, ends, {"udp": {}}).run(seeds=1)
    links = sum(row["lost"] for row in result.links.to_dicts())
    return int(result.flows.to_dicts()[0]["packets_sent"]), int(links)


def test_a_pause_longer_than_the_timeout_ends_a_flow_from_outside():
    sent, none = lost(None, IN)
    assert sent == 10 and none == 0
    assert lost("41s", IN) == (sent, 0)
    assert lost("39s", IN) == (sent, sent - 1), "only the first packet has a mapping"
    # From inside each packet makes the mapping again, and the far side has nothing to say.
    assert lost("39s", OUT) == (sent, 0)
    assert lost({"timeout": "39s", "inside": "to"}, OUT) == (sent, sent - 1)
    assert lost({"timeout": "39s", "inside": "to"}, IN) == (sent, 0)


def test_who_keeps_and_who_makes_a_mapping():
    sent, _ = lost(None, IN)
    # At 0, 40 and 80 s; after 100 s only a packet from inside would have kept it.
    assert lost({"timeout": "100s", "inbound_refresh": False}, IN) == (sent, sent - 3)
    assert lost({"timeout": "100s", "open": False}, IN) == (sent, sent)
    # RFC 4787 REQ-5: five minutes by default.
    assert lost({}, IN) == (sent, 0) and lost({"udp": "39s"}, IN) == (sent, sent - 1) and lost({"tcp": "39s"}, IN) == (sent, 0)


def test_connections_from_inside_live_on():
    def arrived(nat: Any, ends: tuple[str, str]) -> float:
        return float(network(nat, ends, {"tcp": "newreno"}).run(seeds=1).flows.to_dicts()[0]["goodput"])

    whole = arrived(None, OUT)
    assert arrived({}, OUT) == whole and arrived({}, IN) == arrived(None, IN)
    assert arrived("39s", OUT) == whole and arrived("39s", IN) < whole / 5


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"reverse": {"nat": "30s"}}, "both directions"),
        ({"nat": "0s"}, "nat"),
        ({"nat": {"inside": "home"}}, "inside"),
    ],
)
def test_mistakes(link, words):
    net = fl.Network(duration="1s").link("a", "b", name="x", rate="1Mbit/s", delay="1ms", **link).flow("f", "a", "b", tcp={})
    with pytest.raises(fl.ScenarioError, match=words):
        net.resolve()


def test_the_parameters_are_written_once():
    net = fl.Network(duration="1s").link("a", "b", name="x", rate="1Mbit/s", delay="1ms", nat="30s", reverse={"rate": "2Mbit/s"})
    links = net.flow("f", "a", "b", tcp={}).resolve()["links"]["x"]
    assert links["nat"]["timeout"] == "30s" and not links["reverse"].get("nat")


@pytest.mark.parametrize("name", ["access", "access.reverse"])
def test_a_live_link_has_no_nat(name):
    resolved = _core.resolve(network("39s", OUT, {"udp": {}}).to_toml(), "nat.toml", "toml", [])
    with pytest.raises(ValueError, match=r"has a NAT .* which a live link cannot have"):
        _core.LiveLink(resolved, name)
