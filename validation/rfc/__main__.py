"""Writes the page."""

from . import PAGE, page

PAGE.write_text(page(), encoding="utf-8")
print(PAGE)
