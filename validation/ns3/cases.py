"""The cases: a dumbbell, a queue and a TCP each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .queues import MARKING, QUEUES, Size

PS = 10**12
HUNDRED = Size()


@dataclass(frozen=True)
class Host:
    """One flow and its own pair of hosts."""

    kind: str
    """``tcp`` or ``udp``"""
    delay: int
    """of the left access link, ps"""
    start: int
    """ps"""
    rate: int = 0
    """of the payload of UDP, bit/s"""


@dataclass(frozen=True)
class Case:
    """One network on both sides."""

    family: str
    name: str
    queue: str
    flows: tuple[Host, ...]
    control: str = "LinuxReno"
    recovery: str = "classic"
    ack_every: int = 1
    rto_min: str = "1s"
    rate: int = 10_000_000
    delay: float = 0.02
    """of the bottleneck, s"""
    size: Size = HUNDRED
    runs: int = 10
    ecn: bool = False
    """true if ECN is enabled although the control does not need it"""
    jitter: bool = False
    """whether each run draws its own delays and starts, the same on both sides"""
    recorded: bool = False
    """whether its runs are stored although nothing is drawn"""
    quick: bool = False
    standard: bool = True
    """whether it runs without `--all`"""
    explained: tuple[tuple[str, float], ...] = ()
    """measures that differ for a reason given in docs/validation/ns3.md, and how many bounds they may differ by"""

    @property
    def title(self) -> str:
        """Family and name."""
        return f"{self.family}/{self.name}"

    def hosts(self, run: int) -> tuple[Host, ...]:
        """The flows of run 1, 2, ... With equal delays and fixed starts a drop-tail or deterministic queue shows one
        phase pattern for ever; up to one bottleneck transmission time of delay and 50 ms of start make runs independent."""
        if not self.jitter:
            return self.flows
        draw = random.Random(f"ns3 {run}")
        out = []
        for host in self.flows:
            delay, start = draw.randrange(1_200_000), draw.randrange(50_000_000)
            out.append(replace(host, delay=host.delay + delay * 1000, start=host.start + start * 1000))
        return tuple(out)


def _ms(value: float) -> int:
    return round(value * 1e-3 * PS)


def _tcp(delays: list[float]) -> tuple[Host, ...]:
    return tuple(Host("tcp", _ms(delay), _ms(100 * i)) for i, delay in enumerate(delays))


ONE = _tcp([1.0])
FIVE = _tcp([1.0] * 5)
TWENTY = _tcp([1.0] * 20)
UNEQUAL = _tcp([1.0, 6.0, 16.0, 36.0, 76.0])
"""Round trips of 44, 54, 74, 114 and 194 ms."""


def _with_udp(flows: tuple[Host, ...], rate: int) -> tuple[Host, ...]:
    return (*flows, Host("udp", _ms(1.0), _ms(100 * len(flows)), rate))


PLAIN = tuple(name for name in QUEUES if name not in (*MARKING, "fifo100", "short"))
"""Queues of the families N2 and N3."""

CONTROLS = (
    "NewReno", "LinuxReno", "Cubic", "Vegas",
    "Veno", "Westwood", "Bic", "Hybla", "HighSpeed", "Htcp", "Illinois", "Yeah", "Scalable", "Ledbat",
)  # fmt: skip
"""Congestion controls of ns-3 that are here, too; the first four are in N1 with a FIFO."""

CUBIC = ("fifo", "red", "ared", "redadapt", "pie", "codel", "fqcodel", "cobalt")
"""Queues over which five flows with ns-3's CUBIC do not fall into its bursts after timeouts."""

OWN = ("red", "ared", "pie1000", "codel", "fqcodel", "cobalt", "fqpie")
"""Queues of the families beyond N2 and N3."""


