"""Nowak et al. 2009: the scenarios, one a case, and what the open parameters may be instead."""

from __future__ import annotations

import copy
from typing import Any

from fairlane.papers import Alternative, Cell, Change, Paper, Tree, all_of, factors_of, queue_of

CASES = ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C3m")
"""The rows of Table 1, Fig. 9 (C9), and the modified priority (C3m)."""
RATES = ("0.1", "1", "10", "100")
"""Bottleneck rates that the text lists, Mbit/s."""
ALONE = (
    ("1.5", "DropTail, 50"), ("1.5", "DropTail, 25"), ("1.5", "DropTail, unbounded"), ("1", "DropTail, 50"),
    *((rate, f"RED, {low} to {high}") for rate in ("1.5", "1") for low, high in ((5, 15), (5, 50), (15, 25))),
)  # fmt: skip
"""TCP without the video: rate in Mbit/s and queue."""
LAWS = ("classic", "ns-2's gaps")
"""RED with 1 to 1/p packets between drops, or with 1/p to 2/p."""
SECONDS = 200.0
TRANSFER = 880
"""Data of each TCP connection, kbyte: with this much the video's queue fills and empties as the printed mean of C4 says."""
APART = "3s"
"""Time between the starts of two connections, as in the simulator's example: the printed lengths of the FIFO queues of TCP say so."""
STEP, SHORT_STEP = "50ms", "20ms"
"""Step of the series: below the shortest round trip, so that no two measured ones fall into one step; with a short path, too."""
FRAME = 1035
"""Bytes of a video frame on the wire; 1000 of them are payload."""
BURST = "video as one burst of 1920 frames"
STATED = "parameters as the text states them, at 1.5 Mbit/s"
ONE = "one TCP connection"
SAME = "as chosen, fewer replications"
TOGETHER = "all connections start within 1 s"
RIVALS = tuple(f"{TOGETHER}; {what}" for what in ("first threshold of 32 segments", "window of 40 segments", "FIFO of 150 packets"))
"""What else might explain the FIFO queues of TCP: of each open parameter the value that comes nearest."""
THRESHOLD = "first threshold of 40 segments"
HALF = "video of 50 % of the link"
LONG = "TCP data of 10 MB each"
GREEDY = "video of 99 % of the link"
SHORT_RED = "one queue with RED 5 to 15"
GAPS = "RED's gaps as in ns-2"
LASTING = "RED's gaps as in ns-2, TCP data of 10 MB each"
STATED_LASTING = "as stated at 1.5 Mbit/s, RED's gaps as in ns-2, TCP data of 10 MB each"
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


def unseen(tree: Tree, _: Cell) -> None:
    """Another seed than those of the search."""
    tree["seed"] += 300


def at_rate(mbps: float, load: float = 0.75, bytes_of_tcp: bool = True) -> Change:
    """Another bottleneck, its video with the same share of it, and the data of TCP in proportion."""

    def change(t: Tree, _: Cell) -> None:
        bottleneck(t)["rate"] = f"{mbps:g}Mbit/s"
        t["flows"]["video"]["source"]["cbr"]["rate"] = f"{round(mbps * 1e6 * load * 1000 / FRAME)}bit/s"
        if bytes_of_tcp:
            t["flows"]["tcp"]["source"]["file"]["size"] = f"{round(mbps * TRANSFER * 1000 / 1.5)}B"

    return change


class Drawn(Cell):
    """A cell whose series are drawn."""


