//! A preallocated file whose parts several threads fill at the same time, by system calls.
//!
//! Large writes gain nothing from a mapping, as `env/real/log.rs` has it: one positioned write
//! of 100 KiB costs one call and one copy, and none of the 25 page faults that a mapping would.

use std::sync::OnceLock;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::fs::{ExtentFile, LogSync};
use crate::env::real::os_file::OsFile;
use crate::env::real::place::Place;

/// A preallocated file, written in place. Any thread may call anything.
///
/// Errors: after a failed sync every later one fails too, as with `RealLogFile`.
#[derive(Debug)]
pub struct RealExtentFile {
    file: OsFile,
    first_failure: OnceLock<Error>,
}

impl RealExtentFile {
    /// Creates the file, which must not be there yet, empty but for its allocated blocks.
    pub fn create<'a>(place: impl Into<Place<'a>>, capacity_bytes: u64) -> Result<RealExtentFile> {
        let place = place.into();
        let file = OsFile::create_new(place)?;
        if let Err(error) = file.allocate_or_size(capacity_bytes) {
            // Half of its blocks would only take room from others; the first error is the one
            // to report.
            let _ = place.remove();
            return Err(error);
        }
        Ok(RealExtentFile {
            file,
            first_failure: OnceLock::new(),
        })
    }
}

impl ExtentFile for RealExtentFile {
    fn write_at(&self, offset: u64, pieces: &[&[u8]]) -> Result<()> {
        self.file.write_pieces_at(offset, pieces)
    }

    fn trim(&self, size_bytes: u64) -> Result<()> {
        self.file.set_size(size_bytes)
    }
}

impl LogSync for RealExtentFile {
    fn sync(&self) -> Result<()> {
        if let Some(first) = self.first_failure.get() {
            return Err(Error::new(
                ErrorKind::Faulted,
                "an earlier sync of this file failed, so its bytes are not to be trusted",
            )
            .in_file(self.file.path().display())
            .caused_by(first.again()));
        }
        self.file.sync_contents().inspect_err(|error| {
            self.first_failure.get_or_init(|| error.again());
        })
    }
}
