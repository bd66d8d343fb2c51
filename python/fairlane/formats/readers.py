"""The readers of files of other programs: how each is recognised, what it gives, and what it was checked against.

`fairlane import`, `fairlane import --list` and the table of docs/guides/formats.md (`python -m fairlane.formats.manual`) come from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..linux import Imported
    from .imported import ImportedRun

    Read = Callable[[Path, Path, int | None], ImportedRun]

HEAD = 1 << 16
"""Bytes that a format is recognised by."""


@dataclass(frozen=True)
class Reader:
    """A format that `fairlane import` reads."""

    name: str
    what: str
    """The files, for people."""
    gives: str
    """Contents of the result."""
    checked: str
    """Numbers that the reader was compared with."""
    recognise: Callable[[bytes], bool]
    """True for the first bytes of such a file; the first reader that says so reads it."""
    module: str
    function: str = "read"
    unpacks: bool = False
    """True if the reader takes compressed files itself."""

    def load(self) -> Read:
        """Returns the function that reads a file: file, folder of the events, step in picoseconds."""
        read: Read = getattr(import_module(f".{self.module}", __package__), self.function)
        return read


def _begins(*starts: str) -> Callable[[bytes], bool]:
    known = tuple(bytes.fromhex(s) for s in starts)
    return lambda head: head.startswith(known)


def _line(pattern: str) -> Callable[[bytes], bool]:
    """Recognises a line."""
    found = re.compile(pattern.encode(), re.M)
    return lambda head: found.search(head) is not None


def _json(pattern: str) -> Callable[[bytes], bool]:
    """Recognises a JSON document by its first keys."""
    found = re.compile(pattern.encode())
    return lambda head: head.lstrip()[:1] == b"{" and found.search(head) is not None


def _qlog(head: bytes) -> bool:
    return head.lstrip()[:1] == b"\x1e" or _json(r'"(qlog_version|qlog_format)"\s*:|"file_schema"\s*:\s*"urn:ietf:params:qlog')(head)


_PACKETS = "flows by address and port: rates, retransmissions, round-trip times; events"
_HOPS = "flows and links with delays, losses, queues; events"
_SS = r"Recv-Q\s+Send-Q|(^|\s)(ESTAB|SYN-SENT|FIN-WAIT-[12]|CLOSE-WAIT|LAST-ACK|TIME-WAIT)\s+\d+\s+\d+\s+\S+:\S+\s+\S+:\S+"
READERS = (
    Reader(
        "pcap", "pcap of tcpdump, Wireshark and others", _PACKETS, "tshark on the same files",
        _begins("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d"), "capture", "read_capture",
    ),
    Reader(
        "pcapng", "pcapng of dumpcap, Wireshark and others", _PACKETS, "tshark on the same files",
        _begins("0a0d0d0a"), "capture", "read_capture",
    ),
    Reader(
        "qlog", "QUIC in JSON, JSON-SEQ and NDJSON, versions 0.3, 0.4 and by schema; `fairlane export RESULT qlog`",
        "a flow per trace: window, bytes in flight, round-trip times, acknowledged data; a second one for received data",
        "the run that was exported; numbers in the file", _qlog, "logs.qlog",
    ),
    Reader(
        "iperf3", "`iperf3 -J` and `--json-stream`: TCP and UDP, several streams, both directions",
        "a flow per stream: goodput, retransmissions, window, round-trip time", "the totals in the file",
        _json(r'"event"\s*:\s*"start"|"start"\s*:\s*\{\s*"connected"|"version"\s*:\s*"iperf 3'), "logs.iperf3",
    ),
    Reader(
        "flent", "`.flent`, `.flent.gz`: versions 1 to 4 of the format",
        "a flow per series that is a rate, a round-trip time or the time of a page",
        "the means in the example files of flent's tests", lambda head: head.lstrip()[:1] == b"{", "flent", "read_flent", unpacks=True,
    ),
    Reader(
        "omnetpp", "`.vec` and `.sca` of OMNeT++ with INET", "flows and links by module: goodput, window, round-trip time, delay, queue",
        "the numbers in the file", _line(r"\Aversion [23]\s*$"), "logs.omnetpp",
    ),
    Reader(
        "tcptrace", "`tcptrace -l`, `tcptrace --csv -l`", "a flow per direction: goodput, retransmissions, round-trip time",
        "the numbers in the file", _line(r"^TCP connection \d+:|^#?conn_#[,\t]"), "logs.tcptrace",
    ),
    Reader(
        "ns3", "ASCII trace of ns-3 (`EnableAsciiAll`) over IPv4", _HOPS, "counts of its lines",
        _line(r"^[-+rdt] [0-9][0-9.e+-]* (/NodeList/\d+/DeviceList/\d+/|ns3::)"), "logs.ns3",
    ),
    Reader(
        "ss", "`ss -tin`, once or many times", "a flow per socket: goodput, window, round-trip time, retransmissions",
        "the numbers in the file", _line(_SS), "logs.ss",
    ),
    Reader(
        "ns2", "`trace-all` of ns-2, wired links; `fairlane run --trace --trace-format ns2`", _HOPS,
        "the usual awk scripts on the same file", _line(r"^[-+rdhevsf] "), "ns2", "read_trace",
    ),
)  # fmt: skip


def reader_of(head: bytes) -> Reader | None:
    """Returns the reader of a file with these first bytes.

    >>> [r.name for h in (b"\\x0a\\x0d\\x0d\\x0a", b'{"version": 4}', b"hello") if (r := reader_of(h))]
    ['pcapng', 'flent']
    """
    return next((r for r in READERS if r.recognise(head)), None)


def names() -> str:
    """Returns the names of all formats.

    >>> names().startswith("pcap, pcapng, qlog") and names().endswith(" and ns2")
    True
    """
    every = [r.name for r in READERS]
    return f"{', '.join(every[:-1])} and {every[-1]}"


@dataclass(frozen=True)
class Description:
    """A description of a network from which `fairlane import KIND FILE` makes a scenario."""

    kind: str
    what: str
    """The files, for people."""
    checked: str
    """Judge of the reader."""
    reader: Callable[[], Callable[..., Imported]]
    """Imports the function that reads a text, and returns it."""
    endings: tuple[str, ...] = ()
    """File endings by which a file without a kind is taken for one."""
    several: Callable[[], Callable[..., Imported]] | None = None
    """Reader of the files of several machines."""


def _tc() -> Callable[..., Imported]:
    from ..linux import import_tc

    return import_tc


def _several() -> Callable[..., Imported]:
    from ..linux import scenario_of

    return scenario_of


def _tcl() -> Callable[..., Imported]:
    from .tcl import import_tcl

    return import_tcl


def _mininet() -> Callable[..., Imported]:
    from .mininet import import_mininet

    return import_mininet


def _flows() -> Callable[..., Imported]:
    from .flow_list import import_flows

    return import_flows


DESCRIPTIONS = {
    d.kind: d
    for d in (
        Description(
            "tc",
            "commands of tc, scripts of `fairlane tc`, the output of `tc qdisc show`",
            "our export, iproute2's source",
            _tc,
            (".tc", ".sh"),
            _several,
        ),
        Description(
            "ns2",
            "Tcl scripts of ns-2: links, queues, agents, sources, `at`",
            "the translation in [from ns-2](from-ns2.md)",
            _tcl,
            (".tcl",),
        ),
        Description(
            "mininet",
            "topologies of Mininet and Containernet in Python, read and not executed",
            "Mininet's documented options",
            _mininet,
            (".py",),
        ),
        Description(
            "flows",
            "lists of flows in CSV, as NetFlow exports have them: start, bytes, two hosts",
            "the columns of the file",
            _flows,
        ),
    )
}
"""Files that become scenarios, by kind."""
