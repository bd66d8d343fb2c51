"""The error queue of a socket: completions of MSG_ZEROCOPY, and times of sending and acknowledgment (SO_TIMESTAMPING)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ZEROCOPY, TIMESTAMPING = "SO_EE_ORIGIN_ZEROCOPY", "SO_EE_ORIGIN_TIMESTAMPING"
COPIED = "SO_EE_CODE_ZEROCOPY_COPIED"
"""Completion code of data that was copied after all, as on a TUN device."""
TOLD = {
    "SOF_TIMESTAMPING_TX_SCHED": "SCM_TSTAMP_SCHED",
    "SOF_TIMESTAMPING_TX_SOFTWARE": "SCM_TSTAMP_SND",
    "SOF_TIMESTAMPING_TX_ACK": "SCM_TSTAMP_ACK",
}
"""Requested events, and their codes in the entries."""


@dataclass
class Notice:
    """An entry: its origin, its fields by the names of struct sock_extended_err, and a time."""

    fields: dict[str, Any]
    at: int | None = None


@dataclass
class Errors:
    """Entries waiting for the application, and events pending until the bytes before `end` are sent or acknowledged."""

    notices: list[Notice] = field(default_factory=list)
    copies: list[tuple[int, int]] = field(default_factory=list)
    """End of the data of a call with MSG_ZEROCOPY, and the number of the call."""
    calls: int = 0
    stamps: list[tuple[int, str, int]] = field(default_factory=list)
    """End of a write, the requested events, and its number."""
    first: int = 0
    """Bytes written before timestamps were enabled."""
    arrived: int = 0

    def wrote_without_copy(self, end: int) -> None:
        """Registers a call with MSG_ZEROCOPY that wrote up to `end`."""
        self.copies.append((end, self.calls))
        self.calls += 1

    def wrote(self, end: int, asked: set[str]) -> None:
        """Registers a call that wrote up to `end` on a socket with timestamps."""
        number = end - 1 - self.first if "SOF_TIMESTAMPING_OPT_ID" in asked else 0
        if "SOF_TIMESTAMPING_SOFTWARE" in asked:
            self.stamps += [(end, name, number) for option, name in TOLD.items() if option in asked]

    def progress(self, now: int, sent: int, acked: int) -> None:
        """Creates the entries for bytes sent before `sent` and acknowledged before `acked`."""
        for end, name, number in [s for s in self.stamps if s[0] <= (acked if s[1] == "SCM_TSTAMP_ACK" else sent)]:
            self.stamps.remove((end, name, number))
            origin = {"ee_errno": "ENOMSG", "ee_origin": TIMESTAMPING, "ee_type": 0, "ee_code": 0, "ee_info": name, "ee_data": number}
            self._add(Notice(origin, now))
        while self.copies and self.copies[0][0] <= acked:
            number = self.copies.pop(0)[1]
            last = self.notices[-1].fields if self.notices else {}
            if last.get("ee_origin") == ZEROCOPY and last["ee_data"] == number - 1:
                last["ee_data"] = number  # Completions in a row are one entry (skb_zerocopy_notify_extend).
                self.arrived += 1
                continue
            origin = {"ee_errno": 0, "ee_origin": ZEROCOPY, "ee_type": 0, "ee_code": COPIED, "ee_info": number, "ee_data": number}
            self._add(Notice(origin))

    def _add(self, notice: Notice) -> None:
        self.notices.append(notice)
        self.arrived += 1
