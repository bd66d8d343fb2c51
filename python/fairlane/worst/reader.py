"""Reads what may change: `links.line.rate=5Mbit/s..20Mbit/s,loss,steps=4`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..base.literals import SI, kind, quantity
from ..base.paths import split
from ..errors import ArgumentError, suggest
from . import default_ranges as usual
from .changes import MILLIONTH, Bursts, Change, Choice, Cross, Gene, Outages, Square, Steps, Value


@dataclass(frozen=True)
class Place:
    """Readers of the words of `--may`."""

    resolved: Mapping[str, Any]
    link: str
    """The link that words without a path are about."""
    paths: Mapping[str, str]
    """Paths of the words that a built-in path has elsewhere."""
    most: Mapping[str, str]
    """Largest values of words in this scenario."""

    def ends(self) -> tuple[str, str]:
        """Returns the nodes of the link."""
        found = self.direction(self.link)
        return str(found["from"]), str(found["to"])

    def direction(self, name: str) -> Mapping[str, Any]:
        """Returns a link's direction."""
        links = {x["name"]: x for x in self.resolved["expanded"]["links"]}
        if name not in links:
            raise suggest(name, list(links), "link")
        found: Mapping[str, Any] = links[name]
        return found

    def path(self, text: str) -> str:
        """Returns the path with the name of the queue, which `links.NAME.queue.limit` leaves out."""
        parts = split(text)
        if parts and len(parts) == 4 and parts[0] == "links" and parts[2] == "queue":
            queue = self.direction(parts[1]).get("queue")
            if isinstance(queue, Mapping):
                return text[: -len(parts[3])] + f"{next(iter(queue))}.{parts[3]}"
        return text

    def value(self, path: str) -> Any:
        """Returns the value at a path in the resolved scenario; None without one."""
        parts = list(split(path) or ())
        node: Any = self.direction(parts[1]) if parts[:1] == ["links"] and len(parts) > 2 else self.resolved
        for part in parts[2:] if node is not self.resolved else parts:
            node = node.get(part) if isinstance(node, Mapping) else None
        return node

    def duration(self) -> int:
        """Returns the duration of the scenario in microseconds."""
        return number(self.resolved["duration"], "duration")[0]


def number(literal: Any, what: str) -> tuple[int, str]:
    """Returns a quantity in whole numbers of its kind's quantum, and the kind; raises `ArgumentError`."""
    q = quantity(literal)
    if q is None:
        raise ArgumentError(f"cannot read {literal!r} as a value of {what}: write for instance 5Mbit/s, 20ms, 50p or 0.01")
    value, unit = q
    of = kind(unit)
    factor = {"s": 1e6, "1": MILLIONTH}.get(of, 1.0)
    return round(value * SI[unit] * factor), of


def gene(name: str, low: Any, high: Any, what: str) -> Gene:
    """Returns a gene from the ends of a range; raises `ArgumentError` with what is wrong."""
    (a, of), (b, other) = number(low, what), number(high, what)
    parts = MILLIONTH if of == "1" else 1
    if of == "" == other and not all(_whole(x) for x in (low, high)):
        (a, b), parts = (round(float(x) * MILLIONTH) for x in (low, high)), MILLIONTH
    if of != other:
        raise ArgumentError(f"--may {what}: {low} and {high} are of different kinds: give both ends the same unit")
    if not a < b:
        raise ArgumentError(f"--may {what}: the range ends at {high}, where it begins ({low}) or before")
    return Gene(name, a, b, of, a > 0, parts)


def _whole(x: Any) -> bool:
    return float(x) == int(float(x)) and "." not in str(x)


