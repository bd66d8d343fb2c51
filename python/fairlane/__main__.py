"""`python -m fairlane` is the command line."""

import sys
from pathlib import Path

# The working directory may have a plug-in with the name of a standard module, such as queue.py.
if not sys.flags.safe_path and Path(sys.path[0] or ".").resolve() != Path(__file__).resolve().parents[1]:
    del sys.path[0]

from .cli import main

if __name__ == "__main__":
    main()
