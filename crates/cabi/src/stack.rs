//! A library's transport stack (`fairlane_stack.h`) as a [`Stack`].

use crate::memory::State;
use crate::running::{Code, running};
use crate::table::{Declared, Param, array, begins, declared, holds, named, schema_of, text};
use fairlane_engine::Stream;
use fairlane_net::{Ecn, Limit};
use fairlane_stacks::{Seat, Stack, StackPlugin, StackState, Transmit};
use fairlane_units::{Dur, Time};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// FAIRLANE_STACK_VERSION.
const VERSION: u32 = 1;
/// FAIRLANE_STACK_NONE.
const NONE: u64 = u64::MAX;
/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1000;
/// Longest payload of a datagram of UDP over IPv4 (RFC 791, RFC 768).
const ROOM: usize = 65_507;

thread_local! {
    /// Room in which a stack writes a datagram. One that is kept takes the bytes that it has.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[repr(C)]
struct SeatC {
    seed: u64,
    flow: *const c_char,
    flags: u32,
    reserved: u32,
}

#[derive(Default)]
#[repr(C)]
struct SentC {
    number: u64,
    flags: u32,
    ecn: u32,
}

#[derive(Default)]
#[repr(C)]
struct StateC {
    lost_packets: u64,
    lost_bytes: u64,
    cuts: u64,
    ecn_cuts: u64,
    acked: u64,
    cwnd: u64,
    ssthresh: u64,
    in_flight: u64,
    srtt: u64,
    rtt: u64,
    rtt_samples: u64,
    rate: u64,
    target_rate: u64,
    mtu: u32,
    connected: u8,
    finished: u8,
    reserved: [u8; 2],
}

/// Functions of a stack; a null pointer reads as `None`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Calls {
    init: Option<unsafe extern "C" fn(*mut c_void, *const SeatC, *const f64) -> *const c_char>,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    connect: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    handle: Option<unsafe extern "C" fn(*mut c_void, u64, *const u8, usize, u32)>,
    transmit: Option<unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize, *mut SentC) -> usize>,
    timeout: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    on_timeout: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    write: Option<unsafe extern "C" fn(*mut c_void, u64, u64, u32)>,
    stop: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    delivered: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    state: Option<unsafe extern "C" fn(*const c_void, *mut StateC)>,
    failure: Option<unsafe extern "C" fn(*const c_void) -> *const c_char>,
}

#[repr(C)]
pub(crate) struct Table {
    version: u32,
    size: u32,
    name: *const c_char,
    doc: *const c_char,
    params: *const Param,
    param_count: u32,
    header: u32,
    state_size: usize,
    calls: Calls,
}

// The header asserts the same sizes.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<SeatC>() == 24 && size_of::<SentC>() == 16 && size_of::<StateC>() == 112 && size_of::<Table>() == 144);

/// A stack of a library, read and checked.
pub(crate) struct Read {
    pub(crate) name: String,
    pub(crate) doc: String,
    header: u32,
    state_size: usize,
    params: Vec<Declared>,
    calls: Calls,
}

impl Read {
    /// JSON Schema of its parameters.
    pub(crate) fn schema(&self) -> Value {
        schema_of(self.params.iter().map(Declared::with_schema))
    }
}

/// Reads and checks a table.
pub(crate) fn read(at: *const Table) -> Result<Read, String> {
    begins(at, VERSION, "fairlane_stack.h", "fairlane_stack")?;
    // SAFETY: the table is at least as long as ours, by its own size field.
    let t = unsafe { ptr::read(at) };
    let (name, c) = (named(t.name, t.state_size)?, t.calls);
    let needed = [
        ("init", c.init.is_some()),
        ("connect", c.connect.is_some()),
        ("handle", c.handle.is_some()),
        ("transmit", c.transmit.is_some()),
        ("timeout", c.timeout.is_some()),
        ("on_timeout", c.on_timeout.is_some()),
        ("write", c.write.is_some()),
        ("stop", c.stop.is_some()),
        ("delivered", c.delivered.is_some()),
        ("state", c.state.is_some()),
    ];
    holds(&name, &needed, 0, 0, VERSION)?;
    let params = array(&name, ("param", "params"), (t.params, t.param_count), declared)?;
    Ok(Read { name, doc: text(t.doc), header: t.header, state_size: t.state_size, params, calls: t.calls })
}

