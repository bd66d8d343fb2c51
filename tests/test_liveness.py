"""Runs that end: packets without bytes, and waits of no time, in every queue and source."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairlane import _core

ENOUGH = 120
"""Seconds after which runs of a moment are taken never to end."""

QUEUES = sorted(entry["name"] for entry in json.loads(_core.registry()) if entry["kind"] == "queue")

RUN = """
import json, sys
import fairlane as fl
for tree in json.load(sys.stdin):
    try:
        with open("s.json", "w") as f:
            json.dump(tree, f)
        fl.run("s.json")
    except fl.ScenarioError as e:
        print(e, file=sys.stderr)
print("ends")
"""


def ends(trees: list[dict[str, Any]], folder: Path) -> None:
    """All of them end, in a process of their own, since nothing else can end a loop in a queue."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::UserWarning", "-c", RUN],
        input=json.dumps(trees),
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        cwd=folder,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


def net(queue: Any, **flow: Any) -> dict[str, Any]:
    link = {"from": "a", "to": "b", "rate": "1Mbit/s", "delay": "50ms", "queue": queue}
    return {"duration": "2s", "links": {"l": link}, "flows": {"f": {"from": "a", "to": "b", **flow}}}


@pytest.mark.parametrize("share", [0, 1, 2])
def test_acknowledgments_without_bytes_in_every_queue(share, tmp_path):
    """`tcp.header = "0B"` makes packets of 0 bytes, in which a queue that deals in bytes has to see packets."""
    ends([net(q, tcp={"header": "0B"}, count=2) for q in QUEUES[share::3]], tmp_path)


def test_packets_without_bytes_and_little_room(tmp_path):
    small = {"limit": "3p"}
    queues = [{q: small} for q in ("fq_codel", "fq_pie", "cake", "drr", "sfq", "fq", "wfq", "wf2q")]
    back = [{"drr": {"quantum": "1B"}}, {"wrr": {"count": "bytes"}}, {"tbf": {"rate": "1Mbit/s"}}]
    ends([net(q, tcp={"header": "0B"}, count=3) for q in [*queues, *back]], tmp_path)


SOURCES: list[dict[str, Any]] = [
    {"tcp": {}, "source": {"request_response": {"think": "0s"}}},
    {"tcp": {"header": "0B"}, "source": {"request_response": {"think": "0s", "request": "1B", "response": "1B"}}},
    {"tcp": {}, "source": {"web": {"parsing": "0s", "reading": "0s", "main_std": "0B", "object_std": "0B"}}},
    {"tcp": {}, "source": {"file": {"size": "1B", "gap": "0s"}}},
    {"udp": {"header": "0B"}, "source": {"cbr": {"rate": "1Mbit/s", "size": "1B"}}},
    {"udp": {"header": "0B"}, "source": {"poisson": {"rate": "1Mbit/s", "size": "1B"}}},
    {"udp": {"header": "0B"}, "source": {"voip": {"header": "0B"}}},
    {"udp": {"header": "0B"}, "source": {"on_off": {"on": "1us", "off": "1us"}}},
    {"udp": {"header": "0B"}, "source": {"tfrc": {"feedback": "0B", "data_header": "0B"}}},
    {"udp": {"header": "0B"}, "source": {"rap": {"ack": "0B", "data_header": "0B"}}},
]


def test_sources_without_waits(tmp_path):
    ends([net("droptail", **s) for s in SOURCES], tmp_path)
