//! A stack as an endpoint of the network.

use crate::datagrams::Datagrams;
use crate::stack::{Seat, Stack, StackState};
use fairlane_net::{Class, Cx, Ecn, Endpoint, FlowView, Limit, Segment, SenderSample, SenderState, TimerId, Timers, Usage};
use fairlane_units::{Dur, Time};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

/// Calls of deadlines that may follow one another at one instant before the clock must move on.
const AT_ONCE: usize = 64;
/// Times in a row that this happens before the stack is taken never to move on.
const STUCK: u32 = 10_000;
/// Datagrams that a stack may send at one instant.
const FLOOD: u64 = 1 << 16;
/// Earliest next deadline of a stack whose deadline is due all the time: it counts in nanoseconds.
const TICK: Dur = Dur::from_ps(1000);

/// Failure of a clone.
const COPIED: &str = "a flow of a real stack cannot be branched: run the scenario again";

/// A failure inside a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFault {
    /// Simulated time of the call.
    pub time: Time,
    /// Flow, packet and message.
    pub message: String,
}

/// One end of a flow that a real transport implementation drives.
///
/// A clone has no connection: a stack cannot be copied, and the first call of a clone is a fault.
pub struct StackEndpoint {
    name: &'static str,
    flow: String,
    stack: Option<Box<dyn Stack>>,
    datagrams: Arc<Datagrams>,
    /// True at the receiving end of the flow.
    receives: bool,
    opens: bool,
    begun: bool,
    header: u32,
    class: Class,
    /// Datagrams sent with data of the application, their bytes, and all others.
    sent: u64,
    sent_bytes: u64,
    others: u64,
    arrived: u64,
    marked: u64,
    /// Calls in a row after which a deadline was still due and nothing was sent.
    stuck: u32,
    /// A failure that is not reported yet: before the connection begins, or of a clone.
    fault: Option<String>,
    fails: fn(StackFault),
}

impl StackEndpoint {
    /// Creates both ends of a flow, the sender first, from the stack that `build` makes for each. `name`: of the stack. `header`: bytes that a datagram
    /// carries besides. `fails` is called once with a failure inside of a stack, which ends the run.
    pub fn pair(
        name: &'static str,
        (seed, flow): (u64, &str),
        (class, header): (Class, u64),
        usage: Usage,
        fails: fn(StackFault),
        build: impl Fn(&Seat) -> Result<Option<Box<dyn Stack>>, String>,
    ) -> (Self, Self) {
        let datagrams = Arc::new(Datagrams::default());
        let end = |receives: bool| {
            let opens = receives == usage.dialogue;
            let (closes, streams, datagrams) = (!usage.dialogue, usage.amounts, datagrams.clone());
            let seat = Seat { seed, flow: flow.to_owned(), receives, opens, closes, streams, datagrams: datagrams.clone() };
            let built = quietly(|| build(&seat)).unwrap_or_else(|panic| Err(format!("it panicked: {panic}")));
            let fault = match &built {
                Ok(Some(_)) => None,
                Ok(None) => Some(format!("stack {name} is not built into this program")),
                Err(why) => Some(format!("stack {name}: {why}")),
            };
            Self {
                name,
                flow: flow.to_owned(),
                stack: built.ok().flatten(),
                datagrams,
                receives,
                opens,
                begun: false,
                header: u32::try_from(header).unwrap_or(u32::MAX >> 1),
                class,
                sent: 0,
                sent_bytes: 0,
                others: 0,
                arrived: 0,
                marked: 0,
                stuck: 0,
                fault,
                fails,
            }
        };
        (end(false), end(true))
    }

    /// Datagrams of the flow that are on their way, and the records of its stacks.
    pub fn datagrams(&self) -> &Arc<Datagrams> {
        &self.datagrams
    }

    /// Why the connection ended, if by an error.
    pub fn failure(&self) -> Option<String> {
        self.stack.as_ref().and_then(|s| s.failure())
    }

