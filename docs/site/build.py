"""Builds the documentation site: `python docs/site/build.py` or `make site`; build/site/index.html is its first page.

Each version has a folder of its own, `build/site/VERSION`, and what others left in `build/site` stays: a version that was released
is built once, from its tag, into the same folder. `versions.js` lists the folders that are there, newest first, for the sidebar of all.
Pages need no network: fonts, scripts and the search index lie next to them, and they open from a disk as well as from a server.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import api  # noqa: E402
import tree  # noqa: E402

GOES_ON = (
    '<!doctype html><meta charset="utf-8"><title>fairlane</title><meta http-equiv="refresh" content="0; url={0}/index.html">'
    '<a href="{0}/index.html">fairlane {0}</a>\n'
)


def key(name: str) -> list[tuple[bool, int, str]]:
    """By which versions are sorted: 0.10 after 0.9.

    >>> sorted(["0.10.0", "0.9.1", "0.9"], key=key)
    ['0.9', '0.9.1', '0.10.0']
    """
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"[.\-+]", name)]


def versions(out: Path) -> list[str]:
    """The versions that a folder has, newest first; writes their list and the page that redirects to the newest."""
    found = sorted((p.parent.name for p in out.glob("*/objects.inv")), key=key, reverse=True)
    (out / "versions.js").write_text(f"window.fairlaneVersions = {json.dumps(found)};\n", "utf-8")
    (out / "index.html").write_text(GOES_ON.format(found[0]), "utf-8")
    (out / ".nojekyll").write_text("", "utf-8")
    return found


def build(out: Path, name: str, *, notebooks: bool = True, jobs: int = 1) -> Path:
    """Builds one version and puts it in its place once it is whole; any warning of Sphinx is an error."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".making-") as folder:
        source, made = Path(folder) / "source", Path(folder) / "html"
        source.mkdir()
        written = api.pages()
        tree.stage(source, extra=["/api/index"])
        for page, text in written.items():
            (source / f"{page}.rst").parent.mkdir(exist_ok=True)
            (source / f"{page}.rst").write_text(text, "utf-8")
        options = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE), "-d", str(Path(folder) / "doctrees")]
        options += ["-j", str(jobs), "-A", f"version_folder={name}"]
        if not notebooks:
            options += ["-D", "nb_execution_mode=off"]
        subprocess.run([sys.executable, "-m", "sphinx", *options, str(source), str(made)], check=True)
        shutil.rmtree(out / name, ignore_errors=True)
        made.rename(out / name)
    versions(out)
    return out / name


def main() -> int:
    """Reads the options and builds."""
    import fairlane

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=tree.ROOT / "build" / "site")
    parser.add_argument("--version-name", default=fairlane.__version__, help="the folder and the name in the list of versions")
    parser.add_argument("--no-notebooks", action="store_true", help="notebooks as they are, without running them")
    options = parser.parse_args()
    try:
        made = build(options.out, options.version_name, notebooks=not options.no_notebooks)
    except tree.MissingError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError:
        print("error: the site has warnings, so it was not put in place", file=sys.stderr)
        return 1
    print(f"wrote {tree.relative(made / 'index.html')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
