//! Repair: keeps what is whole, tells what is lost, deletes nothing; a dry run writes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::db::inspect::manifest::manifest_in;
use esker::internals::db::inspect::sst::sst_in;
use esker::internals::db::inspect::wal::{WalItem, wal_in};
use esker::internals::env::bundle::Env;
use esker::internals::env::sim::crash::CrashMode;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::world::SimWorld;
use esker::{Db, ErrorKind, ManifestState, RepairOptions, RepairReport, repair_in};

use crate::stored_bytes::{flip, read, write};

type Contents = BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>>;

const DRY: RepairOptions = RepairOptions { dry_run: true };
const WET: RepairOptions = RepairOptions { dry_run: false };

fn open(env: &Env) -> Db {
    let builder = Db::builder("db").env(env.clone());
    let rule = builder.set("merge_operator", "uint64add").unwrap();
    // Kept as they were flushed, so that a test knows which file holds what.
    let still = rule.set("compaction.automatic", "false").unwrap();
    still.open().unwrap()
}

fn repair(env: &Env, options: RepairOptions) -> RepairReport {
    repair_in(env, Path::new("db"), options, &[]).unwrap()
}

fn contents(db: &Db) -> Contents {
    let names = db.keyspaces().into_iter();
    let read = |name: String| {
        let entries = db.keyspace(&name).unwrap().iter().unwrap();
        let pairs = entries.map(|entry| entry.unwrap());
        let pairs = pairs.map(|(key, value)| (key.to_vec(), value.to_vec()));
        (name, pairs.collect())
    };
    names.map(read).collect()
}

fn names(env: &Env, ending: &str) -> Vec<PathBuf> {
    let mut names = env.fs.list(Path::new("db")).unwrap();
    names.retain(|name| name.contains(ending));
    names.sort();
    names
        .iter()
        .map(|name| Path::new("db").join(name))
        .collect()
}

// Every file of the directory, by name; the lock file's note of who looks apart.
fn image(env: &Env) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = names(env, "").into_iter();
    let files = paths.filter(|path| env.fs.file_size(path).is_ok() && !path.ends_with("LOCK"));
    files
        .map(|path| (path.clone(), read(&*env.fs, &path)))
        .collect()
}

// A dry run says what the repair then does, and changes nothing.
fn repair_twice(env: &Env) -> RepairReport {
    let before = image(env);
    let dry = repair(env, DRY);
    assert_eq!(image(env), before, "a dry run wrote");
    assert!(!env.fs.exists(Path::new("db/lost")).unwrap());
    let wet = repair(env, WET);
    assert_eq!(dry.manifest, wet.manifest);
    assert_eq!(dry.lost_files, wet.lost_files);
    assert_eq!(dry.kept, wet.kept);
    assert_eq!(dry.log, wet.log);
    let again = repair(env, DRY);
    assert!(again.is_whole(), "{again}");
    wet
}

// Three flushes of two keyspaces with overwrites, deletes, merges and a range delete; then some
// writes that lie in the log.
fn fill(env: &Env) -> Contents {
    let db = open(env);
    let logs = db.keyspace("logs").unwrap();
    for round in 0..3u64 {
        for number in 0..30 {
            let value = format!("{round} {}", "x".repeat(50));
            db.put(format!("key{:03}", number + round * 10), value)
                .unwrap();
            logs.put(format!("{round}{number:03}"), "line").unwrap();
        }
        db.merge("sum", (round + 1).to_le_bytes()).unwrap();
        db.delete(format!("key{:03}", round * 10)).unwrap();
        db.delete_range("key033".."key036").unwrap();
        db.flush_all().unwrap();
    }
    // One write a segment's sync, so that damage to any but the last is damage, not a torn end.
    for number in 0..5 {
        db.put(format!("late{number}"), "in the log").unwrap();
        logs.delete(format!("0{number:03}")).unwrap();
        db.sync().unwrap();
    }
    let contents = contents(&db);
    // Killed, not closed.
    std::mem::forget(db);
    contents
}

