"""The settings of a host: `sysctl` values in the shell lines of a script, and their effects on a connection.

Shell lines are read, never executed. Settings without a counterpart cause a warning.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..base.files import read_input
from ..errors import FairlaneError, InputError, short
from .lexer import LARGEST
from .model import Script, Shell

_MOST_WORDS, _DIGITS = 200, 20
"""Most words of an arithmetic expression, and most digits of its numbers."""
_LONGEST_LINE = 20_000
_PREFIX = re.compile(r"^(?:/proc/sys/)?net[./](?:ipv4|core)[./]")
_ASSIGNMENT = re.compile(r"""((?:/proc/sys/)?net[./][\w./]{1,200})\s*=\s*("[^"]*"|'[^']*'|\S+)""")
_ECHO = re.compile(r"""echo\s+(?:-n\s+)?("[^"]*"|'[^']*'|\S+)\s*>\s*(/proc/sys/net/[\w./]{1,200})""")
_QDISC = re.compile(r"tc\s+qdisc\s+(?:add|replace|change)\s+dev\s+\S+\s+root\s+(?:handle\s+\S+\s+)?(\w+)(.*)")
_CALLED = re.compile(r"(?:^|\s|;|\.)([\w./-]{0,300}defaults\.sh)\b")
_SUM = re.compile(r"\$\(\(([-+*/\d\s()]*)\)\)")

LINUX = {
    "tcp_rmem": "4096 131072 6291456",
    "tcp_wmem": "4096 16384 4194304",
    "tcp_timestamps": "1",
    "tcp_sack": "1",
    "tcp_window_scaling": "1",
    "tcp_ecn": "2",
    "tcp_congestion_control": "cubic",
    "tcp_min_tso_segs": "2",
    "tcp_notsent_lowat": "4294967295",
    "tcp_tw_reuse": "2",
    "tcp_tw_reuse_delay": "1000",
    "tcp_fastopen": "1",
    "tcp_fastopen_key": "0-0-0-0",
    "tcp_syn_retries": "6",
}
"""Defaults of Linux that a connection uses."""

TESTS = {
    "tcp_rmem": "4096 540000 15728640",
    "tcp_wmem": "4096 262144 4194304",
    "tcp_slow_start_after_idle": "0",
    "tcp_ecn": "0",
    "tcp_early_retrans": "4",
    "tcp_recovery": "1",
    "tcp_frto": "2",
    "tcp_dsack": "1",
    "tcp_pacing_ss_ratio": "200",
    "tcp_pacing_ca_ratio": "120",
    "tcp_fastopen": "0x70403",
    "tcp_fastopen_key": "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4",
    "tcp_syn_retries": "5",
}
"""Settings of defaults.sh next to the kernel's own scripts, used if that file is missing."""

_READ = {"tcp_rmem", "tcp_wmem", "tcp_timestamps", "tcp_sack", "tcp_window_scaling", "tcp_ecn", "tcp_congestion_control"}
_READ |= {"tcp_min_tso_segs", "tcp_notsent_lowat", "tcp_tw_reuse", "tcp_tw_reuse_delay"}
_READ |= {"tcp_fastopen", "tcp_fastopen_key", "tcp_syn_retries"}
_WITHOUT_EFFECT = {
    "tcp_fack",
    "tcp_fastopen_cookies",
    "tcp_syncookies",
    "tcp_tso_win_divisor",
    "tcp_tso_rtt_log",
    "tcp_no_metrics_save",
    "tcp_moderate_rcvbuf",
    "tcp_synack_retries",
    "tcp_syn_linear_timeouts",
    "tcp_invalid_ratelimit",
    "tcp_autocorking",
    "tcp_adv_win_scale",
    "optmem_max",
    "net.mptcp.enabled",
    "rmem_max",
    "wmem_max",
}
"""Settings without effect here: packing of segments for the card, cookies, memory of earlier connections."""


def _millis(value: str) -> str:
    return f"{int(value)}ms"


_PARAMETERS: dict[str, Any] = {
    "tcp_frto": lambda v: {"frto": int(v) != 0},
    "tcp_dsack": lambda v: {"dsack": int(v) != 0},
    "tcp_reordering": lambda v: {"dupthresh": int(v)},
    "tcp_recovery": lambda v: {"rack": int(v) & 1 != 0},
    "tcp_early_retrans": lambda v: {"tlp": int(v) >= 3},
    "tcp_slow_start_after_idle": lambda v: {"idle_restart": "decay" if int(v) else "off"},
    "tcp_pacing_ss_ratio": lambda v: {"pacing_slow_start": int(v) / 100},
    "tcp_pacing_ca_ratio": lambda v: {"pacing_avoidance": int(v) / 100},
    "tcp_rto_min_us": lambda v: {"rto_min": f"{int(v)}us"},
    "tcp_rto_max_ms": lambda v: {"rto_max": _millis(v)},
}


