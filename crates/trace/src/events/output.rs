//! Where rows go: a thread makes files of them, so that the simulation need not wait for it, and gives the room back that they took.

use super::table::Parts;
use super::{Names, Row, nam, ns2};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// Batches that may wait. When files are made slower than rows, the simulation waits as well: memory stays flat.
const WAITING: usize = 8;

/// What files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// The table, in Parquet: a folder of parts.
    #[default]
    Parquet,
    /// Lines of ns-2's traces.
    Ns2,
    /// Lines of nam, ns-2's animator.
    Nam,
}

/// What files are made of rows.
pub(super) trait Form: Send {
    /// Rows, in the order of time.
    fn take(&mut self, rows: &[Row]) -> io::Result<()>;
    /// There are no more.
    fn end(&mut self) -> io::Result<()>;
    /// What is being written.
    fn place(&self) -> PathBuf;
}

/// A file that could not be written, and why.
#[derive(Debug)]
pub struct Failure {
    /// The file or folder.
    pub place: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Takes full batches for an empty one.
pub(super) struct Sink {
    full: SyncSender<Vec<Row>>,
    empty: Receiver<Vec<Row>>,
}

impl Sink {
    /// Hands rows over; what comes back has room for as many.
    pub(super) fn swap(&self, rows: Vec<Row>) -> Vec<Row> {
        let room = rows.capacity();
        // The thread takes until there is nothing more to come: sending cannot fail.
        let _ = self.full.send(rows);
        self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(room))
    }
}

/// Bytes of lines that are handed to the system at once.
const TEXT: usize = 1 << 20;

/// Lines of text.
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

/// Files that are being made.
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
            // Only this thread sets it.
            let _ = failure.set(Failure { place: form.place(), error });
        }
        rows.clear();
        // At the end nobody wants it back.
        let _ = empty.send(rows);
    }
    if failure.get().is_none()
        && let Err(error) = form.end()
    {
        let _ = failure.set(Failure { place: form.place(), error });
    }
}

impl Output {
    /// Begins files in `place`: a folder for the table, a file for lines.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new(format: Format, place: PathBuf, names: Arc<Names>) -> Result<(Self, Sink), Failure> {
        let form = form(format, &place, names).map_err(|error| Failure { place, error })?;
        let (full, incoming) = sync_channel(WAITING);
        let (outgoing, empty) = channel();
        let failure = Arc::new(OnceLock::new());
        let seen = failure.clone();
        let thread = std::thread::spawn(move || work(form, &incoming, &outgoing, &seen));
        Ok((Self { failure, thread }, Sink { full, empty }))
    }

    /// What went wrong so far.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }

    /// Waits for what is under way, once its sink is gone.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if self.thread.join().is_err() {
            return Err(Failure { place: PathBuf::new(), error: io::Error::other("the thread that writes events has failed") });
        }
        Arc::into_inner(self.failure).and_then(OnceLock::into_inner).map_or(Ok(()), Err)
    }
}
