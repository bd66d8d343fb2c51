//! A library's queue as a [`Qdisc`]. Packets stay here in reusable slots; the library gets the slot numbers.

use super::table::{CxC, NEVER, NONE, PacketC, Read, SiteC, bits};
use crate::memory::State;
use crate::running::{Code, running};
use fairlane_net::{Backlog, BuildContext, DropReason, Packet, Proto, QCx, Qdisc};
use fairlane_queue::{Capabilities, Problem};
use fairlane_scenario::{DynQdisc, Fault, QueuePlugin, fail};
use fairlane_units::Time;
use serde_json::{Map, Value};
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// A discipline in a shared library, as a plug-in.
pub(crate) struct Library {
    discipline: Arc<Read>,
    code: Code,
}

impl Library {
    /// Creates a plug-in for a discipline of the library; `shown` is its name in messages.
    pub(crate) fn new(discipline: Read, shown: &str) -> Self {
        let code = Code::named(&format!("queue `{}` of {shown}", discipline.name));
        Self { discipline: Arc::new(discipline), code }
    }

    fn make(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Result<Foreign, String> {
        let d = &self.discipline;
        let values = d.values(params);
        // A name that contains a 0 cannot be passed to C.
        let names: Vec<CString> = context.flows().iter().map(|f| CString::new(f.name).unwrap_or_default()).collect();
        let flows: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
        let context = SiteC {
            rate: context.link.rate.as_bps(),
            delay_ps: context.link.delay.as_ps(),
            flows: flows.as_ptr(),
            flow_count: u32::try_from(flows.len()).unwrap_or(u32::MAX),
            reserved: 0,
        };
        let state = State::begun(d.state_size, (d.calls.clone, d.calls.free), self.code, |state| {
            // SAFETY: the state has the size the library asked for; all other pointers live through the call.
            d.calls.init.map_or(ptr::null(), |init| unsafe { init(state, &raw const context, values.as_ptr()) })
        })?;
        Ok(Foreign { state, discipline: Arc::clone(d), code: self.code, packets: PacketSlots::default(), failed: false })
    }
}

impl QueuePlugin for Library {
    fn check(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Result<(), Problem> {
        self.make(params, context).map(drop).map_err(|m| Problem::new("", m))
    }
    fn build(&self, params: &Map<String, Value>, context: &BuildContext<'_>) -> Box<dyn DynQdisc> {
        Box::new(self.make(params, context).unwrap_or_else(|m| {
            let message = format!("queue `{}`: init: {m}", self.discipline.name);
            fail(Fault { what: "queue", time: Time::ZERO, message, interrupted: false });
            let state = State::zeroed(self.discipline.state_size, None, None, self.code);
            Foreign { state, discipline: Arc::clone(&self.discipline), code: self.code, packets: PacketSlots::default(), failed: true }
        }))
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { shapes: self.discipline.calls.ready.is_some(), reorders: self.discipline.reorders, recolours: false }
    }
}

/// Packets of a queue, by slot number.
#[derive(Clone, Default)]
struct PacketSlots {
    slots: Vec<Option<Packet>>,
    free: Vec<u32>,
    backlog: Backlog,
}

impl PacketSlots {
    fn put(&mut self, p: Packet) -> u32 {
        self.backlog.add(&p);
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = Some(p);
            return id;
        }
        self.slots.push(Some(p));
        self.slots.len() as u32 - 1
    }
    fn take(&mut self, id: u32) -> Option<Packet> {
        let p = self.slots.get_mut(id as usize)?.take()?;
        self.free.push(id);
        self.backlog.sub(&p);
        Some(p)
    }
    fn get(&self, id: u32) -> Option<&Packet> {
        self.slots.get(id as usize)?.as_ref()
    }
}

fn packet_c(id: u32, p: &Packet) -> PacketC {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    PacketC {
        arrived_ps: p.at.as_ps(),
        id,
        length: p.len,
        flow: p.flow.0,
        dscp: p.class.0,
        ecn: p.ecn as u8,
        bits: bit(p.proto == Proto::Udp, bits::UDP) | bit(p.data, bits::DATA) | bit(p.back, bits::BACK),
        reserved: 0,
    }
}

/// Packets and context of the current call.
struct Host<'a, 'b> {
    packets: &'a mut PacketSlots,
    cx: &'a mut QCx<'b>,
    wrong: Option<String>,
}

impl Host<'_, '_> {
    fn strange(&mut self, what: &str, id: u32) {
        self.wrong.get_or_insert_with(|| format!("{what} of {id}, which is not a packet in the queue: send or drop each packet once"));
    }
}

/// Drop reasons, as numbered in the header.
const WHY: [DropReason; 5] = [DropReason::Overflow, DropReason::Early, DropReason::Forced, DropReason::Head, DropReason::Evicted];

/// Returns the host of the current call.
///
/// # Safety
/// `cx` belongs to the current call, which has not returned.
unsafe fn host<'x>(cx: *mut CxC) -> &'x mut Host<'x, 'x> {
    // SAFETY: required above; `call` sets it, and nothing else uses it meanwhile.
    unsafe { &mut *(*cx).host.cast::<Host<'x, 'x>>() }
}

unsafe extern "C" fn drop_packet(cx: *mut CxC, id: u32, why: u32) {
    // SAFETY, here and below: the header gives `cx` for the duration of the call.
    let host = unsafe { host(cx) };
    let Some(&why) = WHY.get(why as usize) else {
        host.wrong.get_or_insert_with(|| format!("{why} is not a drop reason: see FAIRLANE_QUEUE_OVERFLOW"));
        return;
    };
    match host.packets.take(id) {
        Some(p) => host.cx.drop(p, why),
        None => host.strange("drop", id),
    }
    let b = host.packets.backlog;
    // SAFETY: `cx` is valid for the duration of the call.
    unsafe { ((*cx).packets, (*cx).bytes) = (b.pkts, b.bytes) };
}

unsafe extern "C" fn mark(cx: *mut CxC, id: u32) -> c_int {
    let host = unsafe { host(cx) };
    match host.packets.slots.get_mut(id as usize).and_then(Option::as_mut) {
        Some(p) if p.ecn.capable() => {
            host.cx.mark(p);
            1
        }
        Some(_) => 0,
        None => {
            host.strange("mark", id);
            0
        }
    }
}

unsafe extern "C" fn look(cx: *mut CxC, id: u32, packet: *mut PacketC) {
    let host = unsafe { host(cx) };
    match host.packets.get(id) {
        // SAFETY: the header requires space for a packet.
        Some(p) => unsafe { ptr::write(packet, packet_c(id, p)) },
        None => host.strange("look", id),
    }
}

unsafe extern "C" fn random(cx: *mut CxC) -> f64 {
    unsafe { host(cx) }.cx.rng.uniform()
}

/// A queue in a library.
#[derive(Clone)]
struct Foreign {
    state: State,
    discipline: Arc<Read>,
    code: Code,
    packets: PacketSlots,
    failed: bool,
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("name", &self.discipline.name).field("backlog", &self.packets.backlog).finish_non_exhaustive()
    }
}

