"""The terms of fairlane, read from glossary.toml: `python -m fairlane.base.glossary > GLOSSARY.md` writes the page."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Term:
    """A term with its one meaning."""

    name: str
    group: str
    definition: str
    source: str
    aliases: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Models, parameters, metrics and time series that the term is about."""

    def facts(self) -> dict[str, str]:
        """Everything but the definition, for `fairlane explain`."""
        facts = {
            "also called": ", ".join(self.aliases),
            "source": self.source,
            "see also": ", ".join(self.see),
            "explain": ", ".join(self.names),
        }
        return {k: v for k, v in facts.items() if v}


@lru_cache(maxsize=1)
def terms() -> tuple[Term, ...]:
    """All terms, in the order of the page."""
    rows: list[dict[str, Any]] = tomllib.loads(files("fairlane").joinpath("base", "glossary.toml").read_text("utf-8"))["term"]
    lists = ("aliases", "see", "names")
    return tuple(Term(**{**row, **{k: tuple(row.get(k, ())) for k in lists}}) for row in rows)


def normal(name: str) -> str:
    """A name in the spelling that terms are compared in: hyphens, underscores and capitals do not matter.

    >>> normal("Global_Synchronisation"), normal("RACK-TLP")
    ('global synchronisation', 'rack tlp')
    """
    return re.sub(r"[\s_-]+", " ", name).strip().lower()


def find(name: str) -> Term | None:
    """The term with this name or alias.

    >>> find("BDP").name, find("global-synchronization").name, find("nonsense")
    ('bandwidth-delay product', 'global synchronisation', None)
    """
    return _by_name().get(normal(name))


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Term]:
    return {normal(n): term for term in terms() for n in (*term.aliases, term.name)}


def page() -> str:
    """GLOSSARY.md."""
    lines = [
        "# Glossary",
        "",
        "<!-- Made by `python -m fairlane.base.glossary` from python/fairlane/base/glossary.toml: change that. -->",
        "",
        "One meaning per term, with its source. `fairlane explain TERM` prints the same.",
    ]
    groups: dict[str, list[Term]] = {}
    for term in terms():
        groups.setdefault(term.group, []).append(term)
    for group, members in groups.items():
        lines += ["", f"## {group}", "", "| term | meaning | source |", "|---|---|---|"]
        lines += [_row(term) for term in sorted(members, key=lambda t: t.name)]
    return "\n".join(lines) + "\n"


def _row(term: Term) -> str:
    aliases = f" ({', '.join(term.aliases)})" if term.aliases else ""
    more = [f"See also {', '.join(term.see)}."] if term.see else []
    more += [f"`explain`: {', '.join(f'`{n}`' for n in term.names)}."] if term.names else []
    cells = (f"**{term.name}**{aliases}", " ".join([term.definition, *more]), term.source)
    return f"| {' | '.join(c.replace('|', chr(92) + '|') for c in cells)} |"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
