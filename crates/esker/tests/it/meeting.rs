//! Two databases that meet: moved, restored over, opened through links, files exchanged.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use esker::internals::env::bundle::Env;
use esker::{Builder, Db, ErrorKind};

fn builder(path: &Path) -> Builder {
    let settings = [("memory_limit", "16MiB"), ("wal.segment_size", "256KiB")];
    settings.iter().fold(
        Db::builder(path).env(Env::real(2)),
        |builder, (name, text)| builder.set(name, text).unwrap(),
    )
}

fn open(path: &Path) -> Db {
    builder(path).open().unwrap()
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    (dir, path)
}

// Writes under the name, more than a log segment, and some of it to sorted files.
fn write(db: &Db, name: &str) {
    for index in 0..400 {
        db.put(format!("{name} {index:03}"), vec![b'v'; 2_000])
            .unwrap();
    }
    db.flush().unwrap();
    db.put(format!("{name} last"), "in the log").unwrap();
}

fn count(db: &Db, name: &str) -> usize {
    let prefix = format!("{name} ");
    let rows = db.iter().unwrap().map(|row| row.unwrap().0);
    rows.filter(|key| key.starts_with(prefix.as_bytes()))
        .count()
}

fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(dir).unwrap().map(Result::unwrap);
    let files = files.filter(|file| file.path().is_file());
    let mut all: Vec<_> = files
        .map(|file| {
            let bytes = fs::read(file.path()).unwrap();
            (file.file_name().into_string().unwrap(), bytes)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_database_that_was_moved_away_leaves_its_successor_alone() {
    // Its directory gets another name while it is open, and a new database its path.
    let (dir, path) = place();
    let moved = open(&path);
    write(&moved, "first");
    fs::rename(&path, dir.path().join("moved")).unwrap();
    let successor = open(&path);
    write(&successor, "second");
    successor.close().unwrap();
    let before = contents(&path);
    write(&moved, "more");
    moved.compact::<&[u8]>(..).unwrap();
    assert_eq!((count(&moved, "first"), count(&moved, "more")), (401, 401));
    moved.close().unwrap();
    assert!(contents(&path) == before, "the successor was written to");
    let successor = open(&path);
    assert_eq!(
        (count(&successor, "second"), count(&successor, "more")),
        (401, 0)
    );
    let moved = open(&dir.path().join("moved"));
    assert_eq!((count(&moved, "first"), count(&moved, "more")), (401, 401));
    assert!(moved.verify().unwrap().is_whole());
}

#[test]
fn a_database_that_another_was_restored_over_writes_no_more() {
    // Its files are removed under it, and those of a backup put there, with a LOCK or without.
    for has_lock in [false, true] {
        let (dir, path) = place();
        let backup = dir.path().join("backup");
        let other = open(&backup);
        write(&other, "other");
        other.close().unwrap();
        let db = open(&path);
        write(&db, "own");
        for entry in fs::read_dir(&path).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (name, bytes) in contents(&backup) {
            if has_lock || name != "LOCK" {
                fs::write(path.join(name), bytes).unwrap();
            }
        }
        let before = contents(&path);
        let error = db.flush().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Faulted, "{error}");
        assert!(error.to_string().contains("taken over"), "{error}");
        assert!(db.put("own", "after").is_err());
        // What closing says is not ours to ask here: it may well fail.
        let _ = db.close();
        drop(db);
        assert!(contents(&path) == before, "the restored files were changed");
        let restored = open(&path);
        assert_eq!(
            (count(&restored, "other"), count(&restored, "own")),
            (401, 0)
        );
        assert!(restored.verify().unwrap().is_whole());
    }
}

#[test]
fn a_database_is_opened_once_whatever_leads_to_it() {
    // By a link to its directory, and by a copy whose files are the same by hard links.
    let (dir, path) = place();
    let db = open(&path);
    write(&db, "own");
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    let error = builder(&link).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    db.close().unwrap();
    drop(db);
    let db = open(&link);
    assert_eq!(count(&db, "own"), 401);
    db.close().unwrap();
    drop(db);
    let copy = dir.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for (name, _) in contents(&path) {
        fs::hard_link(path.join(&name), copy.join(&name)).unwrap();
    }
    let (db, twin) = (open(&path), open(&copy));
    write(&db, "here");
    write(&twin, "there");
    assert_eq!((count(&db, "here"), count(&db, "there")), (401, 0));
    assert_eq!((count(&twin, "here"), count(&twin, "there")), (0, 401));
}

#[test]
fn no_file_of_a_database_is_followed_out_of_its_directory() {
    // Each file in turn is a link to one elsewhere: refused, and what it leads to stays.
    let (dir, path) = place();
    let db = open(&path);
    write(&db, "own");
    let kept = dir.path().join("kept");
    fs::create_dir(&kept).unwrap();
    for (name, bytes) in contents(&path) {
        fs::write(kept.join(name), bytes).unwrap();
    }
    drop(db);
    let outside = dir.path().join("outside");
    for (name, bytes) in contents(&kept) {
        fs::remove_dir_all(&path).unwrap();
        fs::create_dir(&path).unwrap();
        for (other, bytes) in contents(&kept)
            .into_iter()
            .filter(|(other, _)| *other != name)
        {
            fs::write(path.join(other), bytes).unwrap();
        }
        fs::write(&outside, &bytes).unwrap();
        symlink(&outside, path.join(&name)).unwrap();
        let opened = builder(&path).open().and_then(|db| {
            db.iter()?.try_for_each(|row| row.map(drop))?;
            db.put("own", "after")?;
            db.close()
        });
        assert!(fs::read(&outside).unwrap() == bytes, "{name} was followed");
        if name == "LOCK" || name == "CURRENT" || name.starts_with("MANIFEST") {
            let error = opened.unwrap_err();
            assert!(
                error.to_string().contains("symbolic link"),
                "{name}: {error}"
            );
        }
    }
}

// Takes away what says which files count.
fn lose_manifest(dir: &Path) {
    for (name, _) in contents(dir) {
        if name == "CURRENT" || name.starts_with("MANIFEST") {
            fs::remove_file(dir.join(name)).unwrap();
        }
    }
}

#[test]
fn without_a_manifest_the_files_of_two_databases_are_not_mixed() {
    // A file of another database lies among ours, and the manifest is lost: a repair refuses to
    // guess, names both, and goes on once the other is away. What is left of a manifest says it,
    // too, and then the file is taken out.
    let (dir, path) = place();
    let other = dir.path().join("other");
    for (path, name, rounds) in [(&path, "ours", 1), (&other, "theirs", 8)] {
        let db = open(path);
        (0..rounds).for_each(|_| write(&db, name));
        db.close().unwrap();
    }
    // A number that we have not given out, which the file has in it.
    let name = sorted_files(&other).pop().unwrap();
    let (source, stray) = (other.join(&name), path.join(&name));
    assert!(!stray.exists());
    fs::copy(&source, &stray).unwrap();
    lose_manifest(&path);
    let before = contents(&path);
    let wet = esker::RepairOptions::default();
    let error = esker::repair(&path, wet).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(&name), "{error}");
    let files = |all: Vec<(String, Vec<u8>)>| all.into_iter().filter(|(name, _)| name != "LOCK");
    assert!(
        files(contents(&path)).eq(files(before)),
        "nothing is changed"
    );
    fs::remove_file(&stray).unwrap();
    esker::repair(&path, wet).unwrap();
    let db = open(&path);
    assert_eq!((count(&db, "ours"), count(&db, "theirs")), (401, 0));
    write(&db, "more");
    db.close().unwrap();

    assert!(!stray.exists());
    fs::copy(&source, &stray).unwrap();
    let (manifest, mut bytes) = contents(&path)
        .into_iter()
        .find(|(name, _)| name.starts_with("MANIFEST"))
        .unwrap();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[last - 1] ^= 1;
    fs::write(path.join(manifest), bytes).unwrap();
    fs::remove_file(path.join("CURRENT")).unwrap();
    let report = esker::repair(&path, wet).unwrap();
    let told = report.to_string();
    assert!(told.contains("of another database"), "{told}");
    assert!(!stray.exists() && path.join("lost").join(&name).exists());
    let db = open(&path);
    assert_eq!((count(&db, "ours"), count(&db, "theirs")), (401, 0));
    assert_eq!(count(&db, "more"), 401);
}

