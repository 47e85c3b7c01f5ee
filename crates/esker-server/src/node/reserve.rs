//! Room on the disk that a node keeps for its next opening: the file `RESERVE`.
//!
//! A full disk refuses the first byte of an opening, which has to raise the incarnation and to
//! begin a segment of the raft log before it can give anything back. So some room is taken while
//! there is plenty, and given up where there is none.

use std::path::Path;

use esker::Result;
use esker::internals::env::bundle::Env;

/// Name of the file.
const NAME: &str = "RESERVE";

/// Bytes of it: a segment of the raft log as sessions begin with, and what an opening of the engine
/// writes.
const RESERVE_BYTES: u64 = 4 << 20;

/// How many times that must be free to take it: the last room of a disk is not for later.
const PLENTY: u64 = 16;

/// Gives the room up if there is no other; true if it did.
///
/// Errors: those of files.
pub fn give_up(env: &Env, dir: &Path) -> Result<bool> {
    let path = dir.join(NAME);
    if env.fs.free_bytes(dir)? >= RESERVE_BYTES || !env.fs.exists(&path)? {
        return Ok(false);
    }
    env.fs.remove_file(&path)?;
    // Some file systems give the bytes back only now.
    env.fs.sync_dir(dir)?;
    Ok(true)
}

/// Takes the room, if there is plenty and it is not taken.
///
/// Errors: those of files, but for a lack of room or of files.
pub fn take(env: &Env, dir: &Path) -> Result<()> {
    let path = dir.join(NAME);
    if env.fs.exists(&path)? || env.fs.free_bytes(dir)? < RESERVE_BYTES * PLENTY {
        return Ok(());
    }
    match env.fs.open_log(&path, RESERVE_BYTES) {
        Err(error) if !error.is_shortage() => Err(error),
        // It need not last: an opening that does not find it makes another one.
        _ => Ok(()),
    }
}
