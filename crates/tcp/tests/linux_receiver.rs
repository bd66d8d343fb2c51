//! The receiving half of the preset `linux` against a real one: data that arrived at Linux 6.18, and what it acknowledged with which window.
//!
//! The records in `data/linux_receiver_*.txt` have a line for each segment, in the order they arrived at or left the kernel: `d MICROSECONDS ECHO` for data of one
//! full segment (time since the first could have left, and the timestamp it echoes less the one of the SYN-ACK), `a SEGMENTS WINDOW` for an acknowledgment. The
//! application read all at once; segments came through a TUN device, paced by a bottleneck behind slow start.

use fairlane_net::{Class, Cx, Endpoint, Segment, TimerId, Timers, flag};
use fairlane_tcp::{Tcp, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::json;

/// Largest window of the peer.
const WND: u32 = 1 << 20;

/// An acknowledgment: the segments of data before it, the number it covers, its window.
type Acked = (usize, u64, u32);

/// The acknowledgments of a record, and ours for the same arrivals.
fn both(record: &str, mss: u64) -> (Vec<Acked>, Vec<Acked>) {
    let p = resolve_params(json!({ "preset": "linux", "mss": format!("{mss}B") })).unwrap();
    let (_, mut tcp) = Tcp::pair(&p, Class(0)).unwrap();
    let (mut out, mut timers) = (Vec::new(), Timers::default());
    let start = Time::ZERO + Dur::from_ms(10);
    let mut syn = Segment::new(0, 0, flag::SYN, 0);
    syn.wnd = WND;
    syn.set_timestamps(1, 0);
    tcp.on_packet(&syn, &mut Cx::new(start, &mut out, &mut timers));
    let opened = out.remove(0).seg.timestamps().unwrap().0;
    let mut ack = Segment::new(1, 1, flag::ACK, 0);
    ack.wnd = WND;
    ack.set_timestamps(1, opened);
    tcp.on_packet(&ack, &mut Cx::new(start, &mut out, &mut timers));
    out.clear();
    let (mut theirs, mut ours, mut came) = (Vec::new(), Vec::new(), 0);
    for line in record.lines() {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        let (first, second) = (number(), number());
        if kind == "a" {
            theirs.push((came, first, second as u32));
            continue;
        }
        let now = start + Dur::from_us(first);
        if let Some(at) = timers.get(TimerId::DelAck)
            && at < now
        {
            timers.cancel(TimerId::DelAck);
            tcp.on_timer(TimerId::DelAck, &mut Cx::new(at, &mut out, &mut timers));
        }
        let mut data = Segment::new(1 + came as u64 * mss, 1, flag::ACK, mss as u16);
        data.wnd = WND;
        data.set_timestamps(1 + first as u32 / 1000, opened.wrapping_add(second as u32));
        // A delayed acknowledgment leaves before this arrives.
        ours.extend(out.drain(..).map(|o| (came, (o.seg.ack - 1) / mss, o.seg.wnd)));
        came += 1;
        tcp.on_packet(&data, &mut Cx::new(now, &mut out, &mut timers));
        ours.extend(out.drain(..).map(|o| (came, (o.seg.ack - 1) / mss, o.seg.wnd)));
    }
    (theirs, ours)
}

/// Acknowledgments that cover one segment, of those for the first 126.
fn single(acks: &[Acked]) -> usize {
    let before = acks.iter().map(|a| a.1);
    std::iter::once(0).chain(before.clone()).zip(before).filter(|&(a, b)| b == a + 1 && b <= 126).count()
}

/// Quick acknowledgments and the window of the first round trip follow from arrivals alone, and agree. Later both depend on where in the
/// stream the kernel's application happened to read, by a segment or two, and the buffer grows by a multiple of that.
#[test]
fn as_linux() {
    let records = [
        (include_str!("data/linux_receiver_5mbit_20ms.txt"), 30, 12),
        (include_str!("data/linux_receiver_10mbit_44ms.txt"), 31, 8),
        (include_str!("data/linux_receiver_10mbit_200ms.txt"), 31, 8),
    ];
    for (i, (record, first, apart)) in records.into_iter().enumerate() {
        let (theirs, ours) = both(record, 1448);
        assert_eq!(
            theirs.iter().take_while(|a| a.1 <= first).collect::<Vec<_>>(),
            ours.iter().take_while(|a| a.1 <= first).collect::<Vec<_>>()
        );
        let (n, m) = (theirs.len(), ours.len());
        assert!(n.abs_diff(m) * 50 <= n, "record {i}: {n} acknowledgments, ours {m}");
        let (n, m) = (single(&theirs), single(&ours));
        assert!(n.abs_diff(m) <= apart, "record {i}: of the first 126 {n} acknowledge one segment, ours {m}");
        let (n, m) = (theirs.last().unwrap().2, ours.last().unwrap().2);
        assert!(n.abs_diff(m) <= n / 10, "record {i}: window {n}, ours {m}");
    }
}
