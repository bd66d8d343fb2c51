"""Changes of a path: single values, steps of a rate, outages, losses in bursts, competing bursts of traffic.

The state of a change is a tuple of whole numbers, one for each gene, and then some for each item of a list such as the steps of a rate.
A candidate is a path: the states of the changes that it makes, by their names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

State = tuple[int, ...]
Candidate = Mapping[str, State]
"""State of each change by its name; what is absent stays as the scenario has it."""

QUANTUM = {"s": "us", "bit/s": "bit/s", "byte": "B", "packets": "p", "1": "", "": ""}
"""Unit of a gene's whole numbers, by kind of quantity."""
MILLIONTH = 1_000_000
_SCALES = {"s": (("s", 1_000_000), ("ms", 1000), ("us", 1)), "bit/s": (("Mbit/s", 1_000_000), ("kbit/s", 1000), ("bit/s", 1))}


@dataclass(frozen=True)
class Gene:
    """A number that varies; `low` and `high` belong to the range."""

    name: str
    low: int
    high: int
    kind: str = ""
    """Kind of quantity: s, bit/s, byte, packets, 1 (a share) or "" (a plain number)."""
    log: bool = True
    parts: int = 1
    """Parts of a unit: a share and a plain number that is not whole are counted in millionths."""

    def literal(self, n: int) -> Any:
        """Returns a value as a scenario writes it.

        >>> Gene("at", 0, 9, "s").literal(1_500_000), Gene("rate", 1, 9, "bit/s").literal(12_500_000), Gene("x", 0, 9).literal(3)
        ('1.5s', '12.5Mbit/s', 3)
        """
        if self.kind == "s":
            unit, factor = next((pair for pair in _SCALES["s"] if n >= pair[1]), ("s", 1))
            return f"{_decimal(n, factor)}{unit}"
        if self.kind == "bit/s":
            unit, factor = next((pair for pair in _SCALES["bit/s"] if n >= pair[1]), ("bit/s", 1))
            return f"{_decimal(n, factor)}{unit}"
        if self.kind in ("byte", "packets"):
            return f"{n}{QUANTUM[self.kind]}"
        return n if self.parts == 1 else n / self.parts

    def rounded(self, n: int, digits: int) -> int:
        """Returns the nearest value with this number of digits that lies in the range.

        >>> Gene("rate", 1_000_000, 9_000_000).rounded(4_567_891, 2), Gene("rate", 1_500_000, 1_900_000).rounded(1_512_345, 1)
        (4600000, 1512345)
        """
        step = 10 ** max(0, len(str(abs(n))) - digits)
        near = (2 * n + step) // (2 * step) * step
        return near if self.low <= near <= self.high else n


def _decimal(n: int, factor: int) -> str:
    whole, rest = divmod(n, factor)
    return str(whole) if not rest else f"{whole}.{str(factor + rest)[1:].rstrip('0')}"


@dataclass(frozen=True)
class Change(ABC):
    """A change of a path; `fixed` are the genes of every state, `item` those of each item of its list."""

    name: str
    fixed: tuple[Gene, ...] = ()
    item: tuple[Gene, ...] = ()
    most: int = 0
    """Most items."""

    def gene(self, i: int) -> Gene:
        """Returns the gene of a number of the state."""
        return self.fixed[i] if i < len(self.fixed) else self.item[(i - len(self.fixed)) % len(self.item)]

    def items(self, state: State) -> list[State]:
        """Returns the items of a state in order."""
        rest, n = state[len(self.fixed) :], len(self.item)
        return sorted(rest[i : i + n] for i in range(0, len(rest), n)) if n else []

    def with_items(self, state: State, items: list[State]) -> State:
        """Returns the state with other items."""
        return (*state[: len(self.fixed)], *(x for item in items for x in item))

    @abstractmethod
    def sets(self, state: State) -> dict[str, Any]:
        """Returns the values of the scenario by path."""

    @abstractmethod
    def words(self, state: State) -> str:
        """Returns a phrase for a sentence."""


def _named(name: str) -> str:
    return name if "." in name else {"queue": "the limit of the queue", "loss": "the share of random losses"}.get(name, f"the {name}")


