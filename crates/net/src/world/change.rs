//! What may change while the run goes on, each at the present: events of this instant that are over stay as they were.

use super::{Components, World};
use crate::app::{Action, App};
use crate::hop::NOWHERE;
use crate::ids::{EpId, FlowId, PortId};
use crate::impair::Impairments;
use crate::observe::Observer;
use crate::order::Turn;
use crate::path::{Stuck, Waiting};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Rate, Time};

impl<P: Components, H: EventQueue> World<P, H> {
    /// The rate of a link; the bits of a packet in transmission that are still to be sent go at it, too. Zero is an outage. A link that follows a trace or has a device
    /// stays as it is.
    pub fn set_rate<O: Observer>(&mut self, port: PortId, rate: Rate, obs: &mut O) {
        self.path.disable_shortcut(port.0);
        self.path.set_rate(port.0, rate, obs);
    }

    /// The propagation delay of a link, for packets whose transmission begins from now on. They overtake none: where it becomes shorter they arrive no sooner than those
    /// before them.
    pub fn set_delay<O: Observer>(&mut self, port: PortId, delay: Dur, obs: &mut O) {
        self.path.disable_shortcut(port.0);
        self.path.settle::<O, true>(port.0, self.path.now, obs);
        self.path.ports[port.0 as usize].set_delay(delay);
    }

    /// Losses and copies on a link, which are decided at its far end: also of packets under way.
    pub fn set_losses(&mut self, port: PortId, what: &Impairments, seed: u64, name: &str) {
        self.path.disable_shortcut(port.0);
        // A model that draws for itself is another each time.
        self.path.ports[port.0 as usize].set_losses(what, seed ^ self.path.now.as_ps(), name);
    }

    /// The queue of a port.
    ///
    /// # Errors
    /// The old queue does not let go of the packets in it; then nothing has changed.
    pub fn set_queue<O: Observer>(&mut self, port: PortId, queue: P::Qdisc, waiting: Waiting, obs: &mut O) -> Result<(), Stuck> {
        self.path.disable_shortcut(port.0);
        self.path.set_queue(port.0, queue, waiting, obs)?;
        if let Some(clock) = self.clocks.iter_mut().find(|c| **c == port.0) {
            // Its timer was that of the old queue.
            *clock = NOWHERE;
        }
        Ok(())
    }

    /// The application of a flow that has not begun.
    pub fn set_app(&mut self, flow: FlowId, app: P::App) {
        let f = &self.path.flows[flow.0 as usize];
        if f.started != Time::MAX || !f.alone {
            return;
        }
        let (number, host) = (f.app, &mut self.hosts[f.app as usize]);
        host.wake = app.starts_at().max(self.path.now);
        self.path.flows[flow.0 as usize].watched = app.listens();
        host.app = app;
        if host.wake < host.armed {
            host.armed = host.wake;
            self.path.push(host.wake, self.path.slots.hosts + number, Turn::Act);
        }
    }

    /// Stops a flow, as its application would: both ends, where both write. One that has not begun never does.
    pub fn stop<O: Observer>(&mut self, flow: FlowId, obs: &mut O) {
        let f = &mut self.path.flows[flow.0 as usize];
        let (app, begun) = (f.app as usize, f.started != Time::MAX);
        f.watched = false;
        self.forget(app);
        if begun {
            self.act(EpId::sender(flow), Action::Stop, self.path.now, obs);
            if self.hosts[app].app.usage().dialogue {
                self.act(EpId::receiver(flow), Action::Stop, self.path.now, obs);
            }
        }
    }
}
