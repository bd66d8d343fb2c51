"""Base class of the generated classes of `queues.py`, `cc.py` and the like."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from inspect import cleandoc
from pathlib import Path
from textwrap import TextWrapper
from typing import Any, ClassVar, NewType

from ..units import Quantity

Announced = NewType("Announced", str)
"""Name of a plug-in that registers at run time, unknown to type checkers."""


_WIDTH = 76
"""Columns of a docstring: `help` indents it by four of the 80 that a terminal has."""


@lru_cache
def _meanings(module: str) -> dict[str, dict[str, str]]:
    """Returns the texts below the fields of the classes of a module, by class and field; empty if the sources are not installed."""
    import ast

    try:
        tree = ast.parse(Path(sys.modules[module].__file__ or "").read_text("utf-8"))
    except OSError:
        return {}
    classes = (c for c in tree.body if isinstance(c, ast.ClassDef))
    return {
        c.name: {
            field.target.id: " ".join(below.value.value.split())
            for field, below in zip(c.body, c.body[1:], strict=False)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
        }
        for c in classes
    }


class _Documented(type):
    """Metaclass that lists the parameters in the docstring: their texts are read from the sources when somebody asks for it."""

    @property
    def __doc__(cls) -> str | None:
        about = vars(cls).get("__doc__")
        if about is None or "__match_args__" not in vars(cls):  # not made by `dataclass`, or not yet
            return about
        known = _meanings(cls.__module__).get(cls.__name__, {}) if cls.__module__.startswith("fairlane.") else {}
        form = TextWrapper(_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False)
        rows = [form.fill(f"{name}: {text}") for name, text in known.items()]
        return "\n".join([cleandoc(about), "", "Args:", *rows]) if rows else cleandoc(about)

    @__doc__.setter
    def __doc__(cls, text: str | None) -> None:
        type.__dict__["__doc__"].__set__(cls, text)  # `dataclass` writes one under -OO


class Params(metaclass=_Documented):
    """Parameters of one algorithm. A field left at None keeps the default of its declaration."""

    _kind: ClassVar[str] = ""
    _name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        from .bare_numbers import check_algorithm

        check_algorithm(self._kind, self._name, self.table(), f"{type(self).__module__.rpartition('.')[2]}.{type(self).__name__}")

    def table(self) -> dict[str, Any]:
        """Returns the fields that are set, as in a scenario file."""
        own = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        # A parameter named like a Python keyword has a trailing underscore.
        return {name.rstrip("_"): plain(value) for name, value in own if value is not None}

    def __repr__(self) -> str:
        own = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in own if value is not None)})"

    def spec(self) -> Any:
        """Returns the form of a scenario file: the name, or a table with the name as key."""
        table = self.table()
        if self._kind == "transport":
            return table
        return {self._name: table} if table else self._name


class QueueParams(Params):
    """Parameters of a queue."""

    _kind = "queue"


class CcParams(Params):
    """Parameters of a congestion control."""

    _kind = "cc"


class SourceParams(Params):
    """Parameters of a source of traffic."""

    _kind = "source"


class ControlParams(Params):
    """Parameters of a control of flows."""

    _kind = "control"


class TopologyParams(Params):
    """Parameters of a topology builder."""

    _kind = "topology"


class PropagationParams(Params):
    """Parameters of a propagation model."""

    _kind = "propagation"


class StackParams(Params):
    """Parameters of a real transport stack."""

    _kind = "stack"


class TransportParams(Params):
    """Parameters of a transport."""

    _kind = "transport"


def plain(value: Any) -> Any:
    """Converts `value` to the types of TOML and JSON: parameter classes become tables, tuples become lists."""
    if isinstance(value, Params):
        return value.spec()
    if isinstance(value, Quantity):
        return str(value)
    if isinstance(value, type) and hasattr(value, "_parameters"):  # a plug-in class
        return value.__name__
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple, range)):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if getattr(value, f.name) is not None}
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # numpy scalars
        return value.item()
    return value
