//! Waiting for what nobody tells.

use std::time::Duration;

/// How often a process or a file is looked at, which can tell nobody that it has ended or changed.
pub const LOOK: Duration = Duration::from_millis(50);

/// Waits until it is to be looked again.
pub fn pause() {
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    // Nobody sends: it is the deadline that is waited for.
    let _ = never.recv_timeout(LOOK);
}
