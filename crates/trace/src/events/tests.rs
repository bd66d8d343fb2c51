use super::*;
use fairlane_net::{Class, DropReason, FlowId, Proto};
use fairlane_testkit::packet::PACKET;

fn packet(id: u32, ecn: Ecn) -> Packet {
    let (class, proto) = (Class(0), Proto::Tcp);
    Packet { id: PacketRef(id), len: 1040, flow: FlowId(1), class, ecn, proto, ..PACKET }
}

/// Rows recorded with this filter, as event, link, packet and queue length.
fn recorded(filter: Filter, record: impl FnOnce(&mut Recorder)) -> Vec<(&'static str, Option<u32>, u64, u32)> {
    let names = |n: &[&str]| n.iter().map(|s| (*s).to_owned()).collect();
    let names = Names { flows: names(&["a", "b"]), links: names(&["x", "y"]), ..Names::default() };
    let mut recorder = Recorder::collecting(filter, Arc::new(names));
    record(&mut recorder);
    let rows = recorder.rows.iter();
    rows.map(|r| (Kind::NAMES[r.kind as usize], (r.link != NONE).then_some(r.link), r.packet, r.queue_packets)).collect()
}

fn journey(r: &mut Recorder) {
    let (time, port, backlog) = (Time::ZERO, PortId(0), Backlog { pkts: 3, bytes: 3120 });
    let seg = Segment::new(1, 1, 0x10, 1000);
    let pkt = packet(7, Ecn::Ect0);
    r.on_send(&SendEvent { time, endpoint: EpId(2), pkt, seg });
    r.on_enqueue(&EnqueueEvent { time, port, pkt, backlog });
    r.on_dequeue(&DequeueEvent { time, port, pkt: Packet { ecn: Ecn::Ce, ..pkt }, backlog, seg });
    r.on_hop(&HopEvent { time, port, pkt: Packet { ecn: Ecn::Ce, ..pkt }, seg });
    r.on_drop(&DropEvent { time, port: PortId(1), pkt: Packet { ecn: Ecn::Ce, ..pkt }, why: DropReason::Overflow, backlog, seg });
    // Another packet has the arena index now.
    let mut again = seg;
    again.set_retransmission();
    r.on_send(&SendEvent { time, endpoint: EpId(2), pkt, seg: again });
    r.on_receive(&ReceiveEvent { time, endpoint: EpId(3), flow: FlowId(1), pkt, seg: again });
}

#[test]
fn a_packet_keeps_its_number_and_is_offered_before_it_is_dropped() {
    let all = recorded(Filter::default(), journey);
    assert_eq!(
        all,
        [
            ("send", None, 1, 0),
            ("enqueue", Some(0), 1, 3),
            ("mark", Some(0), 1, 3),
            ("dequeue", Some(0), 1, 3),
            ("arrive", Some(0), 1, 0),
            ("enqueue", Some(1), 1, 3),
            ("drop", Some(1), 1, 3),
            ("retransmit", None, 2, 0),
            ("receive", None, 2, 0),
        ]
    );
}

#[test]
fn every_condition_has_to_hold() {
    let kinds = vec![Kind::Drop, Kind::Send];
    assert_eq!(recorded(Filter { kinds: kinds.clone(), ..Filter::default() }, journey), [("send", None, 1, 0), ("drop", Some(1), 1, 3)]);
    let links = Some(vec![false, true]);
    assert_eq!(recorded(Filter { kinds, links, ..Filter::default() }, journey), [("drop", Some(1), 1, 3)]);
    assert_eq!(recorded(Filter { flows: Some(vec![true, false]), ..Filter::default() }, journey), []);
    assert_eq!(recorded(Filter { from: Time::from_ps(1), ..Filter::default() }, journey), []);
}

/// A packet that was dropped unobserved leaves no state to the next one at its arena index.
#[test]
fn packets_are_numbered_whatever_is_recorded() {
    let sent = |r: &mut Recorder| {
        let seg = Segment::new(1, 1, 0x10, 1000);
        for _ in 0..3 {
            r.on_send(&SendEvent { time: Time::ZERO, endpoint: EpId(2), pkt: packet(7, Ecn::Ect0), seg });
        }
    };
    let kinds = vec![Kind::Send];
    assert_eq!(recorded(Filter { kinds, ..Filter::default() }, sent).iter().map(|r| r.2).collect::<Vec<_>>(), [1, 2, 3]);
}

/// Each change once, and the timeout before the window that it reduces.
#[test]
fn what_changes_of_a_sender() {
    let open = SenderState { cwnd: 10_000, ssthresh: u64::MAX, timeouts: 0, connection: "ESTABLISHED", sending: "open" };
    let lost = SenderState { cwnd: 1000, ssthresh: 5000, timeouts: 1, sending: "loss", ..open };
    let rows = recorded(Filter::default(), |r| {
        for state in [open, open, lost, lost] {
            r.on_state(&StateEvent { time: Time::ZERO, endpoint: EpId(2), state });
        }
    });
    assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), ["state", "state", "window", "timeout", "state", "window"]);
}

/// A gauge is recorded when it changes, and only if named.
#[test]
fn what_changes_inside_of_a_queue() {
    let gauge = |of, value| GaugeEvent { time: Time::ZERO, of, name: "avg", value };
    let record = |r: &mut Recorder| {
        for (of, value) in [(0, 1.0), (0, 1.0), (1, 1.0), (0, 2.0)] {
            r.on_gauge(&gauge(Inside::Queue(PortId(of)), value));
        }
        r.on_gauge(&gauge(Inside::End(EpId(2)), 2.0));
    };
    let named = Filter { kinds: vec![Kind::Gauge], ..Filter::default() };
    let at = |link| ("gauge", link, 0, 0);
    assert_eq!(recorded(named.clone(), record), [at(Some(0)), at(Some(1)), at(Some(0)), at(None)]);
    recorded(Filter { links: Some(vec![false, true]), ..named }, |r| {
        assert_eq!([0, 1].map(|p| r.port_interest(PortId(p)).has(Interest::GAUGE)), [false, true]);
        assert!(!r.endpoint_interest(EpId(2)).has(Interest::GAUGE));
    });
    assert_eq!(recorded(Filter::default(), record), []);
}

/// An obstacle to the files is reported with its path.
#[test]
fn files_that_cannot_be_made() {
    let place = std::env::temp_dir().join(format!("fairlane-{}.tr", std::process::id()));
    std::fs::write(&place, "").unwrap();
    for format in [Format::Ns2, Format::Parquet] {
        let failure = Recorder::new(Filter::default(), Names::default(), format, place.clone()).unwrap_err();
        assert_eq!(failure.place, place);
        assert_eq!(failure.error.kind(), std::io::ErrorKind::AlreadyExists);
    }
    std::fs::remove_file(&place).unwrap();
}
