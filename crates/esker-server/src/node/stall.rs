//! Why a replica does not go on for now, in the words of whoever runs the node.

use esker::{Error, ErrorKind};

/// Said of all that a node leads while its raft log cannot grow.
pub const LOG_HAS_NO_ROOM: &str = "the disk of the node has no room for the raft log: make some, \
                                   and it goes on by itself";

/// What is missing, if `error` is of something that may be there again: the engine speaks of the
/// database that it is, and nobody outside knows that there is one.
pub fn words(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::OutOfSpace => Some(
            "the disk of the node has no room for it (engine.disk.free_min stays free, and the \
             database takes engine.disk_limit at the most): make some, and it goes on by itself",
        ),
        ErrorKind::OutOfFiles => Some(
            "the node may open no more files (ulimit -n): let it have more, and start it again",
        ),
        _ => None,
    }
}
