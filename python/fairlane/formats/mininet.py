"""Topologies of Mininet and Containernet as scenarios: the calls of `addLink` and its options, read from the syntax tree.

Nothing is executed. Assignments, loops over constants, calls of `addHost` and the like, and texts built from numbers are followed;
`Interface options` are those of `mininet.link.TCIntf` 2.3: HTB at `bw` Mbit/s, and below it netem with delay, jitter, loss and limit.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from ..errors import FairlaneError, short
from ..linux import Imported
from ..linux.tc_units import bits

MOST_STEPS = 200_000
"""Most statements that are followed."""
_NODES = ("addHost", "addSwitch", "addNode", "addDocker", "addController", "addNAT", "addStation", "addAccessPoint", "addRouter")
_LINK = {
    "bw": "", "delay": "", "jitter": "", "loss": "", "max_queue_size": "", "cls": "", "cls1": "", "cls2": "",
    "intfName1": "", "intfName2": "", "intfName": "", "port1": "", "port2": "", "addr1": "", "addr2": "", "use_htb": "",
    "params1": "", "params2": "", "txo": "", "rxo": "",
    "node1": "", "node2": "", "intf": "", "fast": "",
    "use_hfsc": "HFSC with one class is a rate, as HTB is",
    "use_tbf": "the shaper has no burst",
    "enable_red": "the queue is DropTail",
    "enable_ecn": "the queue is DropTail",
    "latency_ms": "the buffer is max_queue_size",
    "speedup": "the rate is bw in both directions",
    "gro": "packets are those of the wire",
}  # fmt: skip
"""Options of links: the reason for one that is not modelled."""
_UNKNOWN = object()


@dataclass
class _Node:
    name: str


@dataclass
class _Made:
    nodes: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    links: list[tuple[str, str, dict[str, Any], int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _Follower:
    """Follows statements with the values that are constants."""

    def __init__(self, file: str) -> None:
        self.file, self.made, self.steps = file, _Made(), 0

    def note(self, line: int, text: str) -> None:
        self.made.notes.append(f"line {line}: {text}")

    def body(self, statements: list[ast.stmt], values: dict[str, Any]) -> None:
        for s in statements:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise FairlaneError(f"{self.file}:{s.lineno}: more than {MOST_STEPS} steps\n  = help: give a smaller topology")
            self.statement(s, values)

    def statement(self, s: ast.stmt, values: dict[str, Any]) -> None:
        if isinstance(s, (ast.Assign, ast.AnnAssign)):
            value = self.value(s.value, values) if s.value is not None else _UNKNOWN
            for target in s.targets if isinstance(s, ast.Assign) else [s.target]:
                self.bind(target, value, values)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            values[s.target.id] = self.value(ast.BinOp(ast.Name(s.target.id), s.op, s.value), values)
        elif isinstance(s, ast.Expr):
            self.value(s.value, values)
        elif isinstance(s, ast.For):
            found = self.value(s.iter, values)
            if isinstance(found, (list, tuple, range)):
                for one in found:
                    self.bind(s.target, one, values)
                    self.body(s.body, values)
            elif _has_links(s):
                self.note(s.lineno, "the values of this loop are not known: its body is left out")
        elif isinstance(s, ast.If):
            test = self.value(s.test, values)
            if test is _UNKNOWN and _has_links(s):
                self.note(s.lineno, "this condition is not known: its first branch is taken")
            self.body(s.body if test is _UNKNOWN or test else s.orelse, values)
        elif isinstance(s, (ast.With, ast.Try)):
            self.body(s.body, values)
        elif isinstance(s, ast.While) and _has_links(s):
            self.note(s.lineno, "a while loop is not followed: its body is left out")

    def bind(self, target: ast.expr, value: Any, values: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            values[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = list(value) if isinstance(value, (list, tuple)) else []
            for i, t in enumerate(target.elts):
                self.bind(t, parts[i] if i < len(parts) else _UNKNOWN, values)
        elif isinstance(target, ast.Subscript):
            holder, key = self.value(target.value, values), self.value(target.slice, values)
            if isinstance(holder, dict) and isinstance(key, (str, int)):
                holder[key] = value
        elif isinstance(target, ast.Attribute):
            values[ast.unparse(target)] = value

    def value(self, e: ast.expr, values: dict[str, Any]) -> Any:
        """Returns the value of an expression, or `_UNKNOWN`."""
        if isinstance(e, ast.Constant):
            return e.value
        if isinstance(e, ast.Name):
            return values.get(e.id, _UNKNOWN)
        if isinstance(e, ast.Attribute):
            return values.get(ast.unparse(e), _UNKNOWN)
        if isinstance(e, (ast.List, ast.Tuple)):
            return [self.value(x, values) for x in e.elts]
        if isinstance(e, ast.Dict):
            return {
                self.value(k, values): self.value(v, values) for k, v in zip(e.keys, e.values, strict=True) if isinstance(k, ast.Constant)
            }
        if isinstance(e, ast.JoinedStr):
            parts = [self.value(p.value if isinstance(p, ast.FormattedValue) else p, values) for p in e.values]
            return _UNKNOWN if _UNKNOWN in parts else "".join(map(_text, parts))
        if isinstance(e, ast.Subscript):
            holder, key = self.value(e.value, values), self.value(e.slice, values)
            try:
                return holder[key] if isinstance(holder, (list, dict)) else _UNKNOWN
            except (LookupError, TypeError):
                return _UNKNOWN
        if isinstance(e, ast.BinOp):
            return _sum(e.op, self.value(e.left, values), self.value(e.right, values))
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, (ast.USub, ast.Not)):
            found = self.value(e.operand, values)
            return _UNKNOWN if found is _UNKNOWN or isinstance(found, _Node) else (not found if isinstance(e.op, ast.Not) else -found)
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            a, b = self.value(e.left, values), self.value(e.comparators[0], values)
            return _UNKNOWN if _UNKNOWN in (a, b) else _compared(e.ops[0], a, b)
        if isinstance(e, ast.ListComp) and len(e.generators) == 1 and isinstance(e.generators[0].target, ast.Name):
            found = self.value(e.generators[0].iter, values)
            if isinstance(found, (list, range)):
                return [self.value(e.elt, {**values, e.generators[0].target.id: x}) for x in found[:MOST_STEPS]]
        return self.call(e, values) if isinstance(e, ast.Call) else _UNKNOWN

    def call(self, e: ast.Call, values: dict[str, Any]) -> Any:
        self.steps += 1
        name = e.func.attr if isinstance(e.func, ast.Attribute) else e.func.id if isinstance(e.func, ast.Name) else ""
        args = [self.value(a, values) for a in e.args if not isinstance(a, ast.Starred)]
        if name in _NODES:
            return self.node(name, args, e)
        if name == "addLink":
            return self.link(e, args, values)
        if name == "append" and isinstance(e.func, ast.Attribute) and args:
            holder = self.value(e.func.value, values)
            if isinstance(holder, list):
                holder.append(args[0])
            return None
        if name == "dict":
            return {k.arg: self.value(k.value, values) for k in e.keywords if k.arg}
        if (
            name == "range"
            and args
            and all(isinstance(a, int) and abs(a) <= MOST_STEPS for a in args)
            and len(args) <= 3
            and args[2:] != [0]
        ):
            return range(*args)
        if name in ("str", "int", "float", "len") and len(args) == 1:
            return _builtin(name, args[0])
        if name == "format" and isinstance(e.func, ast.Attribute):
            text = self.value(e.func.value, values)
            if isinstance(text, str) and _UNKNOWN not in args and text.count("{}") == len(args) and "{}" in text:
                for a in args:
                    text = text.replace("{}", _text(a), 1)
                return text
        if name in ("enumerate", "zip") and args and all(isinstance(a, (list, range)) for a in args):
            return [list(x) for x in (enumerate(args[0]) if name == "enumerate" else zip(*args, strict=False))]
        if name in ("get", "getNodeByName") and len(args) == 1 and isinstance(args[0], str) and args[0] in self.made.nodes:
            return _Node(args[0])
        return _UNKNOWN

    def node(self, kind: str, args: list[Any], e: ast.Call) -> _Node:
        name = _text(args[0]) if args and args[0] is not _UNKNOWN else f"{kind[3:].lower()}{len(self.made.nodes)}"
        if not args or args[0] is _UNKNOWN:
            self.note(e.lineno, f"the name in {kind} is not known: {name} is taken")
        if kind != "addController" and name not in self.made.nodes:
            self.made.nodes.append(name)
            if kind in ("addHost", "addDocker", "addStation"):
                self.made.hosts.append(name)
        return _Node(name)

    def link(self, e: ast.Call, args: list[Any], values: dict[str, Any]) -> Any:
        options: dict[str, Any] = {}
        for k in e.keywords:
            found = self.value(k.value, values)
            if k.arg is None:
                options |= {str(key): v for key, v in found.items()} if isinstance(found, dict) else {}
                if not isinstance(found, dict):
                    self.note(e.lineno, f"the options in **{ast.unparse(k.value)[:40]} are not known")
            else:
                options[k.arg] = found
        ends = [*args[:2], *(options.pop(n) for n in ("node1", "node2") if n in options)][:2]
        names = [x.name if isinstance(x, _Node) else x for x in ends]
        if len(names) != 2 or any(not isinstance(x, str) for x in names):
            self.note(e.lineno, "the ends of this link are not known: it is left out")
            return _UNKNOWN
        for n in names:
            if n not in self.made.nodes:
                self.made.nodes.append(n)
        self.made.links.append((names[0], names[1], options, e.lineno))
        return _UNKNOWN


def _text(x: Any) -> str:
    return x.name if isinstance(x, _Node) else str(x)


def _sum(op: ast.operator, a: Any, b: Any) -> Any:
    if _UNKNOWN in (a, b):
        return _UNKNOWN
    try:
        if isinstance(op, ast.Mod) and isinstance(a, str):
            return (
                a % (tuple(map(_plain, b)) if isinstance(b, list) else _plain(b))
                if len(a) < 200 and "*" not in a and not _wide(a)
                else _UNKNOWN
            )
        if isinstance(op, ast.Add) and type(a) is type(b) and isinstance(a, (str, list)):
            return a + b if len(a) + len(b) < 100_000 else _UNKNOWN
        if not all(isinstance(x, (int, float)) and abs(x) < 1e9 for x in (a, b)):
            return _UNKNOWN
        if isinstance(op, (ast.Add, ast.Sub, ast.Mult)):
            return a + b if isinstance(op, ast.Add) else a - b if isinstance(op, ast.Sub) else a * b
        if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)):
            return a / b if isinstance(op, ast.Div) else a // b if isinstance(op, ast.FloorDiv) else a % b
    except (ArithmeticError, TypeError, ValueError):
        return _UNKNOWN
    return _UNKNOWN


def _wide(text: str) -> bool:
    """Returns True for a format whose width is long."""
    import re

    return any(int(n) > 20 for n in re.findall(r"%[^a-zA-Z]*?(\d+)", text) if len(n) < 9) or bool(re.search(r"\d{9}", text))


def _plain(x: Any) -> Any:
    return x.name if isinstance(x, _Node) else x


def _compared(op: ast.cmpop, a: Any, b: Any) -> Any:
    if isinstance(op, (ast.Eq, ast.Is)):
        return a == b
    if isinstance(op, (ast.NotEq, ast.IsNot)):
        return a != b
    if all(isinstance(x, (int, float)) for x in (a, b)):
        return {ast.Lt: a < b, ast.LtE: a <= b, ast.Gt: a > b, ast.GtE: a >= b}.get(type(op), _UNKNOWN)
    return _UNKNOWN


def _builtin(name: str, x: Any) -> Any:
    if x is _UNKNOWN:
        return _UNKNOWN
    try:
        if name == "len":
            return len(x)
        return _text(x) if name == "str" else int(x) if name == "int" and len(str(x)) < 20 else float(x)
    except (TypeError, ValueError, OverflowError):
        return _UNKNOWN


def _has_links(s: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("addLink", *_NODES) for n in ast.walk(s))


def _settings(options: dict[str, Any], where: str, line: int, rate: str, made: _Made) -> dict[str, Any]:
    """Returns the settings of a link for the options of `TCIntf`."""
    out: dict[str, Any] = {}
    for key, value in options.items():
        if key not in _LINK:
            made.notes.append(f"line {line}: the option {short(key)} is not modelled")
        elif _LINK[key] and value:
            made.notes.append(f"line {line}: {key} is not modelled: {_LINK[key]}")
        elif key in ("params1", "params2") and value:
            made.notes.append(f"line {line}: {key} is not modelled: both directions have the options of the link")
    known = {k: v for k, v in options.items() if v is not _UNKNOWN and v is not None}
    for key in ("bw", "delay", "jitter", "loss", "max_queue_size"):
        if options.get(key) is _UNKNOWN:
            made.notes.append(f"line {line}: the value of {key} is not known: it is left out")
    bw = _number(known, "bw", where)
    out["rate"] = bits(max(1, round(bw * 1e6))) if bw else rate
    out["delay"] = _time(known.get("delay"), "delay", where) or "0s"
    jitter = _time(known.get("jitter"), "jitter", where)
    if jitter and jitter != "0s":
        out["jitter"] = jitter
    loss = _number(known, "loss", where)
    if loss:
        if loss > 100:
            raise FairlaneError(f"{where}: a loss of {loss:g} %\n  = help: loss is a percentage in Mininet, at most 100")
        out["loss"] = float(f"{loss / 100:.12g}")
    packets = _number(known, "max_queue_size", where)
    out["queue"] = {"droptail": {"limit": f"{max(1, round(packets)) if packets else 1000}p"}}
    return out


def _number(known: dict[str, Any], key: str, where: str) -> float | None:
    if key not in known:
        return None
    value = known[key]
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = -1.0
    if not 0 <= found <= 1e7:
        raise FairlaneError(f"{where}: {key} is {short(repr(value))}\n  = help: write a number, as Mininet takes it: {key}=10")
    return found


def _time(value: Any, key: str, where: str) -> str | None:
    """Returns a time of netem, which Mininet hands on as it is: a bare number is in microseconds."""
    from ..linux import quantities as q
    from ..linux.tc_units import TcError, seconds

    if value is None:
        return None
    text = value if isinstance(value, str) else f"{value}us"
    try:
        return q.time(seconds(text.strip(), fine=not text.strip().isdecimal()))
    except TcError as e:
        raise FairlaneError(f"{where}: {key}: {e.message}\n  = help: write for instance {key}='5ms'") from None


def import_mininet(text: str, file: str = "<topology>", *, rate: str = "1Gbit/s") -> Imported:
    """Makes a scenario from a Python script of Mininet or Containernet. `rate` is that of links without `bw`."""
    try:
        tree = ast.parse(text)
    except SyntaxError as e:
        raise FairlaneError(f"{file}:{e.lineno or 1}: this is no Python: {short(e.msg)}\n  = help: give the script of a topology") from None
    except (ValueError, RecursionError, MemoryError):
        raise FairlaneError(
            f"{file}: this Python is nested too deeply, or has NUL bytes\n  = help: give the script of a topology"
        ) from None
    follower = _Follower(file)
    try:
        values: dict[str, Any] = {}
        follower.body([s for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))], values)
        for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and any(map(_has_links, n.body))):
            arguments = function.args
            defaults = dict(zip([a.arg for a in arguments.args][::-1], arguments.defaults[::-1], strict=False))
            follower.body(function.body, {**values, **{k: follower.value(v, values) for k, v in defaults.items()}})
    except RecursionError:
        raise FairlaneError(f"{file}: this Python is nested too deeply\n  = help: give the script of a topology") from None
    made = follower.made
    if not made.links:
        raise FairlaneError(
            f"{file} adds no link that is known\n  = help: links are calls such as self.addLink(h1, s1, bw=10, delay='5ms')"
        )
    links: dict[str, Any] = {}
    bare = 0
    for a, b, options, line in made.links:
        if a == b:
            made.notes.append(f"line {line}: a link from {short(a)} to itself is left out")
            continue
        name, n = f"{a}-{b}", 2
        while name in links:
            name, n = f"{a}-{b} {n}", n + 1
        bare += not options.get("bw")
        links[name] = {"from": a, "to": b, **_settings(options, f"{file}:{line}", line, rate, made)}
    if bare:
        made.notes.append(f"{bare} links without bw: {rate} is taken (--rate)")
    ends = [h for h in made.hosts if any(h in (x["from"], x["to"]) for x in links.values())] or list(
        dict.fromkeys(n for x in links.values() for n in (x["from"], x["to"]))
    )
    flow = {"from": ends[0], "to": ends[-1], "tcp": {"preset": "linux", "cc": "cubic"}}
    result = {"name": "imported from Mininet", "duration": "30s", "warmup": "5s", "links": links, "flows": {"transfer": flow}}
    return Imported(result, list(dict.fromkeys(made.notes)))
