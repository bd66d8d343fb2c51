"""`fairlane top`: its values are those of the run; it follows keys and the size of the terminal."""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from importlib.resources import files

import jsonschema
import pytest

import fairlane as fl
from conftest import ROOT, fairlane
from fairlane.runs.top import Top, sheets

pty = pytest.importorskip("pty")
QUICK = str(ROOT / "examples" / "quickstart.toml")


def test_the_document_is_the_run_and_fits_its_schema():
    done = fairlane("top", QUICK, "--set", "duration=12s", "--every", "3s", "--seed", "2", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((files("fairlane") / "schemas" / "top.json").read_text()))
    assert [look["time"] for look in document["looks"]] == [0, 3, 6, 9, 12]
    run = fl.run(QUICK, seed=2, sets={"duration": "12s"})
    assert document["fingerprint"] == run.fingerprints[0]
    # What left a queue between two looks is what the link carried, and no more than it can.
    for look in document["looks"][1:]:
        for link in look["links"]:
            assert link["rate"] is None or 0 <= link["rate"] <= link["capacity"] * 1.01
    last = {x["name"]: x for x in document["looks"][-1]["links"]}
    drops = dict(zip(run.links["link"], run.links["drops"], strict=True))
    assert {name: x["drops"] for name, x in last.items()} == drops
    assert all(f["cwnd"] > 0 and f["srtt"] > 0 for f in document["looks"][-1]["flows"])


def test_rates_of_links_across_the_warm_up():
    """Counters of links restart there; what they carried since then is known from two other snapshots."""
    sim = fl.start(QUICK, 2)
    top = Top(sim)
    rates = {}
    for at in (8, 12, 16):
        sim.advance(f"{at - sim.time:g}s")
        rates[at] = {x.name: x.rate for x in top.look().links}
    again, late = fl.start(QUICK, 2), None
    again.advance("10s")
    late = Top(again)
    late.look()
    again.advance("2s")
    assert rates[8]["bottleneck"] is None and rates[12] == {x.name: x.rate for x in late.look().links}
    assert all(0 <= rate <= 1.01 * again._core.queue(i)["link"]["rate"] for i, rate in enumerate(rates[12].values()))


def test_rows_keep_their_places_and_idle_links_are_left_out():
    sim = fl.start(str(ROOT / "examples" / "lessons" / "red" / "scenario.toml"))
    top = Top(sim)
    seen: list[list[str]] = []
    for _ in range(8):
        sim.advance("2s")
        links, flows = (sheet.rows for sheet in sheets(top.look(), 40))
        assert [row[0] for row in flows] == list(sim.flows)
        seen.append([row[0] for row in links])
        queued = {x.name for x in top.look().links if x.most or x.drops}
        assert set(seen[-1]) == queued | {"bottleneck"} and len(queued) < len(sim.links)
    order = {name: i for i, name in enumerate(sim.links)}
    assert all(names == sorted(names, key=order.__getitem__) for names in seen)
    assert all(set(a) <= set(b) for a, b in itertools.pairwise(seen)), "a row stays"
    heads = sheets(top.look())[0].heads
    (red,) = (x for x in top.look().links if x.name == "bottleneck")
    assert heads[:3] == ["queue", "packets", "average"] and red.average is not None and 0 < red.average < 30


@pytest.mark.parametrize("columns", ["80", "50", "200"])
def test_a_pipe_gets_plain_tables_that_fit(columns):
    options = ["--set", "duration=6s", "--set", "warmup=1s", "--every", "2s"]
    command, env = [sys.executable, "-m", "fairlane", "top", QUICK, *options], {**os.environ, "COLUMNS": columns}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and max(map(len, done.stdout.splitlines())) <= int(columns)
    assert len(re.findall(r"6 s, seed 1", " ".join(done.stdout.split()))) == 4 and "bottleneck" in done.stdout


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--speed", "fast"], "cannot read --speed 'fast'"),
        (["--every", "0s"], "--every must be above 0"),
        (["--every", "2"], "2"),
        (["--every", "1us"], "gives more than 100000 tables"),
        (["--set", "links.bottleneck.rate=fast"], "fast"),
    ],
)
def test_mistakes(options, text):
    done = fairlane("top", QUICK, *options)
    assert done.returncode == 2 and text in done.stderr and "Traceback" not in done.stderr and not done.stdout


