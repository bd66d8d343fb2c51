"""Checks the values that the code of a study returns for a run: an error names the measure, the combination and the seed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from ..claims import Factors, Row
from ..errors import PaperError
from .definition import Built, Combination, Paper, Results
from .tables import Compared


def check_measures(paper: Paper, combination: Combination, seed: int, values: object, before: Mapping[str, Any] | None) -> None:
    """Raises unless the measures of a run are numbers by name, the same names in all runs of a combination. NaN says that there is none."""
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise PaperError(
            f"{_line(paper)}: measure() gives {type(values).__name__} of {_said(combination, seed)}, not a dict of numbers by name"
        )
    for name, value in values.items():
        if not isinstance(value, Real):
            raise PaperError(f"{_line(paper)}: the measure {name!r} of {_said(combination, seed)} is {_shown(value)}, not a number")
    if before is not None and before.keys() != values.keys():
        name = next(iter(before.keys() ^ values.keys()))
        has, seeds = ("has", "other seeds do not") if name in values else ("does not have", "other seeds do")
        raise PaperError(f"{_line(paper)}: {_said(combination, seed)} {has} the measure {name!r}, and {seeds}")


def check_tables(paper: Paper, built: Mapping[str, Built], tables: Mapping[str, Sequence[Row]], results: Results) -> None:
    """Raises where a table has no number, with the measure that gave none."""
    of_tables: dict[str, list[Row | Compared]] = {name: list(rows) for name, rows in tables.items()}
    for name, b in built.items():
        of_tables.setdefault(name, []).extend((*b.rows, *b.comparison.rows, *b.more))
    for name, row in ((name, row) for name, rows in of_tables.items() for row in rows):
        numbers = (row.value, row.low, row.high) if isinstance(row, Row) else (row.published, row.ours, row.low, row.high, row.peer)
        wrong = next((x for x in numbers if x is not None and not math.isfinite(x)), None)
        if wrong is not None:
            where = ", ".join(f"{k}={x}" for k, x in row.factors)
            raise PaperError(
                f"{_line(paper)}: {row.metric} of {where or 'all'} in the table {name} is {wrong}{_why(paper, row.factors, results)}"
            )


def check_columns(paper: Paper, choice: str, values: Sequence[float]) -> None:
    """Raises if a number that shows what an open choice changes is none."""
    for column, value in zip(paper.sensitivity_columns(), values, strict=True):
        if not math.isfinite(value):
            raise PaperError(f"{_line(paper)}: the mean of the measure {column.quantity!r} with {choice} is {value}")


def _why(paper: Paper, factors: Factors, results: Results) -> str:
    """The measures that are no numbers in the combinations with these factors."""
    wanted = set(factors)
    for combination in results.combinations:
        if wanted <= set(combination.factors):
            for q in results.quantities(combination):
                samples = results.samples(combination, q)
                bad = [x for x in samples if not math.isfinite(x)]
                if bad:
                    some = f"in {len(bad)} of {len(samples)} runs"
                    return f", since its measure {q!r} is {bad[0]} {some}; leave out the rows of combinations that have none"
    return ""


def _line(paper: Paper) -> str:
    """File and line of the code that measures."""
    code, folder = inspect.unwrap(type(paper).measure).__code__, paper.folder.resolve()
    file = Path(code.co_filename)
    return f"{paper.folder / file.relative_to(folder) if file.is_relative_to(folder) else file}:{code.co_firstlineno}"


def _said(combination: Combination, seed: int) -> str:
    return f"the combination {', '.join(f'{k}={x}' for k, x in combination.factors)} with seed {seed}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}..."
