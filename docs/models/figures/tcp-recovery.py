"""Four schemes of loss recovery after the same three losses."""

from __future__ import annotations

from matplotlib.figure import Figure

from fairlane.tcp import Endpoint, Segment

LOST = (20, 24, 28)
"""The transmissions that are lost, counted from zero."""


def recovery_trace(cc: str) -> tuple[list[tuple[float, float]], list[tuple[float, float]], float]:
    """Window over time, retransmissions and end of a transfer that loses three segments of one window."""
    params = {"preset": "rfc", "cc": cc, "mss": "1000B", "initial_window": "20p", "initial_ssthresh": "2p", "ack_every": 1}
    params |= {"handshake": False, "fin": False}
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    delay, now, count, sent = 0.05, 0.0, 0, 0
    wire: list[tuple[float, int, bool, Segment]] = []
    window: list[tuple[float, float]] = []
    again: list[tuple[float, float]] = []
    free = 0.0

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal count, sent, free
        for s in segments:
            count += 1
            leave = now
            if forward and s.payload:
                leave = free = max(free, now) + 0.001  # a link of 1000 segments a second
                if s.retransmission:
                    again.append((now, (s.seq - 1) / 1000))
                sent += 1
                if sent - 1 in LOST:
                    continue
            wire.append((leave + delay, count, forward, s))

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
    return window, again, receiver.delivered / 1000


def figure() -> Figure:
    """The four schemes after the same three losses in a window of 20 segments."""
    drawing = Figure(figsize=(7, 4.6), layout="constrained")
    panels = drawing.subplots(2, 2, sharex=True, sharey=True).flat
    for axes, (cc, name) in zip(panels, {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK"}.items(), strict=True):
        window, again, delivered = recovery_trace(cc)
        axes.step([t for t, _ in window], [w for _, w in window], where="post", lw=1.2, label="cwnd")
        axes.plot([t for t, _ in again], [1.0] * len(again), "|", ms=9, mew=1.3, color="C3", label="retransmission")
        axes.set_title(f"{name}: {delivered:.0f} segments in 3 s", fontsize="medium")
    drawing.supxlabel("time (s)", fontsize="medium")
    drawing.supylabel("segments", fontsize="medium")
    panels = drawing.axes
    panels[0].set(xlim=(0, 3), ylim=(0, 42))
    panels[0].legend(fontsize="small", loc="upper right")
    return drawing
