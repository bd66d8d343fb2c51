use super::*;
use crate::sched::hash::tests::{flows, pkt};
use crate::sched::testing::cbr_wait;
use fairlane_engine::Stream;
use fairlane_net::{Class, DropReason, Ecn};

const LINK: LinkInfo = LinkInfo { rate: Rate::from_mbps(100), delay: Dur::ZERO };

/// CAKE with times so long that COBALT stays out of the way.
fn calm() -> CakeParams {
    CakeParams { rtt: Dur::from_secs(100), limit: Some(Len::Packets(1_000_000)), salt: Some(1), ..CakeParams::default() }
}

fn at<R>(now: Time, f: impl FnOnce(&mut QCx<'_>) -> R) -> (R, Vec<(u32, DropReason)>) {
    let (mut rng, mut drops) = (Stream::new(1, "port", "cake", "aqm"), vec![]);
    let r = f(&mut QCx { now, rng: &mut rng, drops: &mut drops, marks: 0 });
    (r, drops.into_iter().map(|(p, why)| (p.id.0, why)).collect())
}

/// Bytes served to each source address while every flow has packets waiting; flow i goes from `ends[i][0]` to `ends[i][1]`.
fn served(isolation: CakeIsolation, ends: &[[u32; 2]], by: usize) -> Vec<u64> {
    let flows = flows(ends);
    let context = BuildContext { link: LINK, flows: &flows };
    let mut q = CakeParams { isolation, ..calm() }.build(&context);
    let n = ends.len() as u32;
    at(Time::ZERO, |cx| (0..n * 600).for_each(|id| q.enqueue(pkt(id, id % n, 1000 + 100 * (id % n % 5)), cx)));
    let mut bytes = vec![0; 1 + ends.iter().map(|e| e[by]).max().unwrap_or(0) as usize];
    for _ in 0..600 {
        if let Some(p) = at(Time::ZERO, |cx| q.dequeue(cx)).0 {
            bytes[ends[p.flow.0 as usize][by] as usize] += u64::from(p.len);
        }
    }
    bytes
}

/// Share of the first in all.
fn part(bytes: &[u64], i: usize) -> f64 {
    bytes[i] as f64 / bytes.iter().sum::<u64>() as f64
}

/// "Piece of CAKE", section III.C: hosts share evenly, however many flows each has; without host isolation flows do.
#[test]
fn hosts_get_equal_shares() {
    // Host 0 has one flow to 5, host 1 has nine to 6.
    let ends: Vec<_> = std::iter::once([0, 5]).chain((0..9).map(|_| [1, 6])).collect();
    for (isolation, share) in [
        (CakeIsolation::Flows, 0.1),
        (CakeIsolation::DualSrchost, 0.5),
        (CakeIsolation::DualDsthost, 0.5),
        (CakeIsolation::TripleIsolate, 0.5),
        (CakeIsolation::Srchost, 0.5),
        (CakeIsolation::Hosts, 0.5),
        (CakeIsolation::Flowblind, 0.1),
    ] {
        let bytes = served(isolation, &ends, 0);
        assert!((part(&bytes, 0) - share).abs() < 0.025, "{isolation:?}: {bytes:?}");
    }
}

/// Nine sources that send to one destination: they count as one host only where destinations count.
#[test]
fn isolation_counts_its_own_side() {
    let ends: Vec<_> = std::iter::once([0, 20]).chain((0..9).map(|i| [1 + i, 21])).collect();
    for (isolation, share) in [
        (CakeIsolation::DualSrchost, 0.1),
        (CakeIsolation::Srchost, 0.1),
        (CakeIsolation::DualDsthost, 0.5),
        (CakeIsolation::Dsthost, 0.5),
        (CakeIsolation::TripleIsolate, 0.5),
    ] {
        let bytes = served(isolation, &ends, 0);
        assert!((part(&bytes, 0) - share).abs() < 0.025, "{isolation:?}: {bytes:?}");
    }
}

/// Bytes of each class served in about `secs`, all classes always having packets waiting.
fn by_class(p: &CakeParams, classes: &[u8], secs: f64) -> Vec<f64> {
    let mut q = p.build(&LINK.into());
    let n = classes.len() as u32;
    at(Time::ZERO, |cx| {
        for id in 0..n * 9000 {
            q.enqueue(Packet { class: Class(classes[(id % n) as usize]), ..pkt(id, id % n, 1000) }, cx);
        }
    });
    let (mut now, mut bytes) = (Time::ZERO, vec![0.0; classes.len()]);
    while now < Time::ZERO + Dur::from_secs_f64(secs) {
        if let Some(p) = at(now, |cx| q.dequeue(cx)).0 {
            bytes[p.flow.0 as usize] += f64::from(p.len);
            now += LINK.rate.tx_time(u64::from(p.len));
        }
        now = now.max(q.ready_at().unwrap_or(now));
    }
    let sum: f64 = bytes.iter().sum();
    bytes.iter().map(|b| b / sum).collect()
}

/// tc-cake(8): a tin goes first up to its threshold, and no further while others wait. Bulk (CS1) has 1/16, voice (EF) 1/4.
#[test]
fn tins_go_first_up_to_their_thresholds() {
    let p = CakeParams { bandwidth: Some(Rate::from_mbps(10)), ..calm() };
    let close = |got: Vec<f64>, want: &[f64]| {
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 0.01), "{got:?} against {want:?}");
    };
    close(by_class(&p, &[0, 8, 46], 2.0), &[11.0 / 16.0, 1.0 / 16.0, 1.0 / 4.0]);
    close(by_class(&p, &[0, 46], 2.0), &[0.75, 0.25]);
    let four = CakeParams { tins: CakeTins::Diffserv4, ..p.clone() };
    close(by_class(&four, &[0, 8, 34, 46], 2.0), &[3.0 / 16.0, 1.0 / 16.0, 1.0 / 2.0, 1.0 / 4.0]);
    close(by_class(&CakeParams { tins: CakeTins::Besteffort, ..p }, &[0, 46], 2.0), &[0.5, 0.5]);
    // Without a rate the tins' quanta decide: 1024, 64 and 256.
    close(by_class(&calm(), &[0, 8, 46], 0.6), &[1024.0 / 1344.0, 64.0 / 1344.0, 256.0 / 1344.0]);
}

