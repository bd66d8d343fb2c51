"""Fast Open (RFC 7413) during the handshake of a connection: SYN option, SYN data, and the reply."""

from __future__ import annotations

from typing import Any

from .cookies import SERVER, SERVER_NO_COOKIE, Cookies, Request, written
from .model import Packet
from .send_path import EPOCH, Sending


class Opening(Sending):
    """The handshake of a connection."""

    timestamps: bool
    syns: int
    peer_mss: int
    cookies: Cookies | None = None
    asked: Request | None = None
    """Fast Open request of our SYN."""
    listener: Any = None
    takes_data = False
    """True if the listener accepts data in a SYN."""
    fast_open = "off"
    first_live = 0
    """Timestamp of our first SYN."""

    def ask(self) -> None:
        """Configures the endpoint for the request of its SYN."""
        if self.asked is not None:
            option = self.asked.option
            self.core.set_cookie(option if option is not None and (option[0] or option[1]) else None, self.asked.limit)

    def open_with(self, now: int, size: int) -> None:
        """Sends the SYN, with data if allowed."""
        if size:
            self.write(now, size)
        else:
            self.take(now, self.core.write(now + EPOCH, 0, False))

    def accept_data(self, packet: Packet) -> None:
        """Returns true if a server accepts the data of this SYN with a valid cookie."""
        if self.passive and self.cookies is not None and self.takes_data and self.cookies.bits() & SERVER:
            free = self.cookies.bits() & SERVER_NO_COOKIE or self.options.get("TCP_FASTOPEN_NO_COOKIE")
            self.fast_open = "no_cookie" if free and packet.length else "cookie"

    def exchange(self, packet: Packet) -> None:
        """Checks the cookie on a server; stores the cookie of the reply on a client."""
        if self.cookies is None:
            return
        if self.passive and self.fast_open == "cookie":
            self.core.set_cookie((self.cookies.valid(self.options.get("TCP_FASTOPEN_KEY")), False))
        elif self.asked is not None and packet.has("."):
            self.cookies.learn(self.asked, self.syns, packet.options, self.peer_mss)

    def finish_syn(self, packet: Packet, option: tuple[Any, bool] | None) -> None:
        """Adds the option to a SYN; its data ends with PSH (tcp_send_syn_data)."""
        if option is not None:
            packet.options = (*(packet.options or ()), *written((bytes(option[0]), option[1])))
        if packet.has("S") and packet.length:
            self.push_ends.add(1 + packet.length)

    @property
    def early(self) -> bool:
        """Sends data before the end of the handshake (RFC 7413 section 4.2.2)."""
        return bool(self.core is not None and self.view()["early"])

    def retries(self) -> int:
        """Returns the number of SYN retransmissions."""
        return int(self.options.get("TCP_SYNCNT") or self.settings.number("tcp_syn_retries"))
