"""The page "which queue when": its tables are the recorded numbers, those are what the runs give, and they bear out the advice."""

from __future__ import annotations

import importlib.util
import sys

import pytest

import fairlane as fl
from conftest import ROOT

SCRIPT = ROOT / "docs" / "background" / "which_queue_when.py"


def load():
    spec = importlib.util.spec_from_file_location("which_queue_when", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


wqw = load()
ROWS = wqw.read()


def value(situation: str, queue: str, of: str, metric: str) -> float:
    (row,) = (r for r in ROWS if (r["situation"], r["queue"], r["of"], r["metric"]) == (situation, queue, of, metric))
    return float(row["mean"])


def queues(situation: str) -> list[str]:
    return list(dict.fromkeys(r["queue"] for r in ROWS if r["situation"] == situation))


def test_the_tables_of_the_page_are_the_recorded_numbers():
    text = wqw.PAGE.read_text("utf-8")
    assert wqw.page(text, ROWS) == text
    prose = "".join(part.split("<!-- end of ")[-1] for part in text.split("written by which_queue_when.py -->"))
    assert "±" not in prose.replace("mean ± half", "")


def test_everything_was_recorded():
    for name, situation in wqw.SITUATIONS.items():
        rows = [r for r in ROWS if r["situation"] == name]
        assert len(rows) == len(situation.queues) * len(situation.columns)
        assert {r["n"] for r in rows} == {"10"}
        assert all(float(r["low"]) <= float(r["mean"]) <= float(r["high"]) for r in rows)


@pytest.mark.long
@pytest.mark.parametrize(("name", "number"), [("bulk", 1), ("voice", -2), ("uplink", -1)])
def test_the_runs_give_the_recorded_numbers(name, number):
    situation = wqw.SITUATIONS[name]
    queue = situation.queues[number]
    done = fl.compare(situation.network(), queues=queue, link=situation.link, seeds=wqw.SEEDS, limit=situation.limit)
    (label,) = (q.label for q in done.settings)
    for row in wqw.record(name, situation, done):
        assert float(row["mean"]) == pytest.approx(value(name, label, row["of"], row["metric"]), rel=1e-9)


FLOW_QUEUES = ("fq_codel", "cake")
SINGLE = ("droptail", "red", "codel")


def test_bulk():
    for queue in ("codel", "pie", "ared"):
        assert value("bulk", queue, "", "utilisation") > 0.97
        assert value("bulk", queue, "tcp", "delay_mean") < 0.045
    assert value("bulk", "red", "", "utilisation") < 0.95 < value("bulk", "ared", "", "utilisation")
    assert value("bulk", "droptail{limit=1000p}", "tcp", "delay_mean") > 0.5


@pytest.mark.parametrize("situation", ["udp", "flood"])
def test_streams_that_do_not_give_way(situation):
    for queue in (*FLOW_QUEUES, "sfq", "drr"):
        assert value(situation, queue, "", "jain") > 0.95
        for single in SINGLE:
            assert value(situation, queue, "tcp", "goodput_sum") > 1.3 * value(situation, single, "tcp", "goodput_sum")
    for single in SINGLE:
        assert value(situation, single, "", "jain") < 0.65


def test_a_flood_leaves_single_queues_nothing():
    for single in SINGLE:
        assert value("flood", single, "tcp", "goodput_sum") < 1e6
    (priority,) = (q for q in queues("flood") if q.startswith("prio"))
    assert value("flood", priority, "tcp", "goodput_sum") > 8e6


def test_unequal_round_trips():
    for queue in ("sfq", "drr", *FLOW_QUEUES):
        assert value("rtt", queue, "", "jain") > 0.9 > value("rtt", "codel", "", "jain")
    for queue in ("red", "pie", "codel"):
        assert value("rtt", queue, "", "jain") < value("rtt", "droptail", "", "jain")


def test_a_call():
    (priority,) = (q for q in queues("voice") if q.startswith("prio"))
    for queue in (*FLOW_QUEUES, priority):
        # 22 ms of propagation and 0.2 ms of transmission; a full packet in transmission adds at most 1.2 ms.
        assert value("voice", queue, "voice", "delay_mean") < 0.0245
        assert value("voice", queue, "voice", "loss") < 1e-4
    for single in ("red", "pie", "codel"):
        assert value("voice", single, "voice", "loss") > 1e-3


def test_a_home_uplink():
    best = max(value("uplink", q, "voice", "delay_mean") for q in queues("uplink") if q.startswith("cake") or "queue.fq_codel" in q)
    for queue in ("droptail", "fq_codel"):
        assert value("uplink", queue, "voice", "delay_mean") > 5 * best