/// The shaper holds its rate to the byte, whatever the link layer makes of the packets: with 44 bytes of overhead 1000 bytes are 22 cells
/// of 53 bytes, 1166 bytes; over PTM they are 1044 and a byte for each of 17 blocks of 64.
#[test]
fn shaper_counts_what_the_link_layer_adds() {
    for (framing, overhead, mpu, on_wire) in [
        (CakeFraming::None, 0, 0, 1000),
        (CakeFraming::None, 44, 0, 1044),
        (CakeFraming::Atm, 44, 0, 22 * 53),
        (CakeFraming::Ptm, 44, 0, 1044 + 17),
        (CakeFraming::None, 0, 200, 1000),
        (CakeFraming::None, 0, 256, 1000),
    ] {
        let p = CakeParams { bandwidth: Some(Rate::from_mbps(10)), overhead: Bytes(overhead), mpu: Bytes(mpu), framing, ..calm() };
        let mut q = p.build(&LINK.into());
        at(Time::ZERO, |cx| (0..101).for_each(|id| q.enqueue(pkt(id, id % 3, 1000), cx)));
        let (mut now, mut sent) = (Time::ZERO, 0);
        while at(now, |cx| q.dequeue(cx)).0.is_some() {
            sent += 1;
            now = q.ready_at().unwrap_or(now);
            // A moment before, it still waits.
            assert!(at(Time::from_ps(now.as_ps() - 1), |cx| q.dequeue(cx)).0.is_none());
        }
        assert_eq!(sent, 101);
        assert_eq!(now, Time::ZERO + Rate::from_mbps(10).tx_time(on_wire) * 101, "{framing:?}");
    }
    let small = CakeParams { mpu: Bytes(64), ..calm() };
    assert_eq!([40, 65].map(|len| small.wire().framed(len)), [64, 65]);
    // tc's negative overhead: 14 bytes of a header that the link does not carry, and mpu counts what is left.
    let less = CakeParams { uncounted: Bytes(14), mpu: Bytes(64), ..calm() };
    assert_eq!([1000, 70, 10].map(|len| less.wire().framed(len)), [986, 64, 64]);
}

/// Idle time brings no credit: after a pause the shaper does not send a burst.
#[test]
fn shaper_saves_nothing() {
    let mut q = CakeParams { bandwidth: Some(Rate::from_mbps(10)), ..calm() }.build(&LINK.into());
    let late = Time::ZERO + Dur::from_secs(5);
    at(late, |cx| (0..2).for_each(|id| q.enqueue(pkt(id, 0, 1000), cx)));
    assert!(at(late, |cx| q.dequeue(cx)).0.is_some());
    assert!(at(late, |cx| q.dequeue(cx)).0.is_none());
    assert_eq!(q.ready_at(), Some(late + Dur::from_us(800)));
}

