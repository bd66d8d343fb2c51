"""fairlane: a packet-level network simulator for TCP, UDP and queue management.

A simulation in ten lines::

    import fairlane as fl

    net = fl.Network(duration="60s", warmup="10s")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": fl.queues.Droptail(limit="50p")},
    )
    net.flow("tcp", "s{i}", "d{i}", count=2, spread="200ms", tcp="sack")
    result = net.run(seeds="1..5")
    print(result.value("utilisation", link="bottleneck"))

Algorithms are classes with keyword arguments in `queues`, `cc`, `sources`, `controls`, `topologies`, `propagation`, `stacks` and
`transports`; quantities with types of their own are in `units`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from .errors import (
    ArgumentError,
    FairlaneError,
    FolderError,
    InputError,
    MissingError,
    PaperError,
    PluginError,
    RunError,
    ScenarioError,
    ScenarioWarning,
    UnknownNameError,
    WorkerError,
)

if TYPE_CHECKING:
    from . import cc, controls, papers, propagation, queues, settings, sources, stacks, stats, tcp, topologies, transports, units
    from ._core import version
    from .comparison.compare import compare
    from .comparison.result import Comparison
    from .formats.imports import import_file
    from .own.cc import CongestionControl, cc_include, load_cc
    from .own.plugin import Parameter, Qdisc, load_queue, load_stack
    from .papers import reproduce
    from .reports import Report, report
    from .runs.network import Network
    from .runs.partition import Partition
    from .runs.pcap import Pcap
    from .runs.plots.overlay import plot
    from .runs.prepared import Prepared, PreparedRuns
    from .runs.result import Result, load, run
    from .runs.simulation import Branches, Simulation, start
    from .runs.trace import Trace
    from .stats import Interval, interval
    from .study import Study, StudyResult, load_study, verify
    from .tuning import TuneResult, Tuning
    from .worst import WorstPaths, WorstResult

_ALGORITHMS = ("queues", "cc", "sources", "controls", "topologies", "propagation", "stacks", "transports")
_MODULES = (*_ALGORITHMS, "papers", "settings", "stats", "tcp", "units", "_core")
# Modules are imported on first use, so that `import fairlane` and `fairlane --help` are quick.
_NAMES = {
    "_core": "version",
    "comparison": "Comparison compare",
    "formats.imports": "import_file",
    "own.cc": "CongestionControl cc_include load_cc",
    "own.plugin": "Parameter Qdisc load_queue load_stack",
    "papers": "reproduce",
    "reports": "Report report",
    "runs.network": "Network",
    "runs.partition": "Partition",
    "runs.pcap": "Pcap",
    "runs.plots.overlay": "plot",
    "runs.prepared": "Prepared PreparedRuns",
    "runs.result": "Result load run",
    "runs.simulation": "Branches Simulation start",
    "runs.trace": "Trace",
    "stats": "Interval interval",
    "study": "Study StudyResult load_study verify",
    "tuning": "TuneResult Tuning",
    "worst": "WorstPaths WorstResult",
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names.split()}
_NEEDS = {"comparison": "study", "reports": "study", "study": "study", "tuning": "tune", "worst": "tune"}
"""The extras of packages that need their libraries on import; others check for theirs on use."""

__all__ = [
    "ArgumentError",
    "Branches",
    "Comparison",
    "CongestionControl",
    "FairlaneError",
    "FolderError",
    "InputError",
    "Interval",
    "MissingError",
    "Network",
    "PaperError",
    "Parameter",
    "Partition",
    "Pcap",
    "PluginError",
    "Prepared",
    "PreparedRuns",
    "Qdisc",
    "Report",
    "Result",
    "RunError",
    "ScenarioError",
    "ScenarioWarning",
    "Simulation",
    "Study",
    "StudyResult",
    "Trace",
    "TuneResult",
    "Tuning",
    "UnknownNameError",
    "WorkerError",
    "WorstPaths",
    "WorstResult",
    "cc",
    "cc_include",
    "compare",
    "controls",
    "import_file",
    "interval",
    "load",
    "load_cc",
    "load_queue",
    "load_stack",
    "load_study",
    "papers",
    "plot",
    "propagation",
    "queues",
    "report",
    "reproduce",
    "run",
    "settings",
    "sources",
    "stacks",
    "start",
    "stats",
    "tcp",
    "topologies",
    "transports",
    "units",
    "verify",
    "version",
]


if PathFinder.find_spec("fairlane_stacks") is not None:
    # The same extension with real transport stacks in it: the distribution fairlane-stacks.
    sys.modules[f"{__name__}._core"] = import_module("fairlane_stacks._core")


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        if _WHERE[name] in _NEEDS:
            from .base.extras import loaded

            return loaded(name, _NEEDS[_WHERE[name]], lambda: getattr(import_module(f".{_WHERE[name]}", __name__), name))
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    if name in _MODULES:
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as e:
            if e.name != "fairlane._core":
                raise
            raise ImportError("fairlane's extension is not built: run `make build`, or install the package") from None
    if name == "__version__":
        return import_module("._core", __name__).version()
    algorithms = {n: module for module in _ALGORITHMS for n in import_module(f".{module}", __name__).__all__} if name[:1].isupper() else {}
    if name in algorithms:  # `fairlane.Red`, which is written `fairlane.queues.Red`
        return getattr(import_module(f".{algorithms[name]}", __name__), name)
    from .errors import missing_attribute

    known = [] if name.startswith("_") else [*__dir__(), *(f"{module}.{n}" for n, module in algorithms.items())]
    raise missing_attribute("fairlane", name, known)


def __dir__() -> list[str]:
    return sorted(__all__)