class Scenarios(Paper):
    """The cells of the study."""

    def _case(self, case: str, table: str = "cases.toml") -> Tree:
        t = self.scenario("network.toml")
        bottleneck(t)["queue"] = queue_of(self.scenario(table)["factors"]["case"]["values"][case])
        t["flows"]["tcp"].update(source={"file": {"size": f"{TRANSFER}kB"}}, stagger=APART)
        t["name"] = case
        return t

    def _cell(
        self, base: Tree, seed_of: Change | None = None, sample: str | None = None, kind: type[Cell] = Cell, **factors: object
    ) -> Cell:
        def tree(seed: int) -> Tree:
            t = copy.deepcopy(base)
            t["seed"] = seed
            if sample is not None:
                t["sample"] = sample
            if seed_of is not None:
                seed_of(t, cell)
            return t

        cell = kind(factors_of(**factors), tree)
        return cell

    def table_cells(self, change: Change | None = None) -> list[Cell]:
        """The cases with the parameters that fit Table 1."""
        kind = Drawn if change is None else Cell
        return [self._cell(self._case(case), change, STEP, kind, set="table", case=case) for case in CASES]

    def stated_cells(self, rate: str, as_table: bool = False, change: Change | None = None) -> list[Cell]:
        """The cases with the stated parameters at one of the stated rates."""
        names: dict[str, Any] = {"set": "table"} if as_table else {"set": "stated", "rate": rate}
        both = all_of(at_rate(float(rate)), *([] if change is None else [change]))
        return [self._cell(self._case(case, "stated-cases.toml"), both, STEP, **names, case=case) for case in CASES]

    def cells(self) -> list[Cell]:
        """The cases with both sets, moments of the short video queues, TCP alone, the chosen queue, and the two windows."""
        cells = self.table_cells()
        for case in ("C5", "C8", "C9"):
            base = self._case(case)  # while all connections are at work
            base["duration"] = "10s"
            del base["flows"]["tcp"]["stagger"]
            cells.append(self._cell(base, None, "1ms", set="events", case=case))
        cells += [c for rate in RATES for c in self.stated_cells(rate)]
        cells += [self._alone(rate, queue, law) for rate, queue in ALONE for law in (LAWS if queue.startswith("RED") else ("",))]
        cells += [self._cell(self._for_search(case), set="long", case=case) for case in SETTINGS]
        for mix in self.scenario("tune.toml")["holdout"]:
            cells += [self._cell(self._for_search(case, mix["set"]), unseen, set="unseen", mix=mix["name"], case=case) for case in SETTINGS]
        window = self.scenario("window.toml")
        for name in ("Reno", "Vegas"):
            base = copy.deepcopy(window)
            base["flows"]["tcp"]["tcp"]["cc"] = name.lower()
            cells.append(self._cell(base, None, STEP, Drawn, set="window", tcp=name))
        return cells

    def _for_search(self, case: str, mix: Tree | None = None) -> Tree:
        """The network as the search saw it, with transfers that do not end soon; or a mix that it did not see."""
        t = self._case(case if case in CASES else "C1")
        if case not in CASES:
            bottleneck(t)["queue"] = copy.deepcopy(self.scenario("chosen.toml")["queue"])
        t["flows"]["tcp"] = self.scenario("network.toml")["flows"]["tcp"]
        return merged(t, mix or {})

    def _alone(self, rate: str, queue: str, law: str) -> Cell:
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
        return self._cell(t, set="alone", rate=rate, queue=queue, law=law)

    def topology(self) -> Tree:
        """The network with the queue of the first case."""
        return self.table_cells()[0].tree(1)

    # Other choices for what the paper leaves open

    def alternatives(self) -> list[Alternative]:
        """The open choices, each changed alone; only the cases of Table 1 run again."""

        def tcp(**values: object) -> Change:
            return lambda t, _: t["flows"]["tcp"]["tcp"].update(values)

        def size(text: str) -> Change:
            return lambda t, _: t["flows"]["tcp"]["source"]["file"].update(size=text)

        def load(share: float) -> Change:
            return at_rate(1.5, share, bytes_of_tcp=False)

        def video(**values: object) -> Change:
            return lambda t, _: t["flows"]["video"]["source"]["cbr"].update(values)

        def frames(payload: int) -> Change:
            return video(size=f"{payload}B", rate=f"{round(0.75 * 1.5e6 * payload / (payload + 35))}bit/s")

        def burst(t: Tree, _: Cell) -> None:
            t["flows"]["video"]["source"] = {"file": {"size": "1920000B"}}
            t["flows"]["video"]["udp"].update(rate="50Mbit/s", datagram="1000B")

        def of_kind(kind: str, *, alone: bool | None = None, **values: object) -> Change:
            def change(t: Tree, _: Cell) -> None:
                own = queues(t)
                for q in own:
                    if kind in q and alone in (None, len(own) == 1):
                        q[kind].update(values)

            return change

        def starts(within: str = "1s", apart: str = "0s") -> Change:
            def change(t: Tree, _: Cell) -> None:
                for group in t["flows"].values():
                    group["spread"] = within
                t["flows"]["tcp"]["stagger"] = apart

            return change

        def count(n: int) -> Change:
            return lambda t, _: t["flows"]["tcp"].update(count=n)

        def delay(text: str, sample: str = STEP) -> Change:
            def change(t: Tree, _: Cell) -> None:
                bottleneck(t)["delay"] = text
                t["sample"] = sample

            return change

        def of(name: str, why: str, change: Change) -> Alternative:
            return Alternative(name, why, lambda: self.table_cells(change))

        def stated(name: str, why: str, rate: str, change: Change | None = None) -> Alternative:
            return Alternative(name, why, lambda: self.stated_cells(rate, as_table=True, change=change))

        rates = [stated(f"all as stated, {rate} Mbit/s", "a rate that the text lists", rate) for rate in RATES]
        small = all_of(at_rate(1.0), tcp(mss="653B", window="100p", initial_ssthresh="100p"), frames_at(1.0, 665))
        return [
            of(SAME, "nothing is changed; those below are compared with this one", lambda *_: None),
            stated(STATED, "DropTail 25, RED 15 to 25 with weight 0.02 and max_p 0.03", "1.5"),
            *rates,
            of("bottleneck of 1 Mbit/s", "a listed rate, with the queues that fit Table 1", at_rate(1.0)),
            of("1 Mbit/s and frames of 700 byte", "fits the printed round trips as well", small),
            of(ONE, "the text speaks of one", count(1)),
            of("six TCP connections", "twice as many", count(6)),
            of("TCP window of 14 segments", "INET's default", tcp(window="14p", initial_ssthresh="14p")),
            of("TCP window unlimited", "what a modern host would have", tcp(window="10000p", initial_ssthresh="10000p")),
            of("TCP segments of 536 byte", "a common size of the time", tcp(mss="536B", window="122p", initial_ssthresh="122p")),
            of("TCP segments of 1460 byte", "Ethernet's", tcp(mss="1460B", window="45p", initial_ssthresh="45p")),
            of("TCP delays its acknowledgments", "as most receivers do", tcp(ack_every=2)),
            of("TCP with a minimum RTO of 0.2 s", "as Linux", tcp(rto_min="200ms")),
            of("TCP with an initial RTO of 1 s", "RFC 6298", tcp(rto_initial="1s")),
            of("TCP with an initial window of 4 segments", "RFC 3390", tcp(initial_window="4p")),
            of("TCP times every segment", "in place of one a window", tcp(rtt_sampling="every")),
            of("TCP NewReno", "repairs several losses of a window", tcp(cc="newreno")),
            of("TCP data of 0.4 MB each", "half as much", size("0.4MB")),
            of("TCP data of 2 MB each", "twice as much and more", size("2MB")),
            of(LONG, "most transfers do not end within the 200 s", size("10MB")),
            of(HALF, "1:1 round robin is enough for it", load(0.5)),
            of("video of 65 % of the link", "less than stated", load(0.65)),
            of("video of 85 % of the link", "above 4:1", load(0.85)),
            of(GREEDY, "hardly anything is left for TCP", load(0.99)),
            of("video frames of 500 byte", "half as long as TCP's", frames(500)),
            of("video frames that come unevenly", "intervals vary by their whole length", video(jitter=1.0)),
            of(BURST, "fills its queue at once, whoever is served first", burst),
            of("drop tail of 25 packets", "the stated one", of_kind("droptail", alone=True, limit="25p")),
            of("drop tail of 100 packets", "twice as many", of_kind("droptail", alone=True, limit="100p")),
            of(SHORT_RED, "the set of the two-queue rows", of_kind("red", alone=True, min="5p", max="15p", limit="15p")),
            of(GAPS, "1/p to 2/p packets between drops (wait_), the default there", of_kind("red", wait=True)),
            of(LASTING, "as in the reference runs", all_of(of_kind("red", wait=True), size("10MB"))),
            stated(STATED_LASTING, "both at once", "1.5", all_of(of_kind("red", wait=True), size("10MB"))),
            of("RED without INET's hard limit", "a buffer of 1000 packets", of_kind("red", limit="1000p")),
            of("RED's idle packet of 125 byte", "ages the average ten times as fast", of_kind("red", idle_packet="125B")),
            of("bottleneck delay of 5 ms", "a round trip of 22 ms", delay("5ms", SHORT_STEP)),
            of("bottleneck delay of 50 ms", "a round trip of 112 ms", delay("50ms")),
            of(TOGETHER, "nobody tells them to wait", starts()),
            of(RIVALS[0], "slow start ends sooner", all_of(starts(), tcp(initial_ssthresh="32p"))),
            of(RIVALS[1], "smaller, for all", all_of(starts(), tcp(window="40p", initial_ssthresh="40p"))),
            of(RIVALS[2], "instead of one without bound", all_of(starts(), of_kind("droptail", alone=False, limit="150p"))),
            of(THRESHOLD, "slow start ends sooner", tcp(initial_ssthresh="40p")),
            of("all start at exactly 0", "the simulator's default", starts("0s")),
            of("connections start 2 s apart", "sooner", starts(apart="2s")),
            of("connections start 4 s apart", "later", starts(apart="4s")),
            of("connections start within 10 s", "at random, not knowing of one another", starts("10s")),
        ]


def frames_at(mbps: float, payload: int) -> Change:
    """A video of three quarters of a link in frames of another size."""

    def change(t: Tree, _: Cell) -> None:
        rate = round(0.75 * mbps * 1e6 * payload / (payload + 35))
        t["flows"]["video"]["source"]["cbr"].update(size=f"{payload}B", rate=f"{rate}bit/s")

    return change
