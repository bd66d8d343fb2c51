"""Numbers in sentences and tables of differences: few digits, signs and units."""

from __future__ import annotations

from ..base.format import number, scale


def digits(x: float) -> str:
    """Formats a number with two significant digits, or as an integer from 10 on."""
    return f"{x:.0f}" if abs(x) >= 10 else number(float(f"{x:.2g}"), 2)


def signed(x: float) -> str:
    """Formats a difference with its sign.

    >>> signed(12.3), signed(-0.0123), signed(0.0)
    ('+12', '−0.012', '0')
    """
    text = digits(abs(x))
    return text if text.strip("0.") == "" else f"{'+' if x > 0 else '−'}{text}"


def value_text(mean: float | None, unit: str) -> str:
    """Formats a mean with three digits and its unit; "%" takes a share.

    >>> value_text(0.0972, "s"), value_text(4.6512e6, "bit/s"), value_text(0.0123, "%"), value_text(None, "s")
    ('97.2 ms', '4.65 Mbit/s', '1.23 %', '-')
    """
    if mean is None:
        return "-"
    factor, name = (100.0, "%") if unit == "%" else scale(unit, mean)
    return f"{number(float(f'{mean * factor:.3g}'), 3)} {name}".rstrip()
