"""Draws the figures of the model pages: `python docs/models/plots.py [NAME...]`, with fairlane installed.

A figure is an entry of the table in `figures/queues.py`, `tcp.py` or `network.py`. `figures/draw.py` draws it into `img/NAME.svg`.
Each figure compares runs with a formula or a source. The same version of fairlane draws the same figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from figures import network, queues, runs, tcp  # noqa: E402

FOLDER = HERE / "img"
FIGURES = {**queues.FIGURES, **tcp.FIGURES, **network.FIGURES}
"""All figures by name."""
STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.framealpha": 0.8,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "fairlane",
}


def build(name: str) -> Figure:
    """Returns a figure; its runs are forgotten afterwards."""
    figure = FIGURES[name].draw()
    runs.forget()
    return figure


def main(names: list[str]) -> int:
    """Draws the figures named, or all."""
    unknown = [n for n in names if n not in FIGURES]
    if unknown:
        print(f"no figure is called {unknown[0]}; there are {', '.join(sorted(FIGURES))}", file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    for name in names or sorted(FIGURES):
        with mpl.rc_context(STYLE):
            build(name).savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        print(FOLDER / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
