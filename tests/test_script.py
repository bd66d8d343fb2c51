"""Packet scripts: the notation, errors in scripts, and the scripts in the package."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fairlane
from conftest import fairlane as command
from fairlane.script import ScriptError, parse, run_text
from fairlane.script.model import Code, Expect, Inject, Name, Shell, Syscall
from fairlane.script.settings import Settings
from script_helpers import fails, passes

SHIPPED = sorted((Path(fairlane.__file__).parent / "scripts").glob("*.pkt"))

OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
"""
CONNECT = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
"""


# The dialect.


@pytest.mark.parametrize(("preset", "found"), [("linux", 36), ("linux-6.12", 48), (None, 48)])
def test_hystart_of_today_and_of_older_kernels(preset: str | None, found: int) -> None:
    """Two segments each 100 ms: Linux 6.18 leaves slow start at 36, the kernels of cubic-bulk-166k (packetdrill) at 48."""
    lines = ["`sysctl -q net.ipv4.tcp_congestion_control=cubic net.ipv4.tcp_early_retrans=0`", OPEN.replace("wscale 7", "wscale 10")]
    lines += ["+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [200000], 4) = 0", "+0 write(4, ..., 100000) = 100000"]
    lines += [f"+.1 < . 1:1(0) ack {2000 * n + 1} win 257" for n in range(1, 25)]
    text = "\n".join([*lines, f"+0 %{{ assert tcpi_snd_ssthresh == {found}, tcpi_snd_ssthresh }}%", ""])
    done = run_text(text, **({"preset": preset} if preset else {}))
    assert done.passed, done.message


# The notation.


def test_every_form_of_time() -> None:
    events = parse(
        "s",
        "0 `a`\n0.5 `b`\n+.25 `c`\n* `d`\n1~2 `e`\n+0.1~+0.2 `f`\n+.01...0.011 read(3, ..., 1) = 1\n+.002 ... 0.004 read(3, ..., 1) = 1",
    ).events
    whens = [(e.when.start, e.when.end, e.when.relative, e.when.any, e.when.until) for e in events]
    assert whens == [
        (0, None, False, False, None),
        (500_000, None, False, False, None),
        (250_000, None, True, False, None),
        (0, None, False, True, None),
        (1_000_000, 2_000_000, False, False, None),
        (100_000, 200_000, True, False, None),
        (10_000, None, True, False, 11_000),
        (2_000, None, True, False, 4_000),
    ]


def test_packets() -> None:
    text = (
        "+0 < [ce] SEW. 0:0(0) ack 1 win 100 <mss 1460,sackOK,TS val 7 ecr 0,nop,wscale 8>\n"
        "+0 > P. 1:1001(1000) ack 1 <...>\n+0 > - 5:5(0)\n+0 < . 1:1(0) ack 1 win 9 <nop, nop, sack 1:2 3:4>"
    )
    a, b, c, d = (e.packet for e in parse("s", text).events if isinstance(e, (Inject, Expect)))
    assert (a.flags, a.seq, a.length, a.ack, a.win, a.ecn) == ("SEW.", 0, 0, 1, 100, "ce")
    assert a.options == (("mss", 1460), ("sackOK",), ("TS", 7, 0), ("nop",), ("wscale", 8))
    assert (b.flags, b.length, b.options, b.ecn) == ("P.", 1000, None, None)
    assert (c.flags, c.options) == ("", ())
    assert d.options == (("nop",), ("nop",), ("sack", (1, 2), (3, 4)))


def test_calls_structures_and_comments() -> None:
    text = """--tolerance_usecs=10000
