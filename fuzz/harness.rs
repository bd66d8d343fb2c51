//! Bytes become the life of a TCP endpoint: its parameters, segments with any field, writes, timers. Nothing may panic or overflow, and the
//! invariants of [`Tcp::audit`] hold after each step.

use fairlane_net::{Block, Class, Cx, Ecn, Endpoint, Segment, Timers};
use fairlane_tcp::{AnyCc, CcParams, Tcp, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::json;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Largest step of time: 1000 s.
const LONGEST_STEP: u64 = 1_000_000_000_000_000;
/// Sequence numbers that are near nothing.
const FAR: [u64; 6] = [0, 1 << 31, 1 << 32, u64::MAX / 2, u64::MAX - 1, u64::MAX];

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn done(&self) -> bool {
        self.0.is_empty()
    }
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }
    fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }
    fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }
    fn long(&mut self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }
    /// A sequence number: mostly a few segments from `near`, sometimes far from anything.
    fn seq(&mut self, near: u64) -> u64 {
        match self.byte() {
            0..=99 => near,
            n @ 100..=199 => near.wrapping_add_signed((i64::from(n) - 150) * 500),
            200..=239 => near.wrapping_add_signed(i64::from(self.short() as i16)),
            240..=249 => FAR[usize::from(self.byte()) % FAR.len()],
            _ => self.long(),
        }
    }
}

struct Life {
    tcp: Tcp<AnyCc>,
    timers: Timers,
    now: Time,
    /// Numbers of the endpoint's last segment, from which those of new segments are made.
    seq: u64,
    ack: u64,
}

