//! Raises the format of a database before something is written to it that its format does not have.
//!
//! So a database that never has such a thing stays readable by an Esker that does not know it, and
//! one that has is refused there by its format, before anything of it is read.

use crate::base::types::error::Result;
use crate::db::core::Core;
use crate::db::install::install;
use crate::store::version::edit::Change;

/// Has the database be of that format at least. When this returns it is so durably, whatever is
/// written next.
///
/// Errors: those of [`install`], and nothing may be written then that needs the format.
pub fn raise_format(core: &Core, version: u32) -> Result<()> {
    if core.history.peek().format_version >= version {
        return Ok(());
    }
    // Of several who come here at once the furthest holds: `install` drops what is no raise.
    install(core, vec![Change::SetFormat { version }], None).map(drop)
}

#[cfg(test)]
mod tests;
