"""Scenarios that are refused, less what they are refused for; and scenarios that fail, less what is not needed for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from fairlane import _core
from fairlane.errors import FairlaneError, ScenarioError

Tree = dict[str, Any]
FILE = str(Path(__file__).resolve().parents[2] / "examples" / "generated.json")
"""Where a scenario would be a file, so that it finds the data of the examples."""
TRIES = 25
"""Most errors of one scenario."""


def checked(tree: Tree) -> tuple[_core.Resolved | None, Tree, list[str]]:
    """Returns the scenario without its rejected parts as the core runs it, its tree, and the flaws of the rejections."""
    tree, wrong = deepcopy(tree), []
    for _ in range(TRIES):
        text = json.dumps(tree)
        try:
            return _core.resolve(text, FILE, "json", []), tree, wrong
        except ScenarioError as e:
            wrong += [f"error: {w}: {str(e)[:300]!r}" for w in unclear(e, text)]
            if not any([removed(tree, d["path"]) for d in e.diagnostics]):
                break
        # A panic of the core is no exception of ours, and no `Exception` either.
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                raise
            wrong.append(f"error: {type(e).__name__} instead of a clear message: {str(e)[:300]!r}")
            break
    return None, tree, wrong


def unclear(e: FairlaneError, text: str) -> Iterator[str]:
    """Yields the flaws of an error message."""
    message = str(e)
    if any(word in message for word in ("Traceback", "panicked", "unwrap()", "RUST_BACKTRACE", "src/", "report this")):
        yield "it tells of the program, not of the scenario"
    if not message.startswith("error: ") or "generated.json:1:" not in message or "^" not in message:
        yield "it has no place"
    if not isinstance(e, ScenarioError) or not e.diagnostics:
        yield "it has no diagnostics"
        return
    if message.count("error: ") != len(e.diagnostics):
        yield "its text has not one finding for each of its diagnostics"
    for d in e.diagnostics:
        if not d["code"] or not d["message"] or d["code"] == "unreadable":
            yield "a finding has no code or no message, or a code for defects"
        if d["line"] != 1 or not 1 <= d["column"] <= d["end_column"] <= len(text) + 1:
            yield "its place is not in the file"


def removed(tree: Tree, path: str) -> bool:
    """Takes out what a path names: of a link that a builder makes, what stands in the builder; of a key that is missing, its table."""
    parts, done, node = path.split("."), 0, tree
    while done < len(parts):
        key: Any = None
        if isinstance(node, dict):
            # Names of links have dots.
            joined = [".".join(parts[done:end]) for end in range(len(parts), done, -1)]
            key = next((name for name in joined if name in node), None)
        elif isinstance(node, list) and parts[done].isdigit() and int(parts[done]) < len(node):
            key = int(parts[done])
        if key is None:
            break
        steps = str(key).count(".") + 1 if isinstance(key, str) else 1
        if done + steps == len(parts):
            del node[key]
            return True
        node, done = node[key], done + steps
    if parts[0] in ("links", "topology"):
        return any(_everywhere(tree.get("topology"), key) or _everywhere(tree.get("links"), key) for key in reversed(parts[1:]))
    return 1 < done < len(parts) and removed(tree, ".".join(parts[:done]))


def _everywhere(node: Any, key: str) -> bool:
    """Takes a key out of all tables."""
    found = False
    for own in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        found |= _everywhere(own, key)
    if isinstance(node, dict) and key in node:
        del node[key]
        found = True
    return found


def places(node: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a key or an element stands, the outer ones first."""
    items = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, _ in items:
        yield (*at, key)
    for key, own in items:
        yield from places(own, (*at, key))


def without(tree: Tree, at: tuple[Any, ...]) -> Tree:
    """The tree without what stands there."""
    tree = deepcopy(tree)
    node: Any = tree
    for key in at[:-1]:
        node = node[key]
    del node[at[-1]]
    return tree


def shrunk(tree: Tree, fails: Callable[[Tree], bool], most: int = 300) -> Tree:
    """The smallest scenario found that still fails."""
    tried = 0
    again = True
    while again:
        again = False
        for at in list(places(tree)):
            if tried >= most:
                return tree
            try:
                less = without(tree, at)
            except (KeyError, IndexError, TypeError):
                continue  # gone with what it stood in
            tried += 1
            if fails(less):
                tree, again = less, True
    return tree
