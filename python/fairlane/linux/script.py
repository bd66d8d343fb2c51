"""Shell scripts that set up the queues of one machine: checks before any change, a dry run, and an undo."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..base.escapes import one_line
from .netem import EMULATION
from .plan import ETHERNET_HEADER, IP_SIZES, named

if TYPE_CHECKING:
    from .directions import Export

_USAGE = """\
#   sh SCRIPT      sets up the queues; an error changes nothing
#   sh SCRIPT -n   prints the commands; nothing changes
#   sh SCRIPT -u   restores the default queues, as a reboot does
# An empty device leaves its direction out: {example}= sh SCRIPT"""
_IFB = """
# Without an inner device: DOWN_IF=ifb_down shapes what arrives at UP_IF."""

_HEADER = """\
HEADER=${HEADER-14}  # bytes of Ethernet, not counted; 0 for ppp and tun"""

_HELPERS = r"""
fail() { printf '%s\n' "$1" >&2; exit 1; }

run() {
    if [ -n "$dry" ]; then printf '%s\n' "$*"; else "$@"; fi
}

found() {  # a queue of the device $1 at $2 that is not the default, whose handle is 0:
    tc qdisc show dev "$1" | sed -n "/ 0: /d; / $2 /p" | head -n 1
}

check() {  # the device $2 of the variable $1
    ip link show dev "$2" >/dev/null 2>&1 || fail "no device $2: set $1, or leave this direction out with $1="
    own=$(found "$2" root)
    [ -z "$own" ] || fail "$2 has a queue already ($own): remove it, or run the script that set it up with -u"
}

undo_root() {  # only a queue that such a script set up: its handle is 1: or 10:
    case ${dry:-$(found "$1" root 2>/dev/null)} in
        1 | "qdisc "*" 1: "* | "qdisc "*" 10: "*) run tc qdisc del dev "$1" root || : ;;
    esac
}
"""

_REDIRECT = r"""
check_ingress() {  # the device $1, whose arrivals are to pass the new device $2
    ip link show dev "$1" >/dev/null 2>&1 || fail "no device '$1', whose arriving packets are to pass $2"
    if ip link show dev "$2" >/dev/null 2>&1; then fail "the device $2 exists already: run the script that made it with -u"; fi
    own=$(found "$1" "parent ffff:fff1")
    [ -z "$own" ] || fail "$1 has filters for arriving packets already ($own)"
}

redirect() {  # what arrives at the device $1 passes the new device $2
    run ip link add name "$2" type ifb
    run ip link set dev "$2" up
    run tc qdisc add dev "$1" ingress
    run tc filter add dev "$1" parent ffff: protocol all prio 1 matchall action mirred egress redirect dev "$2"
}

undo_redirect() {
    if [ -n "$dry" ] || ip link show dev "$2" >/dev/null 2>&1; then
        run tc qdisc del dev "$1" ingress || :
        run ip link del dev "$2" || :
    fi
}
"""

_MAIN = r"""
code=0
dry=
action=install
while getopts nu option; do
    case $option in
        n) dry=1 ;;
        u) action=undo ;;
        *) fail "usage: sh SCRIPT [-n] [-u]" ;;
    esac
done
if [ "$action" = undo ]; then
    undo
elif [ -n "$dry" ]; then
    install
else
    check_all
    trap 'code=$?; trap - EXIT; undo 2>/dev/null || :; printf "%s\n" "not set up: everything is as before" >&2; exit "$code"' EXIT
    trap 'exit 1' HUP INT TERM
    install
    trap - EXIT
fi
exit 0"""


@dataclass
class Interface:
    """A device of a machine, and what belongs on it."""

    stem: str
    """Name of its variable without `_IF`."""
    default: str
    sends: Export
    """The direction that leaves through the device."""
    towards: str
    receives: Export | None = None
    """The direction whose delay and impairments netem emulates for arriving packets."""
    remark: str = ""

    @property
    def variable(self) -> str:
        """Name of the shell variable."""
        return f"{self.stem}_IF"

    def as_dict(self) -> dict[str, Any]:
        """Returns the device for JSON documents."""
        return {"variable": self.variable, "default": self.default, "link": self.sends.link, "towards": self.towards}


