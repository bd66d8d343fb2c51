"""Findings on Sarma 2013, in sentences with the numbers of the runs at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from fairlane.papers import Results

_TCP = (3, 5, 8, 10, 25, 35, 50)
_DELAY, _RATE, _LOSS = "mean_end_to_end_delay", "throughput_per_client", "packet_loss_rate"
DEEP = "50 packets at the shared link"
ONE_LIMIT = "one limit for all kinds of run"
PROMPT = "acknowledgments not delayed"
ROOMY = "RED with DropTail's room"
"""Alternatives that the sentences quote."""
_SPREAD = "1.2 ms"
"""Time within which the clients start."""
_PATH = {"TCP": 13.246, "UDP": 13.24, "TCP-UDP": 13.24}
"""Delay of a packet that waits nowhere, from the router on, plus 3 ms, in ms; one of TCP has 40 bytes more."""
Published = Mapping[tuple[int, str, str, str], float]
"""Published values by clients, queue, traffic and quantity."""


def _of(r: Results, quantity: str, n: int, queue: str, traffic: str) -> float:
    return r.mean(quantity, clients=n, queue=queue, traffic=traffic)


def _tcp(r: Results, quantity: str, queue: str, at: Iterable[int] = _TCP) -> list[float]:
    return [_of(r, quantity, n, queue, "TCP") for n in at]


def _listed(values: Sequence[float], digits: int) -> str:
    *first, last = (f"{x:.{digits}f}" for x in values)
    return f"{', '.join(first)} and {last}"


def _apart(r: Results, published: Published, quantity: str) -> float:
    """The median difference from the published values of a quantity, percent; those published as 0 are left out."""
    values = [(x, _of(r, q, n, queue, traffic)) for (n, queue, traffic, q), x in published.items() if q == quantity and x]
    return 100 * median(abs(y / x - 1) for x, y in values)


def _waits_apart(r: Results, published: Published) -> float:
    """The median difference from the published queueing delays, percent; a published delay below that of the path is left out."""
    values = [(x, _of(r, q, n, queue, t), _PATH[t]) for (n, queue, t, q), x in published.items() if q == _DELAY and x > _PATH[t]]
    return 100 * median(abs((y - path) / (x - path) - 1) for x, y, path in values)


def _medians(r: Results, published: Published) -> str:
    rate, loss = (_apart(r, published, q) for q in (_RATE, _LOSS))
    return f"{_waits_apart(r, published):.0f} % in queueing delay, {rate:.1f} % in throughput and {loss:.0f} % in loss"


def _overflows(r: Results) -> str:
    """Share of RED's drops at the router that are overflows, 50 TCP clients, in words."""
    share = _of(r, "router_overflow_share", 50, "RED", "TCP")
    return "all" if share >= 99.5 else f"{share:.0f} %"


def _more(r: Results) -> list[int]:
    """The rows in which RED loses more than DropTail."""
    both = zip(_TCP, _tcp(r, _LOSS, "RED"), _tcp(r, _LOSS, "DropTail"), strict=True)
    return [n for n, red, tail in both if red > tail]


def _where(rows: Sequence[int]) -> str:
    return f"{len(rows)} of {len(_TCP)} rows" + (f" ({', '.join(map(str, rows))} clients)" if 0 < len(rows) < len(_TCP) else "")


def _with_room(others: Mapping[str, Results]) -> str:
    """Describes RED with the buffer of DropTail."""
    if ROOMY not in others:
        return ""
    o = others[ROOMY]
    rates = zip(_tcp(o, _RATE, "RED"), _tcp(o, _RATE, "DropTail"), strict=True)
    apart = [100 * (a / b - 1) for a, b in rates]
    return (
        f" With the room of DropTail, 1500 bytes for each packet of its limit, RED loses more in {_where(_more(o))} and carries "
        f"{min(apart):+.1f} to {max(apart):+.1f} % of what DropTail does."
    )


