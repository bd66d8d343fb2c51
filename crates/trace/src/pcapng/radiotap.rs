//! IEEE 802.11 frames in monitor mode: a radiotap header (radiotap.org), the MAC header (IEEE Std 802.11-2016 clause 9.3), LLC and SNAP (RFC 1042),
//! the packet and the check sequence.
//!
//! A sent frame has the time of its start and no power; a received one has the time of its end and the received power. TSFT is the time of the
//! first bit in both cases. Sequence numbers count the packets of each station (clause 10.3.2.11); fragment numbers are zero.

use super::frame::{ETHERNET, HEAD, Lengths, mac};
use fairlane_net::{FrameEvent, PortId};
use fairlane_units::Rate;
use fairlane_wireless::{Frame, Kind, Wave};

/// A monitor of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// Name of the monitor.
    pub name: String,
    /// Port of the channel's first station.
    pub first: PortId,
    /// Nodes of the stations.
    pub nodes: Vec<u32>,
    /// Stations that are access points.
    pub points: Vec<u32>,
    /// Station whose antenna the monitor uses: it captures frames that this station sends or receives. None: all sent frames.
    pub only: Option<PortId>,
    /// Number of the channel in the network.
    pub number: u32,
    /// Data rate.
    pub rate: Rate,
}

/// Radiotap: version, length, presence, TSFT, flags, rate, channel; then the power if present.
const RADIO: usize = 8 + 8 + 1 + 1 + 4;
/// MAC header of data.
const MAC: usize = 24;
/// LLC and SNAP.
const LLC: usize = 8;
const FCS: usize = 4;
/// Space for everything but payload.
pub(super) const ROOM: usize = RADIO + 2 + MAC + LLC + HEAD + FCS;

/// Bits of the presence word: TSFT, flags, rate, channel; the power.
const PRESENT: u32 = 0b1111;
const SIGNAL: u32 = 1 << 5;
/// Flags: short preamble; check sequence at the end.
const SHORT: u8 = 0x02;
const HAS_FCS: u8 = 0x10;
/// Flags of the channel.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const GHZ_2: u16 = 0x0080;
const GHZ_5: u16 = 0x0100;

/// Frame control (clause 9.2.4.1): types and subtypes, to and from the distribution system, retry.
const DATA: u8 = 0x08;
const ACK: u8 = 0xD4;
const RTS: u8 = 0xB4;
const CTS: u8 = 0xC4;
const TO_DS: u8 = 1;
const FROM_DS: u8 = 2;
const RETRY: u8 = 8;

/// State of a sending station: sequence number and headers of its packet.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) number: u16,
    pub(super) head: [u8; HEAD],
    pub(super) lengths: Lengths,
}

impl Default for Sender {
    fn default() -> Self {
        // The first packet has number 0.
        Self { number: u16::MAX, head: [0; HEAD], lengths: Lengths { head: ETHERNET, network: ETHERNET, frame: ETHERNET as u32 } }
    }
}

/// Encoded frame without payload.
pub(super) struct Bytes {
    pub(super) bytes: [u8; ROOM],
    /// Number of bytes before the payload.
    pub(super) head: usize,
    /// Frame length with payload and check sequence.
    pub(super) frame: u32,
    /// Start of the MAC header.
    pub(super) radio: usize,
}

impl Monitor {
    /// Frequency of the channel in MHz: 1, 6 and 11 in turn at 2.4 GHz, 36, 40, 44 and so on at 5 GHz.
    fn mhz(&self, wave: Wave) -> u16 {
        let n = self.number;
        (if wave == Wave::Ofdm { 5_180 + 20 * (n % 8) } else { 2_412 + 25 * (n % 3) }) as u16
    }

    /// Encodes the frame of an event.
    pub(super) fn write(&self, e: &FrameEvent, sender: &Sender) -> Bytes {
        let mut out = Bytes { bytes: [0; ROOM], head: 0, frame: 0, radio: 0 };
        let mut put = |bytes: &[u8]| {
            if let Some(place) = out.bytes.get_mut(out.head..out.head + bytes.len()) {
                place.copy_from_slice(bytes);
                out.head += bytes.len();
            }
        };
        let f = &e.frame;
        let signal = e.heard.map(|p| (p.dbm().round().clamp(-128.0, 127.0) as i8).cast_unsigned());
        let begins = if e.heard.is_some() { e.time.as_ps().saturating_sub(f.airtime.as_ps()) } else { e.time.as_ps() };
        out.radio = RADIO + usize::from(signal.is_some());
        put(&[0, 0]);
        put(&(out.radio as u16).to_le_bytes());
        put(&(PRESENT | if signal.is_some() { SIGNAL } else { 0 }).to_le_bytes());
        put(&(begins / 1_000_000).to_le_bytes());
        let short = if f.tone.wave == Wave::DsssShort { SHORT } else { 0 };
        put(&[HAS_FCS | short, (f.tone.kbps / 500) as u8]);
        put(&self.mhz(f.tone.wave).to_le_bytes());
        let way = if matches!(f.tone.wave, Wave::Ofdm | Wave::ErpOfdm) { OFDM } else { CCK };
        put(&(way | if f.tone.wave == Wave::Ofdm { GHZ_5 } else { GHZ_2 }).to_le_bytes());
        if let Some(dbm) = signal {
            put(&[dbm]);
        }
        // Clause 9.2.4.2: whole microseconds, rounded up.
        let duration = (f.nav.as_ps().div_ceil(1_000_000).min(32_767) as u16).to_le_bytes();
        let address = |station: u32| mac(self.nodes.get(station as usize).copied().unwrap_or(0));
        match f.kind {
            Kind::Ack | Kind::Cts => {
                put(&[if f.kind == Kind::Ack { ACK } else { CTS }, 0]);
                put(&duration);
                put(&address(f.to));
            }
            Kind::Rts => {
                put(&[RTS, 0]);
                put(&duration);
                put(&address(f.to));
                put(&address(f.from));
            }
            Kind::Data => {
                let (ds, third) = self.distribution(f);
                put(&[DATA, ds | if f.retry { RETRY } else { 0 }]);
                put(&duration);
                put(&address(f.to));
                put(&address(f.from));
                put(&third);
                put(&(sender.number << 4).to_le_bytes());
                put(&[0xAA, 0xAA, 3, 0, 0, 0]);
                put(sender.head.get(ETHERNET - 2..sender.lengths.head).unwrap_or_default());
            }
        }
        let payload =
            if f.kind == Kind::Data { sender.lengths.frame as usize - sender.lengths.head.min(sender.lengths.frame as usize) } else { 0 };
        out.frame = (out.head + payload + FCS) as u32;
        out
    }

