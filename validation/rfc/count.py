"""Key words of RFC 2119 in the text of an RFC: `python -m validation.rfc.count rfc5681.txt` prints their number by section."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

#: Key words that require or recommend something, so not MAY and OPTIONAL.
WORDS = re.compile(r"(?<!NOT )\bREQUIRED\b|\b(?:MUST|SHALL|SHOULD|RECOMMENDED|RECOMMENDS)\b")
HEADING = re.compile(r"^((?:\d+|[A-Z](?=\.\d))(?:\.\d+)*|Appendix [A-Z])\.?\s{1,4}\S")
#: The foot of a page, the head of the next.
PAGE_BREAK = re.compile(r"\n[^\n]*\[Page \w+\]\s*\f?\n+(?:RFC \d+[^\n]*\n)?")
CONVENTIONS = re.compile(r"key ?words? .*MUST|labeled as", re.I)


def words(text: str) -> dict[str, int]:
    """How many there are in each section; the paragraph that defines them does not count."""
    found: Counter[str] = Counter()
    section = "0"
    for paragraph in re.split(r"\n[ \t]*\n", PAGE_BREAK.sub("\n", text.replace("\r", "")).replace("\f", "")):
        head = HEADING.match(paragraph.lstrip("\n"))
        if head and "..." not in paragraph.replace(". ", ".") and len(paragraph.strip().splitlines()) < 3:
            section = head[1]
        flat = " ".join(paragraph.split())
        if not CONVENTIONS.search(flat):
            found[section] += len(WORDS.findall(flat))
    return {s: n for s, n in found.items() if n}


def main() -> None:
    """Prints the counts as a line of a table."""
    for name in sys.argv[1:]:
        counts = words(Path(name).read_text(encoding="utf-8", errors="replace"))
        print(f"# {Path(name).stem}: {sum(counts.values())}")
        print("words = { " + ", ".join(f'"{s}" = {n}' for s, n in counts.items()) + " }")


if __name__ == "__main__":
    main()
