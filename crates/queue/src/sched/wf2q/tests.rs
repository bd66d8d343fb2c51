use super::*;
use crate::law::droptail::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, us};
use crate::sched::wfq::tests::classes;

type Params = Wf2qParams<DropTailParams>;

fn wf2q(weights: &[u32]) -> Wf2q<<DropTailParams as Discipline>::Queue> {
    Params { classes: classes(weights), ..Params::default() }.build(&link().into())
}

/// Bennett and Zhang 1996, the example of its introduction: a session with half the link sends 11 packets at once, ten with a
/// twentieth each send one. WF2Q alternates, as the fluid server would have it.
#[test]
fn wf2q_interleaves_a_burst() {
    let mut weights = vec![10];
    weights.extend([1; 10]);
    let (mut q, mut desk) = (wf2q(&weights), Desk::new());
    (0..11).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
    (1..11).for_each(|f| desk.put(&mut q, us(0), pkt(10 + f, f, 1000)));
    let mut expected: Vec<u32> = (1..=10).flat_map(|f| [0, f]).collect();
    expected.push(0);
    assert_eq!(desk.flows(&mut q, us(0), 99), expected);
}

/// V advances with real time while no packet waits, so an old finish tag is forgotten.
#[test]
fn idle_time_counts() {
    let (mut q, mut desk) = (wf2q(&[1, 99]), Desk::new());
    desk.put(&mut q, us(0), pkt(0, 0, 1000));
    assert_eq!(desk.flows(&mut q, us(0), 9), [0]);
    // 1000 bytes of weight 1 in a sum of 100: the class has had its share for 100 ms.
    let start = |q: &Wf2q<_>, now: u64| {
        let (mut q, mut desk) = (q.clone(), Desk::new());
        desk.put(&mut q, us(now), pkt(1, 0, 1000));
        (q.lanes[0].start as f64 / PER_BYTE as f64, q.now as f64 / PER_BYTE as f64)
    };
    assert_eq!(start(&q, 50_000), (1000.0, 500.0));
    assert_eq!(start(&q, 150_000), (1500.0, 1500.0));
}

/// Shares of bytes while all wait differ by at most a packet each, and stay so over a long time.
#[test]
fn weights_are_shares_without_drift() {
    let w = [3, 7, 11];
    let lens = [1500, 40, 999];
    let (mut q, mut desk) = (wf2q(&w), Desk::new());
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
            assert!((got[i] - got[j]).abs() <= bound, "{got:?} at {t} us");
        }
    }
    assert_eq!(desk.drops.len(), 0);
}
