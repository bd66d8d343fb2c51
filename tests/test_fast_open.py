"""TCP Fast Open (RFC 7413): cookies as the kernel makes them, packet scripts, captures, an endpoint alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import fairlane as fl
from fairlane.script import ScriptError, run_text
from fairlane.script.cookies import key_of, option_of, siphash, written
from fairlane.tcp import Endpoint, Flag
from script_helpers import passes

LISTEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 10) = 0
"""
OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
"""
ASKED = """
+0 sendto(3, ..., 1000, MSG_FASTOPEN, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...,FO,nop,nop>
""".replace("<...,FO,nop,nop>", "<mss 1460,nop,nop,sackOK,nop,wscale 7,FO,nop,nop>")
GIVEN = (
    ASKED
    + """
+.02 < S. 0:0(0) ack 1 win 20000 <mss 1460,nop,nop,sackOK,nop,wscale 6,FO abcd1234,nop,nop>
+0 > . 1:1(0) ack 1
+0 close(3) = 0
+0 > F. 1:1(0) ack 1
+.02 < F. 1:1(0) ack 2 win 257
+0 > . 2:2(0) ack 2
+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4
+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
"""
)
PLAIN = "`sysctl -q net.ipv4.tcp_timestamps=0`\n"


def test_siphash_of_its_authors() -> None:
    """Appendix A of Aumasson and Bernstein 2012: the key 00 to 0f and the 15 bytes 00 to 0e."""
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5


@pytest.mark.parametrize(
    ("key", "local", "remote", "cookie"),
    [
        # Of the kernel's runner of packet scripts (tools/testing/selftests/net/packetdrill/ksft_runner.sh).
        ("a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4", "192.168.0.1", "192.0.2.1", "3021b9d889017eeb"),
        ("0-0-0-0", "192.168.0.1", "192.0.2.1", "b7c12350a90dc8f5"),
        ("a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4", "192.168.0.2", "192.0.2.1", "de4f234f0f433a55"),
    ],
)
def test_cookies_are_those_of_the_kernel(key: str, local: str, remote: str, cookie: str) -> None:
    passes(
        f"--local_ip={local}\n--remote_ip={remote}\n{PLAIN}"
        f"`sysctl -q net.ipv4.tcp_fastopen=0x402 net.ipv4.tcp_fastopen_key={key}`\n{LISTEN}"
        f"+0 < S 0:0(0) win 1000 <mss 1460,FO>\n+0 > S. 0:0(0) ack 1 <mss 1460,FO {cookie},nop,nop>\n"
    )


def test_keys_and_options_as_text() -> None:
    assert key_of("a0bf63f7-ed803d81-cd641d30-cebc4a90,0-0-0-1")[:4] == bytes([0xF7, 0x63, 0xBF, 0xA0])
    with pytest.raises(fl.FairlaneError, match="four words"):
        key_of("secret")
    # RFC 7413 section 4.1.1: too short, odd or too long is no cookie; Linux keeps the last that is one.
    assert option_of((("FO", "1122"),)) is None
    assert option_of((("FO", "112233"),)) is None
    assert option_of((("FO", "00" * 18),)) is None
    assert option_of((("FO", "11223344"), ("FOEXP", "55667788"))) == (b"\x55\x66\x77\x88", True)
    assert written((b"", False)) == [("FO", ""), ("nop",), ("nop",)]
    assert written((b"12345678", True)) == [("FOEXP", b"12345678".hex())]


def test_a_server_takes_data_with_the_right_cookie_only() -> None:
    for cookie, acked, data in (("TFO_COOKIE", 11, True), ("0123456789abcdef", 1, False)):
        answer = "" if data else ",FOEXP TFO_COOKIE"
        passes(
            f"{PLAIN}`sysctl -q net.ipv4.tcp_fastopen=0x402 net.ipv4.tcp_fastopen_key=a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`\n{LISTEN}"
            f"+0 < S 0:10(10) win 1000 <mss 1460,FOEXP {cookie}>\n+0 > S. 0:0(0) ack {acked} <mss 1460{answer}>\n"
            f"+0 %{{ assert (tcpi_options & TCPI_OPT_SYN_DATA != 0) == {data}, tcpi_options }}%\n"
        )


def test_a_reset_leaves_what_was_open_to_accept() -> None:
    head = "`sysctl -q net.ipv4.tcp_timestamps=0 net.ipv4.tcp_fastopen=2 net.ipv4.tcp_fastopen_key=a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`\n"
    early = "+0 < S 0:10(10) win 1000 <mss 1460,FOEXP TFO_COOKIE>\n+0 > S. 0:0(0) ack 11 <mss 1460>\n"
    late = "+0 < S 0:0(0) win 1000 <mss 1460>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n+0 < . 1:11(10) ack 1 win 1000\n"
    fast = "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [10], 4) = 0\n"
    for opening in (fast + early, late):
        passes(
            f"{head}{LISTEN}{opening}+.01 < R. 11:11(0) win 1000\n+0 accept(3, ..., ...) = 4\n"
            "+0 %{ assert tcpi_state == TCP_CLOSE, tcpi_state }%\n+0 write(4, ..., 100) = -1 ECONNRESET (Connection reset by peer)\n"
        )


def test_as_many_may_be_open_early_as_the_listener_says() -> None:
    head = "`sysctl -q net.ipv4.tcp_fastopen=2 net.ipv4.tcp_fastopen_key=a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`\n"
    syn = "+0 < S 0:10(10) win 1000 <mss 1460,FO TFO_COOKIE>\n"
    # Without the socket option, and without bit 0x400, nothing is taken, nor is a cookie given.
    passes(PLAIN + head + LISTEN + syn + "+0 > S. 0:0(0) ack 1 <mss 1460>\n")
    passes(PLAIN + head + LISTEN + "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0\n" + syn + "+0 > S. 0:0(0) ack 11 <mss 1460>\n")


def test_the_setting_and_the_socket_decide() -> None:
    off = PLAIN + "`sysctl -q net.ipv4.tcp_fastopen=0`\n" + OPEN
    passes(off + "+0 sendto(3, ..., 10, MSG_FASTOPEN, ..., ...) = -1 EOPNOTSUPP (Operation not supported)\n")
    passes(off + "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN_CONNECT, [1], 4) = -1 EOPNOTSUPP (Operation not supported)\n")
    passes(PLAIN + OPEN + "+0 sendto(3, ..., 10, MSG_FASTOPEN, AF_UNSPEC, ...) = -1 EOPNOTSUPP (Operation not supported)\n")
    passes(PLAIN + OPEN + '+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN_KEY, "\\x01\\x02", 2) = -1 EINVAL (Invalid argument)\n')
    passes(PLAIN + OPEN + ASKED + "+0 sendto(3, ..., 1000, MSG_FASTOPEN, ..., ...) = -1 EALREADY (Operation already in progress)\n")


def test_connect_may_leave_the_syn_to_the_first_write() -> None:
    passes(
        PLAIN + OPEN + GIVEN + "+0 setsockopt(4, SOL_TCP, TCP_FASTOPEN_CONNECT, [1], 4) = 0\n+0 connect(4, ..., ...) = 0\n"
        "+.1 read(4, ..., 100) = -1 EAGAIN (Resource temporarily unavailable)\n+0 connect(4, ..., ...) = -1 EISCONN (Already connected)\n"
        "+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1\n+.1 write(4, ..., 2000) = 1420\n"
        "+0 > S 0:1420(1420) <mss 1460,nop,nop,sackOK,nop,wscale 7,FO abcd1234,nop,nop>\n"
    )


def test_a_syn_that_is_given_up_times_out() -> None:
    passes(
        PLAIN
        + OPEN
        + "+0 setsockopt(3, SOL_TCP, TCP_SYNCNT, [1], 4) = 0\n"
        + ASKED
        + "+1 > S 0:0(0) <mss 1460,nop,nop,sackOK,nop,wscale 7>\n+2.1 write(3, ..., 10) = -1 ETIMEDOUT (Connection timed out)\n"
    )


def test_a_cookie_is_hexadecimal() -> None:
    with pytest.raises(ScriptError, match="hexadecimal"):
        run_text(LISTEN + "+0 < S 0:0(0) win 1000 <FO hello>\n")


def test_an_endpoint_alone() -> None:
    """The cookie that one connection brings serves the next."""
    params = {"cc": "sack", "fast_open": "cookie"}
    cookie, delivered = None, []
    for _ in range(2):
        a, b = Endpoint(params), Endpoint(params, passive=True)
        b.set_cookie(b"12345678")
        if cookie:
            a.set_cookie(cookie)
        b.start(0.0)
        assert a.start(0.0) == []
        (syn,) = a.write(0.0, 700)
        assert syn.flags == Flag.SYN
        (answer, *_) = b.receive(0.01, syn)
        a.receive(0.02, answer)
        delivered.append((b.delivered, answer.ack, syn.payload))
        cookie = a.cookie or cookie
    assert delivered == [(0, 1, 0), (700, 701, 700)]
    assert cookie == b"12345678"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt-get install tshark)")
def test_captures_show_the_option(tmp_path: Path) -> None:
    net = fl.Network(duration="4s")
    net.dumbbell(pairs=1)
    for name, start in (("first", "0s"), ("later", "2s")):
        tcp = {"preset": "linux", "cc": "cubic", "fast_open": "cookie"}
        net.flow(name, "s0", "d0", start=start, tcp=tcp, source={"file": {"size": "900B"}})
    file = tmp_path / "fo.pcapng"
    result = net.run(pcap=fl.Pcap({"link:s0": file}, snaplen=0))
    names = (
        "tcp.flags.syn",
        "tcp.len",
        "tcp.options.tfo.cookie",
        "tcp.options.tfo.request",
        "tcp.hdr_len",
        "tcp.checksum.status",
        "_ws.malformed",
    )
    wanted = [part for n in names for part in ("-e", n)]
    command = ["tshark", "-n", "-o", "tcp.check_checksum:TRUE", "-r", str(file), "-Y", "tcp.flags.syn == 1", "-T", "fields", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [(r[1], bool(r[2]), bool(r[3]), r[4]) for r in rows] == [
        ("0", False, True, "44"),  # asks: 20 bytes of header, 20 of options, 4 of the request
        ("0", True, False, "52"),  # the cookie
        ("900", True, False, "52"),  # the cookie and the data
        ("0", False, False, "40"),
    ], rows
    assert rows[1][2] == rows[2][2] and len(rows[1][2].replace(":", "")) == 16
    assert {r[5] for r in rows} == {"1"} and not any(r[6] for r in rows)
    times = result.flows["completion_time"].to_list()
    assert times[1] < times[0] / 2
