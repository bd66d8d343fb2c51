//! TBF: a token bucket that holds packets back to a rate.

use super::bucket::{Bucket, tokens};
use super::cake::wire::Wire;
use super::check;
use super::ledger::Ledger;
use super::link_layer::LinkLayer;
use crate::discipline::{Capabilities, Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use fairlane_net::{Backlog, BuildContext, DropReason, LinkInfo, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Len, Rate, Time};

fairlane_units::params! {
    /// TBF delays packets until a token bucket has tokens for all their bytes: a burst at once, then the rate (tc-tbf; token bucket of RFC 2215 section 3.2).
    pub struct TbfParams<S> {
        /// Rate of the tokens. Unset: that of the link.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub rate: Option<Rate> = None,
        /// Depth of the bucket; a longer packet is dropped, since it never could be sent.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub burst: Bytes = Bytes(BURST),
        /// Rate of a second bucket that bounds how fast the burst leaves. Unset: none.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        pub peakrate: Option<Rate> = None,
        /// Depth of the second bucket: a longer packet is dropped. Without `peakrate` it says nothing.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GiB"))]
        pub mtu: Bytes = Bytes(MTU),
        /// Link layer of both buckets.
        #[serde(flatten)]
        pub link_layer: LinkLayer,
        /// Limit of packets that wait for tokens. Unset: only the limit of the inner queue.
        pub limit: Option<Len> = None,
        /// The queue of the packets that wait: any discipline. Its automatic values see a link of this rate.
        pub queue: Box<S> = Box::default(),
    }
}

/// Ten full Ethernet frames.
const BURST: u64 = 15_140;
/// A full Ethernet frame with its header.
const MTU: u64 = 1514;

impl<S> TbfParams<S> {
    /// Returns the context of the inner queue: a link of the rate at which it is served in the long run.
    fn behind<'a>(&self, context: &BuildContext<'a>) -> BuildContext<'a> {
        let rate = self.rate.map_or(context.link.rate, |r| r.min(context.link.rate));
        BuildContext { link: LinkInfo { rate, ..context.link }, flows: context.flows }
    }
}

impl<S: Discipline> Discipline for TbfParams<S> {
    type Queue = Tbf<S::Queue>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Defaults of TBF in ns-2.35: 64 kbit/s, and a bucket of 1024 bits, through which no packet above 128 bytes fits: set burst.",
        values: r#"{"rate": "64kbit/s", "burst": "128B"}"#,
    }];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        for (field, rate) in [("rate", self.rate), ("peakrate", self.peakrate)] {
            if rate.is_some_and(|r| r.as_bps() == 0) {
                return Err(Problem::new(field, "without tokens nothing is ever sent: write for instance \"1Mbit/s\""));
            }
        }
        for (field, depth) in [("burst", self.burst), ("mtu", self.mtu)] {
            if depth.get() == 0 {
                return Err(Problem::new(
                    field,
                    "a bucket of no depth lets nothing through: write at least the longest packet, such as \"1500B\"",
                ));
            }
        }
        if self.link_layer.wire().framed(1) > self.burst.get() {
            return Err(Problem::new("burst", "the overhead and the least length of a packet alone exceed it: nothing would pass"));
        }
        let rate = self.rate.unwrap_or(context.link.rate);
        if self.peakrate.is_some_and(|p| p < rate) {
            return Err(Problem::new("peakrate", format!("it is below the rate of {rate}, which would then never be reached")));
        }
        check::holds("limit", self.limit)?;
        self.queue.check(&self.behind(context)).map_err(|p| p.within("queue"))
    }

    fn build(&self, context: &BuildContext<'_>) -> Tbf<S::Queue> {
        Tbf {
            inner: self.queue.build(&self.behind(context)),
            wire: self.link_layer.wire(),
            long_term: Bucket::new(self.rate.unwrap_or(context.link.rate), self.burst),
            peak: self.peakrate.map(|p| Bucket::new(p, self.mtu)),
            limit: self.limit.map_or(Limit::NONE, |len| Limit::new(len, Admit::Fits)),
            waiting: Ledger::default(),
            out: None,
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.queue.capabilities().and(Capabilities { shapes: true, ..Capabilities::default() })
    }
}

