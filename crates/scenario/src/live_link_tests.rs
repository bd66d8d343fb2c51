use super::*;
use crate::{Format, resolve};

fn link(queue: &str) -> LiveLink {
    let text = format!(
        "duration = \"9s\"\n[topology.dumbbell]\nbottleneck = {{ rate = \"8Mbit/s\", delay = \"10ms\", queue = {queue} }}\n[flows.f]\nfrom = \"s0\"\nto = \"d0\"\ntcp = {{}}\n"
    );
    let scenario = resolve(&text, "t.toml", Format::Toml, &[]).unwrap();
    LiveLink::new(&scenario, "bottleneck", 1).unwrap()
}

/// An IPv4 header with a valid checksum (RFC 791 section 3.1), followed by TCP.
fn packet(len: usize, tos: u8) -> Vec<u8> {
    let mut p = vec![0; len];
    (p[0], p[1], p[9]) = (0x45, tos, 6);
    p[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    p[32] = 0x50;
    let check = checksum(&p[..20]);
    p[10..12].copy_from_slice(&check.to_be_bytes());
    p
}

/// RFC 1071: the complement of the ones' complement sum; 0 for a header with its checksum.
fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn arrivals(link: &mut LiveLink, now: Time) -> usize {
    let mut n = 0;
    link.take(now, |_| n += 1);
    n
}

/// 1000 bytes at 8 Mbit/s take 1 ms; the delay is 10 ms.
#[test]
fn packets_leave_one_transmission_apart_however_late_somebody_looks() {
    let ms = |n: u64| Time::ZERO + Dur::from_ms(n);
    let mut link = link("\"droptail\"");
    for _ in 0..3 {
        link.offer(ms(5), &packet(1000, 0));
    }
    assert_eq!(link.next(), ms(16));
    assert_eq!(arrivals(&mut link, ms(15)), 0);
    assert_eq!(arrivals(&mut link, ms(16)), 1);
    assert_eq!(arrivals(&mut link, ms(18)), 2);
    assert_eq!(link.next(), Time::MAX);
    // One packet waited 1 ms and one 2 ms.
    let mean = link.queue_mean(ms(30));
    assert!((mean - 3.0 / 30.0).abs() < 1e-12, "{mean}");
}

/// The limit of DropTail excludes the packet in transmission.
#[test]
fn a_full_queue_drops_and_forgets() {
    let mut link = link("{ droptail = { limit = \"2p\" } }");
    for _ in 0..10 {
        link.offer(Time::ZERO, &packet(1000, 0));
    }
    let c = link.counters();
    assert_eq!((c.arrivals, c.drops, c.departures), (10, 7, 1));
    assert_eq!(arrivals(&mut link, Time::ZERO + Dur::from_secs(1)), 3);
    assert_eq!(link.counters().bytes, 3000);
    assert!(link.store.len() <= 4, "places are used again");
}

/// RFC 1624: the changed header keeps a valid checksum.
#[test]
fn a_mark_changes_the_ecn_field_and_its_checksum() {
    let mut link = link("{ red = { min = \"1p\", max = \"2p\", limit = \"50p\", w_q = 1.0, ecn = true } }");
    for _ in 0..20 {
        link.offer(Time::ZERO, &packet(1000, 2));
    }
    let mut marked = 0;
    link.take(Time::ZERO + Dur::from_secs(1), |p| {
        assert_eq!(checksum(&p[..20]), 0);
        marked += u64::from(p[1] & 3 == 3);
    });
    assert!(marked > 0);
    assert_eq!(marked, link.counters().marks);
}

#[test]
fn a_timer_of_the_queue_runs() {
    let mut link = link("\"pie\"");
    for i in 0..4000 {
        let now = Time::ZERO + Dur::from_us(500) * i;
        link.offer(now, &packet(1000, 0));
        link.take(now, |_| {});
    }
    let c = link.counters();
    assert!(c.drops > 100, "{c:?}");
    assert!(link.queue_mean(Time::ZERO + Dur::from_secs(2)) < 200.0);
}