/// A full buffer takes one packet from the head of the longest queue, whatever its tin, and the COBALT of that queue hears of it.
#[test]
fn overflow_takes_from_the_longest_queue() {
    let mut q = CakeParams { limit: Some(Len::Packets(20)), ..calm() }.build(&LINK.into());
    let voice = |id| Packet { class: Class(46), ecn: Ecn::Ect0, ..pkt(id, 1, 200) };
    let now = Time::ZERO + Dur::from_secs(500);
    let (_, drops) = at(now, |cx| {
        (0..16).for_each(|id| q.enqueue(voice(id), cx));
        (100..104).for_each(|id| q.enqueue(pkt(id, 0, 1000), cx));
        q.enqueue(pkt(200, 5, 40), cx);
    });
    // 4000 bytes against 3200.
    assert_eq!(drops, [(100, DropReason::Evicted)]);
    let (_, drops) = at(now, |cx| q.enqueue(pkt(201, 5, 40), cx));
    assert_eq!(drops, [(0, DropReason::Evicted)]);
    let p_drop = |tin: usize| q.tins[tin].queues.laws().map(Cobalt::p_drop).collect::<Vec<_>>();
    let step = CobaltParams::default().increment;
    assert_eq!((p_drop(0), p_drop(2)), (vec![step, 0.0], vec![step]));
}

/// sch_cake's times: 5 ms and 100 ms on a fast link; at 1 Mbit/s a frame of 1514 bytes takes 12.112 ms, so the target is 18.168 ms and the
/// interval 100 + 13.168 ms. Without a bandwidth it knows no rate, and a slow link has the times of a fast one and no guard of four frames.
#[test]
fn slow_links_have_longer_times() {
    let p = CakeParams::default();
    let fast = p.cobalt(Some(Rate::from_mbps(100)));
    assert_eq!((fast.target, fast.interval), (Dur::from_ms(5), Dur::from_ms(100)));
    let slow = p.cobalt(Some(Rate::from_mbps(1)));
    assert_eq!((slow.target, slow.interval), (Dur::from_us(18_168), Dur::from_us(113_168)));
    let unlimited = p.cobalt(None);
    assert_eq!((unlimited.target, unlimited.interval, unlimited.mtu), (Dur::from_ms(5), Dur::from_ms(100), None));
}

/// sch_cake's buffer: four round trips of the bandwidth, between 4 MiB and 10240 frames.
#[test]
fn the_automatic_limit_has_bounds() {
    let limit = |mbps: u64| CakeParams { bandwidth: Some(Rate::from_mbps(mbps)), ..CakeParams::default() }.limit();
    assert_eq!([10, 200, 10_000].map(limit), [Len::Bytes(4 << 20), Len::Bytes(10_000_000), Len::Bytes(10_240 * 1514)]);
}

/// Packets without bytes (an acknowledgment with `tcp.header = "0B"`) wait, leave and are dropped like others.
#[test]
fn packets_without_bytes_leave() {
    let mut q = CakeParams { limit: Some(Len::Packets(4)), ..calm() }.build(&LINK.into());
    let voice = |id| Packet { class: Class(46), ..pkt(id, 1, 0) };
    let (_, drops) = at(Time::ZERO, |cx| (0..6).for_each(|id| q.enqueue(voice(id), cx)));
    assert_eq!(drops, [(0, DropReason::Evicted), (1, DropReason::Evicted)]);
    let (left, _) = at(Time::ZERO, |cx| std::iter::from_fn(|| q.dequeue(cx)).map(|p| p.id.0).collect::<Vec<_>>());
    assert_eq!((left, q.backlog()), (vec![2, 3, 4, 5], Backlog::default()));
}

/// The guard of two packets of each bulk flow is a rule of sch_cake's ingress mode alone. A transcription of its egress mode has means of 5.3, 9.3 and
/// 18.6 ms for 8, 16 and 32 flows at 103 % of 10 Mbit/s; with the ingress rule alone they are 17.8, 32.7 and 62.2.
#[test]
fn waits_are_those_of_egress_mode() {
    let p = CakeParams {
        bandwidth: Some(Rate::from_mbps(10)),
        tins: CakeTins::Besteffort,
        isolation: CakeIsolation::Flows,
        salt: Some(1),
        ..CakeParams::default()
    };
    for (n, want) in [(8, 5.3), (16, 9.3), (32, 18.6)] {
        let got = cbr_wait(&mut p.build(&LINK.into()), LINK.rate, n);
        assert!((got / want - 1.0).abs() < 0.02, "{n} flows wait {got} ms");
    }
}

