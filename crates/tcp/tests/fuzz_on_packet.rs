//! The fuzz target with plain cargo: the committed corpus, each file of which once broke something, and random bytes.

#[path = "../../../fuzz/harness.rs"]
mod harness;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;

/// Number of random byte strings: half a second or so.
const RANDOM_RUNS: u32 = 20_000;

/// SplitMix64: bytes that are the same everywhere.
fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let len = (next() % 600) as usize;
    (0..len).map(|_| next() as u8).collect()
}

fn hex(data: &[u8]) -> String {
    data.iter().fold(String::new(), |mut s, b| {
        let _ = write!(s, "{b:02x}");
        s
    })
}

/// First violation during the life that `data` encodes, and where; `None` if there is none.
fn verdict(data: &[u8]) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| harness::run(data))) {
        Ok(Ok(_)) => None,
        Ok(Err(broken)) => Some(broken.split(": after").next().unwrap_or_default().to_owned()),
        Err(_) => Some(PLACE.lock().map_or_else(|e| e.into_inner().clone(), |p| p.clone())),
    }
}

/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut place) = PLACE.lock() {
            *place = info.to_string();
        }
    }));
}

fn report(found: &BTreeMap<String, String>) {
    let _ = std::panic::take_hook();
    assert!(found.is_empty(), "{}", found.iter().fold(String::new(), |all, (what, who)| all + what + "\n    " + who + "\n"));
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/on_packet");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        assert!(harness::run(&std::fs::read(&file).unwrap()).is_ok_and(|steps| steps > 0), "{}", file.display());
    }
}

/// Reports all violations, with the shortest life for each.
#[test]
fn random() {
    let runs = u64::from(fairlane_testkit::cases(RANDOM_RUNS));
    note_panics();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for seed in 0..runs {
        let data = random_bytes(seed);
        if let Some(what) = verdict(&data) {
            let told = hex(&data);
            let shortest = found.entry(what).or_insert_with(|| told.clone());
            if told.len() < shortest.len() {
                *shortest = told;
            }
        }
    }
    report(&found);
}
