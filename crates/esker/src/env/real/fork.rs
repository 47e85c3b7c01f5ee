//! Has the system tell when the process forks.
#![allow(unsafe_code)]

use std::sync::Once;

use crate::env::process::note_fork;

/// From now on a child that forks from this process knows that it is another one
/// (`env/process.rs`).
pub fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: `in_child` has the signature that is asked for, and touches one atomic.
        let refused = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        // For lack of memory alone, and then for that of a few bytes.
        assert_eq!(refused, 0, "no memory to be told of forks");
    });
}

unsafe extern "C" fn in_child() {
    note_fork();
}

#[cfg(test)]
mod tests;
