"""Nowak et al. 2009: the scenarios, one a case, and what the open parameters may be instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairlane.papers import Alternative, Change, Combination, Open, Paper, Tree, Value, all_of, copy_tree, factors_of, quantity, queue_of

from .opens import CLASSIC, DECLARED, OPENS, WIDE, change_to, window_change

CASES = ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C3m")
"""The rows of Table 1, Fig. 9 (C9), and the modified priority (C3m)."""
CAPTIONED = "C8m"
"""Fig. 6 as its caption has it: the modified priority for the video, RED in both queues."""
REFERENCE = ("1.5", "RED, 5 to 15", "ns-2's gaps")
"""The run of TCP alone that a claim compares with the reference run: rate, queue and law."""
RATES = ("0.1", "1", "10", "100")
"""Bottleneck rates that the text lists, Mbit/s."""
QUICK_RATES = RATES[:3]
"""Rates of a quick look: 100 Mbit/s takes most of the time of all runs, and no claim reads it."""
ALONE = (
    ("1.5", "DropTail, 50"), ("1.5", "DropTail, 25"), ("1.5", "DropTail, unbounded"), ("1", "DropTail, 50"),
    *((rate, f"RED, {low} to {high}") for rate in ("1.5", "1") for low, high in ((5, 15), (5, 50), (15, 25))),
)  # fmt: skip
"""TCP without the video: rate in Mbit/s and queue."""
LAWS = ("classic", "ns-2's gaps")
"""RED with 1 to 1/p packets between drops, or with 1/p to 2/p."""
SECONDS = 200.0
TRANSFER = 880
"""Data of each TCP connection at 1.5 Mbit/s, kbyte: with this much the video's queue fills and empties as the published mean of C4 says."""
APART = "3s"
"""Time between the starts of two connections, as in the simulator's example."""
STEP, SHORT_STEP = "50ms", "20ms"
"""Step of the series: below the shortest round trip, so that no two measured ones fall into one step; with a short path, too."""
SHORT = 18e-3
"""Delay of the shared link, in seconds, below which the path is short."""
FRAME = 1035
"""Bytes of a video frame on the wire; 1000 of them are payload."""
SAME = "as declared, fewer replications"
EXAMPLE = "the simulator's example, unchanged"
STATED = "queues as the text states them"
STATED_LASTING = "queues as the text states them, ns-2's gaps, TCP data of 10 MB each"
TOGETHER = "all connections start within 1 s"
LONG = "TCP data of 10 MB each"
LASTING = "the simulator's example, ns-2's gaps, TCP data of 10 MB each"
GREEDY = "video of 99 % of the link"
BURST = "video as one burst of 1920 frames"
FAR = "long TCP packets next to short frames"
SHORT_RED = "one queue with RED 5 to 15"
SETTINGS = (*CASES, "chosen")
"""The paper's queues, and the one that the search chose."""


def bottleneck(tree: Tree) -> Tree:
    """The shared link of a scenario."""
    link: Tree = tree["links"]["bottleneck"]
    return link


def queues(tree: Tree) -> list[Tree]:
    """The queues of the shared link: its own, or those of its classes."""
    (inner,) = bottleneck(tree)["queue"].values()
    return [c["queue"] for c in inner["classes"]] if "classes" in inner else [bottleneck(tree)["queue"]]


def tcp_class(tree: Tree) -> int | None:
    """Number of the class that has TCP; `None` where both streams share one queue."""
    (inner,) = bottleneck(tree)["queue"].values()
    return next((i for i, c in enumerate(inner["classes"]) if c["match"] == "tcp"), None) if "classes" in inner else None


def merged(tree: Tree, changes: Tree) -> Tree:
    """A tree with other values; a source of another kind takes the place of the one that was there.

    >>> merged({"a": 1, "source": {"cbr": {}}}, {"source": {"poisson": {}}})
    {'a': 1, 'source': {'poisson': {}}}
    """
    out = dict(tree)
    for key, value in changes.items():
        below = isinstance(value, dict) and isinstance(tree.get(key), dict) and (key != "source" or value.keys() == tree[key].keys())
        out[key] = merged(tree[key], value) if below else value
    return out


def unseen(tree: Tree, _: Combination) -> None:
    """Another seed than those of the search."""
    tree["seed"] += 300


