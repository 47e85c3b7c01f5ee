//! Limits of the process: the engine stays within them, and is whole again when they lift.
//!
//! A limit holds for a whole process, so each test runs in one of its own: this program again, with
//! the one test.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use esker::internals::env::bundle::Env;
use esker::{Builder, Db, ErrorKind, Keyspace, KeyspaceOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Names its directory to the child.
const CHILD_DIR: &str = "ESKER_LIMITS_DIR";

/// In the process that was started for the test: its directory. Elsewhere that process is started,
/// and has to succeed.
fn own_process(test: &str) -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os(CHILD_DIR) {
        return Some(PathBuf::from(dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("limits::{test}"), "--nocapture"])
        .env(CHILD_DIR, dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}", output.status);
    None
}

fn limit_files(soft: u64, hard: u64) {
    let limit = Rlimit {
        current: Some(soft),
        maximum: Some(hard),
    };
    setrlimit(Resource::Nofile, limit).unwrap();
}

fn builder(dir: &Path) -> Builder {
    let settings = [
        ("memory_limit", "16MiB"),
        ("wal.segment_size", "256KiB"),
        ("value_log.threshold", "1KiB"),
        ("value_log.segment_size", "64KiB"),
        ("compaction.automatic", "false"),
        ("background_threads", "1"),
    ];
    settings.iter().fold(
        Db::builder(dir.join("db")).env(Env::real(1)),
        |builder, (name, text)| builder.set(name, text).unwrap(),
    )
}

// Files below `dir` whose names end so that this process has open.
fn open_files(dir: &Path, ending: &str) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|path| path.starts_with(dir) && path.to_string_lossy().ends_with(ending))
        .collect()
}

// Every descriptor that is left, taken.
fn take_all_descriptors() -> Vec<File> {
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    assert!(!taken.is_empty());
    taken
}

const KEYSPACES: usize = 120;

fn value(index: usize, row: usize) -> Vec<u8> {
    // Every third row has a large one, in the value log.
    let len = if row.is_multiple_of(3) { 1_500 } else { 20 };
    format!("{index} {row} ").into_bytes().repeat(len / 5)
}

// A sorted file for each keyspace, and tens of segments of large values.
fn fill(dir: &Path) {
    let db = builder(dir).open().unwrap();
    for index in 0..KEYSPACES {
        let keyspace = db.keyspace(&format!("{index}")).unwrap();
        for row in 0..30 {
            keyspace
                .put(format!("{row:02}"), value(index, row))
                .unwrap();
        }
    }
    db.close().unwrap();
}

fn check_all(db: &Db) {
    for index in 0..KEYSPACES {
        let keyspace = db.existing_keyspace(&format!("{index}")).unwrap();
        let rows = keyspace.iter().unwrap().map(|row| row.unwrap().1.to_vec());
        assert!(rows.eq((0..30).map(|row| value(index, row))), "{index}");
        let got = keyspace.get("03").unwrap().unwrap();
        assert!(*got == value(index, 3), "{index}");
    }
}

#[test]
fn a_database_of_more_files_than_the_process_may_open_is_written_and_read() {
    // 120 keyspaces and 80 descriptors: for writing, reading, and reading beside the writer.
    let Some(dir) =
        own_process("a_database_of_more_files_than_the_process_may_open_is_written_and_read")
    else {
        return;
    };
    limit_files(80, 80);
    fill(&dir);
    let db = builder(&dir).open().unwrap();
    check_all(&db);
    let beside = builder(&dir).read_only(true).open().unwrap();
    check_all(&beside);
    check_all(&db);
    drop((db, beside));
    let beside = builder(&dir).read_only(true).open().unwrap();
    check_all(&beside);
}

// Two threads that open files may leave none to each other, but not for ever.
fn flush_in_the_end(db: &Db) {
    const TRIES_MAX: usize = 100;
    for _ in 0..TRIES_MAX {
        match db.flush_all() {
            Ok(()) => return,
            Err(error) => assert_eq!(error.kind(), ErrorKind::OutOfFiles, "{error}"),
        }
    }
    panic!("no try had files enough");
}

