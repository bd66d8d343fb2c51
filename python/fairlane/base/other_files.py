"""Errors for a file of another kind instead of a scenario: what it is, and what reads it."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from ..errors import InputError

_TOML = "is YAML; scenarios are TOML or JSON: `fairlane new home` writes an example"
_RECORDING = "is a recording: fairlane import {} -o DIR"
_GRAPH = "is a graph: fairlane new network {} writes a scenario"
_PICTURE = "is a figure or a page, not a scenario"
_KINDS = {
    **dict.fromkeys((".yaml", ".yml"), _TOML),
    **dict.fromkeys((".pcap", ".pcapng", ".tr", ".flent"), _RECORDING),
    **dict.fromkeys((".graphml", ".gml"), _GRAPH),
    **dict.fromkeys((".svg", ".png", ".pdf", ".html"), _PICTURE),
    ".pkt": "is a packet script: fairlane script {}",
    ".parquet": "is a table of a result: fairlane query FOLDER",
    ".py": "is a Python program: python {} runs it, and --plugin {} loads a queue or a congestion control",
    ".ipynb": "is a notebook: open it in Jupyter",
    ".tcl": "is a script of ns-2: docs/guides/from-ns2.md shows how to write it as a scenario",
    ".cc": "is a program of ns-3: docs/guides/from-ns3.md shows how to write it as a scenario",
}
"""Kinds of files, by their extension."""


def check_kind(name: str) -> None:
    """Raises `InputError` if the extension of a file says that it is no scenario."""
    about = _KINDS.get(Path(name).suffix.lower())
    if about is not None:
        raise InputError(f"cannot read {name} as a scenario: it {about.replace('{}', quote(name))}")


def folder_hint(name: str) -> str:
    """Returns what a folder instead of a scenario is good for; "" if it has nothing of ours."""
    path = Path(name)
    if (path / "study.json").is_file():
        return f"\n  = help: it holds a study: fairlane report {quote(name)}, or fairlane plot {quote(name)} KIND"
    if (path / "scenario.toml").is_file():
        return f"\n  = help: its scenario is a file: {quote(str(path / 'scenario.toml'))}"
    return ""
