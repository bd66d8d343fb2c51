"""Closed connections: resets, TIME-WAIT, ports taken again (RFC 9293 section 3.6, RFC 6191, Linux tcp_tw_reuse)."""

from __future__ import annotations

from script_helpers import STAMPED, fails, passes


def test_a_reset_has_the_clock_and_the_echo() -> None:
    # RFC 7323 section 3.2: every segment has the option, resets too.
    unread = STAMPED + "+0 < . 1:101(100) ack 1 win 257 <nop,nop,TS val 120 ecr 700>\n* > . 1:1(0) ack 101 <...>\n+1 close(4) = 0\n"
    passes("--tcp_ts_tick_usecs=1000\n" + unread + "+0 > R. 1:1(0) ack 101 <nop,nop,TS val 1710 ecr 120>\n")
    fails(unread + "+0 > R. 1:1(0) ack 101 <nop,nop,TS val 1710 ecr 110>\n", "options: expected")


def test_the_end_that_closed_last_forgets() -> None:
    last = "+0 < F. 1:1(0) ack 1 win 257 <nop,nop,TS val 120 ecr 700>\n* > . 1:1(0) ack 2 <...>\n+.1 close(4) = 0\n"
    last += "+0 > F. 1:1(0) ack 2 <...>\n"
    acked = "+.01 < . 2:2(0) ack 2 win 257 <nop,nop,TS val 130 ecr 700>\n"
    passes(STAMPED + last + acked + acked + "+0 > R 2:2(0)\n")
    # The end that closed first waits, and answers a FIN that comes again (RFC 9293 section 3.10.7.8).
    fin = "+.01 < F. 1:1(0) ack 2 win 257 <nop,nop,TS val 130 ecr 700>\n+0 > . 2:2(0) ack 2 <...>\n"
    passes(STAMPED + "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1 <...>\n" + fin + fin)


def again(after: str, options: str, settings: str) -> str:
    ts = "TS val %d ecr %d," if options else ""
    opened = """+0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_IP, IP_LOCAL_PORT_RANGE, [0xdeaddead], 4) = 0
+{0} connect(3, ..., ...) = -1 {1}
"""
    first = opened.format(0, "EINPROGRESS (...)").removeprefix("+0 ")
    first = "0 " + first + "+0 > S 0:0(0) <mss 1460,sackOK,TS val 1001 ecr 0,nop,wscale 7>\n"
    first += f"+.001 < S. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,{ts and ts % (3001, 1001)}nop,wscale 8>\n+0 > . 1:1(0) ack 1 <...>\n"
    stamp = "<nop,nop,TS val 3002 ecr 1001>" if options else ""
    first += f"+0 close(3) = 0\n+0 > F. 1:1(0) ack 1 <...>\n+.001 < F. 1:1(0) ack 2 win 8 {stamp}\n+0 > . 2:2(0) ack 2 <...>\n"
    return f"0 `sysctl -q {settings}`\n+" + first + opened.format(after, "%s")


def test_a_port_in_time_wait_is_taken_again_after_a_while() -> None:
    on = "net.ipv4.tcp_tw_reuse=1 net.ipv4.tcp_tw_reuse_delay=1000"
    taken, free = "EADDRNOTAVAIL (...)", "EINPROGRESS (...)"
    syn = "+0 > S 0:0(0) <mss 1460,sackOK,TS val 2004 ecr 3002,nop,wscale 7>\n"
    passes(again(".99", "TS", on) % taken)
    passes(again("1.001", "TS", on) % free + syn)
    passes(again("1.001", "", on) % taken)  # Without timestamps an old duplicate could not be recognised.
    passes(again("1.001", "TS", on.replace("reuse=1", "reuse=0")) % taken)
    passes(again(".002", "TS", on.replace("=1000", "=1")) % free)
    passes(again("60.001", "", on) % free)
