"""The programs of ns-2 and ns-3 on the pages for their users run, and agree with the scenarios next to them."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import fairlane as fl
from conftest import ROOT

GUIDES = ROOT / "docs" / "guides"
BOUNDS = {"reno-red": 0.25, "drr": 0.002, "files": 0.001, "bulk": 0.005, "onoff": 0.06, "wifi": 0.01}
"""Relative difference at most. RED's and the on-off source's random numbers differ between the simulators."""


def programs(page: str, language: str, ending: str) -> dict[str, tuple[str, str]]:
    """Their program and our scenario, by the name in the first line of both."""
    text = (GUIDES / page).read_text("utf-8")
    theirs = dict(re.findall(rf"^```{language}\n(?:#|//) (\S+)\.{ending}\n(.*?)^```$", text, re.M | re.S))
    ours = dict(re.findall(r"^```toml\n# (\S+)\.toml\n(.*?)^```$", text, re.M | re.S))
    assert theirs.keys() == ours.keys()
    return {name: (theirs[name], ours[name]) for name in theirs}


NS2 = programs("from-ns2.md", "tcl", "tcl")
NS3 = programs("from-ns3.md", "cpp", "cc")


def compare(name: str, printed: str, scenario: str) -> None:
    """Checks each line `FLOW VALUE UNIT` of their output against our result: a rate is goodput, a time the completion."""
    result = fl.Network.from_toml(scenario).run(seed=1)
    lines = re.findall(r"^(\S+) (\S+) (Mbit/s|s)$", printed, re.M)
    assert len(lines) == len(result.flows)
    for flow, value, unit in lines:
        mean = result.value("goodput" if unit == "Mbit/s" else "completion_time", flow=flow).mean
        assert (mean or 0.0) / (1e6 if unit == "Mbit/s" else 1) == pytest.approx(float(value), rel=BOUNDS[name]), flow


def test_both_pages_have_three_programs():
    assert [len(NS2), len(NS3)] == [3, 3]
    assert NS2.keys() | NS3.keys() == BOUNDS.keys()


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("name", NS2)
def test_ns2_agrees(name, tmp_path):
    script, scenario = NS2[name]
    (tmp_path / "script.tcl").write_text(script, "utf-8")
    printed = subprocess.run(["ns", "script.tcl"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    compare(name, printed, scenario)


def built(source: str, folder) -> str:
    """Path of the compiled program; the test is skipped without ns-3."""
    modules = ["ns3-applications", "ns3-internet", "ns3-point-to-point", "ns3-traffic-control", "ns3-mobility", "ns3-wifi"]
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        pytest.skip("g++ or pkg-config is not installed")
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", *modules], capture_output=True, text=True)
    if asked.returncode != 0:
        pytest.skip("ns-3 is not installed")
    # Debian's package names libraries that it does not depend on.
    flags = [w for w in asked.stdout.split() if not w.startswith("/") or (ROOT / w).exists()]
    (folder / "program.cc").write_text(source, "utf-8")
    subprocess.run(["g++", "-std=c++17", "program.cc", "-o", "program", *flags], cwd=folder, check=True)
    return str(folder / "program")


@pytest.mark.long
@pytest.mark.parametrize("name", NS3)
def test_ns3_agrees(name, tmp_path):
    source, scenario = NS3[name]
    printed = subprocess.run([built(source, tmp_path)], capture_output=True, text=True, check=True).stdout
    compare(name, printed, scenario)
