"""The command line: documents, exit codes, signals, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

import fairlane as fl
from conftest import shown_on
from conftest import started as fairlane
from fairlane.base.document import json_schema
from fairlane.cli import invoke


def document(*args: str, **options):
    done = fairlane(*args, **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_version():
    done = fairlane("--version")
    assert done.stdout == f"fairlane {fl.__version__}\n"


@pytest.mark.parametrize("seeds", ["1", "1..3"])
def test_run_document_follows_its_schema(dumbbell, seeds):
    doc = document("run", str(dumbbell), "--json", "--seeds", seeds)
    jsonschema.validate(doc, json_schema("run"))
    n = len(doc["seeds"])
    assert len(doc["fingerprints"]) == n
    assert [f["name"] for f in doc["flows"]] == ["tcp.0", "tcp.1", "udp"]
    assert {"bottleneck", "bottleneck.reverse"} <= {link["name"] for link in doc["links"]}
    value = doc["flows"][0]["goodput"]
    assert value["n"] == n
    assert (value["low"] is None) == (n == 1)
    assert doc["units"]["goodput"] == "bit/s"
    assert "expanded" not in doc["scenario"]
    # Every metric of the tables has its unit.
    named = {k for table in ("flows", "links", "network") for k in doc[table][0]} - {"name", "from", "to", "transport"}
    assert named <= doc["units"].keys()


def test_the_scenario_of_the_document_runs_again(dumbbell):
    doc = document("run", str(dumbbell), "--json")
    again = dumbbell.parent / "again.json"
    again.write_text(json.dumps(doc["scenario"]))
    assert document("run", str(again), "--json")["fingerprints"] == doc["fingerprints"]


def test_goodputs_are_what_the_link_allows(dumbbell):
    doc = document("run", str(dumbbell), "--json")
    total = sum(f["goodput"]["mean"] for f in doc["flows"])
    assert 3e6 < total < 5e6
    (used,) = (link["utilisation"]["mean"] for link in doc["links"] if link["name"] == "bottleneck")
    assert 0.7 < used <= 1.001
    assert doc["flows"][2]["goodput"]["mean"] == pytest.approx(1e6, rel=0.2)


def test_human_output(dumbbell):
    done = fairlane("run", str(dumbbell), "--seeds", "1..3")
    assert done.returncode == 0
    assert "Mbit/s" in done.stdout and "±" in done.stdout and "bottleneck" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert fairlane("run", str(dumbbell), "--quiet").stdout == ""


def test_set_reaches_links_of_the_builder(dumbbell):
    doc = document("run", str(dumbbell), "--json", "--set", "links.bottleneck.queue.droptail.limit=5p", "--set", "duration=2s")
    assert doc["scenario"]["duration"] == "2s"
    (row,) = (link for link in doc["links"] if link["name"] == "bottleneck")
    assert row["queue_max"]["mean"] <= 5


def test_plots_and_folder(dumbbell):
    where = dumbbell.parent
    done = fairlane("run", dumbbell.name, "--plot", "cwnd.svg", "--plot", "queue.png", "--plot", "goodput.pdf", "--out", "out", cwd=where)
    assert done.returncode == 0, done.stderr
    assert (where / "cwnd.svg").read_text().startswith("<?xml")
    assert (where / "queue.png").read_bytes().startswith(b"\x89PNG")
    assert (where / "goodput.pdf").read_bytes().startswith(b"%PDF")
    manifest = json.loads((where / "out" / "manifest.json").read_text())
    assert {"scenario.json", "scenario.toml", "run.json", "flows.parquet", "links.parquet", "network.parquet"} <= manifest["files"].keys()


def test_the_same_run_draws_the_same_figure(dumbbell):
    where = dumbbell.parent
    for name in ("a", "b"):
        (where / name).mkdir()
        assert fairlane("run", str(dumbbell), "--plot", f"{name}/cwnd.svg", cwd=where).returncode == 0
    assert (where / "a" / "cwnd.svg").read_bytes() == (where / "b" / "cwnd.svg").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "red",
        "RED",
        "red.min",
        "newreno",
        "dumbbell",
        "bulk",
        "goodput",
        "ns2",
        "duration",
        "links.x.queue",
        "links.bottleneck.queue.red.min",
        "flows.tcp.tcp",
    ],
)
def test_explain(name):
    done = fairlane("explain", name)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip().splitlines()) >= 2
    assert json.loads(fairlane("explain", name, "--json").stdout)


def test_explain_fills_the_lines_of_a_paragraph():
    title, *text = fairlane("explain", "web").stdout.split("  also called")[0].splitlines()
    assert title == "web (source)" and text[1].startswith("describe them. A transaction is the loading of a page")


def test_explain_shows_unit_default_range_and_source():
    out = fairlane("explain", "red").stdout
    for word in ("parameter", "default", "range", "min", "max_p", "Floyd"):
        assert word in out


def test_the_manual_is_what_the_commands_say(root):
    from fairlane.cli.manual import page

    file = root / "docs" / "reference" / "cli.md"
    assert file.read_text("utf-8") == page(), "run: python -m fairlane.cli.manual > docs/reference/cli.md"


def test_the_page_of_documents_is_what_the_schemas_say(root):
    from fairlane.base.documents_manual import ORDER, page

    file = root / "docs" / "reference" / "json.md"
    assert file.read_text("utf-8") == page(), "run: python -m fairlane.base.documents_manual > docs/reference/json.md"
    schemas = {p.stem for p in (root / "python" / "fairlane" / "schemas").glob("*.json")}
    own = {"card-file", "claims-file", "paper-file", "reproduction", "study-file", "tune-file"}
    assert schemas - set(ORDER) == own, "these have pages of their own"


def test_help_fits_a_terminal_and_is_not_cut():
    import click
    from click.testing import CliRunner

    from fairlane.cli.commands import cli

    def paths(command: click.Command, at: tuple[str, ...]) -> list[tuple[str, ...]]:
        inner = getattr(command, "commands", {})
        return [at, *(p for name, c in inner.items() for p in paths(c, (*at, name)))]

    for path in paths(cli, ()):
        shown = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80).output
        assert max(map(len, shown.splitlines())) <= 80, shown
        assert "..." not in shown.partition("Commands:")[2], "a sentence is cut"


def test_lists():
    assert "queue: droptail, red" in fairlane("explain").stdout
    assert "droptail" in document("explain", "--json")["queue"]
    listed = fairlane("reproduce").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [*document("reproduce", "--json"), "all"]
    assert "DropTail and RED in a fast LAN" in listed


@pytest.mark.parametrize("which", ["scenario", "run", "bench", "bench-queues", "bench-growth", "compare", "draw", "reproduction", "tc"])
def test_schemas_are_schemas(which):
    schema = document("schema", which)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_the_schema_accepts_the_examples(root):
    import tomllib

    schema = json_schema("scenario")
    for path in sorted(root.glob("examples/*.toml")):
        jsonschema.validate(tomllib.loads(path.read_text()), schema)


def test_doctor():
    done = fairlane("doctor", "--json")
    report = json.loads(done.stdout)
    assert report["ok"] and done.returncode == 0, report
    assert {"python", "extension", "trial run", "threads", "write access", "ns", "tshark"} <= {c["check"] for c in report["checks"]}
    assert fairlane("doctor").returncode == 0


def test_bench_document():
    doc = document("bench", "P5", "--json")
    jsonschema.validate(doc, json_schema("bench"))
    (row,) = doc["results"]
    assert row["scenario"] == "P5" and row["packet_hops"] > 100_000
    assert row["ns_per_packet_hop"] == pytest.approx(row["cpu_s"] * 1e9 / row["packet_hops"])


def test_bench_queues_document():
    doc = document("bench", "queues", "CoDel", "--json")
    jsonschema.validate(doc, json_schema("bench-queues"))
    droptail, codel = doc["queues"]
    assert (droptail["queue"], codel["queue"]) == ("droptail", "codel")
    assert droptail["hop_ratio"] == 1.0
    assert codel["hop_ratio"] == pytest.approx(codel["hop_ns"] / droptail["hop_ns"])
    # At a steady backlog below every limit nothing is lost, so that storing is measured.
    assert codel["packets"] >= doc["packets"] and codel["drops"] == 0 and codel["ns"] > 0


def test_bench_growth_document():
    doc = document("bench", "growth", "droptail", "--json")
    jsonschema.validate(doc, json_schema("bench-growth"))
    (row,) = doc["results"]
    assert row["case"] == "droptail" and row["sizes"] == ["100 flows", "1000 flows", "10000 flows"]
    assert row["ratio"] == pytest.approx(row["ns"][2] / row["ns"][0])


def test_every_tcp_and_queue_has_a_growth():
    from fairlane.base.choices import known
    from fairlane.bench.growth import cases

    assert set(cases()) == {"rate", "starts", *known("cc").values(), *known("queue").values()}


def test_bench_of_a_queue_that_is_not_there():
    done = fairlane("bench", "queues", "codl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown queue 'codl': did you mean 'codel'" in done.stderr


LIFO = """
import fairlane as fl

