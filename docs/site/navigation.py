"""The tree of pages in the sidebar, made once: Sphinx would make it again for each page, half of the build time."""

from __future__ import annotations

import posixpath
import re
from typing import Any

_STEP = re.compile(r"<ul\b|</ul>|<li class=\"(toctree-l\d+)[^\"]*\"><a class=\"([\w -]+)\" href=\"([^\"]*)\"")


class Navigation:
    """The tree as HTML, with links and marks of the page that it is shown on."""

    def __init__(self, html: str, page: str) -> None:
        """`html` as it is on `page`."""
        self.parts: list[str | tuple[str, str, str]] = []
        self.above: dict[str, set[str]] = {}
        open_: list[str] = []
        at, last = 0, ""
        for step in _STEP.finditer(html):
            if step[1]:
                uri = posixpath.normpath(posixpath.join(posixpath.dirname(page), step[3])) if step[3] != "#" else page
                self.parts += [html[at : step.start()], (step[1], step[2].replace(" current", "").replace("current ", ""), uri)]
                at = step.end()
                self.above.setdefault(uri, {uri}).update(open_)
                last = uri
            elif step[0] == "</ul>":
                open_ = open_[:-1]
            else:
                open_ = [*open_, last]
        self.parts.append(html[at:])

    def on(self, page: str) -> str:
        """The tree for one page.

        >>> nav = Navigation('<ul class="current"><li class="toctree-l1 current"><a class="current reference internal" href="#">A</a></li>'
        ...                  '<li class="toctree-l1"><a class="reference internal" href="b/c.html">C</a></li></ul>', "a.html")
        >>> print(nav.on("b/c.html").replace("<li", "\\n<li"))
        <ul class="current">
        <li class="toctree-l1"><a class="reference internal" href="../a.html">A</a></li>
        <li class="toctree-l1 current"><a class="current reference internal" href="#">C</a></li></ul>
        """
        marked = self.above.get(page, set())
        made = []
        for part in self.parts:
            if isinstance(part, str):
                made.append(part)
                continue
            level, kind, uri = part
            mark = " current" if uri in marked else ""
            here = uri == page
            link = "#" if here else posixpath.relpath(uri, posixpath.dirname(page) or ".")
            made.append(f'<li class="{level}{mark}"><a class="{"current " if here else ""}{kind}" href="{link}"')
        return "".join(made)


def setup(app: Any) -> dict[str, bool]:
    """Takes the place of the template's `toctree` before the theme asks for it."""
    kept: list[Navigation] = []

    def before(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        made = context.get("toctree")
        if made is None:
            return
        uri = app.builder.get_target_uri(name)

        def tree(**options: Any) -> str:
            if not kept:
                kept.append(Navigation(str(made(**options)), uri))
            return kept[0].on(uri)

        context["toctree"] = tree

    app.connect("html-page-context", before, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
