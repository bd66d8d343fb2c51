"""First steps of a new user: the greeting, scenarios to begin with, the picture, a pipe, completion, and errors that lead on."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import fairlane as fl
from conftest import DUMBBELL, fairlane, shown_on
from fairlane.cli import invoke
from fairlane.cli.new import text_of
from fairlane.look.braille import area, resample
from fairlane.runs.terminal_chart import picture

NAMES = ("home", "lan", "wan", "datacentre")


def test_the_command_by_itself_greets(capsys):
    assert invoke([]) == 0
    output = capsys.readouterr().out
    assert fl.__version__ in output
    # The three commands work one after the other.
    commands = re.findall(r"^  fairlane (\S+ \S+) ", output, re.M)
    assert commands == ["new home", "run home.toml", "explain fq_codel"]
    assert max(map(len, output.splitlines())) <= 80


def test_the_greeted_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in ("new home", "run home.toml", "explain fq_codel"):
        assert invoke(line.split()) == 0, line
    assert "home.toml" in capsys.readouterr().out


# --- fairlane new --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_to_begin_with(name, tmp_path, monkeypatch, capsys):
    """It runs without a warning, has a picture, and each command that it shows works and changes something."""
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", name]) == 0
    written = (tmp_path / f"{name}.toml").read_text("utf-8")
    assert written == text_of(name) and f"wrote {name}.toml" in capsys.readouterr().out
    result = fl.run(f"{name}.toml")
    assert result.warnings == [] and picture(result, 80)
    commands = re.findall(r"^#   fairlane (run .*?)(?:  +.*)?$", written, re.M)
    assert len(commands) >= 3 and all(c.split()[1] == f"{name}.toml" for c in commands)
    seen = {result.fingerprints[0]}
    for command in commands:
        if "--seeds" in command:
            continue
        assert invoke([*command.split(), "--json"]) == 0, command
        seen.add(json.loads(capsys.readouterr().out)["fingerprints"][0])
    assert len(seen) == len(commands) - 1, "a change changes nothing"
    # Comments teach: every table is explained, and no line is too wide for an editor.
    assert written.count("#") > 15 and max(map(len, written.splitlines())) <= 140
    for words in re.findall(r"`fairlane explain ([\w.]+)`", written):
        assert invoke(["explain", words]) == 0, words


def test_what_exists_is_not_touched(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lan.toml").write_text("mine")
    (tmp_path / "home.toml").symlink_to("nowhere")
    for name in ("lan", "home"):
        assert invoke(["new", name]) == 2
        assert re.search(rf"{name}\.toml exists .*fairlane new {name} {name}2\.toml", capsys.readouterr().err)
    assert (tmp_path / "lan.toml").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home.toml", "lan.toml"]


@pytest.mark.parametrize(
    ("file", "expected"), [("x", "must end in .toml"), ("no/x.toml", "the folder no does not exist"), (".toml", "must end in .toml")]
)
def test_a_name_that_cannot_be(file, expected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "lan", file]) == 2
    assert expected in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_name_with_spaces_is_quoted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "wan", "my line.toml"]) == 0
    assert "fairlane run 'my line.toml'" in capsys.readouterr().out
    assert "fairlane run 'my line.toml' --set" in (tmp_path / "my line.toml").read_text("utf-8")


def test_new_by_itself_says_what_there_is(capsys, monkeypatch):
    from fairlane.cli.new import new

    monkeypatch.setenv("COLUMNS", "80")
    assert invoke(["new"]) == 0
    output = capsys.readouterr()
    assert re.findall(r"^fairlane new (\S+)", output.out, re.M)[: len(NAMES)] == list(NAMES) and output.err == ""
    assert set(re.findall(r"^fairlane new (\S+)", output.out, re.M)) == set(new.commands)
    assert max(map(len, output.out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["study", "tune"])
def test_a_study_and_a_search_to_begin_with(name, tmp_path, monkeypatch, capsys):
    """Each command that the file and the terminal show works, also under another name."""
    monkeypatch.chdir(tmp_path)
    for file in (f"{name}.toml", "mine.toml"):
        assert invoke(["new", name, file]) == 0
        shown = re.findall(r"^  fairlane (.*)$", capsys.readouterr().out, re.M)
        text = (tmp_path / file).read_text("utf-8")
        written = re.findall(r"^#   fairlane (.*?)(?:  +.*)?$", text, re.M)
        assert shown and len(written) >= 2 and all(file in c.split() for c in (*shown, *written))
    assert [c for c in written if "--" not in c] == [f"{name} mine.toml"]
    for command in dict.fromkeys(shown + [c for c in written if "--trials" not in c and "--seeds" not in c]):
        assert invoke([*command.split(), "--quiet"] if "--dry-run" not in command else command.split()) == 0, command
    (page,) = (tmp_path / "results").glob("*/index.html")
    assert page.stat().st_size > 10_000


def test_a_lesson_to_begin_with(tmp_path, monkeypatch, capsys):
    """Its commands work in a folder of any name, and its answers are those of the simulation."""
    monkeypatch.chdir(tmp_path)
    assert invoke(["new", "lesson", "week 3"]) == 0
    assert "fairlane top 'week 3'/scenario.toml" in capsys.readouterr().out
    page = (tmp_path / "week 3" / "README.md").read_text("utf-8")
    commands = [shlex.split(c) for c in re.findall(r"^fairlane (.*)$", page, re.M)]
    assert len(commands) == 5 and all(c[1] == "week 3/scenario.toml" for c in commands)
    for command in commands:
        assert invoke(command) == 0, command
    assert (tmp_path / "week 3" / "animation.html").stat().st_size > 10_000
    answers = " ".join(page.split("## Answers")[1].split())
    base, short, fair = (
        fl.run("week 3/scenario.toml", sets=dict([c[-1].split("=")] if "=" in c[-1] else [])) for c in commands[1:2] + commands[3:]
    )
    delay, goodput = (lambda r: r.value("delay_mean", flow="call").mean * 1e3), (lambda r: r.value("goodput", flow="upload").mean / 1e6)
    assert f"{delay(base):.0f} ms on average" in answers and f"The call takes {delay(fair):.0f} ms, and loses nothing" in answers
    assert fair.value("loss", flow="call").mean == 0
    assert f"No: {goodput(base):.2f} Mbit/s" in answers and f"{goodput(base):.2f}" == f"{goodput(short):.2f}"
    assert f"gets {goodput(fair):.2f} Mbit/s, {100 * (1 - goodput(fair) / goodput(base)):.0f} % less" in answers


# --- a file instead of a command, and names that are no command ----------------------------------------------


def test_a_scenario_in_place_of_a_command_is_run(dumbbell, capsys):
    assert invoke([str(dumbbell), "--json", "--seeds", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["seeds"] == [1, 2]
    assert fairlane("-", "--quiet", input=DUMBBELL).returncode == 0
    assert "cannot read gone.toml: no such file" in fairlane("gone.toml").stderr


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["office"], "unknown command 'office': known are bench,"),
        (["rum"], "unknown command 'rum': did you mean 'run'"),
        (["home"], "home is a template: fairlane new home"),
        (["results"], "results is a folder: fairlane report results"),
        (["fq_codel"], "unknown command 'fq_codel': fairlane explain fq_codel"),
        (["new", "office"], "unknown template 'office': known are card, datacentre, home, lan, lesson,"),
        (["new", "datacenter"], "did you mean 'datacentre'"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_name_that_is_no_command(args, expected, tmp_path):
    (tmp_path / "results").mkdir()
    done = fairlane(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and expected in done.stderr


def test_help_is_a_command_too(capsys):
    for args in (["help", "run"], ["run", "--help"], ["run", "-h"]):
        assert invoke(args) == 0
    shown = capsys.readouterr().out
    assert shown.count("Usage: fairlane run") == 3 and shown.count(shown[: len(shown) // 3]) == 3


# --- the picture ---------------------------------------------------------------------------------------------


def test_areas_are_as_high_as_their_values():
    dots = [
        sum(bin(ord(c) - 0x2800).count("1") for c in column if c != " ") for column in zip(*area([8, 8, 4, 4, 0, 0], 8, 2), strict=True)
    ]
    assert dots == [16, 8, 0]
    assert area([float("nan"), 1e-9], 8, 1) == ["⢀"], "what is above zero is seen"
    assert resample([1.0, float("nan"), 5.0, 7.0], 2, min) == [1.0, 5.0]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_of_the_picture_is_too_wide(width, dumbbell):
    lines = picture(fl.run(dumbbell, sets={"sample": "20ms"}), width)
    assert lines[0].plain == "queue of bottleneck (packets)"
    assert max(len(line.plain) for line in lines) <= width
    assert any(line.plain.startswith("udp") for line in lines) and lines[-1].plain.endswith("5 s")


def test_many_flows_are_drawn_as_groups():
    net = fl.Network(duration="2s", sample="20ms").dumbbell(pairs=8).flow("up", "s{i}", "d{i}", count=8, spread="10ms", tcp="reno")
    lines = [line.plain for line in picture(net.run(), 80)]
    assert sum(line.startswith("up") for line in lines) == 1 and "up.0" not in "\n".join(lines)


def on_terminal(*args: str, cwd, columns: int = 80, **env: str) -> str:
    """Returns the output of a command on a terminal."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "fairlane", *args]
    child = subprocess.Popen(
        command, stdout=side, stderr=subprocess.PIPE, cwd=cwd, env={**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **env}
    )
    os.close(side)
    shown = shown_on(main)
    assert child.wait(120) == 0, child.stderr.read()
    child.stderr.close()
    return shown.decode("utf-8")


