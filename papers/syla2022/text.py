"""What we find in Syla et al., in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairlane.papers import Results

_LOSSY = ("Sack", "Fack")
_PRINTED = ("Vegas", *_LOSSY)
_THRESHOLDS = (5, 10, 15, 20, 25, 30)


def _one(r: Results, quantity: str, queue: str, rate: str) -> list[float]:
    """A quantity of part 1: Vegas, Sack, Fack."""
    return [r.mean(quantity, part="one", tcp=t, queue=queue, cbr_rate_mbps=rate) for t in _PRINTED]


def _share_lost(r: Results, queue: str, rate: str) -> list[float]:
    pairs = zip(_one(r, "packets_lost", queue, rate), _one(r, "packets_sent", queue, rate), strict=True)
    return [100 * a / b for a, b in pairs]


def _five(r: Results, quantity: str, queue: str = "RED") -> list[float]:
    return [r.mean(quantity, part="five", tcp=t, queue=queue) for t in _PRINTED]


def _pair(r: Results, pair: str, queue: str) -> list[float]:
    return [r.mean(f"throughput_{i}", part="mixed", pair=pair, queue=queue) for i in (0, 1)]


def _curve(r: Results, part: str, queue: str) -> list[float]:
    quantity = "throughput" if part == "threshold" else "jain"
    return [r.mean(quantity, part=part, queue=queue, threshold=n) for n in _THRESHOLDS]


def _list(values: Sequence[float], digits: int) -> str:
    """ "1.00, 2.00 and 3.00"."""
    words = [f"{x:.{digits}f}" for x in values]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _gain(results: Results) -> tuple[float, float]:
    """How far Vegas is ahead of Sack and of Fack at 0.5 Mbit/s, DropTail, percent."""
    v, s, f = _one(results, "throughput", "DropTail", "0.5")
    return 100 * (v / s - 1), 100 * (v / f - 1)


def _packet_red(others: Mapping[str, Results]) -> Results | None:
    return others.get("RED counted in packets, 3 to 9")


def findings(r: Results, others: Mapping[str, Results], ties: Sequence[Mapping[str, str]]) -> list[str]:
    """The summary at the top of the page."""
    rates = _one(r, "throughput", "DropTail", "0.5")
    gain = _gain(r)
    same = _one(r, "packets_sent", "DropTail", "3")
    manage, red = _curve(r, "threshold", "Management"), _curve(r, "threshold", "RED")
    ahead = [100 * (a / b - 1) for a, b in zip(manage, red, strict=True)]
    counted = _packet_red(others)
    turned = ""
    if counted is not None:
        other = [100 * (a / b - 1) for a, b in zip(manage, _curve(counted, "threshold", "RED"), strict=True)]
        turned = (
            f" Counted in packets, as its authors describe it, RED is ahead at {_where(other)} (Management against it: "
            f"{', '.join(f'{x:+.1f}' for x in other)} %). The published winner is a matter of units."
        )
    delays = _five(r, "mean_delay")
    beside, over = _pair(r, "Vegas-Fack", "RED"), _pair(r, "Vegas-Fack", "DropTail")
    phases = others.get("each CBR stream with a phase of its own")
    flips = ""
    if phases is not None:
        flips = (
            " Give each of the five streams a phase of its own and the three get "
            f"{_list(_one(phases, 'throughput', 'DropTail', '0.5'), 2)} "
            "Mbit/s: the order is made by five packets that arrive in one burst at a queue of ten."
        )
    single, ahead_of_sack, runs = _rates_of_vegas(r)
    return [
        f"Beside streams that leave half of the link, Vegas, Sack and Fack get {_list(rates, 2)} Mbit/s: on average of {runs} replications "
        f"Vegas is {gain[0]:.0f} and {gain[1]:.0f} % ahead, not 46 and 79 %. By the moment at which it begins Vegas gets from "
        f"{single[0]:.2f} to {single[1]:.2f}, more than Sack in {ahead_of_sack} of them: one run, as in the paper, can show either order. "
        "The printed 63.8, 43.7 and 35.6 Mbit/s do not fit on 5 Mbit/s." + flips,
        "At 3 Mbit/s a stream the link is asked for three times what it carries, and TCP gets what it sent before the streams began: "
        f"{_list(same, 0)} packets in 100 s with a lead of one second. The printed counts (a fifth of them: 598, 78 and 294) are of that "
        "kind; comparing variants there compares a few retransmissions.",
        "Five flows of one variant over RED share the link almost equally (Jain's index "
        f"{min(_five(r, 'jain')):.3f} to {max(_five(r, 'jain')):.3f}); over DropTail Vegas does not "
        f"({_five(r, 'jain', 'DropTail')[0]:.2f}). "
        f"{_near_paths(others)}Which flow stands out differs from replication to replication; a single run, as in the paper, can show any.",
        f"Over RED Vegas sends most and has the largest delay ({_list(delays, 1)} ms for Vegas, Sack and Fack), as printed. The "
        "printed delays "
        "of 88 to 106 ms need 43 to 54 waiting packets and so do not fit a queue of 10.",
        f"Vegas beside Fack gets {over[0]:.2f} against {over[1]:.2f} Mbit/s with DropTail: the loss-based flow wins, as the "
        "paper says. Over "
        f"RED as ns-2 sets it up, with room for four packets, it is {beside[0]:.2f} against {beside[1]:.2f} on average of two outcomes: "
        f"{outcomes(r, 'Vegas-Fack', 'Fack')}.",
        "Management is ns-2's DropTail under another name: run beside it, every packet has the same fate. It carries more than RED at all "
        f"thresholds ({', '.join(f'{x:+.1f}' for x in ahead)} % at 5 to 30), because ns-2's RED counts in units of 500 byte: a "
        "limit of 10 is "
        "four packets of 1040." + turned,
    ]


def _rates_of_vegas(r: Results) -> tuple[tuple[float, float], int, int]:
    """Least and most that Vegas gets beside streams of 0.5 Mbit/s over DropTail; in how many of how many runs it is ahead of Sack."""
    vegas, sack = (r.samples(r.cell(part="one", tcp=t, queue="DropTail", cbr_rate_mbps="0.5"), "throughput") for t in ("Vegas", "Sack"))
    return (min(vegas), max(vegas)), sum(a > b for a, b in zip(vegas, sack, strict=True)), len(vegas)


def outcomes(r: Results, pair: str, other: str) -> str:
    """How often which side of a pair over RED gets more, and how much of it."""
    cell = r.cell(part="mixed", pair=pair, queue="RED")
    own, theirs = (r.samples(cell, f"throughput_{i}") for i in (0, 1))
    lost = [x for x, y in zip(own, theirs, strict=True) if x < y]
    won = [x for x, y in zip(own, theirs, strict=True) if x >= y]
    text = f"in {len(lost)} of {len(own)} replications {other} gets more"
    if lost and won:
        text += f" and Vegas {sum(lost) / len(lost):.2f} Mbit/s, in the others Vegas gets {sum(won) / len(won):.2f}"
    return text


def _near_paths(others: Mapping[str, Results]) -> str:
    near = others.get("access links that differ by microseconds")
    if near is None:
        return ""
    index = [near.mean("jain", part="five", tcp=t, queue="RED") for t in _PRINTED]
    return (
        f"That needs paths that are exactly alike: with access links that differ by 20 microseconds it is {_list(index, 2)} for Vegas, "
        "Sack and Fack. "
    )


def _where(gains: Sequence[float]) -> str:
    behind = [str(n) for n, g in zip(_THRESHOLDS, gains, strict=True) if g < 0]
    return ", ".join(behind) if behind else "no threshold"


def causes(r: Results, others: Mapping[str, Results], ties: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Why claims come out as they do, each with a run that shows it."""
    out = {
        "V1": _order(r, others),
        "V3": _delay(r, others),
        "V4": _drop_rate(r, others),
        "V7": _losses(r, others),
        "V8": _starved(r, others),
        "V9": f"Nothing to tell apart: {_list(_one(r, 'throughput', 'RED', '3'), 4)} Mbit/s for Vegas, Sack and Fack, a few "
        "hundred packets of "
        "the first second each.",
        "V10": _red_against_droptail(r, others),
        "V11": _reversed(r),
        "V12": _advantage(r, others),
        "V13": _windows(r, others),
        "V17": _stands_out(r, ties),
        "V18": _fack_shares(r, others),
        "V19": f"{_list(_five(r, 'mean_delay'), 2)} ms for Vegas, Sack and Fack: Vegas is well apart, Sack and Fack differ by "
        f"{abs(_five(r, 'mean_delay')[1] - _five(r, 'mean_delay')[2]):.2f} ms, and many other choices turn them round.",
        "V20b": _vegas_losses(r, others),
        "V22": _beside_vegas(r, others),
        "V25": _management(r, others),
        "V26": _fairness(r, others),
        "V27": "Limits of 2, 3, 10 and 50 were run, each packet for packet equal to ns-2's DropTail and never to a DropTail that keeps n.",
    }
    return {k: x for k, x in out.items() if x}


