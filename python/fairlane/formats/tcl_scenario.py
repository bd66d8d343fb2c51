"""The scenario of a script of ns-2 that was followed: links with their queues, flows with their sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError, short
from ..linux import Imported
from ..linux.tc_units import bits
from . import tcl

if TYPE_CHECKING:
    from .tcl import Object, Script

_RED = {
    "thresh_": ("min", "p"), "maxthresh_": ("max", "p"), "q_weight_": ("w_q", "share"), "linterm_": ("max_p", "inverse"),
    "gentle_": ("gentle", "flag"), "setbit_": ("ecn", "flag"), "mean_pktsize_": ("mean_packet", "B"), "wait_": ("wait", "flag"),
    "bytes_": ("byte_mode", "flag"), "mark_p_": ("mark_p", "share"),
}  # fmt: skip
"""Parameters of RED: key and notation."""
_OTHERS: dict[str, dict[str, tuple[str, str]]] = {
    "drr": {"quantum_": ("quantum", "B"), "blimit_": ("limit", "B"), "buckets_": ("buckets", "count")},
    "sfq": {"maxqueue_": ("limit", "p"), "buckets_": ("buckets", "count")},
    "rem": {"rgamma_": ("gamma", "share"), "rphi_": ("phi", "share")},
    "pi": {"a_": ("a", "share"), "b_": ("b", "share"), "qref_": ("target", "p"), "setbit_": ("ecn", "flag")},
    "rio": {
        "in_thresh_": ("in_min", "p"), "in_maxthresh_": ("in_max", "p"), "in_linterm_": ("in_max_p", "inverse"),
        "out_thresh_": ("out_min", "p"), "out_maxthresh_": ("out_max", "p"), "out_linterm_": ("out_max_p", "inverse"),
        "q_weight_": ("w_q", "share"),
    },
    "avq": {"gamma_": ("gamma", "share"), "alpha_": ("alpha", "share"), "ecnlim_": ("ecn", "flag")},
}  # fmt: skip
"""Parameters of the other queues."""
_TCP = {
    "window_": ("window", "p"), "packetSize_": ("mss", "B"), "tcpTick_": ("rtt_tick", "s"), "minrto_": ("rto_min", "s"),
    "ecn_": ("ecn", "classic"), "maxrto_": ("rto_max", "s"),
}  # fmt: skip
_SILENT = (
    "limit_",
    "fid_",
    "class_",
    "blocked_",
    "unblock_on_resume_",
    "flowid_",
    "prio_",
    "ttl_",
    "tcpip_base_hdr_size_",
    "trace_all_oneline_",
)


def _converted(text: str, notation: str) -> Any:
    if notation == "flag":
        return text.lower() not in ("false", "0", "off", "no")
    if notation == "s":
        return _time(tcl.seconds(text))
    number = float(text)
    if not 0 <= number <= 1e9:
        raise ValueError(text)
    if notation in ("p", "B"):
        return f"{max(1, round(number))}{notation}" if number else None
    if notation == "count":
        return max(1, round(number))
    if notation == "inverse":
        return float(f"{min(1.0, 1 / number):.6g}") if number else None
    if notation == "classic":
        return "classic" if number else None
    return number or None


def _time(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if abs(seconds * factor - round(seconds * factor)) < 1e-9 * max(1.0, seconds * factor):
            return f"{round(seconds * factor)}{unit}"
    return f"{round(seconds * 1e9)}ns"


class _Maker:
    def __init__(self, script: Script) -> None:
        self.script, self.notes = script, list(script.tcl.notes)
        self.names = _names(script)

    def note(self, line: int, text: str) -> None:
        if (made := f"line {line}: {text}") not in self.notes:
            self.notes.append(made)

    def taken(self, o: Object, values: dict[str, str], table: dict[str, tuple[str, str]], also: tuple[str, ...] = ()) -> dict[str, Any]:
        """Returns the parameters of an object; notes those that are not modelled."""
        out: dict[str, Any] = {}
        for key, text in values.items():
            if key in table:
                name, notation = table[key]
                try:
                    found = _converted(text.strip(), notation)
                except (ValueError, OverflowError):
                    self.note(o.line, f"{key} of {o.kind} is {short(text)}, which is no value: it is left out")
                    continue
                if found is not None:
                    out[name] = found
            elif key not in _SILENT and key not in also:
                self.note(o.line, f"{key} of {o.kind} is not modelled")
        return out

    def queue(self, link: dict[str, Any]) -> dict[str, Any]:
        o = link["queue"]
        name = tcl.QUEUES[link["kind"]]
        limit = o.values.get("limit_", "50")
        made: dict[str, Any] = {"preset": "ns2"} if name in tcl.PRESETS else {}
        made["limit"] = f"{max(1, int(float(limit)))}p" if re.fullmatch(r"[0-9.]{1,9}", limit) else "50p"
        if name == "red":
            more = self.taken(o, o.values, _RED, ("queue_in_bytes_", "adaptive_", "drop_tail_"))
            if "queue_in_bytes_" in o.values:
                more["measure"] = "bytes" if _converted(o.values["queue_in_bytes_"], "flag") else "packets"
            if _converted(o.values.get("adaptive_", "0"), "flag"):
                name = "ared"
            made |= more
        else:
            made |= self.taken(o, o.values, _OTHERS.get(name, {}), ("drop_front_", "summarystats_", "queue_in_bytes_", "mean_pktsize_"))
            if _converted(o.values.get("drop_front_", "0"), "flag") and name == "droptail":
                name = "headdrop"
        return {name: made}

    def links(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        done: set[tuple[str, str]] = set()
        for (a, b), link in self.script.links.items():
            if (a, b) in done:
                continue
            done |= {(a, b), (b, a)}
            if a == b:
                self.note(link["line"], "a link from a node to itself is left out")
                continue
            back = self.script.links.get((b, a))
            made = {"from": self.names[a], "to": self.names[b], **self.way(link)}
            if back is None:
                made["duplex"] = False
            else:
                other = self.way(back)
                if differs := {k: v for k, v in other.items() if v != made[k]}:
                    made["reverse"] = differs
            out[f"{self.names[a]}-{self.names[b]}"] = made
        return out

    def way(self, link: dict[str, Any]) -> dict[str, Any]:
        return {"rate": bits(link["rate"]), "delay": _time(link["delay"]), "queue": self.queue(link)}

    def flows(self, end: float) -> dict[str, Any]:
        out: dict[str, Any] = {}
        used: set[str] = set()
        for o in self.script.objects.values():
            if not o.kind.startswith("Application/"):
                continue
            agent = self.script.objects.get(o.agent)
            if agent is None:
                self.note(o.line, f"{o.kind} is attached to no agent: it is left out")
                continue
            used.add(o.agent)
            self.flow(out, o, agent, end)
        for key, o in self.script.objects.items():
            if o.kind in tcl.TCP and key not in used and o.starts:
                self.flow(out, o, o, end)
        return out

    def flow(self, out: dict[str, Any], o: Object, agent: Object, end: float) -> None:
        peer = self.script.objects.get(agent.peer)
        if peer is None or agent.node not in self.names or peer.node not in self.names:
            self.note(o.line, f"{o.kind}: its agent is not connected to another node: it is left out")
            return
        if not o.starts:
            self.note(o.line, f"{o.kind} is never started: it is left out")
            return
        start = min(o.starts)
        if len(set(o.starts)) > 1:
            self.note(o.line, f"{o.kind} starts several times: only the first is modelled")
        if start >= end:
            self.note(o.line, f"{o.kind} starts after the end: it is left out")
            return
        made: dict[str, Any] = {"from": self.names[agent.node], "to": self.names[peer.node], **({"start": _time(start)} if start else {})}
        stops = [t for t in o.stops if t > start]
        if stops and min(stops) < end:
            made["stop"] = _time(min(stops))
        if agent.kind in tcl.TCP:
            made["tcp"] = self.tcp(agent, peer)
        elif agent.kind == "Agent/UDP":
            made["udp"] = {"header": "0B"}
        else:
            self.note(agent.line, f"{agent.kind} is not modelled: its flow is left out")
            return
        source = self.source(o)
        if source is not None:
            made["source"] = source
        elif o.amount:
            made["amount"] = f"{round(o.amount)}B"
        elif "udp" in made:
            self.note(o.line, f"{o.kind} over UDP is not modelled: its flow is left out")
            return
        name = f"{'tcp' if 'tcp' in made else 'udp'}{len(out)}"
        out[name] = made

    def tcp(self, agent: Object, peer: Object) -> dict[str, Any]:
        more = self.taken(
            agent, {**self.script.inherited(agent.kind), **agent.values}, _TCP, ("overhead_", "windowOption_", "syn_", "delay_growth_")
        )
        made = {"preset": "ns2", "cc": tcl.TCP[agent.kind], **more}
        if "DelAck" in peer.kind:
            made["ack_every"] = 2
        elif not peer.kind.startswith("Agent/TCPSink"):
            self.note(peer.line, f"{peer.kind} as a receiver of TCP is not modelled: TCPSink is taken")
        return made

    def source(self, o: Object) -> dict[str, Any] | None:
        kind = o.kind.removeprefix("Application/Traffic/")
        if kind not in ("CBR", "Exponential", "Pareto"):
            if o.kind != "Application/FTP":
                self.note(o.line, f"{o.kind} is not modelled: it sends without end")
            return None
        get = self.script.value
        try:
            size = max(1, round(float(get(o, "packetSize_") or "210")))
            speed = tcl.rate(get(o, "rate_") or "448Kb")
            if kind == "CBR":
                if interval := get(o, "interval_"):
                    speed = max(1, round(size * 8 / tcl.seconds(interval)))
                random = get(o, "random_") or "0"
                if random not in ("0", "false", "off"):
                    self.note(o.line, "random_ of CBR is not modelled: packets are equally spaced")
                return {"cbr": {"rate": bits(speed), "size": f"{size}B"}}
            on, off = (tcl.seconds(get(o, k) or "0.5") for k in ("burst_time_", "idle_time_"))
            shape = {"periods": "pareto", "shape": float(get(o, "shape_") or "1.5")} if kind == "Pareto" else {}
            return {"on_off": {"rate": bits(speed), "size": f"{size}B", "on": _time(on), "off": _time(off), **shape}}
        except (ValueError, ArithmeticError) as e:
            raise FairlaneError(
                f"{self.script.file}:{o.line}: {short(str(e))} is no value of {o.kind}\n  = help: write 2Mb, 1000, 0.5s"
            ) from None


def _names(script: Script) -> dict[str, str]:
    """Returns the name of each node: that of its variable, if one has it."""
    out: dict[str, str] = {}
    variables = {v: k for k, v in reversed(list(script.tcl.values.items())) if v in script.nodes}
    for made, name in script.nodes.items():
        variable = re.sub(r"[^\w.-]", "", variables.get(made, "").replace("(", "")) or name
        out[made] = variable if variable not in out.values() else f"{variable}.{name}"
    return out


def scenario_of(script: Script) -> Imported:
    """Returns the scenario."""
    maker = _Maker(script)
    end = script.end
    if end is None:
        end = script.last + 10.0 if script.last else 60.0
        maker.notes.append(f"the script names no end: {end:g} s are taken")
    links = maker.links()
    flows = maker.flows(end)
    if not flows:
        raise FairlaneError(
            f"{script.file} starts no flow that is known\n  = help: agents need attach-agent, connect, and a start by $ns at"
        )
    tree = {"name": "imported from ns-2", "duration": _time(max(end, 1e-6)), "links": links, "flows": flows}
    return Imported(tree, maker.notes)
