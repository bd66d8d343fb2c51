//! Hashes the sources that decide what a run comes to, so that kept results are known to be of this very engine.
//!
//! The sources, not the binary: another build of the same sources gives the same results and may use what the first one kept.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates that a result does not depend on are missing here.
const ROOMS: [&str; 10] = ["units", "engine", "wireless", "net", "queue", "tcp", "traffic", "trace", "scenario", "cabi"];

fn main() -> io::Result<()> {
    let crates = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let mut files = Vec::new();
    for room in ROOMS {
        let sources = crates.join(room).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(&crates).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        hash.update(name.as_bytes());
        hash.update([0]);
        // Line ends may differ between checkouts.
        hash.update(fs::read_to_string(&file)?.replace("\r\n", "\n").as_bytes());
        hash.update([0]);
    }
    // The functions behind random draws: another version may round otherwise.
    let lock = crates.join("..").join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = fs::read_to_string(lock)?;
    let libm = lock.split("[[package]]").find(|p| p.trim_start().starts_with("name = \"libm\"")).unwrap_or_default();
    hash.update(libm.as_bytes());
    let hex: String = hash.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
    println!("cargo::rustc-env=FAIRLANE_ENGINE={hex}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !path.to_string_lossy().ends_with("_tests.rs") {
            files.push(path);
        }
    }
    Ok(())
}
