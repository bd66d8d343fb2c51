"""Any input ends the program cleanly: errors, special files, plug-ins that end the process, names with spaces."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

import fairlane as fl
from conftest import DUMBBELL
from conftest import started as fairlane
from fairlane import _core
from fairlane.base.files import read_input
from fairlane.base.paths import join, split
from fairlane.base.scenario import resolve
from fairlane.runs.document import json_chunks
from fairlane.runs.tables import columns
from fairlane.runs.terminal import run_report

SPACE = """
duration = "200ms"
[links."my link"]
from = "a"
to = "b"
rate = "1Mbit/s"
delay = "5ms"
[links."my.other"]
from = "b"
to = "c"
rate = "1Mbit/s"
delay = "5ms"
[flows."one flow"]
from = "a"
to = "c"
tcp = "sack"
"""
STUDY = """
name = "many"
scenario = "{base}"
metrics = ["network.jain"]
[factors]
"""


def refused(*args: str) -> str:
    """The message of a command that must refuse its input."""
    done = fairlane(*args)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == "" and "Traceback" not in done.stderr, done.stderr
    return done.stderr


# --- errors -----------------------------------------------------------------------------------------


def test_eight_thousand_errors_on_one_line_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({f"k{i}": 1 for i in range(8000)}))
    output = refused("run", str(file))
    assert output.count("error: ") == _core.MOST_TOLD
    # `duration` is missing besides.
    assert output.endswith(f"and {8000 + 1 - _core.MOST_TOLD:,} more\n")
    assert len(output) < 20_000 and max(map(len, output.splitlines())) < 200


def test_the_exception_has_the_first_and_the_count() -> None:
    text = "".join(f"k{i} = 1\n" for i in range(1000))
    with pytest.raises(fl.ScenarioError) as e:
        _core.resolve(text, "x.toml", "toml", [])
    assert len(e.value.diagnostics) == _core.MOST_TOLD
    assert e.value.more == 1001 - _core.MOST_TOLD


@pytest.mark.parametrize("kind", ["study", "tune", "paper"])
def test_other_files_count_their_errors_too(tmp_path: Path, kind: str) -> None:
    """A thousand unknown keys in each kind of file that is read in the words of scenarios."""
    lines = "".join(f"odd{i} = 1\n" for i in range(1000))
    if kind == "paper":
        folder = tmp_path / "p"
        assert fairlane("new", "paper", "p", cwd=tmp_path).returncode == 0
        file = folder / "paper.toml"
        file.write_text(lines + file.read_text())
        output = refused("reproduce", str(folder))
    else:
        file = tmp_path / "x.toml"
        file.write_text(lines)
        output = refused(kind, str(file))
    assert 1 <= output.count("error: ") <= _core.MOST_TOLD
    assert "more\n" in output and len(output) < 20_000


def test_a_study_of_bad_levels_counts_them(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(DUMBBELL)
    levels = ", ".join(f'"{i}Mbi"' for i in range(1, 400))
    file = tmp_path / "s.toml"
    file.write_text(STUDY.format(base="base.toml") + f'"links.bottleneck.rate" = [{levels}]\n')
    output = refused("study", str(file), "--out", str(tmp_path / "out"))
    assert output.count("error: ") <= _core.MOST_TOLD and output.endswith(f"and {399 - _core.MOST_TOLD} more\n"), output


def memory(text: str) -> int:
    """Most bytes that Python held while a text was refused."""
    tracemalloc.start()
    try:
        with pytest.raises(fl.ScenarioError):
            _core.resolve(text, "x.json", "json", [])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_errors_does_not_grow_with_their_number() -> None:
    few, many = (memory(json.dumps({f"k{i}": 1 for i in range(n)})) for n in (100, 20_000))
    assert many < 2 * few, (few, many)


# --- special files ----------------------------------------------------------------------------------


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe without a writer: opening it would block forever."""
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("command", [("run",), ("study",), ("tune",), ("compare", "--scenario"), ("script",), ("tc",)])
def test_pipes_devices_and_folders_are_refused(command: tuple[str, ...], pipe: Path) -> None:
    for path, word in ((str(pipe), "a pipe"), ("/dev/zero", "a device"), (str(pipe.parent), "directory")):
        if command == ("script",) and word == "directory":
            continue  # a folder stands for the scripts in it
        assert word in refused(*command, path)


