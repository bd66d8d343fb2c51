"""The commands of several machines as one scenario: a network, its scripts, and the network that they are read as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.linux import scenario_of, scripts

FQ = {"fq_codel": {"preset": "linux", "limit": "600p", "quantum": "1514B"}}


def lab() -> fl.Network:
    net = fl.Network(duration="1s").link(
        "home", "net", name="access", rate="5Mbit/s", delay="15ms", loss=0.01, queue=FQ,
        reverse={"rate": "50Mbit/s", "loss": 0.0, "queue": "droptail"},
    )  # fmt: skip
    net = net.link("net", "server", name="core", rate="100Mbit/s", delay="5ms", queue="pie")
    return net.flow("upload", "home", "server", tcp="newreno")


def files() -> list[tuple[str, str]]:
    return [(s.text(), s.file_name()) for s in scripts(lab(), emulate=True)]


def resolved(tree: dict[str, Any]) -> dict[str, Any]:
    net = fl.Network(**{k: v for k, v in tree.items() if k not in ("links", "flows")})
    for name, link in tree["links"].items():
        net = net.link(link["from"], link["to"], name=name, **{k: v for k, v in link.items() if k not in ("from", "to")})
    links: dict[str, Any] = net.flow("f", "home", "server", tcp="cubic").resolve()["links"]
    return links


def test_the_scripts_of_all_machines_are_the_network_again():
    made = scenario_of(files())
    assert {(x["from"], x["to"]) for x in made.tree["links"].values()} == {("home", "net"), ("net", "server")}
    before, after = lab().resolve()["links"], resolved(made.tree)
    keys = ("rate", "delay", "loss")
    for was, now in (("access", "home-net"), ("core", "net-server")):
        assert [before[was][k] for k in keys] == [after[now][k] for k in keys]
        back = before[was].get("reverse") or before[was]
        assert [back.get(k, before[was][k]) for k in keys] == [after[now]["reverse"][k] for k in keys]
    assert after["home-net"]["queue"]["fq_codel"]["limit"] == "600p" and "pie" in after["net-server"]["queue"]
    assert "droptail" in after["home-net"]["reverse"]["queue"]
    assert made.tree["flows"]["transfer"]["from"] == "home" and made.tree["flows"]["transfer"]["to"] == "server"


def test_devices_are_joined_on_request():
    a = ("tc qdisc add dev eth0 root tbf rate 5mbit burst 15k latency 50ms\n", "a.tc")
    b = ("tc qdisc add dev eth1 root netem delay 20ms\ntc qdisc add dev eth2 root fq_codel\n", "b.tc")
    with pytest.raises(fl.FairlaneError, match=r"no file says which devices are joined\n.*--join a:eth0=b:eth1"):
        scenario_of([a, b])
    made = scenario_of([a, b], joins=["a:eth0=b:eth1"], rate="1Gbit/s")
    (link,) = made.tree["links"].values()
    assert (link["from"], link["to"], link["delay"], link["reverse"]["delay"]) == ("a", "b", "0s", "20ms")
    assert "tbf" in link["queue"] and any("b: no other machine is behind eth2" in n for n in made.notes)
    for join, message in (
        ("a:eth0", "two devices"),
        ("c:eth0=b:eth1", "machine"),
        ("a:eth7=b:eth1", "device of a"),
        ("a:eth0=a:eth0", "two ends"),
    ):
        with pytest.raises(fl.FairlaneError, match=message):
            scenario_of([a, b], joins=[join])
    with pytest.raises(fl.FairlaneError, match="as another file"):
        scenario_of([a, a])


def test_two_machines_with_one_device_each_are_joined():
    text = "tc qdisc add dev eth0 root netem delay 10ms loss 1%\n"
    made = scenario_of([(text, "a.tc"), ("tc qdisc add dev eth0 root codel\n", "b.tc")])
    (link,) = made.tree["links"].values()
    assert (link["loss"], link["reverse"]["loss"], link["delay"], link["reverse"]["delay"]) == (0.01, 0.0, "10ms", "0s")


def test_the_command_takes_several_files(tmp_path: Path):
    for text, name in files():
        (tmp_path / name).write_text(text)
    names = [name for _, name in files()]
    done = fairlane("import", "tc", *names, "-o", "again.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert fairlane("tc", "again.toml", cwd=tmp_path).returncode == 0
    wrong = fairlane("import", "tc", names[0], "--join", "a:b=c:d", cwd=tmp_path)
    assert wrong.returncode == 2 and "several files" in wrong.stderr
