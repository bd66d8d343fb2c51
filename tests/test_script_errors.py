"""The error queue: completions of zero copy (Documentation/networking/msg_zerocopy.rst) and time stamps (timestamping.rst of Linux)."""

from __future__ import annotations

from fairlane.script import run_text
from fairlane.script.error_queue import Errors

OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.01 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
"""
NOTICE = (
    "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE, msg_control=[%s"
    "{cmsg_level=CMSG_LEVEL_IP, cmsg_type=CMSG_TYPE_RECVERR, cmsg_data={%s}}]}, MSG_ERRQUEUE) = 0\n"
)
EMPTY = "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE, msg_control=[]}, MSG_ERRQUEUE) = -1 EAGAIN (...)\n"


def copies(first: int, last: int) -> str:
    where = "ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY, ee_type=0, ee_code=SO_EE_CODE_ZEROCOPY_COPIED"
    return NOTICE % ("", f"{where}, ee_info={first}, ee_data={last}")


def stamp(kind: str, ms: int, last: int) -> str:
    at = f"{{cmsg_level=SOL_SOCKET, cmsg_type=SCM_TIMESTAMPING, cmsg_data={{scm_sec=0, scm_nsec={ms * 1_000_000}}}}}, "
    return NOTICE % (at, f"ee_errno=ENOMSG, ee_origin=SO_EE_ORIGIN_TIMESTAMPING, ee_type=0, ee_code=0, ee_info={kind}, ee_data={last}")


def test_completions_come_with_the_acknowledgment_and_those_in_a_row_are_one() -> None:
    send = "+0 send(4, ..., 500, MSG_ZEROCOPY) = 500\n"
    acked = "+.01 < . 1:1(0) ack %d win 257\n"
    one = OPEN + send + EMPTY + acked % 501 + copies(0, 0) + EMPTY
    assert run_text(one).passed
    both = OPEN + send + acked % 501 + send + acked % 1001
    assert run_text(both + copies(0, 1) + EMPTY).passed
    assert "ee_data: expected 0, actual 1" in run_text(both + copies(0, 0)).message
    # A call that fails has no number, and a socket that was not asked has no completions.
    assert run_text(OPEN + "+0 send(4, NULL, 1, MSG_ZEROCOPY) = -1 EFAULT (...)\n" + send + acked % 501 + copies(0, 0)).passed
    assert run_text(OPEN.replace("SO_ZEROCOPY, [1]", "SO_ZEROCOPY, [0]") + send + acked % 501 + EMPTY).passed


def test_poll_and_epoll_tell_of_the_queue() -> None:
    sent = OPEN + "+0 send(4, ..., 500, MSG_ZEROCOPY) = 500\n+.01 < . 1:1(0) ack 501 win 257\n"
    assert run_text(sent + "+0 poll([{fd=4, events=POLLIN, revents=POLLERR}], 1, 0) = 1\n").passed
    watch = OPEN + "+0 epoll_create(1) = 5\n+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLOUT|EPOLLET, fd=4}) = 0\n"
    watch += "+0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1\n"
    none = "+0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0\n"
    waited = "+0 epoll_wait(5, {events=EPOLLERR|EPOLLOUT, fd=4}, 1, 0) = 1\n"
    assert run_text(watch + none + sent.removeprefix(OPEN) + waited + none).passed


def test_time_stamps_of_the_last_byte() -> None:
    asks = "+0 setsockopt(4, SOL_SOCKET, SO_TIMESTAMPING, [SOF_TIMESTAMPING_TX_SCHED|SOF_TIMESTAMPING_TX_SOFTWARE|SOF_TIMESTAMPING_TX_ACK"
    asks += "|SOF_TIMESTAMPING_SOFTWARE|SOF_TIMESTAMPING_OPT_ID], 4) = 0\n"
    write = "+0 write(4, ..., 11000) = 11000\n+.01 < . 1:1(0) ack 10001 win 257\n+.01 < . 1:1(0) ack 11001 win 257\n"
    stamps = stamp("SCM_TSTAMP_SCHED", 20, 10999) + stamp("SCM_TSTAMP_SND", 20, 10999) + stamp("SCM_TSTAMP_ACK", 30, 10999) + EMPTY
    assert run_text(OPEN + asks + write + stamps).passed
    assert "time stamp" in run_text(OPEN + asks + write + stamp("SCM_TSTAMP_SCHED", 10, 10999)).message
    assert run_text(OPEN + write + EMPTY).passed


def test_completions_with_a_gap_are_two() -> None:
    e = Errors()
    for end in (10, 20, 30):
        e.wrote_without_copy(end)
    e.progress(0, 30, 10)
    e.notices.pop()
    e.progress(0, 30, 30)
    assert [(n.fields["ee_info"], n.fields["ee_data"]) for n in e.notices] == [(1, 2)]
