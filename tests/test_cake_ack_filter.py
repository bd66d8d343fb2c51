"""CAKE's filter of acknowledgments with real connections, against the published direction.

Hoeiland-Joergensen, Taeht and Morton (Piece of CAKE, LANMAN 2018, sections III.D and IV.D): on a link that is much slower upwards the
acknowledgments of downloads fill it. Thinned, they leave room for the upload, and the downloads come faster.
"""

from __future__ import annotations

import functools

import fairlane as fl


@functools.cache
def transfers(up: str, ack_filter: str) -> tuple[float, float, float, float]:
    """Mbit/s of four downloads and of an upload, and packets that leave upwards and that are dropped there."""
    cake = {"bandwidth": up, "ack_filter": ack_filter}
    net = fl.Network(duration="20s", warmup="5s").link(
        "home", "net", name="line", rate=up, delay="10ms", queue={"cake": cake}, reverse={"rate": "50Mbit/s", "queue": "fq_codel"}
    )
    net = net.flow("down", "net", "home", count=4, tcp="cubic").flow("up", "home", "net", tcp="cubic")
    result = net.run(seeds=1)
    goodput = {row["flow"]: row["goodput"] / 1e6 for row in result.flows.to_dicts()}
    line = next(row for row in result.links.to_dicts() if row["link"] == "line")
    return sum(v for k, v in goodput.items() if k != "up"), goodput["up"], line["departures"], line["drops"]


def test_thinned_acknowledgments_make_downloads_faster():
    """100:1. Two segments of 1500 bytes need an acknowledgment of 40 or 52: 50 Mbit/s need some 1 Mbit/s, twice what there is."""
    (plain, up, packets, _), (thin, more, fewer, dropped), (thinner, *_) = (
        transfers("500kbit/s", name) for name in ("none", "filter", "aggressive")
    )
    assert plain < 40 and thin > 1.15 * plain and thinner > 1.05 * thin, (plain, thin, thinner)
    assert more > 1.5 * up, "the upload has the room of the acknowledgments that are gone"
    assert fewer < 0.9 * packets and dropped > fewer / 2, "most acknowledgments are gone"


def test_the_filter_costs_downloads_nothing_where_acknowledgments_have_room():
    """25:1: downloads are at the rate of the link either way, and the upload is faster."""
    (plain, up, *_), (thin, more, *_) = (transfers("2Mbit/s", name) for name in ("none", "filter"))
    assert plain > 47 and abs(thin / plain - 1) < 0.02 and more > 1.1 * up, (plain, thin, up, more)
