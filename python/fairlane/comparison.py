"""`compare`: the same scenario under several queues, with replications, and what sets the queues apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from ._choices import Choice, choices
from .errors import FairlaneError, ScenarioError, suggest
from .network import Network
from .result import Result, parse_seeds, resolve, run_resolved
from .stats import Interval, interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARE_SCHEMA = "fairlane.compare/1"
SAMPLES = 1000
"""Points of the time series, if the scenario does not say how many."""
CAPACITY = "10Mbit/s"
"""Rate of the bottleneck of the dumbbell compared on unless a scenario is given."""

GROUP_METRICS = ("goodput_sum", "jain", "delay_mean", "delay_p95", "loss")
"""What is told about each group of flows; see `Compared.of_group`."""
LINK_METRICS = ("utilisation", "queue_mean", "sojourn_mean", "sojourn_p95", "drops", "marks")
"""What is told about the link."""

StepProgress = Callable[[float, str], None]


@dataclass(frozen=True)
class Ellipse:
    """The normal distribution nearest to points (delay, throughput), by maximum likelihood: divisor n, not n - 1.

    Its contour at one standard deviation is how Winstein and Balakrishnan (TCP ex Machina, SIGCOMM 2013, figure 4) show schemes:
    each point is one flow of one run, so a narrow ellipse means that all flows are treated alike, in every run.
    """

    n: int
    delay: float
    """Mean one-way delay, s."""
    throughput: float
    """Mean throughput of a flow, bit/s."""
    covariance: tuple[tuple[float, float], tuple[float, float]]
    """Of delay (s) and throughput (bit/s)."""

    def contour(self, points: int = 120) -> list[tuple[float, float]]:
        """The contour at one standard deviation: points at Mahalanobis distance 1 from the mean, the first one again at the end.

        >>> Ellipse(2, 5.0, 7.0, ((4.0, 0.0), (0.0, 9.0))).contour(4)[:2]
        [(7.0, 7.0), (5.0, 10.0)]
        """
        (a, b), (_, c) = self.covariance
        # The Cholesky factor of the covariance carries the unit circle to the contour.
        u = math.sqrt(max(a, 0.0))
        v = b / u if u else 0.0
        w = math.sqrt(max(c - v * v, 0.0))
        angles = (2 * math.pi * k / points for k in range(points + 1))
        return [(self.delay + _exact(u * math.cos(t)), self.throughput + _exact(v * math.cos(t) + w * math.sin(t))) for t in angles]

    def as_dict(self) -> dict[str, Any]:
        """As in the JSON document."""
        return {"n": self.n, "delay": self.delay, "throughput": self.throughput, "covariance": [list(row) for row in self.covariance]}


def _exact(x: float) -> float:
    """Without the dust of sin and cos at right angles."""
    return round(x, 12)


def ellipse(points: Iterable[tuple[float, float]]) -> Ellipse | None:
    """The ellipse of points (delay, throughput); None without any. A flow that delivered nothing has no delay and does not count.

    >>> ellipse([(1.0, 10.0), (3.0, 30.0)]).covariance
    ((1.0, 10.0), (10.0, 100.0))
    """
    kept = [(d, t) for d, t in points if d is not None and t is not None and math.isfinite(d) and math.isfinite(t)]
    n = len(kept)
    if not n:
        return None
    d0, t0 = math.fsum(d for d, _ in kept) / n, math.fsum(t for _, t in kept) / n
    dd = math.fsum((d - d0) ** 2 for d, _ in kept) / n
    dt = math.fsum((d - d0) * (t - t0) for d, t in kept) / n
    tt = math.fsum((t - t0) ** 2 for _, t in kept) / n
    return Ellipse(n, d0, t0, ((dd, dt), (dt, tt)))


@dataclass(frozen=True)
class Compared:
    """One queue of a comparison: all its runs."""

    choice: Choice
    result: Result
    link: str
    own_sample: bool = False
    """Whether the scenario, not `compare`, chose the step of the time series."""

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting the numbers."""
        # Nobody asked for the series that the picture is drawn from, so how coarse they are is no news.
        return [w for w in self.result.warnings if self.own_sample or not w.startswith("the sampling step")]

    @property
    def label(self) -> str:
        """The queue as it was asked for."""
        return self.choice.label

    def groups(self) -> list[str]:
        """The groups of flows, as the scenario names them."""
        return list(self.result.scenario["flows"])

    def flows(self, group: str) -> pl.DataFrame:
        """One row per run and flow of a group."""
        members = [f["name"] for f in self.result.scenario["expanded"]["flows"] if f["group"] == group]
        return self.result.flows.filter(pl.col("flow").is_in(members))

    def ellipse(self, group: str) -> Ellipse | None:
        """Delay and throughput of the flows of a group, one point per run and flow."""
        frame = self.flows(group)
        return ellipse(zip(frame["delay_mean"].to_list(), frame["throughput"].to_list(), strict=True))

    def of_group(self, group: str, metric: str) -> Interval:
        """A metric of a group of flows: `goodput_sum` adds the flows up, `jain` is Jain's index among them, others are means over them.

        A flow without a value (the delay of one that delivered nothing) does not count in the mean.
        """
        per_run: list[float] = []
        for _, run in self.flows(group).group_by("seed", maintain_order=True):
            values = run["goodput" if metric in ("goodput_sum", "jain") else metric].to_list()
            kept = [v for v in values if v is not None and math.isfinite(v)]
            per_run.append(math.fsum(kept) if metric == "goodput_sum" else jain(kept) if metric == "jain" else _mean(kept))
        return interval(per_run)

    def jain(self) -> Interval:
        """Jain's index of the goodputs of all flows."""
        return self.result.value("jain")

    def of_link(self, metric: str) -> Interval:
        """A metric of the link whose queue is compared."""
        return self.result.value(metric, link=self.link)

    def series(self) -> tuple[list[float], list[float]]:
        """Times and packets waiting, of the first seed."""
        frame = self.result.link_series
        if frame.is_empty():
            return [], []
        frame = frame.filter((pl.col("link") == self.link) & (pl.col("seed") == self.result.seeds[0]))
        return frame["time"].to_list(), frame["queue"].cast(pl.Float64).to_list()


