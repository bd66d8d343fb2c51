//! Packet capture at interfaces of nodes or at senders of flows, in a file for Wireshark, tshark and tcpdump.
//!
//! Source: pcapng, draft-ietf-opsawg-pcapng. Deviations: none known; optional blocks (journal, custom) are not written.
//!
//! An interface is one end of a link: a sent packet has the time at which its transmission begins, a received one the time of its last bit, as tcpdump at
//! that node would see it. Packets that the queue before the link dropped, or the link lost, never appear there: they go to an interface of their own,
//! NAME (dropped), with the reason as a comment, cut after the first eight bytes of their transport header, which is what ICMP quotes (RFC 792).
//! Ports and sequence number remain readable, but an analyser finds no whole TCP header to take for a segment on the wire.

mod block;
mod comment;
mod frame;
mod monitor;
mod payload;
mod points;
mod radiotap;
mod sink;
mod template;

pub use frame::{FlowFacts, NO_SHIFT, ipv4, ipv6, mac};
pub use payload::Payload;
pub use points::{FlowEnd, LinkEnd, Network, Points, Request, Style};
pub use radiotap::Monitor;

use block::{COMMENT, EPB_FLAGS, Interface, PACKET, padding};
use comment::{COMMENT_MAX, Comment};
use fairlane_net::{
    DequeueEvent, DropEvent, EpId, FrameEvent, HopEvent, Interest, Observer, Packet, PortId, ReceiveEvent, Segment, SendEvent,
};
use fairlane_units::Time;
use frame::{HEAD, Lengths, LinkHop, render, store};
use monitor::Listener;
use sink::{Sink, Unnamed, Writer};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use template::{Key, Templates};

/// Bytes kept of the transport header of a dropped packet (RFC 792: "64 bits of original data datagram").
const QUOTED: usize = 8;

/// Room for a block without payload: head and tail, headers, flags, a comment.
const BLOCK: usize = 28 + HEAD + 4 + 8 + COMMENT_MAX + 16;
/// Values of epb_flags: direction (section 4.3.1 of the draft).
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
const PS_PER_NS: u64 = 1000;

/// Capture point at a port or a flow, with its file.
#[derive(Clone, Copy, Debug)]
struct Tap {
    file: u32,
    interface: u32,
    /// True if packets are received here, false if they are sent.
    inbound: bool,
    /// Nodes at both ends, in the direction of sending.
    from: u32,
    to: u32,
}

/// Taps by number of port or flow.
#[derive(Debug, Default)]
struct Taps {
    first: Vec<u32>,
    all: Vec<Tap>,
}

impl Taps {
    fn new(count: usize, mut listed: Vec<(u32, Tap)>) -> Self {
        listed.sort_by_key(|&(at, _)| at);
        let first = (0..=count as u32).map(|i| listed.partition_point(|&(at, _)| at < i) as u32).collect();
        Self { first, all: listed.into_iter().map(|(_, tap)| tap).collect() }
    }
    #[inline]
    fn at(&self, i: u32) -> std::ops::Range<usize> {
        let i = i as usize;
        match (self.first.get(i), self.first.get(i + 1)) {
            (Some(&a), Some(&b)) => a as usize..b as usize,
            _ => 0..0,
        }
    }
}

/// Packet counts of an interface.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    packets: u64,
    dropped: u64,
}

/// One file with its interfaces.
#[derive(Debug)]
struct File {
    sink: Sink,
    counts: Vec<Count>,
    /// True if interfaces come in pairs, the second one for dropped packets.
    paired: bool,
    /// Bytes of each flow's key log that are in the file.
    secrets: BTreeMap<u32, usize>,
}

/// Complete files with temporary names.
#[derive(Debug)]
pub struct Written(Vec<Unnamed>);

impl Written {
    /// Renames every file to its final name.
    ///
    /// # Errors
    /// A file cannot be renamed.
    pub fn put_in_place(self) -> Result<(), (PathBuf, io::Error)> {
        self.0.into_iter().try_for_each(Unnamed::put_in_place)
    }
}

