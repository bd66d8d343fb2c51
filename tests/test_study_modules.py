"""Imports of a plug-in from outside installed packages are in the key of its runs, and are reloaded with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.own import modules
from fairlane.own.plugin import PluginLoadError, load
from fairlane.study import Study
from fairlane.study.one_run import PluginDiffers, load_plugins, planned

QUEUE = """
import sys
sys.path.insert(0, {folder!r})
import fairlane
{imports}

class Helped(fairlane.Qdisc):
    '''First in, first out, as long as the helper says.'''

    def start(self):
        self.waiting = []

    def enqueue(self, packet):
        self.waiting.append(packet)
        if len(self.waiting) > {limit}:
            self.drop(self.waiting.pop())

    def dequeue(self):
        return self.waiting.pop(0) if self.waiting else None
"""
BASE = """
duration = "2s"
links.l = { from = "a", to = "b", rate = "1Mbit/s", delay = "5ms", queue = "Helped" }
flows.f = { from = "a", to = "b", tcp = "newreno" }
"""
STUDY = """
name = "s"
scenario = "lan.toml"
plugins = ["mine.py"]
seeds = [1]
metrics = ["links.l.queue_max"]
"""
WAYS = {
    "import": ("import helper_of_mine", "helper_of_mine.LIMIT"),
    "from": ("from helper_of_mine import LIMIT", "LIMIT"),
    "through another": ("import between_of_mine", "between_of_mine.limit()"),
    "package": ("from package_of_mine.deep import LIMIT", "LIMIT"),
    "by name": ("import importlib\nLIMIT = importlib.import_module('helper' + '_of_mine').LIMIT", "LIMIT"),
    "in a function": ("def limit():\n    from helper_of_mine import LIMIT\n    return LIMIT", "limit()"),
}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Writes the plug-in with a limit in its helper, and everything that a study of it needs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "lan.toml").write_text(BASE)
    (tmp_path / "s.toml").write_text(STUDY)
    (tmp_path / "package_of_mine").mkdir()
    (tmp_path / "package_of_mine" / "__init__.py").write_text("")
    (tmp_path / "package_of_mine" / "deep.py").write_text("from .helper import LIMIT\n")
    (tmp_path / "between_of_mine.py").write_text("import helper_of_mine\ndef limit():\n    return helper_of_mine.LIMIT\n")

    def write(way: str, limit: int) -> Path:
        imports, name = WAYS[way]
        (tmp_path / "mine.py").write_text(QUEUE.format(folder=str(tmp_path), imports=imports, limit=name))
        for helper in ("helper_of_mine.py", "package_of_mine/helper.py"):
            # Equal size and time: a compiled cache would give the old one.
            (tmp_path / helper).write_text(f"LIMIT = {limit:02}\n".replace("= 0", "= "[:2] + " "))
            os.utime(tmp_path / helper, (10**9, 10**9))
        return tmp_path / "mine.py"

    yield write
    for name in [n for n in sys.modules if "_of_mine" in n]:
        del sys.modules[name]


def most(study: Study) -> float:
    return study.run("out").runs()["links.l.queue_max"].item()


@pytest.mark.parametrize("way", WAYS)
def test_a_changed_helper_makes_other_runs(mine, way):
    """In one process, and in the folder of a study that was run before."""
    keys = set()
    for limit in (12, 7, 12):
        mine(way, limit)
        study = Study.from_file("s.toml")
        keys.add(next(iter(study.plan().tasks()))[1].key)
        assert most(study) == limit
    assert len(keys) == 2, "equal sources have equal runs"
    assert len(list(Path("out/runs").iterdir())) == 2


def test_equal_helpers_have_equal_keys_in_other_processes_and_folders(mine, tmp_path):
    mine("through another", 12)
    key = planned(str(tmp_path / "mine.py")).digest
    code = "import sys, helper_of_mine\nfrom fairlane.study.one_run import planned\nprint(planned(sys.argv[1]).digest)"
    import subprocess

    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "mine.py")], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == key
    assert fairlane("study", "s.toml", "-q", cwd=tmp_path).returncode == 0


def test_the_key_holds_modules_and_versions(mine, tmp_path):
    file = mine("through another", 12)
    file.write_text("import numpy.linalg, json\n" + file.read_text())
    plugin = planned(str(file))
    parts = dict(plugin.parts)
    import numpy

    assert set(parts) == {"between_of_mine", "helper_of_mine", "numpy", "python", "fairlane"}
    assert parts["numpy"] == numpy.__version__ and parts["python"].endswith(".".join(map(str, sys.version_info[:3])))
    assert parts["helper_of_mine"] == modules.sha256((tmp_path / "helper_of_mine.py").read_bytes())


def test_a_worker_loads_what_the_study_has_or_refuses_and_names_the_file(mine, tmp_path):
    mine("import", 12)
    plugin = planned(str(tmp_path / "mine.py"))
    mine("import", 34)
    load_plugins([plugin])  # what is loaded is what the study has, whatever the disk says now
    later = planned(str(tmp_path / "mine.py"))
    assert later.digest != plugin.digest
    load_plugins([later])
    with pytest.raises(PluginDiffers, match=r"the module helper_of_mine \(.*helper_of_mine\.py\) is another one"):
        load_plugins([plugin])
    mine("import", 12)
    load_plugins([plugin])
    with pytest.raises(PluginDiffers, match=r"it has fairlane .*, the study 0\.0"):
        load_plugins([plugin._replace(digest="x", parts=tuple((n, "0.0" if n == "fairlane" else v) for n, v in plugin.parts))])


def test_a_helper_that_changes_before_it_is_imported_is_told(mine, tmp_path):
    mine("in a function", 12)
    load(tmp_path / "mine.py")
    mine("in a function", 34)
    with pytest.raises(fl.PluginError, match=r"helper_of_mine\.py has changed since the plug-in .* was loaded"):
        fl.run("lan.toml")


def test_others_keep_their_modules(mine, tmp_path):
    """Modules that the plug-in does not import stay loaded, and a plug-in that fails changes nothing."""
    mine("import", 12)
    sys.path.insert(0, str(tmp_path))
    (tmp_path / "theirs_of_mine.py").write_text("STATE = []\n")
    import helper_of_mine
    import theirs_of_mine

    before = dict(sys.modules)
    (tmp_path / "broken.py").write_text("import helper_of_mine\n1/0")
    with pytest.raises(PluginLoadError, match="ZeroDivisionError"):
        load(tmp_path / "broken.py")
    assert sys.modules["helper_of_mine"] is helper_of_mine and {*sys.modules} >= {*before}
    load(tmp_path / "mine.py")
    assert sys.modules["theirs_of_mine"] is theirs_of_mine and sys.modules["helper_of_mine"] is not helper_of_mine
    changed = {n for n in before if n in sys.modules and sys.modules[n] is not before[n]}
    assert changed - {"fairlane_plugin_mine"} == {"helper_of_mine"}


def test_a_shared_library_that_changed_is_refused_by_a_process_that_has_it(compiled, tmp_path):
    from test_own_queue_c import QUEUE as C

    one, other = (
        compiled(C % {"name": "once", "enqueue": e, "dequeue": "", "more": ""}, f"once{i}")
        for i, e in enumerate(("q->ticks += 2;", "q->ticks += 3;"))
    )
    place = tmp_path / "once.so"
    place.write_bytes(Path(one).read_bytes())
    plugin = planned(str(place))
    place.unlink()
    place.write_bytes(Path(other).read_bytes())
    with pytest.raises(PluginLoadError, match=r"once\.so has changed since this process loaded it"):
        planned(str(place))
    load_plugins([plugin])
