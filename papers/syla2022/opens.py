"""Parameters that Syla et al. do not state, each with its plausible values, and the scenario of a combination in a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fairlane.papers import Combination, Factors, Levels, Open, Span, Tree, Value, copy_tree

NAMED = "in packets, named thresholds"
"""RED as the text describes it: an average in packets between a threshold and a maxthreshold."""
AUTOMATIC = "ns-2 defaults"
COUNTED = {"once": 1, "5 times": 5, "15 times": 15}
"""How often the published throughput may count a packet."""
BEGINS = {"1 s before TCP": -1.0, "with TCP": 0.0, "0.3 s after TCP": 0.3, "1 s after TCP": 1.0, "3 s after TCP": 3.0}
VEGAS = {"1 and 3": (1, 3), "2 and 4": (2, 4)}
OLD = {"rtt_tick": "100ms", "rto_granularity": "100ms", "rto_min": "1s", "initial_window": "1p"}
THIRDS = {"Sack and Fack": ("Sack", "Fack"), "Vegas and Sack": ("Vegas", "Sack"), "five Sack": ("Sack",) * 5}


def opens() -> list[Open]:
    """In the order in which the text comes to them. Bases are the defaults of ns-2.35, and the guesses that need nothing else."""
    return [
        Open("simulated time", "100s", Span("20s", "100s", "log"), "published as 100 ms, in which the shared link carries 60 packets; 20 "
        "s is "
             "what a fifth of the counts of Table 3 takes on a full link, 100 s what the counts themselves take"),
        Open("a packet counts", 5, Levels((1, 5)), "every count of packets in Tables 2 and 3 is a multiple of five, and in Table 3 "
        "there are "
             "five for each acknowledgment: a script that counts lines of a trace finds a packet on every hop"),
        Open("throughput is over", "the run", Levels(("the run", "first to last packet")), "not said; scripts of both kinds are in use"),
        Open("throughput counts a packet", "once", Levels(tuple(COUNTED)), "63.8 Mbit/s on a link of 5 are 12.8 or 4.3 if a script adds "
             "the bytes of each packet five times, as the counts of packets are, or on each of three links again"),
        Open("acknowledgments of", "all sinks", Levels(("all sinks", "one sink")), "Table 3 has a fifth as many of them as packets: either "
             "packets count five times, or these are those of one of five sinks"),
        Open("shared link of part 1", "10ms", Span("2ms", "100ms", "log"), "no delay is given: from a building to a continent"),
        Open("shared link of part 2", "10ms", Span("2ms", "100ms", "log"), "as in part 1, and drawn apart from it: the title speaks of "
             "different topologies, and Table 3's delays are three to six times those of Table 2"),
        Open("access links differ by", "20us", Span("1us", "1ms", "log"), "part 2 speaks of almost the same latencies and gives none: "
        "more than "
             "nothing, and less than what would be called another latency"),
        Open("queue of part 2", "10p", Span("10p", "100p", "log"), "the 10 packets are stated for the congested link of part 1"),
        Open("other queues", "50p", Levels(("10p", "50p")), "ns-2's default, or the limit that is stated, on every link"),
        Open("RED", AUTOMATIC, Levels((AUTOMATIC, NAMED)), "a threshold and a maxthreshold are named without values: if they were not "
        "set, ns-2 "
             "takes 5 and 15 units of 500 bytes, a weight from the link, and a limit in those units, too"),
        Open("RED threshold", "5p", Span("1p", "30p", "log"), "named without a value, where RED counts packets"),
        Open("RED maxthreshold", "3 times", Levels(("2 times", "3 times")), "at least twice the threshold, say RED's authors; ns-2 has "
        "three times"),
        Open("RED probability", 0.1, Span(0.02, 0.2, "log"), "not named: 0.02 in the first paper on RED, 0.1 in ns-2, up to twice that"),
        Open("RED weight", 0.002, Span(0.001, 0.02, "log"), "not named: 0.002 is RED's own, ns-2 takes more on slow links"),
        Open("TCP segment", "1000B", Levels(("512B", "1000B", "1460B")), "not given: ns-2's default and two common ones"),
        Open("TCP window", "20p", Span("8p", "128p", "log"), "not given: ns-2's default is 20, older examples have 8, 64 kbyte are 128 "
        "of 512 bytes"),
        Open("timers", "ns-2.35", Levels(("ns-2.35", "ns-2 before 2.27")), "the version is not given: older ones tick every 100 ms and "
        "wait 1 s"),
        Open("Vegas alpha and beta", "1 and 3", Levels(tuple(VEGAS)), "not given: ns-2's values, and those of Vegas's authors"),
        Open("Fack", "plain", Levels(("plain", "ramp-down and overdamping")), "not given: ns-2 has both extensions as switches, off by "
        "default"),
        Open("CBR streams", 5, Span(1, 5), "inferred from 22 nodes; two are enough to overload the link at 3 Mbit/s"),
        Open("CBR packet", "1000B", Levels(("210B", "500B", "1000B")), "not given: ns-2's default is 210 bytes, its examples have 500 "
        "and 1000"),
        Open("CBR jitter", False, Levels((False, True)), "not given: ns-2's random_ lets intervals vary by half"),
        Open("CBR phases", "together", Levels(("together", "each its own")), "not given: all streams of a script may start at once"),
        Open("CBR begins", "1 s after TCP", Levels(tuple(BEGINS)), "not given; the paper shows windows that grow before they fall"),
        Open("mixed flows over", "RED", Levels(("RED", "DropTail")), "the pairs of part 2 are described without a queue; both are used in "
        "that part"),
        Open("longer path", "98ms", Span("10ms", "200ms", "log"), "flows with a longer delay are mentioned without a number"),
        Open("flows of part 3", "Sack and Fack", Levels(tuple(THIRDS)), "Fig. 11 does not say whose throughput it is"),
        Open("RED's room in part 3", "the threshold", Levels(("the threshold", "50p")), "the axis is called threshold: RED's own limit "
        "may go "
             "along with it or stay at ns-2's default"),
        Open("steps of delay in part 3", "10ms", Span("2ms", "50ms", "log"), "connections with different delays are mentioned without "
        "numbers"),
    ]  # fmt: skip


DECLARED: Mapping[str, Value] = {
    "simulated time": "47s",
    "throughput counts a packet": "15 times",
    "shared link of part 1": "14ms",
    "shared link of part 2": "95ms",
    "queue of part 2": "40p",
    "TCP segment": "1460B",
    "TCP window": "12p",
    "Vegas alpha and beta": "2 and 4",
    "CBR streams": 4,
    "CBR packet": "500B",
    "CBR jitter": True,
}
"""The setting of the study's own tables, one of those nearest to the published values. Parameters not named have their base values."""


