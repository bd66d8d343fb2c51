"""Ctrl-C while the code of a plug-in does not come back, and the limit of time for a run of a study."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import fairlane as fl
from fairlane.study import Study

ENOUGH = 60.0
"""Seconds after which a process that was to end is taken never to end; none of these tests waits so long where all is well."""

LOOP = """
import os, sys, time
import fairlane as fl

def endless(catching=()):
    open(os.environ["MARK"], "a").write("x")
    while True:
        try:
            while True:
                pass
        except catching:
            pass

class Loop(fl.Qdisc):
    "Loops."
    def start(self): self.q = []
    def enqueue(self, p): endless()
    def dequeue(self): return None

class Stubborn(Loop):
    "Loops, and continues after any error."
    def enqueue(self, p): endless(Exception)

class Late(fl.Qdisc):
    "Loops when a packet is to leave."
    def start(self): self.q = []
    def enqueue(self, p): self.q.append(p)
    def dequeue(self): endless()

class Begins(Loop):
    "Loops before the first packet, in a run only."
    def start(self):
        if os.environ.get("BEGINS"): endless()

class Window(fl.CongestionControl):
    "Loops at the first acknowledgment."
    def start(self): self.cwnd = 10 * self.mss
    def on_ack(self, s): endless()
    def on_congestion(self, e): pass
"""

SCENARIO = """
duration = "5s"
[links.l]
from = "a"
to = "b"
rate = "10Mbit/s"
delay = "5ms"
{queue}
[flows.f]
from = "a"
to = "b"
{tcp}
"""

STUDY = """
scenario = "s.toml"
seeds = "1..6"
metrics = ["network.goodput"]
plugins = ["loop.py"]
{limit}
"""


def scenario(queue: str = "loop", cc: str = "") -> str:
    tcp = f'tcp = {{ cc = "{cc}" }}' if cc else 'udp = {}\nsource.cbr = { rate = "1Mbit/s", size = "1000B" }'
    return SCENARIO.format(queue=f'queue = "{queue}"' if queue else "", tcp=tcp)


def write(folder: Path, text: str, limit: str = "") -> None:
    (folder / "loop.py").write_text(LOOP)
    (folder / "s.toml").write_text(text)
    (folder / "study.toml").write_text(STUDY.format(limit=limit))


def interrupted(folder: Path, arguments: list[str], times: int = 1, **more: str) -> subprocess.CompletedProcess[str]:
    """Starts Python, waits until the plug-in was entered so many times, and sends SIGINT once."""
    mark = folder / "mark"
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "MARK": str(mark), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        until(lambda: (mark.exists() and len(mark.read_text()) >= times) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=ENOUGH)
    finally:
        process.kill()
    return subprocess.CompletedProcess(arguments, process.returncode, out, error)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + ENOUGH
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


CLI = ["-m", "fairlane"]


@pytest.mark.parametrize("queue", ["loop", "stubborn", "late"])
@pytest.mark.parametrize("seeds", ["1", "1..4"])
def test_a_run_hears_of_it_in_a_queue(tmp_path, queue, seeds):
    write(tmp_path, scenario(queue))
    threads = ["--threads", "2"] if seeds != "1" else []
    done = interrupted(tmp_path, [*CLI, "run", "s.toml", "--plugin", "loop.py", "--seeds", seeds, *threads], 2 if threads else 1)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_run_hears_of_it_in_a_congestion_control(tmp_path):
    write(tmp_path, scenario("", "window"))
    done = interrupted(tmp_path, [*CLI, "run", "s.toml", "--plugin", "loop.py", "--seeds", "1..2", "--threads", "2"], 2)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_a_run_hears_of_it_where_a_queue_is_made(tmp_path):
    write(tmp_path, scenario("begins"))
    done = interrupted(tmp_path, [*CLI, "run", "s.toml", "--plugin", "loop.py"], BEGINS="1")
    assert done.returncode == 130, done.stderr


ADVANCE = """
import threading, fairlane as fl
from fairlane.own.plugin import load
load("loop.py")
sim = fl.start("s.toml")
try:
    sim.advance("1s")
except KeyboardInterrupt:
    try:
        sim.advance("1s")
    except fl.PluginError as e:
        assert "KeyboardInterrupt" in str(e)
        print("heard")
"""


@pytest.mark.parametrize(("queue", "cc"), [("loop", ""), ("", "window")])
def test_a_simulation_in_hand_hears_of_it(tmp_path, queue, cc):
    """It cannot resume in the middle of a call, and says so."""
    write(tmp_path, scenario(queue, cc))
    done = interrupted(tmp_path, ["-c", ADVANCE])
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")


@pytest.mark.parametrize("workers", [["--threads", "2"], ["--processes", "2"]])
def test_a_study_hears_of_it(tmp_path, workers):
    write(tmp_path, scenario())
    done = interrupted(tmp_path, [*CLI, "study", "study.toml", *workers], 2)
    assert (done.returncode, done.stdout) == (130, "")
    assert "0 of 6 runs are finished" in done.stderr


def test_an_executor_of_ones_own_is_free_again(tmp_path):
    write(tmp_path, scenario())
    code = """
