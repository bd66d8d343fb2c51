"""Traffic matrices and loads: pairs drawn at random, from a matrix, by gravity; a share of a link."""

from __future__ import annotations

import polars as pl
import pytest

import fairlane as fl


def grid(**settings: object) -> fl.Network:
    return fl.Network(duration="2s", **settings).grid(rows=4, columns=5)


def names(net: fl.Network, seed: int = 1) -> list[str]:
    return sorted(f["name"] for f in net.replace("seed", seed).resolve()["expanded"]["flows"])


@pytest.mark.parametrize(("share", "senders"), [(0.25, 5), (0.5, 10), (0.75, 15), (1.0, 20)])
def test_a_share_of_the_nodes_sends_and_nobody_twice(share, senders):
    """20 nodes: each sender is one, each receiver too; a larger share keeps the pairs of a smaller one, and the run's seed changes none."""
    net = grid().flow("f", pairs={"random": {"share": share, "seed": 5}}, tcp={})
    flows = net.resolve()["expanded"]["flows"]
    assert len(flows) == senders == len({f["from"] for f in flows}) == len({f["to"] for f in flows})
    assert all(f["from"] != f["to"] and f["name"] == f"f.{f['from']}-{f['to']}" for f in flows)
    whole = names(grid().flow("f", pairs={"random": {"share": 1.0, "seed": 5}}, tcp={}))
    assert {f["name"] for f in flows} <= set(whole)
    assert names(net, seed=1) == names(net, seed=99) == sorted(f["name"] for f in flows)


def test_one_pair_more_moves_nothing_that_the_others_draw():
    """Starts are drawn from the seed and the name of a member: those of the old pairs stay."""
    few, many = (
        {
            f["name"]: f["start"]
            for f in grid().flow("f", pairs={"random": {"count": n}}, tcp={}, spread="1s").resolve()["expanded"]["flows"]
        }
        for n in (30, 31)
    )
    assert len(many) == 31 and len(set(many) - set(few)) == 1
    assert all(many[name] == start for name, start in few.items())


def test_a_matrix_sets_pairs_and_rates(tmp_path):
    """Each pair's measured rate on the wire is that of the matrix; file and list are the same."""
    (tmp_path / "m.csv").write_text("from,to,rate\na,b,2Mbit/s\nb,a,500kbit/s\nc,a,0\nc,b,1Mbit/s\n")
    scenario = tmp_path / "x.toml"
    scenario.write_text(
        'duration = "20s"\n'
        + "".join(f'[links.{n}]\nfrom = "{n}"\nto = "hub"\nrate = "100Mbit/s"\ndelay = "1ms"\n' for n in "abc")
        + '[flows.m]\npairs.matrix.file = "m.csv"\nudp = {}\nsource.poisson = { size = "500B" }\n'
    )
    result = fl.run(scenario)
    rates = dict(zip(result.flows["flow"], result.flows["throughput"], strict=True))
    assert sorted(rates) == ["m.a-b", "m.b-a", "m.c-b"]
    # 20 s of packets of 528 bytes: the standard error of their number is one in the root of it.
    for name, rate in (("m.a-b", 2e6), ("m.b-a", 0.5e6), ("m.c-b", 1e6)):
        packets = rate * 20 / (8 * 528)
        assert rates[name] == pytest.approx(rate, rel=4 / packets**0.5), name


def test_gravity_shares_the_total_by_masses():
    """T(a, b) = total m(a) m(b) / sum over all pairs (Zhang et al. 2003): constant streams, so measured rates are exact to the packet."""
    weights = [4.0, 2.0, 1.0, 1.0]
    net = fl.Network(duration="20s").full_mesh(nodes=4)
    nodes = net.flow("x", "n0", "n1", tcp={}).resolve()["expanded"]["nodes"]
    masses = dict(zip(nodes, weights, strict=True))
    net = fl.Network(duration="20s").full_mesh(nodes=4)
    net.flow("g", pairs={"gravity": {"total": "8Mbit/s", "masses": masses}}, udp={}, source=fl.sources.Cbr(size="472B"))
    flows = net.run().flows
    everything = sum(masses.values()) ** 2 - sum(m * m for m in masses.values())
    assert flows.height == 12
    for row in flows.to_dicts():
        wanted = 8e6 * masses[row["from"]] * masses[row["to"]] / everything
        assert row["throughput"] == pytest.approx(wanted, abs=3 * 500 * 8 / 20), row["flow"]
    assert sum(flows["throughput"]) == pytest.approx(8e6, rel=0.002)


