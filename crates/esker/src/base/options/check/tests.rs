//! Tests of `check`.

use super::*;
use crate::base::options::catalog::{set_db, set_keyspace};
use crate::base::options::setting::Scope;
use crate::base::types::error::ErrorKind;

// The refusal of the defaults with these settings changed, each wherever it belongs.
fn refused(pairs: &[(&str, &str)]) -> String {
    let mut db = DbOptions::default();
    let mut keyspace = KeyspaceOptions::default();
    for (name, text) in pairs {
        match crate::base::options::catalog::find(name).unwrap().scope() {
            Scope::Database => set_db(&mut db, name, text).unwrap(),
            Scope::Keyspace => set_keyspace(&mut keyspace, name, text).unwrap(),
        }
    }
    let error = check_db(&db)
        .and_then(|()| check_keyspace(&db, &keyspace))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    error.message().into()
}

#[test]
fn the_defaults_are_accepted() {
    // Nobody should have to set anything.
    let db = DbOptions::default();
    check_db(&db).unwrap();
    check_keyspace(&db, &KeyspaceOptions::default()).unwrap();
}

#[test]
fn every_contradiction_is_told_with_its_remedy() {
    // Two names, two values, the reason, and both ways out.
    assert_eq!(
        refused(&[("error_if_exists", "true"), ("create_if_missing", "false")]),
        "`error_if_exists` is true and `create_if_missing` is false, so that nothing can ever be \
         opened: change one of them"
    );
    assert_eq!(
        refused(&[("wal.segment_size", "64MiB"), ("wal.total_size", "32MiB")]),
        "`wal.segment_size` (64MiB) must not exceed `wal.total_size` (32MiB): a log is at least \
         one segment long; lower `wal.segment_size` to 32MiB or raise `wal.total_size` to 64MiB"
    );
    assert_eq!(
        refused(&[("disk_limit", "600MiB")]),
        "`wal.total_size` (512MiB) must not exceed half of `disk_limit` (600MiB): the log would \
         leave too little room for sorted files; lower `wal.total_size` to 300MiB or raise \
         `disk_limit` to 1GiB"
    );
    assert_eq!(
        refused(&[("memory_limit", "64MiB"), ("memtable.size", "32MiB")]),
        "`memtable.size` (32MiB) must not exceed a quarter of `memory_limit` (64MiB): one live \
         and two sealed memtables must leave room for reads; lower `memtable.size` to 16MiB or \
         raise `memory_limit` to 128MiB"
    );
    assert_eq!(
        refused(&[("memtable.size", "64MiB"), ("wal.total_size", "48MiB")]),
        "`memtable.size` (64MiB) must not exceed `wal.total_size` (48MiB): the log would be full \
         before the memtable is; lower `memtable.size` to 48MiB or raise `wal.total_size` to 64MiB"
    );
    assert_eq!(
        refused(&[("memory_limit", "4MiB"), ("sst.block_size", "1MiB")]),
        "`sst.block_size` (1MiB) must not exceed 1/16 of `memory_limit` (4MiB): the block cache \
         must hold more than a handful of blocks; lower `sst.block_size` to 256KiB or raise \
         `memory_limit` to 16MiB"
    );
    assert_eq!(
        refused(&[("sst.block_size", "128KiB"), ("sst.file_size", "64KiB")]),
        "`sst.block_size` (128KiB) must not exceed `sst.file_size` (64KiB): a file is at least \
         one block long; lower `sst.block_size` to 64KiB or raise `sst.file_size` to 128KiB"
    );
    assert_eq!(
        refused(&[("sst.file_size", "512MiB")]),
        "`sst.file_size` (512MiB) must not exceed `compaction.base_level` (256MiB): a level that \
         cannot hold one file is always too full; lower `sst.file_size` to 256MiB or raise \
         `compaction.base_level` to 512MiB"
    );
}

#[test]
fn values_put_in_by_code_are_checked_as_text_is() {
    // Structs can be filled without the catalogue; their ranges hold all the same.
    let db = DbOptions::default();
    let told = |change: fn(&mut KeyspaceOptions)| {
        let mut keyspace = KeyspaceOptions::default();
        change(&mut keyspace);
        check_keyspace(&db, &keyspace)
            .unwrap_err()
            .message()
            .to_string()
    };
    assert_eq!(
        told(|keyspace| keyspace.compaction.l0_trigger = 0),
        "`compaction.l0_trigger` cannot be `0`: give a whole number from 1 to 1024, as in `8`"
    );
    assert_eq!(
        told(|keyspace| keyspace.compaction.level_growth = 1),
        "`compaction.level_growth` cannot be `1`: give a whole number from 2 to 100, as in `8`"
    );
    assert_eq!(
        told(|keyspace| keyspace.sst.filter_bits_per_key = 33.0),
        "`sst.filter_bits` cannot be `33`: give a number from 0 to 32, as in `12`"
    );
    assert!(told(|keyspace| keyspace.sst.filter_bits_per_key = f64::NAN).contains("`NaN`"));
    assert!(told(|keyspace| keyspace.sst.zstd_level = -8).contains("`-8`"));
    assert!(told(|keyspace| keyspace.sst.block_size_bytes = usize::MAX).contains("block_size"));
    let tiny = DbOptions {
        memory_limit: 1000,
        ..DbOptions::default()
    };
    assert_eq!(
        check_db(&tiny).unwrap_err().message(),
        "`memory_limit` cannot be `1000B`: give a size from 32MiB to 1024TiB, as in `1GiB`"
    );
}
