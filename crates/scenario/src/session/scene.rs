//! Animation of a session: chunks of events, and the state of the network at the end of each.

use super::Simulation;
use crate::components::BuiltIn;
use crate::event_queues::AnyEvents;
use crate::run;
use crate::run_error::RunError;
use fairlane_net::{Endpoint, EpId, FlowId, Qdisc, World};
use fairlane_trace::scene::{STATES, Scene, SeekTarget, Snapshot};
use fairlane_units::Time;

/// Most gauges in an animation; a network with more shows none.
const GAUGES: usize = 600;

/// Result of seeking an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// The event has just happened.
    Found,
    /// The time is over.
    Over,
    /// The search continues with the next call.
    Going,
}

/// State of all links and flows.
pub(super) fn snapshot(world: &World<BuiltIn, AnyEvents>, gauges: bool) -> Snapshot {
    let now = world.now();
    let mut out = Snapshot::default();
    for (p, i) in world.ports().iter().zip(0_u32..) {
        let (c, level, link) = (p.counters(), p.qdisc().backlog(), p.link());
        let rate = p.rate_at(now).as_bps();
        let (packets, bytes) = (level.pkts.into(), level.bytes);
        let delay = link.delay.as_ps() / 1000;
        out.links.push([rate, delay, packets, bytes, c.sent_bytes, c.sent_pkts, c.queue_drops(), c.link_losses(), c.marks]);
        if gauges {
            p.qdisc().gauges(&mut |name, value| out.gauges.push((2 * i, name, value)));
        }
    }
    for (f, i) in world.flows().iter().zip(0_u32..) {
        let ep = EpId::sender(FlowId(i));
        let v = world.view(ep);
        let end = world.endpoint(ep);
        let state = end.and_then(Endpoint::moment).and_then(|m| STATES.iter().position(|s| *s == m.sending)).unwrap_or(0);
        let begun = u64::from(f.started <= now) + u64::from(f.completed <= now);
        let ssthresh = if v.ssthresh == u64::MAX { 0 } else { v.ssthresh };
        let srtt = v.srtt.as_ps() / 1_000_000;
        let arrived = f.counters.received_bytes;
        out.flows.push([v.cwnd, ssthresh, v.in_flight, srtt, f.delivered, arrived, v.retransmits, v.timeouts, state as u64, begun]);
        if let Some(end) = end.filter(|_| gauges) {
            end.gauges(&mut |name, value| out.gauges.push((2 * i + 1, name, value)));
        }
    }
    if out.gauges.len() > GAUGES {
        out.gauges.clear();
    }
    out
}

impl Simulation {
    fn snapshot(&self) -> Snapshot {
        let few = self.scenario.link_directions().len() + self.scenario.members_at(self.seed).len() <= GAUGES;
        run::as_run(run::SESSION, || self.world.snapshot(few))
    }

    /// Starts an animation that follows one of every `one_of` packets of a flow, or with `None` shows only link loads. Restarts a running one.
    pub fn watch(&mut self, one_of: Option<u32>) {
        let scene = Scene::new(one_of.unwrap_or(1), &self.snapshot());
        (self.probes.scene, self.loads) = if one_of.is_some() { (Some(scene), None) } else { (None, Some(scene)) };
        self.probes.changed();
    }

    /// Events since the last chunk; none without an animation.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let (snapshot, now) = (self.snapshot(), self.now());
        Some(self.probes.scene.as_mut().or(self.loads.as_mut())?.chunk(now, snapshot))
    }

    /// Advances to the next event of a kind, at most to `to` and by a few milliseconds of work.
    ///
    /// # Errors
    /// See [`Self::advance`].
    pub fn seek(&mut self, to: Time, what: SeekTarget, fresh: bool) -> Result<Seek, RunError> {
        if self.probes.scene.is_none() {
            self.watch(Some(1));
        }
        if let Some(scene) = self.probes.scene.as_mut().filter(|_| fresh) {
            scene.seek(what);
        }
        let end = to.min(self.end()).max(self.now());
        self.guarded(|Self { scenario, timeline, world, probes, .. }| {
            for _ in 0..run::SLICE {
                let there = world.advance(scenario, timeline, end, 1, probes)?;
                if probes.scene.as_ref().is_some_and(|s| s.found().is_some()) {
                    return Ok(Seek::Found);
                }
                if there {
                    return Ok(Seek::Over);
                }
            }
            Ok(Seek::Going)
        })
    }
}
