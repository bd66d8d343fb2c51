//! Reconnecting flows: packets of the earlier connection are counted and delivered to no endpoint, and a world between two connections can be branched.

use fairlane_scenario::{Format, Simulation, resolve};
use fairlane_units::Time;
use std::sync::Arc;

const FILE: &str = r#"
duration = "20s"
[links.out]
from = "a"
to = "b"
rate = "1Mbit/s"
delay = "100ms"
queue.droptail.limit = "40p"
[flows.web]
from = "a"
to = "b"
tcp = "newreno"
source.file.size = "100kB"
[[at]]
time = "1s"
set = { "flows.web.stop" = "1s" }
[[at]]
time = "1s"
set = { "flows.web.start" = "1s" }
[[at]]
time = "10s"
set = { "flows.web.stop" = "10s" }
[[at]]
time = "10s"
set = { "flows.web.start" = "12s" }
"#;

#[test]
fn each_connection_delivers_its_own() {
    let scenario = Arc::new(resolve(FILE, "x.toml", Format::Toml, &[]).unwrap());
    let mut sim = Simulation::new(scenario, 1, true).unwrap();
    let to = |sim: &mut Simulation, s: f64| {
        while !sim.advance(Time::from_ps((s * 1e12) as u64)).unwrap() {}
        let row = sim.flow(0);
        row.iter().find(|r| r.1 == "delivered").map(|r| format!("{:?}", r.2)).unwrap()
    };
    let cut = to(&mut sim, 1.0);
    let mut other = sim.branch(None);
    assert_eq!(to(&mut sim, 1.2), cut, "packets in flight at 1 s are not delivered");
    let count = |text: &str| text.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap();
    let (cut, once) = (count(&cut), count(&to(&mut sim, 9.0)));
    assert!(cut > 0 && cut < 100_000);
    assert_eq!(once, cut + 100_000);
    assert_eq!(count(&to(&mut sim, 20.0)), once + 100_000);
    to(&mut other, 20.0);
    assert_eq!(other.fingerprint(), sim.fingerprint());
}
