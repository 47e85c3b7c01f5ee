//! Files that come or go on the thread of a user are background work all the same.

use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::job::Booking;
use crate::db::space;

/// Whether files may come or go at all: looks at the disk first if it was full a moment ago, as a
/// write does.
///
/// Errors: those of the gate.
pub fn may_begin(core: &Core) -> Result<()> {
    user_code::refuse()?;
    space::resume(core);
    core.gate.check_write()
}

/// Puts the caller on the books until the result is dropped: who closes the database waits for it,
/// and only then lets go of the directory, so that nobody else's files are ever met under numbers
/// that this one has taken. Whoever is booked asks the gate between steps and ends soon once it is
/// shut, and must not wait for whoever changes the set of keyspaces: closing does that as well.
///
/// Errors: those of the gate.
pub fn book(core: &Arc<Core>) -> Result<Booking> {
    core.work.state().job_count += 1;
    let booking = Booking::of_counted(core);
    // Behind the count: closing shuts the gate first, and counts then.
    core.gate.check_write()?;
    Ok(booking)
}
