"""Base class of the generated dataclasses of `_params.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, NewType

Announced = NewType("Announced", str)
"""Name of a plug-in that registers at run time, unknown to type checkers."""


class Params:
    """Parameters of one algorithm. A field left at None keeps the default of its declaration."""

    _kind: ClassVar[str] = ""
    _name: ClassVar[str] = ""

    def table(self) -> dict[str, Any]:
        """Returns the fields that are set, as in a scenario file."""
        own = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        # A parameter named like a Python keyword has a trailing underscore.
        return {name.rstrip("_"): plain(value) for name, value in own if value is not None}

    def spec(self) -> Any:
        """Returns the form of a scenario file: the name, or a table with the name as key."""
        table = self.table()
        if self._kind == "transport":
            return table
        return {self._name: table} if table else self._name


def plain(value: Any) -> Any:
    """Converts `value` to the types of TOML and JSON: parameter classes become tables, tuples become lists."""
    if isinstance(value, Params):
        return value.spec()
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