@pytest.mark.parametrize("line", ['links.x.trace = "{}"', 'flows.f.source.replay.file = "{}"', 'flows.f.source.video.trace = "{}"'])
def test_data_from_pipes_and_devices_is_refused(line: str, pipe: Path, tmp_path: Path) -> None:
    text = 'duration = "1s"\nlinks.x = {{ from = "a", to = "b", {}delay = "1ms" }}\nflows.f = {{ from = "a", to = "b", udp = {{}} }}\n'
    rate = "" if "links" in line else 'rate = "1Mbit/s", '
    for path in (str(pipe), "/dev/zero", "/dev/stdin"):
        value = line.format(path).partition(" = ")
        with pytest.raises(fl.ScenarioError, match="not a file"):
            _core.resolve(text.format(rate), str(tmp_path / "x.toml"), "toml", [(value[0], value[2])])


def test_a_file_that_never_ends_is_read_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as f:
        f.truncate(10_000_000)
    with pytest.raises(fl.FairlaneError, match="larger than 9 MiB"):
        read_input(file, 9 << 20)
    assert len(read_input(file, 10 << 20)) == 10_000_000


def test_a_pipe_in_place_of_a_plug_in(pipe: Path) -> None:
    file = pipe.rename(pipe.with_suffix(".py"))
    assert "not found: give a Python file" in refused("run", "--plugin", str(file), "x.toml")


