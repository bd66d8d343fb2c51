"""Parameters that Yang and Fu 2001 do not state, and the changes of a setting (one value for each of them) to the scenarios.

The ranges come from the defaults of ns-2 before and after the version of the paper (2.1b5, March 1999), from what scripts of that
time set, and from bounds that numbers of the paper put on them. None was chosen by what it makes of a claim. Left out is what cannot
matter: the size of acknowledgments (at most 40 kbit/s of 1 Mbit/s) and the queues of the access links (nothing waits there).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlane.papers import Levels, Open, Span, Value, all_of

from . import net

if TYPE_CHECKING:
    from fairlane.papers import Change

OPENS = (
    Open(
        "link delay",
        "50ms",
        Span("20ms", "53ms"),
        "Not stated. With more than 53 ms a window of 20 packets does not fill half of the link, which ts/ts needs; with less than 20 ms "
        "10 KB do not take the published 2.6 to 2.8 s even if every queue is full.",
    ),
    Open(
        "access rate", "100Mbit/s", Span("10Mbit/s", "100Mbit/s", "log"),
        "Not stated: ten times the shared link, or more than all UDP flows of a source send.",
    ),
    Open(
        "CBR rate", "2Mbit/s", Span("1Mbit/s", "3Mbit/s"),
        "Not stated. One UDP flow fills the link (8 s for 1 MB), so 1 Mbit/s at least.",
    ),
    Open(
        "start spread", "0s", Levels(("0s", "10ms", "100ms", "500ms")),
        "Table 1 says simultaneously; nothing is stated for the rest, and scripts often spread starts.",
    ),
    Open("TCP variant", "tahoe", Levels(("tahoe", "reno", "newreno")), "The paper says TCP and slow start; ns-2's plain agent is Tahoe."),
    Open("TCP window", "20p", Span("15p", "40p"), "Not stated: ns-2's default is 20; ts/ts needs 15 at least; up to twice the default."),
    Open("first RTO", "6s", Levels(("3s", "6s")), "Not stated: ns-2 had 6 s, later 3 s."),
    Open(
        "longest RTO", "240s", Span("60s", "400s", "log"),
        "Not stated: 60 or 64 s in some versions of ns-2; without a limit it ends at 64 times the first, 384 s.",
    ),
    Open(
        "RTO granularity", "100ms", Levels(("10ms", "100ms", "500ms")),
        "Not stated: ns-2's clock ticked every 0.1 s, later every 10 ms, those of systems every half second.",
    ),
    Open(
        "FCFS limit", "50p", Span("15p", "100p", "log"),
        "Not stated: ns-2's default is 50; scripts set others, from half of what the path holds (31 packets with 42 ms a link).",
    ),
    Open("RED limit", "50p", Span("15p", "100p", "log"), "Not stated: the same; 15 is the upper threshold."),
    Open("RED min", "5p", Span("3p", "10p", "log"), "Not stated: 5 packets in ns-2.1b5 and in Floyd and Jacobson 1993."),
    Open("RED max", "15p", Span("11p", "30p", "log"), "Not stated: 15 packets in ns-2.1b5; two or three times the lower threshold."),
    Open("RED max_p", 0.1, Span(0.02, 0.2, "log"), "Not stated: 0.1 in ns-2.1b5, 0.02 in Floyd and Jacobson 1993."),
    Open("RED w_q", 0.002, Span(0.001, 0.01, "log"), "Not stated: 0.002 in ns-2.1b5 and in Floyd and Jacobson 1993."),
    Open("SFQ limit", "40p", Span("20p", "80p", "log"), "Not stated: ns-2's default is 40."),
    Open("SFQ buckets", 16, Span(8, 32, "log"), "Not stated: ns-2's default is 16."),
    Open(
        "flow hash", "ns2_sum", Levels(("ns2_sum", "flow")),
        "Not told: in ns-2 of 1999 addresses had the port in them; elsewhere flows are hashed at random.",
    ),
    Open(
        "DRR limit", "25000B", Span("8000B", "50000B", "log"),
        "Not stated: ns-2's default is 25000 bytes for all queues together; scripts set others.",
    ),
    Open("DRR drop", "tail", Levels(("head", "tail")), "Not told: ns-2.35 drops the first packet of the longest queue, others the last."),
    Open(
        "cc signal", "loss", Levels(("loss", "timeout")),
        "The paper says a TCP congestion signal: any loss that TCP finds, or a timeout. (A fast retransmit alone is too rare "
        "here to hold anybody.)",
    ),
    Open("cc hold", "lower", Levels(("lower", "worst")), "The paper stops flows of lower priority: all of them, or the lowest first."),
    Open("cc release after", "5s", Span("1s", "30s", "log"), "Not stated: when held flows resume if no further signal comes."),
    Open("cc release", "best", Levels(("best", "all")), "Not stated: whether the best held class resumes first, or all."),
    Open("ts slot", "100ms", Span("90ms", "110ms"), "Not stated: the published times of ts/ts say 0.1 s to a tenth."),
    Open("ts order", "file", Levels(("file", "interleaved")), "Not told: all TCP flows and then all UDP flows in a round, or alternately."),
    Open(
        "closed TCP", "heard", Levels(("heard", "ignored")),
        "Not told: whether a TCP flow that may not send still takes acknowledgments.",
    ),
    Open(
        "aging", "off", Levels(("off", "1000s", "400s")),
        "The paper describes aging and does not say how long it takes, nor whether it is on in its tables.",
    ),
)  # fmt: skip

DECLARED: dict[str, Value] = {"link delay": "42ms", "DRR limit": "11000B"}
"""The setting of the study's own tables, where it is not the base: the one nearest to the published values of those that were run."""


def change_of(values: Mapping[str, Value]) -> Change:
    """Returns the change that puts a scenario of the study into that setting."""
    v = values
    signal = {"signal": v["cc signal"], "hold": v["cc hold"], "clear": v["cc release after"], "release": v["cc release"]}
    both = {"acks": v["closed TCP"], **({} if v["aging"] == "off" else {"aging": v["aging"]})}
    return all_of(
        net.links(str(v["access rate"]), str(v["link delay"])),
        net.cbr(str(v["CBR rate"])),
        net.starts(str(v["start spread"])),
        net.tcp(
            cc=v["TCP variant"],
            window=v["TCP window"],
            rto_initial=v["first RTO"],
            rto_max=v["longest RTO"],
            rto_granularity=v["RTO granularity"],
        ),
        net.queue("droptail", limit=v["FCFS limit"]),
        net.queue("red", limit=v["RED limit"], min=v["RED min"], max=v["RED max"], max_p=v["RED max_p"], w_q=v["RED w_q"]),
        net.queue("sfq", limit=v["SFQ limit"], buckets=v["SFQ buckets"], hash=v["flow hash"]),
        net.queue("drr", limit=v["DRR limit"], drop=v["DRR drop"], hash=v["flow hash"]),
        net.control("congestion_signal", **signal, **both),
        net.control("time_slots", slot=v["ts slot"], order=v["ts order"], **both),
    )