/// Rules that keep the packets of a port in order of time.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    /// True if a file has several sending ports: departures must then happen when due.
    prompt: bool,
    /// The only sending port of its file: its departures are reported before arrivals here.
    after: Option<PortId>,
}

/// Captures packets at the requested points.
#[derive(Debug)]
pub struct Capture {
    style: Style,
    flows: Vec<FlowFacts>,
    /// By flow; empty if no packet has a known payload.
    payloads: Vec<Option<Arc<dyn Payload>>>,
    ports: Taps,
    senders: Taps,
    order: Vec<Order>,
    starts: Vec<u32>,
    listeners: Vec<Listener>,
    files: Vec<File>,
    templates: Templates,
    writer: Writer,
    last: Time,
}

impl Capture {
    /// Creates all files.
    ///
    /// # Errors
    /// A file cannot be created.
    pub fn new(network: Network, style: Style, requests: &[Request]) -> Result<Self, (PathBuf, io::Error)> {
        let (mut ports, mut senders, mut files, mut listeners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut order = vec![Order::default(); network.ports];
        let mut at = |port: Option<PortId>, set: &dyn Fn(&mut Order)| {
            if let Some(o) = port.and_then(|p| order.get_mut(p.0 as usize)) {
                set(o);
            }
        };
        let mut writer = Writer::new();
        for (n, request) in requests.iter().enumerate() {
            let mut sink = writer.create(&request.file).map_err(|e| (request.file.clone(), e))?;
            let mut head = Vec::new();
            block::section(&mut head, concat!("fairlane ", env!("CARGO_PKG_VERSION")), &network.comment);
            let most = if network.payloads.is_empty() { HEAD as u32 } else { payload::WHOLE };
            let snaplen = style.snaplen.unwrap_or(most);
            let mut count = 0;
            let mut describe = |name: String, description: String, node: Option<u32>, speed: Option<u64>| {
                let linktype = if matches!(request.points, Points::Air(_)) { block::RADIOTAP } else { block::ETHERNET };
                block::interface(&mut head, &Interface { name, description, linktype, mac: node.map(mac), speed, snaplen });
                count += 1;
                count - 1
            };
            let name_of = |node: u32| network.nodes.get(node as usize).map_or("?", String::as_str);
            match &request.points {
                Points::Links(ends) => {
                    for end in ends {
                        match &ends[..] {
                            [_] => at(end.receives, &|o| o.after = end.sends),
                            _ => at(end.sends, &|o| o.prompt = true),
                        }
                        let (node, peer, speed) = (end.node, end.peer, Some(end.rate.as_bps()));
                        let place = format!("{} to {}", name_of(node), name_of(peer));
                        let interface = describe(end.name.clone(), place.clone(), Some(node), speed);
                        describe(
                            format!("{} (dropped)", end.name),
                            format!("{place}: dropped or lost, not on the wire"),
                            Some(node),
                            speed,
                        );
                        let tap = Tap { file: n as u32, interface, inbound: false, from: node, to: peer };
                        ports.extend(end.sends.map(|p| (p.0, tap)));
                        ports.extend(end.receives.map(|p| (p.0, Tap { inbound: true, from: peer, to: node, ..tap })));
                    }
                }
                Points::Air(m) => {
                    let node = m.only.and_then(|p| m.nodes.get(p.0.wrapping_sub(m.first.0) as usize)).copied();
                    let what = if node.is_some() { "frames that this station sends and receives" } else { "all frames of the channel" };
                    describe(m.name.clone(), what.to_owned(), node, Some(m.rate.as_bps()));
                    listeners.push(Listener::new(m.clone(), n));
                }
                Points::Flows(ends) => {
                    for end in ends {
                        let node = network.flows.get(end.flow as usize).map_or(0, |f| f.from);
                        let place = format!("flow {} at its sender {}", end.name, name_of(node));
                        let interface = describe(end.name.clone(), place, Some(node), None);
                        let tap = Tap { file: n as u32, interface, inbound: false, from: node, to: end.next };
                        senders.push((2 * end.flow, tap));
                        senders.push((2 * end.flow + 1, Tap { inbound: true, from: end.last, to: node, ..tap }));
                    }
                }
            }
            let nodes = network.nodes.iter().enumerate();
            block::names(&mut head, nodes.map(|(i, name)| (name.as_str(), ipv4(i as u32), ipv6(i as u32))));
            sink.put(&head);
            let paired = matches!(request.points, Points::Links(_));
            files.push(File { sink, counts: vec![Count::default(); count as usize], paired, secrets: BTreeMap::new() });
        }
        let (ports, senders) = (Taps::new(network.ports, ports), Taps::new(2 * network.flows.len(), senders));
        let (flows, payloads, starts) = (network.flows, network.payloads, network.starts);
        let templates = Templates::new(flows.len());
        Ok(Self { templates, style, flows, payloads, ports, senders, order, starts, listeners, files, writer, last: Time::ZERO })
    }

    /// First write error, with its file.
    pub fn failure(&self) -> Option<(&Path, &io::Error)> {
        let (file, e) = self.writer.failure()?;
        Some((self.files.get(file)?.sink.target(), e))
    }

    /// Completes all files; they still have temporary names.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self) -> Result<Written, (PathBuf, io::Error)> {
        let ns = self.last.as_ps() / PS_PER_NS;
        let (mut whole, mut targets) = (Vec::new(), Vec::new());
        for mut file in self.files {
            let mut tail = Vec::new();
            for (i, count) in file.counts.iter().enumerate() {
                if !(file.paired && i % 2 == 1) {
                    block::statistics(&mut tail, i as u32, ns, count.packets, count.dropped);
                }
            }
            file.sink.put(&tail);
            targets.push(file.sink.target().to_path_buf());
            whole.push(file.sink.finish());
        }
        self.writer.close().map_err(|(file, e)| (targets.get(file).cloned().unwrap_or_default(), e))?;
        Ok(Written(whole))
    }

