"""Texts of others on a terminal, and names that become files: what could move the cursor, hide or turn text round is shown, not obeyed."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"  # marks of direction, invisible characters, separators of lines
    "\ud800-\udfff]"  # halves of characters, which no terminal can show
)


def printable(text: str) -> str:
    r"""`text` with its control characters, marks of direction and invisible characters written out; tabs and newlines stay.

    >>> printable("a\x1b[31mred\x07, \u202eturned round")
    'a\\x1b[31mred\\x07, \\u202eturned round'
    """
    return _HIDDEN.sub(lambda m: _escape(m[0]), text)


def one_line(text: str) -> str:
    r"""The same on one line: of a title, a name or a comment in a file.

    >>> one_line("p\nq")
    'p\\nq'
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(c: str) -> str:
    return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"


def json_safe(text: str) -> str:
    r"""A JSON document that says the same, and in which no terminal finds anything to obey.

    >>> json_safe('"\x9b31m"')
    '"\\u009b31m"'
    """
    # JSON escapes what is below a blank itself, so plain ASCII has nothing hidden but this one; looking for it alone is many times faster.
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def names_folder(name: str) -> bool:
    """Whether a name can be that of a folder or a file below the one that is meant.

    >>> [names_folder(n) for n in ("which queue", "../x", "a\\nb", ".", "")]
    [True, False, False, False, False]
    """
    return bool(name.strip()) and name not in (".", "..") and not any(c in "/\\" or not c.isprintable() for c in name)
