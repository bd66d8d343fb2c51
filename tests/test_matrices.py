"""Demand matrices over time, as in SNDlib's archives of dynamic traffic, as traffic of a network."""

from __future__ import annotations

import io
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.graphs import matrices

# The files of "directed-abilene-zhang-5min-over-6months-ALL-native.tgz" are such.
NATIVE = """?SNDlib native format; type: network; version: 1.0
# network demandMatrix-abilene-zhang-5min-20040301-{time}

META (
  granularity = 5min
  time = 20040301-{time}
  unit = MBITPERSEC
  origin = http://www.cs.utexas.edu/~yzhang/
)

NODES (
  A ( -84.3833 33.7500 )
  B ( -87.6167 41.8333 )
  C ( -104.9167 39.7500 )
)

LINKS ( )

DEMANDS (
  A_B ( A B ) 1 {ab} UNLIMITED
  B_C ( B C ) 1 {bc} UNLIMITED
  C_A ( C A ) 1 0.00 UNLIMITED
)
"""
XML = """<?xml version="1.0"?><network xmlns="http://sndlib.zib.de/network"><meta><time>20040301-{time}</time><unit>MBITPERSEC</unit></meta>
<networkStructure><nodes><node id="A"/><node id="B"/><node id="C"/></nodes></networkStructure><demands>
<demand id="A_B"><source>A</source><target>B</target><demandValue>{ab}</demandValue></demand>
<demand id="B_C"><source>B</source><target>C</target><demandValue>{bc}</demandValue></demand></demands></network>"""
GRAPH = "from,to,rate,delay\nA,B,10Mbit/s,1ms\nB,C,10Mbit/s,1ms\n"
VALUES = [("0000", 4, 0.5), ("0005", 0.25, 0.5), ("0010", 2, 0)]


def files(text: str, ending: str) -> dict[str, bytes]:
    # The order of an archive is not that of time.
    return {
        f"demandMatrix-abilene-zhang-5min-20040301-{time}.{ending}": text.format(time=time, ab=ab, bc=bc).encode()
        for time, ab, bc in reversed(VALUES)
    }


def archive(path: Path, members: dict[str, bytes]) -> str:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as z:
            for name, data in members.items():
                z.writestr(f"x/{name}", data)
    elif path.suffix == ".tgz":
        with tarfile.open(path, "w:gz") as t:
            for name, data in members.items():
                info = tarfile.TarInfo(f"x/{name}")
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
    else:
        path.mkdir()
        for name, data in members.items():
            (path / name).write_bytes(data)
    return str(path)


@pytest.mark.parametrize("kind", ["m.zip", "m.tgz", "m"])
@pytest.mark.parametrize(("text", "ending"), [(NATIVE, "txt"), (XML, "xml")])
def test_matrices_come_in_the_order_of_time(tmp_path, kind, text, ending):
    found, notes = matrices.read_matrices(archive(tmp_path / kind, files(text, ending)), ["A", "B", "C"])
    assert [m.label for m in found] == [f"20040301-{time}" for time, *_ in VALUES] and not notes
    rates = [[(d["from"] + d["to"], d["rate"]) for d in m.demands] for m in found]
    assert rates == [
        [("AB", "4000000bit/s"), ("BC", "500000bit/s")],
        [("AB", "250000bit/s"), ("BC", "500000bit/s")],
        [("AB", "2000000bit/s")],
    ]
    found, notes = matrices.read_matrices(str(tmp_path / kind), ["A", "B"], first=1, most=1)
    assert [m.label for m in found] == ["20040301-0005"] and [len(m.demands) for m in found] == [1]
    assert any("left out: 'C'" in n for n in notes) and any("1 of the 3" in n for n in notes)


def test_each_matrix_holds_for_its_period(tmp_path):
    """Throughput of a pair in each period: the demand, within four standard errors of Poisson packets of 1028 bytes."""
    (tmp_path / "net.csv").write_text(GRAPH)
    archive(tmp_path / "m.tgz", files(NATIVE, "txt"))
    done = fairlane("new", "network", "net.csv", "x.toml", "--traffic", "m.tgz", "--period", "5s", cwd=tmp_path)
    assert done.returncode == 0 and "3 matrices from 20040301-0000 to 20040301-0010, 5s each" in done.stdout, done.stderr
    tree = tomllib.loads((tmp_path / "x.toml").read_text())
    assert tree["duration"] == "15s" and [tree["flows"][f"demands{i}"]["start"] for i in range(3)] == ["0s", "5s", "10s"]
    result = fl.run(tmp_path / "x.toml", seeds=1)
    sent = {row["flow"]: row["packets_sent"] for row in result.flows.to_dicts()}
    for flow, mbit in (("demands0.A-B", 4), ("demands1.A-B", 0.25), ("demands2.A-B", 2), ("demands0.B-C", 0.5)):
        expected = mbit * 1e6 * 5 / 8 / 1028
        assert abs(sent[flow] - expected) < 4 * expected**0.5 + 1, (flow, sent[flow], expected)
    assert "demands2.B-C" not in sent


def test_mistakes_are_one_line(tmp_path):
    (tmp_path / "net.csv").write_text(GRAPH)
    archive(tmp_path / "m", files(NATIVE, "txt"))
    archive(tmp_path / "unit", {"a.txt": NATIVE.replace("  unit = MBITPERSEC\n", "").format(time="0000", ab=1, bc=1).encode()})
    archive(tmp_path / "none", {"a.dat": b""})
    (tmp_path / "bad.tgz").write_bytes(b"\x1f\x8bnothing")
    for options, message in (
        (["--traffic", "nowhere"], "cannot read nowhere"),
        (["--traffic", "bad.tgz"], "folder or an archive"),
        (["--traffic", "none"], "has no matrix"),
        (["--traffic", "unit"], "unit of its demands"),
        (["--traffic", "m", "--period", "soon"], "period"),
        (["--traffic", "m", "--matrices", "3:1"], "none from number 3"),
        (["--traffic", "m", "--matrices", "all"], "a first number and a count"),
    ):
        done = fairlane("new", "network", "net.csv", "y.toml", *options, cwd=tmp_path)
        assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr, (options, done.stderr)
        assert not (tmp_path / "y.toml").exists()
