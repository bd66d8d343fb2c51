"""HTML page of an animation, for recordings and for live simulations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..look.templates import render
from ..look.web_charts import inert_json, policy


@cache
def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def script() -> str:
    """Returns the script that draws the animation."""
    return _shipped("watch.js")


def replay_page(head: Mapping[str, Any], data: str) -> str:
    """Returns a page with an embedded recording."""
    return _page(head, data)


def live_page(head: Mapping[str, Any], connect: str) -> str:
    """Returns a page that gets its animation from a server."""
    return _page(head, "", connect)


def _page(head: Mapping[str, Any], data: str, connect: str = "") -> str:
    from markupsafe import Markup

    return render(
        "watch/page.html.j2",
        title=head["name"],
        live=head["mode"] == "live",
        policy=Markup(policy([script()], connect)),
        own=Markup(files("fairlane.look").joinpath("charts.css").read_text("utf-8") + _shipped("page.css")),
        head=Markup(inert_json(head)),
        data=data,
        script=Markup(script()),
    )
