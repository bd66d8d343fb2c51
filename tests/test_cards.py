"""Report cards: questions, verdicts, requirements, errors, and verdicts that are known from the literature."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib

import jsonschema
import pytest

from conftest import fairlane
from fairlane import _core
from fairlane.base.document import json_schema
from fairlane.cards import answer_questions, questions, read_question, subjects
from fairlane.cards.judge import ROUNDS, judged
from fairlane.cards.overview import every
from fairlane.cards.requirements import table
from fairlane.cards.subject import KINDS, one, registered
from fairlane.errors import FairlaneError, ScenarioError

SECTIONS = {
    "RFC 7928": [*(f"2.{n}" for n in range(1, 8)), "3.1", "3.2", "3.3", "4.1", "4.2", "4.3.1", "4.3.2", "4.4", "4.5", "4.6", "5.1.1",
                 "5.1.2", "5.2", "5.3", "5.4", "6.2", "6.3", "7.2", *(f"8.2.{n}" for n in range(1, 7)), "8.3", "9.1", "9.2", "10.2", "11.1",
                 "11.2", "12.1", "12.2"],
    "RFC 9743": ["3.1", "3.2", "4", "5", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2", "5.2.1", "5.2.2", "5.2.3", "5.3.1", "5.3.2",
                 "6", "6.1", "6.2", "6.3", "6.4", *(f"7.{n}" for n in range(1, 12)), "8"],
    "RFC 5166": ["2.1.1", "2.1.2", "2.1.3", "2.2.1", "2.2.2", "2.3", "2.3.1", "2.3.2", *(f"2.{n}" for n in range(4, 9))],
    "RFC 8867": [f"5.{n}" for n in range(1, 9)],
    "RFC 8869": ["3.1", "3.2", "4.1", "4.2"],
}  # fmt: skip
"""Sections that ask for something, as in the tables of contents of the documents: RFC 7928 section 13 is the summary."""
WORDS = {
    ("RFC 7928", "must"): "2.7 3.2 4.2 4.3.1 4.3.2 4.5 4.6 5.1.2 6.2 6.3 7.2 8.2.6 9.2 12.1 12.2",
    ("RFC 7928", "should"): "2.3 2.4 2.5 2.6 2.7 3.1 3.2 4.1 4.3.1 4.4 5.3 6.1 6.2 7.2 8.2 8.2.6 8.3 9.1 11.1 11.2 12.2",
    ("RFC 9743", "MUST"): "3.2 5 5.1.5 5.2 5.2.1 5.2.3 5.3.1 5.3.2 6 6.1 6.2 7.9 7.10 8",
    ("RFC 9743", "SHOULD"): "3.1 3.2 5 5.2.2 5.3.2 6 7.1 7.3 7.6 7.8 7.10 7.11",
    ("RFC 9743", "should"): "5.1.1 5.1.3 5.1.4 5.2.1 6.4 7.1 7.6",
}
"""Sections that use a word of requirement about the algorithm or its evaluation, read in the documents."""


def answered(kind, name, *keys, quick=True):
    """The answers to a few questions, by key."""
    (subject,) = subjects(kind, name, "dualpi2" if kind == "l4s" else "")
    return {a.key: a for a in answer_questions(subject, questions(kind, only=keys), quick=quick).answers}


# --- the questions -----------------------------------------------------------------------------------------------------------


def test_every_section_is_asked_or_left_out_with_a_reason():
    asked = {q.key for kind in KINDS for q in questions(kind)}
    for item in table():
        assert bool(item.get("questions")) != bool(item.get("left_out")), item
        assert set(item.get("questions", ())) <= asked, item
    for document, sections in SECTIONS.items():
        assert set(sections) <= {i["section"] for i in table() if i["document"] == document}, document
    for (document, word), sections in WORDS.items():
        listed = {i["section"] for i in table() if (i["document"], i["word"]) == (document, word)}
        assert listed == set(sections.split()), (document, word)
    named = {key for item in table() for key in item.get("questions", ())}
    assert named == asked


def test_every_question_names_a_section_and_a_reason_and_can_be_planned():
    """Each study resolves with its scenario, metrics and claim; nothing runs. Those of media need a build with a stack."""
    built = {name for name, _, built in _core.stacks() if built}
    for kind in KINDS:
        for q in questions(kind):
            assert re.search(r"RFC \d+ sections? \d|draft-ietf|PAM 2025", q.section), q.key
            assert q.left_out or len(q.why) > 20, q.key
            if not q.left_out and not q.measure and (kind != "media" or "str0m" in built):
                assert q.study(one(kind)).metrics, q.key


def file_of(kind, key):
    """The folder of a question, and the table of its file."""
    (q,) = questions(kind, only=[key])
    return q.path, tomllib.loads(q.text)


def test_bursts_are_the_four_cases_of_figure_2():
    """RFC 7928 section 7.2: pages of at least 50 objects of 1 kB on six connections with an initial window of 10; a stream in each case."""
    _, file = file_of("queue", "burst-web")
    flows = file["scenario"]["flows"]
    for page in ("page1", "page2", "page3"):
        flow = flows[page]
        loads = flow["source"]["request_response"]
        assert flow["count"] == 6 and flow["count"] * loads["requests"] >= 50 and loads["response"] == "15kB"
        assert flow["tcp"]["initial_window"] == "10p"
    ((video, bulk),) = (pair.values() for pair in file["zip"])
    assert {(v == "0s", b == "0s") for v, b in zip(video, bulk, strict=True)} == {(x, y) for x in (True, False) for y in (True, False)}
    assert "cbr" in flows["stream"]["source"]


def test_levels_of_congestion_follow_one_another():
    """RFC 7928 sections 8.2.1 to 8.2.5: 0.036, 0.081 and 0.114 flows for each of 167 packets, 20 s each, and mild again."""
    _, file = file_of("queue", "congestion-phases")
    flows = file["scenario"]["flows"].values()

    def during(flow, t):
        return int(flow.get("start", "0s")[:-1]) <= t < int(flow.get("stop", "80s")[:-1])

    counts = [sum(f["count"] for f in flows if during(f, t)) for t in (10, 30, 50, 70)]
    assert counts == [round(share * 167) for share in (0.036, 0.081, 0.114, 0.036)]


def test_the_capacity_varies_as_in_both_experiments():
    """RFC 7928 section 8.2.6: 100 and 10 Mbit/s, for 20 s each and for 100 ms each."""
    _, slow = file_of("queue", "varying-capacity")
    rates = slow["scenario"]["topology"]["dumbbell"]["bottleneck"]["rates"]
    assert [(r["at"], r["rate"]) for r in rates] == [("20s", "10Mbit/s"), ("40s", "100Mbit/s"), ("60s", "10Mbit/s")]
    fast, _ = file_of("queue", "varying-capacity-fast")
    rows = [x for x in (fast / "rate.csv").read_text().splitlines() if x[0].isdigit()]
    assert rows == ["0.0,100", "0.1,10", "0.2,100"]


def test_each_bound_has_a_source_or_says_that_it_has_none():
    for kind in KINDS:
        for q in questions(kind):
            if not q.left_out:
                assert (q.source in q.basis) if q.source else "it is ours" in q.basis
                assert not q.source or re.search(r"RFC \d+|ITU-T|\d{4}\)", q.source), q.key


def test_a_new_entry_of_the_registry_has_a_card_by_itself():
    names = {e["name"] for e in json.loads(_core.registry()) if e["kind"] == "queue"}
    assert names - {"plugin"} == set(registered("queue")) == {s.name for s in every("queue")}


def test_variants_are_half_and_twice_each_number():
    (red,) = subjects("queue", "red{min=8p}")
    made = [v["red"] for v in red.variants()]
    assert made[0] == {"min": "8p"} and {"min": "4p"} in made and {"min": "16p"} in made
    assert all(len(set(v.items()) ^ set(made[0].items())) <= 2 for v in made)


def test_variants_that_cannot_be_are_left_out():
    """RIO's thresholds are in order: half of the upper one would be below the lower one."""
    (rio,) = subjects("queue", "rio")
    made = [v["rio"] for v in rio.variants()]
    assert {"in_min": "20p"} in made and {"in_min": "80p"} not in made


