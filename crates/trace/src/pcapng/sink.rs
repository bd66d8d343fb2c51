//! Files that get their names when complete. A thread writes them, so that the simulation does not wait for the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// Bytes per write: large enough that the cost of calls is negligible.
const BUFFER: usize = 1 << 20;
/// Bytes per call: for more the kernel needs larger pieces of memory, which are not always available.
const PIECE: usize = 1 << 18;
/// Length from which a file reserves space ahead: as much again, up to this limit.
const LONG: u64 = 4 << 20;
const AHEAD: u64 = 16 << 20;
/// Most full buffers that wait. If the disk is slower than the simulation, the simulation waits, so memory stays bounded.
const WAITING: usize = 4;

/// Number of a file, with its write error.
type Failure = (usize, io::Error);

/// Writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    full: SyncSender<Message>,
    /// Returned empty buffers.
    empty: Arc<std::sync::Mutex<Receiver<Vec<u8>>>>,
    failure: Arc<OnceLock<Failure>>,
    thread: Option<JoinHandle<()>>,
    files: usize,
}

/// A new file, or bytes of a file.
enum Message {
    File(File),
    Bytes(usize, Vec<u8>, usize),
}

/// A file in the writer thread.
struct Output {
    file: File,
    written: u64,
    /// End of the reserved space on the disk.
    reserved: u64,
    /// True if the file system can reserve space.
    gives: bool,
}

impl Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            self.reserve(piece.len() as u64);
            self.file.write_all(piece)?;
            self.written += piece.len() as u64;
        }
        Ok(())
    }

    /// Reserves space ahead, which costs the kernel a quarter less than allocating each page. The file length does not change.
    fn reserve(&mut self, more: u64) {
        if self.written >= LONG && self.written + more > self.reserved && self.gives {
            let at = self.written.max(self.reserved);
            let len = self.written.min(AHEAD);
            self.gives = reserve(&self.file, at, len);
            self.reserved = at + len;
        }
    }

    /// Returns unused space. The file is complete even if this fails.
    fn end(&self) {
        if self.reserved > self.written {
            let _ = self.file.set_len(self.written);
        }
    }
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, at: u64, len: u64) -> bool {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, at, len).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64, _: u64) -> bool {
    false
}

fn write(full: &Receiver<Message>, empty: &Sender<Vec<u8>>, failure: &OnceLock<Failure>) {
    let mut files: Vec<Output> = Vec::new();
    while let Ok(message) = full.recv() {
        match message {
            Message::File(file) => files.push(Output { file, written: 0, reserved: 0, gives: true }),
            Message::Bytes(n, buffer, len) => {
                if let (Some(file), None) = (files.get_mut(n), failure.get())
                    && let Err(e) = file.write(buffer.get(..len).unwrap_or_default())
                {
                    // Set by this thread only.
                    let _ = failure.set((n, e));
                }
                // At the end no receiver is left.
                let _ = empty.send(buffer);
            }
        }
    }
    files.iter().for_each(Output::end);
}

impl Writer {
    pub(super) fn new() -> Self {
        let (full, incoming) = sync_channel(WAITING);
        let (outgoing, empty) = channel();
        let failure = Arc::new(OnceLock::new());
        let hop = failure.clone();
        let thread = std::thread::spawn(move || write(&incoming, &outgoing, &hop));
        Self { full, empty: Arc::new(std::sync::Mutex::new(empty)), failure, thread: Some(thread), files: 0 }
    }

    /// Creates the temporary file for `target`.
    pub(super) fn create(&mut self, target: &Path) -> io::Result<Sink> {
        let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let temporary = target.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
        let unnamed = Unnamed { target: target.to_path_buf(), temporary };
        self.full.send(Message::File(file)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        self.files += 1;
        Ok(Sink { number: self.files - 1, full: self.full.clone(), empty: self.empty.clone(), buffer: vec![0; BUFFER], filled: 0, unnamed })
    }

    /// First write error, with the number of its file.
    pub(super) fn failure(&self) -> Option<(usize, &io::Error)> {
        self.failure.get().map(|(n, e)| (*n, e))
    }

    /// Waits until everything is written. All sinks must be finished.
    pub(super) fn close(self) -> Result<(), Failure> {
        let Self { full, empty, failure, thread, .. } = self;
        drop((full, empty));
        if thread.is_some_and(|t| t.join().is_err()) {
            return Err((0, io::Error::other("the writing thread failed")));
        }
        Arc::into_inner(failure).and_then(OnceLock::into_inner).map_or(Ok(()), Err)
    }
}

/// Buffer of one file.
#[derive(Debug)]
pub(super) struct Sink {
    number: usize,
    full: SyncSender<Message>,
    empty: Arc<std::sync::Mutex<Receiver<Vec<u8>>>>,
    /// Bytes to write, up to `filled`.
    buffer: Vec<u8>,
    filled: usize,
    unnamed: Unnamed,
}

impl Sink {
    /// Final path.
    pub(super) fn target(&self) -> &Path {
        &self.unnamed.target
    }

    /// Space for `len` more bytes with arbitrary contents; [`Self::used`] sets the number of used bytes.
    #[inline]
    pub(super) fn room(&mut self, len: usize) -> &mut [u8] {
        if self.filled + len > self.buffer.len() {
            self.flush();
        }
        self.buffer.get_mut(self.filled..).unwrap_or_default()
    }

    /// Marks bytes of the space as used.
    #[inline]
    pub(super) fn used(&mut self, len: usize) {
        self.filled += len;
    }

    /// Appends any number of bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(BUFFER) {
            if let Some(room) = self.room(piece.len()).get_mut(..piece.len()) {
                room.copy_from_slice(piece);
                self.used(piece.len());
            }
        }
    }

    #[cold]
    fn flush(&mut self) {
        let fresh = self.empty.lock().ok().and_then(|r| r.try_recv().ok()).unwrap_or_else(|| vec![0; BUFFER]);
        let full = std::mem::replace(&mut self.buffer, fresh);
        // The thread ends after all its senders.
        let _ = self.full.send(Message::Bytes(self.number, full, self.filled));
        self.filled = 0;
    }

    /// Passes on the remaining bytes; the file keeps its temporary name.
    pub(super) fn finish(mut self) -> Unnamed {
        self.flush();
        self.unnamed
    }
}

/// A complete file with a temporary name. It is removed with this value unless put in place.
#[derive(Debug)]
pub(super) struct Unnamed {
    target: PathBuf,
    temporary: PathBuf,
}

impl Unnamed {
    /// Renames the file to its final name.
    pub(super) fn put_in_place(self) -> Result<(), (PathBuf, io::Error)> {
        std::fs::rename(&self.temporary, &self.target).map_err(|e| (self.target.clone(), e))
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        // The file is in place already, or given up and must be removed. The error has no recipient.
        let _ = std::fs::remove_file(&self.temporary);
    }
}
