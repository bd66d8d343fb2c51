//! Any segments, in any state, with any options: see `harness.rs`.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(broken) = harness::run(data) {
        panic!("{broken}");
    }
});