@dataclass(frozen=True)
class Value(Change):
    """A number at a path of the scenario."""

    path: str = ""
    table: tuple[tuple[str, Any], ...] = ()
    """Other keys of the table in which the value is `inner`; () for a plain value."""
    inner: str = ""

    def sets(self, state: State) -> dict[str, Any]:
        """Returns the value, or the table that has it."""
        literal = self.fixed[0].literal(state[0])
        return {self.path: {self.inner: literal, **dict(self.table)} if self.inner else literal}

    def words(self, state: State) -> str:
        """Returns the path with its value."""
        g = self.fixed[0]
        shown = f"{100 * state[0] / g.parts:.3g} %" if g.kind == "1" else g.literal(state[0])
        return f"{_named(self.name)} is {shown}"


@dataclass(frozen=True)
class Choice(Change):
    """One of several values at a path of the scenario."""

    path: str = ""
    options: tuple[Any, ...] = ()

    def sets(self, state: State) -> dict[str, Any]:
        """Returns the value."""
        return {self.path: self.options[state[0]]}

    def words(self, state: State) -> str:
        """Returns the path with its value."""
        return f"{_named(self.name)} is {self.options[state[0]]}"


@dataclass(frozen=True)
class Rates(Change):
    """A rate of a link that varies over time."""

    link: str = ""

    @abstractmethod
    def steps(self, state: State) -> dict[int, int]:
        """Returns the rate from each time on, in order; microseconds and bit/s."""

    def sets(self, state: State) -> dict[str, Any]:
        """Returns the schedule of the rate."""
        at, rate = Gene("at", 0, 0, "s"), Gene("rate", 0, 0, "bit/s")
        return {f"links.{self.link}.rates": [{"at": at.literal(t), "rate": rate.literal(r)} for t, r in self.steps(state).items()]}


@dataclass(frozen=True)
class Steps(Rates):
    """Steps of the rate of a link."""

    def steps(self, state: State) -> dict[int, int]:
        """Returns the rate from each time on; of two at one instant the last."""
        return {item[0]: item[1] for item in self.items(state)}

    def words(self, state: State) -> str:
        """Returns the number of steps and their range."""
        at, rate = self.item
        steps = sorted(self.steps(state).items())
        if len(steps) <= 3:
            return "the rate steps to " + ", ".join(f"{rate.literal(r)} at {at.literal(t)}" for t, r in steps)
        rates = [r for _, r in steps]
        return f"the rate has {len(steps)} steps between {rate.literal(min(rates))} and {rate.literal(max(rates))}"


