"""Every reader with hostile files: truncated, huge, deeply nested, in another encoding. One error each, and no traceback.

A reader gives a result or raises `FairlaneError`; what it says names the file and is short, whatever the file holds.
"""

from __future__ import annotations

import gzip
import json
import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import fairlane as fl
from conftest import DUMBBELL, ROOT
from fairlane.base.choices import choices
from fairlane.base.paths import partition, split
from fairlane.base.scenario import checked
from fairlane.base.seeds import parse_seeds
from fairlane.claims import BadCheck, Check
from fairlane.claims.tables import Tables
from fairlane.cli.described import read_description
from fairlane.errors import FairlaneError
from fairlane.graphs import read_graph
from fairlane.runs.selection import selector
from fairlane.runs.trace import parse_filter
from fairlane.script.runner import run_file
from fairlane.study import read_study
from fairlane.study.reader import from_option
from fairlane.tuning.reader import read as read_tune

EXAMPLES = ROOT / "examples"
STUDY = (EXAMPLES / "studies/codel_settings.toml").read_text("utf-8").replace("../quickstart.toml", str(EXAMPLES / "quickstart.toml"))
GML = 'graph [\n  directed 1\n  node [ id 0 label "a" ]\n  node [ id 1 label "b" ]\n  edge [ source 0 target 1 rate "1Mbit/s" ]\n]\n'
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="rate" attr.type="string"/>
<graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"><data key="d0">1Mbit/s</data></edge></graph>
</graphml>
"""
SNDLIB = """?SNDlib native format; type: network; version: 1.0
META ( unit = MBITPERSEC )
NODES ( A ( 18.60 54.20 ) B ( 14.50 53.40 ) )
LINKS ( L0 ( A B ) 155.00 0.00 0.00 156.00 ( 155.00 156.00 ) )
DEMANDS ( D ( A B ) 1 2.5 UNLIMITED )
"""
SNDLIB_XML = """<?xml version="1.0" encoding="UTF-8"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0"><meta><unit>MBITPERSEC</unit></meta><networkStructure>
<nodes coordinatesType="geographical"><node id="A"><coordinates><x>1</x><y>2</y></coordinates></node><node id="B"/></nodes>
<links><link id="L"><source>A</source><target>B</target><preInstalledModule><capacity>155.0</capacity></preInstalledModule></link></links>
</networkStructure><demands><demand id="D"><source>A</source><target>B</target><demandValue>3</demandValue></demand></demands></network>
"""
FLENT = {
    "version": 4, "x_values": [0.0, 0.2, 0.4], "results": {"TCP upload": [1.0, 2.0, None], "Ping (ms) ICMP": [20.0, 21.0, 22.0]},
    "metadata": {"NAME": "rrul", "LENGTH": 1, "SERIES_META": {"TCP upload": {"UNITS": "Mbits/s"}, "Ping (ms) ICMP": {"UNITS": "ms"}}},
}  # fmt: skip
TC = """tc qdisc add dev eth0 root handle 1: htb default 1
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
tc qdisc add dev eth0 parent 1:1 handle 10: fq_codel limit 1000 target 5ms
"""
MININET = "a, b = (net.addHost('h%d' % i) for i in range(2))\nfor i in [1, 2]:\n    net.addLink('a', f'b{i}', bw=10, delay='5ms')\n"
TCL = """set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 10Mb 20ms RED
set udp [new Agent/UDP]
set null [new Agent/Null]
$ns attach-agent $a $udp
$ns attach-agent $b $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
for {set i 1} {$i < 3} {incr i} { $ns at [expr $i * 0.5] "$cbr start" }
"""
NS2 = "".join(f"{e} {i / 100 + j / 1000:.3f} 0 1 tcp 1040 ------- 1 0.0 1.0 {i} {i}\n" for i in range(20) for j, e in enumerate("+-r"))
SCRIPT = (ROOT / "python/fairlane/scripts/closing-first.pkt").read_text("utf-8")


def _text(read: Callable[[str], object]) -> Callable[[Path], object]:
    """A reader of texts as one of files."""

    def from_file(path: Path) -> object:
        try:
            return read(path.read_bytes().decode("utf-8", "surrogateescape"))
        except BadCheck as e:
            raise FairlaneError(f"{path.name} {e}") from e
        except FairlaneError as e:
            raise FairlaneError(f"{path.name} {e}") from e

    return from_file


def _matrix(path: Path) -> object:
    pairs = f'pairs.matrix = {{ file = "{path.name}" }}\n'
    text = DUMBBELL.replace('from = "s{i}"\nto = "d{i}"\ncount = 2\n', pairs)
    (path.parent / "matrix.toml").write_text(text)
    return checked(path.parent / "matrix.toml")


# Name of a reader: a file that it reads, and how it is read. The name ends as the file does.
READERS: dict[str, tuple[str | bytes, Callable[[Path], object]]] = {
    "scenario.toml": (DUMBBELL, checked),
    "scenario.json": (json.dumps(tomllib.loads(DUMBBELL)), checked),
    "network.toml": (DUMBBELL, lambda p: fl.Network.from_file(p).resolve()),
    "study.toml": (STUDY, read_study),
    "search.toml": ((ROOT / "examples/tuning/calls.toml").read_text("utf-8"), read_tune),
    "graph.graphml": (GRAPHML, read_graph),
    "graph.gml": (GML, read_graph),
    "graph.json": (
        '{"graph": {"capacity_unit": "Mbps"}, "nodes": [{"id": "a"}, {"id": 1}],\n"links": [{"source": "a", "target": 1, "bw": 5}]}\n',
        read_graph,
    ),
    "graph.txt": (SNDLIB, read_graph),
    "graph.xml": (SNDLIB_XML, read_graph),
    "latencies.intra": ("a b 1.5\nb a 2\n", read_graph),
    "graph.cch": ("1 @A,+X + bb (1) &1 -> <2> {-5} =r1 r0\n2 @B (1) -> <1> =r2! r1\n-5 =1.2.3.4 r1\n", read_graph),
    "graph.csv": ("from,to,rate,delay\na,b,1Mbit/s,5ms\nb,c,2Mbit/s,1ms\n", read_graph),
    "router.tc": (TC, lambda p: read_description("tc", [p.name])),
    "topology.py": (MININET, lambda p: read_description("mininet", [p.name])),
    "dumbbell.tcl": (TCL, lambda p: read_description("ns2", [p.name])),
    "matrix.csv": ("from,to\ns0,d0\ns1,d1\n", _matrix),
    "measured.flent": (json.dumps(FLENT), fl.import_file),
    "measured.flent.gz": (gzip.compress(json.dumps(FLENT).encode(), mtime=0), fl.import_file),
    "trace.tr": (NS2, fl.import_file),
    "capture.pcap": ((ROOT / "tests/captures/loopback.pcap").read_bytes()[:20_000], fl.import_file),
    "capture.pcapng": ((ROOT / "tests/captures/cooked.pcapng").read_bytes()[:20_000], fl.import_file),
    "script.pkt": (SCRIPT, lambda p: run_file(p, options={"dry_run": "true"})),
    "queues.txt": ("red{min=5p, max=15p},codel,prio{classes=[{match=dscp:ef}, {queue.codel.target=5ms}]}", _text(choices)),
    "metric.txt": ('links."a b.c".drops', _text(selector)),
    "filter.txt": ("event=drop,mark flow=tcp link=bottleneck time=10s..20s", _text(parse_filter)),
    "seeds.txt": ("1..10,20,30..40", _text(parse_seeds)),
    "path.txt": ('links."a b".rate', _text(split)),
    "assignment.txt": ('links."a=b".rate=5Mbit/s', _text(partition)),
    "value.txt": ('{a = [1, 2, "x"]}', _text(from_option)),
    "check.txt": ("v('delay', queue='codel') < 3 and all(x > 1 for x in vs('d'))", _text(Check)),
}
OPENINGS = (
    "[", "{", "(", "<a>", "[a=", "a=[", '{"a":', "a [ ", "graph [ ", "-", "a.", "&a;", "/*", "%{", "`", '"', "'", '\\"', "$((", "<!--",
)  # fmt: skip
ODD = (b'"', b"'", b"[", b"}", b"\n", b"\\", b"=", b"nan", b"-1", b"1e999", b"9" * 30, b"\\ud800")


def spoilt(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields damaged variants of a file."""
    half = len(data) // 2
    yield from (("empty", b""), ("NUL", b"\0"), ("only NUL", bytes(3000)), ("NUL in the middle", data[:half] + b"\0" + data[half:]))
    yield from ((f"cut to {i} eighths", data[: len(data) * i // 8]) for i in range(1, 8))
    yield from (("byte order mark", b"\xef\xbb\xbf" + data), ("two of them", b"\xef\xbb\xbf\xef\xbb\xbf" + data))
    text = data.decode("utf-8", "replace")
    yield from ((code, text.encode(code)) for code in ("utf-16", "utf-16-le", "utf-32", "utf-7"))
    yield from (("latin-1", data.replace(b"a", b"\xe9", 3)), ("no UTF-8", data + b"\xff\xfe\xc3("))
    yield "half a character", data + b"\xed\xa0\x80"
    for end in (b"\r\n", b"\r", b"\n\r", b"\f\n\v", "\u2028\n".encode()):
        yield f"ends of lines {end!r}", data.replace(b"\n", end)
    yield from (("blank before", b" " * 50_000 + data), ("lines before", b"\n" * 50_000 + data), ("lines behind", data + b"\n" * 50_000))
    yield from (("twenty times", data * 20), ("a long line", data + b"#" + b"a" * 500_000), ("a long word", b"a" * 500_000))
    yield from (("digits", b"1" * 50_000), ("a number", b"a = " + b"9" * 50_000))
    for opening in OPENINGS:
        yield f"{opening} again and again", opening.encode() * 20_000
        yield f"{opening} in the middle", data[:half] + opening.encode() * 2_000 + data[half:]
    for seed in range(25):
        rnd, changed = random.Random(seed), bytearray(data)
        for _ in range(rnd.choice((1, 2, 5, 30))):
            at = rnd.randrange(len(changed))
            changed[at : at + rnd.randrange(3)] = rnd.choice(ODD)
        yield f"change {seed}", bytes(changed)


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_a_stranger_is_read_or_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good, read = READERS[name]
    data = good.encode() if isinstance(good, str) else good
    path = Path(name)
    path.write_bytes(data)
    read(path)
    for how, other in spoilt(data):
        path.write_bytes(other)
        try:
            read(path)
        except FairlaneError as e:
            message = str(e)
            assert len(message) < 8_000 and "Traceback" not in message, (how, message[:300])
            assert name in message or "matrix.toml" in message or "<network>" in message, (how, message)


DEEP = {
    "deep.gml": "graph [ " + "a [ " * 3000 + "] " * 3001,
    "deep.graphml": "<graphml>" + "<graph>" * 3000 + "</graph>" * 3000 + "</graphml>",
    "deep.toml": "a = " + "[" * 3000 + "]" * 3000,
    "deep.json": '{"a": ' + "[" * 3000 + "]" * 3000 + "}",
    "deep.flent": '{"a": ' + "[" * 3000 + "]" * 3000 + "}",
    "deep.pkt": "0 socket(" + "[" * 3000 + "]" * 3000 + ") = 3",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_one_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(DEEP[name])
    read = {".toml": checked, ".json": checked, ".flent": fl.import_file, ".pkt": run_file}.get(path.suffix, read_graph)
    with pytest.raises(FairlaneError, match=r"nested|deeply|recurs"):
        read(path)


def test_long_names_are_refused_before_they_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "x.gml").write_text(GML.replace('"b"', f'"{"b" * 30_000_000}"'))
    with pytest.raises(FairlaneError, match=r"x.gml:4: the name of a node is too long: .*\(30000000 characters\)"):
        read_graph(tmp_path / "x.gml")
    (tmp_path / "x.csv").write_text(f"from,to,name\na,b,{'x' * 1001}\n")
    with pytest.raises(FairlaneError, match=r"x.csv:2: the name of a link is too long"):
        read_graph(tmp_path / "x.csv")


def test_entities_of_xml_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]>'
    (tmp_path / "x.graphml").write_text(GRAPHML.replace("?>\n", f"?>\n{bomb}\n", 1))
    with pytest.raises(FairlaneError, match=r"x.graphml:2:\d+: rejected XML: it declares entities"):
        read_graph(tmp_path / "x.graphml")


def test_links_of_one_name_and_between_the_same_nodes_take_steps_in_proportion(tmp_path: Path) -> None:
    """20,000 links between two nodes: with a search for each they took minutes. Names are numbered as ever."""
    n = 20_000
    (tmp_path / "x.csv").write_text("from,to,name\n" + "a,b,x\n" * n)
    names = list(read_graph(tmp_path / "x.csv").links)
    assert names == ["x", *(f"x {k}" for k in range(2, n + 1))]
    edges = "".join(f"edge [ source {i % 2} target {1 - i % 2} link {i // 2} ]\n" for i in range(0, 2 * n, 2))
    back = "".join(f"edge [ source 1 target 0 link {i} ]\n" for i in reversed(range(n)))
    (tmp_path / "x.gml").write_text(f"graph [ directed 1 node [ id 0 ] node [ id 1 ]\n{edges}{back}]")
    assert len(read_graph(tmp_path / "x.gml").links) == n


GREEDY = (
    "sum(range(10000000000000)) > 0", "all(a + b > 0 for a in range(1000000) for b in range(1000000))", "len([1] * 10000000000) > 0",
    "('%999999999d' % 1) == 1", "(lambda f: f(f))(lambda f: f(f))", "(lambda x: x + x)(" * 40 + "[1]" + ")" * 40 + " == 1",
    "(" * 30 + "9" + "**16)" * 30 + " > 0", "round(5, -1000000000) > 0", "1.5 in range(1000000000000)",
    "(lambda r: all(r == r for a in range(1000000)))([1 for i in range(500000)])",
)  # fmt: skip


@pytest.mark.parametrize("check", GREEDY, ids=lambda c: c[:24])
def test_a_claim_that_asks_for_too_much_is_told(check: str) -> None:
    with pytest.raises(BadCheck, match="cannot be evaluated"):
        Check(check).outcome(Tables({}))


def test_what_claims_need_is_computed_as_ever() -> None:
    assert Check("sum(x for x in range(100000)) == 4999950000").outcome(Tables({})) == "holds"
    check = "[*range(3), 3][1:] == [1, 2, 3] and 7 % 4 == 3 and 2**10 == 1024 and round(2.567, 1) == 2.6"
    assert Check(check).outcome(Tables({})) == "holds"


def test_settings_of_a_script_are_sums_of_64_bits(tmp_path: Path) -> None:
    from fairlane.script.settings import _sum

    assert (_sum("2*(3+4)-1"), _sum("9223372036854775807+1"), _sum("7/0")) == (13, -(2**63), 0)
    for text in ("(" * 3000, "-" * 3000, "9" * 5000):
        with pytest.raises(FairlaneError, match="is not evaluated"):
            _sum(text)
    script = SCRIPT + "\n`" + "net.ipv4." * 1900 + "\n" + "." * 15_000 + "\n" + "echo " * 3000 + "`\n"
    (tmp_path / "x.pkt").write_text(script)
    run_file(tmp_path / "x.pkt", options={"dry_run": "true"})
