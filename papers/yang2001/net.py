"""The combinations of Yang and Fu 2001: the factorial of environments, queues, sizes and ratios, and the extra runs."""

from __future__ import annotations

import json
from collections.abc import Iterable

from fairlane.papers import Change, Combination, Factors, Tree, copy_tree, factors_of, quantity

ENVS = ("cc/cc", "ts/ts", "cc/be", "ts/be", "be/be")
QUEUES = ("FCFS", "DRR", "RED", "SFQ")
CLASSES = ("TCP1", "TCP2", "TCP3", "TCP4", "UDP3", "UDP4")
RATIOS = tuple(range(81, 100))
"""Numbers of TCP flows among the 100 of a source."""
QUICK = (84, 96)
"""Ratios of a quick look, with as many UDP flows in the mean as all have: all claims on Table 4 but Y22 come out as with all nineteen."""
MIDDLE = 90
"""The ratio of settings: with as many UDP flows as the mean of all ratios has."""
SIZES = ("10KB", "1MB")
SMALL = (81, 90, 99)
"""Ratios of the 10 KB transfers in quick looks and settings: those that the claims name."""
TABLE1 = ("10KB", "100KB", "1MB", "10MB", "100MB")
TIMES = (1, 10, 50, 100, 500, 1000, 2000, 5000, 10000)
SLOT = "100ms"
"""The default of `time_slots`."""
AGING = {"short": "10s", "long": "400s", "off": None}
TURNS: dict[str, str | None] = {"below_rtt": None, "default": None, "huge": "10s"}
"""Length of a slot; None where a setting decides: the setting's own, or with `below_rtt` one that ends each turn before the round trip."""
LONGEST_TURN = 256
"""Slots of a turn of priority 1."""
_ROUND = sum(2 ** (9 - p) for p in range(1, 7))
"""Slots of a round of one flow of each priority."""
_THIRTEEN = [(4, 3), (3, 3)]
_MEMBERS = {"table1": _THIRTEEN, "fig2": _THIRTEEN, "fig5": [(8, 2)] * 2}
"""TCP and UDP flows of each source, where they are not 100."""


def key(part: str, env: str, queue: str, size: str, tcp: int, what: object = "") -> Factors:
    """Factors of a combination: the part of the study, environment, queue, size, TCP flows a source, and what else it varies."""
    return factors_of(part=part, env=env, queue=queue, size=size, tcp=tcp, what=what)


