"""User-defined queues written in Python: slower than the built-in ones, equal otherwise. Congestion controls are in `fairlane.cc`.

A class with `enqueue` and `dequeue` is a queue discipline that scenarios can name::

    import fairlane as fl

    class Lifo(fl.Qdisc):
        \"\"\"Last in, first out.\"\"\"

        limit = fl.Parameter("50p", "What waits.")
        reorders = True

        def start(self):
            self.stack = []

        def enqueue(self, packet):
            self.stack.append(packet)
            if len(self.stack) > self.limit.packets:
                self.drop(self.stack.pop())

        def dequeue(self):
            return self.stack.pop() if self.stack else None

    fl.run("scenario.toml", sets={"links.bottleneck.queue": "Lifo"})
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from abc import ABC, abstractmethod
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from .. import _core
from ..base.sha256sums import digest_in
from ..errors import FairlaneError
from .modules import Changed, Made, Source, afresh, made_of, sha256

if TYPE_CHECKING:
    from .._core import Packet
    from ..base.spec import Announced


class PluginLoadError(FairlaneError):
    """A plug-in file that cannot be loaded."""


class Length(NamedTuple):
    """A queue length: `packets` or `bytes` is the limit, the other is infinite."""

    packets: float
    bytes: float


class Link(NamedTuple):
    """The link that a queue feeds: `rate` in bit/s, `delay` in seconds."""

    rate: float
    delay: float


class _Announced:
    """Number of registrations: a scenario read earlier may hold an older plug-in of the same name."""

    times = 0


announced = _Announced()

#: How the names of shared libraries end.
LIBRARIES = (".so", ".dylib", ".dll")

#: Format in the schema, and how its text becomes a value.
_QUANTITIES = {"len": "fl-len", "dur": "fl-dur", "rate": "fl-rate", "bytes": "fl-bytes"}


class Parameter:
    """A parameter of a user-defined queue or congestion control, declared in the body of the class.

    Args:
        default: the default, which also sets the type: `"50p"` or `"64KiB"` a queue length (the attribute is a `Length`),
            `"5ms"` a duration (seconds), `"10Mbit/s"` a rate (bit/s), else a bool, int, float or text.
        doc: the meaning, for `fairlane explain`.
        choices: the allowed texts.
        min: smallest number allowed.
        max: largest number allowed.
    """

    def __init__(
        self,
        default: bool | float | str,
        doc: str = "",
        *,
        choices: list[str] | None = None,
        min: float | None = None,
        max: float | None = None,
    ) -> None:
        self.default = default
        self.doc = doc
        self.kind = _core.quantity_kind(default) if isinstance(default, str) and choices is None else None
        self.schema: dict[str, Any] = {"description": doc, "default": default}
        if choices is not None:
            self.schema["enum"] = choices
        elif self.kind:
            self.schema |= {"type": "string", "format": _QUANTITIES[self.kind]}
        else:
            names = {bool: "boolean", int: "integer", float: "number", str: "string"}
            self.schema["type"] = names[type(default)]
        if min is not None:
            self.schema["minimum"] = min
        if max is not None:
            self.schema["maximum"] = max

    if TYPE_CHECKING:  # an instance has the value instead of the declaration

        def __get__(self, instance: object, owner: type | None = None) -> Any: ...

    def value(self, written: Any) -> Any:
        """Converts a value of a scenario to the attribute of the instance."""
        if self.kind is None:
            return written
        number, packets = _core.quantity(self.kind, written)
        if self.kind == "len":
            return Length(number, math.inf) if packets else Length(math.inf, number)
        return number


def declared(cls: type) -> dict[str, Parameter]:
    """Returns the parameters declared in a class and its bases."""
    return {name: p for base in reversed(cls.__mro__) for name, p in vars(base).items() if isinstance(p, Parameter)}


def sentence(cls: type) -> str:
    """Returns the first paragraph of a class's docstring on one line."""
    return inspect.cleandoc(cls.__doc__ or cls.__name__).split("\n\n")[0].replace("\n", " ")


def schema_of(parameters: dict[str, Parameter]) -> str:
    """Returns the JSON Schema of a table of these parameters, as text."""
    return json.dumps({
        "type": "object",
        "properties": {name: p.schema for name, p in parameters.items()},
        "additionalProperties": False,
    })  # fmt: skip


def users_traceback(error: BaseException) -> str:
    """Returns the traceback of an exception without frames of this package."""
    from traceback import TracebackException

    shown = TracebackException.from_exception(error)
    here = (str(Path(__file__).parent.parent), "<frozen importlib")
    part: TracebackException | None = shown
    while part is not None:
        own = [frame for frame in part.stack if not frame.filename.startswith(here)]
        if own or part.exc_type is SyntaxError:  # a syntax error has its own place
            part.stack[:] = own
        part = part.__cause__ or part.__context__
    return "".join(shown.format()).rstrip()


