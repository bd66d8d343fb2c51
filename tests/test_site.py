"""The documentation site: every page has its place, every link leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys

import pytest

import browser
import fairlane as fl
import sites
from conftest import ROOT

sys.path.insert(0, str(ROOT / "docs" / "site"))
try:
    import api
    import build
    import navigation
    import tree
finally:
    sys.path.pop(0)


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("staged")
    tree.stage(folder, ["/api/index"])
    return folder


def test_the_examples_of_its_code_hold():
    import doctest

    for module in (api, build, navigation):
        done = doctest.testmod(module)
        assert done.attempted and not done.failed, module.__name__


def test_every_page_of_the_docs_is_in_the_navigation(staged):
    """In the order of docs/README.md; what no section names is named by the build, and here without waiting for it."""
    listed = {
        name
        for page in staged.rglob("*.md")
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.S)
        for name in re.findall(r"/[\w/.-]+", block)
    }
    for page in ROOT.glob("docs/**/*.md"):
        place = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        if f"docs/{place}.md" not in tree.LEFT_OUT and place != "README":
            assert f"/{place}" in listed, f"docs/README.md names {page.relative_to(ROOT)} in no section"
    start = (staged / "start" / "index.md").read_text("utf-8")
    assert start.index("/first-hour\n") < start.index("/tutorial\n")
    assert "/red\n" in (staged / "models" / "README.md").read_text("utf-8")


def test_links_that_leave_the_docs_lead_to_a_page_that_shows_the_file(staged):
    shown = (staged / "source" / "crates" / "tcp" / "tests" / "arrivals.rs.md").read_text("utf-8")
    assert (ROOT / "crates" / "tcp" / "tests" / "arrivals.rs").read_text("utf-8").rstrip() in shown and "````rust" in shown
    assert "](../source/crates/tcp/tests/arrivals.rs.md)" in (staged / "validation" / "rfc.md").read_text("utf-8")
    examples = (staged / "source" / "examples" / "index.md").read_text("utf-8")
    assert all(f"(examples/{p.name}.md)" not in examples and f"({p.name}.md)" in examples for p in (ROOT / "examples").glob("*.toml"))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("[a](../README.md)", "[a](../README.md)"),
        ("[a](tuning.md#no)", "[a](tuning.md#no)"),
        ("[a](https://x.org/y.md)", "[a](https://x.org/y.md)"),
        ("`[a](../gone.md)` and [positions.x]", "`[a](../gone.md)` and [positions.x]"),
        ("```text\n[a](gone.md)\n```\n", "```text\n[a](gone.md)\n```\n"),
        ("[a](../../README.md#queues)", "[a](../index.md#queues)"),
    ],
)
def test_links_are_moved_and_code_is_not(text, made, tmp_path):
    assert tree.Tree(tmp_path).page("docs/guides/x.md", "guides/x.md", text) == made


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path):
    with pytest.raises(tree.MissingError, match=r"docs/guides/x.md: gone.md leads nowhere"):
        tree.Tree(tmp_path).page("docs/guides/x.md", "guides/x.md", "[a](gone.md)")


def test_every_public_name_is_on_a_page_of_the_api():
    from fairlane import papers, stats

    written = "".join(api.pages().values())
    names = [n for n in fl.__all__ if type(getattr(fl, n)).__name__ != "module"]
    for name in names:
        assert re.search(rf"^\.\. auto\w+:: fairlane\.((stats|papers)\.)?{name}$", written, re.M), name
    for module in (fl.queues, fl.cc, fl.sources, fl.controls, fl.topologies, fl.propagation, fl.transports):
        for name in module.__all__:
            assert f"\n.. autoclass:: {module.__name__}.{name}\n" in written, name
    for name in (*papers.__all__, *stats.__all__):
        assert re.search(rf":: fairlane\.(papers|stats)(\.\w+)?\.{name}$|^`fairlane.papers.{name}`", written, re.M), name


def test_versions_are_listed_newest_first(tmp_path):
    for name in ("0.9.0", "0.10.0", "0.2.1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "objects.inv").write_bytes(b"")
    (tmp_path / "notes").mkdir()
    assert build.versions(tmp_path) == ["0.10.0", "0.9.0", "0.2.1"]
    assert json.loads((tmp_path / "versions.js").read_text().split("=")[1].rstrip(";\n")) == ["0.10.0", "0.9.0", "0.2.1"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


def test_broken_pages_are_seen(tmp_path):
    """The checker of built pages below finds each kind of fault, and nothing in a good page."""
    (tmp_path / "a.html").write_text(
        '<a href="b.html#x">b</a><a href="b.html#y">b</a><a href="c.html">c</a><a href="#z">z</a><a href="https://x.org">x</a>'
    )
    (tmp_path / "b.html").write_text(
        '<h1 id="x">b</h1><img src="p.png"><script src="https://x.org/s.js"></script><link rel="stylesheet" href="//x.org/a.css">'
        "<style>@import 'https://x.org/b.css'</style><img src='data:image/png;base64,AA'><link rel='canonical' href='https://x.org'>"
    )
    (tmp_path / "c.css").write_text("@font-face { src: url(https://x.org/f.woff2) }")
    assert sites.problems(tmp_path) == [
        "a.html: b.html#y has no such anchor",
        "a.html: c.html leads nowhere",
        "a.html: #z has no such anchor",
        "b.html: p.png leads nowhere",
        "b.html: loads https://x.org/s.js",
        "b.html: loads //x.org/a.css",
        "b.html: a style loads https://x.org/b.css",
        "c.css: loads https://x.org/f.woff2",
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The whole site, and an older version next to it."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "site" / "build.py"), "--out", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out / fl.__version__


@pytest.mark.long
def test_no_link_of_the_site_is_broken_and_nothing_comes_from_elsewhere(built):
    assert sites.problems(built.parent) == []
    assert not list(built.parent.glob(".making-*"))


@pytest.mark.long
def test_text_in_brackets_is_text_and_toml_has_colours(built):
    found = html.unescape(re.sub("<[^>]+>", "", (built / "reference" / "cli.html").read_text("utf-8")))
    written = re.findall(r"\[(?:default:|\d+<)[^\]]*\]", (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8"))
    assert len(written) > 20 and [text for text in written if text not in found] == []
    scenario = (built / "guides" / "your-first-scenario.html").read_text("utf-8")
    assert re.search(r'<div class="highlight-toml.*?<span class="k">\[links\.', scenario, re.S)
    assert "NetworkSettings" in (built / "api" / "runs.html").read_text("utf-8")


@pytest.mark.long
@browser.needed
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "page",
    ["index", "first-hour", "guides/studies", "guides/own-queue", "models/red", "api/runs", "reference/queues", "source/examples/index"],
)
def test_pages_fit_their_screen(page, width, built):
    told = browser.opened(built / f"{page}.html", width)
    assert told["wide"] <= width
    assert told["cut"] == []


@pytest.mark.long
@browser.needed
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("bufferbloat", "guides/for-engineers"),
        ("L4S", "validation/testbed"),
        ("ECN", "models/ecn"),
        ("fairness", "background/metrics"),
        ("LaTeX", "guides/for-authors"),
        ("MOS", "guides/traffic"),
    ],
)
def test_the_search_leads_to_a_fitting_page_from_a_disk(words, page, built):
    """Among the first five of the results, without the links of the sidebar."""
    told = browser.opened(built / "search.html", 900, f"?q={words}", f"{page}.html", "#search-results li")
    assert f"{page}.html" in told["links"][:5]


@pytest.mark.long
def test_the_first_page_has_the_logo_and_the_moving_picture(built):
    page = (built / "index.html").read_text("utf-8")
    assert re.search(r'<img class="sidebar-logo"[^>]+src="_static/logo\.svg', page)
    picture = re.search(r'src="(_images/living\.svg)"', page)
    assert picture is not None
    drawing = (built / picture[1]).read_text("utf-8")
    assert (
        drawing.count("<animateTransform ") > 100 and "prefers-reduced-motion" in drawing and not re.search(r'(?:href|src)="http', drawing)
    )
