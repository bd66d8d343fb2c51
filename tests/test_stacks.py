"""Real transport stacks: what they do in a network, and one line of error where they are not built."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane import _core

BUILT = {name for name, _, built in _core.stacks() if built}
needs_quinn = pytest.mark.skipif("quinn" not in BUILT, reason="quinn is not built: cargo build --features quinn")
needs_noq = pytest.mark.skipif("noq" not in BUILT, reason="noq is not built: cargo build --features noq")
needs_str0m = pytest.mark.skipif("str0m" not in BUILT, reason="str0m is not built: cargo build --features str0m")

TEXT = """
duration = "10s"
warmup = "1s"
[topology.dumbbell]
pairs = 2
access = { rate = "1Gbit/s", delay = "1ms" }
bottleneck = { rate = "20Mbit/s", delay = "18ms", queue.droptail.limit = "70p" }
[flows.app]
from = "s0"
to = "d0"
stack.quinn = {}
"""

DEEP = {"droptail": {"limit": "70p"}}
"""A bandwidth-delay product."""


def net(
    stack: object = "quinn", *, tcp: bool = False, queue: object = DEEP, duration: str = "10s", warmup: str = "1s", **flow: object
) -> fl.Network:
    built = fl.Network(duration=duration, warmup=warmup)
    bottleneck = {"rate": "20Mbit/s", "delay": "18ms", "queue": queue}
    built.dumbbell(pairs=2, access={"rate": "1Gbit/s", "delay": "1ms"}, bottleneck=bottleneck)
    built.flow("app", "s0", "d0", stack=stack, **flow)
    if tcp:
        built.flow("tcp", "s1", "d1", tcp={"preset": "linux", "cc": "cubic"})
    return built


def mean(result: fl.Result, metric: str, **of: str) -> float:
    return result.value(metric, **of).mean or 0.0


@pytest.mark.skipif("quinn" in BUILT, reason="quinn is built")
def test_a_stack_that_is_not_built_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(TEXT)
    done = fairlane("run", "x.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "stack quinn is not built into this fairlane" in done.stderr
    assert "pip install 'fairlane[stacks]', or build with --features quinn" in done.stderr
    assert "x.toml:11:" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_stack_lists_those_that_exist() -> None:
    with pytest.raises(fl.ScenarioError, match='unknown stack "lsquic"') as e:
        net("lsquic").run(seeds=[1])
    assert "known stacks: " in str(e.value) and all(f"{name} {version}" in str(e.value) for name, version, _ in _core.stacks())
    with pytest.raises(fl.ScenarioError, match="has both tcp and a stack"):
        net().flow("x", "s0", "d0", tcp="cubic", stack="quinn").run(seeds=[1])


def test_explain_knows_every_stack() -> None:
    for name, version, _ in _core.stacks():
        done = fairlane("explain", name)
        assert done.returncode == 0
        assert version in done.stdout
        assert ("fps" if name == "str0m" else "idle_timeout") in done.stdout
        assert "lacks" in done.stdout


def test_the_package_of_stacks_needs_this_very_version() -> None:
    text = (Path(__file__).parent.parent / "packaging/stacks/pyproject.toml").read_text()
    assert f'dependencies = ["fairlane=={fl.__version__}"]' in text


def test_the_extension_of_the_other_distribution_is_taken_if_it_is_there(tmp_path: Path) -> None:
    place = tmp_path / "fairlane_stacks"
    place.mkdir()
    (place / "__init__.py").touch()
    own, home = Path(_core.__file__ or ""), Path(fl.__file__).parent.parent
    (place / own.name).symlink_to(own)
    code = "import fairlane; from fairlane import _core; print(_core.__file__, fairlane.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": f"{tmp_path}:{home}", "PATH": ""}
    )
    assert done.stdout.startswith(str(place)), done.stderr


@needs_quinn
def test_a_run_is_the_same_again_with_any_number_of_processes() -> None:
    first = net(tcp=True, duration="4s").run(seeds="1..2", threads=2)
    again = net(tcp=True, duration="4s").run(seeds="1..2", threads=1)
    prints = first.fingerprints
    assert prints == again.fingerprints
    assert prints[0] != prints[1]
    run = "t.net(tcp=True, duration='4s').run(seeds=[1])"
    code = f"import sys; sys.path.insert(0, 'tests'); import test_stacks as t; print({run}.fingerprints[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    assert done.stdout.strip() == prints[0], done.stderr


@needs_quinn
def test_quinn_fills_the_link_beside_tcp_and_has_tables_and_series() -> None:
    scenario = net(tcp=True, duration="20s")
    scenario.set("sample", "100ms")
    result = scenario.run(seeds=[1], why=True)
    assert mean(result, "utilisation", link="bottleneck") > 0.97
    goodput = mean(result, "goodput", flow="app")
    assert goodput > 4e6
    assert mean(result, "retransmits", flow="app") > 0
    assert 0.04 < mean(result, "rtt_mean", flow="app") < 0.1
    cwnd = result.flow_series.filter(result.flow_series["flow"] == "app")["cwnd"]
    assert cwnd.max() > 50_000
    assert result.flows.filter(result.flows["flow"] == "app")["transport"][0] == "quinn"


@needs_quinn
@pytest.mark.parametrize(
    "source",
    [
        {"file": {"size": "2MB"}},
        "web",
        {"request_response": {}},
        {"cbr": {"rate": "1Mbit/s", "size": "1000B"}},
        "voip",
        {"video": {}},
    ],
    ids=str,
)
def test_every_kind_of_source(source: object) -> None:
    result = net(source=source, warmup="0s").run(seeds=[1])
    assert mean(result, "goodput", flow="app") > 3000, result.warnings
    assert not [w for w in result.warnings if w.code == "connection-lost"]


@needs_quinn
def test_codel_marks_reach_the_stack() -> None:
    result = net({"quinn": {"ecn": True}}, queue={"codel": {"ecn": True}}).run(seeds=[1])
    assert mean(result, "goodput", flow="app") > 17e6
    assert mean(result, "ecn_cuts", flow="app") > 3
    assert mean(result, "retransmits", flow="app") < 20


@needs_quinn
def test_a_version_that_nobody_speaks_is_a_warning_with_the_reason() -> None:
    with pytest.warns(fl.ScenarioWarning):
        result = net({"quinn": {"server_version": "draft29"}}).run(seeds=[1])
    (warning,) = [w for w in result.warnings if w.code == "connection-lost"]
    assert "peer doesn't implement any supported version" in str(warning)


@needs_quinn
def test_a_run_with_a_stack_has_no_branch_and_one_part() -> None:
    scenario = net(duration="3s")
    assert scenario.partition(threads=2).whole == "a flow of a real transport stack runs in one piece"
    simulation = scenario.start()
    simulation.advance("2s")
    with pytest.raises(fl.ArgumentError, match="a stack cannot be copied"):
        simulation.branch()


@needs_quinn
def test_a_capture_has_the_payload_and_its_secrets(tmp_path: Path) -> None:
    net(source={"file": {"size": "50kB"}}, duration="3s").run(seeds=[1], pcap={"flow:app": tmp_path / "a.pcapng"})
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed (Debian: apt-get install tshark)")
    told = ["-d", "udp.port==1-65535,quic", "-o", "udp.check_checksum:TRUE"]
    read = ["tshark", "-n", "-r", str(tmp_path / "a.pcapng"), *told]
    done = subprocess.run([*read, "-T", "fields", "-e", "quic.frame_type", "-e", "udp.checksum.status"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) > 50
    assert {status for _, status in rows} == {"1"}
    frames = {frame for row, _ in rows for frame in row.split(",")}
    # Stream frames and acknowledgments are encrypted: they are read by the secrets of the file.
    assert "6" in frames and frames & {"2", "3"}
    assert frames & {"8", "9", "10", "11", "12", "13", "14", "15"}


@needs_quinn
def test_the_secrets_of_a_capture_are_a_key_log(tmp_path: Path) -> None:
    """Five secrets of TLS 1.3 (RFC 8446 section 7.1, without the exporter), each with the client random of 32 bytes."""
    (tmp_path / "x.toml").write_text(TEXT.replace('"10s"', '"2s"'))
    done = fairlane("run", "x.toml", "--pcap", "flow:app=a.pcapng", "--keylog", "a.keys", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in (tmp_path / "a.keys").read_text().splitlines()]
    assert {"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"} <= {
        label for label, _, _ in lines
    }
    assert {len(random) for _, random, _ in lines} == {64} and len({random for _, random, _ in lines}) == 1
    done = fairlane("run", "x.toml", "--keylog", "b.keys", "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert "--keylog needs --pcap NAME" in done.stderr
    done = fairlane("run", "x.toml", "--pcap", "flow:app=b.pcapng", "--keylog", "a.keys", "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert "a.keys" in done.stderr


@needs_quinn
def test_the_stack_writes_its_own_log(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(TEXT.replace('"10s"', '"2s"'))
    done = fairlane("run", "x.toml", "--qlog", "app", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.glob("*.sqlog")) == ["app.receiver.sqlog", "app.sender.sqlog"]
    records = [json.loads(line) for line in (tmp_path / "app.sender.sqlog").read_text().split("\x1e") if line.strip()]
    assert any("packet_sent" in json.dumps(r) for r in records[:50])
    done = fairlane("run", "x.toml", "--qlog", "ap", "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean `app`?" in done.stderr


def seeded() -> bool:
    """True if the program takes the system's random numbers from the seed."""
    try:
        net({"noq": {"cc": "bbr3"}}).resolve()
    except fl.ScenarioError as e:
        assert "it draws from the system's random numbers" in str(e)
        return False
    return True


