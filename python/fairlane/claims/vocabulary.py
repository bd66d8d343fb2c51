"""The vocabulary of checks: the helpers, the kinds of expressions and the comparisons they may contain."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from typing import Any

from ..base.metrics import jain


def _mean(xs: Iterable[float]) -> float:
    values = list(xs)
    return sum(values) / len(values)


def _sd(xs: Iterable[float]) -> float:
    values = list(xs)
    m = _mean(values)
    return float((sum((x - m) ** 2 for x in values) / len(values)) ** 0.5)


def _jain(xs: Iterable[float]) -> float:
    index = jain(xs)
    if math.isnan(index):
        raise ZeroDivisionError("Jain's index of nothing")
    return index


def _frac(xs: Iterable[object]) -> float:
    values = [bool(x) for x in xs]
    return sum(values) / len(values)


HELPERS: dict[str, Callable[..., Any]] = {
    "mean": _mean, "sd": _sd, "jain": _jain, "frac": _frac, "all": all, "any": any, "min": min, "max": max, "sum": sum,
    "len": len, "abs": abs, "sorted": sorted, "zip": zip, "range": range, "round": round,
}  # fmt: skip

VOCABULARY = frozenset(HELPERS) | {"v", "vs", "series", "given"}
"""Every name a check may use without binding it itself."""

NODES = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn,
    ast.Call, ast.keyword, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.List, ast.GeneratorExp, ast.ListComp,
    ast.comprehension, ast.IfExp, ast.Lambda, ast.arguments, ast.arg, ast.Subscript, ast.Slice, ast.Starred,
)  # fmt: skip
"""Kinds of expression: all of them compute, none reaches for anything."""

SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in"}
"""The comparisons, as they are written."""
