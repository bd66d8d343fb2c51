//! Changes of links, queues and flows during a run. They take effect now, and leave earlier events of this instant as they are.

use super::{Components, World};
use crate::app::{Action, App};
use crate::endpoint::Endpoint;
use crate::hop::NOWHERE;
use crate::ids::{EpId, FlowId, PortId};
use crate::impair::Impairments;
use crate::observe::Observer;
use crate::order::Turn;
use crate::path::{Stuck, Waiting};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Rate, Time};

impl<P: Components, H: EventQueue> World<P, H> {
    /// Sets the rate of a link, also for the remaining bits of the packet in transmission. Zero is an outage. A link with a trace or a device does not change.
    pub fn set_rate<O: Observer>(&mut self, port: PortId, rate: Rate, obs: &mut O) {
        self.path.disable_shortcut(port.0);
        self.path.set_rate(port.0, rate, obs);
    }

    /// Sets the propagation delay of a link for packets whose transmission begins from now on. They never overtake earlier packets.
    pub fn set_delay<O: Observer>(&mut self, port: PortId, delay: Dur, obs: &mut O) {
        self.path.disable_shortcut(port.0);
        self.path.settle::<O, true>(port.0, self.path.now, obs);
        self.path.ports[port.0 as usize].set_delay(delay);
    }

    /// Sets losses and duplication of a link. They are decided at its far end, so they also apply to packets in flight.
    pub fn set_losses(&mut self, port: PortId, what: &Impairments, seed: u64, name: &str) {
        self.path.disable_shortcut(port.0);
        // Each model gets its own random stream.
        self.path.ports[port.0 as usize].set_losses(what, seed ^ self.path.now.as_ps(), name);
    }

    /// Replaces the queue of a port.
    ///
    /// # Errors
    /// The old queue does not release its packets; nothing has changed then.
    pub fn set_queue<O: Observer>(&mut self, port: PortId, queue: P::Qdisc, waiting: Waiting, obs: &mut O) -> Result<(), Stuck> {
        self.path.disable_shortcut(port.0);
        self.path.set_queue(port.0, queue, waiting, obs)?;
        if let Some(clock) = self.clocks.iter_mut().find(|c| **c == port.0) {
            // The timer belonged to the old queue.
            *clock = NOWHERE;
        }
        Ok(())
    }

    /// Replaces the application of a flow that has not begun.
    pub fn set_app(&mut self, flow: FlowId, app: P::App) {
        let f = &self.path.flows[flow.0 as usize];
        if f.started != Time::MAX || !f.alone {
            return;
        }
        let host = &mut self.hosts[f.app as usize];
        host.wake = app.starts_at().max(self.path.now);
        self.path.flows[flow.0 as usize].watched = app.listens();
        host.app = app;
        if host.wake < host.armed {
            host.armed = host.wake;
            self.path.push(host.wake, self.path.slots.hosts + host.number, Turn::Act);
        }
    }

    /// Sets window (bytes) and pacing rate (zero: none) of a sender that gets them from outside; others do not change.
    pub fn set_window<O: Observer>(&mut self, flow: FlowId, window: u64, rate: Rate, obs: &mut O) {
        self.with_endpoint(EpId::sender(flow).0, self.path.now, obs, |e, cx| e.set_window(window, rate, cx));
    }

    /// Stops a flow as its application would; both ends, if both write. A flow that has not begun never begins.
    pub fn stop<O: Observer>(&mut self, flow: FlowId, obs: &mut O) {
        let f = &mut self.path.flows[flow.0 as usize];
        let (app, begun) = (f.app as usize, f.started != Time::MAX);
        f.watched = false;
        f.play_ends(self.path.now);
        self.forget(app);
        if begun {
            self.act(EpId::sender(flow), Action::Stop, self.path.now, obs);
            if self.hosts[app].app.usage().dialogue {
                self.act(EpId::receiver(flow), Action::Stop, self.path.now, obs);
            }
        }
    }
}