def read(text: str | Iterable[str], place: Place) -> tuple[Change, ...]:
    """Returns the changes that a list allows; raises `ArgumentError` or `UnknownNameError` for the first mistake."""
    words = [w.strip() for w in (text.split(",") if isinstance(text, str) else text)]
    if not any(words):
        raise ArgumentError("--may is empty: name what may change, such as rate,queue,loss,steps or links.line.rate=5Mbit/s..20Mbit/s")
    out: dict[str, Change] = {}
    for word in filter(None, words):
        name, _, given = word.partition("=")
        made = _one(name.strip(), given.strip(), place)
        if made.name in out:
            raise ArgumentError(f"--may names {made.name} twice")
        out[made.name] = made
    by_path: dict[str, str] = {}
    for c in out.values():
        for path in (c.path if isinstance(c, (Value, Choice)) else "",):
            if path and path in by_path:
                raise ArgumentError(f"--may: {c.name} and {by_path[path]} are the same path {path}")
            by_path[path] = c.name
    return tuple(out.values())


def _one(name: str, given: str, place: Place) -> Change:
    families = {
        "steps": _steps,
        "square": _square,
        "outages": _outages,
        "bursts": _bursts,
        "cross": _cross,
        "jitter": _jitter,
        "loss": _loss,
    }
    if name in families:
        return families[name](given, place)
    if name in place.paths:
        return _value(name, place.paths[name], given, place)
    plain = {"rate": f"links.{place.link}.rate", "delay": f"links.{place.link}.delay", "queue": f"links.{place.link}.queue.limit"}
    if name in plain:
        return _value(name, plain[name], given, place)
    if "." not in name:
        raise suggest(name, [*usual.WORDS], "change (a path of the scenario has dots)")
    if split(name) is None:
        raise ArgumentError(f"--may {name}: not a path; write for instance links.line.rate")
    return _value(name, name, given, place)


def _value(name: str, path: str, given: str, place: Place) -> Change:
    path = place.path(path)
    if "|" in given:
        options = tuple(dict.fromkeys(x.strip() for x in given.split("|")))
        if len(options) < 2 or not all(options):
            raise ArgumentError(f"--may {name}: a choice has two values or more, such as {name}=cubic|bbr3")
        return Choice(name, (Gene(name, 0, len(options) - 1, log=False),), path=path, options=options)
    low, high = _ends(given, name) if given else _around(name, path, place)
    return Value(name, (gene(name, low, high, name),), path=path)


def _ends(given: str, name: str) -> tuple[str, str]:
    low, dots, high = given.partition("..")
    if not dots or not low.strip() or not high.strip():
        raise ArgumentError(f"--may {name}={given}: expected a range such as 5Mbit/s..20Mbit/s, or a choice such as a|b")
    return low.strip(), high.strip()


def _around(name: str, path: str, place: Place) -> tuple[Any, Any]:
    """Returns the default range about the value of the scenario."""
    key = (split(path) or [""])[-1]
    if name in place.most:
        return "0s", place.most[name]
    value = place.value(path)
    if key not in usual.FACTORS or value is None or quantity(value) is None:
        raise ArgumentError(f"--may {name} has no default range: write {name}=LOW..HIGH, or {name}=a|b")
    n, of = number(value, name)
    factor = usual.FACTORS[key]
    middle = Gene("", 0, 0, of)
    return middle.literal(max(1, round(n / factor))), middle.literal(round(n * factor))


def _loss(given: str, place: Place) -> Change:
    low, high = _ends(given, "loss") if given else usual.LOSS
    g = gene("loss", low, high, "loss")
    if not 0 <= g.low < g.high <= (MILLIONTH if g.parts > 1 else 1):
        raise ArgumentError(f"--may loss={given}: a share lies between 0 and 1")
    return Value(
        "loss", (Gene("loss", g.low, g.high, "1", g.low > 0, MILLIONTH),), path=place.paths.get("loss", f"links.{place.link}.loss")
    )


