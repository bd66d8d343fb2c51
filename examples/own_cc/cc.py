"""AIMD(a, b) of Floyd, Handley and Padhye (2000) as a congestion control of one's own.

`fairlane run examples/own_cc/scenario.toml --plugin examples/own_cc/cc.py`
"""

import fairlane as fl


class AIMD(fl.CongestionControl):
    """Additive increase by a segments a round trip, multiplicative decrease by the share b (Floyd, Handley and Padhye 2000)."""

    a = fl.Parameter(1.0, "Segments the window grows in a round trip.", min=0, max=100)
    b = fl.Parameter(0.5, "Share of the window that a loss takes.", min=0, max=1)

    def on_ack(self, sample):
        if not self.unused(sample):
            left = self.slow_start(sample)
            self.cwnd += self.a * left * self.mss / self.cwnd

    def on_congestion(self, event):
        self.cut(event, (1 - self.b) * self.basis(event))
