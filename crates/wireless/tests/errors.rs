//! Frames that are lost by chance, and protection, compared with ns-3.37 with its own error rates (NistErrorRateModel): two runs of 4 to 10 s for each cell.

mod lab;

use fairlane_units::Dur;
use fairlane_wireless::*;
use lab::*;

fn by_rate(config: AirConfig) -> AirConfig {
    AirConfig { errors: Errors::Rates, ..config }
}

#[test]
fn hidden_stations_are_those_of_ns3() {
    let config = by_rate(ns3(-82.0, -82.0));
    for (dcf, theirs) in [(b11(), [3.4212, 3.2848]), (of("802.11a", 6_000), [1.2088, 4.5552]), (of("802.11a", 24_000), [9.7092, 12.0704])] {
        for (dcf, theirs) in [dcf.clone(), rts(dcf)].into_iter().zip(theirs) {
            let what = format!("2 hidden stations, {}, errors by rate", title(&dcf));
            near(&what, two(true, 0.0, dcf, &config).iter().sum(), theirs, 0.03);
        }
    }
}

#[test]
fn chains_and_saturation_are_those_of_ns3() {
    let config = by_rate(ns3(-64.37, -78.07));
    for (dcf, theirs) in [(b11(), [1.3896, 1.1984]), (rts(b11()), [0.9532, 0.8176])] {
        for (hops, goodput) in [4, 8].into_iter().zip(theirs) {
            near(&format!("{hops} hops, {}, errors by rate", title(&dcf)), chain(hops, dcf.clone(), &config, 30).goodput(), goodput, 0.04);
        }
    }
    let config = by_rate(ns3(-82.0, -82.0));
    for (n, dcf, goodput) in [(5, b11(), 5.192), (20, b11(), 4.735), (5, of("802.11a", 54_000), 24.58)] {
        let what = format!("{n} stations, {}, errors by rate", title(&dcf));
        near(&what, saturated(n, dcf, &config, 10).goodput(), goodput, 0.02);
    }
}

/// A link in noise alone loses what the formula says, and nothing else is to blame.
#[test]
fn noise_loses_frames_by_the_formula() {
    for (standard, kbps, db) in
        [("802.11b", 11_000, 6.5), ("802.11b", 11_000, 7.5), ("802.11b", 2_000, 1.5), ("802.11a", 54_000, 22.7), ("802.11a", 12_000, 7.0)]
    {
        let dcf = of(standard, kbps);
        let config = AirConfig { least: Power::ZERO, ..by_rate(ns3(-82.0, -82.0)) };
        let mut ears = together(2, |_, _| true);
        ears[1][0].power = Power::from_dbm(config.noise.dbm() + db);
        let lab = Lab::new(dcf.clone(), &AirConfig { detect_db: None, ..config }, ears, &[&[1, 0]], 5);
        let lab = lab.measure(Dur::from_ms(100), Dur::from_secs(60));
        let expected = 1.0 - errors::chance(dcf.data, db, 8512);
        let tolerance = 4.0 * (expected * (1.0 - expected) / lab.sum(|c| c.data_tx)).sqrt() + 0.02 * expected;
        assert!((lab.failure_rate() - expected).abs() < tolerance, "{kbps} at {db}: {}, not {expected}", lab.failure_rate());
        assert_eq!(lab.sum(|c| c.lost[Lost::Collision as usize]), 0.0);
        assert!((lab.sum(|c| c.lost[Lost::Noise as usize]) - (lab.sum(|c| c.data_tx) - lab.sum(|c| c.acked))).abs() <= 1.0);
    }
}

/// 802.11g at 54 Mbit/s, each frame behind a CTS at 1 Mbit/s, compared with ns-3 and with the sum of the durations for one station.
#[test]
fn protection_is_that_of_ns3() {
    let dcf = of("802.11g-protected", 54_000);
    for (n, goodput) in [(1, 10.766), (5, 10.648), (20, 9.237)] {
        near(&format!("{n} stations, {}", title(&dcf)), saturated(n, dcf.clone(), &ns3(-82.0, -82.0), 10).goodput(), goodput, 0.02);
    }
    let cycle = 50.0 + 7.5 * 20.0 + 304.0 + 10.0 + 186.0 + 10.0 + 34.0;
    near("1 station, CTS to self: the sum of its durations", saturated(1, dcf, &ns3(-82.0, -82.0), 10).goodput(), 8000.0 / cycle, 0.005);
}
