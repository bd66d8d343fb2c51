"""Dotted paths of scenario values, as in `--set`: keys as in TOML, quoted if they contain more than letters, digits, `_`, `-`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .toml import key

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
_BARE = re.compile(r"[^.\"'\s]+")


def split(path: str) -> tuple[str, ...] | None:
    """Returns the keys of a dotted path; None if it is not a valid path.

    >>> split('links."a b.c".rate')
    ('links', 'a b.c', 'rate')
    >>> split("a..b") is None
    True
    """
    import tomllib

    keys: list[str] = []
    at = 0
    while True:
        if quoted := _QUOTED.match(path, at):
            try:
                own = tomllib.loads(f"x = {quoted.group()}")["x"]
            except tomllib.TOMLDecodeError:
                return None
            found: re.Match[str] | None = quoted
        else:
            found = _BARE.match(path, at)
            own = found.group() if found else ""
        if found is None or not own:
            return None
        keys.append(own)
        at = found.end()
        if at == len(path):
            return tuple(keys)
        if path[at] != ".":
            return None
        at += 1


def join(keys: Iterable[str]) -> str:
    """Returns the path with these keys.

    >>> join(("links", "a b", "rate"))
    'links."a b".rate'
    """
    return ".".join(key(k) for k in keys)


def partition(text: str, sign: str = "=") -> tuple[str, str, str]:
    """Splits at the first `sign` outside of quotes, like `str.partition`.

    >>> partition('links."a=b".rate=5Mbit/s')
    ('links."a=b".rate', '=', '5Mbit/s')
    """
    at = 0
    alone = set[str]()  # quotes without a closing one, remembered so that the search stays linear
    while at < len(text):
        if (c := text[at]) == sign:
            return text[:at], sign, text[at + 1 :]
        quoted = _QUOTED.match(text, at) if c in "\"'" and c not in alone else None
        if quoted is None and c in "\"'":
            alone.add(c)
        at = quoted.end() if quoted else at + 1
    return text, "", ""
