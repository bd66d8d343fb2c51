//! Checks that a library file is complete. The system's loader maps the size that the headers state; reading a page beyond the end of the file
//! would be a bus error, which cannot be caught.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: &[u8] = b"\x7fELF";
/// Values of `EI_CLASS` and `EI_DATA` in the first 16 bytes (System V ABI, chapter 4).
const CLASS_64: u8 = 2;
const BIG_ENDIAN: u8 = 2;
/// Length of the file header of a 64-bit object; that of a 32-bit one is shorter.
const HEADER: usize = 64;
/// Type of a mapped segment.
const LOAD: u64 = 1;

/// Fields of a header in its byte order.
struct Fields<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Fields<'_> {
    /// Reads a number of `len` bytes.
    fn at(&self, at: usize, len: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at + len)?;
        let join = |n: u64, b: &u8| n << 8 | u64::from(*b);
        Some(if self.big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
    }
}

/// Describes the missing part of an ELF library; none for other formats, which their own loader checks.
pub(crate) fn missing(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut head = Vec::with_capacity(HEADER);
    file.by_ref().take(HEADER as u64).read_to_end(&mut head).ok()?;
    if !head.starts_with(MAGIC) {
        return None;
    }
    let cut = |what: &str| Some(format!("the file is incomplete: {what}, it has {length} bytes"));
    let wide = head.get(4) == Some(&CLASS_64);
    let fields = Fields { big: head.get(5) == Some(&BIG_ENDIAN), bytes: &head };
    let (offset, size, count) = if wide { ((32, 8), (54, 2), (56, 2)) } else { ((28, 4), (42, 2), (44, 2)) };
    let field = |(at, len)| fields.at(at, len);
    let (Some(offset), Some(size), Some(count)) = (field(offset), field(size), field(count)) else {
        return cut("its header is incomplete");
    };
    let table = size * count;
    if offset.checked_add(table).is_none_or(|end| end > length) {
        return cut("its segment list is missing");
    }
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut entries = Vec::new();
    file.take(table).read_to_end(&mut entries).ok()?;
    for entry in entries.chunks(size.max(1) as usize) {
        let entry = Fields { bytes: entry, big: fields.big };
        let (start, len) = if wide { ((8, 8), (32, 8)) } else { ((4, 4), (16, 4)) };
        let (Some(kind), Some(start), Some(len)) = (entry.at(0, 4), entry.at(start.0, start.1), entry.at(len.0, len.1)) else {
            return cut("its segment list is incomplete");
        };
        let end = start.checked_add(len);
        if kind == LOAD && end.is_none_or(|end| end > length) {
            let end = end.map_or_else(|| "beyond any file".to_owned(), |end| format!("at byte {end}"));
            return cut(&format!("a segment ends {end}"));
        }
    }
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// This program, whole and cut before the end of its last segment. (Debug sections come later and may be missing.)
    #[test]
    fn what_is_cut_is_refused() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        let file = std::env::temp_dir().join(format!("fairlane-elf-{}", std::process::id()));
        let missing_in = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            missing(&file)
        };
        assert_eq!(missing_in(&own), None);
        for part in [5, 20, 63, 64, 100, 400, 4096, 1 << 16] {
            let why = missing_in(&own[..part]).unwrap_or_else(|| panic!("{part} of {} bytes", own.len()));
            assert!(why.contains("incomplete") && why.ends_with(&format!("it has {part} bytes")), "{why}");
        }
        assert_eq!(missing_in(b"#!/bin/sh\n"), None, "another format");
        assert_eq!(missing_in(b""), None);
        // Numbers that no file can have.
        for field in [32, 54, 56] {
            let mut odd = own[..4096].to_vec();
            odd[field..field + 2].fill(0xff);
            odd[39] = 0xff;
            assert!(missing_in(&odd).is_some(), "{field}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}
