"""Files of nam: those of ns-2 itself, line by line, and by the grammar that nam(1) states; names do nothing in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import fairlane as fl
from test_ns2_trace import TCL, network

NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
GRAMMAR = [
    re.compile(r"V -t \* -v \S+ -a 0"),
    re.compile(r"A -t \* -n 1 -p 0 -o 0x[0-9a-f]+ -c \d+ -a 1"),
    re.compile(r"A -t \* -h 1 -m \d+ -s 0"),
    re.compile(r"n -t \* -a \d+ -s \d+ -S (UP|DOWN) -v (circle|box|hexagon) -c \w+ -i \w+"),
    re.compile(rf"l -t \* -s \d+ -d \d+ -S UP -r \d+ -D {NUMBER} -c \w+"),
    re.compile(rf"q -t \* -s \d+ -d \d+ -a {NUMBER}"),
    re.compile(r'n -t 0 -s \d+ -S DLABEL -l "[A-Za-z0-9._+:-]*" -L ""'),
    re.compile(
        rf"[+\-hrd] -t {NUMBER} -s \d+ -d \d+ -p \w+ -e \d+ -c \d+ -i \d+ -a \d+ -x \{{\d+\.\d+ \d+\.\d+ -?\d+ [-CPAEFN]{{7}} null\}}"
    ),
]
"""Lines of nam(1), "Trace file format", with the fields that ns-2 writes."""


def near(line: str) -> str:
    """To the microsecond: ns-2 writes fifteen digits of a double, we picoseconds."""
    return re.sub(r"-t (\S+)", lambda m: f"-t {float(m[1]):.6f}", line)


def test_every_line_is_that_of_ns2(tmp_path: Path) -> None:
    if shutil.which("ns") is None:
        pytest.skip("ns-2 is not installed (Debian: apt-get install ns2)")
    tcl = (
        TCL.replace("$ns trace-all $f", "$ns namtrace-all $f")
        .replace("close $f;", "$ns flush-trace; close $f;")
        .replace("out.tr", "out.nam")
    )
    (tmp_path / "run.tcl").write_text(tcl)
    subprocess.run(["ns", "run.tcl"], cwd=tmp_path, check=True, timeout=120)
    network().run(1, trace=fl.Trace(folder=tmp_path / "ours", format="nam"))
    theirs, ours = (p.read_text().splitlines() for p in (tmp_path / "out.nam", tmp_path / "ours" / "seed=1.nam"))
    head = [line for line in ours if line[:2] in ("V ", "A ", "n ", "l ", "q ")]
    assert [line for line in head if "DLABEL" not in line and line[0] != "q"] == theirs[: len(head) - 4 - 6]
    # The colour is the flow's in ours; in ns-2's it is that of an agent's class, which a script sets.
    moves = [sorted(near(re.sub(r"---A---", "-------", line)) for line in lines if line[0] in "+-hrd") for lines in (theirs, ours)]
    assert len(moves[0]) > 30_000 and moves[0] == moves[1]


def test_the_grammar_and_names_that_are_programs(tmp_path: Path) -> None:
    """nam is a Tcl program: what brackets, dollars, quotes and line ends in names could do is nothing."""
    net = fl.Network(duration="1s")
    bad = 'x"[exec touch pwned]'
    net.link(bad, "$y;\\", name="l", rate="1Mbit/s", delay="1ms")
    net.flow("f", bad, "$y;\\", tcp="newreno")
    net.run(1, trace=fl.Trace(folder=tmp_path / "t", format="nam"))
    lines = (tmp_path / "t" / "seed=1.nam").read_text().splitlines()
    assert len(lines) > 100
    for line in lines:
        assert any(rule.fullmatch(line) for rule in GRAMMAR), line
    times = [float(line.split()[2]) for line in lines if line[0] in "+-hrd"]
    assert times == sorted(times), "nam wants them in the order of time"
