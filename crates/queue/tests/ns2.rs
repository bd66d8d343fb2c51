//! Random traffic through DRR, SFQ and FQ of ns-2 and through ours: the same packets dropped, the same order of departure, packet by packet.
//!
//! ns-2 runs the traffic and traces what happens at its queue. The trace is the schedule: for each arrival in it ours is offered the packet
//! and must drop what ns-2 dropped, for each departure it is asked and must answer with the packet that left. Without `ns` nothing is compared.

use fairlane_engine::Stream;
use fairlane_net::{BuildContext, FlowId, FlowInfo, LinkInfo, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_queue::{Discipline, DropTailParams, DrrParams, FqParams, SfqParams};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Rate, Time};
use std::fmt::Write as _;
use std::process::Command;

/// Senders and receivers; routers are nodes 0 and 1.
const HOSTS: u64 = 12;
/// Prime, so that transmissions do not end in step with anything.
const RATE: u64 = 7_999_993;
/// Rate of the hosts' links.
const ACCESS: f64 = 997e6;

/// Some flows between random hosts, and when each sends how many bytes: half of the packets come in bursts.
struct Traffic {
    ends: Vec<[u32; 2]>,
    sends: Vec<(f64, u32, u32)>,
}

fn traffic(rng: &mut Stream, flows: u32, load: f64) -> Traffic {
    let host = |rng: &mut Stream| 2 + rng.below(HOSTS) as u32;
    let ends = (0..flows)
        .map(|_| {
            let from = host(rng);
            let to = std::iter::repeat_with(|| host(rng)).find(|&to| to != from).unwrap_or(2);
            [from, to]
        })
        .collect();
    let lens: Vec<u32> = (0..flows).map(|_| 40 + rng.below(1460) as u32).collect();
    let mut sends = vec![];
    let mut at = 1.0;
    while at < 3.0 {
        let flow = rng.below(u64::from(flows)) as u32;
        let len = if rng.uniform() < 0.5 { lens[flow as usize] } else { 40 + rng.below(1460) as u32 };
        sends.push((at, flow, len));
        // Half of the packets follow at once, the gaps of the others make up the load. No two are sent at the same time: whose turn it is then
        // would depend on the event queue.
        at += 1e-6;
        if rng.uniform() < 0.5 {
            at += f64::from(len) * 8.0 / RATE as f64 / load * 4.0 * rng.uniform();
        }
    }
    Traffic { ends, sends }
}

