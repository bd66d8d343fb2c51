"""Pages as Chromium shows them at a given screen width."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from devtools import Driven, needed

__all__ = ["fits", "needed", "opened", "shown"]

_PROBE = """(() => {
  for (const d of document.querySelectorAll("details")) d.open = true;
  const inside = document.documentElement.clientWidth, drawings = [...document.querySelectorAll("svg, [data-chart]")];
  const texts = d => [...d.querySelectorAll("text")].filter(t => t.textContent.trim());
  const box = t => t.getBoundingClientRect();
  const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const along = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  const touch = (a, b) => across(a, b) > 2 && along(a, b) > 4;
  const overlaps = drawings.flatMap(d => texts(d).flatMap((t, i, all) => all.slice(i + 1).filter(u => touch(box(t), box(u))).map(
    u => `${t.textContent} | ${u.textContent}`)));
  const size = t => parseFloat(getComputedStyle(t).fontSize) * Math.abs(t.getScreenCTM().a || t.getScreenCTM().b);
  const reaches = (a, b) => a.left < b.left - 2 || a.right > b.right + 2 || a.top < b.top - 2 || a.bottom > b.bottom + 2;
  const labels = [...document.querySelectorAll("th, td, caption:not(.aloud), .badge, .chips a")];
  return JSON.stringify({
    wide: document.documentElement.scrollWidth, inside, drawings: drawings.filter(d => !d.classList.contains("curve")).length, overlaps,
    outside: drawings.filter(d => box(d).right > inside || box(d).left < 0).length,
    cut: drawings.flatMap(d => texts(d).filter(t => reaches(box(t), box(d))).map(t => t.textContent)).concat(
      labels.filter(c => c.scrollWidth > c.clientWidth + 1 && c.clientWidth > 1).map(c => c.textContent)),
    smallest: Math.min(...drawings.flatMap(d => texts(d).map(size))),
  });
})()"""


def shown(page: Path, width: int) -> dict[str, Any]:
    """Widths in pixels, drawings that reach out of the screen, their smallest text in pixels, texts that overlap, labels that are cut."""
    with Driven() as browser:
        browser.open(page, width)
        told: dict[str, Any] = json.loads(browser.run(_PROBE))
    assert told["inside"] == width
    return told


def fits(page: Path, width: int) -> dict[str, Any]:
    """Returns the measures of a page; fails if it scrolls sideways, or if a drawing cannot be read."""
    told = shown(page, width)
    assert told["wide"] <= width
    assert told["outside"] == 0
    assert told["overlaps"] == []
    assert told["cut"] == []
    assert told["smallest"] is None or told["smallest"] >= 8.5  # None: no drawing has text
    return told


def opened(page: Path, width: int, query: str = "", wanted: str = "", inside: str = "") -> dict[str, Any]:
    """Returns how wide a page is on a screen, its code that is cut off, and its links inside of an element once `wanted` is among them.

    The scripts of the page have 20 s for it.
    """
    with Driven() as browser:
        browser.visit(page.absolute().as_uri() + query, width)
        end = time.monotonic() + 20
        while True:
            links = browser.run(f"[...document.querySelectorAll('{inside} a[href]')].map(a => a.getAttribute('href').split(/[?#]/)[0])")
            if not wanted or wanted in links or time.monotonic() > end:
                cut = "[...document.querySelectorAll('article pre')].filter(p => p.scrollWidth > p.clientWidth + 1).map(p => p.textContent)"
                return {"wide": browser.run("document.documentElement.scrollWidth"), "cut": browser.run(cut), "links": links}
            time.sleep(0.1)
