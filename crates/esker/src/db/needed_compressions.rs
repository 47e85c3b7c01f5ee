//! Refuses a database whose files this build cannot uncompress, before anything of it is used.

use std::path::Path;

use crate::base::codec::compress::CompressionType;
use crate::base::types::error::{ErrorKind, Result};
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::sst::any_reader::AnyReader;
use crate::store::version::state::Version;

/// `NotBuilt` when a sorted file of the version is compressed in a way that this build does not
/// have.
///
/// A build with every compressor asks no file. One without reads the end of each: a database that
/// cannot be read is better refused whole than by the first read, or by a compaction.
pub fn check(fs: &dyn Fs, dir: &Path, version: &Version) -> Result<()> {
    if CompressionType::ARE_ALL_BUILT {
        return Ok(());
    }
    let states = version.keyspaces.values();
    for (_, record) in states.flat_map(|state| state.levels.files()) {
        let name = FileName::Sst(record.number);
        let opened = fs.open_read(&dir.join(name.to_string()));
        let compression = opened.and_then(|file| AnyReader::compression_of(file, record.binding()));
        let built = compression.and_then(CompressionType::check_built);
        // What is missing or damaged is told by whoever needs it, as in every build.
        if let Err(error) = built
            && error.kind() == ErrorKind::NotBuilt
        {
            return Err(error.in_file(name));
        }
    }
    Ok(())
}
