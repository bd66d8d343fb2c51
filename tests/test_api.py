"""The public Python API: namespaces, quantities with units, errors and warnings of the kinds that Python knows, what is printed."""

from __future__ import annotations

import inspect
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import pytest

import fairlane as fl
from conftest import DUMBBELL
from fairlane.cli import invoke
from fairlane.units import Duration, Mbit, Packets, Quantity, Rate, Size, kB, ms, packets, s

ALGORITHMS = (fl.queues, fl.cc, fl.sources, fl.controls, fl.topologies, fl.propagation, fl.transports)


def pair(**settings: object) -> fl.Network:
    """One TCP flow over one link."""
    link = {"rate": "5Mbit/s", "delay": "10ms", **settings}
    return fl.Network(duration="4s").link("a", "b", **link).flow("upload", "a", "b", tcp="newreno")  # type: ignore[arg-type]


# --- names ----------------------------------------------------------------------------------------------------


def test_algorithms_are_in_namespaces_and_not_among_the_names_of_the_package():
    listed = {name for module in ALGORITHMS for name in module.__all__}
    assert {"Red", "Cubic", "Cbr", "TimeSlots", "Ring", "TwoRay", "Tcp"} <= listed
    assert not listed & {*fl.__all__, *dir(fl)}
    for module in ALGORITHMS:
        assert module.__name__.removeprefix("fairlane.") in fl.__all__
        for name in module.__all__:
            assert getattr(module, name).__module__ == module.__name__


def test_a_flat_name_leads_to_the_same_class():
    assert fl.Red is fl.queues.Red and fl.Tcp is fl.transports.Tcp
    with pytest.raises(AttributeError, match="no attribute 'Redd'"):
        fl.Redd  # noqa: B018


def test_no_public_signature_has_an_internal_parameter():
    for call in (fl.compare, fl.run, fl.report, fl.plot, fl.StudyResult.page, fl.StudyResult.save, fl.Result.page, fl.Comparison.page):
        assert not {"command", "pool", "folder"} & set(inspect.signature(call).parameters), call


# --- quantities -----------------------------------------------------------------------------------------------


def test_quantities_are_what_their_texts_are():
    typed = pair(rate=Mbit(5), delay=ms(10), queue=fl.queues.Droptail(limit=packets(20)))
    text = pair(rate="5Mbit/s", delay="10ms", queue=fl.queues.Droptail(limit="20p"))
    assert typed.to_dict() == text.to_dict()
    changed = text.replace({"links.a-b.delay": ms(20), "links.a-b.queue.droptail.limit": kB(30)})
    assert (changed.to_dict()["links"]["a-b"]["delay"], changed.run().seeds) == ("20ms", [1])
    sim = typed.start()
    sim.advance(s(1))
    sim.set("links.a-b.rate", Mbit(2))
    assert sim.time == 1.0 and sim.scenario["links"]["a-b"]["rate"] == "2Mbit/s"
    assert typed.run(sets={"duration": s(2)}).description["duration"] == "2s"


def test_quantities_compare_by_value_and_are_numbers_in_base_units():
    assert (ms(20), float(ms(20)), str(ms(20)), repr(ms(20))) == (s(0.02), 0.02, "20ms", "Duration('20ms')")
    assert float(Mbit(10)) == 10e6 and float(kB(3)) == 3000.0 and float(packets(5)) == 5.0
    assert len({ms(1000), s(1), Duration("1s")}) == 1 and ms(1) != Size("1B")
    assert str(ms(1 / 3)) == "333333333333ps" or float(ms(1 / 3)) == pytest.approx(1 / 3000, rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (Duration, "10Mbit/s", "a duration with its unit"),
        (Rate, "20ms", "a rate with its unit"),
        (Size, "3p", "size with its unit"),
        (Packets, "3B", "in bytes, not in packets"),
        (Duration, "-1s", "negative"),
        (Rate, "10", "bare number"),
        (Duration, 10, "bare number"),
    ],
)
def test_a_wrong_quantity_is_an_error_at_once(kind: type[Quantity], text: str, words: str):
    with pytest.raises(fl.ArgumentError, match=words) as error:
        kind(text)
    assert isinstance(error.value, ValueError)


def from_file(tmp_path: Path, text: str) -> tuple[str, str]:
    """Returns message and help of the first problem that a scenario file has."""
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(fl.ScenarioError) as error:
        fl.run(tmp_path / "x.toml")
    return error.value.diagnostics[0]["message"], error.value.diagnostics[0]["help"]


LINK = 'duration = "1s"\n[links.l]\nfrom = "a"\nto = "b"\n'
RATED = LINK + 'rate = "1Mbit/s"\n'
FLOW = RATED + '[flows.f]\nfrom = "a"\nto = "b"\n'