import fairlane as fl
from concurrent.futures import ThreadPoolExecutor
from fairlane.study import Study
with ThreadPoolExecutor(2) as pool:
    try:
        Study.from_file("study.toml").run("out", executor=pool)
    except KeyboardInterrupt:
        print("heard", pool.submit(lambda: 7).result())
"""
    done = interrupted(tmp_path, ["-c", code], 2)
    assert (done.returncode, done.stdout) == (0, "heard 7\n")


def test_an_exception_that_comes_too_late_is_taken_back(tmp_path):
    """Interrupting a thread again and again while it calls short code never hits code that is not a plug-in's."""
    write(tmp_path, scenario())
    code = """
import threading, time, fairlane as fl
from fairlane import _core
class Short(fl.Qdisc):
    "A queue."
    def start(self): self.q = []
    def enqueue(self, p): self.q.append(p); time.sleep(0)
    def dequeue(self): return self.q.pop(0) if self.q else None
net = fl.Network(duration="2s").link("a", "b", rate="10Mbit/s", delay="1ms", queue="short").flow("f", "a", "b", tcp={})
heard, over, ready = [], [], threading.Event()
def work():
    own = threading.get_ident()
    heard.append(own); ready.set()
    for _ in range(20):
        try:
            net.start().advance("2s")
        except (KeyboardInterrupt, fl.FairlaneError):
            over.append("stopped")
    total = sum(range(100_000))
    over.append("end")
t = threading.Thread(target=work); t.start(); ready.wait()
while t.is_alive():
    _core.interrupt(heard)
    t.join(0.001)
print(over[-1], over.count("stopped") > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=ENOUGH)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end True\n", "")


# --- a limit of time for a run ------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [["--threads", "2"], ["--processes", "2"]])
def test_a_run_that_takes_too_long_fails_and_says_so(tmp_path, workers):
    """In the terminal, in the document and in the page; a loop of a plug-in counts like any other."""
    write(tmp_path, scenario(), 'run_limit = "200ms"')
    env = {**os.environ, "MARK": str(tmp_path / "mark")}
    run = [sys.executable, *CLI, "study", "study.toml", *workers]
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=ENOUGH)
    message = "6 x Limit: it took longer than the run_limit of 0.2 s: stopped at 0 % of its simulated time"
    assert done.returncode == 1 and message in " ".join(done.stdout.split()), done.stdout + done.stderr
    assert "it took longer than the run_limit of 0.2 s" in (tmp_path / "results" / "study" / "index.html").read_text("utf-8")
    # Run again, it tries again.
    done = subprocess.run([*run, "--json"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=ENOUGH)
    document = json.loads(done.stdout)
    assert document["runs"] == {"planned": 6, "done": 0, "reused": 0, "failed": 6}
    assert {(f["kind"], f["error"].split(":")[0]) for f in document["failures"]} == {
        ("Limit", "it took longer than the run_limit of 0.2 s")
    }
    assert len((tmp_path / "mark").read_text()) >= 12


def test_a_limit_stops_a_long_run_and_is_no_part_of_a_result(tmp_path):
    """A run of the engine alone is stopped, too; without the limit the same runs are made, and then are found with any limit."""
    net = fl.Network(duration="20000s").link("a", "b", rate="1Gbit/s", delay="1ms").flow("f", "a", "b", tcp={})

    def study(limit: str | None, duration: str = "20000s") -> Study:
        return Study(net, set={"duration": duration}, seeds="1..2", metrics=["network.goodput"], run_limit=limit)

    late = study("50ms").run(tmp_path / "long", threads=2)
    assert [f["kind"] for f in late.failures.to_dicts()] == ["Limit", "Limit"]
    assert late.failures["error"][0].startswith("it took longer than the run_limit of 0.05 s: stopped at ")
    made = study(None, "1s").run(tmp_path / "short", threads=2)
    again = study("1h", "1s").run(tmp_path / "short", threads=2)
    assert made.failures.is_empty() and again.tally is not None and again.tally.reused == 2


@pytest.mark.parametrize("limit", ["0s", "1ms", "soon"])
def test_limits_that_are_none(limit):
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", tcp={})
    with pytest.raises(fl.ScenarioError, match="run_limit"):
        Study(net, seeds=1, metrics=["network.goodput"], run_limit=limit)
