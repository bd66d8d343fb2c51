"""Topologies of Mininet and scripts of ns-2 as scenarios: values of the files themselves, and runs against the documented translation."""

from __future__ import annotations

import random
import re
import tomllib

import pytest

import fairlane as fl
from conftest import ROOT, fairlane
from fairlane.base import toml
from fairlane.errors import FairlaneError
from fairlane.formats import tcl
from fairlane.formats.mininet import import_mininet
from fairlane.formats.tcl import import_tcl

TOPO = """from mininet.topo import Topo
from mininet.link import TCLink

class Dumbbell(Topo):
    def build(self, n=2, **opts):
        left, right = self.addSwitch('s1'), self.addSwitch('s2')
        self.addLink(left, right, cls=TCLink, bw=10, delay='20ms', loss=1, max_queue_size=50, use_htb=True)
        access = dict(bw=100, delay='1ms', jitter='100us')
        for h in range(n):
            host = self.addHost('h%s' % (h + 1))
            self.addLink(host, left, **access)
            self.addLink(right, self.addHost(f'd{h + 1}', cpu=.5 / n), bw=0.5, enable_red=True, colour=3)
        for x in unknown():
            self.addLink(x, left)

if __name__ == '__main__':
    raise SystemExit('executed')
"""
CONTAINERNET = """
net = Containernet(controller=Controller)
d1 = net.addDocker('d1', ip='10.0.0.251', dimage="ubuntu:trusty")
hosts = [d1]
hosts.append(net.addDocker('d2'))
s = net.addSwitch('s1')
for i, h in enumerate(hosts):
    if i == 0:
        net.addLink(h, s, delay='%dms' % (5 * (i + 1)), loss=0.5)
    else:
        net.addLink(h, s, bw=20)
net.start()
"""


def test_a_topology_of_mininet():
    """TCIntf of Mininet: bw in Mbit/s, loss in percent, max_queue_size in packets, delay and jitter as netem takes them."""
    made = import_mininet(TOPO, "topo.py")
    links = made.tree["links"]
    assert list(links) == ["s1-s2", "h1-s1", "s2-d1", "h2-s1", "s2-d2"]
    middle = {"from": "s1", "to": "s2", "rate": "10Mbit/s", "delay": "20ms", "loss": 0.01, "queue": {"droptail": {"limit": "50p"}}}
    assert links["s1-s2"] == middle
    assert (links["h2-s1"]["rate"], links["h2-s1"]["delay"], links["h2-s1"]["jitter"]) == ("100Mbit/s", "1ms", "100us")
    assert links["s2-d1"]["rate"] == "500kbit/s"
    assert made.tree["flows"]["transfer"]["from"] == "h1" and made.tree["flows"]["transfer"]["to"] == "d2"
    assert [n for n in made.notes if "line 12" in n and ("enable_red" in n or "'colour'" in n)] and any("line 13" in n for n in made.notes)
    assert len(made.notes) == 3


def test_a_topology_of_containernet_runs(tmp_path):
    made = import_mininet(CONTAINERNET, "net.py", rate="100Mbit/s")
    a, b = made.tree["links"].values()
    assert (a["rate"], a["delay"], a["loss"], b["rate"]) == ("100Mbit/s", "5ms", 0.005, "20Mbit/s")
    (tmp_path / "net.py").write_text(CONTAINERNET)
    done = fairlane("import", "mininet", "net.py", "--rate", "100Mbit/s", cwd=tmp_path)
    assert done.returncode == 0 and tomllib.loads(done.stdout)["links"] == made.tree["links"], done.stderr
    assert fairlane("import", "net.py", "-o", "net.toml", cwd=tmp_path).returncode == 0
    assert fairlane("run", "net.toml", "--set", "duration=6s", "--quiet", cwd=tmp_path).returncode == 0


SCRIPTS = re.findall(r"```tcl\n(.*?)```", (ROOT / "docs/guides/from-ns2.md").read_text("utf-8"), re.S)
TRANSLATED = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/guides/from-ns2.md").read_text("utf-8"), re.S)


def test_scripts_of_the_guide_become_its_scenarios():
    """The dumbbell with RED of the guide for users of ns-2: the script as input gives what its translation gives."""
    made = import_tcl(SCRIPTS[0], "reno-red.tcl")
    assert made.notes == []
    red = made.tree["links"]["r0-r1"]["queue"]["red"]
    assert red == {
        "preset": "ns2", "limit": "100p", "min": "10p", "max": "30p", "w_q": 0.002, "measure": "packets", "byte_mode": False,
    }  # fmt: skip
    assert made.tree["duration"] == "60s" and made.tree["flows"]["tcp1"]["start"] == "500ms"
    assert made.tree["flows"]["tcp0"]["tcp"] == {"preset": "ns2", "cc": "reno", "window": "1000p", "mss": "1000B"}
    ours = fl.Network.from_toml(toml.dumps(made.tree)).replace("duration", "20s").run(seeds="1..24").value("goodput").mean
    theirs = fl.Network.from_toml(TRANSLATED[0]).replace("duration", "20s").run(seeds="1..24").value("goodput").mean
    assert ours == pytest.approx(theirs, rel=0.03)


