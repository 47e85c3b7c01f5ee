//! CURRENT: the small file that says which manifest counts, and how far it was durable.

use std::path::Path;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::Fs;
use crate::store::names::FileName;
use crate::store::version::format::{
    Current, SNAPSHOT_MAGIC, decode_current, encode_current, encode_mark,
};

/// Bytes of CURRENT that are looked at: the largest number makes 59, and whatever is longer is
/// not ours.
const CURRENT_BYTES_MAX: u64 = 256;

/// What every error about a damaged manifest or CURRENT tells the reader to do.
pub(in crate::store::version) const REMEDY: &str =
    "`esker repair --dry-run` tells what can be saved";

/// Which manifest counts in `dir`, and how far it was durable.
///
/// Errors: `Invalid` when there is no database; `Corruption` when CURRENT is missing or not
/// valid; `Unsupported` when it is that of LevelDB or RocksDB, as far as can be told.
pub fn read_current(fs: &dyn Fs, dir: &Path) -> Result<Current> {
    let name = FileName::Current.to_string();
    let path = dir.join(&name);
    if !fs.exists(&path)? {
        return Err(explain_missing(fs, dir)?);
    }
    let file = fs.open_read(&path)?;
    let size = file.size_bytes().min(CURRENT_BYTES_MAX);
    let mut contents = vec![0; usize::try_from(size).expect("256 fits")];
    file.read_at(0, &mut contents)?;
    match decode_current(&contents) {
        Some(current) => Ok(current),
        None => Err(explain_contents(fs, dir, &contents)?.in_file(name)),
    }
}

/// Writes the next CURRENT beside the present one, and makes its bytes durable. The manifest that
/// it names is durable up to `durable_end`.
pub fn draft_current(
    fs: &dyn Fs,
    dir: &Path,
    manifest: FileNumber,
    durable_end: u64,
) -> Result<()> {
    let mut file = fs.create(&dir.join(FileName::CurrentTemporary.to_string()))?;
    let contents = encode_current(manifest) + &encode_mark(manifest, durable_end);
    file.append(contents.as_bytes())?;
    file.sync()
}

/// Says in CURRENT, which names `manifest`, that it is durable up to `durable_end`: from then on a
/// manifest that has lost its end is told from one whose last edit was never acknowledged. Written
/// in place and not synced: a kill leaves it, and a power cut the mark of an earlier edit, or none.
pub fn mark_current(fs: &dyn Fs, dir: &Path, manifest: FileNumber, durable_end: u64) -> Result<()> {
    let front_bytes = encode_current(manifest).len() as u64;
    let mark = encode_mark(manifest, durable_end);
    let path = dir.join(FileName::Current.to_string());
    let mut file = fs.open_log(&path, front_bytes + mark.len() as u64)?;
    file.write_at(front_bytes, mark.as_bytes())
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

// LevelDB and RocksDB write the manifest's name alone; so may a CURRENT of ours end that was cut
// short, and then the manifests beside it are ours.
fn explain_contents(fs: &dyn Fs, dir: &Path, contents: &[u8]) -> Result<Error> {
    let line = contents.strip_suffix(b"\n").unwrap_or(contents);
    let name = std::str::from_utf8(line).ok().and_then(FileName::parse);
    let names_manifest = matches!(name, Some(FileName::Manifest(_)));
    Ok(match names_manifest {
        true if has_own_manifest(fs, dir)? => {
            Error::corruption(format!("CURRENT has lost its checksum; {REMEDY}"))
        }
        true => Error::new(
            ErrorKind::Unsupported,
            "this is a database of LevelDB or RocksDB, or CURRENT has lost its checksum and no \
             manifest is whole; if it is one of Esker, move CURRENT away and run `esker repair`",
        ),
        false => Error::corruption(format!("CURRENT does not name a manifest; {REMEDY}")),
    })
}

/// Whether any manifest in `dir` begins as those of Esker do. Theirs have the same names.
fn has_own_manifest(fs: &dyn Fs, dir: &Path) -> Result<bool> {
    for name in fs.list(dir)? {
        if !matches!(FileName::parse(&name), Some(FileName::Manifest(_))) {
            continue;
        }
        let file = fs.open_read(&dir.join(&name))?;
        let size = file.size_bytes().min(CURRENT_BYTES_MAX);
        let mut front = vec![0; usize::try_from(size).expect("256 fits")];
        file.read_at(0, &mut front)?;
        // Behind the head of its first record.
        let mut windows = front.windows(SNAPSHOT_MAGIC.len());
        if windows.any(|bytes| bytes == SNAPSHOT_MAGIC) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
