"""Two TCP flows through a bottleneck: how well do they use it, and what does a larger buffer cost?

Run it with: python examples/quickstart.py
"""

import fairlane as fl


def network(buffer: str) -> fl.Network:
    """Returns the dumbbell with a buffer of this size."""
    net = fl.Network(duration="60s", warmup="10s", sample="20ms", name=f"buffer {buffer}")
    net.dumbbell(
        pairs=2,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": fl.queues.Droptail(limit=buffer)},
    )
    return net.flow("tcp", "s{i}", "d{i}", count=2, spread="200ms", tcp="sack")


if __name__ == "__main__":
    for buffer in ("10p", "50p", "200p"):
        result = network(buffer).run(seeds="1..4")
        used = result.value("utilisation", link="bottleneck")
        wait = result.value("sojourn_mean", link="bottleneck")
        print(f"{buffer:>5}: utilisation {used:.3f}, mean wait {wait:.4f} s")
    result.plot("queue", path="queue.svg")
