"""Sarpkaya, Fund and Panwar 2025: parameters that paper and artefacts do not state, with plausible values."""

from __future__ import annotations

from fairlane.papers import Levels, Open, Span

OLD, NEW = "0.6", "0.7"
"""Versions of Linux' tcp_prague."""

OPENS = (
    Open(
        "Prague version",
        OLD,
        Levels((OLD, NEW)),
        "the kernel is the testing build of the L4S team, without a date: 0.6 becomes independent of the round trip after 500 rounds and "
        "sends at least two segments in a burst, 0.7 after 4 rounds and single ones",
    ),
    Open(
        "starts", "300ms", Span("10ms", "2s", "log"), "the senders start by two remote shells, one after the other; no offset is recorded"
    ),
    Open(
        "path jitter",
        "50us",
        Span("1us", "200us", "log"),
        "not stated: virtual machines with netem's and the shaper's timers; tens of microseconds are usual, and only once in a while more",
    ),
    Open(
        "hosts and switches",
        "100us",
        Span("20us", "300us", "log"),
        "round trip besides netem's 10 ms: Prague alone in its queue has a smoothed round trip of 10.24 ms, of which 0.12 ms are a packet",
    ),
    Open(
        "bursts of segments",
        True,
        Levels((True, False)),
        "segmentation offload is off at the devices, but TCP itself still forms bursts since Linux 4.17 and cuts them up below; older "
        "kernels do not",
    ),
    Open("clock tick", "1ms", Levels(("1ms", "4ms")), "HZ of the kernels is not stated: 1000 in those for BBR, 250 in Ubuntu's"),
)
"""Queues, kernels, duration, trials and ECN settings are in the artefacts; `parameters.csv` lists them."""
