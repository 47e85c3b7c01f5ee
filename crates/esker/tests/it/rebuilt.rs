//! A manifest damaged in every place in turn, and what a repair makes of what is left of it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::db::inspect::manifest::manifest_in;
use esker::internals::db::inspect::wal::{WalItem, wal_in};
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::world::SimWorld;
use esker::{
    Builder, Comparator, CustomComparator, Db, Durability, KeyspaceOptions, RepairOptions,
    RepairReport, WriteOptions, repair_in,
};

use crate::stored_bytes::{flip, read, write};

type Pairs = BTreeMap<Vec<u8>, Vec<u8>>;

const DIR: &str = "db";

struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        right.cmp(left)
    }
}

fn comparator() -> Comparator {
    Comparator::Custom(Arc::new(Backwards))
}

fn builder(env: &Env) -> Builder {
    let settings = [
        ("compaction.automatic", "false"),
        ("compression", "none"),
        ("sst.block_size", "512B"),
        ("wal.segment_size", "64KiB"),
        ("memory_limit", "8MiB"),
    ];
    let builder = Db::builder(DIR)
        .env(env.clone())
        .known_comparator(comparator());
    let set = settings
        .iter()
        .try_fold(builder, |builder, (name, text)| builder.set(name, text));
    set.unwrap()
}

fn repair(env: &Env) -> RepairReport {
    let options = RepairOptions { dry_run: false };
    repair_in(env, Path::new(DIR), options, &[comparator()]).unwrap()
}

fn paths(env: &Env, part: &str) -> Vec<PathBuf> {
    let mut names = env.fs.list(Path::new(DIR)).unwrap();
    names.retain(|name| name.contains(part));
    names.sort();
    let paths = names.iter().map(|name| Path::new(DIR).join(name));
    paths.collect()
}

fn fill(db: &Db, keyspace: &str, prefix: &str, value: &str) {
    let keyspace = db.keyspace(keyspace).unwrap();
    for number in 0..30 {
        let key = format!("{prefix}{number:03}");
        keyspace.put(key, format!("{value} {number}")).unwrap();
    }
}

fn contents(db: &Db) -> BTreeMap<String, Pairs> {
    let read = |name: String| {
        let entries = db.keyspace(&name).unwrap().iter().unwrap();
        let pairs = entries.map(|entry| entry.unwrap());
        let pairs = pairs.map(|(key, value)| (key.to_vec(), value.to_vec()));
        (name, pairs.collect())
    };
    db.keyspaces().into_iter().map(read).collect()
}

/// A killed database whose manifest tells of keyspaces that came, went, and came again.
struct Victim {
    world: SimWorld,
    /// What is in each keyspace.
    live: BTreeMap<String, Pairs>,
    /// What was in keyspaces when they were dropped.
    dropped: Vec<Pairs>,
}

impl Victim {
    // Two keyspaces were dropped, and the name of one was given out again while a reader still had
    // the files of the old one. One has another order. Of the last, if there is one behind that
    // whose name was given out again, there are no files yet.
    fn make(has_last: bool) -> Victim {
        let world = SimWorld::new(3);
        let db = builder(&world.env()).open().unwrap();
        fill(&db, "default", "key", "first");
        fill(&db, "again", "key", "of the old one");
        let old = db.keyspace("again").unwrap();
        db.flush_all().unwrap();
        let mut dropped = vec![contents(&db)["again"].clone()];
        let reader = old.iter().unwrap();
        db.drop_keyspace("again").unwrap();
        fill(&db, "gone", "key", "gone");
        db.flush_all().unwrap();
        dropped.push(contents(&db)["gone"].clone());
        let mut reverse = KeyspaceOptions {
            comparator: comparator(),
            ..KeyspaceOptions::default()
        };
        reverse.sst.block_size_bytes = 512;
        let reverse = db.keyspace_with("reverse", reverse).unwrap();
        reverse.set("compression", "none").unwrap();
        fill(&db, "reverse", "key", "backwards");
        db.flush_all().unwrap();
        db.drop_keyspace("gone").unwrap();
        fill(&db, "plain", "key", "plain");
        fill(&db, "again", "other", "of the new one");
        fill(&db, "reverse", "more", "backwards");
        db.flush_all().unwrap();
        db.compact::<&[u8]>(..).unwrap();
        db.keyspace("reverse")
            .unwrap()
            .compact::<&[u8]>(..)
            .unwrap();
        fill(&db, "reverse", "then", "backwards");
        db.flush_all().unwrap();
        fill(&db, "default", "key", "second");
        if has_last {
            fill(&db, "late", "key", "only in the log");
        }
        fill(&db, "reverse", "late", "only in the log");
        db.sync().unwrap();
        let live = contents(&db);
        std::mem::forget((db, reader, old));
        let world = world.after_kill();
        Victim {
            world,
            live,
            dropped,
        }
    }

