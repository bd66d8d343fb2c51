"""A queue as a line of tc: `queue = "tc: cake bandwidth 20mbit"`.

The core calls `for_core` where it reads a queue, whether the text is in a file, an option, a network of Python, a study or a change
during a run: one reader for all of them, and its errors have the place in the file.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import FairlaneError
from . import tc_text
from .tc_tree import Builder, Device
from .tc_units import TcError


def queue_text(text: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the queue of a line of tc, and notes on what is not modelled.

    The line has the discipline with its words, or a whole command; several commands, separated by semicolons, make a tree.

    >>> queue_text("codel limit 100 target 10ms")[0]
    {'codel': {'preset': 'linux', 'limit': '100p', 'target': '10ms'}}
    """
    text = text.strip()
    if not text:
        raise TcError("", "the text after tc: is empty", 'write for instance "tc: fq_codel limit 1000"')
    lines = [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]
    if not re.match(r"(?:\S*/)?tc\s|qdisc\s|class\s", lines[0]):
        if len(lines) > 1:
            raise TcError(lines[1], "several lines need whole commands", "begin each with tc qdisc add dev eth0")
        lines = [f"tc qdisc add dev eth0 root {lines[0]}"]
    read = tc_text.read("\n".join(lines), "")
    from .tc_tree import devices

    found = devices(read)
    if len(found) != 1:
        raise TcError("", "a queue is that of one device", "write the commands of one device")
    (device,) = found.values()
    return _queue(device, read)


def _queue(device: Device, read: tc_text.Text) -> tuple[dict[str, Any], list[str]]:
    builder = Builder(device, read)
    if "root" not in device.qdiscs:
        raise TcError("", "no discipline at the root of the device", "write for instance tc qdisc add dev eth0 root fq_codel")
    made = builder.direction()
    if made.rate is not None or made.line.settings() != {"delay": "0s"}:
        what = "rate" if made.rate is not None else "delay"
        raise TcError(
            device.qdiscs["root"].kind, f"{device.qdiscs['root'].kind} sets the {what} of the link, not only its queue",
            f"write the {what} at the link; fairlane import tc FILE makes a scenario of all of it",
        )  # fmt: skip
    return made.queue, [*read.notes, *made.notes]


def for_core(text: str) -> tuple[str, list[str], list[str]]:
    """Returns the queue as JSON and its notes; else the wrong word, the message, and the help."""
    try:
        queue, notes = queue_text(text)
    except TcError as e:
        return "", [], [e.word, e.message, e.help]
    except FairlaneError as e:
        return "", [], ["", str(e).partition("\n")[0], ""]
    return json.dumps(queue), [f"tc: {n}" for n in notes], []
