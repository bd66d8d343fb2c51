//! Bounds of fair queueing from theory, compared with a fluid server simulated on its own: rates, not virtual time.

use fairlane_engine::Stream;
use fairlane_net::{Ecn, LinkInfo};
use fairlane_queue::{Discipline, DropTailParams, WeightedParams, Wf2qParams, WfqClock, WfqParams};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Arrival, Outcome, Rules, check};
use fairlane_units::{Dur, Len, Rate, Time};
use proptest::prelude::*;

/// Weights of four classes; their sum is 20.
const WEIGHTS: [u32; 4] = [10, 5, 4, 1];
const SUM: f64 = 20.0;
const LONGEST: f64 = 1500.0;
/// Bytes a second of a link of 10 Mbit/s.
const C: f64 = 1_250_000.0;
/// Rounding error of times, in seconds.
const EPS: f64 = 1e-8;

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
}

fn classes(weights: &[u32]) -> Vec<WeightedParams<DropTailParams>> {
    let queue = DropTailParams { limit: Len::Packets(1_000_000), ..DropTailParams::default() };
    let class = |(i, &weight)| WeightedParams { select: format!("dscp:{i}").as_str().into(), queue: queue.clone(), weight };
    weights.iter().enumerate().map(class).collect()
}

fn arrival(gap: Dur, class: u32, len: u32) -> Arrival {
    Arrival { gap, flow: class, len, class: class as u8, ecn: Ecn::NotEct }
}

/// Bursts of one class after the other, of `load` times the link's rate in the mean.
fn bursts(seed: u64, load: f64) -> Vec<Arrival> {
    let mut rng = Stream::new(seed, "test", "bursts", "arrivals");
    let mut all = vec![];
    while all.len() < 2000 {
        let (class, n) = (rng.below(4) as u32, 1 + rng.below(12));
        let mut bytes = 0;
        for _ in 0..n {
            let len = [40, 300, 576, 1500][rng.below(4) as usize];
            bytes += u64::from(len);
            all.push(arrival(Dur::from_ns(rng.below(20_000)), class, len));
        }
        let mean = Dur::from_secs_f64(bytes as f64 / C / load);
        all.last_mut().unwrap().gap = rng.exponential(mean);
    }
    all
}

/// Times of arrival in seconds.
fn times(arrivals: &[Arrival]) -> Vec<f64> {
    let sum = arrivals.iter().scan(Time::ZERO, |t, a| {
        *t += a.gap;
        Some(t.as_secs_f64())
    });
    sum.collect()
}

/// When each packet has left the queue and the link.
fn departures(out: &Outcome, arrivals: &[Arrival]) -> Vec<f64> {
    assert_eq!(out.sent.len(), arrivals.len());
    let mut at = vec![0.0; arrivals.len()];
    for &(id, start) in &out.sent {
        at[id as usize] = start.as_secs_f64() + f64::from(arrivals[id as usize].len) / C;
    }
    at
}

