//! Reader of pcap and pcapng files in either byte order, robust against wrong lengths.
//!
//! Source: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. Only the first bytes of each packet are kept, so memory does not depend on the lengths
//! that a file claims.

use std::io::{self, Read};

/// Bytes kept per packet: the longest frame of 802.11 (IEEE Std 802.11-2020, table 9-25), which may be an aggregate of packets, with its radio header.
const KEPT: usize = 12_000;
/// Bytes kept of other blocks.
const KEPT_OF_BLOCK: usize = 4096;
/// Most interfaces of a file.
const INTERFACES: usize = 4096;
/// Longest accepted block or packet, as in Wireshark.
const LONGEST: u64 = 128 << 20;

/// An interface of a capture.
#[derive(Clone, Debug)]
struct Interface {
    link_type: u32,
    /// Ticks per second, and offset in seconds.
    ticks: u64,
    offset: i64,
    snaplen: u32,
}

impl Interface {
    /// Nanoseconds since 1970.
    fn nanoseconds(&self, ticks: u64) -> i128 {
        let (seconds, rest) = (ticks / self.ticks, ticks % self.ticks);
        (i128::from(seconds) + i128::from(self.offset)) * 1_000_000_000 + i128::from(rest) * 1_000_000_000 / i128::from(self.ticks)
    }
}

/// A captured packet.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Link type.
    pub link_type: u32,
    /// Nanoseconds since 1970; `None` if the file has no time.
    pub time: Option<i128>,
    /// Length on the wire.
    pub length: u32,
    /// Captured bytes in the file.
    pub captured: u32,
    /// First captured bytes.
    pub bytes: &'a [u8],
}

/// Why a file cannot be read.
#[derive(Debug)]
pub enum FileError {
    /// Reading fails.
    Io(io::Error),
    /// The file is not a supported capture.
    NoCapture(String),
}

impl From<io::Error> for FileError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Pcap,
    Pcapng,
}

/// Reader of a capture file.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    format: Format,
    big: bool,
    interfaces: Vec<Interface>,
    /// Bytes read so far.
    at: u64,
    /// Reason for a premature end.
    pub cut: Option<String>,
    kept: Vec<u8>,
}

/// Bits of the link type; the higher bits describe the frame check sequence.
const LINK_TYPE: u32 = 0xffff;
const SECTION: u32 = 0x0a0d_0d0a;
const ORDER: u32 = 0x1a2b_3c4d;

/// Ticks per second of pcap files, by their first word.
const MAGIC: [(u32, u64); 2] = [(0xa1b2_c3d4, 1_000_000), (0xa1b2_3c4d, 1_000_000_000)];

/// Byte order (true: big-endian) and ticks of a pcap file with these first bytes.
fn pcap(magic: [u8; 4]) -> Option<(bool, u64)> {
    [false, true].into_iter().find_map(|big| {
        let word = if big { u32::from_be_bytes(magic) } else { u32::from_le_bytes(magic) };
        MAGIC.iter().find(|(m, _)| *m == word).map(|&(_, ticks)| (big, ticks))
    })
}

/// True if a file with these first bytes is a capture.
#[must_use]
pub fn is(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|&magic| u32::from_le_bytes(magic) == SECTION || pcap(magic).is_some())
}

impl<R: Read> Reader<R> {
    /// Reads the file header.
    ///
    /// # Errors
    /// The file cannot be read, or is not a capture.
    pub fn new(mut input: R) -> Result<Self, FileError> {
        let mut magic = [0; 4];
        let got = fill(&mut input, &mut magic)?;
        if got < 4 {
            return Err(FileError::NoCapture(if got == 0 { "it is empty" } else { "it ends after a few bytes" }.to_owned()));
        }
        let reader =
            |input, format, big| Self { input, format, big, interfaces: Vec::new(), at: 4, cut: None, kept: vec![0; KEPT_OF_BLOCK] };
        let little = u32::from_le_bytes(magic);
        if little == SECTION {
            let mut reader = reader(input, Format::Pcapng, false);
            if !reader.section()? {
                return Err(FileError::NoCapture("its first pcapng block is incomplete".to_owned()));
            }
            return Ok(reader);
        }
        let Some((big, ticks)) = pcap(magic) else {
            return Err(FileError::NoCapture("it is neither a pcap nor a pcapng file; editcap converts other captures".to_owned()));
        };
        let mut reader = reader(input, Format::Pcap, big);
        let mut rest = [0; 20];
        if fill(&mut reader.input, &mut rest)? < rest.len() {
            return Err(FileError::NoCapture("it ends within the header of the file".to_owned()));
        }
        reader.at += 20;
        let (major, snaplen, link_type) = (reader.u16(&rest, 0), reader.u32(&rest, 12), reader.u32(&rest, 16) & LINK_TYPE);
        if major != 2 {
            return Err(FileError::NoCapture(format!("it has version {major} of pcap, and only 2 is supported")));
        }
        reader.interfaces.push(Interface { link_type, ticks, offset: 0, snaplen });
        Ok(reader)
    }

