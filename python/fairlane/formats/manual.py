"""The table of formats in docs/guides/formats.md: `python -m fairlane.formats.manual docs/guides/formats.md` writes it again.

What is read comes from `READERS`, what is written from `FORMATS` of exports; `OTHERS` are the formats that other commands read or write.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..runs.exports import FORMATS
from .readers import DESCRIPTIONS, READERS

BEGIN, END = "<!-- formats -->", "<!-- /formats -->"
WRITTEN = {
    "pcap": "`fairlane run --pcap` ([captures](captures.md))",
    "pcapng": "`fairlane run --pcap` ([captures](captures.md))",
    "ns2": "`fairlane run --trace --trace-format ns2` ([lines of ns-2](traces.md#ns-2-trace-format))",
}
"""Where a format that is read is written too, but by no export."""
OTHERS = (
    ("nam", "", "`fairlane run --trace --trace-format nam`", "the format of nam"),
    ("mahimahi", "`trace` of a [link](../models/link-traces.md)", "`fairlane export RESULT mahimahi`", "`mm-link`'s traces"),
    (
        "GraphML, GML, CSV",
        "`fairlane new network` ([topologies](importing-topologies.md))",
        "`fairlane draw FILE -o x.graphml`",
        "networkx",
    ),
    ("node-link JSON", "`fairlane new network`", "", "networkx"),
    ("SNDlib's dynamic traffic: matrices in a folder or an archive", "`fairlane new network --traffic`", "", "the numbers in the files"),
    ("SNDlib, native and XML; REPETITA; Rocketfuel", "`fairlane new network`, with demands", "", "the numbers in the file"),
    (
        "rate, delay and loss over time",
        "`profile` of a [link](../models/profiles.md): CSV, ERRANT, Hypatia, LeoEM, irtt, ping",
        "",
        "the arrivals of packets",
    ),
    ("traffic matrix", "`pairs.matrix` ([pairs](../models/topologies.md))", "", "the sums of its rows"),
    ("packetdrill", "`fairlane script` ([scripts](packet-scripts.md))", "", "the kernel's scripts"),
    ("Parquet", "`fairlane query`, polars", "`fairlane run --trace`, any result folder", "Arrow, DuckDB"),
    ("CSV, SQL", "", '`fairlane query RESULT "select ..." --csv` ([SQL queries](queries.md))', "DuckDB"),
)
"""Format, reads, writes, checked against."""


def rows() -> list[tuple[str, str, str, str]]:
    """Returns the rows of the table: format, reads, writes, checked against what."""
    exports = {f.name for f in FORMATS}
    out = []
    for r in READERS:
        writes = WRITTEN.get(r.name) or (f"`fairlane export RESULT {r.name}`" if r.name in exports else "")
        out.append((r.name, f"`fairlane import FILE`: {r.what}", writes, r.checked))
    for d in DESCRIPTIONS.values():
        writes = "`fairlane tc` ([tc commands](linux-tc.md))" if d.kind == "tc" else ""
        out.append((d.kind, f"`fairlane import {d.kind} FILE`: {d.what}", writes, d.checked))
    return [*out, *OTHERS]


def table() -> str:
    """Returns the table in Markdown."""
    heads = "| format | reads | writes | checked against |\n|---|---|---|---|\n"
    return heads + "".join(f"| {' | '.join(row)} |\n" for row in rows())


def written(page: str) -> str:
    """Returns a page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}{END}{rest.partition(END)[2]}"


def main() -> None:
    """Writes the table of a page again."""
    page = Path(sys.argv[1])
    page.write_text(written(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
