"""The rooms of the package `fairlane` know only those below them, as `cargo dev arrows` holds it for the crates.

Every import counts: at the top of a file, inside functions, for types alone, and those of templates. Layers rule out circles.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairlane as fl

PACKAGE = Path(fl.__file__).parent
LAYERS = (
    ("_core",),
    ("errors",),
    ("base",),
    ("stats", "look", "own"),
    ("_params", "claims", "graphs", "multiverse"),
    ("runs", "linux", "script", "bench", "tcp"),
    ("watch",),
    ("comparison", "formats", "study"),
    ("tuning",),
    ("papers", "reports"),
    ("cli",),
    ("__init__", "__main__"),
)
"""From the bottom up. A room imports rooms of lower layers; those of one layer do not know one another."""
TOGETHER = {"settings": "_params"}
"""Files that make one room: `cargo dev gen` writes both, and they name each other's types."""
DATA = {"schemas", "scenarios", "scripts"}
"""Folders without code."""
PRIVATE = re.compile(r"_(?!_)")
TEMPLATE = re.compile(r"""\{%-?\s*(?:import|from|include|extends)\s+["']([^"']+)["']""")


def layer(room: str) -> int | None:
    return next((i for i, rooms in enumerate(LAYERS) if room in rooms), None)


def room_of(name: str) -> str:
    return TOGETHER.get(name, name)


def faults(package: Path) -> list[str]:
    """What is wrong with the imports of a package called fairlane."""
    found = []
    for path in sorted(package.iterdir()):
        room = room_of(path.name.split(".")[0])
        if (path.is_dir() and room not in DATA and room != "__pycache__") or path.suffix == ".py":
            if layer(room) is None:
                found.append(f"{room}: no room of the house; add it to its layer")
                continue
            for file in sorted(path.rglob("*") if path.is_dir() else [path]):
                told = {".py": of_code, ".j2": of_template}.get(file.suffix)
                if told is not None:
                    found += [f"{file.relative_to(package)}:{line}: {fault}" for line, fault in told(package, file, room)]
    return found


def of_template(package: Path, file: Path, room: str) -> Iterator[tuple[int, str]]:
    for n, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        for name in TEMPLATE.findall(line):
            yield from ((n, fault) for fault in arrow(room, name.split("/")[0]))


