//! Congestion controls and wireless stations allocate nothing per packet, once rings have grown to the load.

mod counting;

use fairlane_engine::QuadHeap;
use fairlane_scenario::{Format, resolve, world};
use fairlane_tcp::CcParams;
use fairlane_units::{Dur, Time};

const MESH: &str = include_str!("../../../examples/wireless_mesh.toml");
const SCENARIO: &str = include_str!("../../../examples/tcp_variants.toml");

/// A single test, so that nothing else in this process allocates meanwhile.
#[test]
fn no_congestion_control_and_no_station_allocates_per_packet() {
    for cc in CcParams::ALL {
        for preset in ["rfc", "linux"] {
            let sets = [("flows.tcp.tcp.preset", preset), ("flows.tcp.tcp.cc", cc.name), ("duration", "60s")];
            let sets = sets.map(|(path, value)| (path.to_owned(), value.to_owned()));
            let scenario = resolve(SCENARIO, "tcp_variants.toml", Format::Toml, &sets).unwrap();
            let mut world = world::<QuadHeap<u64>>(&scenario, 1).unwrap();
            let mut to = |seconds| while !world.advance(Time::ZERO + Dur::from_secs(seconds), u64::MAX, &mut ()) {};
            to(30);
            let before = counting::calls();
            to(60);
            let (calls, packets) = (counting::calls() - before, world.packet_hops());
            // A ring or a list may double again in a rare burst.
            assert!(packets > 20_000 && calls <= 60, "{} under {preset} asked for memory {calls} times", cc.name);
        }
    }
    let scenario = resolve(MESH, "wireless_mesh.toml", Format::Toml, &[("duration".to_owned(), "60s".to_owned())]).unwrap();
    let mut world = world::<QuadHeap<u64>>(&scenario, 1).unwrap();
    let mut to = |seconds| while !world.advance(Time::ZERO + Dur::from_secs(seconds), u64::MAX, &mut ()) {};
    to(30);
    let before = counting::calls();
    to(60);
    let (calls, events) = (counting::calls() - before, world.events());
    assert!(events > 100_000 && calls <= 100, "a mesh of stations asked for memory {calls} times in {events} events");
}
