"""Queues written in Python: used by name like built-in ones, with the same results, and clear errors."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

import pytest

import fairlane as fl
from fairlane.own import plugin


class LessOne(fl.Qdisc):
    """Tail drop that keeps one packet less than its limit."""

    limit = fl.Parameter("50p", "One more than what may wait.")

    def start(self):
        if self.limit.packets < 2:
            raise ValueError("under two packets nothing fits")
        self.waiting = deque()

    def enqueue(self, packet):
        self.waiting.append(packet)
        if len(self.waiting) >= self.limit.packets:
            self.drop(self.waiting.pop())

    def dequeue(self):
        return self.waiting.popleft() if self.waiting else None


class Plain(fl.Qdisc):
    """A FIFO for others to break."""

    def start(self):
        self.waiting = deque()

    def enqueue(self, packet):
        self.waiting.append(packet)

    def dequeue(self):
        return self.waiting.popleft() if self.waiting else None


def dumbbell(queue: object, **flow: object) -> fl.Network:
    net = fl.Network(duration="5s", sample="100ms")
    net.dumbbell(
        pairs=3,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "10ms", "queue": queue},
    )
    return net.flow("f", "s{i}", "d{i}", count=3, **(flow or {"tcp": "newreno"}))


def test_python_and_rust_give_identical_runs():
    own = dumbbell(LessOne.spec(limit="20p")).run(seeds="1..3")
    built_in = dumbbell({"management": {"limit": "20p"}}).run(seeds="1..3")
    assert own.fingerprints == built_in.fingerprints
    assert own.value("drops", link="bottleneck").mean == built_in.value("drops", link="bottleneck").mean > 0


def test_default_name_and_class_are_accepted():
    runs = [dumbbell(q).run(seeds=[1]).fingerprints for q in ("LessOne", LessOne, {"lessone": {"limit": "50p"}})]
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ({"LessOne": {"limit": 20}}, "20p"),
        ({"LessOne": {"limitt": "20p"}}, "did you mean `limit`"),
        ({"LessOne": {"limit": "1p"}}, "under two packets nothing fits"),
        ("LessTwo", "LessOne"),
    ],
)
def test_bad_parameters_are_scenario_errors(queue, words):
    with pytest.raises(fl.ScenarioError, match=words.replace("`", ".")):
        dumbbell(queue).run(seeds=[1])


def test_an_exception_ends_the_run_with_traceback_and_time():
    class Breaks(Plain):
        """Fails at the fiftieth packet."""

        def start(self):
            super().start()
            self.seen = 0

        def enqueue(self, packet):
            self.seen += 1
            if self.seen == 50:
                raise KeyError("lost my keys")
            super().enqueue(packet)

    with pytest.raises(fl.PluginError, match="lost my keys") as e:
        dumbbell("Breaks").run(seeds=[1, 2])
    assert "raise KeyError" in str(e.value) and "of simulated time" in str(e.value)
    assert 0 < e.value.time < 1


def test_rules_are_kept():
    class Forgets(Plain):
        """Says nothing waits although it does."""

        def dequeue(self):
            return None if len(self.waiting) > 3 else super().dequeue()

    class Twice(Plain):
        """Sends a packet twice."""

        def dequeue(self):
            return self.waiting[0] if self.waiting else None

    class Colours(Plain):
        """Marks what cannot be marked."""

        def enqueue(self, packet):
            self.mark(packet)

    for name, words in [("Forgets", "returned no packet"), ("Twice", "send or drop each packet once"), ("Colours", "not ECN-capable")]:
        with pytest.raises(fl.PluginError, match=words):
            dumbbell(name).run(seeds=[1])


def test_timer_ready_and_random():
    class Slow(Plain):
        """Sends a packet every 10 ms and counts its timer."""

        ticks: ClassVar[list[float]] = []

        def start(self):
            super().start()
            self.next = 0.0

        def timer(self):
            self.ticks.append(self.now)
            self.random()
            return self.now + 0.5

        def ready(self):
            return self.next

        def dequeue(self):
            if self.now < self.next - 1e-9 or not self.waiting:
                return None
            self.next = self.now + 0.01
            return self.waiting.popleft()

    result = dumbbell("Slow", udp={}, source={"cbr": {"rate": "1Mbit/s", "size": "1000B"}}).run(seeds=[1])
    # 500 packets in 5 s, whatever arrives; 28 bytes of headers.
    assert result.value("throughput", link="bottleneck").mean == pytest.approx(100 * 1028 * 8, rel=0.01)
    # Both directions of the link have one.
    assert sorted(Slow.ticks)[:6] == pytest.approx([0, 0, 0.5, 0.5, 1.0, 1.0])
    again = dumbbell("Slow", udp={}, source={"cbr": {"rate": "1Mbit/s", "size": "1000B"}}).run(seeds=[1])
    assert again.fingerprints == result.fingerprints


def test_inside_a_class_of_another_queue():
    inner = {"match": "any", "queue": LessOne.spec(limit="20p")}
    tree = dumbbell({"prio": {"classes": [inner]}}).run(seeds=[1])
    assert tree.fingerprints == dumbbell(LessOne.spec(limit="20p")).run(seeds=[1]).fingerprints


def test_names_of_built_in_queues_are_taken():
    with pytest.raises(plugin.PluginLoadError, match="choose another name"):
        type("Red", (Plain,), {"__doc__": "Another RED."})


def test_files_are_loaded(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import fairlane as fl\nfrom collections import deque\nclass FromFile(fl.Qdisc):\n    '''In a file.'''\n"
                    "    def start(self): self.w = deque()\n    def enqueue(self, p): self.w.append(p)\n"
                    "    def dequeue(self): return self.w.popleft() if self.w else None\n")  # fmt: skip
    plugin.load(file)
    assert dumbbell("FromFile").run(seeds=[1]).value("utilisation", link="bottleneck").mean > 0.5
    with pytest.raises(plugin.PluginLoadError, match="not found: give a Python file"):
        plugin.load(tmp_path / "none.py")
    file.write_text("1/0")
    with pytest.raises(plugin.PluginLoadError, match="ZeroDivisionError"):
        plugin.load(file)