#[test]
fn more_unlogged_keyspaces_than_the_process_may_open_files_are_written_to() {
    // Each begins segments of its own, which stay open until they are synced; nothing is logged.
    let Some(dir) =
        own_process("more_unlogged_keyspaces_than_the_process_may_open_files_are_written_to")
    else {
        return;
    };
    limit_files(80, 80);
    let builder = builder(&dir).set("value_flush_bytes", "256KiB").unwrap();
    let db = builder.open().unwrap();
    let replicas: Vec<_> = (0..KEYSPACES)
        .map(|index| {
            let options = KeyspaceOptions {
                is_unlogged: true,
                value_threshold_bytes: 1 << 10,
                ..KeyspaceOptions::default()
            };
            db.keyspace_with(&format!("{index}"), options).unwrap()
        })
        .collect();
    for row in 0..30 {
        for (index, replica) in replicas.iter().enumerate() {
            let key = format!("{row:02}");
            replica.put(key, value(index, row)).unwrap();
        }
        if row % 10 == 9 {
            flush_in_the_end(&db);
        }
    }
    assert_eq!(db.stats().state, "open");
    check_all(&db);
    db.close().unwrap();
    check_all(&self::builder(&dir).open().unwrap());
}

#[test]
fn no_more_files_stay_open_than_the_setting_says() {
    // Sixteen sorted files and a quarter as many segments, whoever opened the database how.
    let Some(dir) = own_process("no_more_files_stay_open_than_the_setting_says") else {
        return;
    };
    fill(&dir);
    for is_read_only in [false, true] {
        let builder = builder(&dir).set("files.open_max", "16").unwrap();
        let db = builder.read_only(is_read_only).open().unwrap();
        check_all(&db);
        let sorted = open_files(&dir, ".sst");
        assert!(sorted.len() <= 16, "{is_read_only}: {sorted:?}");
        let segments = open_files(&dir, ".vlog");
        assert!(segments.len() <= 5, "{is_read_only}: {segments:?}");
    }
}

#[test]
fn the_soft_limit_is_raised_as_far_as_it_is_needed() {
    // A shell's 64, while 4 096 are allowed: the setting decides, and nothing beyond it.
    let Some(dir) = own_process("the_soft_limit_is_raised_as_far_as_it_is_needed") else {
        return;
    };
    limit_files(64, 4_096);
    let builder = builder(&dir).set("files.open_max", "1000").unwrap();
    let db = builder.open().unwrap();
    let now = getrlimit(Resource::Nofile).current.unwrap();
    assert!((1_250..1_700).contains(&now), "{now}");
    db.set("files.open_max", "1000000").unwrap();
    assert_eq!(getrlimit(Resource::Nofile).current, Some(4_096));
}

fn write_until_refused(keyspace: &Keyspace, len: usize) -> (u32, esker::Error) {
    for index in 0..100_000u32 {
        if let Err(error) = keyspace.put(index.to_be_bytes(), vec![b'v'; len]) {
            return (index, error);
        }
    }
    panic!("nothing was refused");
}

#[test]
fn a_write_without_a_descriptor_fails_and_the_next_one_passes() {
    // The program has taken every descriptor. A new segment of the log, or of the value log,
    // cannot be made; nothing is torn by that, so when there are descriptors again all goes on.
    let Some(dir) = own_process("a_write_without_a_descriptor_fails_and_the_next_one_passes")
    else {
        return;
    };
    limit_files(100, 100);
    let mut counts = Vec::new();
    let db = builder(&dir).open().unwrap();
    for (name, len) in [("small", 500), ("large", 5_000)] {
        let keyspace = db.keyspace(name).unwrap();
        db.sync().unwrap();
        let taken = take_all_descriptors();
        let (count, error) = write_until_refused(&keyspace, len);
        assert_eq!(error.kind(), ErrorKind::OutOfFiles, "{error}");
        assert!(
            error.is_retryable() && error.to_string().contains("ulimit"),
            "{error}"
        );
        if let Err(error) = keyspace.flush() {
            assert_eq!(error.kind(), ErrorKind::OutOfFiles, "{error}");
        }
        assert_eq!(db.stats().state, "open");
        drop(taken);
        keyspace.put("again", "and again").unwrap();
        keyspace.flush().unwrap();
        counts.push((name, count));
    }
    db.close().unwrap();
    let db = builder(&dir).open().unwrap();
    for (name, count) in counts {
        let keyspace = db.existing_keyspace(name).unwrap();
        assert_eq!(keyspace.iter().unwrap().count(), count as usize + 1);
    }
}

