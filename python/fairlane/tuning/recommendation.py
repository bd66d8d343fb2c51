"""The recommended queue: in the scenario, as a scenario file, and as `tc` commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import toml
from ..base.escapes import one_line
from ..study.diagnosis import resolve_base

if TYPE_CHECKING:
    from .outcome import TuneOutcome

_NOT_WRITTEN = ("expanded", "warnings")


def resolved(r: TuneOutcome) -> dict[str, Any]:
    """The scenario with the chosen queue, resolved."""
    return resolve_base(r.spec.study, (*r.spec.training_scenarios[0].sets, (r.spec.path, r.chosen.queue)))


def chosen_scenario(r: TuneOutcome) -> str:
    """See `TuneResult.scenario`."""
    tree = {k: v for k, v in resolved(r).items() if k not in _NOT_WRITTEN}
    scenario = f", scenario {r.spec.training_scenarios[0].name!r}" if len(r.spec.training_scenarios) > 1 else ""
    comments = (f"Chosen by `fairlane tune`: {r.spec.name}{scenario}.", f"links.{r.spec.link}.queue = {toml.value(r.chosen.queue)}")
    head = "".join(f"# {one_line(line)}\n" for line in comments) + "\n"
    return head + toml.dumps(tree)


def tc_lines(r: TuneOutcome, dev: str = "eth0") -> str:
    """See `TuneResult.tc`."""
    from ..linux import machines

    (script,) = machines.scripts(resolved(r)["expanded"], r.spec.link, dev=dev)
    return script.text()