# --- the verdict -------------------------------------------------------------------------------------------------------------


def test_a_verdict_is_sure_or_a_concern():
    """The interval of Student's t for five values, in one look: mean ± 2.776 sd / sqrt(5)."""
    q = next(q for q in questions("queue") if q.key == "tcp-friendly-delay")  # at most 50 ms, tolerance 50 ms
    assert judged([40, 42, 44, 46, 48], q, 1)[0] == "pass"
    assert judged([90, 92, 94, 96, 98], q, 1)[::2] == ("concern", True)
    assert judged([130, 132, 134, 136, 138], q, 1)[0] == "fail"
    word, iv, decided = judged([30, 40, 50, 60, 70], q, 1)
    assert (word, decided) == ("concern", False)
    assert iv.half_width == pytest.approx(2.776 * 15.811 / 5**0.5, rel=1e-3)
    wide, narrow = (judged([40, 42, 44, 46, 48], q, looks)[1].half_width for looks in (3, 1))
    assert wide > narrow  # Bonferroni: each look at 1 - 0.05 / 3


def test_replications_are_added_until_the_verdict_is_sure(tmp_path):
    """Two answers of one question: one is sure at once, one is not and gets all rounds; the runs are kept."""
    folder = question(tmp_path, bound=1e9)
    (codel,) = subjects("queue", "codel")
    sure = answer_questions(codel, [read_question(folder)], tmp_path / "out").answers[0]
    assert sure.interval.n == ROUNDS[0] and sure.verdict == "pass"
    open_ = question(tmp_path, "open", bound=sure.interval.mean)
    known = answer_questions(codel, [read_question(open_)], tmp_path / "out").answers[0]
    assert known.interval.n == ROUNDS[-1] and known.verdict == "concern" and "do not decide" in known.sentence
    assert known.values[: ROUNDS[0]] == sure.values


