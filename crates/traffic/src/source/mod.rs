//! Sources: one file each, a line here and one in the registry of scenarios.

pub mod bulk;
pub mod cbr;
mod dialogue;
pub mod file;
pub mod mmpp;
pub mod on_off;
mod pace;
mod player;
pub mod poisson;
pub mod replay;
pub mod request_response;
pub mod video;
pub mod voip;
pub mod web;

use fairlane_net::{App, AppCx, FlowId, Problem, Proto};
use fairlane_units::{Bytes, Dur, Rate, Time};

/// The parameters of a source: they are checked, and become an application.
pub trait Source {
    /// Runtime type.
    type App: App;

    /// True if the parameters fit one another and the transport: what their schema cannot say.
    ///
    /// # Errors
    /// The parameter that is wrong, and why.
    fn check(&self, over: Proto) -> Result<(), Problem> {
        let _ = over;
        Ok(())
    }

    /// Fills in unset parameters that depend on the transport or on other parameters.
    fn fill(&mut self, over: Proto) {
        let _ = over;
    }

    /// Returns the source with this mean rate, `header` bytes of each packet included; none if it has no rate that can be set.
    fn at(&self, rate: Rate, header: u64) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = (rate, header);
        None
    }

    /// The source of `flow`, sending from `start` until just before `stop`, if there is one.
    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Self::App;
}

/// The rate of the data of packets of one size that have this rate with their headers.
fn of_data(rate: Rate, size: Bytes, header: u64) -> Rate {
    let size = u128::from(size.get().max(1));
    let data = (u128::from(rate.as_bps()) * size + (size + u128::from(header)) / 2) / (size + u128::from(header));
    Rate::from_bps(u64::try_from(data).unwrap_or(u64::MAX).max(1))
}

/// The flow that a source drives, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) flow: FlowId,
    pub(crate) start: Time,
    /// `MAX` for never.
    pub(crate) stop: Time,
}

impl Span {
    pub(crate) fn new(flow: FlowId, start: Time, stop: Option<Time>) -> Self {
        Self { flow, start, stop: stop.unwrap_or(Time::MAX) }
    }

    /// Stops the flow if its time is over; says whether it is.
    pub(crate) fn over(&self, cx: &mut AppCx<'_>) -> bool {
        let over = cx.now >= self.stop;
        if over {
            cx.stop(self.flow);
            cx.wake_at(Time::MAX);
        }
        over
    }

    /// Returns true if the source has ended; then the writes of the other end stop, too.
    pub(crate) fn both_over(&self, cx: &mut AppCx<'_>) -> bool {
        let over = self.over(cx);
        if over {
            cx.stop_reply(self.flow);
        }
        over
    }
}

/// Time after which a question over UDP is asked again (RFC 1035 section 4.2.1: at least 2 to 5 s).
const UDP_TIMEOUT: Dur = Dur::from_secs(5);

/// Fills in the time after which a question is asked again: over TCP none is.
pub(crate) fn default_timeout(timeout: &mut Option<Dur>, over: Proto) {
    if over == Proto::Udp {
        timeout.get_or_insert(UDP_TIMEOUT);
    }
}

#[cfg(test)]
pub(crate) mod measure;

#[cfg(test)]
pub(crate) mod harness {
    //! Runs one source alone and lists what it did.

    use fairlane_engine::Stream;
    use fairlane_net::{Action, App, AppCx, EpId};
    use fairlane_units::Time;

    /// Actions of `app` up to `until`, with their times.
    pub(crate) fn run(app: &mut impl App, seed: u64, until: Time) -> Vec<(Time, EpId, Action)> {
        let mut rng = Stream::new(seed, "app", "test", "traffic");
        let (mut log, mut now) = (vec![], app.starts_at());
        while now <= until {
            let (mut actions, mut wake) = (vec![], Time::MAX);
            app.on_wake(&mut AppCx { now, rng: &mut rng, actions: &mut actions, wake: &mut wake, newest: None });
            log.extend(actions.into_iter().map(|(f, a)| (now, f, a)));
            assert!(wake > now, "wakes without moving on");
            now = wake;
        }
        log
    }

    /// Times and sizes of the writes in a log.
    pub(crate) fn writes(log: &[(Time, EpId, Action)]) -> Vec<(Time, u64)> {
        log.iter()
            .filter_map(|&(t, _, a)| match a {
                Action::Write { bytes, .. } => Some((t, bytes)),
                _ => None,
            })
            .collect()
    }
}