def _delay(r: Results, others: Mapping[str, Results]) -> str:
    early, late = (_one(r, "mean_delay", "DropTail", rate) for rate in ("0.5", "3"))
    text = f"At 3 Mbit/s Vegas, Sack and Fack have {_list(late, 1)} ms, at 0.5 Mbit/s {_list(early, 1)} ms"
    if late[0] < min(late[1:]) and early[0] >= min(early[1:]):
        text += ": there it fails"
        if early[0] < early[1]:
            text += " against Fack, which loses most and so keeps the queue shortest"
    text += ". The five streams arrive in one burst every 16 ms at a queue of ten; where they do not, or the queue is longer, it holds."
    for name, words in (
        ("each CBR stream with a phase of its own", "With a phase of its own for each stream"),
        ("CBR with jitter", "With jittered streams"),
        ("two CBR flows", "With two streams"),
        ("queue limit 50", "With room for 50 packets"),
    ):
        if name in others and _least_delay(others[name]):
            text += f" {words}: {_list(_one(others[name], 'mean_delay', 'DropTail', '0.5'), 1)} ms."
    return text


def _least_delay(r: Results) -> bool:
    """Whether V3 holds."""
    return all(d[0] < min(d[1:]) for d in (_one(r, "mean_delay", "DropTail", rate) for rate in ("0.5", "3")))


