"""Optional libraries, by the extra that installs them."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import MissingError

_TABLES = ("numpy", "polars")
_PLOTS = (*_TABLES, "matplotlib")
_STUDY = (*_PLOTS, "scipy", "jinja2")

EXTRAS: dict[str, tuple[str, ...]] = {
    "tables": _TABLES,
    "plots": _PLOTS,
    "study": _STUDY,
    "tune": (*_STUDY, "optuna"),
    "cluster": (*_STUDY, "distributed"),
    "mpi": (*_STUDY, "mpi4py"),
    "arrow": (*_TABLES, "pyarrow"),
    "query": ("duckdb",),
    "pandas": (*_TABLES, "pandas", "pyarrow"),
    "xarray": (*_TABLES, "xarray"),
    "graphs": ("networkx",),
    "watch": (*_STUDY, "aiohttp"),
    "rl": ("numpy", "gymnasium", "pettingzoo"),
}
"""The extras of pyproject.toml with their modules."""


_OF = {m: extra for extra, modules in reversed(EXTRAS.items()) for m in modules}
"""The smallest extra of each module."""


def installing(what: str) -> str:
    """Returns the command that installs into the environment of this Python; its `pip` may not be the one on PATH."""
    found = shutil.which("pip")
    own = Path(sys.executable)
    if found is not None and Path(found).parent == own.parent:
        return f"pip install {shlex.quote(what)}"
    with contextlib.suppress(ValueError):
        own = own.relative_to(Path.cwd())
    return f"{shlex.quote(str(own))} -m pip install {shlex.quote(what)}"


def extra_of(module: str | None) -> str | None:
    """Returns the smallest extra with a module; None if no extra has it.

    >>> extra_of("polars"), extra_of("optuna"), extra_of("zipfile")
    ('tables', 'tune', None)
    """
    return _OF.get(module or "")


def need(extra: str) -> None:
    """Raises `MissingError` if a library of an extra is missing.

    >>> need("tables")
    """
    missing = [m for m in EXTRAS[extra] if not _is_there(m)]
    if missing:
        names = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        command = installing(f"fairlane[{extra}]")
        raise MissingError(f"{names} {'is' if len(missing) == 1 else 'are'} not installed: {command}")


def _is_there(module: str) -> bool:
    """Returns whether a library is there; one that was found is not looked for again."""
    if module in sys.modules:
        return sys.modules[module] is not None
    if module not in _found:
        from importlib.util import find_spec

        if find_spec(module) is None:
            return False
        _found.add(module)
    return True


_found: set[str] = set()


class _Absent(type):
    """Metaclass of stand-ins: a call of one, or of anything in it, raises `MissingError`."""

    _extra: str

    def __call__(cls, *_args: Any, **_options: Any) -> Any:
        need(cls._extra)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return cls


def loaded(name: str, extra: str, load: Callable[[], Any]) -> Any:
    """Returns what `load` imports or, if a library of the extra is missing, a stand-in that says so when it is called."""
    try:
        need(extra)
    except MissingError as e:
        return _Absent(name, (), {"__doc__": f"Not available: {e}.", "_extra": extra})
    return load()
