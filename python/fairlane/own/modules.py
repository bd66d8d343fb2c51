"""Parts of a plug-in: its file, the modules that it imports from outside of installed packages, and the versions of packages.

Modules of a plug-in are loaded again with it, from their sources and not from compiled caches, so that the code that runs is the code
that was hashed, in a process of any age. Imports are found in the sources, and while the file is loaded. A module that a function imports
later is compared with its hash.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import json
import os
import site
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .. import _core
from ..errors import FairlaneError

_OURS = "fairlane"
_NOT_A_CHANGE = ("__main__", "__mp_main__")


@dataclass(frozen=True)
class Made:
    """A loaded plug-in."""

    digest: str
    """SHA-256 of all parts."""
    parts: tuple[tuple[str, str], ...] = ()
    """SHA-256 of each module, and the version of each installed package."""
    file: str = ""
    """SHA-256 of the file of the plug-in."""

    @classmethod
    def of(cls, file: str, parts: Iterator[tuple[str, str]] | Sequence[tuple[str, str]] = ()) -> Made:
        """Returns a plug-in with these parts."""
        known = tuple(sorted(parts))
        return cls(file if not known else hashlib.sha256(json.dumps([file, known]).encode()).hexdigest(), known, file)


class Changed(FairlaneError):
    """A module that has changed since the plug-in was loaded."""


def sha256(data: bytes) -> str:
    """Returns the SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


# --- modules from outside ----------------------------------------------------------------------------------------------------------


@functools.cache
def _places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the folders of installed packages and of Python's own modules."""
    paths = sysconfig.get_paths()
    user = [site.getusersitepackages()] if hasattr(site, "getusersitepackages") else []
    packages = {paths["purelib"], paths["platlib"], *user, *(site.getsitepackages() if hasattr(site, "getsitepackages") else ())}
    own = {paths["stdlib"], paths["platstdlib"]}
    real = [tuple(os.path.realpath(p) + os.sep for p in sorted(of)) for of in (packages, own)]
    return real[0], real[1]


def _kind(origin: str) -> str:
    """Returns the origin of a module: "package" if installed, "python" if part of Python, otherwise "outside"."""
    real = os.path.realpath(origin)
    packages, own = _places()
    return "package" if real.startswith(packages) else "python" if real.startswith(own) else "outside"


def _origin(spec: ModuleSpec | None) -> str | None:
    """Returns the file of a module; None if it has none."""
    if spec is None:
        return None
    archive = getattr(spec.loader, "archive", None)
    origin = archive if isinstance(archive, str) else spec.origin
    return origin if origin and Path(origin).is_file() else None


def _is_ours(name: str) -> bool:
    return name == _OURS or name.startswith((_OURS + ".", _OURS + "_plugin_"))


def _file_of(module: ModuleType) -> str | None:
    file = _origin(getattr(module, "__spec__", None)) or getattr(module, "__file__", None)
    return file if isinstance(file, str) and Path(file).is_file() else None


def _is_outside(name: str, module: ModuleType) -> bool:
    if name in _NOT_A_CHANGE or _is_ours(name):
        return False
    file = _file_of(module)
    if file is not None:
        return _kind(file) == "outside"
    try:  # a namespace package has locations instead of a file
        places = list(getattr(module, "__path__", ()))
    except (TypeError, KeyError, AttributeError):
        return False
    return bool(places) and all(isinstance(p, str) and _kind(p) == "outside" for p in places)


# --- loading ------------------------------------------------------------------------------------------------------------------


_expected: dict[str, tuple[str, str]] = {}
"""Loaded modules of plug-ins, and those that functions import later: SHA-256 of the source, and the plug-in."""


_once: dict[str, str] = {}
"""Modules that are loaded once per process, with their state at the first import by a plug-in."""


