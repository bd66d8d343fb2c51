"""Schedulers: queues that share a link among flows or classes."""

from __future__ import annotations

from . import quantities as q
from .laws import codel_notes, pie_notes
from .plan import ETHERNET_HEADER, FULL_PACKET, Plan, Table, in_packets
from .trees import filters, patterns
from .words import ACK_FILTERS, micro, written

_KEYS = {
    "flow": "src,dst,proto,proto-src,proto-dst",
    "source": "src", "destination": "dst", "pair": "src,dst", "ns2_source": "src", "ns2_sum": "src,dst",
}  # fmt: skip
"""Keys of the flow filter for the hash of a queue."""
HASHED = 1024
"""Number of hashed queues that replace one queue per flow, which the kernel does not have."""


def _hash(plan: Plan, t: Table, handle: str, divisor: int, perturb: int | None, base: str = "") -> None:
    by = t["hash"]
    words = ["flow hash keys", _KEYS[by], *(("perturb", perturb) if perturb else ()), "divisor", divisor, base]
    plan.tc("filter add dev", plan.dev, "parent", handle, "protocol all prio 1 handle 1", *words)
    if by.startswith("ns2_"):
        plan.note(f"hash = {by}: the kernel hashes the same addresses with another function")


def _salt(plan: Plan, t: Table) -> None:
    if t.get("salt") is not None:
        plan.note(f"{t.name}.salt: the kernel draws its own")


