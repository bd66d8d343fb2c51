"""AFD, FRED and RED: what an unresponsive flow gets, against the fair share."""

from __future__ import annotations

from matplotlib.figure import Figure

from .choke import against_fair_share


def figure() -> Figure:
    """The larger AFD's sample, the nearer to the fair share."""
    thresholds = {"limit": "300p", "min": "50p", "max": "100p", "max_p": 0.02, "w_q": 0.002}
    afd = {"limit": "300p", "target": "75p"}
    return against_fair_share(
        {
            "RED": {"red": thresholds},
            "FRED": {"fred": thresholds},
            "AFD": {"afd": afd},
            "AFD, shadow = 5000": {"afd": {**afd, "shadow": 5000, "sampling": 1}},
        }
    )
