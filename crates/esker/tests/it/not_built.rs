//! A build without some compressor, and a database that one with all of them wrote.
//!
//! `tests/fixtures/format-1` has files of every compression: whichever is missing here, some of
//! them cannot be read. They are whole all the same, and nobody may say or do otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::db::inspect;
use esker::internals::env::sim::SimWorld;
use esker::{Db, Error, ErrorKind, RepairOptions, checkpoint_beside, repair};

const FIXTURE: &str = "tests/fixtures/format-1";

fn missing() -> impl Iterator<Item = &'static str> {
    let missing = CompressionType::NAMES
        .iter()
        .filter(|(_, way)| !way.is_built());
    missing.map(|(name, _)| *name)
}

// A copy to work on, in the folder `db`.
fn copied() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("db");
    fs::create_dir(&target).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE);
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
    }
    dir
}

// Every file but the lock, which says who was here.
fn files(db: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(db).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|entry| entry.file_type().unwrap().is_file());
    let named = files.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    let kept = named.filter(|(name, _)| name != "LOCK" && !name.starts_with("MANIFEST"));
    kept.filter(|(name, _)| name != "CURRENT")
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

#[track_caller]
fn is_told<T>(done: Result<T, Error>) {
    let Err(error) = done else {
        panic!("it was done");
    };
    assert_eq!(error.kind(), ErrorKind::NotBuilt, "{error}");
    let is_named = |name| error.message().contains(&format!("feature `{name}`"));
    assert!(missing().any(is_named), "{error}");
    assert!(
        error.file().is_some_and(|file| file.ends_with(".sst")),
        "{error}"
    );
}

#[test]
fn a_database_that_needs_what_is_missing_is_refused_whole() {
    // By every way of opening, with its own settings and with others; nothing of it changes.
    let dir = copied();
    let db = dir.path().join("db");
    let before = files(&db);
    is_told(Db::open(&db));
    is_told(Db::open_read_only(&db));
    is_told(Db::builder(&db).set("compression", "none").unwrap().open());
    assert!(files(&db) == before);
}

#[test]
fn a_checkpoint_of_it_is_whole() {
    // Files are copied as they are: nothing of them has to be uncompressed.
    let dir = copied();
    let (db, copy) = (dir.path().join("db"), dir.path().join("copy"));
    checkpoint_beside(&db, &copy).unwrap();
    let ssts = |dir| {
        let mut files = files(dir);
        files.retain(|name, _| name.ends_with(".sst"));
        files
    };
    assert!(!ssts(&copy).is_empty());
    assert!(
        ssts(&copy)
            .iter()
            .all(|(name, bytes)| ssts(&db)[name] == *bytes)
    );
    is_told(Db::open(&copy));
}

#[test]
fn repair_does_not_take_such_files_for_damaged() {
    // Not as they are, not with the manifest gone, and not where one of them is damaged as well:
    // nothing is saved, lost, or moved away.
    let dry = [true, false].map(|dry_run| RepairOptions { dry_run });
    let dir = copied();
    let db = dir.path().join("db");
    for harm in ["none", "a byte of a block", "a cut end", "no manifest"] {
        match harm {
            "a byte of a block" => flip(&db.join("000010.sst"), 40),
            "a cut end" => cut(&db.join("000011.sst"), 10),
            "no manifest" => fs::remove_file(db.join("MANIFEST-000001")).unwrap(),
            _ => {}
        }
        let before = files(&db);
        for options in dry {
            let repaired = repair(&db, options);
            let error = repaired.expect_err(harm);
            assert_eq!(error.kind(), ErrorKind::NotBuilt, "{harm}: {error}");
            assert!(files(&db) == before, "{harm}");
            assert!(!db.join("lost").exists(), "{harm}");
        }
    }
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn cut(path: &Path, count: usize) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() - count]).unwrap();
}

#[test]
fn a_file_is_opened_only_where_it_can_be_uncompressed() {
    // Each file of the fixture is either shown whole or refused by the name of what it needs.
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE);
    let (mut shown, mut refused) = (0, 0);
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "sst") {
            continue;
        }
        match inspect::sst::sst(&path) {
            Ok(contents) => {
                shown += 1;
                assert!(contents.blocks.iter().all(|block| block.damage.is_none()));
            }
            error => {
                refused += 1;
                is_told(error);
            }
        }
    }
    assert!(shown > 0 && refused > 0, "{shown} shown, {refused} refused");
}

#[test]
fn a_setting_that_names_it_is_refused_at_once() {
    // When a database is opened, when a keyspace is made, and while it is open; by its name, with
    // both remedies. What is there keeps working.
    let world = SimWorld::new(1);
    let builder = || Db::builder("db").env(world.env());
    let db = builder().open().unwrap();
    db.put("key", "value").unwrap();
    for name in missing() {
        for setting in ["compression", "sst.compression_upper"] {
            let opened = builder().set(setting, name).and_then(|it| it.open());
            let options = esker::KeyspaceOptions::default().set(setting, name);
            let made = options.and_then(|options| db.keyspace_with("other", options));
            let set = db.set(setting, name);
            let refusals = [opened.err(), made.err(), set.err()];
            for error in refusals.map(|error| error.expect("it names what is not there")) {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
                let start = format!("`{setting}` cannot be `{name}`: ");
                assert!(error.message().starts_with(&start), "{error}");
                let remedy = format!("build it with the feature `{name}`, or choose `none`");
                assert!(error.message().contains(&remedy), "{error}");
            }
        }
    }
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(db.get("key").unwrap().as_deref(), Some(&b"value"[..]));
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn profiles_and_defaults_take_what_is_there() {
    // Each profile opens, writes and reads; what a setting was left to is something that is built.
    for (profile, _) in esker::Profile::NAMES {
        let world = SimWorld::new(2);
        let builder = Db::builder("db").env(world.env());
        let db = builder.set("profile", profile).unwrap().open().unwrap();
        for number in 0..2000_u32 {
            let value = format!("the value of key number {number}");
            db.put(number.to_be_bytes(), value).unwrap();
        }
        db.compact::<&[u8]>(..).unwrap();
        assert_eq!(db.iter().unwrap().count(), 2000, "{profile}");
        assert!(db.verify().unwrap().is_whole(), "{profile}");
    }
}