def _families() -> Iterator[Case]:
    for control in ("NewReno", "LinuxReno", "Cubic", "Vegas"):
        for recovery in ("prr", "classic"):
            yield Case("N1", f"{control}-{recovery}", "fifo", ONE, control, recovery)
    for control in ("LinuxReno", "Cubic", "Bbr"):
        yield Case("N1", f"{control}-prr-delack2", "fifo", ONE, control, "prr", ack_every=2)
    yield Case("N1", "Bbr-prr-limit100", "fifo100", ONE, "Bbr", "prr")
    yield Case("N1", "Bbr-prr-minrto200", "fifo", ONE, "Bbr", "prr", rto_min="200ms")
    mixed = _with_udp(FIVE, 5_000_000)
    for queue in PLAIN:
        for recovery in ("prr", "classic"):
            yield Case("N2", f"{queue}-{recovery}", queue, FIVE, recovery=recovery, standard=recovery == "prr")
    for queue in CUBIC:
        yield Case("N2", f"{queue}-prr-Cubic", queue, FIVE, "Cubic", "prr")
    for queue in PLAIN:
        if queue != "redadapt":
            yield Case("N3", queue, queue, mixed, recovery="prr")
    for queue in PLAIN:
        yield Case("N2j", queue, queue, FIVE, jitter=True)
    for queue in ("red", "codel", "fqpie"):
        yield Case("N2j", f"{queue}-NewReno", queue, FIVE, control="NewReno", jitter=True)
    for queue in PLAIN:
        yield Case("N3j", queue, queue, mixed, jitter=True)
    for queue in OWN:
        yield Case("overload", queue, queue, _with_udp(FIVE, 12_000_000), jitter=True)
    for queue in OWN:
        yield Case("twenty", queue, queue, TWENTY, rate=20_000_000, size=Size(200, 20, 80), jitter=True)
    for control in ("NewReno", "LinuxReno"):
        yield Case("ecn", control, "redmark", FIVE, control=control, runs=5, ecn=True, jitter=True)
    for flows, name in ((FIVE[:1], "one"), (FIVE, "five")):
        yield Case("dctcp", f"step-{name}", "step", flows, control="Dctcp", size=Size(200, 20, 21), runs=5, jitter=True)
    for queue in OWN:
        yield Case("rtts", queue, queue, UNEQUAL, jitter=True)
    for queue, controls in (("fifo", CONTROLS[4:]), ("codel", CONTROLS)):
        for control in controls:
            yield Case("controls", f"{control}-{queue}", queue, ONE, control, "prr", runs=1, recorded=True)
    for control in ("NewReno", "LinuxReno", "Westwood", "HighSpeed", "Scalable"):
        for limit in (5, 20):
            size = Size(limit, 1, 2)
            yield Case(
                "short", f"{control}-{limit}", "short", ONE, control, "prr", rate=5_000_000, delay=0.005, size=size, runs=1, recorded=True
            )
    yield from _variants()


def _variants() -> Iterator[Case]:
    """Rates, delays, numbers of flows, queues, controls and acknowledgments that no other family has: nothing was fitted to them."""
    for rate, delay, flows, queue, control, recovery, ack_every in (
        (5, 20, 2, "red", "LinuxReno", "prr", 1),
        (5, 50, 10, "codel", "LinuxReno", "prr", 2),
        (5, 5, 10, "fqpie", "NewReno", "classic", 1),
        (5, 20, 5, "cobalt", "NewReno", "prr", 1),
        (10, 20, 2, "ared", "Vegas", "prr", 1),
        (10, 20, 5, "codel", "Vegas", "prr", 1),
        (10, 20, 5, "fqcodel", "Vegas", "prr", 1),
        (10, 20, 1, "red", "Vegas", "prr", 1),
        (10, 50, 5, "pie", "HighSpeed", "prr", 1),
        (10, 20, 5, "fqcodel", "LinuxReno", "prr", 2),
        (10, 20, 10, "fifo", "Htcp", "classic", 1),
        (20, 5, 10, "pie1000", "LinuxReno", "classic", 1),
        (20, 20, 20, "fqcodel", "LinuxReno", "prr", 1),
        (20, 20, 20, "cobalt", "NewReno", "prr", 1),
        (20, 50, 2, "fqcodel", "NewReno", "prr", 1),
        (50, 5, 5, "codel", "LinuxReno", "prr", 1),
    ):
        name = f"{rate}M-{delay}ms-{flows}-{queue}-{control}-{recovery}{'-delack2' if ack_every == 2 else ''}"
        yield Case(
            "variants",
            name,
            queue,
            _tcp([1.0] * flows),
            control,
            recovery,
            ack_every=ack_every,
            rate=rate * 1_000_000,
            delay=delay / 1000,
            runs=3,
            jitter=True,
        )
    for rate, flows, queue, control, recovery in (
        (10, 5, "fqcodelmark", "LinuxReno", "prr"),
        (10, 5, "codelmark", "NewReno", "prr"),
        (20, 10, "fqcodelmark", "NewReno", "classic"),
        (5, 2, "redmark", "LinuxReno", "prr"),
    ):
        yield Case(
            "variants",
            f"{rate}M-{flows}-{queue}-{control}-{recovery}",
            queue,
            _tcp([1.0] * flows),
            control,
            recovery,
            rate=rate * 1_000_000,
            runs=3,
            ecn=True,
            jitter=True,
        )