impl Foreign {
    /// Makes a call. After a failure the queue is empty and takes no packets.
    fn call<R>(&mut self, cx: &mut QCx<'_>, f: impl FnOnce(*mut c_void, *mut CxC) -> R) -> Option<R> {
        if self.failed {
            return None;
        }
        let (now, b) = (cx.now, self.packets.backlog);
        let mut host = Host { packets: &mut self.packets, cx, wrong: None };
        let mut c = CxC {
            now_ps: now.as_ps(),
            bytes: b.bytes,
            packets: b.pkts,
            reserved: 0,
            host: (&raw mut host).cast(),
            drop: drop_packet,
            mark,
            look,
            random,
        };
        let running = running(self.code);
        let answer = f(self.state.at(), &raw mut c);
        drop(running);
        match host.wrong {
            None => Some(answer),
            Some(m) => {
                self.wrong(cx, &m);
                None
            }
        }
    }

    /// Ends the run and releases every packet, so that counters stay consistent.
    fn wrong(&mut self, cx: &mut QCx<'_>, what: &str) {
        self.failed = true;
        fail(Fault { what: "queue", time: cx.now, message: format!("queue `{}`: {what}", self.discipline.name), interrupted: false });
        for id in 0..self.packets.slots.len() as u32 {
            if let Some(p) = self.packets.take(id) {
                cx.drop(p, DropReason::Overflow);
            }
        }
    }
}

impl Qdisc for Foreign {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let (false, Some(f)) = (self.failed, self.discipline.calls.enqueue) else {
            return cx.drop(p, DropReason::Overflow);
        };
        let id = self.packets.put(p);
        let packet = packet_c(id, &p);
        // SAFETY, here and below: the state went through init, and all pointers live through the call.
        self.call(cx, |s, c| unsafe { f(s, &raw const packet, c) });
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        let f = self.discipline.calls.dequeue?;
        let id = self.call(cx, |s, c| unsafe { f(s, c) })?;
        if id != NONE {
            let sent = self.packets.take(id);
            if sent.is_none() {
                self.wrong(cx, &format!("dequeue() returned {id}, which is not a packet in the queue: send or drop each packet once"));
            }
            return sent;
        }
        let n = self.packets.backlog.pkts;
        if n > 0 && self.ready_at().is_none_or(|t| t <= cx.now) {
            self.wrong(cx, &format!("dequeue() returned no packet although {n} wait: a shaper returns its next send time in ready()"));
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog
    }

    fn ready_at(&self) -> Option<Time> {
        let f = self.discipline.calls.ready.filter(|_| !self.failed)?;
        let _running = running(self.code);
        // SAFETY: the state went through init.
        let at = unsafe { f(self.state.view()) };
        (at != 0).then(|| Time::from_ps(at))
    }

    fn has_timer(&self) -> bool {
        self.discipline.calls.timer.is_some()
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let f = self.discipline.calls.timer?;
        let next = self.call(cx, |s, c| unsafe { f(s, c) }).filter(|&t| t != NEVER)?;
        if next <= cx.now.as_ps() {
            self.wrong(cx, &format!("timer() returned {next} ps, which is not later than now"));
            return None;
        }
        Some(Time::from_ps(next))
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let Some(f) = self.discipline.calls.gauge.filter(|_| !self.failed) else { return };
        let _running = running(self.code);
        for (i, name) in self.discipline.gauges.iter().enumerate() {
            // SAFETY: the state went through init.
            out(name, unsafe { f(self.state.view(), i as u32) });
        }
    }
}
