"""Every command works if standard output is not UTF-8: characters are replaced, and documents stay the same."""

from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conftest import ROOT
from conftest import started as fairlane
from fairlane.base.encodings import encodable, plain_sign
from fairlane.cli import invoke

ENCODINGS = ("ascii", "cp1252", "koi8-r", "utf-16")
NAME = "µ→é 漢"
SCENARIO = f"""
name = "± {NAME}"
duration = "300ms"
sample = "10ms"
[links."x {NAME}"]
from = "a é"
to = "b ↔"
rate = "1Mbit/s"
delay = "5ms"
[flows."{NAME}"]
from = "a é"
to = "b ↔"
tcp = "cubic"
[flows.plain]
from = "a é"
to = "b ↔"
udp = {{}}
source.cbr = {{ rate = "200kbit/s", size = "500B" }}
"""
STUDY = """
name = "study µ"
scenario = "s.toml"
seeds = "1..3"
metrics = ["network.goodput", "network.delay_p95"]
[factors]
'links."x µ→é 漢".queue' = ["droptail", "codel"]
"""
TUNE = """
name = "tune µ"
link = "x µ→é 漢"
seeds = "1..2"
holdout_seeds = "11..12"
trials = 3
scenario = "s.toml"
[objectives]
"delay µ→漢" = { metric = "network.delay_p95", goal = "min", good = "10ms", bad = "1s" }
goodput = { metric = "network.goodput", goal = "max", good = "1Mbit/s", bad = 0 }
[search]
droptail.limit = { from = "5p", to = "50p", scale = "log" }
codel = "auto"
"""


def outputs(argv: list[str], encoding: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line in this process, both of them strict streams of that encoding."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", write_through=True) for _ in "oe")
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = invoke(argv)
    finally:
        sys.stdout, sys.stderr = before
    return code, *(s.buffer.getvalue().decode(encoding) for s in (out, err))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, a study, and what running them leaves; names in it have characters of all kinds."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "s.toml").write_text(SCENARIO, "utf-8")
    (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "tune.toml").write_text(TUNE, "utf-8")
    (folder / "bad.toml").write_text(SCENARIO.replace('"1Mbit/s"', '"1Mbit/µs ↔ 漢"'), "utf-8")
    (folder / "bad.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3 ↔\n", "utf-8")
    (folder / "g.csv").write_text("from,to,rate\né→,漢,1Mbit/s\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for argv in (
            ["run", "s.toml", "--out", "µ-result", "--trace", "-q"],
            ["study", "study.toml", "--out", "study", "-q"],
            ["tune", "tune.toml", "--out", "tune", "-q"],
            ["new", "paper", "mine"],
            ["reproduce", "mine", "--quick", "-q", "--out", "paper"],
        ):
            assert invoke(argv) == 0, argv
    return folder


