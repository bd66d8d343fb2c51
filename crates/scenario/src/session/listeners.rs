//! Who listens to a run in hand.

use super::Simulation;
use crate::capture::CaptureError;
use crate::run;
use crate::trace::{TraceRequest, names};
use fairlane_trace::events::{self, Recorder};

/// Who hears of it, and rows of 64 bytes.
pub type Batch = (u32, Vec<u8>);

impl Simulation {
    /// Somebody listens from now on to what is asked for: the number under which rows come. `at_once`: of each event before the next one.
    ///
    /// # Errors
    /// A name that means nothing.
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

    /// Nobody listens under that number any more.
    pub fn leave(&mut self, id: u32) {
        if self.probes.recorder.as_mut().is_some_and(|r| !r.leave(id)) {
            self.probes.recorder = None;
        }
        self.probes.changed();
    }

    /// Whether there is something to be heard before the run goes on.
    pub fn pending(&self) -> bool {
        self.probes.recorder.as_ref().is_some_and(Recorder::pending)
    }

    /// What those have to hear who hear of each event.
    pub fn prompt_rows(&mut self) -> Vec<(u32, [u8; 64])> {
        self.probes.recorder.as_mut().map(Recorder::prompt_rows).unwrap_or_default()
    }

    /// What those have to hear who take rows together.
    pub fn batches(&mut self) -> Vec<Batch> {
        self.probes.recorder.as_mut().map(Recorder::batches).unwrap_or_default()
    }

    /// Texts that rows give by number, by column.
    pub fn texts(&self) -> Vec<(&'static str, Vec<String>)> {
        self.probes.recorder.as_ref().map(|r| events::texts(r.names())).unwrap_or_default()
    }
}