#[test]
fn a_checkpoint_is_of_the_same_line_as_its_origin() {
    // Linked files and new ones, without a manifest: one database.
    let (dir, path) = place();
    let copy = dir.path().join("copy");
    let db = open(&path);
    write(&db, "first");
    db.checkpoint(&copy).unwrap();
    db.close().unwrap();
    let db = open(&copy);
    write(&db, "second");
    db.close().unwrap();
    lose_manifest(&copy);
    esker::repair(&copy, esker::RepairOptions::default()).unwrap();
    let db = open(&copy);
    assert_eq!((count(&db, "first"), count(&db, "second")), (401, 401));
}

#[test]
fn the_folder_of_what_was_lost_is_not_followed_out_of_the_directory() {
    // A link in its place: neither a recovery nor a repair writes through it, and both say so.
    for is_repair in [false, true] {
        let (dir, path) = place();
        let db = open(&path);
        for index in 0..30 {
            db.put(format!("own {index:05}"), "in the log").unwrap();
        }
        std::mem::forget(db);
        let copy = dir.path().join("copy");
        fs::create_dir(&copy).unwrap();
        for (name, mut bytes) in contents(&path) {
            let text = b"own 00010";
            let at = bytes.windows(text.len()).position(|window| window == text);
            if let (Some(at), true) = (at, name.ends_with(".wal")) {
                bytes[at] ^= 1;
            }
            fs::write(copy.join(name), bytes).unwrap();
        }
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        symlink(&outside, copy.join("lost")).unwrap();
        let error = match is_repair {
            true => esker::repair(&copy, esker::RepairOptions::default()).map(drop),
            false => builder(&copy).open().map(drop),
        };
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        let error = error.unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
    }
}