/// The trace of the queue in ns-2.
fn ns2(t: &Traffic, queue: &str, settings: &str, name: &str) -> Option<String> {
    let mut tcl = format!("set ns [new Simulator]\nfor {{set i 0}} {{$i < {}}} {{incr i}} {{set n($i) [$ns node]}}\n", HOSTS + 2);
    for host in 2..HOSTS + 2 {
        // Every host has its way into the first router and out of the second, so that all packets cross the queue.
        writeln!(
            tcl,
            "$ns simplex-link $n({host}) $n(0) {ACCESS} 0.1ms DropTail\n$ns simplex-link $n(1) $n({host}) {ACCESS} 0.1ms DropTail"
        )
        .ok()?;
    }
    writeln!(tcl, "{settings}\n$ns simplex-link $n(0) $n(1) {RATE} 1ms {queue}\n$ns simplex-link $n(1) $n(0) {RATE} 1ms DropTail").ok()?;
    writeln!(tcl, "$ns trace-queue $n(0) $n(1) [open trace.tr w]").ok()?;
    for (i, [from, to]) in t.ends.iter().enumerate() {
        writeln!(
            tcl,
            "set a({i}) [new Agent/UDP]; $a({i}) set packetSize_ 1500; $a({i}) set fid_ {i}; $ns attach-agent $n({from}) $a({i})"
        )
        .ok()?;
        writeln!(tcl, "set z({i}) [new Agent/Null]; $ns attach-agent $n({to}) $z({i}); $ns connect $a({i}) $z({i})").ok()?;
    }
    for (at, flow, len) in &t.sends {
        writeln!(tcl, "$ns at {at:.9} \"$a({flow}) send {len}\"").ok()?;
    }
    writeln!(tcl, "$ns at 20.0 {{exit 0}}\n$ns run").ok()?;
    let dir = std::env::temp_dir().join(format!("fairlane-ns2-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).ok()?;
    let run = || {
        std::fs::write(dir.join("run.tcl"), tcl).ok()?;
        let done = Command::new("ns").arg("run.tcl").current_dir(&dir).output().ok()?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        std::fs::read_to_string(dir.join("trace.tr")).ok()
    };
    let trace = run();
    std::fs::remove_dir_all(&dir).ok()?;
    trace
}

/// One line: what happens (`r`, arrivals at the other end, are left out), when, flow, length, and the packet's own number.
fn event(line: &str) -> Option<(char, Time, u32, u32, u32)> {
    let f: Vec<&str> = line.split_whitespace().collect();
    let at = Time::ZERO + Dur::from_secs_f64(f.get(1)?.parse().ok()?);
    let what = f[0].chars().next().filter(|&c| c != 'r')?;
    Some((what, at, f.get(7)?.parse().ok()?, f.get(5)?.parse().ok()?, f.get(11)?.parse().ok()?))
}

/// The trace rounds to microseconds, which can change the order of two finish times: puts in the times as they were. Packets are numbered in
/// the order in which they were sent, and wait for those before them at their host.
fn exact(t: &Traffic, events: &mut [(char, Time, u32, u32, u32)]) {
    let mut free = vec![0.0_f64; HOSTS as usize + 2];
    let arrivals: Vec<f64> = t
        .sends
        .iter()
        .map(|&(at, flow, len)| {
            let free = &mut free[t.ends[flow as usize][0] as usize];
            *free = free.max((at * 1e9).round() / 1e9) + f64::from(len) * 8.0 / ACCESS;
            *free + 1e-4
        })
        .collect();
    let (mut busy_until, mut now) = (0.0_f64, 0.0_f64);
    for (what, at, _, len, id) in events {
        let traced = at.as_secs_f64();
        match *what {
            '+' => now = arrivals[*id as usize],
            '-' => {
                now = now.max(busy_until);
                busy_until = now + f64::from(*len) * 8.0 / RATE as f64;
            }
            _ => {}
        }
        assert!((now - traced).abs() < 1e-6, "packet {id}: {now} against {traced}");
        *at = Time::ZERO + Dur::from_secs_f64(now);
    }
}

/// How far the two went together.
#[derive(Default)]
struct Agreed {
    sent: usize,
    lost: usize,
    /// Where they parted.
    parted: Option<String>,
}

/// Puts the traced events to `queue`, as far as both do the same.
fn replay(queue: &mut impl Qdisc, t: &Traffic, trace: &str) -> Agreed {
    let (mut rng, mut drops) = (Stream::new(1, "port", "ns2", "aqm"), vec![]);
    let mut agreed = Agreed::default();
    let mut events: Vec<_> = trace.lines().filter_map(event).collect();
    exact(t, &mut events);
    for (i, &(what, at, flow, len, id)) in events.iter().enumerate() {
        let mut cx = QCx { now: at, rng: &mut rng, drops: &mut drops, marks: 0 };
        match what {
            '+' => {
                let p = Packet { id: PacketRef(id), len, flow: FlowId(flow), at, proto: Proto::Udp, ..PACKET };
                queue.enqueue(p, &mut cx);
                let theirs: Vec<u32> = events[i + 1..].iter().take_while(|e| e.0 == 'd').map(|e| e.4).collect();
                let ours: Vec<u32> = drops.drain(..).map(|(p, _)| p.id.0).collect();
                if ours != theirs {
                    agreed.parted = Some(format!("event {i}, arrival of packet {id} at {at:?}: ns-2 drops {theirs:?}, fairlane {ours:?}"));
                    return agreed;
                }
                agreed.lost += ours.len();
            }
            '-' => {
                let out = queue.dequeue(&mut cx).map(|p| p.id.0);
                if out != Some(id) {
                    agreed.parted = Some(format!("event {i} at {at:?}: ns-2 sends {id}, fairlane {out:?}"));
                    return agreed;
                }
                agreed.sent += 1;
            }
            _ => {}
        }
    }
    agreed
}

/// Runs `cases` random cases; `case` draws the settings of ns-2 and our parameters. With `to_the_end` each must agree throughout.
fn compare<P: Discipline>(queue: &str, cases: u64, flows: u64, to_the_end: bool, case: impl Fn(&mut Stream) -> (String, P)) {
    let missing = Command::new("ns").arg("-version").output().is_err();
    if missing {
        use std::io::Write as _;
        writeln!(std::io::stderr(), "SKIPPED: ns-2 (`ns`) is not installed, {queue} was not compared").ok();
        return;
    }
    let (mut sent, mut lost) = (0, 0);
    for seed in 0..cases {
        let mut rng = Stream::new(seed, "test", queue, "ns2");
        let (settings, params) = case(&mut rng);
        let n = 2 + rng.below(flows - 1) as u32;
        let load = 0.9 + rng.uniform();
        let t = traffic(&mut rng, n, load);
        let trace = ns2(&t, queue, &settings, &format!("{queue}-{seed}")).expect("the trace of ns-2");
        let infos: Vec<FlowInfo<'_>> = t.ends.iter().map(|&[from, to]| FlowInfo { name: "f", from, to, proto: Proto::Udp }).collect();
        let context = BuildContext { link: LinkInfo { rate: Rate::from_bps(RATE), delay: Dur::from_ms(1) }, flows: &infos };
        assert_eq!(params.check(&context), Ok(()));
        let agreed = replay(&mut params.build(&context), &t, &trace);
        if let Some(parted) = agreed.parted.filter(|_| to_the_end) {
            panic!("seed {seed}, {settings}: {parted}");
        }
        (sent, lost) = (sent + agreed.sent, lost + agreed.lost);
    }
    // A wrong rule parts them within a few dozen packets.
    let least = if to_the_end { 2000 } else { 500 };
    assert!(sent > least * cases as usize && lost > 50 * cases as usize, "{sent} sent, {lost} lost");
}

fn read<P: serde::de::DeserializeOwned>(json: &str) -> P {
    serde_json::from_str(json).expect("parameters")
}

/// Limits so small that a queue is emptied by eviction are left out: there ns-2 forgets to end the queue's turn, so that it misses its next one.
#[test]
fn drr_packet_by_packet() {
    compare::<DrrParams<DropTailParams>>("DRR", 10, 12, true, |rng| {
        let (buckets, quantum) = (1 + rng.below(20), 50 + rng.below(2500));
        let limit = 1500 * buckets + rng.below(30_000);
        let settings = format!("Queue/DRR set buckets_ {buckets}; Queue/DRR set quantum_ {quantum}; Queue/DRR set blimit_ {limit}");
        let ours =
            format!(r#"{{"limit": "{limit}B", "quantum": "{quantum}B", "buckets": {buckets}, "hash": "ns2_source", "drop": "head"}}"#);
        (settings, read(&ours))
    });
}

#[test]
fn sfq_packet_by_packet() {
    compare::<SfqParams>("SFQ", 10, 12, true, |rng| {
        let (buckets, limit) = (1 + rng.below(30), 2 + rng.below(80));
        let settings = format!("Queue/SFQ set buckets_ {buckets}; Queue/SFQ set maxqueue_ {limit}");
        (settings, read(&format!(r#"{{"limit": "{limit}p", "buckets": {buckets}, "hash": "ns2_sum", "refuse": true}}"#)))
    });
}

/// Within a busy period all finish times are whole numbers of bytes, so now and then two are equal; ns-2 then goes by the rounding of its
/// clock, and the comparison ends.
#[test]
fn fq_packet_by_packet() {
    compare::<FqParams>("FQ", 6, 6, false, |rng| {
        let limit = 2 + rng.below(30);
        let ours = format!(r#"{{"limit": null, "flow_limit": "{limit}p", "clock": "arrival"}}"#);
        (format!("Queue/DropTail set limit_ {limit}"), read(&ours))
    });
}