@dataclass
class Script:
    """The script of one machine."""

    machine: str
    interfaces: list[Interface]
    router: bool = False
    """True for a router at the near end of a link that does both directions."""
    also: list[str] = field(default_factory=list)
    """Machines with the same script."""

    def as_dict(self) -> dict[str, Any]:
        """Returns the script for JSON documents."""
        return {
            "machine": self.machine, "also": self.also, "interfaces": [i.as_dict() for i in self.interfaces if i.sends.commands],
            "text": self.text(),
        }  # fmt: skip

    def body(self) -> tuple[object, ...]:
        """Returns what makes two scripts the same."""
        return tuple((i.stem, tuple(i.sends.commands), tuple(i.receives.far_end) if i.receives else ()) for i in self.interfaces)

    def file_name(self) -> str:
        """Returns the name of the file for the script."""
        return re.sub(r"[^A-Za-z0-9._-]+", "_", self.machine).lstrip(".-") + ".sh"

    def text(self) -> str:
        """Returns the script; comments alone if Linux has none of the queues."""
        used = [i for i in self.interfaces if i.sends.commands or _netem(i)]
        head = [f"# Queues of {'the router ' if self.router else ''}{one_line(self.machine)}{_also(self.also)}, written by fairlane."]
        if not used:
            return "\n".join([*head, *(line for i in self.interfaces for line in (_title(i), *_remarks(i)))])
        through_ifb = self.router and [i.stem for i in used] == ["UP", "DOWN"]
        bytes_taken_off = any(IP_SIZES in c for i in used for c in i.sends.commands)
        parts = ["\n".join(["#!/bin/sh", *head, _USAGE.format(example=used[-1].variable) + (_IFB if through_ifb else ""), "set -eu"])]
        parts += ["\n".join([*(_assignment(i, self.router) for i in used), *([_HEADER] if bytes_taken_off else [])])]
        parts += _functions(self.interfaces)
        redirects = through_ifb or any(_netem(i) for i in used)
        parts += [_steps(used, self.router), _HELPERS.strip("\n"), *([_REDIRECT.strip("\n")] if redirects else []), _MAIN.strip("\n")]
        return "\n\n".join(parts)


def _also(names: list[str]) -> str:
    return f" (the same for {', '.join(map(one_line, names[:12]))}{' and others' if len(names) > 12 else ''})" if names else ""


def _netem(i: Interface) -> list[str]:
    return [c for c in i.receives.far_end if " netem " in c] if i.receives else []


def _title(i: Interface) -> str:
    e = i.sends
    lines = [f"# {one_line(e.link)}: from {one_line(e.start)} to {one_line(e.end)}, {e.rate}, queue {named(e.queue)[0]}"]
    if e.missing:
        end = "; the following commands are incomplete" if e.commands else ": no command sets it up"
        lines.append(f"# Linux does not have {', '.join(map(one_line, e.missing))}{end}")
    return "\n".join(lines)


def _remarks(i: Interface) -> list[str]:
    e = i.sends
    lines = [f"# note: {one_line(n)}".replace(f" -K {e.dev} ", f" -K ${i.variable} ") for n in e.notes if n not in e.far_notes]
    pages = [m for m in e.manual if m not in EMULATION]
    return [*lines, f"# see {', '.join(pages)}"] if pages else lines


def _assignment(i: Interface, router: bool) -> str:
    where = f"the device towards {one_line(i.towards)}" if not router or i.stem == "UP" else "the device towards the own network"
    return f"{i.variable}=${{{i.variable}-{i.default}}}  # {where}{'; ' + one_line(i.remark) if i.remark else ''}"


def _in_function(command: str, dev: str) -> str:
    """Returns a command on the device `$1` by `run`."""
    line = re.sub(rf"\bdev {re.escape(dev)}(?![\w.-])", 'dev "$1"', command).replace(
        IP_SIZES, 'stab overhead "-$HEADER" linklayer ethernet'
    )
    # cake takes the header off by itself, see `schedulers.cake`.
    line = re.sub(r"( parent .* cake .* overhead) (-?\d+)", lambda m: f'{m[1]} "$(({int(m[2]) - ETHERNET_HEADER} + HEADER))"', line)
    return re.sub(r"(^|; |do )tc ", r"\1run tc ", line)


