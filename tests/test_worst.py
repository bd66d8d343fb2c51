"""`fairlane worst` finds the failures that are published, gives the same again, resumes, and keeps what it finds as scenarios.

Every search has a fixed budget and seed.
"""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import jsonschema
import pytest

import fairlane as fl
from conftest import started as fairlane
from fairlane.base.document import json_schema
from fairlane.worst import store
from fairlane.worst.changes import Bursts, Candidate, Capacity, Change, Cross, Gene, Outages, Steps, Value
from fairlane.worst.model import Judged
from fairlane.worst.search import BATCH
from fairlane.worst.shrink import KEEP, shrunk

pytest.importorskip("optuna")


def path(queue: str = "50p", **link: object) -> fl.Network:
    line = {"rate": "10Mbit/s", "delay": "10ms", "queue": {"droptail": {"limit": queue}}, **link}
    return fl.Network(duration="15s").link("a", "b", name="line", **line)


# --- what is published -------------------------------------------------------------------------------------------------------


def test_bursts_at_the_least_timeout_shut_tcp_out():
    """Kuzmanovic and Knightly (2003), section 3: bursts with a period near the least timeout leave TCP almost nothing at a low mean rate.

    RFC 6298 (2.4): the least timeout is one second.
    """
    net = path().flow("flow", "a", "b", tcp={"preset": "rfc", "cc": "newreno"})
    search = fl.WorstPaths(net, may="cross", paths=1)
    found = search.run(budget=48).findings[0]
    assert list(found.shrunk.candidate) == ["cross"]
    rate, burst, period = search.spec.changes[0].timing(found.shrunk.candidate["cross"])
    assert 700_000 <= period <= 1_300_000
    # The bursts overflow the queue, longer than a round trip, and take less than half of the link.
    assert rate > 10_000_000 and burst > 20_000 and rate * burst / period <= 5_000_000
    assert found.own.mean < 0.2 and found.other.mean > 0.9
    assert "retransmission timeout" in found.limits[0][1][0]


def test_jitter_of_one_path_starves_one_of_two_vegas_flows():
    """Arun, Alizadeh and Balakrishnan (2022), theorem 1 and section 5.1: delay-bounding controls starve where delays vary otherwise."""
    result = fl.WorstPaths(tcp="vegas", pair=True, may="jitter,queue,rate,loss", paths=1).run(budget=32)
    found = result.findings[0]
    assert list(found.shrunk.candidate) == ["jitter"] and found.shrunk.candidate["jitter"][0] <= 40_000
    # 1 - Jain's index of two flows: 0.2 is a ratio of three.
    assert found.own.low > 0.2 and found.other.mean < 0.05
    goodputs = [_rate(re.search(r"Goodput: ([\d.]+) (\w+/s)", line).expand(r"\1\2")) for line in found.limits[0][1][:2]]
    assert goodputs[0] < goodputs[1] / 2  # the jitter is on the first flow's path


def test_bbr_pushes_cubic_aside_in_shallow_buffers():
    """Cardwell et al. (2017) and Hock, Bless and Zitterbart (2017), section V: BBR v1 ignores the losses that stop CUBIC."""
    deep = [("links.line.queue.droptail.limit", "200p")]
    result = fl.WorstPaths(tcp="cubic", competitor="bbr", may="queue=4p..400p,rate", sets=deep, paths=1).run(budget=32)
    found = result.findings[0]
    product = 10e6 * 0.05 / 8 / 1500
    assert list(found.shrunk.candidate) == ["queue"] and found.shrunk.candidate["queue"][0] < product
    assert found.own.high < 0.2 and found.other.low > 0.4


def test_vegas_loses_to_reno():
    """Mo, La, Anantharam and Walrand (1999), section III: Reno fills the buffer, which Vegas avoids, so a larger buffer is worse."""
    result = fl.WorstPaths(tcp="vegas", competitor="newreno", reference="newreno", may="queue=5p..200p", paths=1).run(budget=24)
    found = result.findings[0]
    assert found.shrunk.candidate["queue"][0] > 50
    assert found.own.high < 0.2 and found.other.low > 0.4


def test_cubic_returns_slowly_after_a_step_of_the_rate():
    """RFC 9438 section 5.1 and Cardwell et al. (2017): losses hold CUBIC's window where a path of long delay becomes faster."""
    long = [("duration", "10s"), ("links.line.rate", "20Mbit/s"), ("links.line.delay", "50ms"), ("links.line.queue.droptail.limit", "30p")]
    search = fl.WorstPaths(tcp="cubic", reference="bbr", may="steps=3:10Mbit/s..40Mbit/s", sets=long, paths=1, seeds=2)
    found = search.run(budget=32).findings[0]
    rates = [20_000_000, *(rate for _, rate in search.spec.change("steps").items(found.shrunk.candidate["steps"]))]
    assert any(later > earlier for earlier, later in pairwise(rates))
    assert found.effect.low > 0.3