    /// Distribution system bits and third address (table 9-26): the other end of the BSS, or the BSSID of an ad hoc network.
    fn distribution(&self, f: &Frame) -> (u8, [u8; 6]) {
        let address = |station: u32| mac(self.nodes.get(station as usize).copied().unwrap_or(0));
        if self.points.contains(&f.to) {
            (TO_DS, address(f.to))
        } else if self.points.contains(&f.from) {
            (FROM_DS, address(f.from))
        } else {
            let [a, b, c, d] = self.number.to_be_bytes();
            (0, [0x02, 0xFF, a, b, c, d])
        }
    }
}

impl Bytes {
    /// Frame check sequence (clause 9.2.4.8: CRC-32), with `zeros` of payload.
    pub(super) fn check_sequence(&self, zeros: usize) -> [u8; FCS] {
        let known = self.bytes.get(self.radio..self.head).unwrap_or_default();
        let bytes = known.iter().copied().chain(std::iter::repeat_n(0, zeros));
        let crc = bytes.fold(u32::MAX, |crc, b| CRC[((crc ^ u32::from(b)) & 0xFF) as usize] ^ crc >> 8);
        (!crc).to_le_bytes()
    }
}

/// CRC table (ITU-T V.42, reflected).
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let (mut c, mut k) = (n as u32, 0);
        while k < 8 {
            c = if c & 1 == 1 { 0xEDB8_8320 ^ c >> 1 } else { c >> 1 };
            k += 1;
        }
        table[n] = c;
        n += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_units::{Dur, Time};
    use fairlane_wireless::{Power, Tone};

    fn monitor() -> Monitor {
        let (name, rate) = ("air".to_owned(), Rate::from_bps(11_000_000));
        Monitor { name, first: PortId(4), nodes: vec![7, 8, 9], points: vec![], only: None, number: 1, rate }
    }

    fn event(kind: Kind, wave: Wave, kbps: u32) -> FrameEvent {
        let tone = Tone { wave, kbps };
        let frame = Frame { kind, from: 0, to: 2, tone, airtime: Dur::from_us(304), nav: Dur::from_ps(314_000_001), retry: true };
        let time = Time::ZERO + Dur::from_us(1_000);
        FrameEvent { time, port: PortId(6), from: PortId(4), to: PortId(6), frame, heard: Some(Power::from_dbm(-60.2)), packet: None }
    }

    /// Check value of CRC-32 for "123456789".
    #[test]
    fn the_check_sequence_is_crc_32() {
        let mut b = Bytes { bytes: [0; ROOM], head: 9, frame: 13, radio: 0 };
        b.bytes[..9].copy_from_slice(b"123456789");
        assert_eq!(b.check_sequence(0), 0xCBF4_3926_u32.to_le_bytes());
    }

    #[test]
    fn an_acknowledgment_has_fourteen_bytes_behind_radiotap() {
        let b = monitor().write(&event(Kind::Ack, Wave::DsssLong, 2_000), &Sender::default());
        let heard = [0, 0, 23, 0, 0x2F, 0, 0, 0, 184, 2, 0, 0, 0, 0, 0, 0, 0x10, 4, 0x85, 0x09, 0xA0, 0, 196];
        assert_eq!(b.bytes[..23], heard);
        // A fraction of a microsecond counts as one; control frames have no retry bit.
        assert_eq!(b.bytes[23..b.head], [0xD4, 0, 0x3B, 1, 2, 0, 0, 0, 0, 10]);
        assert_eq!(b.frame, 23 + 14);
        let rts = monitor().write(&event(Kind::Rts, Wave::Ofdm, 6_000), &Sender::default());
        assert_eq!((rts.frame, &rts.bytes[18..22], rts.bytes[17]), (23 + 20, &[0x50, 0x14, 0x40, 0x01][..], 12));
    }

    #[test]
    fn data_name_the_distribution_system() {
        let with = |points: &[u32]| {
            let m = Monitor { points: points.to_vec(), ..monitor() };
            let b = m.write(&event(Kind::Data, Wave::ErpOfdm, 54_000), &Sender { number: 5, ..Sender::default() });
            (b.bytes[24], b.bytes[23 + 16..23 + 24].to_vec())
        };
        assert_eq!(with(&[]), (RETRY, vec![2, 255, 0, 0, 0, 1, 0x50, 0]));
        assert_eq!(with(&[2]), (RETRY | TO_DS, vec![2, 0, 0, 0, 0, 10, 0x50, 0]));
        assert_eq!(with(&[0]), (RETRY | FROM_DS, vec![2, 0, 0, 0, 0, 8, 0x50, 0]));
    }
}
