"""SQL queries on a result folder with DuckDB."""

from __future__ import annotations

import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.extras import need
from ..base.partial_files import where_it_is
from ..errors import FairlaneError, FolderError, suggest
from .folder import MANIFEST, faults, is_kept
from .trace import FOLDER, escape_glob, parts_of

_ROWS = 10_000
"""Rows fetched at a time."""
TABLES = ("flows", "groups", "links", "network", "flow_series", "link_series", "why", "why_queues")


@dataclass(frozen=True)
class Question:
    """Predefined query."""

    name: str
    asks: str
    sql: str


_PAIRS = """
with began as (select seed, link, flow, packet, min(time_ps) as t from trace where event = 'enqueue' group by all),
     ended as (select seed, link, packet, min(time_ps) as t from trace where event = 'dequeue' group by all)
select link, count(*) as packets, avg(e.t - b.t) / 1e9 as mean_ms, quantile_cont(e.t - b.t, 0.5) / 1e9 as p50_ms,
       quantile_cont(e.t - b.t, 0.95) / 1e9 as p95_ms, quantile_cont(e.t - b.t, 0.99) / 1e9 as p99_ms
from began b join ended e using (seed, link, packet) group by link order by mean_ms desc
"""
_PATHS = """
with began as (select seed, flow, packet, time_ps as t from trace where event in ('send', 'retransmit') and payload > 0 and not back),
     ended as (select seed, packet, time_ps as t from trace where event = 'receive')
select flow, count(*) as packets, avg(e.t - b.t) / 1e9 as mean_ms, quantile_cont(e.t - b.t, 0.95) / 1e9 as p95_ms,
       max(e.t - b.t) / 1e9 as max_ms
from began b join ended e using (seed, packet) group by flow order by flow
"""
_BURSTS = """
with drops as (select seed, link, time, time - lag(time) over (partition by seed, link order by time_ps) as gap
               from trace where event = 'drop'),
     numbered as (select *, sum(case when gap is null or gap > 0.1 then 1 else 0 end) over (partition by seed, link order by time) as burst
                  from drops),
     bursts as (select seed, link, burst, count(*) as n, max(time) - min(time) as span from numbered group by all)
select link, count(*) as bursts, avg(n) as mean_packets, max(n) as most_packets, max(span) as longest_s
from bursts group by link order by link
"""
_GAPS = """
with seen as (select seed, flow, time, time - lag(time) over (partition by seed, flow order by time_ps) as gap
              from trace where event = 'receive' and not back and payload > 0)
select flow, max(gap) as longest_s, arg_max(time, gap) as ends_at_s, quantile_cont(gap, 0.99) as p99_s from seen group by flow
order by longest_s desc
"""
_CONVERSATIONS = """
with sent as (select seed, flow, packet, min(time_ps) as t, max(length) as length from trace
              where event in ('send', 'retransmit') group by all)
select f."from" as from_end, f."to" as to_end, s.flow as flow, count(*) as packets, sum(s.length) as bytes,
       (max(t) - min(t)) / 1e12 as lasted_s, bytes * 8 / nullif(lasted_s, 0) / 1e6 as mbit_s
from sent s join flows f on f.seed = s.seed and f.flow = s.flow group by all order by bytes desc, s.flow
"""
QUESTIONS = (
    Question(
        "goodput",
        "Goodput and share of each flow",
        "select flow, avg(goodput) as goodput, avg(share) as share from flows group by flow order by flow",
    ),
    Question(
        "utilisation",
        "Utilisation and queue length of each link",
        "select link, avg(utilisation) as utilisation, avg(queue_mean) as queue_mean, max(queue_max) as queue_max from links "
        "group by link order by utilisation desc",
    ),
    Question(
        "limits",
        "Limits of each flow as shares of its time",
        "select flow, limited_by, avg(share) as share, avg(seconds) as seconds, avg(timeouts) as timeouts from why "
        "group by flow, limited_by "
        "having avg(share) > 0 order by flow, share desc",
    ),
    Question(
        "filled",
        "Share of each flow in each queue, its drops and marks",
        "select link, flow, sum(byte_seconds) / nullif(sum(sum(byte_seconds)) over (partition by link), 0) as filled, avg(drops) as drops, "
        "avg(marks) as marks from why_queues where flow is not null group by link, flow order by link, filled desc",
    ),
    Question(
        "drops",
        "Drops by link and reason",
        "select link, reason, count(*) as packets, min(time) as first_s, max(time) as last_s from trace where event = 'drop' "
        "group by link, reason order by packets desc",
    ),
    Question(
        "losers",
        "Drops by flow",
        "select flow, count(*) filter (event = 'enqueue') as offered, count(*) filter (event = 'drop') as dropped, "
        "dropped / nullif(offered, 0) as share from trace where event in ('enqueue', 'drop') group by flow order by share desc",
    ),
    Question("queueing-delay", "Queueing delay by link", _PAIRS),
    Question("path-delay", "One-way delay by flow", _PATHS),
    Question(
        "throughput",
        "Throughput of each flow in each second",
        "select seed, flow, cast(floor(time) as bigint) as second, sum(payload) * 8 / 1e6 as mbit_s from trace "
        "where event = 'receive' and not back group by all order by seed, flow, second",
    ),
    Question(
        "retransmissions",
        "Retransmissions and timeouts by flow",
        "select flow, count(*) filter (event in ('send', 'retransmit') and not back and payload > 0) as sent, "
        "count(*) filter (event = 'retransmit') as again, again / nullif(sent, 0) as share, "
        "count(*) filter (event = 'timeout') as timeouts from trace where event in ('send', 'retransmit', 'timeout') "
        "group by flow order by flow",
    ),
    Question("pairs", "Packets and bytes between each pair of hosts", _CONVERSATIONS),
    Question("loss-bursts", "Loss bursts by link (a burst ends after 100 ms without loss)", _BURSTS),
    Question("gaps", "Longest gaps between arrivals of each flow", _GAPS),
)


