//! Recordings that are nearly right: captures (pcap, pcapng) and texts of numbers with bytes changed, cut and repeated, through the readers of `replay`,
//! links' traces and video.

use crate::draws::Draws;
use fairlane_scenario::parse_file;

/// Recordings read in a life.
const STEPS: u64 = 1000;

/// An IP packet behind a header of the link.
fn frame(link: u32, d: &mut Draws) -> Vec<u8> {
    let mut f = match link {
        1 => {
            let mut f = vec![0; 12];
            (0..d.below(3)).for_each(|_| f.extend([0x81, 0, 0, 7]));
            f.extend(d.of(&[[8, 0], [0x86, 0xdd], [8, 6]]));
            f
        }
        0 | 108 => vec![2, 0, 0, 0],
        113 => [vec![0; 14], vec![8, 0]].concat(),
        276 => [vec![8, 0], vec![0; 18]].concat(),
        _ => vec![],
    };
    let protocol = d.of(&[6, 17, 1, 0, 43, 44, 51, 60]);
    let length = (d.long() as u16).to_be_bytes();
    if d.below(2) == 0 {
        f.extend([0x45, 0, length[0], length[1], 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    } else {
        f.extend([0x60, 0, 0, 0, length[0], length[1], protocol, 64]);
        f.extend([0; 32]);
    }
    let payload = d.of(&[0, 8, 20, 40]);
    f.extend(d.bytes(payload));
    f
}

struct Writer {
    little: bool,
    out: Vec<u8>,
}

impl Writer {
    fn short(&mut self, n: u16) {
        self.out.extend(if self.little { n.to_le_bytes() } else { n.to_be_bytes() });
    }
    fn word(&mut self, n: u32) {
        self.out.extend(if self.little { n.to_le_bytes() } else { n.to_be_bytes() });
    }
    fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        self.word(kind);
        self.word(padded as u32 + 12);
        self.out.extend(body);
        self.out.resize(self.out.len() + padded - body.len(), 0);
        self.word(padded as u32 + 12);
    }
}

const LINKS: [u32; 11] = [1, 1, 101, 0, 108, 113, 276, 228, 147, 9, 127];

fn pcap(d: &mut Draws) -> Vec<u8> {
    let (little, link) = (d.below(2) == 0, d.of(&LINKS));
    let mut w = Writer { little, out: Vec::new() };
    for n in [d.of(&[0xa1b2_c3d4, 0xa1b2_3c4d]), 0x0002_0004, 0, 0, 65_535, link] {
        w.word(n);
    }
    for i in 0..d.below(6) as u32 {
        let f = frame(link, d);
        for n in [i, d.below(1_000_000) as u32, f.len() as u32, f.len() as u32 + d.of(&[0, 0, 1400])] {
            w.word(n);
        }
        w.out.extend(f);
    }
    w.out
}

fn pcapng(d: &mut Draws) -> Vec<u8> {
    let mut w = Writer { little: d.below(2) == 0, out: Vec::new() };
    let part = |w: &Writer| Writer { little: w.little, out: Vec::new() };
    let mut section = part(&w);
    section.word(0x1a2b_3c4d);
    section.word(1);
    section.out.extend([0xff; 8]);
    w.block(0x0a0d_0d0a, &section.out);
    let link = d.of(&LINKS);
    let mut interface = part(&w);
    interface.short(link as u16);
    interface.short(0);
    interface.word(65_535);
    if d.below(2) == 0 {
        interface.short(9);
        interface.short(1);
        interface.out.extend([d.of(&[0, 3, 6, 9, 18, 0x80, 0x80 + 62, 63, 0xff]), 0, 0, 0]);
    }
    if d.below(4) == 0 {
        interface.short(14);
        interface.short(8);
        let offset = d.of(&[0, 1, u64::MAX, 1 << 63, i64::MAX as u64]);
        interface.out.extend(if w.little { offset.to_le_bytes() } else { offset.to_be_bytes() });
    }
    w.block(1, &interface.out);
    for i in 0..d.below(6) as u32 {
        let f = frame(link, d);
        let mut p = part(&w);
        for n in [0, d.of(&[0, 0, u32::MAX]), i * 1000, f.len() as u32, f.len() as u32] {
            p.word(n);
        }
        p.out.extend(f);
        w.block(d.of(&[6, 6, 6, 2, 3, 5]), &p.out);
    }
    w.out
}

fn text(d: &mut Draws) -> Vec<u8> {
    let mut out = String::new();
    for _ in 0..d.below(12) {
        let word = d.of(&[
            "0",
            "1",
            "7",
            "1500",
            "0.5",
            "0.000000001",
            "18446744073709551615",
            "18446744073.709551615",
            "18446744074",
            "-1",
            "x",
            "#",
            "1e3",
            "\u{b5}",
        ]);
        out.push_str(word);
        out.push_str(d.of(&["\n", "\n", " ", "\t", "\r\n", " 1200\n", ""]));
    }
    out.into_bytes()
}

fn change(bytes: &mut Vec<u8>, d: &mut Draws) {
    if bytes.is_empty() {
        return;
    }
    let at = d.below(bytes.len());
    match d.below(6) {
        0 => bytes[at] ^= 1 << d.below(8),
        1 => bytes[at] = d.of(&[0, 1, 3, 4, 0x7f, 0x80, 0xff]),
        2 => bytes.truncate(at),
        // A word at the end of its range: lengths, times, numbers of interfaces.
        3 => bytes.iter_mut().skip(at & !3).take(4).for_each(|b| *b = 0xff),
        4 => {
            let end = (at + 1 + d.below(40)).min(bytes.len());
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => {
            let many = d.below(6);
            let junk = d.bytes(many);
            bytes.splice(at..at, junk);
        }
    }
}

/// Reads some recordings.
///
/// # Errors
/// A broken law, and the bytes that break it.
pub(crate) fn run(seed: u64) -> Result<u64, String> {
    let d = &mut Draws::new(seed);
    for _ in 0..STEPS {
        let mut bytes = match d.below(5) {
            0 | 1 => pcap(d),
            2 | 3 => pcapng(d),
            _ => text(d),
        };
        (0..d.of(&[0, 1, 1, 2, 4])).for_each(|_| change(&mut bytes, d));
        for reads in ["packets", "numbers", "opportunities"] {
            let wrong = match parse_file(reads, &bytes) {
                // Three numbers a packet, and times that do not go back.
                Ok(v) if reads == "packets" => v.len() % 3 != 0 || v.chunks(3).zip(v.chunks(3).skip(1)).any(|(a, b)| b[0] < a[0]),
                Ok(v) if reads == "opportunities" => v.windows(2).any(|w| w[1] < w[0]),
                Ok(_) => false,
                // One line that a terminal can show, however long the text was.
                Err(why) => why.is_empty() || why.chars().any(char::is_control),
            };
            if wrong {
                return Err(format!("{reads}: read wrongly: {bytes:?}"));
            }
        }
    }
    Ok(STEPS)
}
