"""Profiles of links: the shipped files are what their script makes, and packets have the delays of a recording."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import fairlane as fl

PROFILES = Path(__file__).parent.parent / "crates" / "scenario" / "src" / "check" / "file" / "profiles"


def test_shipped_profiles_are_what_their_script_makes(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_text((PROFILES / "make.py").read_text())
    runpy.run_path(str(script), run_name="__main__")
    made = sorted(p.name for p in tmp_path.glob("*.csv"))
    assert made == sorted(p.name for p in PROFILES.glob("*.csv"))
    for name in made:
        assert (tmp_path / name).read_bytes() == (PROFILES / name).read_bytes(), name


def test_delays_are_those_of_a_ping(tmp_path: Path) -> None:
    """Half of each round trip is the delay of both directions; an unanswered request loses everything for its second."""
    times = [20.0, 26.0, None, 40.0, 22.0]
    lines = ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    lines += [f"64 bytes from 192.0.2.1: icmp_seq={i} ttl=57 time={ms} ms" for i, ms in enumerate(times, 1) if ms]
    (tmp_path / "ping.txt").write_text("\n".join(lines))
    net = fl.Network(duration="5s")
    net.link("a", "b", name="path", rate="1Gbit/s", profile=str(tmp_path / "ping.txt"))
    net.flow("probe", "a", "b", udp={}, source={"cbr": {"rate": "80kbit/s", "size": "100B"}})
    flow = net.run(seed=1).flows.row(0, named=True)
    assert flow["delay_p50"] == pytest.approx(0.013, abs=2e-4)
    assert flow["delay_max"] == pytest.approx(0.020, abs=5e-6)
    assert flow["packets_lost"] == pytest.approx(100, abs=2)
    assert flow["delay_mean"] == pytest.approx(sum(t / 2000 for t in times if t) / 4, abs=2e-4)


def test_a_profile_needs_no_file_once_it_is_read(tmp_path: Path) -> None:
    net = fl.Network(duration="1s")
    net.link("a", "b", name="sky", profile="leo", reverse={"profile": {"file": "leo", "upload": True}})
    net.flow("tcp", "a", "b", tcp="cubic")
    resolved = net.resolve()
    assert str(resolved["links"]["sky"]["profile"]["file"]).startswith("data:,")
    with pytest.raises(fl.ScenarioError, match="one of leo, 5g_drive, cable"):
        fl.Network(duration="1s").link("a", "b", name="sky", profile="moon").run()
