"""Bounds of what a check may compute: claims come in files of others, and a short sentence can ask for an hour or for all memory.

The tree of a check is rewritten before it is compiled: what goes through a sequence, or makes one, or a large number, is counted first.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .vocabulary import HELPERS

MOST_STEPS = 2_000_000
"""Members of sequences that one evaluation looks at."""
_BITS = 4096
"""Most bits of a whole number."""
_DIGITS = 400
"""To which a number is rounded."""


class TooMuch(ValueError):
    """A check that asks for more than any claim needs."""


class _Meter(threading.local):
    left = MOST_STEPS


_meter = _Meter()


def begin() -> None:
    """Starts to count for one evaluation on this thread."""
    _meter.left = MOST_STEPS


def _charge(n: int) -> None:
    _meter.left -= n
    if _meter.left < 0:
        raise TooMuch(f"it looks at more than {MOST_STEPS} values")


def _sized(value: Any) -> Any:
    """The value, each of its members counted if it is a sequence."""
    if not isinstance(value, (int, float)) and hasattr(value, "__len__"):
        _charge(len(value))
    return value


def _steps(values: Iterable[Any]) -> Iterator[Any]:
    for x in values:
        _charge(1)
        yield x


def _tick() -> bool:
    _charge(1)
    return True


def _number(value: Any) -> Any:
    if not isinstance(value, (int, float)):
        raise TypeError(f"{type(value).__name__} is no number")
    return value


def _fits(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise TooMuch(f"a whole number has more than {_BITS} bits")
    return value


def _times(a: Any, b: Any) -> Any:
    return _fits(_number(a) * _number(b))


def _power(a: Any, b: Any) -> Any:
    if isinstance(_number(a), int) and a.bit_length() * abs(_number(b)) > _BITS:
        raise TooMuch(f"a whole number has more than {_BITS} bits")
    return a**b


def _rest(a: Any, b: Any) -> Any:
    return _number(a) % _number(b)


def _plus(a: Any, b: Any) -> Any:
    return _fits(_sized(a) + _sized(b))


_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.Mult: _times, ast.Pow: _power, ast.Mod: _rest, ast.Add: _plus}


class _Bounded(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        operation = _OPERATIONS.get(type(node.op))
        return node if operation is None else _call(operation, node.left, node.right)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call(_steps, node.iter)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = ast.IfExp(_call(_tick), node.body, ast.Constant(None))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        node.left, node.comparators = _call(_sized, node.left), [_call(_sized, x) for x in node.comparators]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Slice):
            node.value = _call(_sized, node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        node.value = _call(_sized, node.value)
        return node


def _call(function: Callable[..., Any], *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function.__name__, ast.Load()), list(args), [])


def bounded(tree: ast.Expression) -> ast.Expression:
    """Rewrites an expression so that everything that can grow is counted."""
    found: ast.Expression = ast.fix_missing_locations(_Bounded().visit(tree))
    return found


def _counted(helper: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        for x in args:
            _sized(x)
        return helper(*args, **named)

    return call


def _range(*args: Any) -> list[int]:
    made = range(*args)
    if made and abs(made[-1] - made[0]) // abs(made.step) >= MOST_STEPS:
        raise TooMuch(f"a range has more than {MOST_STEPS} numbers")
    return list(_sized(made))


def _round(x: Any, digits: int | None = None) -> Any:
    if digits is not None and abs(digits) > _DIGITS:
        raise TooMuch(f"a number is rounded to {digits} digits")
    return round(x, digits) if digits is not None else round(x)


_CALLED: tuple[Callable[..., Any], ...] = (_steps, _tick, _sized, *_OPERATIONS.values())
SCOPE: dict[str, Callable[..., Any]] = {
    **{name: _counted(helper) for name, helper in HELPERS.items()},
    "range": _range,
    "round": _round,
    **{f.__name__: f for f in _CALLED},
}
"""The helpers of checks, counted, and what the rewritten tree calls."""
