//! Tests of `current`.

use super::*;
use crate::store::version::crash_disk::CrashDisk;

fn kind_and_text(fs: &CrashDisk) -> (ErrorKind, String) {
    let error = read_current(&*fs.fs(), CrashDisk::dir()).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn every_wrong_current_has_its_own_message() {
    // Nothing there, a lost CURRENT, another engine's, an empty one, and garbage.
    let fs = CrashDisk::new(1);
    let (kind, text) = kind_and_text(&fs);
    assert_eq!(kind, ErrorKind::Invalid);
    assert!(text.contains("no database"), "{text}");

    fs.put("000007.sst", b"");
    let (kind, text) = kind_and_text(&fs);
    assert_eq!(kind, ErrorKind::Corruption);
    assert!(
        text.contains("000007.sst") && text.contains("esker repair"),
        "{text}"
    );

    fs.put("CURRENT", b"MANIFEST-000004\n");
    let (kind, text) = kind_and_text(&fs);
    assert_eq!(kind, ErrorKind::Unsupported);
    assert!(text.contains("LevelDB"), "{text}");

    // With a manifest of ours beside it, it is ours and has lost something.
    fs.put("MANIFEST-000004", b"12345678901eskermf\n");
    let (kind, text) = kind_and_text(&fs);
    assert_eq!(kind, ErrorKind::Corruption);
    assert!(
        text.contains("checksum") && text.contains("esker repair"),
        "{text}"
    );

    for contents in [
        vec![],
        vec![0; 27],
        vec![b'x'; 100_000],
        b"MANIFEST-1 00\n".to_vec(),
    ] {
        fs.put("CURRENT", &contents);
        let (kind, text) = kind_and_text(&fs);
        assert_eq!(kind, ErrorKind::Corruption);
        assert!(
            text.contains("file CURRENT") && text.contains("esker repair"),
            "{text}"
        );
    }
}

#[test]
fn an_unfinished_creation_is_no_database() {
    // A crash before the first CURRENT leaves a manifest and nothing that would be lost.
    let fs = CrashDisk::new(1);
    fs.put("MANIFEST-000001", &[1; 100]);
    assert_eq!(kind_and_text(&fs).0, ErrorKind::Invalid);
}

#[test]
fn what_was_swapped_in_is_read_back() {
    // The draft counts only after the swap.
    let fs = CrashDisk::new(1);
    let disk = fs;
    let fs = disk.fs();
    let dir = CrashDisk::dir();
    draft_current(&*fs, dir, FileNumber(5), 70).unwrap();
    assert!(read_current(&*fs, dir).is_err());
    swap_current(&*fs, dir).unwrap();
    let says = |durable_end| Current {
        manifest: FileNumber(5),
        durable_end,
    };
    assert_eq!(read_current(&*fs, dir).unwrap(), says(70));
    mark_current(&*fs, dir, FileNumber(5), 1000).unwrap();
    assert_eq!(read_current(&*fs, dir).unwrap(), says(1000));
    assert_eq!(disk.get("CURRENT.tmp"), None);
}
