"""Recovery by count and by time: a lost tail, and a lost retransmission."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import dropped

SCHEMES: dict[str, dict[str, object]] = {
    "RFC 6675": {},
    "RACK": {"rack": True, "prr": "rfc9937"},
    "RACK-TLP": {"rack": True, "tlp": True, "prr": "rfc9937"},
}


def figure() -> Figure:
    """Segments acknowledged over time."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    cases = {"the last 3 of 30 are lost": (dict.fromkeys(range(27, 30), 1), 30), "a retransmission is lost": ({20: 2}, 200)}
    for axes, (title, (lost, segments)) in zip(drawing.subplots(1, 2), cases.items(), strict=True):
        for i, (label, scheme) in enumerate(SCHEMES.items()):
            params = {"cc": "sack", "initial_window": "10p", **scheme}
            trace = dropped(params, lost, until=3.0, write=segments * 1000)
            axes.step([t for t, _, _ in trace], [a for _, _, a in trace], where="post", lw=1.4 - 0.3 * i, color=f"C{i}", label=label)
        axes.set(xlim=(0, None), ylim=(0, None), xlabel="time (s)")
        axes.set_title(title, fontsize="medium")
    drawing.axes[0].set_ylabel("segments acknowledged")
    drawing.axes[0].legend(fontsize="small", loc="lower right")
    return drawing
