"""The scripts of `fairlane tc`: they do what the commands say, on the devices of one machine, and undo it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

import fairlane as fl
from conftest import fairlane
from fairlane.linux import export, scripts
from fairlane.linux.kinds import WRITERS
from test_cli_errors import check
from test_tc import defaults_run, have_tc, network

HOME = """\
duration = "1s"
[links.line]
from = "home"
to = "net"
rate = "2Mbit/s"
delay = "9ms"
loss = 0.01
queue.droptail = { limit = "50p" }
reverse = { rate = "8Mbit/s", queue.droptail = { limit = "90p" } }
[flows.t]
from = "home"
to = "net"
tcp = "newreno"
"""
DEVICES = "for n in 0 1; do ip link add name v$n type veth peer name w$n && ip link set v$n up && ip link set w$n up || exit 77; done\n"
"""Four devices: v0 and v1 are those of the machine."""
in_a_namespace = pytest.mark.skipif(not have_tc(), reason="needs tc and a network namespace")


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home.toml"
    path.write_text(HOME)
    return path


def sh(text: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a shell."""
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **variables}
    command = ["sh", "-s", "--", *options]
    return subprocess.run(command, input=text, env=env, capture_output=True, text=True, check=False, timeout=120)


def expanded(commands: list[str]) -> list[str]:
    """Commands as a shell runs them, with loops taken apart."""
    return sh("tc() { printf 'tc %s\\n' \"$*\"; }\n" + "\n".join(commands)).stdout.splitlines()


@pytest.mark.parametrize("name", [n for n in WRITERS if defaults_run(n)])
@pytest.mark.parametrize("only", [False, True])
def test_a_dry_run_prints_the_commands(name, only):
    net = network(name)
    (script,) = scripts(net, "x", dev="wan0", queue_only=only)
    up, down = (export(net, link, dev=dev, queue_only=only)[0].commands for link, dev in (("x", "wan0"), ("x.reverse", "eth1")))
    done = sh(script.text(), "-n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == expanded(up + down)
    assert sh(script.text(), "-n", "-u").stdout == "tc qdisc del dev wan0 root\ntc qdisc del dev eth1 root\n"


def test_a_shaper_of_cake_counts_the_header_once():
    (script,) = scripts(network({"cake": {"bandwidth": "5Mbit/s", "overhead": "8B"}}), "x")
    # Below the size table of the root cake sees IP packets and takes the header off again.
    for header in ("14", "0"):
        out = sh(script.text(), "-n", HEADER=header).stdout
        assert f"stab overhead -{header} linklayer ethernet htb" in out and f"overhead {8 + int(header)} mpu" in out


def test_both_directions_have_devices_of_their_own(home):
    (script,) = scripts(home, "line", dev="wan0", down_dev="lan0")
    up, down = (export(home, link, dev=dev)[0].commands for link, dev in (("line", "wan0"), ("line.reverse", "lan0")))
    assert "rate 2mbit" in up[1] and "rate 8mbit" in down[1]
    assert sh(script.text(), "-n").stdout.splitlines() == up + down
    assert sh(script.text(), "-n", UP_IF="ppp0").stdout.splitlines() == [c.replace("wan0", "ppp0") for c in up] + down
    assert sh(script.text(), "-n", DOWN_IF="").stdout.splitlines() == up
    out = sh(script.text(), "-n", DOWN_IF="ifb_down").stdout.splitlines()
    assert out[len(up)] == "ip link add name ifb_down type ifb" and out[-3:] == [c.replace("lan0", "ifb_down") for c in down]
    undone = sh(script.text(), "-n", "-u", DOWN_IF="ifb_down").stdout.splitlines()
    assert undone == ["tc qdisc del dev wan0 root", "tc qdisc del dev wan0 ingress", "ip link del dev ifb_down"]


def test_a_link_without_a_reverse_is_the_same_both_ways_and_says_so():
    (script,) = scripts(network("codel"), "x")
    up, down = (e.commands for e in (export(network("codel"), "x")[0], export(network("codel"), "x.reverse", dev="eth1")[0]))
    assert [c.replace("eth0", "eth1") for c in up] == down
    assert "x has no settings of its own for this direction" in script.text()
    one_way = fl.Network(duration="1s").link("a", "b", name="x", rate="1Mbit/s", delay="1ms", duplex=False)
    one_way.link("b", "a", name="y", rate="1Mbit/s", delay="1ms", duplex=False).flow("t", "a", "b", tcp="newreno")
    assert [i.variable for i in scripts(one_way, "x")[0].interfaces] == ["UP_IF"]


def test_every_direction_is_on_the_machine_that_sends(home):
    net = fl.Network(duration="1s").dumbbell(
        pairs=2, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "5Mbit/s", "delay": "9ms", "queue": "red"}
    )
    done = scripts(net.flow("t", "s0", "d0", tcp="newreno"))
    links = {x["name"]: x for x in net.resolve()["expanded"]["links"]}
    sends = [(s.machine, i.sends.link, i.variable) for s in done for i in s.interfaces]
    assert all(links[link]["from"] == machine for machine, link, _ in sends)
    assert len({(machine, variable) for machine, _, variable in sends}) == len(sends)
    assert sorted(n for s in done for n in (s.machine, *s.also)) == sorted(net.resolve()["expanded"]["nodes"])
    here, there = scripts(home)
    assert (here.machine, there.machine) == ("home", "net")
    assert "rate 2mbit" in here.text() and "8mbit" not in here.text()
    assert "rate 8mbit" in there.text() and "2mbit" not in there.text()


