"""The server of `fairlane watch` before what is no browser: broken HTTP and frames, many connections, paths to files, and an end in the middle of a run."""

# ruff: noqa: E501
from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import fairlane as fl
from fairlane.base.scenario import checked
from fairlane.watch import requests as asking
from fairlane.watch.requests import InvalidRequest, Session
from fairlane.watch.topology import expanded, network_model
from test_watch import SLOW, begun

pytest.importorskip("aiohttp")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("strangers") / "slow.toml"
    file.write_text(SLOW)
    return file


class Place:
    def __init__(self, address: str) -> None:
        self.host, port, self.token = re.fullmatch(r"http://([^:]+):(\d+)/\?token=(.+)", address).groups()
        self.port = int(port)
        self.own = f"Host: {self.host}:{port}\r\n"

    def connect(self) -> socket.socket:
        s = socket.create_connection((self.host, self.port))
        s.settimeout(10)
        return s

    def answer(self, request: str) -> str:
        """The status line; empty if it was hung up."""
        with self.connect() as s, suppress(ConnectionError):
            s.sendall(request.encode("latin-1"))
            return s.recv(200).decode("latin-1").partition("\r\n")[0]
        return ""

    def page(self) -> str:
        return self.answer(f"GET /?token={self.token} HTTP/1.1\r\n{self.own}\r\n")

    def upgrade(self) -> socket.socket:
        s = self.connect()
        origin = f"Origin: http://{self.host}:{self.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        s.sendall(f"GET /socket?token={self.token} HTTP/1.1\r\n{self.own}{origin}{key}".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += s.recv(1)
        assert head.startswith(b"HTTP/1.1 101"), head
        return s


@pytest.fixture(scope="module")
def place(scenario) -> Iterator[Place]:
    """Ends well, and without a word on the terminal, whatever came."""
    process, address = begun(scenario, subprocess.PIPE)
    yield Place(address)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert process.stderr.read() == ""


