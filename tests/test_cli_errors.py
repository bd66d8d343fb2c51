"""Bad input: one clear error on stderr, exit code 2, nothing on stdout, nothing written."""

from __future__ import annotations

import json
import os
import re
import resource

import pytest

from conftest import DUMBBELL, fairlane

LINKS = """
duration = "1s"
[links.x]
from = "a"
to = "b"
rate = "1Mbit/s"
delay = "5ms"
[flows.tcp]
from = "a"
to = "b"
tcp = "newreno"
"""


def changed(old: str, new: str) -> str:
    assert old in LINKS
    return LINKS.replace(old, new)


# Name: the scenario, the line the error must point at (None: no line), what the message must say.
BAD = {
    "unknown key": (changed('delay = "5ms"', 'delai = "5ms"'), 7, r"delai.*(delay)"),
    "unknown top-level key": ('durration = "1s"\n' + LINKS, 1, r"durration.*duration"),
    "unknown algorithm": (changed('delay = "5ms"', 'delay = "5ms"\nqueue = "redd"'), 8, r"redd.*red"),
    "unknown parameter": (changed('delay = "5ms"', 'delay = "5ms"\nqueue.red = { minn = "5p" }'), 8, r"minn.*min"),
    "unknown preset": (changed('tcp = "newreno"', 'tcp = { preset = "ns3000" }'), 11, r"ns3000"),
    "wrong unit": (changed('rate = "1Mbit/s"', 'rate = "1ms"'), 6, r"rate"),
    "bare number": (changed('rate = "1Mbit/s"', "rate = 1000000"), 6, r"unit|bit/s"),
    "bare number in text": (changed('delay = "5ms"', 'delay = "5"'), 7, r"unit|5ms"),
    "negative rate": (changed('rate = "1Mbit/s"', 'rate = "-1Mbit/s"'), 6, r"negative|below|at least"),
    "zero rate": (changed('rate = "1Mbit/s"', 'rate = "0bit/s"'), 6, r"rate|0"),
    "missing duration": (changed('duration = "1s"', ""), None, r"duration"),
    "zero duration": (changed('duration = "1s"', 'duration = "0s"'), 2, r"duration"),
    "missing node": (changed('to = "b"\ntcp', 'to = "nowhere"\ntcp'), 10, r"nowhere"),
    "no route": (
        changed("[flows.tcp]", '[links.y]\nfrom = "c"\nto = "d"\nrate = "1Mbit/s"\ndelay = "1ms"\n[flows.tcp]').replace(
            'to = "b"\ntcp', 'to = "d"\ntcp'
        ),
        None,
        r"route|reach|path",
    ),
    "window 0": (changed('tcp = "newreno"', 'tcp = { cc = "newreno", window = "0p" }'), 11, r"window"),
    "NaN": (changed('delay = "5ms"', 'delay = "5ms"\nloss = nan'), 8, r"(?i)nan|number"),
    "text NaN": (changed('delay = "5ms"', 'delay = "nan ms"'), 7, r"delay|nan"),
    "huge value": (changed('duration = "1s"', 'duration = "99999999999999999999s"'), 2, r"large|long|at most|too|overflow"),
    "huge count": (changed('tcp = "newreno"', 'tcp = "newreno"\ncount = 99999999999999'), 12, r"count|many|large"),
    "probability above 1": (changed('delay = "5ms"', 'delay = "5ms"\nloss = 1.5'), 8, r"loss|1"),
    "two transports": (changed('tcp = "newreno"', 'tcp = "newreno"\nudp = {}'), None, r"udp|tcp"),
    "flow to itself": (changed('to = "b"\ntcp', 'to = "a"\ntcp'), None, r"starts and ends at `a`"),
    "empty file": ("", None, r"empty|duration"),
    "only a comment": ("# nothing\n", None, r"duration|empty"),
    "not TOML": ("duration = = 1\n", 1, r""),
    "duplicate key": ('duration = "1s"\n' + LINKS, None, r"duplicate|already|twice"),
    "list for a table": (changed("[links.x]", "[[links.x]]"), None, r"table|list|array"),
    "deep nesting": ("a = " + "[" * 5000 + "]" * 5000, None, r""),
}


