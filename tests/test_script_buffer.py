"""Bytes that a write accepts, writeable sockets, and ends of segments: numbers read off Linux 6.18 (SO_MEMINFO, a TUN device)."""

from __future__ import annotations

import pytest

from fairlane.script.buffer import BUFFER, BUSY, OVERHEAD, WINDOW, Chronograph, SendBuffer, burst, size_goal
from script_helpers import fails, passes

HEAD = """
`sysctl -q net.ipv4.tcp_wmem="4096 {wmem} 4194304" net.ipv4.tcp_notsent_lowat={lowat}`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+{rtt} < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
"""


def open_(wmem: int = 16384, rtt: str = ".01", lowat: int = 0xFFFFFFFF) -> str:
    return HEAD.format(wmem=wmem, rtt=rtt, lowat=lowat)


def test_a_buffer_is_booked_with_what_the_kernel_needs_for_it() -> None:
    b = SendBuffer((4096, 50000, 4 << 20))
    assert b.add(1, 16000, 1 << 32) == 1 and b.booked == 833
    b.out(1, 16000)
    assert b.add(100, 16000, 1 << 32) == 100 and b.booked == 1765  # The first is sent: another begins.
    assert b.add(100, 16000, 1 << 32) == 100 and b.booked == 1865
    b.acknowledge(1)
    assert b.booked == 1032
    # Two segments at once to the card cut 5000 bytes in three; half of one of them is given back as it is acknowledged.
    b = SendBuffer((4096, 50000, 4 << 20))
    b.add(5000, 16000, 1 << 32)
    b.out(5000, 2000)
    assert b.booked == 7496
    b.acknowledge(2500)
    assert b.booked == 4164


def test_the_buffer_is_fit_for_the_window_and_grows_with_it() -> None:
    b = SendBuffer((4096, 16384, 4 << 20))
    b.grow(10, 1000)
    assert b.limit == 46080  # 2 * 10 * (2048 + 256)
    b.grow(20, 1000)
    assert b.limit == 92160
    b.grow(10, 1000)
    assert b.limit == 92160
    b.fix(10000)
    b.grow(40, 1000)
    assert b.limit == 20000
    small = SendBuffer((4096, 16384, 50000))
    small.grow(20, 1000)
    assert small.limit == 50000


def test_what_goes_into_one_buffer_and_to_the_card() -> None:
    assert size_goal(1000, 32792) == 16000  # Half the window that the peer's SYN offered.
    assert size_goal(1460, 1 << 20) == 64240  # 44 segments in what a card takes.
    assert size_goal(1000, 400) == 1000
    assert burst(1000, 2e6, 0.01, 2) == 2000  # A millisecond of 2 MB/s, never less than the smallest.
    assert burst(1000, 1e15, 1.0, 2) == 65000
    assert burst(1000, 2e6, 100e-6, 2) == 65000  # A short path: as much as it takes.


def test_poll_wants_a_third_of_the_buffer_free_and_half_the_mark() -> None:
    b = SendBuffer((4096, 30000, 4 << 20))
    b.add(20000 - OVERHEAD, 1 << 20, 1 << 32)
    assert b.writeable(1 << 32)
    b.add(1, 1 << 20, 1 << 32)
    assert not b.writeable(1 << 32) and b.free(1 << 32)
    b = SendBuffer((4096, 90000, 4 << 20))
    b.add(16000, 1 << 20, 32000)
    assert b.writeable(32000) and not b.writeable(32000, wake=1)


def test_a_write_takes_what_the_buffer_holds_and_no_more() -> None:
    passes(open_() + "+0 write(4, ..., 200000) = 42000\n+0 write(4, ..., 1) = -1 EAGAIN (Resource temporarily unavailable)\n")
    fails(open_() + "+0 write(4, ..., 200000) = 41000\n", "returned 42000")
    passes(open_(wmem=50000, rtt="0") + "+0 write(4, ..., 59000) = 58000\n")
    passes(open_(wmem=50000, lowat=32000) + "+0 write(4, ..., 59000) = 42000\n")


def test_a_socket_option_is_doubled_and_fixes_the_buffer() -> None:
    fixed = "+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [10000], 4) = 0\n+0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [20000], [4]) = 0\n"
    passes(open_() + fixed)
    fails(open_() + fixed.replace("20000", "10000"), "expected 10000, actual 20000")
    passes(open_() + "+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [1], 4) = 0\n+0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [4608], [4]) = 0\n")
    passes(open_() + "+0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [46080], [4]) = 0\n")


def test_a_write_that_waits_goes_on_when_a_third_is_free() -> None:
    # A buffer of 42000; 17000 of the 46000 that it took have to go before a third is free.
    text = open_().replace("+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n", "+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [21000], 4) = 0\n")
    wait = text + "+0...0.050 write(4, ..., 61000) = 61000\n"
    passes(wait + "+.01 < . 1:1(0) ack 10001 win 257\n+.01 < . 1:1(0) ack 18001 win 257\n+.03 < . 1:1(0) ack 32001 win 257\n")
    fails(wait + "+.01 < . 1:1(0) ack 10001 win 257\n", "still waits")