def question(folder, key="mine", bound=20.0, **replaced):
    """A small question in a folder of its own."""
    text = f"""question = "How long do packets wait?"
section = "RFC 7928 section 5.1"
claim = "1000 * v('delay') <= bound"
bound = {bound!r}
why = "This is a test of the cards."

[metrics]
delay = "links.line.sojourn_p95"

[scenario]
duration = "2s"
links.line = {{ from = "a", to = "b", rate = "2Mbit/s", delay = "5ms", queue = "QUEUE" }}
flows.tcp = {{ from = "a", to = "b", spread = "300ms", tcp = "cubic" }}
"""
    for old, new in replaced.values():
        assert old in text
        text = text.replace(old, new)
    (folder / key).mkdir()
    (folder / key / "card.toml").write_text(text)
    return folder / key


def test_a_condition_that_is_false_is_not_applicable():
    answers = answered("queue", "droptail", "ecn")
    assert answers["ecn"].verdict == "not applicable" and "marks no packets" in answers["ecn"].sentence


def test_a_transfer_that_does_not_end_is_a_fail(tmp_path):
    """With `missing`; without it the question does not apply."""
    text = ("flows.tcp = {", 'flows.tcp = { amount = "10MB",')
    metric = ('delay = "links.line.sojourn_p95"', 'delay = "flows.tcp.completion_time"')
    (codel,) = subjects("queue", "codel")
    plain = read_question(question(tmp_path, "plain", text=text, metric=metric))
    said = read_question(question(tmp_path, "said", text=text, metric=metric, why=("why =", 'missing = "it did not end"\nwhy =')))
    without, with_ = answer_questions(codel, [plain, said], quick=True).answers
    assert without.verdict == "not applicable" and (with_.verdict, with_.sentence) == ("fail", "it did not end")


