//! Listeners of a session.

use super::Simulation;
use crate::capture::CaptureError;
use crate::run;
use crate::trace::{TraceRequest, names};
use fairlane_trace::events::{self, Recorder};

/// Number of a listener, and its rows of 64 bytes.
pub type Batch = (u32, Vec<u8>);

impl Simulation {
    /// Registers a listener for the requested events; returns its number. `at_once`: delivers each event before the next one.
    ///
    /// # Errors
    /// A name is unknown.
    pub fn listen(&mut self, request: &TraceRequest, at_once: bool) -> Result<u32, CaptureError> {
        request.check(&self.scenario)?;
        let Self { scenario, seed, world, probes, .. } = self;
        let now = world.now();
        let recorder = probes.recorder.get_or_insert_with(|| Recorder::listening(names(scenario, *seed), world.moments(), now));
        let id = recorder.listen(request.filter(scenario, *seed), at_once);
        probes.changed();
        run::as_run(run::SESSION, || world.look(probes));
        Ok(id)
    }

    /// Removes a listener.
    pub fn leave(&mut self, id: u32) {
        if self.probes.recorder.as_mut().is_some_and(|r| !r.leave(id)) {
            self.probes.recorder = None;
        }
        self.probes.changed();
    }

    /// True if rows must be delivered before the run continues.
    pub fn pending(&self) -> bool {
        self.probes.recorder.as_ref().is_some_and(Recorder::pending)
    }

    /// Takes the rows of listeners that get each event at once.
    pub fn prompt_rows(&mut self) -> Vec<(u32, [u8; 64])> {
        self.probes.recorder.as_mut().map(Recorder::prompt_rows).unwrap_or_default()
    }

    /// Takes the rows of listeners that get batches.
    pub fn batches(&mut self) -> Vec<Batch> {
        self.probes.recorder.as_mut().map(Recorder::batches).unwrap_or_default()
    }

    /// Texts behind the numbers in rows, by column.
    pub fn texts(&self) -> Vec<(&'static str, Vec<String>)> {
        self.probes.recorder.as_ref().map(|r| events::texts(r.names())).unwrap_or_default()
    }
}
