//! Numbers as few bytes: seven bits a byte (LEB128), and either sign as small numbers.

/// Appends a number, seven bits a byte, the lowest first; the highest bit says that more follow.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small numbers of either sign as small numbers.
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}