class Qdisc(ABC):
    """Base of queue disciplines written in Python.

    The class statement of a subclass registers it under its own name. Each link of each run has one instance. The simulator calls:

    - `start()` once, when parameters, `link` and `flows` are set; raise `ValueError` for invalid parameters;
    - `enqueue(packet)` for every arrival: hold the packet, or `drop` it;
    - `dequeue()` when the link is free: the packet to send, or None if the queue is empty;
    - `timer()`, if defined, at time zero and at each time it returned (seconds), or None for no more: periodic updates;
    - `ready()`, if defined, for shapers: the time (seconds) from which `dequeue` may be called, or None for at once.

    Each arriving packet must be sent or dropped exactly once. An exception ends the run with its traceback and the
    simulated time. Use `random()` for random numbers, so that a seed gives the same run.

    Attributes:
        reorders: set it to True if packets of one flow may overtake one another.
    """

    reorders: ClassVar[bool] = False
    _parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._parameters = declared(cls)
        if any(getattr(getattr(cls, method), "__isabstractmethod__", False) for method in ("enqueue", "dequeue")):
            return  # A base class of others.
        try:
            _core.register_queue(cls.__name__, sentence(cls), schema_of(cls._parameters), cls._make, cls)
            announced.times += 1
        except ValueError as e:
            raise PluginLoadError(str(e)) from None

    @classmethod
    def _make(cls, params: str, link: dict[str, float], flows: list[str]) -> Qdisc:
        queue = cls.__new__(cls)
        queue._handle = _core.QueueHandle()
        queue.link = Link(**link)
        queue.flows = flows
        for name, value in json.loads(params).items():
            setattr(queue, name, cls._parameters[name].value(value))
        queue.start()
        return queue

    @classmethod
    def spec(cls, **params: Any) -> dict[str, dict[str, Any]]:
        """Returns this queue with these parameters, for `queue=`."""
        return {cls.__name__: params}

    link: Link
    flows: list[str]
    _handle: _core.QueueHandle

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return self._handle.now

    @property
    def packets(self) -> int:
        """Queue length in packets; during `enqueue` it includes the arriving one."""
        return self._handle.packets

    @property
    def bytes(self) -> int:
        """Queue length in bytes; during `enqueue` it includes the arriving packet."""
        return self._handle.bytes

    def random(self) -> float:
        """Returns a number from the random stream of the queue, uniform in [0, 1)."""
        return self._handle.random()

    def drop(self, packet: Packet, why: str = "overflow") -> None:
        """Drops an arriving or a queued packet.

        `why` is counted separately in the metrics: overflow, early, forced, head or evicted.
        """
        self._handle.drop(packet, why)

    def mark(self, packet: Packet) -> None:
        """Sets congestion experienced (RFC 3168 section 5). Raises `ValueError` if the packet is not ECN-capable."""
        self._handle.mark(packet)

    def start(self) -> None:  # noqa: B027 (a queue need not define it)
        """Called once before the first packet."""

    @abstractmethod
    def enqueue(self, packet: Packet) -> None:
        """Called for every arrival."""

    @abstractmethod
    def dequeue(self) -> Packet | None:
        """Called when the link is free."""

    def timer(self) -> float | None:
        """Called at time zero and at each time that it returned."""
        return None

    def ready(self) -> float | None:
        """Returns the time from which `dequeue` may be called, for shapers."""
        return None


_libraries: dict[str, str] = {}
"""SHA-256 of the shared libraries loaded by this process."""


def load_library(path: str | Path, wanted: Literal["cc", "queues", "stacks", "any"]) -> list[Announced]:
    """Loads a shared library, registers its tables of one kind or all, and returns the names."""
    place = str(Path(path).resolve())
    try:
        digest = digest_in(Path(place))
    except OSError:
        digest = ""  # the core reports the error
    if _libraries.get(place, digest) != digest:
        raise PluginLoadError(
            f"{path} has changed since this process loaded it, and the system loads a library once per name: restart the process, "
            "or give the library another name"
        )
    try:
        names = _core.load_library(str(path), wanted)
        announced.times += 1
        _libraries[place] = digest
        return names
    except ValueError as e:
        raise PluginLoadError(str(e)) from None


def load_queue(path: str | Path) -> list[Announced]:
    """Loads a shared library with queues, built with `fairlane_queue.h`; returns their names for use in scenarios.

    Raises:
        PluginLoadError: it cannot be loaded, or a table in it is of another version or incomplete.
    """
    return load_library(path, "queues")


def load_stack(path: str | Path) -> list[Announced]:
    """Loads a shared library with transport stacks, built with `fairlane_stack.h`; returns their names for use in scenarios.

    Raises:
        PluginLoadError: it cannot be loaded, or a table in it is of another version or incomplete.
    """
    return load_library(path, "stacks")


def load(path: str | Path) -> Made:
    """Loads a plug-in, a Python file or a shared library, so that scenarios can name its queues and congestion controls.

    Modules that a Python file imports from outside of installed packages are loaded again with it. Returns the parts of the plug-in.

    Raises:
        PluginLoadError: the file is missing, or its code fails.
    """
    file = Path(path)
    if file.suffix in LIBRARIES or ".so." in file.name:
        load_library(file, "any")
        return Made.of(_libraries[str(file.resolve())])
    if not file.is_file():
        raise PluginLoadError(f"plug-in {str(path)!r} not found: give a Python file or a shared library with queues or congestion controls")
    spec = spec_from_file_location(f"fairlane_plugin_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise PluginLoadError(f"{str(path)!r} is not a plug-in: its name must end in .py, or in .so, .dylib or .dll for a shared library")
    spec.loader = source = Source(spec.name, str(file))
    module = module_from_spec(spec)
    before = sys.modules.get(spec.name)
    try:
        with afresh() as recorded:
            # The module of a class can be looked up.
            sys.modules[spec.name] = module
            source.exec_module(module)
            text = file.read_bytes()
            if sha256(text) != source.digest:
                raise Changed(f"the plug-in {path} changes while it is loaded: try again")
            return made_of(str(path), text, recorded)
    except BaseException as e:
        sys.modules.pop(spec.name, None)
        if before is not None:
            sys.modules[spec.name] = before
        if isinstance(e, FairlaneError | KeyboardInterrupt):
            raise
        # Every exception is an error of the plug-in; SystemExit as well, since a silent exit would look like success.
        why = "it ends the program" if isinstance(e, SystemExit) else "its code fails"
        raise PluginLoadError(f"{str(path)!r} cannot be loaded: {why}\n{users_traceback(e)}") from None
