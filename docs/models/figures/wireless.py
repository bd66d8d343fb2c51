"""Throughput of a chain of stations by its length, and the unfairness of hidden stations."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

NS3 = {1: 4.87013, 2: 2.66107, 4: 1.39307, 8: 1.17733}
"""Goodput in Mbit/s of a saturated chain by its hops, ns-3.37."""
RULES = {"control_rate": "1Mbit/s", "after_timeout": "difs", "immediate_access": False, "queue": {"droptail": {"limit": "50p"}}}


def figure() -> Figure:
    """Left the chain, right the hidden stations."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    hops = list(range(1, 11))
    ours = [chain(n) for n in hops]
    left.plot(hops, [x / ours[0] for x in ours], "-o", ms=4, label="fairlane")
    left.plot(list(NS3), [x / NS3[1] for x in NS3.values()], "kx", label="ns-3.37")
    left.axhspan(1 / 7, 1 / 4, color="tab:green", alpha=0.15, label="1/7 to 1/4")
    left.set(xlabel="hops", ylabel="goodput, in units of one hop", ylim=(0, 1.05))
    left.legend(fontsize="small")
    for rts, colour in (("none", "tab:red"), ("1B", "tab:blue")):
        series = hidden(rts).flow_series
        for name, style in (("a", "-"), ("b", ":")):
            of = [row for row in series.iter_rows(named=True) if row["flow"] == name]
            label = f"{name}, {'behind RTS' if rts != 'none' else 'without RTS'}"
            right.plot([r["time"] for r in of], [r["goodput"] / 1e6 for r in of], style, color=colour, lw=1, label=label)
    right.set(xlabel="time in s", ylabel="goodput in Mbit/s", xlim=(1, 6), ylim=(0, 5))
    right.legend(fontsize="x-small", ncols=2)
    return drawing


def chain(hops: int) -> float:
    """Goodput in Mbit/s of a saturated chain on ns-2's ground."""
    net = fl.Network(duration="22s", warmup="2s").wireless(
        "air",
        rate="11Mbit/s",
        propagation={"two_ray": {"frequency_ghz": 0.914, "height_m": 1.5}},
        power_dbm=24.5,
        sensitivity_dbm=-64.37,
        cca_dbm=-78.07,
        floor_dbm=-101,
        overlaid_unsensed=True,
        grid={"columns": hops + 1, "spacing_m": 200},
        **RULES,
    )
    net.flow("f", "n0", f"n{hops}", udp={}, source={"cbr": {"rate": "8Mbit/s", "size": "1000B"}})
    return net.run(seeds=4).value("goodput").mean / 1e6


def hidden(rts: str) -> fl.Result:
    """Two saturated stations on both sides of a third one."""
    net = fl.Network(duration="6s", warmup="1s", sample="100ms").wireless(
        "air",
        rate="11Mbit/s",
        propagation={"fixed_range": {"range_m": 250}},
        rts_threshold=rts,
        nodes={"a": [0, 0], "r": [200, 0], "b": [400, 0]},
        **RULES,
    )
    for name in "ab":
        net.flow(name, name, "r", udp={}, source={"cbr": {"rate": "8Mbit/s", "size": "1000B"}})
    return net.run()
