use super::*;
use crate::law::testing::{Bench, pkt};
use fairlane_net::Ecn;

const STEP: Dur = Dur::from_us(10);

fn ms(t: Time) -> f64 {
    t.as_secs_f64() * 1e3
}

/// A queue that offers a packet every 10 us, each having waited `sojourn`, with `behind` bytes left in the queue.
struct Head {
    b: Bench<Codel>,
    now: Time,
    behind: u64,
    ecn: Ecn,
}

impl Head {
    fn new(p: &CodelParams) -> Self {
        Self { b: Bench::new(Codel::new(p), 1), now: Time::ZERO + Dur::from_secs(10), behind: 30_000, ecn: Ecn::NotEct }
    }
    fn ask(&mut self, sojourn: Dur) -> Verdict {
        let at = Time::from_ps(self.now.as_ps() - sojourn.as_ps());
        self.b.dequeue(&pkt(1000, 0, self.ecn, at), self.now, self.behind)
    }
    /// Times, in ms from the start, at which packets go while the delay stays at `sojourn` for `span`; a drop is followed by another ask at once.
    fn signals(&mut self, sojourn: Dur, span: Dur) -> Vec<f64> {
        let (start, mut out) = (self.now, vec![]);
        while self.now < start + span {
            while self.ask(sojourn) != Verdict::Pass {
                out.push(ms(Time::ZERO + (self.now - start)));
                if self.ecn.capable() {
                    break;
                }
            }
            self.now += STEP;
        }
        out
    }
}

fn assert_near(got: &[f64], want: &[f64], slack: f64) {
    assert_eq!(got.len(), want.len(), "{got:?} {want:?}");
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() < slack, "{got:?} {want:?}");
    }
}

/// Section 5.3: after an interval above target the first drop, then gaps of interval / sqrt(1), / sqrt(2), / sqrt(3)...
fn schedule(drops: usize) -> Vec<f64> {
    let mut t = 100.0;
    (1..=drops)
        .map(|n| {
            let now = t;
            t += 100.0 / (n as f64).sqrt();
            now
        })
        .collect()
}

#[test]
fn drops_follow_the_inverse_square_root() {
    let mut h = Head::new(&CodelParams::default());
    let got = h.signals(Dur::from_ms(20), Dur::from_secs(2));
    // 100 ms, 200, 270.7, 328.4, 378.4...: the sum of the gaps passes 2 s after 105 drops or so, about (1.9 / 0.2)^2.
    let want: Vec<f64> = schedule(500).into_iter().take_while(|&t| t < 2000.0).collect();
    assert_near(&got, &want, 0.011);
    assert!(want.len() > 90 && h.b.law.count() as usize == want.len());
    assert!((want[3] - 328.4).abs() < 0.05 && (want[4] - 378.4).abs() < 0.05);
}

/// Section 5.5: leaving the state needs one packet below target, and the drops then depend on how long ago it was.
#[test]
fn reentry_remembers_the_rate() {
    for (pause_ms, first_count) in [(0, 26), (1400, 26), (1700, 1)] {
        let mut h = Head::new(&CodelParams::default());
        let n = h.signals(Dur::from_ms(20), Dur::from_ms(1001)).len();
        // The 28th drop is due after 1002.8 ms: 100 (1 + 1 + 1 / sqrt(2) + ... + 1 / sqrt(27)).
        assert_eq!((n, h.b.law.count()), (27, 27));
        assert_eq!(h.ask(Dur::from_ms(1)), Verdict::Pass);
        assert!(!h.b.law.dropping());
        h.now += Dur::from_ms(pause_ms);
        let again = h.signals(Dur::from_ms(20), Dur::from_ms(100) + STEP);
        assert_near(&again, &[100.0], 0.011);
        // lastcount was 1 when the state was entered, so the count resumes at 27 - 1.
        assert_eq!(h.b.law.count(), first_count, "{pause_ms}");
        let next = h.signals(Dur::from_ms(20), Dur::from_ms(101));
        assert!((next[0] - 100.0 / f64::from(first_count).sqrt()).abs() < 0.021, "{pause_ms} {next:?}");
    }
}

/// The packet after the drop that enters the state is sent, whatever it waited.
#[test]
fn entering_drops_exactly_one() {
    let mut h = Head::new(&CodelParams::default());
    assert_eq!(h.ask(Dur::from_ms(500)), Verdict::Pass);
    h.now += Dur::from_ms(500);
    assert_eq!(h.ask(Dur::from_ms(500)), Verdict::Drop(DropReason::Head));
    assert_eq!(h.ask(Dur::from_ms(500)), Verdict::Pass);
    // Later, all drops that are overdue are made at once: at 0, 100, 170.7 ms after the first.
    h.now += Dur::from_ms(171);
    assert_eq!(h.ask(Dur::from_ms(500)), Verdict::Drop(DropReason::Head));
    assert_eq!(h.ask(Dur::from_ms(500)), Verdict::Drop(DropReason::Head));
    assert_eq!(h.ask(Dur::from_ms(500)), Verdict::Pass);
}