class Lifo(fl.Qdisc):
    \"\"\"Last in, first out.\"\"\"

    limit = fl.Parameter("20p", "What waits.")
    reorders = True

    def start(self):
        self.stack = []

    def enqueue(self, packet):
        self.stack.append(packet)
        if len(self.stack) > self.limit.packets:
            self.drop(self.stack.pop())

    def dequeue(self):
        if self.now > 2.5:
            raise RuntimeError("tired")
        return self.stack.pop() if self.stack else None
"""


def test_queues_of_ones_own(dumbbell):
    where = dumbbell.parent
    (where / "lifo.py").write_text(LIFO)
    own = ("--plugin", "lifo.py")
    done = fairlane("run", dumbbell.name, *own, "--set", "links.bottleneck.queue=Lifo", "--set", "duration=2s", cwd=where)
    assert (done.returncode, done.stderr) == (0, "")
    assert "What waits." in fairlane("explain", "Lifo", *own, cwd=where).stdout
    assert "Lifo" in fairlane("explain", *own, cwd=where).stdout
    args = ("--scenario", dumbbell.name, "--queues", "Lifo{limit=9p},droptail{limit=9p}", "--set", "duration=2s", "--seeds", "1", "--json")
    compared = document("compare", *own, *args, cwd=where)
    assert [q["link"]["queue_max"]["mean"] <= 9 for q in compared["settings"]] == [True, True]
    output = fairlane("tc", dumbbell.name, "bottleneck", *own, "--set", "links.bottleneck.queue=Lifo", cwd=where)
    assert (output.returncode, "Linux does not have Lifo" in output.stdout) == (0, True)
    # Its faults are those of the run, not of the command line: the traceback, the simulated time, exit code 1.
    done = fairlane("run", dumbbell.name, *own, "--set", "links.bottleneck.queue=Lifo", cwd=where)
    assert (done.returncode, done.stdout) == (1, "")
    assert "tired" in done.stderr and "2.5" in done.stderr and "lifo.py" in done.stderr
    for bad, output in (("nope.py", "nope.py"), (dumbbell.name, "is not a plug-in")):
        done = fairlane("run", dumbbell.name, "--plugin", bad, cwd=where)
        assert (done.returncode, done.stdout) == (2, "") and output in done.stderr


def start(*args: str, **options) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-m", "fairlane", *args], **pipes)


def wait_for_threads(pid: int, count: int) -> None:
    """Until a process has so many threads: its runs have begun."""
    tasks = Path(f"/proc/{pid}/task")
    deadline = time.monotonic() + 30
    while tasks.exists() and len(list(tasks.iterdir())) < count and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see when the runs have begun")
def test_interrupt_stops_within_a_second(dumbbell):
    args = ("run", str(dumbbell), "--set", "duration=20000s", "--seeds", "1..4", "--threads", "2", "--out", str(dumbbell.parent / "out"))
    with start(*args) as child:
        wait_for_threads(child.pid, 4)  # main, the one that hands out runs, two that run
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, err = child.communicate(timeout=30)
        took = time.monotonic() - sent
    assert (child.returncode, out, err) == (130, "", "interrupted\n")
    assert took < 1.0 or os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    assert [p.name for p in dumbbell.parent.iterdir()] == [dumbbell.name]


def test_closed_pipe_is_silent(dumbbell):
    read, write = os.pipe()
    with start("run", str(dumbbell), "--json", stdout=write) as child:
        os.close(write)
        os.close(read)
        _, err = child.communicate(timeout=60)
    assert err == ""
    assert child.returncode == 141


def test_progress_is_drawn_on_a_terminal_only(dumbbell):
    pty = pytest.importorskip("pty")
    main, side = pty.openpty()
    with start("run", str(dumbbell), "--set", "duration=3000s", "--json", stderr=side) as child:
        os.close(side)
        out = child.stdout.read()
        shown = shown_on(main)
    assert json.loads(out)["schema"] == "fairlane.run/1"
    assert b"running [" in shown and b"%" in shown
    assert shown.endswith(b"\x1b[2K")


@pytest.mark.parametrize("columns", [80, 40])
def test_no_line_of_the_progress_is_wider_than_the_terminal(columns, dumbbell):
    """A line that wraps leaves its first row behind."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    dumbbell.write_text(dumbbell.read_text().replace("[flows.tcp]", "[flows.a_group_of_flows_with_a_long_name]"))
    queues = ",".join(f"droptail{{limit={n}p}}" for n in range(20, 40))
    with start(
        "compare", "--scenario", str(dumbbell), "--queues", queues, "--duration", "60s", "--seeds", "9", "--json", stderr=side
    ) as child:
        os.close(side)
        child.stdout.read()
        lines = shown_on(main).decode().split("\r\x1b[2K")
    assert len(lines) > 2 and max(map(len, lines)) < columns


def test_the_name_of_a_scenario_stays_on_its_line(dumbbell, capsys):
    dumbbell.write_text(dumbbell.read_text().replace('"small dumbbell"', '"p\\nq\\u001b[31m\\tz"'))
    for command in (["run", str(dumbbell)], ["compare", "--scenario", str(dumbbell), "--queues", "droptail,red", "--seeds", "1..2"]):
        assert invoke([*command, "--set", "duration=2s"]) == 0
        assert capsys.readouterr().out.startswith("p\\nq\\x1b[31m\\tz: 2s")
