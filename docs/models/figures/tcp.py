"""The back-off of TCP's retransmission timer, against RFC 6298."""

from __future__ import annotations

from matplotlib.figure import Figure

from fairlane.tcp import Endpoint, Segment


def backoff_times(preset: str, until: float) -> tuple[list[float], float]:
    """When a sender whose network falls silent retransmits, from the last acknowledgment on, and its RTO then."""
    params = {"preset": preset, "cc": "newreno", "mss": "1000B", "initial_window": "4p"}
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    now, rtt, sent = 0.0, 0.1, 0
    wire: list[tuple[float, int, bool, Segment]] = []

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal sent
        for s in segments:
            sent += 1
            wire.append((now + rtt / 2, sent, forward, s))

    receiver.start(0.0)
    post(sender.start(0.0), True)
    post(sender.write(0.0, 20_000), True)
    while now < 3.0:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        now = min([w[0] for w in wire] + deadlines + [3.0])
        due = sorted(w for w in wire if w[0] <= now)
        for w in due:
            wire.remove(w)
            post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
    start, rto = now, sender.view()["rto"]
    sender.write(now, 1000)
    times = []
    while sender.next_deadline is not None and sender.next_deadline - start < until:
        now = sender.next_deadline
        if sender.advance(now):
            times.append(now - start)
    return times, rto


def figure() -> Figure:
    """Exponential back-off (RFC 6298 section 5.5) of a segment that is never acknowledged."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    most = {"rfc": 60.0, "ns2": 60.0, "linux": 120.0}
    for preset, cap in most.items():
        times, rto = backoff_times(preset, 400.0)
        want, at, span = [], 0.0, rto
        while at + span < 400.0:
            at += span
            want.append(at)
            span = min(2 * span, cap)
        (line,) = axes.plot(range(1, len(want) + 1), want, label=f"{preset}: doubling from {rto:.3g} s to {cap:.0f} s")
        axes.plot(range(1, len(times) + 1), times, "o", ms=5, mfc="none", color=line.get_color())
    axes.set(xlabel="retransmission of the same segment", ylabel="seconds after the first transmission", yscale="log")
    axes.legend(fontsize="small", title="lines: formula; circles: endpoint", title_fontsize="small")
    return drawing
