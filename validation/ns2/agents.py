"""Transport parameters of a resolved scenario as settings of the ns-2 agents and applications."""

from __future__ import annotations

import json
from typing import Any

from .network import Flow, Unsupported
from .units import bits_per_second, octets, queue_length, seconds

Settings = list[tuple[str, str]]

AGENTS = {
    "tahoe": "Agent/TCP",
    "reno": "Agent/TCP/Reno",
    "newreno": "Agent/TCP/Newreno",
    "sack": "Agent/TCP/Sack1",
    "fack": "Agent/TCP/Fack",
    "vegas": "Agent/TCP/Vegas",
}
"""ns-2 agent of each recovery scheme."""

GROWTH = {"reno", "tahoe", "newreno", "sack", "sack1", "fack", "vegas"}
"""Congestion controls that agents of ns-2 have: growth as in RFC 5681, and Vegas."""

UNBOUNDED = "1000000000"

FIXED: dict[str, Any] = {
    "handshake": True,
    "handshake_ack": False,
    "fin": False,
    "byte_counting": None,
    "cwnd_validation": False,
    "loss_basis": "cwnd",
    "ssthresh_whole_segments": True,
    "timeout_cuts_again": True,
    "rtt_sampling": "one",
    "backoff_ends": "sample",
    "timestamps": False,
    "recovery_burst": 2,
    "grow_on_exit": True,
    "dsack": False,
    "sack_pipe": "counted",
    "fack_restart": True,
    "fack_only_enters": True,
    "fack_until_no_sack": True,
    "fack_lost_again_stops": True,
    "fack_every_ack_restarts_timer": True,
    "sack_lost_after": 1,
    "sack_rescue": False,
    "timeout_forgets_sack": True,
}
"""Fixed parameters of the one-way agents of ns-2: a scenario with other values cannot be run there."""

VEGAS: dict[str, Any] = {
    "handshake": False,
    "data_header": "0B",
    "limited_transmit": False,
    "vegas_inflates_cwnd": True,
    "vegas_backs_off": True,
    "vegas_times_waiting": True,
    "vegas_send_table": True,
}
"""More fixed parameters of Agent/TCP/Vegas."""


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _segments(text: str, mss: int, where: str) -> str:
    number, unit = queue_length(text)
    if unit == "bytes":
        number /= mss
    if number != int(number):
        raise Unsupported(f"{where}: {text} is not a whole number of segments")
    return str(int(number))


def scheme(flow: Flow) -> str:
    """Name of the recovery scheme."""
    cc = flow.params.get("cc", "newreno")
    name = cc if isinstance(cc, str) else next(iter(cc))
    if name not in GROWTH:
        raise Unsupported(f"flows.{flow.name}.tcp.cc: {name!r} is not mapped to ns-2")
    found = flow.params.get("recovery") or name
    if (name == "vegas") != (found == "vegas"):
        raise Unsupported(f"flows.{flow.name}.tcp.recovery = {found!r}: in ns-2 Vegas and its recovery are one agent")
    return "sack" if found == "sack1" else found


def agent(flow: Flow) -> tuple[str, str, Settings, Settings]:
    """Sender class, receiver class, and the settings of each."""
    if flow.transport == "udp":
        if octets(flow.params.get("header", "0B")) != 0:
            raise Unsupported(f'flows.{flow.name}.udp.header: ns-2 adds no UDP header; set "0B"')
        # The agent would split anything longer than its packetSize_.
        return "Agent/UDP", "Agent/Null", [("packetSize_", str(octets(flow.app["size"])))], []
    return _tcp(flow)