DOTS = re.compile("[\u2801-\u28ff]")


def test_a_terminal_has_a_picture_in_its_colours(dumbbell):
    shown = on_terminal("run", dumbbell.name, cwd=dumbbell.parent)
    assert DOTS.search(shown) and "\x1b[36m" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert all(len(line) <= 80 for line in plain.splitlines() if DOTS.search(line))
    assert "coarser than the round-trip time" not in plain, "the series of the plot was not requested"


def test_no_colour_if_none_is_wanted(dumbbell):
    shown = on_terminal("run", dumbbell.name, cwd=dumbbell.parent, NO_COLOR="1")
    assert DOTS.search(shown) and not re.search(r"\x1b\[[0-9;]*3[0-9]m", shown)


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_no_picture_where_none_belongs(option, dumbbell):
    assert not DOTS.search(on_terminal("run", dumbbell.name, option, cwd=dumbbell.parent))


def test_no_picture_in_a_pipe_and_the_same_run(dumbbell):
    done = fairlane("run", str(dumbbell))
    assert not DOTS.search(done.stdout)
    prints = re.findall(r"fingerprint (\w+)", done.stdout + on_terminal("run", dumbbell.name, cwd=dumbbell.parent))
    assert len(prints) == 2 and len(set(prints)) == 1


