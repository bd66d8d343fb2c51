use super::*;
use crate::law::testing::{Bench, pkt};
use fairlane_net::Ecn;

const STEP: Dur = Dur::from_us(10);

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
}

struct Head {
    b: Bench<Cobalt>,
    now: Time,
    ecn: Ecn,
}

impl Head {
    /// After 200 ms of packets that hardly waited.
    fn new(p: &CobaltParams) -> Self {
        let mut h = Self { b: Bench::new(Cobalt::new(p, link()), 1), now: Time::ZERO + Dur::from_secs(10), ecn: Ecn::NotEct };
        assert!(h.signals(Dur::from_ms(1), Dur::from_ms(200)).is_empty());
        h
    }
    fn ask(&mut self, sojourn: Dur) -> Verdict {
        let at = Time::from_ps(self.now.as_ps() - sojourn.as_ps());
        self.b.dequeue(&pkt(1000, 0, self.ecn, at), self.now, 30_000)
    }
    /// Times, in ms from the start, of the packets that go while all wait for `sojourn`, one every 10 us.
    fn signals(&mut self, sojourn: Dur, span: Dur) -> Vec<f64> {
        let (start, mut out) = (self.now, vec![]);
        while self.now < start + span {
            if self.ask(sojourn) != Verdict::Pass {
                out.push((self.now - start).as_secs_f64() * 1e3);
            }
            self.now += STEP;
        }
        out
    }
    /// Times, in ms, at which the count changes while nothing waits for long.
    fn changes(&mut self, span: Dur) -> Vec<(f64, u32)> {
        let (start, mut out) = (self.now, vec![]);
        while self.now < start + span {
            let before = self.b.law.count();
            assert_eq!(self.ask(Dur::from_ms(1)), Verdict::Pass);
            if self.b.law.count() != before {
                out.push(((self.now - start).as_secs_f64() * 1e3, self.b.law.count()));
            }
            self.now += STEP;
        }
        out
    }
}

/// The first signal after an interval, then gaps of interval / sqrt(2), / sqrt(3)...: the count is raised before the next time is set.
#[test]
fn signals_follow_the_inverse_square_root() {
    let mut h = Head::new(&CobaltParams::default());
    let got = h.signals(Dur::from_ms(20), Dur::from_ms(1000));
    let (mut want, mut t) = (vec![], 100.0);
    for n in 2..100 {
        want.push(t);
        t += 100.0 / f64::from(n).sqrt();
    }
    want.retain(|&t| t < 1000.0);
    assert_eq!(got.len(), want.len());
    assert!(got.iter().zip(&want).all(|(g, w)| (g - w).abs() < 0.011), "{got:?} {want:?}");
    assert!((want[2] - 228.4).abs() < 0.05);
}

/// Once the delay is below target the count runs down by the same rule; CoDel would keep it and forget it all at once.
#[test]
fn count_runs_backwards() {
    let mut h = Head::new(&CobaltParams::default());
    let up = h.signals(Dur::from_ms(20), Dur::from_ms(500)).len() as u32;
    let top = h.b.law.count();
    assert_eq!(top, up + 1);
    let down = h.changes(Dur::from_secs(2));
    assert_eq!(down.iter().map(|c| c.1).collect::<Vec<_>>(), (0..top).rev().collect::<Vec<_>>());
    for w in down.windows(2).take(top as usize - 1) {
        let gap = w[1].0 - w[0].0;
        assert!((gap - 100.0 / f64::from(w[0].1.max(1)).sqrt()).abs() < 0.021, "{w:?}");
    }
    // A delay that returns while the count is at 4 meets signals every interval / sqrt(4).
    let mut h = Head::new(&CobaltParams::default());
    h.signals(Dur::from_ms(20), Dur::from_ms(500));
    while h.b.law.count() > 4 {
        assert_eq!(h.ask(Dur::from_ms(1)), Verdict::Pass);
        h.now += STEP;
    }
    let again = h.signals(Dur::from_ms(20), Dur::from_ms(60));
    assert!(again.len() == 1 && (again[0] - 50.0).abs() < 0.03, "{again:?}");
}

/// BLUE: an overflow adds 1/256, an empty queue takes 1/4096, each at most once in `target`.
#[test]
fn blue_learns_from_overflow_and_idleness() {
    let mut h = Head::new(&CobaltParams::default());
    let p = pkt(1000, 0, Ecn::NotEct, h.now);
    for n in 0..100 {
        h.b.overflow(&p, h.now + Dur::from_ms(n), 50_000);
    }
    // At 0, 6, 12 ... 96 ms: more than 5 ms must have passed.
    assert_eq!(h.b.law.p_drop(), 17.0 / 256.0);
    let mut now = h.now + Dur::from_ms(100);
    for n in 1..=16 {
        now += Dur::from_ms(6);
        h.b.law.on_empty(now);
        h.b.law.on_empty(now + Dur::from_ms(5));
        assert_eq!(h.b.law.p_drop(), 17.0 / 256.0 - f64::from(n) / 4096.0);
    }
    // 16.. of 256: a sixteenth of the packets is lost, capable of ECN or not, though the delay is short.
    h.ecn = Ecn::Ect0;
    h.now = now;
    let lost = h.signals(Dur::from_ms(1), Dur::from_ms(500)).len() as f64 / 50_000.0;
    assert!((lost - 1.0 / 16.0).abs() < 0.004, "{lost}");
}