def _tcp(flow: Flow) -> tuple[str, str, Settings, Settings]:
    p, where = flow.params, f"flows.{flow.name}.tcp"
    kind = scheme(flow)
    fixed = FIXED | (VEGAS if kind == "vegas" else {"data_header": None})
    for name, value in fixed.items():
        if name in p and p[name] != value:
            raise Unsupported(f"{where}.{name} = {json.dumps(p[name])}: ns-2 has only {json.dumps(value)}")
    mss = octets(p["mss"])
    settings: Settings = [
        ("packetSize_", str(mss)),
        ("window_", _segments(p["window"], mss, f"{where}.window") if p.get("window") else UNBOUNDED),
        ("windowInit_", _segments(p["initial_window"], mss, f"{where}.initial_window")),
        ("tcpTick_", repr(seconds(p["rtt_tick"]))),
        ("rtxcur_init_", repr(seconds(p["rto_initial"]))),
        ("minrto_", repr(seconds(p["rto_min"]))),
        ("rfc2988_", _flag(p["rto_min_first"])),
        ("maxrto_", repr(seconds(p["rto_max"]))),
        ("numdupacks_", str(p["dupthresh"])),
        ("singledup_", str(int(p["limited_transmit"]))),
        ("bugFix_", _flag(p["careful"])),
        ("maxburst_", str(p.get("max_burst") or 0)),
        ("tcpip_base_hdr_size_", str(octets(p["header"]))),
    ]
    if kind == "vegas":
        settings += _vegas(flow)
    if kind == "newreno":
        settings += [
            ("newreno_changes1_", str(int(p["newreno_timer"] == "impatient"))),
            ("partial_window_deflation_", str(int(p["partial_deflation"]))),
            ("exit_recovery_fix_", str(int(p["exit_window"] != "keep"))),
        ]
    if kind == "fack":
        settings += [("ss-div4_", _flag(p["fack_overdamping"])), ("rampdown_", _flag(p["fack_rampdown"]))]
    selective = kind in ("sack", "fack")
    sink = "Agent/TCPSink" + ("/Sack1" if selective else "")
    receiver: Settings = [("maxSackBlocks_", str(p["sack_blocks"]))] if selective else []
    if p["ack_every"] == 2:
        sink += "/DelAck"
        receiver.append(("interval_", repr(seconds(p["ack_delay"]))))
    elif p["ack_every"] != 1:
        raise Unsupported(f"{where}.ack_every = {p['ack_every']}: ns-2 has 1 and 2")
    return AGENTS[kind], sink, settings, receiver


def _vegas(flow: Flow) -> Settings:
    cc, where = flow.params["cc"], f"flows.{flow.name}.tcp"
    own = cc.get("vegas", {}) if isinstance(cc, dict) else {}
    if own.get("reading") != "ns2":
        raise Unsupported(f'{where}.cc.vegas.reading: ns-2 has only "ns2"')
    if not flow.params.get("window"):
        raise Unsupported(f"{where}.window: Agent/TCP/Vegas keeps a table of that length; set one")
    out = []
    for name in ("alpha", "beta", "gamma"):
        if own[name] != int(own[name]):
            raise Unsupported(f"{where}.cc.vegas.{name} = {own[name]}: ns-2 has whole packets")
        out.append((f"v_{name}_", str(int(own[name]))))
    return out


def initial_ssthresh(flow: Flow) -> str | None:
    """First slow-start threshold in segments, if the scenario sets one."""
    text = flow.params.get("initial_ssthresh") if flow.transport == "tcp" else None
    return _segments(text, octets(flow.params["mss"]), f"flows.{flow.name}.tcp.initial_ssthresh") if text else None


def start(flow: Flow) -> str:
    """Returns the command that starts the application."""
    if flow.application != "file":
        return "start"
    size, mss = octets(flow.app["size"]), octets(flow.params["mss"])
    if size % mss:
        raise Unsupported(f"flows.{flow.name}.source.file.size: {size} bytes are not whole segments of {mss}")
    return f"produce {size // mss}"


def application(flow: Flow) -> tuple[str, Settings]:
    """Application class and its settings."""
    if flow.application in ("bulk", "file"):
        return "Application/FTP", []
    if flow.application == "cbr":
        jitter = float(flow.app.get("jitter") or 0.0)
        if jitter not in (0.0, 0.5):
            raise Unsupported(f"flows.{flow.name}.source.cbr.jitter = {jitter}: ns-2 has 0 and 0.5")
        return "Application/Traffic/CBR", [
            ("packetSize_", str(octets(flow.app["size"]))),
            ("rate_", repr(bits_per_second(flow.app["rate"]))),
            ("random_", str(int(jitter > 0.0))),
        ]
    raise Unsupported(f"flows.{flow.name}.source: {flow.application!r} is not mapped to ns-2")
