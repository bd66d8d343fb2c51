//! Short flows by the million: the state of a flow exists from its first wake-up until nothing can happen to it any more.
//!
//! A flow that a [`FlowFactory`] describes is built when its application first wakes. It has ended when its application has no wake-up, its endpoints have no
//! timer and none of its packets is in the network: nothing but a packet, a timer or its application ever calls it. Its place is then free for another flow,
//! and what the tables need of it remains.

use crate::endpoint::FlowView;
use crate::flow::Flow;
use crate::ids::{FlowId, NodeId};
use crate::packet::Proto;
use crate::stats::{FlowCounters, Summary};
use crate::world::Components;
use fairlane_units::{Name, Time};
use std::fmt::Debug;
use std::sync::Arc;

/// Place of a flow that has not begun.
pub(crate) const WAITING: u32 = u32::MAX;
/// Place of a flow that has ended.
pub(crate) const ENDED: u32 = u32::MAX - 1;
/// Owner of a free place.
const NOBODY: u32 = u32::MAX;
/// Places that are looked at whenever a flow begins. With `k` of them, ended flows are at most one in `k` of all that have places, on average.
const LOOKS: usize = 4;

/// Ends and transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnds {
    /// Node of the sender.
    pub from: NodeId,
    /// Node of the receiver.
    pub to: NodeId,
    /// Transport protocol.
    pub proto: Proto,
}

/// State of a flow at its begin.
#[derive(Clone, Debug)]
pub struct NewFlow<A, E> {
    /// Application, which drives this flow only.
    pub app: A,
    /// Endpoint that sends data.
    pub sender: E,
    /// Endpoint that receives data.
    pub receiver: E,
    /// Bytes after whose delivery the flow ends; 0 for none.
    pub amount: u64,
}

/// Description of all flows of a network, from which each is built when it begins.
pub trait FlowFactory<P: Components>: Debug + Send + Sync {
    /// Number of flows.
    fn count(&self) -> usize;
    /// Unique name of a flow.
    fn name(&self, flow: FlowId) -> &Name;
    /// Ends of a flow.
    fn ends(&self, flow: FlowId) -> FlowEnds;
    /// Time of the first wake-up of its application.
    fn starts_at(&self, flow: FlowId) -> Time;
    /// Builds a flow. The same flow is the same whenever it is built.
    fn build(&self, flow: FlowId) -> NewFlow<P::App, P::Endpoint>;
    /// Number of sums in which ended flows are counted; 0: each keeps its own counters.
    fn sums(&self) -> usize;
    /// Sum in which a flow is counted when it has ended; `None` if it keeps its counters.
    fn sum(&self, flow: FlowId) -> Option<usize>;
}

/// Sum of the counters of ended flows.
#[derive(Clone, Debug, Default)]
pub struct FlowSum {
    /// Counters since the last reset.
    pub counters: FlowCounters,
    /// Views of the senders.
    pub view: FlowView,
    /// Views of the senders at the last reset.
    pub base: FlowView,
    /// Times from the start to the delivery of the last byte, of completed flows.
    pub completion: Summary,
    /// Sum of these times in picoseconds.
    pub lasted: u128,
}

/// Bytes of an ended flow that is counted in a [`FlowSum`], since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedFlow {
    /// Payload bytes that arrived, each counted once.
    pub arrived: u64,
    /// Bytes on the wire of data packets that arrived.
    pub received: u64,
    /// Payload bytes delivered.
    pub delivered: u64,
}

/// An ended flow that keeps its counters.
#[derive(Clone, Debug)]
pub(crate) struct KeptFlow {
    pub(crate) flow: Flow,
    pub(crate) view: FlowView,
    /// Bytes that arrived out of order and were never delivered.
    pub(crate) kept: u64,
}

/// Flows that are built when they begin.
#[derive(Debug)]
pub(crate) struct Lifetimes<P: Components> {
    pub(crate) factory: Arc<dyn FlowFactory<P>>,
    pub(crate) seed: u64,
    /// Starts of the routes of all endpoints.
    pub(crate) routes: Arc<[u32]>,
    /// Flows that have a start, in the order of their first events.
    starts: Arc<[u32]>,
    /// Number of those that have begun.
    begun: usize,
    /// Flow at each place.
    owners: Vec<u32>,
    free: Vec<u32>,
    /// Place to look at next.
    next: usize,
    pub(crate) sums: Vec<FlowSum>,
    /// Ended flows that are counted in sums, by flow; empty without sums.
    pub(crate) ended: Vec<EndedFlow>,
    /// Ended flows that keep their counters, by flow; empty until the first.
    pub(crate) kept: Vec<Option<Box<KeptFlow>>>,
}