COMMANDS = {
    "run": ["run", "s.toml"],
    "run of several seeds": ["run", "s.toml", "--seeds", "1..3", "--why", "--verbose"],
    "run as JSON": ["run", "s.toml", "--json"],
    "run that writes": ["run", "s.toml", "--out", "µ-result", "--force", "--trace"],
    "study": ["study", "study.toml", "--out", "study"],
    "study as JSON": ["study", "study.toml", "--out", "study", "--json"],
    "study in words": ["study", "study.toml", "--out", "study", "--dry-run"],
    "tune": ["tune", "tune.toml", "--out", "tune"],
    "compare": ["compare", "--scenario", "s.toml", "--queues", "droptail,codel", "--seeds", "1..3"],
    "compare as JSON": ["compare", "--scenario", "s.toml", "--queues", "droptail,codel", "--seeds", "1..3", "--json"],
    "reproduce": ["reproduce", "mine", "--quick", "--out", "paper"],
    "reproduce without a key": ["reproduce"],
    "draw": ["draw", "s.toml"],
    "draw as JSON": ["draw", "s.toml", "--json"],
    "plot": ["plot", "µ-result", "cwnd"],
    "plot --list": ["plot", "--list"],
    "explain": ["explain", "links.queue"],
    "explain names": ["explain"],
    "watch": ["watch", "s.toml", "--save", "watch.html", "--force"],
    "top": ["top", "s.toml", "--every", "100ms"],
    "top as JSON": ["top", "s.toml", "--every", "100ms", "--json"],
    "verify": ["verify", "."],
    "query": ["query", "µ-result", "select * from flows"],
    "query as CSV": ["query", "µ-result", "select * from flows", "--csv"],
    "query as JSON": ["query", "µ-result", "select * from flows", "--json"],
    "query in vain": ["query", "µ-result", "select µ→漢 from flows"],
    "tc": ["tc", "s.toml"],
    "report": ["report", "µ-result", "study", "-o", "report.html", "--force"],
    "export": ["export", "µ-result", "flent", "-o", "x.flent", "--force"],
    "export of nothing": ["export", "µ-result", "flent", "--flow", "漢↔"],
    "new network": ["new", "network", "g.csv", "-"],
    "new lan": ["new", "lan", "-"],
    "schema": ["schema"],
    "script": ["script", "bad.pkt"],
    "a wrong scenario": ["run", "bad.toml"],
    "no file": ["run", "↔ µ 漢.toml"],
    "no command": ["µ→漢"],
    "no option": ["run", "s.toml", "--µ→漢"],
    "no key": ["reproduce", "µ→漢"],
    "bench": ["bench", "µ→漢"],
    "help": ["run", "--help"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_in_every_encoding(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "140")
    argv = COMMANDS[name]
    whole = outputs(argv, "utf-8")
    for encoding in ENCODINGS:
        code, out, err = outputs(argv, encoding)
        assert code == whole[0], (encoding, out, err)
        assert "Traceback" not in err and (out + err).strip()
        for actual, real in ((out, whole[1]), (err, whole[2])):
            assert _known(actual, encoding) == _known(real, encoding), encoding


def _known(text: str, encoding: str) -> list[str] | str:
    """Returns the part that is equal in two runs: a document without its numbers, or the words of a text in the encoding, without times."""
    text = text.removeprefix("\ufeff")
    if text.startswith(("{", "[")) and text.rstrip().endswith(("}", "]")):
        return json.dumps(_fixed(json.loads(text)))
    if "<svg" in text[:500]:
        return " ".join(ET.fromstring(re.sub(r"<\?xml.*?\?>", "", text)).itertext())
    if "\n[links." in text:
        return json.dumps(tomllib.loads(text))
    return [w for w in re.split(r"[\s─━-]+", encodable(encodable(text, encoding), "ascii")) if not re.search(r"\d", w)]


def _fixed(tree: object) -> object:
    if isinstance(tree, dict):
        return {k: _fixed(x) for k, x in tree.items() if not isinstance(x, (int, float))}
    return [_fixed(x) for x in tree] if isinstance(tree, list) else tree


def test_documents_are_the_same_in_every_encoding(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for encoding in ("ascii", "cp1252", "koi8-r"):
        tree = json.loads(outputs(["query", "µ-result", "select flow from flows order by flow", "--json"], encoding)[1])
        assert tree["rows"] == [["plain"], [NAME]]
        drawn = "".join(ET.fromstring(outputs(["draw", "s.toml"], encoding)[1].encode("ascii")).itertext())
        assert "a é ↔ b ↔" in drawn
        assert tomllib.loads(outputs(["new", "network", "g.csv", "-"], encoding)[1])["nodes"] == ["é→", "漢"]


def test_signs_are_plain_and_columns_keep_their_places() -> None:
    assert [plain_sign(c) for c in "±µ→←─│┌╬█⠀⠁⣿…²½≤\u2009"] == [
        "+-", "u", "->", "<-", "-", "|", "+", "+", "#", " ", ".", ":", "...", "2", "1/2", "<=", " ",
    ]  # fmt: skip
    assert [plain_sign(c) for c in "é漢\U0001f600\udc80"] == ["\\u00e9", "\\u6f22", "\\U0001f600", "\\udc80"]
    assert encodable("a ± b   c\nlong      c", "ascii") == "a +- b  c\nlong      c"
    assert encodable("a ± b   c", "latin-1") == "a ± b   c"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_a_process_whose_output_is_not_utf8(encoding: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = fairlane("draw", str(ROOT / "examples" / "quickstart.toml"), encoding=encoding)
    assert done.returncode == 0 and "</svg>" in done.stdout, done.stderr
    done = fairlane("run", "bad.toml", cwd=place, encoding=encoding)
    assert done.returncode == 2 and "s <-> \\u6f22" in done.stderr, done.stderr
