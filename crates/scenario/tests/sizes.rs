//! Components of a large network stay small: 100,000 pairs of hosts with their own links are 400,000 ports and 200,000 endpoints.

use fairlane_net::{Flow, Port};
use fairlane_scenario::{AnyEndpoint, AnyQdisc, LinkDir, Member};

#[test]
fn parts_of_a_network_are_small() {
    for (what, size, most) in [
        ("port", size_of::<Port<AnyQdisc>>(), 232),
        ("endpoint", size_of::<AnyEndpoint>(), 360),
        ("flow", size_of::<Flow>(), 368),
        ("link direction", size_of::<LinkDir>(), 40),
        ("member", size_of::<Member>(), 72),
    ] {
        assert!(size <= most, "{what}: {size} bytes, at most {most}");
    }
}
