"""Import of `ss -tin` (iproute2): one snapshot of the kernel's TCP sockets, or many of them one after the other.

Source: iproute2 6.1, misc/ss.c (`tcp_stats_print`). The time of a snapshot is a line before it, or the beginning of its lines: seconds of
the epoch (`date +%s.%N`), or an ISO date. Without times, `--sample` gives the step between snapshots: a new one begins with the heading,
after an empty line, or when a connection comes again. `cwnd` and `ssthresh` are segments of `mss` bytes, `rtt` is the smoothed round-trip
time in ms, `bytes_acked` and `bytes_received` count payload.
"""

from __future__ import annotations

import itertools
import math
import re
from datetime import UTC, datetime
from pathlib import Path

from ..event_metrics import Flow
from ..imported import ImportedRun
from ..inputs import fault, quoted, text_lines
from ..measured import MOST_SAMPLES, PS, Measured, measured_run, text

_STATES = "ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|LISTEN|UNCONN"
_SOCKET = re.compile(rf"(?:^|\s)(?:tcp\s+)?(?:{_STATES})\s+\d+\s+\d+\s+(\S+:\S+)\s+(\S+:\S+)(.*)$")
_SHORT = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\S+:\d+)\s+(\S+:\d+)(.*)$")
"""A line of `ss state established`, which leaves out the state."""
_HEAD = re.compile(r"Recv-Q\s+Send-Q")
_EPOCH = re.compile(r"^\s*\[?(\d{9,10}(?:\.\d+)?)\]?(?=\s|$)")
_DATE = re.compile(r"^\s*\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]?(?=\s|$)")
_WORD = re.compile(r"([a-z_]+):(\S+)")
_RATE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}


