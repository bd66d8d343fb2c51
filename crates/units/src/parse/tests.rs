use super::*;
use fairlane_testkit::cases;
use proptest::prelude::*;

#[test]
fn durations() {
    let d = |s| parse_dur(s).unwrap().as_ps();
    assert_eq!(d("20ms"), 20_000_000_000);
    assert_eq!(d(" 1.5 s "), 1_500_000_000_000);
    assert_eq!(d("0s"), 0);
    assert_eq!(d("1e-3s"), d("1ms"));
    assert_eq!(d("2.5E3us"), d("2.5ms"));
    assert_eq!(d("1h"), d("60min"));
    assert_eq!(d("0.1us"), 100_000);
    assert_eq!(d("7µs"), d("7us"));
    assert_eq!(d(".5ns"), 500);
    assert_eq!(d("1.00000000000000000000000000000000000s"), d("1s"));
    assert_eq!(d("18446744.073709551615s"), u64::MAX);
}

/// 0.1 + 0.2 style decimals are exact: no float in between.
#[test]
fn decimals_are_exact() {
    assert_eq!(parse_dur("0.3s").unwrap().as_ps(), 300_000_000_000);
    assert_eq!(parse_dur("123456.789012345678s").unwrap().as_ps(), 123_456_789_012_345_678);
    assert_eq!(parse_rate("1.544Mbit/s").unwrap().as_bps(), 1_544_000);
}

#[test]
fn rates() {
    let r = |s| parse_rate(s).unwrap().as_bps();
    for s in ["10Mbit/s", "10mbit", "10Mbit", "10 Mbit/s", "1.25MB/s", "10000kbit/s", "0.01Gbit/s", "10000000bit/s", "1250kB/s"] {
        assert_eq!(r(s), 10_000_000, "{s}");
    }
    assert_eq!(r("1MiB/s"), 8 << 20);
    assert_eq!(r("400Gbit/s"), 400_000_000_000);
}

#[test]
fn sizes() {
    let b = |s| parse_bytes(s).unwrap().get();
    assert_eq!((b("1500B"), b("64KiB"), b("10kB"), b("1.5MiB"), b("1MB"), b("0B")), (1500, 65_536, 10_000, 1_572_864, 1_000_000, 0));
    for s in ["50p", "50pkt", "50pkts", "50packets", "50 p"] {
        assert_eq!(parse_len(s).unwrap(), Len::Packets(50));
    }
    assert_eq!(parse_len("64KiB").unwrap(), Len::Bytes(65_536));
}

#[test]
fn errors_say_what_to_write() {
    let table: &[(Result<(), ParseError>, &str)] = &[
        (parse_rate("10").map(drop), "\"10\" is a bare number: write a rate with its unit, such as \"10Mbit/s\""),
        (parse_dur("0").map(drop), "\"0\" is a bare number: write a duration with its unit, such as \"20ms\""),
        (parse_dur("").map(drop), "empty: write a duration with its unit, such as \"20ms\""),
        (parse_dur("NaN").map(drop), "\"NaN\" does not begin with a number: write a duration with its unit, such as \"20ms\""),
        (parse_dur("infs").map(drop), "\"infs\" does not begin with a number: write a duration with its unit, such as \"20ms\""),
        (parse_rate("-5Mbit/s").map(drop), "\"-5Mbit/s\" is negative: write a rate with its unit, such as \"10Mbit/s\""),
        (
            parse_rate("10Mbps").map(drop),
            "\"10Mbps\" is ambiguous (\"Mbps\" is bits a second to most tools, bytes a second to tc): write \"10Mbit/s\" or \"10MB/s\"",
        ),
        (
            parse_rate("10Mb").map(drop),
            "\"10Mb\" is ambiguous (\"Mb\" is bit/s to ns-2, a size to others): write \"10Mbit/s\" or \"10MB/s\"",
        ),
        (
            parse_dur("5 parsecs").map(drop),
            "unknown unit \"parsecs\" in \"5 parsecs\": write a duration with its unit, such as \"20ms\"; units are ps, ns, us, ms, s, min, h",
        ),
        (parse_dur("0.5ps").map(drop), "\"0.5ps\" is not a whole number of picoseconds: round it"),
        (parse_rate("1.5bit/s").map(drop), "\"1.5bit/s\" is not a whole number of bit/s: round it"),
        (parse_len("2.5p").map(drop), "\"2.5p\" is not a whole number of packets or bytes: round it"),
        (parse_dur("1000000h").map(drop), "\"1000000h\" is too large: the most is \"18446744.073709551615s\" (213 days)"),
        (parse_bytes("1e300B").map(drop), "\"1e300B\" is too large: the most is \"18446744TB\""),
        (
            parse_bytes("64K").map(drop),
            "unknown unit \"K\" in \"64K\": write a size with its unit, such as \"1500B\" or \"64KiB\"; units are B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
        ),
    ];
    for (got, want) in table {
        assert_eq!(got.as_ref().unwrap_err().to_string(), *want);
    }
}

