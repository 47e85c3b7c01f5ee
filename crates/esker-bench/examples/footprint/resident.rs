//! What the kernel says about the memory of this process, and the files it leaves.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::Fault;

/// Resident memory of this process, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    /// Now, less pages of files that are mapped: those are the kernel's cache.
    pub anonymous_bytes: u64,
    /// Now, in all.
    pub now_bytes: u64,
    /// The most so far.
    pub peak_bytes: u64,
}

/// Asks the kernel.
pub fn resident() -> Result<Resident, Fault> {
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| -> Result<u64, Fault> {
        let line = status.lines().find(|line| line.starts_with(name));
        let words = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(words
            .ok_or("no such field in /proc/self/status")?
            .parse::<u64>()?
            << 10)
    };
    Ok(Resident {
        anonymous_bytes: field("RssAnon:")?,
        now_bytes: field("VmRSS:")?,
        peak_bytes: field("VmHWM:")?,
    })
}

/// Forgets the most so far. Needs a Linux that allows it; an error is the caller's to ignore.
pub fn reset_peak() -> Result<(), Fault> {
    Ok(fs::write("/proc/self/clear_refs", "5")?)
}

/// Removes a directory that an earlier run may have left.
pub fn clear(dir: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Bytes of the files in a directory.
pub fn directory_bytes(dir: &Path) -> Result<u64, Fault> {
    let mut bytes = 0;
    for file in fs::read_dir(dir)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes)
}