/// Section 5.4: with a packet or less behind, and with one moment below target, the interval starts again.
#[test]
fn short_queues_and_short_bursts_pass() {
    let mut h = Head::new(&CodelParams::default());
    h.b.enqueue(&pkt(1000, 0, Ecn::NotEct, h.now), h.now, 0);
    h.behind = 1000;
    assert!(h.signals(Dur::from_ms(50), Dur::from_ms(300)).is_empty());
    h.behind = 1001;
    assert!(h.signals(Dur::from_ms(50), Dur::from_ms(99)).is_empty());
    assert_eq!(h.ask(Dur::from_us(4999)), Verdict::Pass);
    assert!(h.signals(Dur::from_ms(50), Dur::from_ms(99)).is_empty());
    assert_eq!(h.signals(Dur::from_ms(50), Dur::from_ms(2)).len(), 1);
}

/// With 1500 B behind the packet Linux sends and ns-3 drops: one compares with the largest packet by <=, the other by <.
#[test]
fn dialects_differ_in_the_last_packet() {
    for (preset, drops) in [("linux", 0), ("ns3", 1)] {
        let values = CodelParams::PRESETS.iter().find(|p| p.name == preset).unwrap().values;
        let mut h = Head::new(&serde_json::from_str(values).unwrap());
        h.behind = 1500;
        assert_eq!(h.signals(Dur::from_ms(50), Dur::from_ms(150)).len(), drops, "{preset}");
    }
}

/// Newton's method keeps the schedule within a few per cent; its first steps from 1 are 1, 0.75 of..., known from x (3 - n x^2) / 2.
#[test]
fn newton_approaches_the_square_root() {
    let mut c =
        Codel::new(&CodelParams { finer: CodelFiner { inv_sqrt: InvSqrt::Newton, ..CodelFiner::default() }, ..CodelParams::default() });
    let mut x = 1.0_f64;
    for n in 2..=400_u32 {
        c.count = n;
        c.newton_step();
        x = x * (3.0 - f64::from(n) * x * x) / 2.0;
        let got = f64::from(c.inv_sqrt) / 65_536.0;
        assert!((got - x).abs() < 2e-3, "{n}: {got} {x}");
        if n > 6 {
            assert!((got * f64::from(n).sqrt() - 1.0).abs() < 0.03, "{n}: {got}");
        }
    }
    let exact = Head::new(&CodelParams::default()).signals(Dur::from_ms(20), Dur::from_secs(2)).len();
    let p = CodelParams { finer: CodelFiner { inv_sqrt: InvSqrt::Newton, ..CodelFiner::default() }, ..CodelParams::default() };
    let newton = Head::new(&p).signals(Dur::from_ms(20), Dur::from_secs(2)).len();
    assert!(newton.abs_diff(exact) < exact / 20, "{newton} {exact}");
}

/// Marks come where drops would, one for each, and only on packets that can carry them.
#[test]
fn marks_keep_the_schedule() {
    let mut h = Head::new(&CodelParams { ecn: true, ..CodelParams::default() });
    h.ecn = Ecn::Ect0;
    let marks = h.signals(Dur::from_ms(20), Dur::from_ms(700));
    let want: Vec<f64> = schedule(100).into_iter().take_while(|&t| t < 700.0).collect();
    assert_near(&marks, &want, 0.011);
    h.ecn = Ecn::NotEct;
    h.now += Dur::from_ms(100);
    assert_eq!(h.ask(Dur::from_ms(20)), Verdict::Drop(DropReason::Head));
}

#[test]
fn ce_threshold_marks_at_once() {
    let mut h = Head::new(&CodelParams {
        finer: CodelFiner { ce_threshold: Some(Dur::from_ms(1)), ..CodelFiner::default() },
        ..CodelParams::default()
    });
    assert_eq!(h.ask(Dur::from_ms(2)), Verdict::Pass);
    h.ecn = Ecn::Ect1;
    assert_eq!(h.ask(Dur::from_ms(1)), Verdict::Pass);
    assert_eq!(h.ask(Dur::from_us(1001)), Verdict::Mark);
}

#[test]
fn impossible_times_are_refused() {
    let p = CodelParams { times: CodelTimes { target: Dur::from_ms(100), ..CodelTimes::default() }, ..CodelParams::default() };
    let site = fairlane_net::LinkInfo { rate: fairlane_units::Rate::from_mbps(1), delay: Dur::ZERO }.into();
    assert_eq!(p.check(&site).unwrap_err().field, "target");
    assert!(CodelParams::default().check(&site).is_ok());
}
