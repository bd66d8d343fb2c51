"""Sarma 2013: parameters that the paper does not state, and the study in a setting with one value for each."""

from __future__ import annotations

from collections.abc import Mapping

from fairlane.papers import Change, Combination, Levels, Open, Span, Tree, Value, copy_tree

AUTOMATIC, CLASSIC = "automatic", "5 to 15"
"""RED's thresholds: those that ns-2 derives from the link since December 2001, or the fixed ones until then."""

ONE, PER_KIND = "one for all", "one for each kind of run"
"""The limit at the shared link: the same in all runs, or one for TCP, one for UDP and one for the shared network."""

OPENS = (
    Open(
        "server limit",
        "50p",
        Span("4p", "100p", "log"),
        "no buffer is named: 50 packets are ns-2's default; four to a hundred are what scripts of the time set",
    ),
    Open(
        "limits",
        ONE,
        Levels((ONE, PER_KIND)),
        "no buffer is named, nor that all runs share one: the scripts for TCP, for UDP and for both may each set their own",
    ),
    Open(
        "UDP limit", "50p", Span("4p", "100p", "log"), "as the server limit; applies to UDP runs where each kind of run has its own limit"
    ),
    Open(
        "shared limit", "50p", Span("4p", "100p", "log"), "as the server limit; applies to the shared network where each kind has its own"
    ),
    Open("access limit", "50p", Span("10p", "100p", "log"), "as above; the access links' queues need not be those of the shared link"),
    Open(
        "RED counts", "bytes", Levels(("bytes", "packets")), "not named: bytes are ns-2's default since October 2004, packets were before"
    ),
    Open(
        "RED thresholds",
        AUTOMATIC,
        Levels((AUTOMATIC, CLASSIC)),
        "not named: ns-2 derives them from the link since December 2001, most scripts set 5 and 15",
    ),
    Open(
        "RED packet", "500B", Levels(("500B", "1000B", "1500B")), "ns-2.34 assumes packets of 500 bytes by default; the paper's have 1500"
    ),
    Open("RED max_p", 0.1, Span(0.02, 0.1, "log"), "not named: 0.1 is ns-2.34's default, 0.02 the value of RED's authors in 1993"),
    Open("RED gentle", True, Levels((True, False)), "not named: on in ns-2 since April 2001, off before"),
    Open("TCP", "reno", Levels(("tahoe", "reno", "newreno", "sack")), "the text says TCP; these are ns-2's agents that fill a queue"),
    Open("window", "120p", Span("20p", "1000p", "log"), "not named: 20 packets are ns-2's default, 1000 limit nothing here"),
    Open("first window", "2p", Levels(("1p", "2p")), "not named: two packets in ns-2 since May 2001, one before and in RFC 2001"),
    Open("limited transmit", True, Levels((True, False)), "not named: on in ns-2 since November 2001, off before"),
    Open("delayed ACKs", False, Levels((False, True)), "not named: ns-2 has a sink of either kind"),
    Open("least timeout", "200ms", Span("200ms", "1s", "log"), "not named: 0.2 s in ns-2 since October 2004, 1 s in RFC 6298"),
    Open("tick", "10ms", Levels(("10ms", "100ms")), "not named: 10 ms in ns-2 since March 2002, 100 ms before"),
    Open("starts", "1.2ms", Levels(("0s", "1.2ms", "10ms", "100ms", "1s")), "not named: within how much time the clients start"),
    Open("TCP share", 0.5, Span(0.2, 0.8), "of the shared network the text says only that both kinds are present"),
)
"""Unstated parameters. Arithmetic on the published numbers fixes others to four digits (`parameters.csv`), so they are not among them: the
rate of the UDP clients, the simulated time, and the bytes of a packet on the wire."""

DECLARED: Mapping[str, Value] = {
    "limits": PER_KIND,
    "server limit": "10p",
    "UDP limit": "4p",
    "shared limit": "8p",
    "delayed ACKs": True,
    "TCP share": 0.7,
}
"""The setting in which the study's tables are made: the base, but for what the joint fit changed."""


def server_limit(values: Mapping[str, Value], traffic: str) -> Value:
    """Limit at the shared link in the runs of a kind."""
    own = {"UDP": "UDP limit", "TCP-UDP": "shared limit"}.get(traffic, "server limit")
    return values[own if values["limits"] == PER_KIND else "server limit"]


def change_to(values: Mapping[str, Value]) -> Change:
    """Changes a scenario to what it is in a setting."""

    def limited(queue: Tree, limit: Value) -> Tree:
        (kind,) = queue
        queue[kind]["limit"] = limit
        if kind == "red":
            queue[kind].update(max_p=values["RED max_p"], gentle=values["RED gentle"], mean_packet=values["RED packet"])
            if values["RED counts"] == "packets":
                queue[kind].update(measure="packets", byte_mode=False)
            if values["RED thresholds"] == CLASSIC:
                queue[kind].update(min="5p", max="15p", w_q=0.002)
        return queue

    def change(t: Tree, combination: Combination) -> None:
        star = t["topology"]["star"]
        star["server"]["queue"] = limited(copy_tree(star["queue"]), server_limit(values, combination["traffic"]))
        limited(star["queue"], values["access limit"])
        for group in t["flows"].values():
            group["spread"] = values["starts"]
        if "tcp" in t["flows"]:
            tcp = t["flows"]["tcp"]["tcp"]
            tcp.update(
                cc=values["TCP"], window=values["window"], initial_window=values["first window"], rto_min=values["least timeout"],
                limited_transmit=values["limited transmit"], rtt_tick=values["tick"],
            )  # fmt: skip
            if values["delayed ACKs"]:
                tcp.update(ack_every=2, ack_delay="100ms")

    return change