/// A link that falls idle after the last packet has found the queue empty; one that is still sending it has not.
#[test]
fn idleness_is_reckoned_from_the_last_departure() {
    for (gap_us, decrements) in [(799, 0.0), (801, 1.0)] {
        let mut b = Bench::new(Cobalt::new(&CobaltParams::default(), link()), 1);
        let now = Time::ZERO + Dur::from_secs(1);
        let p = pkt(1000, 0, Ecn::NotEct, now);
        b.overflow(&p, now, 50_000);
        b.law.p_drop = 0.5;
        let later = now + Dur::from_ms(10);
        b.dequeue(&p, later, 0);
        b.enqueue(&p, later + Dur::from_us(gap_us), 0);
        assert_eq!(b.law.p_drop(), 0.5 - decrements / 4096.0);
    }
}

/// ns-3 lets BLUE act on delays, without any loss.
#[test]
fn ns3_has_a_delay_threshold_for_blue() {
    let ns3: CobaltParams = serde_json::from_str(CobaltParams::PRESETS[1].values).unwrap();
    for (p, wait_ms, grows) in [(&ns3, 401, true), (&ns3, 400, false), (&CobaltParams::default(), 401, false)] {
        let mut h = Head::new(p);
        h.signals(Dur::from_ms(wait_ms), Dur::from_ms(50));
        assert_eq!(h.b.law.p_drop() > 0.0, grows, "{wait_ms}");
    }
}

#[test]
fn marks_instead_of_drops() {
    let mut h = Head::new(&CobaltParams::default());
    h.ecn = Ecn::Ect0;
    h.signals(Dur::from_ms(20), Dur::from_ms(100));
    assert_eq!(h.ask(Dur::from_ms(20)), Verdict::Mark);
    h.now += Dur::from_ms(71);
    h.ecn = Ecn::NotEct;
    assert_eq!(h.ask(Dur::from_ms(20)), Verdict::Drop(DropReason::Head));
}

/// sch_cake in egress mode: at 1 Mbit/s four packets of 1514 bytes take 48.4 ms, however many flows share the link.
#[test]
fn slow_links_are_guarded() {
    let cake: CobaltParams = serde_json::from_str(CobaltParams::PRESETS[0].values).unwrap();
    let mut c = Cobalt::new(&cake, LinkInfo { rate: Rate::from_mbps(1), delay: Dur::ZERO });
    let mut over = |ms| {
        c.sojourn = Dur::from_ms(ms);
        c.codel(Time::ZERO + Dur::from_secs(1));
        c.dropping
    };
    assert!(!over(48) && over(49));
}

/// sch_cake: the last packet of a queue may be marked and is never dropped, neither by CoDel's half nor by BLUE. As presets say, sch_cake has this rule and ns-3 has not.
#[test]
fn the_last_packet_is_spared() {
    for (preset, spares) in CobaltParams::PRESETS.iter().zip([true, false]) {
        let p: CobaltParams = serde_json::from_str(preset.values).unwrap();
        let mut b = Bench::new(Cobalt::new(&p, link()), 1);
        let mut last = |ecn, now: Time, p_drop| {
            b.law.p_drop = p_drop;
            b.dequeue(&pkt(1000, 0, ecn, Time::from_ps(now.as_ps() - Dur::from_ms(20).as_ps())), now, 0)
        };
        let ms = |n: u64| Time::ZERO + Dur::from_ms(1000 + n);
        assert_eq!(last(Ecn::NotEct, ms(0), 0.0), Verdict::Pass);
        let (codel, blue) =
            if spares { (Verdict::Pass, Verdict::Pass) } else { (Verdict::Drop(DropReason::Head), Verdict::Drop(DropReason::Early)) };
        assert_eq!(last(Ecn::NotEct, ms(100), 0.0), codel);
        assert_eq!(last(Ecn::NotEct, ms(101), 1.0), blue);
        // 100 ms / sqrt(2) after the first signal, the second is due.
        assert_eq!(last(Ecn::Ect0, ms(171), 0.0) == Verdict::Mark, p.ecn);
    }
}

#[test]
fn impossible_values_are_refused() {
    for (p, field) in [
        (CobaltParams { target: Dur::from_ms(100), ..CobaltParams::default() }, "target"),
        (CobaltParams { increment: 1.5, ..CobaltParams::default() }, "increment"),
        (CobaltParams { limit: Len::Bytes(0), ..CobaltParams::default() }, "limit"),
    ] {
        assert_eq!(p.check(&link().into()).unwrap_err().field, field);
    }
    assert!(CobaltParams::default().check(&link().into()).is_ok());
}