def test_a_result_folder_is_the_same_on_a_terminal(dumbbell):
    on_terminal("run", dumbbell.name, "--out", "out", cwd=dumbbell.parent)
    assert fl.load(dumbbell.parent / "out").link_series.is_empty()


# --- a pipe, and messages during the run ---------------------------------------------------------------------


@pytest.mark.parametrize("form", ["toml", "json"])
def test_a_scenario_through_a_pipe(form, dumbbell):
    import tomllib

    text = DUMBBELL if form == "toml" else json.dumps(tomllib.loads(DUMBBELL))
    done = fairlane("run", "-", "--json", "--plot", "queue.svg", input=text, cwd=dumbbell.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["fingerprints"] == fl.run(dumbbell).fingerprints
    assert (dumbbell.parent / "queue.svg").exists()


@pytest.mark.parametrize(
    ("text", "expected"), [("", r"empty.*<stdin>"), ("duration = 3", r"3 has no unit.*<stdin>:1:12"), ("\x00", "<stdin>")]
)
def test_a_pipe_with_something_else(text, expected):
    done = fairlane("run", "-", input=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(expected, done.stderr, re.S), done.stderr


# --- explain -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("network.jain", ["metric of network"]),
        ("flows.loss", ["metric of flows"]),
        ("flows.tcp.goodput.sum", ["metric of flows"]),
        ("links.bottleneck.utilisation", ["metric of links"]),
        ("links.bottleneck.reverse.drops", ["metric of links", "time series of links"]),
        ("flow.cwnd", ["time series of flows"]),
        ("links.x.loss", ["setting", "metric of links"]),
        ("links.x.rate", ["setting"]),
        ("network", ["table of metrics"]),
    ],
)
def test_the_paths_of_studies_are_explained(path, kinds):
    from fairlane.base.reference import explain

    assert [e.kind for e in explain(path)] == kinds


