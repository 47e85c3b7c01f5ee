//! Tests of `buffers`.

use std::sync::Arc;

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::hooks::event_reasons::CompactionReason;
use crate::base::options::sst::SstOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::env::sim::SimWorld;
use crate::flow::compact::plan::Input;
use crate::store::version::file::FileRecord;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::plain_file::record;
use crate::store::vlog::open_values::OpenValues;

const MIB: u64 = 1 << 20;

fn settings() -> OutputSettings {
    let world = SimWorld::new(1);
    OutputSettings {
        env: world.env(),
        dir: "/db".into(),
        numbers: Arc::new(FileNumbers::new(FileNumber(1))),
        keyspace: KeyspaceId::DEFAULT,
        comparator: Comparator::Bytewise,
        sst: SstOptions::default(),
        compression: CompressionType::Lz4,
        phrasing: None,
        values: Arc::new(OpenValues::new(world.env().fs, "/db", 1)),
        relocator: None,
        background_rate: Arc::default(),
        keyspace_name: Bytes::default(),
        database_id: None,
        snapshots: Arc::default(),
        sources: Arc::default(),
    }
}

/// A merge of so many runs, each a file of 32 MiB with so many entries.
fn plan(run_count: u64, entry_count: u64) -> Plan {
    let file = |number| FileRecord {
        size_bytes: 32 * MIB,
        entry_count,
        ..record(number, b"a", b"z")
    };
    let level = Level::new(1).unwrap();
    Plan {
        keyspace: KeyspaceId::DEFAULT,
        inputs: vec![Input {
            level,
            runs: (1..=run_count)
                .map(|number| vec![Arc::new(file(number))])
                .collect(),
        }],
        output: level,
        kind: CompactionKind::Merge,
        reason: CompactionReason::Size,
        victims: Arc::default(),
    }
}

#[test]
fn with_memory_enough_nothing_is_smaller() {
    // Two runs read 256 KiB at a time, and files are as large as was asked for.
    let mut settings = settings();
    let buffers = Buffers::within(64 * MIB, &plan(2, 300_000), &mut settings);
    assert_eq!(buffers.window_bytes, 256 << 10);
    let default = SstOptions::default().file_size_bytes;
    assert_eq!(settings.sst.file_size_bytes, default);
    assert!(
        (6 * MIB..8 * MIB).contains(&buffers.part_bytes),
        "{buffers:?}"
    );
}

#[test]
fn with_little_memory_files_and_windows_are_smaller() {
    // Many short entries in twelve runs: what a part takes keeps to 2 MiB, and files get fewer
    // keys for it, about the tenth part.
    let mut settings = settings();
    let buffers = Buffers::within(2 * MIB, &plan(12, 300_000), &mut settings);
    assert!(buffers.part_bytes <= 2 * MIB, "{buffers:?}");
    assert!(buffers.window_bytes >= 32 << 10, "{buffers:?}");
    let file_bytes = settings.sst.file_size_bytes;
    assert!((MIB..4 * MIB).contains(&file_bytes), "{file_bytes}");
    let keys = 300_000 * file_bytes / (32 * MIB);
    assert!(keys * KEY_BUILD_BYTES <= MIB, "{keys}");
}

#[test]
fn what_it_cannot_do_without_it_takes() {
    // Forty runs have a window and a lookahead each, whatever was allowed.
    let mut settings = settings();
    let buffers = Buffers::within(0, &plan(40, 1), &mut settings);
    assert_eq!(buffers.window_bytes, 32 << 10);
    assert!(buffers.part_bytes >= 40 * (32 << 10), "{buffers:?}");
}
