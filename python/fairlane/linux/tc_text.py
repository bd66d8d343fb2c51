"""The commands in a text: lines of tc, shell scripts such as those of `fairlane tc`, and what `tc qdisc show` prints.

Nothing is executed. Of the shell, assignments, functions, `if`, `case` and the loop over classes are followed, as the scripts have them.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from .tc_units import TcError

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(\$\{\w+:?-(?P<default>[^}]*)\}|\"[^\"]*\"|'[^']*'|\S*)(?:\s+#.*)?")
_FUNCTION = re.compile(r"(?:function\s+)?([A-Za-z_]\w*)\s*\(\)\s*\{\s*(.*)")
_SUM = re.compile(r"\"?\$\(\(\s*(\w+|-\d+)\s*\+\s*(\w+)\s*\)\)\"?")
_LOOP = re.compile(r".*\bwhile \[ \"\$i\" -le (\d{1,6}) \]; do (.*); i=.*done")
_OBJECTS = {"qdisc": "qdisc", "class": "class", "filter": "filter"}
_SHOWN = re.compile(r"(qdisc|class) (\S+) (\S*:\S*) (.*)")
_VIRTUAL = re.compile(r"\s+vq (\d+) (.*)")
_NOTE = re.compile(r"#\s*note: (virtual queue (\d+): (.*)|flow (.*): its packets need the firewall mark (\d+)\b.*|class (\w+:\w+): (.*))")
MOST = 200_000
"""Most commands of a text."""
UNKNOWN = "dev"
"""Device of a line that does not name one."""
_DEEPEST = 4
"""Most nested calls of functions."""


@dataclass
class Command:
    """One command of tc."""

    what: str
    """qdisc, class or filter."""
    verb: str
    dev: str
    parent: str
    handle: str
    kind: str
    words: list[str]
    line: int
    many: int = 0
    """Number of classes that a loop makes; 0 outside of a loop."""
    stab: list[str] = field(default_factory=list)
    pref: int = 0
    protocol: str = ""


@dataclass
class Text:
    """The commands of a text, and what its comments say."""

    commands: list[Command] = field(default_factory=list)
    virtual: dict[int, str] = field(default_factory=dict)
    """Packets of each virtual queue of gred."""
    marks: dict[int, str] = field(default_factory=dict)
    """Flow by firewall mark."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of classes by their numbers; empty if they differ between devices."""
    notes: list[str] = field(default_factory=list)


def read(text: str, file: str) -> Text:
    """Reads a text; raises `TcError` with the line of a mistake."""
    return _Shell(text, file).read()


