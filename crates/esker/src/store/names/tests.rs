//! Tests of the grammar of file names.

use super::*;

#[test]
fn every_name_reads_back() {
    // What Display writes, parse takes, for small, padded and largest numbers.
    for number in [0, 5, 999_999, 1_000_000, u64::MAX].map(FileNumber) {
        for name in [
            FileName::Sst(number),
            FileName::Wal(number),
            FileName::Vlog(number),
            FileName::Temporary(number),
            FileName::Manifest(number),
        ] {
            assert_eq!(FileName::parse(&name.to_string()), Some(name));
            assert_eq!(name.number(), Some(number));
        }
    }
    for name in [
        FileName::Current,
        FileName::CurrentTemporary,
        FileName::CheckpointTemporary,
        FileName::Lock,
    ] {
        assert_eq!(FileName::parse(&name.to_string()), Some(name));
        assert_eq!(name.number(), None);
    }
    assert_eq!(FileName::Wal(FileNumber(123)).to_string(), "000123.wal");
    assert_eq!(
        FileName::Manifest(FileNumber(5)).to_string(),
        "MANIFEST-000005"
    );
}

#[test]
fn strangers_are_not_ours() {
    // Second spellings of a number, numbers beyond 64 bits and other people's files.
    for name in [
        "",
        ".",
        "123.sst",
        "0000123.sst",
        "+00123.sst",
        "-00123.sst",
        "00012a.sst",
        "000123.SST",
        "000123.sst.tmp",
        "000123.",
        "000123",
        ".sst",
        "18446744073709551616.sst",
        "MANIFEST-",
        "MANIFEST-5",
        "MANIFEST-000005.tmp",
        "manifest-000005",
        "CURRENT ",
        "current",
        "LOCK.tmp",
        "00012\u{664}.sst",
    ] {
        assert_eq!(FileName::parse(name), None, "{name:?}");
    }
}
