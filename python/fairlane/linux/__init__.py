"""The queues of a scenario as Linux commands: `fairlane tc`.

Syntax and units follow the manual pages of iproute2 6.1 (dualpi2: 6.17); differences of the kernel become notes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from . import quantities as q
from .plan import Link, Plan, Table, check_device

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..base.scenario import Built

TC_SCHEMA = "fairlane.tc/1"


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

    def text(self) -> str:
        """Returns a shell script with comments."""
        from .kinds import named

        name, _ = named(self.queue)
        head = [f"# link {self.link} from {self.start} to {self.end}: {self.rate}, {self.delay}, queue {name}"]
        if self.also:
            head.append(f"# also for {', '.join(self.also[:12])}{' and others' if len(self.also) > 12 else ''}")
        if self.missing:
            head += [
                f"# Linux does not have {', '.join(self.missing)}; the following commands are incomplete"
                if self.commands
                else _none(self.missing)
            ]
        if self.commands:
            head += [f"# on {self.start}, whose device towards {self.end} is {self.dev}"]
        far = [f"# on {self.end}, whose device towards {self.start} is {self.dev}", *self.far_end] if self.far_end else []
        notes = [f"# note: {n}" for n in self.notes]
        manual = [f"# see {', '.join(self.manual)}"] if self.manual else []
        return "\n".join([*head, *self.commands, *far, *notes, *manual])


def _none(missing: list[str]) -> str:
    return f"# Linux does not have {', '.join(missing)}: no command sets it up"


def export(
    scenario: str | PathLike[str] | Built,
    link: str | None = None,
    *,
    dev: str = "eth0",
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    queue_only: bool = False,
) -> list[Export]:
    """Returns the commands for a link by name, or for every forward direction; equal links are merged.

    `dev` is the network device before the link. `queue_only` omits the rate and delay of the link, for a real link such as that of a
    wireless station.
    """
    from ..base.scenario import resolve
    from ..errors import suggest

    check_device(dev)
    expanded = resolve(scenario, sets)["expanded"]
    links, channels = expanded["links"], {c["name"] for c in expanded.get("channels", ())}
    if link is not None:
        chosen = [x for x in links if x["name"] == link]
        if not chosen:
            raise suggest(link, [x["name"] for x in links], "link")
    else:
        chosen = [x for x in links if not x["name"].endswith(".reverse")]
    out: list[tuple[dict[str, Any], Export]] = []
    for x in chosen:
        nature = {k: v for k, v in x.items() if k not in ("name", "from", "to")}
        like = next((e for other, e in out if other == nature), None)
        if like is not None:
            like.also.append(x["name"])
        else:
            out.append((nature, commands_for(x, dev, queue_only=queue_only or x["to"] in channels)))
    return [e for _, e in out]


def commands_for(x: dict[str, Any], dev: str, *, queue_only: bool = False) -> Export:
    """Returns the commands for one direction of a link of a resolved scenario."""
    from .kinds import write
    from .netem import delay_line
    from .trees import shaper

    plan = Plan(dev, Link(q.number(x["rate"], "bit/s"), q.seconds(x["delay"])))
    parent = "root" if queue_only else shaper(plan)
    handle = plan.handle()
    before = len(plan.commands)
    write(plan, parent, handle, x["queue"])
    nothing = len(plan.commands) == before
    far = [] if queue_only or nothing else delay_line(plan, x)
    if not (nothing or queue_only) and x.get("trace"):
        plan.note(f"the rate follows a trace of {x['trace']}: the shaper has its mean")
    if not (nothing or queue_only) and x.get("rates"):
        plan.note("the rate changes during the run: the shaper has the first")
    if not nothing:
        plan.note(f"Linux may count a packet that the network card segments as one: ethtool -K {dev} tso off gso off gro off")
    return Export(
        link=x["name"], start=x["from"], end=x["to"], rate=x["rate"], delay=x["delay"], queue=x["queue"], dev=dev,
        commands=[] if nothing else plan.commands, far_end=far, notes=plan.notes, manual=[] if nothing else plan.manual,
        missing=plan.missing,
    )  # fmt: skip


def document(exports: list[Export], dev: str) -> dict[str, Any]:
    """Returns the document of `fairlane tc --json`."""
    from .. import _core

    return {"schema": TC_SCHEMA, "fairlane": _core.version(), "dev": dev, "links": [e.as_dict() for e in exports]}


__all__ = ["Export", "Table", "commands_for", "document", "export"]