# --- plug-ins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys\nsys.exit(0)\n", "ends the program"),
        ("import sys\nsys.exit()\n", "ends the program"),
        ("class Own(BaseException): pass\nraise Own('no')\n", "Own: no"),
        ("raise GeneratorExit\n", "GeneratorExit"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("x = (\n", "SyntaxError"),
    ],
)
def test_a_plug_in_that_does_not_load_says_so(tmp_path: Path, code: str, expected: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(code)
    done = fairlane("run", "--plugin", str(file), "x.toml")
    assert done.returncode == 2 and done.stdout == ""
    assert expected in done.stderr and "own.py" in done.stderr
    # Nothing of ours between the message and the line at fault.
    assert "fairlane/own" not in done.stderr and "importlib" not in done.stderr


def test_ctrl_c_while_a_plug_in_loads_is_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("raise KeyboardInterrupt\n")
    assert fairlane("run", "--plugin", str(file), "x.toml").returncode == 130


def test_a_library_cut_short_is_refused(tmp_path: Path) -> None:
    whole = Path(_core.__file__).read_bytes()
    # Behind the segments that are loaded there may be as much again for a debugger.
    first, size, count = (*struct.unpack_from("<Q", whole, 32), *struct.unpack_from("<HH", whole, 54))
    headers = [struct.unpack_from("<I4xQ16xQ", whole, first + i * size) for i in range(count)]
    loaded = max(offset + length for kind, offset, length in headers if kind == 1)
    file = tmp_path / "cut.so"
    for part in (10, 64, 1000, loaded // 3, loaded * 2 // 3):
        file.write_bytes(whole[:part])
        # In a process of its own: it would be killed by a bus error.
        assert "incomplete" in refused("run", "--plugin", str(file), "x.toml")


NESTED = """
import fairlane as fl

class Nested(fl.Qdisc):
    \"\"\"Asks for a run while one is on.\"\"\"

    def start(self):
        self.waits = []

    def enqueue(self, packet):
        fl.run(FILE)
        self.waits.append(packet)

    def dequeue(self):
        return self.waits.pop(0) if self.waits else None
"""


def test_a_run_within_a_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(NESTED.replace("FILE", repr(str(tmp_path / "x.toml"))))
    (tmp_path / "x.toml").write_text(DUMBBELL)
    args = ("run", "--plugin", str(tmp_path / "own.py"), str(tmp_path / "x.toml"), "--set", "links.bottleneck.queue=Nested")
    done = fairlane(*args)
    assert done.returncode == 1
    assert "a plug-in cannot start a run within a run" in done.stderr and "fl.run(" in done.stderr


def test_a_run_may_begin_where_progress_is_told() -> None:
    """An error in the progress callback is not an error of the run."""
    inner: list[float] = []

    def progress(_fraction: float, _runs: int, _events: int) -> bool:
        if not inner:
            inner.append(fl.Network.from_toml(DUMBBELL).run().value("jain").mean)
        return True

    fl.Network.from_toml(DUMBBELL.replace('"5s"', '"3000s"')).run(progress=progress)
    assert inner and 0 < inner[0] <= 1
    assert threading.active_count() < 50


def test_a_script_that_ends_the_program_fails(tmp_path: Path) -> None:
    file = tmp_path / "x.pkt"
    file.write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 %{ raise SystemExit(0) }%\n")
    done = fairlane("script", str(file))
    assert done.returncode == 1 and "SystemExit" in done.stdout + done.stderr


# --- names ------------------------------------------------------------------------------------------


def test_paths_are_as_in_toml() -> None:
    assert split('links."a b.c".rate') == split("links.'a b.c'.rate") == ("links", "a b.c", "rate")
    for bad in ("", ".", "a.", "a..b", "a b", '"a', 'a"b"', '"a"b', '""', '"\\x"'):
        assert split(bad) is None, bad
    for names in (("links", "a b", "rate"), ("a.b", '"', "\\", "'"), ("µ", "\x01", "\x7f", "-_9")):
        assert split(join(names)) == names
        # The reader of scenarios means the same path.
        with pytest.raises(fl.ScenarioError) as e:
            _core.resolve('duration = "1s"\n', "x.toml", "toml", [(join(("links", *names)), "1")])
        assert all(d["code"] != "bad-path" for d in e.value.diagnostics)


def test_names_with_spaces_and_dots_are_addressed(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(SPACE)
    tree = resolve(file, {'links."my link".rate': "2Mbit/s", "links.'my.other'.queue": "red"})
    assert tree["links"]["my link"]["rate"] == "2Mbit/s" and "red" in tree["links"]["my.other"]["queue"]
    assert fairlane("run", str(file), "-q", "--set", 'links."my link".rate=2Mbit/s').returncode == 0
    assert "Transmission rate" in fairlane("explain", 'links."my link".rate').stdout
    compared = fairlane("compare", "--scenario", str(file), "--link", "my link", "--queues", "droptail,red", "--seeds", "1", "--json")
    assert compared.returncode == 0, compared.stderr
    net = fl.Network.from_file(file).replace('links."my link".rate', "3Mbit/s")
    assert resolve(net)["links"]["my link"]["rate"] == "3Mbit/s"


def test_a_mistake_shows_the_path_that_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(SPACE.replace('"5ms"', '"5m"'))
    output = refused("run", str(file))
    assert '(links."my link".delay)' in output and '(links."my.other".delay)' in output
    asked = refused("run", str(file), "--set", "links.my link.rate=1Mbit/s")
    assert "in quotes" in asked


def test_a_study_varies_a_link_with_a_space(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SPACE)
    file = tmp_path / "s.toml"
    paths = ['links."my link".rate = ["1Mbit/s", "2Mbit/s"]', """'links."my.other".delay' = ["1ms", "2ms"]"""]
    head = STUDY.format(base="base.toml").replace("network.jain", 'links."my link".utilisation'.replace('"', '\\"'))
    file.write_text(head + "\n".join(paths) + "\n")
    done = fairlane("study", str(file), "--out", str(tmp_path / "out"), "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"]["done"] == 4 * 10  # of each combination ten seeds


def test_the_checks_of_this_file_can_hang(pipe: Path) -> None:
    """Opening the pipe as any program would does wait: else the tests above would show nothing."""
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", f"open({str(pipe)!r})"], timeout=1, check=False)


# --- large results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", ["1", "1..3"])
def test_the_document_in_pieces_is_the_document(seeds: str) -> None:
    result = fl.Network.from_toml(DUMBBELL).run(seeds)
    assert json.loads("".join(json_chunks(result))) == json.loads(json.dumps(result.document()))
    assert max(map(len, json_chunks(result))) < 8000


def test_the_document_is_written_row_by_row() -> None:
    """Memory while writing a long table does not grow with its rows."""
    flows = {n: fl.Network.from_toml(DUMBBELL.replace("pairs = 3", f"pairs = {n}")).run() for n in (3, 300)}
    held = {}
    for n, result in flows.items():
        assert result.value("goodput").n == 1 and all(columns(result, table) for table in ("flows", "links"))  # copied once, on first use
        tracemalloc.start()
        written = sum(len(piece) for piece in json_chunks(result))
        held[n] = (tracemalloc.get_traced_memory()[1], written)
        tracemalloc.stop()
    assert held[300][1] > 30 * held[3][1]
    assert held[300][0] < held[300][1] / 4, held


def test_lists_of_all_parts_are_not_made_for_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fl.Network.from_toml(DUMBBELL).run()
    monkeypatch.setattr(type(result), "scenario", property(lambda _: pytest.fail("the lists of all nodes, links and flows")))
    assert "expanded" not in json.loads(result.to_json())["scenario"]
    assert run_report(result, 1.0)
