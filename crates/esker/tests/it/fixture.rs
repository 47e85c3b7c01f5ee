//! Databases that earlier versions of the program wrote: each is read whole, and written on.
//!
//! `tests/fixtures/format-1` was written by the first version. A fixture is never written again
//! once its format is released; until then
//! `cargo test -p esker --test it write_the_fixture -- --ignored` does it. It holds sorted files of
//! two levels, a log that was not flushed, every kind of entry, every compression, range deletes,
//! and three keyspaces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::base::hooks::merge_builtin::builtin;
use esker::internals::base::options::sst::Compression;
use esker::internals::base::types::kind::Kind;
use esker::internals::db::inspect;
use esker::internals::db::inspect::wal::WalItem;
use esker::internals::env::real::fs::RealFs;
use esker::internals::env::sim::SimWorld;
use esker::{Db, Keyspace, KeyspaceOptions};

/// A fixture lies in every clone for ever: kept small.
const FIXTURE_BYTES_MAX: u64 = 200 << 10;

/// Zeros kept at the end of a file that was allocated ahead: enough for readers to run into.
const ZEROS_KEPT: usize = 4 << 10;

/// The first second of 2026: what expired then has expired for every reader.
const WRITTEN_UNIX_S: u64 = 1_767_225_600;

/// How long a value lives that every reader still finds: until 2106, as long as can be.
const FOR_EVER: Duration = Duration::from_secs(1 << 40);

/// How long one lives that no reader finds.
const A_SECOND: Duration = Duration::from_secs(1);

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1")
}

type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

/// Tells the fixture's story, to a database where there is one, and notes what should be there.
struct Scribe {
    db: Option<Db>,
    expected: BTreeMap<&'static str, Contents>,
}

impl Scribe {
    fn new(db: Option<Db>) -> Scribe {
        Scribe {
            db,
            expected: BTreeMap::new(),
        }
    }

    fn create(&mut self, name: &'static str, options: KeyspaceOptions) {
        self.expected.insert(name, Contents::new());
        if let Some(db) = &self.db
            && name != "default"
        {
            db.keyspace_with(name, options).unwrap();
        }
    }

    fn on(&self, name: &str, act: impl FnOnce(&Keyspace) -> esker::Result<()>) {
        if let Some(db) = &self.db {
            act(&db.existing_keyspace(name).unwrap()).unwrap();
        }
    }

    fn contents(&mut self, name: &str) -> &mut Contents {
        self.expected.get_mut(name).unwrap()
    }

    fn put(&mut self, name: &str, key: &str, value: &str) {
        self.on(name, |keyspace| keyspace.put(key, value));
        self.contents(name).insert(key.into(), value.into());
    }

    fn put_for(&mut self, name: &str, key: &str, value: &str, ttl: Duration) {
        self.on(name, |keyspace| keyspace.put_with_ttl(key, value, ttl));
        self.contents(name).remove(key.as_bytes());
        if ttl == FOR_EVER {
            self.contents(name).insert(key.into(), value.into());
        }
    }

    fn delete(&mut self, name: &str, key: &str) {
        self.on(name, |keyspace| keyspace.delete(key));
        self.contents(name).remove(key.as_bytes());
    }

    fn delete_range(&mut self, name: &str, start: &str, end: &str) {
        self.on(name, |keyspace| keyspace.delete_range(start..end));
        let (start, end) = (start.as_bytes(), end.as_bytes());
        self.contents(name)
            .retain(|key, _| key[..] < *start || key[..] >= *end);
    }

    // In `default`, whose operator is `append:,`.
    fn append(&mut self, key: &str, operand: &str) {
        self.on("default", |keyspace| keyspace.merge(key, operand));
        let value = self.contents("default").entry(key.into()).or_default();
        if !value.is_empty() {
            value.push(b',');
        }
        value.extend_from_slice(operand.as_bytes());
    }

    // In `counters`, whose operator is `uint64add`.
    fn count(&mut self, key: &str, added: u64) {
        self.on("counters", |keyspace| {
            keyspace.merge(key, added.to_le_bytes())
        });
        let value = self.contents("counters").entry(key.into()).or_default();
        let before = <[u8; 8]>::try_from(&value[..]).map_or(0, u64::from_le_bytes);
        *value = (before + added).to_le_bytes().to_vec();
    }

    fn flush(&self) {
        for name in self.expected.keys() {
            self.on(name, Keyspace::flush);
        }
    }

    fn compact(&self) {
        for name in self.expected.keys() {
            self.on(name, |keyspace| keyspace.compact::<&[u8]>(..));
        }
    }

