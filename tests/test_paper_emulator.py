"""The emulator of a paper's settings: functions whose values are known, and noise, of which nothing can be said."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from fairlane.errors import PaperError
from fairlane.multiverse import design
from fairlane.papers import Levels, Open, Span, emulator, full_reruns, load
from fairlane.papers.emulator import Emulator
from test_paper_settings import resealed, study

OPENS = [
    Open("rate", 5, Span(1, 9), "not published"),
    Open("delay", 20, Span(10, 40), "not published"),
    Open("queue", "red", Levels(("red", "droptail", "sfq")), "not named"),
    Open("seed", 5, Span(0, 9), "matters for nothing"),
]


def truth(w):
    return 3 * w["rate"] - (w["rate"] - 4) ** 2 + 0.2 * w["delay"] + {"red": 0, "droptail": 7, "sfq": -2}[w["queue"]]


def test_what_it_was_not_told_is_that_of_the_function():
    settings = design(OPENS, 120)
    e = Emulator(OPENS, settings[:40], [truth(w) for w in settings[:40]])
    found, spread = e.said(settings[40:])
    true = np.array([truth(w) for w in settings[40:]])
    assert np.abs(found - true).max() < 0.03 * true.std()
    assert (spread < 0.1 * true.std()).all()
    assert e.worth().error < 0.05 * e.worth().spread


def test_products_are_what_is_left_to_the_smooth_part():
    of = lambda w: w["rate"] * w["delay"]  # noqa: E731
    settings = design(OPENS, 200)
    e = Emulator(OPENS, settings[:100], [of(w) for w in settings[:100]])
    found, _ = e.said(settings[100:])
    true = np.array([of(w) for w in settings[100:]])
    assert np.sqrt(((found - true) ** 2).mean()) < 0.1 * true.std()


def test_noise_is_told_as_noise():
    """Leaving one out misses by what chance changes, and the interval has as many as it says; beyond its settings it is no surer."""
    rng = np.random.default_rng(7)
    settings = design(OPENS, 160)
    values = [truth(w) + 2 * rng.standard_normal() for w in settings]
    e = Emulator(OPENS, settings[:80], values[:80])
    worth = e.worth()
    assert 1.6 < worth.error < 2.8
    assert worth.inside > 0.88
    found, spread = e.said(settings[80:])
    assert (np.abs(found - values[80:]) <= 1.96 * spread).mean() > 0.88

    nothing = Emulator(OPENS, settings[:80], rng.standard_normal(80)).worth()
    assert nothing.error == pytest.approx(nothing.spread, rel=0.15)


def test_leaving_one_out_is_what_a_process_without_it_says():
    settings = design(OPENS, 30)
    rng = np.random.default_rng(3)
    e = Emulator(OPENS, settings, [truth(w) + rng.standard_normal() for w in settings])
    apart = e._weights / np.diag(e._inverse)
    k = e._covariance(e._theta)
    for i in (0, 11, 29):
        others = [j for j in range(30) if j != i]
        alone = k[i, others] @ np.linalg.solve(k[np.ix_(others, others)], e._y[others])
        assert e._y[i] - alone == pytest.approx(apart[i], abs=1e-6)


def test_a_record_says_what_many_settings_would_meet(tmp_path, capsys, monkeypatch):
    """A link has an unstated rate: 40 % is published seven times, so a setting meets seven values or none."""
    monkeypatch.setattr(emulator, "TRIED", 256)
    folder = study(tmp_path)
    with pytest.raises(SystemExit):
        emulator.main([str(folder)])
    assert "--first" in capsys.readouterr().err
    full_reruns.main([str(folder), "--first", "12", "--out", str(tmp_path / "runs")])
    capsys.readouterr()
    emulator.main([str(folder), "--within", "0.2"])
    output = capsys.readouterr().out
    paper = load(folder)
    found = emulator.recorded_emulated(paper)
    assert (found.settings, found.needed, found.ran, found.least) == (12, 5, 7, 0.2)
    assert found.possible > 0
    name = output.split('--with "')[1].split('"')[0]
    assert 7 < float(full_reruns.setting_of(paper, name)["rate"].removesuffix("Mbit/s")) < 13  # near the 10 Mbit/s of what is published
    again, _ = emulator.emulated(paper, full_reruns.recorded_whole(paper), 0.2)
    assert asdict(again) == pytest.approx(asdict(found), rel=1e-3, abs=1e-6)
    resealed(folder / "emulated.csv", lambda text: text.replace(emulator.made_of(paper), "0" * 16))
    with pytest.raises(PaperError, match="another study"):
        emulator.recorded_emulated(paper)
