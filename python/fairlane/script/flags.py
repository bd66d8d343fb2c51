"""The options of packetdrill, at the top of a script or on the command line (see its config.c)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from ..errors import FairlaneError
from .cookies import ADDRESSES
from .diagnostics import near
from .lexer import Source
from .model import Script

TOLERANCE = 4_000
"""Default timing tolerance in microseconds."""
TOLERANCE_PERCENT = 12.5
"""Default timing tolerance as a share of the time since the previous event, if larger."""
VERSIONS = ("ipv4", "ipv4-mapped-ipv6", "ipv6")
NON_FATAL = ("packet", "syscall")

_WITHOUT_TRACE = {
    "bind_port",
    "connect_port",
    "gateway_ip",
    "netmask_ip",
    "speed",
    "send_omit_free",
    "debug",
    "verbose",
    "is_anyip",
    "tcp_ts_ecr_scaled",
    "code_command",
}
"""Options without effect here: addresses, ports, output and cleanup of the runner."""
_REFUSED = {
    "wire_client": "there is one machine",
    "wire_server": "there is one machine",
    "wire_server_ip": "there is one machine",
    "wire_server_at": "there is one machine",
    "wire_server_port": "there is one machine",
    "wire_client_dev": "there is one machine",
    "wire_server_dev": "there is one machine",
    "so_filename": "the stack under test is ours",
    "so_flags": "the stack under test is ours",
}
HONOURED = {
    "ip_version",
    "tolerance_usecs",
    "tolerance_percent",
    "tcp_ts_tick_usecs",
    "mtu",
    "mss",
    "local_ip",
    "remote_ip",
    "non_fatal",
    "strict_segments",
    "init_scripts",
    "define",
    "D",
    "dry_run",
    "code_format",
    "code_sockopt",
}
KNOWN = HONOURED | _WITHOUT_TRACE | set(_REFUSED)
"""Names of all options."""


@dataclass(frozen=True)
class Flags:
    """Values of the options."""

    ip_version: str = "ipv4"
    tolerance_usecs: int = TOLERANCE
    tolerance_percent: float = TOLERANCE_PERCENT
    tcp_ts_tick_usecs: int = 0
    mtu: int = 1500
    mss: int = 0
    """Segment size that a longer arriving packet is split into; 0: no split."""
    non_fatal: tuple[str, ...] = ()
    strict_segments: bool = False
    init_scripts: tuple[str, ...] | None = None
    dry_run: bool = False
    local_ip: str = ""
    remote_ip: str = ""

    @property
    def addresses(self) -> tuple[str, str]:
        """Addresses of the host and the peer, for Fast Open cookies."""
        local, remote = ADDRESSES[self.header]
        return self.local_ip or local, self.remote_ip or remote

    @property
    def header(self) -> str:
        """Size of the IP header."""
        return "ipv6" if self.ip_version == "ipv6" else "ipv4"


def read_flags(source: Source, script: Script, given: Mapping[str, str]) -> Flags:
    """Returns the options of a script, overridden by those of the command line."""
    values: dict[str, Any] = {}
    for name, value in script.options.items():
        if name not in given:
            token = script.option_tokens.get(name)

            def fault(message: str, help: str, refused: bool = False, token: Any = token) -> Exception:
                return (source.refusal if refused else source.error)(token, message, help)

            _read(name, value, values, fault)
    for name, value in given.items():

        def plain(message: str, help: str, refused: bool = False) -> Exception:
            return FairlaneError(f"{message}: {help}")

        _read(name, value, values, plain)
    return Flags(**values)


def _read(name: str, value: str, out: dict[str, Any], fault: Any) -> None:
    if name in _REFUSED:
        raise fault(f"--{name} cannot be honoured: {_REFUSED[name]}", "leave it out", True)
    if name not in KNOWN:
        raise fault(f"unknown option --{name}", near(name, sorted(KNOWN)))
    if name in ("tolerance_usecs", "tcp_ts_tick_usecs", "mtu", "mss"):
        bounds = {"mtu": (88, 65535), "mss": (1, 65535)}.get(name, (0, 1 << 40))
        if not (value.isascii() and value.isdigit() and bounds[0] <= int(value) <= bounds[1]):
            raise fault(f"--{name}={value}: expected a whole number from {bounds[0]} to {bounds[1]}", f"write --{name}={_EXAMPLES[name]}")
        out[name] = int(value)
    elif name == "tolerance_percent":
        try:
            out[name] = float(value)
        except ValueError:
            out[name] = -1.0
        if not 0 <= out[name] <= 1000:
            raise fault(f"--{name}={value}: expected a number from 0 to 1000", f"write --{name}=12.5")
    elif name == "ip_version":
        if value not in VERSIONS:
            raise fault(f"--ip_version={value}: no such version", near(value, list(VERSIONS)))
        out[name] = value
    elif name == "non_fatal":
        kinds = tuple(k for k in value.replace(",", " ").split() if k)
        for kind in kinds:
            if kind not in NON_FATAL:
                raise fault(f"--non_fatal={value}: {kind} is not a kind of event", near(kind, list(NON_FATAL)))
        out[name] = kinds
    elif name in ("local_ip", "remote_ip"):
        try:
            out[name] = str(ip_address(value))
        except ValueError:
            raise fault(f"--{name}={value}: no address", f"write --{name}=192.0.2.1") from None
    elif name in ("strict_segments", "dry_run"):
        out[name] = value != "false"
    elif name == "init_scripts":
        out[name] = tuple(p for p in value.split(",") if p)
    elif name == "code_format" and value != "python":
        raise fault(f"--code_format={value}: only Python is run", "leave it out", True)
    elif name == "code_sockopt" and value not in ("", "TCP_INFO"):
        raise fault(f"--code_sockopt={value}: scripts see struct tcp_info", "write --code_sockopt=TCP_INFO", True)


_EXAMPLES = {"tolerance_usecs": 4000, "tcp_ts_tick_usecs": 1000, "mtu": 1500, "mss": 1000}
