"""Changes whose range is not given: names of changes, their default ranges, and the limits of what is plausible.

Sources: rates of a link in use vary by a factor of four within seconds (Winstein, Sivaraman and Balakrishnan 2013, figure 1); the buffers
are those of a fifth to five bandwidth-delay products; delays of access networks vary by tens of milliseconds.
"""

from __future__ import annotations

from fractions import Fraction

FACTORS = {"rate": Fraction(2), "delay": Fraction(4), "limit": Fraction(5), "size": Fraction(2)}
"""Last key of a path -> a value varies from the scenario's divided by this to the scenario's times this."""
LOSS = ("0.01%", "1%")
JITTER = ("1ms", "40ms")
"""Width of the variation of the delay; packets keep their order."""
STEPS = 8
"""Most steps of a rate; each lies in the range of `rate`, which is a factor of four."""
HOLD = ("200ms", "5s")
"""Time that each rate of a square wave lasts."""
OUTAGES = 2
OUTAGE = ("100ms", "1s")
"""Length of an outage."""
BURST = (2, 20)
"""Mean length of a burst of losses, packets."""
GAP = (500, 20_000)
"""Mean number of packets between two bursts."""
CROSS_RATE = (Fraction(1, 10), Fraction(3, 2))
"""Rate of competing bursts, in units of the link's rate; on average they take at most half of it."""
CROSS_BURST = ("10ms", "500ms")
CROSS_PERIOD = ("100ms", "3s")

WORDS = {
    "rate": "rate of the link",
    "delay": "delay of the link",
    "queue": "limit of its queue",
    "loss": "random losses, 0.01 % to 1 %",
    "jitter": "variation of the delay, 1 ms to 40 ms, in order",
    "steps": "steps of the rate, at most 8, within a factor of four",
    "square": "two rates in turn, each for 200 ms to 5 s, within a factor of four",
    "outages": "failures of the link, at most 2, of 100 ms to 1 s",
    "bursts": "losses in bursts of 2 to 20 packets",
    "cross": "bursts of UDP, at most half of the link on average",
    "start": "start of the other flow",
}
"""Words of `--may` that name no path, and what they mean."""