@dataclass(frozen=True)
class InSetting(Combination):
    """A combination that knows its setting: how things are counted is part of it."""

    values: Mapping[str, Value] = field(default_factory=dict, compare=False)


def number(value: Value) -> float:
    """A quantity of these settings as a number, in the unit in which it is written: "12.5ms" is 12.5."""
    return float(str(value).rstrip("abcdefghijklmnopqrstuvwxyzB"))


def bottleneck(tree: Tree) -> Tree:
    """The shared link of a scenario."""
    link: Tree = tree["topology"]["dumbbell"]["bottleneck"]
    return link


@dataclass(frozen=True)
class Plan:
    """A combination of the study before a setting fixes the rest."""

    factors: Factors
    queue: str
    flows: Sequence[str]
    cbr: str | None = None
    """Rate of each CBR stream, Mbit/s."""
    threshold: int | None = None
    """RED threshold of part 3, and the limit of the unit runs."""
    extra: Sequence[float] = ()
    """Delay of the flows' access links beyond 2 ms, ms."""
    seconds: float | None = None
    sampled: bool = False


def in_setting(plan: Plan, base: Tree, blocks: Tree, values: Mapping[str, Value], seed: int) -> Tree:
    """The scenario of a combination in a setting."""
    t = copy_tree(base)
    part = dict(plan.factors)["part"]
    t["name"] = ", ".join(x for _, x in plan.factors)
    t["seed"] = seed
    t["duration"] = values["simulated time"] if plan.seconds is None else f"{plan.seconds:g}s"
    shared = bottleneck(t)
    shared["delay"] = values["shared link of part 1" if plan.cbr is not None else "shared link of part 2"]
    shared["queue"] = _queue(plan, part, blocks, values)
    for queue in (shared["reverse"]["queue"], t["topology"]["dumbbell"]["access"]["queue"]):
        queue["droptail"]["limit"] = values["other queues"]
    extra = list(plan.extra) if plan.extra else [_differ(values) * i for i in range(len(plan.flows))]
    if any(extra):
        t["topology"]["dumbbell"]["delays"] = [f"{2 + x:.4f}ms" for x in (*extra, *[0.0] * (10 - len(extra)))]
    t["flows"] = {f"tcp{i}": _flow(i, cc, plan, blocks, values) for i, cc in enumerate(plan.flows)}
    if plan.cbr is not None:
        t["flows"]["cbr"] = _streams(plan.cbr, blocks, values)
    if plan.sampled:
        t["sample"] = "100ms"
    return t