def _order(r: Results, others: Mapping[str, Results]) -> str:
    (least, most), ahead, runs = _rates_of_vegas(r)
    _, sack, fack = _one(r, "throughput", "DropTail", "0.5")
    text = (
        f"Sack and Fack always get {sack:.2f} and {fack:.2f} Mbit/s; Vegas rests at a rate from {least:.2f} to {most:.2f}, by the moment "
        f"within the streams' period of 16 ms at which it begins: more than Sack in {ahead} of {runs} replications."
    )
    authors = others.get("Vegas alpha 2, beta 4")
    if authors is not None:
        rates = _one(authors, "throughput", "DropTail", "0.5")
        word = "it holds" if rates[0] > rates[1] > rates[2] else "it does not hold either"
        text += f" With the values of Vegas's authors, alpha 2 and beta 4, {word}: {_list(rates, 2)} Mbit/s."
    return text


def _red_against_droptail(r: Results, others: Mapping[str, Results]) -> str:
    over, beside = (1e3 * _one(r, "throughput", q, "3")[0] for q in ("DropTail", "RED"))
    text = (
        f"The difference is {over:.1f} against {beside:.1f} kbit/s, earned in the second before the streams begin: RED has room for four "
    )
    text += "packets then, DropTail for nine."
    counted = _packet_red(others)
    return text + (f" Counted in packets RED gives {1e3 * _one(counted, 'throughput', 'RED', '3')[0]:.1f} kbit/s." if counted else "")


def _reversed(r: Results) -> str:
    rates, losses, delays = (_one(r, q, "RED", "3") for q in ("throughput", "packets_lost", "mean_delay"))
    return (
        f"With RED Vegas, Sack and Fack get {_list(rates, 4)} Mbit/s and lose {_list(losses, 1)} packets, most differences being smaller "
        f"than the intervals; the delay of Vegas is the smallest ({_list(delays, 1)} ms), as the printed table says too."
    )