    fn state(&self) -> StackState {
        self.stack.as_ref().map(|s| s.state()).unwrap_or_default()
    }

    /// Calls the stack, sends what it has to send, and sets its deadline. A panic of the stack is a fault.
    fn call(&mut self, cx: &mut Cx<'_>, f: impl FnOnce(&mut dyn Stack, Time)) {
        let Some(mut stack) = self.stack.take() else {
            if let Some(message) = self.fault.take() {
                self.report(cx.now, &message);
            }
            return;
        };
        let done = quietly(|| {
            f(&mut *stack, cx.now);
            self.drain(&mut *stack, cx)
        });
        match done {
            Ok(Ok(())) => self.stack = Some(stack),
            Ok(Err(why)) => self.report(cx.now, &format!("stack {} {why}", self.name)),
            Err(panic) => {
                let message = format!("stack {} panicked: {panic}", self.name);
                self.report(cx.now, &message);
                // Whatever state it was left in, it is never looked at again.
                std::mem::forget(stack);
            }
        }
    }

    fn report(&self, time: Time, message: &str) {
        let (end, packets) = (if self.receives { "receiver" } else { "sender" }, self.sent + self.others);
        let message = format!("flow `{}`, {end}, after packet {packets} sent and {} received: {message}", self.flow, self.arrived);
        (self.fails)(StackFault { time, message });
    }

    /// Fails if the stack comes to no end.
    fn drain(&mut self, stack: &mut dyn Stack, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let (now, before) = (cx.now, self.sent + self.others);
        let mut deadline = None;
        for _ in 0..AT_ONCE {
            let datagrams = self.datagrams.clone();
            while let Some((number, len, (t, sum))) =
                datagrams.put(self.receives, |b| stack.poll_transmit(now, b).map(|t| (t, checksum(b))))
            {
                let payload = u16::try_from(len).unwrap_or(u16::MAX);
                let mut seg = Segment::new(t.number.unwrap_or(number), sum, 0, if t.data { payload.max(1) } else { 0 });
                seg.set_words(words(number, len as u32));
                seg.set_ecn(t.ecn);
                if t.data {
                    self.sent += 1;
                    self.sent_bytes += len as u64;
                } else {
                    self.others += 1;
                }
                cx.send(seg, len as u32 + self.header, self.class);
                if self.sent + self.others - before > FLOOD {
                    return Err("sends without end at one instant");
                }
            }
            deadline = stack.poll_timeout();
            if deadline.is_none_or(|t| t > now) {
                break;
            }
            stack.on_timeout(now);
        }
        let due = deadline.is_some_and(|t| t <= now) && self.sent + self.others == before;
        self.stuck = if due { self.stuck + 1 } else { 0 };
        if self.stuck > STUCK {
            return Err("has a deadline that is due all the time, and sends nothing");
        }
        match deadline {
            Some(at) => cx.timers.set(TimerId::Rto, at.max(now + TICK)),
            None => cx.timers.cancel(TimerId::Rto),
        }
        cx.delivered += stack.delivered();
        cx.rtt = stack.rtt();
        cx.finished = stack.finished();
        Ok(())
    }
}

/// Number of a datagram and its length, as header words of its segment.
const fn words(number: u64, len: u32) -> [u32; 8] {
    [number as u32, (number >> 32) as u32, len, 0, 0, 0, 0, 0]
}

/// Number and length of the datagram that a segment stands for.
pub fn datagram_of(seg: &Segment) -> (u64, u32) {
    let [low, high, len, ..] = seg.words();
    (u64::from(low) | u64::from(high) << 32, len)
}

/// A checksum of a datagram, so that the fingerprint of a run covers every byte that a stack sends.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sums = [bytes.len() as u64, 1];
    let mut pairs = bytes.chunks_exact(16);
    for pair in pairs.by_ref() {
        for (sum, word) in sums.iter_mut().zip(pair.chunks_exact(8)) {
            let word = word.first_chunk().map_or(0, |w| u64::from_le_bytes(*w));
            *sum = (*sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
        }
    }
    let rest = pairs.remainder().iter().fold(sums[0], |h, b| (h ^ u64::from(*b)).wrapping_mul(FACTOR).rotate_left(29));
    (rest ^ sums[1].rotate_left(32)).wrapping_mul(FACTOR)
}

