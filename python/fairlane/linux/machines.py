"""Which machine has which queues: the router at the near end of a link, or every node of a network."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError, suggest
from .directions import Export, commands_for
from .plan import check_device
from .script import Interface, Script

if TYPE_CHECKING:
    from collections.abc import Iterable

_REVERSE = ".reverse"


def direction(expanded: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns a direction of a link by name; raises `UnknownNameError` if there is none."""
    links: list[dict[str, Any]] = expanded["links"]
    found = next((x for x in links if x["name"] == name), None)
    if found is None:
        raise suggest(name, [x["name"] for x in links], "link")
    return found


def opposite(expanded: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Returns the other direction of a link; None if it has one direction."""
    return next((x for x in expanded["links"] if x["name"] == _other(name)), None)


def _other(name: str) -> str:
    return name.removesuffix(_REVERSE) if name.endswith(_REVERSE) else name + _REVERSE


def exports(expanded: dict[str, Any], links: Iterable[dict[str, Any]], dev: str, *, queue_only: bool = False) -> list[Export]:
    """Returns the commands of directions; those of equal directions are worked out once."""
    channels = {c["name"] for c in expanded.get("channels", ())}
    known: dict[str, Export] = {}
    out = []
    for x in links:
        only = queue_only or x["to"] in channels
        kind = repr((only, sorted((k, v) for k, v in x.items() if k not in ("name", "from", "to"))))
        if kind not in known:
            known[kind] = commands_for(x, dev, queue_only=only)
        out.append(replace(known[kind], link=x["name"], start=x["from"], end=x["to"], also=[]))
    return out


def scripts(
    expanded: dict[str, Any],
    link: str | None = None,
    *,
    dev: str = "eth0",
    down_dev: str | None = None,
    queue_only: bool = False,
    emulate: bool = False,
    machine: str | None = None,
) -> list[Script]:
    """See `fairlane.linux.scripts`."""
    check_device(dev)
    if down_dev is not None:
        check_device(down_dev)
    if emulate and queue_only:
        raise FairlaneError("queue_only leaves out the rate and the delay of links, emulate sets them up: choose one")
    if link is not None and machine is None and not emulate:
        return [router(expanded, link, dev, down_dev, queue_only=queue_only)]
    links = expanded["links"]
    if link is not None:
        links = [x for x in (direction(expanded, link), opposite(expanded, link)) if x is not None]
    starts = list(dict.fromkeys(x["from"] for x in links))
    if machine is not None and machine not in starts:
        raise suggest(machine, starts, "machine with a queue")
    done = exports(expanded, links, dev, queue_only=queue_only)
    by_name = {e.link: e for e in done}
    sending: dict[str, list[Export]] = {}
    for e in done:
        sending.setdefault(e.start, []).append(e)
    out: dict[tuple[object, ...], Script] = {}
    for node in starts if machine is None else [machine]:
        script = Script(node, _interfaces(sending[node], by_name, dev, emulate=emulate))
        first = out.setdefault(script.body(), script)
        if first is not script:
            first.also.append(node)
    return list(out.values())


def router(expanded: dict[str, Any], link: str, dev: str, down_dev: str | None, *, queue_only: bool) -> Script:
    """Returns the script of the router before a link: it sends onto the link, and shapes what it hands to its own network."""
    (up,) = exports(expanded, [direction(expanded, link)], dev, queue_only=queue_only)
    interfaces = [Interface("UP", dev, up, up.end)]
    other = opposite(expanded, link)
    if other is not None:
        name = down_dev or ("eth1" if dev != "eth1" else "eth0")
        if name == dev:
            raise FairlaneError(f"{dev} is the device of both directions: each needs its own")
        (down,) = exports(expanded, [other], name, queue_only=queue_only)
        same = (other["queue"], other["rate"]) == (up.queue, up.rate)
        remark = f"{link} has no settings of its own for this direction" if same else ""
        interfaces.append(Interface("DOWN", name, down, up.start, remark=remark))
    return Script(up.start, interfaces, router=True)


def _interfaces(sends: list[Export], by_name: dict[str, Export], dev: str, *, emulate: bool) -> list[Interface]:
    out: list[Interface] = []
    taken: set[str] = set()
    first = re.fullmatch(r"(.*?)(\d*)", dev)
    stem, start = (first[1], int(first[2] or 0)) if first else (dev, 0)
    for n, e in enumerate(sends):
        back = by_name.get(_other(e.link)) if emulate else None
        name = dev if n == 0 else f"{stem}{start + n}"
        out.append(Interface(_variable(e.end, taken), name, e, e.end, receives=back))
    return out


def _variable(node: str, taken: set[str]) -> str:
    """Returns a free name of a shell variable for the device towards a node."""
    stem = re.sub(r"[^A-Z0-9]+", "_", node.upper()) or "_"
    if stem[0].isdigit():
        stem = "_" + stem
    name = stem
    n = 2
    while name in taken:
        name, n = f"{stem}_{n}", n + 1
    taken.add(name)
    return name
