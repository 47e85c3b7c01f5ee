//! What the system is told of a file's pages: drop them, read nothing ahead.

use std::fs::File;
use std::io;

/// Drops the file's pages from the cache, as far as they are on the medium.
#[cfg(not(target_vendor = "apple"))]
pub fn drop_pages(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(
        file,
        0,
        None,
        rustix::fs::Advice::DontNeed,
    )?)
}

/// Fails: what passed for a cold read would not be one.
#[cfg(target_vendor = "apple")]
pub fn drop_pages(_file: &File) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "macOS has no call that drops one file from its cache, so cold reads are not measured here",
    ))
}

/// Has nothing read ahead by itself.
#[cfg(not(target_vendor = "apple"))]
pub fn expect_random(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(
        file,
        0,
        None,
        rustix::fs::Advice::Random,
    )?)
}

/// Does nothing: macOS takes no such hint, and goes by what it sees.
#[cfg(target_vendor = "apple")]
pub fn expect_random(_file: &File) -> io::Result<()> {
    Ok(())
}
