"""Scripts of ns-2 as scenarios: links, queues and their limits, agents, sources, and what happens `at` a time. Nothing is executed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..errors import FairlaneError, short
from ..linux import Imported
from .tcl_words import Tcl

QUEUES = {
    "DropTail": "droptail", "RED": "red", "FQ": "fq", "SFQ": "sfq", "DRR": "drr", "REM": "rem", "PI": "pi", "Vq": "avq",
    "RED/RIO": "rio", "CoDel": "codel",
}  # fmt: skip
"""Queues of ns-2 by name."""
PRESETS = ("droptail", "red", "ared", "fq", "sfq", "drr", "rem", "pi", "avq", "rio")
"""Queues with a preset `ns2`."""
TCP = {
    "Agent/TCP": "tahoe", "Agent/TCP/Reno": "reno", "Agent/TCP/Newreno": "newreno", "Agent/TCP/Sack1": "sack", "Agent/TCP/Fack": "fack",
    "Agent/TCP/Vegas": "vegas",
}  # fmt: skip
"""Congestion controls by agent."""
_QUIET = (
    "color", "trace-all", "namtrace-all", "namtrace-all-wireless", "trace-queue", "namtrace-queue", "duplex-link-op", "simplex-link-op",
    "flush-trace", "monitor-queue", "use-scheduler", "now", "eventtrace-all", "halt", "shape", "label", "label-color", "trace", "attach",
    "attach-trace", "drop-trace", "after", "cancel", "next", "seed", "reset", "add-agent-trace", "monitor-agent-trace", "tracevar",
    "gen-map",
)  # fmt: skip
"""Methods that change no network: traces, colours, the layout of nam."""
_DEFAULTS = {
    "Queue": {"limit_": "50"}, "Application/Traffic/CBR": {"rate_": "448Kb", "packetSize_": "210"},
    "Application/Traffic/Exponential": {"rate_": "64Kb", "packetSize_": "210", "burst_time_": ".5", "idle_time_": ".5"},
    "Application/Traffic/Pareto": {"rate_": "64Kb", "packetSize_": "210", "burst_time_": "500ms", "idle_time_": "500ms", "shape_": "1.5"},
}  # fmt: skip
"""ns-2's own values (tcl/lib/ns-default.tcl) that have no preset."""


@dataclass
class Object:
    """An object of ns-2: its class, its values, and what it is connected to."""

    kind: str
    line: int
    values: dict[str, str] = field(default_factory=dict)
    node: str = ""
    peer: str = ""
    agent: str = ""
    starts: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    amount: float = 0.0


def rate(text: str) -> int:
    """Returns a rate of ns-2 in bit/s: `10Mb`, `1.5e6`, `100kB`; a capital B is bytes.

    >>> rate("10Mb"), rate("1.5e6"), rate("100kB"), rate("2Mbps")
    (10000000, 1500000, 800000, 2000000)
    """
    m = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,2})?|[0-9]+\.)\s*([kKmMgG]?)([bB]?)(?:ps|it/s|it)?", text.strip()[:40])
    if m is None:
        raise ValueError(text)
    found = float(m[1]) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[m[2].lower()] * (8 if m[3] == "B" else 1)
    if not 1 <= found <= 1e13:
        raise ValueError(text)
    return round(found)


def seconds(text: str) -> float:
    """Returns a time of ns-2 in seconds: `20ms`, `0.02`, `5us`.

    >>> seconds("20ms"), seconds(".5"), seconds("3m")
    (0.02, 0.5, 0.003)
    """
    m = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,2})?|[0-9]+\.)\s*(m|u|n|p)?(?:s|sec)?", text.strip()[:40])
    if m is None or (found := float(m[1]) * {None: 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}[m[2]]) > 1e6:
        raise ValueError(text)
    return float(f"{found:.12g}")


