"""Tables for terminals of any width, without truncation, and for HTML, with all texts escaped."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

GAP = 2
"""Spaces between two columns."""
LEAST = 8
"""Least width of a wrapped label column."""


@dataclass(frozen=True)
class Sheet:
    """Table of text. Columns that do not fit continue in another table below, with the labels repeated.

    Numbers are never broken or omitted: ` ± ` stays with both of its numbers at any width.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    note: str = ""
    """Note below the table."""
    labels: int = 1
    """Number of label columns at the left, which are wrapped on narrow screens."""
    words: Sequence[int] = ()
    """Other text columns: aligned left and wrapped like labels."""
    styles: Mapping[int, str] = field(default_factory=dict)
    """Colours of columns on a terminal."""
    header: str = "bold"

    def lines(self, width: int) -> Iterator[list[tuple[str, str]]]:
        """Yields lines of at most `width` characters, each a list of pieces with their styles."""
        if self.title:
            for line in _wrapped(self.title, width):
                yield [(line, "bold")]
        cells = [[_one_line(x) for x in row] for row in self.rows]
        for n, block in enumerate(self._blocks(cells, width)):
            if n:
                yield []
            widths = self._widths(block, cells, width)
            if any(self.heads):
                yield from self._row([self.heads[c] for c in block], block, widths, header=True)
            values = [c for c in block if c >= self.labels]
            for row in cells:
                if not n or any(row[c] for c in values):  # rows without values in a further table are omitted there
                    yield from self._row([row[c] for c in block], block, widths, header=False)
        if self.note:
            for line in _wrapped(self.note, width):
                yield [(line, "dim")]

    def text(self, width: int) -> str:
        """Returns the lines without styles."""
        return "\n".join("".join(piece for piece, _ in line).rstrip() for line in self.lines(width))

    def _soft(self, column: int) -> bool:
        return column < self.labels or column in self.words

    def _need(self, column: int, cells: Sequence[Sequence[str]]) -> int:
        """Returns the width of a column in which only the heading is wrapped."""
        head = max((_len(w) for w in self.heads[column].split()), default=0) if self.rows else _len(self.heads[column])
        return max([head, *(_len(row[column]) for row in cells)], default=head)

    def _longest_word(self, column: int, cells: Sequence[Sequence[str]]) -> int:
        return max((_len(w) for text in (self.heads[column], *(row[column] for row in cells)) for w in text.split()), default=0)

    def _blocks(self, cells: Sequence[Sequence[str]], width: int) -> list[list[int]]:
        """Returns the columns of each partial table: labels, then the values that fit."""
        labels = list(range(self.labels))
        taken = sum(self._need(c, cells) + GAP for c in labels)
        if taken > width // 2:  # labels take at most half of the line
            taken = max(width // 2, sum(self._longest_word(c, cells) + GAP for c in labels))
        values = range(self.labels, len(self.heads))
        widest = max((self._need(c, cells) for c in values if not self._soft(c)), default=0)
        if taken + widest > width:  # labels are wrapped
            taken = max(width - widest, min(taken, (LEAST + GAP) * len(labels)))
        blocks: list[list[int]] = [[]]
        space = width - taken
        for c in values:
            need = min(self._need(c, cells), max(24, space)) if self._soft(c) else self._need(c, cells)
            if blocks[-1] and need > space:
                blocks.append([])
                space = width - taken
            blocks[-1].append(c)
            space -= need + GAP
        return [[*labels, *block] for block in blocks]

    def _widths(self, block: Sequence[int], cells: Sequence[Sequence[str]], width: int) -> list[int]:
        """Returns the widths of the columns of a block; text columns shrink until the line fits."""
        widths = [self._need(c, cells) for c in block]
        least = [max(map(_widest, (self.heads[c], *(row[c] for row in cells)))) if self._soft(c) else 1 for c in block]
        while (over := sum(widths) + GAP * (len(widths) - 1) - width) > 0:
            soft = [i for i, c in enumerate(block) if self._soft(c) and widths[i] > least[i]]
            if not soft:
                # The widest number does not fit: it continues in the next line.
                widths[max(range(len(widths)), key=widths.__getitem__)] -= over
                return [max(1, w) for w in widths]
            widest = max(soft, key=widths.__getitem__)
            widths[widest] -= 1
        return widths

    def _row(self, texts: Sequence[str], block: Sequence[int], widths: Sequence[int], *, header: bool) -> Iterator[list[tuple[str, str]]]:
        folded = [_wrapped(t, w) if header or self._soft(c) or _len(t) > w else [t] for t, c, w in zip(texts, block, widths, strict=True)]
        high = max(map(len, folded), default=1)
        for k in range(high):
            line: list[tuple[str, str]] = []
            for i, (parts, c, w) in enumerate(zip(folded, block, widths, strict=True)):
                at = k - (high - len(parts)) if header else k  # headings are aligned at the bottom
                part = parts[at] if 0 <= at < len(parts) else ""
                pad = " " * (w - _len(part))
                left = self._soft(c)
                style = self.header if header else self.styles.get(c, "")
                line += [("" if not i else " " * GAP, ""), ("" if left else pad, ""), (part, style), (pad if left else "", "")]
            yield line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        for line in self.lines(options.max_width):
            while line and not line[-1][0].strip():
                line = line[:-1]
            yield Text.assemble(*line, no_wrap=True, overflow="ignore")

    def __html__(self) -> str:
        """Returns the table as HTML, escaped."""

        def row(tag: str, cells: Sequence[str]) -> str:
            kinds = ("" if self._soft(i) else ' class="n"' for i in range(len(cells)))
            scope = ' scope="col"' if tag == "th" else ""
            return "<tr>" + "".join(f"<{tag}{scope}{kind}>{escape(x)}</{tag}>" for kind, x in zip(kinds, cells, strict=True)) + "</tr>"

        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        head = f"<thead>{row('th', self.heads)}</thead>" if any(self.heads) else ""
        note = f'<p class="muted">{escape(self.note)}</p>' if self.note else ""
        return f"<table>{title}{head}<tbody>{''.join(row('td', r) for r in self.rows)}</tbody></table>{note}"

    def _repr_html_(self) -> str:
        from .notebook import card

        return card("", self)


@dataclass(frozen=True)
class Words:
    """Sentence on a terminal, wrapped between words but never next to `±`."""

    text: str
    style: str = ""
    indent: int = 0
    """Indent of all lines but the first."""

    def lines(self, width: int) -> list[str]:
        """Returns lines of at most `width` characters; line breaks in the text are kept."""
        out = []
        for paragraph in self.text.splitlines() or [""]:
            out += _wrapped(paragraph, width, " " * self.indent)
        return out

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        for line in self.lines(options.max_width):
            yield Text(line, style=self.style, no_wrap=True, overflow="ignore")


def plain(*parts: object) -> str:
    """Returns parts of an output as text without styles, as wide as the terminal."""
    width = shutil.get_terminal_size().columns
    texts = ("\n".join(p.lines(width)) if isinstance(p, Words) else p.text(width) if isinstance(p, Sheet) else str(p) for p in parts)
    return "\n".join(texts).rstrip()


_WITH_UNIT = re.compile(r" ± (\S+) (?=[A-Za-zµ%×])")
_BOTH_ENDS = re.compile(r" (\(\S+) to ([^\s()]+\))( (?=[A-Za-zµ%×]))?")


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "\n" in text else text


def _len(text: str) -> int:
    """Returns the width of a text on a terminal; wide characters take two columns."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _widest(text: str) -> int:
    """Returns the width of the widest character, the least width of a column."""
    return 1 if text.isascii() else max(map(_len, text))


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Wraps text to `width` between words, never next to `±` or within `(low to high)`; `indent` before all lines but the first."""
    kept = _WITH_UNIT.sub("\u00a0±\u00a0\\1\u00a0", text).replace(" ± ", "\u00a0±\u00a0")
    kept = _BOTH_ENDS.sub(lambda m: m[0].replace(" ", "\u00a0"), kept)
    space = max(1, width)
    indent = indent if len(indent) < space else ""
    lines = [
        piece for line in textwrap.wrap(kept, space, break_on_hyphens=False, subsequent_indent=indent) for piece in _narrow(line, width)
    ]
    return [line.replace("\u00a0", " ") for line in lines] or [""]


def _narrow(line: str, width: int) -> list[str]:
    """Wraps wide characters, which `textwrap` counts as one column each."""
    if _len(line) <= width or width < 2:
        return [line]
    from rich.cells import chop_cells

    return chop_cells(line, width)
