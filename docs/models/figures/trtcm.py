"""Colours of the two rate marker by the offered load, against the shares that its profile allows."""

from __future__ import annotations

from matplotlib.figure import Figure

from .srtcm import draw


def figure() -> Figure:
    """Steady shares with CIR 2 Mbit/s and PIR 5 Mbit/s."""
    drawing = Figure(figsize=(7, 3), layout="constrained")
    cir, pir = 2.0, 5.0
    laws = {
        "green": lambda x: min(1, cir / x),
        "yellow": lambda x: max(0, min(1, pir / x) - cir / x),
        "red": lambda x: max(0, 1 - pir / x),
    }
    queue = {"trtcm": {"cir": "2Mbit/s", "cbs": "5000B", "pir": "5Mbit/s", "pbs": "5000B"}}
    draw(drawing.add_subplot(), queue, laws)
    return drawing
