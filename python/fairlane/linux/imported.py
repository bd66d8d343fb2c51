"""A scenario made from the commands of tc of a machine: `fairlane import tc`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import FairlaneError
from . import tc_text
from .tc_tree import LEAF, Builder, Device, Direction, devices
from .tc_units import TcError

DEVICE_RATE = "1Gbit/s"
"""Rate of a device whose commands do not set one."""
DURATION = "30s"
_FLOW = {"tcp": {"preset": "linux", "cc": "cubic"}}


@dataclass
class Imported:
    """A scenario, and what of the text is not in it."""

    tree: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def directions(text: str, file: str = "<tc>") -> tuple[dict[str, Direction], dict[str, Direction], list[str]]:
    """Returns what leaves through each device, what arrives through it if that passes an IFB device, and notes."""
    read = tc_text.read(text, file)
    found = devices(read)
    if not read.commands:
        raise FairlaneError(
            f"{file} has no commands of tc\n  = help: write lines such as tc qdisc add dev eth0 root fq_codel, or what tc qdisc show prints"
        )
    out: dict[str, Direction] = {}
    into: dict[str, Direction] = {}
    redirected = {d.redirects for d in found.values() if d.redirects}
    try:
        for device in found.values():
            if device.policers("in") and not device.redirects:
                into[device.name] = Builder(device, read).arriving()
            if device.redirects:
                target = found.get(device.redirects, Device(device.redirects))
                into[device.name] = Builder(target, read).direction()
            if device.name not in redirected and "root" in device.qdiscs and not _plain(device):
                out[device.name] = Builder(device, read).direction()
            elif device.name not in redirected and (device.redirects or device.policers("in") or device.policers("out")):
                out[device.name] = Builder(device, read).direction() if "root" not in device.qdiscs else Direction(dict(LEAF))
    except TcError as e:
        raise e if e.line == 0 or not file else TcError(e.word, e.message, e.help, e.line, file) from None
    if not out:
        raise FairlaneError(f"{file} sets up no queue: each device has its default\n  = help: give the commands that set up a queue")
    return out, into, read.notes


def _plain(device: Device) -> bool:
    """Returns True for the loopback device and others without a queue, which `tc qdisc show` lists as well."""
    return device.qdiscs["root"].kind in ("noqueue", "mq", "ingress", "clsact") or (device.name == "lo" and len(device.qdiscs) == 1)


def scenario(text: str, file: str = "<tc>", *, rate: str = DEVICE_RATE) -> Imported:
    """Makes a scenario from commands of tc, a script of `fairlane tc`, or the output of `tc qdisc show` and `tc class show`.

    Each device is a link from the machine `host`; the other direction has the queue of an IFB device that arriving packets pass, else none
    to speak of. `rate` is that of devices whose commands set none.
    """
    out, into, notes = directions(text, file)
    links: dict[str, Any] = {}
    assumed = []
    for name, sends in out.items():
        arrives = into.get(name)
        links[name] = {"from": "host", "to": f"net-{name}" if len(out) > 1 else "net", **settings(sends, rate)}
        links[name]["reverse"] = settings(arrives or Direction(dict(LEAF)), rate)
        if arrives is None or arrives.rate is None:
            links[name]["reverse"]["rate"] = rate
        links[name]["reverse"] = plain_where(links[name], links[name]["reverse"])
        if sends.rate is None:
            assumed.append(name)
        notes += [*sends.notes, *sends.line.notes, *(arrives.notes + arrives.line.notes if arrives else [])]
    if assumed:
        notes.append(f"tc does not say the rate of {', '.join(assumed)}: {rate} is taken (--rate)")
    ends = [x["to"] for x in links.values()]
    start = ends[1] if len(ends) > 1 else "host"
    return Imported(tree_of(links, start, ends[0]), list(dict.fromkeys(notes)))


_PLAIN = {"jitter": "0s", "loss": 0.0, "duplicate": 0.0, "reorder": {"share": 0.0, "delay": "0s"}, "corrupt": 0.0, "slot": {"min": "0s"}}


def plain_where(forward: dict[str, Any], back: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of the other direction without the impairments that it would take from the first."""
    return back | {k: v for k, v in _PLAIN.items() if k in forward and k not in back}


def tree_of(links: dict[str, Any], start: str, end: str) -> dict[str, Any]:
    """Returns a scenario of links with a transfer over them."""
    tree = {"name": "imported from tc", "duration": DURATION, "warmup": "5s", "links": links}
    return tree | {"flows": {"transfer": {"from": start, "to": end, **_FLOW}}}


def settings(d: Direction, rate: str) -> dict[str, Any]:
    """Returns the settings of one direction of a link."""
    return {"rate": d.rate or rate, **d.line.settings(), "queue": d.queue}


__all__ = ["DEVICE_RATE", "Imported", "directions", "scenario", "settings", "tree_of"]
