use super::*;
use fairlane_net::{Class, FlowId, Proto};
use std::sync::Mutex;

fn packet(id: u32, ecn: Ecn) -> QPkt {
    let (class, proto) = (Class(0), Proto::Tcp);
    QPkt { id: PktRef(id), len: 1040, flow: FlowId(1), hop: 0, at: Time::ZERO, class, ecn, proto, data: true, back: false }
}

/// What a recorder with this filter hands over after `told`, as lines of event, link, packet and length of the queue.
fn recorded(filter: Filter, told: impl FnOnce(&mut Recorder)) -> Vec<(&'static str, Option<u32>, u64, u32)> {
    let out = Arc::new(Mutex::new(Vec::new()));
    let taken = out.clone();
    let sink = move |batch: Batch| taken.lock().unwrap().push(batch);
    let names = |n: &[&str]| n.iter().map(|s| (*s).to_owned()).collect();
    let mut recorder =
        Recorder::new(filter, Names { flows: names(&["a", "b"]), links: names(&["x", "y"]), ..Names::default() }, Box::new(sink));
    told(&mut recorder);
    recorder.finish();
    let batches = out.lock().unwrap();
    let rows = batches.iter().flat_map(|b| &b.rows);
    rows.map(|r| (Kind::NAMES[r.kind as usize], (r.link != NONE).then_some(r.link), r.packet, r.queue_packets)).collect()
}

fn journey(r: &mut Recorder) {
    let (time, port, backlog) = (Time::ZERO, PortId(0), Backlog { pkts: 3, bytes: 3120 });
    let seg = Segment::new(1, 1, 0x10, 1000);
    let pkt = packet(7, Ecn::Ect0);
    r.on_send(&SendEvent { time, endpoint: EpId(2), pkt, seg });
    r.on_enqueue(&EnqueueEvent { time, port, pkt, backlog });
    r.on_dequeue(&DequeueEvent { time, port, pkt: QPkt { ecn: Ecn::Ce, ..pkt }, backlog, seg });
    r.on_hop(&HopEvent { time, port, pkt: QPkt { ecn: Ecn::Ce, ..pkt }, seg });
    r.on_drop(&DropEvent { time, port: PortId(1), pkt: QPkt { ecn: Ecn::Ce, ..pkt }, why: Why::Overflow, backlog, seg });
    // Its place in the arena is another packet's now.
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

/// Each change once, and the timer before the window that it shuts.
#[test]
fn what_changes_of_a_sender() {
    let open = Moment { cwnd: 10_000, ssthresh: u64::MAX, timeouts: 0, connection: "ESTABLISHED", sending: "open" };
    let lost = Moment { cwnd: 1000, ssthresh: 5000, timeouts: 1, sending: "loss", ..open };
    let rows = recorded(Filter::default(), |r| {
        for moment in [open, open, lost, lost] {
            r.on_moment(&MomentEvent { time: Time::ZERO, endpoint: EpId(2), moment });
        }
    });
    assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), ["state", "state", "window", "timeout", "state", "window"]);
}

/// Arrow's layout: values in the machine's order, and a bit for each row, the lowest first.
#[test]
fn columns_are_arrows() {
    let names = Arc::new(Names { flows: vec!["f".to_owned()], links: vec!["l".to_owned()], ..Names::default() });
    let row = |n: u64| Row {
        time: Time::from_ps(n),
        link: if n.is_multiple_of(3) { NONE } else { 0 },
        kind: if n.is_multiple_of(3) { Kind::Send } else { Kind::Enqueue },
        queue_packets: n as u32,
        ..Row::default()
    };
    let batch = Batch { rows: (0..1000).map(row).collect(), names };
    let columns = batch.columns();
    let of = |name: &str| columns.iter().find(|c| c.name == name).unwrap();
    let times: Vec<u64> = of("time_ps").values.chunks(8).map(|b| u64::from_ne_bytes(b.try_into().unwrap())).collect();
    assert_eq!(times, (0..1000).collect::<Vec<_>>());
    let queue: Vec<u32> = of("queue_packets").values.chunks(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap())).collect();
    assert_eq!(queue, (0..1000).collect::<Vec<_>>());
    let valid = of("link").valid.as_ref().unwrap();
    assert_eq!(valid.len(), 125);
    assert!((0..1000).all(|i| (valid[i / 8] >> (i % 8) & 1 == 1) == (i % 3 != 0)));
    assert_eq!(of("event").cells, Cells::Names(Kind::NAMES.iter().map(|n| (*n).to_owned()).collect()));
    assert!(of("time_ps").valid.is_none());
}
