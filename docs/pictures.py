"""Draws the pictures at the top of the README and the guides: `python docs/pictures.py [NAME...]`.

A picture is an entry of the table `PICTURES`: the commands of the project that draw it. They run in a folder with `examples` and the
TOML files that the guide of that name shows. A command with `{file}` writes the picture; without one, the output of the last command is
drawn as a terminal shows it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ROOT / "docs" / "guides"
QUICK = "examples/quickstart.toml"
WIDTH = 96
"""Columns of a drawn terminal."""


@dataclass(frozen=True)
class Picture:
    """Commands, one per line, and for a terminal the first and the last line that is shown."""

    commands: str
    lines: tuple[int, int] = (0, 40)
    folder: Path = GUIDES / "img"


_IMAGES = ROOT / "docs" / "images"
_PREPARED = """\
python -c "import pathlib, re; exec(re.search(r'```python\\n([^`]*savefig[^`]*)```', pathlib.Path('page.md').read_text('utf-8'))[1])"
cp delays.svg {file}"""
_ATTACK = """\
python -c "import pathlib, re; exec(re.search(r'```python\\n(.*?)```', pathlib.Path('page.md').read_text('utf-8'), re.S)[1])"
fairlane new home
fairlane study attack.toml --quiet
cp results/attack/plots/claim-price-map.svg {file}"""

PICTURES = {
    "quickstart": Picture(f"python -c \"import fairlane as fl; fl.run('{QUICK}').plot('cwnd', 'queue', path='{{file}}')\"", folder=_IMAGES),
    "living": Picture(f"python {ROOT / 'docs' / 'living.py'} {{file}}", folder=_IMAGES),
    "first-run": Picture("fairlane new home\nfairlane run home.toml", (38, 60), _IMAGES),
    # Audiences
    "from-ns2": Picture("fairlane plot reno-red.toml window -o {file}"),
    "from-ns3": Picture("""\
fairlane run bulk.toml --set sample=20ms --set links.l.device=1p -o one --quiet
fairlane run bulk.toml --set sample=20ms --set links.l.device=100p -o hundred --quiet
fairlane plot "device 1p=one" "device 100p=hundred" rtt --theory rtt -o {file}"""),
    "from-other-tools": Picture("""\
fairlane run rrul.toml --seeds 1..5 --set 'links.line.queue={droptail={limit="200p"}}' -o droptail --quiet
fairlane run rrul.toml --seeds 1..5 --set links.line.queue=fq_codel -o fq_codel --quiet
fairlane plot droptail fq_codel transaction_time_p95 --flow ping -o {file}"""),
    "worst-paths": Picture("""\
fairlane worst --tcp cubic --reference bbr3 --may steps=3:10Mbit/s..40Mbit/s --budget 32 --seeds 2 --paths 1 --set duration=10s \
--set links.line.rate=20Mbit/s --set links.line.delay=50ms --set links.line.queue.droptail.limit=30p --out worst --quiet
cp worst/1.svg {file}"""),
    "learning": Picture("python examples/learner.py {file}"),
    "report-cards": Picture(
        "fairlane card queue codel --against pie,red --quick --only tcp-friendly-delay,sensitivity-goodput,load-steps", (0, 30)
    ),
    "lessons": Picture(
        "python -c \"import fairlane as fl; fl.run('examples/lessons/sawtooth/scenario.toml').plot('cwnd', 'queue', path='{file}')\""
    ),
    "for-engineers": Picture("""\
fairlane new home
fairlane compare --scenario home.toml --link line --queues droptail{limit=100p},pie,fq_codel --seeds 1..5 --plot ellipses.svg --quiet
cp ellipses.svg {file}"""),
    "for-designers": Picture(_ATTACK),
    # Build a scenario
    "your-first-scenario": Picture("fairlane draw office.toml -o {file}"),
    "importing-topologies": Picture("fairlane new network examples/data/abilene.gml\nfairlane draw abilene.toml -o {file}"),
    "drawing-networks": Picture("fairlane draw examples/leaf_spine.toml -o {file}"),
    "traffic": Picture("fairlane plot mix.toml throughput-stack --set sample=500ms -o {file}"),
    "classes": Picture("fairlane plot office.toml delay_mean -o {file}"),
    "source-control": Picture("fairlane plot turns.toml throughput-stack --set sample=20ms --time 5s..6s -o {file}"),
    "linux-preset": Picture(f"""\
fairlane run {QUICK} --set duration=20s --set flows.tcp.tcp.cc=cubic -o rfc --quiet
fairlane run {QUICK} --set duration=20s --set flows.tcp.tcp.cc=cubic --set flows.tcp.tcp.preset=linux -o linux --quiet
fairlane plot "RFC 9438=rfc" "Linux=linux" window --flow tcp.0 -o {{file}}"""),
    "ns3-preset": Picture(f"""\
fairlane run {QUICK} --set duration=30s --set 'flows.tcp.tcp={{cc="newreno", preset="ns3"}}' -o newreno --quiet
fairlane run {QUICK} --set duration=30s --set 'flows.tcp.tcp={{cc="cubic", preset="ns3"}}' -o cubic --quiet
fairlane run {QUICK} --set duration=30s --set 'flows.tcp.tcp={{cc="vegas", preset="ns3"}}' -o vegas --quiet
fairlane plot TcpNewReno=newreno TcpCubic=cubic TcpVegas=vegas window --flow tcp.0 -o {{file}}"""),
    # Run and look
    "reports": Picture(f"""\
