"""The diagrams of Yang and Fu 2001: what their two controls are made of, and how a run goes."""

from __future__ import annotations

from fairlane.papers import Built, Paper, Picture, drawings

_BUILT = "Drawn from what is built here. Orange: what comes back to the source."


def _drawn(paper: Paper, name: str, caption: str, blocks: drawings.Blocks) -> Built:
    return Built(pictures=[Picture(name, paper.title_of(name), caption, [blocks])])


def signal(paper: Paper) -> Built:
    """Fig. 3: the congestion signal."""
    box, arrow = drawings.Box, drawings.Arrow
    boxes = [
        box("flows of a source\npriority 1 is best", 0.82, 0.62, 1.3, 0.56, "many"),
        box("each flow\nactive or held", 2.2, 0.62, 1.0, 0.56),
        box("network", 3.6, 0.62, 0.8, 0.56),
        box("a TCP flow times out,\nor has three\nduplicate ACKs", 3.6, 2.05, 1.5, 0.75),
        box("hold all flows\nbelow the best\nactive class", 2.2, 2.05, 1.0, 0.75),
    ]
    arrows = [
        arrow(0, 1),
        arrow(1, 2, "packets"),
        arrow(2, 3, "loss", feedback=True),
        arrow(3, 4, feedback=True),
        arrow(4, 1, feedback=True),
    ]
    caption = f"{_BUILT} Held flows of the best remaining class go on when the better class is over, or after 5 s without a signal."
    return _drawn(paper, "fig3", caption, drawings.Blocks(boxes, arrows))


def slots(paper: Paper) -> Built:
    """Fig. 4: time slots."""
    box, arrow = drawings.Box, drawings.Arrow
    boxes = [
        box("unfinished flows\nof a source, in a ring", 0.95, 0.62, 1.5, 0.56, "many"),
        box("one is open", 2.5, 0.62, 0.95, 0.56),
        box("network", 3.85, 0.62, 0.8, 0.56),
        box("2^(9 − P) slots of 0.1 s over,\nor the transfer is", 2.5, 2.1, 2.0, 0.6),
    ]
    arrows = [arrow(0, 1), arrow(1, 2, "packets"), arrow(1, 3), arrow(3, 0, "next", corner="along", feedback=True)]
    caption = f"{_BUILT} P is the priority of the flow; flows that are closed send nothing, and packets on their way arrive."
    return _drawn(paper, "fig4", caption, drawings.Blocks(boxes, arrows))


def run(paper: Paper) -> Built:
    """Fig. 6: a simulation run."""
    box, arrow = drawings.Box, drawings.Arrow
    boxes = [
        box("size, environment,\nqueue, ratio, seed", 0.95, 0.42, 1.5, 0.56, "end"),
        box("100 flows at each\nsource begin", 3.1, 0.42, 1.5, 0.56),
        box("packets, and the\ncontrols of the sources", 3.1, 1.42, 1.7, 0.56),
        box("all transfers over?", 3.1, 2.42, 1.7, 0.5, "choice"),
        box("time of each flow,\nmean of each class", 0.95, 2.42, 1.5, 0.56, "end"),
    ]
    arrows = [arrow(0, 1), arrow(1, 2), arrow(2, 3), arrow(3, 4, "yes"), arrow(3, 2, "no", aside=0.4, feedback=True)]
    caption = "A run ends with its last transfer. Tables 4 and 6 take the class means of 19 such runs, one for each ratio of TCP and UDP."
    return _drawn(paper, "fig6", caption, drawings.Blocks(boxes, arrows, (4.4, 2.85)))