def _function(name: str, commands: tuple[str, ...], dev: str) -> str:
    return "\n".join([f"{name}() {{", *("    " + _in_function(c, dev) for c in commands), "}"])


_Functions = dict[tuple[str, ...], tuple[str, Interface]]
"""Name and first device of each function, by its commands."""


def _names(
    interfaces: list[Interface],
) -> tuple[dict[tuple[str, ...], tuple[str, Interface]], dict[tuple[str, ...], tuple[str, Interface]]]:
    """Returns the functions for queues and for netem by their commands: name and first device. Equal queues share one."""
    queues: _Functions = {}
    delays: _Functions = {}
    for i in interfaces:
        if i.sends.commands:
            queues.setdefault(tuple(i.sends.commands), (f"queue_{i.stem.lower()}", i))
        if lines := _netem(i):
            delays.setdefault(tuple(lines), (f"delay_{i.stem.lower()}", i))
    return queues, delays


def _functions(interfaces: list[Interface]) -> list[str]:
    """Returns the queues as functions of a device, and comments on those that Linux does not have."""
    queues, delays = _names(interfaces)
    out = ["\n".join([_title(i), *_remarks(i)]) for i in interfaces if not i.sends.commands]
    out += ["\n".join([_title(i), _function(name, lines, i.sends.dev), *_remarks(i)]) for lines, (name, i) in queues.items()]
    for lines, (name, i) in delays.items():
        comments = [f"# netem: delay and impairments of packets from {one_line(i.towards)}, see {', '.join(EMULATION)}"]
        comments += [f"# note: {one_line(n)}" for n in (i.receives.far_notes if i.receives else ())]
        out.append("\n".join([*comments, _function(name, lines, "ifb0")]))
    return out


def _steps(used: list[Interface], router: bool) -> str:
    """Returns the functions `check_all`, `install` and `undo`."""
    queues, delays = _names(used)
    check, install, undo = _distinct(used), [], []
    up = router and used[0].stem == "UP"
    for n, i in enumerate(used):
        dev = f'"${i.variable}"'
        queue = f"{queues[tuple(i.sends.commands)][0]} {dev}" if i.sends.commands else ""
        if up and i.stem == "DOWN":
            check.append(_down('check_ingress "$UP_IF" "$DOWN_IF"', f"check {i.variable} {dev}"))
            install.append(_down(f'redirect "$UP_IF" "$DOWN_IF"; {queue}', queue))
            undo.append(_down('undo_redirect "$UP_IF" "$DOWN_IF"', f"undo_root {dev}"))
            continue
        ways = [f"check {i.variable} {dev}"], [queue] if queue else [], [f"undo_root {dev}"]
        if _netem(i):
            ifb = f"ifb_emulate{n}"
            ways[0].append(f"check_ingress {dev} {ifb}")
            ways[1].extend([f"redirect {dev} {ifb}", f"{delays[tuple(_netem(i))][0]} {ifb}"])
            ways[2].append(f"undo_redirect {dev} {ifb}")
        for lines, to in zip(ways, (check, install, undo), strict=True):
            to.append(f"if [ -n {dev} ]; then {'; '.join(lines)}; fi")
    bodies = {"check_all": check, "install": install, "undo": undo}
    return "\n\n".join("\n".join([f"{name}() {{", *("    " + x for x in lines), "}"]) for name, lines in bodies.items())


def _down(through_ifb: str, direct: str) -> str:
    return f"case $DOWN_IF in\n        '') ;;\n        ifb*) {through_ifb} ;;\n        *) {direct} ;;\n    esac"


def _distinct(used: list[Interface]) -> list[str]:
    """Returns lines that refuse one device for two directions."""
    if len(used) < 2:
        return []
    devices = " ".join(f'"${i.variable}"' for i in used)
    return [
        f"twice=$(printf '%s\\n' {devices} | sed '/^$/d' | sort | uniq -d)",
        '[ -z "$twice" ] || fail "$twice is the device of two directions: each needs its own"',
    ]