def at_rate(mbps: float) -> Change:
    """Another bottleneck, a video of three quarters of it, and the data of TCP in proportion."""

    def change(t: Tree, _: Combination) -> None:
        bottleneck(t)["rate"] = f"{mbps:g}Mbit/s"
        t["flows"]["video"]["source"]["cbr"]["rate"] = f"{round(mbps * 1e6 * 0.75 * 1000 / FRAME)}bit/s"
        t["flows"]["tcp"]["source"]["file"]["size"] = f"{round(mbps * TRANSFER * 1000 / 1.5)}B"

    return change


class Drawn(Combination):
    """A combination whose series are drawn."""


class Scenarios(Paper):
    """The combinations of the study."""

    declared = DECLARED
    most_settings = 256

    def _case(self, case: str, table: str = "cases.toml") -> Tree:
        t = self.scenario("network.toml")
        bottleneck(t)["queue"] = queue_of(self.scenario(table)["factors"]["case"]["values"][case])
        t["flows"]["tcp"].update(source={"file": {"size": f"{TRANSFER}kB"}}, stagger=APART)
        t["name"] = case
        return t

    def _combination(
        self, base: Tree, seed_of: Change | None = None, sample: str | None = None, kind: type[Combination] = Combination, **factors: object
    ) -> Combination:
        def tree(seed: int) -> Tree:
            t = copy_tree(base)
            t["seed"] = seed
            if sample is not None:
                t["sample"] = sample
            if seed_of is not None:
                seed_of(t, combination)
            return t

        combination = kind(factors_of(**factors), tree)
        return combination

    def opens(self) -> list[Open]:
        """See `opens.py`."""
        return list(OPENS)

    def setting(self, values: Mapping[str, Value]) -> list[Combination]:
        """The cases, moments of the video's short queues, the two windows, and the reference run, which nothing unstated touches."""
        return self._setting(values, Combination)

    def _setting(self, values: Mapping[str, Value], kind: type[Combination]) -> list[Combination]:
        change = change_to(values)

        def at_work(t: Tree, combination: Combination) -> None:
            """While all connections are at work."""
            change(t, combination)
            del t["flows"]["tcp"]["stagger"]
            for group in t["flows"].values():
                group["spread"] = "1s"

        combinations = self.table_combinations(change, kind, SHORT_STEP if quantity(str(values["delay"])) < SHORT else STEP)
        for case in ("C5", "C8", "C9", CAPTIONED):
            base = self._case(case)
            base["duration"] = "10s"
            combinations.append(self._combination(base, at_work, "1ms", set="events", case=case))
        window = self.scenario("window.toml")
        for name in ("Reno", "Vegas"):
            base = copy_tree(window)
            base["flows"]["tcp"]["tcp"]["cc"] = name.lower()
            combinations.append(self._combination(base, window_change(values), STEP, Drawn, set="window", tcp=name))
        return [*combinations, self._alone(*REFERENCE)]

    def table_combinations(self, change: Change, kind: type[Combination] = Combination, step: str = STEP) -> list[Combination]:
        """The cases of Table 1, and those of its kind."""
        return [self._combination(self._case(case), change, step, kind, set="table", case=case) for case in (*CASES, CAPTIONED)]

    def stated_combinations(self, rate: str) -> list[Combination]:
        """The cases with the stated parameters at one of the stated rates."""
        change = at_rate(float(rate))
        return [
            self._combination(self._case(case, "stated-cases.toml"), change, STEP, set="stated", rate=rate, case=case) for case in CASES
        ]

    def combinations(self) -> list[Combination]:
        """The declared setting, the stated parameters at all rates, TCP alone, and the chosen queue."""
        return self._combinations(RATES)

    def quick_combinations(self) -> list[Combination]:
        """All but the stated parameters at 100 Mbit/s."""
        return self._combinations(QUICK_RATES)

    def _combinations(self, rates: Sequence[str]) -> list[Combination]:
        combinations = self._setting(self.declared_setting, Drawn)
        combinations += [c for rate in rates for c in self.stated_combinations(rate)]
        alone = [(rate, queue, law) for rate, queue in ALONE for law in (LAWS if queue.startswith("RED") else ("",))]
        combinations += [self._alone(*x) for x in alone if x != REFERENCE]
        combinations += [self._combination(self._for_search(case), set="long", case=case) for case in SETTINGS]
        for unseen_scenario in self.scenario("tune.toml")["holdout"]:
            combinations += [
                self._combination(
                    self._for_search(case, unseen_scenario["set"]), unseen, set="unseen", scenario=unseen_scenario["name"], case=case
                )
                for case in SETTINGS
            ]
        return combinations

    def _for_search(self, case: str, scenario: Tree | None = None) -> Tree:
        """The network as the search saw it, with transfers that do not end soon; or a held-out scenario."""
        t = self._case(case if case in CASES else "C1")
        if case not in CASES:
            bottleneck(t)["queue"] = copy_tree(self.scenario("chosen.toml")["queue"])
        t["flows"]["tcp"] = self.scenario("network.toml")["flows"]["tcp"]
        return merged(t, scenario or {})

    def _alone(self, rate: str, queue: str, law: str) -> Combination:
        """Three connections without the video, with data until the end."""
        kind, bounds = queue.split(", ")
        t = self._case("C1")
        if kind == "RED":
            low, high = bounds.split(" to ")
            q = self._case("C2", "stated-cases.toml" if low == "15" else "cases.toml")["links"]["bottleneck"]["queue"]
            q["red"].update(min=f"{low}p", max=f"{high}p", limit=f"{high}p")
            if law != LAWS[0]:  # and its buffer ends where the average must be above the upper threshold, not at it
                q["red"].update(wait=True, limit=f"{int(high) + 1}p")
        else:
            q = {"droptail": {"limit": "1000000p" if bounds == "unbounded" else f"{bounds}p"}}
        bottleneck(t).update(queue=q, rate=f"{rate}Mbit/s")
        del t["flows"]["video"]
        t["flows"]["tcp"].update(source="bulk", stagger="0s")
        return self._combination(t, set="alone", rate=rate, queue=queue, law=law)

    def topology(self) -> Tree:
        """The network with the queue of the first case."""
        return self._combination(self._case(CASES[0]), change_to(self.declared_setting), STEP).tree(1)

    # Other choices for unstated parameters

    def alternatives(self) -> list[Alternative]:
        """Single changes that a sentence of ours needs; the joint sample has all of them together."""
        declared, example = self.declared_setting, {o.name: o.base for o in OPENS}
        named: dict[str, Value] = {
            "drop tail": "25p", "single RED from": "15p", "single RED width": "10p", "TCP RED from": "15p", "TCP RED width": "10p",
            "RED weight": 0.02, "RED max_p": 0.03, "RED gaps": CLASSIC,
        }  # fmt: skip
        far: dict[str, Value] = {
            "window": "14p", "delay": "40ms", "rate": "2Mbit/s", "segment": "1460B", "frame": "600B", "data": "700kB", "apart": "5s",
            "spread": "0s", "TCP RED from": "15p", "TCP RED width": "20p",
        }  # fmt: skip
        lasting: dict[str, Value] = {"RED gaps": WIDE, "data": "10000kB"}

        def of(name: str, why: str, values: Mapping[str, Value], *more: Change) -> Alternative:
            if not more:
                return Alternative(name, why, lambda: self.setting(values))
            change = all_of(change_to(values), *more)
            return Alternative(name, why, lambda: self.table_combinations(change))

        def load(share: float) -> Change:
            return lambda t, _: t["flows"]["video"]["source"]["cbr"].update(rate=f"{round(1.5e6 * share * 1000 / FRAME)}bit/s")

        def burst(t: Tree, _: Combination) -> None:
            t["flows"]["video"]["source"] = {"file": {"size": "1920000B"}}
            t["flows"]["video"]["udp"].update(rate="50Mbit/s", datagram="1000B")

        return [
            of(SAME, "nothing is changed; those below are compared with this one", declared),
            of(EXAMPLE, "the base of the joint fit: what would be taken if Table 1 said nothing", example),
            of(STATED, "drop tail 25, RED 15 to 25 with weight 0.02 and max_p 0.03, the classic gaps", {**declared, **named}),
            of(STATED_LASTING, "these, and connections that do not end", {**declared, **named, **lasting}),
            of(TOGETHER, "nothing tells them to wait", {**declared, "apart": "0s"}),
            of(LONG, "most transfers do not end within the 200 s", {**declared, "data": "10000kB"}),
            of(LASTING, "as in the reference runs", {**example, **lasting}),
            of(SHORT_RED, "the thresholds of the two-queue rows", {**declared, "single RED from": "5p", "single RED width": "10p"}),
            of(FAR, "1507 bytes next to 635 at 2 Mbit/s, from a search for equal backlogs of the video", {**example, **far}),
            of(GREEDY, "beyond what is called three quarters: hardly anything is left for TCP", declared, load(0.99)),
            of(BURST, "fills its queue at once, whichever is served first", declared, burst),
        ]
