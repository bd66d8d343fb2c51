"""Folders of studies: those that come with fairlane and those of its users, found and their code loaded.

A study is a folder with `paper.toml`, `study.py` and its data. Its name is the key of the study. The code is loaded by its path, as a
package with a name of its own, so that modules import one another with a dot and two folders of one name do not meet.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from os import PathLike, fspath
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..errors import FolderError, PaperError, suggest
from .definition import Paper
from .error_context import study_errors

_LEAD = "fairlane_study_"
"""Begins the names of the packages that studies are loaded as."""
_HELP = "`fairlane new paper KEY` writes a folder of the right shape"
_loaded: dict[str, tuple[Any, type[Paper]]] = {}
"""Package of a study: the state of its files, and the class that defines it."""


def shipped() -> Path:
    """The folder of the studies that come with fairlane; in a checkout a link to `papers` at its top."""
    place = Path(__file__).resolve().parent / "studies"
    if place.is_file():  # git without symbolic links, as on Windows, leaves a file that holds the target
        place = place.parent / place.read_text("utf-8").strip()
    return place.resolve()


def keys() -> list[str]:
    """The studies that come with fairlane."""
    return sorted(p.parent.name for p in shipped().glob("*/paper.toml"))


def comes_with_us(folder: Path) -> bool:
    """True if a folder is that of a study that comes with fairlane: its code is ours."""
    return folder.resolve().parent == shipped()


def find(name: str | PathLike[str], *others: str) -> Path:
    """The folder of a study: the key of one that comes with fairlane, or else a path. `others`: names that a caller takes besides these."""
    text = fspath(name)
    if text in keys():
        return shipped() / text
    folder = Path(text)
    if folder.is_dir():
        for needed in ("paper.toml", "study.py"):
            if not (folder / needed).is_file():
                raise PaperError(f"{folder} is not a study: it lacks {needed}\n  = help: {_HELP}")
        return folder
    if folder.exists():
        raise FolderError(f"{text} is a file: name the folder of the study")
    if len(folder.parts) != 1 or text.startswith("."):
        raise FolderError(f"{text}: folder not found\n  = help: {_HELP}")
    raise suggest(text, [*others, *keys()], "paper")


def load(name: str | PathLike[str]) -> Paper:
    """A study as an object: the key of one that comes with fairlane, or the path of a folder. An unknown key names near ones."""
    folder = find(name)
    with study_errors(folder):
        paper = _class_of(folder)(folder)
    paper.called = fspath(name)
    return paper


class _Uncached(SourceFileLoader):
    """Reads code as it is now and writes no file next to it: a folder may be read-only, or edited within a second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class _Modules(MetaPathFinder):
    """Finds the modules that the code of a study imports from its own folder."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if path is None or not fullname.startswith(_LEAD):
            return None
        found = (FileFinder(place, (_Uncached, SOURCE_SUFFIXES)).find_spec(fullname) for place in path)
        return next((spec for spec in found if spec is not None), None)


sys.meta_path.insert(0, _Modules())


def _class_of(folder: Path) -> type[Paper]:
    """The class that `study.py` defines; loaded again if a file of the code has changed."""
    place = folder.resolve()
    package = _LEAD + hashlib.sha256(str(place).encode()).hexdigest()[:16]
    state = [(str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(place.rglob("*.py")) if p.is_file()]
    if package in _loaded and _loaded[package][0] == state:
        return _loaded[package][1]
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        del sys.modules[name]
    root = sys.modules[package] = ModuleType(package)
    root.__path__ = [str(place)]
    found = _only_class(import_module(".study", package), folder)
    _loaded[package] = (state, found)
    return found


def _only_class(module: ModuleType, folder: Path) -> type[Paper]:
    """The one subclass of `Paper` in a module, with all that a study has to define."""
    own = [c for c in vars(module).values() if inspect.isclass(c) and issubclass(c, Paper) and c.__module__ == module.__name__]
    own = [c for c in own if not any(issubclass(other, c) for other in own if other is not c)]
    file = folder / "study.py"
    if len(own) != 1:
        there = f"defines {len(own)}: {', '.join(c.__name__ for c in own)}" if own else "defines none"
        raise PaperError(f"{file}: a study is one subclass of fairlane.papers.Paper; this file {there}")
    missing = sorted(own[0].__abstractmethods__)
    if missing:
        line = inspect.getsourcelines(own[0])[1]
        raise PaperError(f"{file}:{line}: {own[0].__name__} does not define {', '.join(f'{m}()' for m in missing)}")
    return own[0]
