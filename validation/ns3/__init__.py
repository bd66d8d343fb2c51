"""Cross-check of fairlane against ns-3.37 (Debian packages ``ns3`` and ``libns3-dev``).

A case is one dumbbell, one queue and one TCP: `scenario` writes it as a scenario file for fairlane and as input for
`peer.cc`, a small ns-3 program that `peer` compiles on demand; `compare` judges the differences, and
`python -m validation.ns3` prints the table.
"""
