"""The checks of `fairlane doctor`: the installation, and optional programs."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from ..base.extras import EXTRAS, installing

_TINY = """
duration = "1s"
[links.a-b]
from = "a"
to = "b"
rate = "1Mbit/s"
delay = "5ms"
[flows.tcp]
from = "a"
to = "b"
tcp = "newreno"
"""
_NEEDED = ("click", "rich")
_PEERS = {"ns": "ns-2, for validation/ns2", "tshark": "reads packet captures"}


def examine() -> list[dict[str, Any]]:
    """Returns all checks, each with `check`, `ok` (None: optional and absent) and `detail`."""
    return [
        _row("python", sys.version_info >= (3, 11), f"{platform.python_version()} at {sys.executable}"),
        *_extension(),
        *[_package(n, None) for n in _NEEDED],
        *[_package(n, f"fairlane[{extra}]") for n, extra in _optional().items()],
        _threads(),
        _writable(),
        *[_peer(n, why) for n, why in _PEERS.items()],
    ]


def _row(check: str, ok: bool | None, detail: str) -> dict[str, Any]:
    return {"check": check, "ok": ok, "detail": detail}


def _extension() -> list[dict[str, Any]]:
    try:
        from .. import _core

        rows = [_row("extension", True, f"fairlane {_core.version()} at {Path(_core.__file__).name}")]
        rows.append(_row("engine", True, f"{_core.version()}+{_core.engine()}"))  # As studies have it: `fairlane.study.one_run.engine`.
        try:
            installed = metadata.version("fairlane")
            same = installed == _core.version()
            rows.append(_row("version", same, installed if same else f"package {installed}, extension {_core.version()}"))
        except metadata.PackageNotFoundError:
            rows.append(_row("version", None, "the package is not installed, only importable"))
    except ImportError as e:
        return [_row("extension", False, f"cannot be loaded: {e}")]
    try:
        resolved = _core.resolve(_TINY, "<doctor>", "toml", [])
        (first,) = _core.run(resolved, [1], 1, False, None)
        (second,) = _core.run(resolved, [1], 1, True, None)
        same = first.fingerprint == second.fingerprint and first.packet_hops > 0
        rows.append(_row("trial run", same, f"fingerprint {first.fingerprint}" if same else "the observed run differs"))
    except Exception as e:
        rows.append(_row("trial run", False, str(e).splitlines()[0]))
    return rows


def _optional() -> dict[str, str]:
    """Returns each library of an extra, with the smallest extra that contains it."""
    found: dict[str, str] = {}
    for extra, libraries in EXTRAS.items():
        for name in libraries:
            found.setdefault(name, extra)
    return found


def _package(name: str, extra: str | None) -> dict[str, Any]:
    try:
        return _row(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        if extra is None:
            return _row(name, False, f"not installed: {installing(name)}")
        return _row(name, None, f"not installed (optional): {installing(extra)}")


def _threads() -> dict[str, Any]:
    from ..base.cores import available_threads

    n = available_threads()
    return _row("threads", True, f"{n} run{'s' * (n != 1)} in parallel")


def _writable() -> dict[str, Any]:
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()) as f:
            f.write(b"x")
        return _row("write access", True, str(Path.cwd()))
    except OSError as e:
        return _row("write access", False, f"{Path.cwd()}: {(e.strerror or str(e)).lower()}")


def _peer(name: str, why: str) -> dict[str, Any]:
    where = shutil.which(name)
    return _row(name, True if where else None, where or f"not installed (optional: {why})")
