"""Step-by-step simulation: what would CoDel change from a full queue on? In one future, and in twenty.

Run it with: python examples/what_if.py
"""

import fairlane as fl

net = fl.Network(duration="40s", warmup="5s")
net.dumbbell(
    pairs=4,
    access={"rate": "100Mbit/s", "delay": "1ms"},
    bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": fl.queues.Droptail(limit="100p")},
)
net.flow("bulk", "s{i}", "d{i}", count=3, spread="1s", tcp="cubic")
net.flow("calls", "s3", "d3", udp={}, source={"poisson": {"rate": "500kbit/s", "size": "200B"}})

if __name__ == "__main__":
    sim = net.start(seed=1)
    sim.advance("6s")
    sim.advance_until(lambda s: s.links["bottleneck"].queue.packets > 90)
    print(sim.links["bottleneck"].queue)
    print("whose packets wait:", sim.links["bottleneck"].queue.flows)

    what_if = sim.branch()
    what_if.set("links.bottleneck.queue", "codel")
    for future in (sim, what_if):
        future.advance(to="20s")
    print(sim.compare(what_if))

    futures = net.start(seed=1)
    futures.advance("10s")
    droptail = futures.branches(20)
    codel = droptail.branch()
    codel.set("links.bottleneck.queue", "codel")
    droptail.advance(to="20s")
    codel.advance(to="20s")
    delay = droptail.compare(codel).value("delay_mean", flow="calls")
    print(f"delay of the calls: {delay.first.mean:.4f} s, with CoDel {delay.second.mean:.4f} s, difference {delay.difference} s")
