"""Two TCP endpoints without a network, and a path between them that loses or delays chosen segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlane.tcp import Endpoint, Segment

from .runs import Points

Carry = Callable[[float, Segment], "float | None"]
"""Time at which a data segment leaves the link, None if it is lost."""
BARE = {"preset": "rfc", "mss": "1000B", "ack_every": 1, "handshake": False, "fin": False}
WINDOW = {**BARE, "initial_window": "20p", "initial_ssthresh": "2p"}


def link(spacing: float, lost: Callable[[int, Segment], bool] = lambda *_: False) -> Carry:
    """A link of one data segment in `spacing` seconds; `lost` judges a transmission by its number from zero."""
    free, count = 0.0, 0

    def carry(now: float, segment: Segment) -> float | None:
        nonlocal free, count
        free, count = max(free, now) + spacing, count + 1
        return None if lost(count - 1, segment) else free

    return carry


def exchange(
    params: dict[str, Any], until: float, carry: Carry, seen: Callable[[float, Any, list[Segment]], None], write: int | None = None
) -> tuple[Endpoint, Endpoint]:
    """Lets a sender write, all or `write` bytes, with a round trip of 100 ms; `seen`: the time, its state and what it sent."""
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    now, count = 0.0, 0
    wire: list[tuple[float, int, bool, Segment]] = []

    def post(segments: list[Segment], forward: bool) -> list[Segment]:
        nonlocal count
        for s in segments:
            count += 1
            leave = carry(now, s) if forward and s.payload else now
            if leave is not None:
                wire.append((leave + 0.05, count, forward, s))
        return segments if forward else []

    post(receiver.start(0.0), False)
    post(sender.start(0.0), True)
    sent = post(sender.write(0.0) if write is None else sender.write(0.0, write), True)
    seen(now, sender.view(), sent)
    while now < until:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        events = [w[0] for w in wire] + deadlines
        if not events:
            break
        now = min(events)
        sent = []
        for w in sorted(w for w in wire if w[0] <= now):
            wire.remove(w)
            sent += post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
        sent += post(sender.advance(now), True)
        post(receiver.advance(now), False)
        seen(now, sender.view(), sent)
    return sender, receiver


def dropped(
    params: dict[str, Any], lost: dict[int, int], column: str, *, until: float, write: int | None = None, unit: float = 1
) -> Points:
    """Times, and a column of the sender in segments, where the first `lost[n]` transmissions of segment n are lost."""
    left, trace = dict(lost), ([], [])

    def judge(_: int, segment: Segment) -> bool:
        number = (segment.seq - 1) // 1000
        left[number] = left.get(number, 0) - 1
        return left[number] >= 0

    def seen(now: float, view: Any, _: list[Segment]) -> None:
        if now > 0:
            trace[0].append(unit * now)
            trace[1].append(view[column] / 1000)

    exchange({**BARE, "receive_window": "60000B", **params}, until, link(0.005, judge), seen, write)
    return trace


def after_loss(rampdown: bool) -> Points:
    """Milliseconds since a loss was found at which FACK sends, and the number of segments; 40 a round trip, the 41st is lost."""
    params = {**BARE, "cc": "fack", "fack_rampdown": rampdown, "limited_transmit": False, "initial_window": "40p", "initial_ssthresh": "2p"}
    params.pop("preset")
    times: list[float] = []
    cut: list[float] = []

    def seen(now: float, view: Any, sent: list[Segment]) -> None:
        times.extend(now for s in sent if s.payload)
        if view["fast_recoveries"] and not cut:
            cut.append(now)

    exchange(params, 0.6, link(0.0025, lambda n, _: n == 40), seen)
    after = [1000 * (t - cut[0]) for t in times if cut[0] < t <= cut[0] + 0.2]
    return after, [n + 1.0 for n in range(len(after))]


def windows(params: dict[str, Any], carry: Carry, until: float = 3.0) -> tuple[Points, Points, float, int]:
    """Window over time, retransmissions, segments delivered, and the count of retransmissions."""
    window: Points = [], []
    again: Points = [], []

    def seen(now: float, view: Any, sent: list[Segment]) -> None:
        times = [now for s in sent if s.retransmission]
        again[0].extend(times)
        again[1].extend(1.0 for _ in times)
        if now > 0 and (not window[1] or window[1][-1] != view["cwnd"] / 1000):
            window[0].append(now)
            window[1].append(view["cwnd"] / 1000)

    sender, receiver = exchange({**WINDOW, **params}, until, carry, seen)
    return window, again, receiver.delivered / 1000, int(sender.view()["retransmits"])


def stalled(params: dict[str, Any]) -> tuple[Points, int]:
    """Window over time, and retransmissions, on a path that delivers what is due between 1 s and 1.4 s at the end of that time."""
    steady = link(0.002)

    def carry(now: float, segment: Segment) -> float | None:
        leave = steady(now, segment)
        return 1.35 if leave is not None and 0.95 <= leave < 1.35 else leave

    window, _, _, again = windows({"cc": "sack", "rto_min": "200ms", **params}, carry)
    return window, again


def silence(preset: str, until: float) -> tuple[list[float], float]:
    """Times at which a sender whose network falls silent retransmits, from the last acknowledgment on, and its RTO then."""
    params = {"preset": preset, "cc": "newreno", "mss": "1000B", "initial_window": "4p"}
    sender, _ = exchange(params, 3.0, lambda now, _: now, lambda *_: None, 20_000)
    rto = sender.view()["rto"]
    sender.write(3.0, 1000)
    times = []
    while sender.next_deadline is not None and sender.next_deadline - 3.0 < until:
        now = sender.next_deadline
        if sender.advance(now):
            times.append(now - 3.0)
    return times, rto
