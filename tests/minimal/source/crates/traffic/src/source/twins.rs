//! Minimal example: packets come in pairs.

use super::{Source, Span};
use fairlane_net::{App, AppCx, FlowId};
use fairlane_units::{Bytes, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Twins writes two packets at once, at random times (nowhere published).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TwinsParams {
    /// Mean time from one pair to the next.
    #[schemars(extend("x-min" = "1us", "x-max" = "1h"))]
    pub gap: Dur,
    /// Size of a packet, headers not counted.
    #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
    pub size: Bytes,
}

impl Default for TwinsParams {
    fn default() -> Self {
        Self { gap: Dur::from_ms(20), size: Bytes(1000) }
    }
}

impl Source for TwinsParams {
    type App = Twins;

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Twins {
        Twins { span: Span::new(flow, start, stop), what: self.clone(), started: false }
    }
}

/// Twins at work.
#[derive(Clone, Debug, PartialEq)]
pub struct Twins {
    span: Span,
    what: TwinsParams,
    started: bool,
}

impl App for Twins {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        if self.started {
            cx.write(self.span.flow, self.what.size.get(), false);
            cx.write(self.span.flow, self.what.size.get(), false);
        }
        self.started = true;
        let gap = cx.rng.exponential(self.what.gap).max(Dur::from_ps(1));
        cx.wake_at((cx.now + gap).min(self.span.stop));
    }
}
