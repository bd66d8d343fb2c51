"""netem's words (tc-netem(8)) as the delay, the impairments and the rate of a link: the counterpart of `netem.delay_line`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..errors import short
from . import quantities as q
from . import tc_units as u

IMPAIRMENTS = ("jitter", "loss", "duplicate", "reorder", "corrupt", "slot")
"""Settings of a link that netem has."""
_TABLES = {"uniform": "uniform", "normal": "normal", "pareto": "pareto", "paretonormal": "pareto_normal"}
"""Distribution of a link by netem's name."""


@dataclass
class Line:
    """Delay line of a link."""

    delay: Fraction = Fraction(0)
    jitter: dict[str, Any] | None = None
    loss: float | dict[str, Any] | None = None
    duplicate: float | None = None
    reorder: dict[str, Any] | None = None
    corrupt: float | dict[str, Any] | None = None
    slot: dict[str, Any] | None = None
    rate: str | None = None
    limit: int = 1000
    notes: list[str] = field(default_factory=list)

    def add(self, other: Line) -> None:
        """Adds a delay line behind this one."""
        self.delay += other.delay
        for name in IMPAIRMENTS:
            mine, more = getattr(self, name), getattr(other, name)
            if mine is not None and more is not None:
                self.notes.append(f"netem: of two {name}s in a row the first counts")
            elif more is not None:
                setattr(self, name, more)

    def settings(self) -> dict[str, Any]:
        """Returns the settings of a link."""
        out: dict[str, Any] = {"delay": q.time(self.delay) if self.delay else "0s"}
        return out | {k: v for k in IMPAIRMENTS if (v := getattr(self, k)) is not None}