def of_code(package: Path, file: Path, room: str) -> Iterator[tuple[int, str]]:
    here = ["fairlane", *file.relative_to(package).with_suffix("").parts]
    inside = here[:-1]  # what one leading dot means, in __init__.py as in any other file
    tree = ast.parse(file.read_text("utf-8"))
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        names: list[tuple[list[str], str]] = []
        if isinstance(node, ast.Import):
            names = [(a.name.split("."), a.asname or "") for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = inside[: len(inside) - node.level + 1] if node.level else []
            source = [*start, *(node.module or "").split(".")] if node.module else start
            names = [([*source, a.name], a.asname or a.name) for a in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("import_module", "__import__"):
            try:
                names = [(loaded(node, inside), "")]
            except ValueError:
                yield node.lineno, "imports by a name that is not written out"
        for name, bound in names:
            if name[0] != "fairlane":
                continue
            target = room_of(name[1]) if len(name) > 1 else "__init__"
            # A name of the package itself, such as `from .. import run`, stands for the whole house.
            if layer(target) is None and not (package / target).exists() and not (package / f"{target}.py").exists():
                target = "__init__"
            if target == room or (room == "__init__" and not target):  # the lazy names of the house may stand for any room
                continue
            modules |= {bound: target} if bound else {}
            yield from ((node.lineno, fault) for fault in arrow(room, target))
            private = next((part for part in name[2:] if PRIVATE.match(part)), None)
            if private:
                yield node.lineno, f"{room} takes the private name {private} of {target}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and PRIVATE.match(node.attr):
            owner = modules.get(node.value.id)
            if owner is not None:
                yield node.lineno, f"{room} takes the private name {node.attr} of {owner}"


def loaded(call: ast.Call, inside: list[str]) -> list[str]:
    """The module that `import_module` is to load. A name made at run time must begin with a dot, so that it stays in its room."""
    first = call.args[0]
    text = first.values[0] if isinstance(first, ast.JoinedStr) else first
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        raise ValueError
    if not text.value.startswith("."):
        if isinstance(first, ast.JoinedStr):
            raise ValueError
        return text.value.split(".")
    up = len(text.value) - len(text.value.lstrip("."))
    return [*inside[: len(inside) - up + 1], *text.value[up:].split(".")]


def arrow(room: str, target: str) -> list[str]:
    below, own = layer(target), layer(room)
    if target == room or below is None:
        return [] if target == room else [f"{room} imports {target}, which is no room of the house"]
    return [] if own is not None and below < own else [f"{room} must not import {target}"]


def test_all_arrows_lead_downwards_and_private_names_stay_at_home():
    assert not faults(PACKAGE)


def test_every_room_is_there_and_says_what_it_is():
    assert {d.name for d in PACKAGE.iterdir() if d.is_dir()} - DATA - {"__pycache__"} <= {r for rooms in LAYERS for r in rooms}
    for room in (r for rooms in LAYERS for r in rooms if r != "_core"):
        file = PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
        assert room == "__main__" or ast.get_docstring(ast.parse(file.read_text("utf-8"))), room


def test_no_room_takes_the_place_of_a_public_function():
    """Importing `fairlane.run.x` would make a module of the function `fairlane.run`."""
    rooms = {r for layer in LAYERS for r in layer}
    assert {n for n in set(fl.__all__) & rooms if not isinstance(getattr(fl, n), types.ModuleType)} == set()


WRONG = {
    "upwards": ("base/x.py", "from ..study import plan", "base must not import study"),
    "in a function": ("look/x.py", "def f():\n    from ..papers.page import render", "look must not import papers"),
    "for types": ("runs/x.py", "if TYPE_CHECKING:\n    from ..study.model import Point", "runs must not import study"),
    "absolute": ("linux/x.py", "import fairlane.tuning.score as s", "linux must not import tuning"),
    "within a layer": ("comparison/x.py", "from ..study import plan", "comparison must not import study"),
    "from below": ("study/deep/x.py", "from ...tuning import score", "study must not import tuning"),
    "the whole house": ("papers/x.py", "from .. import run", "papers must not import __init__"),
    "the package": ("papers/x.py", "import fairlane", "papers must not import __init__"),
    "import_module": ("stats/x.py", "import_module('fairlane.runs.result')", "stats must not import runs"),
    "import_module of a neighbour": ("stats/x.py", "importlib.import_module('..runs', __package__)", "stats must not import runs"),
    "import_module of anything": ("stats/x.py", "import_module(name)", "imports by a name that is not written out"),
    "a private name": ("tuning/x.py", "from ..study.manual import _table", "tuning takes the private name _table of study"),
    "a private module": ("tuning/x.py", "from ..study._x import table", "tuning takes the private name _x of study"),
    "a private attribute": ("tuning/x.py", "from ..study import plan\nplan._hash(1)", "tuning takes the private name _hash of study"),
    "an unknown room": ("attic/x.py", "", "attic: no room of the house"),
    "an unknown file": ("helpers.py", "", "helpers: no room of the house"),
    "a template": ("look/x.html.j2", '{% from "papers/page.html.j2" import claim %}', "look must not import papers"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_arrow_is_found(tmp_path, what):
    name, text, fault = WRONG[what]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    (found,) = faults(tmp_path)
    assert fault in found


def test_right_arrows_are_none_of_these(tmp_path):
    file = tmp_path / "study" / "x.py"
    file.parent.mkdir()
    file.write_text("from .. import _core\nfrom ..look import theme\nfrom . import plan\nfrom .plan import _hash\nimport_module(f'.{x}')\n")
    assert faults(tmp_path) == []