/// In ingress mode as many flows wait longer: long is what is above two frames of each.
#[test]
fn waits_at_ingress_have_the_guard_of_bulk_flows() {
    let wait = |ingress: bool, n: u32| {
        let p = CakeParams {
            bandwidth: Some(Rate::from_mbps(10)),
            tins: CakeTins::Besteffort,
            isolation: CakeIsolation::Flows,
            salt: Some(1),
            ingress,
            ..CakeParams::default()
        };
        cbr_wait(&mut p.build(&LINK.into()), LINK.rate, n)
    };
    for n in [8, 16, 32] {
        let frame = Rate::from_mbps(10).tx_time(1514).as_secs_f64() * 1e3;
        let (egress, ingress) = (wait(false, n), wait(true, n));
        // Waits settle below the guard, and far above those of egress mode.
        assert!(ingress > 1.5 * egress && ingress < 2.2 * f64::from(n) * frame, "{n} flows wait {ingress} and {egress} ms");
    }
}

/// In ingress mode dropped packets use up the rate: what arrives from the bottleneck, not what is passed on, stays below it. The failsafe leaves two thirds.
#[test]
fn drops_count_against_the_shaper_at_ingress() {
    // 1000 packets of 1000 bytes from a flow that does not listen, with a buffer of 20 packets, at 10 Mbit/s: 0.8 ms each.
    let sent = |ingress: bool| {
        let p = CakeParams { bandwidth: Some(Rate::from_mbps(10)), limit: Some(Len::Packets(20)), ingress, ..calm() };
        let (mut q, mut sent, mut now, mut id) = (p.build(&LINK.into()), 0, Time::ZERO, 0);
        let end = Time::ZERO + Dur::from_secs(2);
        let mut next = Time::ZERO;
        while now < end {
            let ready = if q.backlog().pkts > 0 { q.ready_at().unwrap().max(now) } else { Time::MAX };
            now = next.min(ready);
            if now == next {
                at(now, |cx| q.enqueue(pkt(id, 0, 1000), cx));
                id += 1;
                next = now + Dur::from_us(500);
            } else if at(now, |cx| q.dequeue(cx)).0.is_some() {
                sent += 1;
            }
        }
        sent
    };
    // 2500 in 2 s; 4000 arrive, so that at ingress the failsafe alone lets packets go, every 1.2 ms.
    let [egress, ingress] = [sent(false), sent(true)];
    assert!((2498..=2502).contains(&egress) && (1664..=1670).contains(&ingress), "{egress} and {ingress}");
}

/// tc's wash: the code point chooses the tin and is gone when the packet leaves; the ECN field stays.
#[test]
fn washed_packets_have_no_code_point() {
    for (wash, class) in [(false, 46), (true, 0)] {
        let mut q = CakeParams { wash, ..calm() }.build(&LINK.into());
        at(Time::ZERO, |cx| q.enqueue(Packet { class: Class(46), ecn: Ecn::Ect0, ..pkt(0, 0, 1000) }, cx));
        assert_eq!(q.tins[2].queues.held().pkts, 1);
        let p = at(Time::ZERO, |cx| q.dequeue(cx)).0.unwrap();
        assert_eq!((p.class, p.ecn), (Class(class), Ecn::Ect0));
    }
}

/// A redundant acknowledgment leaves the books; without the filter all stay.
#[test]
fn redundant_acknowledgments_are_dropped() {
    use fairlane_net::{Proto, flag};
    for (ack_filter, left) in [(CakeAckFilter::None, 9), (CakeAckFilter::Filter, 2), (CakeAckFilter::Aggressive, 1)] {
        let p = CakeParams { bandwidth: Some(Rate::from_mbps(1)), ack_filter, ..calm() };
        let mut q = p.build(&LINK.into());
        assert_eq!(q.reads_headers(), ack_filter != CakeAckFilter::None);
        for id in 0..9 {
            let (_, drops) = at(Time::ZERO, |cx| {
                q.on_header(&Segment::new(0, 1000 * u64::from(id), flag::ACK, 0));
                q.enqueue(Packet { proto: Proto::Tcp, back: true, ..pkt(id, 0, 40) }, cx);
            });
            assert!(drops.len() <= 1);
        }
        assert_eq!((q.backlog().pkts, q.backlog().bytes), (left, 40 * u64::from(left)), "{ack_filter:?}");
        let mut now = Time::ZERO;
        let sent: Vec<u32> = std::iter::from_fn(|| {
            now = now.max(q.ready_at().unwrap());
            at(now, |cx| q.dequeue(cx)).0.map(|p| p.id.0)
        })
        .collect();
        assert_eq!((sent.len(), sent.last()), (left as usize, Some(&8)));
    }
}