/// A stack in a shared library, as a plug-in.
pub(crate) struct Library {
    stack: Arc<Read>,
    code: Code,
}

impl Library {
    /// Creates a plug-in for a stack of the library; `shown` is its name in messages.
    pub(crate) fn new(stack: Read, shown: &str) -> Self {
        let code = Code::named(&format!("transport stack `{}` of {shown}", stack.name));
        Self { stack: Arc::new(stack), code }
    }

    fn begun(&self, params: &Map<String, Value>, (seed, flow, flags): (u64, &str, u32)) -> Result<Foreign, String> {
        let s = &self.stack;
        let values: Vec<f64> = s.params.iter().map(|p| params.get(&p.name).and_then(Value::as_f64).unwrap_or(p.value)).collect();
        // A name that contains a 0 cannot be passed to C.
        let flow = CString::new(flow).unwrap_or_default();
        let seat = SeatC { seed, flow: flow.as_ptr(), flags, reserved: 0 };
        let state = State::begun(s.state_size, (None, s.calls.free), self.code, |state| {
            // SAFETY: the state has the size the library asked for; the other two pointers live through the call.
            s.calls.init.map_or(ptr::null(), |init| unsafe { init(state, &raw const seat, values.as_ptr()) })
        })?;
        Ok(Foreign { state, stack: Arc::clone(s), code: self.code, samples: 0 })
    }
}

impl StackPlugin for Library {
    fn header(&self) -> u64 {
        self.stack.header.into()
    }
    fn check(&self, params: &Map<String, Value>) -> Result<(), String> {
        self.begun(params, (0, "", 0)).map(drop)
    }
    fn build(&self, params: &Map<String, Value>, seat: &Seat) -> Result<Box<dyn Stack>, String> {
        let bits = [seat.receives, seat.opens, seat.closes, seat.streams];
        let flags = (0..).zip(bits).map(|(i, on)| u32::from(on) << i).sum();
        let mut random = Stream::new(seat.seed, "stack", &seat.flow, if seat.receives { "receiver" } else { "sender" });
        Ok(Box::new(self.begun(params, (random.next_u64(), &seat.flow, flags))?))
    }
}

/// One end of a flow in a library.
struct Foreign {
    state: State,
    stack: Arc<Read>,
    code: Code,
    /// Samples of the round-trip time that were read.
    samples: u64,
}

fn ns(t: Time) -> u64 {
    t.as_ps() / PS_PER_NS
}

fn span(ns: u64) -> Dur {
    Dur::from_ps(ns.saturating_mul(PS_PER_NS))
}

impl Foreign {
    fn read(&self) -> StateC {
        let mut into = StateC { ssthresh: NONE, ..StateC::default() };
        let _running = running(self.code);
        if let Some(f) = self.stack.calls.state {
            // SAFETY: the state went through init, and `into` has the layout of the header.
            unsafe { f(self.state.view(), &raw mut into) };
        }
        into
    }
}

