//! CAKE's filter of acknowledgments: one that a later one in the same queue makes redundant is dropped.

use super::super::waiting::Waiting;
use fairlane_engine::steps::step;
use fairlane_net::{Block, Packet, Proto, Segment, flag};

fairlane_units::params! {
    /// Which acknowledgments CAKE drops because a later one of the same flow waits behind them (tc-cake's ack-filter).
    pub enum CakeAckFilter {
        /// None.
        #[default]
        None,
        /// The first of two that are redundant, so that at least two wait.
        Filter,
        /// Also the only one that waits in front of the arriving packet.
        Aggressive,
    }
}

/// Packets from the head of a queue that are looked at for one arrival.
const MOST: usize = 256;

/// Flags that a redundant acknowledgment may have besides ACK.
const ECHO: u8 = flag::ECE | flag::CWR;

/// Headers of waiting packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers {
    /// Header of the packet that arrives next.
    next: Option<Segment>,
    by_packet: Vec<Segment>,
}

impl Headers {
    /// The header of the packet that arrives next.
    pub(crate) fn read(&mut self, header: &Segment) {
        self.next = Some(*header);
    }

    /// Keeps the header that was read for a packet. Returns false if none was.
    pub(crate) fn keep(&mut self, p: &Packet) -> bool {
        let Some(header) = self.next.take() else { return false };
        let at = p.id.0 as usize;
        if self.by_packet.len() <= at {
            self.by_packet.resize(at + 1, Segment::default());
        }
        self.by_packet[at] = header;
        true
    }

    fn of(&self, p: &Packet) -> &Segment {
        const NONE: &Segment = &Segment::new(0, 0, 0, 1);
        self.by_packet.get(p.id.0 as usize).unwrap_or(NONE)
    }

    /// The place of the acknowledgment in a queue that its last packet makes redundant (cake_ack_filter).
    pub(crate) fn redundant(&self, queue: &Waiting, aggressive: bool) -> Option<usize> {
        let last = queue.back()?;
        let trigger = self.of(last);
        if queue.len() < 2 || last.proto != Proto::Tcp || trigger.flags & (flag::ACK | flag::SYN) != flag::ACK {
            return None;
        }
        // The first that is redundant, and its flags.
        let mut found: Option<(usize, u8)> = None;
        let mut several = 0;
        for (i, p) in queue.iter().enumerate().take(MOST.min(queue.len() - 1)) {
            step(1);
            if (p.flow, p.back, p.conn, p.proto) != (last.flow, last.back, last.conn, last.proto) {
                continue;
            }
            let ack = self.of(p);
            // A change of the echo is information: the one before it is kept.
            if found.is_some_and(|(_, flags)| flags != ack.flags & ECHO) {
                found = None;
                several -= 1;
            }
            if !droppable(ack, trigger) {
                continue;
            }
            found = found.or(Some((i, ack.flags & ECHO)));
            if several > 0 {
                return found.map(|f| f.0);
            }
            several += 1;
        }
        let (i, flags) = found?;
        (aggressive && i + 2 == queue.len() && flags == trigger.flags & ECHO).then_some(i)
    }
}

/// True if `ack` says nothing that `trigger` does not say.
fn droppable(ack: &Segment, trigger: &Segment) -> bool {
    let plain = ack.flags & !ECHO == flag::ACK && ack.ace() >> 2 == 0 && ack.payload == 0;
    if !plain || ack.ack > trigger.ack {
        return false;
    }
    if let Some((value, echo)) = ack.timestamps() {
        let (new_value, new_echo) = trigger.timestamps().unwrap_or((0, 0));
        let after = |a: u32, b: u32| (b.wrapping_sub(a) as i32) < 0;
        if after(value, new_value) || after(echo, new_echo) {
            return false;
        }
    }
    match more_selective(ack, trigger) {
        None => false,
        Some(false) => ack.ack != trigger.ack,
        Some(true) => true,
    }
}

