//! Repeated transfers over TCP against queueing theory: one flow is a FCFS queue (Pollaczek and Khinchine), many flows
//! that a link serves in turn are processor sharing (Kleinrock, Queueing Systems volume 2, section 4.4).

use fairlane_scenario::{Format, Options, Progress, resolve, run_all};

/// Mean transaction time in seconds, and number of transactions, over all flows and some seeds.
fn transfers(count: u32, queue: &str, source: &str) -> (f64, f64) {
    let text = format!(
        "duration = \"600s\"\nwarmup = \"20s\"\n[topology.dumbbell]\npairs = {count}\n\
         access = {{ rate = \"10Gbit/s\", delay = \"0s\" }}\n\
         bottleneck = {{ rate = \"10Mbit/s\", delay = \"10us\", queue = {queue} }}\n\
         [flows.f]\nfrom = \"s{{i}}\"\nto = \"d{{i}}\"\ncount = {count}\nstart = \"1ms\"\ntcp = {{ cc = \"newreno\", receive_window = \"1GB\" }}\n\
         source.file = {source}\n"
    );
    let r = resolve(&text, "x.toml", Format::Toml, &[]).unwrap_or_else(|e| panic!("{e}"));
    let runs = run_all(&r, &Options { seeds: vec![1, 2, 3, 4], threads: 2, ..Options::default() }, &Progress::default()).unwrap();
    let (mut sum, mut n) = (0.0, 0.0);
    for run in &runs {
        let column = |name: &str| &run.flows.numbers.iter().find(|c| c.0 == name).unwrap().1;
        for (k, mean) in column("transactions").iter().zip(column("transaction_time_mean")) {
            if *k > 0.0 {
                sum += k * mean;
                n += k;
            }
        }
    }
    (sum / n, n)
}

const FIFO: &str = "{ droptail = { limit = \"1000000p\" } }";

/// Time of a 100 kB transfer on an idle link: 69 segments with their headers at 10 Mbit/s, and little else.
const SERVICE: f64 = 0.0823;
/// Offered load: 100 kB on average every 8 * SERVICE.
fn at_load(rho: f64, sizes: &str) -> String {
    format!("{{ size = \"100kB\", sizes = \"{sizes}\", rate = \"{}bit/s\" }}", (800_000.0 * rho / SERVICE) as u64)
}

#[test]
fn an_idle_link_takes_the_service_time() {
    let (mean, n) = transfers(1, FIFO, "{ size = \"100kB\", gap = \"2s\" }");
    assert!((mean / SERVICE - 1.0).abs() < 0.02, "{mean}");
    // A closed loop: one transfer per gap and service time.
    assert!((n / (4.0 * 580.0 / (2.0 + SERVICE)) - 1.0).abs() < 0.1, "{n}");
}

/// M/D/1 and M/M/1: service + rho service (1 + cv^2) / (2 (1 - rho)).
#[test]
fn one_flow_is_first_come_first_served() {
    for (sizes, cv2) in [("fixed", 0.0), ("exponential", 1.0)] {
        let (mean, n) = transfers(1, FIFO, &at_load(0.6, sizes));
        let want = SERVICE * (1.0 + 0.6 * (1.0 + cv2) / (2.0 * 0.4));
        assert!(n > 10_000.0 && (mean / want - 1.0).abs() < 0.06, "{sizes}: {mean} {want} {n}");
    }
}

/// M/G/1 with processor sharing: service / (1 - rho), for any distribution of the sizes.
#[test]
fn many_flows_share_the_processor() {
    for sizes in ["fixed", "exponential"] {
        let one = at_load(0.6 / 40.0, sizes);
        let (mean, n) = transfers(40, "\"drr\"", &one);
        let want = SERVICE / 0.4;
        assert!(n > 10_000.0 && (mean / want - 1.0).abs() < 0.1, "{sizes}: {mean} {want} {n}");
    }
}
