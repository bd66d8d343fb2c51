//! Files that a scenario names. They are read with the scenario, so a resolved scenario needs no other file.

mod demands;
mod opportunities;
mod packets;
mod profile;
pub(crate) mod waypoints;

pub(crate) use demands::text as matrix_text;

use crate::source::{Node, Value};
use fairlane_units::{DataFile, INLINE};
use std::io::Read;
use std::path::Path;

/// Largest file accepted, in bytes.
const LARGEST: u64 = 256 << 20;

/// A kind of file.
struct Kind {
    /// Name as in `x-reads`.
    name: &'static str,
    /// Description for messages.
    noun: &'static str,
    /// Parses the file; the error is a message.
    read: fn(&[u8]) -> Result<Vec<u64>, String>,
    /// Checks numbers written inline instead of a file.
    check: fn(&[u64]) -> Result<(), String>,
}

const KINDS: [Kind; 6] = [
    Kind { name: "numbers", noun: "a text file with a whole number on each line", read: numbers, check: |_| Ok(()) },
    Kind {
        name: "opportunities",
        noun: "a text file with a millisecond on each line",
        read: opportunities::read,
        check: opportunities::check,
    },
    Kind {
        name: "walk",
        noun: "a text file with seconds and a place in metres on each line: 2.5, 10, -3",
        read: waypoints::read,
        check: waypoints::check,
    },
    Kind {
        name: "packets",
        noun: "a capture (pcap or pcapng) or a text file with the seconds and the size of a packet on each line",
        read: packets::read,
        check: packets::check,
    },
    Kind {
        name: "profile",
        noun: "a profile (CSV with a header such as time_s,rate_mbps,delay_ms,loss), or one of leo, 5g_drive, cable",
        read: profile::read,
        check: profile::check,
    },
    Kind { name: "demands", noun: "a traffic matrix (CSV)", read: demands::read, check: demands::check },
];

/// Reads the file that `node` names and returns its numbers as an inline value; the error is a message and a help text.
pub(super) fn load(node: &Node, folder: &Path, reads: &str) -> Result<String, (String, String)> {
    let kind = KINDS.iter().find(|k| k.name == reads).unwrap_or(&KINDS[0]);
    let wanted = || format!("write the path of {}", kind.noun);
    let Value::Str(path) = &node.value else {
        return Err((format!("expected a path, found {}", node.kind()), wanted()));
    };
    let named = if path.starts_with(INLINE) { "the data" } else { path };
    let values = if path.starts_with(INLINE) {
        DataFile::parse_inline(path).map_err(|m| (m, wanted()))?
    } else if let Some(list) = (reads == "profile").then(|| profile::named(path)).flatten() {
        list.map_err(|why| (why, wanted()))?
    } else {
        let file = folder.join(path);
        let bytes = read(&file).map_err(|why| (format!("cannot read \"{path}\": {why}"), wanted()))?;
        (kind.read)(&bytes).map_err(|why| (format!("{path}: {why}"), wanted()))?
    };
    if values.is_empty() {
        return Err((format!("{named} contains no values"), wanted()));
    }
    (kind.check)(&values).map_err(|why| (format!("{named}: {why}"), wanted()))?;
    Ok(DataFile::inline(&values))
}

/// Parses the bytes of a file with a reader (`numbers`, `opportunities`, `packets`), for tests and fuzzing.
///
/// # Errors
/// A message about the first error.
#[doc(hidden)]
pub fn parse(reads: &str, bytes: &[u8]) -> Result<Vec<u64>, String> {
    let Some(kind) = KINDS.iter().find(|k| k.name == reads) else { return Err(format!("unknown reader {reads}")) };
    let values = (kind.read)(bytes)?;
    (kind.check)(&values)?;
    Ok(values)
}

/// Reads a file. Devices and pipes, which may never end, are refused without being opened.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    let message = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "file not found".to_owned(),
        kind => kind.to_string(),
    };
    let about = std::fs::metadata(file).map_err(message)?;
    if about.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !about.is_file() {
        return Err("it is a device, a pipe or a socket, not a file".to_owned());
    }
    // The stated length may be wrong: files under /proc report zero.
    let mut bytes = Vec::with_capacity(about.len().min(LARGEST) as usize);
    std::fs::File::open(file).and_then(|f| f.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(message)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    Ok(bytes)
}

/// Line numbers and texts of a text file, without empty lines and `#` comments.
fn lines(bytes: &[u8]) -> Result<impl Iterator<Item = (usize, &str)>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not a text file".to_owned())?;
    let lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.split('#').next().unwrap_or_default().trim()));
    Ok(lines.filter(|(_, l)| !l.is_empty()))
}

/// One whole number per line.
fn numbers(bytes: &[u8]) -> Result<Vec<u64>, String> {
    lines(bytes)?.map(|(i, l)| l.parse().map_err(|_| format!("line {i}: `{}` is not a whole number", l.escape_debug()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_comments() {
        assert_eq!(numbers(b"# sizes\n1500\n\n 40 # small\n"), Ok(vec![1500, 40]));
        assert_eq!(numbers(b"1\n-3\n"), Err("line 2: `-3` is not a whole number".to_owned()));
        assert_eq!(numbers(b"\xff\xfe"), Err("it is not a text file".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn only_files_are_read() {
        for (path, why) in [("/dev/zero", "a device"), ("/dev/null", "a device"), ("/", "a directory"), ("/no/such", "not found")] {
            let message = read(Path::new(path)).unwrap_err();
            assert!(message.contains(why), "{path}: {message}");
        }
        // Its reported length is zero.
        assert!(read(Path::new("/proc/self/status")).is_ok_and(|b| !b.is_empty()) || !Path::new("/proc").exists());
    }
}
