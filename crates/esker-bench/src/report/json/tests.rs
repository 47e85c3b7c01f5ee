//! Tests of records in files.

use super::*;
use crate::fail::FailureKind;
use crate::report::machine::Machine;
use crate::report::record::Measurement;

fn record() -> Record {
    Record {
        format: FORMAT.into(),
        version: VERSION,
        tool: "db_bench leveldb".into(),
        command: vec!["--num=1".into()],
        commit: "abc".into(),
        is_optimised: true,
        started_unix_s: 1,
        machine: Machine::default(),
        verdicts: Vec::new(),
        history: Vec::new(),
        measurements: vec![Measurement {
            name: "fillseq".into(),
            ops_per_s: 1.5,
            ..Measurement::default()
        }],
    }
}

#[test]
fn what_is_written_is_read_back() {
    // Twice over the same name; nothing else is left in the directory.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    check_writable(&path).unwrap();
    write(&path, &record()).unwrap();
    write(&path, &record()).unwrap();
    assert_eq!(read(&path).unwrap(), record());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn halves_and_strangers_are_told_apart() {
    // Each wrong file has its own message, and is the user's mistake.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    write(&path, &record()).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    let half = &whole[..whole.len() / 2];
    let newer = whole.replace("\"version\": 1", "\"version\": 2");
    let lacking = whole.replace("\"commit\": \"abc\",", "");
    for (text, told) in [
        (half, "written only in part"),
        ("", "written only in part"),
        ("name = 1", "is no JSON"),
        ("{\"a\": 1}", "is no record"),
        (&newer, "version 2"),
        (&lacking, "commit"),
    ] {
        fs::write(&path, text).unwrap();
        let failure = read(&path).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage);
        assert!(failure.message.contains(told), "{}", failure.message);
    }
    assert!(read(&dir.path().join("none")).is_err());
    assert!(check_writable(&dir.path().join("no/such")).is_err());
    assert!(check_writable(dir.path()).is_err());
}