def check(done, *expected: str) -> str:
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("error"), done.stderr
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    for pattern in expected:
        assert re.search(pattern, done.stderr, re.S), (pattern, done.stderr)
    return done.stderr


@pytest.mark.parametrize("name", BAD)
def test_bad_scenario(name, tmp_path):
    text, line, expected = BAD[name]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    out = tmp_path / "out"
    err = check(fairlane("run", "bad.toml", "--out", str(out), cwd=tmp_path), expected, r"bad\.toml")
    if line is not None:
        assert f"bad.toml:{line}:" in err, err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.toml"]


def test_all_problems_are_told_at_once(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(LINKS.replace('"1Mbit/s"', '"fast"').replace('"5ms"', '"soon"').replace('"newreno"', '"newrino"'))
    err = check(fairlane("run", str(path)))
    assert err.count("error:") == 3, err


def test_json_scenario_errors(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"duration": "1s", "linkz": {}}, indent=1))
    check(fairlane("run", str(path)), r"linkz.*links", r"bad\.json:3:")
    path.write_text('{"duration": "1s",')
    check(fairlane("run", str(path)), r"bad\.json")


FILES = {
    "missing file": (lambda d: d / "nope.toml", r"nope\.toml"),
    "directory": (lambda d: d, r"directory"),
    "binary": (lambda d: write(d / "bin.toml", bytes(range(256))), r"not a text|UTF-8"),
    "zeros": (lambda d: write(d / "zero.toml", bytes(100)), r"zero\.toml"),
    "unreadable": (lambda d: "/proc/self/mem", r"cannot read /proc/self/mem: input/output error"),
    "no such folder": (lambda d: d / "a" / "b.toml", r"b\.toml"),
    "odd name": (lambda d: d / ("x" * 300), r"xxx"),
    "empty name": (lambda d: "", r"cannot read"),
}


