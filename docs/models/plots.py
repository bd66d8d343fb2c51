"""Draws the figures of the model pages: `python docs/models/plots.py [NAME...]`, with fairlane installed.

Each module `figures/NAME.py` has a function `figure() -> matplotlib.figure.Figure`; it becomes `img/NAME.svg`. Helpers that several
share are in `figures/common.py` (`from .common import ...`). Each figure compares a run with a formula or a source.
The same version of fairlane draws the same figures.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "img"
FIGURES = sorted(p.stem for p in (HERE / "figures").glob("*.py") if p.stem != "common")
"""The figures by name: the modules there are."""
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


def main(names: list[str]) -> int:
    """Draws the figures named, or all."""
    unknown = [n for n in names if n not in FIGURES]
    if unknown:
        print(f"no figure is called {unknown[0]}; there are {', '.join(FIGURES)}", file=sys.stderr)
        return 2

    import matplotlib as mpl

    sys.path.insert(0, str(HERE))
    FOLDER.mkdir(exist_ok=True)
    for name in names or FIGURES:
        with mpl.rc_context(STYLE):
            importlib.import_module(f"figures.{name}").figure().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        print(FOLDER / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
