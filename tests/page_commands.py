"""The commands of a page, and a run of all of them in its order. Imports nothing that only tests need: `python page_commands.py PAGE`."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "wireshark": "needs a display",
    "flent": "measures real hosts",
    "awk": "tests/test_ns2_trace.py",
    "make": "builds what the tests run on",
    "pip": "needs an index of packages",
    "eval": "for the shell: tests/test_first_minute.py asks for completions",
    "cargo": "builds Rust: shown by the Rust tests",
    "python": "tests/test_examples.py runs the scripts",
    "fairlane reproduce all": "tests/test_demo_environment.py, long",
    "fairlane reproduce nowak2009": "tests/test_demo_environment.py, long",
    "fairlane reproduce sarma2013": "tests/test_demo_environment.py, long",
    "fairlane bench": "tests/test_demo_environment.py, long",
    "fairlane tune papers/nowak2009/tune.toml": "tests/test_tune.py, with a smaller budget",
}
"""Commands that a page may show and that are not run here, and why."""
NOT_CODE = {"", "text", "rust", "json", "tcl", "cpp", "bash"}
"""Languages of blocks that are not run: Rust is compiled by hand when the page changes, tests/test_coming_from.py runs ns-2 and ns-3, and
tests/test_audiences.py the commands of a router (`bash`)."""


def ident(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, text and first line of each fenced block."""
    text = page.read_text("utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [(m[1], m[2], text[: m.start()].count("\n") + 2) for m in found]


def commands(block: str) -> list[list[str]]:
    """The commands of a block as words, comments left out."""
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return [[words[0].removeprefix(".venv/bin/"), *words[1:]] for words in lines if words]


def scenario_name(page: Path, block: str, line: int) -> str:
    """The name of a scenario shown on a page: from its first line, or the first file that a command after it asks for."""
    if m := re.match(r"# (?:study |tune )?(\S+\.toml)\n", block):
        return m[1]
    after = "\n".join(page.read_text("utf-8").splitlines()[line:])
    m = re.search(r"fairlane run (\w+\.toml)", after)
    return m[1] if m else f"scenario-{line}.toml"


def run_command(words: list[str], place: str) -> None:
    """Runs a command in this process: most of the time of a short command is the start of an interpreter."""
    from fairlane.cli import invoke

    if any(words[: len(known.split())] == known.split() for known in ELSEWHERE):
        return
    if words[0] == "tshark":
        if shutil.which("tshark"):
            subprocess.run(words, check=True, capture_output=True)
        return
    assert words[0] == "fairlane", f"{place}: {words[0]} is neither run nor listed in ELSEWHERE"
    assert invoke(words[1:]) == 0, f"{place}: {shlex.join(words)}"


def run_page(page: Path, folder: Path) -> int:
    """Runs every example of a page in its order in `folder`, the current one; returns their number."""
    scope: dict[str, object] = {"__name__": "docs"}
    ran = 0
    for language, block, line in blocks(page):
        place = f"{ident(page)}:{line}"
        if language == "python":
            exec(compile("\n" * (line - 1) + block, str(page), "exec"), scope)
        elif language == "toml":
            name = scenario_name(page, block, line)
            (folder / name).write_text(block, "utf-8")
            kind = re.match(r"# (study|tune)\b", block)
            run_command(["fairlane", kind[1] if kind else "run", name, "--quiet"], place)
        elif language in ("sh", "console"):
            for words in commands(block):
                run_command(words, place)
        else:
            assert language in NOT_CODE, f"{place}: a block in {language!r} is neither run nor listed"
            # The README shows its commands without a language.
            for words in commands(block) if block.startswith("fairlane ") else ():
                run_command(words, place)
            ran -= 1
        ran += 1
    return ran


if __name__ == "__main__":
    assert run_page(Path(sys.argv[1]), Path.cwd()) > 0