--ip_version=ipv4
# a comment of its own line
0 `sysctl -q net.ipv4.tcp_ecn=1  # fully`
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0 // to the end of the line
+0 connect(3, {sa_family = AF_INET, sin_port = htons(8080), sin_addr = inet_addr("192.0.2.1")}, 16) /* in
between */ = -1 EINPROGRESS (Operation now in progress)
+0 poll([{fd=3, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0x10) = 1
+0 %{ x = 1
assert x }%
"""
    script = parse("s", text)
    assert script.options == {"tolerance_usecs": "10000", "ip_version": "ipv4"}
    shell, fcntl, connect, poll, code = script.events
    assert isinstance(shell, Shell) and shell.line == 4
    assert isinstance(fcntl, Syscall) and fcntl.args[2] == (Name("O_RDWR"), Name("O_NONBLOCK"))
    assert isinstance(connect, Syscall) and (connect.result, connect.errno) == (-1, "EINPROGRESS")
    assert connect.args[1].fields["sin_port"].args == (8080,)
    assert isinstance(poll, Syscall) and poll.args[0][0].fields["revents"] == Name("POLLOUT") and poll.args[2] == 16
    assert isinstance(code, Code) and code.line == 9


def test_symbols_are_replaced() -> None:
    (event,) = parse("s", "0 send(3, ..., SIZE, NAME) = SIZE", {"SIZE": "100", "NAME": '"text"'}).events
    assert isinstance(event, Syscall) and event.args[2:] == (100, "text") and event.result == 100


# Name: the script, line and column of the caret, what the message and its help must say.
BAD = {
    "time missing": ("socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", 1, 1, r"expected the time .*help: .*\+0\.1"),
    "not an event": ("0 = 3", 1, 3, r"expected an event"),
    "length missing": ("0 `x`\n+0 < S 0:0 win 1", 2, 12, r"payload.*write 0:0\(0\)"),
    "length wrong": ("+0 < . 1:1001(100) ack 1 win 1", 1, 8, r"1:1001 is not 100 bytes.*1:101\(100\)"),
    "flags": ("+0 < Q. 1:1(0) ack 1 win 1", 1, 6, r"flags"),
    "ack without flag": ("+0 < P 1:2(1) ack 1 win 1", 1, 19, r"without the ACK flag"),
    "window": ("+0 < . 1:1(0) ack 1 win 70000", 1, 25, r"16 bits"),
    "option": ("+0 < S 0:0(0) win 1 <mss 1,sackok>", 1, 28, r"unknown TCP option.*sackOK"),
    "option list": ("+0 < S 0:0(0) win 1 <mss 1,nop", 1, 31, r"expected ',' or '>'"),
    "timestamps": ("+0 < S 0:0(0) win 1 <TS 5 ecr 0>", 1, 25, r"'val'.*TS val 100 ecr 200"),
    "SACK blocks": ("+0 < . 1:1(0) ack 1 win 1 <sack>", 1, 28, r"0 SACK blocks"),
    "ECN field": ("+0 < [ect2] . 1:1(0) ack 1 win 1", 1, 7, r"ect2.*ect"),
    "backwards range": ("0 `x`\n+.2~+.1 > . 1:1(0) ack 1", 2, 6, r"ends before it begins"),
    "mixed range": ("+.1~.2 > . 1:1(0) ack 1", 1, 1, r"both ends"),
    "result missing": ("0 listen(3, 1)", 1, 15, r"'='.*listen"),
    "unknown call": ("0 lissten(3, 1) = 0", 1, 3, r"lissten.*did you mean `listen`"),
    "open list": ("0 write(3, [1, 2) = 0", 1, 17, r"expected ','"),
    "open code": ("0 %{ assert True", 1, 3, r"Python code has no end.*\}%"),
    "open shell": ("0 `ls", 1, 3, r"no end"),
    "open string": ('0 setsockopt(3, SOL_TCP, TCP_CONGESTION, "reno, 4) = 0', 1, 42, r"string has no end"),
    "open comment": ("0 `x` /* and so on", 1, 7, r"comment has no end"),
    "late option": ("0 `x`\n--mtu=1500", 2, 1, r"after the first event"),
    "udp": ("+0 < udp (100)", 1, 6, r"UDP"),
    "datagrams": ("0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3", 1, 15, r"UDP"),
    "encapsulation": ("+0 < ipv4 1.2.3.4 > 5.6.7.8: . 1:1(0) ack 1", 1, 6, r"ipv4"),
    "icmp": ("+0 < icmp unreachable frag_neded", 1, 23, r"frag_neded.*frag_needed"),
    "empty": ("// nothing\n", 1, 1, r"empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_shown_with_line_and_caret(name: str) -> None:
    text, line, column, words = BAD[name]
    with pytest.raises(ScriptError) as caught:
        run_text(text, "bad.pkt")
    (found,) = caught.value.diagnostics
    assert (found["line"], found["column"]) == (line, column), caught.value.rendered
    assert re.search(words, caught.value.rendered.replace("\n", " "))
    shown = caught.value.rendered.split("\n")
    assert shown[1].strip() == f"--> bad.pkt:{line}:{column}"
    if text.split("\n")[line - 1].strip():
        assert shown[3].endswith(text.split("\n")[line - 1].rstrip())
        assert shown[4].index("^") - shown[3].index("| ") - 2 == column - 1


@pytest.mark.parametrize("cut", range(0, 400, 7))
def test_a_script_cut_anywhere_is_an_error_or_a_script(cut: int) -> None:
    text = OPEN + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n+0 %{ assert tcpi_unacked == 1 }%\n"
    try:
        run_text(text[: len(text) - cut])
    except ScriptError as e:
        assert e.diagnostics[0]["line"] >= 1


# What a host does.


def test_options_of_a_handshake_are_those_both_ends_want() -> None:
    # RFC 7323 sections 2.2 and 2.3; RFC 9293 section 3.7.1.
    head = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
    answers = {
        "mss 1460": "mss 1460",
        "mss 1460,nop,wscale 7": "mss 1460,nop,wscale 7",
        "mss 1460,sackOK,nop,nop": "mss 1460,nop,nop,sackOK",
        "mss 1460,nop,nop,TS val 5 ecr 0": "mss 1460,nop,nop,TS val 9 ecr 5",
        "mss 1460,sackOK,TS val 5 ecr 0,nop,wscale 2": "mss 1460,sackOK,TS val 9 ecr 5,nop,wscale 7",
    }
    for offer, answer in answers.items():
        passes(f"{head}+0 < S 0:0(0) win 1000 <{offer}>\n+0 > S. 0:0(0) ack 1 win 65535 <{answer}>\n")
    off = "0 `sysctl -q net.ipv4.tcp_timestamps=0 net.ipv4.tcp_sack=0 net.ipv4.tcp_window_scaling=0`\n"
    passes(f"{off}+{head}+0 < S 0:0(0) win 1000 <mss 1460,sackOK,TS val 5 ecr 0,nop,wscale 2>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n")


def test_segments_fit_what_the_peer_takes() -> None:
    # RFC 9293 section 3.7.1.
    # RFC 6691: the MSS option does not count options, so timestamps take 12 bytes of each segment.
    syn = "+0 < S 0:0(0) win 1000 <mss 1000,sackOK,TS val 5 ecr 0,nop,wscale 7>\n"
    syn += "+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 70 ecr 5,nop,wscale 7>\n"
    head = OPEN.split("+0 <")[0] + syn + "+.1 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 6 ecr 70>\n+0 accept(3, ..., ...) = 4\n"
    passes(head + "+0 write(4, ..., 988) = 988\n+0 > P. 1:989(988) ack 1 <nop,nop,TS val 170 ecr 6>\n+0 %{ assert tcpi_snd_mss == 988 }%\n")
    fails(head + "+0 write(4, ..., 988) = 988\n+0 > P. 1:989(988) ack 1 <nop,nop,TS val 170 ecr 5>\n", "options: expected")


def test_an_expected_packet_may_be_many_segments() -> None:
    # RFC 9293 section 3.9.1.
    passes(OPEN + "+0 write(4, ..., 6000) = 6000\n+0 > P. 1:6001(6000) ack 1\n")
    passes(
        OPEN + "+0 write(4, ..., 6000) = 6000\n+0 > P. 1:2001(2000) ack 1\n+0 > P. 2001:5001(3000) ack 1\n+0 > P. 5001:6001(1000) ack 1\n"
    )
    passes(OPEN + "+0 write(4, ..., 2000) = 2000\n+0 > . 1:1001(1000) ack 1\n+0 > P. 1001:2001(1000) ack 1\n")
    fails(OPEN + "+0 write(4, ..., 2000) = 2000\n+0 > P. 1:3001(3000) ack 1\n", "payload: expected 3000, actual 2000")


def test_push_ends_a_write() -> None:
    # RFC 9293 section 3.9.1.
    fails(OPEN + "+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1\n", "flags: expected ., actual P.")


def test_nagle_holds_small_segments_and_nodelay_does_not() -> None:
    # RFC 9293 section 3.7.4.
    two = "+0 write(4, ..., 100) = 100\n+0 > P. 1:101(100) ack 1\n+.01 write(4, ..., 100) = 100\n"
    passes(OPEN + two + "+.05 < . 1:1(0) ack 101 win 257\n+0 > P. 101:201(100) ack 1\n")
    passes(OPEN + "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n" + two + "+0 > P. 101:201(100) ack 1\n")


def test_numbers_of_a_syn_are_those_of_the_wire_and_others_count_from_it() -> None:
    """Sequence offsets are those of packetdrill (run_packet.c: none for a SYN, the initial number for all others), also across the wrap."""
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
        "+0 < S 4294967000:4294967000(0) win 1000 <mss 1000>\n+0 > S. 500:500(0) ack 4294967001 <mss 1460>\n"
        "+.1 < . 1:1(0) ack 1 win 1000\n+0 accept(3, ..., ...) = 4\n"
        "+0 < P. 1:1001(1000) ack 1 win 1000\n* > . 1:1(0) ack 1001\n+0 read(4, ..., 2000) = 1000\n"
    )


def test_blocking_calls_return_when_they_say() -> None:
    wait = "+0...0.100 read(4, ..., 500) = 500\n"
    passes(OPEN + wait + "+.1 < P. 1:501(500) ack 1 win 257\n")
    fails(OPEN + wait + "+.2 < P. 1:501(500) ack 1 win 257\n", "read() should return at", "timing")
    fails(OPEN + wait, "still waits")
    fails(OPEN + "+0 read(4, ..., 500) = 500\n", "read() waits")


def test_connect_and_what_answers_it() -> None:
    # RFC 9293 section 3.6.
    passes(
        CONNECT + "+0 > S 0:0(0) <...>\n+.1 < S. 0:0(0) ack 1 win 1000 <mss 1000>\n+0 > . 1:1(0) ack 1\n"
        "+0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0\n"
    )
    passes(CONNECT + "+0 > S 0:0(0) <...>\n+.1 < R. 0:0(0) ack 1 win 0\n+0 connect(3, ..., ...) = -1 ECONNREFUSED (Connection refused)\n")
    # RFC 6298 section 2: one second, then doubled.
    passes(CONNECT + "+0 > S 0:0(0) <...>\n+1 > S 0:0(0) <...>\n+2 > S 0:0(0) <...>\n")


def test_closing() -> None:
    # RFC 9293 sections 3.6 and 3.6.1.
    passes(
        OPEN + "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1\n+.1 < . 1:1(0) ack 2 win 257\n+0 < F. 1:1(0) ack 2 win 257\n+0 > . 2:2(0) ack 2\n"
    )
    passes(OPEN + "+0 < F. 1:1(0) ack 1 win 257\n* > . 1:1(0) ack 2\n+.1 read(4, ..., 10) = 0\n+.1 close(4) = 0\n+0 > F. 1:1(0) ack 2\n")
    # RFC 2525 section 2.17: a reset reports unread data.
    passes(OPEN + "+0 < P. 1:101(100) ack 1 win 257\n* > . 1:1(0) ack 101\n+0 close(4) = 0\n+0 > R. 1:1(0) ack 101\n")
    passes(OPEN + "+0 < R. 1:1(0) ack 1 win 257\n+0 read(4, ..., 10) = -1 ECONNRESET (Connection reset by peer)\n")
    passes(OPEN + "+0 shutdown(4, SHUT_WR) = 0\n+0 > F. 1:1(0) ack 1\n+0 write(4, ..., 10) = -1 EPIPE (Broken pipe)\n")


def test_a_packet_too_late_or_missing_is_a_failure() -> None:
    wrote = OPEN + "+0 write(4, ..., 1000) = 1000\n"
    message = fails(wrote + "+.1 > P. 1:1001(1000) ack 1\n", "timing", "script:11", "P. 1:1001(1000) ack 1")
    assert "0.200000 s" in message and "0.100000 s" in message
    passes("--tolerance_usecs=150000\n" + wrote + "+.1 > P. 1:1001(1000) ack 1\n")
    fails(OPEN + "+0 > P. 1:1001(1000) ack 1\n", "no packet left")


def test_python_sees_the_connection() -> None:
    wrote = OPEN + "+0 write(4, ..., 3000) = 3000\n"
    passes(
        wrote + "+0 %{ assert (tcpi_unacked, tcpi_snd_cwnd, tcpi_ca_state) == (3, 10, TCP_CA_Open); kept = tcpi_unacked }%\n"
        "+0 %{\nassert kept == 3\nif True:\n    assert tcpi_state == TCP_ESTABLISHED\n}%\n"
    )
    message = fails(wrote + "+0 %{\nx = 1\nassert tcpi_unacked == 4, tcpi_unacked }%\n", "AssertionError: 3")
    assert message.startswith("script:13:")
    fails(wrote + "+0 %{ assert nonsense }%\n", "NameError")
    fails(wrote + "+0 %{ assert ( }%\n", "SyntaxError")
    assert run_text(wrote + '+0 %{ print("seen", tcpi_unacked) }%\n').printed == "seen 3\n"


def test_a_failing_call_says_what_it_returned() -> None:
    fails(OPEN + "+0 write(9, ..., 1000) = 1000\n", "write() should return 1000 and returned -1 EBADF")
    fails(OPEN + "+0 write(4, ..., 1000) = 999999\n", "should return 999999")


# Settings.


def test_shell_lines_set_what_they_name_and_are_not_executed(tmp_path: Path) -> None:
    settings = Settings()
    settings.read(
        f"""./defaults.sh
sysctl -q net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_early_retrans=0
sysctl -q net.ipv4.tcp_rmem="4096 10000 $((2*(1024+1024)*1024))"  # a note
./set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\
   /proc/sys/net/ipv4/tcp_min_tso_segs=10
echo 1 > /proc/sys/net/ipv4/tcp_ecn
sysctl -w net.ipv4.tcp_strange=7
touch {tmp_path}/executed""",
        tmp_path,
    )
    assert settings.values["tcp_congestion_control"] == "reno"
    assert settings.memory("tcp_rmem") == (4096, 10000, 4 << 20)
    assert settings.number("tcp_ecn") == 1
    found = settings.parameters()
    assert found["idle_restart"] == "decay" and found["tlp"] is False and found["rack"] is True
    assert [w for w in settings.warnings if "tcp_strange" in w] and [w for w in settings.warnings if "not executed" in w and "touch" in w]
    assert not (tmp_path / "executed").exists()


def test_a_file_of_settings_beside_the_script_is_read(tmp_path: Path) -> None:
    (tmp_path / "defaults.sh").write_text('sysctl -q net.ipv4.tcp_rmem="4096 540000 $((15*1024*1024))"\n')
    (tmp_path / "s.pkt").write_text("`./defaults.sh`\n" + OPEN.replace("ack 1 <...>", "ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>"))
    out = fairlane.script.run_file(tmp_path / "s.pkt")
    assert out.passed and not out.warnings, out


# The command.


def test_a_time_line(tmp_path: Path) -> None:
    good = tmp_path / "good.pkt"
    good.write_text(OPEN + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n")
    document = json.loads(command("script", "--json", "--verbose", str(good)).stdout)
    assert document["scripts"][0]["timeline"]
    assert "P. 1:1001(1000)" in command("script", "-v", str(good)).stdout


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_the_scripts_that_come_with_the_package(path: Path) -> None:
    out = fairlane.script.run_file(path)
    assert out.passed, out.message
    assert not out.warnings
