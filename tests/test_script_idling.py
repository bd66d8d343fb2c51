"""Keepalives, TCP_USER_TIMEOUT (RFC 5482), a device that takes nothing: times as Linux 6.18 keeps them (validation.kernel.scripts)."""

from __future__ import annotations

from fairlane.script import run_text

OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 100 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 700 ecr 100,nop,wscale 7>
+.01 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 110 ecr 700>
+0 accept(3, ..., ...) = 4
"""


def passes(text: str) -> None:
    out = run_text(text)
    assert out.passed, out.message


def option(name: str, value: int, level: str = "SOL_TCP") -> str:
    return f"+0 setsockopt(4, {level}, {name}, [{value}], 4) = 0\n"


KEEP = option("TCP_KEEPIDLE", 5) + option("TCP_KEEPINTVL", 2) + option("TCP_KEEPCNT", 2) + option("SO_KEEPALIVE", 1, "SOL_SOCKET")
PROBE = "> . 0:0(0) ack 1 <...>\n"


def test_keepalives_and_their_end() -> None:
    # Recorded from the kernel: probes at 5, 10, 12, then a reset at 14 seconds.
    answer = "+0 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 120 ecr 5710>\n"
    end = "+2 > R. 1:1(0) ack 1 <...>\n+0 write(4, ..., 1) = -1 ETIMEDOUT (Connection timed out)\n"
    first = "+5 > . 0:0(0) ack 1 <nop,nop,TS val 5710 ecr 110>\n"
    passes(OPEN + KEEP + first + answer + "+5 " + PROBE + "+2 " + PROBE + end)
    passes(OPEN + KEEP + "+5 " + PROBE + "+0 %{ assert tcpi_probes == 1, tcpi_probes }%\n")
    # What is in flight is watched by its own timer.
    busy = "+4 write(4, ..., 100) = 100\n+0 > P. 1:101(100) ack 1 <...>\n+.01 < . 1:1(0) ack 101 win 257 <nop,nop,TS val 130 ecr 700>\n"
    passes(OPEN + KEEP + busy + "+5 > . 100:100(0) ack 1 <...>\n")


def test_the_users_timeout_ends_retransmissions() -> None:
    write = "+0 write(4, ..., 100) = 100\n+0 > P. 1:101(100) ack 1 <...>\n"
    # Recorded from the kernel: the first retransmission after 0.21 s, the end 2 s after it.
    alive = "+2.2 write(4, ..., 1) = 1\n"
    dead = "+.1 write(4, ..., 1) = -1 ETIMEDOUT (Connection timed out)\n"
    passes(OPEN + option("TCP_USER_TIMEOUT", 2000) + write + alive + dead)
    passes(OPEN + write + alive + dead.replace("-1 ETIMEDOUT (Connection timed out)", "1"))


def test_a_device_that_takes_nothing_is_tried_twice_a_second() -> None:
    shut = "+0 `tc qdisc add dev tun0 root pfifo limit 0`\n+0 write(4, ..., 24) = 24\n"
    text = OPEN + option("TCP_USER_TIMEOUT", 3000) + shut + "+3.1 write(4, ..., 24) = 24\n+.2 write(4, ..., 24) = -1 ETIMEDOUT (...)\n"
    passes(text + "+0 %{ assert (tcpi_probes, tcpi_backoff) == (6, 0), tcpi_probes }%\n")
    passes(OPEN + shut + "+.5 `tc qdisc replace dev tun0 root pfifo`\n+0 > P. 1:25(24) ack 1 <...>\n")


def test_the_largest_segment_that_arrived() -> None:
    data = "+0 < . 1:10001(10000) ack 1 win 257 <nop,nop,TS val 120 ecr 700>\n+0 %{ assert tcpi_rcv_mss == %d, tcpi_rcv_mss }%%\n"
    passes("--mss=1000\n" + OPEN + data.replace("%d", "1000").replace("%%", "%"))
    passes(OPEN + "+0 %{ assert tcpi_rcv_mss == 536 }%\n")