def _drop_rate(r: Results, others: Mapping[str, Results]) -> str:
    text = f"Vegas, Sack and Fack lose {_list(_share_lost(r, 'DropTail', '3'), 1)} % of what they send. "
    text += f"That is {_list(_one(r, 'packets_lost', 'DropTail', '3'), 1)} packets of some 500: a handful decides."
    for name, words in (("TCP window unlimited", "With no limit on the window"), ("shared link of 2 ms", "Over a shared link of 2 ms")):
        if name in others:
            text += f" {words} it holds: {_list(_share_lost(others[name], 'DropTail', '3'), 1)} %."
    return text


def _losses(r: Results, others: Mapping[str, Results]) -> str:
    text = f"At 0.5 Mbit/s {_list(_one(r, 'packets_lost', 'DropTail', '0.5'), 0)} packets are lost (and 145 to 200 are printed). "
    text += (
        "A flow that grows its window until it loses must lose, and ten packets are less than one burst of the streams and a window of 20."
    )
    roomy = others.get("queue limit 50")
    return text + (
        f" With ns-2's default queue of 50 packets the claim holds: {_list(_one(roomy, 'packets_lost', 'DropTail', '0.5'), 0)} lost."
        if roomy
        else ""
    )


def _starved(r: Results, others: Mapping[str, Results]) -> str:
    text = (
        f"{_list([1e3 * x for x in _one(r, 'throughput', 'DropTail', '3')], 1)} kbit/s for Vegas, Sack and Fack: what they sent before the "
        "streams began. Sack and Fack fill the queue by doubling every round trip, Vegas every other one."
    )
    for name, words in (("shared link of 2 ms", "Over a shared link of 2 ms"), ("CBR begins together with TCP", "If all begin together")):
        if name in others:
            text += f" {words}: {_list([1e3 * x for x in _one(others[name], 'throughput', 'DropTail', '3')], 2)} kbit/s."
    return text


def _advantage(r: Results, others: Mapping[str, Results]) -> str:
    gain = _gain(r)
    text = f"Vegas is {gain[0]:.0f} % ahead of Sack and {gain[1]:.0f} % ahead of Fack here."
    tried = {name: _gain(o) for name, o in others.items() if "window of 1" not in name and "as chosen" not in name}
    if tried:
        name = max(tried, key=lambda n: min(tried[n]))
        best = tried[name]
        text += (
            f" Of the {len(tried)} other choices none reaches 37 % over both; the most is {best[0]:.0f} and {best[1]:.0f} % "
            f"({name}). The streams "
            "leave 2.5 Mbit/s, and Sack and Fack already use most of it: there is little room."
        )
    return text


def _windows(r: Results, others: Mapping[str, Results]) -> str:
    most = [r.mean("cwnd_max", part="one", tcp=t, queue="DropTail", cbr_rate_mbps="0.5") for t in _PRINTED]
    text = f"The windows of Vegas, Sack and Fack reach {_list(most, 0)} packets."
    single = others.get("Sack and Fack with a window of 1")
    if single is not None:
        sent = _one(single, "packets_sent", "DropTail", "0.5")[1:]
        text += (
            f" Held at one packet, Sack and Fack send {_list(sent, 0)} packets in 100 s; a fifth of the printed counts is 13137 and 10717. "
            "The figure and the table of the paper exclude one another (contradiction 9)."
        )
    return text


def _stands_out(r: Results, ties: Sequence[Mapping[str, str]]) -> str:
    shares = [r.mean(f"throughput_{i}", part="five", tcp="Vegas", queue="RED") for i in range(5)]
    cell = r.cell(part="five", tcp="Vegas", queue="RED")
    runs = len(r.samples(cell, "jain"))
    wins = sum(r.samples(cell, "throughput_4")[k] == max(r.samples(cell, f"throughput_{i}")[k] for i in range(5)) for k in range(runs))
    text = f"n5 to n9 get {_list(shares, 3)} Mbit/s on average; n9 gets most in {wins} of {runs} replications."
    first, second = (_tied(ties, delays) for delays in ("equal", "unequal by microseconds"))
    return text + (
        f" It is a lottery in ns-2 as well: n9 gets most in {first[0]} of {first[1]} runs with equal access links, in {second[0]} of "
        f"{second[1]} with links that differ by microseconds."
    )


