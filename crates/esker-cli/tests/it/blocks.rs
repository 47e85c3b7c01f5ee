//! Ports for the clusters of tests: no two of one process come near one another's.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first port of all: below are those of well-known services.
const FIRST: u16 = 10_240;

/// Ports of a block: three for each node that a cluster may come to.
const BLOCK: u16 = 64;

/// Blocks below the ports that Linux gives to outgoing connections.
const BLOCKS: u64 = 351;

/// The first port of a block that no other test of this process has.
///
/// Ports that are found free are not enough: those of a node that a test has killed are free as
/// well, until it is started again.
pub fn block() -> u16 {
    static NEXT: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(std::process::id()) % BLOCKS));
    let block = NEXT.fetch_add(1, Ordering::Relaxed) % BLOCKS;
    FIRST + BLOCK * u16::try_from(block).unwrap()
}

/// The flag of `esker cluster start` with a block of its own.
pub fn free_ports() -> String {
    format!("--free-ports={}", block())
}
