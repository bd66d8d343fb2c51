"""The queues of a scenario as Linux commands, and scenarios from such commands: `fairlane tc`, `fairlane import tc`.

Syntax and units follow the manual pages of iproute2 6.1 (dualpi2: 6.17); differences of the kernel become notes.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from . import machines
from .directions import Export, commands_for, merged
from .imported import DEVICE_RATE, Imported, directions
from .imported import scenario as import_tc
from .plan import Table, check_device
from .queue_text import queue_text
from .script import Script
from .several import scenario_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..base.scenario import Built

TC_SCHEMA = "fairlane.tc/1"


def export(
    scenario: str | PathLike[str] | Built,
    link: str | None = None,
    *,
    dev: str = "eth0",
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    queue_only: bool = False,
) -> list[Export]:
    """Returns the commands for one direction of a link by name (`uplink`, `uplink.reverse`), or for every direction; equal ones are merged.

    `dev` is the network device before the link. `queue_only` omits the rate and delay of the link, for a real link such as that of a
    wireless station.
    """
    from ..base.scenario import resolve

    check_device(dev)
    expanded = resolve(scenario, sets)["expanded"]
    links = expanded["links"] if link is None else [machines.direction(expanded, link)]
    return merged(machines.exports(expanded, links, dev, queue_only=queue_only))


def scripts(
    scenario: str | PathLike[str] | Built,
    link: str | None = None,
    *,
    dev: str = "eth0",
    down_dev: str | None = None,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    queue_only: bool = False,
    emulate: bool = False,
    machine: str | None = None,
) -> list[Script]:
    """Returns shell scripts: for a link one for the router at its near end, with both directions; otherwise one for every machine.

    `dev` and `down_dev` are the defaults of the devices: towards the link, and towards the router's own network. `machine` selects the
    script of one node. `emulate` adds the delay and the impairments of links by netem, for a laboratory; it makes a script for each
    machine.
    """
    from ..base.scenario import resolve

    return machines.scripts(
        resolve(scenario, sets)["expanded"], link, dev=dev, down_dev=down_dev, queue_only=queue_only, emulate=emulate, machine=machine
    )


def document(exports: list[Export], dev: str, scripts: Iterable[Script] = ()) -> dict[str, Any]:
    """Returns the document of `fairlane tc --json`."""
    from .. import _core

    return {
        "schema": TC_SCHEMA, "fairlane": _core.version(), "dev": dev, "links": [e.as_dict() for e in exports],
        "scripts": [s.as_dict() for s in scripts],
    }  # fmt: skip


__all__ = [
    "DEVICE_RATE",
    "Export",
    "Imported",
    "Script",
    "Table",
    "commands_for",
    "directions",
    "document",
    "export",
    "import_tc",
    "merged",
    "queue_text",
    "scenario_of",
    "scripts",
]