def _tied(ties: Sequence[Mapping[str, str]], delays: str) -> tuple[int, int]:
    """In how many of how many ns-2 runs of five Vegas flows n9 gets most."""
    runs: dict[str, dict[str, float]] = {}
    for t in ties:
        if t["tcp"] == "Vegas" and t["access_delays"] == delays:
            runs.setdefault(t["seed"], {})[t["flow"]] = float(t["value"])
    return sum(max(x, key=x.__getitem__) == "n9" for x in runs.values()), len(runs)


def _fack_shares(r: Results, others: Mapping[str, Results]) -> str:
    text = f"Jain's index is {r.mean('jain', part='five', tcp='Fack', queue='RED'):.4f}: flows with equal paths and starts share alike."
    old = others.get("older timers")
    if old is not None:
        text += (
            " With timers of older ns-2 (ticks of 100 ms, minimum RTO 1 s) it is "
            f"{old.mean('jain', part='five', tcp='Fack', queue='RED'):.3f} in a single run: "
            "flows that wait a second for a timeout fall behind, other ones each time."
        )
    near = others.get("access links that differ by microseconds")
    if near is not None:
        index = near.mean("jain", part="five", tcp="Fack", queue="RED")
        text += f" With access links that differ by 20 microseconds from flow to flow it is {index:.2f}, and the claim holds."
    return text


def _vegas_losses(r: Results, others: Mapping[str, Results]) -> str:
    text = (
        f"Vegas, Sack and Fack lose {_list(_five(r, 'packets_lost'), 0)} packets. Five Vegas flows keep 5 to 15 packets "
        "waiting, more than the "
        "four that ns-2's RED holds with a limit of 10."
    )
    space = others.get("RED 20 to 60 packets, limit 100")
    if space is not None:
        text += f" With thresholds of 20 and 60 packets they lose {_list(_five(space, 'packets_lost'), 0)}: the claim needs such a queue."
    return text


def _beside_vegas(r: Results, others: Mapping[str, Results]) -> str:
    def both(x: Results, queue: str) -> str:
        return "; ".join(f"{b[0]:.2f} against {b[1]:.2f}" for b in (_pair(x, p, queue) for p in ("Vegas-Fack", "Vegas-Sack")))

    text = (
        f"Over RED in ns-2's setting, with room for four packets, it is so on average (Vegas against Fack; Sack: {both(r, 'RED')} Mbit/s), "
    )
    text += f"of two outcomes, by the start: {outcomes(r, 'Vegas-Fack', 'Fack')}; {outcomes(r, 'Vegas-Sack', 'Sack')}. "
    text += f"With DropTail it is clear ({both(r, 'DropTail')})"
    counted = _packet_red(others)
    return text + (f", and so with RED counted in packets ({both(counted, 'RED')})." if counted is not None else ".")


def _management(r: Results, others: Mapping[str, Results]) -> str:
    counted = _packet_red(others)
    text = "RED in ns-2's setting counts 500-byte units, so that it has less than half of Management's room at the same threshold."
    if counted is not None:
        text += (
            f" With RED counted in packets it fails: {_list(_curve(counted, 'threshold', 'RED'), 2)} Mbit/s for RED, "
            f"{_list(_curve(r, 'threshold', 'Management'), 2)} for Management at 5 to 30."
        )
    return text


def _fairness(r: Results, others: Mapping[str, Results]) -> str:
    manage, red = _curve(r, "fairness", "Management"), _curve(r, "fairness", "RED")
    text = (
        f"The first half holds: Jain's index grows from {manage[0]:.2f} to {manage[-1]:.2f} (Management) and from {red[0]:.2f} "
        f"to {red[-1]:.2f} "
        f"(RED). At 10 RED is behind ({red[1]:.3f} against {manage[1]:.3f}), having room for four packets."
    )
    counted = _packet_red(others)
    if counted is not None:
        text += f" Counted in packets RED has {_curve(counted, 'fairness', 'RED')[1]:.3f} there, and the claim holds."
    return text