@pytest.mark.parametrize(
    ("build", "file", "path"),
    [
        (lambda: fl.queues.Red(min=3), RATED + 'queue.red.min = 3\n', "min"),
        (lambda: fl.sources.Cbr(rate=5), FLOW + 'udp = {}\nsource.cbr.rate = 5\n', "rate"),
        (lambda: fl.transports.Tcp(mss=1460), FLOW + 'tcp.mss = 1460\n', "mss"),
        (lambda: fl.cc.Ledbat(target=1), FLOW + 'tcp.cc.ledbat.target = 1\n', "target"),
        (lambda: fl.topologies.Ring(link={"rate": 5}), 'duration = "1s"\n[topology.ring]\nlink.rate = 5\n', "link.rate"),
        (lambda: fl.controls.TimeSlots(slot=0.1), RATED + '[control.time_slots]\nslot = 0.1\n', "slot"),
        (lambda: fl.Network(duration=10), "duration = 10\n", "duration"),
        (lambda: pair(rate=5), LINK + "rate = 5\n", "links.a-b.rate"),
        (lambda: pair(queue={"red": {"min": 3}}), RATED + 'queue.red.min = 3\n', "links.a-b.queue.red.min"),
        (lambda: pair(rates=[{"at": 1, "rate": "2Mbit/s"}]),
         RATED + 'rates = [{ at = 1, rate = "2Mbit/s" }]\n', "links.a-b.rates.0.at"),
        (lambda: fl.Network(duration="1s").ring(link={"delay": 5}),
         'duration = "1s"\n[topology.ring]\nlink.delay = 5\n', "topology.ring.link.delay"),
        (lambda: pair().flow("late", "a", "b", tcp="reno", start=5), FLOW + 'tcp = "reno"\nstart = 5\n', "flows.late.start"),
    ],
)  # fmt: skip
def test_a_number_without_a_unit_fails_where_it_is_written_in_the_words_of_a_file(build, file, path, tmp_path):
    with pytest.raises(fl.ScenarioError) as error:
        build()
    (problem,) = error.value.diagnostics
    assert (problem["message"], problem["help"]) == from_file(tmp_path, file) and problem["code"] == "bad-quantity"
    assert problem["path"] == path and "no unit" in problem["message"]


def test_numbers_that_need_no_unit_pass():
    fl.queues.Red(max_p=0.1, w_q=0.002, gentle=True)
    net = pair(loss=0.01, weight=3, duplicate=0.1).flow("more", "a", "b", tcp=fl.transports.Tcp(sack_blocks=3), count=2)
    net.wireless("air", nodes={"x": [0, 0], "y": [50, 0]}, rate="11Mbit/s")
    assert fl.topologies.Dumbbell(pairs=3, bottleneck={"loss": 0.1}).spec() == {"dumbbell": {"pairs": 3, "bottleneck": {"loss": 0.1}}}


# --- what is printed ------------------------------------------------------------------------------------------


def test_parameters_show_what_was_set():
    assert repr(fl.queues.Red(min="3p", gentle=False)) == "Red(min='3p', gentle=False)"
    assert repr(fl.transports.Tcp(cc=fl.cc.Cubic(beta=0.8))) == "Tcp(cc=Cubic(beta=0.8))"
    assert repr(fl.queues.Codel()) == "Codel()"


def test_values_have_units():
    result = pair(loss=0.01).run(seeds="1..4")
    goodput = result.value("goodput", flow="upload")
    assert (goodput.unit, goodput.n, goodput.confidence) == ("bit/s", 4, 0.95)
    assert goodput.mean is not None and goodput.half_width is not None
    text = str(goodput)
    assert text.endswith(" Mbit/s (95 %, 4 runs)")
    shown, half = (float(x) for x in text.removesuffix(" Mbit/s (95 %, 4 runs)").split(" ± "))
    assert shown == pytest.approx(goodput.mean / 1e6, abs=0.006) and half == pytest.approx(goodput.half_width / 1e6, rel=0.1)
    for metric, unit in (("rtt_mean", "s"), ("retransmits", "packets"), ("loss", "1")):
        assert result.value(metric, flow="upload").unit == unit
    assert goodput.times(1e-6, "Mbit/s").unit == "Mbit/s" and pickled(goodput) == goodput


def pickled(thing: object) -> object:
    import pickle

    return pickle.loads(pickle.dumps(thing))


def test_a_result_prints_the_summary_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "d.toml").write_text(DUMBBELL)
    assert invoke(["run", str(tmp_path / "d.toml"), "--seeds", "1..3"]) == 0
    command = capsys.readouterr().out
    printed = str(fl.run(tmp_path / "d.toml", "1..3"))
    # The head line of the command has the speed, too.
    assert printed.partition("\n\n")[2] == command.partition("\n\n")[2].rstrip() and printed.count("\n") > 8
    assert printed.partition("\n\n")[0].endswith(" simulated, 3 runs (seeds 1 to 3), means with 95 % intervals")


# --- changes --------------------------------------------------------------------------------------------------


