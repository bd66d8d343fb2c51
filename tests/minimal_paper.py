"""A small study of a paper that does not exist, whose answers are arithmetic: see `test_paper_settings.py`."""

from __future__ import annotations

from fairlane.papers import records

STUDY = """
from fairlane.papers import Built, Combination, Levels, Open, Paper, Span, compare, factors_of


class Study(Paper):
    links = ("bottleneck",)
    link_columns = ("utilisation",)
    seeds = (1, 2)
    quick_seeds = (1,)
    most_settings = 80

    def opens(self):
        return [
            Open("rate", "6Mbit/s", Span("5Mbit/s", "15Mbit/s"), "not published"),
            Open("queue", "droptail", Levels(("droptail", "red")), "not named"),
        ]

    def combinations(self):
        return self.setting(self.declared_setting)

    def setting(self, values):
        return [self._combination(n, values) for n in range(1, 9)]

    def _combination(self, n, values):
        def tree(seed):
            return {
                "name": "one", "seed": seed, "duration": "0.5s",
                "topology": {"dumbbell": {"pairs": 1, "access": {"rate": "100Mbit/s", "delay": "1ms"},
                    "bottleneck": {"rate": values["rate"], "delay": "1ms", "queue": {values["queue"]: {}}}}},
                "flows": {"udp": {"from": "s0", "to": "d0", "udp": {"header": "0B"},
                    "source": {"cbr": {"rate": "4Mbit/s", "size": "500B"}}}},
            }
        return Combination(factors_of(n=n), tree)

    def measure(self, run, combination):
        return {"use": 100 * run.link("bottleneck", "utilisation")}

    def experiments(self):
        return [self.experiment("table1", self._table)]

    def _table(self, results):
        rows = results.rows("use", "use", "percent")
        return Built(compare(rows, self.published("table1")), rows)
"""
PAPER = """
title = "One link"

[experiments.table1]
title = "Utilization"
text = "Of the link."
"""
CLAIMS = """
[[claim]]
id = "A"
statement = "Less than half of the link is used."
experiments = ["table1"]
check = 'v("table1", n=1, metric="use") < 50'
published = "holds"

[[claim]]
id = "B"
statement = "Less than 90 percent of the link is used."
experiments = ["table1"]
check = 'v("table1", n=1, metric="use") < 90'
published = "holds"

[[claim]]
id = "C"
statement = "More than 90 percent of the link is used."
experiments = ["table1"]
check = 'v("table1", n=1, metric="use") > 90'
published = "fails"

[[claim]]
id = "D"
statement = "More than 30 percent of the link is used, and no less by eight."
experiments = ["table1"]
check = 'v("table1", n=8, metric="use") > 20'
published = "fails"
"""


def study(tmp_path, code=STUDY, claims=CLAIMS, published="40"):
    folder = tmp_path / "one1999"
    folder.mkdir(exist_ok=True)
    (folder / "study.py").write_text(code)
    (folder / "paper.toml").write_text(PAPER)
    (folder / "claims.toml").write_text(claims)
    values = [published] * 7 + ["19"]
    rows = "".join(f"{n},use,{x},percent\n" for n, x in enumerate(values, 1))
    (folder / "table1.csv").write_text("n,metric,value,unit\n" + rows)
    return folder


def resealed(path, change):
    """A record that was written otherwise: its sum is right."""
    records.save_record(path, change(path.read_text().partition("\n")[2]).encode())