fairlane run {QUICK} --seeds 1..5 -o quick --quiet
fairlane run {QUICK} --seeds 1..5 --set links.bottleneck.queue=codel -o codel --quiet
fairlane report quick codel -o difference.html"""),
    "simulation": Picture("fairlane run change.toml --plot queue.svg --quiet\ncp queue.svg {file}"),
    "prepared": Picture(_PREPARED),
    "threads": Picture("fairlane run examples/parking_lot.toml --partition"),
    # Compare and study
    "comparing": Picture(
        "fairlane compare --queues red,codel,pie --seeds 1..5 --duration 30s --plot ellipses.svg --quiet\ncp ellipses.svg {file}"
    ),
    "studies": Picture("""\
fairlane study which-queue.toml --quiet
python -c "import fairlane as fl; fl.load_study('results/which-queue').plot('delay of calls', 'rate', by='queue', path='{file}')\""""),
    "replications-and-intervals": Picture("fairlane plot phone.toml throughput --seeds 1..10 --seed all --set sample=1s -o {file}"),
    "clusters": Picture("fairlane study examples/studies/queues.toml --dry-run"),
    # Data
    "results-folder": Picture("fairlane run lab.toml --seeds 1..3 -o lab --quiet\nfairlane verify lab"),
    "queries": Picture(f"fairlane run {QUICK} --set duration=15s --trace -o asked --quiet\nfairlane query asked drops"),
    "formats": Picture(f"""\
fairlane run {QUICK} --set duration=15s --pcap bottleneck=seen.pcapng --quiet
fairlane import seen.pcapng -o seen
fairlane query seen pairs"""),
    # Real networks
    "linux-tc": Picture("fairlane tc home.toml uplink --dev wan0 --down-dev lan0", (0, 19)),
    "packet-scripts": Picture("fairlane script -v scripts/delayed-acknowledgment.pkt", (0, 30)),
    "endpoint-library": Picture("python examples/tcp_endpoint.py", (0, 30)),
    # Extend
    "own-queue": Picture("""\
fairlane run examples/own_queue/scenario.toml --plugin examples/own_queue/queue.py --set sample=20ms --plot queue.svg --quiet
cp queue.svg {file}"""),
    "own-congestion-control": Picture("""\
fairlane run examples/own_cc/scenario.toml --plugin examples/own_cc/cc.py --set sample=50ms --plot cwnd.svg --quiet
cp cwnd.svg {file}"""),
    "own-paper": Picture("fairlane new paper mine1999\nfairlane reproduce mine1999 --quick", (0, 28)),
}
"""Every picture by name."""


def blocks(page: Path) -> dict[str, str]:
    """Returns the TOML files of a page by the names in their first lines."""
    text = page.read_text("utf-8") if page.exists() else ""
    return {name: block for block, name in re.findall(r"^```toml\n(# (?:study |tune )?(\S+\.toml)\n.*?)^```$", text, re.M | re.S)}


def run(line: str, folder: Path) -> str:
    """Runs a command and returns what it shows on a terminal."""
    words = shlex.split(line)
    if words[0] == "cp":
        shutil.copy(folder / words[1], folder / words[2])
        return ""
    path = os.pathsep.join(str(Path(p).resolve()) for p in sys.path if p)
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    env |= {"PYTHONPATH": path, "TERM": "xterm-256color", "PYTHONUTF8": "1", "MPLBACKEND": "agg"}
    main, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 60, WIDTH, 0, 0))
    command = [sys.executable, *(["-m", "fairlane"] if words[0] == "fairlane" else []), *words[1:]]
    child = subprocess.Popen(command, cwd=folder, env=env, stdout=side, stderr=subprocess.PIPE)
    os.close(side)
    shown = b""
    try:
        while chunk := os.read(main, 65536):
            shown += chunk
    except OSError:  # how Linux tells the end
        pass
    os.close(main)
    _, errors = child.communicate()
    if child.returncode != 0:
        raise SystemExit(f"{line}: exit code {child.returncode}\n{errors.decode()}")
    return shown.decode("utf-8").replace("\r\n", "\n")


def terminal(command: str, output: str, lines: tuple[int, int]) -> str:
    """Returns a terminal with a command and some lines of its output as SVG, with the fonts of the reader's machine."""
    import io

    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi("\n".join(["$ " + command, *output.rstrip().splitlines()[slice(*lines)]])))
    made = console.export_svg(title="fairlane", theme=DEFAULT_TERMINAL_THEME, unique_id="fairlane")
    return re.sub(r"@font-face \{.*?\}\s*", "", made, flags=re.S)


def drawn(name: str) -> bytes:
    """Returns a picture, made in a folder of its own."""
    picture = PICTURES[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(ROOT / "examples", folder / "examples")
        shutil.copytree(ROOT / "python" / "fairlane" / "scripts", folder / "scripts")
        page = GUIDES / f"{name}.md"
        if page.exists():
            shutil.copy(page, folder / "page.md")
        for file, text in blocks(page).items():
            (folder / file).write_text(text, "utf-8")
        line, output = "", ""
        for line in picture.commands.splitlines():
            output = run(line.replace("{file}", "picture.svg"), folder)
        if "{file}" in picture.commands:
            return (folder / "picture.svg").read_bytes()
        return terminal(line, output, picture.lines).encode()


def main(names: list[str]) -> int:
    """Draws the pictures named, or all."""
    if unknown := [n for n in names if n not in PICTURES]:
        print(f"no picture is called {unknown[0]}; there are {', '.join(PICTURES)}", file=sys.stderr)
        return 2
    for name in names or PICTURES:
        file = PICTURES[name].folder / f"{name}.svg"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(drawn(name))
        print(file.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
