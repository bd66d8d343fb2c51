"""Cross-check of fairlane against ns-2 (Debian package ``ns2``).

The same scenario file is run by both simulators: `tcl` writes the ns-2 script from the resolved
scenario, `peer` runs it and measures from its trace, `ours` runs fairlane, `compare` judges the
differences, and `python -m validation.ns2` prints the table.
"""
