"""The Python code of README, tutorials and notebooks as modules, for type checkers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from conftest import ROOT

PAGES = ("README.md", "docs/first-hour.md", "docs/tutorial.md", "docs/guides/python-api.md")
PYRIGHT = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    # A notebook shows the value of its last line; the types of matplotlib are not complete.
    "reportUnusedExpression": False,
    "reportUnknownMemberType": False,
}
UNTYPED = "# pyright: basic\n# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code=var-annotated\n"
"""Head of a module that defines a plug-in, whose methods need no annotations; its calls are checked."""


def written(folder: Path) -> list[Path]:
    """Writes a module for each page and notebook with Python code, its blocks in order, and returns the files."""
    code = {name: re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text("utf-8"), re.M | re.S) for name in PAGES}
    for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code[f"notebook_{path.stem}"] = ["".join(c["source"]) + "\n" for c in cells if c["cell_type"] == "code"]
    files = []
    for name, blocks in code.items():
        if blocks:
            file = folder / (re.sub(r"\W", "_", Path(name).stem.lower()) + ".py")
            text = "\n".join(blocks)
            file.write_text(UNTYPED * ("(fl.Qdisc)" in text) + text, "utf-8")
            files.append(file)
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    return files
