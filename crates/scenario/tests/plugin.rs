//! Plug-in queues: found by name, checked like built-in ones, and able to end a run.

use fairlane_net::{Backlog, BuildContext, Packet, QCx, Qdisc};
use fairlane_queue::{Admit, Capabilities, Discipline, DropTail, Fifo, Limit, Problem};
use fairlane_scenario::{
    DynQdisc, Fault, Format, Options, Progress, QueuePlugin, RegisterError, Resolved, RunError, RunOutput, Simulation, fail, register,
    register_queue, resolve, run_all,
};
use fairlane_units::{Dur, Len, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// Tail drop one packet below its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct LessOneParams {
    /// One more than the queue holds.
    limit: Len,
}

impl Default for LessOneParams {
    fn default() -> Self {
        Self { limit: Len::Packets(50) }
    }
}

impl Discipline for LessOneParams {
    type Queue = Fifo<DropTail>;
    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        if self.limit == Len::Packets(13) { Err(Problem::new("limit", "thirteen is unlucky")) } else { Ok(()) }
    }
    fn build(&self, _: &BuildContext<'_>) -> Self::Queue {
        Fifo::new(DropTail, Limit::new(self.limit, Admit::Under))
    }
}

fn scenario(queue: &str) -> Result<Resolved, String> {
    let text = format!(
        "duration = \"5s\"\n[topology.dumbbell]\npairs = 2\naccess = {{ rate = \"100Mbit/s\", delay = \"1ms\" }}\n\
         [topology.dumbbell.bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\nqueue = {queue}\n\
         [flows.f]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\ncount = 2\ntcp = {{}}\n"
    );
    resolve(&text, "x.toml", Format::Toml, &[]).map_err(|e| e.to_string())
}

fn run(r: &Resolved) -> Result<RunOutput, RunError> {
    run_all(r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).map(|mut runs| runs.remove(0))
}

#[test]
fn a_rust_queue_of_ones_own_is_used_by_name() {
    register::<LessOneParams>("less_one").unwrap();
    let own = scenario("{ less_one = { limit = \"30p\" } }").unwrap();
    let built_in = scenario("{ droptail = { limit = \"30p\", admit = \"under\" } }").unwrap();
    assert_eq!(run(&own).unwrap().fingerprint, run(&built_in).unwrap().fingerprint);
    assert_eq!(Resolved::from_json(&own.to_json().to_string()).unwrap(), own);
    // Its default is written out, its parameters are checked in place.
    let v = scenario("\"Less_One\"").unwrap().to_json();
    assert_eq!(v["topology"]["dumbbell"]["bottleneck"]["queue"]["plugin"], json!({"name": "less_one", "params": {"limit": "50p"}}));
    let e = scenario("{ less_one = { limit = 30 } }").unwrap_err();
    assert!(e.contains("30p") && e.contains("x.toml:8"), "{e}");
    let e = scenario("{ less_one = { limt = \"30p\" } }").unwrap_err();
    assert!(e.contains("did you mean `limit`"), "{e}");
    assert!(scenario("{ less_one = { limit = \"13p\" } }").unwrap_err().contains("thirteen is unlucky"));
    assert!(scenario("\"less_on\"").unwrap_err().contains("less_one"));
    let e = scenario("{ plugin = { name = \"absent\" } }").unwrap_err();
    assert!(e.contains("queue `absent` is not loaded"), "{e}");
}

#[test]
fn names_are_checked() {
    assert_eq!(register::<LessOneParams>("RED"), Err(RegisterError::Taken("RED".into())));
    assert_eq!(register::<LessOneParams>("plugin"), Err(RegisterError::Taken("plugin".into())));
    assert_eq!(register::<LessOneParams>("a b"), Err(RegisterError::Name("a b".into())));
}

/// A FIFO that fails at its hundredth packet.
#[derive(Clone, Debug, Default)]
struct Weary {
    seen: u32,
    queue: VecDeque<Packet>,
    held: Backlog,
}

impl Qdisc for Weary {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        self.seen += 1;
        if self.seen == 100 {
            fail(Fault { what: "queue", time: cx.now, message: "too many packets".into(), interrupted: false });
        }
        self.held.add(&p);
        self.queue.push_back(p);
    }
    fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
        let p = self.queue.pop_front()?;
        self.held.sub(&p);
        Some(p)
    }
    fn backlog(&self) -> Backlog {
        self.held
    }
}

struct Maker;

impl QueuePlugin for Maker {
    fn check(&self, _: &Map<String, Value>, _: &BuildContext<'_>) -> Result<(), Problem> {
        Ok(())
    }
    fn build(&self, _: &Map<String, Value>, _: &BuildContext<'_>) -> Box<dyn DynQdisc> {
        Box::new(Weary::default())
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

#[test]
fn a_fault_ends_the_run_with_its_time() {
    register_queue(
        "weary",
        "A FIFO that gives up.",
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        Arc::new(Maker),
    )
    .unwrap();
    let e = run(&scenario("\"weary\"").unwrap()).unwrap_err();
    let RunError::Plugin(fault) = &e else { panic!("{e}") };
    assert!(fault.time > Time::ZERO && fault.time < Time::ZERO + Dur::from_secs(1), "{e}");
    assert!(e.to_string().contains("too many packets") && e.to_string().contains("of simulated time"), "{e}");
    // The thread is free for the next run.
    assert!(run(&scenario("\"droptail\"").unwrap()).is_ok());
}

/// Keeps a packet and claims that it may be sent at once.
#[derive(Clone, Debug, Default)]
struct Tease {
    held: Backlog,
    kept: Vec<Packet>,
}

impl Qdisc for Tease {
    fn enqueue(&mut self, p: Packet, _: &mut QCx<'_>) {
        self.held.add(&p);
        self.kept.push(p);
    }
    fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
        None
    }
    fn backlog(&self) -> Backlog {
        self.held
    }
    fn head(&self) -> Option<&Packet> {
        self.kept.first()
    }
    fn ready_at(&self) -> Option<Time> {
        Some(Time::ZERO)
    }
}

struct TeaseMaker;

impl QueuePlugin for TeaseMaker {
    fn check(&self, _: &Map<String, Value>, _: &BuildContext<'_>) -> Result<(), Problem> {
        Ok(())
    }
    fn build(&self, _: &Map<String, Value>, _: &BuildContext<'_>) -> Box<dyn DynQdisc> {
        Box::new(Tease::default())
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { shapes: true, ..Capabilities::default() }
    }
}

/// The link polls the queue for ever at one instant: the run ends, as a whole run and in a session, and names the place.
#[test]
fn a_run_in_which_time_stands_still_ends() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    register_queue("tease", "A queue that sends nothing.", schema, Arc::new(TeaseMaker)).unwrap();
    let scenario = scenario("\"tease\"").unwrap();
    let e = run(&scenario).unwrap_err();
    let RunError::Standstill { time, events, place } = &e else { panic!("{e}") };
    // The first packet arrives after crossing the access link.
    assert!(*time > Dur::from_ms(1) && *time < Dur::from_ms(2) && *events > 1 << 22, "{e}");
    assert!(place.contains("link `bottleneck`") && place.contains("queue `tease`") && place.contains("flow `f."), "{e}");
    let mut sim = Simulation::new(Arc::new(scenario), 1, false).unwrap();
    let end = sim.end();
    let in_hand = loop {
        match sim.advance(end) {
            Ok(there) => assert!(!there),
            Err(e) => break e,
        }
    };
    assert!(matches!(in_hand, RunError::Standstill { .. }), "{in_hand}");
    assert_eq!(sim.advance(end).unwrap_err(), in_hand);
}
