//! A file: a given amount, then the flow closes.

use super::{Source, Span};
use fairlane_net::{App, AppCx, FlowId};
use fairlane_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File sends a given amount of data at once and closes the flow (RFC 5166 section 4.1, file transfers).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileParams {
    /// Amount of data, headers not counted.
    #[schemars(extend("x-min" = "1B", "x-max" = "1000TB"))]
    pub size: Bytes,
}

impl Default for FileParams {
    fn default() -> Self {
        Self { size: Bytes(1_000_000) }
    }
}

impl Source for FileParams {
    type App = File;

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> File {
        File { span: Span::new(flow, start, stop), size: self.size.get(), started: false }
    }
}

/// A running file source.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    span: Span,
    size: u64,
    started: bool,
}

impl App for File {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        if !self.started {
            self.started = true;
            cx.write(self.span.flow, self.size, true);
        }
        cx.wake_at(self.span.stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::harness::run;
    use fairlane_net::{Action, EpId};

    #[test]
    fn writes_its_size_and_closes() {
        let p: FileParams = serde_json::from_str(r#"{"size":"64KiB"}"#).unwrap();
        let log = run(&mut p.build(FlowId(0), Time::from_ps(7), None), 1, Time::from_ps(1000));
        assert_eq!(log, [(Time::from_ps(7), EpId::sender(FlowId(0)), Action::Write { bytes: 65_536, fin: true })]);
    }
}
