//! Writer thread for event files, which returns the buffers of written rows.

use super::table::Parts;
use super::{Names, Row, nam, ns2};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// Most batches that wait for the writer. If the writer is slower than the simulation, the simulation waits, so memory stays bounded.
const WAITING: usize = 8;

/// File format of event rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// A Parquet table: a folder of parts.
    #[default]
    Parquet,
    /// Lines of ns-2's traces.
    Ns2,
    /// Lines of nam, ns-2's animator.
    Nam,
}

/// Encoder of event files.
pub(super) trait Form: Send {
    /// Writes rows, in order of time.
    fn take(&mut self, rows: &[Row]) -> io::Result<()>;
    /// Completes the file.
    fn end(&mut self) -> io::Result<()>;
    /// File being written.
    fn place(&self) -> PathBuf;
}

/// A file that could not be written, with the error.
#[derive(Debug)]
pub struct Failure {
    /// The file or folder.
    pub place: PathBuf,
    /// Reason.
    pub error: io::Error,
}

/// Exchanges full batches for empty ones.
pub(super) struct Sink {
    full: SyncSender<Vec<Row>>,
    empty: Receiver<Vec<Row>>,
}

impl Sink {
    /// Passes rows on and returns an empty buffer of the same size.
    pub(super) fn swap(&self, rows: Vec<Row>) -> Vec<Row> {
        let room = rows.capacity();
        // The thread receives until the end, so sending cannot fail.
        let _ = self.full.send(rows);
        self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(room))
    }
}

/// Bytes of text per write.
const TEXT: usize = 1 << 20;

/// Encoder of text lines.
struct Lines {
    file: File,
    place: PathBuf,
    names: Arc<Names>,
    line: fn(&mut Vec<u8>, &Names, &Row),
    text: Vec<u8>,
}

impl Lines {
    fn new(place: &Path, names: Arc<Names>, line: fn(&mut Vec<u8>, &Names, &Row), head: &[u8]) -> io::Result<Self> {
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Self { file: File::create_new(place)?, place: place.to_owned(), names, line, text: head.to_vec() })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl Form for Lines {
    fn take(&mut self, rows: &[Row]) -> io::Result<()> {
        for row in rows {
            (self.line)(&mut self.text, &self.names, row);
        }
        if self.text.len() >= TEXT { self.flush() } else { Ok(()) }
    }

    fn end(&mut self) -> io::Result<()> {
        self.flush()
    }

    fn place(&self) -> PathBuf {
        self.place.clone()
    }
}

/// Event files being written.
pub(super) struct Output {
    failure: Arc<OnceLock<Failure>>,
    thread: JoinHandle<()>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

fn form(format: Format, place: &Path, names: Arc<Names>) -> io::Result<Box<dyn Form>> {
    Ok(match format {
        Format::Parquet => Box::new(Parts::new(place.to_owned(), names)?),
        Format::Ns2 => Box::new(Lines::new(place, names, ns2::line, &[])?),
        Format::Nam => {
            let head = nam::head(&names);
            Box::new(Lines::new(place, names, nam::line, &head)?)
        }
    })
}

fn work(mut form: Box<dyn Form>, full: &Receiver<Vec<Row>>, empty: &Sender<Vec<Row>>, failure: &OnceLock<Failure>) {
    while let Ok(mut rows) = full.recv() {
        if failure.get().is_none()
            && let Err(error) = form.take(&rows)
        {
            // Set by this thread only.
            let _ = failure.set(Failure { place: form.place(), error });
        }
        rows.clear();
        // At the end no receiver is left.
        let _ = empty.send(rows);
    }
    if failure.get().is_none()
        && let Err(error) = form.end()
    {
        let _ = failure.set(Failure { place: form.place(), error });
    }
}

impl Output {
    /// Creates files in `place`: a folder for the table, a file for lines.
    ///
    /// # Errors
    /// The file or folder cannot be created.
    pub(super) fn new(format: Format, place: PathBuf, names: Arc<Names>) -> Result<(Self, Sink), Failure> {
        let form = form(format, &place, names).map_err(|error| Failure { place, error })?;
        let (full, incoming) = sync_channel(WAITING);
        let (outgoing, empty) = channel();
        let failure = Arc::new(OnceLock::new());
        let seen = failure.clone();
        let thread = std::thread::spawn(move || work(form, &incoming, &outgoing, &seen));
        Ok((Self { failure, thread }, Sink { full, empty }))
    }

    /// First error so far.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }

    /// Waits for pending writes, after its sink is dropped.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if self.thread.join().is_err() {
            return Err(Failure { place: PathBuf::new(), error: io::Error::other("the thread that writes events has failed") });
        }
        Arc::into_inner(self.failure).and_then(OnceLock::into_inner).map_or(Ok(()), Err)
    }
}
