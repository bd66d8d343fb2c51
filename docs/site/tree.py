"""The pages of the site: docs/ and what its pages lead to, as a tree that Sphinx reads.

docs/README.md says what there is and in which order: each of its sections becomes a page with the pages it names below it, and a page that
no section names stops the build. Links that leave docs/ lead to a page that shows the file, so that nothing needs the repository.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = {
    "Start": "start/index",
    "Your path": "start/paths",
    "Build a scenario": "guides/scenarios",
    "Run and look": "guides/running",
    "Compare and study": "guides/experiments",
    "Data": "guides/data",
    "Real networks": "guides/real-networks",
    "Extend": "guides/extending",
    "Models": "models/README",
    "Reference": "reference/index",
    "Background": "background/index",
    "Validation": "validation/index",
    "Reproduced papers": "papers/index",
}
"""The sections of docs/README.md, and the page that each becomes."""
PROJECT = {
    "GLOSSARY.md": "project/glossary.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "CHANGELOG.md": "project/changelog.md",
}
GALLERY = "docs/gallery/README.md"
INDEXES = (GALLERY, "docs/models/README.md")
"""Pages with a place of their own in the navigation, above the pages of their folder that they name."""
LEFT_OUT = {"docs/package-index.md"}
"""Pages for others than readers of the site."""
LANGUAGES = {
    ".rs": "rust",
    ".py": "python",
    ".toml": "toml",
    ".c": "c",
    ".h": "c",
    ".json": "json",
    ".yml": "yaml",
    ".tcl": "tcl",
    ".sh": "sh",
}
LONGEST = 200_000
"""Characters of a file that is shown; one that is longer is there to be downloaded."""

_CODE = re.compile(r"(^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$|`[^`\n]+`)", re.M | re.S)
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=[)\s])")


class MissingError(Exception):
    """A link that leads nowhere."""


def prose(text: str, change: Callable[[str], str]) -> str:
    """The text with everything changed that is not code."""
    done, at = [], 0
    for code in _CODE.finditer(text):
        done += [change(text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*done, change(text[at:])])


def targets(text: str) -> list[str]:
    """Where the links of a page lead."""
    found: list[str] = []
    prose(text, lambda part: found.extend(_LINK.findall(part)) or part)
    return found


def external(target: str) -> bool:
    """True if a link leaves the repository."""
    return bool(re.match(r"[a-z]+:", target))


class Tree:
    """The source files that Sphinx reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: list[str] = []
        self.shown: set[str] = set()

    def write(self, name: str, text: str) -> None:
        """Writes one page."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def place(self, path: str) -> str:
        """Where a file or folder of the repository is on the site."""
        if path == "README.md":
            return "index.md"
        if path in PROJECT:
            return PROJECT[path]
        if path == "docs":
            return "README.md"
        if path.startswith("docs/") and (ROOT / path).is_file() and not path.endswith(".py"):
            return path.removeprefix("docs/")
        if path.startswith("examples/notebooks/") and path.endswith(".ipynb"):
            return f"notebooks/{posixpath.basename(path)}"
        if path.startswith("examples/lessons/") and path.endswith("/README.md"):
            return f"lessons/{posixpath.basename(posixpath.dirname(path))}.md"
        if path.startswith("examples/lessons/") and path.endswith("/answers.md"):
            return f"lessons/{posixpath.basename(posixpath.dirname(path))}-answers.md"
        if path not in self.shown:
            self.shown.add(path)
            self.waiting.append(path)
        return f"source/{path}/index.md" if (ROOT / path).is_dir() else f"source/{path}.md"

    def page(self, path: str, name: str, text: str | None = None) -> str:
        """The text of a page of the repository with its links as they are on the site."""
        text = (ROOT / path).read_text("utf-8") if text is None else text

        def moved(match: re.Match[str]) -> str:
            target, _, anchor = match[1].partition("#")
            if external(match[1]) or not target:
                return match[1]
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if there.startswith("..") or not (ROOT / there).exists():
                raise MissingError(f"{path}: {match[1]} leads nowhere")
            link = posixpath.relpath(self.place(there), posixpath.dirname(name) or ".")
            return f"{link}#{anchor}" if anchor else link

        return prose(text, lambda part: _LINK.sub(moved, part))

    def notebook(self, path: str) -> str:
        """A notebook with the links of its texts as they are on the site."""
        book = json.loads((ROOT / path).read_text("utf-8"))
        for part in book["cells"]:
            if part["cell_type"] == "markdown":
                part["source"] = self.page(path, self.place(path), "".join(part["source"]))
        return json.dumps(book)

    def sources(self) -> None:
        """Pages for the files and folders that pages lead to."""
        while self.waiting:
            path = self.waiting.pop()
            if (ROOT / path).is_dir():
                self.write(f"source/{path}/index.md", self._folder(path))
            else:
                self.write(f"source/{path}.md", self._file(path))

    def _folder(self, path: str) -> str:
        here = f"source/{path}"
        rows = []
        for file in tracked(path):
            link = posixpath.relpath(self.place(file), here)
            rows.append(f"| [`{posixpath.relpath(file, path)}`]({link}) | {cell(summary(ROOT / file))} |")
        return "\n".join(["---\norphan: true\n---\n", f"# {path}/", "", "| file | |", "|---|---|", *rows, ""])

    def _file(self, path: str) -> str:
        head = f"---\norphan: true\nnosearch: true\n---\n\n# {path.rpartition('/')[2]}\n\n`{path}`\n\n"
        try:
            text = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            text = None
        if text is None or len(text) > LONGEST:
            copy = f"source/{path}"
            (self.folder / copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.folder / copy)
            name = posixpath.basename(path)
            return f"{head}{{download}}`{name} <{name}>`\n"
        fence = "`" * max(4, 1 + max((len(m) for m in re.findall(r"`+", text)), default=0))
        return f"{head}{fence}{LANGUAGES.get(posixpath.splitext(path)[1], 'text')}\n{text.rstrip()}\n{fence}\n"


def tracked(path: str) -> list[str]:
    """The files of a folder that belong to the repository; in an unpacked archive, all that are no products."""
    found = subprocess.run(["git", "ls-files", "-z", "--", path], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [n for n in found.stdout.split("\0") if n] if found.returncode == 0 else []
    if not names:
        names = [str(p.relative_to(ROOT)) for p in (ROOT / path).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return sorted(names, key=lambda n: (n.count("/"), n))


def summary(file: Path) -> str:
    """Returns the description at the top of a file."""
    if file.suffix not in (".toml", ".py"):
        return ""
    text = file.read_text("utf-8").lstrip()
    if file.suffix == ".py":
        m = re.match(r'"""(.*?)(\n\n|""")', text, re.S)
        return " ".join(m[1].split()) if m else ""
    lines = []
    for line in text.splitlines():
        if not line.startswith("# "):
            break
        lines.append(line[2:])
    return re.split(r"(?<=[.:]) ", " ".join(lines))[0] if lines else ""


def cell(text: str) -> str:
    """Text as it stands in a cell of a table."""
    return re.sub(r"([|<\[\]])", r"\\\1", text)


def toctree(names: list[str], **options: str) -> str:
    """A list of pages for the navigation."""
    lines = ["```{toctree}", *(f":{k}: {v}".rstrip() for k, v in options.items()), "", *names, "```", ""]
    return "\n".join(lines)


def sections() -> dict[str, str]:
    """The sections of docs/README.md by their titles."""
    _, *parts = re.split(r"^## (.+)\n", (ROOT / "docs" / "README.md").read_text("utf-8"), flags=re.M)
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    if unknown := sorted(set(found) - set(SECTIONS)):
        raise MissingError(f"docs/README.md: docs/site/tree.py has no page for the section {unknown[0]!r}")
    return found


def stage(folder: Path, extra: list[str]) -> Tree:
    """Writes all pages into a folder; `extra` are pages that the caller writes, for the navigation."""
    tree = Tree(folder)
    for path in tracked("docs"):
        file = ROOT / path
        if path in LEFT_OUT or path.startswith("docs/site/") or file.suffix == ".py":
            continue
        name = tree.place(path)
        if file.suffix == ".md":
            tree.write(name, tree.page(path, name))
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / name)
    for path, name in PROJECT.items():
        tree.write(name, tree.page(path, name))
    books = [p for p in tracked("examples/notebooks") if p.endswith(".ipynb")]
    for path in books:
        tree.write(tree.place(path), tree.notebook(path))
    lessons = [p for p in tracked("examples/lessons") if p.endswith(".md")]
    for path in lessons:
        tree.write(tree.place(path), tree.page(path, tree.place(path)))
    below = {"guides/lessons": lessons, "guides/notebooks": books}
    for name in ("background/worst-paths", "background/report-cards"):
        below[name] = [p for p in tracked(f"docs/{name}") if p.endswith(".md")]
    for name, paths in below.items():
        with (folder / f"{name}.md").open("a", encoding="utf-8") as page:
            page.write("\n" + toctree(["/" + posixpath.splitext(tree.place(path))[0] for path in paths], hidden=""))
    seen: set[str] = set(INDEXES)
    for index in INDEXES:
        beside = posixpath.dirname(index)
        shown = [posixpath.normpath(posixpath.join(beside, x)) for x in targets((ROOT / index).read_text("utf-8"))]
        inside = dict.fromkeys(p for p in shown if posixpath.dirname(p) == beside and p.endswith(".md") and p != index)
        with (folder / tree.place(index)).open("a", encoding="utf-8") as page:
            page.write("\n" + toctree(["/" + tree.place(p).removesuffix(".md") for p in inside], hidden=""))
        seen.update(inside)
    for title, text in sections().items():
        name = f"{SECTIONS[title]}.md"
        if f"docs/{name}" in INDEXES:
            continue
        links = [posixpath.normpath(posixpath.join("docs", t.partition("#")[0])) for t in targets(text) if not external(t)]
        pages = []
        for path in dict.fromkeys(links):
            if path.endswith(".md") and path not in seen:
                seen.add(path)
                pages.append("/" + tree.place(path).removesuffix(".md"))
        body = tree.page("docs/README.md", name, text)
        tree.write(name, f"# {title}\n{body}\n{toctree(pages, hidden='')}")
    main = ["/" + SECTIONS[t] for t in SECTIONS]
    main[8:8] = [*extra, f"Gallery <{'/' + tree.place(GALLERY).removesuffix('.md')}>"]
    examples = "/" + tree.place("examples").removesuffix(".md")
    others = [n.removesuffix(".md") for path, n in PROJECT.items() if f"](../{path})" not in "".join(sections().values())]
    project = ["All pages </README>", f"Examples <{examples}>", *("/" + n for n in others)]
    home = tree.page("README.md", "index.md")
    tree.write("index.md", f"{home}\n{toctree(main, hidden='')}\n{toctree(project, hidden='', caption='Project')}")
    tree.sources()
    return tree


def relative(path: Path) -> str:
    """Returns a path as shown to readers."""
    return os.path.relpath(path)