    fn manifest(&self) -> (PathBuf, Vec<u64>) {
        let env = self.world.env();
        let path = paths(&env, "MANIFEST").pop().unwrap();
        let edits = manifest_in(&env, &path).unwrap().edits;
        let offsets = edits.iter().map(|edit| edit.offset);
        (path.clone(), offsets.collect())
    }

    // Every keyspace that is there is found under its name, and what was dropped under no name
    // that another has now.
    fn check(&self, what: &str, report: &RepairReport) {
        let db = builder(&self.world.env()).open().unwrap();
        let verified = db.verify().unwrap();
        assert!(verified.is_whole(), "{what}: {verified}\n{report}");
        let mut found = contents(&db);
        for (name, pairs) in &self.live {
            let own = match found.remove(name) {
                // Its name stood in its first edit alone.
                None if name == "late" => {
                    let same = found.iter().find(|(_, found)| *found == pairs);
                    let renamed = same.map(|(name, _)| name.clone());
                    renamed.and_then(|name| found.remove(&name))
                }
                own => own,
            };
            assert_eq!(own.as_ref(), Some(pairs), "{what}: {name}\n{report}");
        }
        for (name, pairs) in found {
            let is_old = pairs.is_empty() || self.dropped.contains(&pairs);
            assert!(is_old, "{what}: {name} is {pairs:?}\n{report}");
        }
    }
}

// Damages a database by the manifest's path and the offsets of its records, repairs it and looks.
fn check_damaged(has_last: bool, what: &str, damage: impl Fn(&dyn Fs, &Path, &[u64])) {
    let victim = Victim::make(has_last);
    let env = victim.world.env();
    let (path, offsets) = victim.manifest();
    damage(&*env.fs, &path, &offsets);
    let report = repair(&env);
    let count = offsets.len();
    victim.check(&format!("{what} of {count}, last: {has_last}"), &report);
}

#[test]
fn whatever_is_lost_of_a_manifest_every_live_keyspace_is_found() {
    // Each record in turn has a wrong byte, alone and with each other one; then everything from it
    // on is cut off.
    for has_last in [false, true] {
        let count = Victim::make(has_last).manifest().1.len();
        assert!(count >= 15, "only {count} records");
        for first in 0..count {
            // With itself: that one alone.
            for second in first..count {
                let what = format!("records {first} and {second}");
                check_damaged(has_last, &what, |fs, path, offsets| {
                    flip(fs, path, offsets[first] + 12);
                    if second > first {
                        flip(fs, path, offsets[second] + 12);
                    }
                });
            }
        }
        for index in 1..count {
            let what = format!("cut before record {index}");
            check_damaged(has_last, &what, |fs, path, offsets| {
                let end = usize::try_from(offsets[index]).unwrap();
                write(fs, path, &read(fs, path)[..end]);
            });
        }
    }
}

#[test]
fn a_damaged_file_is_read_in_the_comparator_of_its_keyspace() {
    // The manifest has lost an edit that has nothing to do with it, or that which made the
    // keyspace; a file with backward keys has a wrong byte in every place: it costs a block at
    // most.
    let own = Victim::make(true);
    let env = own.world.env();
    let (manifest, offsets) = own.manifest();
    let edits = manifest_in(&env, &manifest).unwrap().edits;
    let is_creation = |line: String| line.starts_with("create") && line.contains("reverse");
    let creation = edits.iter().position(|edit| {
        let mut lines = edit.changes.iter().map(ToString::to_string);
        lines.any(is_creation)
    });
    let lost_edits = [offsets[offsets.len() - 1], offsets[creation.unwrap()]];
    let path = paths(&env, ".sst").into_iter().find(|path| {
        let bytes = read(&*env.fs, path);
        bytes.windows(9).any(|window| window == b"backwards")
    });
    let path = path.unwrap();
    let size_bytes = env.fs.file_size(&path).unwrap();
    let offsets = (0..size_bytes).step_by(13);
    for (offset, lost_edit) in offsets.flat_map(|offset| lost_edits.map(|edit| (offset, edit))) {
        let victim = Victim::make(true);
        let env = victim.world.env();
        let (manifest, _) = victim.manifest();
        flip(&*env.fs, &manifest, lost_edit + 12);
        flip(&*env.fs, &path, offset);
        let report = repair(&env);
        let what = format!("offset {offset} of {size_bytes}, edit at {lost_edit}");
        let db = builder(&env).open().unwrap();
        let verified = db.verify().unwrap();
        assert!(verified.is_whole(), "{what}: {verified}\n{report}");
        let found = contents(&db).remove("reverse").unwrap();
        let all = &victim.live["reverse"];
        assert!(found.len() + 25 >= all.len(), "{what}: {report}");
        let is_right = |(key, value): (&Vec<u8>, &Vec<u8>)| all.get(key) == Some(value);
        assert!(found.iter().all(is_right), "{what}: {report}");
    }
}

