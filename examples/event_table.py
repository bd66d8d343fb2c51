"""Queue length and delay that dropped packets met, from the event table, which has both for each packet.

Run it with: python examples/event_table.py
"""

import polars as pl

import fairlane as fl


def network(queue: fl.queues.Droptail | fl.queues.Red) -> fl.Network:
    """A bottleneck that two TCP flows fill."""
    net = fl.Network(duration="60s", name="event table")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": queue},
    )
    return net.flow("tcp", "s{i}", "d{i}", count=2, spread="200ms", tcp="sack")


if __name__ == "__main__":
    for queue in (fl.queues.Droptail(limit="50p"), fl.queues.Red(limit="50p", min="10p", max="30p")):
        result = network(queue).run(seed=1, trace="drop,enqueue link=bottleneck")
        drops = result.trace().filter(pl.col("event") == "drop").collect()
        gaps = drops["time"].diff().drop_nulls()
        print(f"{type(queue).__name__}: {drops.height} drops by {', '.join(sorted(set(drops['reason'])))}")
        found, close = sum(drops["queue_packets"]) / drops.height, sum(gaps < 0.01) / len(gaps)
        print(f"  they found {found:.1f} packets; {close:.0%} came within 10 ms of another")