/// Generalized processor sharing (Parekh and Gallager 1993): at every instant each class that has something to send gets its weight's
/// share of the link. Returns when each packet's last bit has been served.
fn fluid(arrivals: &[Arrival]) -> Vec<f64> {
    let when = times(arrivals);
    let mut done = vec![f64::NAN; arrivals.len()];
    // Bytes left of each packet in each class, in order.
    let mut left: [std::collections::VecDeque<(usize, f64)>; 4] = Default::default();
    let mut now = 0.0;
    let mut next = 0;
    loop {
        let busy: f64 = (0..4).filter(|&i| !left[i].is_empty()).map(|i| f64::from(WEIGHTS[i])).sum();
        let rate = |i: usize| C * f64::from(WEIGHTS[i]) / busy;
        let head = (0..4).filter_map(|i| left[i].front().map(|h| (h.1 / rate(i), i))).min_by(|a, b| a.0.total_cmp(&b.0));
        let arrives = when.get(next).map(|t| t - now);
        let (step, ends) = match (head, arrives) {
            (Some((t, i)), Some(a)) if t <= a => (t, Some(i)),
            (_, Some(a)) => (a, None),
            (Some((t, i)), None) => (t, Some(i)),
            (None, None) => return done,
        };
        for (i, queue) in left.iter_mut().enumerate() {
            if let Some(h) = queue.front_mut() {
                h.1 -= rate(i) * step;
            }
        }
        now += step;
        match ends {
            Some(i) => done[left[i].pop_front().unwrap().0] = now,
            None => {
                now = when[next];
                left[arrivals[next].flow as usize].push_back((next, f64::from(arrivals[next].len)));
                next += 1;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// Parekh and Gallager 1993, theorem 1: no packet leaves later than under the fluid server by more than the longest packet's time.
    #[test]
    fn wfq_is_at_most_a_packet_behind_the_fluid_server(seed: u64, load in 0.5_f64..1.5) {
        let arrivals = bursts(seed, load);
        let q = WfqParams { classes: classes(&WEIGHTS), ..WfqParams::default() }.build(&link().into());
        let out = check(&q, link(), &arrivals, &Rules::default()).map_err(TestCaseError::fail)?;
        for (k, (ours, ideal)) in departures(&out, &arrivals).into_iter().zip(fluid(&arrivals)).enumerate() {
            prop_assert!(ours <= ideal + LONGEST / C + EPS, "packet {k} left at {ours}, the fluid server's at {ideal}");
        }
    }

    /// Bennett and Zhang 1997: the worst-case fair index of WF2Q+ is L_i + (L - L_i) r_i / r. A packet that finds q bytes of its class, itself
    /// among them, has left within (q + index) / r_i, whatever the other classes do.
    #[test]
    fn wf2q_keeps_its_worst_case_fair_index(seed: u64, load in 0.5_f64..1.5) {
        let arrivals = bursts(seed, load);
        let q = Wf2qParams { classes: classes(&WEIGHTS), ..Wf2qParams::default() }.build(&link().into());
        let out = check(&q, link(), &arrivals, &Rules::default()).map_err(TestCaseError::fail)?;
        let excess = worst_excess(&WEIGHTS, &arrivals, &departures(&out, &arrivals));
        prop_assert!(excess <= EPS, "{excess} s beyond the bound");
    }

    /// WF2Q's paper: a class that keeps to a bucket of depth s at its rate is delayed by at most s / r_i + L / r.
    #[test]
    fn wf2q_delays_a_class_within_its_bucket_by_at_most_the_bound(seed: u64, class in 0_u32..4, depth in 1500_u32..6000, load in 0.5_f64..2.0) {
        let rate = C * f64::from(WEIGHTS[class as usize]) / SUM;
        let mut rng = Stream::new(seed, "test", "bucket", "arrivals");
        // The others' bursts, and packets of 500 bytes as early as the bucket allows, with rests that let it fill.
        let others = bursts(seed, load).into_iter().map(|a| arrival(a.gap, (class + 1 + a.flow % 3) % 4, a.len)).collect::<Vec<_>>();
        let mut all: Vec<(f64, u32, u32)> = times(&others).iter().zip(&others).map(|(&t, a)| (t, a.flow, a.len)).collect();
        let end = all.last().unwrap().0;
        let (mut t, mut level) = (0.0, f64::from(depth));
        while t < end {
            let rest = if rng.uniform() < 0.1 { rng.uniform() * f64::from(depth) / rate } else { 0.0 };
            let wait = (500.0 - level).max(0.0) / rate;
            level = (level + (wait + rest) * rate).min(f64::from(depth)) - 500.0;
            // A nanosecond late each, so that rounding never makes it early.
            t += wait + rest + 1e-9;
            all.push((t, class, 500));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut last = Dur::ZERO;
        let arrivals: Vec<Arrival> = all.iter().map(|&(t, flow, len)| {
            let at = Dur::from_secs_f64(t);
            arrival(at.saturating_sub(std::mem::replace(&mut last, at)), flow, len)
        }).collect();
        let q = Wf2qParams { classes: classes(&WEIGHTS), ..Wf2qParams::default() }.build(&link().into());
        let out = check(&q, link(), &arrivals, &Rules::default()).map_err(TestCaseError::fail)?;
        let bound = f64::from(depth) / rate + LONGEST / C;
        let when = times(&arrivals);
        for (k, left) in departures(&out, &arrivals).into_iter().enumerate().filter(|&(k, _)| arrivals[k].flow == class) {
            prop_assert!(left - when[k] <= bound + EPS, "delayed by {} s, bound {bound}", left - when[k]);
        }
    }
}

/// How far the slowest packet is beyond what the worst-case fair index allows.
fn worst_excess(weights: &[u32], arrivals: &[Arrival], left: &[f64]) -> f64 {
    let when = times(arrivals);
    let mut worst = f64::MIN;
    for (i, &w) in (0..).zip(weights) {
        let rate = C * f64::from(w) / SUM;
        let mine: Vec<usize> = (0..arrivals.len()).filter(|&k| arrivals[k].flow == i).collect();
        let longest = mine.iter().map(|&k| f64::from(arrivals[k].len)).fold(0.0, f64::max);
        let index = longest + (LONGEST - longest) * rate / C;
        for (n, &k) in mine.iter().enumerate() {
            let queued: f64 = mine[..=n].iter().rev().take_while(|&&j| left[j] > when[k]).map(|&j| f64::from(arrivals[j].len)).sum();
            worst = worst.max(left[k] - when[k] - (queued + index) / rate);
        }
    }
    worst
}

/// Bennett and Zhang 1996: WFQ may serve a class ahead and then make it wait. Ten packets of the first class go first; one that
/// comes afterwards waits for all the others, far beyond the index that WF2Q+ keeps.
#[test]
fn wfq_has_no_such_index() {
    let mut weights = vec![10];
    weights.extend([1; 10]);
    let mut arrivals = vec![arrival(Dur::ZERO, 0, 1500); 11];
    arrivals.extend((1..=10).map(|class| arrival(Dur::ZERO, class, 1500)));
    // Ten packets take 12 ms.
    arrivals.push(arrival(Dur::from_us(11_500), 0, 1500));
    let excess = |out: Outcome| worst_excess(&weights, &arrivals, &departures(&out, &arrivals));
    for clock in [WfqClock::Gps, WfqClock::Scfq] {
        let wfq = WfqParams { classes: classes(&weights), clock, ..WfqParams::default() }.build(&link().into());
        assert!(excess(check(&wfq, link(), &arrivals, &Rules::default()).unwrap()) > 0.005);
    }
    let wf2q = Wf2qParams { classes: classes(&weights), ..Wf2qParams::default() }.build(&link().into());
    assert!(excess(check(&wf2q, link(), &arrivals, &Rules::default()).unwrap()) <= EPS);
}