# --- the command -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("card")
    question(place)
    words = ("card", "queue", "codel", "--only", "mine", "--question", "mine", "--against", "droptail", "--quick", "--out", "o")
    done = fairlane(*words, "--page", "c.html", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    return place, words, json.loads(done.stdout)


def test_the_document_is_as_its_schema_says(made):
    _, _, document = made
    jsonschema.validate(document, json_schema("card"))
    codel, droptail = (c["answers"][0] for c in document["cards"])
    assert codel["number"] < droptail["number"] and codel["n"] == ROUNDS[0] == len(codel["values"])
    assert codel["low"] <= codel["number"] <= codel["high"]


def test_the_page_has_verdicts_bound_section_and_command(made):
    page = (made[0] / "c.html").read_text()
    assert "RFC 7928 section 5.1" in page and "≤ 20" in page and "This is a test of the cards." in page and "fairlane card queue" in page
    assert re.search(r"<h1>codel passes [01] of 1 and droptail [01] of 1 questions</h1>", page)
    assert "No document gives this bound; it is ours." in page and "links.line.sojourn_p95" in page and "Parameters of codel: limit" in page
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", page)


def test_it_resumes_and_refuses_other_folders(made, tmp_path):
    place, words, document = made
    shutil.copytree(place, tmp_path / "w")
    again = fairlane(*words, "--json", cwd=tmp_path / "w")
    assert json.loads(again.stdout) == document
    refused = fairlane(*words, "--page", "c.html", cwd=tmp_path / "w")
    assert refused.returncode == 2 and "c.html exists" in refused.stderr
    (tmp_path / "w" / "o" / "queue-codel" / "card.json").write_text('{"card": "cc"}')
    other = fairlane(*words, cwd=tmp_path / "w")
    assert other.returncode == 2 and "holds the card of another subject" in other.stderr and "Traceback" not in other.stderr


def test_the_terminal_fits_80_columns(made, monkeypatch):
    place, words, _ = made
    monkeypatch.setenv("COLUMNS", "80")
    done = fairlane(*words, cwd=place)
    assert done.returncode == 0 and max(map(len, done.stdout.splitlines())) <= 80
    assert re.search(r"mine +≤ 20 +(pass|concern|fail) ", done.stdout)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("card", "queue", "codle"), "unknown queue 'codle': did you mean 'codel'"),
        (("card", "cc", "cubik"), "unknown congestion control 'cubik': did you mean 'cubic'"),
        (("card", "queue", "red{min=5p,weight=1}"), "cannot use red{min=5p,weight=1}: unknown key `weight`"),
        (("card", "l4s", "prague", "--queue", "dualpi"), "unknown queue 'dualpi'"),
        (("card", "queue", "codel", "--only", "flod"), "did you mean 'flood'"),
        (("card", "queue", "codel", "--question", "nowhere"), "folder not found"),
        (("card", "cc", "codel"), "codel is a queue: `fairlane card queue`"),
        (("card", "queue", "cubic"), "cubic is a congestion control: `fairlane card cc`"),
        (("card", "cc", "quinn"), "quinn is a transport stack"),
        (("card", "media", "quinn"), "quinn carries no media"),
        (("card", "media", "str0n"), "unknown stack 'str0n': did you mean 'str0m'"),
        (("card", "list", "tcp"), "unknown kind of report card 'tcp'"),
        (("new", "card", "flood"), "'flood' is taken"),
    ],
)
def test_mistakes_are_one_error(words, error, tmp_path):
    done = fairlane(*words, cwd=tmp_path)
    assert done.returncode == 2 and error in done.stderr and not done.stdout and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(any(built for _, _, built in _core.stacks()), reason="this build has stacks")
def test_a_media_card_needs_a_build_with_stacks(tmp_path):
    done = fairlane("card", "media", "str0m", cwd=tmp_path)
    assert done.returncode == 2 and "stack str0m is not built into this fairlane" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "place", "error"),
    [
        (("<= bound", "<= 20"), "card.toml:3:", "compares one number with the bound"),
        (("v('delay')", "v('dealy')"), "card.toml:3:", "did you mean `delay`"),
        (("why = ", "because = "), "card.toml:1:", "`why` is missing"),
        (("why = ", "unti = 1\nwhy = "), "card.toml:5:", "did you mean `unit`"),
        (('duration = "2s"', 'duration = "2"'), "card.toml:11:", "duration"),
        (("This is a test of the cards.", ""), "card.toml:5:", "`why` is empty"),
        (("section 5.1", "section 99"), "card.toml:2:", "RFC 7928 has no section 99"),
        (("bound = 20.0", 'bound = "20ms"'), "card.toml:4:", "expected a number"),
        (("[scenario]", "[scenaro]"), "card.toml:10:", "did you mean `scenario`"),
        (("sojourn_p95", "sojourn_p96"), "card.toml:8:", "sojourn_p9"),
    ],
)
def test_a_fault_in_a_question_has_its_line(change, place, error, tmp_path):
    folder = question(tmp_path, change=change)
    with pytest.raises((ScenarioError, FairlaneError)) as e:
        answer_questions(subjects("queue", "codel")[0], [read_question(folder)], quick=True)
    assert place in str(e.value) and error in str(e.value) and "^" in str(e.value)


def test_a_new_question_runs_as_it_is(tmp_path):
    assert fairlane("new", "card", "calls", cwd=tmp_path).returncode == 0
    assert (tmp_path / "calls" / "card.toml").is_file()
    found = answer_questions(subjects("queue", "fq_codel")[0], [read_question(tmp_path / "calls")], quick=True).answers[0]
    assert found.verdict == "pass" and found.key == "calls"
    assert "exists" in fairlane("new", "card", "calls", cwd=tmp_path).stderr


