"""The page, for a replay and for a simulation that is watched: the same but for where what moves comes from."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..look.live import inert_json
from ..look.templates import render


@cache
def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(connect: str = "") -> str:
    """What a page may load and run: nothing from elsewhere, no script but that of the picture, and to talk to where it comes from."""
    rules = f"default-src 'none'; script-src {_digest(_shipped('watch.js'))}; style-src 'unsafe-inline'; img-src data:"
    rules += "; base-uri 'none'; form-action 'none'"
    return f"{rules}; connect-src {connect}" if connect else rules


def replay_page(head: Mapping[str, Any], data: str) -> str:
    """A page with everything in it."""
    return _page(head, policy(), data)


def live_page(head: Mapping[str, Any], connect: str) -> str:
    """A page that asks its server for what moves."""
    return _page(head, policy(connect), "")


def _page(head: Mapping[str, Any], rules: str, data: str) -> str:
    from markupsafe import Markup

    return render(
        "watch/page.html.j2",
        title=head["name"],
        live=head["mode"] == "live",
        policy=Markup(f'<meta http-equiv="Content-Security-Policy" content="{rules}">'),
        own=Markup(files("fairlane.look").joinpath("charts.css").read_text("utf-8") + _shipped("page.css")),
        told=Markup(inert_json(head)),
        data=data,
        script=Markup(_shipped("watch.js")),
    )
