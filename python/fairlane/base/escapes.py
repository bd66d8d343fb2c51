"""Escapes of control characters, direction marks and invisible characters in foreign text and in names."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"  # direction marks, invisible characters, line separators
    "\ud800-\udfff]"  # surrogates, which no terminal can show
)


def printable(text: str) -> str:
    r"""Returns `text` with control characters, direction marks and invisible characters escaped; tabs and newlines stay.

    >>> printable("a\x1b[31mred\x07, \u202eturned round")
    'a\\x1b[31mred\\x07, \\u202eturned round'
    """
    return _HIDDEN.sub(lambda m: _escape(m[0]), text)


def one_line(text: str) -> str:
    r"""Returns `text` escaped, on one line.

    >>> one_line("p\nq")
    'p\\nq'
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(c: str) -> str:
    return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"


def json_safe(text: str) -> str:
    r"""Returns an equivalent JSON document without control characters.

    >>> json_safe('"\x9b31m"')
    '"\\u009b31m"'
    """
    # JSON escapes control characters below a blank, so ASCII text can only contain DEL; this test is many times faster.
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def names_folder(name: str) -> bool:
    """Returns true if a name is valid for a file or folder, without leading elsewhere.

    >>> [names_folder(n) for n in ("which queue", "../x", "a\\nb", ".", "")]
    [True, False, False, False, False]
    """
    return bool(name.strip()) and name not in (".", "..") and not any(c in "/\\" or not c.isprintable() for c in name)
