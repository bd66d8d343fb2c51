"""From a tune file to a `TuneSpec`; everything that is wrong is reported at once, each with its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import _core
from ..base.choices import choices, known
from ..base.document import json_schema
from ..base.escapes import names_folder, one_line
from ..base.literals import kind, quantity, si
from ..base.paths import split
from ..base.scenario import chosen_link, read_scenario
from ..base.seeds import parse_seeds
from ..errors import FairlaneError, ScenarioError, UnknownNameError, suggest
from ..runs import selection
from ..study.diagnosis import resolve_base
from ..study.model import Combination, Level, Selector, StudySpec
from ..study.plan import resolve_combination
from ..study.reader import options
from . import space
from .default_ranges import LEFT_OUT, ranges
from .model import Baseline, Constraint, Entry, Objective, TrainingScenario, TuneSpec

_BOUND = {"<=": "most", "<": "most", ">=": "least", ">": "least"}


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON Schema of tune files: the one declaration of their keys."""
    return json_schema("tune-file")


def read(path: str | Path, changes: Mapping[str, Any] | None = None, sets: Iterable[tuple[str, str]] = ()) -> TuneSpec:
    """Reads a tune file; raises `ScenarioError` with all that is wrong. `changes` replace its values, `sets` those of the scenario."""
    try:
        text, name, form = read_scenario(path)
    except FairlaneError as e:
        raise FairlaneError(str(e).split("\n")[0] + "\n  = help: give the path of a tune file, in TOML (.toml) or JSON (.json)") from None
    return parse(text, name, form, changes, sets)


def parse(text: str, name: str, form: str, changes: Mapping[str, Any] | None = None, sets: Iterable[tuple[str, str]] = ()) -> TuneSpec:
    """Reads a tune file from its text; see `read_tune`."""
    declared = schema()
    tree = json.loads(_core.read_document(text, name, form, json.dumps(declared)))
    if asked := dict(options(sets)):
        tree["set"] = {**{path: value for path, value in flat(tree.get("set") or {}) if path not in asked}, **asked}
    defaults = {k: p["default"] for k, p in declared["properties"].items() if "default" in p}
    return _Reader(text, name, form, {**defaults, **tree, **{k: v for k, v in (changes or {}).items() if v is not None}}).spec()


def flat(tree: Mapping[str, Any], lead: str = "") -> list[tuple[str, Any]]:
    """Paths and values of changes; tables inside one another are longer paths.

    >>> flat({"duration": "5s", "flows.tcp": {"count": 2, "tcp": {"cc": "cubic"}}})
    [('duration', '5s'), ('flows.tcp.count', 2), ('flows.tcp.tcp.cc', 'cubic')]
    """
    out: list[tuple[str, Any]] = []
    for key, value in tree.items():
        path = f"{lead}{key}"
        out += flat(value, f"{path}.") if isinstance(value, Mapping) and value else [(path, value)]
    return out