def _one_limit(others: Mapping[str, Results], published: Published) -> str:
    """Describes one limit for all kinds of run."""
    if ONE_LIMIT not in others:
        return ""
    o = others[ONE_LIMIT]
    flood = [_of(o, _DELAY, n, "DropTail", "UDP") for n in (8, 10)]
    return f" With the limit of the TCP runs they are {_listed(flood, 2)} ms."


def _published(published: Published, queue: str, quantity: str, at: Iterable[int], digits: int, traffic: str = "TCP") -> str:
    return _listed([published[n, queue, traffic, quantity] for n in at], digits)


def findings(r: Results, others: Mapping[str, Results], published: Published) -> list[str]:
    """The summary at the top of the page; `others`: with other choices."""
    many = (8, 10, 25, 35, 50)
    rates = zip(_tcp(r, _RATE, "DropTail"), _tcp(r, _RATE, "RED"), strict=True)
    gain = [100 * (a / b - 1) for a, b in rates]
    slow, fast = (_of(r, _DELAY, 50, q, "TCP") for q in ("DropTail", "RED"))
    whole = _of(r, "full_one_way_delay", 3, "DropTail", "TCP")
    flood, early = ([_of(r, _DELAY, n, q, "UDP") for n in (8, 10)] for q in ("DropTail", "RED"))
    shared = r.samples(r.combination(clients=10, queue="DropTail", traffic="TCP-UDP"), _LOSS)
    return [
        "The published delays and throughputs come out together when each kind of run has its own limit at the shared link (10 packets "
        "with TCP, 4 with UDP, 8 with both) and receivers delay acknowledgments. The median difference from the published values is "
        f"{_medians(r, published)}. The queueing delay is the delay less what a packet needs without any queue, {_PATH['UDP']} ms with "
        f"UDP and {_PATH['TCP']} with TCP"
        + "".join(
            f"; with {name} the medians are {_medians(others[name], published)}" for name in (ONE_LIMIT, DEEP, PROMPT) if name in others
        )
        + ".",
        f"UDP runs have a shorter queue than TCP runs: with 4 packets (3 of them wait) 8 and 10 UDP clients have {_listed(flood, 2)} "
        f"ms with DropTail, published {_published(published, 'DropTail', _DELAY, (8, 10), 2, 'UDP')}, and {_listed(early, 2)} ms with RED, "
        f"published {_published(published, 'RED', _DELAY, (8, 10), 2, 'UDP')}." + _one_limit(others, published),
        f"RED's delays at 8 to 50 TCP clients are {_listed(_tcp(r, _DELAY, 'RED', many), 2)} ms, published "
        f"{_published(published, 'RED', _DELAY, many, 2)}; its losses at 25, 35 and 50 clients are "
        f"{_listed(_tcp(r, _LOSS, 'RED', many[2:]), 2)} %, "
        f"published {_published(published, 'RED', _LOSS, many[2:], 2)}.",
        f"DropTail's losses differ: {_listed(_tcp(r, _LOSS, 'DropTail', many[2:]), 2)} % at 25, 35 and 50 clients, published "
        f"{_published(published, 'DropTail', _LOSS, many[2:], 2)}.",
        f"The queues trade delay against throughput, as the paper says: with 50 TCP clients a packet needs {slow:.1f} ms with DropTail and "
        f"{fast:.1f} ms with RED, while DropTail carries {min(gain):.0f} to {max(gain):.0f} % more.",
        f"RED loses more than DropTail in {_where(_more(r))}. It counts packets of 500 bytes, so that its buffer is a third of DropTail's, "
        f"and {_overflows(r)} of its drops at the router are overflows of that, not early drops." + _with_room(others),
        "UDP fills the shared link: min(10, 50/n) Mbit/s a client with either queue, and everything above is lost."
        + _exactly_full(r.samples(r.combination(clients=5, queue="RED", traffic="UDP"), _LOSS)),
        "Up to 5 clients the access links are the limit. A TCP packet waits in its own client's queue: "
        f"{whole:.0f} ms from end to end with DropTail, {whole / 13.246:.1f} times the 13.2 ms that the published delays, counted from the "
        "router, show.",
        *_single(shared),
    ]


