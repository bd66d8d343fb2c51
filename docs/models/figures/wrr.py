"""Weighted round robin in packets and in bytes, against the shares that the weights stand for."""

from __future__ import annotations

from matplotlib.figure import Figure

from .rr import share

SHORT, LONG = 500, 1500


def figure() -> Figure:
    """Share of a class by its weight, against a class of weight 1 with packets three times as long."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    weights = list(range(1, 11))
    laws = {
        "packets": ("w L / (w L + 3 L)", lambda w: w * SHORT / (w * SHORT + LONG)),
        "bytes": ("w / (w + 1)", lambda w: w / (w + 1)),
    }
    for count, (name, law) in laws.items():
        (line,) = axes.plot(weights, [law(w) for w in weights], label=f"turns in {count}: {name}")
        found = []
        for w in weights:
            classes = [{"match": "flow:x", "weight": w}, {"match": "flow:y", "weight": 1}]
            found.append(share({"wrr": {"classes": classes, "count": count, "quantum": "1500B"}}, (SHORT, LONG)))
        axes.plot(weights, found, "o", ms=5, mfc="none", color=line.get_color(), label=f"turns in {count}, measured")
    axes.set(xlabel="weight w of the class with packets of 500 bytes", ylabel="its share of the link", ylim=(0, 1))
    axes.legend(fontsize="small")
    return drawing