#[test]
fn long_digit_strings_are_errors_not_wraps() {
    assert!(matches!(parse_dur(&format!("{}s", "9".repeat(100))), Err(ParseError::TooLarge { .. })));
    assert!(matches!(parse_dur(&format!("0.{}s", "3".repeat(100))), Err(ParseError::TooFine { .. })));
    assert!(matches!(parse_dur("1e-99999999999s"), Err(ParseError::TooFine { .. })));
    assert!(matches!(parse_dur("18446744.073709551616s"), Err(ParseError::TooLarge { .. })));
    assert_eq!(parse_dur("0e999999999999s").unwrap(), Dur::ZERO);
    assert_eq!(parse_dur(&format!("1{}e-100s", "0".repeat(100))).unwrap(), Dur::from_secs(1));
}

#[test]
fn canonical_text() {
    let d = |ps| Dur::from_ps(ps).to_string();
    assert_eq!((d(0), d(20_000_000_000), d(1_500_000_000_000)), ("0s".into(), "20ms".into(), "1.5s".into()));
    assert_eq!((d(13_246_000_000), d(7), d(100_000_000_000_000)), ("13.246ms".into(), "7ps".into(), "100s".into()));
    let r = |b| Rate::from_bps(b).to_string();
    assert_eq!((r(10_000_000), r(1_544_000), r(0)), ("10Mbit/s".into(), "1.544Mbit/s".into(), "0bit/s".into()));
    let b = |n| Bytes(n).to_string();
    assert_eq!((b(1500), b(65_536), b(1_000_000), b(1000)), ("1500B".into(), "64KiB".into(), "1MB".into(), "1000B".into()));
    assert_eq!(Len::Packets(50).to_string(), "50p");
    assert_eq!(format!("{:>6}|{:?}", Dur::from_ms(5), Rate::from_mbps(1)), "   5ms|1Mbit/s");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]
    #[test]
    fn text_reads_back(n: u64, shift in 0_u32..64) {
        let n = n >> shift;
        prop_assert_eq!(parse_dur(&Dur::from_ps(n).to_string()), Ok(Dur::from_ps(n)));
        prop_assert_eq!(parse_rate(&Rate::from_bps(n).to_string()), Ok(Rate::from_bps(n)));
        prop_assert_eq!(parse_bytes(&Bytes(n).to_string()), Ok(Bytes(n)));
        for len in [Len::Packets(n), Len::Bytes(n)] {
            prop_assert_eq!(parse_len(&len.to_string()), Ok(len));
        }
    }

    /// Round decimal values too: they take the short branch of the printer.
    #[test]
    fn round_values_read_back(n in 0_u64..100_000, e in 0_u32..14) {
        let n = n * 10_u64.pow(e);
        prop_assert_eq!(parse_dur(&Dur::from_ps(n).to_string()), Ok(Dur::from_ps(n)));
        prop_assert_eq!(parse_bytes(&Bytes(n).to_string()), Ok(Bytes(n)));
    }

    #[test]
    fn any_text_is_a_value_or_an_error(s in "\\PC{0,24}", t in "[0-9.eE+-]{0,30}(s|Mbit/s|B|p)?") {
        for s in [&s, &t] {
            let _ = (parse_dur(s), parse_rate(s), parse_bytes(s), parse_len(s));
        }
    }
}