@dataclass(frozen=True)
class Square(Rates):
    """Two rates of a link in turn, each for the same time: a square wave."""

    end: int = 0
    """End of the run, microseconds."""

    def steps(self, state: State) -> dict[int, int]:
        """Returns the rate from each time on.

        >>> Square("square", end=1_200_000).steps((5, 20, 500_000))
        {0: 5, 500000: 20, 1000000: 5}
        """
        first, second, hold = state
        return {t: (first, second)[t // hold % 2] for t in range(0, self.end, hold)}

    def words(self, state: State) -> str:
        """Returns both rates, and how long each lasts."""
        first, second, hold = self.fixed
        low, high = first.literal(state[0]), second.literal(state[1])
        return f"the rate is {low} and {high} in turn, each for {hold.literal(state[2])}"


@dataclass(frozen=True)
class Outages(Change):
    """Failures of a link."""

    link: str = ""

    def spans(self, state: State) -> list[tuple[int, int]]:
        """Returns begin and end of each failure; those that overlap are one."""
        out: list[tuple[int, int]] = []
        for begin, length in self.items(state):
            if out and begin <= out[-1][1]:
                out[-1] = out[-1][0], max(out[-1][1], begin + length)
            else:
                out.append((begin, begin + length))
        return out

    def sets(self, state: State) -> dict[str, Any]:
        """Returns the failures in order of time."""
        at = self.item[0]
        return {f"links.{self.link}.down": [{"at": at.literal(a), "until": at.literal(b)} for a, b in self.spans(state)]}

    def words(self, state: State) -> str:
        """Returns when the link fails."""
        at = self.item[0]
        return "the link fails " + ", ".join(f"at {at.literal(a)} for {at.literal(b - a)}" for a, b in self.spans(state))


@dataclass(frozen=True)
class Bursts(Change):
    """Losses in bursts (Gilbert 1960): mean length of a burst and of the gap between two, in packets."""

    link: str = ""

    def sets(self, state: State) -> dict[str, Any]:
        """Returns the model of losses."""
        burst, gap = state
        return {f"links.{self.link}.loss.gilbert_elliott": {"p": _short(1 / gap), "r": _short(1 / burst)}}

    def words(self, state: State) -> str:
        """Returns the mean lengths."""
        return f"about {state[0]} packets in a row are lost, once in {state[1]}"


def _short(x: float) -> float:
    return float(f"{x:.6g}")


@dataclass(frozen=True)
class Cross(Change):
    """Competing UDP traffic: bursts of a period and a length that are the same but for one percent."""

    ends: tuple[str, str] = ("", "")
    capacity: int = 0
    """Rate of the link, bit/s, of which the bursts take half or less on average."""
    flow: str = "cross"

    def timing(self, state: State, capacity: int | None = None) -> tuple[int, int, int]:
        """Returns rate, length and period, which is long enough for half of the capacity (default: the rate of the scenario's link)."""
        rate, burst, period = state
        least = -(-rate * burst * 2 // (capacity or self.capacity))
        return rate, burst, max(period, burst + 1000, -(-least // 1000) * 1000)

    def mean(self, state: State) -> float:
        """Returns the mean rate, bit/s."""
        rate, burst, period = self.timing(state)
        return rate * burst / period

    def sets(self, state: State) -> dict[str, Any]:
        """Returns the flow. Pareto periods with the shape 100 vary by one percent."""
        rate, burst, period = self.timing(state)
        g_rate, g_burst, _ = self.fixed
        source = {
            "rate": g_rate.literal(rate), "on": g_burst.literal(burst), "off": g_burst.literal(period - burst),
            "periods": "pareto", "shape": 100, "begin": "on",
        }  # fmt: skip
        return {f"flows.{self.flow}": {"from": self.ends[0], "to": self.ends[1], "udp": {}, "source": {"on_off": source}}}

    def words(self, state: State) -> str:
        """Returns rate, length and period of the bursts."""
        rate, burst, period = self.timing(state)
        g_rate, g_burst, _ = self.fixed
        return f"UDP sends bursts of {g_burst.literal(burst)} at {g_rate.literal(rate)} each {g_burst.literal(period)}"


@dataclass(frozen=True)
class Capacity:
    """Mean rate that a path leaves to the flows: that of its link over time, without what competing bursts take on average."""

    link: str
    rate: int
    """Rate of the link in the scenario, bit/s."""
    begin: int
    end: int
    """Time that the metrics count, microseconds."""
    changes: tuple[Change, ...] = field(default=(), repr=False)

    def profile(self, candidate: Candidate) -> list[tuple[int, int]]:
        """Returns the rate of the link from each time on, microseconds and bit/s; the last one lasts until the end."""
        rate = self.rate
        steps: dict[int, int] = {}
        down: list[tuple[int, int]] = []
        for c in (x for x in self.changes if x.name in candidate):
            state = candidate[c.name]
            if isinstance(c, Rates) and c.link == self.link:
                steps = c.steps(state)
            elif isinstance(c, Outages) and c.link == self.link:
                down = c.spans(state)
            elif isinstance(c, Value) and c.path == f"links.{self.link}.rate":
                rate = state[0]
        out = []
        for t in sorted({0, *steps, *(x for span in down for x in span)}):
            rate = steps.get(t, rate)
            out.append((t, 0 if any(a <= t < b for a, b in down) else rate))
        return [x for x in out if x[0] < self.end]

    def of(self, candidate: Candidate) -> float:
        """Returns the mean rate, bit/s; at least a twentieth of the link's."""
        profile = self.profile(candidate)
        ends = [t for t, _ in profile[1:]] + [self.end]
        bits = sum(rate * max(0, end - max(begin, self.begin)) for (begin, rate), end in zip(profile, ends, strict=True))
        taken = sum(c.mean(candidate[c.name]) for c in self.changes if isinstance(c, Cross) and c.name in candidate)
        return max(bits / (self.end - self.begin) - taken, 0.05 * self.rate)