@needs_noq
@pytest.mark.parametrize("cc", ["cubic", "newreno", "bbr3"])
def test_noq_fills_the_link_beside_tcp_and_is_the_same_again(cc: str) -> None:
    if cc == "bbr3" and not seeded():
        pytest.skip("this program does not seed BBRv3 of noq: RUSTFLAGS='--cfg getrandom_backend=\"custom\"'")
    first = net({"noq": {"cc": cc}}, tcp=True, duration="8s").run(seeds="1..2", threads=2)
    assert mean(first, "utilisation", link="bottleneck") > 0.95
    assert mean(first, "goodput", flow="app") > 3e6
    assert 0.04 < mean(first, "rtt_mean", flow="app") < 0.1
    again = net({"noq": {"cc": cc}}, tcp=True, duration="8s").run(seeds="1..2", threads=1)
    assert first.fingerprints == again.fingerprints
    run = f"t.net({{'noq': {{'cc': {cc!r}}}}}, tcp=True, duration='8s').run(seeds=[1])"
    code = f"import sys; sys.path.insert(0, 'tests'); import test_stacks as t; print({run}.fingerprints[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    assert done.stdout.strip() == first.fingerprints[0], done.stderr


@needs_noq
def test_codel_marks_reach_noq() -> None:
    result = net({"noq": {"ecn": True}}, queue={"codel": {"ecn": True}}).run(seeds=[1])
    assert mean(result, "goodput", flow="app") > 16e6
    assert mean(result, "ecn_cuts", flow="app") > 3
    assert mean(result, "retransmits", flow="app") < 20


