"""By how much a claim holds or fails: the check with numbers instead of its comparisons.

A comparison is worth the distance between its sides over the larger of the two, positive where it is true; `and` and `all` are worth their
least member, `or` and `any` their greatest, `not` turns the sign, and `given` is worth its claim. That is the robustness of temporal logics
(Fainekos and Pappas, Theoretical Computer Science 410, 2009), with distances made relative so that packets and seconds can stand side by
side.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from typing import Any

from .vocabulary import SIGNS

LARGEST = 1.0
"""Largest margin of a comparison, and the margin of a condition that compares no numbers."""


def between(left: Any, sign: str, right: Any) -> float:
    """Returns the margin of one comparison, from -1 to 1.

    >>> between(1.0, "<", 4.0), between(4.0, "<=", 1.0), between(2.0, "==", 1.0), between(0.0, ">", 0.0)
    (0.75, -0.75, -0.5, 0.0)
    """
    if sign in ("in", "not in") or not all(isinstance(x, (int, float)) for x in (left, right)):
        equal = left in right if "in" in sign else left == right
        return LARGEST if equal == (sign in ("in", "==")) else -LARGEST
    largest = max(abs(left), abs(right))
    distance = (right - left) / largest if largest else 0.0
    if not math.isfinite(distance):
        return 0.0
    signed = {"<": distance, "<=": distance, ">": -distance, ">=": -distance, "==": -abs(distance), "!=": abs(distance)}[sign]
    return max(-LARGEST, min(LARGEST, float(signed))) + 0.0


def _sure(value: object) -> float:
    return LARGEST if value else -LARGEST


def _least(values: Iterable[float]) -> float:
    return min(values, default=LARGEST)


def _most(values: Iterable[float]) -> float:
    return max(values, default=-LARGEST)


WORTH: dict[str, Callable[..., Any]] = {"_between": between, "_sure": _sure, "_least": _least, "_most": _most}
"""Functions that the rewritten check calls."""


def worth(node: ast.expr) -> ast.expr:
    """The expression whose value is what a check is worth."""
    if isinstance(node, ast.BoolOp):
        return _call("_least" if isinstance(node.op, ast.And) else "_most", ast.List([worth(x) for x in node.values], ast.Load()))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.UnaryOp(ast.USub(), worth(node.operand))
    if isinstance(node, ast.IfExp):
        return ast.IfExp(node.test, worth(node.body), worth(node.orelse))
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        pairs: list[ast.expr] = [
            _call("_between", left, ast.Constant(SIGNS[type(op)]), right)
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return _call("_least", ast.List(pairs, ast.Load()))
    whole = {"all": "_least", "any": "_most"}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in whole and len(node.args) == 1:
        (arg,) = node.args
        if isinstance(arg, (ast.GeneratorExp, ast.ListComp)):
            return _call(whole[node.func.id], ast.ListComp(worth(arg.elt), arg.generators))
        if isinstance(arg, (ast.List, ast.Tuple)) and not any(isinstance(x, ast.Starred) for x in arg.elts):
            return _call(whole[node.func.id], ast.List([worth(x) for x in arg.elts], ast.Load()))
    return _call("_sure", node)


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])
