use super::*;

const G711: Impairment = Impairment { ie: 0.0, bpl: 25.1 };
const G729: Impairment = Impairment { ie: 11.0, bpl: 19.0 };

fn ms(n: u64) -> Dur {
    Dur::from_ms(n)
}

/// Constants that stand for the defaults of Table 2, from its values by the equations of clauses 7.2 and 7.3.
#[test]
fn constants_are_those_of_the_default_values() {
    let (slr, rlr, ds, dr, ps, pr, nc, nfor, stmr, qdu) = (8.0_f64, 2.0_f64, 3.0, 3.0, 35.0, 35.0, -70.0, -64.0, 15.0, 1.0_f64);
    let power = |db: f64| 10f64.powf(db / 10.0);
    let olr = slr + rlr;
    let nos = ps - slr - ds - 100.0 + 0.004 * (ps - olr - ds - 14.0_f64).powi(2);
    let pre = pr + 10.0 * (1.0 + power(10.0 - (stmr + dr))).log10();
    let nor = rlr - 121.0 + pre + 0.008 * (pre - 35.0).powi(2);
    let no = 10.0 * (power(nc) + power(nos) + power(nor) + power(nfor + rlr)).log10();
    let ro = 15.0 - 1.5 * (slr + no);
    assert!((ro - RO).abs() < 1e-4, "{ro}");
    assert!((no - rlr - NO_LESS_RLR).abs() < 1e-4, "{}", no - rlr);
    let xolr = olr + 0.2 * (64.0 + no - rlr);
    let iolr = 20.0 * ((1.0 + (xolr / 8.0).powi(8)).powf(1.0 / 8.0) - xolr / 8.0);
    // At no delay the talker's echo is added to the sidetone.
    let stmro = -10.0 * (power(-stmr) + power(-TELR)).log10();
    let smooth = |x: f64, n: f64| (1.0 + x.powf(n)).powf(1.0 / n);
    let ist =
        12.0 * smooth((stmro - 13.0) / 6.0, 8.0) - 28.0 * smooth((stmro + 1.0) / 19.4, 35.0) - 13.0 * smooth((stmro - 3.0) / 33.0, 13.0)
            + 29.0;
    let q = 37.0 - 15.0 * qdu.log10();
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let (y, z) = ((ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
    let iq = 15.0 * (1.0 + 10f64.powf(y) + 10f64.powf(z)).log10();
    assert!((iolr + ist + iq - IS).abs() < 1e-3, "{}", iolr + ist + iq);
}

/// Annex B: a rating of 93.2 is a MOS of 4.41, and Table B.1's limits of the categories of satisfaction.
#[test]
fn mos_of_known_ratings() {
    for (r, want) in [(93.2, 4.41), (90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58), (100.0, 4.5), (0.0, 1.0)] {
        assert!((mos(r) - want).abs() < 0.01, "{r}: {}", mos(r));
    }
    assert_eq!((mos(120.0), mos(3.0)), (4.5, 1.0));
    let all: Vec<f64> = (0..=1000).map(|i| mos(f64::from(i) / 10.0)).collect();
    assert!(all.is_sorted());
}

/// The default values of Table 2 give R = 93.2.
#[test]
fn a_call_without_impairments() {
    let r = rating(Dur::ZERO, 0.0, G711);
    assert!((r - 93.2).abs() < 0.05, "{r}");
    assert!((rating(Dur::ZERO, 0.0, G729) - (r - 11.0)).abs() < 1e-9);
}

/// Clause 7.4: Idd is 0 up to 100 ms, at 200 ms 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2), and at 400 ms that with X = 2.
#[test]
fn impairment_by_the_absolute_delay() {
    assert_eq!((absolute_delay(60.0), absolute_delay(100.0)), (0.0, 0.0));
    for (t, x) in [(200.0, 1.0_f64), (400.0, 2.0), (800.0, 3.0)] {
        let want = 25.0 * ((1.0 + x.powi(6)).powf(1.0 / 6.0) - 3.0 * (1.0 + (x / 3.0).powi(6)).powf(1.0 / 6.0) + 2.0);
        assert!((absolute_delay(t) - want).abs() < 1e-9, "{t}");
    }
}

/// Cole and Rosenbluth 2001 fit Id of G.107 at its default values by 0.024 d, and 0.11 (d - 177.3) more above 177.3 ms.
#[test]
fn impairment_by_delay_follows_the_fit_of_cole_and_rosenbluth() {
    for d in (0..=350).step_by(10) {
        let fit = 0.024 * d as f64 + 0.11 * (d as f64 - 177.3).max(0.0);
        assert!((delay_impairment(ms(d)) - fit).abs() < 2.5, "{d} ms: {} {fit}", delay_impairment(ms(d)));
    }
    // The model leaves out the talker's echo below 1 ms, which steps.
    assert!((1..500).map(|d| delay_impairment(ms(d))).is_sorted());
}

/// Clause 7.5: Ie,eff = Ie + (95 - Ie) Ppl / (Ppl + Bpl). With Ppl = Bpl it lies in the middle between Ie and 95.
#[test]
fn impairment_by_loss() {
    let without = rating(Dur::ZERO, 0.0, G711);
    assert!((without - rating(Dur::ZERO, 0.251, G711) - 95.0 / 2.0).abs() < 1e-9);
    assert!((without - rating(Dur::ZERO, 0.19, G729) - (11.0 + 95.0) / 2.0).abs() < 1e-9);
    assert!((without - rating(Dur::ZERO, 0.01, G711) - 95.0 / 26.1).abs() < 1e-9);
    assert_eq!(rating(ms(800), 1.0, G729), 0.0);
}
