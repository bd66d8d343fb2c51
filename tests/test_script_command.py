"""The command `fairlane script`: options of packetdrill, exit codes, the document, warnings; and what is refused before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import fairlane
from conftest import fairlane as command
from fairlane.base.document import json_schema
from fairlane.errors import FairlaneError
from fairlane.script import Refusal, ScriptError, run_text

OPEN = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1460,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
"""
GOOD = OPEN + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n"
WRONG = OPEN + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1002(1001) ack 1\n"


def scripts(folder: Path) -> dict[str, Path]:
    texts = {
        "good": GOOD,
        "wrong": WRONG,
        "strange": "`sysctl -q net.ipv4.tcp_strange=1`\n" + GOOD,
        "again": "`sysctl -q net.ipv4.tcp_strange=1`\n" + GOOD,
        "refused": OPEN + "+0 setsockopt(4, SOL_TCP, TCP_MD5SIG, ..., ...) = 0\n",
        "broken": "0 sokket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n0 = 4\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.pkt").write_text(text)
    return {name: folder / f"{name}.pkt" for name in texts} | {"none": folder / "none.pkt"}


def test_a_document_is_printed_whatever_happens(tmp_path: Path) -> None:
    paths = scripts(tmp_path)
    done = command("script", "--json", *map(str, paths.values()))
    document = json.loads(done.stdout)
    jsonschema.validate(document, json_schema("script"))
    assert done.returncode == 2 and "TCP_MD5SIG" in done.stderr
    assert [document[k] for k in ("passed", "failed", "refused", "unreadable")] == [3, 1, 1, 2]
    rows = {Path(r["file"]).stem: r for r in document["scripts"]}
    assert {n: r["outcome"] for n, r in rows.items()} == {
        "good": "passed", "wrong": "failed", "strange": "passed", "again": "passed",
        "refused": "refused", "broken": "unreadable", "none": "unreadable",
    }  # fmt: skip
    assert (rows["refused"]["line"], rows["refused"]["column"]) == (9, 27) and "not signed" in rows["refused"]["message"]
    assert "no such file" in rows["none"]["message"] and rows["wrong"]["line"] == 10
    assert document["warnings"] == [
        {"text": "the setting net.ipv4.tcp_strange has no counterpart here".replace("net.ipv4.", ""), "scripts": 2}
    ]
    for wrong in (["--ip_version=ipx"], ["--preset", "lunix"], ["--tolerance_usecs=x"]):
        done = command("script", "--json", *wrong, str(paths["good"]))
        document = json.loads(done.stdout)
        jsonschema.validate(document, json_schema("script"))
        assert done.returncode == 2 and document["error"] and document["error"].split("\n")[0] in done.stderr


def test_one_warning_a_run(tmp_path: Path) -> None:
    paths = scripts(tmp_path)
    done = command("script", *(str(paths[n]) for n in ("good", "strange", "again")))
    assert done.returncode == 0 and "warning:" not in done.stdout
    assert done.stderr.count("warning:") == 1 and "tcp_strange has no counterpart here (2 scripts)" in done.stderr


def test_exit_codes(tmp_path: Path) -> None:
    paths = scripts(tmp_path)
    for names, code in {("good",): 0, ("good", "wrong"): 1, ("good", "refused"): 2, ("broken", "wrong"): 2, ("none", "good"): 2}.items():
        assert command("script", *(str(paths[n]) for n in names)).returncode == code, names
    done = command("script", str(paths["refused"]))
    assert done.stdout == "" and "^^^" in done.stderr


# Options.


def test_options_on_the_command_line_prevail(tmp_path: Path) -> None:
    path = tmp_path / "s.pkt"
    path.write_text("--mtu=1500\n" + OPEN.replace("<...>", "<mss 1220,nop,nop,sackOK,nop,wscale 7>"))
    assert command("script", str(path)).returncode == 1
    assert command("script", "--mtu=1280", "--ip_version=ipv6", str(path)).returncode == 0
    assert command("script", "--mtu=1260", "--ip-version", "ipv4-mapped-ipv6", str(path)).returncode == 0