// Derived, it would ask for `P: Clone`.
impl<P: Components> Clone for Lifetimes<P> {
    fn clone(&self) -> Self {
        Self {
            factory: self.factory.clone(),
            seed: self.seed,
            routes: self.routes.clone(),
            starts: self.starts.clone(),
            begun: self.begun,
            owners: self.owners.clone(),
            free: self.free.clone(),
            next: self.next,
            sums: self.sums.clone(),
            ended: self.ended.clone(),
            kept: self.kept.clone(),
        }
    }
}

impl<P: Components> Lifetimes<P> {
    pub(crate) fn new(factory: Arc<dyn FlowFactory<P>>, seed: u64, routes: Vec<u32>, starts: Vec<u32>) -> Self {
        let (sums, count) = (factory.sums(), factory.count());
        Self {
            factory,
            seed,
            routes: routes.into(),
            starts: starts.into(),
            begun: 0,
            owners: Vec::new(),
            free: Vec::new(),
            next: 0,
            sums: vec![FlowSum::default(); sums],
            ended: vec![EndedFlow::default(); if sums > 0 { count } else { 0 }],
            kept: Vec::new(),
        }
    }

    /// Next flow that begins.
    pub(crate) fn next_start(&self) -> Option<FlowId> {
        self.starts.get(self.begun).map(|&f| FlowId(f))
    }

    /// Notes that the next flow begins.
    pub(crate) fn begins(&mut self) {
        self.begun += 1;
    }

    /// Gives a place to a flow. It is the number of places so far, or a free one.
    pub(crate) fn place(&mut self, flow: FlowId) -> u32 {
        let place = self.free.pop().unwrap_or(self.owners.len() as u32);
        match self.owners.get_mut(place as usize) {
            Some(owner) => *owner = flow.0,
            None => self.owners.push(flow.0),
        }
        place
    }

    /// Places to look at now, with the flows there.
    pub(crate) fn look(&mut self) -> [Option<(usize, FlowId)>; LOOKS] {
        std::array::from_fn(|k| {
            let place = self.next;
            let owner = (k < self.owners.len()).then(|| self.owners[place])?;
            self.next = if place + 1 < self.owners.len() { place + 1 } else { 0 };
            (owner != NOBODY).then_some((place, FlowId(owner)))
        })
    }

    /// Counts a flow that has ended at `place`, which becomes free.
    pub(crate) fn end(&mut self, place: usize, id: FlowId, flow: Flow, view: FlowView, kept: u64) {
        self.owners[place] = NOBODY;
        self.free.push(place as u32);
        let Some(sum) = self.factory.sum(id).filter(|_| flow.counters.playback.is_none()) else {
            if self.kept.is_empty() {
                self.kept.resize(self.factory.count(), None);
            }
            self.kept[id.0 as usize] = Some(Box::new(KeptFlow { flow, view, kept }));
            return;
        };
        let (sum, c) = (&mut self.sums[sum], &flow.counters);
        sum.counters.merge(c);
        sum.view = view.after(&sum.view);
        sum.base = flow.base.as_deref().copied().unwrap_or_default().after(&sum.base);
        if flow.completed != Time::MAX {
            let lasted = (flow.completed - flow.started).as_ps();
            sum.completion.add(lasted);
            sum.lasted += u128::from(lasted);
        }
        self.ended[id.0 as usize] =
            EndedFlow { arrived: (c.delivered + kept).saturating_sub(c.initial_kept), received: c.received_bytes, delivered: c.delivered };
    }

    /// Resets the counters of ended flows at the end of the warm-up.
    pub(crate) fn reset_counters(&mut self, now: Time) {
        self.ended.fill(EndedFlow::default());
        for sum in &mut self.sums {
            (sum.counters, sum.base) = (FlowCounters::default(), sum.view);
        }
        for k in self.kept.iter_mut().flatten() {
            k.flow.counters.begin_again(k.kept, now);
            k.flow.base = Some(Box::new(k.view));
        }
    }
}
