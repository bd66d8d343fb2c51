mod toy;
use fairlane_units::*;
use toy::*;
#[test]
#[ignore]
fn speed() {
    let d = Dumbbell {
        flows: 16,
        window: 50,
        limit: 1000,
        access: (Rate::from_mbps(1000), Dur::from_ms(1)),
        bottleneck: (Rate::from_mbps(100), Dur::from_ms(20)),
        loss: 0.0,
        duplicate: 0.0,
        seed: 1,
    };
    for _ in 0..3 {
        let mut w = d.build();
        let t = std::time::Instant::now();
        w.advance(Time::ZERO + Dur::from_secs(60), u64::MAX, &mut ());
        let dt = t.elapsed().as_nanos() as f64;
        eprintln!("{} hops, {} events, {:.1} ns/hop fp {:x}", w.packet_hops(), w.events(), dt / w.packet_hops() as f64, w.fingerprint());
    }
}
