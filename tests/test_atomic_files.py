"""Folders and files get their names in one step: no kill leaves none, no two commands replace one another, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fairlane as fl
from conftest import started as fairlane
from fairlane.base import files, partial_files, rename
from fairlane.errors import FolderError

SMALL = """
duration = "1s"
name = "NAME"
links.l = { from = "a", to = "b", rate = "1Mbit/s", delay = "1ms" }
flows.f = { from = "a", to = "b", tcp = {} }
"""

KILLED = """
import os, signal, sys
from fairlane.base import files, rename
from fairlane.cli import main

def die(*_): os.kill(os.getpid(), signal.SIGKILL)

steps = int(sys.argv[1])
if sys.argv[2] == "two steps":
    rename._call = lambda: None
    files.exchange = lambda *_: False

def counted(of, name):
    real = getattr(of, name)
    def call(*args, **options):
        global steps
        done = real(*args, **options)
        steps -= 1
        if steps == 0: die()
        return done
    setattr(of, name, call)

import pathlib
counted(pathlib.Path, "rename")
counted(files, "exchange")
counted(files, "take_name")
counted(files.shutil, "rmtree")
sys.argv = ["fairlane", "run", sys.argv[3], "--out", "res", "--force", "-q"]
main()
"""


def scenario(folder: Path, name: str, duration: str = "1s") -> str:
    file = folder / f"{name}.toml"
    file.write_text(SMALL.replace("NAME", name).replace("1s", duration, 1))
    return file.name


def hidden(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.name.startswith(".") or p.name.endswith(".replaced"))


@pytest.mark.parametrize("way", ["one step", "two steps"])
@pytest.mark.parametrize("step", range(1, 7))
def test_a_kill_while_a_folder_is_replaced_leaves_one_of_both_whole(tmp_path, step, way):
    old, new = scenario(tmp_path, "old"), scenario(tmp_path, "new")
    assert fairlane("run", old, "--out", "res", "-q", cwd=tmp_path).returncode == 0
    done = subprocess.run([sys.executable, "-c", KILLED, str(step), way, new], cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.returncode != -signal.SIGKILL:  # fewer steps than that
        assert done.returncode == 0 and step > 2, done.stderr
    if way == "one step":
        assert (tmp_path / "res").is_dir()
    if not (tmp_path / "res").exists():
        # The old one is there for all to see, readers say where, and the next write gives it its name again.
        (aside,) = tmp_path.glob("res.*.replaced")
        assert fl.load(aside).description["name"] == "old"
        for command in (
            ["query", "res"],
            ["verify", "res"],
            ["plot", "res", "goodput"],
            ["report", "res"],
            ["export", "res", "flent", "-o", "x.flent"],
        ):
            output = fairlane(*command, cwd=tmp_path)
            assert (output.returncode, output.stderr.count("error:")) == (2, 1) and aside.name in output.stderr, (command, output.stderr)
        again = fairlane("run", new, "--out", "res", "-q", cwd=tmp_path)
        assert again.returncode == 2 and "res exists" in again.stderr
        assert fl.load(tmp_path / "res").description["name"] == "old"
    assert fl.load(tmp_path / "res").description["name"] in ("old", "new")
    assert fairlane("run", new, "--out", "res", "-q", "--force", cwd=tmp_path).returncode == 0
    assert fl.load(tmp_path / "res").description["name"] == "new"
    assert hidden(tmp_path) == []


def test_what_killed_runs_leave_is_cleared_by_the_next_write(tmp_path):
    file = scenario(tmp_path, "n")
    for _ in range(3):
        code = "import fairlane.runs.folder as f, os, signal; f.write_file = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        code += f"import sys; sys.argv = ['fairlane', 'run', '{file}', '--out', 'res', '-q']\nfrom fairlane.cli import main; main()"
        assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == -signal.SIGKILL
        assert len(hidden(tmp_path)) == 1, "what the one before left is gone"
    (tmp_path / ".res.abcdefgh.part").mkdir()  # of another program
    (tmp_path / ".res.00000000-0123456789.part").mkdir()  # of another machine
    assert fairlane("run", file, "--out", "res", "-q", cwd=tmp_path).returncode == 0
    assert hidden(tmp_path) == [".res.00000000-0123456789.part", ".res.abcdefgh.part"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    with files.staging(tmp_path / "res") as place, partial_files.hidden_file(tmp_path, "page") as (_, page):
        partial_files.clear(tmp_path)
        other = f"from fairlane.base.partial_files import clear; from pathlib import Path; clear(Path({str(tmp_path)!r}))"
        subprocess.run([sys.executable, "-c", other], check=True)
        assert place.is_dir() and page.is_file()
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("way", ["kernel", "no flags", "no links"])
def test_of_several_writers_of_one_name_one_has_it(tmp_path, monkeypatch, way):
    if way != "kernel":
        monkeypatch.setattr(rename, "_call", lambda: None)
    if way == "no links":
        monkeypatch.setattr(rename.os, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "Operation not permitted")))
    begin, won, lost = threading.Barrier(8), [], []

    def write(n: int, folder: bool) -> None:
        try:
            if folder:
                with files.replacing(tmp_path / "res") as temp:
                    (temp / "who").write_text(str(n))
                    begin.wait()
            else:
                begin.wait()
                files.save_bytes(tmp_path / "page", str(n).encode(), new=True)
            won.append((folder, n))
        except FolderError as e:
            lost.append(str(e))

    for folder in (True, False):
        threads = [threading.Thread(target=write, args=(n, folder)) for n in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert len(won) == 2 and len(lost) == 14 and all("is not replaced" in why for why in lost)
    assert (tmp_path / "res" / "who").read_text() == str(dict(won)[True])
    assert (tmp_path / "page").read_text() == str(dict(won)[False])
    assert hidden(tmp_path) == []


def test_runs_without_force_do_not_replace_one_another(tmp_path):
    code = "import sys, fairlane.runs.folder as f\nreal = f.dump_json\n"
    code += "def last(x):\n sys.stdout.write('ready\\n'); sys.stdout.flush(); sys.stdin.readline(); return real(x)\nf.dump_json = last\n"
    code += "from fairlane.cli import main\nsys.argv = ['fairlane', 'run', sys.argv[1], '--out', 'same', '-q']\nmain()"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, scenario(tmp_path, name)], cwd=tmp_path, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    assert [r.stdout.readline() for r in runs] == ["ready\n"] * 2, "both have found the name free"
    ends = [(r.communicate("\n")[1], r.returncode) for r in runs]
    assert ends[0] == ("", 0) and ends[1][1] == 2, ends
    assert ends[1][0].startswith("error: ") and "same was made by another program meanwhile" in ends[1][0]
    assert fl.load(tmp_path / "same").description["name"] == "one" and hidden(tmp_path) == []


def test_what_comes_in_the_place_of_a_result_meanwhile_is_kept(tmp_path, monkeypatch):
    file = scenario(tmp_path, "n")
    result = fl.run(tmp_path / file)
    result.save(tmp_path / "res")
    real = files.exchange

    def late(temp: Path, path: Path) -> bool:
        # Between the last check and the rename another process creates a folder there.
        if not (path / "mine").exists() and not (temp / "mine").exists():
            path.rename(tmp_path / "away")
            path.mkdir()
            (path / "mine").write_text("kept")
        return real(temp, path)

    monkeypatch.setattr(files, "exchange", late)
    with pytest.raises(FolderError, match="is not replaced"):
        result.save(tmp_path / "res", force=True)
    assert (tmp_path / "res" / "mine").read_text() == "kept"


def test_captures_do_not_replace_what_came_meanwhile_and_leave_nothing(tmp_path, monkeypatch):
    from fairlane.runs import pcap

    file = tmp_path / scenario(tmp_path, "n")
    net = fl.Network.from_file(file)
    monkeypatch.chdir(tmp_path)
    real = pcap.name_file

    def late(temp: Path, target: Path, **options: bool) -> None:
        target.write_text("mine")
        real(temp, target, **options)

    monkeypatch.setattr(pcap, "name_file", late)
    with pytest.raises(FolderError, match=r"l\.pcapng was made by another program meanwhile"):
        net.run(pcap={"l": "l.pcapng"})
    assert (tmp_path / "l.pcapng").read_text() == "mine" and hidden(tmp_path) == []
    net.run(pcap=fl.Pcap({"l": "l.pcapng"}, force=True))
    assert (tmp_path / "l.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a" and hidden(tmp_path) == []


def test_two_that_record_into_one_place_do_not_mix(tmp_path):
    from fairlane.runs.trace import recording_folder

    with recording_folder(tmp_path / "res") as place:
        place.mkdir()
        for force in (False, True):
            with pytest.raises(FolderError, match="unfinished"), recording_folder(tmp_path / "res", force=force):
                pass
        assert place.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_takes_nothing_of_others_with_it(tmp_path):
    """Two begin in a folder that neither found; the one that fails removes what it made, and no more."""
    with pytest.raises(ZeroDivisionError), files.replacing(tmp_path / "new" / "deep" / "a"):
        with files.replacing(tmp_path / "new" / "deep" / "b"):
            pass
        raise ZeroDivisionError
    assert [p.name for p in (tmp_path / "new" / "deep").iterdir()] == ["b"]
    from fairlane.study.store import opened

    with pytest.raises(FolderError, match="no"), opened(tmp_path / "other" / "a"):
        (tmp_path / "other" / "b").mkdir()
        raise FolderError("no")
    assert [p.name for p in (tmp_path / "other").iterdir()] == ["b"]


def test_names_as_long_as_the_file_system_takes(tmp_path):
    longest = os.pathconf(tmp_path, "PC_NAME_MAX")
    with files.replacing(tmp_path / ("f" * longest)) as temp:
        (temp / "x").touch()
    files.save_bytes(tmp_path / ("ä" * (longest // 2)), b"x", new=True)
    assert len(list(tmp_path.iterdir())) == 2
    result = fl.run(tmp_path / scenario(tmp_path, "n"))
    with pytest.raises(FolderError, match="cannot write"):
        result.save(tmp_path / ("f" * (longest + 1)))
