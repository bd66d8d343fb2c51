//! The habits of ns-2's dsRED that the sources of WRED and RIO do not have: averages that age while their own packets are
//! absent, and gaps that outlive their end (ns-2.35, diffserv/dsredq.cc).

use crate::closed::link;
use fairlane_engine::Stream;
use fairlane_net::{Class, DropReason, Ecn, Packet, QCx, Qdisc};
use fairlane_queue::{Coupling, Discipline, Fifo, Law, RioParams, Wred, WredLevel, WredParams, code_point};
use fairlane_units::{Dur, Len, Time};

fn coloured(name: &str) -> Packet {
    Packet { class: Class(code_point(name).unwrap()), ..crate::closed::pkt(1000, Ecn::NotEct) }
}

/// A queue called by hand.
struct Hand<L: Law> {
    q: Fifo<L>,
    rng: Stream,
    drops: Vec<(Packet, DropReason)>,
}

impl<L: Law> Hand<L> {
    fn new(q: Fifo<L>) -> Self {
        Self { q, rng: Stream::new(5, "port", "hand", "aqm"), drops: vec![] }
    }
    fn at<R>(&mut self, us: u64, f: impl FnOnce(&mut Fifo<L>, &mut QCx<'_>) -> R) -> R {
        let mut cx = QCx { now: Time::ZERO + Dur::from_us(us), rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        f(&mut self.q, &mut cx)
    }
    fn offer(&mut self, name: &str, us: u64) {
        self.at(us, |q, cx| q.enqueue(coloured(name), cx));
    }
    fn send(&mut self, us: u64) {
        self.at(us, |q, cx| q.dequeue(cx)).unwrap();
    }
    /// Drops among `n` arrivals at a queue that keeps its length.
    fn lost(&mut self, name: &str, n: usize) -> usize {
        let (keep, before) = (self.q.backlog().pkts, self.drops.len());
        for _ in 0..n {
            self.offer(name, 0);
            if self.q.backlog().pkts > keep {
                self.q.evict(keep as usize);
            }
        }
        self.drops.len() - before
    }
    fn resize(&mut self, name: &str, n: u32) {
        while self.q.backlog().pkts > n {
            self.q.evict(self.q.backlog().pkts as usize - 1);
        }
        while self.q.backlog().pkts < n {
            self.offer(name, 0);
        }
    }
}

fn level(name: &str, min: u64, max: u64, max_p: f64) -> WredLevel {
    WredLevel { select: name.into(), min: Len::Packets(min), max: Len::Packets(max), max_p }
}

/// 20 ms after the only packet of its precedence has left, with nine others waiting: at 10 Mbit/s 25 packets of 1000 bytes.
#[test]
fn wred_ages_with_the_precedence_that_ran_empty() {
    let params = |age_level| WredParams {
        w_q: 0.01,
        levels: vec![level("dscp:af11", 900, 1000, 0.1), level("any", 900, 1000, 0.1)],
        age_level,
        ..WredParams::default()
    };
    for (age_level, m) in [(false, 0), (true, 25)] {
        let mut h = Hand::new(params(age_level).build(&link(10).into()));
        h.offer("af12", 0);
        (0..9).for_each(|_| h.offer("af11", 0));
        h.send(0);
        let before = h.q.law().avg();
        h.offer("af11", 20_010);
        let want = before * 0.99_f64.powi(m + 1) + 0.01 * 9.0;
        assert!((h.q.law().avg() / want - 1.0).abs() < 1e-12, "{age_level}");
        // The next one finds that something has arrived since.
        h.offer("af11", 40_000);
        assert!((h.q.law().avg() / (want * 0.99 + 0.1) - 1.0).abs() < 1e-12, "{age_level}");
    }
}

/// The average out of profile ages while only packets in profile wait; that in profile does not.
#[test]
fn rio_ages_the_kind_that_is_absent() {
    for (age_own, m) in [(false, 0), (true, 25)] {
        let p = RioParams { w_q: 0.01, coupling: Coupling::Decoupled, age_own, ..RioParams::default() };
        let mut h = Hand::new(p.build(&link(10).into()));
        (0..3).for_each(|_| h.offer("af12", 0));
        (0..5).for_each(|_| h.offer("af11", 0));
        (0..3).for_each(|_| h.send(0));
        let (out, inside) = (h.q.law().avg_out(), h.q.law().avg_in());
        assert!(out > 0.0 && inside > 0.0);
        h.offer("af12", 20_010);
        h.offer("af11", 20_010);
        assert!((h.q.law().avg_out() / (out * 0.99_f64.powi(m + 1)) - 1.0).abs() < 1e-12, "{age_own}");
        assert!((h.q.law().avg_in() / (inside * 0.99 + 0.05) - 1.0).abs() < 1e-12, "{age_own}");
    }
}

/// 20 arrivals after the last drop the average jumps to where p_b is 0.35, so count * p_b is 7: RED drops at once and then at
/// 2 p_b; dsRED divides by 1 - 7 and drops nothing until the average has been below the threshold.
#[test]
fn a_gap_that_outlived_its_end_goes_on() {
    let queue = |lapse| -> Hand<Wred> {
        let levels = vec![level("dscp:af11", 10, 50, 0.4), level("any", 900, 1000, 0.1)];
        Hand::new(WredParams { limit: Len::Packets(46), w_q: 1.0, levels, lapse, ..WredParams::default() }.build(&link(10).into()))
    };
    for lapse in [false, true] {
        let mut h = queue(lapse);
        h.resize("be", 11);
        while h.lost("af11", 20) > 0 {}
        h.resize("be", 45);
        let share = h.lost("af11", 10_000) as f64 / 10_000.0;
        // Gaps of 1 and 2 arrivals: p_a is 0.35 / 0.65, then 1.
        let mean_gap = 2.0 - 0.35 / 0.65;
        assert!(if lapse { share == 0.0 } else { (share * mean_gap - 1.0).abs() < 0.05 }, "{lapse}: {share}");
        // Full: an overflow does not end the gap either.
        h.resize("be", 46);
        assert_eq!(h.lost("af11", 1), 1);
        h.resize("be", 45);
        assert_eq!(h.lost("af11", 3) == 0, lapse);
        h.resize("be", 9);
        assert_eq!(h.lost("af11", 1), 0);
        h.resize("be", 45);
        assert!(h.lost("af11", 3) > 0, "{lapse}");
    }
}