def test_the_header_decides_the_segment_size() -> None:
    def passes(options: dict[str, str], mss: int) -> bool:
        return run_text(OPEN.replace("<...>", f"<mss {mss},nop,nop,sackOK,nop,wscale 7>"), options=options).passed

    assert passes({}, 1460) and passes({"ip_version": "ipv4-mapped-ipv6"}, 1460) and passes({"ip_version": "ipv6"}, 1440)
    assert passes({"ip_version": "ipv6", "mtu": "1520"}, 1460) and not passes({"ip_version": "ipv6"}, 1460)


def test_tolerances() -> None:
    late = OPEN + "+0 write(4, ..., 1000) = 1000\n+.2 > P. 1:1001(1000) ack 1\n"
    assert not run_text(late).passed
    assert run_text(late, options={"tolerance_usecs": "200000"}).passed
    assert run_text("--tolerance_percent=100\n" + late).passed
    # packetdrill: 12.5 % of the time since the event before, or 4 ms.
    probe = OPEN + "+0 write(4, ..., 2920) = 2920\n+0 > P. 1:2921(2920) ack 1\n"
    # A tail loss probe after twice the round trip of 100 ms, and 2 ms.
    assert run_text(probe + "+.225 > P. 1461:2921(1460) ack 1\n").passed
    assert not run_text(probe + "+.235 > P. 1461:2921(1460) ack 1\n").passed
    assert not run_text("--tolerance_percent=1\n" + probe + "+.225 > P. 1461:2921(1460) ack 1\n").passed


def test_failures_that_are_let_pass_are_told() -> None:
    out = run_text(
        "--non_fatal=packet,syscall\n" + WRONG.replace("+0 accept(3, ..., ...) = 4", "+0 accept(3, ..., ...) = 4\n+0 close(9) = 0")
    )
    assert out.passed and len(out.warnings) == 2 and "EBADF" in out.warnings[0] and "payload" in out.warnings[1]
    assert not run_text("--non_fatal=syscall\n" + WRONG).passed


def test_strict_segments_are_not_joined() -> None:
    two = OPEN + "+0 write(4, ..., 2920) = 2920\n+0 > P. 1:2921(2920) ack 1\n"
    assert run_text(two).passed and not run_text("--strict_segments\n" + two).passed


def test_settings_before_the_script(tmp_path: Path) -> None:
    wide = OPEN.replace("<...>", "<mss 1460,nop,nop,sackOK,nop,wscale 9>")
    settings = tmp_path / "mine.sh"
    settings.write_text('sysctl -q net.ipv4.tcp_rmem="4096 540000 $((30*1024*1024))"\n')
    assert not run_text(wide).passed
    assert run_text(wide, options={"init_scripts": str(settings)}).passed
    with pytest.raises(FairlaneError, match="init_scripts"):
        run_text(wide, options={"init_scripts": str(tmp_path / "none.sh")})
    # A script that sets nothing has the host of its suite.
    (tmp_path / "common").mkdir()
    (tmp_path / "sub").mkdir()
    settings.rename(tmp_path / "common" / "defaults.sh")
    (tmp_path / "sub" / "s.pkt").write_text(wide)
    assert fairlane.script.run_file(tmp_path / "sub" / "s.pkt").passed
    assert not fairlane.script.run_file(tmp_path / "sub" / "s.pkt", options={"init_scripts": ""}).passed


def test_a_missing_file_of_settings_is_told() -> None:
    out = run_text("`../common/defaults.sh`\n" + OPEN.replace("<...>", "<mss 1460,nop,nop,sackOK,nop,wscale 8>"), "nowhere/s.pkt")
    assert out.passed and out.warnings == ["defaults.sh not found: the values of the kernel's own tests are used"]


