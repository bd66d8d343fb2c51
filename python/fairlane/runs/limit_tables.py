"""Conversion of limit data to tables of a result folder and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

TABLES = ("why", "why_queues")
"""`why`: a row per run, flow and limit; `why_queues`: a row per run, queue and flow, and one for the whole queue."""


def tables(seeds: Sequence[int], runs: Sequence[str | None]) -> dict[str, pl.DataFrame]:
    """Returns the tables of the limit data of each run; none if a run did not record limits."""
    import polars as pl

    if not runs or any(r is None for r in runs):
        return {}
    flows: list[tuple[Any, ...]] = []
    queues: list[tuple[Any, ...]] = []
    for seed, text in zip(seeds, runs, strict=True):
        data = json.loads(text or "")
        for f in data["flows"]:
            total = sum(f["picoseconds"].values())
            for limit, ps in f["picoseconds"].items():
                flows.append((seed, f["flow"], limit, ps / total if total else None, ps / 1e12, ps, f["timeouts"]))
        for q in data["queues"]:
            own = [(x["flow"], x["byte_seconds"], x["drops"], x["marks"]) for x in q["flows"]]
            whole = (None, *(sum(x[i] for x in own) for i in (1, 2, 3)))
            starved = q["starved_ps"] / q["wanted_ps"] if q["wanted_ps"] else None
            queues += [(seed, q["link"], *x, None, None, None) for x in own]
            queues.append((seed, q["link"], *whole, starved, q["starved_ps"], q["wanted_ps"]))
    seed_, word, count, real = pl.UInt64(), pl.String(), pl.Int64(), pl.Float64()
    of_flows: dict[str, Any] = {
        "seed": seed_,
        "flow": word,
        "limited_by": word,
        "share": real,
        "seconds": real,
        "time_ps": count,
        "timeouts": count,
    }
    of_queues: dict[str, Any] = {"seed": seed_, "link": word, "flow": word, "byte_seconds": real, "drops": count, "marks": count}
    of_queues |= {"starved": real, "starved_ps": count, "wanted_ps": count}
    return {"why": pl.DataFrame(flows, of_flows, orient="row"), "why_queues": pl.DataFrame(queues, of_queues, orient="row")}


def runs_of(seeds: Sequence[int], frames: Mapping[str, pl.DataFrame]) -> list[str | None]:
    """Returns the limit data of each run as the core writes them."""
    if any(name not in frames for name in TABLES):
        return [None] * len(seeds)
    runs: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {seed: ({}, {}) for seed in seeds}
    for r in frames["why"].iter_rows(named=True):
        f = runs[r["seed"]][0].setdefault(r["flow"], {"flow": r["flow"], "picoseconds": {}, "timeouts": r["timeouts"]})
        f["picoseconds"][r["limited_by"]] = r["time_ps"]
    for r in frames["why_queues"].iter_rows(named=True):
        q = runs[r["seed"]][1].setdefault(r["link"], {"link": r["link"], "flows": []})
        if r["flow"] is None:
            q |= {"starved_ps": r["starved_ps"], "wanted_ps": r["wanted_ps"]}
        else:
            q["flows"].append({k: r[k] for k in ("flow", "byte_seconds", "drops", "marks")})
    return [json.dumps({"flows": list(flows.values()), "queues": list(queues.values())}) for flows, queues in (runs[s] for s in seeds)]