def test_gravity_without_masses_goes_by_the_links_of_nodes():
    net = fl.Network(duration="1s").link("a", "b", rate="30Mbit/s", delay="1ms").link("b", "c", rate="10Mbit/s", delay="1ms")
    net.flow("g", pairs={"among": ["a", "b", "c"], "gravity": {"total": "1Mbit/s"}}, udp={}, source=fl.sources.Cbr())
    rates = {f["name"]: f["rate"] for f in net.resolve()["expanded"]["flows"]}
    # Masses 30, 40, 10: of 2 (30 40 + 30 10 + 40 10) = 3800 parts.
    assert rates["g.a-b"] == rates["g.b-a"] == "315.789kbit/s"


@pytest.mark.parametrize(
    "source", [fl.sources.Cbr(size="972B"), fl.sources.Poisson(size="972B"), fl.sources.OnOff(size="972B", on="20ms", off="30ms")]
)
@pytest.mark.parametrize("members", [1, 7])
def test_a_background_takes_its_share_of_the_link(source, members):
    """30 % of 10 Mbit/s on the wire, measured over two minutes, however many members make it."""
    net = fl.Network(duration="120s").link("a", "b", rate="10Mbit/s", delay="1ms")
    net.flow("bg", load={"link": "a-b", "share": 0.3}, count=members, udp={}, source=source)
    link = net.run().links.filter(pl.col("link") == "a-b").to_dicts()[0]
    assert link["utilisation"] == pytest.approx(0.3, rel=0.002 if isinstance(source, fl.sources.Cbr) else 0.05)
    assert net.run().flows["from"].to_list() == ["a"] * members


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"pairs": {}, "tcp": {}}, "expected one of random, matrix and gravity"),
        ({"pairs": {"random": {}}, "tcp": {}}, "expected either a share or a count"),
        ({"pairs": {"random": {"share": 0.0}}, "tcp": {}}, "no node would send"),
        ({"pairs": {"random": {"count": 500}}, "tcp": {}}, "20 nodes have 380 pairs, not 500"),
        ({"pairs": {"among": ["n0", "absent"], "random": {"share": 1.0}}, "tcp": {}}, "unknown node `absent`"),
        ({"pairs": {"matrix": {}}, "tcp": {}}, "expected either a file or a list of demands"),
        ({"pairs": {"matrix": {"file": "no/such.csv"}}, "tcp": {}}, "cannot read"),
        ({"pairs": {"gravity": {"masses": {}}}, "tcp": {}}, "fewer than two nodes have a mass"),
        ({"load": {"link": "nowhere", "share": 0.5}, "udp": {}, "source": "cbr"}, "unknown link `nowhere`"),
        ({"pairs": {"gravity": {"total": "1Mbit/s"}}, "tcp": {}}, "the source bulk has no mean rate that can be set"),
    ],
)
def test_mistakes_are_named(flow, message):
    with pytest.raises(fl.ScenarioError, match=message):
        grid().flow("f", **flow).resolve()


def test_ends_pairs_and_count_do_not_mix():
    with pytest.raises(fl.ScenarioError, match="has pairs and `from`"):
        grid().flow("f", "n0", "n1", pairs={"random": {"share": 0.5}}, tcp={}).resolve()
    with pytest.raises(fl.ScenarioError, match="`to` is missing"):
        fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("f", "a", tcp={}).resolve()
