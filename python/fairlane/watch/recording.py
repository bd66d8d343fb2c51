"""Recording of a time span of a simulation as an HTML page that opens offline."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.files import save_bytes
from ..base.outputs import new_file
from ..base.scenario import checked
from ..errors import ArgumentError, FairlaneError
from ..runs.simulation import Simulation, start_of
from .lesson import read_lesson, within
from .page import replay_page
from .topology import expanded, network_model, span

if TYPE_CHECKING:
    from ..base.scenario import Built

MOST_BYTES = 600_000
"""Most compressed bytes of a recording: with base64, a third more, and its script the page stays below a megabyte."""
OPENING = 8
"""Share of a sampled recording, one over this, in which every packet is followed at its beginning."""
STEPS = 1200
"""Most samples of windows, queues and rates."""
FEWEST = 60
"""Fewest samples."""
_VALUES = 4_000_000
"""Most values over all samples."""


@dataclass(frozen=True)
class Recording:
    """Recorded time span: the network model for the page, and the compressed chunks of the run and its branches."""

    head: dict[str, Any]
    data: bytes

    @property
    def one_of(self) -> int:
        """Sampling of packets: 1 of `one_of` packets of a flow is shown."""
        n: int = self.head["oneOf"]
        return n

    def document(self, file: str, size: int) -> dict[str, Any]:
        """Returns the document that `fairlane watch --save --json` prints."""
        from .. import _core

        h = self.head
        return {
            "schema": "fairlane.watch/1", "fairlane": _core.version(), "file": file, "bytes": size, "from": h["from"] / 1e9,
            "until": h["until"] / 1e9, "one_of": self.one_of, "futures": [f["words"] for f in h["futures"]],
        }  # fmt: skip

    def page(self) -> str:
        """Returns the page that replays the recording."""
        return replay_page(self.head, base64.b64encode(self.data).decode())

    def save(self, path: str | PathLike[str], *, new: bool = False) -> None:
        """Writes the page; with `new` an existing file is an error."""
        save_bytes(path, self.page().encode(), new=new)


@dataclass(frozen=True)
class Branch:
    """Branch of a recording: its changes and their time in nanoseconds."""

    at: int
    sets: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """Changes as text."""
        return ", ".join(f"{path} = {value}" for path, value in self.sets)


def branch_of(words: str) -> Branch:
    """Parses 'at=20s links.bottleneck.queue=codel'.

    >>> branch_of("at=20s links.b.rate=2Mbit/s links.b.queue=red").words
    'links.b.rate = 2Mbit/s, links.b.queue = red'
    """
    at, sets = None, []
    for word in words.split():
        path, sign, value = word.partition("=")
        if not sign or not path or not value:
            raise FairlaneError(f"branch {words!r}: {word!r} is not an assignment; write 'at=20s links.bottleneck.queue=codel'")
        if path == "at":
            at = span(value, "time of a branch")
        else:
            sets.append((path, value))
    if at is None or not sets:
        missing = "its time: add at=20s" if at is None else "a change: add links.bottleneck.queue=codel"
        raise FairlaneError(f"branch {words!r} lacks {missing}")
    return Branch(at, tuple(sets))


def record(
    scenario: str | PathLike[str] | Built,
    seed: int | None = None,
    *,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    begin: str = "0s",
    until: str | None = None,
    branches: Sequence[str | Branch] = (),
    lesson: str | PathLike[str] | None = None,
    most: int = MOST_BYTES,
) -> Recording:
    """Records a run from `begin` to `until` (default: the end), with branches such as "at=20s links.bottleneck.queue=codel".

    `lesson`: a TOML file with sentences at times of the run (`[[steps]]`) and questions with their answers (`[[questions]]`).
    If the packets exceed `most` bytes, a sample of them follows the first part; drops, marks, queues and windows include all packets.
    """
    pairs = list(sets.items() if isinstance(sets, Mapping) else sets)
    resolved = checked(scenario, pairs)
    sim = start_of(scenario, seed, pairs)
    title = Path(fspath(scenario)).stem if isinstance(scenario, str | PathLike) else ""
    read = None if lesson is None else read_lesson(lesson)
    again, whole = partial(start_of, scenario, seed, pairs), expanded(resolved.json())
    return record_simulation(sim, again, whole, title, begin=begin, until=until, branches=branches, lesson=read, most=most)


def record_simulation(
    sim: Simulation,
    again: Callable[[], Simulation],
    resolved: Mapping[str, Any],
    title: str,
    *,
    begin: str = "0s",
    until: str | None = None,
    branches: Sequence[str | Branch] = (),
    lesson: dict[str, Any] | None = None,
    most: int = MOST_BYTES,
) -> Recording:
    """Records a simulation at time 0; `again` starts the same one, `resolved` is its expanded scenario. See `record`."""
    end = sim._core.end // 1000
    first = span(begin, "start")
    last = end if until is None else span(until, "end")
    if not 0 <= first < last <= end:
        raise FairlaneError(f"invalid span {first / 1e9:g} s to {last / 1e9:g} s: the run lasts from 0 s to {end / 1e9:g} s")
    others = [b if isinstance(b, Branch) else branch_of(b) for b in branches]
    for b in others:
        if not first <= b.at < last:
            raise FairlaneError(f"branch at {b.at / 1e9:g} s is outside of the recorded span {first / 1e9:g} s to {last / 1e9:g} s")
    head = network_model(sim, resolved, title)
    if lesson is not None:
        head["lesson"] = within(lesson, first, last)
    sim._core.advance(first * 1000)

    def copy() -> Simulation:
        # A run with a real transport stack has no branch: it runs again.
        try:
            return sim.branch()
        except ArgumentError:
            if others:
                raise
        second = again()
        second._core.advance(first * 1000)
        return second

    steps = _steps(head)
    one_of = _choose_sampling(copy(), first, last, most, len(others) + 1, _instants(head, first, last, (), steps))
    before = 0
    while True:
        instants = _instants(head, first, last, [b.at for b in others], steps)
        opening = _opening(copy(), instants, most // (OPENING * (len(others) + 1))) if one_of > 1 else first
        futures, data = _record(copy(), first, others, (one_of, opening), instants)
        if len(data) <= most or (steps == FEWEST and one_of >= 1 << 16):
            break
        # Where fewer packets save little, the samples of the state are too many.
        if before and len(data) > 0.8 * before and steps > FEWEST:
            steps, before = max(FEWEST, steps // 2), 0
        else:
            one_of, before = one_of * 2, len(data)
    head |= {"mode": "replay", "from": first, "until": last, "oneOf": one_of, "opening": opening, "futures": futures}
    return Recording(head, data)


def save(
    scenario: str | PathLike[str] | Built,
    path: str | PathLike[str],
    seed: int | None = None,
    *,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    begin: str = "0s",
    until: str | None = None,
    branches: Sequence[str | Branch] = (),
    lesson: str | PathLike[str] | None = None,
    force: bool = False,
) -> Recording:
    """Writes a page that replays a run; see `record`. An existing file is replaced only with `force`."""
    target = new_file(fspath(path), force=force)
    made = record(scenario, seed, sets=sets, begin=begin, until=until, branches=branches, lesson=lesson)
    made.save(target, new=not force)
    return made


def _steps(head: Mapping[str, Any]) -> int:
    return max(FEWEST, min(STEPS, _VALUES // (9 * len(head["links"]) + 10 * len(head["flows"]))))


def _instants(head: Mapping[str, Any], first: int, last: int, more: Iterable[int], steps: int) -> list[int]:
    # Counters restart at the end of the warm-up: their values just before it complete the totals.
    also = {at for at in (*more, head["warmup"] - 1) if first < at < last}
    return sorted({first + (last - first) * k // steps for k in range(1, steps + 1)} | also)


def _choose_sampling(look: Simulation, first: int, last: int, most: int, futures: int, instants: Sequence[int]) -> int:
    """Estimates the sampling of packets from a short part of a copy, which is used up."""
    begin = first + (last - first) // 3
    look._core.advance(begin * 1000)
    look._core.watch(1)
    piece = [i for i in instants if i > begin][: max(2, len(instants) // 20)]
    chunks = []
    for at in piece:
        look._core.advance(at * 1000)
        chunks.append(look._core.chunk() or b"")
    size = len(zlib.compress(b"".join(chunks), 6)) * (last - first) / max(1, piece[-1] - begin) * futures
    one_of = 1
    while size / one_of > 1.3 * most:
        one_of *= 2
    return one_of


def _opening(look: Simulation, instants: Sequence[int], most: int) -> int:
    """Returns the time up to which all packets take at most `most` bytes; uses up a copy."""
    packer, size = zlib.compressobj(6), 0
    look._core.watch(1)
    before = instants[0]
    for at in instants:
        look._core.advance(at * 1000)
        size += len(packer.compress(look._core.chunk() or b"")) + len(packer.flush(zlib.Z_SYNC_FLUSH))
        if size > most:
            break
        before = at
    return before


def _record(
    root: Simulation, first: int, others: Sequence[Branch], sampling: tuple[int, int], instants: Sequence[int]
) -> tuple[list[dict[str, Any]], bytes]:
    """Returns the branches and their compressed chunks; `sampling`: n and a time, after which one of n packets is followed."""
    one_of, opening = sampling
    root._core.watch(1 if one_of == 1 or opening > first else one_of)
    streams: list[list[bytes]] = [[_chunk(root)]]
    forks: list[tuple[Branch, int, Simulation]] = []

    def fork(at: int) -> None:
        for b in others:
            if b.at == at:
                other = root.branch()
                other._core.set([(path, value) for path, value in b.sets], False)
                forks.append((b, len(streams[0]), other))

    fork(first)

    def advance(run: Simulation, at: int) -> list[bytes]:
        run._core.advance(at * 1000)
        chunks = [_chunk(run)]
        if at == opening and one_of > 1:
            run._core.watch(one_of)
            chunks.append(_chunk(run))
        return chunks

    for at in instants:
        streams[0] += advance(root, at)
        fork(at)
    futures: list[dict[str, Any]] = [{"words": "original" if others else "", "chunks": len(streams[0]), "after": 0, "at": first}]
    for b, after, other in sorted(forks, key=lambda f: f[0].at):
        stream = [_chunk(other)]
        for at in (i for i in instants if i > b.at):
            stream += advance(other, at)
        streams.append(stream)
        futures.append({"words": b.words, "chunks": len(stream), "after": after, "at": b.at})
    raw = b"".join(struct.pack("<I", len(c)) + c for stream in streams for c in stream)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return futures, packer.compress(raw) + packer.flush()


def _chunk(sim: Simulation) -> bytes:
    return sim._core.chunk() or b""
