//! Tests of `format`.

use std::sync::Arc;

use super::*;
use crate::base::types::ids::{KeyspaceId, Level};
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::Adoption;
use crate::store::sst::passing::Passing;
use crate::store::version::decode::{decode_edit, decode_snapshot};
use crate::store::version::edit::{Change, Edit, SettingsText};
use crate::store::version::encode::{encode_edit, encode_snapshot};
use crate::store::version::file::FileRecord;
use crate::store::version::plain_file;

const HEAD: SnapshotHead = SnapshotHead {
    format_version: FORMAT_VERSION,
    manifest: FileNumber(3),
    database_id: *b"0123456789abcdef",
    created_unix_s: 1_795_000_000,
};

fn record(expiry: Option<u32>) -> Arc<FileRecord> {
    Arc::new(FileRecord {
        size_bytes: u64::MAX,
        is_largest_exclusive: expiry.is_none(),
        smallest_seqno: SeqNo::ZERO,
        largest_seqno: SeqNo::MAX,
        entry_count: 1 << 40,
        delete_count: 7,
        range_delete_count: 1,
        newest_expiry_s: expiry,
        has_millis: expiry.is_some(),
        passing: expiry.map(|expiry_s| {
            let mut passing = Passing::default();
            passing.hold(SeqNo::new(9), 1 << 40, true);
            passing.expire(expiry_s, 77);
            passing
        }),
        adoption: expiry.map(|_| Adoption {
            number: FileNumber(u64::MAX),
            smallest_seqno: SeqNo::new(1),
        }),
        ..plain_file::record(300, b"", &[0xff; 300])
    })
}

fn settings() -> SettingsText {
    let pairs = [("sst.block_size", "16384"), ("ttl", ""), ("ü", "ß")];
    pairs
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .into()
}

// One of every kind, and of every optional part.
fn every_change() -> Edit {
    let keyspace = KeyspaceId(u32::MAX);
    let bottom = Level::all().next_back().unwrap();
    let number = FileNumber(u64::MAX);
    vec![
        Change::SetFormat { version: 1 },
        Change::CreateKeyspace {
            id: keyspace,
            name: "a".repeat(255),
            comparator_name: "bytewise".into(),
            merge_name: Some("uint64add".into()),
            settings: settings(),
        },
        Change::ChangeSettings {
            id: keyspace,
            settings: SettingsText::new(),
            merge_name: None,
        },
        Change::AddFile {
            keyspace,
            level: Level::ZERO,
            run: 9,
            record: record(None),
        },
        Change::AddFile {
            keyspace,
            level: bottom,
            run: 0,
            record: record(Some(u32::MAX)),
        },
        Change::RemoveFile {
            keyspace,
            level: bottom,
            number,
        },
        Change::SetFlushed {
            keyspace,
            seqno: SeqNo::MAX,
        },
        Change::SetFirstLog { number },
        Change::SetNextFile { number },
        Change::SetLastSeqno { seqno: SeqNo::MAX },
        Change::SetNextKeyspace { id: keyspace },
        Change::DropKeyspace { id: keyspace },
    ]
}

#[test]
fn every_change_comes_back_as_it_was() {
    // Alone, all together, and in a snapshot.
    let all = every_change();
    for change in &all {
        let one = vec![change.clone()];
        assert_eq!(decode_edit(&encode_edit(&one)).unwrap().changes, one);
    }
    assert_eq!(decode_edit(&encode_edit(&all)).unwrap().changes, all);
    let (head, edit) = decode_snapshot(&encode_snapshot(&HEAD, &all)).unwrap();
    assert_eq!((head, edit.changes), (HEAD, all));
}

#[test]
fn a_cut_record_is_a_prefix_of_changes_or_an_error() {
    // Whatever the length: no panic, and no change that was not written.
    let all = every_change();
    let bytes = encode_edit(&all);
    for len in 0..bytes.len() {
        if let Ok(edit) = decode_edit(&bytes[..len]) {
            assert!(all.starts_with(&edit.changes));
        }
    }
    let bytes = encode_snapshot(&HEAD, &all);
    for len in 0..bytes.len() {
        assert!(len > SNAPSHOT_HEAD_BYTES || decode_snapshot(&bytes[..len]).is_err() || len == 44);
    }
}

#[test]
fn flipped_bytes_never_panic() {
    // The log's checksum stands in front of this; the decoder must be safe without it.
    let bytes = encode_snapshot(&HEAD, &every_change());
    for index in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[index] ^= flip;
            let _either = decode_snapshot(&damaged);
        }
    }
}

#[test]
fn changes_of_a_newer_esker_are_skipped_or_refused() {
    // The tag's high bit says which: an optional one is counted, a required one is an error
    // that tells the reader what to do.
    let optional = [0xfe, 3, 1, 2, 3, 0x07, 1, 5];
    let edit = decode_edit(&optional).unwrap();
    assert_eq!(edit.skipped_count, 1);
    let number = FileNumber(5);
    assert_eq!(edit.changes, [Change::SetNextFile { number }]);
    let error = decode_edit(&[0x7e, 0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("newer Esker"));
    let head = SnapshotHead {
        format_version: FORMAT_NEWEST + 1,
        ..HEAD
    };
    let error = decode_snapshot(&encode_snapshot(&head, &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn bodies_that_break_a_rule_are_corruption() {
    // A longer body, a level that is not, a run below level 0, a setting told twice, a flag
    // that no version has.
    let bad: [&[u8]; 6] = [
        &[0x07, 2, 5, 0],
        &[0x02, 3, 0, 7, 1],
        &[0x01, 14, 0, 1, 4, 1, 1, 0, 1, b'a', 1, b'b', 1, 1, 1, 0],
        &[0x05, 10, 0, 0, 2, 1, b'a', 0, 1, b'a', 0, 0],
        &[0x01, 15, 0, 0, 4, 1, 1, 4, 1, b'a', 1, b'b', 1, 1, 1, 0, 0],
        &[0x04, 6, 0xff, 0xff, 0xff, 0xff, 0x7f, 0],
    ];
    for bytes in bad {
        let error = decode_edit(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{bytes:x?}");
    }
}

#[test]
fn current_is_valid_only_to_the_byte() {
    // A flipped digit must not lead to another manifest, nor to another mark.
    let front = encode_current(FileNumber(3));
    assert!(front.starts_with("MANIFEST-000003 "));
    let told = |durable_end| {
        Some(Current {
            manifest: FileNumber(3),
            durable_end,
        })
    };
    assert_eq!(decode_current(front.as_bytes()), told(0));
    let contents = front.clone() + &encode_mark(FileNumber(3), 1234);
    assert_eq!(decode_current(contents.as_bytes()), told(1234));
    for index in 0..contents.len() {
        let expected = match index < front.len() {
            true => None,
            false => told(0),
        };
        for bit in 0..8 {
            let mut damaged = contents.clone().into_bytes();
            damaged[index] ^= 1 << bit;
            assert_eq!(decode_current(&damaged), expected, "bit {bit} of {index}");
        }
        assert_eq!(decode_current(&contents.as_bytes()[..index]), expected);
    }
}

#[test]
fn marks_are_of_one_length_and_of_one_manifest() {
    // They are written over in place; and that of an earlier CURRENT says nothing of this one.
    let lengths = [0, 1, u64::from(u32::MAX)].map(|end| encode_mark(FileNumber(3), end).len());
    assert_eq!(lengths, [20; 3]);
    let contents = encode_current(FileNumber(4)) + &encode_mark(FileNumber(3), 1234);
    assert_eq!(decode_current(contents.as_bytes()).unwrap().durable_end, 0);
}
