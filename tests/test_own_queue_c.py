"""Queues in shared libraries (`fairlane_queue.h`): the runs of Python, each call does what the header says, broken rules end a run."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import fairlane as fl
from conftest import ROOT
from conftest import started as fairlane
from fairlane.own import plugin
from test_own_cc import TABLE
from test_own_queue import FOLDER, fingerprint, guide

SCENARIO = FOLDER / "scenario.toml"

QUEUE = """
#include "fairlane_queue.h"
struct q { struct fairlane_fifo f; uint64_t next, ticks; double p; };
static const char *init(void *s, const struct fairlane_queue_site *site, const struct fairlane_queue_value *v) {
    (void)site; ((struct q *)s)->p = v[0].number; return v[0].number == 0.5 ? "a coin is no law" : NULL; }
static void copy(void *to, const void *from) {
    *(struct q *)to = *(const struct q *)from; fairlane_fifo_copy(&((struct q *)to)->f, &((const struct q *)from)->f); }
static void give_back(void *s) { fairlane_fifo_free(&((struct q *)s)->f); }
static void enqueue(void *s, const struct fairlane_queue_packet *p, struct fairlane_queue_cx *cx) { struct q *q = s; (void)cx; %(enqueue)s
    fairlane_fifo_push(&q->f, p->id); }
static uint32_t dequeue(void *s, struct fairlane_queue_cx *cx) { struct q *q = s; (void)cx; %(dequeue)s return fairlane_fifo_pop(&q->f); }
static uint64_t ready(const void *s) { return ((const struct q *)s)->next; }
static uint64_t timer(void *s, struct fairlane_queue_cx *cx) { ((struct q *)s)->ticks++; return cx->now_ps + 10000000000; }
static double gauge(const void *s, uint32_t i) { (void)i; return (double)((const struct q *)s)->ticks; }
static const char *const gauges[] = {"ticks"};
static const struct fairlane_queue_param params[] = {{"p", "Share dropped.", "0.02", 0, 1}, {"size", "Not used.", "64KiB", 0, 0}};
static const struct fairlane_queue table = {.version = FAIRLANE_QUEUE_VERSION, .size = sizeof(struct fairlane_queue), .name = "%(name)s",
    .params = params, .param_count = 2, .state_size = sizeof(struct q), .init = init, .clone = copy, .free = give_back,
    .enqueue = enqueue, .dequeue = dequeue, %(more)s};
const struct fairlane_queue *fairlane_queue_get(uint32_t index) {
    (void)ready; (void)timer; (void)gauge; (void)gauges; return index == 0 ? &table : NULL; }
