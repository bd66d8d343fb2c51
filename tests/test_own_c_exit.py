"""A shared library that ends the process: the error names the library, and the exit code is never 0."""

from __future__ import annotations

import signal
import sys

import pytest

from conftest import started as fairlane
from test_own_queue import FOLDER
from test_own_queue_c import QUEUE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")

ENDS = {
    "exit": ("exit(0);", 1, "calls exit"),
    "abort": ("abort();", -signal.SIGABRT, "SIGABRT (abort)"),
    "address": ("*nowhere = 1;", -signal.SIGSEGV, "SIGSEGV (invalid address)"),
    "arithmetic": ("raise(SIGFPE);", -signal.SIGFPE, "SIGFPE (arithmetic)"),
    "stack": ("sink = deep(1);", -signal.SIGSEGV, "SIGSEGV (invalid address)"),
}
DEEP = """
#include <stdlib.h>
#include <signal.h>
static volatile int sink;
int *volatile nowhere = NULL;
extern int deep(int n);
int deep(int n) { volatile char a[4096]; a[0] = (char)n; sink = a[0]; return sink < 0 ? 0 : deep(n & 63) + a[1]; }
"""


def scenario(name: str, folder) -> str:
    file = folder / "s.toml"
    file.write_text(
        'duration = "1s"\nlinks.l = { from = "a", to = "b", rate = "1Mbit/s", delay = "5ms", queue = "' + name + '" }\n'
        'flows.f = { from = "a", to = "b", tcp = {} }\n'
    )
    return str(file)


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("where", ["enqueue", "dequeue", "init", "load"])
def test_a_library_that_ends_the_process_is_named(compiled, tmp_path, how, where):
    body, code, words = ENDS[how]
    name = f"ends_{how}_{where}"
    parts = {"enqueue": "", "dequeue": "", "more": "", "name": name}
    if where in parts:
        parts[where] = body
    source = DEEP + '#pragma GCC diagnostic ignored "-Winfinite-recursion"\n' + QUEUE % parts
    if where == "init":
        source = source.replace("(void)site; ((struct q", f"(void)site; {body} ((struct q")
    if where == "load":
        source += f"__attribute__((constructor)) static void at_load(void) {{ {body} }}\n"
    library = compiled(source, name)
    done = fairlane("run", scenario(name, tmp_path), "--plugin", str(library), "--out", str(tmp_path / "res"))
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    (line,) = [x for x in done.stderr.splitlines() if x.startswith("error: ")]
    assert words in line and str(library) in line and (name in line)
    assert not (tmp_path / "res").exists()


def test_a_python_queue_that_crashes_is_named(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import ctypes, fairlane\nclass Crashes(fairlane.Qdisc):\n    '''Reads unmapped memory.'''\n    def start(self): self.w = []\n"
        "    def enqueue(self, p): ctypes.string_at(8)\n    def dequeue(self): return None\n"
    )
    done = fairlane("run", scenario("Crashes", tmp_path), "--plugin", str(tmp_path / "mine.py"))
    assert done.returncode == -signal.SIGSEGV and "SIGSEGV (invalid address) in the code of queue `Crashes`" in done.stderr


def test_what_goes_well_goes_on(compiled):
    library = compiled(FOLDER / "nminusone.c", "nminusone")
    done = fairlane("run", str(FOLDER / "scenario.toml"), "--plugin", str(library), "-q")
    assert (done.returncode, done.stderr) == (0, "")
