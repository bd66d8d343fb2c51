"""The formulas, in segments per second; p: loss probability, rtt and rto: seconds, b: segments an acknowledgment covers."""

from __future__ import annotations

from math import sqrt


def square_root(p: float, rtt: float, b: int) -> float:
    """Periodic losses: sqrt(3 / (2 b p)) / RTT (Mathis, Semke, Mahdavi and Ott 1997, section 2)."""
    return sqrt(3 / (2 * b * p)) / rtt


def random_loss(p: float, rtt: float, b: int) -> float:
    """Independent losses: 1.3098 / (RTT sqrt(b p)) (Ott, Kemperman and Mathis 1996)."""
    return 1.3098 / (rtt * sqrt(b * p))


def pftk(p: float, rtt: float, b: int, rto: float) -> float:
    """With timeouts (Padhye, Firoiu, Towsley and Kurose 1998, equation 30)."""
    timeouts = rto * min(1.0, 3 * sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return 1 / (rtt * sqrt(2 * b * p / 3) + timeouts)


def cubic(p: float, rtt: float) -> float:
    """CUBIC above the Reno-friendly region: 1.054 (rtt^3 / p^3)^(1/4) / RTT with C = 0.4, beta = 0.7 (RFC 9438 section 5.1)."""
    return (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * (rtt**3 / p**3) ** 0.25 / rtt