"""


@pytest.fixture
def queue(compiled):
    def make(name: str, enqueue: str = "", dequeue: str = "", more: str = "") -> str:
        source = '#pragma GCC diagnostic ignored "-Woverride-init"\n' + QUEUE % {
            "name": name, "enqueue": enqueue, "dequeue": dequeue, "more": more,
        }  # fmt: skip
        assert fl.load_queue(compiled(source, name)) == [name]
        return name

    return make


def network(spec, *, ecn="off", sample=None, tcp=True) -> fl.Network:
    net = fl.Network(duration="5s", sample=sample)
    net.link("a", "b", rate="100Mbit/s", delay="1ms")
    net.link("b", "c", rate="2Mbit/s", delay="10ms", queue=spec, name="bottleneck")
    if tcp:
        net.flow("f", "a", "c", count=2, tcp={"cc": "newreno", "ecn": ecn})
    else:
        net.flow("u", "a", "c", udp={"header": "0B"}, source={"cbr": {"rate": "1Mbit/s", "size": "1000B"}})
    return net


def test_c_python_rust_and_built_in_give_one_fingerprint(compiled):
    assert {fingerprint(SCENARIO, "--plugin", str(compiled(FOLDER / "nminusone.c", "nminusone")))} == guide()


class Early(fl.Qdisc):
    """Drops a share of what arrives."""

    p = fl.Parameter(0.02, "Share dropped.")

    def start(self):
        self.waiting = []

    def enqueue(self, packet):
        if self.random() < self.p:
            self.drop(packet, "early")
            return
        self.waiting.append(packet)
        if self.packets > 20:
            self.drop(self.waiting.pop(0), "head")

    def dequeue(self):
        return self.waiting.pop(0) if self.waiting else None


def test_chance_and_reasons_are_those_of_python(queue):
    early = """if (cx->random(cx) < q->p) { cx->drop(cx, p->id, FAIRLANE_QUEUE_EARLY); return; }
        if (cx->packets > 20) cx->drop(cx, fairlane_fifo_pop(&q->f), FAIRLANE_QUEUE_HEAD);"""
    ours = network({queue("EarlyC", early): {"p": 0.1}}).run(seeds="1..3")
    python = network(Early.spec(p=0.1)).run(seeds="1..3")
    assert ours.fingerprints == python.fingerprints
    for reason in ("drops_early", "drops_head"):
        assert ours.value(reason, link="bottleneck").mean == python.value(reason, link="bottleneck").mean > 0
    assert ours.fingerprints != network({"EarlyC": {"p": 0.2}}).run(seeds="1..3").fingerprints


def test_a_shaper_holds_packets_until_it_is_ready(queue):
    """One packet each 50 ms is 20 a second, of the 125 that come."""
    shaped = "if (cx->now_ps < q->next) return FAIRLANE_QUEUE_NONE; if (q->f.count) q->next = cx->now_ps + 50000000000;"
    r = network(queue("Shaper", dequeue=shaped, more=".ready = ready"), tcp=False).run(seeds=[1])
    assert r.value("packets_received", flow="u").mean == pytest.approx(5 * 20, abs=2)


def test_timer_and_gauge(queue):
    """A tick at time zero and each 10 ms."""
    more = ".timer = timer, .gauges = gauges, .gauge_count = 1, .gauge = gauge"
    r = network(queue("Ticks", more=more), sample="1s").run(seeds=[1])
    ticks = [int(x) for x in r.link_series.filter(r.link_series["link"] == "bottleneck")["ticks"]]
    assert ticks[-1] == pytest.approx(500, abs=1) and all(b - a == 100 for a, b in pairwise(ticks[1:]))


@pytest.mark.parametrize(("ecn", "marked"), [("classic", True), ("off", False)])
def test_only_packets_that_can_be_marked_are(queue, ecn, marked):
    mark = """if (cx->packets > 10 && p->bits & FAIRLANE_QUEUE_DATA && !cx->mark(cx, p->id)) {
        cx->drop(cx, p->id, FAIRLANE_QUEUE_EARLY); return; }"""
    r = network(queue("Marks" + ecn, mark), ecn=ecn).run(seeds=[1])
    marks, drops = r.value("marks", link="bottleneck").mean, r.value("drops_early", link="bottleneck").mean
    assert (marks > 0, drops > 0) == ((True, False) if marked else (False, True))


def test_a_packet_is_as_it_was_told(queue):
    """`look` returns a waiting packet as `enqueue` got it."""
    same = """struct fairlane_queue_packet seen; cx->look(cx, p->id, &seen);
        if (memcmp(&seen, p, sizeof seen) || seen.arrived_ps != cx->now_ps || p->length < 40) cx->drop(cx, 9999, 0);"""
    r = network(queue("Looks", same)).run(seeds=[1])
    assert r.value("utilisation", link="bottleneck").mean > 0.5


def test_a_branch_has_a_state_of_its_own(queue):
    """A copy of the queue in the middle of a run has the same future, and what one does is not seen by the other."""
    sim = network({queue("Copied"): {"p": 0.1}}).start(seed=1)
    sim.advance("2s")
    other = sim.branch()
    sim.advance("3s")
    other.advance("3s")
    assert sim.result().fingerprints == other.result().fingerprints == network("Copied").run(seeds=[1]).fingerprints


@pytest.mark.parametrize(
    ("enqueue", "dequeue", "more", "words"),
    [
        ("cx->drop(cx, 77, FAIRLANE_QUEUE_EARLY);", "", "", "drop of 77, which is not a packet in the queue"),
        ("cx->drop(cx, p->id, 9);", "", "", "9 is not a drop reason"),
        ("cx->mark(cx, 4000000000u);", "", "", "mark of 4000000000"),
        ("", "return 5;", "", "returned 5, which is not a packet"),
        ("", "return FAIRLANE_QUEUE_NONE;", "", "returned no packet although 1 wait"),
        ("q->next = 1;", "", ".timer = stuck", "timer.. returned 0 ps, which is not later than now"),
    ],
)
def test_broken_rules_end_the_run(compiled, enqueue, dequeue, more, words):
    source = QUEUE % {"name": "Broken", "enqueue": enqueue, "dequeue": dequeue, "more": more}
    source = source.replace(
        "static double gauge",
        "static uint64_t stuck(void *s, struct fairlane_queue_cx *cx) { (void)s; (void)cx; return 0; }\nstatic double gauge",
    )
    source = source.replace("(void)ready;", "(void)ready; (void)stuck;")
    fl.load_queue(compiled(source, "broken"))
    with pytest.raises(fl.PluginError, match=f"`Broken`: .*{words}"):
        network("Broken").run(seeds=[1])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (".version = 7", "version 7 of fairlane_queue.h, this fairlane needs version 1"),
        (".size = 40", "its size is 40"),
        (".name = NULL", "has no name"),
        (".enqueue = NULL, .dequeue = NULL", "no enqueue, no dequeue"),
        (".state_size = 0", "state_size is 0"),
        (".flags = 1024", "unknown to version 1: 0x400"),
        (".param_count = 300", "param_count is 300"),
        (".gauge_count = 2", "gauge_count is 2"),
        ('.name = "red"', "choose another name"),
        (
            '.params = (const struct fairlane_queue_param[]){{"p", "", "2", 0, 1}}, .param_count = 1',
            "parameter 0 needs a name, and a default",
        ),
        ('.params = (const struct fairlane_queue_param[]){{"p", "", "much", 0, 0}}, .param_count = 1', "a quantity such as"),
    ],
)
def test_tables_that_break_the_rules_are_refused(compiled, more, words):
    source = '#pragma GCC diagnostic ignored "-Woverride-init"\n' + QUEUE % {"name": "bad", "enqueue": "", "dequeue": "", "more": more}
    with pytest.raises(plugin.PluginLoadError, match=words):
        fl.load_queue(compiled(source, "bad"))


def test_parameters_are_checked_as_those_of_built_in_queues(queue, tmp_path, compiled):
    name = queue("Params")
    for wrong, words in (({"p": 2}, "p"), ({"size": 20}, "size"), ({"sice": "1KiB"}, "size"), ({"p": 0.5}, "a coin is no law")):
        with pytest.raises(fl.ScenarioError, match=words):
            network({name: wrong}).run(seeds=[1])
    library = ("--plugin", str(compiled(FOLDER / "nminusone.c", "again")))
    assert "One more than what waits." in fairlane("explain", "NMinusOne.limit", *library).stdout
    text = SCENARIO.read_text("utf-8").replace('"20p"', '"20kB"')
    (tmp_path / "bytes.toml").write_text(text, "utf-8")
    done = fairlane("run", str(tmp_path / "bytes.toml"), *library)
    assert done.returncode == 2 and "limit counts packets" in done.stderr and "bytes.toml" in done.stderr


def test_a_library_may_hold_both(compiled):
    """A queue and a congestion control in one file: `--plugin` takes both, `load_queue` the queue alone."""
    both = TABLE % {"more": ".doc = NULL", "ack": ""} + (
        QUEUE % {"name": "Both", "enqueue": "", "dequeue": "", "more": ".doc = NULL"}
    ).replace("fairlane_queue table", "fairlane_queue queue_table").replace("&table", "&queue_table")
    library = compiled(both, "both")
    assert fl.load_queue(library) == ["Both"] and fl.load_cc(library) == ["cbase"]
    with pytest.raises(plugin.PluginLoadError, match="fairlane_queue_get"):
        fl.load_queue(compiled(ROOT / "examples" / "own_cc" / "aimd.c", "alone"))
    done = fairlane("explain", "--json", "--plugin", str(library))
    assert {"Both", "cbase"} <= set(json.dumps(json.loads(done.stdout)).replace('"', " ").split())
