use super::*;

/// Example of `Encodings.md`: 1, 2, 3, 4, 5 has the first value 1, a minimum delta of 1, and no bits beyond.
#[test]
fn differences_that_are_all_the_same_take_no_bits() {
    let mut out = Vec::new();
    pages::delta(&mut out, &[1, 2, 3, 4, 5]);
    assert_eq!(out, [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
}

/// Second example: 7, 5, 3, 1, 2, 3, 4, 5 has deltas of -2 and 1; the excess over -2 takes one byte here.
#[test]
fn differences_above_the_least() {
    let mut out = Vec::new();
    pages::delta(&mut out, &[7, 5, 3, 1, 2, 3, 4, 5]);
    let mut expected = vec![0x80, 1, 4, 8, 14, 3, 8, 0, 0, 0];
    expected.extend([0, 0, 0, 3, 3, 3, 3]);
    expected.resize(10 + 32, 0);
    assert_eq!(out, expected);
}

#[test]
fn differences_of_any_size() {
    let values: Vec<i64> = (0..1000).map(|i| if i % 3 == 0 { i64::MIN + i } else { i64::MAX - i * 7 }).collect();
    let mut out = Vec::new();
    pages::delta(&mut out, &values);
    assert_eq!(undelta(&out), values);
    for n in [0, 1, 2, 32, 33, 129, 130, 257] {
        let values: Vec<i64> = (0..n).map(|i| i * i * 1_000_003).collect();
        let mut out = Vec::new();
        pages::delta(&mut out, &values);
        assert_eq!(undelta(&out), values);
    }
}

fn unvarint(bytes: &mut &[u8]) -> u64 {
    let (mut out, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        out |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return out;
        }
    }
}

fn unzigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// Decodes by the specification, one value after the other.
fn undelta(mut bytes: &[u8]) -> Vec<i64> {
    let b = &mut bytes;
    let (block, parts, n) = (unvarint(b) as usize, unvarint(b) as usize, unvarint(b) as usize);
    let first = unzigzag(unvarint(b));
    if n == 0 {
        return Vec::new();
    }
    let mut out = vec![first];
    while out.len() < n {
        let least = unzigzag(unvarint(b));
        let (widths, rest) = b.split_at(parts);
        *b = rest;
        for width in widths {
            if out.len() == n {
                break;
            }
            let (part, rest) = b.split_at(block / parts * usize::from(*width) / 8);
            *b = rest;
            for i in 0..block / parts {
                let mut value = [0; 8];
                let w = usize::from(*width) / 8;
                value[..w].copy_from_slice(&part[i * w..(i + 1) * w]);
                if out.len() < n {
                    let last = *out.last().unwrap();
                    out.push(last.wrapping_add(least).wrapping_add(u64::from_le_bytes(value) as i64));
                }
            }
        }
    }
    assert!(b.is_empty());
    out
}

/// `Encodings.md`: bits from the lowest up, eight values per group.
#[test]
fn levels_and_places() {
    let mut out = Vec::new();
    pages::levels(&mut out, &[0b1000_0101, 1], 9, 4);
    assert_eq!(out, [3, 0, 0, 0, 2 << 1 | 1, 0b1000_0101, 1]);
    out.clear();
    pages::levels(&mut out, &[0, 0], 9, 0);
    assert_eq!(out, [2, 0, 0, 0, 9 << 1, 0]);
    out.clear();
    pages::indices(&mut out, &[1, 0, 2]);
    assert_eq!(out, [8, 3, 1, 0, 2, 0, 0, 0, 0, 0]);
    out.clear();
    pages::indices(&mut out, &[7; 100]);
    assert_eq!(out, [8, 200, 1, 7]);
}
