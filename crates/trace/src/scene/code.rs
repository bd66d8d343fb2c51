//! Numbers as few bytes: seven bits a byte, small ones first, and runs of zeros as their length.

/// Appends a number, seven bits a byte, the last without the high bit (LEB128).
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Positive and negative numbers near zero as small ones.
pub(super) const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The difference of two numbers, whichever is larger.
pub(super) const fn apart(new: u64, old: u64) -> u64 {
    zigzag(new.wrapping_sub(old) as i64)
}

/// Numbers of which most are zero: after a zero stands how many more follow it.
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