def test_edge_triggered_epoll_tells_of_news_only() -> None:
    watch = (
        open_(wmem=50000, rtt="0")
        + "+0 epoll_create(1) = 5\n+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLOUT|EPOLLET, fd=4}) = 0\n"
    )
    none, room = "+0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0\n", "+0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1\n"
    both = room.replace("EPOLLOUT", "EPOLLIN|EPOLLOUT")
    passes(watch + room + none + "+0 < P. 1:101(100) ack 1 win 257\n" + both + none + "+0 read(4, ..., 50) = 50\n" + none)
    full = watch + room + "+0 write(4, ..., 59000) = 58000\n" + none
    passes(full + "+0 < . 1:1(0) ack 10001 win 257\n" + room + "+0 < . 1:1(0) ack 26001 win 257\n" + none)
    level = watch.replace("|EPOLLET", "")
    passes(level + room + room)
    once = watch.replace("EPOLLET", "EPOLLONESHOT")
    passes(once + room + none + "+0 < P. 1:101(100) ack 1 win 257\n" + none)


def test_a_record_ends_a_segment() -> None:
    small = "+0 send(4, ..., 400, MSG_EOR) = 400\n+0 write(4, ..., 400) = 400\n"
    nodelay = (
        open_() + "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n+0 write(4, ..., 10000) = 10000\n+0 > P. 1:10001(10000) ack 1\n"
    )
    acked = "+.01 < . 1:1(0) ack 10001 win 257\n"
    passes(nodelay + small + acked + "+0 > P. 10001:10401(400) ack 1\n+0 > P. 10401:10801(400) ack 1\n")
    passes(nodelay + small.replace("MSG_EOR", "0") + acked + "+0 > P. 10001:10801(800) ack 1\n")


def test_more_to_come_holds_a_small_segment_back() -> None:
    more = open_() + "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n+0 send(4, ..., 40, MSG_MORE) = 40\n"
    passes(more + "+.05 write(4, ..., 60) = 60\n+0 > P. 1:101(100) ack 1\n")
    # With nothing in flight it waits no longer than a probe of the window would: srtt of 10 ms and 200 ms.
    passes(more + "+.21~+.215 > P. 1:41(40) ack 1\n")
    cork = open_() + "+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n+0 write(4, ..., 40) = 40\n"
    passes(cork + "+.05 setsockopt(4, SOL_TCP, TCP_CORK, [0], 4) = 0\n+0 > P. 1:41(40) ack 1\n")
    passes(cork + "+.05 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n+0 > P. 1:41(40) ack 1\n")


def test_what_held_the_sender_up() -> None:
    ms = 1_000_000_000
    c = Chronograph()
    c.start(BUSY, 0)
    c.start(WINDOW, 10 * ms)
    c.stop(WINDOW, 30 * ms, empty=False)
    c.start(BUFFER, 40 * ms)
    c.start(WINDOW, 45 * ms)  # The stronger reason stays.
    c.stop(BUFFER, 60 * ms, empty=False)
    c.stop(BUSY, 100 * ms, empty=True)
    assert c.times(500 * ms) == {"tcpi_busy_time": 100_000, "tcpi_rwnd_limited": 20_000, "tcpi_sndbuf_limited": 20_000}


@pytest.mark.parametrize("call", ["write(4, NULL, 10)", "send(4, NULL, 10, 0)", "sendto(4, NULL, 10, 0, ..., ...)"])
def test_no_buffer_is_an_error_of_the_call(call: str) -> None:
    passes(
        open_() + f"+0 {call} = -1 EFAULT (Bad address)\n+0 < P. 1:11(10) ack 1 win 257\n+0 read(4, NULL, 10) = -1 EFAULT (Bad address)\n"
    )


def test_files_and_pipes() -> None:
    passes(open_() + '+0 open("/tmp/x", O_RDONLY) = 5\n+0 sendfile(4, 5, [0], 700) = 700\n+0 > P. 1:701(700) ack 1\n')
    pipe = open_() + "+0 pipe([5, 6]) = 0\n+0 < P. 1:101(100) ack 1 win 257\n+0 splice(4, NULL, 6, NULL, 60, 0) = 60\n"
    passes(pipe + "+0 splice(4, NULL, 6, NULL, 60, 0) = 40\n+0 splice(5, NULL, 4, NULL, 200, 0) = 100\n")
    # Urgent data ends what is read; the urgent byte itself is passed over (tcp_recvmsg).
    urgent = open_() + "+0 < U. 1:101(100) ack 1 win 257 urg 50\n"
    passes(urgent + "+0 read(4, ..., 100) = 49\n+0 read(4, ..., 100) = 50\n")


def test_least_to_read() -> None:
    least = open_() + "+0 setsockopt(4, SOL_SOCKET, SO_RCVLOWAT, [100], 4) = 0\n+0 < P. 1:51(50) ack 1 win 257\n"
    poll = "+0 poll([{fd=4, events=POLLIN, revents=%s}], 1, 0) = %d\n"
    passes(least + poll % ("0", 0) + "+0 < P. 51:151(100) ack 1 win 257\n" + poll % ("POLLIN", 1))