def tables(folder: str | PathLike[str]) -> dict[str, str]:
    """Returns the tables of a folder with the SQL that reads them."""
    path = Path(fspath(folder))
    if not path.is_dir():
        raise FolderError(f"{path} is not a result folder{where_it_is(path)}")
    there = [(name, path / f"{name}.parquet") for name in TABLES]
    found = {
        name: f"select * from read_parquet({_quoted(escape_glob(file))}, hive_partitioning = false)"
        for name, file in there
        if file.is_file()
    }
    if parts := parts_of(path / FOLDER):
        runs = (f"select {seed}::ubigint as seed, * from read_parquet({_quoted(of)}, hive_partitioning = false)" for seed, of in parts)
        found["trace"] = f"select seed, time_ps / 1e12 as time, * exclude (seed) from ({' union all '.join(runs)})"
    if not found:
        raise FolderError(f"{path} has no tables: write some with fairlane run FILE --trace -o DIR")
    return found


def _quoted(path: Path) -> str:
    text = str(path.absolute()).replace("'", "''")
    return f"'{text}'"


@dataclass(frozen=True)
class Limits:
    """Resource limits of a query."""

    seconds: float = 300.0
    """Time from the start to the last row."""
    memory: int = 4 << 30
    """Memory of DuckDB in bytes. `fairlane query` also limits the process, because DuckDB does not count single texts and lists."""
    disk: int = 16 << 30
    """Bytes of temporary files on disk, in a folder that is removed at the end."""


class QueryTimeout(FairlaneError):
    """Query that exceeded its time limit. `going`: True if DuckDB could not be stopped and still runs in a thread."""

    def __init__(self, message: str, *, going: bool = False) -> None:
        super().__init__(message)
        self.going = going


