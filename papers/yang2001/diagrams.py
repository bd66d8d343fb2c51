"""The diagrams of Yang and Fu 2001: what their two controls are made of, and how a run goes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fairlane.papers import Built, Paper, Picture, Results, drawings

_BUILT = "Drawn from what is built here. Orange: what comes back to the source."
Blocks, Box, Arrow = drawings.Blocks, drawings.Box, drawings.Arrow
_back = partial(Arrow, feedback=True)

_DRAWN: Mapping[str, tuple[drawings.Blocks, str]] = {
    "fig3": (
        Blocks(
            [
                Box("flows of a source\npriority 1 is best", 0.82, 0.62, 1.3, 0.56, "many"),
                Box("each flow\nactive or held", 2.2, 0.62, 1.0, 0.56),
                Box("network", 3.6, 0.62, 0.8, 0.56),
                Box("a TCP flow times out,\nor has three\nduplicate ACKs", 3.6, 2.05, 1.5, 0.75),
                Box("hold all flows\nbelow the best\nactive class", 2.2, 2.05, 1.0, 0.75),
            ],
            [Arrow(0, 1), Arrow(1, 2, "packets"), _back(2, 3, "loss"), _back(3, 4), _back(4, 1)],
        ),
        f"{_BUILT} Held flows of the best remaining class resume when the better class is over, or after 5 s without a signal.",
    ),
    "fig4": (
        Blocks(
            [
                Box("unfinished flows\nof a source, in a ring", 0.95, 0.62, 1.5, 0.56, "many"),
                Box("one is open", 2.5, 0.62, 0.95, 0.56),
                Box("network", 3.85, 0.62, 0.8, 0.56),
                Box("2^(9 − P) slots of 0.1 s over,\nor the transfer is", 2.5, 2.1, 2.0, 0.6),
            ],
            [Arrow(0, 1), Arrow(1, 2, "packets"), Arrow(1, 3), _back(3, 0, "next", corner="along")],
        ),
        f"{_BUILT} P is the priority of the flow; flows that are closed send nothing, and packets on their way arrive.",
    ),
    "fig6": (
        Blocks(
            [
                Box("size, environment,\nqueue, ratio, seed", 0.95, 0.42, 1.5, 0.56, "end"),
                Box("100 flows at each\nsource begin", 3.1, 0.42, 1.5, 0.56),
                Box("packets, and the\ncontrols of the sources", 3.1, 1.42, 1.7, 0.56),
                Box("all transfers over?", 3.1, 2.42, 1.7, 0.5, "choice"),
                Box("time of each flow,\nmean of each class", 0.95, 2.42, 1.5, 0.56, "end"),
            ],
            [Arrow(0, 1), Arrow(1, 2), Arrow(2, 3), Arrow(3, 4, "yes"), _back(3, 2, "no", aside=0.4)],
            (4.4, 2.85),
        ),
        "A run ends with its last transfer. Tables 4 and 6 take the class means of 19 such runs, one for each ratio of TCP and UDP.",
    ),
}


def diagram(paper: Paper, name: str, _: Results) -> Built:
    """Fig. 3, the congestion signal; Fig. 4, time slots; Fig. 6, a simulation run."""
    blocks, caption = _DRAWN[name]
    return Built(pictures=[Picture(name, paper.title_of(name), caption, [blocks])])
