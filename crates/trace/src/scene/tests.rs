//! Reads chunks back by their documented format and compares them with the input.

use super::encoding::{Zeros, apart, put, zigzag};
use super::*;

fn numbers(mut bytes: &[u8]) -> Vec<u64> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let (&byte, rest) = bytes.split_first().unwrap_or((&0, &[]));
            bytes = rest;
            value |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                break;
            }
        }
        out.push(value);
    }
    out
}

#[test]
fn numbers_take_seven_bits_a_byte() {
    // Examples of DWARF 5, section 7.6, for unsigned LEB128.
    for (value, bytes) in [(2, vec![2]), (127, vec![127]), (128, vec![0x80, 1]), (12857, vec![0xb9, 0x64])] {
        let mut out = Vec::new();
        put(&mut out, value);
        assert_eq!(out, bytes);
        assert_eq!(numbers(&out), [value]);
    }
}

#[test]
fn differences_are_small_whatever_their_sign() {
    assert_eq!([0, -1, 1, -2, i64::MAX].map(zigzag), [0, 1, 2, 3, u64::MAX - 1]);
    assert_eq!((apart(7, 9), apart(9, 7), apart(0, u64::MAX)), (3, 4, 2));
}

#[test]
fn runs_of_zeros_are_told_by_their_length() {
    let (mut zeros, mut out) = (Zeros::default(), Vec::new());
    for v in [5, 0, 0, 0, 7, 0] {
        zeros.put(&mut out, v);
    }
    zeros.end(&mut out);
    assert_eq!(out, [5, 0, 2, 7, 0, 0]);
}

#[test]
fn a_chunk_tells_of_the_end_of_a_stretch_by_differences() {
    let snapshot = |waits| Snapshot {
        links: vec![[1_000_000, 5_000_000, waits, waits * 1500, 0, 0, 0, 0, 0]],
        flows: vec![[0; OF_FLOW]],
        gauges: vec![(0, "avg", 0.5)],
    };
    let mut scene = Scene::new(1, &snapshot(0));
    let first = scene.chunk(Time::from_ps(3_000), snapshot(2));
    // First and named; every packet; 3 ns later; the link's values; ten zeros of the flow among 15; one gauge; no events.
    let bits = u64::from(0.5_f32.to_bits());
    let mut want = vec![0b11, 1, 3];
    for v in [2_000_000, 10_000_000, 4, 6000] {
        put(&mut want, v);
    }
    want.extend([0, 14, 1, 0, 3]);
    want.extend(b"avg");
    put(&mut want, 2 * bits);
    want.extend([0; 6]);
    assert_eq!(first, want);
    // No changes: fifteen, four and one zeros.
    let second = scene.chunk(Time::from_ps(5_000), snapshot(2));
    assert_eq!(second, [0, 2, 0, 18, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn events_are_sought_by_kind() {
    let mut scene = Scene::new(1, &Snapshot { links: vec![[0; OF_LINK]], flows: vec![[0; OF_FLOW]], gauges: vec![] });
    scene.seek(SeekTarget::Drop);
    scene.notice(Kind::Pass, true, Time::from_ps(1));
    assert_eq!(scene.found(), None);
    scene.notice(Kind::Out, false, Time::from_ps(2));
    scene.notice(Kind::Out, false, Time::from_ps(3));
    assert_eq!(scene.found(), Some(Time::from_ps(2)));
    scene.seek(SeekTarget::Mark);
    scene.notice(Kind::Go, true, Time::from_ps(4));
    assert_eq!(scene.found(), Some(Time::from_ps(4)));
    assert_eq!(SeekTarget::named("nothing"), None);
}