class _Reader:
    def __init__(self, text: str, name: str, form: str, tree: dict[str, Any]) -> None:
        self.text, self.name, self.form, self.tree = text, name, form, tree
        # In their order, each once: what is wrong with a metric is wrong in every training scenario.
        self.found: dict[tuple[tuple[str, ...], bool, str, str, str], None] = {}

    def fail(self, keys: tuple[str, ...], message: str, help: str = "", at_key: bool = False, code: str = "remark") -> None:
        self.found[keys, at_key, code, one_line(message), one_line(help)] = None

    def tell(self) -> None:
        if self.found:
            found = [(list(keys), at_key, code, message, help) for keys, at_key, code, message, help in self.found]
            raise _core.remarks(self.text, self.name, self.form, found)

    def spec(self) -> TuneSpec:
        from ..own.plugin import load

        t = self.tree
        stem = Path(self.name).stem
        name = t.get("name") or (stem if stem.strip("<>") == stem and names_folder(stem) else "tuning")
        if not names_folder(name):
            self.fail(("name",), f'"{name}" cannot name a search: it names a folder, too', "write letters, digits, spaces, - or _")
        for file in t.get("plugins", ()):
            load(self._beside(file))
        base, base_name, base_form = self._scenario()
        objectives, constraints = self._objectives(), self._constraints()
        seeds, held = self._seeds("seeds"), self._seeds("holdout_seeds")
        both = sorted(set(seeds) & set(held))
        if both:
            self.fail(("holdout_seeds",), f"the search sees seed {both[0]} too", "hold out seeds that `seeds` does not have")
        chosen = [*(o.selector for o in objectives), *(c.selector for c in constraints)]
        twice = _repeated(s.label for s in chosen)
        if twice is not None:
            self.fail(
                ("constraints", twice),
                f"`{twice}` is an objective, too",
                'give it a label: late = { metric = "...", max = ... }',
            )
        study = StudySpec(
            name, base, base_name, base_form, (), seeds, tuple(chosen), tuple(flat(t.get("set") or {})),
            plugins=tuple(self._beside(f) for f in t.get("plugins", ())), description=t.get("description", ""),
            source=(self.text, self.name, self.form),
        )  # fmt: skip
        scenarios = self._scenarios("training_scenarios") or (TrainingScenario("as it is"),)
        holdout = self._scenarios("holdout") or scenarios
        entries = self._entries()
        baselines = self._baselines()
        self.tell()
        link = self._check_base(study, (("training_scenarios", scenarios), ("holdout", holdout)))
        rule: Any = (t.get("choice") or {}).get("rule") or ("worst" if all(o.good is not None for o in objectives) else "knee")
        for o in objectives:
            if rule != "knee" and o.good is None:
                keys = ("objectives", o.selector.label)
                self.fail(keys, f'the rule "{rule}" needs a `good` and a `bad` value of each objective',
                          f'write {{ goal = "{o.goal}", good = ..., bad = ... }}')  # fmt: skip
        spec = TuneSpec(
            study, link, objectives, constraints, rule, t["over"], entries, scenarios, holdout, held, baselines,
            t["trials"], t["seed"], t["batch"],
        )  # fmt: skip
        self._check_queues(spec)
        self.tell()
        return spec

    # --- parts of the file ----------------------------------------------------------------------------------------------

    def _beside(self, file: str) -> str:
        return str(Path(self.name).parent / file)

    def _scenario(self) -> tuple[str, str, str]:
        given = self.tree["scenario"]
        if isinstance(given, str):
            try:
                return read_scenario(self._beside(given))
            except FairlaneError as e:
                self.fail(("scenario",), str(e).split("\n")[0], "paths are relative to this file")
                self.tell()
        return json.dumps(given), self.name, "json"

    def _seeds(self, key: str) -> tuple[int, ...]:
        try:
            return tuple(parse_seeds(self.tree[key]))
        except FairlaneError as e:
            self.fail((key,), str(e))
            return ()

    def _selector(self, keys: tuple[str, ...], label: str, text: str, at_key: bool) -> Selector | None:
        try:
            return selection.selector(text, label)
        except FairlaneError as e:
            message, _, help = str(e).partition(": ")
            self.fail(keys, message, help, at_key)
            return None

    def _number(self, keys: tuple[str, ...], value: Any, s: Selector) -> float | None:
        """A value of a metric in its unit."""
        from ..base.metrics import unit

        wanted = unit(s.metric)
        # Units such as RPM are words of metrics only.
        if isinstance(value, str) and quantity(value) is None and (bare := value.removesuffix(wanted)) != value:
            value = bare.strip()
        q = quantity(value)
        if q is not None:
            got = kind(q[1])
            if not got or got == wanted or (got == "packets" and wanted in ("packets", "count")):
                return si(value)
        examples = {"s": '"20ms"', "bit/s": '"5Mbit/s"', "1": '"2%" or 0.02', "packets": "100", "byte": '"64kB"', "RPM": '"800 RPM"'}
        self.fail(keys, f"expected a value of {s.metric}, found {value!r}", f"write for instance {examples.get(wanted, '10')}")
        return None

    def _objectives(self) -> tuple[Objective, ...]:
        out = []
        given = self.tree["objectives"]
        if not given:
            self.fail(("objectives",), "there is no objective", 'write for instance "links.bottleneck.sojourn_p99" = "min"')
        for label, value in given.items():
            keys = ("objectives", label)
            table = {"goal": value} if isinstance(value, str) else value
            own = table.get("metric")
            s = self._selector((*keys, "metric") if own else keys, label, own or label, not own)
            if s is None:
                continue
            ends = [self._number((*keys, k), table[k], s) if k in table else None for k in ("good", "bad")]
            if ("good" in table) != ("bad" in table):
                self.fail(keys, "`good` and `bad` belong together", "write both or none")
                continue
            good, bad = ends
            if good is not None and bad is not None and (good >= bad if table["goal"] == "min" else good <= bad):
                order = "below" if table["goal"] == "min" else "above"
                self.fail((*keys, "good"), f'with goal = "{table["goal"]}" `good` lies {order} `bad`', "")
            goal: Any = table["goal"]  # the schema has seen to it
            out.append(Objective(s, goal, good, bad, float(table.get("weight", 1.0))))
        return tuple(out)

    def _constraints(self) -> tuple[Constraint, ...]:
        out = []
        for label, value in (self.tree.get("constraints") or {}).items():
            keys = ("constraints", label)
            own = value.get("metric") if isinstance(value, dict) else None
            s = self._selector((*keys, "metric") if own else keys, label, own or label, not own)
            if s is None:
                continue
            bounds: dict[str, float | None] = {}
            if isinstance(value, str):
                sign = next((x for x in _BOUND if value.strip().startswith(x)), None)
                if sign is None:
                    self.fail(keys, f"cannot read the bound {value!r}", 'write "<= 2%" or ">= 5Mbit/s", or { max = "2%" }')
                    continue
                bounds[_BOUND[sign]] = self._number(keys, value.strip().removeprefix(sign).strip(), s)
                text = f"{'≤' if _BOUND[sign] == 'most' else '≥'} {value.strip().removeprefix(sign).strip()}"
            else:
                bounds = {w: self._number((*keys, k), value[k], s) for k, w in (("min", "least"), ("max", "most")) if k in value}
                if not bounds:
                    self.fail(keys, "a constraint has `min`, `max` or both", 'write { max = "2%" }')
                text = ", ".join(f"{sign} {value[k]}" for k, sign in (("min", "≥"), ("max", "≤")) if k in value)
            out.append(Constraint(s, bounds.get("least"), bounds.get("most"), text))
        return tuple(out)

    def _scenarios(self, section: str) -> tuple[TrainingScenario, ...]:
        out: list[TrainingScenario] = []
        seen: set[str] = set()
        for i, m in enumerate(self.tree.get(section) or ()):
            if m["name"] in seen:
                self.fail((section, str(i), "name"), f"there are two scenarios called {m['name']!r}", "give each a name of its own")
            seen.add(m["name"])
            out.append(TrainingScenario(m["name"], tuple(flat(m.get("set") or {}))))
        return tuple(out)

    def _entries(self) -> tuple[Entry, ...]:
        given = self.tree["search"]
        parser = space.Parser()
        out: list[Entry] = []
        if isinstance(given, (str, list)):
            texts = [given] if isinstance(given, str) else given
            for i, text in enumerate(texts):
                keys = ("search",) if isinstance(given, str) else ("search", str(i))
                out += self._named(parser, keys, text)
        else:
            for label, value in given.items():
                if (e := self._entry(parser, label, value)) is not None:
                    out.append(e)
        for e in out:
            parser.siblings(e.template, e.keys)
        twice = _repeated(e.label for e in out)
        if twice is not None:
            self.fail(("search",), f"{twice} is there twice", "")
        for own, at_key, code, message, help in parser.found:
            self.fail(tuple(own), message, help, at_key, code)
        if not out and not self.found:
            self.fail(("search",), "there is nothing to search", 'write "all", or tables of queues with ranges')
        return tuple(out)

    def _named(self, parser: space.Parser, keys: tuple[str, ...], text: str) -> list[Entry]:
        """Queues of a text: "all", or as `fairlane compare` takes them, with default ranges for those without parameters."""
        if text.strip() == "all":
            return [Entry(n, {n: parser.parse(r, keys)}) for n, r in ranges().items()]
        out = []
        try:
            for c in choices(text):
                inner = c.value[c.name]
                searched = inner or self._auto(keys, c.name)
                if searched is not None:
                    out.append(Entry(c.label if inner else c.name, {c.name: parser.parse(searched, keys)}))
        except FairlaneError as e:
            self.fail(keys, str(e))
        return out

    def _auto(self, keys: tuple[str, ...], name: str) -> dict[str, Any] | None:
        if name not in (defaults := ranges()):
            why = LEFT_OUT.get(name, LEFT_OUT["plugin"])
            self.fail(keys, f"there are no default ranges for {name}: {why}", "write its parameters with ranges")
            return None
        return defaults[name]

    def _entry(self, parser: space.Parser, label: str, value: Any) -> Entry | None:
        keys: tuple[str, ...] = ("search", label)
        name = known().get(label.lower())
        if name is not None:
            if value == "auto":
                searched = self._auto(keys, name)
                return None if searched is None else Entry(label, {name: parser.parse(searched, keys)})
            if isinstance(value, dict):
                return Entry(label, {label: parser.parse(value, keys)}, ("search",))
            self.fail(keys, f"expected the parameters of {name} as a table, found {value!r}", 'write {} for its defaults, or "auto"')
            return None
        if isinstance(value, str) and value != "auto":
            read = self._one(keys, value)
            return None if read is None else Entry(label, parser.parse(read, keys))
        if isinstance(value, dict) and len(value) == 1 and next(iter(value)).lower() in known():
            (own, inner), *_ = value.items()
            if isinstance(inner, dict):
                return Entry(label, {own: parser.parse(inner, (*keys, own))}, keys)
        near = str(suggest(label, sorted(set(known().values())), "queue")).partition(": ")[2]
        self.fail(
            keys,
            f"`{label}` is not a queue, and its value names none",
            f"{near}; another label needs a table {{ red = {{ ... }} }}",
            True,
        )
        return None

    def _one(self, keys: tuple[str, ...], text: str) -> dict[str, Any] | None:
        try:
            (c,) = choices(text)
            return c.value
        except FairlaneError as e:
            self.fail(keys, str(e))
        except ValueError:
            self.fail(keys, f"expected one queue, found several in {text!r}", "give each a label of its own")
        return None

    def _baselines(self) -> tuple[Baseline, ...]:
        out = []
        for label, value in (self.tree.get("baselines") or {}).items():
            keys = ("baselines", label)
            queue = self._one(keys, value) if isinstance(value, str) else value
            if queue is None:
                continue
            if len(queue) != 1 or next(iter(queue)).lower() not in known():
                self.fail(keys, "expected one queue", "write red{min=5p}, or a table { red = { ... } }")
                continue
            if space.searched(space.Parser().parse(queue, keys)):
                self.fail(keys, "a baseline has no ranges", "put it into [search]")
                continue
            out.append(Baseline(label, queue))
        return tuple(out)

    # --- against the scenario -------------------------------------------------------------------------------------------

    def _combination(self, study: StudySpec, sets: tuple[tuple[str, Any], ...]) -> Combination:
        return resolve_combination(study, 0, (Level("", sets),))

    def _check_base(self, study: StudySpec, parts: tuple[tuple[str, tuple[TrainingScenario, ...]], ...]) -> str:
        """Resolves the scenario with each training scenario, finds the link, and looks for what the metrics name in each."""
        try:
            base = resolve_base(study)
        except ScenarioError as e:
            if isinstance(self.tree["scenario"], str):
                raise
            for d in e.diagnostics:
                self.fail(("scenario", *(split(d["path"]) or ())), d["message"], d.get("help") or "", code=d["code"])
            self.tell()
            raise
        selectors = {m.label: m for m in study.metrics}
        link = ""
        try:
            link = chosen_link(base, self.tree.get("link"))
        except UnknownNameError as e:
            message, _, help = str(e).partition(": ")
            self.fail(("link",), message, help)
        except FairlaneError as e:
            self.fail(("link",) if "link" in self.tree else ("scenario",), str(e).split("\n")[0], 'write link = "NAME"')
        for section, scenarios in parts:
            for i, scenario in enumerate(scenarios):
                try:
                    combination = self._combination(study, scenario.sets)
                except ScenarioError as e:
                    first = e.diagnostics[0] if e.diagnostics else {"code": "remark", "message": str(e), "help": "", "path": ""}
                    self.fail(
                        (section, str(i), "set"),
                        f"{first['path']}: {first['message']}".lstrip(": "),
                        first.get("help") or "",
                        code=first["code"],
                    )
                    continue
                for part in ("objectives", "constraints"):
                    for label in self.tree.get(part) or ():
                        if (chosen := selectors.get(label)) is not None:
                            self._names(chosen, combination, part, scenario)
        self.tell()
        return link

    def _names(self, s: Selector, combination: Combination, part: str, scenario: TrainingScenario) -> None:
        try:
            selection.names(s, combination)
        except FairlaneError as e:
            message, _, help = str(e).partition(": ")
            where = f" of the scenario {scenario.name}" if scenario.sets else ""
            given = self.tree[part][s.label]
            own = isinstance(given, dict) and "metric" in given
            self.fail((part, s.label, *(("metric",) if own else ())), message + where, help, not own)

    def _check_queues(self, spec: TuneSpec) -> None:
        """Resolves the corners of the space, and the baselines."""
        made = [Entry(h.label, h.queue, ("baselines", h.label)) for h in spec.baselines]
        for e in (*spec.entries, *made):
            corners = list(space.corners(e))
            for low, high in zip(corners[::2], corners[1::2], strict=True):
                wrong = self._problems(spec, low)
                if wrong and (high.queue == low.queue or self._problems(spec, high)):
                    self._place(spec, e, low, wrong)
                    break

    def _problems(self, spec: TuneSpec, setting: space.Setting) -> list[dict[str, Any]]:
        try:
            self._combination(spec.study, (*spec.training_scenarios[0].sets, (spec.path, setting.queue)))
        except ScenarioError as e:
            return e.diagnostics or [{"code": "remark", "path": "", "message": str(e), "help": ""}]
        return []

    def _place(self, spec: TuneSpec, e: Entry, setting: space.Setting, wrong: list[dict[str, Any]]) -> None:
        lead = split(spec.path) or ()
        written = next(iter(setting.queue))
        own = not e.keys or isinstance((self.tree.get(e.keys[0]) or {}), str)
        for d in wrong:
            parts = split(d["path"]) or ()
            inside = parts[len(lead) :] if parts[: len(lead)] == lead else []
            path = (written, *inside[1:]) if inside else ()
            keys, unknown = _nearest(setting.places, path)
            text_only = own or (e.keys[0] == "baselines" and isinstance(self.tree["baselines"][e.label], str))
            where = (e.keys or ("search",)) if text_only else (*e.keys, *keys)
            help = (d.get("help") or "").replace(f"{spec.path}.", "")
            at_key = unknown and not text_only and d["code"] == "unknown-key"
            self.fail(where, f"{e.label}: {d['message']}" if text_only else d["message"], help, at_key, d["code"])


def _repeated(labels: Iterable[str]) -> str | None:
    """The first that was there before."""
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None


def _nearest(places: Mapping[tuple[str, ...], tuple[str, ...]], path: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Where a part of a queue is in the file, or the nearest table around it; and whether its key, not its value, is meant."""
    for n in range(len(path), 0, -1):
        if path[:n] in places:
            return places[path[:n]], n == len(path)
    return (), False
