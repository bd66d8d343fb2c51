"""Code that the checker must accept: each way of writing that the scenario file and the guides know."""

import fairlane as fl
from fairlane.settings import Announced, PipeTable, QueueName


class Mine(fl.Qdisc):
    """A user-defined queue."""

    limit = fl.Parameter("50p", "What waits.")


class Own(fl.CongestionControl):
    """A user-defined congestion control."""


def built(names: list[str]) -> fl.Network:
    pipe: PipeTable = {"rate": "10Mbit/s", "delay": "20ms", "queue": fl.queues.Droptail(limit="50p")}
    net = fl.Network(duration="9s", warmup="1s", seed=3, sample=None)
    net.dumbbell(pairs=2, access={"rate": "100Mbit/s", "jitter": "1ms"}, bottleneck=pipe, delays=["1ms", "2ms"])
    net.topology("parkinglot", hops=3).topology(fl.topologies.FatTree(k=4), rate="1Gbit/s").star(clients=3)
    net.link("a", "b", name="wire", duplex=False, rate="1Mbit/s", loss=0.1, reorder={"share": 0.1, "delay": "1ms"})
    net.link("b", "c", jitter={"width": "1ms", "distribution": "normal"}, rates=[{"at": "1s", "rate": "2Mbit/s"}])
    queue: QueueName
    for queue in ("red", "Queue/DropTail"):
        net.refine("wire", queue=queue)
    net.refine("wire", queue={"red": {"min": "5p"}}).refine("wire", queue=Mine).refine("wire", queue=Announced(names[0]))
    net.refine("wire", queue=fl.queues.Prio(classes=[{"match": "udp", "queue": "codel"}, {"queue": fl.queues.Red(min="5p")}]))
    net.flow("one", "a", "b", tcp="sack", class_=46).flow("two", "a", "b", tcp={"preset": "linux"}, class_=[1, 2])
    net.flow("three", "a", "b", tcp=fl.transports.Tcp(cc=fl.cc.Cubic(), preset="linux", sack_blocks=3), source=fl.sources.Web(model="3gpp"))
    net.flow("four", "a", "b", tcp=Own).flow("five", "a", "b", tcp=fl.load_cc("own.so")[0])
    net.flow("six", "a", "b", udp={}, source={"cbr": {"rate": "1Mbit/s"}}).flow("seven", "a", "b", udp=fl.transports.Udp(), source="voip")
    return net.control("time_slots", slot="1ms", slots=[4, 2]).control(fl.controls.TimeSlots(), nodes=["a"])


def length(queue: Mine) -> float:
    return float(queue.limit.packets)


def used(net: fl.Network) -> float:
    result = net.run(seeds="1..4", threads=2, hop_probe=True, sets={"duration": "5s"})
    return sum(result.flows["goodput"]) + (result.value("utilisation", link="bottleneck").mean or 0.0)
