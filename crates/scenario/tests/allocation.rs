//! Queue disciplines allocate nothing per packet, once their rings have grown to the load.

mod counting;

use fairlane_engine::Stream;
use fairlane_net::{BuildContext, Class, Ecn, FlowId, FlowInfo, LinkInfo, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_queue::Discipline;
use fairlane_scenario::QueueSpec;
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Rate, Time};

const FLOWS: u32 = 64;

/// Offers `packets` packets of random length, flow and class at 1.3 times the link's rate in bursts, and serves the link.
fn drive(queue: &mut impl Qdisc, link: LinkInfo, packets: u32, state: &mut (Time, Time, Time, Stream, Stream, Vec<u32>)) {
    let (now, free, timer, load, rng, ids) = state;
    let mut drops = Vec::with_capacity(65_536);
    for _ in 0..packets {
        if load.uniform() < 0.3 {
            *now += load.exponential(link.rate.tx_time(2000));
        }
        loop {
            let mut cx = QCx { now: *free, rng, drops: &mut drops, marks: 0 };
            let ready = queue.ready_at().unwrap_or(Time::ZERO).max(*free);
            if queue.has_timer() && *timer <= ready.min(*now) {
                cx.now = *timer;
                *timer = queue.on_timer(&mut cx).unwrap_or(Time::MAX);
            } else if queue.backlog().pkts > 0 && ready <= *now {
                cx.now = ready;
                if let Some(p) = queue.dequeue(&mut cx) {
                    ids.push(p.id.0);
                    *free = ready + link.rate.tx_time(u64::from(p.len));
                }
            } else {
                break;
            }
        }
        *free = (*free).max(*now);
        let flow = load.below(u64::from(FLOWS)) as u32;
        let p = Packet {
            id: PacketRef(ids.pop().unwrap_or(0)),
            len: 40 + load.below(1461) as u32,
            flow: FlowId(flow),
            at: *now,
            class: Class((flow % 8 * 8) as u8),
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][flow as usize % 3],
            proto: if flow.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp },
            ..PACKET
        };
        queue.enqueue(p, &mut QCx { now: *now, rng, drops: &mut drops, marks: 0 });
        for (p, _) in drops.drain(..) {
            ids.push(p.id.0);
        }
    }
}

/// A single test, so that nothing else in this process allocates meanwhile.
#[test]
fn no_queue_allocates_per_packet() {
    let link = LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) };
    let names: Vec<String> = (0..FLOWS).map(|i| format!("f.{i}")).collect();
    let flows: Vec<FlowInfo<'_>> =
        names.iter().zip(0..).map(|(name, i)| FlowInfo { name, from: 2 * i, to: 2 * i + 1, proto: Proto::Tcp }).collect();
    for spec in QueueSpec::all() {
        let mut queue = spec.build(&BuildContext { link, flows: &flows });
        let stream = |purpose| Stream::new(1, "test", spec.name(), purpose);
        let ids = (0..65_536).rev().collect::<Vec<u32>>();
        let mut state = (Time::ZERO, Time::ZERO, Time::ZERO, stream("load"), stream("queue"), ids);
        state.5.reserve(65_536);
        drive(&mut queue, link, 200_000, &mut state);
        let before = counting::calls();
        drive(&mut queue, link, 100_000, &mut state);
        // One call is the list of drops in `drive`; the ring of a flow may double again in a rare burst.
        let calls = counting::calls() - before - 1;
        assert!(calls <= u64::from(FLOWS), "{} asked for memory {calls} times in 100,000 packets", spec.name());
    }
}