def test_broken_http_gets_an_error_and_no_word_on_the_terminal(place):
    own, token, port = place.own, place.token, place.port
    for host in (
        f"[::1]:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        f"127.1:{port}",
        f"localhost:{port}",
        f"127.0.0.1:0{port}",
        f"a@127.0.0.1:{port}",
        "127.0.0.1",
    ):
        assert " 421 " in place.answer(f"GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"), host
    for path, status in (
        (f"/?token={token[:-1]}", 403), (f"/?token={token}a", 403), ("/?token=%ED%A0%80", 403), ("/?token=%ff", 403), ("/?token=", 403),
        (f"/../../etc/passwd?token={token}", 404), (f"/%2e%2e/%2e%2e/etc/passwd?token={token}", 404), (f"/%73ocket?token={token}", 403),
        (f"/{'a' * 20_000}", 400),
    ):  # fmt: skip
        assert f" {status} " in place.answer(f"GET {path} HTTP/1.1\r\n{own}\r\n"), path
    for more in (
        f"Cookie: token={token}\r\n",
        f"Authorization: Bearer {token}\r\n",
        f"Referer: http://{place.host}:{port}/?token={token}\r\n",
    ):
        assert " 403 " in place.answer(f"GET / HTTP/1.1\r\n{own}{more}\r\n")
    assert " 405 " in place.answer(f"POST /?token={token} HTTP/1.1\r\n{own}Content-Length: 0\r\n\r\n")
    for broken in (
        "\0\1\2\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00", f"GET / HTTP/1.1\r\n{own}Host: evil\r\n\r\n", f"GET / HTTP/1.1\r\n{own}X: {'a' * 100_000}\r\n\r\n",
        f"GET / HTTP/1.1\r\n{own}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ):  # fmt: skip
        assert place.answer(broken).partition(" ")[2][:3] in ("400", ""), broken[:40]
    assert " 200 " in place.page()


def frame(kind: int, payload: bytes, *, fin: bool = True, length: int | None = None) -> bytes:
    """RFC 6455 section 5.2, masked with zeros."""
    n = len(payload) if length is None else length
    size = bytes([0x80 | n]) if n < 126 else b"\xfe" + n.to_bytes(2, "big") if n < 1 << 16 else b"\xff" + n.to_bytes(8, "big")
    return bytes([(0x80 if fin else 0) | kind]) + size + bytes(4) + payload


@pytest.mark.parametrize(
    "frames",
    [
        frame(1, b"x", length=1 << 40),
        frame(1, b"x", length=(1 << 63) + 5),
        frame(1, b"x" * 1000, fin=False) + frame(0, b"y" * 1000, fin=False) * 50,
        frame(1, b"\xff\xfe\xfd"),
        frame(1, b"\xed\xa0\x80"),
        frame(3, b""),
        frame(9, b"x" * 200),
        frame(0, b"abc"),
        frame(8, b"\x01"),
        bytes([0xF1, 0x80, 0, 0, 0, 0]),
    ],
    ids=[
        "huge",
        "negative",
        "never finished",
        "no utf-8",
        "half a character",
        "reserved kind",
        "long ping",
        "no beginning",
        "short close",
        "reserved bits",
    ],
)
def test_frames_that_are_none_close_the_connection(place, frames):
    with place.upgrade() as s, suppress(ConnectionError):
        s.sendall(frames)
        while s.recv(4096):
            pass
    assert " 200 " in place.page()


def test_connections_are_bounded_and_the_page_comes_when_they_are_gone(place):
    many = [place.connect() for _ in range(200)]
    for k, s in enumerate(many):
        with suppress(ConnectionError):
            s.sendall(b"GET / HTTP/1.1\r\nHost:"[: 22 * (k % 2)])
    gone = 0
    for s in many:
        s.settimeout(0.05)
        try:
            gone += s.recv(1) == b""
        except TimeoutError:
            pass
        except ConnectionError:
            gone += 1
    # Those of one turn of the loop, 17 with this backlog, are counted together; and hanging up takes its time.
    assert gone >= 100
    for s in many:
        s.close()
    assert " 200 " in place.page()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_in_the_middle_of_a_run_and_of_a_frame(scenario, number):
    process, address = begun(scenario, subprocess.PIPE)
    at = Place(address)
    runs, half = at.upgrade(), at.upgrade()
    for text in ('{"re": 1, "op": "branch"}', *['{"re": 2, "op": "go", "to": 20000000000, "spend": 50000}'] * 20):
        runs.sendall(frame(1, text.encode()))
    half.sendall(frame(1, b"x" * 100, fin=False)[:50])
    process.send_signal(number)
    assert process.wait(20) == 0
    assert process.stderr.read() == ""
    runs.close()
    half.close()


@pytest.fixture
def asked(scenario) -> Session:
    sim = fl.start(scenario)
    return Session(sim, network_model(sim, expanded(checked(scenario).json()), ""))


def test_a_page_is_told_of_no_file(asked, tmp_path):
    """Faults of a file are reported with their line: so no path of a change may lead to a file."""
    secret = tmp_path / "secret"
    secret.write_text("a secret: 42\n")
    for path, value in {
        "links.bottleneck.trace": str(secret), 'links.bottleneck."trace"': str(secret), "links.bottleneck.reverse.trace": str(secret),
        "links.bottleneck": f"{{ trace = '{secret}' }}", "links": f"{{ bottleneck = {{ trace = '{secret}' }} }}",
        "flows.tcp.source": f"{{ replay = {{ file = '{secret}' }} }}", "flows.tcp.source.replay.file": str(secret), "flows": "{}",
        "topology.dumbbell.bottleneck.trace": str(secret), "links.bottleneck.queue\n.trace": str(secret), "at": "[]",
    }.items():  # fmt: skip
        with pytest.raises(fl.FairlaneError) as e:
            asked.do({"op": "set", "values": {path: value}})
        assert "secret" not in str(e.value) or str(secret) in str(e.value), path
        assert "42" not in str(e.value)
    for path, value in {
        "links.bottleneck.rate": "1Mbit/s",
        'links."bottleneck".reverse.delay': "2ms",
        "links.bottleneck.queue.red.min": "3p",
    }.items():
        asked.do({"op": "set", "values": {path: value}})


def test_names_of_any_kind_are_changed_and_switched(tmp_path):
    """Sent as by the page: verbatim, with markup, blanks, dots and quotation marks."""
    odd = '<b onclick="x">a.b</b>'
    file = tmp_path / "odd.toml"
    net = fl.Network(duration="5s").link("a", "b", name=odd, rate="2Mbit/s", delay="10ms").flow(odd, "a", "b", tcp={})
    file.write_text(net.to_toml())
    sim = fl.start(file)
    asked = Session(sim, network_model(sim, expanded(checked(file).json()), ""))
    asked.do({"op": "set", "values": {f"links.{odd}.rate": "1Mbit/s", f"links.{odd}.queue.red.min": "3p"}})
    asked.do({"op": "set", "values": {f"links.{odd}.reverse.delay": "3ms"}})
    knobs = asked.do({"op": "knobs", "link": odd})[1]
    assert (knobs["rate"], knobs["queue"]) == (1e6, "red")
    assert asked.do({"op": "knobs", "link": f"{odd}.reverse"})[1]["delay"] == 3e6
    asked.do({"op": "go", "to": 1e9, "spend": 50_000})
    asked.do({"op": "flow", "group": odd, "on": False})
    assert asked.do({"op": "knobs", "link": odd})[1]["flows"] == {odd: False}


def test_changes_and_branches_of_a_page_are_bounded(asked, monkeypatch):
    monkeypatch.setattr(asking, "MOST_CHANGES", 50)
    for k in range(50):
        asked.do({"op": "set", "values": {"links.bottleneck.rate": f"{1000 + k}kbit/s"}})
    with pytest.raises(InvalidRequest, match="50 changes"):
        asked.do({"op": "set", "values": {"links.bottleneck.rate": "1Mbit/s"}})
    with pytest.raises(InvalidRequest, match="50 changes"):
        asked.do({"op": "flow", "group": "tcp", "on": False})
    for _ in range(10_000):
        with suppress(InvalidRequest):
            asked.do({"op": "branch"})
    assert len(asked._futures) == 2
    json.dumps(asked.do({"op": "go", "to": 1e9, "spend": 50_000})[1])