class Source(SourceFileLoader):
    """Loader that ignores compiled caches, whose timestamps may be wrong."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, path)
        self.digest = ""

    def get_code(self, fullname: str) -> CodeType:
        """Compiles the source and stores its digest."""
        path = self.get_filename(fullname)
        data = self.get_data(path)
        self.digest = sha256(data)
        known = _expected.get(fullname)
        if _now is None and known is not None and known[0] != self.digest:
            raise Changed(f"{path} has changed since the plug-in {known[1]} that imports it was loaded")
        return self.source_to_code(data, path)


@dataclass
class _Recorder:
    found: dict[str, Source | str] = field(default_factory=dict)
    """Modules loaded from outside, by name."""
    kept: frozenset[str] = frozenset()
    """Modules of packages with compiled parts, which a process loads once."""
    later: frozenset[str] = frozenset()
    """Modules that functions of the plug-in import later."""
    thread: int = field(default_factory=threading.get_ident)


_now: _Recorder | None = None
"""State of the plug-in being loaded."""


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if (_now is None and fullname not in _expected) or _is_ours(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        origin = _origin(spec)
        if spec is None or origin is None or _kind(origin) != "outside":
            return None
        if type(spec.loader) is SourceFileLoader:
            spec.loader = loader = Source(fullname, origin)
            found: Source | str = loader
        else:
            found = origin
        if _now is not None and _now.thread == threading.get_ident():
            _now.found[fullname] = found
        return spec


_finder = _Finder()
loading = threading.RLock()
"""Held while a plug-in is loaded."""


@contextmanager
def afresh() -> Iterator[_Recorder]:
    """Context without imported modules from outside; those not imported again are restored at the end."""
    global _now
    with loading:
        compiled = {n.partition(".")[0] for n, m in list(sys.modules.items()) if (_file_of(m) or "").endswith(tuple(EXTENSION_SUFFIXES))}
        away = {
            name: module
            for name, module in list(sys.modules.items())
            if isinstance(module, ModuleType)
            and not getattr(getattr(module, "__spec__", None), "_initializing", False)
            and name.partition(".")[0] not in compiled
            and _is_outside(name, module)
        }
        for name in away:
            del sys.modules[name]
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
        importlib.invalidate_caches()
        kept = frozenset(n for n, m in list(sys.modules.items()) if n.partition(".")[0] in compiled and _is_outside(n, m))
        before, _now = _now, _Recorder(kept=kept)
        here = _now
        try:
            yield here
        except BaseException:
            for name in here.found:
                sys.modules.pop(name, None)
            sys.modules.update(away)
            raise
        finally:
            _now = before
        again = {name.partition(".")[0] for name in (*here.found, *here.later)}
        sys.modules.update({n: m for n, m in away.items() if n.partition(".")[0] not in again})


def made_of(path: str, source: bytes, recorded: _Recorder) -> Made:
    """Returns the parts of a plug-in just loaded from this source."""
    sources: dict[str, bytes] = {"": source}
    digests: dict[str, str] = {}
    installed: set[str] = set()
    left = [("", False)]
    for name, loaded in recorded.found.items():
        left.append((name, _take(name, loaded if isinstance(loaded, str) else loaded.path, sources, digests)))
        if isinstance(loaded, Source) and loaded.digest not in ("", digests[name]):
            raise Changed(f"{loaded.path} changes while the plug-in {path} is loaded: try again")
    seen: set[str] = set(recorded.found)
    while left:
        name, package = left.pop()
        if name not in sources:
            continue
        for other in sorted(_imports(sources[name], name, package)):
            if other in seen or _is_ours(other):
                continue
            seen.add(other)
            spec = _find(other)
            origin = _origin(spec)
            if origin is None:
                continue
            if (kind := _kind(origin)) == "package":
                installed.add(other.partition(".")[0])
            elif kind == "outside":
                left.append((other, _take(other, origin, sources, digests)))
    recorded.later = frozenset(digests.keys() - recorded.found.keys() - recorded.kept)
    for name, digest in digests.items():
        if name in recorded.kept and _once.setdefault(name, digest) != digest:
            raise Changed(
                f"the module {name} has changed, and its package has compiled parts, which a process loads once: restart the process"
            )
        _expected[name] = (digest, path)
    return Made.of(sha256(source), [*digests.items(), *_versions(installed)])


def is_current(made: Made) -> bool:
    """Returns true if all modules and versions of a plug-in are unchanged on the disk."""
    versions = dict(_versions(set()))
    for name, value in made.parts:
        if name in versions:
            if versions[name] != value:
                return False
        elif len(value) == 64:
            origin = _origin(_find(name))
            if origin is None or sha256(Path(origin).read_bytes()) != value:
                return False
    return True


def _take(name: str, origin: str, sources: dict[str, bytes], digests: dict[str, str]) -> bool:
    """Reads a file from outside; true if it belongs to a package."""
    data = Path(origin).read_bytes()
    digests[name] = sha256(data)
    if origin.endswith(".py"):
        sources[name] = data
    return Path(origin).name == "__init__.py"


def _find(name: str) -> ModuleSpec | None:
    """Returns the spec of a module without loading it or its parents."""
    path: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for i in range(len(parts)):
        full = ".".join(parts[: i + 1])
        try:
            spec = PathFinder.find_spec(full, path)
        except (ImportError, OSError, ValueError):
            return None
        if spec is None:
            known = sys.modules.get(full)
            spec = getattr(known, "__spec__", None)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
        if not path and i + 1 < len(parts):
            return None
    return spec


def _imports(source: bytes, name: str, package: bool) -> set[str]:
    """Returns the modules that a source imports, also by `import_module` with a literal."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = name.split(".")[: len(name.split(".")) - node.level + package]
                base = ".".join([*above, *([base] if base else [])])
            if base:
                found |= {base, *(f"{base}.{a.name}" for a in node.names if a.name != "*")}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
            if called in ("import_module", "__import__") and all(p.isidentifier() for p in node.args[0].value.split(".")):
                found.add(node.args[0].value)
    return found | {name.rpartition(".")[0] for name in found if "." in name}


def _versions(installed: set[str]) -> Iterator[tuple[str, str]]:
    """Yields the versions of Python, fairlane and installed packages."""
    yield "python", f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
    here = Path(__file__).parent
    own = sha256(b"\0".join((here / name).read_bytes() for name in ("cc.py", "plugin.py")))
    yield _OURS, f"{_core.version()} {own[:16]}"
    if not installed:
        return
    from importlib import metadata

    of = metadata.packages_distributions()
    for name in sorted(installed):
        if name in of:
            yield from ((dist, metadata.version(dist)) for dist in sorted(set(of[name])))
        elif (origin := _origin(_find(name))) is not None:
            yield name, sha256(Path(origin).read_bytes())


def difference(here: Made, wanted: Any) -> str:
    """Returns the differences between a plug-in loaded here and that of the study, in words."""
    if here.file != wanted.file:
        return "its file is another one"
    mine, theirs = dict(here.parts), dict(wanted.parts)
    reasons = []
    for name in sorted(mine.keys() | theirs.keys()):
        a, b = mine.get(name), theirs.get(name)
        if a == b:
            continue
        where = _origin(_find(name))
        hashed = any(x is not None and len(x) == 64 for x in (a, b))
        shown = f"the module {name}" + (f" ({where})" if where else "") if hashed else name
        if a is None:
            reasons.append(f"it does not import {shown} here")
        elif b is None:
            reasons.append(f"it imports {shown} here, which the study's does not")
        else:
            reasons.append(f"{shown} is another one" if hashed else f"it has {name} {a}, the study {b}")
    return "; ".join(reasons) or "it is another one"
