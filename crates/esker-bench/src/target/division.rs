//! How the bytes of our sorted files divide: records, keys, dictionary and the rest.

use std::fs;
use std::path::Path;

use esker::internals::db::inspect::sst::SstContents;
use esker::internals::store::names::FileName;

use crate::fail::{Failure, Outcome};

/// Bytes of all sorted files in `dir` by what they are for. Files made of blocks have blocks
/// instead of records, and keys and values in them alike.
pub fn division(dir: &Path) -> Outcome<Vec<(String, u64)>> {
    let told = |error| Failure::system(format!("cannot read {}", dir.display()), &error);
    let mut all = [
        ("records", 0),
        ("keys", 0),
        ("dictionary", 0),
        ("blocks", 0),
        ("rest", 0),
    ];
    for entry in fs::read_dir(dir).map_err(told)? {
        let entry = entry.map_err(told)?;
        let name = entry.file_name();
        if !matches!(
            name.to_str().and_then(FileName::parse),
            Some(FileName::Sst(_))
        ) {
            continue;
        }
        let parts = parts_of(&esker::internals::db::inspect::sst(entry.path())?);
        for ((_, sum), bytes) in all.iter_mut().zip(parts) {
            *sum += bytes;
        }
    }
    let there = all.into_iter().filter(|(_, bytes)| *bytes > 0);
    Ok(there
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .collect())
}

/// Bytes of records, keys, dictionary, blocks and the rest of one file.
fn parts_of(file: &SstContents) -> [u64; 5] {
    let named = |wanted: &str| {
        let handles = file.parts.iter().filter(|(name, _)| *name == wanted);
        handles.map(|(_, handle)| handle.stored_len()).sum::<u64>()
    };
    let blocks: u64 = file.blocks.iter().map(|block| block.stored_len).sum();
    let (records, keys, blocks) = match &file.records {
        // A tail is the part of the key that its page leaves to the record.
        Some(records) => (
            records.stored_bytes - records.tail_bytes,
            blocks + named("key index") + records.tail_bytes,
            0,
        ),
        None => (0, 0, blocks),
    };
    let dictionary = named("dictionary");
    let rest = file.size_bytes - records - keys - dictionary - blocks;
    [records, keys, dictionary, blocks, rest]
}

#[cfg(test)]
mod tests;