    #[inline(always)]
    fn packet(&mut self, tapped: usize, of_port: bool, time: Time, pkt: &Packet, seg: &Segment, comment: Comment) {
        if !comment.silent() || self.again(tapped, of_port, time, pkt, seg).is_none() {
            self.any_packet(tapped, of_port, time, pkt, seg, comment);
        }
    }

    /// Writes a packet without a comment from the template of its kind: few tests, and few values that all of them need at once.
    #[inline(never)]
    fn again(&mut self, tapped: usize, of_port: bool, time: Time, pkt: &Packet, seg: &Segment) -> Option<()> {
        // Templates are not used if payload is kept.
        let template = self.templates.known(&Key::of(tapped, of_port, pkt, seg)?)?;
        let file = self.files.get_mut(template.file as usize)?;
        let (count, out) = (file.counts.get_mut(template.interface as usize)?, file.sink.room(BLOCK).first_chunk_mut::<BLOCK>()?);
        let ns = time.as_ps() / PS_PER_NS;
        let len = if self.style.ipv6 { template.write_six(out, ns, pkt, seg)? } else { template.write::<false>(out, ns, pkt, seg)? };
        (self.last, count.packets) = (time, count.packets + 1);
        file.sink.used(len);
        Some(())
    }

    /// Writes a packet without a block template.
    #[inline(never)]
    fn any_packet(&mut self, tapped: usize, of_port: bool, time: Time, pkt: &Packet, seg: &Segment, comment: Comment) {
        let kind = if comment.silent() && self.style.snaplen.is_none() { Key::of(tapped, of_port, pkt, seg) } else { None };
        let tap = if of_port { self.ports.all[tapped] } else { self.senders.all[tapped] };
        if !self.payloads.is_empty() && self.with_payload(tap, time, pkt, seg, comment) {
            return;
        }
        let (Some(file), Some(facts)) = (self.files.get_mut(tap.file as usize), self.flows.get(pkt.flow.0 as usize)) else { return };
        self.last = time;
        // A packet that has arrived at its end has crossed one more link.
        let crossed = facts.crossed(pkt, &self.starts, comment == Comment::Arrived);
        let hop = LinkHop { from: tap.from, to: tap.to, hops: crossed };
        let dropped = matches!(comment, Comment::Dropped { .. });
        let Some(count) = file.counts.get_mut(tap.interface as usize) else { return };
        if dropped {
            count.dropped += 1
        } else {
            count.packets += 1
        }
        let flags = if tap.inbound { INBOUND } else { OUTBOUND };
        let interface = tap.interface + u32::from(dropped);
        let place = BlockHeader { interface, ns: time.as_ps() / PS_PER_NS, flags, snaplen: self.style.snaplen };
        let kind = kind.map(|key| (key, tap.file));
        let (sink, templates) = (&mut file.sink, &mut self.templates);
        if self.style.ipv6 {
            write::<true>(sink, templates, kind, place, pkt, seg, facts, hop, comment);
        } else {
            write::<false>(sink, templates, kind, place, pkt, seg, facts, hop, comment);
        }
    }
}

