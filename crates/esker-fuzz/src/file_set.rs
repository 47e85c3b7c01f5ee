//! Any bytes as the list of a file set, and any changes as a list whose checksum is right.
//!
//! The first byte chooses: from 4 on the rest is the file as it is; below, the rest is the changes
//! of a list of version 1 or 2 (bit 1), written by a writer or exported (bit 0).

use std::path::Path;

use esker::internals::base::codec::checksum::{crc32c, mask};
use esker::internals::base::types::error::ErrorKind;
use esker::internals::db::ingest::file_set::{FileSet, LIST_NAME};
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimFs;
use esker::internals::store::version::state::Orders;

/// Bytes of a list before its changes.
pub const HEAD_BYTES: usize = 29;

/// Bytes behind them.
pub const SUM_BYTES: usize = 4;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((how @ 0..4, changes)) => read(&list(*how, changes)),
        Some((_, bytes)) => read(bytes),
        None => false,
    };
}

fn list(how: u8, changes: &[u8]) -> Vec<u8> {
    let mut list = b"eskerfs\n".to_vec();
    list.extend((1 + u32::from(how >> 1)).to_le_bytes());
    list.push(how & 1);
    list.extend([7; 16]);
    list.extend(changes);
    let sum = mask(crc32c(&list));
    list.extend(sum.to_le_bytes());
    list
}

/// Reads a list: what is read is written again, and then says the same; all else is refused for a
/// reason. Whether it was read.
pub fn read(bytes: &[u8]) -> bool {
    let fs = SimFs::new(1);
    let [dir, again] = [Path::new("/set"), Path::new("/again")];
    for dir in [dir, again] {
        fs.create_dir_all(dir).expect("memory does not fail");
    }
    let list = fs.create_new(&dir.join(LIST_NAME));
    let mut list = list.expect("memory does not fail");
    list.append(bytes).expect("memory does not fail");
    drop(list);
    match FileSet::read(&fs, dir, &Orders::default()) {
        Ok(set) => {
            set.write(&fs, again).expect("memory does not fail");
            let same = FileSet::read(&fs, again, &Orders::default()).expect("it was written");
            assert!(same.maker == set.maker);
            assert!(same.version.to_edit() == set.version.to_edit());
            assert!(same.version.identity.database_id == set.version.identity.database_id);
            true
        }
        Err(error) => {
            let kinds = [ErrorKind::Corruption, ErrorKind::Unsupported];
            assert!(kinds.contains(&error.kind()), "{error}");
            false
        }
    }
}
