"""FRED and RED: what an unresponsive flow gets, against the fair share."""

from __future__ import annotations

from matplotlib.figure import Figure

from .choke import against_fair_share


def figure() -> Figure:
    """RED lets it have nearly what it sends, FRED little more than the fair share."""
    thresholds = {"limit": "300p", "min": "50p", "max": "100p", "max_p": 0.02, "w_q": 0.002}
    crowd = {**thresholds, "many_flows": False}
    return against_fair_share({"RED": {"red": thresholds}, "FRED": {"fred": thresholds}, "FRED, many_flows = false": {"fred": crowd}})