/// True if `b` acknowledges all ranges that `a` does, and more bytes; none if it lacks one, or if `a` reports a duplicate.
fn more_selective(a: &Segment, b: &Segment) -> Option<bool> {
    match (a.sack_len(), b.sack_len()) {
        (0, 0) => return Some(false),
        (0, _) => return Some(true),
        (_, 0) => return None,
        _ => {}
    }
    let covered = |range: Block| (0..b.sack_len()).map(|k| b.sack(k)).any(|other| other.start <= range.start && other.end >= range.end);
    if !(0..a.sack_len()).map(|i| a.sack(i)).all(|range| range.start >= a.ack && covered(range)) {
        return None;
    }
    let bytes = |s: &Segment| (0..s.sack_len()).map(|i| s.sack(i)).map(|range| range.end - range.start).sum::<u64>();
    Some(bytes(b) > bytes(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::tests::pkt;

    const ACK: u8 = flag::ACK;

    fn ack(number: u64) -> Segment {
        Segment::new(0, number, ACK, 0)
    }

    fn sacking(number: u64, blocks: &[[u64; 2]]) -> Segment {
        let mut s = ack(number);
        blocks.iter().for_each(|&[start, end]| assert!(s.add_sack(Block { start, end })));
        s
    }

    /// The place that is dropped when the last of these has joined; all are of flow 2 but those with a payload of 7, which are of flow 4.
    fn dropped(segments: &[Segment], aggressive: bool) -> Option<usize> {
        let (mut headers, mut queue) = (Headers::default(), Waiting::default());
        for (id, s) in (0..).zip(segments) {
            let p = Packet { proto: Proto::Tcp, ..pkt(id, if s.payload == 7 { 4 } else { 2 }, 40) };
            headers.read(s);
            assert!(headers.keep(&p));
            queue.push_back(p);
        }
        headers.redundant(&queue, aggressive)
    }

    /// cake_ack_filter: two must be redundant, or in aggressive mode the one just before.
    #[test]
    fn the_first_of_two_goes() {
        assert_eq!(dropped(&[ack(1000), ack(2000), ack(3000)], false), Some(0));
        assert_eq!(dropped(&[ack(1000), ack(2000)], false), None);
        assert_eq!(dropped(&[ack(1000), ack(2000)], true), Some(0));
        // Another flow's packet between them: not the one just before.
        let other = Segment::new(0, 0, ACK, 7);
        assert_eq!(dropped(&[ack(1000), other, ack(2000)], true), None);
        assert_eq!(dropped(&[other, ack(1000), other, ack(2000), ack(3000)], false), Some(1));
        // A data segment may be what makes them redundant, and is never dropped itself.
        let data = Segment::new(0, 3000, ACK, 1000);
        assert_eq!(dropped(&[ack(1000), ack(2000), data], false), Some(0));
        assert_eq!(dropped(&[data, data, ack(4000)], true), None);
    }

    #[test]
    fn what_tells_something_stays() {
        // Duplicate acknowledgments start a recovery.
        assert_eq!(dropped(&[ack(1000); 5], true), None);
        // A later one acknowledges less.
        assert_eq!(dropped(&[ack(3000), ack(3000), ack(2000)], true), None);
        for flags in [flag::SYN, flag::FIN, flag::RST, flag::PSH] {
            let other = Segment::new(0, 1000, ACK | flags, 0);
            assert_eq!(dropped(&[other, other, ack(3000)], true), None);
        }
        // The echo of congestion begins between the first and the second.
        let echo = |number| Segment::new(0, number, ACK | flag::ECE, 0);
        assert_eq!(dropped(&[ack(1000), echo(2000), echo(3000)], false), None);
        assert_eq!(dropped(&[ack(1000), echo(2000), echo(3000)], true), Some(1));
        assert_eq!(dropped(&[ack(1000), echo(2000)], true), None);
        assert_eq!(dropped(&[echo(1000), echo(2000), echo(3000)], false), Some(0));
        // A timestamp that is newer.
        let stamped = |number, value| {
            let mut s = ack(number);
            s.set_timestamps(value, 1);
            s
        };
        assert_eq!(dropped(&[stamped(1000, 9), stamped(2000, 10)], true), Some(0));
        assert_eq!(dropped(&[stamped(1000, 11), stamped(2000, 10)], true), None);
    }

    /// cake_tcph_sack_compare.
    #[test]
    fn blocks_must_be_covered() {
        let some = [[2000, 3000]];
        assert_eq!(dropped(&[sacking(1000, &some), sacking(1000, &[[2000, 4000]])], true), Some(0));
        assert_eq!(dropped(&[ack(1000), sacking(1000, &some)], true), Some(0));
        assert_eq!(dropped(&[sacking(1000, &some), sacking(1000, &some)], true), None);
        assert_eq!(dropped(&[sacking(1000, &some), sacking(1500, &some)], true), Some(0));
        assert_eq!(dropped(&[sacking(1000, &some), ack(3000)], true), None);
        assert_eq!(dropped(&[sacking(1000, &some), sacking(1000, &[[4000, 9000]])], true), None);
        // A duplicate that is reported (RFC 2883).
        assert_eq!(dropped(&[sacking(5000, &[[1000, 2000]]), sacking(6000, &[[1000, 2000]])], true), None);
    }
}
