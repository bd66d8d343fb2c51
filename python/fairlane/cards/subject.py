"""Subjects of report cards: a queue, a congestion control, or both."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..base import toml
from ..base.choices import Choice, choices
from ..base.reference import active, registry
from ..errors import FairlaneError, ScenarioError, UnknownNameError

KINDS = {"queue": "queue", "cc": "congestion control", "l4s": "congestion control for L4S", "media": "stack that carries media"}
"""Kinds of report cards, and what each is about."""
_ELSEWHERE = {
    "queue": "a queue: `fairlane card queue` asks it",
    "cc": "a congestion control: `fairlane card cc` asks it",
    "stack": "a transport stack: `fairlane card media` asks those that carry media",
}
"""Other kinds of names, in words."""
_REGISTRY = {"queue": "queue", "cc": "cc", "l4s": "cc", "media": "stack"}
"""Registry that has the subjects of a kind."""
_MEDIA = "most"
"""Parameter that stacks with an encoder of media have: the greatest rate."""
VARIANTS = '"VARIANTS"'
"""Word of a question for the variants of a queue."""
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(.*)")
_STEPS = (0.5, 2.0)
"""A parameter is varied to these multiples of its default."""
_NOT_A_TUNING = {"limit"}
"""Numbers that are not varied: the buffer, which has questions of its own."""


@dataclass(frozen=True)
class Subject:
    """A queue or a congestion control, with its text on the command line."""

    kind: str
    label: str
    value: dict[str, Any]
    """The table `{ NAME = { ... } }` of a scenario file."""
    queue: Choice | None = None
    """Queue of a card of L4S."""

    @property
    def name(self) -> str:
        """Registered name."""
        return next(iter(self.value))

    @property
    def title(self) -> str:
        """Name on pages: with the queue, if there is one."""
        return f"{self.label} with {self.queue.label}" if self.queue is not None else self.label

    @property
    def folder(self) -> str:
        """Name of its folder."""
        return re.sub(r"[^\w.-]+", "_", "-".join([self.kind, self.label, *([self.queue.label] if self.queue else [])])).strip("_")

    def filled(self, text: str) -> str:
        """Returns a question with the subject instead of "QUEUE", "QUEUE with ECN", "CC", "STACK", "VARIANTS"; lines stay where they are.

        >>> subjects("queue", "red:ns2")[0].filled('queue = "QUEUE"')
        'queue = { red = { preset = "ns2" } }'
        """
        if self.kind == "queue":
            text = text.replace(VARIANTS, ", ".join(toml.value(v) for v in self.variants()))
            text = text.replace('"QUEUE with ECN"', toml.value(self.marking))
            return text.replace('"QUEUE"', toml.value(self.value))
        text = text.replace('"STACK"' if self.kind == "media" else '"CC"', toml.value(self.value))
        return text if self.queue is None else text.replace('"QUEUE"', toml.value(self.queue.value))

    @property
    def marking(self) -> dict[str, Any]:
        """The queue with `ecn = true`, if it has that parameter and none is given."""
        own = self.value[self.name]
        declared = self._parameters().get("ecn", {})
        return {self.name: {**own, "ecn": True}} if declared.get("type") == "boolean" and "ecn" not in own else self.value

    def _parameters(self) -> dict[str, Any]:
        return _declared("queue", self.name)

    @property
    def parameters(self) -> list[str]:
        """The values of its parameters in words, one line for the queue and the congestion control each.

        >>> subjects("cc", "hybla")[0].parameters, subjects("queue", "choke:ns2")[0].parameters
        (['Parameters of hybla: rtt0 = 25ms.'], ['Parameters of choke: preset = ns2.'])
        """
        of = [(_REGISTRY[self.kind], self.value), *([("queue", self.queue.value)] if self.queue else [])]
        return [_spelt(kind, *next(iter(value.items()))) for kind, value in of]

    def variants(self) -> list[dict[str, Any]]:
        """Returns the queue, and the queue with each number of its parameters at half and twice its default, if it can be.

        >>> [v["codel"] for v in subjects("queue", "codel")[0].variants()][:3]
        [{}, {'target': '2500us'}, {'target': '10ms'}]
        """
        own = self.value[self.name]
        found = [self.value]
        for name, declared in self._parameters().items():
            default = own.get(name, declared.get("default"))
            if name not in _NOT_A_TUNING:
                found += [v for value in _around(default, declared) if usable(v := {self.name: {**own, name: value}})]
        return found


def _declared(kind: str, name: str) -> dict[str, Any]:
    """Returns the parameters of an entry of the registry."""
    schema = next((e.get("schema") or {} for e in registry() if e["name"] == name and e["kind"] == kind), {})
    found: dict[str, Any] = schema.get("properties", {})
    return found


def _spelt(kind: str, name: str, own: dict[str, Any]) -> str:
    defaults = {} if "preset" in own else {k: d.get("default") for k, d in _declared(kind, name).items()}
    values = {k: v for k, v in {**defaults, **own}.items() if v is not None}
    if not values:
        return f"{name} has no parameters."
    return f"Parameters of {name}: {', '.join(f'{k} = {v if isinstance(v, str) else json.dumps(v)}' for k, v in values.items())}."


def _around(default: Any, declared: dict[str, Any]) -> list[Any]:
    """Returns half and twice a default that is a number above zero, within its range."""
    if isinstance(default, bool) or not default:
        return []
    if isinstance(default, (int, float)):
        low, high = declared.get("minimum", 0), declared.get("maximum", float("inf"))
        made = [type(default)(default * step) for step in _STEPS]
        return [x for x in made if low <= x <= high and x != default and x > 0]
    found = _NUMBER.fullmatch(default) if isinstance(default, str) else None
    return [] if found is None or not found[2] else [x for step in _STEPS if (x := _scaled(float(found[1]) * step, found[2]))]


_SMALLER = {"s": "ms", "ms": "us", "us": "ns"}


def _scaled(number: float, unit: str) -> str:
    """Returns a quantity with a whole number where its unit has a smaller one; "" if that is zero."""
    while number != int(number) and unit in _SMALLER:
        number, unit = number * 1000, _SMALLER[unit]
    whole = int(number) if unit in ("p", "B") else number
    return f"{whole:g}{unit}" if whole else ""


def subjects(kind: str, text: str, queue: str = "") -> list[Subject]:
    """Reads a list of queues, or of congestion controls, in the notation of the command line.

    Raises `UnknownNameError` for a name that is not registered.
    """
    of = _REGISTRY[kind]
    try:
        beside = choices(queue)[0] if queue else None
        return [Subject(kind, c.label, c.value, beside) for c in choices(text, of)]
    except UnknownNameError:
        other = next((x["kind"] for x in registry() if x["name"] == text and x["kind"] in _ELSEWHERE and x["kind"] != of), "")
        if other:
            raise UnknownNameError(f"{text} is {_ELSEWHERE[other]}") from None
        raise


def check(subject: Subject) -> None:
    """Raises an error if the parameters of a subject cannot be used, before any question is read."""
    queue = subject.value if subject.kind == "queue" else subject.queue.value if subject.queue is not None else {"droptail": {}}
    flow = {"stack": subject.value} if subject.kind == "media" else {"tcp": {} if subject.kind == "queue" else {"cc": subject.value}}
    if subject.kind == "media" and _MEDIA not in _declared("stack", subject.name):
        raise FairlaneError(f"{subject.name} carries no media: a media card asks a stack such as str0m")
    try:
        _resolve(queue, flow)
    except ScenarioError as e:
        found = [f"{d['message']}{f' ({h})' if (h := d.get('help')) else ''}" for d in e.diagnostics]
        raise FairlaneError(f"cannot use {subject.title}: {'; '.join(found)}") from None


def usable(queue: dict[str, Any]) -> bool:
    """Returns true if the parameters of a queue fit one another."""
    try:
        _resolve(queue, {"tcp": {}})
    except ScenarioError:
        return False
    return True


def _resolve(queue: dict[str, Any], of_flow: dict[str, Any]) -> None:
    link = {"from": "a", "to": "b", "rate": "10Mbit/s", "delay": "10ms", "queue": queue}
    flow = {"from": "a", "to": "b", **of_flow}
    _core.resolve(json.dumps({"duration": "1s", "links": {"line": link}, "flows": {"flow": flow}}), "card", "json", [])


def registered(kind: str) -> list[str]:
    """Returns the names of the registry that get a card of a kind by themselves."""
    return active(_REGISTRY[kind])


def one(kind: str) -> Subject:
    """Returns some subject of a kind, to read a question as it is."""
    name = {"queue": "droptail", "cc": "cubic", "l4s": "prague", "media": "str0m"}[kind]
    return subjects(kind, name, "dualpi2" if kind == "l4s" else "")[0]


def need_kind(kind: str) -> None:
    """Raises an error for a kind that there is not."""
    if kind not in KINDS:
        raise FairlaneError(f"unknown kind of report card {kind!r}: known are {', '.join(KINDS)}")
