"""FACK after one loss, with and without rampdown."""

from __future__ import annotations

from matplotlib.figure import Figure

from fairlane.tcp import Endpoint, Segment

SPACING = 0.0025
"""Time between segments of the steady flow in seconds: 40 a round trip."""


def _sent(rampdown: bool) -> list[tuple[float, float]]:
    """Times of the segments sent after the loss was found, and their count."""
    params = {
        "cc": "fack",
        "fack_rampdown": rampdown,
        "limited_transmit": False,
        "mss": "1000B",
        "initial_window": "40p",
        "initial_ssthresh": "2p",
        "ack_every": 1,
        "handshake": False,
        "fin": False,
    }
    sender, receiver = Endpoint(params), Endpoint(params, passive=True)
    now, free, count, data = 0.0, 0.0, 0, 0
    wire: list[tuple[float, int, bool, Segment]] = []
    times: list[float] = []

    def post(segments: list[Segment], forward: bool) -> None:
        nonlocal free, count, data
        for s in segments:
            count += 1
            leave = now
            if forward and s.payload:
                times.append(now)
                leave = free = max(free, now) + SPACING
                data += 1
                if data == 41:
                    continue
            wire.append((leave + 0.05, count, forward, s))

    post(receiver.start(0.0), False)
    post(sender.start(0.0), True)
    post(sender.write(0.0), True)
    cut = None
    while now < 0.6:
        deadlines = [d for d in (sender.next_deadline, receiver.next_deadline) if d is not None]
        now = min([w[0] for w in wire] + deadlines)
        for w in sorted(w for w in wire if w[0] <= now):
            wire.remove(w)
            post((receiver if w[2] else sender).receive(now, w[3]), not w[2])
            if cut is None and sender.view()["fast_recoveries"]:
                cut = now
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
    assert cut is not None
    after = [t - cut for t in times if cut < t <= cut + 0.2]
    return [(1000 * t, n + 1.0) for n, t in enumerate(after)]


def figure() -> Figure:
    """Segments sent since the loss was found."""
    drawing = Figure(figsize=(6, 3.2), layout="constrained")
    axes = drawing.subplots()
    for rampdown, label in ((False, "plain"), (True, "rampdown")):
        points = _sent(rampdown)
        axes.step([t for t, _ in points], [n for _, n in points], where="post", label=label)
    axes.plot([0, 100], [0, 20], "k:", lw=1, label="half the previous rate")
    axes.set(xlabel="time since the loss was found (ms)", ylabel="segments sent", xlim=(0, 200), ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
