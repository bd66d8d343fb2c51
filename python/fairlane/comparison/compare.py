"""`compare`: the same scenario under several queues, with replications, and what sets the queues apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

from ..base.choices import Choice, choices, limited
from ..base.scenario import checked, chosen_link, resolve
from ..base.seeds import parse_seeds
from ..errors import FairlaneError, ScenarioError
from ..runs.network import Network
from ..runs.result import run_resolved
from .result import Compared, Comparison

SAMPLES = 1000
"""Points of the time series, if the scenario does not say how many."""
CAPACITY = "10Mbit/s"
"""Rate of the bottleneck of the dumbbell compared on unless a scenario is given."""

StepProgress = Callable[[float, str], None]


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
        many = flows > 1
        net.flow("tcp", "s{i}" if many else "s0", "d{i}" if many else "d0", spread="1s", tcp=tcp, count=flows if many else None)
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
    pairs: list[tuple[str, Any]] = list(sets.items()) if isinstance(sets, Mapping) else list(sets)
    base = resolve(mixed() if scenario is None else scenario, pairs)
    chosen = parse_seeds(seeds)
    name = chosen_link(base, link)
    own_sample = bool(base.get("sample"))
    if not own_sample:
        pairs.append(("sample", _sample(base["duration"])))
    source = mixed() if scenario is None else scenario
    # All are read before the first runs: a mistake in the last one does not cost the runs of the others.
    ready = []
    for choice in wanted:
        with_limit = limited(choice, limit)
        try:
            ready.append((choice, checked(source, [*pairs, (f"links.{name}.queue", with_limit)])))
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
    from ..base.reference import registry

    return [e["name"] for e in registry() if e["kind"] == "queue"]


def _needy(queues: str | Iterable[str]) -> list[str]:
    """The queues that may be left out because their defaults alone do not run: those that "all" brought in."""
    texts = [queues] if isinstance(queues, str) else list(queues)
    return _every() if any(t.strip() == "all" for t in texts) else []


def _sample(duration: str) -> str:
    from ..base.format import seconds

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