class Terminal:
    """`top` on a terminal."""

    def __init__(self, *options: str, size: tuple[int, int] = (24, 80), file: str = QUICK, **env: str) -> None:
        self.main, side = pty.openpty()
        self.resize(*size)
        command = [sys.executable, "-m", "fairlane", "top", file, "--set", "warmup=1s", *options]
        of = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")} | {"TERM": "xterm-256color"} | env
        self.child = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=of, start_new_session=True)
        os.close(side)
        self.seen = b""

    def resize(self, rows: int, columns: int) -> None:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, pattern: str, limit: float = 60.0) -> str:
        """Returns the output from here on up to the match."""
        end, begun = time.monotonic() + limit, len(self.seen)
        while not re.search(pattern.encode(), self.seen[begun:]):
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.main], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.main, 65536)
                except OSError:
                    break
        return self.seen[begun:].decode(errors="replace")

    def press(self, keys: str) -> None:
        os.write(self.main, keys.encode())

    def end(self) -> int:
        try:
            while select.select([self.main], [], [], 10)[0] and (got := os.read(self.main, 65536)):
                self.seen += got
        except OSError:
            pass
        os.close(self.main)
        return self.child.wait(30)


def test_keys_pause_step_and_quit():
    t = Terminal("--set", "duration=600s", "--speed", "0.1", "--step", "5s")
    assert "bottleneck" in t.until("q quit")
    t.press(" ")
    assert "paused" in t.until("paused")
    t.press("s")
    shown = t.until(r"[5-9]\.\d{3} s of 600 s")
    t.press("s")
    t.until(r"1\d\.\d{3} s of 600 s")
    t.press("m ")
    t.until("full speed")
    t.press("q")
    assert t.end() == 0
    text = t.seen.decode(errors="replace")
    # The previous screen is back, with the last snapshot on it.
    assert text.count("\x1b[?1049h") == text.count("\x1b[?1049l") == 1
    assert "of 600 s, seed 1" in text.rpartition("\x1b[?1049l")[2] and shown


def test_at_the_end_it_waits_for_q_and_follows_the_size():
    t = Terminal("--set", "duration=6s", "--speed", "max", NO_COLOR="1")
    t.until(r"\] finished")
    assert not re.search(rb"\x1b\[3[0-9]", t.seen), "no colour where NO_COLOR is set"
    t.resize(12, 50)
    # The name is shortened to what is left of the line.
    assert t.until("…", limit=20)
    t.press("q")
    assert t.end() == 0


def test_the_head_line_is_whole_at_80_columns(tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(
        (ROOT / "examples" / "quickstart.toml")
        .read_text()
        .replace('name = "', 'name = "a name that is far too long for one line of a terminal, ')
    )
    t = Terminal("--set", "duration=600s", "--speed", "0.1", file=str(file))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", t.until("q quit"))
    head = next(line for line in shown.splitlines() if "seed" in line)
    assert (
        re.search(r"^a name that is .*\u2026: \d+\.\d{3} s of 600 s, seed 1 \[[#.]+\] 0\.1 s per second\s*$", head)
        and len(head.rstrip()) <= 80
    )
    t.press("q")
    assert t.end() == 0


def test_ctrl_c_leaves_the_terminal_as_it_was():
    t = Terminal("--set", "duration=600s", "--speed", "1")
    t.until("q quit")
    t.child.send_signal(signal.SIGINT)
    assert t.end() in (130, -2)
    text = t.seen.decode(errors="replace")
    assert "\x1b[?1049l" in text and "\x1b[?25h" in text and "Traceback" not in text