def sfq(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes sfq, with a flow filter if it does not hash by flow."""
    buckets, depth, quantum = t["buckets"], t["depth"], t["quantum"]
    limit = in_packets(plan, t)
    table = 1 << max(0, (min(buckets, 65536) - 1).bit_length())
    if table != buckets:
        plan.note(f"the kernel's table is a power of two up to 65536: {table} for {buckets} buckets")
    seconds = 0 if t["perturb"] is None else max(1, round(q.seconds(t["perturb"])))
    if t["perturb"] is not None and seconds != q.seconds(t["perturb"]):
        plan.note(f"tc's perturb is in whole seconds: {seconds} for {t['perturb']}")
    most = limit if depth is None else q.count(depth, 1500)
    size = FULL_PACKET if quantum is None else q.size(quantum)
    flows = min(limit, 65535)
    plan.page("sfq")
    plan.qdisc(
        parent, handle, "sfq limit", limit, "quantum", size, "divisor", table, "flows", flows, "depth", min(most, 65535),
        *(("perturb", seconds) if seconds else ()), "headdrop" if t["drop"] == "head" else "",
    )  # fmt: skip
    if quantum is None:
        plan.note(f"the kernel's turns are bytes: one full packet ({FULL_PACKET}) instead of one packet of whatever length")
    if t["refuse"]:
        plan.note("refuse: the kernel takes from the longest queue instead of refusing arrivals before the buffer is full")
    if t["hash"] != "flow":
        _hash(plan, t, handle, table, seconds)
        plan.page("flow")
    _salt(plan, t)
    for note in t.left({}):
        plan.note(note)


def drr(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes drr with the given classes, or with classes for the hash of a flow filter."""
    if t.get("classes"):
        _drr_classes(plan, parent, handle, t)
        return
    buckets, quantum = t["buckets"], q.size(t["quantum"])
    n = min(HASHED if buckets is None else buckets, 0xFFFE)
    major = handle
    plan.qdisc(parent, handle, "drr")
    limit = q.packets(t["limit"])
    inner = f"pfifo limit {limit}" if limit is not None else f"bfifo limit {q.size(t['limit'])}"
    loop = (
        f'i=1; while [ "$i" -le {n} ]; do x=$(printf %x "$i"); '
        f'tc class add dev {plan.dev} parent {major} classid "{major}$x" drr quantum {quantum}; '
        f'tc qdisc add dev {plan.dev} parent "{major}$x" {inner}; i=$((i + 1)); done'
    )
    plan.commands.append(loop)
    _hash(plan, t, major, n, None, f"baseclass {major}1")
    plan.page("drr", "flow")
    plan.note("the limit is one for all queues here; in the kernel each class has its own, and nothing is taken from the longest")
    if buckets is None:
        plan.note(f"the kernel has no queue per flow: flows are hashed into {n} classes")
    elif n != buckets:
        plan.note(f"a qdisc has at most {n} classes, here {buckets} buckets")
    _salt(plan, t)
    for note in t.left({}):
        plan.note(note)


def _drr_classes(plan: Plan, parent: str, handle: str, t: Table) -> None:
    classes = t["classes"]
    plan.qdisc(parent, handle, "drr")
    for i, entry in enumerate(classes, 1):
        plan.tc("class add dev", plan.dev, "parent", handle, "classid", f"{handle}{i:x}", "drr quantum", q.size(entry["quantum"]))
        plan.queue(f"parent {handle}{i:x}", entry["queue"])
    # drr drops packets without a filter (tc-drr(8)); here the last class takes them.
    filters(plan, handle, [(patterns(c) if i < len(classes) else ["any"], f"{handle}{i:x}") for i, c in enumerate(classes, 1)])
    plan.page("drr", "u32")
    plan.note("drr lets a packet go only if the quantum covers it whole; here the last packet of a turn may pass it and pays later")
    plan.note(f"the classes share a limit of {t['limit']} here; in the kernel only their queues have limits")


def _flow_queues(plan: Plan, parent: str, handle: str, t: Table) -> None:
    plan.page(t.name)
    plan.qdisc(parent, handle, t.name, *written(t.name, plan, t))
    if t["memory_limit"] is None:
        plan.note("the kernel also limits the memory of all packets, to 32 MB by default")
    if t["hash"] != "flow":
        _hash(plan, t, handle, t["flows"], None)
        plan.page("flow")
    _salt(plan, t)


def fq_codel(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes fq_codel."""
    _flow_queues(plan, parent, handle, t)
    codel_notes(plan, t)


def fq_pie(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes fq_pie."""
    t.settled("mark_ecnth")
    if not t["refuse"]:
        plan.note(
            f"a full fq_pie refuses the arriving packet; here up to {t['drop_batch']} packets leave from the head of the longest queue"
        )
    t.settled("drop_batch")
    _flow_queues(plan, parent, handle, t)
    pie_notes(plan, t)


LEAST_AUTOMATIC = 15_000
"""Bytes of DualPI2's smallest automatic limit: ten packets of 1500 (`fairlane explain dualpi2`)."""


def dualpi2(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes dualpi2, with automatic gains by RFC 9332 appendix A.1."""
    target, longest = q.seconds(t["target"]), q.seconds(t["rtt_max"])
    update = min(target, longest / 3) if t["tupdate"] is None else q.seconds(t["tupdate"])
    alpha = float(update / longest**2) / 10 if t["alpha"] is None else t["alpha"]
    beta = 0.3 / float(longest) if t["beta"] is None else t["beta"]
    limit = t["limit"]
    n = max(LEAST_AUTOMATIC, round(plan.link.rate / 8 / 4)) // 1500 if limit is None else q.count(limit, 1500)
    step = q.seconds(t["min_th"]) + q.seconds(t["range"]) / 2
    plan.page("dualpi2")
    share = f"{round(100 * t['classic_share'])}%"
    plan.qdisc(
        parent, handle, "dualpi2 limit", n, "coupling_factor", max(1, round(t["k"])), "step_thresh",
        micro(plan, step, "dualpi2.min_th"),
        "min_qlen_step", t["th_len"], "classic_protection", share, "target", micro(plan, target, "dualpi2.target"), "tupdate",
        micro(plan, update, "dualpi2.tupdate"),
        "alpha", q.share(alpha), "beta", q.share(beta),
    )  # fmt: skip
    plan.note("dualpi2 came with Linux 6.17 and iproute2 6.17")
    if q.packets(limit or "") is None:
        plan.note(f"dualpi2 counts packets: {n} of 1500 bytes for {limit or 'a quarter of a second of the link'}")
    if q.seconds(t["range"]):
        plan.note(f"the kernel marks the L queue by a step, here by a ramp of {t['range']}: the step is set to its middle")
    if t["k"] != round(t["k"]):
        plan.note(f"the kernel's coupling factor is a whole number, here {t['k']:g}")
    if t["scheduler"] != "wrr":
        plan.note(f"scheduler = {t['scheduler']} (t_shift {t['t_shift']}): the kernel has weighted round robin only")
    t.settled("rtt_max", "t_shift")


def cake(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes cake."""
    rate, limit = t["bandwidth"], t["limit"]
    # cake takes the link layer's header off by itself, below the size table of the root a second time: see `Plan.qdisc`.
    framing = {"none": "noatm"}.get(t["framing"], t["framing"])
    overhead = q.size(t["overhead"]) - q.size(t["uncounted"]) + (0 if parent == "root" else ETHERNET_HEADER)
    if q.size(t["overhead"]) and q.size(t["uncounted"]):
        plan.note("cake.uncounted and cake.overhead are one number in tc, their difference")
    words = (
        "nonat", "wash" if t["wash"] else "nowash", ACK_FILTERS[t["ack_filter"]], *(("ingress",) if t["ingress"] else ()), "no-split-gso",
    )  # fmt: skip
    plan.page("cake")
    plan.qdisc(
        parent, handle, "cake", "unlimited" if rate is None else f"bandwidth {q.rate(q.number(rate, 'bit/s'))}",
        "rtt", micro(plan, q.seconds(t["rtt"]), "cake.rtt"), t["tins"], t["isolation"].replace("_", "-"), *words,
        "overhead", overhead, "mpu", q.size(t["mpu"]), framing,
        *(() if limit is None else ("memlimit", q.length(limit, ETHERNET))),
    )  # fmt: skip
    plan.note("memlimit counts the kernel's buffers, which are larger than the packets in them; unset it is worked out from them")
    if limit is not None and q.packets(limit) is not None:
        plan.note(f"a packet of the limit is taken as {ETHERNET} bytes")
    _salt(plan, t)
    for note in t.left({"flows": 1024, "ways": 8, "ecn": True}):
        plan.note(note)


ETHERNET = 1514
"""Bytes of a full frame."""
