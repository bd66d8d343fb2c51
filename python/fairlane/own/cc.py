"""User-defined congestion controls: Python classes, and shared libraries with the interface of `fairlane_cc.h`.

A class with `on_ack` and `on_congestion` is a congestion control that scenarios can name::

    import fairlane as fl

    class AIMD(fl.CongestionControl):
        \"\"\"Additive increase by a segments a round trip, multiplicative decrease by the share b.\"\"\"

        a = fl.Parameter(1.0, "Segments the window grows in a round trip.", min=0)
        b = fl.Parameter(0.5, "Share of the window that a loss takes.", min=0, max=1)

        def on_ack(self, sample):
            if not self.unused(sample):
                left = self.slow_start(sample)
                self.cwnd += self.a * left * self.mss / self.cwnd

        def on_congestion(self, event):
            self.cut(event, (1 - self.b) * self.basis(event))

    fl.run("scenario.toml", sets={"flows.tcp.tcp.cc": "AIMD"})
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from .. import _core
from .plugin import Parameter, PluginLoadError, announced, declared, load_library, schema_of, sentence

if TYPE_CHECKING:
    from .._core import AckSample, CongestionEvent, LostSample, RecoveryExit
    from ..base.spec import Announced


class Connection(NamedTuple):
    """Parameters of TCP that concern the window; sizes in bytes."""

    flow: str
    """Name of the flow."""
    mss: int
    """Largest payload of a segment."""
    initial_ssthresh: float
    """Infinite if arbitrarily high."""
    window: float
    """Upper bound of the data in flight besides `cwnd`; infinite without one."""
    byte_counting: int | None
    """Largest number of segments that an acknowledgment counts for (RFC 3465); None: one each."""
    cwnd_validation: bool
    """True if the window grows only while it limits the sender (RFC 7661 section 4.3)."""
    loss_basis: str
    """Base of the reduction after a loss: `flight`, `cwnd` or `smaller`."""
    whole_segments: bool
    """True if `ssthresh` is a whole number of segments."""
    timeout_cuts_again: bool
    """True if each consecutive timeout lowers `ssthresh`."""


class CongestionControl(ABC):
    """Base of congestion controls written in Python.

    The class statement of a subclass registers it under its own name. Each flow of each run has one instance. The simulator reads two
    attributes after every call: `cwnd`, the largest amount in flight, never below one segment (`mss`), and `ssthresh`, infinite while
    arbitrarily high. Sizes are payload bytes and may have fractions, times are seconds, rates bit/s. The simulator calls:

    - `start()` once, when the parameters and `tcp` (a `Connection`) are set; raise `ValueError` for invalid parameters;
    - `on_established(now, window)`: the connection is open, and the initial window is `window`;
    - `on_ack(sample)` for every acknowledgment of new data outside of fast recovery;
    - `on_congestion(event)` once for each loss event or ECN echo; `event.kind` is `fast_retransmit`, `restart` (a loss under
      `recovery = "tahoe"`), `timeout` or `ecn`;
    - `on_recovery_exit(exit)`, `on_idle_restart(now, window)`, `on_syn_loss(ssthresh)`, `settle()` and `undo()`, which follow RFC
      5681 and its companions unless they are defined;
    - `on_sent(now, bytes, in_flight)` for every segment, if the class sets `wants_every_ack` or `wants_rate`, and `on_lost(lost)` for
      every lost one, if it sets `wants_rate`;
    - `pacing_rate()`, if defined, after each other call: the pacing rate, or None for the rate of TCP's own parameters.

    An exception, or an invalid window, ends the run with the flow, the simulated time and a traceback. Use `random()`
    for random numbers, so that a seed gives the same run.

    Attributes:
        recovery: the recovery scheme: tahoe, reno, newreno, sack or fack.
        ecn: the required ECN mode: off, classic, dctcp or accecn.
        wants_rate: set it to True for `sample.rate`, a delivery rate sample (draft-ietf-ccwg-bbr section 4.1), for `on_lost`, and for
            every acknowledgment that delivers data, also in recovery. The window must not grow where `sample.may_grow` is False.
        wants_every_ack: set it to True for every acknowledgment that delivers data, without rate samples and `on_lost`.
        pacing: set it to True if segments are always spread in time.
        ect1: set it to True if data carries ECT(1) instead of ECT(0) where ECN is in use.
        owns_recovery: set it to True if it alone limits the data in flight during recovery.
    """

    recovery: ClassVar[str] = "sack"
    ecn: ClassVar[str] = "off"
    wants_rate: ClassVar[bool] = False
    wants_every_ack: ClassVar[bool] = False
    pacing: ClassVar[bool] = False
    ect1: ClassVar[bool] = False
    owns_recovery: ClassVar[bool] = False
    _parameters: ClassVar[dict[str, Parameter]] = {}

    tcp: Connection
    mss: int
    cwnd: float
    ssthresh: float
    _random: _core.Random
    _prior: tuple[float, float] | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._parameters = declared(cls)
        if any(getattr(getattr(cls, method), "__isabstractmethod__", False) for method in ("on_ack", "on_congestion")):
            return  # A base class of others.
        try:
            _core.register_cc(cls.__name__, sentence(cls), schema_of(cls._parameters), cls._make, cls)
            announced.times += 1
        except ValueError as e:
            raise PluginLoadError(str(e)) from None

    @classmethod
    def _make(cls, params: str, tcp: dict[str, Any], random: _core.Random) -> CongestionControl:
        cc = cls.__new__(cls)
        cc._random = random
        cc._prior = None
        cc.tcp = Connection(**tcp)
        cc.mss = cc.tcp.mss
        cc.cwnd, cc.ssthresh = float(cc.mss), cc.tcp.initial_ssthresh
        for name, value in json.loads(params).items():
            setattr(cc, name, cls._parameters[name].value(value))
        cc.start()
        return cc

    @classmethod
    def spec(cls, **params: Any) -> dict[str, dict[str, Any]]:
        """Returns this algorithm with these parameters, for `cc` of TCP: `tcp={"cc": AIMD.spec(a=2)}`."""
        return {cls.__name__: params}

    def random(self) -> float:
        """Returns a number from the random stream of the flow, uniform in [0, 1)."""
        return self._random.random()

    # Functions of the RFC 5681 family.

    def unused(self, sample: AckSample) -> bool:
        """Returns true if the window did not limit the sender, so that an acknowledgment must not grow it (RFC 7661 section 4.3)."""
        return self.tcp.cwnd_validation and not sample.cwnd_limited

    def slow_start(self, sample: AckSample) -> float:
        """Grows the window below `ssthresh` (RFC 5681 section 3.1, RFC 3465).

        Returns the acknowledged bytes left for congestion avoidance. Call it on a line of its own: in `self.cwnd += ...` Python reads
        `self.cwnd` before it evaluates the right side.
        """
        mss, limit = self.mss, self.tcp.byte_counting
        if limit is None:
            if self.cwnd < self.ssthresh:
                self.cwnd += mss
                return 0.0
            return float(mss)
        n = float(min(sample.acked, limit * mss))
        if self.cwnd < self.ssthresh:
            up = min(n, self.ssthresh - self.cwnd)
            self.cwnd += up
            n -= up
            # The acknowledgment of a retransmission may cover a window that arrived earlier: it does not count beyond the threshold.
            if n <= 0 or (sample.in_recovery and n > mss):
                return 0.0
        return n

    def basis(self, event: CongestionEvent) -> float:
        """Returns the base of a reduction: the flight size (RFC 5681 equation 4), the window, or the smaller one."""
        window = min(self.cwnd, self.tcp.window)
        return {"flight": event.flight, "cwnd": window}.get(self.tcp.loss_basis, min(event.flight, window))

    def cut(self, event: CongestionEvent, target: float) -> None:
        """Reduces the window: `ssthresh` becomes `target`, at least two segments; `cwnd` follows from the kind of event."""
        if not event.repeated or self.tcp.timeout_cuts_again:
            whole = target // self.mss * self.mss if self.tcp.whole_segments else target
            self.ssthresh = float(max(whole, 2 * self.mss))
        if event.kind in ("timeout", "restart"):
            self.cwnd = float(self.mss)  # RFC 5681 section 3.1: the loss window.
        else:
            self.cwnd = max(target, self.mss) if self.tcp.loss_basis == "cwnd" else self.ssthresh

    def _congestion(self, event: CongestionEvent) -> None:
        if self._prior is None:
            self._prior = (self.cwnd, self.ssthresh)
        self.on_congestion(event)

    # Functions that the simulator calls.

    def start(self) -> None:  # noqa: B027 (an algorithm need not define it)
        """Called once before the connection opens."""

    @abstractmethod
    def on_ack(self, sample: AckSample) -> None:
        """Called for every acknowledgment of new data."""

    @abstractmethod
    def on_congestion(self, event: CongestionEvent) -> None:
        """Called once per loss event or ECN echo."""

    def on_established(self, now: float, window: float) -> None:
        """Called when the connection is open; sets the window to `window`."""
        self.cwnd = float(max(window, self.mss))

    def on_recovery_exit(self, exit: RecoveryExit) -> None:
        """Called at the end of fast recovery."""
        if exit.to_ssthresh:
            self.cwnd = self.ssthresh
        self.cwnd = float(max(min(self.cwnd - exit.deflated, exit.bound), self.mss))

    def on_idle_restart(self, now: float, window: float) -> None:
        """Called before data is sent after an idle time; lowers the window to `window` (RFC 5681 section 4.1)."""
        self.cwnd = float(max(min(self.cwnd, window), self.mss))

    def on_syn_loss(self, ssthresh: float) -> None:
        """Called after the loss of a SYN, if TCP's parameters have a threshold for it."""
        self.ssthresh = ssthresh

    def on_sent(self, now: float, bytes: int, in_flight: int) -> None:  # noqa: B027
        """Called for every segment sent."""

    def on_lost(self, lost: LostSample) -> None:  # noqa: B027
        """Called for every segment deemed lost."""

    def pacing_rate(self) -> float | None:
        """Returns the pacing rate in bit/s."""
        return None

    def settle(self) -> None:
        """Called when the reductions so far are final."""
        self._prior = None

    def undo(self) -> None:
        """Reverts the reductions since the last `settle`, which were spurious (RFC 4015)."""
        if self._prior is not None:
            cwnd, ssthresh = self._prior
            self.cwnd, self.ssthresh = max(self.cwnd, cwnd), max(self.ssthresh, ssthresh)
            self._prior = None


def cc_include() -> str:
    """Returns the folder with `fairlane_cc.h` and `fairlane_queue.h`.

    For the compiler: `-I$(python -c 'import fairlane; print(fairlane.cc_include())')`.
    """
    return str(Path(__file__).parent / "include")


def load_cc(path: str | Path) -> list[Announced]:
    """Loads a shared library with congestion controls, built with `fairlane_cc.h`; returns their names for use in scenarios.

    Raises:
        PluginLoadError: it cannot be loaded, or a table in it is of another version or incomplete.
    """
    return load_library(path, "cc")
