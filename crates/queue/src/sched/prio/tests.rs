use super::*;
use crate::law::droptail::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, us};
use fairlane_net::{Backlog, Class};

fn params(limits: &[u64]) -> PrioParams<DropTailParams> {
    let queue = |n| DropTailParams { limit: Len::Packets(n), ..DropTailParams::default() };
    let select = ["tcp", "udp"];
    let classes = limits.iter().zip(select).map(|(&n, m)| ClassParams { select: m.into(), queue: queue(n) }).collect();
    PrioParams { classes, ..PrioParams::default() }
}

#[test]
fn the_upper_class_goes_first_whenever_it_has_something() {
    let (mut q, mut desk) = (PrioParams::<DropTailParams>::default().build(&link().into()), Desk::new());
    for (id, flow) in [(0, 1), (1, 0), (2, 1), (3, 2)] {
        desk.put(&mut q, us(0), pkt(id, flow, 1000));
    }
    assert_eq!(desk.flows(&mut q, us(1), 3), [0, 2, 1]);
    desk.put(&mut q, us(2), pkt(4, 0, 1000));
    assert_eq!(desk.flows(&mut q, us(3), 9), [0, 1]);
}

/// The published study's modified PRIO, in the reading of its specification: one packet of queue 2 for each drop at queue 1, before queue 1.
#[test]
fn a_drop_lets_the_lower_class_send_once_before_the_upper_one() {
    let order = |yields| {
        let (mut q, mut desk) = (PrioParams { yields, ..params(&[3, 9]) }.build(&link().into()), Desk::new());
        (0..4).for_each(|i| desk.put(&mut q, us(0), pkt(i, 1, 1000)));
        // Three of five fit: two drops.
        (4..9).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
        assert_eq!(desk.dropped(), [7, 8]);
        desk.flows(&mut q, us(1), 9)
    };
    assert_eq!(order(false), [0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(order(true), [1, 1, 0, 0, 0, 1, 1]);
}

#[test]
fn an_empty_lower_class_keeps_no_claim() {
    let (mut q, mut desk) = (PrioParams { yields: true, ..params(&[2, 9]) }.build(&link().into()), Desk::new());
    // Two drops while the lower class is empty.
    (0..4).for_each(|i| desk.put(&mut q, us(0), pkt(i, 0, 1000)));
    desk.put(&mut q, us(0), pkt(4, 1, 1000));
    assert_eq!(desk.flows(&mut q, us(1), 1), [0]);
    // Two more claims; the one packet that waits uses one, and with it the other is gone.
    desk.put(&mut q, us(2), pkt(5, 0, 1000));
    desk.put(&mut q, us(2), pkt(6, 0, 1000));
    desk.put(&mut q, us(2), pkt(7, 0, 1000));
    assert_eq!(desk.dropped(), [2, 3, 6, 7]);
    assert_eq!(desk.flows(&mut q, us(3), 1), [1]);
    desk.put(&mut q, us(4), pkt(8, 1, 1000));
    assert_eq!(desk.flows(&mut q, us(5), 9), [0, 0, 1]);
}

/// Drops by the common limit are not the upper queue's own.
#[test]
fn a_common_limit_holds_over_all_classes() {
    let p = PrioParams { limit: Some(Len::Packets(3)), yields: true, ..params(&[9, 9]) };
    let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
    for (id, flow) in [(0, 1), (1, 0), (2, 1), (3, 0), (4, 1)] {
        desk.put(&mut q, us(0), pkt(id, flow, 1000));
    }
    assert_eq!((desk.dropped(), q.backlog()), (vec![3, 4], Backlog { pkts: 3, bytes: 3000 }));
    assert_eq!(desk.flows(&mut q, us(1), 9), [0, 1, 1]);
}

#[test]
fn problems_say_where() {
    let site = link().into();
    let mut p = params(&[9, 9]);
    p.classes[1].select = "udq".into();
    let e = p.check(&site).unwrap_err();
    assert_eq!((e.field.as_str(), e.message.as_str()), ("classes.1.match", "`udq` describes no packets: did you mean `udp`?"));
    assert_eq!(params(&[9, 0]).check(&site).unwrap_err().field, "classes.1.queue.limit");
    assert_eq!(params(&[]).check(&site).unwrap_err().field, "classes");
    assert_eq!(PrioParams { limit: Some(Len::Packets(0)), ..params(&[9, 9]) }.check(&site).unwrap_err().field, "limit");
}

/// tc-prio(8): TOS 0x10 (minimise delay) is band 0, 0x08 (maximise throughput) band 2, the rest band 1.
#[test]
fn linux_bands_read_the_tos_field() {
    let preset = PrioParams::<DropTailParams>::PRESETS.iter().find(|p| p.name == "linux").unwrap();
    // This test's queues have no registry: leave their table out.
    let text = preset.values.replace(r#""queue": {"droptail": {"limit": "1000p", "admit": "fits"}}, "#, "");
    let p: PrioParams<DropTailParams> = serde_json::from_str(&text).unwrap();
    let mut q = p.build(&link().into());
    let mut band = |tos: u8| q.bank.place(&Packet { class: Class(tos >> 2), ..pkt(0, 0, 100) });
    for tos in (0..=255).step_by(4) {
        let expected = match tos & 0x1c {
            0x10 | 0x14 => 0,
            0x08 | 0x0c => 2,
            _ => 1,
        };
        assert_eq!(band(tos), expected, "TOS {tos:#x}");
    }
}
