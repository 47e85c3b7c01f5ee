//! Repairs a database beside itself, for whoever wants to read what is left of it.

use std::path::Path;
use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::db::backup::repair::{RepairOptions, repair_in};
use crate::db::backup::report::RepairReport;
use crate::db::directory::lock_for_reading;
use crate::env::bundle::Env;
use crate::env::overlay::OverlayFs;

/// Repairs the database in `dir` and changes nothing there: what a repair writes goes to `scratch`,
/// an empty directory. Gives the world in which `dir` is the repaired database; it keeps writers
/// away for as long as it lives.
///
/// Errors: as [`repair_in`].
pub fn repair_aside(
    env: &Env,
    dir: &Path,
    scratch: &Path,
    comparators: &[Comparator],
) -> Result<(Env, RepairReport)> {
    if !env.fs.exists(dir)? {
        let place = dir.display();
        return Err(Error::invalid(format!("there is no directory {place}")));
    }
    let held = env.fs.hold_dir(dir)?;
    let base = held.unwrap_or_else(|| Arc::clone(&env.fs));
    let lock = lock_for_reading(&*base, dir)?;
    let aside = Env {
        fs: Arc::new(OverlayFs::new(base, dir, scratch, lock)),
        ..env.clone()
    };
    let mut report = repair_in(&aside, dir, RepairOptions::default(), comparators)?;
    // Out of the way of whoever reads, and else where it was.
    report.moved.clear();
    Ok((aside, report))
}