thread_local! {
    /// True while a stack runs whose panic is a value.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls code of a stack. A panic becomes its message, and nothing is printed.
fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    done.map_err(|panic| text_of(&*panic))
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

impl Endpoint for StackEndpoint {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.begun = true;
        if self.opens {
            self.call(cx, |s, now| s.connect(now));
        }
    }

    /// A copy that was made on the way is discarded, as RFC 9000 section 12.3 and RFC 3711 section 3.3.2 demand of the transport.
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.arrived += 1;
        let Some(datagram) = self.datagrams.take(!self.receives, datagram_of(seg).0) else { return };
        if seg.ecn() == Ecn::Ce && seg.payload > 0 {
            self.marked += 1;
        }
        self.call(cx, |s, now| s.handle(now, &datagram, seg.ecn()));
        self.datagrams.give(!self.receives, datagram);
    }

    fn on_timer(&mut self, _: TimerId, cx: &mut Cx<'_>) {
        self.call(cx, |s, now| s.on_timeout(now));
    }

    fn on_write(&mut self, bytes: u64, fin: bool, cx: &mut Cx<'_>) {
        self.call(cx, |s, now| s.write(now, bytes, fin));
    }

    fn on_stop(&mut self, cx: &mut Cx<'_>) {
        self.call(cx, |s, now| s.stop(now));
    }

    fn view(&self) -> FlowView {
        let s = self.state();
        FlowView {
            data_segments: self.sent,
            data_bytes: self.sent_bytes,
            retransmits: s.lost_packets,
            retransmit_bytes: s.lost_bytes,
            fast_recoveries: s.cuts - s.ecn_cuts,
            cwnd_cuts: s.cuts,
            ecn_cuts: s.ecn_cuts,
            ce_received: self.marked,
            acks: self.others,
            acked: s.acked,
            cwnd: s.cwnd,
            ssthresh: s.ssthresh.unwrap_or(u64::MAX),
            in_flight: s.in_flight,
            srtt: s.srtt,
            mss: s.mtu,
            ..FlowView::default()
        }
    }

    fn sample(&self) -> SenderSample {
        let s = self.state();
        SenderSample { cwnd: s.cwnd, ssthresh: s.ssthresh.unwrap_or(u64::MAX), in_flight: s.in_flight, srtt: s.srtt }
    }

    fn moment(&self) -> Option<SenderState> {
        let s = self.state();
        let connection = match (self.begun, s.connected, self.stack.as_ref().and_then(|k| k.failure())) {
            (_, _, Some(_)) => "closed",
            (false, ..) => "idle",
            (_, true, _) => "established",
            (..) => "handshake",
        };
        let sending = if s.limit == Limit::Recovery { "recovery" } else { "open" };
        Some(SenderState { cwnd: s.cwnd, ssthresh: s.ssthresh.unwrap_or(u64::MAX), timeouts: 0, connection, sending })
    }

    fn limit(&self, _: &Timers) -> Limit {
        if self.begun { self.state().limit } else { Limit::Nothing }
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let s = self.state();
        for (name, value) in [("pacing_rate", s.rate), ("target_rate", s.target)] {
            if value > 0.0 {
                out(name, value);
            }
        }
    }
}

impl Clone for StackEndpoint {
    fn clone(&self) -> Self {
        Self { flow: self.flow.clone(), stack: None, datagrams: self.datagrams.clone(), fault: Some(COPIED.to_owned()), ..*self }
    }
}

impl fmt::Debug for StackEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackEndpoint").field("name", &self.name).field("flow", &self.flow).finish_non_exhaustive()
    }
}
