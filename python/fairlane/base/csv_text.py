"""Tables as CSV, in which no text can pass for a formula.

Spreadsheets take a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula and compute it. Such a text gets an
apostrophe before it, unless it is a number (https://owasp.org/www-community/attacks/CSV_Injection).
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"


def inert(text: str) -> str:
    """A cell's text that no spreadsheet computes.

    >>> [inert(t) for t in ("=1+1", "red", "-3.5", "+1e3", "-x", "@sum")]
    ["'=1+1", 'red', '-3.5', '+1e3', "'-x", "'@sum"]
    """
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def csv_of(frame: pl.DataFrame) -> bytes:
    """A frame as CSV: texts and headings as `inert` has them."""
    import polars as pl

    column = pl.col(pl.String)
    formula = column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)
    safe = frame.with_columns(pl.when(formula).then("'" + column).otherwise(column).name.keep()).rename(
        {c: inert(c) for c in frame.columns}
    )
    out = io.BytesIO()
    safe.write_csv(out)
    return out.getvalue()