/// A queue behind one or two token buckets.
#[derive(Clone, Debug)]
pub struct Tbf<Q> {
    inner: Q,
    wire: Wire,
    long_term: Bucket,
    peak: Option<Bucket>,
    limit: Limit,
    waiting: Ledger,
    /// A packet that left the inner queue and turned out longer than the one expected, so that it must wait on.
    out: Option<Packet>,
}

impl<Q: Qdisc> Tbf<Q> {
    /// Creates one over a queue, with one bucket or two, that counts lengths as they are.
    pub(crate) fn over(inner: Q, long_term: Bucket, peak: Option<Bucket>) -> Self {
        let wire = LinkLayer::default().wire();
        Self { inner, wire, long_term, peak, limit: Limit::NONE, waiting: Ledger::default(), out: None }
    }

    fn strike(&mut self, cx: &QCx<'_>, before: usize) {
        for (p, _) in &cx.drops[before..] {
            self.waiting.strike(p.id);
        }
    }

    /// The tokens that a packet of `len` bytes takes.
    fn cost(&self, len: u32) -> u128 {
        tokens(self.wire.framed(len))
    }

    fn holds(&self, tokens: u128) -> bool {
        self.long_term.holds(tokens) && self.peak.is_none_or(|b| b.holds(tokens))
    }

    fn send(&mut self, p: Packet) -> Option<Packet> {
        let cost = self.cost(p.len);
        self.long_term.take(cost);
        if let Some(b) = &mut self.peak {
            b.take(cost);
        }
        Some(p)
    }
}

impl<Q: Qdisc> Qdisc for Tbf<Q> {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let cost = self.cost(p.len);
        let fits = self.long_term.fits(cost) && self.peak.is_none_or(|b| b.fits(cost));
        if !fits || !self.limit.admits(self.backlog(), p.len) {
            return cx.drop(p, DropReason::Overflow);
        }
        let before = cx.drops.len();
        self.waiting.add(&p, 0);
        self.inner.enqueue(p, cx);
        self.strike(cx, before);
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        self.long_term.fill(cx.now);
        if let Some(b) = &mut self.peak {
            b.fill(cx.now);
        }
        if let Some(p) = self.out {
            if !self.holds(self.cost(p.len)) {
                return None;
            }
            self.out = None;
            return self.send(p);
        }
        let expected = self.waiting.first()?;
        if !self.holds(self.cost(expected.len)) || self.inner.ready_at().is_some_and(|t| t > cx.now) {
            return None;
        }
        let before = cx.drops.len();
        let p = self.inner.dequeue(cx);
        self.strike(cx, before);
        let p = p?;
        self.waiting.strike(p.id);
        if self.holds(self.cost(p.len)) {
            return self.send(p);
        }
        self.out = Some(p);
        None
    }

    fn backlog(&self) -> Backlog {
        let mut held = self.inner.backlog();
        if let Some(p) = &self.out {
            held.add(p);
        }
        held
    }

    fn ready_at(&self) -> Option<Time> {
        let len = self.out.map(|p| p.len).or_else(|| self.waiting.first().map(|e| e.len))?;
        let cost = self.cost(len);
        let mut at = self.long_term.holds_at(cost);
        if let Some(b) = &self.peak {
            at = at.max(b.holds_at(cost));
        }
        if self.out.is_none()
            && let Some(t) = self.inner.ready_at()
        {
            at = at.max(t);
        }
        Some(at)
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let before = cx.drops.len();
        let next = self.inner.on_timer(cx);
        self.strike(cx, before);
        next
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("tokens", self.long_term.bytes());
        if let Some(b) = &self.peak {
            out("peak_tokens", b.bytes());
        }
        self.inner.gauges(out);
    }

    answered_by! { inner: has_timer, clamps, headers }
}

#[cfg(test)]
mod tests;