// A database as a killed process leaves it.
fn filled(seed: u64) -> (SimWorld, Contents) {
    let world = SimWorld::new(seed);
    let contents = fill(&world.env());
    (world.after_kill(), contents)
}

#[test]
fn a_whole_database_is_left_alone() {
    // With sorted files and a log: nothing to do, nothing done.
    let (world, before) = filled(1);
    let env = world.env();
    let image_before = image(&env);
    let report = repair(&env, WET);
    assert!(report.is_whole() && !report.is_lossy(), "{report}");
    assert_eq!(report.kept.len(), 2);
    assert_eq!(image(&env), image_before);
    assert!(report.to_string().contains("nothing: open the database"));
    assert_eq!(contents(&open(&env)), before);
}

#[test]
fn a_damaged_sorted_file_is_dropped_and_the_others_stay() {
    // Flip a byte in one file, remove another: both are told with keys and entries, the rest of
    // the database is as it was.
    let (world, before) = filled(2);
    let env = world.env();
    let ssts = names(&env, ".sst");
    flip(&*env.fs, &ssts[0], 30);
    env.fs.remove_file(ssts.last().unwrap()).unwrap();
    let report = repair_twice(&env);
    assert_eq!(report.manifest, ManifestState::Whole);
    assert_eq!(report.lost_files.len(), 2, "{report}");
    assert!(
        report
            .lost_files
            .iter()
            .all(|lost| lost.entry_count > Some(0) && lost.keys.is_some())
    );
    assert!(
        report
            .lost_files
            .iter()
            .any(|lost| lost.cause == "the file is missing")
    );
    assert_eq!(report.moved.len(), 1);
    assert!(
        env.fs
            .exists(&Path::new("db/lost").join(&report.moved[0]))
            .unwrap()
    );
    let db = open(&env);
    let after = contents(&db);
    assert!(db.verify().unwrap().is_whole());
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>()
    );
    let late = |all: &Contents| all["default"].range(b"late".to_vec()..).count();
    assert_eq!(late(&after), 6);
    assert!(after["logs"].len() < before["logs"].len() || after["default"] != before["default"]);
}

#[test]
fn what_is_intact_behind_damage_in_the_log_is_kept() {
    // The record of one late write is damaged: an open refuses, repair loses that write alone.
    let (world, before) = filled(3);
    let env = world.env();
    let wal = names(&env, ".wal").into_iter().find(|path| {
        let items = wal_in(&env, path).unwrap();
        items
            .flatten()
            .any(|item| matches!(item, WalItem::Batch(_)))
    });
    let wal = wal.unwrap();
    let items: Vec<WalItem> = wal_in(&env, &wal)
        .unwrap()
        .map(|item| item.unwrap())
        .collect();
    let batches: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            WalItem::Batch(batch) => Some(batch.clone()),
            _ => None,
        })
        .collect();
    let late = batches
        .iter()
        .find(|batch| batch.entries[0].key == "late2")
        .unwrap();
    flip(&*env.fs, &wal, late.offset + 20);
    let error = Db::builder("db").env(env.clone()).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
    let report = repair_twice(&env);
    assert!(
        report.log.is_salvaged && report.log.gaps.len() == 1,
        "{report}"
    );
    assert_eq!(report.log.gaps[0].offset, late.offset);
    assert!(report.log.lost_bytes >= late.len_bytes);
    let mut expected = before;
    expected.get_mut("default").unwrap().remove(&b"late2"[..]);
    let db = open(&env);
    assert_eq!(contents(&db), expected);
    db.put("goes", "on").unwrap();
    db.close().unwrap();
    assert_eq!(open(&env).get("goes").unwrap().unwrap(), "on");
}

