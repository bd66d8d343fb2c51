"""Findings on Syla et al., in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairlane.papers import Results

_PUBLISHED = ("Vegas", "Sack", "Fack")
_THRESHOLDS = (5, 10, 15, 20, 25, 30)


def _one(r: Results, quantity: str, queue: str, rate: str) -> list[float]:
    """A quantity of part 1: Vegas, Sack, Fack."""
    return [r.mean(quantity, part="one", tcp=t, queue=queue, cbr_rate_mbps=rate) for t in _PUBLISHED]


def _five(r: Results, quantity: str, queue: str = "RED") -> list[float]:
    return [r.mean(quantity, part="five", tcp=t, queue=queue) for t in _PUBLISHED]


def _curve(r: Results, part: str, queue: str) -> list[float]:
    quantity = "throughput" if part == "threshold" else "jain"
    return [r.mean(quantity, part=part, queue=queue, threshold=n) for n in _THRESHOLDS]


def _list(values: Sequence[float], digits: int) -> str:
    """ "1.00, 2.00 and 3.00"."""
    words = [f"{x:.{digits}f}" for x in values]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _range(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def findings(r: Results) -> list[str]:
    """The summary at the top of the page."""
    rates, counted = (_one(r, q, "DropTail", "0.5") for q in ("throughput", "throughput_counted"))
    sent = _one(r, "packets_sent", "DropTail", "3")
    manage, red = _curve(r, "threshold", "Management"), _curve(r, "threshold", "RED")
    ahead = [100 * (a / b - 1) for a, b in zip(manage, red, strict=True)]
    fair = {q: _curve(r, "fairness", q) for q in ("Management", "RED")}
    return [
        "One setting is near both tables if a packet counts several times: five times in the numbers of packets (all that are published "
        "are multiples of five) and fifteen times in a throughput. Next to streams of 0.5 Mbit/s Vegas, Sack and Fack then get "
        f"{_list(counted, 1)} Mbit/s, published 63.8, 43.7 and 35.6; on the link of 5 Mbit/s these are {_list(rates, 2)} Mbit/s.",
        f"In Table 3 five flows of a window of 12 segments over a shared link of 95 ms send {_list(_five(r, 'packets_sent'), 0)} packets, "
        f"lose {_list(_five(r, 'packets_lost'), 0)} and take {_list(_five(r, 'mean_delay'), 1)} ms; published are 62260, 52060 and 47780, "
        "0, 50 and 40, and 106.0, 91.2 and 87.9. Vegas is not ahead of Sack and Fack in this setting.",
        f"At 3 Mbit/s a stream the link is asked for more than it carries. TCP sends {_list(sent, 0)} packets here, 2990, 390 and 1470 in "
        "the paper, each packet counted five times: what is compared there is a few hundred packets.",
        f"Five flows with almost the same latency: Jain's index is {_list(_five(r, 'jain'), 3)} for Vegas, Sack and Fack over RED in "
        f"this setting. "
        "How fair they are, and whether one stands out, turns with microseconds of difference between their links (see the claims).",
        "Management is ns-2's DropTail under another name: run next to it, every packet has the same fate. Against RED with the same "
        "threshold it "
        f"carries {', '.join(f'{x:+.1f}'.replace('-', '−') for x in ahead)} % "
        "at 5, 10, 15, 20, 25 and 30 packets. With unequal delays Jain's index goes from "
        f"{_range(fair['Management'], 2)} "
        f"with Management and from {_range(fair['RED'], 2)} with RED over these thresholds.",
    ]


def outcomes(r: Results) -> str:
    """Returns how often Vegas gets less than the competing flow."""
    told = []
    for other in ("Fack", "Sack"):
        combination = r.combination(part="mixed", pair=f"Vegas-{other}")
        own, theirs = (r.samples(combination, f"throughput_{i}") for i in (0, 1))
        told.append(f"against {other} in {sum(a < b for a, b in zip(own, theirs, strict=True))} of {len(own)} replications")
    return f"Vegas gets the smaller share {' and '.join(told)}."


def causes(r: Results, ties: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Why claims come out as they do, where a run of this study or of ns-2 shows it; where a claim turns is shown with its settings."""
    most = [r.mean("cwnd_max", part="one", tcp=t, queue="DropTail", cbr_rate_mbps="0.5") for t in _PUBLISHED]
    first, second = (_tied(ties, delays) for delays in ("equal", "unequal by microseconds"))
    return {
        "V12": f"{_list(_one(r, 'throughput', 'DropTail', '0.5'), 2)} Mbit/s for Vegas, Sack and Fack in the setting of these tables. With "
        "ns-2's defaults but a shared link of 40 or 50 ms, a window of 64 packets, alpha and beta of 2 and 4, two streams Vegas is 37 to "
        "71 % ahead in 10 of 10 replications.",
        "V13b": f"They reach {_list(most[1:], 0)} packets here, and must: with a window of 1 the published counts take minutes "
        f"(contradiction 6).",
        "V17": f"Which flow gets most is a lottery, in ns-2 as well: the fifth does in {first[0]} of {first[1]} of its runs with equal "
        f"access links, "
        f"in {second[0]} of {second[1]} with links that differ by microseconds.",
        "V22": outcomes(r),
        "V28": f"Jain's index of five Vegas, Sack and Fack flows over RED: {_list(_five(r, 'jain'), 4)}.",
        "V30": "Variation from second to second, over mean, of five Vegas flows: "
        f"{r.mean('unsteadiness', part='five', tcp='Vegas', queue='RED'):.3f}, over the longer path "
        f"{r.mean('unsteadiness', part='latency', tcp='Vegas'):.3f}.",
        "V27": "Limits of 2, 3, 10 and 50 were run, each packet for packet equal to ns-2's DropTail and never to a DropTail that keeps n.",
    }


def _tied(ties: Sequence[Mapping[str, str]], delays: str) -> tuple[int, int]:
    """In how many of how many ns-2 runs of five Vegas flows the fifth gets most."""
    runs: dict[str, dict[str, float]] = {}
    for t in ties:
        if t["tcp"] == "Vegas" and t["access_delays"] == delays:
            runs.setdefault(t["seed"], {})[t["flow"]] = float(t["value"])
    return sum(max(x, key=x.__getitem__) == "n9" for x in runs.values()), len(runs)
