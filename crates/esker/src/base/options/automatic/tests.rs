//! Tests of `automatic`.

use super::*;

#[test]
fn memtables_take_a_quarter_of_the_limit() {
    // Three memtables fit into a quarter, from the smallest limit to the largest.
    assert_eq!(memtable_bytes(1 << 20, 512 << 20), 64 << 10);
    assert_eq!(memtable_bytes(256 << 20, 512 << 20), (21 << 20) + (5 << 16));
    assert_eq!(memtable_bytes(1 << 50, 512 << 20), 128 << 20);
    assert_eq!(memtable_bytes(1 << 30, 16 << 20), 8 << 20);
    for limit in (1..200).map(|mib| mib << 20) {
        assert!(memtable_bytes(limit, 512 << 20) as u64 * 12 <= limit);
    }
}

#[test]
fn what_the_user_set_is_left_alone() {
    // Filling in touches only what was left to the engine.
    let mut db = DbOptions {
        background_threads: 3,
        ..DbOptions::default()
    };
    let mut keyspace = KeyspaceOptions {
        memtable_bytes: 1 << 20,
        ..KeyspaceOptions::default()
    };
    fill_db(&mut db, 8);
    fill_keyspace(&db, &mut keyspace);
    assert_eq!(
        (db.background_threads, keyspace.memtable_bytes),
        (3, 1 << 20)
    );
    fill_db(&mut db, 0);
    db.background_threads = 0;
    fill_db(&mut db, 0);
    assert_eq!(db.background_threads, 1);
}

#[cfg_attr(
    not(all(feature = "lz4", feature = "snappy", feature = "zstd")),
    ignore = "needs every compressor"
)]
#[test]
fn only_zstd_is_replaced_in_the_upper_levels() {
    // Who asks for no compression or for one of the quick ones gets it everywhere.
    assert_eq!(
        upper_compression(Compression::Blocks(CompressionType::Zstd)),
        CompressionType::Lz4
    );
    assert_eq!(
        upper_compression(Compression::Blocks(CompressionType::None)),
        CompressionType::None
    );
    assert_eq!(
        upper_compression(Compression::Blocks(CompressionType::Snappy)),
        CompressionType::Snappy
    );
    assert_eq!(
        upper_compression(Compression::Searchable),
        CompressionType::Lz4
    );
}
