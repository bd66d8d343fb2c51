"""Pages from the templates of all rooms: one environment for them, so that they can share macros, and one style."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from . import theme

if TYPE_CHECKING:
    from markupsafe import Markup

    from .theme import Panel


def render(template: str, filters: Mapping[str, Callable[..., Any]] | None = None, **values: object) -> str:
    """The page as text; the template sees the values, and the style of all pages as `style`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fairlane", "")
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.filters.update(filters or {})
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    return env.get_template(template).render(style=style, **values)


def drawing(panel: Panel, name: str, label: str) -> Markup:
    """A panel as it stands in a page; `name` tells its ids from those of others."""
    return placed(theme.svg(theme.figure_of([panel])), name, label)


def placed(svg: str, name: str, label: str) -> Markup:
    """The same of a panel that was drawn before."""
    from markupsafe import Markup

    return Markup(theme.inline(svg, name, label))
