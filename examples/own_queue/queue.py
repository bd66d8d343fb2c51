"""The Management queue of Syla, Alla and Xhabafti (2022).

`fairlane run examples/own_queue/scenario.toml --plugin examples/own_queue/queue.py`
"""

from collections import deque

import fairlane as fl


class NMinusOne(fl.Qdisc):
    """Tail drop that keeps limit - 1 packets (Syla, Alla and Xhabafti 2022, part 3)."""

    limit = fl.Parameter("50p", "One more than what waits.")

    def start(self):
        self.waiting = deque()

    def enqueue(self, packet):
        self.waiting.append(packet)
        if len(self.waiting) >= self.limit.packets:
            self.drop(self.waiting.pop())

    def dequeue(self):
        return self.waiting.popleft() if self.waiting else None
