//! A file that has its name only when it is whole, written through one large buffer.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes handed to the system at once: large enough that calls cost nothing beside copying.
const BUFFER: usize = 1 << 20;

/// A file under construction beside its place. What is not put in place goes with this value.
#[derive(Debug)]
pub(super) struct Sink {
    file: Option<File>,
    target: PathBuf,
    temporary: PathBuf,
    /// Bytes to be written, up to `filled`.
    buffer: Vec<u8>,
    filled: usize,
    failure: Option<io::Error>,
}

impl Sink {
    /// Makes the temporary file.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn create(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let temporary = target.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
        Ok(Self { file: Some(file), target: target.to_path_buf(), temporary, buffer: vec![0; BUFFER], filled: 0, failure: None })
    }

    /// Where it will be.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Room for `len` more bytes, with whatever was there before; [`Self::used`] says how many were used.
    #[inline]
    pub(super) fn room(&mut self, len: usize) -> &mut [u8] {
        if self.filled + len > self.buffer.len() {
            self.flush();
        }
        self.buffer.get_mut(self.filled..).unwrap_or_default()
    }

    /// So many bytes of the room are to be written.
    #[inline]
    pub(super) fn used(&mut self, len: usize) {
        self.filled += len;
    }

    /// Adds bytes, however many.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(BUFFER) {
            self.room(piece.len())[..piece.len()].copy_from_slice(piece);
            self.used(piece.len());
        }
    }

    /// Why writing failed, once it has.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    #[cold]
    fn flush(&mut self) {
        if let (Some(file), None) = (&mut self.file, &self.failure) {
            self.failure = file.write_all(self.buffer.get(..self.filled).unwrap_or_default()).err();
        }
        self.filled = 0;
    }

    /// Writes what is left and closes the file, which keeps its temporary name.
    ///
    /// # Errors
    /// What went wrong, now or before.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.flush();
        self.buffer = Vec::new();
        self.file = None;
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn put_in_place(self) -> io::Result<()> {
        std::fs::rename(&self.temporary, &self.target)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.file = None;
        // In place already, or given up: then nothing may stay. There is nobody to tell of an error.
        let _ = std::fs::remove_file(&self.temporary);
    }
}
