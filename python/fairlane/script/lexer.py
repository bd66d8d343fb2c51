"""The tokens of a script, as in lexer.l of packetdrill."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from .diagnostics import Place, Refusal, ScriptError

_RULES = (
    ("space", r"[ \t\r\n\f]+"),
    ("comment", r"//[^\n]*|/\*(?s:.*?)\*/|(?m:^[ \t]*\#[^\n]*)"),
    ("code", r"%\{(?s:.*?)\}%"),
    ("shell", r"`(?:\\(?s:.)|[^`\\])*`"),
    ("string", r'"(?:\\(?s:.)|[^"\\])*"'),
    ("ipv4", r"\d+\.\d+\.\d+\.\d+"),
    ("option", r"--[A-Za-z0-9_]+"),
    ("ellipsis", r"\.\.\."),
    ("float", r"-?\d*\.\d+"),
    ("hex", r"0x[0-9a-fA-F]+(?![A-Za-z0-9_])"),
    ("word", r"[A-Za-z0-9_]*[A-Za-z_][A-Za-z0-9_]*\#?"),
    ("int", r"-?\d+"),
    ("punct", r"[^ \t\r\n]"),
)
_TOKEN = re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in _RULES), re.ASCII)
LARGEST = 1 << 20
"""Largest size in bytes of a script or a file with settings; those of packetdrill have thousands."""
_DIGITS = 40
"""Most characters of a number."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token; `kind` is its rule, or "end"."""

    kind: str
    text: str
    start: int
    end: int

    def __str__(self) -> str:
        return "the end of the script" if self.kind == "end" else repr(self.text if len(self.text) < 40 else self.text[:37] + "...")


class Source:
    """Name and text of a script."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self._lines = [0] + [m.end() for m in re.finditer("\n", text)]

    def place(self, start: int, end: int) -> Place:
        """Returns the place of a span of text; one of several lines ends with the first."""
        line = bisect_right(self._lines, start)
        begin = self._lines[line - 1]
        stop = self.text.find("\n", start)
        end = max(start + 1, min(end, stop if stop >= 0 else len(self.text)))
        return Place(line, start - begin + 1, end - begin + 1)

    def line(self, start: int) -> int:
        """Returns the line of an offset."""
        return bisect_right(self._lines, start)

    def error(self, token: Token, message: str, help: str = "") -> ScriptError:
        """Returns the error at `token`."""
        return ScriptError(self.file, self.text, self.place(token.start, token.end), message, help)

    def refusal(self, token: Token, message: str, help: str = "") -> Refusal:
        """Returns the refusal of a feature at `token`."""
        return Refusal(self.file, self.text, self.place(token.start, token.end), message, help)


def tokens(source: Source) -> list[Token]:
    """Returns the tokens of a script, with "end" last."""
    out: list[Token] = []
    text, at = source.text, 0
    while at < len(text):
        m = _TOKEN.match(text, at)
        assert m is not None and m.lastgroup is not None  # every character is space or at least punctuation
        token = Token(m.lastgroup, m.group(), m.start(), m.end())
        at = m.end()
        if token.kind in ("space", "comment"):
            continue
        if len(token.text) > _DIGITS and token.kind in ("int", "hex", "float", "ipv4"):
            raise source.error(token, f"a number of {len(token.text)} characters", f"a number has at most {_DIGITS}")
        opened = {"`": "a shell line", '"': "a string"}.get(token.text)
        if token.kind == "punct":
            if text.startswith("%{", token.start):
                opened = "Python code"
            elif text.startswith("/*", token.start):
                opened = "a comment"
        if opened is not None:
            closing = {"a shell line": "a backtick", "a string": "a quotation mark", "Python code": "}%", "a comment": "*/"}[opened]
            raise source.error(token, f"{opened} has no end", f"close it with {closing}")
        out.append(token)
    # The place after the last token: the end of the file is often an empty line.
    last = out[-1].end if out else 0
    out.append(Token("end", "", last, last))
    return out
