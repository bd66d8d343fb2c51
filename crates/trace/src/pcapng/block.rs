//! The blocks of pcapng (draft-ietf-opsawg-pcapng-03, section 4), in little-endian order.

/// Block types (section 11.1 of the draft).
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const STATISTICS: u32 = 5;
const SECRETS: u32 = 10;
pub(super) const PACKET: u32 = 6;

/// A key log of TLS (section 4.7).
const KEY_LOG: u32 = 0x544C_534B;

/// Byte-order magic (section 4.1).
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// Version 1.0 (section 4.1).
const MAJOR: u16 = 1;
const MINOR: u16 = 0;
/// Section length: unspecified (section 4.1).
const UNKNOWN_LENGTH: u64 = u64::MAX;
/// LINKTYPE_ETHERNET and LINKTYPE_IEEE802_11_RADIOTAP (draft-ietf-opsawg-pcaplinktype).
pub(super) const ETHERNET: u16 = 1;
pub(super) const RADIOTAP: u16 = 127;
/// Time stamps count 10^-9 s (section 4.2, if_tsresol).
const NANOSECONDS: u8 = 9;

/// Options (sections 3.5, 4.1, 4.2, 4.3 and 4.6).
pub(super) const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_MAC: u16 = 6;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;
pub(super) const EPB_FLAGS: u16 = 2;
/// Records of the name resolution block (section 4.5).
const NRB_END: u16 = 0;
const NRB_IPV4: u16 = 1;
const NRB_IPV6: u16 = 2;

/// Longest text of an option: the length has 16 bits, and every block should stay readable.
const LONGEST: usize = 4000;

/// Bytes up to the next multiple of four.
pub(super) const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}

/// A block under construction: its length is filled in at the end.
pub(super) struct Block<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Block<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, kind: u32) -> Self {
        let start = out.len();
        out.extend_from_slice(&kind.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        Self { out, start }
    }
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
    pub(super) fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.put(&[0; 3][..padding(value.len())]);
    }
    fn text(&mut self, code: u16, value: &str) {
        let mut end = value.len().min(LONGEST);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        self.option(code, &value.as_bytes()[..end]);
    }
    /// Writes the end of the options, then the length at both ends.
    pub(super) fn close(mut self) {
        self.put(&[0; 4]);
        self.close_bare();
    }
    fn close_bare(self) {
        let len = (self.out.len() - self.start + 4) as u32;
        self.out.extend_from_slice(&len.to_le_bytes());
        self.out[self.start + 4..self.start + 8].copy_from_slice(&len.to_le_bytes());
    }
}

/// Decryption secrets block with lines of a key log (section 4.7).
pub(super) fn secrets(out: &mut Vec<u8>, lines: &str) {
    let mut b = Block::new(out, SECRETS);
    b.put(&KEY_LOG.to_le_bytes());
    b.put(&(lines.len() as u32).to_le_bytes());
    b.put(lines.as_bytes());
    b.put(&[0; 3][..padding(lines.len())]);
    b.close_bare();
}

/// Section header block (section 4.1).
pub(super) fn section(out: &mut Vec<u8>, application: &str, comment: &str) {
    let mut b = Block::new(out, SECTION_HEADER);
    b.put(&BYTE_ORDER.to_le_bytes());
    b.put(&MAJOR.to_le_bytes());
    b.put(&MINOR.to_le_bytes());
    b.put(&UNKNOWN_LENGTH.to_le_bytes());
    b.text(USER_APPLICATION, application);
    b.text(COMMENT, comment);
    b.close();
}

/// Fields of an interface description block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    /// if_name.
    pub(super) name: String,
    /// if_description.
    pub(super) description: String,
    /// Link type of the frames.
    pub(super) linktype: u16,
    /// if_MACaddr; none for a monitor of a whole channel.
    pub(super) mac: Option<[u8; 6]>,
    /// if_speed in bit/s.
    pub(super) speed: Option<u64>,
    /// Most bytes kept per packet; 0 for no limit.
    pub(super) snaplen: u32,
}

/// Interface description block (section 4.2).
pub(super) fn interface(out: &mut Vec<u8>, i: &Interface) {
    let mut b = Block::new(out, INTERFACE);
    b.put(&i.linktype.to_le_bytes());
    b.put(&[0; 2]);
    b.put(&i.snaplen.to_le_bytes());
    b.text(IF_NAME, &i.name);
    b.text(IF_DESCRIPTION, &i.description);
    if let Some(mac) = &i.mac {
        b.option(IF_MAC, mac);
    }
    if let Some(speed) = i.speed {
        b.option(IF_SPEED, &speed.to_le_bytes());
    }
    b.option(IF_TSRESOL, &[NANOSECONDS]);
    // Ethernet frames have no check sequence; with radiotap each frame has its own flag.
    if i.linktype == ETHERNET {
        b.option(IF_FCSLEN, &[0]);
    }
    b.close();
}

/// Name resolution block (section 4.5): the name of every node with both its addresses.
pub(super) fn names<'a>(out: &mut Vec<u8>, nodes: impl Iterator<Item = (&'a str, [u8; 4], [u8; 16])>) {
    let mut b = Block::new(out, NAMES);
    let mut record = |code: u16, address: &[u8], name: &str| {
        let value = [address, name.as_bytes(), b"\0"].concat();
        b.option(code, &value);
    };
    for (name, v4, v6) in nodes {
        record(NRB_IPV4, &v4, name);
        record(NRB_IPV6, &v6, name);
    }
    b.put(&NRB_END.to_le_bytes());
    b.put(&[0; 2]);
    b.close_bare();
}

/// Interface statistics block (section 4.6).
pub(super) fn statistics(out: &mut Vec<u8>, interface: u32, time_ns: u64, received: u64, dropped: u64) {
    let mut b = Block::new(out, STATISTICS);
    b.put(&interface.to_le_bytes());
    b.put(&((time_ns >> 32) as u32).to_le_bytes());
    b.put(&(time_ns as u32).to_le_bytes());
    b.option(ISB_IFRECV, &received.to_le_bytes());
    b.option(ISB_IFDROP, &dropped.to_le_bytes());
    b.close();
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
