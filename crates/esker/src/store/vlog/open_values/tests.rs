//! Tests of the table of open segments.

use std::path::Path;

use super::*;
use crate::base::types::ids::KeyspaceId;
use crate::env::sim::SimFs;
use crate::store::vlog::format::{SEGMENT_HEAD_BYTES, SegmentHead};
use crate::store::vlog::writer::{NewValue, VlogWriter};

fn segment(fs: &SimFs, number: u64) -> ValuePointer {
    let head = SegmentHead {
        number: FileNumber(number),
        database_id: [0; 16],
    };
    let writer = VlogWriter::create(fs, Path::new("/db"), head, 4096).unwrap();
    let new = NewValue {
        keyspace: KeyspaceId(0),
        key: b"key",
        value: &number.to_le_bytes(),
    };
    writer.write(SEGMENT_HEAD_BYTES, &new).unwrap()
}

#[test]
fn few_segments_stay_open_and_all_are_readable() {
    // The one used longest ago goes; one that is about to be removed goes at once.
    let fs = SimFs::new(1);
    fs.create_dir_all(Path::new("/db")).unwrap();
    let pointers: Vec<_> = (1..=5).map(|number| segment(&fs, number)).collect();
    let values = OpenValues::new(Arc::new(fs), "/db", 2);
    for round in 0..2 {
        for (pointer, number) in pointers.iter().zip(1_u64..) {
            assert_eq!(values.value(pointer).unwrap(), number.to_le_bytes()[..]);
            assert!(values.open_count() <= 2, "round {round}");
        }
    }
    values.forget(FileNumber(5));
    assert_eq!(values.open_count(), 1);
}