    // Everything, in three ages: the bottom, level 0, and the log alone.
    fn tell(&mut self) {
        let mut counters = KeyspaceOptions {
            merge: builtin("uint64add"),
            ..KeyspaceOptions::default()
        };
        counters.compaction.is_automatic = false;
        counters.sst.compression = Compression::Blocks(CompressionType::None);
        counters.sst.compression_upper = CompressionType::None;
        counters.sst.block_hash_index = false;
        counters.sst.filter_bits_per_key = 0.0;
        let mut names = KeyspaceOptions::default();
        names.compaction.is_automatic = false;
        names.sst.compression = Compression::Blocks(CompressionType::Snappy);
        names.sst.compression_upper = CompressionType::Snappy;
        self.create("default", KeyspaceOptions::default());
        self.create("counters", counters);
        self.create("names", names);

        for number in 0..200 {
            let key = format!("key{number:04}");
            self.put("default", &key, &format!("bottom {number}, and ").repeat(4));
            let name = format!("name/{}", number * 7919 % 1000);
            self.put("names", &name, &format!("number {number} of many"));
        }
        for number in 0..60 {
            self.count(&format!("n{}", number % 20), number);
        }
        self.append("list", "one");
        self.put_for("default", "long", "bottom, for ever", FOR_EVER);
        self.put_for("default", "short", "bottom, for a second", A_SECOND);
        self.put("default", "", "the empty key");
        self.put("default", "empty value", "");
        self.flush();
        // Overlaps the run before, which would else move to the bottom as it is.
        self.put("default", "key0100", "a second run");
        self.flush();
        self.compact();

        for number in (0..200).step_by(9) {
            self.put("default", &format!("key{number:04}"), "level 0");
        }
        for number in (1..200).step_by(11) {
            self.delete("default", &format!("key{number:04}"));
        }
        self.delete_range("default", "key0050", "key0080");
        self.put("default", "key0060", "in the gap");
        self.append("list", "two");
        self.append("born of a merge", "first");
        self.put_for("default", "key0061", "level 0, for ever", FOR_EVER);
        self.put_for("default", "key0062", "level 0, for a second", A_SECOND);
        self.delete_range("names", "name/1", "name/2");
        self.count("n3", 1_000);
        self.flush();

        self.put("default", "key0000", "log");
        self.delete("default", "key0003");
        self.append("list", "three");
        self.append("list", "four");
        self.delete_range("default", "key0150", "key0160");
        self.put_for("default", "key0155", "log, for ever", FOR_EVER);
        self.put_for("default", "key0156", "log, for a second", A_SECOND);
        self.count("n3", 10_000);
        self.count("new", 1);
        self.delete("counters", "n4");
        self.put("names", "name/15", "log");
    }
}

fn expected() -> BTreeMap<&'static str, Contents> {
    let mut scribe = Scribe::new(None);
    scribe.tell();
    scribe.expected
}

#[track_caller]
fn check(db: &Db) {
    let expected = expected();
    let names: Vec<&str> = vec!["counters", "default", "names"];
    assert_eq!(db.keyspaces(), names);
    for name in names {
        let keyspace = db.existing_keyspace(name).unwrap();
        let pair = |entry: esker::Result<(esker::Bytes, esker::Bytes)>| {
            let (key, value) = entry.unwrap();
            (key.to_vec(), value.to_vec())
        };
        let forward: Vec<_> = keyspace.iter().unwrap().map(pair).collect();
        let wanted: Vec<_> = expected[name].clone().into_iter().collect();
        same(name, &forward, &wanted);
        let mut backward: Vec<_> = keyspace.iter().unwrap().rev().map(pair).collect();
        backward.reverse();
        same(name, &backward, &wanted);
        for (key, value) in &wanted {
            assert_eq!(keyspace.get(key).unwrap().unwrap(), value[..]);
        }
    }
    for gone in ["short", "key0001", "key0055", "key0062", "key0156"] {
        assert!(db.get(gone).unwrap().is_none(), "{gone}");
    }
    let report = db.verify().unwrap();
    assert!(report.is_whole(), "{report:?}");
}

#[track_caller]
fn same(name: &str, found: &[(Vec<u8>, Vec<u8>)], wanted: &[(Vec<u8>, Vec<u8>)]) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found, wanted, "keyspace {name}");
    }
    assert_eq!(found.len(), wanted.len(), "keyspace {name}");
}

/// Makes a fixture of a database, in the place of the one that is there.
pub fn keep(database: &Path, fixture: &Path) {
    if fixture.exists() {
        fs::remove_dir_all(fixture).unwrap();
    }
    copy(database, fixture);
    cut_zeros(fixture);
}

/// Fails when a fixture is larger than the repository should carry.
pub fn check_size(fixture: &Path, bytes_max: u64) {
    let files = fs::read_dir(fixture).unwrap();
    let size_bytes: u64 = files
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(size_bytes <= bytes_max, "{size_bytes} bytes");
}