class Network:
    """Makes the scenarios from the two files of the folder."""

    def __init__(self, base: Tree, blocks: Tree, change: Change | None = None) -> None:
        self.base, self.blocks, self.change = json.dumps(base), blocks, change

    def combination(
        self, part: str, env: str, queue: str, size: str, tcp: int, what: object = "", edit: Change | None = None
    ) -> Combination:
        """One combination; `edit` is laid over the scenario, and then the change of the trial."""
        counts = _MEMBERS.get(part, [(tcp, 100 - tcp)] * 2)

        def tree(seed: int) -> Tree:
            t: Tree = json.loads(self.base)  # a copy
            t["name"] = f"{env}, {queue}, {size}, {tcp} TCP and {100 - tcp} UDP flows a source"
            t["seed"] = seed
            t["topology"]["dumbbell"]["bottleneck"]["queue"] = copy_tree(self.blocks["queue"][queue])
            self._members(t, counts, None if size == "endless" else size)
            self._control(t, env)
            if edit is not None:
                edit(t, combination)
            if self.change is not None:
                self.change(t, combination)
            self._timed(t, part, what)
            self._ports(t)
            return t

        combination = Combination(key(part, env, queue, size, tcp, what), tree)
        return combination

    @staticmethod
    def _timed(t: Tree, part: str, what: object) -> None:
        """Sets what follows from the slot or the delay of a setting: turns below the round trip, and whole rounds."""
        if part == "slots" and what == "below_rtt":
            path = 6 * quantity(t["topology"]["dumbbell"]["bottleneck"]["delay"])
            for block in t["control"]["time_slots"]:
                block["slot"] = f"{1e6 * 0.9 * path / LONGEST_TURN:.0f}us"
        elif part == "unit":  # ten rounds less a hundredth of a second, so that no eleventh begins; aging would change the priorities
            for block in t["control"]["time_slots"]:
                block.pop("aging", None)
            t["duration"] = f"{10 * _ROUND * slot_of(t) - 0.01:.6g}s"

    @staticmethod
    def _ports(t: Tree) -> None:
        """Where the queue hashes as ns-2 of 1999 did, each flow of a source gets a receiver of its own.

        An address of that ns-2 had the port in it, so consecutive flows had consecutive sums of source and destination. Here
        addresses are those of nodes: the receivers take the place of the ports.
        """
        link = t["topology"]["dumbbell"]["bottleneck"]
        if not any(isinstance(q, dict) and q.get("hash") == "ns2_sum" for q in link["queue"].values()):
            return
        access = t.pop("topology")["dumbbell"]["access"]
        flows = t["flows"]
        members = [[flows[name]["count"] for name in (f"tcp{s}", f"udp{s}") if name in flows] for s in (0, 1)]
        t["nodes"] = ["s0", "s1", "r0", "r1", *(f"d{i}" for i in range(max(map(sum, members))))]
        t["links"] = {
            **{f"access{s}": {"from": f"s{s}", "to": "r0", **access} for s in (0, 1)},
            "bottleneck": {"from": "r0", "to": "r1", **link},
            **{f"exit{i}": {"from": "r1", "to": f"d{i}", **access} for i in range(len(t["nodes"]) - 4)},
        }
        for name, flow in flows.items():
            flow["to"] = "d{i}"
            if name.startswith("udp"):
                flow["first"] = flows.get(f"tcp{name[-1]}", {"count": 0})["count"]

    @staticmethod
    def _members(t: Tree, counts: Iterable[tuple[int, int]], size: str | None) -> None:
        """So many TCP and UDP flows a source, with transfers of a size or endless ones."""
        for s, (tcp, udp) in enumerate(counts):
            for name, count in ((f"tcp{s}", tcp), (f"udp{s}", udp)):
                if not count:
                    del t["flows"][name]
                    continue
                flow = t["flows"][name]
                flow["count"] = count
                written = None if size is None else size.replace("KB", "kB")
                if name.startswith("tcp"):
                    flow["source"] = "bulk" if written is None else {"file": {"size": written}}
                elif written is None:
                    del flow["amount"]
                else:
                    flow["amount"] = written

    def _control(self, t: Tree, env: str) -> None:
        controls: dict[str, list[Tree]] = {}
        for s, name in enumerate(env.split("/")):
            if name != "be":
                controls.setdefault(self.blocks["control"][name]["kind"], []).append({"nodes": [f"s{s}"]})
        if controls:
            t["control"] = controls

    def grid(self, sizes: Iterable[str], ratios: Iterable[int], queues: Iterable[str] = QUEUES) -> list[Combination]:
        """The factorial over environments and queues."""
        return [self.combination("grid", e, q, size, n) for size in sizes for e in ENVS for q in queues for n in ratios]

    def extra(self, times: Iterable[int] = TIMES) -> list[Combination]:
        """Returns the runs outside the factorial."""

        def lasting(seconds: int) -> Change:
            def edit(t: Tree, _: Combination) -> None:
                t["duration"] = f"{seconds}s"

            return edit

        def snapshot(t: Tree, _: Combination) -> None:
            t.update(duration="160s", sample="500ms")

        def controls(**values: object) -> Change:
            def edit(t: Tree, _: Combination) -> None:
                for blocks in t["control"].values():
                    for block in blocks:
                        block.update(values)

            return edit

        def unit(t: Tree, _: Combination) -> None:
            t.update(copy_tree(self.blocks["unit"]))

        out = [self.combination("table1", "be/be", "FCFS", s, 0) for s in TABLE1]
        out += [self.combination("fig2", "be/be", "FCFS", "endless", 0, t, lasting(t)) for t in times]
        out += [self.combination("fig5", f"{m}/{m}", "FCFS", "1MB", 8, "", snapshot) for m in ("cc", "ts")]
        for name, aging in AGING.items():
            edit = controls(aging=aging) if aging else None
            out += [self.combination("aging", e, "FCFS", "1MB", 90, name, edit) for e in ("cc/cc", "ts/ts")]
        for name, slot in TURNS.items():

            def edit(t: Tree, combination: Combination, slot: str | None = slot) -> None:
                if slot is not None:
                    controls(slot=slot)(t, combination)
                t["duration"] = "4000s"

            out.append(self.combination("slots", "ts/ts", "FCFS", "1MB", 90, name, edit))
        out.append(self.combination("unit", "ts/be", "FCFS", "endless", 0, "", unit))
        return out


def slot_of(t: Tree) -> float:
    """The length of a slot in a scenario with time slots, in seconds."""
    return quantity(next(iter(t["control"]["time_slots"])).get("slot", SLOT))


# Changes of unstated parameters


def tcp(**values: object) -> Change:
    """Another value of TCP's parameters."""

    def change(t: Tree, _: Combination) -> None:
        for name, flow in t["flows"].items():
            if name.startswith("tcp"):
                flow["tcp"].update(values)

    return change


def cbr(rate: str) -> Change:
    """Another rate of the UDP flows."""

    def change(t: Tree, _: Combination) -> None:
        for name, flow in t["flows"].items():
            if name.startswith("udp"):
                flow["source"]["cbr"]["rate"] = rate

    return change


def starts(within: str) -> Change:
    """Starts spread over a time, but for Table 1, whose flows start at once."""

    def change(t: Tree, combination: Combination) -> None:
        if combination["part"] == "table1":
            return
        for flow in t["flows"].values():
            flow["spread"] = within

    return change


def links(access: str | None = None, delay: str | None = None) -> Change:
    """Other access rates, or another delay of each link."""

    def change(t: Tree, _: Combination) -> None:
        d = t["topology"]["dumbbell"]
        if access:
            d["access"]["rate"] = access
        if delay:
            d["access"]["delay"] = d["bottleneck"]["delay"] = delay

    return change


def queue(name: str, **values: object) -> Change:
    """Other parameters of a queue, where it stands."""

    def change(t: Tree, _: Combination) -> None:
        q = t["topology"]["dumbbell"]["bottleneck"]["queue"]
        if name in q:
            q[name].update(values)

    return change


def control(name: str, **values: object) -> Change:
    """Other parameters of a control, where it stands and the combination does not vary them itself."""

    def change(t: Tree, _: Combination) -> None:
        for block in t.get("control", {}).get(name, ()):
            for k, x in values.items():
                block.setdefault(k, x)

    return change
