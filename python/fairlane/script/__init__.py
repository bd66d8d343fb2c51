"""Packet scripts: packetdrill tests, run against fairlane's TCP in simulated time.

>>> from fairlane.script import run_text
>>> out = run_text('''
... 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
... +0 bind(3, ..., ...) = 0
... +0 listen(3, 1) = 0
... +0 < S 0:0(0) win 32792 <mss 1000,nop,wscale 7>
... +0 > S. 0:0(0) ack 1 <...>
... +.1 < . 1:1(0) ack 1 win 257
... +0 accept(3, ..., ...) = 4
... +0 write(4, ..., 2000) = 2000
... +0 > P. 1:2001(2000) ack 1
... +0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
... ''')
>>> out.passed
True
"""

from .diagnostics import Refusal, ScriptError
from .parser import parse
from .runner import Outcome, run_file, run_text

__all__ = ["Outcome", "Refusal", "ScriptError", "parse", "run_file", "run_text"]