def _exactly_full(losses: Sequence[float]) -> str:
    """Describes RED where five UDP clients fill the link exactly; empty if no replication loses anything."""
    lossy = [x for x in losses if x > 1]
    if not lossy:
        return ""
    return (
        f" With RED and 5 clients, which fill the link exactly, {len(lossy)} of {len(losses)} replications lose "
        f"{max(lossy):.0f} % all the same."
    )


def _single(losses: Sequence[float]) -> list[str]:
    """Says what one run of the shared network tells; nothing if there was only one."""
    if len(losses) < 2:
        return []
    return [
        "In the shared network a single run, as in the paper (0.70 % lost at 10 clients), says little: the loss goes from "
        f"{min(losses):.1f} to {max(losses):.1f} % between replications, which differ in the starts of the clients within {_SPREAD}."
    ]


def causes(r: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
    """Why claims come out as they do, each with the runs that show it."""

    def against(quantity: str, first: str, second: str, digits: int, at: Sequence[int] = _TCP) -> str:
        pairs = zip(_tcp(r, quantity, first, at), _tcp(r, quantity, second, at), strict=True)
        return ", ".join(f"{a:.{digits}f} against {b:.{digits}f}" for a, b in pairs)

    udp = {(q, n): (_of(r, _DELAY, n, q, "UDP"), _of(r, _DELAY, n, q, "TCP")) for q in ("DropTail", "RED") for n in (3, 5, 8, 10)}
    router = f"{_of(r, 'router_loss', 3, 'DropTail', 'TCP'):.3f} %".replace("0.000 %", "none")
    use = [100 * n * _of(r, _RATE, n, "DropTail", "TCP") / 50_000 for n in (10, 25, 35, 50)]
    losses = f"Percent lost, RED against DropTail, 3 to 50 clients: {against(_LOSS, 'RED', 'DropTail', 2)}."
    return {
        "S4": "Delay of UDP against TCP: " + ", ".join(f"{u:.2f} against {t:.2f} ms ({q}, {n} clients)" for (q, n), (u, t) in udp.items())
        + ". In overload UDP keeps the router's queue full; with few clients the phases of the packets decide.",
        "S7": "The only published exception is the impossible 6558.24 kbit/s (contradiction 3).",
        "S11": "The published 6558.24 kbit/s of 8 clients is more than the link carries (contradiction 3). Counted as the paper "
        "counts, 1500 of 1540 bytes of a packet, a full link gives at most 97.4 % of its rate.",
        "S13": losses + _with_room(others),
        "S14": losses + _with_room(others),
        "S22": "The published table fails at one cell, the impossible 6558.24 kbit/s. At 8 and 10 clients UDP with RED "
        f"loses {_listed([_of(r, _LOSS, n, 'RED', 'UDP') for n in (8, 10)], 0)} % of its packets: the delay is that of those that arrive.",
        "S23b": f"Percent lost, RED against DropTail, 8 and 10 clients: {against(_LOSS, 'RED', 'DropTail', 2, (8, 10))}; UDP 37, 50.",
        "S18a": f"The link is used to {_listed(use, 1)} % by 10, 25, 35 and 50 clients."
        + (f" With {DEEP}: {_listed([100 * n * _of(others[DEEP], _RATE, n, 'DropTail', 'TCP') / 50_000 for n in (10, 25, 35, 50)], 1)} %."
           if DEEP in others else ""),
        "S18b": f"Ten clients use {use[0]:.1f} % of the link and fifty {use[-1]:.1f} %.",
        "S21": f"The loss happens in the clients' own queues ({router} at the router): a window of 120 packets is more than the 22 packets "
        "that the path holds and the 50 of the queue.",
    }  # fmt: skip
