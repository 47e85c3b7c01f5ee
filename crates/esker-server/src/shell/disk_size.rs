//! How large the disk of a node is.

use std::path::Path;

use rustix::fs::statvfs;

/// Bytes that an ordinary user may have of the disk with that directory, taken or not; 0 if nobody
/// can say. The engine asks for what is free alone, and never for this.
pub(crate) fn disk_bytes(dir: &Path) -> u64 {
    let Ok(stat) = statvfs(dir) else {
        return 0;
    };
    // What is free and not to be had is root's.
    let of_root = stat.f_bfree.saturating_sub(stat.f_bavail);
    let blocks = stat.f_blocks.saturating_sub(of_root);
    blocks.saturating_mul(stat.f_frsize)
}

#[cfg(test)]
mod tests;
