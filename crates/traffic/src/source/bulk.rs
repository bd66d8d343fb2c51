//! An endless source, such as a transfer that outlasts the run.

use super::{Source, Span};
use fairlane_net::{App, AppCx, ENDLESS, FlowId, Usage};
use fairlane_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bulk always has more to send (RFC 5166 section 2.1.1, throughput of long-lived flows; ns-2's Application/FTP).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BulkParams {}

impl Source for BulkParams {
    type App = Bulk;

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Bulk {
        Bulk { span: Span::new(flow, start, stop), started: false }
    }
}

/// A running bulk source.
#[derive(Clone, Debug, PartialEq)]
pub struct Bulk {
    span: Span,
    started: bool,
}

impl App for Bulk {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        if !self.started {
            self.started = true;
            cx.write(self.span.flow, ENDLESS, false);
        }
        cx.wake_at(self.span.stop);
    }

    fn usage(&self) -> Usage {
        Usage { amounts: true, ..Usage::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::harness::run;
    use fairlane_net::{Action, EpId};

    #[test]
    fn writes_once_and_stops_once() {
        let t = Time::from_ps;
        let log = run(&mut BulkParams {}.build(FlowId(3), t(5), Some(t(90))), 1, t(1000));
        let endless = Action::Write { bytes: ENDLESS, fin: false };
        assert_eq!(log, [(t(5), EpId::sender(FlowId(3)), endless), (t(90), EpId::sender(FlowId(3)), Action::Stop)]);
        assert_eq!(run(&mut BulkParams {}.build(FlowId(3), t(5), None), 1, t(1000)).len(), 1);
        // A stop before the start: nothing is ever written.
        assert_eq!(run(&mut BulkParams {}.build(FlowId(3), t(5), Some(t(2))), 1, t(1000)), [(t(5), EpId::sender(FlowId(3)), Action::Stop)]);
    }
}
