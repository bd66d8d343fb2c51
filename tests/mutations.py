"""Files that are nearly right: values, keys and tables of good ones changed, moved and repeated, from a seed."""

from __future__ import annotations

import copy
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    0,
    1,
    -1,
    2,
    64,
    65536,
    2**31,
    2**63 - 1,
    -(2**63),
    0.0,
    -0.5,
    0.5,
    1.5,
    1e300,
    5e-324,
    True,
    False,
    "",
    " ",
    "0",
    "1",
    "-1",
    "auto",
    "none",
    "off",
    "0s",
    "1ns",
    "1ps",
    "10ms",
    "1000h",
    "1001h",
    "99999999999999999999s",
    "-1ms",
    "1 ms",
    "5",
    "0p",
    "1p",
    "10p",
    "0B",
    "1B",
    "64KiB",
    "1000TB",
    "0bit/s",
    "1bit/s",
    "10Mbit/s",
    "10Tbit/s",
    "11Tbit/s",
    "1e400bit/s",
    "µs",
    "\x00",
    "\x1b[31m",
    "{i}",
    "s{i}",
    "{j}",
    "a",
    "r1",
    "s0",
    "d0",
    "bottleneck",
    "bottleneck.reverse",
    "red",
    "droptail",
    "fq_codel",
    "cubic",
    "plugin",
    "x" * 300,
    "/dev/zero",
    "/",
    "no/such.file",
    "data:,",
    "data:,1 2 3",
    "data:,x",
    "1..5",
    "5..1",
    "1..999999999999",
    "*",
    "network.jain",
    "flows.*.goodput",
    "links.bottleneck.rate",
    'links."a b".rate',
    "links..rate",
    "linspace(1, 2, 3)",
    [],
    [[]],
    [1],
    ["a"],
    [None, 1],
    {},
    {"red": {}},
    {"a": 1},
    {"from": 1, "to": 2, "steps": 3},
    {"values": []},
    {"levels": {}},
    {"path": "x"},
)
"""Wrong values: ends of ranges, other kinds, other units, other names."""
KEYS = (
    "",
    " ",
    "a b",
    "a.b",
    '"',
    "\n",
    "rate",
    "delay",
    "queue",
    "from",
    "to",
    "tcp",
    "udp",
    "source",
    "count",
    "seed",
    "sample",
    "duration",
    "x",
    "é",
)


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every table and list of a tree with each of its keys."""
    found: list[tuple[Any, Any]] = []
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(inner):
        found.append((tree, key))
        found += places(value)
    return found


def mutated(good: dict[str, Any], seed: int) -> dict[str, Any]:
    """A tree with one to four changes."""
    draw = random.Random(seed)
    tree = copy.deepcopy(good)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        found = places(tree)
        if not found:
            break
        at, key = draw.choice(found)
        others = [a[k] for a, k in found]
        match draw.randrange(8):
            case 0 | 1 | 2:
                at[key] = copy.deepcopy(draw.choice(VALUES))
            case 3:
                at[key] = copy.deepcopy(draw.choice(others))  # what is right elsewhere
            case 4:
                del at[key]
            case 5 if isinstance(at, dict):
                at[draw.choice(KEYS)] = at.pop(key)
            case 6 if isinstance(at, dict):
                at[draw.choice(KEYS)] = copy.deepcopy(draw.choice((*VALUES, *others)))
            case _ if isinstance(at, list):
                at.insert(draw.randrange(len(at) + 1), copy.deepcopy(draw.choice((*VALUES, *others))))
            case _ if isinstance(at[key], str) and at[key]:
                text = at[key]
                i = draw.randrange(len(text))
                at[key] = text[:i] + draw.choice(("", "0", "9", "-", ".", " ", "{", "}", "e", "\\")) + text[i + draw.randrange(2) :]
    return tree


def broken(text: str, seed: int) -> str:
    """A text with one to four changes of single letters, pieces or lines."""
    draw = random.Random(seed)
    for _ in range(draw.choice((1, 1, 2, 4))):
        i, j = sorted((draw.randrange(len(text) + 1), draw.randrange(len(text) + 1)))
        match draw.randrange(5):
            case 0:
                text = text[:i] + text[i + 1 :]
            case 1:
                text = text[:i] + draw.choice("\"'[]{}=.,#\n\t\\0 9é\x01\ufeff") + text[i:]
            case 2:
                text = text[:i] + text[j:] if j - i < 200 else text[:i]
            case 3:
                text = text[:j] + text[i : min(j, i + 100)] + text[j:]
            case _:
                lines = text.split("\n")
                draw.shuffle(lines)
                text = "\n".join(lines)
        text = text or "x"
    return text