def write(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", FILES)
def test_unusable_file(name, tmp_path):
    make, expected = FILES[name]
    check(fairlane("run", str(make(tmp_path))), expected)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(dumbbell):
    dumbbell.chmod(0)
    check(fairlane("run", str(dumbbell)), r"permission")


OPTIONS = {
    "unknown option": (["--sedes", "1"], r"sedes"),
    "bad seeds": (["--seeds", "one"], r"1\.\.10"),
    "empty seeds": (["--seeds", ""], r"1\.\.10"),
    "reversed seeds": (["--seeds", "5..1"], r"5\.\.1"),
    "repeated seed": (["--seeds", "1,1"], r"twice"),
    "huge seed": (["--seeds", "99999999999999999999"], r"seed"),
    "negative threads": (["--threads", "-1"], r"threads"),
    "set without value": (["--set", "duration"], r"path=value"),
    "set unknown path": (["--set", "linkz.x=1"], r"linkz.*links"),
    "set unknown link": (["--set", "links.bottelneck.rate=1Mbit/s"], r"bottelneck"),
    "set wrong unit": (["--set", "links.bottleneck.rate=5ms"], r"rate"),
    "plot without format": (["--plot", "cwnd"], r"\.svg"),
    "plot of nothing": (["--plot", "cwind.svg"], r"cwnd"),
    "plot into no folder": (["--plot", "nope/cwnd.svg"], r"nope"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_bad_option(name, dumbbell):
    args, expected = OPTIONS[name]
    check(fairlane("run", dumbbell.name, *args, cwd=dumbbell.parent), expected)
    assert [p.name for p in dumbbell.parent.iterdir()] == [dumbbell.name]


def test_other_commands():
    check(fairlane("explain", "cubik"), "cubik")
    check(fairlane("bench", "P99"), "P99")
    check(fairlane("schema", "everything"), "scenario")
    check(fairlane("nonsense"), "nonsense")
    check(fairlane("reproduce", "nobody1999"), "nobody1999")
    check(fairlane("reproduce", "all", "--only", "table1"), "--only")


def test_existing_result_folder(dumbbell):
    out = dumbbell.parent / "out"
    assert fairlane("run", str(dumbbell), "--out", str(out), "--quiet").returncode == 0
    before = (out / "manifest.json").read_bytes()
    check(fairlane("run", str(dumbbell), "--out", str(out)), "exists.*--force")
    assert (out / "manifest.json").read_bytes() == before
    assert fairlane("run", str(dumbbell), "--out", str(out), "--force", "--quiet").returncode == 0
    assert sorted(p.name for p in dumbbell.parent.iterdir()) == ["dumbbell.toml", "out"]


def test_force_never_replaces_what_is_no_result_folder(dumbbell):
    other = dumbbell.parent / "precious"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    check(fairlane("run", str(dumbbell), "--out", str(other), "--force"), "not a result folder")
    assert (other / "thesis.tex").read_text() == "x"
    check(fairlane("run", str(dumbbell), "--out", str(dumbbell), "--force"), "not a folder")
    assert dumbbell.read_text() == DUMBBELL


def test_file_larger_than_allowed(dumbbell):
    # Stands for a full disk on any system: a write fails half-way.
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    out = dumbbell.parent / "out"
    done = fairlane("run", str(dumbbell), "--set", "sample=1ms", "--out", str(out), preexec_fn=limit)
    check(done, r"larger than allowed.*no part of it was written")
    assert [p.name for p in dumbbell.parent.iterdir()] == [dumbbell.name]


def test_disk_full(dumbbell, tmp_path):
    import subprocess

    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("cannot mount a small tmpfs here (needs root)")
    try:
        done = fairlane("run", str(dumbbell), "--set", "sample=1ms", "--out", str(small / "a" / "out"))
        check(done, "the disk is full; no part of it was written")
        assert list(small.iterdir()) == []
        (small / "filler").write_bytes(bytes(60 * 1024))
        check(fairlane("run", str(dumbbell), "--plot", str(small / "cwnd.png")), "the disk is full; no part of it was written")
        assert [p.name for p in small.iterdir()] == ["filler"]
    finally:
        subprocess.run(["umount", str(small)], check=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_full_standard_output(dumbbell):
    import subprocess
    import sys

    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "fairlane", "run", str(dumbbell), "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write: the disk is full\n"


# --- one answer that leads on ---------------------------------------------------------------------------------

ANSWERS = [
    (["compare", "a.toml", "b.toml"], 'unexpected argument "b.toml": one scenario can be given, and a.toml is'),
    (["compare", "--queues", "red", "codel"], 'unexpected argument "codel": separate values with commas: --queues red,codel'),
    (["compare", "--tcp", "cubic", "bbr"], 'unexpected argument "bbr": separate values with commas: --tcp cubic,bbr'),
    (["plot", "cwnd", "dumbbell.toml"], "the plot kind comes last: fairlane plot dumbbell.toml cwnd"),
    (["plot", "window", "here"], "the plot kind comes last: fairlane plot here window"),
    (["plot", "dumbbell.toml"], "which plot? fairlane plot dumbbell.toml KIND"),
    (["run", "dumbbell.toml", "--out", "/proc/x"], "cannot write /proc/x: /proc takes no new files"),
    (["run", "dumbbell.toml", "--plot", "/proc/cwnd.svg"], "cannot write /proc/cwnd.svg: /proc takes no new files"),
    (["run", "x.yaml"], "cannot read x.yaml as a scenario: it is YAML; scenarios are TOML or JSON"),
    (["study", "x.yml"], "cannot read x.yml as a scenario: it is YAML"),
    (["run", "x.pcapng"], "it is a recording: fairlane import x.pcapng -o DIR"),
    (["tc", "x.pkt"], "it is a packet script: fairlane script x.pkt"),
    (["run", "x.gml"], "it is a graph: fairlane new network x.gml"),
    (["run", "x.tcl"], "it is a script of ns-2: docs/guides/from-ns2.md"),
    (["run", "here"], "its scenario is a file: here/scenario.toml"),
]


ANSWERS += [
    (["run"], "run needs FILE, such as fairlane run home.toml"),
    (["report"], "report needs RESULT, such as fairlane report results/home -o home.html"),
    (["new", "paper"], "paper needs KEY, such as fairlane new paper mine1999"),
    (["--seeds", "3", "dumbbell.toml"], "options follow the file: fairlane dumbbell.toml --seeds 3"),
    (["--json", "run", "dumbbell.toml"], "options follow the command: fairlane run dumbbell.toml --json"),
    (["-V"], "fairlane --version"),
    (["version"], "fairlane --version"),
    (["run", "dumbbell.toml", "--duration", "10s"], "are changed with --set duration=10s"),
    (["run", "dumbbell.toml", "--queue", "red"], "are changed with --set links.NAME.queue=red"),
    (["top", "dumbbell.toml", "--tcp", "bbr"], "are changed with --set flows.NAME.tcp=bbr"),
    (["run", "dumbbell.toml", "--set", "duration", "10s"], "--set takes one word: write --set duration=10s"),
    (["run", "dumbbell.toml", "other.toml"], "run takes one file: run the command for each"),
    (["run", "dumbbell.toml", "--plot"], "Option '--plot' requires an argument: --plot NAME.svg"),
    (["plot", "dumbbell.toml", "queue", "events"], "the plot is called queue-events: fairlane plot dumbbell.toml queue-events"),
    (["script", "dumbbell.toml"], "dumbbell.toml is not a packet script (.pkt): fairlane run dumbbell.toml"),
    (["run", "dumbbell.toml", "--seed", "-1"], "'-1' is not a seed: a whole number from 0 to 2^64 - 1"),
    (["run", "dumbbell.toml", "--seed", "1", "--seeds", "2"], "--seed 1 and --seeds 2 exclude each other"),
    (["run", "dumbbell.toml", "--seeds", "0"], "cannot use 0 seeds: write how many"),
]


@pytest.mark.parametrize(("args", "expected"), ANSWERS, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_a_mistake_has_one_answer(args, expected, dumbbell):
    where = dumbbell.parent
    (where / "here").mkdir()
    (where / "here" / "scenario.toml").write_text(DUMBBELL)
    for ending in ("yaml", "yml", "pcapng", "pkt", "gml", "tcl"):
        (where / f"x.{ending}").write_text("duration: 3s\n")
    before = sorted(where.rglob("*"))
    err = check(fairlane(*args, cwd=where))
    assert expected in err and err.count("error:") == 1, err
    assert sorted(where.rglob("*")) == before


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("links.bottleneck.queue=codel{target=10ms, limit=30p}", {"codel": {"target": "10ms", "limit": "30p"}}),
        ("links.bottleneck.queue=red:ns2", {"red": {"limit": "50p", "measure": "bytes"}}),
        ("links.bottleneck.queue=cake{flows=64}", {"cake": {"flows": 64}}),
        ("flows.tcp.tcp=cubic{beta=0.8}", {"cubic": {"beta": 0.8}}),
    ],
)
def test_set_takes_a_queue_as_compare_writes_it(setting, expected, dumbbell):
    """Runs the same text in the shell and in Python."""
    import fairlane as fl

    path, _, value = setting.partition("=")
    done = fairlane("run", str(dumbbell), "--set", setting, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    scenario = document["scenario"]
    table = scenario["flows"]["tcp"]["tcp"]["cc"] if "tcp" in path else scenario["topology"]["dumbbell"]["bottleneck"]["queue"]
    table = table if "tcp" in path else scenario["links"]["bottleneck"].get("queue", table)
    ((name, values),) = expected.items()
    assert {k: table[name][k] for k in values} == values
    assert fl.run(dumbbell, sets={path: value}).fingerprints == document["fingerprints"]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (
            "links.bottleneck.queue=cak{flows=64}",
            "cannot use links.bottleneck.queue=cak{flows=64}: unknown queue 'cak': did you mean 'cake'",
        ),
        ("links.bottleneck.queue=codel{target=10ms", "unknown queue"),
        ("links.bottleneck.queue=codel{tarket=10ms}", "did you mean `target`"),
    ],
)
def test_a_queue_that_set_cannot_take(setting, expected, dumbbell):
    assert expected in check(fairlane("run", str(dumbbell), "--set", setting))


def test_python_names_have_a_suggestion():
    import fairlane as fl

    for name, right in (("DropTail", "queues.Droptail"), ("FQCodel", "queues.FqCodel"), ("Networks", "Network")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': did you mean '{right}'"):
            getattr(fl, name)
