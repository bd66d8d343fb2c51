"""The notebooks of examples/notebooks: kept without outputs, run from top to bottom in an empty folder, and what they show is shown."""

from __future__ import annotations

import os
import re
import sys

import pytest

from conftest import ROOT

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

BOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SHOWS = {
    "capture": {"image/png": 1, "text/html": 3, "text": r"tshark counts (\d+) packets with data|^$"},
    "first_plot": {"image/png": 2, "text/html": 2, "text": r"utilisation 1\.000 ± 0\.000"},
    "own_queue": {"text/html": 1, "text": r"did you mean `limit`\?"},
    "study": {"image/png": 1, "text/html": 4, "text": ""},
    "what_if": {"image/png": 1, "text/html": 1, "text": r"the first difference is at 4\.0"},
}
"""How many outputs of a kind a notebook has at least, and words among its texts."""


def test_there_are_five_and_the_index_names_them():
    assert {p.stem for p in BOOKS} == set(SHOWS)
    guide = (ROOT / "docs" / "guides" / "notebooks.md").read_text("utf-8")
    assert all(f"../../examples/notebooks/{p.name})" in guide for p in BOOKS)


@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_kept_clean(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert book.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert book.cells[0].cell_type == "markdown" and book.cells[0].source.startswith("# ")
    for cell in book.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None), "outputs are made where they are shown: clear them before a commit"
    for target in re.findall(r"\]\(([^)\s]+)\)", "".join(c.source for c in book.cells if c.cell_type == "markdown")):
        assert target.startswith("https:") or (path.parent / target).exists(), target


@pytest.mark.long
@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs_and_shows(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'python'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    book = nbformat.read(path, as_version=4)
    manager = nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}, kernel_name="python3")
    manager.create_kernel_manager().kernel_spec.argv[0] = sys.executable
    manager.execute()
    outputs = [out for cell in book.cells for out in cell.get("outputs", [])]
    assert not [out for out in outputs if out.get("name") == "stderr" or out.output_type == "error"]
    kinds = [kind for out in outputs for kind in out.get("data", {})]
    wanted = SHOWS[path.stem]
    assert all(kinds.count(kind) >= wanted.get(kind, 0) for kind in ("image/png", "text/html"))
    assert re.search(wanted["text"], "".join(out.get("text", "") for out in outputs))
