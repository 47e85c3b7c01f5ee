//! What systems call by different names, or only some of them have, under one name each.
//!
//! The rest of the folder is written for every Unix. Linux is where the engine is tested and
//! measured; for macOS and FreeBSD the code is compiled (docs/platforms.md). Where a system lacks
//! something that makes the engine quick, it goes without; where it lacks something that makes a
//! promise hold, it takes what is as strong, or fails.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;

use rustix::fs::{FallocateFlags, RawMode, Stat, fallocate};
use rustix::io::{Errno, retry_on_intr};
use rustix::mm::MapFlags;
use rustix::time::ClockId;

/// Makes a directory's entries durable.
///
/// macOS: `fsync` hands them to the disk, which may keep them in memory without power behind it;
/// F_FULLFSYNC has the disk write them. For contents of files the standard library does the same.
#[cfg(target_vendor = "apple")]
pub fn sync_entries(dir: impl AsFd) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::fcntl_fullfsync(dir.as_fd()))
}

/// Makes a directory's entries durable.
#[cfg(not(target_vendor = "apple"))]
pub fn sync_entries(dir: impl AsFd) -> Result<(), Errno> {
    // A directory has no contents apart from its entries, so this is fsync, not fdatasync.
    retry_on_intr(|| rustix::fs::fsync(dir.as_fd()))
}

/// Makes contents and size of a file durable; times and modes may lag.
///
/// The standard library calls `fdatasync`; on macOS F_FULLFSYNC, for the reason above. A file
/// system that knows no such call (some that lie on a network) gives an error, never a weaker sync.
pub fn sync_contents(file: &File) -> io::Result<()> {
    file.sync_data()
}

/// Gives a file of `present_bytes` blocks for all of its first `whole_bytes`, of which it has that
/// size then. `false` where the file system cannot, and nothing was changed.
///
/// macOS: blocks come behind the end of the file only, so holes in what is there stay.
pub fn allocate(file: &File, present_bytes: u64, whole_bytes: u64) -> Result<bool, Errno> {
    if cfg!(target_vendor = "apple") && whole_bytes <= present_bytes {
        return Ok(true);
    }
    match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, whole_bytes)) {
        Ok(()) => Ok(true),
        // Two numbers on macOS, one on Linux.
        Err(errno) if [Errno::OPNOTSUPP, Errno::NOTSUP].contains(&errno) => Ok(false),
        Err(Errno::NOSYS | Errno::INVAL) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Asks the system to read a range ahead. A hint: nothing depends on it.
pub fn advise_soon(file: &File, offset: u64, len: NonZeroU64) {
    #[cfg(target_vendor = "apple")]
    let told = rustix::fs::fcntl_rdadvise(file, offset, len.get());
    #[cfg(not(target_vendor = "apple"))]
    let told = rustix::fs::fadvise(file, offset, Some(len), rustix::fs::Advice::WillNeed);
    // A refused hint changes nothing but speed, so its error has no reader.
    let _ = told;
}

/// Asks the system to begin to write a range to the medium. A hint: nothing depends on it.
///
/// Linux: pages that are said not to be needed are written first, without a wait, where they hold
/// what the medium does not; those stay in memory. `sync_file_range` does as much, and is none of
/// the calls that come without unsafe code. Elsewhere nothing is asked.
pub fn begin_sync(file: &File, offset: u64, len: NonZeroU64) {
    #[cfg(target_os = "linux")]
    let told = rustix::fs::fadvise(file, offset, Some(len), rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let told = (file, offset, len);
    // As above.
    let _ = told;
}

/// Asks the system to read nothing ahead by itself. A hint: nothing depends on it.
///
/// macOS has no such hint for parts of a file, and goes by what it sees.
pub fn advise_random(file: &File) {
    #[cfg(target_vendor = "apple")]
    let told = file;
    #[cfg(not(target_vendor = "apple"))]
    let told = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
    // As above.
    let _ = told;
}

/// Whether a file may be written through a map: whether an allocated block is written in place,
/// so that no store ever needs a new one, and a sync of the file writes pages that were stored to
/// (see `env/real/log.rs`). Not so where writing copies (btrfs, ZFS, f2fs), or where somebody else
/// decides (network, FUSE, overlay): those are written by system calls. Known of Linux alone.
#[cfg(target_os = "linux")]
pub fn is_written_in_place(file: &File) -> bool {
    // Numbers of file systems from linux/magic.h.
    const EXT_MAGIC: i64 = 0xef53;
    const XFS_MAGIC: i64 = 0x5846_5342;
    const TMPFS_MAGIC: i64 = 0x0102_1994;
    match rustix::fs::fstatfs(file) {
        Ok(stat) => {
            #[allow(clippy::useless_conversion)] // The field's width differs by architecture.
            let magic = i64::from(stat.f_type);
            matches!(magic, EXT_MAGIC | XFS_MAGIC | TMPFS_MAGIC)
        }
        Err(_) => false,
    }
}

/// Whether a file may be written through a map. Known of Linux alone.
#[cfg(not(target_os = "linux"))]
pub fn is_written_in_place(_file: &File) -> bool {
    false
}

/// Device and number of a file, which no other file has, as `MetadataExt` gives them.
#[allow(
    clippy::unnecessary_cast,
    reason = "the widths of the fields differ by system; the standard library casts them so, too"
)]
pub fn identity_of(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// Mode bits in the width that the system has for them.
pub const fn raw_mode(mode: u16) -> RawMode {
    mode as RawMode
}

/// The clock that is quickest to ask: that of the last tick on Linux, elsewhere the exact one.
pub const TICK_CLOCK: ClockId = {
    #[cfg(target_os = "linux")]
    let clock = ClockId::RealtimeCoarse;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Realtime;
    clock
};

/// Memory of its own that takes no room until it is stored to, in the place of what is mapped.
/// FreeBSD promises no room to begin with, and has no word for it.
pub const REPLACING: MapFlags = {
    let flags = MapFlags::PRIVATE.union(MapFlags::FIXED);
    #[cfg(not(target_os = "freebsd"))]
    let flags = flags.union(MapFlags::NORESERVE);
    flags
};

/// A folder that lists the descriptors that are open in this process.
pub const DESCRIPTORS: &str = if cfg!(target_os = "linux") {
    "/proc/self/fd"
} else {
    "/dev/fd"
};

#[cfg(test)]
mod tests;