CALL = {"str0m": {"start": "1Mbit/s", "most": "4Mbit/s", "fps": 30}}


@needs_str0m
def test_a_call_follows_its_target_rate() -> None:
    """An idle link of 20 Mbit/s: the target reaches the most that the encoder makes, and the picture has that rate."""
    scenario = net(CALL, duration="20s", warmup="10s")
    scenario.set("sample", "100ms")
    result = scenario.run(seeds=[1])
    series = result.flow_series
    late = series.filter(series["time"] > 10)
    assert (late["target_rate"] >= 4e6).all()
    goodput = mean(result, "goodput", flow="app")
    assert abs(goodput / 4e6 - 1) < 0.05
    # Propagation, 40 ms there and back, and the wait for the next feedback at most.
    assert 0.04 <= mean(result, "srtt", flow="app") < 0.2
    # No queue but that of a frame: 16.7 kB are 6.7 ms.
    assert mean(result, "sojourn_mean", link="bottleneck") < 0.0067


@needs_str0m
def test_a_call_on_a_slow_link_keeps_its_queue_short() -> None:
    """RFC 8836: a target near the capacity, without a standing queue that a loss-based control builds."""
    slow = net(CALL, duration="60s", warmup="20s").replace("topology.dumbbell.bottleneck.rate", "2Mbit/s")
    call = slow.run(seeds=[1])
    assert 0.5 < mean(call, "utilisation", link="bottleneck") < 1
    tcp = net(duration="60s", warmup="20s", tcp=True).replace("topology.dumbbell.bottleneck.rate", "2Mbit/s").run(seeds=[1])
    assert mean(call, "sojourn_mean", link="bottleneck") < mean(tcp, "sojourn_mean", link="bottleneck") / 2