def _queue(plan: Plan, part: str, blocks: Tree, values: Mapping[str, Value]) -> Tree:
    kind = plan.queue.split(" ")[0]
    q: Tree = copy_tree(blocks["queue"][kind])
    (name,) = q
    limit = values["queue of part 2"] if plan.cbr is None else "10p"
    if plan.threshold is not None:
        roomy = kind == "RED" and values["RED's room in part 3"] != "the threshold"
        limit = "50p" if roomy else f"{plan.threshold}p"
    q[name]["limit"] = limit
    if "keeps n" in plan.queue:
        q[name]["admit"] = "fits"
    if kind != "RED":
        return q
    times = int(number(str(values["RED maxthreshold"]).split(" ")[0]))
    low = number(values["RED threshold"])
    if values["RED"] == NAMED:
        counted = {"measure": "packets", "byte_mode": False, "mean_packet": "1000B"}
        q[name].update(counted, w_q=values["RED weight"], max_p=values["RED probability"])
        q[name].update(min=f"{low:g}p", max=f"{low * times:g}p")
    if part in ("threshold", "fairness") and plan.threshold is not None:
        q[name].update(min=f"{max(1, round(plan.threshold / times))}p", max=f"{plan.threshold}p")
    return q


def _flow(i: int, cc: str, plan: Plan, blocks: Tree, values: Mapping[str, Value]) -> Tree:
    block: Tree = copy_tree(blocks["flow"]["tcp"])
    tcp = block["tcp"]
    tcp["mss"], tcp["window"] = values["TCP segment"], values["TCP window"]
    tcp["cc"] = cc.lower()
    if cc == "Vegas":
        alpha, beta = VEGAS[str(values["Vegas alpha and beta"])]
        tcp["cc"] = {"vegas": {"alpha": alpha, "beta": beta}}
    if values["timers"] != "ns-2.35":
        tcp.update(OLD)
    if cc == "Fack" and values["Fack"] != "plain":
        tcp.update(fack_rampdown=True, fack_overdamping=True)
    if plan.cbr is not None:
        block.update(blocks["flow"]["beside_cbr"])
        block["start"] = f"{1000 * tcp_begins(values):g}ms"
    return {"from": f"s{i}", "to": f"d{i}", **block}


def far_flows(values: Mapping[str, Value]) -> list[float]:
    """Delay beyond 2 ms of the access links of five flows that all have the longer path, ms: apart as those of part 2 are."""
    return [number(values["longer path"]) + _differ(values) * i for i in range(5)]


def _differ(values: Mapping[str, Value]) -> float:
    """Difference of the access links from flow to flow, ms."""
    value = values["access links differ by"]
    return number(value) * (1e-3 if str(value).endswith("us") else 1.0)


def tcp_begins(values: Mapping[str, Value]) -> float:
    """When the TCP flow of part 1 may begin at the earliest, seconds."""
    return 0.1 + max(0.0, -BEGINS[str(values["CBR begins"])])


def _streams(rate: str, blocks: Tree, values: Mapping[str, Value]) -> Tree:
    block: Tree = copy_tree(blocks["flow"]["cbr"])
    block["count"] = values["CBR streams"]
    block["start"] = f"{1000 * (tcp_begins(values) + BEGINS[str(values['CBR begins'])]):g}ms"
    block["source"]["cbr"].update(rate=f"{rate}Mbit/s", size=values["CBR packet"])
    if values["CBR jitter"]:
        block["source"]["cbr"]["jitter"] = 0.5
    if values["CBR phases"] != "together":
        block["spread"] = "16ms"
    return block
