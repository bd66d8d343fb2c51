"""Cases for both sides: families of paths, queues and senders."""

from __future__ import annotations

from dataclasses import dataclass

#: Payload of a full segment with timestamps behind an MTU of 1500 bytes.
MSS = 1448
#: The run of number n has a path longer by n - 1 times this. A drop decides on what comes after it: runs that differ by microseconds tell
#: what is the path's and what is chance, on both sides.
NUDGE_US = 17
#: Jitter of the simulation's packets, where it decides the result of a run: the lateness of the relay, which the kernel's packets have
#: anyway. Without it equal flows that compete lock into one phase for good (Floyd and Jacobson 1991), and BBR, which goes by the largest of
#: its rate samples, sees none that is too large.
JITTER_US = 50


def fifo(packets: int) -> str:
    """A drop-tail queue for so many waiting packets."""
    return f'{{ droptail = {{ limit = "{packets}p" }} }}'


CODEL = '"codel"'
RED = '{ red = { min = "10p", max = "30p", limit = "100p" } }'


@dataclass(frozen=True)
class Case:
    """Bulk flows through one bottleneck."""

    name: str
    cc: tuple[str, ...]
    """the congestion control of each flow"""
    rate_mbps: int
    rtt_ms: int
    """without queueing and transmission"""
    queue: str
    stagger_ms: int = 100
    """between the starts of two flows"""
    seconds: float = 40.0
    warmup: float = 5.0
    ecn: bool = False
    chaotic: bool = False
    """microseconds, or draws of the queue, decide who gets what: means are compared with their intervals"""

    @property
    def flows(self) -> int:
        """How many."""
        return len(self.cc)

    def scenario(self, run: int = 1, simulated: bool = False) -> str:
        """The scenario file of the simulation; its link is also the real bottleneck."""
        delay = self.rtt_ms * 500 + NUDGE_US * (run - 1)
        head = f"""\
duration = "{self.seconds:g}s"
sample = "10ms"

[links.bottleneck]
from = "a"
to = "b"
rate = "{self.rate_mbps}Mbit/s"
delay = "{delay}us"
queue = {self.queue}
"""
        if simulated and (self.flows > 1 or "bbr" in self.cc):
            head += f'jitter = "{JITTER_US}us"\n'
        extra = ', ecn = "classic"' if self.ecn else ""
        flows = [
            f'\n[flows.f{i}]\nfrom = "a"\nto = "b"\nstart = "{i * self.stagger_ms}ms"\n'
            f'tcp = {{ preset = "linux", cc = "{cc}", mss = "{MSS}B"{extra} }}\n'
            for i, cc in enumerate(self.cc)
        ]
        return head + "".join(flows)


CONTROLS = ("reno", "cubic", "bbr")


def _one(cc: str, rate: int, rtt: int, name: str, queue: str, seconds: float = 40.0) -> Case:
    # BBR keeps CoDel's queue near its target: whether it drops for good or stops again hangs on microseconds.
    chaotic = name == "red" or (cc, name) == ("bbr", "codel")
    return Case(f"{cc}/{rate}mbit-{rtt}ms-{name}", (cc,), rate, rtt, queue, seconds=seconds, chaotic=chaotic)


def _pair(name: str, cc: tuple[str, str], queue: str, stagger_ms: int = 100) -> Case:
    return Case(f"two/{name}", cc, 10, 44, queue, stagger_ms=stagger_ms, chaotic=True)


CASES = [
    *(_one(cc, 10, 44, f"fifo{n}", fifo(n)) for cc in CONTROLS for n in (25, 50, 100, 200)),
    *(_one(cc, 20, 20, "fifo40", fifo(40)) for cc in CONTROLS),
    *(_one(cc, rate, 40, "fifo50", fifo(50)) for cc in CONTROLS for rate in (5, 20, 50)),
    *(_one(cc, 10, rtt, "fifo50", fifo(50)) for cc in CONTROLS for rtt in (10, 100, 200)),
    *(_one(cc, 10, 40, "codel", CODEL) for cc in CONTROLS),
    *(_one(cc, 10, 40, "red", RED) for cc in CONTROLS),
    _one("cubic", 20, 80, "codel", CODEL),
    _one("reno", 20, 80, "red", RED),
    Case("cubic/10mbit-40ms-codel-ecn", ("cubic",), 10, 40, "{ codel = { ecn = true } }", ecn=True),
    *(_pair(f"{cc}-fifo50", (cc, cc), fifo(50)) for cc in ("cubic", "bbr")),
    *(_pair(f"reno-fifo50-{ms}ms-apart", ("reno", "reno"), fifo(50), ms) for ms in (2, 20, 100)),
    _pair("cubic-codel", ("cubic", "cubic"), CODEL),
    *(_pair(f"cubic-bbr-fifo{n}", ("cubic", "bbr"), fifo(n)) for n in (50, 100)),
    Case("four/reno-fifo50", ("reno",) * 4, 10, 44, fifo(50), chaotic=True),
]


def select(names: list[str], quick: bool) -> list[Case]:
    """The cases whose names begin with one of `names`; all if there are none. Raises ValueError for a name that fits none."""
    for name in names:
        if not any(c.name.startswith(name) for c in CASES):
            raise ValueError(f"no case begins with {name!r}; there are " + ", ".join(c.name for c in CASES))
    chosen = [c for c in CASES if not names or any(c.name.startswith(n) for n in names)]
    return [c for c in chosen if c.name.endswith("10mbit-44ms-fifo50")] if quick else chosen
