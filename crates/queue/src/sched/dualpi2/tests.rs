use super::*;
use fairlane_engine::Stream;
use fairlane_net::{Class, Drops, FlowId, PacketRef};
use fairlane_testkit::packet::PACKET;
use fairlane_units::Rate;

struct Bench {
    q: DualPi2,
    rng: Stream,
    drops: Drops,
    marks: u32,
}

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
}

fn at(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

impl Bench {
    fn new(p: &DualPi2Params) -> Self {
        Self { q: p.build(&link().into()), rng: Stream::new(1, "port", "dual", "aqm"), drops: vec![], marks: 0 }
    }
    fn call<R>(&mut self, now: Time, f: impl FnOnce(&mut DualPi2, &mut QCx<'_>) -> R) -> R {
        let mut cx = QCx { now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        let r = f(&mut self.q, &mut cx);
        self.marks += cx.marks;
        r
    }
    fn put(&mut self, ecn: Ecn, now: Time, len: u32) {
        let (id, flow, class) = (PacketRef(0), FlowId(0), Class(0));
        let p = Packet { id, len, flow, at: now, class, ecn, ..PACKET };
        self.call(now, |q, cx| q.enqueue(p, cx));
    }
    fn take(&mut self, now: Time) -> Option<Packet> {
        self.call(now, |q, cx| q.dequeue(cx))
    }
    /// Shares dropped and marked of `n` packets that hardly wait, one at a time.
    fn shares(&mut self, ecn: Ecn, n: u32) -> (f64, f64) {
        self.drops.clear();
        self.marks = 0;
        for _ in 0..n {
            self.put(ecn, at(0), 1000);
            self.take(at(0));
        }
        (self.drops.len() as f64 / f64::from(n), f64::from(self.marks) / f64::from(n))
    }
}

/// Appendix A.1, parameters: T = min(15, 100 / 3) ms, alpha = 0.1 * 0.015 / 0.01 = 0.15 Hz, beta = 0.3 / 0.1 = 3 Hz, limit 250 ms.
#[test]
fn automatic_values() {
    let p = DualPi2Params::default();
    assert_eq!(p.tupdate(), Dur::from_ms(15));
    let (alpha, beta) = p.gains();
    assert!((alpha - 0.15).abs() < 1e-12 && (beta - 3.0).abs() < 1e-12);
    assert_eq!(p.limit(link()), Len::Bytes(312_500));
    assert_eq!(DualPi2Params { rtt_max: Dur::from_ms(30), ..p }.tupdate(), Dur::from_ms(10));
}

/// Section 2.1: p_C = p'^2 and p_CL = k p'. Each kind of packet meets its own.
#[test]
fn coupling() {
    for p in [0.05, 0.1, 0.2, 0.45] {
        let mut b = Bench::new(&DualPi2Params::default());
        b.q.control.p = p;
        for (ecn, drops, marks) in [(Ecn::NotEct, p * p, 0.0), (Ecn::Ect0, 0.0, p * p), (Ecn::Ect1, 0.0, 2.0 * p), (Ecn::Ce, 0.0, 2.0 * p)]
        {
            let got = b.shares(ecn, 10_000);
            // The signals are spread evenly, not drawn: they are right to one packet.
            assert!((got.0 - drops).abs() < 2e-4 && (got.1 - marks).abs() < 2e-4, "{p} {ecn:?} {got:?}");
        }
    }
}

/// Appendix A.2: from p' = 1/k on marks are not enough; everything is dropped with p_C, and the L queue marks what is left.
#[test]
fn overload_drops_from_both() {
    let mut b = Bench::new(&DualPi2Params::default());
    b.q.control.p = 0.6;
    assert!((b.shares(Ecn::Ect0, 10_000).0 - 0.36).abs() < 2e-4);
    let (drops, marks) = b.shares(Ecn::Ect1, 10_000);
    assert!((drops - 0.36).abs() < 2e-4 && (marks - 0.64).abs() < 4e-4, "{drops} {marks}");
}

/// Appendix A.1, laqm: nothing up to 800 us, a ramp to 1 at 1200 us, nothing for a lone packet.
#[test]
fn ramp_and_step() {
    let q = Bench::new(&DualPi2Params::default()).q;
    for (us, p) in [(0, 0.0), (800, 0.0), (900, 0.25), (1000, 0.5), (1100, 0.75), (1200, 1.0), (9000, 1.0)] {
        let delay = Dur::from_us(us).as_secs_f64();
        assert!((q.laqm(delay, 2) - p).abs() < 1e-9, "{us}");
        assert_eq!(q.laqm(delay, 1), 0.0);
    }
    let linux: DualPi2Params = serde_json::from_str(DualPi2Params::PRESETS[0].values).unwrap();
    let q = Bench::new(&linux).q;
    assert_eq!((q.laqm(0.001, 1), q.laqm(0.001_000_1, 1)), (0.0, 1.0));
    // Through the queue: of twenty packets that leave a millisecond and a half late, the last is alone.
    let mut b = Bench::new(&DualPi2Params::default());
    (0..20).for_each(|_| b.put(Ecn::Ect1, at(0), 1000));
    while b.take(at(1500)).is_some() {}
    // The sum passes 1 only with the second packet.
    assert_eq!(b.marks, 18);
}

/// The controller by hand: the longer wait counts, 40 ms here. 0.15 * 0.025 + 3 * 0.040.
#[test]
fn controller_takes_the_longer_wait() {
    let mut b = Bench::new(&DualPi2Params::default());
    b.put(Ecn::NotEct, at(0), 1000);
    b.put(Ecn::Ect1, at(30_000), 1000);
    assert_eq!(b.call(at(40_000), |q, cx| q.on_timer(cx)), Some(at(55_000)));
    assert!((b.q.control.p - (0.15 * 0.025 + 3.0 * 0.040)).abs() < 1e-12);
    b.take(at(40_000)); // the Scalable one
    b.take(at(40_000));
    b.call(at(55_000), |q, cx| q.on_timer(cx));
    assert!((b.q.control.p - (0.12375 - 0.15 * 0.015 - 3.0 * 0.040)).abs() < 1e-12);
}

/// With both queues busy the Classic one gets a tenth of the bytes, whatever the lengths; alone it gets all.
#[test]
fn round_robin_keeps_the_weights() {
    for (l_len, c_len) in [(1000, 1000), (1500, 500), (100, 1500)] {
        let p = DualPi2Params { limit: Some(Len::Packets(100_000)), min_th: Dur::from_secs(10), ..DualPi2Params::default() };
        let mut b = Bench::new(&p);
        for _ in 0..20_000 {
            b.put(Ecn::NotEct, at(0), c_len);
            b.put(Ecn::Ect1, at(0), l_len);
        }
        let mut sent = [0_u64; 2];
        for _ in 0..15_000 {
            let p = b.take(at(0)).unwrap();
            sent[usize::from(p.ecn == Ecn::NotEct)] += u64::from(p.len);
        }
        let share = sent[1] as f64 / (sent[0] + sent[1]) as f64;
        assert!((share - 0.1).abs() < 0.002, "{l_len} {c_len}: {share}");
    }
}

/// A Scalable packet passes Classic ones that came up to 50 ms before it, not earlier ones.
#[test]
fn time_shifted_fifo() {
    let p = DualPi2Params { scheduler: DualScheduler::TsFifo, ..DualPi2Params::default() };
    for (us, l_first) in [(49_999, true), (50_000, true), (50_001, false)] {
        let mut b = Bench::new(&p);
        b.put(Ecn::NotEct, at(0), 1000);
        b.put(Ecn::Ect1, at(us), 1000);
        assert_eq!(b.take(at(us)).unwrap().ecn != Ecn::NotEct, l_first, "{us}");
    }
}

#[test]
fn both_queues_share_the_limit() {
    let mut b = Bench::new(&DualPi2Params { limit: Some(Len::Bytes(10_000)), ..DualPi2Params::default() });
    for n in 0..12 {
        b.put(if n % 2 == 0 { Ecn::Ect1 } else { Ecn::NotEct }, at(0), 1000);
    }
    assert_eq!((b.q.l_backlog().pkts, b.q.c_backlog().pkts, b.drops.len()), (5, 5, 2));
    assert!(b.drops.iter().all(|d| d.1 == DropReason::Overflow));
}

#[test]
fn impossible_values_are_refused() {
    for (p, field) in [
        (DualPi2Params { limit: Some(Len::Packets(0)), ..DualPi2Params::default() }, "limit"),
        (DualPi2Params { rtt_max: Dur::ZERO, ..DualPi2Params::default() }, "rtt_max"),
        (DualPi2Params { tupdate: Some(Dur::ZERO), ..DualPi2Params::default() }, "tupdate"),
        (DualPi2Params { classic_share: 2.0, ..DualPi2Params::default() }, "classic_share"),
    ] {
        assert_eq!(p.check(&link().into()).unwrap_err().field, field);
    }
    assert!(DualPi2Params::default().check(&link().into()).is_ok());
}
