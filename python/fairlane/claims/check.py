"""The language of claims: small expressions over tidy tables, in a closed vocabulary.

A check is a Python expression: ``v(table, factor=value, ...)`` is the one matching value, ``vs(...)`` all of them, ``series(...)`` the
matching ``(t, value)`` pairs in order of time, and a handful of arithmetic helpers (`VOCABULARY`). The expression is parsed, every node is
checked against a list of harmless ones, and it is evaluated without builtins: attribute access, imports and unknown names never reach the
interpreter.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, Literal

from .budget import SCOPE, begin, bounded
from .margin import LARGEST, WORTH, worth
from .tables import NoData, Tables
from .vocabulary import NODES, SIGNS, VOCABULARY

Outcome = Literal["holds", "fails", "no-data"]

LONGEST_CHECK = 4000
"""Characters of a check; longer ones are refused."""


class BadCheck(ValueError):
    """The check of a claim uses something outside the vocabulary, or cannot be evaluated."""


def _bound(tree: ast.AST) -> set[str]:
    """Names the expression binds itself: loop variables and arguments."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


def _verify(tree: ast.AST) -> None:
    bound = _bound(tree)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and not n.keywords]
    for node in ast.walk(tree):
        if not isinstance(node, NODES):
            raise BadCheck(f"{type(node).__name__} is not allowed in a check")
        if isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name.startswith("_") or (name not in VOCABULARY and name not in bound):
                raise BadCheck(f"unknown name {name!r} in a check; known: {', '.join(sorted(VOCABULARY))}")
        if isinstance(node, ast.Call) and not isinstance(node.func, (ast.Name, ast.Lambda)):
            raise BadCheck("only functions of the vocabulary can be called in a check")
        if isinstance(node, ast.Name) and node.id == "given" and not any(c.func is node and len(c.args) == 2 for c in calls):
            raise BadCheck("given takes a condition and a claim: given(CONDITION, CLAIM)")
        if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, str, bool)):
            raise BadCheck(f"constant {node.value!r} is not allowed in a check")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            small = isinstance(node.right, ast.Constant) and isinstance(node.right.value, (int, float)) and abs(node.right.value) <= 16
            if not small:
                raise BadCheck("a power needs a constant exponent of at most 16 in a check")


