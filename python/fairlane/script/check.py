"""Checks of a script before it runs: errors, and features that are not simulated."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from . import symbols
from .diagnostics import near
from .lexer import Source, Token
from .model import Call, Event, Expect, Inject, Name, Packet, Script, Shell, Struct, Syscall

PLACES = {"NULL", "AF_INET", "AF_INET6", "AF_UNSPEC", "PF_INET", "PF_INET6", "INADDR_ANY", "INADDR_LOOPBACK", "IPPROTO_TCP", "O_RDWR"}
"""Constants that may stand where no flags are expected."""
PACKET_OPTIONS = {"md5": "the MD5 option (RFC 2385)", "ECN": "the AccECN option (RFC 9768 section 3.2.3)"}


_ROUTE = re.compile(r"ip (?:-6 )?route (?:add|change|replace)\b.*\b(advmss|mtu|initcwnd|initrwnd|rto_min|quickack|features|congctl)\b")
_PROBING = re.compile(r"tcp_mtu_probing=[12]")


def check(source: Source, script: Script, calls: Iterable[str]) -> None:
    """Raises `ScriptError` for the first event that cannot be executed."""
    known = list(calls)
    opened = False
    for event in script.events:
        if isinstance(event, Syscall):
            _call(source, event, known)
        elif isinstance(event, (Inject, Expect)):
            _packet(source, event, event.packet, opened)
            if event.packet.icmp is None:
                opened = (isinstance(event, Inject) and event.packet.has(".")) or (opened and not event.packet.has("S"))
        elif isinstance(event, Shell):
            if _PROBING.search(event.text):
                raise source.refusal(event.token, "probes of the path MTU (RFC 4821) are not simulated")
            if found := _ROUTE.search(event.text):
                raise source.refusal(event.token, f"there are no routes that could set {found.group(1)}", "write --mtu, or setsockopt()")


def _call(source: Source, call: Syscall, known: list[str]) -> None:
    if call.name not in known:
        help = near(call.name, known, "scripts may call " + ", ".join(sorted(known)))
        raise source.refusal(call.token, f"the call {call.name}() is not simulated", help)
    if call.name == "recvmsg" and len(call.args) > 1 and isinstance(call.args[1], Struct):
        _control(source, call, call.args[1])
    for i, arg in enumerate(call.args):
        token = call.arg_tokens[i]
        if call.name in ("setsockopt", "getsockopt") and i in (1, 2):
            _option(source, token, i, arg)
        elif call.name in symbols.FLAGS and symbols.FLAGS[call.name][0] == i:
            _flags(source, token, call.name, arg, symbols.FLAGS[call.name][1])
        else:
            if call.name == "socket" and i == 2:
                _socket(source, call)
            for name in _names(arg):
                _constant(source, token, call.name, name)


def _option(source: Source, token: Token, index: int, arg: Any) -> None:
    names = [n.text for n in _names(arg)]
    if index == 1:
        for name in names:
            if name not in symbols.LEVELS:
                raise source.error(token, f"{name} is not a level of socket options", near(name, sorted(symbols.LEVELS)))
        return
    name = names[0] if len(names) == 1 else ""
    if name in symbols.NOT_DONE:
        raise source.refusal(token, f"the socket option {name} is not simulated: {symbols.NOT_DONE[name]}")
    if name not in symbols.SOCKET_OPTIONS:
        found = near(name, sorted(symbols.SOCKET_OPTIONS)) if name else "write its name, such as TCP_NODELAY"
        raise source.refusal(token, f"the socket option {name or token} is not simulated", found)


def _flags(source: Source, token: Token, call: str, arg: Any, known: set[str]) -> None:
    for name in (n.text for n in _names(arg)):
        if name in symbols.REFUSED:
            raise source.refusal(token, f"{name} is not simulated: {symbols.REFUSED[name]}")
        if call == "socket" and name in ("SOCK_DGRAM", "SOCK_RAW"):
            raise source.refusal(token, "UDP is not simulated here", "write SOCK_STREAM")
        if name not in known:
            raise source.error(token, f"{name} is not a known flag of {call}()", near(name, sorted(known)))


def _socket(source: Source, call: Syscall) -> None:
    last = call.args[-1] if call.args else None
    if (
        isinstance(last, Name)
        and len(call.args) > 2
        and last.text.startswith("IPPROTO_")
        and last.text not in ("IPPROTO_TCP", "IPPROTO_IP")
    ):
        reason = {"IPPROTO_MPTCP": "Multipath TCP is not simulated", "IPPROTO_UDP": "UDP is not simulated here"}
        raise source.refusal(call.arg_tokens[-1], reason.get(last.text, f"{last.text} is not simulated"), "write IPPROTO_TCP")


def _control(source: Source, call: Syscall, message: Struct) -> None:
    """Checks control messages: with data only TCP_CM_INQ exists."""
    errors = any(n.text == "MSG_ERRQUEUE" for n in _names(call.args[2] if len(call.args) > 2 else 0))
    for part in message.fields.get("msg_control", []):
        kind = str(part.fields.get("cmsg_type")) if isinstance(part, Struct) else ""
        if not errors and kind not in ("TCP_CM_INQ", "TCP_INQ"):
            help = "leave msg_control out"
            raise source.refusal(call.arg_tokens[1], "the only control message simulated with data is TCP_CM_INQ", help)


def _constant(source: Source, token: Token, call: str, name: Name) -> None:
    if name.text in symbols.REFUSED:
        raise source.refusal(token, f"{name} is not simulated: {symbols.REFUSED[name.text]}")
    poll = symbols.EPOLL if call.startswith("epoll") else symbols.POLL if call == "poll" else {}
    known = PLACES | set(poll) | symbols.OPEN | symbols.LEVELS | symbols.SEND | symbols.RECEIVE | symbols.CONTROL
    known |= set(symbols.VALUES) | symbols.STAMPS
    if name.text not in known:
        raise source.error(token, f"{name} is not a known constant of {call}()", near(name.text, sorted(known)))


def _names(value: Any) -> list[Name]:
    """The constants in an argument."""
    if isinstance(value, Name):
        return [value]
    if isinstance(value, (tuple, list)):
        return [n for part in value for n in _names(part)]
    if isinstance(value, Struct):
        return [n for part in value.fields.values() for n in _names(part)]
    if isinstance(value, Call):
        return [n for part in value.args for n in _names(part)]
    return []


def _packet(source: Source, event: Event, packet: Packet, opened: bool) -> None:
    if opened and packet.icmp is not None and packet.icmp[0].split()[-1] in ("frag_needed", "packet_too_big"):
        raise source.refusal(event.token, "discovery of the path MTU (RFC 1191) is not simulated once a connection is open")
    for option in packet.options or ():
        if option[0] in PACKET_OPTIONS and isinstance(event, Expect):
            raise source.refusal(event.token, f"{PACKET_OPTIONS[option[0]]} is not simulated")