@pytest.mark.parametrize("asked", ["hom.toml", "home", "HOME.toml"])
def test_a_wrong_file_name_leads_to_the_one_that_is_there(asked, tmp_path):
    (tmp_path / "home.toml").touch()
    (tmp_path / "m.toml").touch()
    done = fairlane("run", asked, cwd=tmp_path)
    assert done.returncode == 2 and f"cannot read {asked}: no such file" in done.stderr and "did you mean home.toml?" in done.stderr


@pytest.mark.parametrize(("path", "expected"), [("network.jian", "jain"), ("flows.tcp.goodptu", "goodput"), ("links.x.rtae", "rate")])
def test_a_wrong_path_leads_on(path, expected):
    done = fairlane("explain", path)
    assert done.returncode == 2 and f"did you mean '{expected}'" in done.stderr


def test_all_metrics_can_be_asked_for_as_studies_name_them():
    from fairlane.base.metrics import metrics
    from fairlane.base.reference import explain

    for m in metrics():
        path = f"network.{m.name}" if m.table == "network" else f"{m.table}.x.{m.name}"
        assert f"metric of {m.table}" in [e.kind for e in explain(path)], path


# --- completion ----------------------------------------------------------------------------------------------


def completed(*words: str) -> list[str]:
    from click.shell_completion import ShellComplete

    from fairlane.cli.commands import cli

    os.environ["COMP_WORDS"] = " ".join(["fairlane", *words])
    try:
        return [
            item.value for item in ShellComplete(cli, {}, "fairlane", "_FAIRLANE_COMPLETE").get_completions(list(words[:-1]), words[-1])
        ]
    finally:
        del os.environ["COMP_WORDS"]


def test_names_are_completed(dumbbell, monkeypatch):
    monkeypatch.chdir(dumbbell.parent)
    assert completed("expl") == ["explain"]
    assert completed("new", "h") == ["home"]
    assert "red" in completed("explain", "re") and "fq_codel" not in completed("explain", "re")
    assert completed("explain", "network.jain_t") == ["network.jain_tcp"]
    assert completed("reproduce", "sar") == ["sarma2013", "sarpkaya2025"]
    assert completed("run", "dumb") == ["dumbbell.toml"]
    assert completed("run", "dumbbell.toml", "--set", "links.bottleneck.queue.red.max_") == [
        "links.bottleneck.queue.red.max_p",
        "links.bottleneck.queue.red.max_p=",
    ]
    assert "links.bottleneck" in completed("run", "dumbbell.toml", "--set", "links.")
    assert "flows.udp" in completed("run", "dumbbell.toml", "--set", "flows.")
    assert completed("run", "dumbbell.toml", "--set", "links.bottleneck.queue=fq_c") == ["links.bottleneck.queue=fq_codel"]
    assert completed("tc", "dumbbell.toml", "bottleneck.") == ["bottleneck.reverse"]
    assert completed("compare", "--queues", "red,fq_cod") == ["red,fq_codel"]


def test_completion_knows_the_scenario_of_a_study(dumbbell, monkeypatch):
    monkeypatch.chdir(dumbbell.parent)
    (dumbbell.parent / "s.toml").write_text('scenario = "dumbbell.toml"\nmetrics = ["network.jain"]\n')
    for command in ("study", "tune"):
        assert "links.bottleneck" in completed(command, "s.toml", "--set", "links.b")


def test_completion_never_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text("duration = = 1")
    assert "links.x.rate" in completed("run", "bad.toml", "--set", "links.x.ra")
    for words in (
        ["tc", "bad.toml", ""],
        ["run", "no/such/"],
        ["explain", "a.b.c."],
        ["tc", "gone.toml", ""],
        ["run", "-", "--set", "flows."],
    ):
        assert completed(*words) is not None