def _jitter(given: str, place: Place) -> Change:
    path = place.paths.get("jitter", f"links.{place.link}.jitter")
    low, high = _ends(given, "jitter") if given else usual.JITTER
    g = gene("jitter", low, high, "jitter")
    if not given:
        # The engine wants the width to be at most the delay.
        delay = place.value(path.removesuffix("jitter") + "delay")
        own = number(delay, "delay")[0] if delay is not None else g.high
        g = Gene("jitter", min(g.low, max(1, own // 10)), min(g.high, max(2, own)), "s")
    return Value("jitter", (g,), path=path, table=(("keep_order", True),), inner="width")


def _count(given: str, usual_most: int, name: str) -> tuple[int, str]:
    """Returns the most items, and what follows the number."""
    head, colon, rest = given.partition(":")
    if ".." in head or not head:
        return usual_most, given
    if not head.isdigit() or not 1 <= int(head) <= 200:
        raise ArgumentError(f"--may {name}={given}: expected a number of {name} from 1 to 200, a range, or both: {name}=4:LOW..HIGH")
    return int(head), rest if colon else ""


def _steps(given: str, place: Place) -> Change:
    most, given = _count(given, usual.STEPS, "steps")
    low, high = _ends(given, "steps") if given else _around("rate", f"links.{place.link}.rate", place)
    at = Gene("at", 0, place.duration() - 1, "s", log=False)
    rate = gene("rate", low, high, "steps")
    if rate.kind != "bit/s":
        raise ArgumentError(f"--may steps={given}: expected rates, such as 5Mbit/s..20Mbit/s")
    return Steps("steps", item=(at, rate), most=most, link=place.link)


def _square(given: str, place: Place) -> Change:
    low, high = _ends(given, "square") if given else _around("rate", f"links.{place.link}.rate", place)
    rate = gene("rate", low, high, "square")
    if rate.kind != "bit/s" or rate.low <= 0:
        raise ArgumentError(f"--may square={given}: expected rates above zero, such as 5Mbit/s..20Mbit/s")
    names = ("first", "second")
    hold = gene("hold", *usual.HOLD, "square")
    rates = (Gene(name, rate.low, rate.high, rate.kind) for name in names)
    return Square("square", (*rates, hold), link=place.link, end=place.duration())


def _outages(given: str, place: Place) -> Change:
    most, given = _count(given, usual.OUTAGES, "outages")
    low, high = _ends(given, "outages") if given else usual.OUTAGE
    length = gene("length", low, high, "outages")
    if length.kind != "s" or length.low <= 0:
        raise ArgumentError(f"--may outages={given}: expected times above zero, such as 100ms..1s")
    return Outages("outages", item=(Gene("at", 0, place.duration() - 1, "s", log=False), length), most=most, link=place.link)


def _bursts(given: str, place: Place) -> Change:
    low, high = _ends(given, "bursts") if given else usual.BURST
    burst = gene("burst", low, high, "bursts")
    if burst.kind not in ("", "packets") or burst.low < 1 or burst.parts > 1:
        raise ArgumentError(f"--may bursts={given}: expected lengths in packets, such as 2..20")
    return Bursts("bursts", (Gene("burst", burst.low, burst.high), Gene("gap", *usual.GAP)), link=place.link)


def _cross(given: str, place: Place) -> Change:
    capacity = number(place.direction(place.link)["rate"], "rate")[0]
    low, high = _ends(given, "cross") if given else ("", "")
    if given:
        rate = gene("rate", low, high, "cross")
    else:
        least, most = usual.CROSS_RATE
        rate = Gene("rate", max(1, round(capacity * Fraction(least))), round(capacity * Fraction(most)), "bit/s")
    if rate.kind != "bit/s" or rate.low <= 0:
        raise ArgumentError(f"--may cross={given}: expected rates above zero, such as 1Mbit/s..10Mbit/s")
    timing = (gene("burst", *usual.CROSS_BURST, "cross"), gene("period", *usual.CROSS_PERIOD, "cross"))
    names = set(place.resolved.get("flows") or {})
    flow = next(n for n in ("cross", *(f"cross{i}" for i in range(2, 99))) if n not in names)
    return Cross("cross", (rate, *timing), ends=place.ends(), capacity=capacity, flow=flow)
