//! Encodings of Parquet pages.
//!
//! Source: `Encodings.md` of apache/parquet-format. All numbers take whole bytes, though the format allows any number of bits: this is faster, and
//! repetitions in event tables are repetitions of bytes, which the compression finds.

use crate::varint::{varint, zigzag};

/// Values per block of `DELTA_BINARY_PACKED`, and per miniblock.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Encodes `DELTA_BINARY_PACKED`.
pub(super) fn delta(out: &mut Vec<u8>, values: &[i64]) {
    varint(out, BLOCK as u64);
    varint(out, (BLOCK / PART) as u64);
    varint(out, values.len() as u64);
    varint(out, zigzag(values.first().copied().unwrap_or(0)));
    let mut before = values.first().copied().unwrap_or(0);
    let mut steps = [0_i64; BLOCK];
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        let mut least = i64::MAX;
        for (step, &value) in steps.iter_mut().zip(block) {
            *step = value.wrapping_sub(before);
            before = value;
            least = least.min(*step);
        }
        varint(out, zigzag(least));
        let widths = out.len();
        out.extend_from_slice(&[0; BLOCK / PART]);
        for (i, part) in steps[..block.len()].chunks(PART).enumerate() {
            let all = part.iter().fold(0, |all, step| all | step.wrapping_sub(least) as u64);
            let width = (64 - all.leading_zeros()).div_ceil(8) as usize;
            out[widths + i] = 8 * width as u8;
            // The last miniblock is written whole.
            let begin = out.len();
            out.resize(begin + PART * width + 8, 0);
            let mut at = begin;
            for step in part {
                out[at..at + 8].copy_from_slice(&(step.wrapping_sub(least) as u64).to_le_bytes());
                at += width;
            }
            let end = begin + part.len() * width;
            out[end..].fill(0);
            out.truncate(begin + PART * width);
        }
    }
}

/// Bytes needed for numbers up to `most`.
const fn bytes(most: u32) -> usize {
    match most {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

/// Encodes dictionary indices.
pub(super) fn indices(out: &mut Vec<u8>, values: &[u32]) {
    let (least, most) = values.iter().fold((u32::MAX, 0), |(least, most), &v| (least.min(v), most.max(v)));
    let width = bytes(most);
    out.push(8 * width as u8);
    if values.is_empty() {
        return;
    }
    if least == most {
        varint(out, (values.len() as u64) << 1);
        out.extend_from_slice(&most.to_le_bytes()[..width]);
        return;
    }
    let groups = values.len().div_ceil(8);
    varint(out, (groups as u64) << 1 | 1);
    match width {
        1 => out.extend(values.iter().map(|&v| v as u8)),
        2 => out.extend(values.iter().flat_map(|&v| (v as u16).to_le_bytes())),
        _ => out.extend(values.iter().flat_map(|&v| v.to_le_bytes())),
    }
    out.resize(out.len() + (groups * 8 - values.len()) * width, 0);
}

/// Encodes validity bits as definition levels: their length, then a run of one level or of bits.
pub(super) fn levels(out: &mut Vec<u8>, bits: &[u8], rows: usize, there: usize) {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    if there == 0 || there == rows {
        varint(out, (rows as u64) << 1);
        out.push(u8::from(there > 0));
    } else {
        varint(out, (bits.len() as u64) << 1 | 1);
        out.extend_from_slice(bits);
    }
    let len = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&len.to_le_bytes());
}

/// Encodes booleans, one bit each.
pub(super) fn bits(out: &mut Vec<u8>, values: &[u32]) {
    out.extend(values.chunks(8).map(|eight| eight.iter().enumerate().fold(0, |byte, (i, &v)| byte | (v as u8 & 1) << i)));
}