impl Life {
    fn call(&mut self, f: impl FnOnce(&mut Tcp<AnyCc>, &mut Cx<'_>)) {
        let mut out = Vec::new();
        let mut cx = Cx::new(self.now, &mut out, &mut self.timers);
        f(&mut self.tcp, &mut cx);
        for o in &out {
            self.seq = self.seq.max(o.seg.end());
            self.ack = o.seg.ack;
        }
    }

    fn fire(&mut self) {
        while let Some(id) = self.timers.take_due(self.now) {
            self.call(|tcp, cx| tcp.on_timer(id, cx));
        }
    }

    /// The next timer fires, or at least a millisecond passes.
    fn advance_to_timer(&mut self) {
        let next = self.timers.next();
        self.now = if next == Time::MAX { self.now + Dur::from_ms(1) } else { self.now.max(next) };
        self.fire();
    }
}

fn parameters(b: &mut Bytes<'_>) -> serde_json::Value {
    let cc = CcParams::ALL[usize::from(b.byte()) % CcParams::ALL.len()].name;
    let preset = ["rfc", "ns2", "ns3", "linux"][usize::from(b.byte()) % 4];
    let mut j = json!({ "cc": cc, "preset": preset, "mss": format!("{}B", [1000, 1, 536, 65_000][usize::from(b.byte()) % 4]) });
    let bits = b.word();
    let bit = |n: u32| bits >> n & 1 == 1;
    let scheme = ["tahoe", "reno", "newreno", "sack", "fack"].get((bits & 7) as usize);
    if let Some(scheme) = scheme {
        j["recovery"] = json!(scheme);
    }
    let selective = matches!(scheme, Some(&"sack" | &"fack"));
    for (n, field) in ["frto", "new_cwv", "pacing", "handshake", "fin", "limited_transmit", "careful", "dsack"].iter().enumerate() {
        if bit(3 + n as u32) {
            j[*field] = json!(bit(11));
        }
    }
    let exact = scheme == Some(&"sack");
    for (n, (field, may)) in [("rack", exact), ("tlp", exact), ("dsack_undo", selective)].into_iter().enumerate() {
        j[field] = json!(may && bit(12 + n as u32));
    }
    j["prr"] = json!(if exact { ["off", "crb", "ssrb", "rfc9937"][(bits >> 15 & 3) as usize] } else { "off" });
    j["timestamps"] = json!(bit(17));
    j["eifel"] = json!(bit(17) && bit(18));
    if bit(19) {
        j["timestamp_tick"] = json!("1s");
    }
    if bit(20) {
        j["receive_window"] = json!("5000B");
    }
    if bit(21) {
        j["window"] = json!("4p");
    }
    let fack = [("restart", 22), ("only_enters", 27), ("until_no_sack", 28), ("lost_again_stops", 29), ("every_ack_restarts_timer", 30)];
    for (name, n) in fack {
        j[format!("fack_{name}")] = json!(bit(n));
    }
    for name in ["vegas_inflates_cwnd", "vegas_backs_off", "vegas_times_waiting", "vegas_send_table"] {
        j[name] = json!(bit(31));
    }
    if bit(23) {
        j["ecn"] = json!(["off", "classic", "dctcp", "accecn"][(bits >> 24 & 3) as usize]);
    }
    if bit(26) {
        j["ack_every"] = json!(2);
    }
    j
}

fn segment(b: &mut Bytes<'_>, life: &Life) -> Segment {
    let seq = b.seq(life.ack);
    let ack = b.seq(life.seq);
    let flags = match b.byte() {
        0..=199 => ACK,
        _ => b.byte(),
    };
    let payload = match b.byte() {
        0..=99 => 0,
        100..=199 => 1000,
        _ => b.short(),
    };
    let mut s = Segment::new(seq, ack, flags, payload);
    s.wnd = match b.byte() {
        0..=199 => u32::MAX,
        200..=219 => 0,
        _ => b.word(),
    };
    let options = b.byte();
    if options & 1 != 0 {
        s.set_timestamps(b.word(), b.word());
    }
    for _ in 0..options >> 1 & 3 {
        let start = b.seq(ack);
        let end = b.seq(start.wrapping_add(1000));
        s.add_sack(Block { start, end });
    }
    s.set_ecn([Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(options >> 3 & 3)]);
    if options & 0x20 != 0 {
        s.set_retransmission();
    }
    if options & 0x40 != 0 {
        s.set_ace(options >> 2);
    }
    s
}

/// Lives through `data`, and says in how many steps.
///
/// # Errors
/// A broken law, and the step that breaks it.
pub(crate) fn run(data: &[u8]) -> Result<u64, String> {
    let mut b = Bytes(data);
    let first = b.byte();
    let (passive, open) = (first & 1 == 1, first & 6 != 0);
    let j = parameters(&mut b);
    // Not all combinations make sense; those are refused.
    let Ok(params) = resolve_params(j.clone()) else { return Ok(0) };
    let (active, other) = Tcp::pair(&params, Class(0)).map_err(|e| e.to_string())?;
    let tcp = if passive { other } else { active };
    let mut life = Life { tcp, timers: Timers::default(), now: Time::ZERO + Dur::from_ms(1), seq: 1, ack: 1 };
    life.call(|tcp, cx| tcp.start(cx));
    if open {
        // Past the handshake, if there is one.
        life.call(|tcp, cx| tcp.on_packet(&Segment::new(0, 1, if passive { SYN } else { SYN | ACK }, 0), cx));
        life.call(|tcp, cx| tcp.on_packet(&Segment::new(1, 1, ACK, 0), cx));
        life.call(|tcp, cx| tcp.on_write(30_000, false, cx));
        (life.seq, life.ack) = (life.seq.max(1), 1);
    }
    let mut step = 0;
    while !b.done() {
        step += 1;
        match b.byte() {
            0..=159 => {
                let s = segment(&mut b, &life);
                life.call(|tcp, cx| tcp.on_packet(&s, cx));
            }
            160..=199 => {
                let ps = b.long() % LONGEST_STEP;
                life.now += Dur::from_ps(ps);
                life.fire();
            }
            200..=229 => life.advance_to_timer(),
            230..=249 => {
                let (bytes, fin) = (b.seq(3000), b.byte() > 200);
                life.call(|tcp, cx| tcp.on_write(bytes.min(1 << 20), fin, cx));
            }
            250..=252 => {
                let bytes = b.long();
                // A window without bound and data without end would be sent without end.
                let bytes = if params.window.is_some() { bytes } else { bytes.min(1 << 20) };
                life.call(|tcp, cx| tcp.on_write(bytes, false, cx));
            }
            _ => life.call(|tcp, cx| tcp.on_stop(cx)),
        }
        life.tcp.audit().map_err(|e| format!("{e}: after step {step} of {j}"))?;
        if life.tcp.waits_for_timer() && life.timers.next() == Time::MAX {
            return Err(format!("data in flight without a timer: after step {step} of {j}"));
        }
        let v = life.tcp.view();
        if v.in_flight > u64::MAX / 4 {
            return Err(format!("in flight {}: after step {step} of {j}", v.in_flight));
        }
        // Time of many backed-off timers would run out.
        if life.now > Time::ZERO + Dur::from_secs(5_000_000) {
            break;
        }
    }
    Ok(step)
}
