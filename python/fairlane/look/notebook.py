"""HTML of results in a notebook, independent of the style of the page. All texts are escaped."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .theme import Panel

_STYLE = (
    "<style>.fairlane{background:#fdfdfe;color:#1b2430;border:1px solid #d3d9e1;border-radius:8px;padding:.7em 1em;max-width:70em;"
    "font:14px/1.5 system-ui,sans-serif;overflow-x:auto}.fairlane h4{margin:0 0 .3em;font-size:1.1em;color:#1b2430}"
    ".fairlane p{margin:.35em 0}.fairlane .muted{color:#5f6b7a;font-size:.9em}"
    ".fairlane .notice{border-left:4px solid #8a6d00;background:#f6ecc4;padding:.3em .7em}"
    ".fairlane table{border-collapse:collapse;margin:.6em 0;font-size:.93em;font-variant-numeric:tabular-nums}"
    ".fairlane caption{text-align:left;font-weight:600;caption-side:top}.fairlane th,.fairlane td{padding:.15em .8em .15em 0;"
    "border-bottom:1px solid #dfe4ea;text-align:left;color:#1b2430;background:none}.fairlane th{color:#5f6b7a;vertical-align:bottom}"
    ".fairlane .n{text-align:right;white-space:nowrap}.fairlane svg{height:auto;max-width:100%}.fairlane pre{white-space:pre-wrap}"
    ".fairlane .figures{display:flex;flex-wrap:wrap;gap:.6em;align-items:flex-start}"
    ".fairlane .figures svg{flex:1 1 28em;min-width:min(100%,28em)}</style>"
)
_numbers = itertools.count(1)


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def card(title: str, *parts: object) -> str:
    """Returns a box with a title; parts with `__html__` (`Sheet`, `Html`) are included unchanged, others as paragraphs of text."""
    body = "".join(p.__html__() if hasattr(p, "__html__") else f"<p>{escape(str(p))}</p>" for p in parts if p)
    head = f"<h4>{escape(title)}</h4>" if title else ""
    return f'{_STYLE}<div class="fairlane">{head}{body}</div>'


def muted(text: str) -> Html:
    """Returns a muted paragraph."""
    return Html(f'<p class="muted">{escape(text)}</p>')


def notices(warnings: Iterable[object]) -> Html:
    """Returns warnings, a line each."""
    return Html("".join(f'<p class="notice">{escape(str(w))}</p>' for w in warnings))


def folded(summary: str, text: str) -> Html:
    """Returns text that opens on a click."""
    return Html(f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>")


def drawings(panels: Iterable[Panel], label: str) -> Html:
    """Returns panels side by side; without the extra `plots`, a note on what to install."""
    from ..base.extras import need
    from ..errors import MissingError

    try:
        need("plots")
    except MissingError as e:
        return muted(f"No plot: {e}")
    from . import theme

    # Ids are unique in a notebook, which may show a result twice.
    drawn = [theme.inline(theme.svg(theme.figure_of([p])), f"nb{next(_numbers)}", label) for p in panels]
    return Html(f'<div class="figures">{"".join(drawn)}</div>')
