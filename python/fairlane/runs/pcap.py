"""Packet capture: what is captured, into which files, and how packets are written. The files are pcapng."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.files import name_file, reason
from ..base.outputs import new_file
from ..base.unfinished import hidden_folder
from ..errors import FairlaneError, FolderError

ENDING = ".pcapng"
KINDS = ("link", "node", "flow", "monitor")
SNAPLEN_MIN = 128
"""All headers there are: Ethernet 14, IPv6 40, TCP with options 60."""
SNAPLEN_MAX = 262_144
"""The largest that readers take."""

Names = str | Iterable[str] | Mapping[str, "str | PathLike[str] | None"]


@dataclass(frozen=True)
class Pcap:
    """What `run` captures.

    `what` names links, nodes, flows, groups of flows or wireless channels: one, several, or a dict from names to files. Where two things
    have one name, write `link:NAME`, `node:NAME`, `flow:NAME` or `monitor:NAME`; `monitor:` with the interface of a station is all that its
    antenna hears. A file without a name is NAME.pcapng in `folder`; with several seeds it is NAME.SEED.pcapng.
    An existing file is an error unless `force`.

    `snaplen`: bytes kept of a packet, from 128 to 262144 (0: all of it; None: its headers). `ip`: 4 or 6. `queue`: a comment with the
    length of the queue on each packet that leaves one.
    """

    what: Names
    folder: str | PathLike[str] = ""
    snaplen: int | None = None
    ip: int = 4
    queue: bool = False
    force: bool = False

    def _repr_html_(self) -> str:
        from ..look.notebook import card, muted
        from ..look.sheet import Sheet

        rows = [[what, _plain(what) if file is None else fspath(file)] for what, file in self._pairs()]
        kept = "headers alone" if self.snaplen is None else f"{self.snaplen} bytes of a packet" if self.snaplen else "whole packets"
        told = [kept, f"IPv{self.ip}", *(["lengths of queues as comments"] if self.queue else [])]
        folder = fspath(self.folder) or "the working directory"
        return card(
            "Captures to make", Sheet(["what", "file"], rows, labels=2), muted(f"{', '.join(told)}; in {folder}: run(..., pcap=this).")
        )

    def plan(self, seeds: Sequence[int]) -> Plan:
        """The files, one for each name and seed; an error before any time is spent if one cannot be written."""
        snaplen = self.snaplen
        if snaplen is not None:
            snaplen = operator.index(snaplen) or SNAPLEN_MAX
            if not SNAPLEN_MIN <= snaplen <= SNAPLEN_MAX:
                raise FairlaneError(f"snaplen {self.snaplen} is not between {SNAPLEN_MIN} and {SNAPLEN_MAX} bytes, or 0 for whole packets")
        if self.ip not in (4, 6):
            raise FairlaneError(f"there is no IP version {self.ip!r} to write: 4 or 6")
        requests, taken = [], dict[Path, str]()
        for what, file in self._pairs():
            base = Path(fspath(self.folder)) / (_plain(what) if file is None else _named(file))
            files = [base if len(seeds) == 1 else base.with_name(f"{base.stem}.{seed}{base.suffix}") for seed in seeds]
            for path in files:
                place = path.absolute()
                if place in taken:
                    raise FairlaneError(
                        f"the captures of {taken[place]} and {what} would both be {path}: name the file, as in {what}=other{ENDING}"
                    )
                taken[place] = what
                new_file(path, force=self.force)
            requests.append((what, [str(f.absolute()) for f in files]))
        return Plan(requests, snaplen, self.ip == 6, self.queue, new=not self.force)

    def _pairs(self) -> list[tuple[str, str | PathLike[str] | None]]:
        if isinstance(self.what, Mapping):
            return list(self.what.items())
        names = [self.what] if isinstance(self.what, str) else list(self.what)
        return [_pair(name) for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class Plan:
    """A `Pcap` as the engine takes it."""

    requests: list[tuple[str, list[str]]]
    snaplen: int | None
    ipv6: bool
    queue: bool
    new: bool = True
    """True if no file may be replaced."""

    @contextmanager
    def placed(self) -> Iterator[Plan]:
        """The same plan with files that nobody sees; they get their names when the runs are over and well."""
        with ExitStack() as stack:
            stages: dict[Path, Path] = {}
            try:
                for path in self.files():
                    if path.parent not in stages:
                        stages[path.parent] = stack.enter_context(hidden_folder(path.parent, path.name))
                hidden = [(what, [str(stages[Path(f).parent] / Path(f).name) for f in files]) for what, files in self.requests]
                yield replace(self, requests=hidden)
                for path in self.files():
                    name_file(stages[path.parent] / path.name, path, new=self.new)
            except OSError as e:
                raise FolderError(f"cannot write captures: {reason(e)}") from e
            except FolderError as e:
                shown = str(e)
                for there, stage in stages.items():
                    shown = shown.replace(str(stage), str(there))
                raise FolderError(shown) from None

    def arguments(self) -> tuple[list[tuple[str, list[str]]], int | None, bool, bool]:
        """What `_core.run` takes."""
        return self.requests, self.snaplen, self.ipv6, self.queue

    def files(self) -> list[Path]:
        """All files that will be there."""
        return [Path(f) for _, files in self.requests for f in files]


def as_pcap(value: Any) -> Pcap:
    """Names, a dict from names to files, or a `Pcap`, as a `Pcap`."""
    if isinstance(value, Pcap):
        return value
    if isinstance(value, str | Mapping) or (isinstance(value, Iterable) and not isinstance(value, bytes)):
        return Pcap(value)
    raise FairlaneError(
        f"cannot capture {value!r}: give names of links, nodes, flows or channels, a dict from names to files, or fairlane.Pcap(...)"
    )


def _pair(text: str) -> tuple[str, str | None]:
    """NAME or NAME=FILE."""
    what, equals, file = text.partition("=")
    if not what or (equals and not file):
        raise FairlaneError(f"cannot read {text!r}: write NAME or NAME=FILE{ENDING}")
    return what, file or None


def _plain(what: str) -> str:
    """The file of a name: without the kind, and without what a file system may not take."""
    kind, colon, rest = what.partition(":")
    name = rest if colon and kind in KINDS else what
    return re.sub(r"[^\w.+@-]", "_", name).lstrip(".") + ENDING


def _named(file: str | PathLike[str]) -> str:
    name = fspath(file)
    if not name.endswith(ENDING):
        raise FairlaneError(f"cannot write packets to {name}: the name must end in {ENDING}")
    return name