def test_bbr3_uses_half_of_a_path_whose_rate_alternates():
    """Each fall of the rate causes losses, which bound BBRv3's model (draft-ietf-ccwg-bbr, inflight_shortterm)."""
    search = fl.WorstPaths(tcp="bbr3", reference="cubic", may="square", paths=1)
    found = search.run(budget=32).findings[0]
    first, second, hold = found.shrunk.candidate["square"]
    assert max(first, second) > 2 * min(first, second) and 200_000 <= hold <= 1_500_000
    assert found.own.high < 0.6 and found.other.low > 0.8


# --- the search --------------------------------------------------------------------------------------------------------------

ASKED = ("--tcp", "newreno", "--reference", "cubic", "--may", "steps=3,queue,loss=0.1%..2%", "--set", "duration=4s", "--seeds", "2",
         "--paths", "2")  # fmt: skip


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A search through the command line: its folder and document."""
    place = tmp_path_factory.mktemp("worst")
    done = fairlane("worst", *ASKED, "--budget", "40", "--out", "w", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "w", json.loads(done.stdout)


def test_the_document_is_as_its_schema_says(searched):
    folder, doc = searched
    jsonschema.validate(doc, json_schema("worst"))
    assert json.loads((folder / "worst.json").read_text()) == doc
    assert doc["found"] and doc["evaluations"]["tried"] == 40 and doc["evaluations"]["stopped_by"] == "evaluations"


def test_the_same_seed_finds_the_same_path_on_any_number_of_threads(searched, tmp_path):
    again = fairlane("worst", *ASKED, "--budget", "40", "--out", "w", "--json", "--threads", "1", cwd=tmp_path)
    assert json.loads(again.stdout) == searched[1]
    assert (tmp_path / "w" / "index.html").read_text() == (searched[0] / "index.html").read_text()
    other = fairlane("worst", *ASKED, "--budget", "40", "--out", "v", "--json", "--search-seed", "2", cwd=tmp_path)
    assert json.loads(other.stdout)["seen"] != searched[1]["seen"]


def test_the_workers_of_studies_find_the_same_path(tmp_path):
    search = fl.WorstPaths(tcp="reno", reference="cubic", may="loss,queue", sets=[("duration", "1s")], seeds=2, paths=1)
    with ThreadPoolExecutor(2) as executor:
        far = search.run(tmp_path / "w", budget=4, executor=executor)
    assert far.document() == search.run(budget=4).document()
    assert (tmp_path / "w" / "worst.json").exists()


def test_a_search_runs_in_one_place_only(tmp_path):
    done = fairlane("worst", "--tcp", "reno", "--threads", "2", "--processes", "2", "--out", "w", cwd=tmp_path)
    assert done.returncode == 2 and "one place only" in done.stderr and not (tmp_path / "w").exists()


def test_a_search_resumes_where_it_stopped(searched, tmp_path, monkeypatch):
    """A killed search leaves whole batches and a part of a line; it resumes to the same end, and runs only what is missing."""
    folder, doc = searched
    shutil.copytree(folder, tmp_path / "w")
    notes = tmp_path / "w" / store.NAME
    lines = notes.read_bytes().splitlines(keepends=True)
    notes.write_bytes(b"".join(lines[:2]) + lines[2][:50])
    ran = []
    run = fl.Prepared.run
    monkeypatch.setattr(fl.Prepared, "run", lambda self, points, *a, **k: ran.append(len(points)) or run(self, points, *a, **k))
    search = fl.WorstPaths(tcp="newreno", reference="cubic", may=ASKED[5], sets=[("duration", "4s")], seeds=2, paths=2)
    assert search.run(tmp_path / "w", budget=40).document() == doc
    first = sum(ran)
    assert first < 40 * 2 + 150
    ran.clear()
    assert search.run(tmp_path / "w", budget=40).document() == doc
    assert sum(ran) == 4  # the two checks that a run repeats
    more = search.run(tmp_path / "w", budget=56)
    assert more.evaluations == 56 and more.worst.effect >= doc["seen"]["effect"]


def test_a_folder_of_another_search_is_refused(searched, tmp_path):
    shutil.copytree(searched[0], tmp_path / "w")
    done = fairlane("worst", "--tcp", "vegas", "--budget", "16", "--out", "w", cwd=tmp_path)
    assert done.returncode == 2 and "holds another search" in done.stderr and "Traceback" not in done.stderr


def test_the_finding_is_a_scenario_with_the_values_of_the_document(searched):
    """The fresh seeds in a plain run give the subject's and the reference's values, once goodput is divided by the mean rate."""
    folder, doc = searched
    for entry in doc["paths"]:
        seeds = doc["search"]["fresh_seeds"]
        sets = {s["path"]: s["value"] for c in entry["changes"] for s in c["sets"]}
        steps = [(0.0, 10e6), *((_seconds(x["at"]), _rate(x["rate"])) for x in sets.get("links.line.rates", ()))]
        mean = sum(r * ((steps[i + 1][0] if i + 1 < len(steps) else 4.0) - t) for i, (t, r) in enumerate(steps)) / 4
        for side, control in (("own", "newreno"), ("other", "cubic")):
            result = fl.run(folder / entry["scenario"], seeds=seeds, sets={"flows.flow.tcp": control})
            assert result.value("goodput", flow="flow").mean / mean == pytest.approx(entry[side]["mean"], rel=1e-9)


def _seconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def _rate(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(\w+/s)", text).groups()
    return float(number) * {"Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1}[unit]


def test_paths_are_of_different_kinds_shrunk_and_confirmed(searched):
    _, doc = searched
    kinds = [{c["name"] for c in p["changes"]} for p in doc["paths"]]
    assert all(not a <= b for i, b in enumerate(kinds) for a in kinds[:i])
    for p in doc["paths"]:
        assert p["shrunk"]["effect"] >= KEEP * p["found"]["effect"]
        assert sum(map(len, p["shrunk"]["changes"].values())) <= sum(map(len, p["found"]["changes"].values()))
        assert p["effect"]["low"] > 0 and not set(doc["search"]["seeds"]) & set(doc["search"]["fresh_seeds"])


def test_the_page_has_the_path_the_windows_and_the_command(searched):
    folder, doc = searched
    page = (folder / "index.html").read_text()
    assert "Congestion windows on path 1" in page and "newreno" in page and "--search-seed 1" in page and "--budget 40" in page
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", page)
    assert doc["paths"][0]["sentence"].startswith("newreno gets ")


def test_a_budget_of_time_ends_after_a_whole_batch_and_its_number_repeats_it(tmp_path):
    search = fl.WorstPaths(tcp="reno", reference="cubic", may="loss,queue", sets=[("duration", "1s")], seeds=1, paths=1)
    timed = search.run(tmp_path / "w", budget="0.001s")
    assert timed.stopped_by == "time" and timed.evaluations == BATCH
    counted = search.run(budget=BATCH).document()
    drop = {"budget", "evaluations"}
    assert {k: v for k, v in timed.document().items() if k not in drop} == {k: v for k, v in counted.items() if k not in drop}
    assert search.run(tmp_path / "w", budget="0.001s").evaluations == BATCH


def test_nothing_found_says_the_worst_that_was_seen(tmp_path):
    done = fairlane("worst", "--tcp", "cubic", "--reference", "cubic", "--may", "queue", "--set", "duration=1s", "--seeds", "1",
                    "--budget", "16", "--out", "w", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 1
    assert "Nothing found (16 paths, 1 seed each): the worst for cubic is share of the path (goodput)" in done.stdout
    assert not (tmp_path / "w" / "1.toml").exists() and "No worst path found" in (tmp_path / "w" / "index.html").read_text()


def test_a_queues_worst_senders(tmp_path):
    may = "flows.udp.source.on_off.rate=1Mbit/s..20Mbit/s"
    done = fairlane("worst", "--queue", "droptail", "--most", "delay_p99", "--traffic", "tcp,udp", "--may", may, "--set", "duration=3s",
                    "--seeds", "1", "--budget", "16", "--paths", "1", "--out", "w", "--json", cwd=tmp_path)  # fmt: skip
    doc = json.loads(done.stdout)
    assert doc["search"]["selectors"] == ["network.delay_p99"] and doc["search"]["unit"] == "s" and not doc["search"]["share"]
    assert doc["seen"]["effect"] > 0


def test_a_flow_of_a_file_with_paths_as_set_takes_them(tmp_path):
    path().flow("upload", "a", "b", tcp="cubic").flow("call", "a", "b", udp={}, source="voip").save(tmp_path / "home.toml")
    may = "links.line.rate,links.line.queue.limit,loss,jitter"
    done = fairlane("worst", "home.toml", "--flow", "upload", "--least", "goodput", "--may", may, "--set", "duration=3s", "--seeds", "1",
                    "--budget", "20", "--paths", "1", "--out", "w", "--quiet", cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    again = fairlane("run", "w/1.toml", "--why", cwd=tmp_path)
    assert again.returncode == 0 and "upload" in again.stdout


# --- parts -------------------------------------------------------------------------------------------------------------------


def test_the_rate_that_a_path_leaves():
    """10 Mbit/s for 4 s, 20 for 4 s but 2 s of failure, 5 for 2 s: (40 + 40 + 10) / 10; bursts of 4 Mbit/s for a quarter take one."""
    at, rate = Gene("at", 0, 10**7, "s", log=False), Gene("rate", 1, 10**8, "bit/s")
    steps = Steps("steps", item=(at, rate), most=3, link="line")
    down = Outages("outages", item=(at, at), most=2, link="line")
    cross = Cross("cross", (rate, at, at), capacity=10**7)
    leaves = Capacity("line", 10**7, 0, 10**7, (steps, down, cross))
    stepped: Candidate = {"steps": (4_000_000, 20_000_000, 8_000_000, 5_000_000)}
    assert leaves.of(stepped) == pytest.approx(13e6)
    failing = {**stepped, "outages": (5_000_000, 1_000_000, 5_500_000, 1_500_000)}
    assert leaves.of(failing) == pytest.approx(9e6)
    assert leaves.of({**failing, "cross": (4_000_000, 250_000, 1_000_000)}) == pytest.approx(8e6)
    assert leaves.of({}) == 1e7


def test_one_schedule_of_rates_at_a_time():
    search = fl.WorstPaths(tcp="bbr3", reference="cubic", may="square,steps=2,queue")
    path = search.spec.plausible({"steps": (1_000_000, 5_000_000), "square": (5_000_000, 20_000_000, 500_000), "queue": (25,)})
    assert list(path) == ["square", "queue"] and search.spec.sets(path)["links.line.rates"][:2] == [
        {"at": "0s", "rate": "5Mbit/s"}, {"at": "500ms", "rate": "20Mbit/s"},
    ]  # fmt: skip
    assert search.spec.capacity.of(path) == pytest.approx(12.5e6)


def test_bursts_are_at_most_half_of_the_link():
    rate, time = Gene("rate", 1, 10**8, "bit/s"), Gene("time", 1, 10**7, "s")
    cross = Cross("cross", (rate, time, time), ends=("a", "b"), capacity=10**7)
    assert cross.timing((15_000_000, 500_000, 600_000)) == (15_000_000, 500_000, 1_500_000)
    sets = cross.sets((5_000_000, 100_000, 1_000_000))["flows.cross"]["source"]["on_off"]
    assert (sets["rate"], sets["on"], sets["off"]) == ("5Mbit/s", "100ms", "900ms")


def test_bursts_are_at_most_half_of_a_slower_path():
    search = fl.WorstPaths(tcp="cubic", may="rate,cross,square")
    for path in ({"rate": (5_000_000,)}, {"square": (2_500_000, 7_500_000, 500_000)}):
        made = search.spec.plausible({**path, "cross": (14_000_000, 160_000, 500_000)})
        rate, burst, period = made["cross"]
        assert rate * burst / period <= 2.5e6
        assert search.spec.capacity.of(made) == pytest.approx(5e6 - rate * burst / period)


def test_losses_in_bursts_have_the_mean_lengths_that_are_said():
    """Gilbert (1960): the states last 1/p and 1/r packets on average."""
    sets = Bursts("bursts", (), link="line").sets((4, 1000))
    assert sets == {"links.line.loss.gilbert_elliott": {"p": 0.001, "r": 0.25}}


class Counting:
    """A judge of a rule, which counts."""

    def __init__(self, rule):
        self.rule, self.judged, self.kept = rule, 0, store.Kept(None, {})

    def judge(self, candidates):
        self.judged += len(candidates)
        return [Judged(c, (0.0,), (self.rule(c),), False) for c in candidates]

    def take(self):
        return {}


class Spec:
    def __init__(self, *changes: Change) -> None:
        self.changes = changes

    def change(self, name: str) -> Change:
        return next(c for c in self.changes if c.name == name)


def test_shrinking_leaves_what_matters_with_round_values():
    """The effect of four changes and six steps needs the delay above 40 ms and the step at 3 s (Zeller and Hildebrandt 2002)."""
    at, rate = Gene("at", 0, 10**7, "s", log=False), Gene("rate", 10**6, 10**8, "bit/s")
    names = ("delay", "loss", "queue")
    plain = [Value(n, (Gene(n, 1, 10**6),), path=n) for n in names]
    steps = Steps("steps", item=(at, rate), most=8, link="line")

    def rule(c: Candidate) -> float:
        stepped = any(t == 3_000_000 and r > 5_000_000 for t, r in steps.items(c.get("steps", ())))
        return 1.0 if c.get("delay", (0,))[0] > 40_000 and stepped else 0.1

    state = tuple(x for t in (1, 2, 3, 4, 5, 6) for x in (t * 1_000_000, 7_654_321))
    start = Judged({"delay": (54_321,), "loss": (5,), "queue": (77,), "steps": state}, (0.0,), (1.0,), False)
    judge = Counting(rule)
    assert dict(shrunk(Spec(*plain, steps), judge, start).candidate) == {"delay": (50_000,), "steps": (3_000_000, 8_000_000)}
    assert judge.judged < 60
