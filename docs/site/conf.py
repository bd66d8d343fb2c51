"""How Sphinx makes the site: `docs/site/build.py` writes what it reads, and calls it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import fairlane

sys.path.insert(0, str(Path(__file__).resolve().parent))

project = "fairlane"
author = "the fairlane authors"
copyright = "the fairlane authors, MIT or Apache-2.0"
version = release = fairlane.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "navigation"]
templates_path = ["templates"]
html_static_path = ["static"]
suppress_warnings = [
    "misc.highlighting_failure",  # excerpts with `...` in them are no whole programs
    "myst.header",  # pages of the reference begin with a comment
]

# Markdown as on the pages of a repository: anchors of all headings, tables, bare text in brackets is text.
myst_enable_extensions = ["strikethrough"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Docstrings are plain text in which `x` is code.
default_role = "code"
smartquotes = False  # what stands between quotes is to be copied
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = True
python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"fairlane {release}"
html_short_title = "fairlane"
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_css_files = ["site.css"]
html_js_files = ["versions-shown.js"]
html_context = {"version_folder": release}  # build.py says another
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True, "footer_icons": []}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
pygments_style = "default"
pygments_dark_style = "github-dark"


def plain(text: str) -> str:
    """A line of a docstring with what is markup to Sphinx and text to us: `drop_front_`, `|m - mu|`, `a * b`.

    >>> plain("ns-2's drop_front_ is `drop_from_`, and |x| * y")
    "ns-2's drop_front\\\\_ is `drop_from_`, and \\\\|x\\\\| \\\\* y"
    """
    parts = re.split(r"(`+[^`]*`+)", text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[|*]", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def _plain_lines(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    code = False
    for at, line in enumerate(lines):
        code = bool(line.strip()) and (code or line.lstrip().startswith(">>>"))
        if not code and not line.startswith("    :"):
            lines[at] = plain(line)


def setup(app: Any) -> dict[str, bool]:
    """Before napoleon looks for parameters."""
    app.connect("autodoc-process-docstring", _plain_lines, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
