//! Snapshots during a run: observers that join, state of ports and endpoints, and branches with other random numbers.

use super::{Components, World};
use crate::endpoint::{Endpoint, SenderState, Timers};
use crate::ids::{EpId, PortId};
use crate::observe::{Interest, Observer};
use crate::packet::Packet;
use crate::path::{Stuck, Visible};
use crate::sample::Sampler;
use fairlane_engine::{EventQueue, Stream};

impl<P: Components, H: EventQueue> World<P, H> {
    /// Changes all random streams: branches with different numbers have different futures. The order of simultaneous events stays.
    pub fn reseed(&mut self, number: u64) {
        for port in &mut self.path.ports {
            port.rng.fork(number);
            if let Some(imp) = port.impair_mut() {
                imp.reseed(number);
            }
        }
        for host in &mut self.hosts {
            host.rng.fork(number);
        }
        for channel in &mut self.airs {
            channel.air.reseed(number);
        }
        let now = self.path.now.as_ps();
        for (flow, ends) in self.path.flows.iter().zip(self.endpoints.chunks_exact_mut(2)) {
            let mut stream = Stream::new(number ^ now, "flow", &flow.name, "branch");
            ends.iter_mut().for_each(|e| e.reseed(stream.next_u64()));
        }
    }

    /// Lets an observer watch some ports from the beginning; it never sees more of them later. Shortcuts stay where it sees nothing of them.
    /// Called before the first event.
    pub fn watch_some<O: Observer>(&mut self, obs: &O) {
        debug_assert!(self.events_run == 0, "packets are in flight");
        if !self.path.has_shortcuts() {
            return;
        }
        self.path.disable_all_shortcuts();
        let sampled = Sampler::sampled_ports(self.sampler.as_ref(), self.path.ports.len());
        self.path.choose_shortcuts(|i| {
            let wants = obs.port_interest(PortId(i));
            let port = wants.has(Interest::PORT);
            Visible {
                port: port || sampled[i as usize],
                hop: wants.has(Interest::HOP),
                queue: port && wants.has(Interest::ENQUEUE | Interest::PROMPT),
            }
        });
        self.path.shortcuts.fit_observer = true;
    }

    /// Lets an observer join, or see more: due departures are carried out unobserved, later ones when they are due.
    pub fn watch<O: Observer>(&mut self, obs: &O) {
        self.path.settle_all::<(), false>(self.path.now, &mut ());
        for i in 0..self.path.ports.len() as u32 {
            if obs.wants_at(PortId(i), Interest::PROMPT) && !self.path.ports[i as usize].is_on_air() {
                self.path.arm_wake(i, obs);
            }
        }
    }

    /// True if departures are due at a port that were not carried out: its backlog is not up to date.
    pub fn is_due(&self, port: PortId) -> bool {
        let port = self.port(port);
        port.queued && port.next_start() <= self.path.now
    }

    /// Carries out, unobserved, the departures of a port that were due before now, as the next arrival at the port would.
    pub fn settle_port(&mut self, port: PortId) {
        self.path.settle::<(), false>(port.0, self.path.now, &mut ());
    }

    /// Queued packets of a port, in the order in which they leave.
    ///
    /// # Errors
    /// The queue does not release them.
    pub fn waiting(&self, port: PortId) -> Result<Vec<Packet>, Stuck> {
        self.path.waiting(port)
    }

    /// Returns an endpoint.
    pub fn endpoint(&self, ep: EpId) -> Option<&P::Endpoint> {
        self.endpoints.get(ep.0 as usize)
    }
    /// State of a sender for observers; timeouts are those of all connections of its flow.
    pub fn moment(&self, ep: EpId) -> Option<SenderState> {
        let mut moment = self.endpoint(ep)?.moment()?;
        if let Some(past) = self.path.flows[ep.flow().0 as usize].past.as_ref().filter(|_| !ep.receives()) {
            moment.timeouts += past.view.timeouts;
        }
        Some(moment)
    }
    /// Deadlines of an endpoint.
    pub fn timers(&self, ep: EpId) -> &Timers {
        &self.sides[ep.0 as usize].timers
    }
}
