"""Files of flent: what a series is follows from its metadata, in every version of the format (doc/data-format.rst, flent/resultset.py)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import fairlane as fl

TIMES = [0.0, 1.0, 2.0, 3.0]


def imported(tmp_path: Path, results: dict[str, list[Any]], series: dict[str, dict[str, Any]], version: int = 4, **more: Any) -> fl.Result:
    meta = {"SERIES_META": series, "T0": "2026-01-01T00:00:00.0Z", "TOTAL_LENGTH": 4, "STEP_SIZE": 1.0, "HOST": "b", "LOCAL_HOST": "a"}
    file = tmp_path / "x.flent"
    document = {"x_values": TIMES, "results": results, "raw_values": {}, "metadata": meta | {"NAME": "x"}} | more
    file.write_text(json.dumps(document | ({} if version == 1 else {"version": version})))
    return fl.import_file(file)


def warned(result: fl.Result) -> str:
    return "\n".join(map(str, result.warnings))


def test_a_fairness_index_is_no_flow(tmp_path: Path) -> None:
    """FairnessRunner copies UNITS of the series that it is computed from, Mbits/s (flent/runners.py, ComputingRunner)."""
    units = {"UNITS": "Mbits/s"}
    results = {"TCP upload BE1": [10] * 4, "TCP upload BE2": [5] * 4, "TCP upload fairness": [0.9] * 4}
    about = {"TCP upload BE1": units, "TCP upload BE2": units, "TCP upload fairness": units | {"RUNNER": "FairnessRunner"}}
    result = imported(tmp_path, results, about)
    assert result.flows["flow"].to_list() == ["TCP upload BE1", "TCP upload BE2"]
    assert result.value("goodput", flow="TCP upload BE1").mean == 10e6 and result.network["jain"].item() == pytest.approx(0.9)
    assert "1 series was left out (a fairness index of others): TCP upload fairness" in warned(result)


def test_a_load_is_no_rate(tmp_path: Path) -> None:
    results = {"TCP upload": [100] * 4, "cpu_stats_a::load": [0.03] * 4, "VoIP::jitter": [0.1] * 4, "power": [5.0] * 4, "steps": [1] * 4}
    about = {"TCP upload": {"UNITS": "Mbits/s"}, "VoIP": {"UNITS": "Kbps"}, "power": {"UNITS": "W"}}
    result = imported(tmp_path, results, about)
    assert result.flows["flow"].to_list() == ["TCP upload"] and result.value("goodput", flow="TCP upload").mean == 1e8
    for left in ("cpu_stats_a::load", "VoIP::jitter", "its unit is 'W', neither a rate nor a time): power", "steps"):
        assert left in warned(result)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_the_mean_is_that_of_the_file(version: int, tmp_path: Path) -> None:
    """Not that of its samples: netperf drops the first and the last interval, and samples are interpolated."""
    about = {
        "up": {"UNITS": "Mbits/s", "MEAN_VALUE": 22.0, "RUNNER": "NetperfDemoRunner", "COMMAND": "netperf -t TCP_STREAM -l 10"},
        "down": {"UNITS": "Mbits/s", "MEAN_VALUE": 8.5, "RUNNER": "NetperfDemoRunner", "COMMAND": "netperf -t TCP_MAERTS"},
        "ping": {"UNITS": "ms", "MEAN_VALUE": 49.0, "RUNNER": "PingRunner"},
        "total": {"UNITS": "Mbits/s", "MEAN_VALUE": 30.5, "RUNNER": "SumRunner"},
    }
    result = imported(tmp_path, {name: [None, 10.0, 20.0, None] for name in about}, about, version)
    flows = {row["flow"]: row for row in result.flows.iter_rows(named=True)}
    assert set(flows) == {"up", "down", "ping"}
    assert (flows["up"]["goodput"], flows["down"]["goodput"], flows["ping"]["rtt_mean"]) == (22e6, 8.5e6, 0.049)
    assert [flows[n]["from"] for n in ("up", "down")] == ["a", "b"]
    assert [flows[n]["transport"] for n in flows] == ["tcp", "tcp", "icmp"]
    series = result.flow_series.filter(result.flow_series["flow"] == "up")
    assert series["goodput"].to_list()[1:3] == [10e6, 20e6] and math.isnan(series["goodput"][0])


@pytest.mark.parametrize(("unit", "scale"), [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)])
def test_times_have_their_unit(unit: str, scale: float, tmp_path: Path) -> None:
    result = imported(tmp_path, {"ping": [2.0, 3.0, 4.0, 5.0]}, {"ping": {"UNITS": unit, "RUNNER": "PingRunner"}})
    assert result.value("rtt_mean", flow="ping").mean == pytest.approx(3.5 * scale)
    assert result.flow_series["srtt"].to_list() == pytest.approx([v * scale for v in (2, 3, 4, 5)])


def test_raw_values_of_old_versions(tmp_path: Path) -> None:
    """Up to version 3 they are not converted: transactions a second of netperf, seconds of pages (`unserialise_compat`)."""
    about = {"UDP": {"UNITS": "ms"}, "HTTP latency": {"UNITS": "ms", "MEAN_VALUE": 4.0}, "avg": {"UNITS": "ms"}}
    raw = {"UDP": [{"t": 1, "val": 20.0, "dur": 0.2}, {"t": 2, "val": 40.0, "dur": 0.2}], "HTTP latency": [{"t": 1, "val": 0.004}]}
    result = imported(tmp_path, {name: [50.0] * 4 for name in about}, about, 2, raw_values=raw)
    assert result.flows["flow"].to_list() == ["UDP", "HTTP latency"]  # what has no raw values is computed
    assert result.value("rtt_p99", flow="UDP").mean == pytest.approx(1 / 20)
    assert result.value("rtt_p50", flow="UDP").mean == pytest.approx(1 / 20)
    pages = result.flows.filter(result.flows["flow"] == "HTTP latency")
    assert pages["transaction_time_mean"].item() == pytest.approx(0.004) and math.isnan(pages["rtt_mean"].item())
    assert pages["transaction_time_p99"].item() == pytest.approx(0.004)


def test_iperf_of_old_versions(tmp_path: Path) -> None:
    """Its mean is in bits/s, its samples are Mbits/s (`unserialise_compat`)."""
    about = {"udp": {"UNITS": "bits/s", "MEAN_VALUE": 7e6, "RUNNER": "IperfCsvRunner", "COMMAND": "iperf --udp"}}
    result = imported(tmp_path, {"udp": [7.0, 7.0, 7.0, 7.0]}, about, 3)
    assert result.value("goodput", flow="udp").mean == 7e6 and result.flow_series["goodput"].to_list() == [7e6] * 4
    assert result.flows["transport"].item() == "udp"


def test_the_state_of_sockets(tmp_path: Path) -> None:
    about = {"up": {"UNITS": "Mbits/s", "TCP_MSS": 1000, "TCP_RETRANSMIT": "35", "TCPI_RTT": 90276, "RUNNER": "NetperfDemoRunner"}}
    results = {"up": [1.0] * 4, "up::tcp_rtt": [20.0] * 4, "up::tcp_cwnd": [7.0] * 4, "up::tcp_pacing_rate": [1.0] * 4}
    result = imported(tmp_path, results, about)
    assert result.flow_series["cwnd"].to_list() == [7000.0] * 4 and result.flow_series["srtt"].to_list() == [0.02] * 4
    assert result.flows["retransmits"].item() == 35 and result.flows["srtt"].item() == pytest.approx(0.090276)
    assert "up::tcp_pacing_rate" in warned(result)