# Name: a first line, then an option that is wrong; line, column, what the message must say.
BAD_OPTIONS = {
    "unknown": ("--tolerance_usec=5\n", 1, 1, r"unknown option --tolerance_usec.*tolerance_usecs"),
    "number": ("--mtu=many\n", 1, 1, r"whole number from 88"),
    "version": ("// a note\n--ip_version=ipv5\n", 2, 1, r"ipv5.*ipv6"),
    "kind": ("--non_fatal=packets\n", 1, 1, r"packets.*packet"),
    "wire": ("--wire_client\n", 1, 1, r"one machine"),
    "symbol": ("--define=X\n", 1, 1, r"a symbol and its value"),
    "perl": ("--code_format=perl\n", 1, 1, r"only Python"),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_an_option_that_is_wrong_is_shown(name: str) -> None:
    import re

    text, line, column, words = BAD_OPTIONS[name]
    with pytest.raises(ScriptError) as caught:
        run_text(text + GOOD)
    (found,) = caught.value.diagnostics
    assert (found["line"], found["column"]) == (line, column)
    assert re.search(words, caught.value.rendered.replace("\n", " ")), caught.value.rendered


def test_symbols_stand_anywhere() -> None:
    text = (
        OPEN.replace("win 257", "win WINDOW").replace("SOCK_STREAM", "KIND") + "+0 < icmp unreachable WHY\n+0 write(4, ..., SIZE) = SIZE\n"
    )
    meanings = {"WINDOW": "257", "KIND": "SOCK_STREAM", "WHY": "host_unreachable", "SIZE": "1000"}
    assert run_text(text, defines=meanings).passed
    assert run_text("".join(f"--define={n}={v}\n" for n, v in meanings.items()) + text).passed
    with pytest.raises(ScriptError):
        run_text(text)


# Unsupported calls are rejected before anything runs; an unknown constant is an error with the nearest one.
REFUSED = {
    "md5": ("+0 setsockopt(4, SOL_TCP, TCP_MD5SIG, ..., ...) = 0", "not signed"),
    "option": ("+0 setsockopt(4, SOL_TCP, TCP_WONDER, [1], 4) = 0", "TCP_WONDER is not simulated"),
    "urgent": ("+0 send(4, ..., 1, MSG_OOB) = 1", "MSG_OOB is not simulated"),
    "multipath": ("+0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 5", "Multipath TCP"),
    "datagrams": ("+0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 5", "UDP"),
    "call": ("+0 mmap(4) = 0", "mmap() is not simulated"),
    "AccECN": ("+0 > . 1:1(0) ack 1 <ECN e1b 1 ceb 0 e0b 1,nop>", "AccECN option"),
    "probes": ("+0 `sysctl -q net.ipv4.tcp_mtu_probing=2`", "RFC 4821"),
    "routes": ("+0 `ip route change 192.0.2.1 dev tun0 advmss 600`", "could set advmss"),
    "path": ("+0 < icmp unreachable frag_needed mtu 800 [1:1461(1460)]", "RFC 1191"),
    "control": ("+0 recvmsg(4, {msg_iov(1)=[{..., 1}], msg_control=[{cmsg_type=IP_RECVERR}]}, 0) = 1", "TCP_CM_INQ"),
    "fuzz": ("{mut tcp mss}", "random changes"),
}
UNKNOWN = {
    "flag": ("+0 send(4, ..., 1, MSG_MOER) = 1", "did you mean `MSG_MORE`"),
    "level": ("+0 setsockopt(4, SOL_SOKET, SO_SNDBUF, [1], 4) = 0", "did you mean `SOL_SOCKET`"),
    "event": ("+0 poll([{fd=4, events=POLLINN, revents=0}], 1, 0) = 0", "did you mean `POLLIN`"),
    "edge": ("+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLTE, fd=4}) = 0", "EPOLLTE"),
    "how": ("+0 shutdown(4, SHUT_RDWE) = 0", "SHUT_RDWR"),
    "ioctl": ("+0 ioctl(4, SIOCINK, [0]) = 0", "SIOCINQ"),
}


@pytest.mark.parametrize("name", REFUSED | UNKNOWN)
def test_what_cannot_be_done_is_refused_before_anything_runs(name: str) -> None:
    line, words = (REFUSED | UNKNOWN)[name]
    with pytest.raises(ScriptError) as caught:
        run_text(OPEN + "+0 %{ assert False, 'it ran' }%\n" + line + "\n")
    assert isinstance(caught.value, Refusal) == (name in REFUSED)
    assert words in caught.value.rendered and caught.value.diagnostics[0]["line"] == 10
