//! A transport stack of one's own in Rust: the example of docs/models/stacks.md, by its name in a scenario.
//!
//! It stops and waits: one datagram with a number and data, then nothing until its acknowledgment, or until the timeout, after which the datagram is sent
//! again. A [`Stack`] is one end; [`StackPlugin`] builds both ends of each flow.

use fairlane_net::{ENDLESS, Ecn, Limit};
use fairlane_scenario::{Format, Options, Progress, RegisterError, Resolved, RunOutput, register_stack, resolve, run_all};
use fairlane_stacks::{Seat, Stack, StackPlugin, StackState, Transmit};
use fairlane_units::{Dur, Time};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Bytes of a number, and of the data behind it at most.
const HEADER: usize = 8;
const PAYLOAD: u64 = 1000;

/// One end of a flow.
#[derive(Default)]
struct StopAndWait {
    timeout: Dur,
    /// Bytes that wait; the number of the datagram that waits for its acknowledgment or is next, and its length and time once it is sent.
    left: u64,
    number: u64,
    waits: Option<(u64, Time)>,
    lost: bool,
    acked: u64,
    resent: u64,
    rtt: Option<Dur>,
    closing: bool,
    /// Receiver: the number that is next, one to acknowledge, and bytes for the application.
    next: u64,
    answer: Option<u64>,
    delivered: u64,
}

impl Stack for StopAndWait {
    /// Nothing is to be agreed upon: the first datagram opens the connection.
    fn connect(&mut self, _: Time) {}

    fn handle(&mut self, now: Time, datagram: &[u8], _: Ecn) {
        let Some((number, data)) = datagram.split_first_chunk::<HEADER>() else { return };
        let number = u64::from_le_bytes(*number);
        if data.is_empty() {
            if let Some((len, sent)) = self.waits.take_if(|_| number == self.number) {
                (self.acked, self.number) = (self.acked + len, self.number + 1);
                // Karn's rule: a datagram that was sent twice measures nothing.
                self.rtt = (!self.lost).then(|| now.since(sent));
                self.lost = false;
            }
            return;
        }
        if number == self.next {
            (self.next, self.delivered) = (number + 1, self.delivered + data.len() as u64);
        }
        self.answer = Some(number);
    }

    fn poll_transmit(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(number) = self.answer.take() {
            into.extend_from_slice(&number.to_le_bytes());
            return Some(Transmit::default());
        }
        let len = match self.waits {
            Some((len, sent)) if now >= sent + self.timeout => {
                (self.lost, self.resent) = (true, self.resent + 1);
                len
            }
            None if self.left > 0 => {
                let len = self.left.min(PAYLOAD);
                self.left -= if self.left < ENDLESS { len } else { 0 };
                len
            }
            _ => return None,
        };
        self.waits = Some((len, now));
        into.extend_from_slice(&self.number.to_le_bytes());
        into.resize(HEADER + len as usize, 0);
        Some(Transmit { data: true, ..Transmit::default() })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.waits.map(|(_, sent)| sent + self.timeout)
    }

    /// Does nothing: `poll_transmit`, which is called next, sends what is due.
    fn on_timeout(&mut self, _: Time) {}

    fn write(&mut self, _: Time, bytes: u64, fin: bool) {
        self.left = if bytes >= ENDLESS { ENDLESS } else { self.left + bytes };
        self.closing |= fin;
    }

    fn stop(&mut self, _: Time) {
        self.left = 0;
    }

    fn delivered(&mut self) -> u64 {
        std::mem::take(&mut self.delivered)
    }

    fn rtt(&mut self) -> Option<Dur> {
        self.rtt.take()
    }

    fn finished(&self) -> bool {
        self.closing && self.left == 0 && self.waits.is_none()
    }

    fn state(&self) -> StackState {
        let limit = if self.waits.is_some() { Limit::Avoidance } else { Limit::Application };
        let in_flight = self.waits.map_or(0, |w| w.0);
        StackState {
            connected: true,
            lost_packets: self.resent,
            acked: self.acked,
            cwnd: PAYLOAD,
            in_flight,
            limit,
            ..StackState::default()
        }
    }
}

/// Builds both ends of a flow; its parameter is the timeout in seconds.
struct Plugin;

impl StackPlugin for Plugin {
    fn check(&self, params: &Map<String, Value>) -> Result<(), String> {
        if timeout(params) == Dur::ZERO { Err("a timeout is above zero".to_owned()) } else { Ok(()) }
    }
    fn build(&self, params: &Map<String, Value>, _: &Seat) -> Result<Box<dyn Stack>, String> {
        Ok(Box::new(StopAndWait { timeout: timeout(params), ..StopAndWait::default() }))
    }
}

fn timeout(params: &Map<String, Value>) -> Dur {
    Dur::from_secs_f64(params.get("timeout").and_then(Value::as_f64).unwrap_or(0.2))
}

fn register(name: &str) -> Result<(), RegisterError> {
    let timeout = json!({ "type": "number", "description": "Seconds after which a datagram is sent again.", "default": 0.2 });
    let schema = json!({ "type": "object", "properties": { "timeout": timeout }, "additionalProperties": false });
    register_stack(name, "One datagram a round trip.", schema, Arc::new(Plugin))
}

// --- how it does in a network ---

