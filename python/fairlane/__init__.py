"""fairlane: a packet-level network simulator for TCP, UDP and queue management.

A simulation in ten lines::

    import fairlane as fl

    net = fl.Network(duration="60s", warmup="10s")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": {"droptail": {"limit": "50p"}}},
    )
    net.flow("tcp", "s{i}", "d{i}", count=2, spread="200ms", tcp="sack")
    result = net.run(seeds="1..5")
    print(result.value("utilisation", link="bottleneck"))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import FairlaneError, FolderError, PluginError, RunError, ScenarioError, UnknownNameError

if TYPE_CHECKING:
    from . import settings, tcp
    from ._core import version
    from ._params import *  # noqa: F403
    from .comparison.compare import compare
    from .comparison.result import Comparison
    from .formats.export import export
    from .formats.imports import import_file
    from .own.cc import CongestionControl, cc_include, load_cc
    from .own.plugin import Parameter, Qdisc, load_queue
    from .papers import reproduce
    from .reports import Report, report
    from .runs.network import Network
    from .runs.partition import Partition
    from .runs.pcap import Pcap
    from .runs.plots.overlay import plot
    from .runs.result import Result, load, run
    from .runs.simulation import Branches, Simulation, start
    from .runs.trace import Trace
    from .stats import Interval, interval
    from .study import Study, StudyResult, load_study, verify
    from .tuning import TuneResult, Tuning, tune

# Modules are imported on first use, so that `import fairlane` and `fairlane --help` are quick.
_WHERE = {
    "Comparison": "comparison",
    "CongestionControl": "own.cc",
    "cc_include": "own.cc",
    "load_cc": "own.cc",
    "load_queue": "own.plugin",
    "compare": "comparison",
    "Interval": "stats",
    "Network": "runs.network",
    "Parameter": "own.plugin",
    "Partition": "runs.partition",
    "Pcap": "runs.pcap",
    "plot": "runs.plots.overlay",
    "Trace": "runs.trace",
    "export": "formats.export",
    "import_file": "formats.imports",
    "Qdisc": "own.plugin",
    "Result": "runs.result",
    "Study": "study",
    "StudyResult": "study",
    "Branches": "runs.simulation",
    "Simulation": "runs.simulation",
    "start": "runs.simulation",
    "interval": "stats",
    "load": "runs.result",
    "load_study": "study",
    "Report": "reports",
    "report": "reports",
    "reproduce": "papers",
    "run": "runs.result",
    "Tuning": "tuning",
    "TuneResult": "tuning",
    "tune": "tuning",
    "verify": "study",
    "version": "_core",
}
_NEEDS = {
    **dict.fromkeys(
        ("Comparison", "compare", "Report", "Study", "StudyResult", "load_study", "report", "reproduce", "Tuning", "TuneResult", "verify"),
        "study",
    ),
    "tune": "tune",
}
"""The extras that names require on import; other names check for theirs on use."""
_MODULES = {m: m for m in ("_core", "_params", "papers", "settings", "stats", "tcp")} | {"cc": "own.cc", "plugin": "own.plugin"}

__all__ = [
    "Branches",
    "Comparison",
    "CongestionControl",
    "FairlaneError",
    "FolderError",
    "Interval",
    "Network",
    "Parameter",
    "Partition",
    "Pcap",
    "Trace",
    "PluginError",
    "Qdisc",
    "Report",
    "Result",
    "RunError",
    "ScenarioError",
    "Simulation",
    "Study",
    "StudyResult",
    "UnknownNameError",
    "cc_include",
    "compare",
    "export",
    "import_file",
    "interval",
    "load",
    "load_cc",
    "load_queue",
    "load_study",
    "plot",
    "report",
    "reproduce",
    "run",
    "settings",
    "start",
    "TuneResult",
    "Tuning",
    "tcp",
    "tune",
    "verify",
    "version",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        if name in _NEEDS:
            from .base.extras import need

            need(_NEEDS[name])
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    if name in _MODULES:
        try:
            return import_module(f".{_MODULES[name]}", __name__)
        except ModuleNotFoundError as e:
            if e.name != "fairlane._core":
                raise
            raise ImportError("fairlane's extension is not built: run `make build`, or install the package") from e
    if name == "__version__":
        return import_module("._core", __name__).version()
    if name[:1].isupper():
        params = import_module("._params", __name__)
        if hasattr(params, name):
            return getattr(params, name)
    from .errors import missing_attribute

    raise missing_attribute("fairlane", name, [] if name.startswith("_") else __dir__())


def __dir__() -> list[str]:
    return sorted({*__all__, *getattr(import_module("._params", __name__), "__all__", ())})
