//! What time it is for a keyspace: by the machine's clock, or by one of its own.

use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::store::version::state::KeyspaceState;

/// What time it is for who reads the keyspace or writes to it, in unix milliseconds.
#[inline]
pub fn now_unix_ms(core: &Core, parts: &KeyspaceParts) -> u64 {
    match &parts.clock {
        Some(own) => own.unix_ms(),
        None => core.env.clock.unix_millis(),
    }
}

/// What time it is for who drops what has ended from the files of the keyspace. A clock of its own
/// shows there what is on the medium: a crash takes the keyspace back to its mark, and what is
/// applied again from there on must find what had not ended then.
pub fn files_unix_ms(core: &Core, parts: &KeyspaceParts) -> u64 {
    if parts.clock.is_none() {
        return core.env.clock.unix_millis();
    }
    let version = core.history.peek();
    // Of one that was dropped meanwhile nothing is installed.
    version
        .keyspace(parts.id)
        .map_or(0, |state| of_state(core, state))
}

/// The same, of a keyspace of a version.
pub fn of_state(core: &Core, state: &KeyspaceState) -> u64 {
    let machine = || core.env.clock.unix_millis();
    state.clock_ms.unwrap_or_else(machine)
}