impl Stack for Foreign {
    fn connect(&mut self, now: Time) {
        let _running = running(self.code);
        if let Some(f) = self.stack.calls.connect {
            // SAFETY: the state went through init.
            unsafe { f(self.state.at(), ns(now)) };
        }
    }
    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        let _running = running(self.code);
        if let Some(f) = self.stack.calls.handle {
            // SAFETY: the state went through init, and the datagram lives through the call.
            unsafe { f(self.state.at(), ns(now), datagram.as_ptr(), datagram.len(), ecn as u32) };
        }
    }
    fn poll_transmit(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Transmit> {
        let f = self.stack.calls.transmit?;
        let mut sent = SentC::default();
        let _running = running(self.code);
        let len = SCRATCH.with_borrow_mut(|room| {
            room.resize(ROOM, 0);
            // SAFETY: the state went through init; `room` has this length.
            let len = unsafe { f(self.state.at(), ns(now), room.as_mut_ptr(), ROOM, &raw mut sent) };
            into.extend_from_slice(&room[..len.min(ROOM)]);
            len
        });
        let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][(sent.ecn & 3) as usize];
        (len > 0).then(|| Transmit { ecn, data: sent.flags & 1 != 0, number: (sent.flags & 2 != 0).then_some(sent.number) })
    }
    fn poll_timeout(&mut self) -> Option<Time> {
        let _running = running(self.code);
        // SAFETY: the state went through init.
        let at = unsafe { self.stack.calls.timeout?(self.state.view()) };
        (at != NONE).then(|| at.checked_mul(PS_PER_NS).map_or(Time::MAX, Time::from_ps))
    }
    fn on_timeout(&mut self, now: Time) {
        let _running = running(self.code);
        if let Some(f) = self.stack.calls.on_timeout {
            // SAFETY: the state went through init.
            unsafe { f(self.state.at(), ns(now)) };
        }
    }
    fn write(&mut self, now: Time, bytes: u64, fin: bool) {
        let _running = running(self.code);
        let bytes = if bytes >= fairlane_net::ENDLESS { NONE } else { bytes };
        if let Some(f) = self.stack.calls.write {
            // SAFETY: the state went through init.
            unsafe { f(self.state.at(), ns(now), bytes, fin.into()) };
        }
    }
    fn stop(&mut self, now: Time) {
        let _running = running(self.code);
        if let Some(f) = self.stack.calls.stop {
            // SAFETY: the state went through init.
            unsafe { f(self.state.at(), ns(now)) };
        }
    }
    fn delivered(&mut self) -> u64 {
        let _running = running(self.code);
        // SAFETY: the state went through init.
        self.stack.calls.delivered.map_or(0, |f| unsafe { f(self.state.at()) })
    }
    fn rtt(&mut self) -> Option<Dur> {
        let read = self.read();
        let new = read.rtt_samples != self.samples;
        self.samples = read.rtt_samples;
        new.then(|| span(read.rtt))
    }
    fn finished(&self) -> bool {
        self.read().finished != 0
    }
    fn failure(&self) -> Option<String> {
        let _running = running(self.code);
        // SAFETY: the state went through init; the header requires a string that ends in 0, or a null pointer.
        let said = text(unsafe { self.stack.calls.failure?(self.state.view()) });
        (!said.is_empty()).then_some(said)
    }
    fn state(&self) -> StackState {
        let s = self.read();
        let limit = match (s.connected != 0, s.finished != 0) {
            (false, _) => Limit::Handshake,
            (_, true) => Limit::Nothing,
            _ if s.cwnd > 0 && s.in_flight + u64::from(s.mtu) > s.cwnd => {
                if s.cwnd < s.ssthresh {
                    Limit::SlowStart
                } else {
                    Limit::Avoidance
                }
            }
            _ => Limit::Application,
        };
        StackState {
            connected: s.connected != 0,
            lost_packets: s.lost_packets,
            lost_bytes: s.lost_bytes,
            cuts: s.cuts,
            ecn_cuts: s.ecn_cuts.min(s.cuts),
            acked: s.acked,
            cwnd: s.cwnd,
            ssthresh: (s.ssthresh != NONE).then_some(s.ssthresh),
            in_flight: s.in_flight,
            srtt: span(s.srtt),
            mtu: s.mtu,
            rate: s.rate as f64,
            target: s.target_rate as f64,
            limit,
        }
    }
}