// A killed database whose log has a few segments that are needed, and before them some that are
// not, with a gap; the last writes were never synced.
fn with_used_segments() -> (SimWorld, Vec<(PathBuf, u64)>) {
    let world = SimWorld::new(5);
    let env = world.env();
    let db = builder(&env).open().unwrap();
    let options = WriteOptions {
        durability: Some(Durability::Buffered),
        ..WriteOptions::default()
    };
    let writer = db.default_keyspace().clone().with_write(options);
    for round in 0..6 {
        for number in 0..40 {
            let key = format!("{round:02} {number:03}");
            writer.put(key, vec![b'v'; 1500]).unwrap();
        }
        // Of the segments that this retires, the newer ones are removed or used again.
        if round == 4 {
            db.flush_all().unwrap();
        }
    }
    db.sync().unwrap();
    for number in 0..12 {
        writer
            .put(format!("late{number}"), vec![b'l'; 500])
            .unwrap();
        if number < 3 {
            db.sync().unwrap();
        }
    }
    std::mem::forget((db, writer));
    let world = world.after_kill();
    let env = world.env();
    let mut batches = Vec::new();
    for path in paths(&env, ".wal") {
        for item in wal_in(&env, &path).unwrap() {
            if let WalItem::Batch(batch) = item.unwrap() {
                batches.push((path.clone(), batch.offset));
            }
        }
    }
    (world, batches)
}

// Whether a segment names one that is not there while an older one is.
fn has_gap(env: &Env) -> bool {
    let wals = paths(env, ".wal");
    let is_behind_gap = |path: &&PathBuf| {
        let mut items = wal_in(env, path).unwrap();
        let Some(Ok(WalItem::Head { previous, .. })) = items.next() else {
            return false;
        };
        let Some((previous, _)) = previous else {
            return false;
        };
        let previous = Path::new(DIR).join(format!("{:06}.wal", previous.0));
        !wals.contains(&previous) && wals[0] < previous
    };
    wals.iter().any(|path| is_behind_gap(&path))
}

#[test]
fn without_a_manifest_a_log_comes_to_what_it_comes_to_with_one() {
    // Segments that were used up lie about, and not all of them. A wrong byte in each batch of the
    // log: where the manifest is lost as well, the same is kept and the same is told.
    let (world, batches) = with_used_segments();
    assert!(has_gap(&world.env()), "{:?}", paths(&world.env(), ".wal"));
    let late = batches.len() - 40;
    let mut gap_counts = [0; 2];
    for damaged in std::iter::once(None).chain((late..batches.len()).map(Some)) {
        let outcome = |is_manifest_lost: bool| {
            let (world, batches) = with_used_segments();
            let env = world.env();
            if let Some(index) = damaged {
                let (path, offset) = &batches[index];
                flip(&*env.fs, path, offset + 20);
            }
            if is_manifest_lost {
                for path in paths(&env, "MANIFEST") {
                    env.fs.remove_file(&path).unwrap();
                }
            }
            let report = repair(&env);
            let gaps = report.log.gaps.iter();
            let gaps = gaps.map(|gap| (gap.name.clone(), gap.offset, gap.len_bytes));
            let gaps = gaps.collect::<Vec<_>>();
            let db = builder(&env).open().unwrap();
            assert!(db.verify().unwrap().is_whole());
            (contents(&db)["default"].clone(), gaps)
        };
        let (with, without) = (outcome(false), outcome(true));
        assert_eq!(with.1, without.1, "{damaged:?}");
        let keys = |pairs: &Pairs| pairs.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&with.0), keys(&without.0), "{damaged:?}");
        gap_counts[usize::from(!with.1.is_empty())] += 1;
    }
    assert!(gap_counts[1] > 3, "{gap_counts:?}");
}
