"""Renders pages in Chromium at a given screen width."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
# A browser is no Python package that `make test` could bring: `.ci/run` does where it may; elsewhere the tests say that they were left out.
needed = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

_PROBE = """<script>addEventListener("load", () => {
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
  parent.postMessage(JSON.stringify({
    wide: document.documentElement.scrollWidth, inside, drawings: drawings.length, overlaps,
    outside: drawings.filter(d => box(d).right > inside || box(d).left < 0).length,
    cut: drawings.flatMap(d => texts(d).filter(t => reaches(box(t), box(d))).map(t => t.textContent)).concat(
      labels.filter(c => c.scrollWidth > c.clientWidth + 1 && c.clientWidth > 1).map(c => c.textContent)),
    smallest: Math.min(...drawings.flatMap(d => texts(d).map(size))),
  }), "*");
})</script>"""


def shown(page: Path, folder: Path, width: int) -> dict[str, Any]:
    """Widths in pixels, drawings that reach out of the screen, their smallest text in pixels, texts that overlap, labels that are cut.

    The page is put into a frame, because a window of Chromium cannot be as narrow as a telephone.
    """
    inner, outer = folder / "inner.html", folder / "outer.html"
    open_ = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text("utf-8"))  # which lets nothing run but its own
    inner.write_text(open_.replace("</body>", _PROBE + "</body>"), "utf-8")
    outer.write_text(
        f'<iframe src="inner.html" width="{width}" height="900" style="border: 0"></iframe><pre></pre>'
        '<script>addEventListener("message", e => document.querySelector("pre").textContent = e.data)</script>',
        "utf-8",
    )
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--window-size=1400,1000",
        f"--user-data-dir={folder / 'profile'}",
    ]
    command = [str(BROWSER), *options, "--virtual-time-budget=10000", "--dump-dom", outer.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    told = json.loads(html.unescape(re.search(r"<pre>(.*)</pre>", done.stdout, re.S)[1]))
    assert told["inside"] == width
    return told


def fits(page: Path, folder: Path, width: int) -> dict[str, Any]:
    """Returns the visible text of a page; fails if it scrolls sideways, or if a drawing cannot be read."""
    told = shown(page, folder, width)
    assert told["wide"] <= width
    assert told["outside"] == 0
    assert told["overlaps"] == []
    assert told["cut"] == []
    assert told["smallest"] is None or told["smallest"] >= 8.5  # None: no drawing has text
    return told


def opened(page: Path, folder: Path, width: int, query: str = "") -> dict[str, Any]:
    """A page of many files as it lies on the disk: how wide it is on a screen, and its links once its scripts have run."""
    outer = folder / "outer.html"
    outer.write_text(
        f'<iframe src="{page.as_uri()}{query}" width="{width}" height="900" style="border: 0"></iframe><pre></pre>'
        '<script>addEventListener("load", () => setTimeout(() => { const d = document.querySelector("iframe").contentDocument;'
        'document.querySelector("pre").textContent = JSON.stringify({wide: d.documentElement.scrollWidth,'
        'links: [...d.querySelectorAll("a[href]")].map(a => a.getAttribute("href").split("?")[0])}); }, 3000))</script>',
        "utf-8",
    )
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--allow-file-access-from-files",
        "--disable-background-networking",
        "--window-size=1400,1000",
        f"--user-data-dir={folder / 'profile'}",
    ]
    command = [str(BROWSER), *options, "--virtual-time-budget=10000", "--dump-dom", outer.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(html.unescape(re.search(r"<pre>(.*)</pre>", done.stdout, re.S)[1]))
