"""A delay spike that lets the timer go off, and what tells that nothing was lost."""

from __future__ import annotations

from matplotlib.figure import Figure

from fairlane.tcp import Endpoint, Segment

STALL = (1.0, 1.4)
"""Segments due between these times arrive at the second."""


def _window(extra: dict[str, object]) -> tuple[list[tuple[float, float]], int]:
    """Window over time, and the number of retransmissions."""
    params = {
        "preset": "rfc",
        "cc": "sack",
        "mss": "1000B",
        "initial_window": "20p",
        "initial_ssthresh": "2p",
        "rto_min": "200ms",
        "ack_every": 1,
        "handshake": False,
        "fin": False,
        **extra,
    }
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    now, free, count = 0.0, 0.0, 0
    wire: list[tuple[float, int, bool, Segment]] = []
    window: list[tuple[float, float]] = []

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal free, count
        for s in segments:
            count += 1
            at = now + 0.05
            if forward and s.payload:
                free = max(free, now) + 0.002
                at = free + 0.05
                if STALL[0] <= at < STALL[1]:
                    at = STALL[1]
            wire.append((at, count, forward, s))

    post(receiver.start(0.0), False)
    post(sender.start(0.0), True)
    post(sender.write(0.0), True)
    while now < 3.0:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        now = min([w[0] for w in wire] + deadlines)
        for w in sorted(w for w in wire if w[0] <= now):
            wire.remove(w)
            post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
        cwnd = sender.view()["cwnd"] / 1000
        if not window or window[-1][1] != cwnd:
            window.append((now, cwnd))
    return window, int(sender.view()["retransmits"])


def figure() -> Figure:
    """SACK alone, with F-RTO, with Eifel."""
    drawing = Figure(figsize=(6, 3.2), layout="constrained")
    axes = drawing.subplots()
    for label, extra in {"neither": {}, "F-RTO": {"frto": True}, "Eifel": {"eifel": True, "timestamps": True}}.items():
        window, again = _window(extra)
        style = "--" if label == "Eifel" else "-"
        axes.step([t for t, _ in window], [w for _, w in window], style, where="post", label=f"{label}: {again} sent again")
    axes.axvspan(*STALL, color="0.9", zorder=0)
    axes.set(xlabel="time (s)", ylabel="cwnd (segments)", xlim=(0, 3), ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
