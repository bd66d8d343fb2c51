"""Verdicts of report cards that are known from the literature, in quick and in whole cards, and the pages of all cards."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from conftest import ROOT
from fairlane.cards import answer_questions, questions, subjects
from fairlane.cards.subject import registered


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Answers by key as a quick and as a whole card gives them; the whole one begins with the runs of the quick one."""
    folder = tmp_path_factory.mktemp("known")

    def ask(kind, name, *keys):
        (subject,) = subjects(kind, name, "dualpi2" if kind == "l4s" else "")
        cards = [answer_questions(subject, questions(kind, only=keys), folder / subject.folder, quick=quick) for quick in (True, False)]
        return [{a.key: a for a in card.answers} for card in cards]

    return ask


def verdicts(cards, key):
    return [answers[key].verdict for answers in cards]


def mean(answer):
    return answer.interval.mean


def test_bbr_loses_packets_in_shallow_buffers_and_pushes_cubic_aside(known):
    """Hock, Bless and Zitterbart (2017), sections V and VI: BBRv1 in a buffer below one BDP; RFC 9743 section 5.1.3 names the failure."""
    bbr = known("cc", "bbr", "high-loss", "harm-to-cubic")
    assert verdicts(bbr, "high-loss") == verdicts(bbr, "harm-to-cubic") == ["fail", "fail"]
    assert verdicts(known("cc", "cubic", "high-loss"), "high-loss") == ["pass", "pass"]


def test_cubic_starves_vegas(known):
    """Mo, La, Anantharam and Walrand (1999), section III, for Reno; Turkovic, Kuipers and Uhlig (TMA 2019) for CUBIC: who waits for losses
    fills the buffer, from which Vegas retreats."""
    assert verdicts(known("cc", "vegas", "starved-by-cubic"), "starved-by-cubic") == ["fail", "fail"]


def test_pie_is_slow_on_load_steps(known):
    """Kuhn, Ros, Bagayoko, Kulatunga, Fairhurst and Khademi (2017): PIE's probability moves in small steps; De Schepper, Bondarenko, Tsang
    and Briscoe (CoNEXT 2016), section 6: PI2 has shorter peaks than PIE where the number of flows jumps."""
    pie, pi2, fair = (known("queue", q, "load-steps") for q in ("pie", "pi2", "fq_codel"))
    assert verdicts(pie, "load-steps") == ["concern", "concern"]
    for slow, *others in zip(pie, pi2, fair, strict=True):
        assert all(mean(slow["load-steps"]) > 1.1 * mean(other["load-steps"]) for other in others)


def test_red_is_sensitive_to_its_parameters(known):
    """May, Bolot, Diot and Lyles (1999), and RFC 7567 section 1: RED needs the right parameters, CoDel does with its defaults."""
    red, codel = (known("queue", q, "sensitivity-goodput") for q in ("red", "codel"))
    assert verdicts(red, "sensitivity-goodput") == ["fail", "fail"] and verdicts(codel, "sensitivity-goodput") == ["pass", "pass"]


def test_prague_dominates_cubic_in_one_queue_that_marks(known):
    """Sarpkaya et al. (PAM 2025), papers/sarpkaya2025/share.csv: Prague's share with CoDel-ECN is above 0.8; FQ-CoDel keeps both apart."""
    prague = known("l4s", "prague", "wins-codel", "wins-fifo-ecn", "wins-fq-codel")
    assert verdicts(prague, "wins-codel") == verdicts(prague, "wins-fifo-ecn") == ["fail", "fail"]
    assert verdicts(prague, "wins-fq-codel") == ["pass", "pass"] and all(mean(answers["wins-codel"]) > 4 for answers in prague)
    codel, fair = (known("queue", q, "l4s") for q in ("codel", "fq_codel"))
    assert verdicts(codel, "l4s") == ["fail", "fail"] and verdicts(fair, "l4s") == ["pass", "pass"]


def test_responsiveness_suffers_from_a_full_buffer(known):
    """draft-ietf-ippm-responsiveness-09, section 5.3: 40 ms without a queue are 1500 round trips a minute."""
    fair, bloated = (known("queue", q, "responsiveness") for q in ("fq_codel", "droptail"))
    for short, long in zip(fair, bloated, strict=True):
        assert mean(long["responsiveness"]) < 500 < mean(short["responsiveness"]) < 1500


# --- the pages of the documentation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["queue", "cc"])
def test_everything_in_the_registry_has_a_page_with_all_quick_questions(kind):
    """`fairlane card all KIND --quick` makes the pages of docs/background/report-cards and the tables of report-cards.md."""
    table = (ROOT / "docs" / "background" / "report-cards.md").read_text("utf-8")
    asked = {q.key for q in questions(kind, quick=True) if not q.left_out}
    for name in registered(kind):
        page = (ROOT / "docs" / "background" / "report-cards" / f"{kind}-{name}.md").read_text("utf-8")
        verdicts = dict(re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (pass|concern|fail|n/a) \|", page, re.M))
        assert asked <= set(verdicts), (name, asked - set(verdicts))
        counts = Counter(verdicts.values())
        row = re.search(rf"^\| \[`{name}`\]\(report-cards/{kind}-{name}\.md\) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", table, re.M)
        assert row is not None, name
        assert [int(x) for x in row.groups()] == [counts[w] for w in ("pass", "concern", "fail", "n/a")], name