pub fn copy(source: &Path, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "LOCK" {
            fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
#[ignore = "writes the fixture anew; only for a format that is not released"]
fn write_the_fixture() {
    // A database is filled and copied as a killed process would leave it, with its log.
    let dir = tempfile::tempdir().unwrap();
    let world = SimWorld::new(1);
    world
        .clock
        .set_unix_time(Duration::from_secs(WRITTEN_UNIX_S));
    let path = dir.path().join("db");
    let mut builder = Db::builder(&path).env(world.env_with(Arc::new(RealFs)));
    for (name, text) in [
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "256KiB"),
        ("memory_limit", "4MiB"),
        ("merge_operator", "append:,"),
        ("compression", "zstd"),
        ("sst.compression_upper", "lz4"),
        ("sst.block_size", "1KiB"),
        ("sst.file_size", "16KiB"),
        ("compaction.automatic", "false"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    Scribe::new(Some(db.clone())).tell();
    db.sync().unwrap();
    world.clock.advance(2 * A_SECOND);
    check(&db);
    keep(&path, &fixture());
}

// The manifest and the log are allocated ahead of their records, the manifest by a whole MiB. Of
// the zeros behind the last record a part is enough.
fn cut_zeros(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let zero_count = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        bytes.truncate(bytes.len() - zero_count.saturating_sub(ZEROS_KEPT));
        fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn format_1_is_read_as_it_was_written() {
    // The fixture itself is opened, read-only: nothing of it may change.
    let stamp = |path: PathBuf| {
        let meta = fs::metadata(&path).unwrap();
        (path, meta.len(), meta.modified().unwrap())
    };
    let listed = || -> BTreeSet<_> {
        let entries = fs::read_dir(fixture()).unwrap();
        entries.map(|entry| stamp(entry.unwrap().path())).collect()
    };
    let before = listed();
    let size_bytes: u64 = before.iter().map(|(_, len, _)| len).sum();
    assert!(size_bytes <= FIXTURE_BYTES_MAX, "{size_bytes} bytes");
    let db = Db::open_read_only(fixture()).unwrap();
    check(&db);
    drop(db);
    assert_eq!(listed(), before);
}

#[test]
fn the_fixture_holds_every_kind_and_every_compression() {
    // What is not in it is not proved to be readable by later versions.
    let mut compressions = BTreeSet::new();
    let mut logged = BTreeSet::new();
    let mut range_delete_count = 0;
    for entry in fs::read_dir(fixture()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "sst") {
            let contents = inspect::sst(&path).unwrap();
            range_delete_count += contents.range_deletes.len();
            for block in contents.blocks {
                assert_eq!(block.damage, None);
                compressions.insert(block.compression.unwrap().name());
            }
        } else if path.extension().is_some_and(|end| end == "wal") {
            for item in inspect::wal(&path).unwrap() {
                if let WalItem::Batch(batch) = item.unwrap() {
                    logged.extend(batch.entries.iter().map(|entry| entry.kind.byte()));
                }
            }
        }
    }
    let compressions: Vec<&str> = compressions.into_iter().collect();
    assert_eq!(compressions, ["lz4", "none", "snappy", "zstd"]);
    let kinds = [
        Kind::Delete,
        Kind::Put,
        Kind::Merge,
        Kind::RangeDelete,
        Kind::PutExpiring,
    ];
    assert_eq!(logged, kinds.map(Kind::byte).into());
    assert!(range_delete_count >= 2);
    let levels: BTreeSet<usize> = {
        let db = Db::open_read_only(fixture()).unwrap();
        let names = db.keyspaces().into_iter();
        let files = names.flat_map(|name| db.existing_keyspace(&name).unwrap().files());
        files.map(|file| file.depth).collect()
    };
    assert!(levels.contains(&0) && levels.len() > 1, "{levels:?}");
}

#[test]
fn format_1_is_written_on() {
    // A copy is opened for writing, changed, compacted and opened again.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    copy(&fixture(), &path);
    let db = Db::open(&path).unwrap();
    check(&db);
    db.compact::<&[u8]>(..).unwrap();
    check(&db);
    let counters = db.existing_keyspace("counters").unwrap();
    counters.merge("n3", 1u64.to_le_bytes()).unwrap();
    db.put("key0001", "written on").unwrap();
    db.close().unwrap();
    let db = Db::open(&path).unwrap();
    assert_eq!(db.get("key0001").unwrap().unwrap(), "written on");
    let sum = u64::from_le_bytes(expected()["counters"][&b"n3"[..]][..].try_into().unwrap());
    let counters = db.existing_keyspace("counters").unwrap();
    assert_eq!(
        counters.get("n3").unwrap().unwrap(),
        (sum + 1).to_le_bytes()[..]
    );
    assert!(db.verify().unwrap().is_whole());
}
