//! Variable-length numbers: seven bits per byte (LEB128), and zigzag for signed numbers.

/// Appends a number, seven bits per byte, the lowest first; the highest bit marks further bytes.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Maps small numbers of either sign to small unsigned numbers.
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}
