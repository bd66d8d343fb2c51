"""Draws the picture of the README: windows and queue of examples/quickstart.toml.

usage: python docs/images/quickstart.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
# Points closer than a fraction of a pixel are merged: a smaller file that looks the same.
matplotlib.rcParams.update({"path.simplify_threshold": 0.4, "svg.hashsalt": "fairlane"})
import matplotlib.pyplot as plt

import fairlane as fl

ROOT = Path(__file__).resolve().parent.parent.parent
WINDOW, LINK = ("#0072b2", "#d55e00"), "#444444"  # colours that colour-blind readers can distinguish (Okabe and Ito)


def main() -> None:
    """Runs the quickstart scenario once and writes the SVG next to this file."""
    result = fl.run(ROOT / "examples" / "quickstart.toml")
    flows, links = result.flow_series, result.link_series
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 4.2), sharex=True, layout="constrained")
    for name, colour in zip(("tcp.0", "tcp.1"), WINDOW, strict=True):
        rows = flows.filter(flows["flow"] == name)
        top.plot(rows["time"], rows["cwnd"] / 1460, color=colour, linewidth=1.2, label=name)
    top.set_ylabel("cwnd (segments)")
    top.set_ylim(0, 70)
    top.legend(loc="upper right", frameon=False, ncols=2)
    rows = links.filter(links["link"] == "bottleneck")
    bottom.plot(rows["time"], rows["queue"], color=LINK, linewidth=1.0)
    bottom.axhline(50, color=LINK, linewidth=0.8, linestyle=":")
    bottom.annotate("limit 50", (60, 50), xytext=(0, 3), textcoords="offset points", ha="right", color=LINK)
    bottom.set(xlabel="time (s)", ylabel="queue (packets)", xlim=(0, 60), ylim=(0, 60))
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_name("quickstart.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
