"""Queues that share a link among flows or classes."""

from __future__ import annotations

from . import quantities as q
from .plan import Plan, Table, in_packets

_KEYS = {
    "flow": "src,dst,proto,proto-src,proto-dst",
    "source": "src", "destination": "dst", "pair": "src,dst", "ns2_source": "src", "ns2_sum": "src,dst",
}  # fmt: skip
"""Keys of the flow filter for what packets of one queue have in common."""
HASHED = 1024
"""Queues that stand for one queue for each flow, which the kernel does not make."""


def _hash(plan: Plan, t: Table, handle: str, divisor: int, perturb: int | None, base: str = "") -> None:
    by = t["hash"]
    words = ["flow hash keys", _KEYS[by], *(("perturb", perturb) if perturb else ()), "divisor", divisor, base]
    plan.tc("filter add dev", plan.dev, "parent", handle, "protocol all prio 1 handle 1", *words)
    if by.startswith("ns2_"):
        plan.note(f"hash = {by}: the kernel hashes the same addresses with another function")


def sfq(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """sfq, with a flow filter if it does not hash by flow."""
    buckets, depth, quantum = t["buckets"], t["depth"], t["quantum"]
    limit = in_packets(plan, t)
    table = 1 << max(0, (min(buckets, 65536) - 1).bit_length())
    if table != buckets:
        plan.note(f"the kernel's table is a power of two up to 65536: {table} for {buckets} buckets")
    seconds = 0 if t["perturb"] is None else max(1, round(q.seconds(t["perturb"])))
    if t["perturb"] is not None and seconds != q.seconds(t["perturb"]):
        plan.note(f"tc's perturb is in whole seconds: {seconds} for {t['perturb']}")
    most = limit if depth is None else q.count(depth, 1500)
    size = 1514 if quantum is None else q.size(quantum)
    flows = min(limit, 65535)
    plan.page("sfq")
    plan.qdisc(
        parent, handle, "sfq limit", limit, "quantum", size, "divisor", table, "flows", flows, "depth", min(most, 65535),
        *(("perturb", seconds) if seconds else ()), "headdrop" if t["drop"] == "head" else "",
    )  # fmt: skip
    if quantum is None:
        plan.note("the kernel's turns are bytes: one full packet (1514) instead of one packet of whatever length")
    if t["refuse"]:
        plan.note("refuse: the kernel takes from the longest queue instead of refusing arrivals before the buffer is full")
    if t["hash"] != "flow":
        _hash(plan, t, handle, table, seconds)
        plan.page("flow")
    t.settled("salt", "admit")
    for note in t.left({}):
        plan.note(note)


def drr(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """drr: classes with a quantum, a flow filter that hashes into them, a share of the limit for each."""
    buckets, quantum = t["buckets"], q.size(t["quantum"])
    n = min(HASHED if buckets is None else buckets, 0xFFFE)
    major = handle
    plan.qdisc(parent, handle, "drr")
    limit = q.packets(t["limit"])
    inner = f"pfifo limit {limit}" if limit is not None else f"bfifo limit {q.size(t['limit'])}"
    loop = (
        f"for i in $(seq 1 {n}); do x=$(printf %x $i); "
        f"tc class add dev {plan.dev} parent {major} classid {major}$x drr quantum {quantum}; "
        f"tc qdisc add dev {plan.dev} parent {major}$x {inner}; done"
    )
    plan.commands.append(loop)
    _hash(plan, t, major, n, None, f"baseclass {major}1")
    plan.page("drr", "flow")
    plan.note("the limit is one for all queues here; in the kernel each class has its own, and nothing is taken from the longest")
    if buckets is None:
        plan.note(f"the kernel makes no queue for each flow: flows are hashed into {n} classes")
    elif n != buckets:
        plan.note(f"a qdisc has at most {n} classes, here {buckets} buckets")
    t.settled("salt", "drop")
    for note in t.left({}):
        plan.note(note)