def read(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads snapshots of `ss -tin`; `step` is the time between them, if the file has no times."""
    remarks: list[str] = []
    snapshots, timed = _snapshots(file)
    if not snapshots:
        raise fault(file, "it has no line of a TCP socket (ESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201)")
    if not any(words for _, found in snapshots for words in found.values()):
        raise fault(file, "its sockets have no values: write it with `ss -tin`")
    if timed:
        begin = snapshots[0][0]
        times = [t - begin for t, _ in snapshots]
        if any(b < a for a, b in itertools.pairwise(times)):
            raise fault(file, "the times of its snapshots go back")
        if step is not None:
            remarks.append("its samples are unchanged: the file has the times of its snapshots")
    elif len(snapshots) > 1 and step is None:
        raise fault(file, f"its {len(snapshots)} snapshots have no times: say the step between them (--sample 100ms)")
    else:
        begin, times = math.nan, [i * (step or PS) / PS for i in range(len(snapshots))]
    if len(snapshots) == 1:
        remarks.append("it is one snapshot: there are no rates")
    found: dict[tuple[str, str], Measured] = {}
    counts: dict[tuple[str, str], list[tuple[float, dict[str, str]]]] = {}
    for time, (_, sockets) in zip(times, snapshots, strict=True):
        for pair, words in sockets.items():
            counts.setdefault(pair, []).append((time, words))
    if sum(map(len, counts.values())) > MOST_SAMPLES:
        raise fault(file, f"it has more than {MOST_SAMPLES} samples")
    for pair, rows in counts.items():
        found[pair] = _measured(pair, rows)
    gap = min((b - a for a, b in itertools.pairwise(times) if b > a), default=0.0)
    began = None if math.isnan(begin) else datetime.fromtimestamp(begin, UTC).isoformat(timespec="milliseconds")
    return measured_run(list(found.values()), span=times[-1], step=gap, remarks=remarks, began=began)


Sockets = dict[tuple[str, str], dict[str, str]]


def _snapshots(file: Path) -> tuple[list[tuple[float, Sockets]], bool]:
    """Returns the time and the sockets of each snapshot, and whether the times are in the file."""
    out: list[tuple[float, Sockets]] = []
    now, here, last = math.nan, Sockets(), None
    timed = untimed = False

    def close() -> None:
        nonlocal here, timed, untimed
        if here:
            out.append((now, here))
            timed, untimed = timed or not math.isnan(now), untimed or math.isnan(now)
            here = {}

    for number, line in text_lines(file):
        shown = line
        stamp = _time(line)
        if stamp is not None:
            at, shown = stamp
            if at != now:
                close()
                now, last = at, None
        if not shown.strip() or _HEAD.search(shown):
            if math.isnan(now):
                close()
            last = None
            continue
        head = _SOCKET.search(shown)
        parts = (head[1], head[2], head[3]) if head else (s[3], s[4], s[5]) if (s := _SHORT.match(shown)) else None
        if parts:
            last = (text(parts[0], 100), text(parts[1], 100))
            if last in here:
                if not math.isnan(now):
                    raise fault(file, f"{last[0]} {last[1]} is there twice at one time", number)
                close()
            here[last] = _words(parts[2])
        elif last is not None and _WORD.search(shown):
            here[last] |= _words(shown)
        elif last is None and not here and not out:
            raise fault(file, f"this is no line of `ss -tin`: {quoted(shown)}", number)
    close()
    if timed and untimed:
        raise fault(file, "some of its snapshots have times, others have none")
    return out, timed


def _time(line: str) -> tuple[float, str] | None:
    """Returns the time at the beginning of a line, and the rest of it."""
    if found := _EPOCH.match(line):
        return float(found[1]), line[found.end() :]
    if found := _DATE.match(line):
        try:
            at = datetime.fromisoformat(found[1].replace(",", "."))
        except ValueError:
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(), line[found.end() :]
    return None


def _words(shown: str) -> dict[str, str]:
    return {m[1]: m[2] for m in _WORD.finditer(shown)}


def _value(words: dict[str, str], key: str, part: int = 0) -> float:
    """Returns the value of a word, or one of its parts between slashes; NaN if it has none."""
    pieces = words.get(key, "").split("/")
    try:
        found = float(pieces[part])
    except (IndexError, ValueError):
        return math.nan
    return found if math.isfinite(found) and abs(found) < 1e18 else math.nan


def _measured(pair: tuple[str, str], rows: list[tuple[float, dict[str, str]]]) -> Measured:
    """Returns the flow of a socket: from the end that sent more."""
    last = rows[-1][1]
    acked, received = ([_value(w, k) for _, w in rows] for k in ("bytes_acked", "bytes_received"))
    sent, got = (0.0 if math.isnan(v) else v for v in (acked[-1], received[-1]))
    back = got > sent
    counted = received if back else acked
    here, there = (p.rpartition(":")[0].strip("[]") for p in pair)
    start, end = (there, here) if back else (here, there)
    flow = Flow("-".join(pair), start, end, "tcp")
    m = Measured(flow, times=[t for t, _ in rows])
    mss = [_value(w, "mss") for _, w in rows]
    columns = {"srtt": [_value(w, "rtt") * 1e-3 for _, w in rows], "goodput": [math.nan] * len(rows)}
    if not back:
        columns["cwnd"] = [_value(w, "cwnd") * s for (_, w), s in zip(rows, mss, strict=True)]
        columns["ssthresh"] = [_value(w, "ssthresh") * s for (_, w), s in zip(rows, mss, strict=True)]
        columns["in_flight"] = [_value(w, "unacked") * s if "unacked" in w else 0.0 for (_, w), s in zip(rows, mss, strict=True)]
    for i in range(1, len(rows)):
        span = rows[i][0] - rows[i - 1][0]
        columns["goodput"][i] = 8 * (counted[i] - counted[i - 1]) / span if span > 0 else math.nan
    m.series = columns
    span = rows[-1][0] - rows[0][0]
    m.values = {
        "goodput": 8 * (counted[-1] - counted[0]) / span if span > 0 else math.nan,
        "srtt": columns["srtt"][-1],
    }
    if not back:
        # Counters from the start of the connection; one that is zero is not printed.
        m.values["packets_sent"] = _value(last, "data_segs_out")
        m.values["retransmits"] = _value(last, "retrans", 1) if "retrans" in last else 0.0
    return m
