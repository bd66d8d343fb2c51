"""The command `query`: SQL over the tables of a result folder."""

from __future__ import annotations

import csv
import io
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import emit, emit_json, render

if TYPE_CHECKING:
    from ..runs.query import Limits

_MOST = 1000
"""Rows printed to a terminal."""


@click.command()
@click.argument("folder", required=False, metavar="RESULT")
@click.argument("question", required=False)
@click.option("--list", "listed", is_flag=True, help="List the predefined queries.")
@click.option("--sql", "shown", is_flag=True, help="Print the predefined queries as SQL, as a starting point.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, with every digit.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=300, show_default=True, help="Time limit of a query.")
@click.option("--memory", type=click.FloatRange(min=0.1), default=4, show_default=True, metavar="GIB", help="Memory limit of a query.")
def query(
    folder: str | None, question: str | None, listed: bool, shown: bool, as_json: bool, as_csv: bool, seconds: float, memory: float
) -> None:
    """Run SQL, such as "select flow, goodput from flows", or a predefined query, on a result folder.

    The tables are flows (or groups; their names are in the column "group", in quotes), links, network, flow_series, link_series, why,
    why_queues and trace (docs/guides/traces.md). Without QUESTION: list the tables and their columns. RESULT may also be a folder
    RESULT.unfinished, left by a killed run.

    A query reads RESULT alone: other files, the network, settings and extensions are refused. Data larger than memory goes to a private
    temporary folder. The query ends with an error after --seconds, or if it needs more than --memory.
    """
    from ..look.sheet import Sheet, Words
    from ..runs.query import QUESTIONS, Limits, columns
    from ..runs.query import QueryTimeout as TooLong
    from . import BAD_INPUT, INTERRUPTED, say

    if listed or shown:
        if as_json:
            head = ["name", "asks", "sql"]
            return emit_json(_document(head, [[q.name, q.asks, q.sql.strip()] for q in QUESTIONS]))
        if shown:
            emit("\n\n".join(f"-- {q.name}: {q.asks}\n{q.sql.strip()};" for q in QUESTIONS))
        else:
            emit(render(Sheet(["query", "question"], [(q.name, q.asks) for q in QUESTIONS], words=(1,))))
        return
    if folder is None:
        raise click.UsageError('give a result folder and a query, such as "select flow, goodput from flows", or --list')
    if question is None:
        if as_json:
            head = ["table", "column", "type"]
            return emit_json(_document(head, [[name, column, kind.lower()] for name, of in columns(folder).items() for column, kind in of]))
        described = {name: ", ".join(f"{column} ({kind.lower()})" for column, kind in of) for name, of in columns(folder).items()}
        emit(render(*(Words(f"{name}: {of}", indent=4) for name, of in described.items())))
        return
    limits = Limits(seconds, int(memory * 2**30))
    _bound(limits.memory)
    try:
        _answer(folder, question, limits, as_csv=as_csv, as_json=as_json)
    except TooLong as e:
        if not e.going:
            raise
        # DuckDB continues in its thread, and the end of this program would wait for it.
        say(str(e))
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(INTERRUPTED if str(e) == "interrupted" else BAD_INPUT)


_SPARE = 256 << 20
"""Bytes for memory that DuckDB does not count, except single texts and lists, which have no bound of their own."""


def _bound(memory: int) -> None:
    """Limits further memory of this process, where the system reports its present size (Linux)."""
    with suppress(OSError, ValueError, ImportError, StopIteration):
        import resource

        status = Path("/proc/self/status").read_text("ascii")
        now = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:"))
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = now + memory + _SPARE
        resource.setrlimit(resource.RLIMIT_DATA, (most if soft < 0 else min(soft, most), hard))


def _answer(folder: str, question: str, limits: Limits, *, as_csv: bool, as_json: bool) -> None:
    from ..look.sheet import Sheet
    from ..runs.query import stream_query

    with stream_query(folder, question, limits) as (heads, some):
        if as_csv:
            _print_csv(heads, some)
        elif as_json:
            emit_json(_document(heads, [[_plain(v) for v in row] for rows in some for row in rows]))
        else:
            rows = next(some, [])
            shown_rows = [[_short(v) for v in row] for row in rows[:_MOST]]
            more = f"the first {_MOST} rows; --csv has all" if len(rows) > _MOST else ""
            emit(render(Sheet(heads, shown_rows, note=more if rows else "no rows")))


def _print_csv(heads: Sequence[str], some: Iterator[list[tuple[Any, ...]]]) -> None:
    """Prints rows as they arrive: a result may be larger than memory."""
    from ..base.csv_text import inert

    for rows in chain([[tuple(heads)]], some):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([inert(_exact(v)) for v in row] for row in rows)
        emit(text.getvalue().removesuffix("\n"))


def _document(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    from .. import _core

    return {"schema": "fairlane.query/1", "fairlane": _core.version(), "columns": list(heads), "rows": [list(row) for row in rows]}


def _plain(value: Any) -> Any:
    """Returns a value for JSON: None for NaN and infinity, text for types that JSON lacks."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _exact(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _short(value: Any) -> str:
    from ..base.format import number

    return "" if value is None else number(value) if isinstance(value, float) else str(value)
