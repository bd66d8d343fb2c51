//! The TCP Fast Open option (RFC 7413 section 4.1.1): a request for a cookie, or a cookie.

/// A Fast Open cookie: 4 to 16 bytes, an even number; empty in a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cookie {
    bytes: [u8; Self::LONGEST],
    len: u8,
}

impl Cookie {
    /// Bounds of the length (RFC 7413 section 4.1.1).
    const SHORTEST: usize = 4;
    const LONGEST: usize = 16;
    /// The request for a cookie.
    pub const REQUEST: Self = Self { bytes: [0; Self::LONGEST], len: 0 };

    /// Creates a cookie, or a request from no bytes. Returns `None` for an invalid length (RFC 7413 section 4.1.1).
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let len = bytes.len();
        if len != 0 && !(Self::SHORTEST..=Self::LONGEST).contains(&len) || !len.is_multiple_of(2) {
            return None;
        }
        let mut c = Self::REQUEST;
        c.bytes[..len].copy_from_slice(bytes);
        c.len = len as u8;
        Some(c)
    }
    /// Cookie of a client at a server: 8 bytes, as in Linux. The constant spreads small numbers (Knuth, The Art of Computer Programming, volume 3,
    /// section 6.4).
    pub const fn between(client: u32, server: u32) -> Self {
        let v = (((client as u64) << 32 | server as u64) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
        let mut c = Self::REQUEST;
        let mut i = 0;
        while i < v.len() {
            c.bytes[i] = v[i];
            i += 1;
        }
        c.len = v.len() as u8;
        c
    }
    /// Bytes of the cookie.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
    /// True for a request.
    pub const fn is_request(&self) -> bool {
        self.len == 0
    }
}

/// The option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpen {
    /// Contents of the option.
    pub cookie: Cookie,
    /// In the experimental form: kind 254 and the magic number 0xF989 (RFC 6994), once used by Linux, instead of kind 34.
    pub experimental: bool,
}

/// Marks of the packed form, above the length.
const PRESENT: i32 = 0x100;
const EXPERIMENTAL: i32 = 0x200;

impl FastOpen {
    /// Bytes of the option without padding: kind and length, the magic number, the cookie.
    pub const fn size(&self) -> u32 {
        self.cookie.len as u32 + if self.experimental { 4 } else { 2 }
    }
    pub(crate) const fn pack(self) -> ([i32; 4], i32) {
        let (b, mut words, mut i) = (self.cookie.bytes, [0; 4], 0);
        while i < 4 {
            words[i] = i32::from_be_bytes([b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3]]);
            i += 1;
        }
        (words, PRESENT | self.cookie.len as i32 | if self.experimental { EXPERIMENTAL } else { 0 })
    }
    pub(crate) const fn unpack(words: [i32; 4], form: i32) -> Option<Self> {
        if form & PRESENT == 0 {
            return None;
        }
        let (mut cookie, mut i) = (Cookie { bytes: [0; Cookie::LONGEST], len: form as u8 }, 0);
        while i < 4 {
            let w = words[i].to_be_bytes();
            [cookie.bytes[4 * i], cookie.bytes[4 * i + 1], cookie.bytes[4 * i + 2], cookie.bytes[4 * i + 3]] = w;
            i += 1;
        }
        Some(Self { cookie, experimental: form & EXPERIMENTAL != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Segment, flag};

    /// RFC 7413 section 4.1.1: 6 to 18 bytes of option for 4 to 16 of cookie, an even number; a request has none.
    #[test]
    fn cookies_have_4_to_16_bytes_and_an_even_number() {
        for n in 0..=20 {
            let c = Cookie::new(&vec![0xA5; n]);
            assert_eq!(c.is_some(), n == 0 || n % 2 == 0 && (4..=16).contains(&n), "{n}");
            if let Some(cookie) = c {
                assert_eq!((cookie.as_slice().len(), cookie.is_request()), (n, n == 0));
                assert_eq!(FastOpen { cookie, experimental: false }.size() as usize, n + 2);
                assert_eq!(FastOpen { cookie, experimental: true }.size() as usize, n + 4);
            }
        }
        assert_ne!(Cookie::between(1, 2), Cookie::between(2, 1));
    }

    /// An option of a SYN with timestamps comes back unchanged; SACK blocks of other segments are not read as an option.
    #[test]
    fn a_syn_carries_the_option_beside_timestamps() {
        let bytes: Vec<u8> = (0..16).map(|i| 0xF0 ^ i).collect();
        for n in [0, 4, 8, 16] {
            for experimental in [false, true] {
                let option = FastOpen { cookie: Cookie::new(&bytes[..n]).unwrap(), experimental };
                let mut s = Segment::new(0, 0, flag::SYN, 0);
                s.set_timestamps(7, 9);
                s.set_fast_open(option);
                assert_eq!((s.fast_open(), s.timestamps(), s.sack_len()), (Some(option), Some((7, 9)), 0));
            }
        }
        assert_eq!(Segment::new(0, 0, flag::SYN, 0).fast_open(), None);
        let mut ack = Segment::new(0, 1, flag::ACK, 0);
        ack.add_sack(crate::packet::Block { start: 0x200, end: 0x300 });
        ack.add_sack(crate::packet::Block { start: 0x400, end: 0x500 });
        ack.add_sack(crate::packet::Block { start: 0x600, end: 0x701 });
        assert_eq!(ack.fast_open(), None);
    }
}
