"""Writes the ns-2 script of a network.

The script traces only what is measured: arrivals, starts of transmission and drops at the watched link, drops at the
first link of each flow, and of UDP flows what they send and what arrives. The trace goes to standard output, so nothing
is stored; at the end one line a flow gives the TCP sender's own counters.
"""

from __future__ import annotations

from . import agents, queues
from .network import Flow, Link, Network, Unsupported

_PROCS = """\
proc tap {kind link from to} {
    global ns
    set t [$ns create-trace $kind stdout $from $to]
    switch $kind {
        Enque { $link add-to-head $t }
        Deque { set q [$link queue]; $t target [$q target]; $q target $t }
        Drop  {
            $link instvar drophead_ drpT_
            $t target [$drophead_ target]; $drophead_ target $t
            # The queues that FQ makes for new flows drop here.
            set drpT_ $t
        }
        Recv  { $link instvar ttl_; $t target [$ttl_ target]; $ttl_ target $t }
    }
}
"""


def node_numbers(network: Network) -> dict[str, int]:
    """ns-2 numbers nodes in order of creation: the order of the resolved scenario."""
    return {name: number for number, name in enumerate(network.nodes)}


def watched_link(network: Network, name: str) -> Link:
    """The link whose queue is measured."""
    for link in network.links:
        if link.name == name:
            return link
    raise Unsupported(f"no link named {name!r}")


def script(network: Network, watch: str, seed: int, *, windows: bool = False, origin: float = 0.0) -> str:
    """The whole script. `watch` names the link whose queue is measured; `windows` adds the cwnd of the first flow to
    the trace; `origin` is the clock reading at which the scenario begins."""
    if network.warmup > 0.0:
        raise Unsupported('a warm-up cut is not mapped to ns-2; set warmup = "0s"')
    number = node_numbers(network)
    out: list[str] = []
    if seed > 0:
        out.append(f"ns-random {seed}")
    out.append("set ns [new Simulator]")
    out.append(_PROCS)
    out.extend(f"set n({i}) [$ns node]" for i in number.values())
    late: list[str] = []
    for link in network.links:
        queue = queues.discipline(link, network)
        ends = f"$n({number[link.source]}) $n({number[link.target]})"
        out.extend(f"Queue/{queue.kind} set {name} {value}" for name, value in queue.settings)
        out.append(f"$ns simplex-link {ends} {link.rate!r} {link.delay!r} {queue.kind}")
        if queue.commands:
            out.append(f"set q [[$ns link {ends}] queue]")
            out.extend(queue.commands)
        late.extend(f"{kind} set {name} {value}" for kind, name, value in queue.late)
    out.extend(late)
    for k, flow in enumerate(network.flows):
        out.extend(_flow(flow, k, number, origin))
    out.extend(_taps(network, watch, number))
    if windows and network.flows[0].transport == "tcp":
        out.append("$a(0) attach stdout; $a(0) tracevar cwnd_")
    out.append("proc finish {} {")
    out.append("    global a")
    for k, flow in enumerate(network.flows):
        if flow.transport == "tcp":
            fields = " ".join(f"[$a({k}) set {v}]" for v in ("ack_", "ndatapack_", "nrexmitpack_", "nrexmit_"))
            out.append(f'    puts "F {k} {fields}"')
    out.append("    puts END; flush stdout; exit 0")
    out.append("}")
    out.append(f"$ns at {origin + network.duration!r} finish")
    out.append("$ns run")
    return "\n".join(out) + "\n"


def _flow(flow: Flow, k: int, number: dict[str, int], origin: float) -> list[str]:
    sender, receiver, settings, receiver_settings = agents.agent(flow)
    src, dst = number[flow.source], number[flow.target]
    out = [f"set a({k}) [new {sender}]"]
    out.extend(f"$a({k}) set {name} {value}" for name, value in settings)
    out.append(f"$a({k}) set fid_ {k}; set z({k}) [new {receiver}]")
    out.extend(f"$z({k}) set {name} {value}" for name, value in receiver_settings)
    out.append(f"$ns attach-agent $n({src}) $a({k}); $ns attach-agent $n({dst}) $z({k}); $ns connect $a({k}) $z({k})")
    application, application_settings = agents.application(flow)
    out.append(f"set p({k}) [new {application}]; $p({k}) attach-agent $a({k})")
    out.extend(f"$p({k}) set {name} {value}" for name, value in application_settings)
    threshold = agents.initial_ssthresh(flow)
    if threshold is not None:
        # The agent's reset at the start of the run puts ssthresh_ back to window_, so it is set after that.
        out.append(f'$ns at 0.0 "$a({k}) set ssthresh_ {threshold}"')
    out.append(f'$ns at {origin + flow.start!r} "$p({k}) {agents.start(flow)}"')
    if flow.stop is not None:
        out.append(f'$ns at {origin + flow.stop!r} "$p({k}) stop"')
    return out


def _taps(network: Network, watch: str, number: dict[str, int]) -> list[str]:
    link = watched_link(network, watch)
    wanted = {(link.source, link.target): {"Enque", "Deque", "Drop"}}
    for flow in network.flows:
        first = network.out_link(flow.source)
        kinds = wanted.setdefault((first.source, first.target), set())
        kinds.add("Drop")
        if flow.transport == "udp":
            # A UDP agent counts nothing itself.
            kinds.add("Enque")
            last = network.in_link(flow.target)
            wanted.setdefault((last.source, last.target), set()).add("Recv")
    out = []
    for (src, dst), kinds in wanted.items():
        ends = f"$n({number[src]}) $n({number[dst]})"
        out.extend(f"tap {kind} [$ns link {ends}] {ends}" for kind in sorted(kinds))
    return out
