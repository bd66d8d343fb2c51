"""Tcl as far as scripts of ns-2 use it: words, substitution, control flow, expressions. Nothing outside of it is executed."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import FairlaneError, short

MOST_STEPS = 200_000
"""Most commands that are followed."""
DEEPEST = 40
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([A-Za-z_]\w*(?:::\w+)*)(?:\(([^()\s]*(?:\([^()\s]*\))?)\))?)")
_OPS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Mod: operator.mod,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


class TclError(FairlaneError):
    """A text that is no Tcl, with its line."""


@dataclass(frozen=True)
class Word:
    """A word of a command: its text, and whether braces keep it from substitution."""

    text: str
    braced: bool
    line: int


def commands(text: str, file: str, line: int = 1) -> list[list[Word]]:
    """Splits a text into commands of words."""
    out: list[list[Word]] = []
    words: list[Word] = []
    at, end = 0, len(text)
    while at < end:
        c = text[at]
        if c == "\\" and text[at + 1 : at + 2] == "\n":
            at, line = at + 2, line + 1
        elif c in "\n;":
            if words:
                out.append(words)
                words = []
            line += c == "\n"
            at += 1
        elif c in " \t\r\f\v":
            at += 1
        elif c == "#" and not words:
            while at < end and text[at] != "\n":
                if text[at] == "\\" and text[at + 1 : at + 2] == "\n":
                    line, at = line + 1, at + 1
                at += 1
        else:
            start = line
            found, at = _word(text, at, file, line)
            line += found[0].count("\n")
            words.append(Word(found[0], found[1], start))
    if words:
        out.append(words)
    return out


def _word(text: str, at: int, file: str, line: int) -> tuple[tuple[str, bool], int]:
    """Returns a word and its end; quotes are taken off, brackets stay for the substitution."""
    c = text[at]
    if c == "{":
        end = _closed(text, at, "{", "}", file, line)
        return (text[at + 1 : end - 1], True), end
    if c == '"':
        end = at + 1
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        if end >= len(text):
            raise TclError(f"{file}:{line}: a quote is not closed\n  = help: give a script of ns-2 in Tcl")
        return (text[at + 1 : end], False), end + 1
    end = at
    while end < len(text) and text[end] not in " \t\r\n;\f\v":
        if text[end] == "[":
            end = _closed(text, end, "[", "]", file, line)
        elif text[end] == "\\":
            if text[end + 1 : end + 2] == "\n":
                break
            end += 2
        else:
            end += 1
    return (text[at:end], False), min(end, len(text))


def _closed(text: str, at: int, opening: str, closing: str, file: str, line: int) -> int:
    depth = 0
    for end in range(at, len(text)):
        if text[end] == "\\":
            continue
        if text[end] == opening:
            depth += 1
        elif text[end] == closing:
            depth -= 1
            if depth == 0:
                return end + 1
    raise TclError(f"{file}:{line}: {opening} is not closed\n  = help: give a script of ns-2 in Tcl")


class Tcl:
    """Follows commands; those that it does not know go to `other`, which returns the result, or None for an unknown command."""

    def __init__(self, file: str, other: Callable[[list[str], int], str | None]) -> None:
        self.file, self.other = file, other
        self.values: dict[str, str] = {}
        self.procedures: dict[str, tuple[list[str], str, int]] = {}
        self.steps = 0
        self.notes: list[str] = []

    def note(self, line: int, text: str) -> None:
        """Adds a note, once."""
        if (made := f"line {line}: {text}") not in self.notes:
            self.notes.append(made)

    def run(self, text: str, line: int = 1, depth: int = 0) -> str:
        """Follows a script; returns the result of its last command."""
        if depth > DEEPEST:
            raise TclError(f"{self.file}:{line}: commands are nested more than {DEEPEST} deep\n  = help: give a simpler script")
        result = ""
        for words in commands(text, self.file, line):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TclError(f"{self.file}:{words[0].line}: more than {MOST_STEPS} commands\n  = help: give a shorter script")
            result = self._command(words, depth)
        return result

    def filled(self, word: Word, depth: int) -> str:
        """Returns a word with the values of variables and the results of commands."""
        return word.text if word.braced else self.substituted(word.text, word.line, depth)

    def substituted(self, text: str, line: int, depth: int) -> str:
        """Substitutes in a text."""
        if "[" not in text and "$" not in text and "\\" not in text:
            return text
        out: list[str] = []
        at = 0
        while at < len(text):
            c = text[at]
            if c == "[":
                end = _closed(text, at, "[", "]", self.file, line)
                out.append(self.run(text[at + 1 : end - 1], line, depth + 1))
                at = end
            elif c == "$" and (m := _VARIABLE.match(text, at)):
                name = m[1] if m[1] is not None else m[2]
                if m[3] is not None:
                    name = f"{name}({self.substituted(m[3], line, depth + 1) if '$' in m[3] else m[3]})"
                if name not in self.values:
                    self.note(line, f"the variable {short(name)} is not known")
                out.append(self.values.get(name, ""))
                at = m.end()
            elif c == "\\" and at + 1 < len(text):
                out.append({"n": "\n", "t": "\t"}.get(text[at + 1], text[at + 1]))
                at += 2
            else:
                out.append(c)
                at += 1
            if sum(map(len, out[-3:])) > 1_000_000:
                raise TclError(f"{self.file}:{line}: a value is too long\n  = help: give a simpler script")
        return "".join(out)

    def _command(self, words: list[Word], depth: int) -> str:
        line = words[0].line
        name = self.filled(words[0], depth)
        own = getattr(self, f"_{name}", None) if name in _KNOWN else None
        if own is not None:
            return str(own(words[1:], line, depth))
        given = [name, *(self.filled(w, depth) for w in words[1:])]
        if name in self.procedures:
            return self._called(given, line, depth)
        if name in _IGNORED:
            return ""
        found = self.other(given, line)
        if found is None:
            self.note(line, f"{short(' '.join(given)[:60])} is not modelled")
        return found or ""

    def _called(self, given: list[str], line: int, depth: int) -> str:
        names, body, start = self.procedures[given[0]]
        for i, name in enumerate(names):
            self.values[name] = " ".join(given[i + 1 :]) if name == "args" else given[i + 1] if i + 1 < len(given) else ""
        return self.run(body, start, depth + 1)

    def _set(self, words: list[Word], line: int, depth: int) -> str:
        given = [self.filled(w, depth) for w in words]
        if len(given) == 2:
            self.values[given[0]] = given[1]
        return self.values.get(given[0], "") if given else ""

    def _incr(self, words: list[Word], line: int, depth: int) -> str:
        given = [self.filled(w, depth) for w in words]
        if not given:
            return ""
        total = self.expression(f"{self.values.get(given[0], '0')} + {given[1] if len(given) > 1 else '1'}", line)
        self.values[given[0]] = _shown(total)
        return self.values[given[0]]

    def _lappend(self, words: list[Word], line: int, depth: int) -> str:
        given = [self.filled(w, depth) for w in words]
        if given:
            self.values[given[0]] = " ".join([*self.values.get(given[0], "").split(), *given[1:]])
        return self.values.get(given[0], "") if given else ""

    def _lindex(self, words: list[Word], line: int, depth: int) -> str:
        given = [self.filled(w, depth) for w in words]
        parts = given[0].split() if given else []
        return parts[int(given[1])] if len(given) == 2 and given[1].isdecimal() and int(given[1]) < len(parts) else ""

    def _list(self, words: list[Word], line: int, depth: int) -> str:
        return " ".join(self.filled(w, depth) for w in words)

    def _llength(self, words: list[Word], line: int, depth: int) -> str:
        return str(len(self.filled(words[0], depth).split())) if words else "0"

    def _expr(self, words: list[Word], line: int, depth: int) -> str:
        text = " ".join(self.substituted(w.text, w.line, depth) for w in words)
        return _shown(self.expression(text, line))

    def _proc(self, words: list[Word], line: int, depth: int) -> str:
        if len(words) == 3:
            self.procedures[words[0].text] = (
                [n.split()[0] for n in re.findall(r"\{[^}]+\}|\S+", words[1].text)],
                words[2].text,
                words[2].line,
            )
        return ""

    def _if(self, words: list[Word], line: int, depth: int) -> str:
        rest = list(words)
        while rest:
            test = rest.pop(0)
            if self.truth(test, depth):
                if rest and rest[0].text == "then":
                    rest.pop(0)
                return self.run(rest[0].text, rest[0].line, depth + 1) if rest else ""
            rest = rest[1:] if rest and rest[0].text != "then" else rest[2:]
            if rest and rest[0].text == "else":
                return self.run(rest[1].text, rest[1].line, depth + 1) if len(rest) > 1 else ""
            if rest and rest[0].text == "elseif":
                rest = rest[1:]
            elif rest:
                return self.run(rest[0].text, rest[0].line, depth + 1)
        return ""

    def _for(self, words: list[Word], line: int, depth: int) -> str:
        if len(words) != 4:
            return ""
        self.run(words[0].text, words[0].line, depth + 1)
        while self.truth(words[1], depth):
            self._step(line)
            self.run(words[3].text, words[3].line, depth + 1)
            self.run(words[2].text, words[2].line, depth + 1)
        return ""

    def _while(self, words: list[Word], line: int, depth: int) -> str:
        while len(words) == 2 and self.truth(words[0], depth):
            self._step(line)
            self.run(words[1].text, words[1].line, depth + 1)
        return ""

    def _foreach(self, words: list[Word], line: int, depth: int) -> str:
        if len(words) != 3:
            return ""
        names = self.filled(words[0], depth).split()
        items = self.filled(words[1], depth).split()
        for at in range(0, len(items), len(names) or 1):
            self._step(line)
            self.values |= dict(zip(names, items[at : at + len(names)], strict=False))
            self.run(words[2].text, words[2].line, depth + 1)
        return ""

    def _step(self, line: int) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TclError(f"{self.file}:{line}: a loop with more than {MOST_STEPS} steps\n  = help: give a shorter script")

    def truth(self, word: Word, depth: int) -> bool:
        """Returns the value of a condition; an unknown one is false."""
        found = self.expression(self.substituted(word.text, word.line, depth), word.line)
        return bool(found)

    def expression(self, text: str, line: int) -> float | int:
        """Returns the value of an expression of numbers; 0, with a note, for any other."""
        plain = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
        plain = re.sub(r"\b(int|round|double|abs)\b", "", plain) if "int" in plain or "round" in plain or "double" in plain else plain
        try:
            found = _value(ast.parse(plain.strip()[:2000], mode="eval").body, 0)
        except (SyntaxError, ValueError, ArithmeticError, TypeError, RecursionError, MemoryError):
            self.note(line, f"the value of {short(text.strip()[:60])} is not known: 0 is taken")
            return 0
        whole = "int" in text or "round" in text
        return int(found) if whole and abs(found) < 1e15 else found


def _value(e: ast.expr, depth: int) -> Any:
    if depth > 30:
        raise ValueError("too deep")
    if isinstance(e, ast.Constant) and isinstance(e.value, (int, float)) and abs(e.value) < 1e15:
        return e.value
    if isinstance(e, ast.BinOp) and type(e.op) in _OPS:
        a, b = _value(e.left, depth + 1), _value(e.right, depth + 1)
        if isinstance(e.op, ast.Div) and isinstance(a, int) and isinstance(b, int):
            return a // b  # whole numbers, as in Tcl
        return _limited(_OPS[type(e.op)](a, b))
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, (ast.USub, ast.UAdd, ast.Not)):
        a = _value(e.operand, depth + 1)
        return int(not a) if isinstance(e.op, ast.Not) else -a if isinstance(e.op, ast.USub) else a
    if isinstance(e, ast.Compare) and len(e.ops) == 1 and type(e.ops[0]) in _OPS:
        return int(_OPS[type(e.ops[0])](_value(e.left, depth + 1), _value(e.comparators[0], depth + 1)))
    if isinstance(e, ast.BoolOp):
        values = [bool(_value(v, depth + 1)) for v in e.values]
        return int(all(values) if isinstance(e.op, ast.And) else any(values))
    raise ValueError("not a number")


def _limited(x: Any) -> Any:
    if abs(x) > 1e15:
        raise ValueError("too large")
    return x


def _shown(x: float) -> str:
    return str(x) if isinstance(x, int) else f"{x:.12g}"


_KNOWN = ("set", "incr", "lappend", "lindex", "list", "llength", "expr", "proc", "if", "for", "while", "foreach")
_IGNORED = (
    "puts", "open", "close", "flush", "global", "return", "exec", "exit", "source", "remove-all-packet-headers", "add-packet-header",
    "catch", "unset", "upvar", "variable", "after", "append", "format", "concat", "string", "array", "seek", "gets", "eof", "break",
    "continue",
    "ns-random", "defaultRNG", "Trace", "package", "namespace", "info", "error", "fconfigure",
)  # fmt: skip
"""Commands that change no network."""
