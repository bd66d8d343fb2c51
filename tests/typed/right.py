"""Code that the checker must accept: each way of writing that the scenario file and the guides know."""

import fairlane as fl
from fairlane.settings import Announced, PipeTable, QueueName
from fairlane.units import Mbit, Rate, kB, ms, packets, s, us


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
    net.link("c", "d", rate=Mbit(1), delay=ms(5), queue=fl.queues.Droptail(limit=packets(50))).refine("c-d", queue={"red": {"min": "5p"}})
    net.link("d", "e", rate=Rate("1Mbit/s"), queue=fl.queues.Red(min=kB(30), target_delay=us(500)), rates=[{"at": s(1), "rate": Mbit(2)}])
    return net.control("time_slots", slot="1ms", slots=[4, 2]).control(fl.controls.TimeSlots(), nodes=["a"])


def length(queue: Mine) -> float:
    return float(queue.limit.packets)


def used(net: fl.Network) -> float:
    changed = net.replace({"links.a-b.delay": ms(3), "seed": 2})
    result = changed.run(seeds="1..4", threads=2, hop_probe=True, sets={"duration": "5s"})
    compared: fl.Comparison = fl.compare(changed, queues=["red", fl.queues.Codel(target=ms(5))], seeds=[1, 2])
    unit: str = compared.settings[0].result.value("jain").unit
    print(result, unit, result.page(), changed.start().compare(changed.start()))
    return sum(result.flows["goodput"]) + (result.value("utilisation", link="bottleneck").mean or 0.0)


def many(net: fl.Network) -> list[float]:
    prepared: fl.Prepared = net.prepare(vary=["links.out.rate"])
    one: fl.Result = prepared.run({"links.out.rate": Mbit(8)}, seeds=2)
    several: list[fl.Result] = prepared.run([{"links.out.rate": "8Mbit/s"}, {}], seeds=2)
    wanted: fl.PreparedRuns = prepared.run([{"links.out.rate": "8Mbit/s"}], seeds=2, want=["network.goodput"])
    print(one, several, wanted.value().mean, wanted.frame().height)
    return wanted.values("network.goodput", point=0)
