"""A script as events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .lexer import Token

MICROSECOND = 1
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class When:
    """Time of an event: microseconds, absolute or after the previous event; `any`: at once, or whenever it comes."""

    start: int = 0
    end: int | None = None
    relative: bool = False
    any: bool = False
    until: int | None = None
    """End of a call that blocks."""


@dataclass(frozen=True, slots=True)
class Name:
    """A symbol such as SOL_SOCKET."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Call:
    """htons(8080), inet_addr("...") and the like."""

    name: str
    args: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """`{name = value, ...}`; values without a name are under their index."""

    fields: dict[Any, Any]


WILD = ...
"""`...` as an argument."""


@dataclass(slots=True)
class Packet:
    """A segment on the wire, with the numbers of the script."""

    flags: str = "."
    """Letters of S F R P U E W A, with "." for ACK, in that order."""
    seq: int = 0
    length: int = 0
    ack: int | None = None
    win: int | None = None
    options: tuple[tuple[Any, ...], ...] | None = ()
    """None for any value."""
    ecn: str | None = None
    icmp: tuple[str, str, int | None] | None = None
    urg: int = 0
    time: int = 0
    """Time of a sent packet in picoseconds."""

    def has(self, flag: str) -> bool:
        """Returns true if a flag is set."""
        return flag in self.flags


@dataclass(slots=True)
class Event:
    """One step of a script."""

    line: int
    when: When
    token: Token = field(repr=False)


@dataclass(slots=True)
class Inject(Event):
    """A packet that arrives."""

    packet: Packet = field(default_factory=Packet)


@dataclass(slots=True)
class Expect(Event):
    """A packet that must leave."""

    packet: Packet = field(default_factory=Packet)


@dataclass(slots=True)
class Syscall(Event):
    """A call of the application with its expected result."""

    name: str = ""
    args: tuple[Any, ...] = ()
    arg_tokens: tuple[Token, ...] = ()
    result: Any = None
    errno: str | None = None


@dataclass(slots=True)
class Code(Event):
    """Python code."""

    text: str = ""


@dataclass(slots=True)
class Shell(Event):
    """Lines for a shell, never executed."""

    text: str = ""


@dataclass(slots=True)
class Script:
    """The options and events of a file."""

    file: str
    text: str
    options: dict[str, str]
    events: list[Event]
    option_tokens: dict[str, Token] = field(default_factory=dict, repr=False)
