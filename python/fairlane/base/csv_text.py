"""CSV without formula injection.

Spreadsheets evaluate a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return as a formula. Such a text gets a leading
apostrophe unless it is a number (https://owasp.org/www-community/attacks/CSV_Injection).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"


def inert(text: str) -> str:
    """Returns a text that no spreadsheet evaluates.

    >>> [inert(t) for t in ("=1+1", "red", "-3.5", "+1e3", "-x", "@sum")]
    ["'=1+1", 'red', '-3.5', '+1e3', "'-x", "'@sum"]
    """
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


class CsvError(ValueError):
    """Invalid CSV; `line` is the first line of the row."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def rows_in(text: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yields the non-empty rows of a CSV text with their first lines; raises `CsvError`.

    >>> list(rows_in('a,b\\n"1\\n2",3\\n\\n4,5\\n'))
    [(1, ['a', 'b']), (2, ['1\\n2', '3']), (5, ['4', '5'])]
    """
    if (at := text.find("\0")) >= 0:
        raise CsvError(text.count("\n", 0, at) + 1, "there is a NUL byte, so it is not a text file")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as e:
            raise CsvError(line, _why(e)) from None
        if row is None:
            return
        if row:
            yield line, row
        line = rows.line_num + 1


def _why(e: csv.Error) -> str:
    message = str(e)
    if "field larger" in message:
        return f"a cell has more than {csv.field_size_limit()} characters, or a quotation mark is not closed"
    if "new-line character" in message:
        return "a line ends with a carriage return alone: end lines with a line feed"
    return message


def csv_of(frame: pl.DataFrame) -> bytes:
    """Returns a frame as CSV, with texts and headings made `inert`."""
    import polars as pl

    column = pl.col(pl.String)
    formula = column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)
    safe = frame.with_columns(pl.when(formula).then("'" + column).otherwise(column).name.keep()).rename(
        {c: inert(c) for c in frame.columns}
    )
    out = io.BytesIO()
    safe.write_csv(out)
    return out.getvalue()
