"""Quality for people: MOS of calls, stalls of videos and load times of pages in tables, goals of a search, and claims of a study."""

from __future__ import annotations

import json
import math

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.base.reference import explain
from fairlane.study import Study
from fairlane.study.reader import read_text

# A call, a video and pages behind an upload that fills whatever buffer it finds.
HOME = """
duration = "15s"
warmup = "5s"
links.line = { from = "home", to = "net", rate = "4Mbit/s", delay = "10ms", queue.droptail.limit = "200p" }
flows.call = { from = "home", to = "net", udp = {}, source.voip = {} }
flows.film = { from = "home", to = "net", tcp = "cubic", source.video = { buffer_to_start = "2.5s" } }
flows.pages = { from = "home", to = "net", tcp = "cubic", source.web = { model = "rfc7928", page = "50kB" } }
flows.upload = { from = "home", to = "net", tcp = "cubic" }
"""
STUDY = f"""
seeds = "1..6"

[metrics]
mos = "flows.call.mos"
stalls = "flows.film.rebuffering_time"
page = "flows.pages.transaction_time_p95"

[scenario]
{HOME}

[factors.queue.levels]
droptail = {{ "links.line.queue" = "droptail{{limit=200p}}" }}
fq_codel = {{ "links.line.queue" = "fq_codel" }}

[[claims]]
statement = "With FQ-CoDel the call satisfies its users, and no page takes two seconds."
check = "v('mos', queue='fq_codel') > 4.03 and v('mos', queue='droptail') < 3.6 and v('page', queue='fq_codel') < 2"

[[claims]]
statement = "With FQ-CoDel the film never stalls."
check = "v('stalls', queue='fq_codel') <= 0"
"""
TUNE = """
scenario = "home.toml"
link = "line"
seeds = 1
holdout_seeds = [11, 12]
trials = 6
[objectives]
"quality of the call" = { metric = "flows.call.mos", goal = "max", good = 4.3, bad = 2.6 }
"flows.film.rebufferings" = "min"
[constraints]
"flows.call.r_factor" = ">= 70"
[search]
droptail.limit = { from = "100p", to = "200p" }
fq_codel = "auto"
[baselines]
"as it is" = "droptail{limit=200p}"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> fl.Result:
    file = tmp_path_factory.mktemp("home") / "home.toml"
    file.write_text(HOME)
    return fl.run(file)


def test_quality_is_in_the_tables_and_null_where_it_does_not_apply(home):
    rows = {r["flow"]: r for r in home.flows.to_dicts()}
    assert 1.0 <= rows["call"]["mos"] < 3.6 and 0.0 <= rows["call"]["r_factor"] < 70.0
    assert rows["film"]["startup_delay"] > 2.5 and rows["film"]["rebuffering_time"] + rows["film"]["play_time"] == pytest.approx(10.0)
    assert rows["pages"]["transaction_time_mean"] > 0.05
    for name, metric in (
        ("upload", "mos"),
        ("film", "mos"),
        ("call", "rebufferings"),
        ("pages", "startup_delay"),
        ("call", "transaction_time_mean"),
    ):
        assert rows[name][metric] is None or math.isnan(rows[name][metric]), (name, metric)


def test_responsiveness_tells_foreign_probes_from_those_on_loaded_connections(home):
    """draft-ietf-ippm-responsiveness-09, "Aggregating the Measurements": their mean; a foreign probe is a transaction."""
    rows = {r["flow"]: r for r in home.flows.to_dicts()}
    assert rows["pages"]["rpm_foreign"] > 0 and rows["upload"]["rpm_self"] > 0
    for name, metric in (("pages", "rpm_self"), ("upload", "rpm_foreign"), ("call", "rpm_foreign"), ("call", "rpm_self")):
        assert rows[name][metric] is None or math.isnan(rows[name][metric]), (name, metric)
    # The trimmed mean leaves out the longest 5 %, so that it is below the mean.
    assert rows["upload"]["rpm_self"] >= 60 / rows["upload"]["rtt_mean"] * (1 - 1 / 64)
    assert home.network["rpm"][0] > rows["pages"]["rpm_foreign"] / 2


def test_the_table_of_flows_shows_mos(tmp_path):
    (tmp_path / "home.toml").write_text(HOME)
    done = fairlane("run", "home.toml", "--set", "links.line.queue=fq_codel", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"mos"' in done.stdout and '"rebuffering_ratio"' in done.stdout


def test_a_study_claims_about_quality(tmp_path):
    done = Study(read_text(STUDY, "quality.toml")).run(tmp_path / "out", threads=1)
    assert [c.verdict for c in done.claims] == ["holds", "holds"], [c.to_json() for c in done.claims]


def test_quality_is_a_goal_of_a_search(tmp_path):
    pytest.importorskip("optuna")
    (tmp_path / "home.toml").write_text(HOME)
    (tmp_path / "tune.toml").write_text(TUNE)
    done = fairlane("tune", "tune.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["chosen"]["label"] == "fq_codel" and document["chosen"]["feasible"]


RPM = """
duration = "6s"
warmup = "2s"
links.line = { from = "home", to = "net", rate = "10Mbit/s", delay = "10ms", queue.droptail.limit = "300p" }
flows.upload = { from = "home", to = "net", tcp = "cubic" }
flows.probe = { from = "home", to = "net", tcp = "cubic", source.request_response = { response = "100B" } }
"""


def test_responsiveness_by_hand():
    """draft-ietf-ippm-responsiveness-09, "For the TCP-Only Case": handshake and request of foreign probes take 100 ms, 600 a minute; round
    trips on the connection that loads the path 40 ms, 1500 a minute; the mean is 1050, not the 857 of the mean of 70 ms."""
    net = fl.Network(duration="20s", warmup="2s")
    net.link("a", "b", name="near", rate="1Gbit/s", delay="20ms").link("a", "c", name="far", rate="1Gbit/s", delay="50ms")
    net.flow("load", "a", "b", tcp={"cc": "newreno", "receive_window": "30kB"})
    net.flow("probe", "c", "a", tcp="newreno", source={"request_response": {"request": "100B", "response": "100B"}})
    result = net.run(seeds=1)
    flows = {row["flow"]: row for row in result.flows.to_dicts()}
    found = [flows["probe"]["rpm_foreign"], flows["load"]["rpm_self"], result.network["rpm"][0]]
    assert found == pytest.approx([60 / 0.1, 60 / 0.04, (600 + 1500) / 2], rel=1 / 64)


def test_responsiveness_is_compared(tmp_path):
    """draft-ietf-ippm-responsiveness-09: round trips of 20 ms without a queue are 3,000 a minute, behind 300 packets of 1.2 ms 158."""
    (tmp_path / "line.toml").write_text(RPM)
    words = ("compare", "line.toml", "--queues", "droptail{limit=300p},fq_codel", "--metric", "network.rpm", "--seeds", "3", "--json")
    done = fairlane(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    bloated, fair = (s["network"]["rpm"]["mean"] for s in document["settings"])
    assert 150 < bloated < 200 and 2000 < fair < 3000, (bloated, fair)
    assert document["differences"][0]["finding"] == "more" and "RPM" in document["sentences"][0]


def test_responsiveness_is_a_goal_of_a_search(tmp_path):
    pytest.importorskip("optuna")
    (tmp_path / "line.toml").write_text(RPM)
    (tmp_path / "tune.toml").write_text("""
scenario = "line.toml"
link = "line"
seeds = 1
holdout_seeds = [11, 12]
trials = 6
[objectives]
"network.rpm" = "max"
"links.line.utilisation" = { goal = "max", good = 1.0, bad = 0.8 }
[constraints]
"flows.probe.rpm_foreign" = ">= 1000 RPM"
[search]
droptail.limit = { from = "200p", to = "400p" }
fq_codel = "auto"
[baselines]
"as it is" = "droptail{limit=300p}"
""")
    done = fairlane("tune", "tune.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["chosen"]["label"].startswith("fq_codel") and document["chosen"]["feasible"]


@pytest.mark.parametrize("name", ["mos", "r_factor", "start-up delay", "rebuffering", "page load time", "de-jitter buffer", "discard_rate"])
def test_quality_is_explained(name):
    first, *_ = explain(name)
    assert first.facts["source"], name


def test_a_buffer_that_is_shorter_than_its_least_is_refused(tmp_path):
    file = tmp_path / "home.toml"
    file.write_text(HOME.replace("source.voip = {}", 'source.voip = { jitter_buffer_min = "300ms" }'))
    with pytest.raises(fl.ScenarioError, match="300ms is more than `jitter_buffer_max`, 200ms"):
        fl.run(file)
