"""`python -m validation.ns3.stations --network=chain --n=4 --rts=1`: a cell of docs/validation/wireless.md in ns-3 (`--help`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import peer

SOURCE = Path(__file__).with_name("stations.cc")
MODULES = ("ns3-wifi", "ns3-propagation", "ns3-mobility", "ns3-network", "ns3-core")


def main(arguments: list[str] | None = None) -> int:
    """Exit code: that of ns-3, 0 where it is not installed, 2 if the program does not compile."""
    try:
        program = peer.executable(SOURCE, MODULES)
    except peer.PeerMissing as error:
        print(f"SKIPPED: {error}")
        return 0
    except peer.PeerFailed as error:
        print(error, file=sys.stderr)
        return 2
    return subprocess.run([program, *(sys.argv[1:] if arguments is None else arguments)]).returncode


if __name__ == "__main__":
    sys.exit(main())
