"""Mistakes that an editor must mark: each has the kind of error that the checker finds there, and `make lint` fails if it finds none."""

import fairlane as fl
from fairlane.settings import PipeTable
from fairlane.units import Mbit, kB, ms, packets


def keywords(net: fl.Network) -> None:
    fl.Network(duration="9s", warmpu="1s")  # type: ignore[call-arg]
    net.link("a", "b", dealy="5ms")  # type: ignore[call-arg]
    net.refine("a-b", dealy="5ms")  # type: ignore[call-arg]
    net.flow("x", "a", "b", strat="1s")  # type: ignore[call-arg]
    net.flow("x", "a", "b", count="2")  # type: ignore[arg-type]
    net.run(threds=2)  # type: ignore[call-arg]
    net.run(threads="2")  # type: ignore[arg-type]
    net.dumbbell(pair=2)  # type: ignore[call-arg]
    net.star(client=2)  # type: ignore[call-arg]
    net.parking_lot(hop=2)  # type: ignore[call-arg]
    net.fat_tree(ports=4)  # type: ignore[call-arg]
    net.topology("dumbbell", hops=2)  # type: ignore[call-overload]
    net.control("time_slots", slott="1ms")  # type: ignore[call-overload]


def tables(net: fl.Network) -> None:
    net.dumbbell(pairs=2, bottleneck={"rate": "1Mbit/s", "dealy": "5ms"})  # type: ignore[arg-type]
    net.link("a", "b", reorder={"share": 0.1})  # type: ignore[arg-type]
    net.link("a", "b", loss={"gilbert_elliott": {"p": "often", "r": 0.5}})  # type: ignore[arg-type]
    fl.topologies.Dumbbell(bottleneck={"dealy": "5ms"})  # type: ignore[arg-type]
    PipeTable(dealy="5ms")  # type: ignore[typeddict-unknown-key]


def values(net: fl.Network) -> None:
    net.link("a", "b", rate=10)  # type: ignore[arg-type]
    net.link("a", "b", queue="redd")  # type: ignore[arg-type]
    net.link("a", "b", queue=fl.cc.Cubic())  # type: ignore[arg-type]
    net.flow("x", "a", "b", tcp="cubci")  # type: ignore[arg-type]
    net.flow("x", "a", "b", source=fl.queues.Red())  # type: ignore[arg-type]
    fl.queues.Red(measure="packet")  # type: ignore[arg-type]
    fl.queues.Red(preset="ns4")  # type: ignore[arg-type]
    fl.queues.Red(mni="5p")  # type: ignore[call-arg]
    fl.queues.Red(gentle="yes")  # type: ignore[arg-type]
    fl.transports.Tcp(cc="cubci")  # type: ignore[arg-type]


def quantities(net: fl.Network) -> None:
    net.link("a", "b", delay=Mbit(10))  # type: ignore[arg-type]
    net.link("a", "b", rate=ms(20))  # type: ignore[arg-type]
    net.dumbbell(bottleneck={"rate": kB(3)})  # type: ignore[arg-type]
    net.flow("x", "a", "b", start=packets(3))  # type: ignore[arg-type]
    fl.queues.Red(min=ms(3))  # type: ignore[arg-type]
    fl.queues.Red(min=3)  # type: ignore[arg-type]
    fl.queues.Codel(target=packets(5))  # type: ignore[arg-type]
    fl.Network(duration=10)  # type: ignore[arg-type]
    net.start().advance(Mbit(1))  # type: ignore[arg-type]


def calls(net: fl.Network) -> None:
    net.set("duration", "9s").run()  # type: ignore[attr-defined, func-returns-value]
    fl.compare(net, "red,codel")  # type: ignore[call-arg]
    fl.compare(net, queues="red", command="x")  # type: ignore[call-arg]
    fl.run(net)  # type: ignore[arg-type]
