"""The commands of one direction of a link."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import quantities as q
from .plan import Link, Plan

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Export:
    """The commands of one direction of a link."""

    link: str
    start: str
    end: str
    rate: str
    delay: str
    queue: dict[str, Any]
    dev: str
    commands: list[str] = field(default_factory=list)
    far_end: list[str] = field(default_factory=list)
    """Commands for the node at the other end: delay and impairments."""
    notes: list[str] = field(default_factory=list)
    far_notes: list[str] = field(default_factory=list)
    """Notes about `far_end`, which `notes` has as well."""
    manual: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    """Links with the same rate, delay, queue and impairments."""

    @property
    def supported(self) -> bool:
        """True if Linux has the whole queue."""
        return not self.missing

    def as_dict(self) -> dict[str, Any]:
        """Returns the commands for JSON documents."""
        return {
            "link": self.link, "from": self.start, "to": self.end, "rate": self.rate, "delay": self.delay, "queue": self.queue,
            "supported": self.supported, "missing": self.missing, "commands": self.commands, "far_end": self.far_end, "notes": self.notes,
            "manual": self.manual, "also": self.also,
        }  # fmt: skip


def merged(exports: Iterable[Export]) -> list[Export]:
    """Returns the exports without repetitions, which the first of a kind names in `also`."""
    out: dict[str, Export] = {}
    for e in exports:
        first = out.setdefault(repr((e.dev, e.rate, e.delay, e.queue, e.commands, e.far_end, e.notes)), e)
        if first is not e:
            first.also.append(e.link)
    return list(out.values())


def commands_for(x: dict[str, Any], dev: str, *, queue_only: bool = False) -> Export:
    """Returns the commands for one direction of a link of a resolved scenario."""
    from .kinds import write
    from .netem import delay_line
    from .trees import shaper

    plan = Plan(dev, Link(q.number(x["rate"], "bit/s"), q.seconds(x["delay"])), write=write)
    parent = "root" if queue_only else shaper(plan)
    handle = plan.handle()
    before = len(plan.commands)
    plan.queue(parent, x["queue"], handle)
    nothing = len(plan.commands) == before
    own = len(plan.notes)
    far = [] if queue_only or nothing else delay_line(plan, x)
    far_notes = plan.notes[own:]
    if not (nothing or queue_only) and x.get("trace"):
        plan.note(f"the rate follows a trace of {x['trace']}: the shaper has its mean")
    if not (nothing or queue_only) and x.get("rates"):
        plan.note("the rate changes during the run: the shaper has the first")
    if not nothing:
        plan.note(f"Linux may count a packet that the network card segments as one: ethtool -K {dev} tso off gso off gro off")
    return Export(
        link=x["name"], start=x["from"], end=x["to"], rate=x["rate"], delay=x["delay"], queue=x["queue"], dev=dev,
        commands=[] if nothing else plan.commands, far_end=far, notes=plan.notes, far_notes=far_notes,
        manual=[] if nothing else plan.manual, missing=plan.missing,
    )  # fmt: skip
