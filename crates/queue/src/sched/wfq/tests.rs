use super::*;
use crate::law::droptail::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, us};

type Params = WfqParams<DropTailParams>;

/// Classes by code point; packets of flow i have code point i.
pub(in crate::sched) fn classes(weights: &[u32]) -> Vec<WeightedParams<DropTailParams>> {
    let class = |(i, &weight)| WeightedParams { select: format!("dscp:{i}").as_str().into(), queue: DropTailParams::default(), weight };
    weights.iter().enumerate().map(class).collect()
}

fn wfq(weights: &[u32], clock: WfqClock) -> Wfq<<DropTailParams as Discipline>::Queue> {
    Params { classes: classes(weights), clock, ..Params::default() }.build(&link().into())
}

/// Tags in bytes of weight 1, which are microseconds of a link that is one class's alone.
fn bytes(tag: u128) -> f64 {
    tag as f64 / PER_BYTE as f64
}

/// Keshav's textbook example (An Engineering Approach to Computer Networking, section 9.4): packets of 1, 2 and 2 units at time 0 on a
/// link of 1 unit a second, another of 2 on the first connection at time 4. Finish numbers 1, 2, 2 and 3.5; round number 1.5 at
/// time 4, and all is served at 7, when it is 3.5. One unit here is 1000 bytes, a millisecond.
#[test]
fn finish_numbers_of_keshavs_example() {
    let (mut q, mut desk) = (wfq(&[1, 1, 1], WfqClock::Gps), Desk::new());
    for (id, len) in [(0, 1000), (1, 2000), (2, 2000)] {
        desk.put(&mut q, us(0), pkt(id, id, len));
    }
    let finish = |q: &Wfq<_>| q.lanes.iter().map(|l| l.next_finish().map(bytes)).collect::<Vec<_>>();
    assert_eq!(finish(&q), [Some(1000.0), Some(2000.0), Some(2000.0)]);
    assert_eq!(desk.flows(&mut q, us(0), 1), [0]);
    assert_eq!(desk.flows(&mut q, us(1000), 1), [1]);
    assert_eq!(desk.flows(&mut q, us(3000), 1), [2]);
    let Clock::Gps(gps) = &mut q.clock else { panic!() };
    assert_eq!(bytes(gps.advance(us(3000))), 1000.0);
    assert_eq!(bytes(gps.advance(us(4000))), 1500.0);
    desk.put(&mut q, us(4000), pkt(3, 0, 2000));
    assert_eq!(finish(&q), [Some(3500.0), None, None]);
    assert_eq!(desk.flows(&mut q, us(5000), 1), [0]);
    let Clock::Gps(gps) = &mut q.clock else { panic!() };
    assert_eq!(bytes(gps.advance(us(5500))), 2000.0);
    assert_eq!(bytes(gps.advance(us(6999))), 3499.0);
    // From here on the fluid server is idle, and the number stays.
    assert_eq!(bytes(gps.advance(us(7000))), 3500.0);
    assert_eq!(bytes(gps.advance(us(9000))), 3500.0);
}

/// Golestani's clock for these arrivals: v(4 s) is the tag of the packet in service, 2, so the late packet's tag is 4 instead of 3.5.
#[test]
fn self_clocking_takes_the_tag_in_service() {
    let (mut q, mut desk) = (wfq(&[1, 1, 1], WfqClock::Scfq), Desk::new());
    for (id, len) in [(0, 1000), (1, 2000), (2, 2000)] {
        desk.put(&mut q, us(0), pkt(id, id, len));
    }
    assert_eq!(desk.flows(&mut q, us(0), 2), [0, 1]);
    desk.put(&mut q, us(2000), pkt(3, 0, 2000));
    assert_eq!(q.lanes[0].next_finish().map(bytes), Some(4000.0));
    assert_eq!(desk.flows(&mut q, us(3000), 9), [2, 0]);
}

/// Bennett and Zhang 1996, the example of its introduction: a session with half the link sends 11 packets at once, ten with a
/// twentieth each send one. WFQ sends ten packets of the first in a row, before any other.
#[test]
fn wfq_lets_a_burst_run_ahead() {
    let mut weights = vec![10];
    weights.extend([1; 10]);
    for clock in [WfqClock::Gps, WfqClock::Scfq] {
        let (mut q, mut desk) = (wfq(&weights, clock), Desk::new());
        (0..11).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
        (1..11).for_each(|f| desk.put(&mut q, us(0), pkt(10 + f, f, 1000)));
        let mut expected = vec![0; 10];
        expected.extend(1..=10);
        expected.push(0);
        assert_eq!(desk.flows(&mut q, us(0), 99), expected);
    }
}

/// Weights are shares of bytes while all wait, to within a packet of each, and stay so over a long time.
#[test]
fn weights_are_shares_without_drift() {
    for clock in [WfqClock::Gps, WfqClock::Scfq] {
        let w = [3, 7, 11];
        let lens = [1500, 40, 999];
        let (mut q, mut desk) = (wfq(&w, clock), Desk::new());
        for (f, &len) in lens.iter().enumerate() {
            (0..30).for_each(|i| desk.put(&mut q, us(0), pkt(100 * f as u32 + i, f as u32, len)));
        }
        let (mut got, mut t) = ([0_f64; 3], 0);
        for id in 0..300_000 {
            let p = desk.get(&mut q, us(t)).unwrap();
            let f = p.flow.0 as usize;
            got[f] += f64::from(p.len) / f64::from(w[f]);
            desk.put(&mut q, us(t), pkt(1000 + id, f as u32, lens[f]));
            t += u64::from(p.len);
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                let bound = f64::from(lens[i]) / f64::from(w[i]) + f64::from(lens[j]) / f64::from(w[j]);
                assert!((got[i] - got[j]).abs() <= bound, "{clock:?} {got:?} at {t} us");
            }
        }
        assert_eq!(desk.drops.len(), 0);
    }
}

/// Packets that a class's queue drops are not charged to the class.
#[test]
fn drops_are_not_charged() {
    let mut p = Params { classes: classes(&[1, 1]), clock: WfqClock::Scfq, ..Params::default() };
    p.classes[0].queue.limit = Len::Packets(2);
    let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
    (0..9).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
    (10..14).for_each(|i| desk.put(&mut q, us(0), pkt(i, 1, 1000)));
    assert_eq!(desk.drops.len(), 7);
    assert_eq!(desk.flows(&mut q, us(0), 4), [0, 1, 0, 1]);
    desk.put(&mut q, us(0), pkt(20, 0, 1000));
    assert_eq!(desk.flows(&mut q, us(0), 9), [0, 1, 1]);
}

#[test]
fn costs_are_rounded_to_the_nearest() {
    assert_eq!(cost(1, 1), 8_000_000_000_000);
    assert_eq!(cost(1, 3), 2_666_666_666_667);
    assert_eq!(cost(1, 65_535), 122_072_175);
    assert_eq!(cost(u32::MAX, 3), (u128::from(u32::MAX) * 8_000_000_000_000 + 1) / 3);
}