class _Shell:
    def __init__(self, text: str, file: str) -> None:
        self.file, self.out = file, Text()
        self.values: dict[str, str] = {}
        self.functions: dict[str, list[tuple[int, str]]] = {}
        self.lines: list[tuple[int, str]] = []
        held, start = "", 0
        for number, line in enumerate(text.splitlines(), 1):
            held, start = held + line, start or number
            if held.endswith("\\"):
                held = held[:-1] + " "
                continue
            self.lines.append((start, held))
            held, start = "", 0
        if held:
            self.lines.append((start, held))

    def read(self) -> Text:
        outside = self._split()
        for number, line in self.functions.get("install") or outside:
            self._line(number, line, [], 0)
        return self.out

    def _split(self) -> list[tuple[int, str]]:
        """Takes functions and comments out; returns the other lines."""
        outside: list[tuple[int, str]] = []
        inside: list[tuple[int, str]] | None = None
        for number, line in self.lines:
            text = line.strip()
            if m := _NOTE.match(text):
                if m[2] and len(m[2]) < 4:
                    self.out.virtual[int(m[2])] = m[3].strip()
                elif m[5] and len(m[5]) < 10:
                    self.out.marks[int(m[5])] = m[4].strip()
                elif m[6] and self.out.names.setdefault(m[6], m[7]) != m[7]:
                    self.out.names[m[6]] = ""  # of two devices
                continue
            if text.startswith("#") or not text:
                continue
            if inside is None and (m := _FUNCTION.fullmatch(text)):
                inside = self.functions.setdefault(m[1], [])
                text = m[2].strip()
                if not text:
                    continue
                line = text
            if inside is not None:
                if text == "}" or (text.endswith("}") and "${" not in text):
                    inside.append((number, text.removesuffix("}")))
                    inside = None
                else:
                    inside.append((number, line))
                continue
            outside.append((number, line))
            self._assign(text)
        return outside

    def _assign(self, text: str) -> None:
        if m := _ASSIGNED.fullmatch(text):
            value = m["default"] if m["default"] is not None else m[2].strip("\"'")
            self.values[m[1]] = self._filled(value, [])

    def _filled(self, text: str, arguments: list[str]) -> str:
        """Returns a text with the values of variables."""

        def value(m: re.Match[str]) -> str:
            name = m[1] or m[2]
            if name.isdecimal():
                return arguments[int(name) - 1] if 0 < int(name) <= len(arguments) else m[0]
            return self.values.get(name, m[0])

        def added(m: re.Match[str]) -> str:
            numbers = [self.values.get(x, x) for x in (m[1], m[2])]
            return str(sum(int(n) for n in numbers)) if all(re.fullmatch(r"-?\d{1,9}", n) for n in numbers) else m[0]

        return re.sub(r"\$\{(\w+)\}|\$(\w+)", value, _SUM.sub(added, text))

    def _line(self, number: int, line: str, arguments: list[str], depth: int) -> None:
        if _SHOWN.match(line) or _VIRTUAL.match(line):
            return self._shown(number, line)
        if line[:1].isspace() and self.out.commands and self.out.commands[-1].verb == "show":
            return None  # statistics of `tc -s`
        if m := _LOOP.match(line):
            for part in m[2].split(";"):
                self._statement(number, part.strip(), arguments, depth, int(m[1]))
            return None
        for part in line.split(";"):
            self._statement(number, part.strip(), arguments, depth)
        return None

    def _statement(self, number: int, text: str, arguments: list[str], depth: int, many: int = 0) -> None:
        text = re.sub(r"^(?:then|do|else|if \[[^]]*\]|fi|\|\|)\s*", "", text)
        if m := re.match(r"case \$(\w+) in", text):
            self.values["case"] = self.values.get(m[1], "")
            self.values.pop("chosen", None)
            return
        if m := re.match(r"('[^']*'|\*|[\w*]+)\)\s*(.*)", text):
            fits = "chosen" not in self.values and fnmatch.fnmatchcase(self.values.get("case", ""), m[1].strip("'"))
            self.values["branch"] = "taken" if fits else "left"
            if fits:
                self.values["chosen"] = "yes"
            text = m[2]
        if text == "esac":
            self.values.pop("branch", None)
        if not text or self.values.get("branch") == "left":
            return
        self._assign(text)
        filled = self._filled(text, arguments)
        try:
            words = shlex.split(filled, comments=True)
        except ValueError:
            words = filled.split()
        start = next((i for i, w in enumerate(words[:4]) if w.rpartition("/")[2] == "tc"), None)
        if start is not None:
            self._command(number, words[start + 1 :], many)
        elif words and words[0] in self.functions and depth < _DEEPEST:
            for at, line in self.functions[words[0]]:
                self._line(at, line, words[1:], depth + 1)

    def _wrong(self, number: int, word: str, message: str, help: str) -> TcError:
        return TcError(word, message, help, number, self.file)

    def _add(self, command: Command) -> None:
        if len(self.out.commands) >= MOST:
            raise self._wrong(command.line, "", f"more than {MOST} commands", "use a part of the text")
        self.out.commands.append(command)

    def _command(self, number: int, words: list[str], many: int) -> None:
        """Reads the words after `tc`: qdisc add dev eth0 parent 1:1 handle 10: KIND ..."""
        words = list(words)
        while words and words[0].startswith("-"):
            words.pop(0)
        if not words or words[0] in ("-s", "show", "monitor", "exec", "actions", "chain", "action"):
            return
        what = next((v for k, v in _OBJECTS.items() if k.startswith(words[0])), None)
        if what is None or len(words) < 2 or words[1] in ("show", "list", "ls", "help", "get"):
            if what is None:
                self.out.notes.append(f"line {number}: tc {words[0]} is not modelled")
            return
        verb = next((v for v in ("add", "replace", "change", "delete") if v.startswith(words[1])), words[1])
        made = Command(what, verb, "", "", "", "", [], number, many)
        rest = iter(words[2:])
        for w in rest:
            if w == "dev":
                made.dev = next(rest, "")
            elif w in ("root", "ingress", "clsact", "egress") and not made.kind and not made.parent:
                made.parent = w if w in ("root", "egress") else "ingress"
                made.kind = "" if w == "root" else w
            elif w in ("parent", "classid") and what == "class":
                made.parent, made.handle = (next(rest, ""), made.handle) if w == "parent" else (made.parent, next(rest, ""))
            elif w == "parent":
                made.parent = next(rest, "")
            elif w == "handle":
                made.handle = next(rest, "")
            elif w == "protocol" and what == "filter":
                made.protocol = next(rest, "")
            elif w in ("prio", "pref", "preference", "priority") and what == "filter":
                text = next(rest, "")
                made.pref = int(text) if text.isdecimal() and len(text) < 10 else 0
            elif w == "stab":
                made.stab, w = self._stab(rest)
                made.kind, made.words = w, list(rest)
            elif w in ("estimator", "est"):
                next(rest, "")
                next(rest, "")
            else:
                made.kind = w
                made.words = list(rest)
        if not made.dev:
            raise self._wrong(number, "", "a command without `dev`", "write for instance tc qdisc add dev eth0 root fq_codel")
        self._add(made)

    @staticmethod
    def _stab(rest: Iterator[str]) -> tuple[list[str], str]:
        found: list[str] = []
        for w in rest:
            if w not in ("mtu", "mpu", "overhead", "tsize", "linklayer"):
                return found, w
            found += [w, next(rest, "")]
        return found, ""

    def _shown(self, number: int, line: str) -> None:
        """Reads a line of `tc qdisc show` or `tc class show`."""
        if m := _VIRTUAL.match(line):
            last = next((c for c in reversed(self.out.commands) if c.kind == "gred"), None)
            if last is not None:
                self._add(Command("qdisc", "change", last.dev, last.parent, last.handle, "gred", ["vq", m[1], *m[2].split()], number))
            return
        m = _SHOWN.match(line)
        if m is None:
            return
        made = Command(m[1], "show", UNKNOWN, "", m[3], m[2], [], number)
        words = iter(m[4].split())
        for w in words:
            if w == "dev":
                made.dev = next(words, "")
            elif w == "root":
                made.parent = made.parent or "root"
            elif w == "parent":
                made.parent = next(words, "")
            elif w in ("refcnt", "leaf", "direct_packets_stat", "ver"):
                next(words, "")
            elif w not in ("offloaded", "deleted", "[Unknown", "qdisc,"):
                made.words.append(w)
        if made.what == "class":
            made.parent, made.handle = made.parent or "root", m[3]
        elif m[2] in ("ingress", "clsact"):
            made.parent = "ingress"
        if "stab" in made.words:
            at = made.words.index("stab")
            made.stab, made.words = made.words[at + 1 :], made.words[:at]
        self._add(made)