@needs_str0m
def test_a_call_is_the_same_again_in_another_process() -> None:
    first = net(CALL, tcp=True, duration="6s").run(seeds="1..2", threads=2)
    assert first.fingerprints == net(CALL, tcp=True, duration="6s").run(seeds="1..2", threads=1).fingerprints
    run = "t.net(t.CALL, tcp=True, duration='6s').run(seeds=[1])"
    code = f"import sys; sys.path.insert(0, 'tests'); import test_stacks as t; print({run}.fingerprints[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    assert done.stdout.strip() == first.fingerprints[0], done.stderr


@needs_str0m
def test_a_call_has_a_source_of_its_own_and_no_log(tmp_path: Path) -> None:
    with pytest.raises(fl.ScenarioError, match="str0m has a source of its own, its encoder; flow `app` has file"):
        net(CALL, source={"file": {"size": "1MB"}}).run(seeds=[1])
    with pytest.raises(fl.ScenarioError, match="it is not between least and most"):
        net({"str0m": {"start": "9Mbit/s"}}).run(seeds=[1])
    (tmp_path / "x.toml").write_text(TEXT.replace("quinn", "str0m"))
    done = fairlane("run", "x.toml", "--qlog", "app", "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert "only a real implementation of QUIC writes one" in done.stderr


@needs_quinn
def test_transports_are_compared_as_words() -> None:
    words = ["quinn:cubic", "quinn:newreno", "tcp:cubic", "tcp:bbr3"]
    done = fl.compare(net(duration="3s", warmup="1s"), vary={"flows.app": words}, seeds=[1])
    assert [s.label for s in done.settings] == words
    assert [s.result.flows["transport"][0] for s in done.settings] == ["quinn", "quinn", "tcp", "tcp"]


@needs_quinn
def test_a_first_window_of_less_than_two_datagrams_is_refused() -> None:
    """RFC 9002 section 7.2. quinn sends nothing, not even its first datagram, in a window of one."""
    for window in ("1p", "2399B"):
        with pytest.raises(fl.ScenarioError, match="initial_window"):
            net({"quinn": {"initial_window": window}}).run(seeds=[1])
    result = net({"quinn": {"initial_window": "2p"}}, duration="2s").run(seeds=[1])
    assert mean(result, "goodput", flow="app") > 1e6


@needs_quinn
def test_a_run_with_a_stack_is_recorded_as_an_animation_without_branches(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(TEXT.replace('"10s"', '"2s"'))
    done = fairlane("watch", "x.toml", "--save", "x.html", "--from", "500ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.html").stat().st_size > 100_000
    done = fairlane("watch", "x.toml", "--save", "y.html", "--branch", "at=1s links.bottleneck.rate=5Mbit/s", cwd=tmp_path)
    assert done.returncode == 2
    assert "a stack cannot be copied" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "y.html").exists()


@needs_quinn
def test_a_handshake_that_is_lost_for_good_is_a_warning() -> None:
    scenario = net({"quinn": {"idle_timeout": "1s"}}).replace("topology.dumbbell.bottleneck.loss", 1.0)
    with pytest.warns(fl.ScenarioWarning):
        result = scenario.run(seeds=[1])
    (warning,) = [w for w in result.warnings if w.code == "connection-lost"]
    assert "timed out" in str(warning)


@needs_quinn
def test_links_that_copy_reorder_and_corrupt() -> None:
    """Each copy is dropped at the receiver: more arrives than is counted, and what is counted is data once."""
    scenario = net(source={"file": {"size": "2MB"}}, warmup="0s", duration="20s")
    for path, value in {"duplicate": 0.1, "corrupt": 0.01, "reorder": {"share": 0.05, "delay": "5ms"}}.items():
        scenario = scenario.replace(f"topology.dumbbell.bottleneck.{path}", value)
    result = scenario.run(seeds=[1])
    assert mean(result, "goodput", flow="app") * 20 / 8 == pytest.approx(2e6)
    assert mean(result, "retransmits", flow="app") > 5
