"""The part of a resolved scenario that both simulators must agree on, read from its ``expanded`` section."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .units import bits_per_second, seconds

READ = {"name", "from", "to", "rate", "delay", "queue"}
"""Parameters of a link in ns-2; a link with others is rejected."""


class Unsupported(ValueError):
    """The scenario uses something that has no counterpart in ns-2 or is not mapped yet."""


@dataclass
class Link:
    """One direction of a link."""

    name: str
    source: str
    target: str
    rate: float
    """bit/s"""
    delay: float
    """s"""
    queue: str
    """registry name of the queue"""
    params: dict[str, Any]
    """its parameters, as resolved"""


@dataclass
class Flow:
    """One flow (a member of a group)."""

    name: str
    source: str
    target: str
    start: float
    """s"""
    stop: float | None
    transport: str
    """``tcp`` or ``udp``"""
    params: dict[str, Any]
    """parameters of the transport, as resolved"""
    application: str
    """``bulk`` or ``cbr``"""
    app: dict[str, Any] = field(default_factory=dict)
    """parameters of the application"""
    dscp: int = 0
    """traffic class"""


@dataclass
class Network:
    """Nodes, links and flows of one scenario."""

    name: str
    duration: float
    warmup: float
    nodes: list[str]
    links: list[Link]
    flows: list[Flow]

    def out_link(self, node: str) -> Link:
        """The only link out of a host."""
        found = [link for link in self.links if link.source == node]
        if len(found) != 1:
            raise Unsupported(f"host {node!r} has {len(found)} outgoing links; exactly one is needed")
        return found[0]

    def in_link(self, node: str) -> Link:
        """The only link into a host."""
        found = [link for link in self.links if link.target == node]
        if len(found) != 1:
            raise Unsupported(f"host {node!r} has {len(found)} incoming links; exactly one is needed")
        return found[0]


def tagged(value: Any, what: str) -> tuple[str, dict[str, Any]]:
    """Splits ``"red"`` or ``{"red": {...}}`` into name and parameters."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, dict) and len(value) == 1:
        name, params = next(iter(value.items()))
        return name, params or {}
    raise Unsupported(f"{what}: expected a name or a table with one name, got {value!r}")


def read(resolved: str | dict[str, Any]) -> Network:
    """Reads a resolved scenario (JSON text or tree) that carries ``expanded``."""
    tree = json.loads(resolved) if isinstance(resolved, str) else resolved
    flat = tree["expanded"]
    links = []
    for entry in flat["links"]:
        queue, params = tagged(entry.get("queue", "droptail"), f"links.{entry['name']}.queue")
        links.append(
            Link(
                name=entry["name"],
                source=entry["from"],
                target=entry["to"],
                rate=bits_per_second(entry["rate"]),
                delay=seconds(entry["delay"]),
                queue=queue,
                params=params,
            )
        )
        for key in sorted(entry.keys() - READ):
            if entry[key]:
                raise Unsupported(f"links.{entry['name']}.{key}: not mapped to ns-2")
    flows = []
    for entry in flat["flows"]:
        group = tree["flows"][entry["group"]]
        transport = entry["transport"]
        application, app = tagged(group.get("source") or "bulk", f"flows.{entry['group']}.source")
        flows.append(
            Flow(
                name=entry["name"],
                source=entry["from"],
                target=entry["to"],
                start=seconds(entry.get("start", "0s")),
                stop=seconds(entry["stop"]) if entry.get("stop") else None,
                transport=transport,
                params=group[transport],
                application=application,
                app=app,
                dscp=int(entry.get("class") or 0),
            )
        )
    return Network(
        name=tree.get("name") or "scenario",
        duration=seconds(tree["duration"]),
        warmup=seconds(tree.get("warmup", "0s")),
        nodes=list(flat["nodes"]),
        links=links,
        flows=flows,
    )
