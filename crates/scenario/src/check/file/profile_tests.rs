use super::*;

const MS: u64 = 1_000_000_000;

fn ok(text: &str) -> Vec<u64> {
    let list = read(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(check(&list), Ok(()), "{text}");
    list
}

#[test]
fn columns_have_units_in_any_order() {
    let want = vec![7, 0, 10_000_000, 25 * MS, 10_000_000, 1000 * MS, 2_500_000, 30 * MS + MS / 2, 0];
    for text in [
        "time_s,rate_mbps,delay_ms,loss\n0,10,25,0.01\n1,2.5,30.5,0\n",
        "# mine\n Loss (%) ; Delay [us] ; Time (ms) ; Bandwidth (kbit/s)\n1;25000;0;10000\n\n0; 30500; 1000 ;2500\n",
        "timestamp ns\trate bit/s\trtt_ms_avg\tplr\tnote\n500\t1e7\t50\t.01\tx\n1000000500\t2500000\t61\t0\ty\n",
    ] {
        assert_eq!(ok(text), want, "{text}");
    }
    // A duration holds, also the last one.
    assert_eq!(ok("duration_s,latency_ms\n2,10\n3,20\n"), vec![2, 0, 10 * MS, 2000 * MS, 20 * MS, 5000 * MS, 20 * MS]);
}

/// The header of the log of ERRANT (option `-l`), with values of its `profiles.csv` (telia, sweden, 4G, good).
#[test]
fn a_log_of_errant() {
    let log = "time,operator,country,technology,quality,download,upload,rtt,loss\n1700000000,telia,sweden,4g,good,53954.87,21181.03,91.85,0\n1700000010,telia,sweden,4g,bad,3295.67,149.75,112.9,1\n";
    let want = vec![15, 0, 53_954_870, 45_925_000_000, 0, 21_181_030, 10_000 * MS, 3_295_670, 56_450_000_000, 10_000_000, 149_750];
    assert_eq!(ok(log), want);
}

/// Hypatia's `networkx_rtt_A_to_B.txt`: nanoseconds and RTT; an RTT of 0 is no path.
#[test]
fn round_trips_of_hypatia() {
    let list = ok("0,40000000.0000000000\n100000000,40200000.5\n200000000,0.0000000000\n");
    assert_eq!(list, vec![6, 0, 20 * MS, 0, 100 * MS, 20_100_000_250, 0, 200 * MS, 20_100_000_250, ALL, 300 * MS, 20_100_000_250, ALL]);
}

/// Lines as the emulator of LeoEM reads them: cycle (a second), path, number of nodes, delays, their sum in seconds.
#[test]
fn paths_of_leoem() {
    let list = ok("1$[-1, 749, 8, -2]$4$[0.002, 0.003, 0.004]$0.009\n2$NULL\n3$[-1, 8, -2]$3$[0.002, 0.003]$0.005\n");
    assert_eq!(list, vec![6, 0, 9 * MS, 0, 1000 * MS, 9 * MS, ALL, 2000 * MS, 5 * MS, 0, 3000 * MS, 5 * MS, 0]);
}

#[test]
fn json_of_irtt() {
    let trip = |n: u64, lost: &str, rtt: &str| {
        format!(
            "{{\"seqno\":{n},\"lost\":\"{lost}\",\"timestamps\":{{\"client\":{{\"receive\":{{}},\"send\":{{\"wall\":9,\"monotonic\":{}}}}}}},\"delay\":{{{rtt}}}}}",
            500 + n * 20_000_000
        )
    };
    let trips = [trip(0, "false", "\"rtt\":30000000"), trip(1, "true", ""), trip(2, "false", "\"rtt\":40000000")].join(",");
    let list = ok(&format!("{{\"version\":{{}},\"round_trips\":[{trips}]}}"));
    assert_eq!(list, vec![6, 0, 15 * MS, 0, 20 * MS, 15 * MS, ALL, 40 * MS, 20 * MS, 0, 60 * MS, 20 * MS, 0]);
    assert!(read(b"{\"a\": 1}").unwrap_err().contains("round_trips"));
    assert!(read(b"{\"round_trips\": [").unwrap_err().contains("damaged"));
}

/// Lines of ping of iputils 20221126: with the interval of the summary, or with stamps (`-D`); a missing number is a loss.
#[test]
fn output_of_ping() {
    let head = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n";
    let line = |n: u32, ms: &str| format!("64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time={ms} ms\n");
    let end = "\n--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 received, 25% packet loss, time 600ms\nrtt min/avg/max/mdev = 10.0/20.0/30.0/8.1 ms\n";
    let text = format!("{head}{}{}no answer yet for icmp_seq=3\n{}{end}", line(1, "10.0"), line(2, "20.4"), line(4, "30"));
    let want =
        vec![6, 0, 5 * MS, 0, 200 * MS, 10_200_000_000, 0, 400 * MS, 10_200_000_000, ALL, 600 * MS, 15 * MS, 0, 800 * MS, 15 * MS, 0];
    assert_eq!(ok(&text), want);
    let stamped = format!("{head}[1700000000.510000] {}[1700000001.520000] {}", line(1, "10"), line(2, "20"));
    assert_eq!(ok(&stamped), vec![2, 0, 5 * MS, 1000 * MS, 10 * MS, 2000 * MS, 10 * MS]);
    assert!(read(head.as_bytes()).unwrap_err().contains("no line of ping"));
}

#[test]
fn what_is_no_profile_is_said_with_its_line() {
    for (text, what) in [
        ("time_s,delay\n0,1\n", "line 1: the column `delay` has no known unit: write `delay_ms`"),
        ("time,delay_ms\n0,1\n", "line 1: the column `time` has no known unit: write `time_s`"),
        ("rate_mbps,delay_ms\n0,1\n", "one column must be the time"),
        ("time_s,duration_s,delay_ms\n0,1,1\n", "one column must be the time"),
        ("time_s,colour\n0,1\n", "no column is a rate, a delay or a loss"),
        ("time_s,delay_ms,rtt_ms,latency_ms\n0,1,1,1\n", "the columns `delay_ms` and `latency_ms` are the same value"),
        ("time_s,delay_ms\n0,1\n1\n", "line 3 has 1 columns, and the header 2"),
        ("time_s,delay_ms\n0,1\n0,2\n", "line 3 is not later than the one before"),
        ("time_s,delay_ms\n0,\n", "line 2: `` is not a number"),
        ("time_s,delay_ms\n0,-5\n", "line 2: a value is negative"),
        ("0 5\n", "line 1: `0 5` is neither a header"),
    ] {
        let e = read(text.as_bytes()).unwrap_err();
        assert!(e.contains(what) && !e.contains('\n'), "{text}: {e}");
    }
    assert!(check(&read(b"time_s,loss\n0,1.5\n").unwrap()).unwrap_err().contains("above 1"));
    assert_eq!(read(b"time_s,loss\n"), Ok(vec![]));
}

#[test]
fn shipped_profiles_are_profiles() {
    for (name, rows, linear) in [("leo", 61, true), ("5g_drive", 601, false), ("cable", 0, true)] {
        let list = named(name).unwrap().unwrap();
        assert_eq!(check(&list), Ok(()), "{name}");
        let profile = Profile::new(list.into());
        assert!(rows == 0 || profile.rows() == rows, "{name}: {}", profile.rows());
        assert_eq!(profile.is_linear(), linear);
        assert!(profile.has(Value::Rate) && profile.has(Value::Delay));
    }
    assert!(named("moon").is_none());
}