#[test]
fn a_lost_current_is_found_again() {
    // CURRENT removed, then CURRENT with a wrong byte: the manifest counts again, nothing lost.
    for round in 0..2 {
        let (world, before) = filled(4 + round);
        let env = world.env();
        let current = Path::new("db/CURRENT");
        match round {
            0 => env.fs.remove_file(current).unwrap(),
            _ => flip(&*env.fs, current, 3),
        }
        let report = repair_twice(&env);
        assert!(
            matches!(report.manifest, ManifestState::Found { .. }),
            "{report}"
        );
        assert!(!report.is_lossy(), "{report}");
        assert_eq!(contents(&open(&env)), before);
    }
}

#[test]
fn a_lost_manifest_is_made_anew_from_sorted_files_and_log() {
    // All manifests gone; then the one that counts damaged behind its snapshot: every entry is
    // there again, with names as far as they can be read.
    for round in 0..2 {
        let (world, before) = filled(6 + round);
        let env = world.env();
        let manifests = names(&env, "MANIFEST");
        match round {
            0 => manifests
                .iter()
                .for_each(|path| env.fs.remove_file(path).unwrap()),
            _ => {
                let newest = manifests.last().unwrap();
                let edits = manifest_in(&env, newest).unwrap().edits;
                assert!(edits.len() > 3);
                flip(&*env.fs, newest, edits[2].offset + 12);
            }
        }
        let error = Db::builder("db").env(env.clone()).open().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        let report = repair_twice(&env);
        assert!(
            matches!(report.manifest, ManifestState::Rebuilt { .. }),
            "{report}"
        );
        assert!(report.lost_files.is_empty(), "{report}");
        let db = open(&env);
        assert!(db.verify().unwrap().is_whole());
        // With their names, which files know too.
        assert_eq!(contents(&db), before, "round {round}");
        db.put("goes", "on").unwrap();
        db.compact::<&[u8]>(..).unwrap();
        db.close().unwrap();
        assert_eq!(open(&env).get("goes").unwrap().unwrap(), "on");
    }
}

#[test]
fn a_strangers_number_misleads_no_repair() {
    // Files that nobody here gave a number, one the largest there is, and a copy of a good file;
    // with a damaged file, without CURRENT, without a manifest.
    for kind in ["file", "CURRENT", "manifest"] {
        let (world, before) = filled(12);
        let env = world.env();
        let ssts = names(&env, ".sst");
        let bytes = read(&*env.fs, &ssts[0]);
        let mut strangers = vec![format!("{}.sst", u64::MAX), format!("{}.vlog", u64::MAX)];
        if kind != "manifest" {
            strangers.push("4000000000.sst".into());
            strangers.push("MANIFEST-4000000000".into());
        }
        for name in &strangers {
            write(&*env.fs, &Path::new("db").join(name), &bytes);
        }
        let gone = match kind {
            "file" => vec![ssts.last().unwrap().clone()],
            "CURRENT" => vec![PathBuf::from("db/CURRENT")],
            _ => names(&env, "MANIFEST"),
        };
        gone.iter()
            .for_each(|path| env.fs.remove_file(path).unwrap());
        let report = repair_twice(&env);
        match kind {
            "CURRENT" => assert!(
                matches!(report.manifest, ManifestState::Found { .. }),
                "{report}"
            ),
            "file" => assert_eq!(report.manifest, ManifestState::Whole),
            _ => {}
        }
        let db = open(&env);
        if kind != "file" {
            assert_eq!(contents(&db), before, "{kind}");
        }
        db.put("goes", "on").unwrap();
        db.close().unwrap();
        let numbers = ["sst", "wal", "MANIFEST"].map(|kind| names(&env, kind));
        let is_small = |path: &&PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.len() <= "MANIFEST-000000".len() || strangers.contains(&name.to_string())
        };
        let large: Vec<_> = numbers
            .iter()
            .flatten()
            .filter(|path| !is_small(path))
            .collect();
        assert!(large.is_empty(), "{kind}: {large:?}");
        for name in strangers {
            assert!(
                env.fs.exists(&Path::new("db").join(&name)).unwrap(),
                "{name}"
            );
        }
    }
}

