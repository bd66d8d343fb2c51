"""Packet captures in pcapng files: selection of links, nodes and flows, names of files, and packet options."""

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
from ..base.partial_files import hidden_folder
from ..errors import FairlaneError, FolderError

ENDING = ".pcapng"
KINDS = ("link", "node", "flow", "monitor")
SNAPLEN_MIN = 128
"""Bytes of all headers: Ethernet 14, IPv6 40, TCP with options 60."""
SNAPLEN_MAX = 262_144
"""Largest value that readers accept."""

Names = str | Iterable[str] | Mapping[str, "str | PathLike[str] | None"]


@dataclass(frozen=True)
class Pcap:
    """Packet capture for `run`.

    `what` names links, nodes, flows, groups of flows or wireless channels: one, several, or a dict from names to files. If a name is
    ambiguous, write `link:NAME`, `node:NAME`, `flow:NAME` or `monitor:NAME`; `monitor:` with the interface of a station captures all frames
    that it receives. The default file is NAME.pcapng in `folder`, with several seeds NAME.SEED.pcapng.
    An existing file is an error without `force`.

    `snaplen`: bytes kept per packet, from 128 to 262144 (0: whole packets; None: headers only). `ip`: 4 or 6. `queue`: adds a comment with
    the queue length to each dequeued packet.
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
        kept = "headers only" if self.snaplen is None else f"{self.snaplen} bytes per packet" if self.snaplen else "whole packets"
        options = [kept, f"IPv{self.ip}", *(["queue lengths as comments"] if self.queue else [])]
        folder = fspath(self.folder) or "the working directory"
        return card(
            "Captures", Sheet(["what", "file"], rows, labels=2), muted(f"{', '.join(options)}; in {folder}. Use run(..., pcap=this).")
        )

    def plan(self, seeds: Sequence[int]) -> Plan:
        """Returns the files, one per name and seed; an error if one of them cannot be written."""
        snaplen = self.snaplen
        if snaplen is not None:
            snaplen = operator.index(snaplen) or SNAPLEN_MAX
            if not SNAPLEN_MIN <= snaplen <= SNAPLEN_MAX:
                raise FairlaneError(f"snaplen {self.snaplen} is not between {SNAPLEN_MIN} and {SNAPLEN_MAX} bytes, or 0 for whole packets")
        if self.ip not in (4, 6):
            raise FairlaneError(f"unknown IP version {self.ip!r}: use 4 or 6")
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
    """Requests of a `Pcap` in the form that the engine takes."""

    requests: list[tuple[str, list[str]]]
    snaplen: int | None
    ipv6: bool
    queue: bool
    new: bool = True
    """True if no file may be replaced."""

    @contextmanager
    def placed(self) -> Iterator[Plan]:
        """Yields the plan with hidden files, which are renamed after all runs succeeded."""
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
                raise FolderError(f"cannot write captures: {reason(e)}") from None
            except FolderError as e:
                shown = str(e)
                for there, stage in stages.items():
                    shown = shown.replace(str(stage), str(there))
                raise FolderError(shown) from None

    def arguments(self) -> tuple[list[tuple[str, list[str]]], int | None, bool, bool]:
        """Returns the arguments of `_core.run`."""
        return self.requests, self.snaplen, self.ipv6, self.queue

    def files(self) -> list[Path]:
        """Returns the paths of all files."""
        return [Path(f) for _, files in self.requests for f in files]


def as_pcap(value: Any) -> Pcap:
    """Converts names, a dict from names to files, or a `Pcap` to a `Pcap`."""
    if isinstance(value, Pcap):
        return value
    if isinstance(value, str | Mapping) or (isinstance(value, Iterable) and not isinstance(value, bytes)):
        return Pcap(value)
    raise FairlaneError(
        f"cannot capture {value!r}: give names of links, nodes, flows or channels, a dict from names to files, or fairlane.Pcap(...)"
    )


def _pair(text: str) -> tuple[str, str | None]:
    """Parses NAME or NAME=FILE."""
    what, equals, file = text.partition("=")
    if not what or (equals and not file):
        raise FairlaneError(f"cannot read {text!r}: write NAME or NAME=FILE{ENDING}")
    return what, file or None


def _plain(what: str) -> str:
    """Returns the file for a name: without its kind, and with characters that every file system accepts."""
    kind, colon, rest = what.partition(":")
    name = rest if colon and kind in KINDS else what
    return re.sub(r"[^\w.+@-]", "_", name).lstrip(".") + ENDING


def _named(file: str | PathLike[str]) -> str:
    name = fspath(file)
    if not name.endswith(ENDING):
        raise FairlaneError(f"cannot write packets to {name}: the name must end in {ENDING}")
    return name
