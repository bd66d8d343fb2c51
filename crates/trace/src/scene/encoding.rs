//! Compact encoding of numbers: signed differences, and run lengths of zeros.

pub(super) use crate::varint::{varint as put, zigzag};

/// Absolute difference as a signed change.
pub(super) const fn apart(new: u64, old: u64) -> u64 {
    zigzag(new.wrapping_sub(old) as i64)
}

/// Numbers that are mostly zero: a zero is followed by the number of further zeros.
#[derive(Debug, Default)]
pub(super) struct Zeros {
    run: u64,
}

impl Zeros {
    pub(super) fn put(&mut self, out: &mut Vec<u8>, value: u64) {
        if value == 0 {
            self.run += 1;
            return;
        }
        self.end(out);
        put(out, value);
    }
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        if self.run > 0 {
            out.push(0);
            put(out, self.run - 1);
            self.run = 0;
        }
    }
}