def query(folder: str | PathLike[str], question: str, limits: Limits | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Returns column names and rows. `question`: a read-only SQL statement, or the name of a predefined query."""
    with stream_query(folder, question, limits) as (heads, rows):
        return heads, [row for some in rows for row in some]


@contextmanager
def stream_query(
    folder: str | PathLike[str], question: str, limits: Limits | None = None
) -> Iterator[tuple[list[str], Iterator[list[tuple[Any, ...]]]]]:
    """Yields column names and an iterator over some thousand rows at a time."""
    need("query")
    import duckdb

    found = tables(folder)
    _check(Path(fspath(folder)))
    ready = {q.name: q.sql for q in QUESTIONS}
    sql = ready.get(question, question)
    if not sql.strip():
        raise FairlaneError("empty query: write SQL, or one of " + ", ".join(ready))
    limits = limits or Limits()
    until = time.monotonic() + limits.seconds
    with _place() as place, _connection(duckdb) as db:
        for name, by in found.items():
            db.execute(f"create view {name} as {by}")
        _close(db, Path(fspath(folder)), place, limits)
        try:
            statements = db.extract_statements(sql)
            reads = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
            if other := next((s for s in statements if s.type not in reads), None):
                what = other.type.name.lower().replace("_", " ")
                raise FairlaneError(f"this statement would {what}: queries are read-only (select, describe, summarize or explain)")
            if len(statements) != 1:
                raise FairlaneError(f"{len(statements)} statements: run one at a time")
            answer = _heard(db, lambda: db.execute(sql), until, limits)
            some = iter(lambda: _heard(db, lambda: answer.fetchmany(_ROWS), until, limits), [])
            yield [column[0] for column in answer.description or ()], some
        except (duckdb.OutOfMemoryException, MemoryError):
            raise FairlaneError(f"the query needs more than {limits.memory / 2**30:g} GiB of memory{_MORE}") from None
        except duckdb.Error as e:
            if unknown := _UNKNOWN.search(str(e)):
                raise _no_table(folder, unknown[1].lower(), found) from None
            if question.strip().lower() in found:
                raise FairlaneError(f'`{question}` is a table: write SQL, such as "select * from {question}"') from None
            if " " not in question.strip():
                known = ", ".join(ready)
                raise FairlaneError(f"unknown query `{question}`: write SQL, or one of {known}") from None
            raise FairlaneError(f"DuckDB reports: {e}") from None


_UNKNOWN = re.compile(r"Table with name (\w+) does not exist")
_ALSO = {"event": "trace", "events": "trace", "packets": "trace", "series": "flow_series"}
"""Names under which a table is looked for."""
_WRITE = {
    "trace": "run with --trace",
    "flow_series": "set `sample` in the scenario",
    "link_series": "set `sample` in the scenario",
    "why": "run with --why",
    "why_queues": "run with --why",
    "groups": "run with report=groups",
}
_WRITE_EACH = {
    "flows": 'run with report=flows, or query groups: select "group", goodput from groups',
    "flow_series": "run with report=flows and set `sample`",
    "why": "run with report=flows and --why",
    "why_queues": "run with report=flows and --why",
}
"""Commands that write a table, where the folder has a row per group."""


def _no_table(folder: str | PathLike[str], name: str, found: Mapping[str, str]) -> FairlaneError:
    """Returns the error for a table that a folder lacks: its right name, or what writes it."""
    table = _ALSO.get(name, name)
    called = f" (`{table}` here)" if table != name else ""
    if table in found:
        return FairlaneError(f"{fspath(folder)} has no table `{name}`: it is called `{table}`")
    how = (_WRITE_EACH if "groups" in found else {}).get(table) or _WRITE.get(table)
    if how is None:
        return suggest(name, list(found), "table")
    return FairlaneError(f"{fspath(folder)} has no table `{name}`{called}: {how}; it has {', '.join(found)}")


def _check(folder: Path) -> None:
    """Raises an error if a table was changed after it was written. A folder without a manifest (the run is not finished) is not checked."""
    if not ((folder / MANIFEST).is_file() and is_kept(folder)):
        return
    _, wrong = faults(folder, lambda name: name.endswith(".parquet"))
    if damaged := next(iter(wrong.items()), None):
        raise FolderError(f"{folder / damaged[0]} {damaged[1]}")


_MORE = " (its limit): select fewer rows or columns, or raise the limit"


@contextmanager
def _place() -> Iterator[Path]:
    """Yields a private folder for the temporary files of DuckDB."""
    with tempfile.TemporaryDirectory(prefix="fairlane-query-", ignore_cleanup_errors=True) as place:
        yield Path(place)


@contextmanager
def _connection(duckdb: Any) -> Iterator[Any]:
    db = duckdb.connect(":memory:")
    try:
        yield db
    except QueryTimeout as e:
        if not e.going:  # `close` would wait for the running query
            db.close()
        raise
    except BaseException:
        db.close()
        raise
    else:
        db.close()


_GRACE = 1.0
"""Seconds that DuckDB has to react to an interrupt."""


def _heard(db: Any, ask: Callable[[], Any], until: float, limits: Limits) -> Any:
    """Calls DuckDB in a thread and returns its answer, until a time of the monotonic clock.

    The thread lets the time limit and Ctrl-C take effect here: DuckDB 2.0.1 ignores interrupts within a single SQL function.
    """
    done: list[Any] = []
    failed: list[BaseException] = []
    over = threading.Event()

    def work() -> None:
        try:
            done.append(ask())
        except BaseException as e:
            failed.append(e)
        finally:
            over.set()

    def stopped() -> bool:
        end = time.monotonic() + _GRACE
        while not over.wait(0.1) and time.monotonic() < end:  # repeated: the query may not have started at the first interrupt
            db.interrupt()
        return over.is_set()

    threading.Thread(target=work, daemon=True).start()
    try:
        while not over.wait(0.1):
            if time.monotonic() > until:
                message = f"the query took longer than {limits.seconds:g} s: select less, or raise the limit"
                raise QueryTimeout(message, going=not stopped())
    except KeyboardInterrupt:
        if not stopped():
            raise QueryTimeout("interrupted", going=True) from None
        raise
    if failed:
        raise failed[0]
    return done[0]


def _close(db: Any, folder: Path, place: Path, limits: Limits) -> None:
    """Restricts DuckDB to the result folder: no other files, network, extensions or settings."""
    # DuckDB always allows reads in its temporary folder, whose default is ./.tmp.
    db.execute(f"set temp_directory = {_quoted(place)}")
    db.execute(f"set max_temp_directory_size = '{limits.disk}B'")
    db.execute(f"set memory_limit = '{limits.memory}B'")
    # DuckDB compares paths with the pattern literally.
    places = ", ".join(dict.fromkeys(_quoted(p) for p in (folder, escape_glob(folder))))
    db.execute(f"set allowed_directories = [{places}]")
    db.execute("set enable_external_access = false")
    db.execute("set lock_configuration = true")


def columns(folder: str | PathLike[str]) -> dict[str, list[tuple[str, str]]]:
    """Returns the names and types of the columns of each table."""
    _, rows = query(folder, "select table_name, column_name, data_type from duckdb_columns() where not internal order by column_index")
    found = {name: [(str(column), str(kind)) for table, column, kind in rows if table == name] for name in (*TABLES, "trace")}
    return {name: own for name, own in found.items() if own}