class Settings:
    """Values by the names of the kernel, and warnings."""

    def __init__(self) -> None:
        self.values = dict(LINUX)
        self.warnings: list[str] = []
        self._told: set[str] = set()
        self.qdisc: tuple[str, list[str]] = ("pfifo", [])
        self.flushes = 0
        """Number of requests to forget the peer."""

    def begin(self, script: Script, folder: Path, files: tuple[str, ...] | None) -> None:
        """Applies the initial settings: the given files, or those of the suite that contains the script."""
        for name in files or ():
            try:
                text = read_input(name, LARGEST).decode("utf-8", errors="replace")
            except InputError as e:
                raise FairlaneError(f"--init_scripts={name}: {e}") from None
            self.read(text, Path(name).parent, depth=1)
        shells = [line for e in script.events if isinstance(e, Shell) for line in _lines(e.text) if len(line) <= _LONGEST_LINE]
        own = any(map(_CALLED.search, shells))
        if files is None and not own:
            # Scripts without settings rely on the settings that others of their suite leave behind.
            for above in (folder, *folder.resolve().parents):
                file = above / "common" / "defaults.sh"
                if file.is_file():
                    self._defaults(file)
                    break

    def read(self, shell: str, folder: Path, depth: int = 0) -> None:
        """Reads the settings in shell lines, and in a file of settings next to the script that they call."""
        for line in _lines(shell):
            if len(line) > _LONGEST_LINE:
                self.warn(f"not executed: a line of {len(line)} characters")
                continue
            self.flushes += "tcp_metrics flush" in line
            queues = [q for q in (_QDISC.match(part.strip()) for part in line.split(";")) if q]
            if queues:
                self.qdisc = (queues[-1].group(1), queues[-1].group(2).split())
                continue
            settings = [(name, value) for name, value in _ASSIGNMENT.findall(line)]
            settings += [(name, value) for value, name in _ECHO.findall(line)]
            for name, value in settings:
                self.set(name, value.strip("\"'"))
            called = _CALLED.search(line)
            if called and depth == 0:
                self._defaults(folder / called.group(1))
            elif not settings and depth == 0 and not self._known(line):
                self.warn(f"not executed: {line if len(line) <= 60 else line[:57] + '...'}")

    @staticmethod
    def _known(line: str) -> bool:
        """Handles lines that clean up, or that continue the previous command."""
        return bool(
            re.match(r"(/tmp/sysctl_restore|\./set_sysctls\.py|.*/set_sysctls\.py|rm |sync\b|sleep |true\b|:$|ip tcp_metrics flush)", line)
        )

    def _defaults(self, file: Path) -> None:
        try:
            text = read_input(file, LARGEST).decode("utf-8", errors="replace")
        except InputError:
            self.warn(f"{file.name} not found: the values of the kernel's own tests are used")
            self.values |= TESTS
            return
        self.read(text, file.parent, depth=1)

    def set(self, name: str, value: str) -> None:
        """Applies one setting."""
        short = _PREFIX.sub("", name).replace("/", ".")
        if short in _READ or short in _PARAMETERS:
            self.values[short] = value
        elif short not in _WITHOUT_EFFECT and (short, value) != ("tcp_fastopen_blackhole_timeout_sec", "0"):
            self.warn(f"the setting {short} has no counterpart here")

    def warn(self, text: str) -> None:
        """Adds a warning once."""
        if text not in self._told:
            self._told.add(text)
            self.warnings.append(text)

    @property
    def blocked(self) -> bool:
        """True if the queue of the device is blocked."""
        kind, words = self.qdisc
        return kind in ("pfifo", "bfifo") and words[:2] == ["limit", "0"]

    # Effects.

    def number(self, name: str) -> int:
        """Returns a setting as a number."""
        try:
            return int(self.values[name], 0)
        except ValueError:
            raise FairlaneError(f"the setting {name} is a number, not {self.values[name]!r}") from None

    def memory(self, name: str) -> tuple[int, int, int]:
        """Returns the smallest, initial and largest size of a buffer."""
        try:
            least, first, greatest = (int(x) for x in self.values[name].split())
        except ValueError:
            raise FairlaneError(f"the setting {name} is three numbers, not {self.values[name]!r}") from None
        return least, first, greatest

    def parameters(self) -> dict[str, Any]:
        """Returns the TCP parameters for the settings."""
        out: dict[str, Any] = {}
        for name, value in self.values.items():
            if name in _PARAMETERS:
                try:
                    out.update(_PARAMETERS[name](value))
                except ValueError:
                    raise FairlaneError(f"the setting {name} is a number, not {value!r}") from None
        if self.qdisc[0] == "fq":
            # fq sends each flow at the rate that TCP sets, in bursts of the smallest offload size.
            out |= {"pacing": True, "pacing_segments": max(1, self.number("tcp_min_tso_segs"))}
        return out


def _lines(shell: str) -> list[str]:
    """Returns the lines of a shell script, with arithmetic evaluated and without comments."""
    lines = (line.split("#", 1)[0].strip() for line in shell.replace("\\\n", " ").split("\n"))
    return [_SUM.sub(lambda m: str(_sum(m.group(1))), line) if len(line) <= _LONGEST_LINE else line for line in lines if line]


def _sum(text: str) -> int:
    """Evaluates $((...)): 64-bit integers, + - * / and parentheses."""
    words = re.findall(r"[0-9]+|[-+*/()]", text)
    if len(words) > _MOST_WORDS or max(map(len, words), default=0) > _DIGITS:
        raise FairlaneError(f"a sum of {len(words)} words or of very long numbers is not evaluated: {short(text)}")
    at = 0

    def atom() -> int:
        nonlocal at
        word = words[at] if at < len(words) else "0"
        at += 1
        if word == "(":
            value = chain()
            at += 1
            return value
        if word == "-":
            return -atom()
        return wrapped(int(word)) if word.isdigit() else 0

    def wrapped(value: int) -> int:
        return (value + (1 << 63)) % (1 << 64) - (1 << 63)

    def product() -> int:
        nonlocal at
        value = atom()
        while at < len(words) and words[at] in "*/":
            sign = words[at]
            at += 1
            right = atom()
            value = wrapped(value * right) if sign == "*" else value // right if right else 0
        return value

    def chain() -> int:
        nonlocal at
        value = product()
        while at < len(words) and words[at] in "+-":
            sign = words[at]
            at += 1
            value = wrapped(value + product() if sign == "+" else value - product())
        return value

    return chain()