SHELLS = {
    "fish": ["fish", "-c", "_FAIRLANE_COMPLETE=fish_source fairlane | source; complete -C '{}'"],
    # What bash does when the tab key is pressed: the function that is registered, with the words so far.
    "bash": [
        "bash",
        "-c",
        'eval "$(_FAIRLANE_COMPLETE=bash_source fairlane)"; COMP_WORDS=({0}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ));'
        '_fairlane_completion fairlane; printf "%s\\n" "${{COMPREPLY[@]}}"',
    ],
    "zsh": [
        "zsh",
        "-f",
        "-c",
        "compdef() {{ :; }}; compadd() {{ print -l ${{(P)argv[-1]}}; }}; _describe() {{ print -l ${{(P)3}}; }};"
        'eval "$(_FAIRLANE_COMPLETE=zsh_source fairlane)"; words=({0}); CURRENT=${{#words}}; _fairlane_completion',
    ],
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("fairlane expl", "explain"),
        ("fairlane run dumb", "dumbbell.toml"),
        ("fairlane compare --queues red,fq_cod", "red,fq_codel"),
        ("fairlane run dumbbell.toml --set links.bottleneck.queue=fq_c", "links.bottleneck.queue=fq_codel"),
    ],
)
def test_the_shells_themselves_complete(shell, typed, offered, dumbbell):
    """`.ci/run` installs them where it may."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [word.format(typed) for word in SHELLS[shell]]
    env = {**os.environ, "PATH": path, "HOME": str(dumbbell.parent)}
    done = subprocess.run(command, cwd=dumbbell.parent, env=env, capture_output=True, text=True, timeout=120, check=False)
    first = re.split(r"[\t:]", done.stdout)[0].split("\n")[0]
    assert first == offered, done.stdout + done.stderr


def test_completion_shows_whole_sentences():
    from fairlane.cli.commands import cli

    for item in cli.shell_complete(click.Context(cli), ""):
        assert item.help and not item.help.endswith("...")


# --- errors that lead on -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["compare", "--udp", "5"], "--udp 5 has no unit: write --udp 5Mbit/s"),
        (["compare", "--udp", "cbr"], "--udp cbr is not a rate such as 5Mbit/s"),
        (["tune", "dumbbell.toml"], "is a scenario, not a tune file"),
        (["tune", "dumbbell.toml"], "fairlane run dumbbell.toml"),
        (["study", "dumbbell.toml"], "this is a scenario, not a study of one"),
        (["run", "study.toml"], "study.toml is not a scenario but a study: fairlane study study.toml"),
        (["tune", "study.toml"], "study.toml is not a tune file but a study: fairlane study study.toml"),
        (["run", "dumbbell.toml", "--set", "links.bottleneck.rate=10e6"], 'write "10Mbit/s"'),
        (["tc", "dumbbell.toml", "bottelneck"], "did you mean 'bottleneck'"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_hints_lead_to_the_right_thing(args, expected, dumbbell):
    (dumbbell.parent / "study.toml").write_text(
        'scenario = "dumbbell.toml"\nmetrics = ["network.jain"]\n[factors]\n"flows.tcp.tcp" = ["reno", "cubic"]\n'
    )
    done = fairlane(*args, cwd=dumbbell.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr and done.stderr.count("error:") == 1, done.stderr


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[flows.tcp]", '[links.bottelneck]\nqueue = "red"\n[flows.tcp]', "did you mean `bottleneck`?"),
        ("udp = {}\n", 'udp = "cbr"\n', "`cbr` is a source: write udp = {}"),
        ('rate = "5Mbit/s"', "rate = 5e6", 'write "5Mbit/s"'),
        ('delay = "10ms"', "delay = 0.01", 'write "10ms"'),
    ],
)
def test_a_scenario_with_a_common_mistake_is_told_once_and_rightly(old, new, expected, dumbbell):
    dumbbell.write_text(DUMBBELL.replace(old, new, 1))
    done = fairlane("run", str(dumbbell))
    assert done.returncode == 2 and expected in done.stderr and done.stderr.count("error:") == 1, done.stderr


def test_python_errors_speak_python(dumbbell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = fl.run(dumbbell)
    result.save("out")
    (tmp_path / "udp.pcapng").write_text("mine")
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms").link("b", "c", rate="1Mbit/s", delay="1ms")
    net.flow("x", "a", "c", tcp="reno")
    for call, expected in (
        (lambda: result.save("out"), "force=True"),
        (lambda: fl.run(dumbbell, pcap=["udp"]), "force=True"),
        (lambda: fl.compare(net, queues="red"), 'link="NAME"'),
    ):
        with pytest.raises(fl.FairlaneError) as e:
            call()
        assert expected in str(e.value) and " --" not in str(e.value)
    # The same on the command line has its words.
    assert "--force" in fairlane("run", str(dumbbell), "--out", "out", cwd=tmp_path).stderr
    net.save("net.toml")
    assert "--link NAME" in fairlane("compare", "--scenario", "net.toml", cwd=tmp_path).stderr