def test_netem_is_there_for_a_laboratory_alone(home):
    for options in ({}, {"link": "line"}, {"machine": "net"}):
        for script in scripts(home, **options):
            assert not re.search("netem|mirred|loss", sh(script.text(), "-n").stdout)
    here, there = scripts(home, "line", emulate=True)
    out = sh(there.text(), "-n").stdout
    # The packets from home arrive at net, 9 ms later and less one in a hundred.
    assert "tc qdisc add dev ifb_emulate0 root netem delay 9ms loss 1% limit" in out and "rate 8mbit" in out
    assert "netem" in sh(here.text(), "-n").stdout
    with pytest.raises(fl.FairlaneError, match="choose one"):
        scripts(home, emulate=True, queue_only=True)


@pytest.mark.parametrize("options", [{}, {"link": "line"}, {"emulate": True}])
def test_shells_and_shellcheck_have_no_word_against_it(home, options):
    for script in scripts(home, **options):
        for shell in ("sh", "dash", "bash", "busybox"):
            if shutil.which(shell):
                command = [shell, "sh", "-n"] if shell == "busybox" else [shell, "-n"]
                done = subprocess.run(command, input=script.text(), capture_output=True, text=True, check=False)
                assert (done.returncode, done.stderr) == (0, ""), shell
        if shutil.which("shellcheck"):
            assert subprocess.run(["shellcheck", "-"], input=script.text(), text=True, check=False).returncode == 0


