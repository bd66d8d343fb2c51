"""The tables as numbers, and the notes under tables and figures of Yang and Fu 2001."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from .net import CLASSES, ENVS, QUEUES
from .tables import Means

if TYPE_CHECKING:
    from fairlane.papers import Paper, Results, Row

TCP = CLASSES[:4]
Key = tuple[str, str, int, str]
Values = Mapping[Key, float]


def values(r: Results, table: str = "table4") -> dict[Key, float]:
    """Our table as numbers by environment, queue, source and class."""
    out: dict[Key, float] = {}
    for row in Means(r).rows(table):
        f = dict(row.factors)
        out[f["env"], f["queue"], int(f["traffic"]), f["flow"]] = row.value
    return out


def replications(r: Results, table: str = "table4") -> list[dict[Key, float]]:
    """Returns the table of each replication as numbers."""
    out: list[dict[Key, float]] = []
    for row in Means(r).rows(table):
        f = dict(row.factors)
        for i, x in enumerate(row.samples):
            if i == len(out):
                out.append({})
            out[i][f["env"], f["queue"], int(f["traffic"]), f["flow"]] = x
    return out


def published(paper: Paper, table: str = "table4") -> dict[Key, float]:
    """The published table as numbers."""
    return {(p["env"], p["queue"], int(p["traffic"]), p["flow"]): float(p["value"]) for p in paper.published(table)}


def mean(v: Values, env: str, queue: str, sources: Sequence[int] = (1, 2), flows: Sequence[str] = TCP) -> float:
    """The mean over classes and sources."""
    return fmean(v[env, queue, s, f] for s in sources for f in flows)


def apart(v: Values, p: Values, wanted: Callable[[Key], bool] = lambda _: True) -> dict[Key, float]:
    """Relative differences from the published values, in percent."""
    return {k: 100 * (v[k] / p[k] - 1) for k in v if k in p and wanted(k)}


def signed(x: float, digits: int = 0) -> str:
    """A difference in percent."""
    return f"{x:+.{digits}f} %".replace("-", "\N{MINUS SIGN}") if round(x, digits) else "0 %"


def beyond(v: Values, p: Values, percent: float = 15) -> dict[Key, float]:
    """Returns the combinations without control that differ from the published values by more than this percentage."""
    return {k: x for k, x in apart(v, p, lambda k: k[0] == "be/be").items() if abs(x) > percent}


def notes(name: str, r: Results | None, paper: Paper | None = None, rows: Sequence[Row] = ()) -> list[str]:
    """Sentences under a table or figure."""
    fixed = {
        "table1": ["Compared are the means over the flows of a protocol, because which flows get ahead is chance: with 100 MB two of seven "
                   "TCP flows in the paper, four or five here. The published mean of TCP at 1 MB has an outlier in it (contradiction 12) "
                   "and is 124 s without; that of UDP at 10 KB has one flow of 1.4 s and is 0.76 s without."],
        "table5": ["Shares of cells, not of runs: where two queues are within a few percent, which of them is better is chance."],
        "fig2": ["TCP sends only before the UDP flows have filled the queue: of all it ever delivers, nearly everything is delivered in "
                 "the first second."],
        "fig7": ["The curves of the ratios coincide up to the share of UDP, whose transfers need no four round trips."],
        "fig8": ["The paper has a picture only; the means and deviations of these curves are in Tables 4 and 6."],
        "unit": ["The rule holds exactly; the published formula for the difference of two allotments does not (contradiction 1)."],
        "aging": ["Under cc a short aging time releases the UDP flows, which then take the link first, as without any control."],
    }  # fmt: skip
    if r is not None and paper is not None and name in ("table4", "table6"):
        ours, theirs = values(r, name), published(paper, name)
        if ours.keys() != theirs.keys():
            return []  # in a setting some transfers may not end
        return [_deviations(r, theirs)] if name == "table6" else [_best_effort(ours, theirs), _by_environment(ours, theirs)]
    return fixed.get(name, [])


def _best_effort(v: Values, p: Values) -> str:
    """Returns each row of be/be next to the published one."""
    rows = []
    for q in QUEUES:
        for s in (1, 2):
            tcp, udp = (100 * (mean(v, "be/be", q, (s,), of) / mean(p, "be/be", q, (s,), of) - 1) for of in (TCP, CLASSES[4:]))
            rows.append(f"{q} S{s} TCP {signed(tcp)}, UDP {signed(udp)}")
    far = beyond(v, p)
    n = sum(k[0] == "be/be" for k in v)
    which = ", ".join(f"{q} S{s} {f} {signed(x, 1)}" for (_, q, s, f), x in far.items())
    return (
        f"Without control (be/be), difference of the means of a protocol from the published values: {'; '.join(rows)}. "
        f"Of the {n} single classes "
        f"{n - len(far)} are within 15 %" + (f"; not so {which}." if far else ".")
    )


def _by_environment(v: Values, p: Values) -> str:
    """How far the combinations of the other environments are from the published values, by queue."""
    words = []
    for e in ENVS[:4]:
        of = {q: apart(v, p, lambda k, e=e, q=q: k[:2] == (e, q)).values() for q in QUEUES}  # type: ignore[misc]
        words.append(f"{e} " + ", ".join(f"{q} {median(map(abs, xs)):.0f} %" for q, xs in of.items()))
    return f"Under control, median difference from the published values without its sign: {'; '.join(words)}."


def _deviations(r: Results, p: Values) -> str:
    """How far the deviations are from the published values, and how far they are from seed to seed."""
    each, v = replications(r, "table6"), values(r, "table6")
    near = sum(abs(x) < 25 for x in apart(v, p).values())
    text = f"Of the {len(v)} deviations {near} are within 25 % of the published ones. "
    if len(each) < 2:
        return text + "They are chance to a large part: see the full run."
    spread = {k: stdev(one[k] for one in each) for k in v}
    pooled = {k: fmean(spread[k[0], q, k[2], k[3]] ** 2 for q in QUEUES) ** 0.5 for k in v}
    within = sum(abs(v[k] - p[k]) < 2 * pooled[k] * (1 + 1 / len(each)) ** 0.5 for k in v if k in p)
    share = median(100 * pooled[k] / v[k] for k in v)
    kinds = {"cc": ("cc/cc", "cc/be"), "ts": ("ts/ts", "ts/be"), "be": ("be/be",)}
    by = ", ".join(f"{n} {median(100 * pooled[k] / v[k] for k in v if k[0] in es):.0f} %" for n, es in kinds.items())
    return text + (
        f"The published ones come from one run a ratio. Here such a deviation varies by {share:.0f} % (median) between series of runs that "
        f"differ in their seeds ({by}), and {within} of the published ones are within twice that from ours."
    )
