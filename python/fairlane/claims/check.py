"""The language of claims: small expressions over tidy tables, in a closed vocabulary.

A check is a Python expression: ``v(table, factor=value, ...)`` is the one matching value, ``vs(...)`` all of them, ``series(...)`` the
matching ``(t, value)`` pairs in order of time, and a handful of arithmetic helpers (`VOCABULARY`). The expression is parsed, every node is
checked against a list of harmless ones, and it is evaluated without builtins: attribute access, imports and unknown names never reach the
interpreter.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

from ..base.metrics import jain
from .tables import NoData, Tables

Outcome = Literal["holds", "fails", "no-data"]

LONGEST_CHECK = 4000
"""Characters of a check; longer ones are refused."""


class BadCheck(ValueError):
    """The check of a claim uses something outside the vocabulary, or cannot be evaluated."""


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


_HELPERS: dict[str, Callable[..., Any]] = {
    "mean": _mean, "sd": _sd, "jain": _jain, "frac": _frac, "all": all, "any": any, "min": min, "max": max, "sum": sum,
    "len": len, "abs": abs, "sorted": sorted, "zip": zip, "range": range, "round": round,
}  # fmt: skip

VOCABULARY = frozenset(_HELPERS) | {"v", "vs", "series"}
"""Every name a check may use without binding it itself."""

_NODES = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn,
    ast.Call, ast.keyword, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.List, ast.GeneratorExp, ast.ListComp,
    ast.comprehension, ast.IfExp, ast.Lambda, ast.arguments, ast.arg, ast.Subscript, ast.Slice, ast.Starred,
)  # fmt: skip


def _bound(tree: ast.AST) -> set[str]:
    """Names the expression binds itself: loop variables and arguments."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


def _verify(tree: ast.AST) -> None:
    bound = _bound(tree)
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise BadCheck(f"{type(node).__name__} is not allowed in a check")
        if isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name.startswith("_") or (name not in VOCABULARY and name not in bound):
                raise BadCheck(f"unknown name {name!r} in a check; known: {', '.join(sorted(VOCABULARY))}")
        if isinstance(node, ast.Call) and not isinstance(node.func, (ast.Name, ast.Lambda)):
            raise BadCheck("only functions of the vocabulary can be called in a check")
        if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, str, bool)):
            raise BadCheck(f"constant {node.value!r} is not allowed in a check")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            small = isinstance(node.right, ast.Constant) and isinstance(node.right.value, (int, float)) and abs(node.right.value) <= 16
            if not small:
                raise BadCheck("a power needs a constant exponent of at most 16 in a check")


_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in"}


class _Watched(ast.NodeTransformer):
    """Rewrites comparisons so that their two sides are seen: ``a < b < c`` becomes ``see(a, "<", b) and see(b, "<", c)``."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        pairs: list[ast.expr] = [
            ast.Call(ast.Name("_see", ast.Load()), [left, ast.Constant(_SIGNS[type(op)]), right], [])
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return pairs[0] if len(pairs) == 1 else ast.BoolOp(ast.And(), pairs)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One comparison a check made: the values of both sides and whether it was true."""

    left: float
    sign: str
    right: float
    true: bool
    looked_up: tuple[str, ...] = ()


class Check:
    """A verified check, ready to be evaluated on tables."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_CHECK:
            raise BadCheck(f"a check of {len(text)} characters; at most {LONGEST_CHECK} are allowed")
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError as e:
            raise BadCheck(f"the check is not an expression: {e.msg}") from e
        _verify(tree)
        self.text = text
        self._plain: CodeType = compile(tree, "<check>", "eval")
        watched = ast.fix_missing_locations(_Watched().visit(ast.parse(text.strip(), mode="eval")))
        self._watched: CodeType = compile(watched, "<check>", "eval")

    def tables(self) -> list[str]:
        """The tables that the check names."""
        calls = (n for n in ast.walk(ast.parse(self.text.strip(), mode="eval")) if isinstance(n, ast.Call))
        read = [n.args[0] for n in calls if isinstance(n.func, ast.Name) and n.func.id in ("v", "vs", "series") and n.args]
        return list(dict.fromkeys(a.value for a in read if isinstance(a, ast.Constant) and isinstance(a.value, str)))

    def _run(self, code: CodeType, tables: Tables, **more: Callable[..., Any]) -> Outcome:
        scope: dict[str, Any] = {"__builtins__": {}, **_HELPERS, "v": tables.v, "vs": tables.vs, "series": tables.series, **more}
        try:
            return "holds" if eval(code, scope) else "fails"
        except NoData:
            return "no-data"
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            raise BadCheck(f"the check cannot be evaluated: {e}") from e

    def outcome(self, tables: Tables) -> Outcome:
        """What the check says of these tables."""
        return self._run(self._plain, tables)

    def comparisons(self, tables: Tables) -> list[Comparison]:
        """The comparisons of numbers, each with the table entries read for it; `all` and `any` go through all their members."""
        made: list[Comparison] = []
        read: list[str] = []

        def noted(fetch: Callable[..., Any]) -> Callable[..., Any]:
            def call(table: str, **factors: object) -> Any:
                value = fetch(table, **factors)
                read.append(f"{table}[{', '.join(str(x) for x in factors.values())}]")
                return value

            return call

        def see(left: Any, sign: str, right: Any) -> bool:
            true = bool(_COMPARE[sign](left, right))
            if all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (left, right)):
                made.append(Comparison(float(left), sign, float(right), true, tuple(read)))
            read.clear()
            return true

        whole = {"all": lambda xs: all(list(xs)), "any": lambda xs: any(list(xs))}
        self._run(self._watched, tables, **whole, _see=see, v=noted(tables.v), vs=noted(tables.vs), series=noted(tables.series))
        return made