class Script:
    """Follows a script: nodes, links, agents, sources and times."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.tcl = Tcl(file, self.other)
        self.objects: dict[str, Object] = {}
        self.classes: dict[str, dict[str, str]] = {k: dict(v) for k, v in _DEFAULTS.items()}
        self.links: dict[tuple[str, str], dict[str, Any]] = {}
        self.nodes: dict[str, str] = {}
        self.end: float | None = None
        self.last = 0.0

    def wrong(self, line: int, message: str, help: str) -> FairlaneError:
        return FairlaneError(f"{self.file}:{line}: {message}\n  = help: {help}")

    def other(self, words: list[str], line: int) -> str | None:
        """Follows a command on an object or a class of ns-2."""
        name = words[0]
        if name == "new":
            return self.new(words[1:], line)
        if name in self.objects and len(words) > 1:
            return self.method(self.objects[name], name, words[1], words[2:], line)
        if re.fullmatch(r"[A-Z]\w*(?:/\w+)*", name) and words[1:2] == ["set"] and len(words) == 4:
            self.classes.setdefault(name, {})[words[2]] = words[3]
            return words[3]
        if name == "finish" and name not in self.tcl.procedures:
            return ""
        return None

    def new(self, words: list[str], line: int) -> str:
        kind = words[0] if words else ""
        name = f"_o{len(self.objects)}"
        self.objects[name] = Object(kind, line)
        known = ("Simulator", *TCP, "Application/FTP", "Agent/UDP", "Agent/Null", "Agent/LossMonitor")
        if not (kind in known or kind.startswith(("Agent/TCPSink", "Application/Traffic/", "RNG", "Random"))):
            self.tcl.note(line, f"new {short(kind)} is not modelled")
        return name

    def value(self, o: Object, key: str) -> str | None:
        """Returns a value of an object, else that of its class or of a class above it."""
        if key in o.values:
            return o.values[key]
        parts = o.kind.split("/")
        for n in range(len(parts), 0, -1):
            found = self.classes.get("/".join(parts[:n]), {}).get(key)
            if found is not None:
                return found
        return None

    def method(self, o: Object, name: str, what: str, words: list[str], line: int) -> str | None:
        if what == "set":
            if len(words) > 1:
                o.values[words[0]] = words[1]
            return (self.value(o, words[0]) or "") if words else ""
        if o.kind == "Simulator":
            return self.simulator(what, words, line)
        if what in ("attach-agent", "attach-app", "attach-source"):
            if what == "attach-agent":
                o.agent = words[0] if words else ""
                return ""
            made = self.new([f"Application/{words[0] if words[:1] == ['FTP'] else '/'.join(['Traffic', *words])}"], line)
            self.objects[made].agent = name
            return made
        if what in ("start", "stop", "send", "produce", "producemore"):
            return self.event(0.0, o, what, words, line)
        if o.kind == "link" and what == "queue":
            return str(o.values["queue"])
        if what in _QUIET or o.kind.startswith(("RNG", "Random")):
            return "0" if what in ("value", "next-random", "integer", "uniform", "exponential") else ""
        self.tcl.note(line, f"{short(what)} of {short(o.kind)} is not modelled")
        return ""

    def simulator(self, what: str, words: list[str], line: int) -> str | None:
        if what == "node":
            name = f"n{len(self.nodes)}"
            made = f"_o{len(self.objects)}"
            self.objects[made] = Object("Node", line)
            self.nodes[made] = name
            return made
        if what in ("duplex-link", "simplex-link"):
            return self.link(words, line, both=what == "duplex-link")
        if what == "queue-limit" and len(words) == 3:
            found = self.links.get((words[0], words[1]))
            if found is None:
                raise self.wrong(line, "queue-limit of a link that does not exist", "write it after duplex-link")
            found["queue"].values["limit_"] = words[2]
            return ""
        if what == "link" and len(words) == 2 and (found := self.links.get((words[0], words[1]))):
            made = f"_o{len(self.objects)}"
            self.objects[made] = Object("link", line, {"queue": found["object"]})
            return made
        if what == "attach-agent" and len(words) == 2 and words[1] in self.objects:
            self.objects[words[1]].node = words[0]
            return ""
        if what == "connect" and len(words) == 2 and words[0] in self.objects:
            self.objects[words[0]].peer = words[1]
            return ""
        if what == "create-connection" and len(words) >= 4:
            agents = [self.new([f"Agent/{kind}"], line) for kind in (words[0], words[2])]
            for made, node in zip(agents, (words[1], words[3]), strict=True):
                self.objects[made].node = node
            self.objects[agents[0]].peer = agents[1]
            return agents[0]
        if what == "at" and len(words) >= 2:
            return self.at(words, line)
        if what == "run" or what in _QUIET:
            return ""
        self.tcl.note(line, f"$ns {short(what)} is not modelled")
        return ""

    def link(self, words: list[str], line: int, *, both: bool) -> str:
        if len(words) < 5 or any(w not in self.nodes for w in words[:2]):
            raise self.wrong(line, "a link needs two nodes, a rate, a delay and a queue", "write $ns duplex-link $a $b 10Mb 20ms DropTail")
        try:
            settings = {"rate": rate(words[2]), "delay": seconds(words[3])}
        except ValueError as e:
            raise self.wrong(line, f"{short(str(e))} is no rate or delay of ns-2", "write for instance 10Mb 20ms") from None
        kind = words[4]
        if kind not in QUEUES:
            self.tcl.note(line, f"the queue {short(kind)} is not modelled: DropTail is taken")
            kind = "DropTail"
        for a, b in ((words[0], words[1]), (words[1], words[0]))[: 2 if both else 1]:
            made = f"_o{len(self.objects)}"
            self.objects[made] = Object(f"Queue/{kind}", line)
            # The values of a class hold for the objects that are made after them.
            self.objects[made].values = {**self.inherited(f"Queue/{kind}")}
            self.links[a, b] = {**settings, "kind": kind, "queue": self.objects[made], "object": made, "line": line, "both": both}
        return ""

    def inherited(self, kind: str) -> dict[str, str]:
        """Returns the values of a class and of those above it."""
        out: dict[str, str] = {}
        parts = kind.split("/")
        for n in range(1, len(parts) + 1):
            out |= self.classes.get("/".join(parts[:n]), {})
        return out

    def at(self, words: list[str], line: int) -> str:
        try:
            time = float(words[0])
        except ValueError:
            time = -1.0
        if not 0 <= time <= 1e6:
            raise self.wrong(line, f"{short(words[0])} is no time", 'write for instance $ns at 1.0 "$ftp start"')
        self.last = max(self.last, time)
        parts = words[1].split() if len(words) == 2 else words[1:]
        if not parts:
            return ""
        if parts[0] in self.objects and len(parts) > 1:
            o = self.objects[parts[0]]
            if o.kind == "Simulator":
                if parts[1] in ("halt", "stop"):
                    self.end = time
                return ""
            return self.event(time, o, parts[1], parts[2:], line)
        if parts[0] in ("finish", "stop", "exit", "done") or "exit" in self.tcl.procedures.get(parts[0], ([], "", 0))[1]:
            self.end = time
        elif parts[0] not in ("puts", "record"):
            self.tcl.note(line, f"at {words[0]} {short(words[1][:60])} is not modelled")
        return ""

    def event(self, time: float, o: Object, what: str, words: list[str], line: int) -> str:
        if what == "start":
            o.starts.append(time)
        elif what in ("stop", "detach"):
            o.stops.append(time)
        elif what in ("send", "produce", "producemore") and words and re.fullmatch(r"[0-9]{1,15}", words[0]):
            size = 1.0 if what == "send" else float(self._payload(self.objects.get(o.agent) or o))
            o.amount += float(words[0]) * size
            o.starts.append(time)
        else:
            self.tcl.note(line, f"{short(what)} of {short(o.kind)} at a time is not modelled")
        return ""

    def _payload(self, o: Object) -> int:
        text = self.value(o, "packetSize_") or "1000"
        return int(float(text)) if re.fullmatch(r"[0-9.]{1,8}", text) and float(text) >= 1 else 1000


def import_tcl(text: str, file: str = "<script>", *, rate: str = "") -> Imported:
    """Makes a scenario from a script of ns-2. `rate` is not used: each link of ns-2 has its rate."""
    from .tcl_scenario import scenario_of

    script = Script(file)
    script.tcl.run(text)
    if not script.links:
        raise FairlaneError(f"{file} makes no link\n  = help: links are lines such as $ns duplex-link $a $b 10Mb 20ms DropTail")
    return scenario_of(script)
