"""Types of the extension; `fairlane` wraps all of it."""

from collections.abc import Callable
from typing import Any, Self, final

import numpy as np

from .settings import Announced

_Columns = dict[str, np.ndarray | list[str]]
_Segment = tuple[int, int, int, int, int, list[tuple[int, int]], tuple[int, int] | None, int, bool, int]

def resolve(text: str, filename: str, format: str, sets: list[tuple[str, str]], expanded: bool = True) -> str: ...
def run(
    resolved: str,
    seeds: list[int],
    threads: int,
    hop_probe: bool = False,
    progress: Callable[[float, int, int], bool | None] | None = None,
    captures: tuple[list[tuple[str, list[str]]], int | None, bool, bool] | None = None,
) -> list[Run]: ...
def read_document(text: str, filename: str, format: str, schema: str) -> str: ...
def remarks(text: str, filename: str, format: str, about: list[tuple[list[str], bool, str, str]]) -> Exception: ...
def engine() -> str: ...
def schema() -> str: ...
def registry() -> str: ...
def metrics() -> str: ...
def presets() -> str: ...
def version() -> str: ...
def plugins() -> str: ...
def quantity_kind(text: str) -> str | None: ...
def quantity(kind: str, text: str) -> tuple[float, bool]: ...
def register_queue(name: str, doc: str, schema: str, factory: Callable[[str, dict[str, float], list[str]], Any], cls: type) -> None: ...
def register_cc(name: str, doc: str, schema: str, factory: Callable[[str, dict[str, Any], Random], Any], cls: type) -> None: ...
def load_cc(path: str) -> list[Announced]: ...
def bench_queue(name: str, packets: int = 1_000_000, seed: int = 1) -> dict[str, float]: ...

@final
class Packet:
    id: int
    length: int
    flow: int
    dscp: int
    ecn: int
    protocol: str
    data: bool
    back: bool
    arrived: float
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...

@final
class QueueHandle:
    now: float
    packets: int
    bytes: int
    def random(self) -> float: ...
    def drop(self, packet: Packet, why: str) -> None: ...
    def mark(self, packet: Packet) -> None: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...

@final
class LiveLink:
    def __new__(cls, resolved: str, name: str, seed: int = 1) -> Self: ...
    def offer(self, now: int, packet: bytes) -> None: ...
    def take(self, now: int) -> list[bytes]: ...
    def next(self) -> int | None: ...
    def counters(self) -> dict[str, int]: ...
    def queue_mean(self, now: int) -> float: ...

@final
class Random:
    def random(self) -> float: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...

@final
class AckSample:
    now: float
    acked: int
    sacked: int
    in_flight: int
    delivered: int
    rtt: float | None
    srtt: float | None
    min_rtt: float | None
    one_way: float | None
    rate: RateSample | None
    lost: int
    round: int
    cwnd_limited: bool
    app_limited: bool
    ce_bytes: int
    reordering: bool
    in_recovery: bool
    may_grow: bool

@final
class RateSample:
    delivered: int
    interval: float
    rate: float
    prior_delivered: int
    tx_in_flight: int
    lost: int
    delivered_ce: int
    app_limited: bool
    newly_delivered: int
    newly_lost: int

@final
class CongestionEvent:
    kind: str
    repeated: bool
    now: float
    flight: int

@final
class RecoveryExit:
    now: float
    bound: float
    deflated: int
    to_ssthresh: bool

@final
class LostSample:
    now: float
    bytes: int
    tx_in_flight: int
    lost: int
    app_limited: bool

@final
class Run:
    seed: int
    fingerprint: str
    events: int
    packet_hops: int
    cpu_s: float
    setup_s: float
    peak_packets: int
    warnings: list[str]
    def flows(self) -> _Columns: ...
    def links(self) -> _Columns: ...
    def network(self) -> _Columns: ...
    def flow_series(self) -> _Columns: ...
    def link_series(self) -> _Columns: ...

@final
class TcpEndpoint:
    delivered: int
    finished: bool
    def __new__(cls, params: str, passive: bool) -> Self: ...
    def start(self, now: int) -> list[_Segment]: ...
    def receive(self, now: int, segment: _Segment) -> list[_Segment]: ...
    def advance(self, now: int) -> list[_Segment]: ...
    def write(self, now: int, bytes: int, fin: bool) -> list[_Segment]: ...
    def stop(self, now: int) -> list[_Segment]: ...
    def renegotiate(self, params: str) -> bool: ...
    def keep_open(self) -> None: ...
    def delay_acks(self) -> None: ...
    def deadlines(self) -> list[tuple[str, int]]: ...
    def view(self) -> dict[str, Any]: ...