def test_a_plug_in_has_a_card(tmp_path):
    from conftest import ROOT

    question(tmp_path)
    own = ROOT / "examples" / "own_queue" / "queue.py"
    words = ("card", "queue", "NMinusOne", "--plugin", str(own), "--only", "mine", "--question", "mine", "--quick", "--json")
    done = fairlane(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cards"][0]["answers"][0]["number"] > 0


def test_the_memory_of_a_flow_is_measured_against_droptail():
    """fq has an entry for each flow (Linux sch_fq.c, struct fq_flow), FQ-CoDel a hash of a fixed size (RFC 8290 section 5.4).

    The peak has copies of tables that grow: 71 bytes a flow of fq in a release build, 220 in a test build.
    """
    fq, hashed = (answered("queue", q, "memory", quick=False)["memory"] for q in ("fq", "fq_codel"))
    assert 40 < fq.interval.mean < 300 and "bytes a flow" in fq.sentence
    assert hashed.interval.mean < 30 and hashed.verdict == "pass"


BROKEN = """import fairlane as fl


class Broken(fl.Qdisc):
    def enqueue(self, packet):
        {enqueue}

    def dequeue(self):
        return {dequeue}
"""


@pytest.mark.parametrize(
    ("enqueue", "dequeue", "error"),
    [
        ("raise ValueError('too many')", "None", "ValueError: too many"),
        ("self.kept = packet", "7", "'int' object is not an instance of 'Packet'"),
    ],
)
def test_a_broken_plug_in_fails_with_its_error(enqueue, dequeue, error, tmp_path):
    """Exit code 1, as for a study with failed runs; the reason once, with the place in the plug-in."""
    question(tmp_path)
    (tmp_path / "queue.py").write_text(BROKEN.format(enqueue=enqueue, dequeue=dequeue))
    words = ("card", "queue", "Broken", "--plugin", "queue.py", "--only", "mine,cost,sensitivity", "--question", "mine", "--quick")
    done = fairlane(*words, cwd=tmp_path)
    assert done.returncode == 1 and not done.stderr and "5 of 5 runs failed" in done.stdout and error in done.stdout
    assert done.stdout.count("queue `Broken`") == 1
    assert "raise" not in enqueue or re.search(r'queue.py", line 6, in enqueue', done.stdout)
    assert "not applicable: cost: a plug-in cannot be measured" in done.stdout
    assert "sensitivity: it has no parameter that is a number" in done.stdout
    document = json.loads(fairlane(*words, "--json", cwd=tmp_path).stdout)
    jsonschema.validate(document, json_schema("card"))
    assert [a["verdict"] for a in document["cards"][0]["answers"] if a["error"]] == ["fail"]


def test_a_plug_in_may_have_the_name_of_a_standard_module(tmp_path):
    """`python -m fairlane` in a folder with queue.py, and the process that measures memory there."""
    (tmp_path / "queue.py").write_text(BROKEN.format(enqueue="self.drop(packet)", dequeue="None"))
    words = [sys.executable, "-m", "fairlane", "card", "queue", "fq_codel", "--only", "memory", "--plugin", "queue.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 pass" in done.stdout


def test_the_memory_of_a_packet_is_header_and_entry():
    """A header of 64 bytes and a packet of 32 in the queue, with little more (ARCHITECTURE.md); fair queues have links between them."""
    codel, fq, choke = (answered("queue", q, "packet-memory")["packet-memory"] for q in ("codel{target=10ms}", "fq", "choke"))
    assert 96 <= codel.interval.mean < 200 and codel.verdict == "pass" and "bytes a packet" in codel.sentence
    assert codel.interval.mean < fq.interval.mean < 300
    assert choke.verdict == "not applicable" and "drops packets before" in choke.sentence


def test_a_receiver_that_repeats_acknowledgments_gains_nothing():
    """Savage, Cardwell, Wetherall and Anderson (1999), section 4.2; RFC 5681 section 5: with SACK repeated ACKs are no news."""
    answer = answered("cc", "cubic", "repeated-acks")["repeated-acks"]
    assert answer.verdict == "pass" and 0.6 < answer.interval.mean < 1.5
