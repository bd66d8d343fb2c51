"""Output in encodings that lack characters, such as cp1252 (a redirect on Windows), latin-1 or ASCII.

Signs and box-drawing characters become similar ASCII ones. A letter that cannot be written is shown by its number: another letter would
make another name.
"""

from __future__ import annotations

import codecs
import re
import struct
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

_HANDLER = "fairlane.plain"
_SIGNS = {
    "±": "+-", "µ": "u", "μ": "u", "−": "-", "×": "x", "·": ".", "…": "...", "°": "deg", "÷": "/", "∞": "inf", "√": "sqrt",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "∼": "~", "∆": "d", "‐": "-", "‑": "-", "–": "-", "—": "-", "―": "-",
    "→": "->", "←": "<-", "↔": "<->", "↑": "^", "↓": "v", "⇒": "=>", "⇐": "<=", "⇔": "<=>", "↦": "->", "⟶": "->",
    "‘": "'", "’": "'", "“": '"', "”": '"', "«": '"', "»": '"', "‹": "'", "›": "'", "′": "'", "″": '"', "§": "sec. ", "€": "EUR",
    "●": "*", "○": "o", "◐": "o", "■": "#", "□": "o", "▲": "^", "▼": "v", "▶": ">", "◀": "<", "◆": "*", "•": "*", "⋮": ":", "⋯": "...",
    "✓": "+", "✔": "+", "✕": "x", "✗": "x", "✘": "x", "★": "*", "☆": "*", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u00ad": "",
    "░": ".", "▒": ":", "▓": "#", "␣": " ", "⁄": "/",
}  # fmt: skip
"""Signs with similar ones in ASCII."""
_GAP = re.compile(r"  +")


@cache
def plain_sign(c: str) -> str:
    r"""Returns a character in ASCII: a similar sign, or the number of a letter.

    >>> [plain_sign(c) for c in "±µ→┌─│²é"]
    ['+-', 'u', '->', '+', '-', '|', '2', '\\u00e9']
    """
    if c in _SIGNS:
        return _SIGNS[c]
    code = ord(c)
    if 0x2500 <= code < 0x2580:
        return _of_line(unicodedata.name(c))
    if 0x2580 <= code < 0x25A0:
        return "#"
    if 0x2800 <= code < 0x2900:
        return " " if code == 0x2800 else "." if (code & 0xFF).bit_count() <= 4 else ":"
    if unicodedata.category(c)[0] in "SNPZ":
        same = unicodedata.normalize("NFKC", c).replace("⁄", "/").replace("−", "-")
        if same.isascii():
            return same
    return _numbered(c)


def _numbered(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"


def _of_line(name: str) -> str:
    """Returns the ASCII character for a box-drawing character with this Unicode name."""
    across = "HORIZONTAL" in name or ("LEFT" in name or "RIGHT" in name)
    down = "VERTICAL" in name or ("UP" in name or "DOWN" in name)
    return "+" if across and down else "-" if across else "|" if down else "+"


def encodable(text: str, encoding: str | None) -> str:
    """Returns text with plain signs where `encoding` lacks a character; columns of tables stay aligned if they have room.

    >>> encodable("5 ± 1 Mbit/s   next", "cp1252"), encodable("5 ± 1 Mbit/s   next", "ascii")
    ('5 ± 1 Mbit/s   next', '5 +- 1 Mbit/s  next')
    """
    if text.isascii() or can_encode(encoding, text):
        return text
    return "\n".join(line if line.isascii() else _line(line, encoding) for line in text.split("\n"))


def _line(line: str, encoding: str | None) -> str:
    out: list[str] = []
    wide = 0
    for piece in re.split(r"(  +)", line):
        if _GAP.fullmatch(piece):
            taken = min(wide, len(piece) - 1)
            wide -= taken
            out.append(piece[taken:])
            continue
        encoded = piece if piece.isascii() else "".join(c if c.isascii() or can_encode(encoding, c) else plain_sign(c) for c in piece)
        wide += len(encoded) - len(piece)
        wide = max(wide, 0)
        out.append(encoded)
    return "".join(out)


def can_encode(encoding: str | None, text: str) -> bool:
    """Returns true if a stream of this encoding can write a text."""
    try:
        text.encode(encoding or "utf-8")
    except LookupError:
        return True  # an encoding that Python does not know
    except UnicodeEncodeError:
        return False
    return True


def is_unicode(encoding: str | None) -> bool:
    """Returns true if a stream of this encoding writes Unicode."""
    try:
        return codecs.lookup(encoding or "utf-8").name.startswith("utf")
    except LookupError:
        return True


_DOCUMENTS: dict[str, Callable[[str], str]] = {
    "json": lambda c: "".join(f"\\u{x:04x}" for x in struct.unpack(f">{len(c.encode('utf-16-be')) // 2}H", c.encode("utf-16-be"))),
    "toml": _numbered,
    "xml": lambda c: f"&#{ord(c)};",
}
_BEYOND = re.compile(r"[^\x00-\x7f]")


def document(text: str, kind: str, encoding: str | None) -> str:
    r"""Returns a JSON, TOML or XML document, with its own escapes in ASCII if `encoding` is not Unicode.

    >>> document('{"name": "µ"}', "json", "cp1252"), document("<b>µ</b>", "xml", "cp1252"), document("µ", "xml", "utf-8")
    ('{"name": "\\u00b5"}', '<b>&#181;</b>', 'µ')
    """
    if text.isascii() or is_unicode(encoding):
        return text
    return _BEYOND.sub(lambda m: _DOCUMENTS[kind](m[0]), text)


def _replaced(e: UnicodeError) -> tuple[str, int]:
    if not isinstance(e, UnicodeEncodeError):
        raise e
    return "".join(map(plain_sign, e.object[e.start : e.end])), e.end


def use_plain_signs(*streams: Any) -> None:
    """Makes streams (default: standard output and error) write plain signs instead of failing."""
    codecs.register_error(_HANDLER, _replaced)
    for stream in streams or (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not is_unicode(stream.encoding):
            reconfigure(errors=_HANDLER)
