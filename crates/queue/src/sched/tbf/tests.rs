use super::*;
use crate::law::droptail::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, us};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, Rules, check};
use fairlane_units::Dur;
use proptest::prelude::*;

type Params = TbfParams<DropTailParams>;

/// 1 Mbit/s: a byte takes 8 us; a bucket of 3000 bytes.
fn params() -> Params {
    Params { rate: Some(Rate::from_mbps(1)), burst: Bytes(3000), ..Params::default() }
}

/// Times at which packets leave that all came at time zero, on a link that takes no time.
fn departures(p: &Params, lens: &[u32]) -> Vec<Time> {
    let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
    for (id, &len) in lens.iter().enumerate() {
        desk.put(&mut q, us(0), pkt(id as u32, 0, len));
    }
    let mut times = vec![];
    while let Some(t) = q.ready_at() {
        if t > us(0) {
            assert_eq!(desk.get(&mut q, Time::from_ps(t.as_ps() - 1)), None, "a picosecond too early");
        }
        assert!(desk.get(&mut q, t).is_some(), "not at the time it said");
        times.push(t);
    }
    times
}

/// A full bucket of B bytes lets B bytes go at once; the packet that ends at byte n > B goes at (n - B) / r.
#[test]
fn a_burst_then_the_rate() {
    assert_eq!(departures(&params(), &[1000; 6]), [0, 0, 0, 8000, 16_000, 24_000].map(us));
    assert_eq!(departures(&params(), &[1500, 100, 1500, 40]), [0, 0, 100 * 8, 140 * 8].map(us));
    // 3 Mbit/s: 8000/3 us a packet, rounded up to the picosecond, and never a picosecond lost on the way.
    let p = Params { rate: Some(Rate::from_mbps(3)), burst: Bytes(1500), ..params() };
    let exact = |k: u64| Time::from_ps((((k + 1) * 1000).saturating_sub(1500) * 8_000_000).div_ceil(3));
    assert_eq!(departures(&p, &[1000; 50]), (0..50).map(exact).collect::<Vec<_>>());
}

/// The second bucket spaces the burst: at 4 Mbit/s a packet of 1000 bytes every 2 ms, until the first bucket is empty.
#[test]
fn the_peak_rate_spaces_the_burst() {
    let p = Params { peakrate: Some(Rate::from_mbps(4)), mtu: Bytes(1000), ..params() };
    // The first bucket gains 250 bytes in each 2 ms: 3000, 2250, 1500, 750 after the fourth packet is 0 short of nothing.
    assert_eq!(departures(&p, &[1000; 7]), [0, 2000, 4000, 8000, 16_000, 24_000, 32_000].map(us));
}

#[test]
fn tokens_are_kept_up_to_the_depth() {
    let (mut q, mut desk) = (params().build(&link().into()), Desk::new());
    for t in [0, 1_000_000] {
        (0..4).for_each(|i| desk.put(&mut q, us(t), pkt(i, 0, 1000)));
        assert_eq!(desk.flows(&mut q, us(t), 9).len(), 3);
        assert_eq!(q.ready_at(), Some(us(t + 8000)));
        assert_eq!(desk.flows(&mut q, us(t + 8000), 9).len(), 1);
    }
}

#[test]
fn what_can_never_be_sent_is_dropped() {
    let (mut q, mut desk) = (Params { limit: Some(Len::Bytes(5000)), ..params() }.build(&link().into()), Desk::new());
    for (id, len) in [3001, 3000, 2001, 2000].into_iter().enumerate() {
        desk.put(&mut q, us(0), pkt(id as u32, 0, len));
    }
    assert_eq!((desk.dropped(), q.backlog()), (vec![0, 2], Backlog { pkts: 2, bytes: 5000 }));
    let p = Params { peakrate: Some(Rate::from_mbps(2)), mtu: Bytes(1500), ..params() };
    desk.put(&mut p.build(&link().into()), us(0), pkt(9, 0, 1501));
    assert_eq!(desk.dropped(), [0, 2, 9]);
}

