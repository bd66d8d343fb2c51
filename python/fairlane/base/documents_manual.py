"""The reference page of JSON documents, made from their schemas: `python -m fairlane.base.documents_manual > docs/reference/json.md`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

ORDER = (
    "run", "study", "tune", "worst", "card", "compare", "plot", "watch", "draw", "report", "top", "query", "export", "tc", "import",
    "verify", "script", "bench-queues", "bench", "bench-growth", "bench-against",
)  # fmt: skip
"""Schemas with a section, in the order of the page."""

HEAD = """# JSON documents

<!-- Made by `python -m fairlane.base.documents_manual` from python/fairlane/schemas: change those. -->

These commands print one JSON document each. `fairlane schema NAME` prints the JSON Schema of a document, and tests check the documents with it. A change that breaks a reader gets a new number in `schema`; new metrics and new optional keys may appear under the same number. NaN and infinity are `null`. [How papers are reproduced](../papers/README.md#the-json-document) describes `fairlane reproduce --json`.

A metric with an interval is an object: `mean` over the runs (`null` if no run has a value), `low` and `high` (95 % interval [within the values that the metric can have](../background/metrics.md#across-runs), `null` if n < 2), `sd` (sample standard deviation), `n` (number of runs with a finite value). `fairlane explain goodput` prints unit, formula and source of a metric.

```json
{"schema": "fairlane.run/1", "seeds": [1, 2], "units": {"goodput": "bit/s"},
 "flows": [{"name": "tcp.0", "from": "s0", "to": "d0", "goodput": {"mean": 9.5e6, "low": 9.4e6, "high": 9.6e6, "sd": 1.1e4, "n": 2}}]}
```"""  # noqa: E501

FOLDERS = """## Result folders: `fairlane.results/2`

`fairlane run FILE --out DIR` writes a folder that is complete or absent. `fairlane.load(DIR)` reads it and compares the checksums.

| file | contents |
|---|---|
| `scenario.json` | the resolved scenario, with `expanded`: every node, link direction and flow (not with `report = "groups"`) |
| `scenario.toml` | the same without `expanded`: `fairlane run DIR/scenario.toml` repeats the run |
| `run.json` | the document of the run |
| `flows.parquet`, `links.parquet`, `network.parquet` | one row per run and flow, link direction or run; column `seed` in front |
| `groups.parquet` | with `report = "groups"`, instead of the tables of flows: one row per run and group of flows |
| `flow_series.parquet`, `link_series.parquet` | time series, if the scenario sets `sample`: `seed`, `time`, `flow` or `link`, one column per quantity |
| `trace/seed=N/000000.parquet`... | with `--trace`: the events of each run ([columns](../guides/traces.md#columns)) |
| `why.parquet` | with `--why` or `--page`, limits of flows: `seed`, `flow`, `limited_by`, `share`, `seconds`, `time_ps`, `timeouts` |
| `why_queues.parquet` | usage of queues: `seed`, `link`, `flow` (null for the whole queue), `byte_seconds`, `drops`, `marks`, `starved`, `starved_ps`, `wanted_ps` |
| `manifest.json` | `schema`, `fairlane` (version), `created`, `seeds`, `fingerprints`, `runs` (events, packet-hops, CPU seconds), `files` (SHA-256 and size), `seal` (SHA-256 of the manifest without these digits) |"""  # noqa: E501


def page() -> str:
    """Returns docs/reference/json.md."""
    schemas = [json.loads((files("fairlane") / "schemas" / f"{name}.json").read_text("utf-8")) for name in ORDER]
    return "\n\n".join([HEAD, *map(_section, schemas), FOLDERS]) + "\n"


def _section(root: dict[str, Any]) -> str:
    """Returns the heading of a document with its command, and its keys."""
    name, _, command = root["title"].partition(": the document of ")
    rows = [f"| `{key}` | {_meaning(root, p)} |" for key, p in root["properties"].items() if key not in ("schema", "fairlane")]
    return "\n".join([f"## `{command}`: `{name}`", "", "| key | meaning |", "|---|---|", *rows])


def _meaning(root: dict[str, Any], p: dict[str, Any]) -> str:
    """Returns the description of a key, and the keys of its table or of the tables in its list."""
    table, text = _table(root, p)
    keys = ", ".join(f"`{key}`" for key in table.get("properties", {}))
    return " ".join(part for part in (text, f"Keys: {keys}." if keys else "") if part).replace("|", "\\|")


def _table(root: dict[str, Any], p: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Follows references and lists to the inner schema; returns it with the first description on the way."""
    text = ""
    while True:
        text = text or p.get("description", "")
        if "$ref" in p:
            p = root["$defs"][p["$ref"].rpartition("/")[2]]
        elif p.get("type") == "array" and "items" in p:
            p = p["items"]
        else:
            return p, text


if __name__ == "__main__":
    print(page(), end="")
