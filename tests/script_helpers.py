"""Helpers for the tests of packet scripts."""

from __future__ import annotations

from fairlane.script import run_text

STAMPED = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 100 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 700 ecr 100,nop,wscale 7>
+.01 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 110 ecr 700>
+0 accept(3, ..., ...) = 4
"""
"""A connection with timestamps that a client opened: descriptor 4."""


def passes(text: str, **options: object) -> None:
    """The script goes as it says."""
    out = run_text(text, **options)  # type: ignore[arg-type]
    assert out.passed, out.message


def fails(text: str, *words: str, **options: object) -> str:
    """The script goes otherwise, and the message has these words."""
    out = run_text(text, **options)  # type: ignore[arg-type]
    assert not out.passed
    for word in words:
        assert word in out.message, out.message
    return out.message