class _Reader:
    def __init__(self, words: list[str]) -> None:
        self.words, self.at, self.line = words, 0, Line()
        self.share: float | None = None
        self.every = 1
        self.together = 0.0
        self.distribution = ""

    def number_follows(self) -> bool:
        return self.at < len(self.words) and self.words[self.at][:1].isdigit()

    def take(self, of: str) -> str:
        if self.at >= len(self.words):
            raise u.TcError(of, f"netem: {of} needs a value", f"write {of} and its value")
        self.at += 1
        return self.words[self.at - 1]

    def note(self, text: str) -> None:
        self.line.notes.append(f"netem: {text}")

    def correlation(self, of: str) -> float:
        """Returns the correlation that follows, or 0."""
        return u.percent(self.take(of)) if self.number_follows() else 0.0

    def correlated(self, of: str) -> float | dict[str, Any]:
        """Returns a share, with its correlation if there is one."""
        share = u.percent(self.take(of))
        weight = self.correlation(of)
        return {"share": share, "correlation": weight} if weight else share

    def read(self) -> Line:
        while self.at < len(self.words):
            word = self.take("")
            name = next((n for n in _WORDS if n == word), None) or next((n for n in _WORDS if word and n.startswith(word)), None)
            if name is None:
                raise u.TcError(word, f"netem has no word {short(word)}", f"its words are {', '.join(_WORDS)}")
            _WORDS[name](self)
        return self._settled()

    def _settled(self) -> Line:
        made = self.line
        if self.share is None and self.every > 1:
            self.share = 1.0  # sch_netem: a gap alone means every packet that it allows
        if self.share is not None:
            special = self.every > 1 or self.together
            if not made.delay:
                self.note(f"{'gap' if self.every > 1 else 'reorder'} without a delay changes nothing")
            elif special:
                made.reorder = {"share": self.share, "delay": q.time(made.delay), "ahead": True}
                made.reorder |= {
                    **({"gap": self.every} if self.every > 1 else {}),
                    **({"correlation": self.together} if self.together else {}),
                }
            else:
                # netem sends this share at once; the others wait, and so are late.
                made.reorder = {"share": float(f"{1 - self.share:.12g}"), "delay": q.time(made.delay)}
            if made.delay:
                if made.jitter is not None:
                    self.note("reorder with jitter: the late packets have the mean delay")
                made.delay, made.jitter = Fraction(0), None
        if made.jitter is not None and self.distribution:
            if self.distribution in _TABLES:
                made.jitter["distribution"] = _TABLES[self.distribution]
            else:
                self.note(f"distribution {short(self.distribution)} is not modelled: normal is taken, with the same deviation")
                made.jitter["distribution"] = "normal"
        if made.jitter is not None and made.jitter["distribution"] == "uniform" and q.seconds(made.jitter["width"]) > made.delay:
            self.note("a jitter above the delay is cut at the delay")
            made.jitter["width"] = q.time(made.delay)
        return made

    def delay(self) -> None:
        self.line.delay = u.seconds(self.take("delay"), fine=True)
        if self.number_follows():
            width = u.seconds(self.take("delay"), fine=True)
            if width:
                self.line.jitter = {"width": q.time(width), "distribution": "uniform", "keep_order": False}
            weight = self.correlation("delay")
            if self.line.jitter is not None and weight:
                self.line.jitter["correlation"] = weight

    def loss(self) -> None:
        word = self.take("loss")
        if word in ("random",) or word[:1].isdigit():
            self.at -= word != "random"
            self.line.loss = self.correlated("loss")
        elif word in ("gemodel", "state"):
            skip = ("p", "r", "1-h", "1-k", "p13", "p31", "p32", "p23", "p14")  # as `tc qdisc show` has them
            numbers: list[float] = []
            while self.at < len(self.words) and (self.number_follows() or self.words[self.at] in skip) and len(numbers) < 5:
                text = self.take("loss")
                if text not in skip:
                    numbers.append(u.percent(text))
            if not numbers:
                raise u.TcError(word, f"netem: loss {word} needs a percentage", f"write for instance loss {word} 1% 10%")
            self._chain(word, numbers)
        else:
            raise u.TcError(word, f"netem: {short(word)} is no model of loss", "write loss 1%, loss gemodel P R, or loss state P13 P31")

    def _chain(self, word: str, numbers: list[float]) -> None:
        p = numbers[0]
        r = numbers[1] if len(numbers) > 1 else float(f"{1 - p:.12g}")
        bad, good = 1.0, 0.0
        if word == "gemodel":
            bad = numbers[2] if len(numbers) > 2 else 1.0
            good = numbers[3] if len(numbers) > 3 else 0.0
        elif any(numbers[2:3]) or any(numbers[4:5]):
            chain = dict(zip(("p13", "p31", "p32", "p23", "p14"), [p, r, *numbers[2:]], strict=False))
            self.line.loss = {"four_states": chain}
            return
        self.line.loss = {"gilbert_elliott": {"p": p, "r": r, "good": good, "bad": bad}}

    def duplicate(self) -> None:
        self.line.duplicate = u.percent(self.take("duplicate"))
        weight = self.correlation("duplicate")
        if weight:
            self.note(f"the correlation of duplicate ({100 * weight:g} %) is not modelled: draws are independent")

    def reorder(self) -> None:
        self.share = u.percent(self.take("reorder"))
        self.together = self.correlation("reorder")

    def rate(self) -> None:
        self.line.rate = u.rate(self.take("rate"))
        extra: list[str] = []
        while self.at < len(self.words) and self.words[self.at].lstrip("-")[:1].isdigit() and len(extra) < 3:
            extra.append(self.take("rate"))
        if any(x != "0" for x in extra):
            self.note(f"rate {' '.join(extra)}: bytes and cells of the link layer are not modelled")

    def limit(self) -> None:
        self.line.limit = max(1, u.size(self.take("limit").removesuffix("p")))

    def gap(self) -> None:
        self.every = u.count(self.take("gap"), "")

    def corrupt(self) -> None:
        share = self.correlated("corrupt")
        if share:
            self.line.corrupt = share
            self.note("corrupt: a corrupted packet is lost on the link here, in Linux it reaches the receiver, whose checksum finds it")

    def slot(self) -> None:
        made: dict[str, Any] = {}
        if self.words[self.at : self.at + 1] == ["distribution"]:
            self.at += 1
            name = self.take("distribution")
            times = [u.seconds(self.take("distribution"), fine=True) for _ in range(2)]
            made |= {"delay": q.time(times[0]), "jitter": q.time(times[1])}
            if name not in _TABLES:
                self.note(f"slot distribution {short(name)} is not modelled: normal is taken, with the same deviation")
            made["distribution"] = _TABLES.get(name, "normal")
        else:
            times = [u.seconds(self.take("slot"), fine=True)]
            if self.number_follows():
                times.append(u.seconds(self.take("slot"), fine=True))
            made |= {name: q.time(t) for name, t in zip(("min", "max"), times, strict=False)}
        while self.at < len(self.words) and self.words[self.at] in ("packets", "bytes"):
            word = self.take("slot")
            most = u.count(self.take(word), "") if word == "packets" else u.size(self.take(word))
            if most:
                made[word] = most if word == "packets" else f"{most}B"
        if made.get("bytes"):
            self.note("slot bytes: Linux counts the link layer's header of each packet, here packets are those of IP")
        if any(times):
            self.line.slot = made

    def spread(self) -> None:
        self.distribution = self.take("distribution")

    def ecn(self) -> None:
        self.note("ecn is not modelled: lost packets are lost, not marked")

    def seed(self) -> None:
        self.take("seed")


_WORDS: dict[str, Callable[[_Reader], None]] = {
    "limit": _Reader.limit, "latency": _Reader.delay, "delay": _Reader.delay, "distribution": _Reader.spread, "loss": _Reader.loss,
    "drop": _Reader.loss, "duplicate": _Reader.duplicate, "reorder": _Reader.reorder, "rate": _Reader.rate, "gap": _Reader.gap,
    "corrupt": _Reader.corrupt, "slot": _Reader.slot, "ecn": _Reader.ecn, "seed": _Reader.seed,
}  # fmt: skip


def netem(words: list[str]) -> Line:
    """Reads the words after `netem`."""
    return _Reader(words).read()
