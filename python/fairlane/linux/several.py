"""A scenario from the commands of tc of several machines: `fairlane import tc home.sh net.sh`.

A script of `fairlane tc` names its machine and the neighbour behind each device; for other texts the file's name is that of the machine,
and two devices are joined on request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import FairlaneError, suggest
from .imported import DEVICE_RATE, Imported, directions, plain_where, settings, tree_of
from .tc_tree import LEAF, Direction

_MACHINE = re.compile(r"^# Queues of (?:the router )?(.+?)(?: \(the same for .*\))?, written by fairlane\.$", re.M)
_TOWARDS = re.compile(r"^(\w+)=\$\{\1-([^}\s]+)\}\s+# the device towards (.+?)(?:;.*)?$", re.M)
_JOIN = re.compile(r"([^:=\s]+):([^:=\s]+)=([^:=\s]+):([^:=\s]+)")
_End = tuple[str, str]
"""A machine and one of its devices."""


@dataclass
class Machine:
    """Queues and delays that the commands of one machine set up."""

    name: str
    sends: dict[str, Direction]
    arrives: dict[str, Direction]
    notes: list[str]
    towards: dict[str, str] = field(default_factory=dict)
    """Neighbour by device."""

    def devices(self) -> list[str]:
        """Returns the devices that the commands name."""
        return list(dict.fromkeys([*self.sends, *self.arrives]))


def scenario_of(files: Sequence[tuple[str, str]], *, rate: str = DEVICE_RATE, joins: Iterable[str] = ()) -> Imported:
    """Makes a scenario from (text, file) of several machines. `joins` has the devices at the two ends of links: `home:eth0=net:eth1`."""
    machines: dict[str, Machine] = {}
    for text, file in files:
        made = _machine(text, file)
        if made.name in machines:
            raise FairlaneError(f"{file} is of the machine {made.name}, as another file\n  = help: give each file the name of its machine")
        machines[made.name] = made
    pairs = _pairs(machines, joins)
    links: dict[str, Any] = {}
    notes = [n for m in machines.values() for n in m.notes]
    assumed: list[str] = []
    for (a, here), (b, there) in pairs:
        forward = _direction(machines[a], here, machines[b], there, notes)
        back = _direction(machines[b], there, machines[a], here, notes)
        name = a if not links.get(a) and len(pairs) == 1 else f"{a}-{b}"
        while name in links:
            name += "'"
        there_and = settings(forward, rate)
        links[name] = {"from": a, "to": b, **there_and, "reverse": plain_where(there_and, settings(back, rate))}
        assumed += [f"{x} of {m}" for m, x, d in ((a, here, forward), (b, there, back)) if d.rate is None]
    joined = {end for pair in pairs for end in pair}
    for m in machines.values():
        for device in m.sends:
            if (m.name, device) not in joined:
                notes.append(
                    f"{m.name}: no other machine is behind {device}: it is left out "
                    f"(--join {m.name}:{device}=MACHINE:DEVICE joins it to another)"
                )
    if assumed:
        notes.append(f"tc does not say the rate of {', '.join(assumed)}: {rate} is taken (--rate)")
    ends = [x for pair in pairs for x, _ in pair]
    alone = [x for x in dict.fromkeys(ends) if ends.count(x) == 1] or list(dict.fromkeys(ends))
    return Imported(tree_of(links, alone[0], alone[-1]), list(dict.fromkeys(notes)))


def _machine(text: str, file: str) -> Machine:
    named = _MACHINE.search(text)
    name = named[1] if named else Path(file).stem
    sends, arrives, notes = directions(text, file)
    towards = {device: to for _, device, to in _TOWARDS.findall(text)}
    own = [n for d in (*sends.values(), *arrives.values()) for n in (*d.notes, *d.line.notes)]
    return Machine(name, sends, arrives, [f"{name}: {n}" for n in dict.fromkeys([*notes, *own])], towards)


def _pairs(machines: dict[str, Machine], joins: Iterable[str]) -> list[tuple[_End, _End]]:
    """Returns the devices at the ends of each link."""
    pairs: list[tuple[_End, _End]] = []
    used: set[_End] = set()

    def join(a: _End, b: _End) -> None:
        twice = next((end for end in (a, b) if end in used), None)
        if twice is not None or a == b:
            raise FairlaneError(f"the device {':'.join(twice or a)} is at two ends\n  = help: a device is at one end of one link")
        used.update((a, b))
        pairs.append((a, b))

    for text in joins:
        found = _JOIN.fullmatch(text)
        if found is None:
            raise FairlaneError(f"--join {text}: two devices are wanted\n  = help: write for instance --join home:eth0=net:eth1")
        join(_end(machines, found[1], found[2]), _end(machines, found[3], found[4]))
    for m in machines.values():
        for device, to in m.towards.items():
            other = machines.get(to)
            if other is None or (m.name, device) in used:
                continue
            back = next((x for x, y in other.towards.items() if y == m.name and (to, x) not in used), None)
            if back is not None:
                join((m.name, device), (to, back))
    if not pairs and len(machines) == 2 and all(len(m.devices()) == 1 for m in machines.values()):
        a, b = machines.values()
        join((a.name, a.devices()[0]), (b.name, b.devices()[0]))
    if not pairs:
        first, second = list(machines.values())[:2]
        ends = [f"{m.name}:{next(iter(m.devices()), 'eth0')}" for m in (first, second)]
        raise FairlaneError(f"no file says which devices are joined\n  = help: write for instance --join {'='.join(ends)}")
    return pairs


def _end(machines: dict[str, Machine], name: str, device: str) -> _End:
    if name not in machines:
        raise suggest(name, list(machines), "machine")
    if device not in machines[name].devices():
        raise suggest(device, machines[name].devices(), f"device of {name}")
    return name, device


def _direction(a: Machine, here: str, b: Machine, there: str, notes: list[str]) -> Direction:
    """Returns what leaves `a` through a device and arrives at `b`: queue and rate of the sender, delays of both."""
    sent, arrived = a.sends.get(here, Direction(dict(LEAF))), b.arrives.get(there)
    if arrived is None:
        return sent
    sent.line.add(arrived.line)
    if sent.rate is None:
        sent.rate = arrived.rate
    if next(iter(arrived.queue)) != "droptail":
        if sent.queue == LEAF:
            sent.queue = arrived.queue
        else:
            notes.append(f"{b.name}: the queue of packets that arrive at {there} is left out: {here} of {a.name} has one before it")
    return sent