// A database whose keys were overwritten and merged three times, killed; what is in it, and the
// files that were replaced, oldest first.
fn overwritten() -> (SimWorld, Contents, BTreeMap<PathBuf, Vec<u8>>) {
    let world = SimWorld::new(11);
    let env = world.env();
    let db = open(&env);
    let mut replaced = BTreeMap::new();
    for round in 0..3 {
        for number in (0..40).skip(10 * round) {
            db.put(format!("key{number:03}"), format!("in round {round}"))
                .unwrap();
        }
        db.merge("sum", 7u64.to_le_bytes()).unwrap();
        db.flush_all().unwrap();
        let files = names(&env, ".sst").into_iter();
        replaced.extend(files.map(|path| (path.clone(), read(&*env.fs, &path))));
        db.compact::<&[u8]>(..).unwrap();
    }
    let contents = contents(&db);
    std::mem::forget(db);
    (world.after_kill(), contents, replaced)
}

#[test]
fn without_a_manifest_files_that_counted_no_more_bring_nothing_old_back() {
    // A kill comes while files that were replaced are being removed, or a reader still has some:
    // they lie beside the file that took their place, and nothing says which count. The file with
    // a key's last write may be gone while one with an older write is there.
    let count = overwritten().2.len();
    assert!(count > 3);
    for left in 1..1 << count {
        let (world, before, replaced) = overwritten();
        let env = world.env();
        for (place, (path, bytes)) in replaced.iter().enumerate() {
            if left >> place & 1 == 1 {
                write(&*env.fs, path, bytes);
            }
        }
        for manifest in names(&env, "MANIFEST") {
            env.fs.remove_file(&manifest).unwrap();
        }
        let report = repair_twice(&env);
        assert!(report.lost_files.is_empty(), "{report}");
        assert_eq!(contents(&open(&env)), before, "left {left:b}");
    }
}

#[test]
fn a_crash_in_a_repair_leaves_what_can_be_repaired_again() {
    // The power goes at every call of a repair of a damaged log, and of a lost manifest; the next
    // repair ends what the first began.
    for kind in ["log", "manifest"] {
        let mut skip = 0;
        loop {
            let (world, before) = filled(10);
            let env = world.env();
            match kind {
                "log" => {
                    let wals = names(&env, ".wal");
                    let wal = wals
                        .iter()
                        .find(|path| wal_in(&env, path).unwrap().count() > 3);
                    let items = wal_in(&env, wal.unwrap()).unwrap();
                    let at = items.flatten().find_map(|item| match item {
                        WalItem::Batch(batch) if batch.entries[0].key == "late0" => {
                            Some(batch.offset)
                        }
                        _ => None,
                    });
                    flip(&*env.fs, wal.unwrap(), at.unwrap() + 20);
                }
                _ => names(&env, "MANIFEST")
                    .iter()
                    .for_each(|path| env.fs.remove_file(path).unwrap()),
            }
            for path in [Path::new("db"), Path::new("")] {
                // What was damaged is damaged for good.
                let _unneeded = env.fs.sync_dir(path);
            }
            let fault = FaultFs::over_sim(&world.fs, skip);
            fault.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
            let watched = world.env_with(Arc::new(fault.clone()));
            let done = repair_in(&watched, Path::new("db"), WET, &[]);
            assert_eq!(
                done.is_err(),
                fault.is_off(),
                "{kind}, call {skip}: {done:?}"
            );
            let mode = CrashMode::ALL[skip as usize % CrashMode::ALL.len()];
            let image = world.fs.crash_image(mode, skip);
            let after = SimWorld::with_disk(image, Arc::clone(&world.clock), 0);
            let again = repair_in(&after.env(), Path::new("db"), WET, &[]);
            let again = again.unwrap_or_else(|error| panic!("{kind}, call {skip}: {error}"));
            let mut found = contents(&open(&after.env()));
            let mut expected = before;
            if kind == "log" {
                expected.get_mut("default").unwrap().remove(&b"late0"[..]);
            } else if let Some(logs) = found.remove("recovered-1") {
                found.insert("logs".into(), logs);
            }
            assert_eq!(found, expected, "{kind}, call {skip}, {mode:?}: {again}");
            if !fault.is_off() {
                break;
            }
            skip += 1;
        }
        assert!(skip > 10, "{kind}: only {skip} calls were met");
    }
}

