"""`fairlane watch`: pages that replay, and the server of a page that runs a simulation, in headless Chromium and before hostile clients.

Recordings are compared with the laws of queues and with the counters of the run itself (web/tests/watch.test.mjs).
"""

# ruff: noqa: E501
from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairlane as fl
from devtools import Driven, needed
from fairlane import watch
from fairlane.base.document import json_schema

ROOT = Path(__file__).resolve().parent.parent
EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
SLOW = """
name = "a small dumbbell"
duration = "20s"
[topology.dumbbell]
pairs = 2
access = { rate = "20Mbit/s", delay = "1ms" }
bottleneck = { rate = "2Mbit/s", delay = "10ms", queue.droptail.limit = "20p" }
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 2
stagger = "10ms"
tcp = "sack"
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("watch") / "slow.toml"
    file.write_text(SLOW)
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Driven]:
    with Driven() as driven:
        yield driven


@pytest.fixture(scope="module")
def server(scenario) -> Iterator[str]:
    pytest.importorskip("aiohttp")
    process, address = begun(scenario)
    yield address
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0


def begun(scenario: Path, errors: int | None = None) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "fairlane", "watch", str(scenario), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line
        text += line
    document = json.loads(text)
    json_schema_of_watch(document)
    return process, document["address"]


def json_schema_of_watch(document: dict[str, object]) -> None:
    import jsonschema

    jsonschema.validate(document, json_schema("watch"))


def until(browser: Driven, script: str, seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not browser.run(script):
        assert time.monotonic() < end, script
        time.sleep(0.03)


def shown(browser: Driven) -> None:
    until(browser, "document.body.dataset.ready === 'yes' && fairlaneWatch.frames > 1")


def spoken(browser: Driven) -> str:
    return browser.run("document.querySelector('.aloud').textContent")


# --- what is recorded ---------------------------------------------------------------------------------


def test_what_is_recorded_keeps_the_laws_of_queues_and_the_counts_of_the_run(scenario, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    made = watch.record(scenario)
    (tmp_path / "recording.json").write_text(json.dumps({"head": made.head, "data": base64.b64encode(made.data).decode()}))
    done = subprocess.run(
        [node, "--test", str(ROOT / "web" / "tests")], env={"FAIRLANE_RECORDING": str(tmp_path / "recording.json"), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    document = json.loads(re.search(r"recording: (\{.*\})", done.stdout)[1])
    sim = fl.start(scenario)
    sim.advance()
    links = {name: link.metrics for name, link in sim.links.items()}
    # Each packet once at each link, but for those that were dropped on arrival; what waits at the end came and has not left.
    for seen, (name, link) in zip(document["packets"], sim.links.items(), strict=True):
        assert abs(seen - links[name]["departures"] - link.queue.packets) <= 1
    assert document["drops"] == sum(m["drops"] for m in links.values()) > 0
    assert made.one_of == 1


def test_recording_changes_nothing(scenario):
    sim = fl.start(scenario)
    sim._core.watch(1)
    for at in range(1, 21):
        sim.advance(to=f"{at}s")
        sim._core.chunk()
    assert sim.fingerprint == _plain(scenario)


def _plain(scenario: Path) -> str:
    sim = fl.start(scenario)
    sim.advance()
    return sim.fingerprint


def test_an_event_is_found_at_its_time(scenario):
    sim = fl.start(scenario)
    while sim._core.seek(sim._core.end, "drop", True, 50_000) is None:
        pass
    at = sim._core.now
    before = fl.start(scenario)
    before._core.advance(at - 1)
    # No drop up to the picosecond before, one at that time.
    after = fl.start(scenario)
    after._core.advance(at)
    assert [sum(x.metrics["drops"] for x in s.links.values()) for s in (before, after)] == [0, 1]


def test_the_way_to_an_event_is_told_in_stretches(scenario):
    """A page that jumps draws what happened until then: not one line from where it was. The event is the same."""
    from fairlane.base.scenario import checked
    from fairlane.watch.requests import FINE, Session
    from fairlane.watch.topology import expanded, network_model

    alone = fl.start(scenario)
    alone._core.watch(1)
    while alone._core.seek(alone._core.end, "drop", alone.time == 0, 1000) is None:
        pass
    sim = fl.start(scenario)
    asked = Session(sim, network_model(sim, expanded(checked(scenario).json()), ""))
    asked.do({"op": "branch"})
    pieces, found, fresh = [], None, True
    while found is None:
        more, answer = asked.do({"op": "seek", "what": "drop", "fresh": fresh})
        pieces, found, fresh = [*pieces, *more], answer["found"], False
    assert found and sim._core.now == alone._core.now == asked._futures[1]._core.now > 0
    assert len(pieces) >= 2 * (sim._core.now * FINE // sim._core.end)
    # After the last of them there is none: that is over.
    while (answer := asked.do({"op": "seek", "what": "timeout", "fresh": False})[1])["found"] is None:
        pass
    assert answer["found"] or answer["over"]


def test_a_minute_of_a_dumbbell_with_every_packet_takes_less_than_3_mb():
    made = watch.record(ROOT / "python/fairlane/scenarios/P1.toml", until="15s", most=500_000)
    # A quarter of the minute in a sixth of the room; P1 has 750,000 data packets in a minute.
    assert 4 * len(made.data) * 4 / 3 + 150_000 < 3_000_000
    assert made.one_of <= 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("links.a.rate=1bit/s", "lacks its time"),
        ("at=1s", "lacks a change"),
        ("at=x links.a.rate=1bit/s", "not a time"),
        ("at=1e400s links.a.rate=1bit/s", "not a time"),
        ("at=1s nothing", "not an assignment"),
    ],
)
def test_a_branch_that_means_nothing_is_told(scenario, words, why):
    with pytest.raises(fl.FairlaneError, match=why):
        watch.record(scenario, branches=[words])


def test_what_is_set_is_what_is_recorded_however_it_is_given(scenario):
    sets = {"links.bottleneck.rate": "1Mbit/s", "links.bottleneck.queue.droptail.limit": "3000B"}
    as_mapping, as_pairs = (watch.record(scenario, sets=x, until="1s") for x in (sets, iter(sets.items())))
    assert as_mapping.data == as_pairs.data and as_mapping.head == as_pairs.head
    (way,) = (w for w in as_pairs.head["links"] if w["name"] == "bottleneck")
    assert (way["bits"], way["limit"]) == (1e6, 3.0)


def test_nothing_is_written_where_something_is_wrong(scenario, tmp_path):
    page = tmp_path / "x.html"
    for options in (
        ["--until", "30s"],
        ["--branch", "at=1s links.none.rate=1Mbit/s"],
        ["--from", "5s", "--until", "5s"],
        ["--branch", "at=25s links.bottleneck.rate=1Mbit/s"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "fairlane", "watch", str(scenario), "--save", str(page), *options], capture_output=True, text=True
        )
        assert done.returncode == 2
        assert "error" in done.stderr
        assert "Traceback" not in done.stderr
        assert not page.exists()


def test_a_window_is_told_in_packets_of_the_flow():
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="5ms")
    for name, tcp in {"small": {"mss": "536B"}, "ns2": {"preset": "ns2"}, "usual": {}}.items():
        net.flow(name, "a", "b", tcp=tcp)
    of = {
        f["name"]: f["mss"]
        for f in watch.record(net.flow("udp", "a", "b", udp={}, source={"poisson": {"rate": "10kbit/s", "size": "100B"}})).head["flows"]
    }
    sim = net.start()
    sim.advance("500ms")
    assert {name: of[name] for name in ("small", "ns2", "usual")} == {n: f.tcp["mss"] for n, f in sim.flows.items() if n != "udp"}
    assert of["udp"] == 1460


def test_switches_of_a_queue_are_told_and_turned():
    from fairlane.watch.requests import Session
    from fairlane.watch.topology import expanded, network_model

    net = (
        fl.Network(duration="5s")
        .link("a", "b", rate="1Mbit/s", delay="5ms", queue={"red": {"ecn": True}}, name="l")
        .flow("f", "a", "b", tcp={})
    )
    sim = net.start()
    asked = Session(sim, network_model(sim, expanded(_resolved(net)), ""))
    _, knobs = asked.do({"op": "knobs", "link": "l"})
    switches = {k: v for k, v, kind in knobs["parameters"] if kind == "switch"}
    assert switches["ecn"] == "true" and switches["gentle"] == "true" and switches["byte_mode"] == "false"
    assert all(v not in ("true", "false") for _, v, kind in knobs["parameters"] if kind == "text")
    asked.do({"op": "set", "values": {"links.l.queue.red.ecn": "false"}})
    _, knobs = asked.do({"op": "knobs", "link": "l"})
    assert [v for k, v, _ in knobs["parameters"] if k == "ecn"] == ["false"]


def _resolved(net: fl.Network) -> str:
    from fairlane.base.scenario import checked

    return checked(net).json()


def test_the_sources_of_the_page_have_no_fault_that_a_linter_sees():
    web = ROOT / "web"
    if not (web / "node_modules" / ".bin" / "eslint").exists() or shutil.which("node") is None:
        pytest.skip("web/node_modules are not there: make lint-web")
    done = subprocess.run([str(web / "node_modules" / ".bin" / "eslint"), "."], cwd=web, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# --- a page that replays ------------------------------------------------------------------------------


@needed
def test_a_page_replays_offline_by_keys_and_buttons(scenario, browser, tmp_path):
    page = tmp_path / "lecture.html"
    network = fl.Network(name=EVIL, duration="10s").link(
        "a", "b", rate="1Mbit/s", delay="20ms", queue={"droptail": {"limit": "10p"}}, name="l"
    )
    network.flow("web", "a", "b", tcp={})
    made = watch.save(network, page, branches=["at=5s links.l.rate=2Mbit/s"])
    assert page.stat().st_size < 300_000
    assert [f["words"] for f in made.head["futures"]] == ["original", "links.l.rate = 2Mbit/s"]
    asked = len(browser.asked)
    browser.open(page)
    shown(browser)
    assert browser.run("document.querySelector('h1').textContent") == EVIL
    assert browser.run("document.querySelectorAll('canvas').length") >= 2
    browser.key("d")
    assert "drop or loss of web.0 at l" in spoken(browser) or "drop or loss of web at l" in spoken(browser)
    at = browser.run("fairlaneWatch.time")
    browser.key(".")
    assert browser.run("fairlaneWatch.time") > at
    browser.key(",")
    assert browser.run("fairlaneWatch.time") == at
    for key, script in {
        "+": "fairlaneWatch.speed > 0", "-": "fairlaneWatch.speed > 0", "]": "fairlaneWatch.state.chosen === 'link 0'", "[": "fairlaneWatch.state.chosen === 'link 1'",
        "f": "fairlaneWatch.state.flow === 0", "i": "fairlaneWatch.state.chosen === 'flow 0'", "l": "fairlaneWatch.state.show === 'packets'", "p": "fairlaneWatch.state.packet !== null",
        "t": "document.querySelector('.aloud').textContent.length > 5", "m": "document.querySelector('.aloud').textContent.includes('no mark')",
        "?": "document.querySelector('dialog').open",
    }.items():  # fmt: skip
        browser.key(key)
        assert browser.run(script), key
    browser.key("?")
    for key, script in {"Escape": "fairlaneWatch.state.flow === -1", "End": "fairlaneWatch.time === 10e9", "Home": "fairlaneWatch.time === 0", "ArrowRight": "fairlaneWatch.time > 0"}.items():  # fmt: skip
        browser.key(key)
        assert browser.run(script), key
    table = "[...document.querySelectorAll('table.state th')].map(t => t.textContent)"
    browser.run("fairlaneWatch.choose('flow 0')")
    assert {"cwnd", "ssthresh", "smoothed RTT"} <= set(browser.run(table))
    browser.run("fairlaneWatch.seek(4e9)")
    # Until the branch both futures are the same, then the queue of the faster one empties.
    waits = "fairlaneWatch.source.recordings.map(f => f.ofLink(f.still(fairlaneWatch.time), 0, 'packets'))"
    a, b = browser.run(waits)
    assert a == b
    rates = "fairlaneWatch.source.recordings.map(f => f.ofLink(f.still(9e9), 0, 'rate'))"
    assert browser.run(rates) == [1e6, 2e6]
    browser.run("fairlaneWatch.paced(120)")
    browser.key(" ")
    until(browser, "fairlaneWatch.time > 4.2e9")
    browser.key(" ")
    assert not browser.run("fairlaneWatch.playing")
    assert "queue" in browser.run("document.querySelector('canvas').getAttribute('aria-label')")
    named = "[...document.querySelectorAll('button, input, select')].filter(b => !(b.getAttribute('aria-label') || b.closest('label')?.textContent.trim() || b.textContent.trim())).length"
    assert browser.run(named) == 0
    for width in (400, 1280, 1920):
        browser.screen(width, 900)
        browser.settle()
        assert browser.run("document.documentElement.scrollWidth") <= width
    browser.media(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    browser.settle()
    assert browser.console == []
    assert [a for a in browser.asked[asked:] if not a.startswith(("file:", "data:"))] == []


@needed
@pytest.mark.parametrize("lesson", sorted(p.parent.name for p in (ROOT / "examples" / "lessons").glob("*/scenario.toml")))
def test_a_lesson_opens_as_a_page(lesson, browser, tmp_path):
    made = watch.save(ROOT / "examples" / "lessons" / lesson / "scenario.toml", tmp_path / "lesson.html", until="5s")
    browser.console.clear()
    browser.open(tmp_path / "lesson.html")
    shown(browser)
    browser.run("fairlaneWatch.seek(4.9e9)")
    # What the page says of its flows is what the simulation knows of them.
    sim = fl.start(ROOT / "examples" / "lessons" / lesson / "scenario.toml")
    sim.advance("5s")
    delivered = browser.run(
        "fairlaneWatch.model.flows.map((_, i) => fairlaneWatch.source.recordings[0].ofFlow(fairlaneWatch.source.recordings[0].latest, i, 'delivered'))"
    )
    assert delivered == [f.delivered for f in sim.flows.values()]
    assert sum(delivered) > 0 and len(made.data) < 2_000_000
    assert browser.console == []


# --- a page that runs a simulation --------------------------------------------------------------------


@needed
def test_a_page_runs_steps_changes_and_branches_a_simulation(server, browser):
    browser.console.clear()
    browser.visit(server)
    shown(browser)
    assert browser.run("fairlaneWatch.playing")
    browser.run("fairlaneWatch.paced(110)")
    until(browser, "fairlaneWatch.time > 5e8 && fairlaneWatch.views[0].view.seen > 3")
    browser.key(" ")
    browser.key(".")
    until(browser, "!fairlaneWatch.stepping")
    browser.key("d")
    until(browser, "document.querySelector('.aloud').textContent.includes('drop or loss of tcp.')")
    at = browser.run("fairlaneWatch.time")
    browser.key("]")
    until(browser, "document.querySelector('[data-key=rate]') !== null")
    browser.key("b")
    until(browser, "fairlaneWatch.source.recordings.length === 2 && fairlaneWatch.acts.future === 1")
    browser.run("(q => { q.value = 'codel'; q.dispatchEvent(new Event('change')); })(document.querySelector('[data-key=queue]'))")
    until(browser, "document.querySelector('[data-key=\"queue.codel.target\"]') !== null")
    browser.run(
        "(q => { q.value = 'much'; q.dispatchEvent(new Event('change')); })(document.querySelector('[data-key=\"queue.codel.target\"]'))"
    )
    until(browser, "document.querySelector('.wrong').textContent.includes('target')")
    browser.run("(q => { q.value = 800; q.dispatchEvent(new Event('change')); })(document.querySelector('[data-key=rate]'))")
    until(browser, "fairlaneWatch.source.recordings[1].ofLink(fairlaneWatch.source.recordings[1].latest, 0, 'rate') > 3e6")
    assert browser.run("fairlaneWatch.source.recordings[0].ofLink(fairlaneWatch.source.recordings[0].latest, 0, 'rate')") == 2e6
    browser.run("document.querySelector('[data-group=tcp]').click()")
    until(browser, "document.querySelector('[data-group=tcp]').getAttribute('aria-pressed') === 'false'")
    # The branch has its own switches; flows that are off can be restarted.
    browser.run("(s => { s.value = 0; s.dispatchEvent(new Event('change')); })(fairlaneWatch.side)")
    until(browser, "document.querySelector('[data-group=tcp]').getAttribute('aria-pressed') === 'true'")
    browser.run("(s => { s.value = 1; s.dispatchEvent(new Event('change')); })(fairlaneWatch.side)")
    until(browser, "document.querySelector('[data-group=tcp]').getAttribute('aria-pressed') === 'false'")
    browser.run("document.querySelector('[data-group=tcp]').click()")
    until(browser, "document.querySelector('[data-group=tcp]').getAttribute('aria-pressed') === 'true'")
    assert browser.run("document.querySelector('.wrong').textContent") == ""
    browser.key(" ")
    until(browser, f"fairlaneWatch.time > {at} + 2e8")
    browser.key(" ")
    browser.key("x")
    until(browser, "fairlaneWatch.source.recordings.length === 1")
    browser.run("fairlaneWatch.paced(161)")
    browser.key(" ")
    until(browser, "fairlaneWatch.time === 20e9")
    assert browser.console == []
    browser.open(Path("/dev/null"))


def test_strangers_get_nothing_and_floods_do_no_harm(server):
    aiohttp = pytest.importorskip("aiohttp")
    place, token = re.fullmatch(r"http://([^/]+)/\?token=(.+)", server).groups()
    own = f"http://{place}"

    async def attack() -> None:
        async with aiohttp.ClientSession() as http:

            async def status(path: str, **headers: str) -> int:
                async with http.get(own + path, headers=headers) as r:
                    return r.status

            right = f"/?token={token}"
            assert await status(right) == 200
            assert await status("/") == 403
            assert await status("/?token=x") == 403
            assert await status(f"{right}&token={token}") == 403
            assert await status(right, Origin="http://evil.example") == 403
            assert await status(right, Host="evil.example") == 421
            assert await status(f"/other?token={token}") == 404
            way = f"{own}/socket?token={token}"
            for headers in ({}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Origin": own, "Host": "evil.example"}):
                with pytest.raises(aiohttp.WSServerHandshakeError):
                    await http.ws_connect(way, headers=headers)

            async def ask(ws, text: str) -> dict[str, object]:
                await ws.send_str(text)
                while True:
                    m = await ws.receive(timeout=20)
                    if m.type is aiohttp.WSMsgType.TEXT:
                        return json.loads(m.data)
                    assert m.type is aiohttp.WSMsgType.BINARY, m

            async with http.ws_connect(way, headers={"Origin": own}, max_msg_size=0) as ws:
                for text in (
                    "", "[]", "{}", "[" * 2000, '{"re": 1}', '{"re": 1, "op": "go", "to": -1, "spend": 1}', '{"re": 1, "op": "go", "to": NaN, "spend": 1}',
                    '{"re": 1, "op": "go", "to": 1e300, "spend": 1}', '{"re": 1, "op": "__init__"}', '{"re": 1, "op": "set", "values": {"duration": "1s"}}',
                    '{"re": 1, "op": "set", "values": {"links.bottleneck.rate": {"a": 1}}}', '{"re": 1, "op": "set", "future": 7, "values": {"seed": 1}}',
                    '{"re": 1, "op": "seek", "what": "x", "fresh": true}', '{"re": 1, "op": "knobs", "link": "<b>"}', '{"re": 1, "op": "flow", "group": "x", "on": false}',
                    '{"re": true, "op": "drop"}', '{"re": 1, "op": ["go"]}', r'{"re": 1, "op": "set", "values": {"\ud800": "1"}}',
                    r'{"re": 1, "op": "set", "values": {"links.bottleneck.rate": "\ud800"}}',
                ):  # fmt: skip
                    assert "error" in await ask(ws, text), text
                found = await ask(ws, '{"re": 7, "op": "go", "to": 1000000000, "spend": 50000}')
                assert found["re"] == 7
                assert "error" not in found
                # A flood: the server closes the connection, and other clients do not wait.
                with pytest.raises((ConnectionError, AssertionError)):
                    for _ in range(20_000):
                        await ws.send_str('{"re": 1, "op": "drop"}')
                    while True:
                        m = await ws.receive(timeout=20)
                        assert m.type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
            async with http.ws_connect(way, headers={"Origin": own}) as ws:
                await ws.send_str("x" * 5000)
                assert (await ws.receive(timeout=20)).type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.CLOSE)
            async with http.ws_connect(way, headers={"Origin": own}) as ws:
                await ws.send_bytes(b"\0")
                assert (await ws.receive(timeout=20)).type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.CLOSE)
            assert await status(right) == 200

    asyncio.run(attack())


def test_the_server_stops_with_the_command_whoever_hangs_on(scenario):
    pytest.importorskip("aiohttp")
    process, address = begun(scenario)
    host, port = re.match(r"http://([^:]+):(\d+)/", address).groups()
    token = address.partition("=")[2]
    hanging = [socket.create_connection((host, int(port))) for _ in range(3)]
    hanging[0].sendall(b"GET / HTTP/1.1\r\nHost:")
    upgrade = f"GET /socket?token={token} HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: http://{host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    hanging[1].sendall(f"{upgrade}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
    assert hanging[1].recv(12) == b"HTTP/1.1 101"
    hanging[1].shutdown(socket.SHUT_WR)
    hanging[2].shutdown(socket.SHUT_WR)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    for s in hanging:
        s.close()
    taken = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-m", "fairlane", "watch", str(scenario), "--no-browser", "--port", str(taken.getsockname()[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    taken.close()
    assert done.returncode == 2
    assert "cannot listen on port" in done.stderr
    assert "Traceback" not in done.stderr
