"""Timers of a silent connection: keepalives, the user timeout, and retries for a full device queue.

The code follows tcp_keepalive_timer, retransmits_timed_out and tcp_probe_timer of Linux 6.18.
"""

from __future__ import annotations

from typing import Any

MS = 1_000_000_000
"""Picoseconds in a millisecond."""
KEEP_IDLE, KEEP_INTERVAL, KEEP_COUNT = 7200, 75, 9
"""Defaults of TCP_KEEPIDLE (s), TCP_KEEPINTVL (s) and TCP_KEEPCNT (probes)."""
RETRY = 500 * MS
"""TCP_RESOURCE_PROBE_INTERVAL: retry interval of data that the device did not take."""


class Idling:
    """Timers of a connection that its endpoint does not have."""

    options: dict[str, Any]
    blocked: bool
    last: dict[str, int]

    def __init__(self) -> None:
        self.again_since: int | None = None
        """Time of the first retransmission since the last acknowledgment."""
        self.una_seen = 0
        self.keep_probes = 0
        self.keep_at: int | None = None
        self.tries = 0
        """Attempts to give data to a full device."""
        self.tries_since: int | None = None
        self.try_at: int | None = None

    def gives_up(self, now: int, *, reset: bool) -> None:
        """Ends the connection with ETIMEDOUT."""
        raise NotImplementedError

    def send_keepalive(self, now: int) -> None:
        """Sends a keepalive: an acknowledgment with an old sequence number (RFC 9293 section 3.8.4)."""
        raise NotImplementedError

    @property
    def user_timeout(self) -> int:
        """TCP_USER_TIMEOUT in picoseconds; 0 without one (RFC 5482)."""
        return int(self.options.get("TCP_USER_TIMEOUT") or 0) * MS

    def watch(self, now: int, view: dict[str, Any], unsent: int) -> None:
        """Updates the timers after an event."""
        if view["una"] != self.una_seen:
            self.una_seen, self.again_since = view["una"], None
        flight = view["una"] != view["nxt"]
        if self.blocked and unsent and not flight:
            if self.try_at is None:
                self.try_at = now + round(view["rto"] * 1e12)
        else:
            self.try_at = self.tries_since = None
            self.tries = 0
        self.keep_at = None
        if self.options.get("SO_KEEPALIVE") and view["established"] and not flight and not unsent:
            idle = max(self.last["data_recv"], self.last["ack_recv"])
            wait = self.keep("TCP_KEEPIDLE", KEEP_IDLE)
            if self.keep_probes and idle >= self.keep_last:
                self.keep_probes = 0
            self.keep_at = self.keep_last + self.keep("TCP_KEEPINTVL", KEEP_INTERVAL) if self.keep_probes else idle + wait

    keep_last = 0

    def keep(self, name: str, otherwise: int) -> int:
        """Returns a keepalive setting in picoseconds."""
        return int(self.options.get(name) or otherwise) * 1000 * MS

    def clocks(self) -> list[int]:
        """Returns the next deadline."""
        due = [t for t in (self.keep_at, self.try_at) if t is not None]
        if self.again_since is not None and self.user_timeout:
            due.append(self.again_since + self.user_timeout)
        return due

    def tick(self, now: int) -> None:
        """Runs the due timers."""
        if self.again_since is not None and self.user_timeout and now >= self.again_since + self.user_timeout:
            self.gives_up(now, reset=False)
        elif self.try_at is not None and now >= self.try_at:
            self.tries_since = now if self.tries_since is None else self.tries_since
            if self.user_timeout and now - self.tries_since >= self.user_timeout:
                self.gives_up(now, reset=False)
                return
            self.tries += 1
            self.try_at = now + RETRY
        elif self.keep_at is not None and now >= self.keep_at:
            patience = int(self.options.get("TCP_KEEPCNT") or KEEP_COUNT)
            idle = now - max(self.last["data_recv"], self.last["ack_recv"])
            over = idle >= self.user_timeout if self.user_timeout else self.keep_probes >= patience
            if self.keep_probes and over:
                self.gives_up(now, reset=True)
                return
            self.keep_probes += 1
            self.keep_last = now
            self.send_keepalive(now)
