"""Two TCP endpoints without a network: the program passes segments and deadlines itself, and one segment is lost.

Run it with: python examples/tcp_endpoint.py
"""

from fairlane.tcp import Endpoint, Segment

DELAY = 0.010  # seconds, one way


def transfer(total: int, lose: int) -> list[str]:
    """Sends `total` bytes, loses data segment number `lose`, and returns what happened."""
    sender, receiver = Endpoint("newreno"), Endpoint("newreno", passive=True)
    log: list[str] = []
    wire: list[tuple[float, int, bool, Segment]] = []  # arrival time, order, to the receiver?, segment
    sent = count = 0
    now = 0.0

    def post(segments: list[Segment], to_receiver: bool) -> None:
        nonlocal sent, count
        for s in segments:
            count += 1
            if s.payload:
                sent += 1
                if sent == lose:
                    log.append(f"{now * 1e3:7.2f} ms  lost {s}")
                    continue
            log.append(f"{now * 1e3:7.2f} ms  {'->' if to_receiver else '<-'} {s}")
            wire.append((now + DELAY, count, to_receiver, s))

    post(receiver.start(now), False)
    post(sender.start(now), True)
    post(sender.write(now, total, fin=True), True)
    while not sender.finished:
        deadlines = [e.next_deadline for e in (sender, receiver) if e.next_deadline is not None]
        now = min([w[0] for w in wire] + deadlines)
        for arrived in sorted(w for w in wire if w[0] <= now):
            wire.remove(arrived)
            _, _, to_receiver, s = arrived
            post((receiver if to_receiver else sender).receive(now, s), not to_receiver)
        post(sender.advance(now), True)
        post(receiver.advance(now), False)
    log.append(f"{receiver.delivered} bytes delivered, {sender.view()['retransmits']} segment sent again")
    return log


if __name__ == "__main__":
    print("\n".join(transfer(total=20_000, lose=5)))
