"""Pages from the templates of all rooms: one environment for them, so that they can share macros, and one style."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from . import theme

if TYPE_CHECKING:
    import polars as pl
    from markupsafe import Markup

    from .theme import Panel


def render(template: str, filters: Mapping[str, Callable[..., Any]] | None = None, **values: object) -> str:
    """The page as text; the template sees the values, and the style of all pages as `style`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fairlane", "")
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.filters.update({"csv": csv_link, **(filters or {})})
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    return env.get_template(template).render(style=style, **values)


def csv_link(table: tuple[Sequence[str], Sequence[Sequence[object]]] | pl.DataFrame, name: str) -> Markup:
    """A link that saves a table (headings and rows, or a frame) as CSV, from the page itself."""
    heads, rows = table if isinstance(table, tuple) else (table.columns, table.rows())
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_inert(x) for x in row] for row in (heads, *rows)])
    # With the mark of UTF-8, without which spreadsheets take ± for two letters.
    return saved_link("\ufeff" + out.getvalue(), f"{name}.csv", "CSV", "text/csv")


def _inert(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str) or cell[:1] not in ("=", "+", "-", "@", "\t", "\r") or (cell[0] in "+-" and cell[1:2].isdigit()):
        return cell
    return f"'{cell}"


def svg_link(svg: str, name: str) -> Markup:
    """A link that saves a picture as SVG, from the page itself."""
    return saved_link(svg, f"{name}.svg", "SVG", "image/svg+xml")


def saved_link(text: str, file: str, word: str, kind: str) -> Markup:
    """A link that saves a text as a file, from the page itself."""
    from markupsafe import Markup

    file = re.sub(r"[^\w.+-]+", "_", file)
    data = base64.b64encode(text.encode()).decode()
    return Markup('<a class="get" download="{}" href="data:{};base64,{}">{}</a>').format(file, kind, data, word)


def drawing(panel: Panel, name: str, label: str) -> Markup:
    """A panel as it stands in a page; `name` tells its ids from those of others."""
    return inline_drawing(theme.svg(theme.figure_of([panel])), name, label)


def inline_drawing(svg: str, name: str, label: str) -> Markup:
    """The same of a panel that was drawn before."""
    from markupsafe import Markup

    return Markup(theme.inline(svg, name, label))