fn scenario(stack: &str, loss: &str) -> Result<Resolved, String> {
    let text = format!(
        "duration = \"10s\"\n[links.line]\nfrom = \"a\"\nto = \"b\"\nrate = \"8Mbit/s\"\ndelay = \"20ms\"\nloss = {loss}\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\nstack = {stack}\n"
    );
    resolve(&text, "x.toml", Format::Toml, &[]).map_err(|e| e.to_string())
}

fn run(r: &Resolved) -> RunOutput {
    run_all(r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).unwrap().remove(0)
}

fn received(r: &RunOutput) -> f64 {
    r.flows.numbers.iter().find(|c| c.0 == "packets_received").unwrap().1[0]
}

/// 1036 bytes and 36 back on 8 Mbit/s are 1.072 ms, so a round trip is 41.072 ms: 243 datagrams arrive in 10 s.
#[test]
fn a_stack_of_ones_own_is_used_by_name() {
    register("stop_and_wait").unwrap();
    let plain = scenario("\"stop_and_wait\"", "0.0").unwrap();
    let done = run(&plain);
    assert_eq!(received(&done), 243.0);
    assert_eq!(done.fingerprint, run(&plain).fingerprint);
    assert_eq!(Resolved::from_json(&plain.to_json().to_string()).unwrap(), plain);
    let lossy = run(&scenario("{ stop_and_wait = { timeout = 0.1 } }", "0.1").unwrap());
    assert!((100.0..200.0).contains(&received(&lossy)));
}

#[test]
fn what_is_wrong_with_it_is_said_in_one_line() {
    register("stop_and_wait").unwrap();
    let error = |stack| scenario(stack, "0.0").unwrap_err();
    assert!(error("{ stop_and_wait = { timeout = 0.0 } }").contains("a timeout is above zero"));
    assert!(error("{ stop_and_wait = { timout = 1.0 } }").contains("timout"));
    assert!(error("\"stop_and_weight\"").contains("unknown stack"));
    assert!(matches!(register("quinn"), Err(RegisterError::Taken(_))));
    assert!(matches!(register("a b"), Err(RegisterError::Name(_))));
}

// --- one that panics ---

/// Sends one datagram; the end that gets it panics. Others panic when they are built, or come to no end.
struct Breaks {
    waits: bool,
    floods: bool,
    due: Option<Time>,
}

impl Stack for Breaks {
    fn connect(&mut self, _: Time) {}
    fn handle(&mut self, _: Time, _: &[u8], _: Ecn) {
        panic!("it breaks");
    }
    fn poll_transmit(&mut self, _: Time, into: &mut Vec<u8>) -> Option<Transmit> {
        into.push(0);
        (std::mem::take(&mut self.waits) || self.floods).then_some(Transmit { data: true, ..Transmit::default() })
    }
    fn poll_timeout(&mut self) -> Option<Time> {
        self.due
    }
    fn on_timeout(&mut self, _: Time) {}
    fn write(&mut self, _: Time, _: u64, _: bool) {
        self.waits = true;
    }
    fn stop(&mut self, _: Time) {}
    fn delivered(&mut self) -> u64 {
        0
    }
    fn state(&self) -> StackState {
        StackState::default()
    }
}

struct Breaking;

impl StackPlugin for Breaking {
    fn check(&self, _: &Map<String, Value>) -> Result<(), String> {
        Ok(())
    }
    fn build(&self, params: &Map<String, Value>, _: &Seat) -> Result<Box<dyn Stack>, String> {
        let how = params.get("how").and_then(Value::as_str).unwrap_or_default();
        assert!(how != "soon", "it breaks soon");
        Ok(Box::new(Breaks { waits: false, floods: how == "floods", due: (how == "due").then_some(Time::ZERO) }))
    }
}

/// The run ends with flow, packet and time, and the program runs on.
#[test]
fn a_stack_that_breaks_is_an_error_of_its_run() {
    let schema = json!({ "type": "object", "properties": { "how": { "type": "string", "description": "How it breaks." } } });
    register_stack("breaks", "It panics.", schema, Arc::new(Breaking)).unwrap();
    register("stop_and_wait").unwrap();
    let of = |stack: &str| {
        let options = Options { seeds: vec![1], threads: 1, ..Options::default() };
        run_all(&scenario(stack, "0.0").unwrap(), &options, &Progress::default()).map(|_| ()).map_err(|e| e.to_string())
    };
    // 29 bytes at 8 Mbit/s are 29 us.
    let late = "a transport stack failed at 20.029ms of simulated time\n\
                flow `f`, receiver, after packet 0 sent and 1 received: stack breaks panicked: it breaks";
    assert_eq!(of("\"breaks\"").unwrap_err(), late);
    let how = [
        ("soon", "stack breaks: it panicked: it breaks soon"),
        ("floods", "stack breaks sends without end at one instant"),
        ("due", "stack breaks has a deadline that is due all the time, and sends nothing"),
    ];
    for (word, message) in how {
        let error = of(&format!("{{ breaks = {{ how = \"{word}\" }} }}")).unwrap_err();
        assert!(error.contains("flow `f`, ") && error.contains(message), "{error}");
    }
    assert_eq!(of("\"stop_and_wait\""), Ok(()));
}
