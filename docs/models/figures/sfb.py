"""SFB and BLUE: what an unresponsive flow gets, against the fair share."""

from __future__ import annotations

from matplotlib.figure import Figure

from .choke import against_fair_share


def figure() -> Figure:
    """One probability for all leaves the link to those that do not listen; one for each flow does not."""
    limit = {"limit": "200p"}
    return against_fair_share(
        {
            "BLUE": {"blue": limit},
            "SFB, 2 levels of 64 bins": {"sfb": {**limit, "bins": 64}},
            "SFB, preset linux": {"sfb": {**limit, "preset": "linux"}},
        }
    )
