"""The page that a package index shows, made of README.md: `python docs/package_index.py > docs/package-index.md`.

An index shows one text without other files. With `Repository` among the `urls` of pyproject.toml links and pictures lead
there; without, a link is its text alone, and a picture is left out.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def page(readme: str, repository: str | None) -> str:
    """The text of the README with every relative link made absolute, or dissolved if there is nowhere to lead to.

    >>> page("see [docs](docs/a.md) ![x](y.svg)", None)
    'see docs '
    >>> page("see [docs](docs/a.md)", "https://host/me/it/")
    'see [docs](https://host/me/it/blob/main/docs/a.md)'
    """
    base = repository.rstrip("/") if repository else None

    def absolute(m: re.Match[str]) -> str:
        picture, text, target = m.groups()
        if base is None:
            return "" if picture else text
        return f"{picture}[{text}]({base}/{'raw' if picture else 'blob'}/main/{target})"

    blocks = re.split(r"(^```.*?^```$)", readme, flags=re.M | re.S)
    text = "".join(part if part.startswith("```") else _LINK.sub(absolute, part) for part in blocks)
    return re.sub(r"\n{3,}", "\n\n", text)


def main() -> str:
    """The page of this repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    made = page((ROOT / "README.md").read_text("utf-8"), project.get("urls", {}).get("Repository"))
    return f"<!-- Made from README.md by docs/package_index.py: change that. -->\n\n{made}"


if __name__ == "__main__":
    sys.stdout.write(main())
