"""Each audience has a page, each guide begins with a picture that its own commands draw, and the commands for a router work on Linux."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, fairlane

sys.path.insert(0, str(ROOT / "docs"))
try:
    import pictures
finally:
    sys.path.pop(0)

GUIDES = sorted(ROOT.glob("docs/guides/*.md"))
AUDIENCES = ["from-ns2", "from-ns3", "from-other-tools", "lessons", "for-engineers", "for-designers", "for-authors"]
WITHOUT = {"python-api", "notebooks"}
"""Pages that a reader comes to for a table of contents."""


@pytest.mark.parametrize("page", GUIDES, ids=lambda p: p.stem)
def test_a_guide_begins_with_its_picture_and_its_result(page):
    top = page.read_text("utf-8").split("\n## ")[0]
    found = re.match(r"# [^\n]+\n\n!\[([^\]]+)\]\(([^)]+)\)\n\n[\w`]", top)
    assert page.stem in WITHOUT or found, "no picture with a description below the title, or no sentence after it"


def test_every_picture_is_in_the_table_and_on_a_page():
    stored = {p.stem for p in (ROOT / "docs" / "guides" / "img").iterdir()}
    assert stored == {n for n, p in pictures.PICTURES.items() if p.folder == pictures.GUIDES / "img"}
    pages = "".join(p.read_text("utf-8") for p in [*GUIDES, *ROOT.glob("docs/*.md"), ROOT / "README.md"])
    for name, picture in pictures.PICTURES.items():
        assert f"{picture.folder.name}/{name}.svg)" in pages, name


@pytest.mark.parametrize("name", ["your-first-scenario", "linux-tc"])
def test_a_picture_is_what_the_commands_draw(name):
    assert pictures.drawn(name) == (pictures.PICTURES[name].folder / f"{name}.svg").read_bytes()


@pytest.mark.parametrize("entry", ["README.md", "docs/README.md"])
def test_the_first_pages_lead_to_every_audience(entry):
    text = (ROOT / entry).read_text("utf-8")
    for name in AUDIENCES:
        assert f"guides/{name}.md)" in text, name


@pytest.mark.skipif(shutil.which("tc") is None or shutil.which("unshare") is None, reason="tc or unshare is not installed")
def test_a_queue_is_installed_and_undone(tmp_path):
    """In a network namespace. Without FQ-CoDel the kernel refuses, and all is undone; DropTail goes through."""
    text = (ROOT / "docs" / "guides" / "for-engineers.md").read_text("utf-8")
    install, undo = re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S)
    command = re.search(r"^fairlane (tc home\.toml .*)$", text, re.M)[1]  # type: ignore[index]
    fairlane("new", "home", cwd=tmp_path)
    devices = "for d in wan0 lan0; do ip tuntap add $d mode tap || exit 77; done\n"
    for queue in ("fq_codel", "droptail"):
        made = fairlane(*command.replace("fq_codel", queue).split(), "--force", cwd=tmp_path)
        assert (made.returncode, made.stdout) == (0, "wrote scripts/modem.sh\n")
        script = f"{devices}echo before; tc qdisc show\necho during\n{install}{undo}echo after; tc qdisc show"
        done = subprocess.run(["unshare", "-rn", "sh", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
        if done.returncode == 77 or "unshare failed" in done.stderr:
            pytest.skip("no network namespace with a device")
        before, during, after = re.split("before\n|during\n|after\n", done.stdout)[1:]
        assert "tc class add dev lan0 parent 1: classid 1:1 htb rate 47500kbit ceil 47500kbit quantum 1514" in during
        assert ("qdisc htb 1: root" in during) == (done.stderr == ""), done.stderr
        assert done.stderr == "" or (queue == "fq_codel" and "Specified qdisc kind is unknown" in done.stderr)
        assert after == before