class _Given(ast.NodeTransformer):
    """Rewrites ``given(c, x)`` as ``x if _applies(c) else False``: the claim is not evaluated where it does not apply."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "given"):
            return node
        condition, claim = node.args
        return ast.IfExp(ast.Call(ast.Name("_applies", ast.Load()), [condition], []), claim, ast.Constant(False))


def _applies(condition: object) -> bool:
    """Raises `NoData` unless the condition of a claim is true: otherwise there is nothing to judge it by."""
    if not condition:
        raise NoData("the claim applies to something else")
    return True


class _Watched(ast.NodeTransformer):
    """Rewrites comparisons so that their two sides are seen: ``a < b < c`` becomes ``see(a, "<", b) and see(b, "<", c)``.

    Those of a condition are not: it is no evidence.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return node if isinstance(node.func, ast.Name) and node.func.id == "_applies" else self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        pairs: list[ast.expr] = [
            ast.Call(ast.Name("_see", ast.Load()), [left, ast.Constant(SIGNS[type(op)]), right], [])
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
    unit: str = ""
    """The unit of both sides, where they are entries of tables, or one is and the other a constant."""


def _parsed(text: str) -> ast.Expression:
    """The tree of an expression. Python's remarks, such as on an odd escape, are left out: they name no file of the author's."""
    if "\0" in text:
        raise SyntaxError("it has a character of code 0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval")


def _meant(text: str) -> ast.Expression:
    """The tree of a verified check, with its conditions as what they mean."""
    tree: ast.Expression = _Given().visit(_parsed(text))
    return tree


@lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[CodeType, CodeType, CodeType]:
    """Verifies a check, and compiles it: plain, with what it looks up, and with its margin. A file of claims is read several times."""
    _verify(_parsed(text))
    tree = _meant(text)
    watched = ast.fix_missing_locations(_Watched().visit(_meant(text)))
    weighed = ast.fix_missing_locations(ast.Expression(worth(_meant(text).body)))
    plain, watching, weighing = (compile(bounded(t), "<check>", "eval") for t in (tree, watched, weighed))
    return plain, watching, weighing


_WHOLE: dict[str, Callable[..., Any]] = {"all": lambda xs: all(list(xs)), "any": lambda xs: any(list(xs))}
"""`all` and `any` that go through all their members."""


class Check:
    """A verified check, ready to be evaluated on tables."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_CHECK:
            raise BadCheck(f"a check of {len(text)} characters; at most {LONGEST_CHECK} are allowed")
        try:
            self.text = text
            self._plain, self._watched, self._weighed = _compiled(text)
        except SyntaxError as e:
            raise BadCheck(f"the check is not an expression: {e.msg}") from None
        except ValueError as e:  # half a character, a number of thousands of digits
            raise BadCheck(f"the check is not an expression: {e}") from None
        except (RecursionError, MemoryError):
            raise BadCheck("the check is nested too deeply") from None

    def tables(self) -> list[str]:
        """The tables that the check names."""
        calls = (n for n in ast.walk(_parsed(self.text)) if isinstance(n, ast.Call))
        read = [n.args[0] for n in calls if isinstance(n.func, ast.Name) and n.func.id in ("v", "vs", "series") and n.args]
        return list(dict.fromkeys(a.value for a in read if isinstance(a, ast.Constant) and isinstance(a.value, str)))

    def lookups(self) -> list[tuple[str, dict[str, object]]]:
        """The entries that the check reads, each as a table and its factors; `all` and `any` go through all their members.

        >>> Check("v('loss', queue='red') < v('loss', queue='droptail')").lookups()
        [('loss', {'queue': 'red'}), ('loss', {'queue': 'droptail'})]
        """
        read: list[tuple[str, dict[str, object]]] = []

        def noted(value: Any) -> Callable[..., Any]:
            def call(table: str, **factors: object) -> Any:
                read.append((table, factors))
                return value

            return call

        more: dict[str, Callable[..., Any]] = {"_see": lambda *_: True, "_applies": lambda _: True}
        of = {"v": noted(1.0), "vs": noted([1.0, 1.0]), "series": noted([(0.0, 1.0), (1.0, 1.0)])}
        self._run(self._watched, Tables({}), **_WHOLE, **more, **of)
        return read

    def _run(self, code: CodeType, tables: Tables, **more: Callable[..., Any]) -> Any:
        """Evaluates the code; raises `NoData` and `BadCheck`."""
        scope: dict[str, Any] = {
            "__builtins__": {},
            **SCOPE,
            "v": tables.v,
            "vs": tables.vs,
            "series": tables.series,
            "_applies": _applies,
            **more,
        }
        begin()
        try:
            return eval(code, scope)
        except NoData:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            raise BadCheck(f"the check cannot be evaluated: {e}") from None
        except (RecursionError, MemoryError):
            raise BadCheck("the check cannot be evaluated: it calls itself without end, or asks for too much memory") from None

    def outcome(self, tables: Tables) -> Outcome:
        """Evaluates the check on these tables."""
        try:
            return "holds" if self._run(self._plain, tables) else "fails"
        except NoData:
            return "no-data"

    def margin(self, tables: Tables) -> float | None:
        """By how much it holds (above zero) or fails, from -1 to 1: see `fairlane.claims.margin`. None without data.

        >>> Check("v('delay') < 3 * v('floor')").margin(Tables({"delay": [{"value": "2"}], "floor": [{"value": "1"}]}))
        0.333...
        """
        try:
            return float(self._run(self._weighed, tables, **WORTH))
        except NoData:
            return None
        except BadCheck:  # `and` and `or` guard what comes after them; here all members are looked at
            outcome = self.outcome(tables)
            return None if outcome == "no-data" else LARGEST if outcome == "holds" else -LARGEST

    def comparisons(self, tables: Tables) -> list[Comparison]:
        """The comparisons of numbers, each with the table entries read for it; `all` and `any` go through all their members."""
        made: list[Comparison] = []
        read: list[str] = []
        values: list[tuple[object, str]] = []

        def noted(fetch: Callable[..., Any]) -> Callable[..., Any]:
            def call(table: str, **factors: object) -> Any:
                value = fetch(table, **factors)
                read.append(f"{table}[{', '.join(str(x) for x in factors.values())}]")
                values.append((value, tables.unit(table, factors)))
                return value

            return call

        def unit(left: float, right: float) -> str:
            of = [next((u for x, u in values if not isinstance(x, list) and x == side), None) for side in (left, right)]
            known = {u for u in of if u is not None}
            return known.pop() if len(known) == 1 and (None not in of or len(values) == 1) else ""

        def see(left: Any, sign: str, right: Any) -> bool:
            true = bool(_COMPARE[sign](left, right))
            if all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (left, right)):
                made.append(Comparison(float(left), sign, float(right), true, tuple(read), unit(left, right)))
            read.clear()
            values.clear()
            return true

        def applies(condition: object) -> bool:
            read.clear()
            values.clear()
            return _applies(condition)

        of = {"v": noted(tables.v), "vs": noted(tables.vs), "series": noted(tables.series)}
        try:
            self._run(self._watched, tables, **_WHOLE, _see=see, _applies=applies, **of)
        except NoData:
            pass
        return made