// The sorted files of a database, in order.
fn sorted_files(dir: &Path) -> Vec<String> {
    let names = contents(dir).into_iter().map(|(name, _)| name);
    names.filter(|name| name.ends_with(".sst")).collect()
}

// A database of these rows, and another of the others in which a file has the number that the
// first one's has: its name.
fn twins(path: &Path, rows: &[String], others: &[String]) -> (PathBuf, PathBuf, String) {
    let make = |dir: &Path, rows: &[String]| {
        let db = open(dir);
        for row in rows {
            db.put(row, "value").unwrap();
        }
        db.close().unwrap();
    };
    let mine = path.with_extension("mine");
    make(&mine, rows);
    let name = sorted_files(&mine).pop().unwrap();
    // A segment of the log that is prepared meanwhile takes a number before the file or after it.
    for attempt in 0..100 {
        let other = path.with_extension(format!("other{attempt}"));
        make(&other, others);
        if sorted_files(&other).contains(&name) {
            return (mine, other, name);
        }
    }
    panic!("of 100 databases none has {name}");
}

#[test]
fn a_file_of_another_database_is_refused() {
    // Of one that did the same with keys and values of the same lengths, so that numbers, sizes
    // and sequence numbers are alike; and of one that wrote more.
    let rows = |name: &str, count| -> Vec<String> {
        (0..count).map(|row| format!("{name} {row:03}")).collect()
    };
    let mine_rows = rows("mine", 40);
    for others in [rows("othr", 40), rows("mine", 43)] {
        let (_dir, path) = place();
        let (mine, other, name) = twins(&path, &mine_rows, &others);
        let file = mine.join(&name);
        let whole = fs::read(&file).unwrap();
        fs::copy(other.join(&name), &file).unwrap();

        let refused = |error: esker::Error| {
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
            let text = error.to_string();
            assert!(text.contains(&name), "{text}");
            assert!(text.contains("another file"), "{text}");
            assert!(text.contains("esker repair"), "{text}");
        };
        // Where opening does not see it, reading does.
        match builder(&mine).open() {
            Err(error) => refused(error),
            Ok(db) => {
                for row in &mine_rows {
                    refused(db.get(row).unwrap_err());
                }
                refused(db.iter().unwrap().find_map(Result::err).unwrap());
                assert_eq!(db.verify().unwrap().damages.len(), 1);
            }
        }
        // As for a damaged file, its rows are told as lost, and none of the other's comes in.
        let copy = path.with_extension("repaired");
        fs::create_dir(&copy).unwrap();
        for (name, bytes) in contents(&mine) {
            fs::write(copy.join(name), bytes).unwrap();
        }
        let report = esker::repair(&copy, esker::RepairOptions::default()).unwrap();
        assert!(!report.lost_files.is_empty(), "{report:?}");
        let db = open(&copy);
        assert_eq!(db.iter().unwrap().count(), 0);
        assert!(db.verify().unwrap().damages.is_empty());
        drop(db);

        fs::write(&file, whole).unwrap();
        assert_eq!(count(&open(&mine), "mine"), 40);
    }
}
