//! A world in hand: what may be asked of it in the middle of a run, and branches with a future of their own.

use super::{Components, World};
use crate::endpoint::{Endpoint, SenderState, Timers};
use crate::ids::{EpId, PortId};
use crate::observe::{Interest, Observer};
use crate::packet::Packet;
use crate::path::{Stuck, Visible};
use crate::sample::Sampler;
use fairlane_engine::{EventQueue, Stream};

impl<P: Components, H: EventQueue> World<P, H> {
    /// Draws from other random streams from now on: two branches of one state have futures of their own if their numbers differ. The order
    /// of simultaneous events stays as it is.
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

    /// An observer begins to watch, or wants to see more than before: departures of before are carried out unseen, and those to come when they are due.
    pub fn watch<O: Observer>(&mut self, obs: &O) {
        self.path.settle_all::<(), false>(self.path.now, &mut ());
        for i in 0..self.path.ports.len() as u32 {
            if obs.port_interest(PortId(i)).has(Interest::PROMPT) && !self.path.ports[i as usize].is_on_air() {
                self.path.arm_wake(i, obs);
            }
        }
    }

    /// Whether departures from a port are due by now that have not been carried out: its backlog is that of before.
    pub fn is_due(&self, port: PortId) -> bool {
        let port = self.port(port);
        port.queued && port.next_start() <= self.path.now
    }

    /// Packets that wait at a port, in the order in which they leave.
    ///
    /// # Errors
    /// The queue does not let go of them.
    pub fn waiting(&self, port: PortId) -> Result<Vec<Packet>, Stuck> {
        self.path.waiting(port)
    }

    /// An endpoint.
    pub fn endpoint(&self, ep: EpId) -> Option<&P::Endpoint> {
        self.endpoints.get(ep.0 as usize)
    }
    /// What an observer sees change of it; timeouts of a sender are those of all connections of its flow.
    pub fn moment(&self, ep: EpId) -> Option<SenderState> {
        let mut moment = self.endpoint(ep)?.moment()?;
        if let Some(past) = self.path.flows[ep.flow().0 as usize].past.as_ref().filter(|_| !ep.receives()) {
            moment.timeouts += past.view.timeouts;
        }
        Some(moment)
    }
    /// Its deadlines.
    pub fn timers(&self, ep: EpId) -> &Timers {
        &self.sides[ep.0 as usize].timers
    }
}
