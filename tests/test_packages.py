"""Each package of `fairlane` imports only packages of lower layers, as `cargo dev arrows` checks for the crates.

Every import counts: at the top of a file, inside functions, for types alone, and in templates. Layers rule out cycles.
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
    ("units",),
    ("base",),
    ("stats", "look", "own"),
    ("settings", "claims", "graphs", "multiverse"),
    ("runs", "linux", "script", "bench", "tcp"),
    ("watch",),
    ("comparison", "formats", "learning", "study"),
    ("tuning", "worst", "cards"),
    ("papers", "reports"),
    ("cli",),
    ("__init__", "__main__"),
)
"""Layers, from the bottom up. A package imports packages of lower layers only."""
TOGETHER = dict.fromkeys(
    ("builders", "cc", "controls", "propagation", "queues", "sources", "stacks", "topologies", "transports"), "settings"
)
"""Files that count as one package: `cargo dev gen` writes them, and they use each other's types."""
DATA = {"schemas", "scenarios", "scripts"}
"""Folders without code."""
PRIVATE = re.compile(r"_(?!_)")
TEMPLATE = re.compile(r"""\{%-?\s*(?:import|from|include|extends)\s+["']([^"']+)["']""")


def layer(name: str) -> int | None:
    return next((i for i, names in enumerate(LAYERS) if name in names), None)


def package_of(name: str) -> str:
    return TOGETHER.get(name, name)


def faults(package: Path) -> list[str]:
    """Returns the faults in the imports of a package called fairlane."""
    found = []
    for path in sorted(package.iterdir()):
        name = package_of(path.name.split(".")[0])
        if (path.is_dir() and name not in DATA and name != "__pycache__") or path.suffix == ".py":
            if layer(name) is None:
                found.append(f"{name}: in no layer; add it to LAYERS")
                continue
            for file in sorted(path.rglob("*") if path.is_dir() else [path]):
                read = {".py": of_code, ".j2": of_template}.get(file.suffix)
                if read is not None:
                    found += [f"{file.relative_to(package)}:{line}: {fault}" for line, fault in read(package, file, name)]
    return found


def of_template(package: Path, file: Path, home: str) -> Iterator[tuple[int, str]]:
    for n, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        for name in TEMPLATE.findall(line):
            yield from ((n, fault) for fault in arrow(home, name.split("/")[0]))


def of_code(package: Path, file: Path, home: str) -> Iterator[tuple[int, str]]:
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
            target = package_of(name[1]) if len(name) > 1 else "__init__"
            # A name of the package itself, such as `from .. import run`, stands for the whole package.
            if layer(target) is None and not (package / target).exists() and not (package / f"{target}.py").exists():
                target = "__init__"
            if target == home or (home == "__init__" and not target):  # __init__ loads names of any package on first use
                continue
            modules |= {bound: target} if bound else {}
            yield from ((node.lineno, fault) for fault in arrow(home, target))
            private = next((part for part in name[2:] if PRIVATE.match(part)), None)
            if private:
                yield node.lineno, f"{home} takes the private name {private} of {target}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and PRIVATE.match(node.attr):
            owner = modules.get(node.value.id)
            if owner is not None:
                yield node.lineno, f"{home} takes the private name {node.attr} of {owner}"


def loaded(call: ast.Call, inside: list[str]) -> list[str]:
    """Returns the module that `import_module` loads. A name made at run time must begin with a dot, so that it stays in its package."""
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


def arrow(home: str, target: str) -> list[str]:
    below, own = layer(target), layer(home)
    if target == home or below is None:
        return [] if target == home else [f"{home} imports {target}, which is in no layer"]
    return [] if own is not None and below < own else [f"{home} must not import {target}"]


def test_all_arrows_lead_downwards_and_no_private_name_is_imported():
    assert not faults(PACKAGE)


def test_every_package_exists_and_has_a_docstring():
    assert {d.name for d in PACKAGE.iterdir() if d.is_dir()} - DATA - {"__pycache__"} <= {r for names in LAYERS for r in names}
    for name in (r for names in LAYERS for r in names if r != "_core"):
        file = PACKAGE / name / "__init__.py" if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
        assert name == "__main__" or ast.get_docstring(ast.parse(file.read_text("utf-8"))), name


def test_no_package_hides_a_public_function():
    """Importing `fairlane.run.x` would make a module of the function `fairlane.run`."""
    names = {r for layer in LAYERS for r in layer}
    assert {n for n in set(fl.__all__) & names if not isinstance(getattr(fl, n), types.ModuleType)} == set()


WRONG = {
    "upwards": ("base/x.py", "from ..study import plan", "base must not import study"),
    "in a function": ("look/x.py", "def f():\n    from ..papers.page import render", "look must not import papers"),
    "for types": ("runs/x.py", "if TYPE_CHECKING:\n    from ..study.model import Point", "runs must not import study"),
    "absolute": ("linux/x.py", "import fairlane.tuning.score as s", "linux must not import tuning"),
    "within a layer": ("comparison/x.py", "from ..study import plan", "comparison must not import study"),
    "from below": ("study/deep/x.py", "from ...tuning import score", "study must not import tuning"),
    "the top package by a relative import": ("papers/x.py", "from .. import run", "papers must not import __init__"),
    "the package": ("papers/x.py", "import fairlane", "papers must not import __init__"),
    "import_module": ("stats/x.py", "import_module('fairlane.runs.result')", "stats must not import runs"),
    "import_module of a neighbour": ("stats/x.py", "importlib.import_module('..runs', __package__)", "stats must not import runs"),
    "import_module of anything": ("stats/x.py", "import_module(name)", "imports by a name that is not written out"),
    "a private name": ("tuning/x.py", "from ..study.manual import _table", "tuning takes the private name _table of study"),
    "a private module": ("tuning/x.py", "from ..study._x import table", "tuning takes the private name _x of study"),
    "a private attribute": ("tuning/x.py", "from ..study import plan\nplan._hash(1)", "tuning takes the private name _hash of study"),
    "an unknown package": ("attic/x.py", "", "attic: in no layer"),
    "an unknown file": ("helpers.py", "", "helpers: in no layer"),
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
