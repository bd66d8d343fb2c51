"""Pages from the templates of all packages, with shared macros and style."""

from __future__ import annotations

import base64
import csv
import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import theme

if TYPE_CHECKING:
    import polars as pl
    from markupsafe import Markup

    from .theme import Panel


def render(template: str, filters: Mapping[str, Callable[..., Any]] | None = None, **values: object) -> str:
    """Renders a template with values; `style` is the style of all pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fairlane", "")
    kept = _compiled()
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, bytecode_cache=kept)
    env.filters.update({"csv": csv_link, **(filters or {})})
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    return env.get_template(template).render(style=style, **values)


def _compiled() -> Any:
    """Returns the cache of compiled templates, which are next to those of Python; None where Python keeps none, or may not write."""
    import sys
    from importlib.util import cache_from_source

    from jinja2 import FileSystemBytecodeCache

    folder = Path(cache_from_source(__file__)).parent
    if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
        return None
    return FileSystemBytecodeCache(str(folder), "jinja-%s.cache")


def csv_link(table: tuple[Sequence[str], Sequence[Sequence[object]]] | pl.DataFrame, name: str) -> Markup:
    """Returns a link that downloads a table (headings and rows, or a frame) as CSV."""
    heads, rows = table if isinstance(table, tuple) else (table.columns, table.rows())
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_inert(x) for x in row] for row in (heads, *rows)])
    # With a UTF-8 byte order mark, without which spreadsheets misread ±.
    return saved_link("\ufeff" + out.getvalue(), f"{name}.csv", "CSV", "text/csv")


def _inert(cell: object) -> object:
    """Escapes a cell that a spreadsheet would read as a formula."""
    if not isinstance(cell, str) or cell[:1] not in ("=", "+", "-", "@", "\t", "\r") or (cell[0] in "+-" and cell[1:2].isdigit()):
        return cell
    return f"'{cell}"


def svg_link(svg: str, name: str) -> Markup:
    """Returns a link that downloads a figure as SVG."""
    return saved_link(svg, f"{name}.svg", "SVG", "image/svg+xml")


def saved_link(text: str, file: str, word: str, kind: str) -> Markup:
    """Returns a link that downloads a text as a file."""
    from markupsafe import Markup

    file = re.sub(r"[^\w.+-]+", "_", file)
    data = base64.b64encode(text.encode()).decode()
    return Markup('<a class="get" download="{}" href="data:{};base64,{}">{}</a>').format(file, kind, data, word)


def drawing(panel: Panel, name: str, label: str) -> Markup:
    """Draws a panel for a page; `name`: prefix of its ids."""
    return inline_drawing(theme.svg(theme.figure_of([panel])), name, label)


def inline_drawing(svg: str, name: str, label: str) -> Markup:
    """Returns a drawn panel for a page; `name`: prefix of its ids."""
    from markupsafe import Markup

    return Markup(theme.inline(svg, name, label))