/// Fields of an enhanced packet block (section 4.3 of the draft) besides the packet.
#[derive(Clone, Copy)]
struct BlockHeader {
    interface: u32,
    ns: u64,
    flags: u32,
    snaplen: Option<u32>,
}

/// Writes the headers of a packet that is captured at `tap` after `hops` links.
fn render_any(ipv6: bool, head: &mut [u8; HEAD], pkt: &Packet, seg: &Segment, facts: &FlowFacts, (tap, hops): (Tap, u32)) -> Lengths {
    let hop = LinkHop { from: tap.from, to: tap.to, hops };
    if ipv6 { render::<true>(head, pkt, seg, facts, hop) } else { render::<false>(head, pkt, seg, facts, hop) }
}

/// Length of a block's head: type, length, interface, time stamp, captured length, original length.
const BLOCK_HEAD: usize = 28;

#[inline(always)]
fn word(out: &mut [u8; BLOCK], at: usize, value: u32) {
    store(out, at, value.to_le_bytes());
}

/// Writes one block.
#[allow(clippy::too_many_arguments, reason = "it is inlined where they all are at hand")]
fn write<const SIX: bool>(
    sink: &mut Sink,
    templates: &mut Templates,
    kind: Option<(Key, u32)>,
    place: BlockHeader,
    pkt: &Packet,
    seg: &Segment,
    facts: &FlowFacts,
    hop: LinkHop,
    comment: Comment,
) {
    let Some(out) = sink.room(BLOCK).first_chunk_mut::<BLOCK>() else { return };
    let Some(head) = out[BLOCK_HEAD..].first_chunk_mut::<HEAD>() else { return };
    let lengths = render::<SIX>(head, pkt, seg, facts, hop);
    word(out, 0, PACKET);
    word(out, 8, place.interface);
    word(out, 12, (place.ns >> 32) as u32);
    word(out, 16, place.ns as u32);
    word(out, 24, lengths.frame);
    if place.snaplen.is_none() && comment.silent() {
        let kept = lengths.head;
        let end = BLOCK_HEAD + kept + padding(kept);
        word(out, BLOCK_HEAD + kept, 0);
        word(out, end, u32::from(EPB_FLAGS) | 4 << 16);
        word(out, end + 4, place.flags);
        word(out, end + 8, 0);
        let total = end + 16;
        word(out, end + 12, total as u32);
        word(out, 4, total as u32);
        word(out, 20, kept as u32);
        if let (Some((key, file)), Some(block)) = (kind, out.get(..total)) {
            templates.keep::<SIX>(block, key, (file, place.interface), pkt, facts);
        }
        sink.used(total);
    } else {
        write_rest(sink, place, pkt, seg, lengths, comment);
    }
}