def in_namespace(steps: str, **files: str) -> tuple[str, str]:
    """Runs shell lines with devices v0 and v1 and scripts by name in a network namespace; returns what they print."""
    texts = "".join(f"{name}() {{ sh -s -- \"$@\" <<'END_OF_SCRIPT'\n{text}\nEND_OF_SCRIPT\n}}\n" for name, text in files.items())
    done = subprocess.run(["unshare", "-n", "sh", "-c", DEVICES + texts + steps], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode == 77:
        pytest.skip("this kernel makes no veth devices")
    return done.stdout, done.stderr


SHOW = """show() {
    for d in v0 v1; do tc qdisc show dev $d; tc class show dev $d; done
    ip -o link | wc -l
}
"""


@in_a_namespace
def test_it_is_set_up_and_undone(home):
    (script,) = scripts(home, "line", dev="v0", down_dev="v1")
    steps = (
        SHOW + "show; echo ---; router; echo $?; show; echo ---; router; echo $?; router -u; echo $?; show; echo ---; router -u; echo $?"
    )
    out, err = in_namespace(steps, router=script.text())
    before, during, after, again = out.split("---\n")
    code, shown = during.split("\n", 1)
    assert code == "0"
    assert "qdisc htb 1: root" in shown and "rate 2Mbit ceil 2Mbit" in shown and "rate 8Mbit ceil 8Mbit" in shown
    assert "qdisc pfifo 10: parent 1:1 limit 50p" in shown and "qdisc pfifo 10: parent 1:1 limit 90p" in shown
    # A second time is refused, and what is there stays.
    assert after.startswith("1\n0\n") and "v0 has a queue already (qdisc htb 1: root" in err
    assert after.removeprefix("1\n0\n") == before
    assert again == "0\n"


@in_a_namespace
def test_an_error_changes_nothing(home):
    (script,) = scripts(home, "line", dev="v0", down_dev="v1")
    broken = script.text().replace("parent 1:1 handle 10: pfifo limit 90", "parent 1:1 handle 10: no_such_queue")
    steps = SHOW + "show; echo ---; broken; echo $?; show; echo ---; DOWN_IF=lan9 router; echo $?; DOWN_IF=v0 router; echo $?; show"
    out, err = in_namespace(steps, router=script.text(), broken=broken)
    before, broke, refused = out.split("---\n")
    assert broke.partition("\n")[0] != "0" and broke.partition("\n")[2] == before
    assert "everything is as before" in err
    assert refused == "1\n1\n" + before
    assert "no device lan9: set DOWN_IF" in err and "v0 is the device of two directions" in err


@in_a_namespace
def test_a_queue_of_others_is_left_alone(home):
    (script,) = scripts(home, "line", dev="v0")
    out, err = in_namespace(
        "tc qdisc add dev v0 root handle 7: tbf rate 1mbit burst 5000 limit 5000\n"
        "export DOWN_IF=\nrouter; echo $?; router -u; echo $?; tc qdisc show dev v0",
        router=script.text(),
    )
    assert out.startswith("1\n0\nqdisc tbf 7: root")
    assert "v0 has a queue already (qdisc tbf 7: root" in err


@in_a_namespace
def test_arriving_packets_pass_a_new_device_or_nothing_changes(home):
    (script,) = scripts(home, "line", dev="v0")
    out, _ = in_namespace(
        SHOW + "export DOWN_IF=ifb_down\nshow; echo ---; router; echo $?; tc qdisc show dev ifb_down; echo ---; router -u; show",
        router=script.text(),
    )
    before, during, after = out.split("---\n")
    # A kernel without the matchall filter refuses, and everything is undone.
    assert during.startswith("0\nqdisc htb 1: root") or (during[0] != "0" and "htb" not in during)
    assert after == before


FULL = """
import socket
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("v0", 0x0800))
out.send(b"\\xff" * 6 + bytes(6) + b"\\x08\\x00" + b"E" * 1500)
"""


@in_a_namespace
def test_a_burst_of_one_packet_lets_full_packets_pass(home):
    """Linux counts 1514 bytes for them and drops them at a burst of 1500, unless the header is taken off."""
    sets = {"links.line.queue": {"tbf": {"burst": "1500B"}}}
    (script,) = scripts(home, "line", dev="v0", sets=sets, queue_only=True)
    steps = "export DOWN_IF=; router || exit 1; for i in 1 2 3; do full; done; tc -s qdisc show dev v0 | grep dropped; router -u"
    full = f"exec python3 - <<'END'\n{FULL}END"
    dropped = []
    for header in ("0", "14"):
        out, _ = in_namespace(f"export HEADER={header}; " + steps, router=script.text(), full=full)
        dropped.append(int(re.search(r"dropped (\d+)", out)[1]))  # type: ignore[index]
    assert dropped[0] >= 3 and dropped[1] == 0


def test_command_line(home, tmp_path):
    done = fairlane("tc", "home.toml", "-o", "lab", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "wrote lab/home.sh, lab/net.sh\n")
    assert (tmp_path / "lab" / "net.sh").read_text().startswith("#!/bin/sh\n")
    check(fairlane("tc", "home.toml", "-o", "lab", cwd=tmp_path), r"lab/home\.sh exists")
    check(fairlane("tc", "home.toml", "--machine", "nett", cwd=tmp_path), r"nett.*net")
    check(fairlane("tc", "home.toml", "line", "--down-dev", "eth0", cwd=tmp_path), r"device of both directions")
    one = fairlane("tc", "home.toml", "--machine", "net", cwd=tmp_path).stdout
    assert one == (tmp_path / "lab" / "net.sh").read_text()
    doc = json.loads(fairlane("tc", "home.toml", "line", "--json", cwd=tmp_path).stdout)
    assert [x["link"] for x in doc["links"]] == ["line", "line.reverse"]
    (script,) = doc["scripts"]
    assert [i["variable"] for i in script["interfaces"]] == ["UP_IF", "DOWN_IF"]
    assert script["text"] + "\n" == fairlane("tc", "home.toml", "line", cwd=tmp_path).stdout
