"""A scenario and a seed determine the trajectory, whatever the observers and the number of threads."""

from __future__ import annotations

import pytest

import fairlane as fl


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    from conftest import DUMBBELL

    path = tmp_path_factory.mktemp("determinism") / "dumbbell.toml"
    path.write_text(DUMBBELL)
    return path


@pytest.fixture(scope="module")
def reference(path):
    return fl.run(path, seeds="1..4")


def test_twice(path, reference):
    again = fl.run(path, seeds="1..4")
    assert again.fingerprints == reference.fingerprints
    for name in ("flows", "links", "network"):
        assert again.table(name).equals(reference.table(name), null_equal=True)


def test_threads(path, reference):
    for threads in (1, 2):
        assert fl.run(path, seeds="1..4", threads=threads).fingerprints == reference.fingerprints


def test_order_of_seeds(path, reference):
    assert fl.run(path, seeds=[4, 2, 1, 3]).fingerprints == [reference.fingerprints[i] for i in (3, 1, 0, 2)]


def test_watched_by_the_hop_probe(path, reference):
    assert fl.run(path, seeds="1..4", hop_probe=True).fingerprints == reference.fingerprints


@pytest.mark.parametrize("step", ["1ms", "37ms"])
def test_watched_by_the_sampler(path, reference, step):
    sampled = fl.run(path, seeds="1..4", sets={"sample": step})
    assert sampled.fingerprints == reference.fingerprints
    assert sampled.flow_series.height > 0


def test_seeds_differ_where_chance_has_a_part(reference):
    assert len(set(reference.fingerprints)) == 4


def test_other_flows_do_not_matter():
    """A random stream belongs to an entity: what a flow draws does not depend on how many others there are."""

    def delay(others: int):
        net = fl.Network(duration="5s").link("a", "b", rate="2Mbit/s", delay="1ms", loss=0.01)
        net.link("c", "d", rate="2Mbit/s", delay="1ms", loss=0.01)
        cbr = {"cbr": {"rate": "1.9Mbit/s", "size": "1000B", "jitter": 0.9}}
        net.flow("first", "a", "b", udp={}, source=cbr).flow("other", "c", "d", udp={}, source=cbr, count=others)
        result = net.run(seed=3)
        return result.value("delay_mean", flow="first"), result.value("packets_lost", flow="first")

    assert delay(1) == delay(3)


def test_progress_does_not_matter(path, reference):
    seen = []
    watched = fl.run(path, seeds="1..4", sets={}, progress=lambda *a: seen.append(a) or True)
    assert watched.fingerprints == reference.fingerprints
    assert all(0 <= f <= 1 for f, _, _ in seen)


def test_progress_can_stop(path):
    with pytest.raises(fl.RunError, match="stopped"):
        fl.run(path, sets={"duration": "20000s"}, progress=lambda *_: False)


def test_an_exception_in_progress_comes_back(path):
    def angry(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        fl.run(path, sets={"duration": "20000s"}, progress=angry)