#[test]
fn files_that_nobody_uses_give_way() {
    // All descriptors are taken, but the engine keeps files open for later: they are closed, in
    // this and in every other database of the process, and nobody hears of a shortage.
    let Some(dir) = own_process("files_that_nobody_uses_give_way") else {
        return;
    };
    limit_files(400, 400);
    fill(&dir);
    let idle = builder(&dir).open().unwrap();
    check_all(&idle);
    let other = dir.join("other");
    fs::create_dir(&other).unwrap();
    let busy = builder(&other).open().unwrap();
    let idle_files = || open_files(&dir.join("db"), ".vlog").len();
    let before = idle_files();
    let taken = take_all_descriptors();
    for round in 0..10u32 {
        let large = vec![b'v'; 50_000];
        busy.put(round.to_be_bytes(), large).unwrap();
        busy.flush().unwrap();
    }
    assert_eq!(busy.iter().unwrap().count(), 10);
    drop(taken);
    assert!(idle_files() < before, "{before}");
    check_all(&idle);
}

/// Makes a disk of its own in a mount namespace of its own, and runs the test there; 77 where the
/// machine does not let it. Without delayed allocation ext4 needs its journal for the first store
/// to a page, and so refuses it once the journal has failed.
const ON_OWN_DISK: &str = r#"
truncate -s 256M "$1/img" && mkfs.ext4 -q -F "$1/img" && mkdir "$1/mnt" || exit 77
mount -o loop,nodelalloc "$1/img" "$1/mnt" || exit 77
ESKER_LIMITS_DIR="$1/mnt" "$2" --exact "limits::$3" --nocapture
code=$?
umount "$1/mnt"
exit $code
"#;

#[test]
fn a_disk_that_fails_and_becomes_read_only_is_an_error_and_no_signal() {
    // As after an error of the disk. The log is written through a map, and the file system answers
    // a store to a page that was never written with a signal, which used to end the process. The
    // write fails instead, with the cause; what was written before can be read, then and after the
    // disk is well again (here it stays read-only, so it is opened so).
    let test = "a_disk_that_fails_and_becomes_read_only_is_an_error_and_no_signal";
    let Some(dir) = std::env::var_os(CHILD_DIR).map(PathBuf::from) else {
        let dir = tempfile::tempdir().unwrap();
        let output = Command::new("unshare")
            .args(["--mount", "sh", "-c", ON_OWN_DISK, "sh"])
            .arg(dir.path())
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .output();
        let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output {
            Ok(output) if output.status.success() => {}
            // 1 is what `unshare` itself ends with; a test that fails ends with 101.
            Ok(output) if matches!(output.status.code(), Some(1 | 77)) => {
                println!(
                    "passed over: no disk can be mounted here: {}",
                    told(&output.stderr)
                );
            }
            Ok(output) => panic!("{}: {}", output.status, told(&output.stderr)),
            Err(cause) => println!("passed over: there is no unshare: {cause}"),
        }
        return;
    };
    let db = builder(&dir).open().unwrap();
    db.put("before", "value").unwrap();
    db.sync().unwrap();
    let aborted = Command::new("mount")
        .args(["-o", "remount,abort"])
        .arg(&dir)
        .status();
    assert!(aborted.unwrap().success());
    // Within one segment of the log, so that no other call fails first.
    let writes = (0..100).map(|row| db.put(format!("after {row}"), vec![7; 1_000]));
    let error = writes.fold(Ok(()), Result::and).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Faulted, "{error}");
    assert!(error.to_string().contains("Read-only"), "{error}");
    let later = db.put("later", "value").unwrap_err();
    assert_eq!(later.kind(), ErrorKind::Faulted);
    assert_eq!(db.get("before").unwrap().unwrap(), b"value");
    drop(db);
    let db = builder(&dir).read_only(true).open().unwrap();
    assert_eq!(db.get("before").unwrap().unwrap(), b"value");
}