@pytest.mark.parametrize("script", SCRIPTS[1:], ids=lambda s: s[:20])
def test_other_scripts_of_the_guide_run(script):
    made = import_tcl(script, "x.tcl")
    assert len(made.tree["flows"]) >= 2
    fl.Network.from_toml(toml.dumps({**made.tree, "duration": "24s"})).run()


def test_what_a_script_says_of_sources_and_times():
    made = import_tcl(
        """
set ns [new Simulator]
Agent/TCP set window_ 40
proc node {} { global ns
  return [$ns node] }
set a [$ns node]; set b [$ns node]
set bw 1.5
$ns simplex-link $a $b ${bw}Mb 20ms SFQ
$ns simplex-link $b $a [expr $bw * 2]Mb .01 DropTail
set udp [new Agent/UDP]; set null [new Agent/Null]
$ns attach-agent $a $udp
$ns attach-agent $b $null
$ns connect $udp $null
set exp [new Application/Traffic/Exponential]
$exp set rate_ 200k
$exp set burst_time_ 250ms
$exp attach-agent $udp
set tcp [$ns create-connection TCP/Newreno $a TCPSink/DelAck $b 1]
$tcp set packetSize_ 500
set ftp [$tcp attach-app FTP]
for {set i 0} {$i < 2} {incr i} { $ns at [expr 1.0 + $i] "$exp start" }
if {$bw > 1 && $bw < 2} { $ns at 0.5 "$ftp start" } else { $ns at 9 "$ftp start" }
$ns at 3.5 "$ftp stop"
$tcp frobnicate
$ns rtproto DV
proc done {} { exit 0 }
$ns at 5.0 "done"
$ns run
""",
        "x.tcl",
    )
    (link,) = made.tree["links"].values()
    assert (link["rate"], link["delay"], link["queue"]) == ("1500kbit/s", "20ms", {"sfq": {"preset": "ns2", "limit": "50p"}})
    assert link["reverse"]["rate"] == "3Mbit/s" and link["reverse"]["delay"] == "10ms"
    bursts, tcp_flow = made.tree["flows"].values()
    assert bursts["source"] == {"on_off": {"rate": "200kbit/s", "size": "210B", "on": "250ms", "off": "500ms"}}
    assert (tcp_flow["start"], tcp_flow["stop"], tcp_flow["tcp"]["ack_every"], tcp_flow["tcp"]["window"]) == ("500ms", "3500ms", 2, "40p")
    assert made.tree["duration"] == "5s"
    named = {n.partition(":")[0]: n for n in made.notes}
    assert set(named) == {"line 14", "line 24", "line 25"}, made.notes
    assert "'frobnicate'" in named["line 24"] and "'rtproto'" in named["line 25"] and "starts several times" in named["line 14"]


def test_quantities_of_ns2():
    assert (tcl.rate("10Mb"), tcl.rate("1.5e6"), tcl.rate("1MB"), tcl.seconds("20ms"), tcl.seconds(".5"), tcl.seconds("5us")) == (
        10_000_000, 1_500_000, 8_000_000, 0.02, 0.5, 5e-6,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (import_mininet, "def f(:\n", r"<topology>:1: this is no Python"),
        (import_mininet, "x = 1\n", r"adds no link that is known"),
        (import_mininet, "net.addLink('a', 'b', bw='fast')\n", r"<topology>:1: bw is \"'fast'\""),
        (import_mininet, "net.addLink('a', 'b', delay='5 parsecs')\n", r"<topology>:1: delay: '5 parsecs' is no time of tc"),
        (import_mininet, "net.addLink('a', 'b', loss=150)\n", r"a loss of 150 %"),
        (import_mininet, "for i in range(100000):\n    for j in range(100000):\n        net.addLink(i, j)\n", r"more than 200000 steps"),
        (import_tcl, "set ns [new Simulator\n", r"<script>:1: \[ is not closed"),
        (import_tcl, "puts hello\n", r"makes no link"),
        (import_tcl, "while {1} {set x 1}\n", r"more than 200000 commands"),
        (import_tcl, "proc f {} { f }\nf\n", r"nested more than"),
        (
            import_tcl,
            "set ns [new Simulator]\nset a [$ns node]\n$ns duplex-link $a $a fast 1ms DropTail\n",
            r"<script>:3: 'fast' is no rate",
        ),
    ],
)
def test_what_is_none_is_one_error(read, text, message):
    with pytest.raises(FairlaneError, match=message):
        read(text)


@pytest.mark.parametrize(("read", "text"), [(import_mininet, TOPO), (import_mininet, CONTAINERNET), *((import_tcl, s) for s in SCRIPTS)])
def test_damaged_files_are_read_or_refused(read, text):
    """Fixed seeds: pieces lost, doubled and replaced; a scenario or one error."""
    for seed in range(60):
        rnd = random.Random(seed)
        made = text
        for _ in range(rnd.randrange(1, 4)):
            at, size = rnd.randrange(len(made)), rnd.choice((1, 3, 20, 200))
            made = (
                made[:at]
                + rnd.choice(("", "{", "}", "[", "]", "(", '"', "$", "\\", "9" * 40, "%99999999d", "\n", made[at : at + size] * 3))
                + made[at + size :]
            )
        try:
            fl.Network.from_toml(toml.dumps(read(made).tree)).resolve()
        except FairlaneError as e:
            assert len(str(e)) < 8000 and "Traceback" not in str(e)