#[test]
fn problems_say_where() {
    let field = |p: Params| p.check(&link().into()).unwrap_err().field;
    assert_eq!(field(Params { burst: Bytes(0), ..params() }), "burst");
    assert_eq!(field(Params { peakrate: Some(Rate::from_bps(999_999)), ..params() }), "peakrate");
    assert_eq!(field(Params { limit: Some(Len::Packets(0)), ..params() }), "limit");
    let queue = Box::new(DropTailParams { limit: Len::Packets(0), ..DropTailParams::default() });
    assert_eq!(field(Params { queue, ..params() }), "queue.limit");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// The token bucket's definition (RFC 2215 section 3.2): over every window of length T at most r T + b bytes, for both buckets.
    #[test]
    fn every_window_conforms(
        seed: u64, us in 200_u64..3000, rate in 100_000_u64..9_000_000, burst in 1500_u64..20_000, more in 0_u64..9_000_000, mtu in 1500_u64..5000,
    ) {
        let (cir, pir) = (Rate::from_bps(rate), Rate::from_bps(rate + more));
        let p = Params { rate: Some(cir), burst: Bytes(burst), peakrate: Some(pir), mtu: Bytes(mtu), ..Params::default() };
        let load = Load { packets: 1000, flows: 5, lens: &[40, 576, 1500], ect: 0.5, mean_gap: Dur::from_us(us) }.draw(seed);
        let rules = Rules { work_conserving: false, marks: false, ..Rules::default() };
        let out = check(&p.build(&link().into()), link(), &load, &rules).map_err(TestCaseError::fail)?;
        prop_assert!(out.sent.len() > 100);
        for (rate, depth) in [(cir, burst), (pir, mtu)] {
            let in_ps = |bytes: u64| u128::from(bytes) * 8_000_000_000_000;
            // The largest excess of bytes over tokens that any window ending here has.
            let (mut excess, mut last) = (0_i128, out.sent[0].1);
            for &(id, at) in &out.sent {
                let tokens = u128::from((at - last).as_ps()) * u128::from(rate.as_bps());
                excess = (excess - tokens as i128).max(0) + in_ps(u64::from(load[id as usize].len)) as i128;
                prop_assert!(excess <= in_ps(depth) as i128, "{} bytes too many", (excess - in_ps(depth) as i128) / 8_000_000_000_000);
                last = at;
            }
        }
    }
}

/// psched_l2t_ns: 1000 bytes are 1044 with the overhead of a line, 22 cells of ATM, 1166 bytes; 40 bytes are the least length.
#[test]
fn tokens_count_the_link_layer() {
    use crate::{LinkLayer, LinkLayerKind};
    let atm = LinkLayer { overhead: Bytes(44), linklayer: LinkLayerKind::Atm, ..LinkLayer::default() };
    let p = Params { burst: Bytes(1166), link_layer: atm.clone(), ..params() };
    assert_eq!(departures(&p, &[1000; 3]), [0, 1166 * 8, 2 * 1166 * 8].map(us));
    let least = LinkLayer { overhead: Bytes(4), mpu: Bytes(64), ..LinkLayer::default() };
    let p = Params { burst: Bytes(64), link_layer: least.clone(), ..params() };
    assert_eq!(departures(&p, &[40, 60, 40]), [0, 64 * 8, 2 * 64 * 8].map(us));
    // A bucket of 1165 bytes never holds 22 cells, and one below the least length lets nothing pass.
    let (mut q, mut desk) = (Params { burst: Bytes(1165), link_layer: atm, ..params() }.build(&link().into()), Desk::new());
    desk.put(&mut q, us(0), pkt(7, 0, 1000));
    assert_eq!(desk.dropped(), [7]);
    assert_eq!(Params { burst: Bytes(63), link_layer: least, ..params() }.check(&link().into()).unwrap_err().field, "burst");
}
