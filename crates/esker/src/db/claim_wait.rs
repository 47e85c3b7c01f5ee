//! Waits for what a prepared transaction claims, for who waits for locks as well.
//!
//! A prepared transaction waits for nobody, so nobody waits for himself by waiting for one; and it
//! cannot be made to give way, so who waits holds as little as he can, and gives up in the end.

use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;

/// Returns once `check` finds nothing claimed, waiting for those who claim it until it is
/// `wait_max` since the caller began to. `check` answers `Conflict` where something is.
///
/// Errors: `LockTimeout`, with the key and who claims it; those of `check`; `Closed`.
pub fn wait(
    core: &Core,
    (since, wait_max): (Duration, Duration),
    check: impl Fn() -> Result<()>,
) -> Result<()> {
    let until = since + wait_max;
    let ended = &core.committer.claims_ended;
    loop {
        let seen = ended.raised_count();
        let claimed = match check() {
            Err(error) if error.kind() == ErrorKind::Conflict => error,
            done => return done,
        };
        core.gate.check_read()?;
        let now = core.env.clock.monotonic();
        if now >= until {
            return Err(timeout(&claimed, wait_max));
        }
        core.env.pool.wait(ended, seen, until - now);
    }
}

/// For who does not wait where others would: `Busy`.
#[cold]
pub fn at_once(claimed: &Error) -> Error {
    let message = format!("{}; or write without no_wait", claimed.message());
    Error::new(ErrorKind::Busy, message)
}

#[cold]
fn timeout(claimed: &Error, wait_max: Duration) -> Error {
    let waited = match wait_max.is_zero() {
        true => "it was not waited for".to_string(),
        false => format!("it was waited for {:.3} s", wait_max.as_secs_f64()),
    };
    let message = format!("{}; {waited}", claimed.message());
    Error::new(ErrorKind::LockTimeout, message)
}