#[test]
fn no_damage_makes_repair_fail_or_the_result_unreadable() {
    // Every file in turn loses its end, gets a wrong byte, or becomes empty: repair works, and
    // the database opens and verifies afterwards.
    let (world, _) = filled(20);
    let count = names(&world.env(), "").len();
    for index in 0..count {
        for kind in ["cut", "flip", "empty"] {
            let (world, _) = filled(20);
            let env = world.env();
            let path = names(&env, "")[index].clone();
            if path.ends_with("LOCK") {
                continue;
            }
            let bytes = read(&*env.fs, &path);
            match kind {
                "cut" => write(&*env.fs, &path, &bytes[..bytes.len() * 2 / 3]),
                "flip" => flip(&*env.fs, &path, bytes.len() as u64 / 200),
                _ => write(&*env.fs, &path, &[]),
            }
            let what = format!("{kind} {}", path.display());
            let report = repair_in(&env, Path::new("db"), WET, &[]);
            let report = report.unwrap_or_else(|error| panic!("{what}: {error}"));
            let db = open(&env);
            let verified = db.verify().unwrap();
            assert!(verified.is_whole(), "{what}: {verified}\n{report}");
            contents(&db);
        }
    }
}

#[test]
fn an_open_database_is_not_repaired() {
    // The lock says so, also to a dry run; and a directory without a database is none.
    let world = SimWorld::new(30);
    let env = world.env();
    let _db = open(&env);
    for options in [DRY, WET] {
        let error = repair_in(&env, Path::new("db"), options, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        let error = repair_in(&env, Path::new("nowhere"), options, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        env.fs.create_dir_all(Path::new("empty")).unwrap();
        let error = repair_in(&env, Path::new("empty"), options, &[]).unwrap_err();
        assert_eq!(error.message(), "there is no database in empty");
    }
}

#[test]
fn the_tools_see_what_was_written() {
    // Log, sorted files and manifest as data: counts and keys are those of the database.
    let (world, before) = filled(40);
    let env = world.env();
    let mut keys = Vec::new();
    for path in names(&env, ".wal") {
        for item in wal_in(&env, &path).unwrap() {
            if let WalItem::Batch(batch) = item.unwrap() {
                keys.extend(batch.entries.into_iter().map(|entry| entry.key));
            }
        }
    }
    assert!(keys.iter().any(|key| *key == "late4"));
    let mut entry_count = 0;
    for path in names(&env, ".sst") {
        let file = sst_in(&env, &path, &[]).unwrap();
        assert!(file.blocks.iter().all(|block| block.damage.is_none()));
        let in_blocks: u64 = file.blocks.iter().map(|block| block.entry_count).sum();
        assert_eq!(in_blocks, file.props.entry_count);
        entry_count += in_blocks;
    }
    assert!(entry_count as usize > before["logs"].len());
    let manifest = names(&env, "MANIFEST").pop().unwrap();
    let manifest = manifest_in(&env, &manifest).unwrap();
    assert!(manifest.head.is_some() && manifest.gaps.is_empty());
    let lines: Vec<String> = manifest
        .edits
        .iter()
        .flat_map(|edit| edit.changes.iter().map(ToString::to_string))
        .collect();
    assert!(
        lines.iter().any(|line| line.starts_with("add file")),
        "{lines:?}"
    );
    let error = sst_in(&env, Path::new("db/CURRENT"), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
