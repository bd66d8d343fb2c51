//! Plug-in congestion controls: found by name, checked like built-in ones, and able to end a run.

use fairlane_scenario::{Fault, Format, Options, Progress, Resolved, RunError, RunOutput, fail, resolve, run_all};
use fairlane_tcp::cc::{
    AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, LossBased, RecoveryExit, RegisterCcError, Window, register_cc,
};
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Additive increase by a, multiplicative decrease by b.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct AimdParams {
    /// Segments per round-trip time.
    #[schemars(range(min = 0.0))]
    a: f64,
    /// Share of the window lost per loss event.
    #[schemars(range(min = 0.0, max = 1.0))]
    b: f64,
}

impl Default for AimdParams {
    fn default() -> Self {
        Self { a: 1.0, b: 0.5 }
    }
}

impl Algorithm for AimdParams {
    type State = Aimd;
    fn check(&self) -> Result<(), String> {
        if self.a == 13.0 { Err("thirteen is unlucky".into()) } else { Ok(()) }
    }
    fn build(&self, context: &CcContext<'_>) -> Aimd {
        Aimd { w: Window::new(context.config), p: self.clone() }
    }
}

#[derive(Clone, Debug)]
struct Aimd {
    w: Window,
    p: AimdParams,
}

impl LossBased for Aimd {
    fn window(&self) -> &Window {
        &self.w
    }
    fn window_mut(&mut self) -> &mut Window {
        &mut self.w
    }
    fn increase(&mut self, s: &AckSample) {
        if !self.w.unused(s)
            && let Some(n) = self.w.slow_start(s)
        {
            self.w.cwnd += self.p.a * n / self.w.cwnd;
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        self.w.basis(e) * (1.0 - self.p.b)
    }
}

fn scenario(tcp: &str, sets: &[(&str, &str)]) -> Result<Resolved, String> {
    let text = format!(
        "duration = \"5s\"\n[topology.dumbbell]\npairs = 2\naccess = {{ rate = \"100Mbit/s\", delay = \"1ms\" }}\n\
         [topology.dumbbell.bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\n\
         [flows.f]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\ncount = 2\ntcp = {tcp}\n"
    );
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    resolve(&text, "x.toml", Format::Toml, &sets).map_err(|e| e.to_string())
}

fn run(r: &Resolved) -> Result<RunOutput, RunError> {
    run_all(r, &Options { seeds: vec![1], threads: 1, ..Options::default() }, &Progress::default()).map(|mut runs| runs.remove(0))
}

fn cc(r: &Resolved) -> serde_json::Value {
    r.to_json()["flows"]["f"]["tcp"]["cc"].clone()
}

#[test]
fn a_congestion_control_of_ones_own_is_used_by_name() {
    register_cc::<AimdParams>("aimd").unwrap();
    let own = scenario("{ cc.aimd = { b = 0.5 } }", &[]).unwrap();
    let built_in = scenario("\"sack\"", &[]).unwrap();
    assert_eq!(run(&own).unwrap().fingerprint, run(&built_in).unwrap().fingerprint);
    let gentle = scenario("{ cc.aimd = { a = 0.2, b = 0.125 } }", &[]).unwrap();
    assert_ne!(run(&gentle).unwrap().fingerprint, run(&built_in).unwrap().fingerprint);
    assert_eq!(Resolved::from_json(&own.to_json().to_string()).unwrap(), own);
    // Its defaults are written out, in any spelling.
    let full = json!({"plugin": {"name": "aimd", "params": {"a": 1.0, "b": 0.5}}});
    for tcp in ["\"AIMD\"", "{ cc = \"aimd\" }", "{ cc.aimd = {} }", "{ preset = \"ns3\", cc = \"aimd\" }"] {
        assert_eq!(cc(&scenario(tcp, &[]).unwrap()), full, "{tcp}");
    }
    // An option changes the same algorithm and replaces another.
    let set = [("flows.f.tcp.cc.aimd.a", "2.0")];
    assert_eq!(cc(&scenario("{ cc.aimd = { b = 0.25 } }", &set).unwrap())["plugin"]["params"], json!({"a": 2.0, "b": 0.25}));
    register_cc::<AimdParams>("aimd2").unwrap();
    let set = [("flows.f.tcp.cc", "aimd2")];
    assert_eq!(
        cc(&scenario("{ cc.aimd = { b = 0.25 } }", &set).unwrap())["plugin"],
        json!({"name": "aimd2", "params": {"a": 1.0, "b": 0.5}})
    );
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    register_cc::<AimdParams>("aimd").unwrap();
    for (tcp, said) in [
        ("{ cc.aimd = { c = 1.0 } }", "unknown key `c`"),
        ("{ cc.aimd = { b = 1.5 } }", "allowed is 0 to 1"),
        ("{ cc.aimd = { b = \"half\" } }", "a number"),
        ("{ cc.aimd = { a = 13.0 } }", "thirteen is unlucky"),
        ("{ cc = \"aimt\" }", "aimd"),
        ("{ cc.plugin = { name = \"absent\" } }", "no congestion control `absent` is loaded"),
    ] {
        let e = scenario(tcp, &[]).unwrap_err();
        assert!(e.contains(said) && e.contains("x.toml:12"), "{tcp}: {e}");
    }
}

#[test]
fn names_are_checked() {
    assert_eq!(register_cc::<AimdParams>("Reno"), Err(RegisterCcError::Taken("Reno".into())));
    assert_eq!(register_cc::<AimdParams>("plugin"), Err(RegisterCcError::Taken("plugin".into())));
    assert_eq!(register_cc::<AimdParams>("a b"), Err(RegisterCcError::Name("a b".into())));
}

/// Parameters without a schema check, for an endpoint outside of a scenario.
#[test]
fn endpoints_check_them_too() {
    register_cc::<AimdParams>("aimd").unwrap();
    let message = |v| fairlane_tcp::resolve_params(v).unwrap_err().to_string();
    assert!(message(json!({"cc": {"aimd": {"c": 1}}})).contains("known: a, b"));
    assert!(message(json!({"cc": {"aimd": {"b": 2}}})).contains("out of range"));
    assert!(message(json!({"cc": {"aimd": {"b": "x"}}})).contains("not a number"));
    assert!(message(json!({"cc": "aimed"})).contains("aimd"));
    assert_eq!(fairlane_tcp::resolve_params(json!({"cc": "AIMD"})).unwrap().cc.name(), "aimd");
}

/// A fixed window that fails at its hundredth acknowledgment.
#[derive(Clone, Debug, Default)]
struct Weary {
    seen: u32,
    flow: String,
}

impl CongestionControl for Weary {
    fn on_established(&mut self, _: Time, _: u64) {}
    fn on_ack(&mut self, s: &AckSample) {
        self.seen += 1;
        if self.seen == 100 {
            fail(Fault { what: "congestion control", time: s.now, message: format!("{} is tired", self.flow), interrupted: false });
        }
    }
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}
    fn on_idle_restart(&mut self, _: Time, _: u64) {}
    fn cwnd(&self) -> u64 {
        14_600
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

/// No parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct WearyParams {}

impl Algorithm for WearyParams {
    type State = Weary;
    fn build(&self, context: &CcContext<'_>) -> Weary {
        Weary { seen: 0, flow: context.flow.to_owned() }
    }
}

#[test]
fn a_fault_ends_the_run_with_its_time() {
    register_cc::<WearyParams>("weary").unwrap();
    let e = run(&scenario("\"weary\"", &[]).unwrap()).unwrap_err();
    let RunError::Plugin(fault) = &e else { panic!("{e}") };
    assert!(fault.time > Time::ZERO && fault.time < Time::ZERO + Dur::from_secs(1), "{e}");
    let text = e.to_string();
    assert!(
        text.contains("a plug-in congestion control failed") && (text.contains("f.0 is tired") || text.contains("f.1 is tired")),
        "{e}"
    );
    // The thread is free for the next run.
    assert!(run(&scenario("\"reno\"", &[]).unwrap()).is_ok());
}
