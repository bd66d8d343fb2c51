"""Keepalives, TCP_USER_TIMEOUT (RFC 5482), a device that takes nothing: times as Linux 6.18 keeps them (validation.kernel.scripts)."""

from __future__ import annotations

from script_helpers import STAMPED, passes


def option(name: str, value: int, level: str = "SOL_TCP") -> str:
    return f"+0 setsockopt(4, {level}, {name}, [{value}], 4) = 0\n"


KEEP = option("TCP_KEEPIDLE", 5) + option("TCP_KEEPINTVL", 2) + option("TCP_KEEPCNT", 2) + option("SO_KEEPALIVE", 1, "SOL_SOCKET")
PROBE = "> . 0:0(0) ack 1 <...>\n"


def test_keepalives_and_their_end() -> None:
    # Recorded from the kernel: probes at 5, 10, 12, then a reset at 14 seconds.
    answer = "+0 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 120 ecr 5710>\n"
    end = "+2 > R. 1:1(0) ack 1 <...>\n+0 write(4, ..., 1) = -1 ETIMEDOUT (Connection timed out)\n"
    first = "+5 > . 0:0(0) ack 1 <nop,nop,TS val 5710 ecr 110>\n"
    passes(STAMPED + KEEP + first + answer + "+5 " + PROBE + "+2 " + PROBE + end)
    passes(STAMPED + KEEP + "+5 " + PROBE + "+0 %{ assert tcpi_probes == 1, tcpi_probes }%\n")
    # What is in flight is watched by its own timer.
    busy = "+4 write(4, ..., 100) = 100\n+0 > P. 1:101(100) ack 1 <...>\n+.01 < . 1:1(0) ack 101 win 257 <nop,nop,TS val 130 ecr 700>\n"
    passes(STAMPED + KEEP + busy + "+5 > . 100:100(0) ack 1 <...>\n")


def test_the_users_timeout_ends_retransmissions() -> None:
    write = "+0 write(4, ..., 100) = 100\n+0 > P. 1:101(100) ack 1 <...>\n"
    # Recorded from the kernel: the first retransmission after 0.21 s, the end 2 s after it.
    alive = "+2.2 write(4, ..., 1) = 1\n"
    dead = "+.1 write(4, ..., 1) = -1 ETIMEDOUT (Connection timed out)\n"
    passes(STAMPED + option("TCP_USER_TIMEOUT", 2000) + write + alive + dead)
    passes(STAMPED + write + alive + dead.replace("-1 ETIMEDOUT (Connection timed out)", "1"))


def test_a_device_that_takes_nothing_is_tried_twice_a_second() -> None:
    shut = "+0 `tc qdisc add dev tun0 root pfifo limit 0`\n+0 write(4, ..., 24) = 24\n"
    text = STAMPED + option("TCP_USER_TIMEOUT", 3000) + shut + "+3.1 write(4, ..., 24) = 24\n+.2 write(4, ..., 24) = -1 ETIMEDOUT (...)\n"
    passes(text + "+0 %{ assert (tcpi_probes, tcpi_backoff) == (6, 0), tcpi_probes }%\n")
    passes(STAMPED + shut + "+.5 `tc qdisc replace dev tun0 root pfifo`\n+0 > P. 1:25(24) ack 1 <...>\n")


def test_the_largest_segment_that_arrived() -> None:
    data = "+0 < . 1:10001(10000) ack 1 win 257 <nop,nop,TS val 120 ecr 700>\n+0 %{ assert tcpi_rcv_mss == %d, tcpi_rcv_mss }%%\n"
    passes("--mss=1000\n" + STAMPED + data.replace("%d", "1000").replace("%%", "%"))
    passes(STAMPED + "+0 %{ assert tcpi_rcv_mss == 536 }%\n")