def test_replace_leaves_the_network_as_it_is_and_set_changes_it():
    net = pair()
    before = net.to_dict()
    delays = [net.replace("links.a-b.delay", f"{d}ms").to_dict()["links"]["a-b"]["delay"] for d in (20, 30)]
    assert delays == ["20ms", "30ms"] and net.to_dict() == before
    assert net.set({"links.a-b.delay": "40ms", "seed": 7}) is None  # type: ignore[func-returns-value]
    assert (net.to_dict()["links"]["a-b"]["delay"], net.to_dict()["seed"]) == ("40ms", 7)
    with pytest.raises(ValueError, match="not a path"):
        net.replace("links..rate", "1Mbit/s")


# --- errors and warnings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (lambda r: r.value("godput", flow="upload"), (KeyError, fl.UnknownNameError)),
        (lambda r: r.value("goodput", flow="uplod"), (KeyError, fl.UnknownNameError)),
        (lambda r: r.table("flow"), (KeyError, fl.UnknownNameError)),
        (lambda r: pair().run(seeds="1..x"), (ValueError, fl.ArgumentError)),
        (lambda r: pair().run(seeds=[1, 1]), (ValueError, fl.ArgumentError)),
        (lambda r: pair().start(seed=-1), (ValueError, fl.ArgumentError)),
        (lambda r: pair().run(threads=-1), (ValueError, fl.ArgumentError)),
        (lambda r: fl.interval([1.0, 2.0], 95), (ValueError, fl.ArgumentError)),
        (lambda r: fl.plot(r, "queue"), (ValueError, fl.ArgumentError)),
        (lambda r: fl.report(r), (ValueError, fl.ArgumentError)),
    ],
)
def test_errors_are_also_those_of_python_and_say_one_thing(call, kinds):
    with pytest.raises(fl.FairlaneError) as error:
        call(pair().run())
    assert all(isinstance(error.value, kind) for kind in kinds)
    assert not str(error.value).startswith(("'", '"'))


def test_no_error_shows_what_the_library_caught_before(tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    calls = (
        lambda: fl.run(tmp_path / "none.toml"),
        lambda: fl.run(tmp_path / "bad.toml"),
        lambda: fl.load(tmp_path),
        lambda: fl.load_study(tmp_path),
        lambda: pair().start().links["x"],
        lambda: Duration("3p"),
        lambda: pair().run().page(tmp_path / "no" / "page.html"),
    )
    for call in calls:
        with pytest.raises(fl.FairlaneError) as error:
            call()
        text = "".join(traceback.format_exception(error.value))
        assert "During handling" not in text and "direct cause" not in text


def test_warnings_are_issued_once_at_the_line_that_runs():
    net = pair().replace("duration", "200ms")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = net.run()
    assert [str(w.message) for w in caught] == [str(w) for w in result.warnings] and len(caught) >= 1
    assert {w.filename for w in caught} == {__file__} and all(issubclass(w.category, UserWarning) for w in caught)
    assert all(isinstance(w.message, fl.ScenarioWarning) and w.message.code for w in caught)
    with pytest.warns(fl.ScenarioWarning):
        compared = fl.compare(net, queues="droptail,codel", seeds=1)
    assert {w.code for w in compared.warnings} >= {w.code for w in result.warnings} - {"coarse-sampling"}


def test_the_command_prints_a_warning_once(tmp_path):
    (tmp_path / "d.toml").write_text(DUMBBELL.replace('duration = "6s"', 'duration = "1100ms"'))
    for command in (["run", "d.toml", "--seeds", "1"], ["compare", "--scenario", "d.toml", "--queues", "red", "--seeds", "1"]):
        done = subprocess.run([sys.executable, "-m", "fairlane", *command], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "ScenarioWarning" not in done.stdout + done.stderr
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("warning: ")]
        assert len(lines) == len(set(lines))


def test_a_network_is_read_from_a_resolved_scenario_too(tmp_path, root):
    """Every example, as `resolve` writes it: JSON with all parameters, many of them null."""
    import json

    for example in ("quickstart", "wireless_chain", "time_slots", "failure", "load"):
        net = fl.Network.from_file(root / "examples" / f"{example}.toml")
        file = tmp_path / f"{example}.json"
        file.write_text(json.dumps(net.resolve()))
        sets = {"duration": "2s", "warmup": "0s"}
        assert fl.Network.from_file(file).run(sets=sets).fingerprints == fl.run(file, sets=sets).fingerprints, example


def test_tables_come_as_they_are_asked_for(monkeypatch):
    from fairlane.runs import tables

    result = pair().replace("sample", "100ms").run(seeds="1..2")
    copied: list[str] = []
    made = tables._columns_of
    monkeypatch.setattr(tables, "_columns_of", lambda run, table: copied.append(table) or made(run, table))
    assert result.value("utilisation", link="a-b").n == 2
    assert set(copied) == {"links"}
    assert result.flow_series.height > 60 and set(copied) == {"links", "flow_series"}
    assert list(result._tables) == ["flows", "links", "network", "flow_series", "link_series"]
