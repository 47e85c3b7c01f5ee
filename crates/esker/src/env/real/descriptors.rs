//! File descriptors of the process: how many the engine may keep, and what gives way to others.
//!
//! The process has one limit, often 1 024, and every database in it, and whatever else the program
//! does, lives within that. So the soft limit is raised as far as the keepers of open files need
//! it and the hard one allows; where that is not enough each gets its share of what there is. And
//! an opening that is refused for lack of descriptors (`EMFILE`, `ENFILE`) closes files of our own
//! that nobody holds, of all databases of the process, and is tried again: only when there is
//! nothing left to close it fails.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::env::fs::FileKeeper;
use crate::env::real::system::DESCRIPTORS;

/// Descriptors for what is open for a moment or written to: a log and its spare, outputs of all
/// background threads, a segment of values, a manifest; and some for what the program does beside.
const RESERVE: u64 = 128;

/// Of the descriptors that there are, a quarter is left to others where they are scarce.
const KEPT_PART: (u64, u64) = (3, 4);

/// Each round closes half of what can be closed, so that many are enough for any number of files;
/// other threads may take what a round has given back.
const ROUNDS_MAX: usize = 32;

/// What is assumed to be open elsewhere where the system does not say.
const ELSEWHERE_GUESS: u64 = 64;

/// Standard input, output and errors have the numbers before it.
const STREAMS_END: RawFd = 3;

struct Kept {
    keeper: Weak<dyn FileKeeper>,
    wanted: u64,
}

/// Who keeps files open in this process. Held for moments, and nothing is taken below it.
static KEEPERS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Counts `keeper` among those who keep files open, and says how many of `wanted` it may keep. The
/// soft limit of the process is raised for it, if need be. May be called again with another number.
pub fn keep(wanted: usize, keeper: &Weak<dyn FileKeeper>) -> usize {
    let wanted = wanted as u64;
    let kept = {
        let mut keepers = keepers();
        keepers.retain(|kept| kept.keeper.strong_count() > 0 && !kept.keeper.ptr_eq(keeper));
        let keeper = Weak::clone(keeper);
        keepers.push(Kept { keeper, wanted });
        let counted = keepers
            .iter()
            .map(|kept| (kept.keeper.upgrade(), kept.wanted));
        counted.collect::<Vec<_>>()
    };
    let wanted_in_all = kept.iter().map(|(_, wanted)| wanted).sum();
    let keepers = kept.iter().filter_map(|(keeper, _)| keeper.as_ref());
    let own: u64 = keepers.map(|keeper| keeper.open_count() as u64).sum();
    let elsewhere = open_count().map_or(ELSEWHERE_GUESS, |open| open.saturating_sub(own));
    let limit = raise_limit(
        elsewhere
            .saturating_add(RESERVE)
            .saturating_add(wanted_in_all),
    );
    usize::try_from(share(limit, elsewhere, wanted, wanted_in_all)).unwrap_or(usize::MAX)
}

/// Runs `open`, which opens a file, and while it is refused for lack of descriptors closes files
/// of our own and runs it again.
pub fn patiently<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut rounds = 0;
    loop {
        match open() {
            Err(cause) if is_shortage(&cause) && rounds < ROUNDS_MAX && close_idle() > 0 => {
                rounds += 1;
            }
            done => return done,
        }
    }
}

/// The same open file, under a number that is no standard stream's. In a program that closed one of
/// those the next file to be opened gets its number, and whatever the program or a panic has to say
/// would be written into a file of a database.
pub fn above_streams(file: OwnedFd) -> io::Result<File> {
    let file = match file.as_raw_fd() < STREAMS_END {
        // The low number is free again when `file` is dropped.
        true => patiently(|| Ok(fcntl_dupfd_cloexec(&file, STREAMS_END)?))?,
        false => file,
    };
    Ok(File::from(file))
}

fn is_shortage(cause: &io::Error) -> bool {
    let codes = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    cause
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
}

// How many files were closed.
fn close_idle() -> usize {
    let known: Vec<Arc<dyn FileKeeper>> = {
        let keepers = keepers();
        let alive = keepers.iter().filter_map(|kept| kept.keeper.upgrade());
        alive.collect()
    };
    known.iter().map(|keeper| keeper.close_idle()).sum()
}

fn share(limit: u64, elsewhere: u64, wanted: u64, wanted_in_all: u64) -> u64 {
    let left = limit.saturating_sub(elsewhere);
    if wanted_in_all.saturating_add(RESERVE) <= left {
        return wanted;
    }
    let (part, whole) = KEPT_PART;
    let for_all = u128::from((left.saturating_sub(RESERVE)).max(left / whole * part));
    let own = for_all * u128::from(wanted) / u128::from(wanted_in_all.max(1));
    u64::try_from(own).map_or(wanted, |own| own.min(wanted))
}

// The limit of the process, which is at least `needed` if that is allowed.
fn raise_limit(needed: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    // `None` is no limit.
    let (soft, hard) = (
        now.current.unwrap_or(u64::MAX),
        now.maximum.unwrap_or(u64::MAX),
    );
    let raised = needed.min(hard);
    if raised <= soft {
        return soft;
    }
    let limit = Rlimit {
        current: Some(raised),
        maximum: now.maximum,
    };
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => raised,
        Err(_) => soft,
    }
}

// Descriptors that are open in this process, if the system says so.
fn open_count() -> Option<u64> {
    let entries = fs::read_dir(DESCRIPTORS).ok()?;
    // One of them is that of the list itself.
    Some((entries.count() as u64).saturating_sub(1))
}

// Each change is whole before anything in it could panic.
fn keepers() -> MutexGuard<'static, Vec<Kept>> {
    KEEPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
