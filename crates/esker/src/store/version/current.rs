//! CURRENT: the small file that says which manifest counts.

use std::path::Path;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::version::format::{decode_current, encode_current};

/// Bytes of CURRENT that are looked at: the largest number makes 39, and whatever is longer is
/// not valid anyway.
const CURRENT_BYTES_MAX: u64 = 256;

/// What every error about a damaged manifest or CURRENT tells the reader to do.
pub(in crate::store::version) const REMEDY: &str =
    "`esker repair --dry-run` tells what can be saved";

/// The manifest that counts in `dir`.
///
/// Errors: `Invalid` when there is no database; `Corruption` when CURRENT is missing or not
/// valid; `Unsupported` when it is that of LevelDB or RocksDB.
pub fn read_current(fs: &dyn Fs, dir: &Path) -> Result<FileNumber> {
    let name = FileName::Current.to_string();
    let path = dir.join(&name);
    if !fs.exists(&path)? {
        return Err(explain_missing(fs, dir)?);
    }
    let file = fs.open_read(&path)?;
    let size = file.size_bytes().min(CURRENT_BYTES_MAX);
    let mut contents = vec![0; usize::try_from(size).expect("256 fits")];
    file.read_at(0, &mut contents)?;
    decode_current(&contents).ok_or_else(|| explain_contents(&contents).in_file(name))
}

/// Writes the next CURRENT beside the present one, and makes its bytes durable.
pub fn draft_current(fs: &dyn Fs, dir: &Path, manifest: FileNumber) -> Result<()> {
    let mut file = fs.create(&dir.join(FileName::CurrentTemporary.to_string()))?;
    file.append(encode_current(manifest).as_bytes())?;
    file.sync()
}

/// Puts what [`draft_current`] wrote in the place of CURRENT, for good. After an error it is not
/// known which of the two counts after a crash.
pub fn swap_current(fs: &dyn Fs, dir: &Path) -> Result<()> {
    let draft = dir.join(FileName::CurrentTemporary.to_string());
    fs.rename(&draft, &dir.join(FileName::Current.to_string()))?;
    fs.sync_dir(dir)
}

// A creation that a crash cut short leaves a manifest and nothing else: that is no database yet.
fn explain_missing(fs: &dyn Fs, dir: &Path) -> Result<Error> {
    let names = fs.list(dir)?;
    let place = dir.display();
    let is_ours = |name: &String| {
        matches!(
            FileName::parse(name),
            Some(FileName::Sst(_) | FileName::Wal(_))
        )
    };
    Ok(match names.iter().find(|name| is_ours(name)) {
        None => Error::invalid(format!(
            "there is no database in {place}: it has no CURRENT"
        )),
        Some(name) => Error::corruption(format!(
            "{place} has no CURRENT, though it has {name}; {REMEDY}"
        )),
    })
}

// LevelDB and RocksDB write the manifest's name alone.
fn explain_contents(contents: &[u8]) -> Error {
    let line = contents.strip_suffix(b"\n").unwrap_or(contents);
    let name = std::str::from_utf8(line).ok().and_then(FileName::parse);
    if let Some(FileName::Manifest(_)) = name {
        return Error::new(
            ErrorKind::Unsupported,
            "this is a database of LevelDB or RocksDB, or CURRENT has lost its checksum; Esker \
             cannot open it",
        );
    }
    Error::corruption(format!("CURRENT does not name a manifest; {REMEDY}"))
}

#[cfg(test)]
mod tests;