/// Writes the rest of a packet with payload or a comment, after the headers.
#[inline(never)]
fn write_rest(sink: &mut Sink, place: BlockHeader, pkt: &Packet, seg: &Segment, lengths: Lengths, comment: Comment) {
    let kept = match comment {
        Comment::Dropped { .. } => lengths.network + QUOTED,
        _ => place.snaplen.map_or(lengths.head, |most| most.min(lengths.frame) as usize),
    };
    let mut text = [0; COMMENT_MAX];
    let length = comment.write(&mut text, pkt, seg);
    let body = kept + padding(kept);
    let options = 8 + if length == 0 { 0 } else { 4 + length + padding(length) } + 4;
    let total = BLOCK_HEAD + body + options + 4;
    // The headers are there already and move only if the buffer has no room for the rest.
    let mut front = [0; BLOCK_HEAD + HEAD];
    front.copy_from_slice(&sink.room(0)[..BLOCK_HEAD + HEAD]);
    let Some(out) = sink.room(total + BLOCK).get_mut(..total) else { return };
    let headers = BLOCK_HEAD + kept.min(lengths.head);
    out[..headers].copy_from_slice(&front[..headers]);
    // Zeros follow the headers: payload, padding.
    out[headers..].fill(0);
    let ends = (total as u32).to_le_bytes();
    out[4..8].copy_from_slice(&ends);
    out[20..24].copy_from_slice(&(kept as u32).to_le_bytes());
    let mut at = BLOCK_HEAD + body;
    let mut put = |bytes: &[u8]| {
        out[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&(u32::from(EPB_FLAGS) | 4 << 16).to_le_bytes());
    put(&place.flags.to_le_bytes());
    if length != 0 {
        put(&(u32::from(COMMENT) | (length as u32) << 16).to_le_bytes());
        put(&text[..length + padding(length)]);
    }
    put(&[0; 4]);
    put(&ends);
    sink.used(total);
}

impl Observer for Capture {
    #[inline]
    fn port_interest(&self, port: PortId) -> Interest {
        let mut interest = Interest::FRAME.when(self.listeners.iter().any(|l| l.station(port).is_some()));
        for tap in self.ports.at(port.0) {
            interest = interest | if self.ports.all[tap].inbound { Interest::HOP } else { Interest::PORT };
        }
        interest | Interest::PROMPT.when(self.order.get(port.0 as usize).is_some_and(|o| o.prompt))
    }

    #[inline]
    fn endpoint_interest(&self, endpoint: EpId) -> Interest {
        Interest::SEGMENT.when(!endpoint.receives() && !self.senders.at(endpoint.0).is_empty())
    }

    #[cold]
    fn on_frame(&mut self, e: &FrameEvent) {
        self.frame(e);
    }

    #[inline]
    fn before_hop(&self, port: PortId) -> Option<PortId> {
        self.order.get(port.0 as usize)?.after
    }

    #[inline]
    fn on_send(&mut self, e: &SendEvent) {
        for tap in self.senders.at(e.endpoint.0) {
            if !self.senders.all[tap].inbound {
                self.packet(tap, false, e.time, &e.pkt, &e.seg, Comment::Plain);
            }
        }
    }

    #[inline]
    fn on_receive(&mut self, e: &ReceiveEvent) {
        if e.endpoint.receives() {
            return;
        }
        // Packets that return to the sender of a flow are listed under its other end.
        for tap in self.senders.at(e.endpoint.0 + 1) {
            self.packet(tap, false, e.time, &e.pkt, &e.seg, Comment::Arrived);
        }
    }

    #[inline]
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        for tap in self.ports.at(e.port.0) {
            if !self.ports.all[tap].inbound {
                // Without queue comments, a packet that left a queue is like any other.
                let comment = if self.style.queue { Comment::Left(e.backlog) } else { Comment::Plain };
                self.packet(tap, true, e.time, &e.pkt, &e.seg, comment);
            }
        }
    }

    #[inline]
    fn on_hop(&mut self, e: &HopEvent) {
        for tap in self.ports.at(e.port.0) {
            if self.ports.all[tap].inbound {
                self.packet(tap, true, e.time, &e.pkt, &e.seg, Comment::Plain);
            }
        }
    }

    #[cold]
    fn on_drop(&mut self, e: &DropEvent) {
        for tap in self.ports.at(e.port.0) {
            if !self.ports.all[tap].inbound {
                self.packet(tap, true, e.time, &e.pkt, &e.seg, Comment::Dropped { why: e.why.name(), backlog: e.backlog });
            }
        }
    }
}

#[cfg(test)]
mod tests;
