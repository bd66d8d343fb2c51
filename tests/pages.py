"""The tables of a page as a reader of its markup gets them: each cell with the headings that its `scope` gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.resources import files


@dataclass
class Cell:
    """A cell: its text, its headings, and the printed values in it (`data`)."""

    text: str
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


@dataclass
class Table:
    """A table of a page."""

    kind: str
    section: str
    caption: str = ""
    cells: list[Cell] = field(default_factory=list)
    unscoped: list[str] = field(default_factory=list)
    """Headings that do not say whether they stand over a column or before a row."""
    folded: bool = False


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.section, self.depth, self.folds = "", 0, 0
        self.table: Table | None = None
        self.caption = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        a = {k: v or "" for k, v in attrs}
        if tag in ("section", "h2", "article") and "id" in a:
            self.section = a["id"]
        self.folds += tag == "details"
        if tag == "table":
            self.table = Table(a.get("class", ""), self.section, folded=self.folds > 0)
            self.grid: dict[tuple[int, int], dict] = {}
            self.row, self.cell = -1, None
        if self.table is None:
            return
        self.caption = self.caption or tag == "caption"
        if tag == "tr":
            self.row, self.column = self.row + 1, 0
        if tag in ("td", "th"):
            while (self.row, self.column) in self.grid:
                self.column += 1
            wide, high = int(a.get("colspan", 1)), int(a.get("rowspan", 1))
            self.cell = {"tag": tag, "scope": a.get("scope", ""), "text": "", "printed": [], "at": (self.row, self.column)}
            for i in range(high):
                for k in range(wide):
                    self.grid[self.row + i, self.column + k] = self.cell
        if tag == "data" and self.cell is not None:
            self.cell["printed"].append(a["value"])

    def handle_endtag(self, tag: str) -> None:
        self.folds -= tag == "details"
        if self.table is None:
            return
        if tag == "caption":
            self.caption = False
        if tag in ("td", "th"):
            self.cell = None
        if tag == "table":
            self._finish(self.table)
            self.tables.append(self.table)
            self.table = None

    def handle_data(self, data: str) -> None:
        if self.table is None:
            return
        if self.caption:
            self.table.caption += data
        if self.cell is not None:
            self.cell["text"] += data

    def _finish(self, table: Table) -> None:
        for (row, column), cell in self.grid.items():
            if cell["tag"] == "th":
                if cell["scope"] not in ("row", "col") and cell["at"] == (row, column):
                    table.unscoped.append(cell["text"])
                continue
            above = [self.grid[i, column] for i in range(row) if (i, column) in self.grid]
            before = [self.grid[row, k] for k in range(column) if (row, k) in self.grid]
            table.cells.append(
                Cell(
                    " ".join(cell["text"].split()),
                    tuple(dict.fromkeys(c["text"] for c in before if c["tag"] == "th" and c["scope"] == "row")),
                    tuple(dict.fromkeys(c["text"] for c in above if c["tag"] == "th" and c["scope"] == "col")),
                    tuple(cell["printed"]),
                )
            )


def tables_in(page: str) -> list[Table]:
    """All tables of a page."""
    reader = _Reader()
    reader.feed(page)
    return reader.tables


def without_charts(page: str) -> str:
    """A page without the script of its charts, exactly as it is shipped, and the numbers that it reads."""
    script = files("fairlane.look").joinpath("charts.js").read_text("utf-8")
    return re.sub(r'<script type="application/json" id="charts-of-page">[^<]*</script>', "", page.replace(f"<script>{script}</script>", ""))