    fn u16(&self, bytes: &[u8], at: usize) -> u16 {
        let two = bytes.get(at..at + 2).map_or([0; 2], |b| [b[0], b[1]]);
        if self.big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) }
    }

    fn u32(&self, bytes: &[u8], at: usize) -> u32 {
        let four = bytes.get(at..at + 4).map_or([0; 4], |b| [b[0], b[1], b[2], b[3]]);
        if self.big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    }

    fn cut(&mut self, why: impl Into<String>) {
        self.cut = Some(format!("{} (byte {})", why.into(), self.at));
    }

    /// Reads `len` bytes and keeps the first `most`; false if the file ends before.
    fn take(&mut self, len: u64, most: usize) -> io::Result<bool> {
        let keep = usize::try_from(len).map_or(most, |len| len.min(most));
        let mut room = std::mem::take(&mut self.kept);
        room.resize(keep, 0);
        let got = fill(&mut self.input, &mut room);
        self.kept = room;
        let got = got?;
        self.at += got as u64;
        if got < keep {
            self.kept.truncate(got);
            return Ok(false);
        }
        let skipped = io::copy(&mut (&mut self.input).take(len - keep as u64), &mut io::sink())?;
        self.at += skipped;
        Ok(skipped == len - keep as u64)
    }

    /// Next packet; `None` at the end, or at invalid data (see `cut`).
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_packet(&mut self) -> io::Result<Option<Packet<'_>>> {
        match self.format {
            Format::Pcap => self.next_pcap(),
            Format::Pcapng => self.next_pcapng(),
        }
    }

    fn next_pcap(&mut self) -> io::Result<Option<Packet<'_>>> {
        let mut head = [0; 16];
        let got = fill(&mut self.input, &mut head)?;
        self.at += got as u64;
        if got < head.len() {
            if got > 0 {
                self.cut("the header of the last packet is incomplete");
            }
            return Ok(None);
        }
        let [seconds, part, captured, length] = [0, 4, 8, 12].map(|at| self.u32(&head, at));
        if u64::from(captured) > LONGEST {
            self.cut(format!("a packet claims to have {captured} bytes"));
            return Ok(None);
        }
        if !self.take(captured.into(), KEPT)? {
            self.cut("the last packet is incomplete");
            return Ok(None);
        }
        let per_second = self.interfaces[0].ticks;
        // Some writers let the fraction exceed a second.
        let time = self.interfaces[0].nanoseconds(u64::from(seconds) * per_second + u64::from(part));
        let link_type = self.interfaces[0].link_type;
        Ok(Some(Packet { link_type, time: Some(time), length: length.max(captured), captured, bytes: &self.kept }))
    }

    /// Reads the header of a section, after its type; false if the file ends before it does.
    fn section(&mut self) -> io::Result<bool> {
        let mut head = [0; 8];
        let got = fill(&mut self.input, &mut head)?;
        self.at += got as u64;
        if got < head.len() {
            self.cut("the header of a section is incomplete");
            return Ok(false);
        }
        self.big = match [head[4], head[5], head[6], head[7]] {
            order if u32::from_le_bytes(order) == ORDER => false,
            order if u32::from_be_bytes(order) == ORDER => true,
            _ => {
                self.cut("a section has no valid byte-order magic");
                return Ok(false);
            }
        };
        let len = self.u32(&head, 0);
        if len < 28 || !len.is_multiple_of(4) || u64::from(len) > LONGEST {
            self.cut(format!("a section's header claims to have {len} bytes"));
            return Ok(false);
        }
        if !self.take(u64::from(len) - 12, 16)? {
            self.cut("the header of a section is incomplete");
            return Ok(false);
        }
        let major = self.u16(&self.kept, 0);
        if major != 1 {
            self.cut(format!("a section has version {major} of pcapng, and only 1 is supported"));
            return Ok(false);
        }
        self.interfaces.clear();
        Ok(true)
    }

    fn next_pcapng(&mut self) -> io::Result<Option<Packet<'_>>> {
        loop {
            let mut head = [0; 4];
            let got = fill(&mut self.input, &mut head)?;
            self.at += got as u64;
            if got < 4 {
                if got > 0 {
                    self.cut("the header of the last block is incomplete");
                }
                return Ok(None);
            }
            if u32::from_le_bytes(head) == SECTION {
                if self.section()? {
                    continue;
                }
                return Ok(None);
            }
            let kind = self.u32(&head, 0);
            let got = fill(&mut self.input, &mut head)?;
            self.at += got as u64;
            let len = self.u32(&head, 0);
            if got < 4 || len < 12 || !len.is_multiple_of(4) || u64::from(len) > LONGEST {
                self.cut(if got < 4 {
                    "the header of the last block is incomplete".to_owned()
                } else {
                    format!("a block claims to have {len} bytes")
                });
                return Ok(None);
            }
            let packet = matches!(kind, 2 | 3 | 6);
            let most = if packet { KEPT + 20 } else { KEPT_OF_BLOCK };
            let whole = self.take(u64::from(len) - 12, most)?;
            let mut tail = [0; 4];
            let ended = whole && fill(&mut self.input, &mut tail)? == 4;
            if !ended {
                self.cut("the last block is incomplete");
                return Ok(None);
            }
            self.at += 4;
            if self.u32(&tail, 0) != len {
                self.cut("the two lengths of a block differ");
                return Ok(None);
            }
            match kind {
                1 => self.interface(),
                2 | 3 | 6 => {
                    if let Some((link_type, time, length, captured, skip)) = self.packet(kind, len - 12) {
                        let end = self.kept.len().min(skip + captured as usize).min(skip + KEPT);
                        let bytes = self.kept.get(skip..end).unwrap_or_default();
                        return Ok(Some(Packet { link_type, time, length, captured, bytes }));
                    }
                    if self.cut.is_some() {
                        return Ok(None);
                    }
                }
                _ => {}
            }
        }
    }

    /// Decodes a packet block: link type, time, lengths, and start of the bytes.
    fn packet(&mut self, kind: u32, body: u32) -> Option<(u32, Option<i128>, u32, u32, usize)> {
        let b = &self.kept;
        let (interface, ticks, captured, length, skip) = match kind {
            6 => (self.u32(b, 0), Some((self.u32(b, 4), self.u32(b, 8))), self.u32(b, 12), self.u32(b, 16), 20),
            2 => (self.u16(b, 0).into(), Some((self.u32(b, 4), self.u32(b, 8))), self.u32(b, 12), self.u32(b, 16), 20),
            _ => {
                let snaplen = self.interfaces.first().map_or(0, |i| i.snaplen);
                let length = self.u32(b, 0);
                let most = if snaplen == 0 { u32::MAX } else { snaplen };
                (0, None, length.min(most).min(body.saturating_sub(4)), length, 4)
            }
        };
        if u64::from(captured) + skip as u64 > u64::from(body) {
            self.cut(format!("a packet claims to have {captured} bytes, more than its block"));
            return None;
        }
        let Some(of) = self.interfaces.get(interface as usize) else {
            self.cut(format!("a packet names interface {interface}, which no block describes"));
            return None;
        };
        let time = ticks.map(|(high, low)| of.nanoseconds(u64::from(high) << 32 | u64::from(low)));
        Some((of.link_type, time, length.max(captured), captured, skip))
    }

    /// Decodes an interface description block.
    fn interface(&mut self) {
        if self.interfaces.len() == INTERFACES {
            return;
        }
        let b = &self.kept;
        let mut of = Interface { link_type: self.u16(b, 0).into(), ticks: 1_000_000, offset: 0, snaplen: self.u32(b, 4) };
        let mut at = 8;
        while at + 4 <= b.len() {
            let (code, len) = (self.u16(b, at), usize::from(self.u16(b, at + 2)));
            let value = b.get(at + 4..at + 4 + len).unwrap_or_default();
            match (code, value) {
                (0, _) => break,
                (9, &[resolution, ..]) => {
                    let (base, power): (u64, u32) =
                        if resolution & 0x80 == 0 { (10, resolution.into()) } else { (2, (resolution & 0x7f).into()) };
                    // A resolution too fine for a u64 is replaced by the finest possible.
                    of.ticks = base.checked_pow(power).unwrap_or(if base == 10 { 10_u64.pow(19) } else { 1 << 63 });
                }
                (14, value) if len == 8 => {
                    let eight = <[u8; 8]>::try_from(value).unwrap_or_default();
                    let offset = if self.big { i64::from_be_bytes(eight) } else { i64::from_le_bytes(eight) };
                    of.offset = offset.clamp(-(1 << 40), 1 << 40);
                }
                _ => {}
            }
            at += 4 + len.next_multiple_of(4);
        }
        self.interfaces.push(of);
    }
}

/// Reads until `room` is full or the file ends; returns the number of bytes.
fn fill(input: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < room.len() {
        match input.read(&mut room[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}
