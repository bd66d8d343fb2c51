"""`Network`: a scenario built in Python, equivalent to a scenario file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import cleandoc
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from ..base import toml
from ..base.bare_numbers import check_scenario
from ..base.files import save_bytes
from ..base.paths import split
from ..base.scenario import read_scenario, resolve, tree_of
from ..base.spec import Params, plain
from ..builders import Builders
from ..errors import ArgumentError
from ..settings import Duration, FlowSettings, LinkSettings, NetworkSettings, Rate, WirelessSettings

if TYPE_CHECKING:
    from .partition import Partition
    from .prepared import Prepared
    from .result import Result, RunOptions
    from .simulation import Simulation

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _takes(settings: type) -> Callable[[_Method], _Method]:
    """Returns a decorator that adds the list of settings to the docstring of a method."""

    def listed(method: _Method) -> _Method:
        if method.__doc__ and settings.__doc__:  # None under -OO
            method.__doc__ = f"{cleandoc(method.__doc__)}\n\n{cleandoc(settings.__doc__).partition(chr(10) * 2)[2]}\n"
        return method

    return listed


class Network(Builders):
    """Network with its flows and the duration of a run.

    Arguments take the values of a scenario file under the same name: text with a unit (`"10Mbit/s"`,
    `"20ms"`, `"50p"`), an algorithm's name, a table as a dict, or a parameter class such as
    `fairlane.queues.Red(min="10p")`, or a quantity of `fairlane.units`. A number without its unit is an error at once; `run`, `resolve`
    and `save` check everything and report all problems together.

    >>> net = Network(duration="10s", sample="100ms").link("a", "b", rate="1Mbit/s", delay="5ms")
    >>> net = net.flow("tcp", "a", "b", tcp="newreno")
    >>> print(net.to_toml())
    duration = "10s"
    sample = "100ms"
    <BLANKLINE>
    [links.a-b]
    from = "a"
    to = "b"
    rate = "1Mbit/s"
    delay = "5ms"
    <BLANKLINE>
    [flows.tcp]
    from = "a"
    to = "b"
    tcp = "newreno"
    <BLANKLINE>
    """

    @_takes(NetworkSettings)
    def __init__(self, *, duration: Duration, **settings: Unpack[NetworkSettings]) -> None:
        """Creates an empty network; its runs simulate this `duration`."""
        self._tree: dict[str, Any] = plain({"duration": duration, **settings})
        check_scenario(self._tree, "<network>")
        self.shown = "<network>"
        """Name in messages; the files of the scenario are relative to the folder of this name."""

    # --- topology -------------------------------------------------------------------------------------

    def _topology(self, builder: str | Params, settings: Mapping[str, Any]) -> Self:
        name, settings = _named(builder, settings)
        if "topology" in self._tree:
            raise ArgumentError(f"this network already has the topology {next(iter(self._tree['topology']))!r}")
        table = {name: plain(settings)}
        check_scenario({"topology": table}, "<network>")
        self._tree["topology"] = table
        return self

    @_takes(LinkSettings)
    def link(self, start: str, end: str, /, *, name: str | None = None, **settings: Unpack[LinkSettings]) -> Self:
        """Adds a link from `start` to `end` and, unless `duplex=False`, back. The default name is "start-end"."""
        return self._add("links", name or f"{start}-{end}", {"from": start, "to": end, **plain(settings)})

    @_takes(LinkSettings)
    def refine(self, link: str, **settings: Unpack[LinkSettings]) -> Self:
        """Changes settings of a link that the topology builder creates."""
        return self._add("links", link, plain(settings))

    @classmethod
    def from_graph(
        cls,
        graph: Any,
        *,
        duration: Duration,
        rate: Rate = "10Mbit/s",
        delay: Duration = "5ms",
        map: str | Mapping[str, Any] = "",
        most: int | None = None,
        **settings: Unpack[NetworkSettings],
    ) -> Self:
        """Imports a network from a networkx graph or a file: GraphML, GML (as in the Topology Zoo), CSV, JSON, SNDlib, REPETITA or
        Rocketfuel.

        `map` names attributes and their units: "rate=capacity:Gbit/s,delay=dist:km". Demands become the flow group `demands`.

        Nodes keep their labels and positions, links their rates and delays. The default rate is `rate`. The default delay is that of light
        in fibre over the great circle if both ends have a latitude and a longitude, else `delay`. `most` raises the limit of 200,000 links.
        docs/guides/importing-topologies.md lists the attributes.

        >>> import networkx as nx
        >>> Network.from_graph(nx.path_graph(3), duration="1s").flow("f", "0", "2", tcp={})
        Network(2 links, 1 flow groups, 1s)
        """
        from ..graphs import MOST, read_graph

        read = read_graph(graph, rate=plain(rate), delay=plain(delay), most=MOST if most is None else most, map=map)
        made = cls(duration=duration, **settings)
        made._tree |= {"nodes": read.nodes, **({"positions": read.positions} if read.positions else {}), "links": read.links}
        if any("weight" in x for x in read.links.values()):
            made._tree["route_by"] = "weight"
        if read.demands:
            made._tree["flows"] = read.flows()
        return made

    @_takes(WirelessSettings)
    def wireless(self, name: str, /, **settings: Unpack[WirelessSettings]) -> Self:
        """Adds a Wi-Fi channel (IEEE 802.11) with its stations; the interface of a station is the link "NODE-NAME".

        >>> net = Network(duration="9s").wireless("air", nodes={"a": [0, 0], "b": [50, 0]}, rate="11Mbit/s")
        >>> net.to_dict()["wireless"]
        {'air': {'nodes': {'a': [0, 0], 'b': [50, 0]}, 'rate': '11Mbit/s'}}
        """
        return self._add("wireless", name, plain(settings))

    # --- traffic --------------------------------------------------------------------------------------

    @_takes(FlowSettings)
    def flow(self, name: str, sender: str = "", receiver: str = "", /, **settings: Unpack[FlowSettings]) -> Self:
        """Adds a flow, or with `count` a group whose hosts may contain `{i}`. Without hosts, `pairs` or `load` selects them.

        >>> Network(duration="9s").flow("late", "a", "b", tcp="reno", start="5s").to_dict()["flows"]
        {'late': {'from': 'a', 'to': 'b', 'tcp': 'reno', 'start': '5s'}}

        `class` is a keyword of Python: write `class_`.
        """
        own = {key.rstrip("_"): value for key, value in settings.items()}
        ends = {key: node for key, node in (("from", sender), ("to", receiver)) if node}
        return self._add("flows", name, {**ends, **plain(own)})

    def _control(self, control: str | Params, settings: Mapping[str, Any]) -> Self:
        control, settings = _named(control, settings)
        tables = self._tree.setdefault("control", {})
        known, table = tables.get(control), plain(settings)
        check_scenario({"control": {control: table}}, "<network>")
        if known is None:
            tables[control] = table
        else:
            tables[control] = [*(known if isinstance(known, list) else [known]), table]
        return self

    # --- everything else ------------------------------------------------------------------------------

    def set(self, path: str | Mapping[str, Any], value: Any = None) -> None:
        """Changes this network: a value by its dotted path, or several as a dict, as `--set` does. `replace` changes a copy.

        A path into a link of a topology builder refines that link.

        >>> net = Network(duration="1s")
        >>> net.set("links.x.queue.red.min", "5p")
        >>> net.to_dict()["links"]
        {'x': {'queue': {'red': {'min': '5p'}}}}
        """
        for place, own in (path if isinstance(path, Mapping) else {path: value}).items():
            self._put(place, own)

    def replace(self, path: str | Mapping[str, Any], value: Any = None) -> Self:
        """Returns a copy in which a value is another, given as for `set`; this network stays as it is.

        >>> net = Network(duration="1s")
        >>> net.replace({"duration": "9s", "seed": 3}), net
        (Network(0 links, 0 flow groups, 9s), Network(0 links, 0 flow groups, 1s))
        """
        import copy

        made = copy.deepcopy(self)
        made.set(path, value)
        return made

    def _put(self, path: str, value: Any) -> None:
        node, parts = self._tree, split(path)
        if parts is None:
            raise ArgumentError(
                f"cannot set {path!r}: not a path; write for instance links.bottleneck.rate, and names with spaces or dots in quotes"
            )
        for i, part in enumerate(parts[:-1]):
            below = node.setdefault(part, {})
            if isinstance(below, str):  # an algorithm without parameters becomes a table
                below = node[part] = {below: {}} if parts[i + 1] == below else {}
            if not isinstance(below, dict):
                raise ArgumentError(f"cannot set {path!r}: {'.'.join(parts[: i + 1])!r} is not a table")
            node = below
        node[parts[-1]] = plain(value)

    def to_dict(self) -> dict[str, Any]:
        """Returns the scenario as a dict."""
        import copy

        return copy.deepcopy(self._tree)

    def to_toml(self) -> str:
        """Returns the scenario file of this network."""
        return toml.dumps(self._tree)

    @classmethod
    def from_toml(cls, text: str) -> Network:
        """Creates a network from the text of a scenario file."""
        return cls._from(text, "<network>", "toml")

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Network:
        """Creates a network from a scenario file, TOML or JSON.

        Paths in the file, such as those of traces, are relative to its folder.
        """
        net = cls._from(*read_scenario(path))
        net.shown = str(Path(fspath(path)).parent / "<network>")
        return net

    @classmethod
    def _from(cls, text: str, name: str, form: str) -> Network:
        net = cls(duration="1s")
        net._tree = tree_of(text, name, form)
        return net

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the scenario file after checking it."""
        self.resolve()
        save_bytes(path, self.to_toml().encode("utf-8"))

    def resolve(self) -> dict[str, Any]:
        """Returns the scenario with every parameter filled in; raises `ScenarioError` with all problems."""
        return resolve(self)

    def run(self, seeds: int | str | Iterable[int] | None = None, **options: Unpack[RunOptions]) -> Result:
        """Runs the network; takes the options of `fairlane.run`."""
        from .result import run_of

        return run_of(self, seeds, options)

    def prepare(self, vary: str | Iterable[str] = ()) -> Prepared:
        """Checks this network once, for many runs with other values of the paths in `vary` (default: any); see `fairlane.Prepared`."""
        from ..base.scenario import source_of
        from .prepared import Prepared

        return Prepared(*source_of(self), vary)

    def partition(self, seed: int | None = None, *, threads: int | None = None) -> Partition:
        """Returns how a run is partitioned for several threads, or why it is not; see `fairlane.Partition`.

        `threads` (at least 2): parts that run on one thread are reported as one. Without it, every part is reported.
        """
        from ..base.scenario import checked
        from .partition import partition_of

        if threads is not None and threads < 2:
            raise ArgumentError(f"threads = {threads}: a partition needs 2 or more")
        return partition_of(checked(self), seed, threads)

    def start(self, seed: int | None = None, *, why: bool = False) -> Simulation:
        """Creates a simulation at time 0 with this seed (default: that of the network); see `fairlane.Simulation`."""
        from .simulation import start_of

        return start_of(self, seed, why=why)

    def _add(self, section: str, name: str, table: dict[str, Any]) -> Self:
        check_scenario({section: {name: table}}, "<network>")
        known = self._tree.setdefault(section, {})
        if name in known and "from" in table:
            raise ArgumentError(f"this network already has {section[:-1]} {name!r}: give another name")
        known[name] = {**known.get(name, {}), **table}
        return self

    def _repr_html_(self) -> str:
        from .network_html import network_html

        return network_html(self)

    def __repr__(self) -> str:
        shape = next(iter(self._tree.get("topology", {})), f"{len(self._tree.get('links', {}))} links")
        if "topology" not in self._tree and "wireless" in self._tree:
            shape += f", {len(self._tree['wireless'])} channels"
        return f"Network({shape}, {len(self._tree.get('flows', {}))} flow groups, {self._tree.get('duration')})"


def _named(algorithm: str | Params, settings: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Returns name and settings of an algorithm, given by name or as its class."""
    return (algorithm._name, {**algorithm.table(), **settings}) if isinstance(algorithm, Params) else (algorithm, settings)
