"""The pages of the Python API: every public name, from its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import fairlane as fl
from fairlane.base.spec import Params

PACKAGES = {
    "runs": (
        "Networks, runs and results",
        "A network is built or read, run with some seeds, and its result is tables, figures, folders and captures.",
    ),
    "comparison": ("Comparisons", "One scenario under several queues, congestion controls or other values."),
    "study": ("Studies", "All combinations of what is varied: run, kept, read."),
    "tuning": ("Tuning", "A queue and its parameters chosen by what is wanted of it."),
    "cards": ("Report cards", "What RFCs ask of a queue or a congestion control, answered with verdicts."),
    "worst": ("Worst paths", "The path on which an algorithm does worst: found, shrunk, confirmed."),
    "own": ("Queues and congestion controls of your own", "Classes to derive from, and what loads them."),
    "errors": ("Errors", "The exceptions of fairlane."),
}
"""Titles of the pages, by package."""
ALGORITHMS = {
    "queues": ("Queues", "queues"),
    "cc": ("Congestion controls", "congestion-control"),
    "transports": ("Transports", "transports"),
    "sources": ("Sources", "sources"),
    "controls": ("Controls", "controls"),
    "topologies": ("Topologies", "topologies"),
    "propagation": ("Propagation", "propagation"),
}
"""Modules of parameter classes, and the page of the reference that has their parameters."""
MODULES = {
    "stats": ("Statistics", "fairlane.stats"),
    "papers": ("Published studies", "fairlane.papers"),
    "tcp": ("A TCP endpoint alone", "fairlane.tcp"),
    "learning": ("Environments for learners", "fairlane.learning"),
}


def heading(title: str, mark: str = "=") -> str:
    """A title of a page or of a part of one."""
    return f"{title}\n{mark * len(title)}\n\n"


def entry(module: str, name: str, thing: Any) -> str:
    """Returns the autodoc directive of one name."""
    where = f"{module}.{name}"
    if inspect.isclass(thing):
        if issubclass(thing, BaseException):
            return f".. autoexception:: {where}\n   :show-inheritance:\n\n"
        if issubclass(thing, Params):  # its docstring lists the fields
            return f".. autoclass:: {where}\n   :members: table, spec\n\n"
        return f".. autoclass:: {where}\n   :members:\n   :inherited-members: dict, object, str, tuple, int, list, float\n\n"
    if inspect.ismodule(thing):
        return f"`{where}` {(thing.__doc__ or '').strip().splitlines()[0]}\n\n"
    if inspect.isfunction(thing) or inspect.isbuiltin(thing):
        return f".. autofunction:: {where}\n\n"
    if origin(module, name) is None:
        return f".. data:: {where}\n\n   {thing!r}\n\n"
    return f".. autodata:: {origin(module, name)}\n   :no-value:\n\n"


def origin(module: str, name: str) -> str | None:
    """Where a value is made: what it means stands below it there.

    >>> origin("fairlane.stats", "MARGIN"), origin("fairlane.papers", "Tree")
    ('fairlane.stats.findings.MARGIN', 'fairlane.papers.definition.Tree')
    """
    folder = Path(import_module(module).__file__ or "").parent
    for file in sorted(folder.glob("*.py")):
        if re.search(rf'^{name}(: [^=\n]+)? = .*(\n[ )\]}}].*)*\n"""', file.read_text("utf-8"), re.M):
            return f"{module}.{file.stem}.{name}"
    return None


def package(thing: Any) -> str:
    """Returns the package that a name comes from."""
    return thing.__module__.split(".")[1]


def pages() -> Mapping[str, str]:
    """Pages by their names, the index first."""
    groups: dict[str, list[str]] = {}
    for name in fl.__all__:
        thing = getattr(fl, name)
        if inspect.ismodule(thing):
            continue
        where = "runs" if name == "version" else "stats" if package(thing) == "stats" else package(thing)
        groups.setdefault(where, []).append(name)
    made: dict[str, str] = {}
    listed: list[tuple[str, str, str]] = []
    own_pages = [r for r in (*PACKAGES, *sorted(set(groups) - set(PACKAGES) - set(MODULES))) if r in groups]
    for key in own_pages:
        title, words = PACKAGES.get(key, (key.capitalize(), ""))
        names = sorted(groups[key], key=lambda n: (not inspect.isclass(getattr(fl, n)), n))
        made[f"api/{key}"] = heading(title) + f"{words}\n\n" + "".join(entry("fairlane", n, getattr(fl, n)) for n in names)
        listed.append((key, title, ", ".join(f"`{n}`" for n in names)))
    for key, (title, module) in MODULES.items():
        loaded = import_module(module)
        names = list(
            getattr(loaded, "__all__", None)
            or [n for n, t in vars(loaded).items() if getattr(t, "__module__", "") == module and n[0] != "_"]
        )
        body = "".join(entry(module, n, getattr(loaded, n)) for n in names)
        made[f"api/{key}"] = heading(title) + f".. automodule:: {module}\n   :no-members:\n\n{body}"
        listed.append((key, title, f"`{module}`"))
    for name, (title, page) in ALGORITHMS.items():
        module = getattr(fl, name)
        body = "".join(entry(module.__name__, n, getattr(module, n)) for n in module.__all__)
        made[f"api/params-{page}"] = (
            heading(f"Classes of {title.lower()}")
            + f"Their parameters, with units, ranges and sources, are in the :doc:`reference </reference/{page}>`, too.\n\n{body}"
        )
        listed.append((f"params-{page}", f"Classes of {title.lower()}", f"`{module.__name__}.{module.__all__[0]}` and its like"))
    made["api/settings"] = heading("Types of settings") + ".. automodule:: fairlane.settings\n   :members:\n\n"
    listed.append(("settings", "Types of settings", "`fairlane.settings`"))
    rows = "".join(f"   * - :doc:`{title} </api/{key}>`\n     - {words}\n" for key, title, words in listed)
    toc = "".join(f"   /api/{key}\n" for key, _, _ in listed)
    index = heading("Python API") + "What ``import fairlane as fl`` gives. :doc:`The guide </guides/python-api>` shows how to use it.\n\n"
    return {"api/index": f"{index}.. list-table::\n   :widths: 40 60\n\n{rows}\n.. toctree::\n   :hidden:\n\n{toc}", **made}