_SAMPLES = (("queue_mean", 7.0), ("drops", 6.0), ("utilisation", 1.5))

EXPLAINED: dict[str, tuple[tuple[str, float], ...]] = {
    # ns-3.37's BBR measures rates and round-trip times in a way of its own.
    "N1/Bbr-prr-delack2": _SAMPLES,
    "N1/Bbr-prr-limit100": _SAMPLES,
    "N1/Bbr-prr-minrto200": _SAMPLES,
    # In ns-3.37 CUBIC's window leaps after a timeout; and one phase pattern for the whole run.
    "N2/fqcodel-prr-Cubic": (("queue_mean", 4.0), ("drops", 2.0), ("utilisation", 2.0)),
    # CUBIC's timeouts, and when HyStart ends the five slow starts that begin together; not understood in full.
    "N2/ared-prr-Cubic": (("drops", 1.5),),
    "N2/codel-prr-Cubic": (("flow.0", 1.2), ("flow.1", 1.2)),
    # BLUE's clock in ns-3 overflows.
    "overload/cobalt": (("utilisation", 1.5),),
    # One flow over CoDel waits 2 to 4 packets on average: a loss more or less decides. Causes in the docs.
    "controls/Westwood-codel": (("queue_mean", 1.2),),
    "controls/Yeah-codel": (("queue_mean", 3.0), ("drops", 3.5)),
    "controls/Ledbat-codel": (("queue_mean", 2.5),),
    # TcpHtcp's choice of beta, and TcpBic's halving of the pipe in small windows.
    "controls/Htcp-codel": (("utilisation", 7.0), ("queue_mean", 3.0), ("drops", 2.0), ("flow.0", 2.0)),
    "controls/Bic-codel": (("drops", 1.5),),
}
"""Cases that differ, and why; the whole story is in docs/validation/ns3.md."""

QUICK = (
    "N1/LinuxReno-prr",
    "N1/Cubic-prr",
    "N1/Vegas-prr",
    "N1/LinuxReno-classic",
    "N2/codel-prr",
    "dctcp/step-one",
    "ecn/LinuxReno",
    "N2j/codel",
    "N2j/cobalt",
    "N2j/fqcodel",
    "N3j/red",
    "controls/Westwood-fifo",
    "controls/HighSpeed-fifo",
    "controls/Htcp-fifo",
    "controls/Illinois-fifo",
    "controls/Vegas-codel",
)


def catalogue() -> list[Case]:
    """All cases."""
    return [replace(case, quick=case.title in QUICK, explained=EXPLAINED.get(case.title, ())) for case in _families()]


def select(names: list[str], *, quick: bool = False, everything: bool = False) -> list[Case]:
    """The cases of the families in `names` or whose title begins with one of them; all families if `names` is empty."""
    cases = catalogue()
    families = {case.family for case in cases}
    for name in names:
        if name not in families and not any(case.title.startswith(name) for case in cases):
            raise ValueError(f"no family or case {name!r}; families: {', '.join(sorted(families))}")
    chosen = []
    for case in cases:
        exact = any(name not in families and case.title.startswith(name) for name in names)
        member = not names or case.family in names
        if exact or (member and (everything or (case.quick if quick else case.standard))):
            chosen.append(case)
    return chosen
