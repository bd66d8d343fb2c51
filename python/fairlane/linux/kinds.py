"""The Linux discipline for each queue, and queues that Linux does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import classes, laws, police, schedulers, shapers
from .plan import Plan, Table, named

Writer = Callable[[Plan, str, str, Table], None]

WRITERS: dict[str, Writer] = {
    "droptail": laws.droptail,
    "headdrop": laws.headdrop,
    "red": laws.red,
    "ared": laws.ared,
    "codel": laws.codel,
    "pie": laws.pie,
    "sfq": schedulers.sfq,
    "drr": schedulers.drr,
    "fq_codel": schedulers.fq_codel,
    "fq_pie": schedulers.fq_pie,
    "dualpi2": schedulers.dualpi2,
    "prio": classes.prio,
    "wrr": classes.wrr,
    "tbf": classes.tbf,
    "policer": police.policer,
    "htb": shapers.htb,
    "hfsc": shapers.hfsc,
    "choke": laws.choke,
    "sfb": laws.sfb,
    "cake": schedulers.cake,
    "wred": classes.wred,
    "rio": classes.rio,
}
"""Writers by queue name."""

ABSENT = {
    "randomdrop": "the nearest is pfifo_head_drop (`headdrop`)",
    "management": "the nearest is pfifo (`droptail`)",
    "modred": "no discipline rewrites windows; the nearest is red",
    "avq": "the nearest that holds the use of the link below one is a shaper (tbf, htb) with codel inside",
    "rem": "the nearest controller is pie",
    "pi": "the nearest controller is pie",
    "blue": "sfb has BLUE in each of its bins",
    "fred": "the nearest are sfq with red inside (tc-sfq(8), redflowlimit) and fq_codel",
    "afd": "the nearest are sfq with red inside (tc-sfq(8), redflowlimit) and fq_codel",
    "green": "the nearest is red",
    "cobalt": "it is part of cake: `cake unlimited besteffort flowblind` is the nearest",
    "docsis_pie": "the nearest is pie below tbf (or cake, which shapes as well)",
    "pi2": "it is the classic queue of dualpi2",
    "rr": "the nearest are ets with equal quanta and drr, whose turns are bytes",
    "fq": "tc's fq is another thing, a pacing scheduler for end hosts; the nearest is sfq",
    "wfq": "the nearest are ets and drr, whose shares are quanta",
    "srtcm": "the nearest is `policer`, a single bucket without colours (tc-police(8))",
    "trtcm": "the nearest are two of `policer` in a row, without colours (tc-police(8))",
    "wf2q": "qfq (sch_qfq) approximates WF2Q+ by groups of weights",
}
"""Queues that Linux does not have: the reason, and the closest one."""


def write(plan: Plan, parent: str, handle: str, spec: dict[str, Any] | str) -> None:
    """Adds the commands of a queue and of its inner queues."""
    name, values = named(spec)
    writer = WRITERS.get(name)
    if writer is not None:
        writer(plan, parent, handle, Table(name, values))
        return
    if name not in plan.missing:
        plan.missing.append(name)
    own = isinstance(spec, dict) and "plugin" in spec
    why = ABSENT.get(name, "it is a queue of your own" if own else "no equivalent is known")
    plan.note(f"{name} is not in Linux: {why}")
