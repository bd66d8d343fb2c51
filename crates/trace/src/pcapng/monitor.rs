//! Capture of wireless frames in monitor mode.

use super::block::{EPB_FLAGS, PACKET, padding};
use super::frame::{LinkHop, render};
use super::radiotap::{Monitor, ROOM, Sender};
use super::{Capture, INBOUND, OUTBOUND, PS_PER_NS};
use fairlane_net::{FrameEvent, PortId};
use fairlane_wireless::Kind;

/// A monitor with its file and the state of its stations.
#[derive(Clone, Debug)]
pub(super) struct Listener {
    monitor: Monitor,
    file: usize,
    senders: Vec<Sender>,
}

impl Listener {
    pub(super) fn new(monitor: Monitor, file: usize) -> Self {
        let senders = vec![Sender::default(); monitor.nodes.len()];
        Self { monitor, file, senders }
    }

    /// Number of a port's station, if it belongs to this channel.
    pub(super) fn station(&self, port: PortId) -> Option<usize> {
        port.0.checked_sub(self.monitor.first.0).map(|s| s as usize).filter(|s| *s < self.senders.len())
    }
}

impl Capture {
    /// Writes a frame for the monitors that receive it.
    pub(super) fn frame(&mut self, e: &FrameEvent) {
        for l in &mut self.listeners {
            let (Some(_), Some(from)) = (l.station(e.port), l.station(e.from)) else { continue };
            let sent = e.heard.is_none();
            let sender = &mut l.senders[from];
            if sent && e.frame.kind == Kind::Data {
                if !e.frame.retry {
                    sender.number = sender.number.wrapping_add(1) & 0x0FFF;
                }
                if let Some((pkt, seg)) = &e.packet
                    && let Some(facts) = self.flows.get(pkt.flow.0 as usize)
                {
                    let node = |station: u32| l.monitor.nodes.get(station as usize).copied().unwrap_or(0);
                    let hop = LinkHop { from: node(e.frame.from), to: node(e.frame.to), hops: facts.crossed(pkt, &self.starts, false) };
                    sender.lengths = if self.style.ipv6 {
                        render::<true>(&mut sender.head, pkt, seg, facts, hop)
                    } else {
                        render::<false>(&mut sender.head, pkt, seg, facts, hop)
                    };
                }
            }
            if l.monitor.only.map_or(!sent, |port| port != e.port) {
                continue;
            }
            let Some(file) = self.files.get_mut(l.file) else { continue };
            if let Some(count) = file.counts.first_mut() {
                count.packets += 1;
            }
            self.last = e.time;
            let bytes = l.monitor.write(e, sender);
            let payload = bytes.frame as usize - bytes.head - 4;
            let kept = match self.style.snaplen {
                // The headers of data frames, the whole of other frames.
                None if payload > 0 => bytes.head,
                None => bytes.frame as usize,
                Some(most) => (most as usize).min(bytes.frame as usize),
            };
            let whole = kept == bytes.frame as usize;
            let total = 28 + kept + padding(kept) + 8 + 4 + 4;
            let Some(out) = file.sink.room(total + ROOM).get_mut(..total) else { continue };
            let ns = e.time.as_ps() / PS_PER_NS;
            let flags = if sent && l.monitor.only.is_some() { OUTBOUND } else { INBOUND };
            out.fill(0);
            let mut word = |at: usize, value: u32| out[at..at + 4].copy_from_slice(&value.to_le_bytes());
            word(0, PACKET);
            word(4, total as u32);
            word(12, (ns >> 32) as u32);
            word(16, ns as u32);
            word(20, kept as u32);
            word(24, bytes.frame);
            let at = 28 + kept + padding(kept);
            word(at, u32::from(EPB_FLAGS) | 4 << 16);
            word(at + 4, flags);
            word(total - 4, total as u32);
            let known = kept.min(bytes.head);
            out[28..28 + known].copy_from_slice(&bytes.bytes[..known]);
            if whole {
                out[28 + kept - 4..28 + kept].copy_from_slice(&bytes.check_sequence(payload));
            }
            file.sink.used(total);
        }
    }
}