def jain(shares: list[float]) -> float:
    """Jain's index (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe 1984); NaN if nobody got anything.

    >>> jain([1.0, 1.0, 1.0, 0.0])
    0.75
    """
    squares = math.fsum(x * x for x in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else math.nan


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


class Comparison:
    """What `compare` returns: a `Compared` for each queue, in the order asked for."""

    def __init__(self, queues: list[Compared], link: str) -> None:
        self.queues = queues
        self.link = link

    @property
    def seeds(self) -> list[int]:
        """The seed of each run; all queues have the same."""
        return self.queues[0].result.seeds

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting the numbers, each with its queue."""
        return [f"{q.label}: {w}" for q in self.queues for w in q.warnings]

    def groups(self) -> list[str]:
        """The groups of flows."""
        return self.queues[0].groups()

    def queue(self, label: str) -> Compared:
        """One queue by how it was asked for."""
        for q in self.queues:
            if q.label == label:
                return q
        raise suggest(label, [q.label for q in self.queues], "queue of this comparison")

    def table(self) -> pl.DataFrame:
        """Long form: one row per queue, group of flows ("" for the link and the whole network) and metric."""
        rows = [
            {"queue": q.label, "group": group, "metric": metric, **iv.as_dict()} for q in self.queues for group, metric, iv in _headline(q)
        ]
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64), infer_schema_length=None)

    def plot(self, what: str = "ellipses", *, path: str | PathLike[str] | None = None) -> Figure:
        """A figure: "ellipses", "queue" (over time) or "jain"; `path` saves it as SVG, PNG or PDF."""
        from .report.compare import picture

        figure = picture(self, what)
        if path is not None:
            from .plot import save_figure

            save_figure(figure, path)
        return figure

    def page(self) -> str:
        """One HTML page without any link to the network."""
        from .report.compare import page

        return page(self)

    def document(self) -> dict[str, Any]:
        """The document that `fairlane compare --json` prints."""
        from . import _core
        from .document import finite, run_document
        from .metrics import unit

        rows = []
        for q in self.queues:
            whole = run_document(q.result)
            (link,) = (row for row in whole["links"] if row["name"] == self.link)
            times, lengths = q.series()
            groups = [
                {
                    "name": g,
                    "flows": q.flows(g)["flow"].n_unique(),
                    **{m: q.of_group(g, m).as_dict() for m in GROUP_METRICS},
                    "ellipse": None if (e := q.ellipse(g)) is None else e.as_dict(),
                }
                for g in q.groups()
            ]
            rows.append(
                {
                    "name": q.label,
                    "queue": _resolved_queue(q.result, self.link),
                    "fingerprints": q.result.fingerprints,
                    "warnings": q.warnings,
                    "network": whole["network"][0],
                    "link": link,
                    "groups": groups,
                    "flows": whole["flows"],
                    "series": {"time": times, "queue": lengths},
                }
            )
        metrics = {m: unit(m) for row in rows for part in (row["network"], row["link"], *row["flows"]) for m in part if unit(m)}
        scenario = {k: v for k, v in self.queues[0].result.scenario.items() if k not in ("expanded", "warnings")}
        head = {"schema": COMPARE_SCHEMA, "fairlane": _core.version(), "link": self.link, "seeds": self.seeds}
        return finite({**head, "scenario": scenario, "units": metrics | {"goodput_sum": "bit/s"}, "queues": rows})

    def __repr__(self) -> str:
        return f"Comparison({', '.join(q.label for q in self.queues)}; {len(self.seeds)} runs each)"


def _headline(q: Compared) -> list[tuple[str, str, Interval]]:
    rows = [("", "jain", q.jain())]
    rows += [("", m, q.of_link(m)) for m in LINK_METRICS]
    for g in q.groups():
        rows += [(g, m, q.of_group(g, m)) for m in GROUP_METRICS]
    return rows


def _resolved_queue(result: Result, link: str) -> Any:
    return next(x["queue"] for x in result.scenario["expanded"]["links"] if x["name"] == link)


def mixed(*, flows: int = 5, udp: str = "5Mbit/s", tcp: Any = "newreno", duration: str = "60s", warmup: str = "10s") -> Network:
    """The dumbbell that queues are compared on by default: TCP flows beside one constant stream of UDP.

    The bottleneck has 10 Mbit/s and 20 ms, each access link 100 Mbit/s and 1 ms. `udp` is the rate of the stream; "none" leaves it out.
    """
    if flows < 0 or flows > 10_000 or (flows == 0 and udp == "none"):
        raise FairlaneError("a comparison needs at least one flow, and at most 10000 of TCP")
    stream = udp != "none"
    net = Network(name="TCP beside UDP" if stream and flows else "TCP alone" if flows else "UDP alone", duration=duration, warmup=warmup)
    net.dumbbell(
        pairs=flows + stream,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": CAPACITY, "delay": "20ms"},
    )
    if flows:
        group = {"count": flows} if flows > 1 else {}
        net.flow("tcp", "s{i}" if flows > 1 else "s0", "d{i}" if flows > 1 else "d0", spread="1s", tcp=tcp, **group)
    if stream:
        net.flow("udp", f"s{flows}", f"d{flows}", udp={}, source={"cbr": {"rate": udp, "size": "1000B", "jitter": 0.5}})
    return net


def compare(
    queues: str | Iterable[str],
    scenario: str | PathLike[str] | Network | None = None,
    *,
    link: str | None = None,
    seeds: int | str | Iterable[int] = "1..10",
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    limit: str | None = None,
    threads: int | None = None,
    progress: StepProgress | None = None,
) -> Comparison:
    """Runs a scenario once for each queue and seed; the queue takes the place of that of `link`.

    `queues`: text such as "red,codel{target=10ms},red:ns2", or several such texts; "all" stands for every queue that needs no parameters.
    `scenario`: a file or `Network`; by default `mixed()`. `link`: by default `bottleneck`, or the only link.
    `limit`: the buffer of those that have a limit and are not given one. All queues see the same seeds.
    """
    wanted = _wanted(queues)
    pairs = list(sets.items()) if isinstance(sets, Mapping) else list(sets)
    base = resolve(mixed() if scenario is None else scenario, pairs)
    chosen = parse_seeds(seeds)
    name = _link(base, link)
    own_sample = bool(base.get("sample"))
    if not own_sample:
        pairs.append(("sample", _sample(base["duration"])))
    source = mixed() if scenario is None else scenario
    # All are read before the first runs: a mistake in the last one does not cost the runs of the others.
    ready = []
    for choice in wanted:
        with_limit = limited(choice, limit)
        try:
            ready.append((choice, resolve(source, [*pairs, (f"links.{name}.queue", with_limit)])))
        except ScenarioError as e:
            if choice.label in _needy(queues):
                continue
            raise _explained(choice, name, e) from None
    done = []
    for i, (choice, resolved) in enumerate(ready):

        def report(fraction: float, _runs: int, _events: int, i: int = i, choice: Choice = choice) -> bool:
            if progress is not None:
                progress((i + fraction) / len(ready), choice.label)
            return True

        result = run_resolved(resolved, chosen, threads=threads, progress=None if progress is None else report)
        done.append(Compared(choice, result, name, own_sample))
    return Comparison(done, name)


def _wanted(queues: str | Iterable[str]) -> list[Choice]:
    texts = [queues] if isinstance(queues, str) else list(queues)
    out: list[Choice] = []
    for text in texts:
        out += choices(",".join(_every())) if text.strip() == "all" else choices(text)
    if not out:
        raise FairlaneError("name at least one queue, such as red,codel")
    for i, choice in enumerate(out):
        if any(choice.value == other.value for other in out[:i]):
            raise FairlaneError(f"queue {choice.label!r} is given twice")
    return out


def _every() -> list[str]:
    from .reference import registry

    return [e["name"] for e in registry() if e["kind"] == "queue"]


def _needy(queues: str | Iterable[str]) -> list[str]:
    """The queues that may be left out because their defaults alone do not run: those that "all" brought in."""
    texts = [queues] if isinstance(queues, str) else list(queues)
    return _every() if any(t.strip() == "all" for t in texts) else []


def limited(choice: Choice, limit: str | None) -> dict[str, Any]:
    """The queue with this limit, if it has one and was not given one; in a class tree the queues that hold the packets."""
    return choice.value if limit is None else _with_limit(choice.value, limit)


def _with_limit(queue: dict[str, Any] | str, limit: str) -> dict[str, Any]:
    from ._choices import known
    from .reference import registry

    name, own = (queue, {}) if isinstance(queue, str) else next(iter(queue.items()))
    registered = known().get(name.lower(), name)
    schema = next((e.get("schema") or {} for e in registry() if e["kind"] == "queue" and e["name"] == registered), {})
    has = schema.get("properties", {})
    values = dict(own or {})
    # A limit that classes share would let one lock the others out, so it is their queues that get one.
    if values.get("classes"):
        values["classes"] = [{**c, "queue": _with_limit(c.get("queue", "droptail"), limit)} for c in values["classes"]]
    elif "queue" in has:
        values["queue"] = _with_limit(values.get("queue", "droptail"), limit)
    elif "limit" in has and "limit" not in values:
        values["limit"] = limit
    return {name: values}


def _link(resolved: dict[str, Any], link: str | None) -> str:
    names = [x["name"] for x in resolved["expanded"]["links"]]
    forward = [n for n in names if not n.endswith(".reverse")]
    if link is not None:
        if link not in names:
            raise suggest(link, names, "link")
        return link
    if "bottleneck" in forward:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    some = ", ".join(forward[:12]) + (", ..." if len(forward) > 12 else "")
    raise FairlaneError(f"say whose queue to replace: no link is called `bottleneck`; there are {some}\n  = help: --link NAME")


def _sample(duration: str) -> str:
    from ._format import seconds

    return f"{max(1, round(seconds(duration) * 1e6 / SAMPLES))}us"


def _explained(choice: Choice, link: str, e: ScenarioError) -> FairlaneError:
    """The problems of one queue, told about the text that was written."""
    start = f"links.{link}.queue"
    own = [d for d in e.diagnostics if d["path"].startswith(start)]
    if not own:
        return e
    lines = []
    for d in own:
        lines.append(f"error: queue {choice.label!r}: {d['message']}")
        if d.get("help"):
            lines.append(f"  = help: {d['help'].replace(start + '.', '')}")
    return ScenarioError("\n".join(lines), own)
