"""`fairlane.tcp.Endpoint`: the state machine alone, checked against the RFCs' own words."""

from __future__ import annotations

import pytest

from fairlane.tcp import ENDLESS, Ecn, Endpoint, Flag, Segment


def pair(params="newreno"):
    return Endpoint(params), Endpoint(params, passive=True)


def connect(a: Endpoint, b: Endpoint) -> None:
    assert b.start(0) == []
    (syn,) = a.start(0)
    (syn_ack,) = b.receive("10ms", syn)
    for s in a.receive("20ms", syn_ack):
        b.receive("30ms", s)


def test_handshake():
    """RFC 9293 section 3.5: SYN, SYN-ACK, ACK; SYN takes one sequence number."""
    a, b = pair()
    b.start(0)
    (syn,) = a.start(0)
    assert syn.flags == Flag.SYN and syn.payload == 0 and syn.end == syn.seq + 1
    (syn_ack,) = b.receive(0.01, syn)
    assert syn_ack.flags == Flag.SYN | Flag.ACK and syn_ack.ack == syn.end
    (ack,) = a.receive(0.02, syn_ack)
    assert ack.flags == Flag.ACK and ack.ack == syn_ack.end


def test_lost_syn_is_sent_again_after_a_second():
    """RFC 6298 section 2.1: the first timeout is one second; 5.5: it doubles."""
    a, _ = pair({"preset": "rfc"})
    a.start(0)
    assert a.next_deadline == pytest.approx(1.0)
    assert a.advance(0.999) == []
    (again,) = a.advance(1.0)
    assert again.flags == Flag.SYN and again.seq == 0
    assert a.next_deadline == pytest.approx(3.0)


def test_file_arrives_whole():
    a, b = pair()
    connect(a, b)
    now, line = 0.03, list(a.write(0.03, 50_000, fin=True))
    while line:
        now += 0.01
        acks = [r for s in line for r in b.receive(now, s)]
        now += 0.01
        line = [s for r in acks for s in a.receive(now, r)]
        if not line:
            due = min(d for e in (a, b) if (d := e.next_deadline) is not None) if not a.finished else None
            if due is not None:
                now = max(now, due)
                line = a.advance(now)
                line += [s for r in b.advance(now) for s in a.receive(now, r)]
    assert a.finished
    assert b.delivered == 50_000
    assert a.view()["retransmits"] == 0


def test_three_duplicates_trigger_a_fast_retransmit():
    """RFC 5681 section 3.2."""
    a, b = pair({"preset": "rfc"})
    connect(a, b)
    # The first segments bring the window of the receiver, which a SYN cannot scale: an ACK that changes it is no duplicate (section 2).
    first = a.write(0.03, 2 * 1460)
    assert [o for s in first for r in b.receive(0.04, s) for o in a.receive(0.05, r)] == []
    flight = a.write(0.06, ENDLESS)
    assert len(flight) >= 4
    lost, *rest = flight
    duplicates = [r for s in rest for r in b.receive(0.07, s)]
    assert all(r.ack == lost.seq for r in duplicates) and len(duplicates) >= 3
    sent = [a.receive(0.08, r) for r in duplicates[:3]]
    again = [s for s in sent[2] if s.retransmission]
    assert [s.seq for s in again][:1] == [lost.seq]
    assert not any(s.retransmission for out in sent[:2] for s in out)
    assert a.view()["fast_recoveries"] == 1


def test_view_and_deadlines():
    a, b = pair()
    connect(a, b)
    a.write(0.03, 100_000)
    view = a.view()
    assert view["in_flight"] > 0 and view["cwnd"] >= view["mss"] > 0
    assert view["srtt"] == pytest.approx(0.02, rel=0.6)
    assert set(a.deadlines) <= {"rto", "delack", "pace", "probe"}
    assert a.next_deadline > 0.03


def test_stop_discards_what_was_not_sent():
    a, b = pair()
    connect(a, b)
    flight = a.write(0.03, ENDLESS)
    a.stop(0.03)
    acks = [r for s in flight for r in b.receive(0.04, s)]
    assert not any(s.payload for r in acks for s in a.receive(0.05, r) if not s.retransmission)


def test_segment():
    s = Segment(seq=5, payload=10, flags=Flag.ACK | Flag.FIN, sack=((20, 30),), retransmission=True)
    assert s.end == 16
    assert str(s) == "FIN|ACK seq 5:16 ack 0 win 65535 sack 20:30 (again)"
    assert s.ecn is Ecn.NOT_ECT


@pytest.mark.parametrize("bad", ["quick", {"cc": "nope"}, {"windw": "1p"}, {"window": "0p"}, 5, [], {"preset": "ns9"}])
def test_bad_parameters(bad):
    from fairlane import ScenarioError

    with pytest.raises(ScenarioError):
        Endpoint(bad)


@pytest.mark.parametrize("now", [-1, float("nan"), float("inf"), 1e9])
def test_bad_times(now):
    with pytest.raises(ValueError, match="a time is"):
        Endpoint().start(now)


@pytest.mark.parametrize(
    "fields",
    [{"seq": 2**63}, {"payload": 70_000}, {"seq": -1}, {"sack": ((5, 2),)}, {"sack": ((0, 2**40),)}, {"ecn": 7}, {"window": 2**40}],
)
def test_impossible_segments(fields):
    a, b = pair()
    connect(a, b)
    with pytest.raises((ValueError, OverflowError)):
        a.receive(0.05, Segment(**fields))
