"""What is run on both sides."""

from __future__ import annotations

from dataclasses import dataclass

#: Payload of a full segment with timestamps behind an MTU of 1500 bytes.
MSS = 1448


@dataclass(frozen=True)
class Case:
    """Bulk flows of one kind through one bottleneck."""

    name: str
    cc: str
    rate_mbps: int
    delay_ms: int
    queue: str
    flows: int = 1
    seconds: float = 30.0
    warmup: float = 5.0
    ecn: bool = False
    explained: tuple[str, ...] = ()
    """measures that the relay's own lateness moves (docs/validation/kernel.md); they may differ by twice their bound"""

    def scenario(self) -> str:
        """The scenario file of the simulation; its link is also the real bottleneck."""
        extra = ', ecn = "classic"' if self.ecn else ""
        return f"""\
duration = "{self.seconds:g}s"
sample = "50ms"

[links.bottleneck]
from = "a"
to = "b"
rate = "{self.rate_mbps}Mbit/s"
delay = "{self.delay_ms}ms"
queue = {self.queue}

[flows.f]
from = "a"
to = "b"
count = {self.flows}
stagger = "100ms"
tcp = {{ preset = "linux", cc = "{self.cc}", mss = "{MSS}B"{extra} }}
"""


FIFO = '{ droptail = { limit = "50p" } }'
CODEL = '"codel"'
RED = '{ red = { min = "10p", max = "30p", limit = "100p" } }'

CASES = [
    *(Case(f"{cc}/{rate}mbit", cc, rate, 20, FIFO) for cc in ("reno", "cubic") for rate in (5, 10, 20)),
    *(Case(f"bbr/{rate}mbit", "bbr", rate, 20, FIFO, explained=("rtt",)) for rate in (5, 10, 20)),
    *(Case(f"{cc}/codel", cc, 10, 20, CODEL) for cc in ("reno", "cubic")),
    Case("cubic/red", "cubic", 10, 20, RED),
    Case("reno/four", "reno", 10, 20, FIFO, flows=4),
    Case("cubic/four", "cubic", 10, 20, FIFO, flows=4),
    Case("cubic/ecn", "cubic", 10, 20, "{ codel = { ecn = true } }", ecn=True),
]


def select(names: list[str], quick: bool) -> list[Case]:
    """The cases whose names begin with one of `names`; all if there are none. Raises ValueError for a name that fits none."""
    for name in names:
        if not any(c.name.startswith(name) for c in CASES):
            raise ValueError(f"no case begins with {name!r}; there are " + ", ".join(c.name for c in CASES))
    chosen = [c for c in CASES if not names or any(c.name.startswith(n) for n in names)]
    return [c for c in chosen if c.name.endswith("10mbit")] if quick else chosen
