//! What a repair saves of damaged files, and what it does not take for damage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::world::SimWorld;
use esker::{Db, ErrorKind, RepairOptions, RepairReport, repair_in};

use crate::compressions::or_plain;

const WET: RepairOptions = RepairOptions { dry_run: false };

fn open(env: &Env, compression: &str) -> Db {
    let settings = [
        ("compression", compression),
        ("value_log.threshold", "300B"),
        ("sst.dictionary_min", "4KiB"),
        ("compaction.automatic", "false"),
    ];
    let builder = Db::builder("db").env(env.clone());
    let builder = settings
        .iter()
        .try_fold(builder, |builder, (name, text)| builder.set(name, text));
    builder.unwrap().open().unwrap()
}

fn repair(env: &Env) -> RepairReport {
    repair_in(env, Path::new("db"), WET, &[]).unwrap()
}

fn files(env: &Env, ending: &str) -> Vec<PathBuf> {
    let mut names = env.fs.list(Path::new("db")).unwrap();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    let paths = names.iter().map(|name| Path::new("db").join(name));
    paths.collect()
}

fn overwrite(env: &Env, path: &Path, offset: u64, bytes: &[u8]) {
    let size_bytes = env.fs.file_size(path).unwrap();
    let mut file = env.fs.open_log(path, size_bytes).unwrap();
    file.write_at(offset, bytes).unwrap();
}

// Five thousand keys in one compacted file.
fn compacted(compression: &str) -> SimWorld {
    let world = SimWorld::new(7);
    let db = open(&world.env(), compression);
    for number in 0..5000u32 {
        let value = format!("entry {number} of the book of entries, {}", number % 97);
        db.put(format!("key{number:05}"), value).unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    db.close().unwrap();
    world.after_kill()
}

#[test]
fn four_wrong_bytes_cost_what_they_lie_in() {
    // In the middle of a file of blocks, and of a searchable one: a block, a record, or a page.
    for (compression, most) in [(or_plain("lz4"), 200), ("searchable", 10)] {
        let world = compacted(compression);
        let env = world.env();
        let ssts = files(&env, ".sst");
        assert_eq!(ssts.len(), 1, "{compression}");
        let middle = env.fs.file_size(&ssts[0]).unwrap() / 3;
        overwrite(&env, &ssts[0], middle, &[0xde, 0xad, 0xbe, 0xef]);
        let report = repair(&env);
        let [lost] = &report.lost_files[..] else {
            panic!("{report}");
        };
        let db = open(&env, compression);
        let left = db.iter().unwrap().map(Result::unwrap).count() as u64;
        assert!(
            (5000 - most..5000).contains(&left),
            "{compression}: {left} of 5000 are left"
        );
        assert_eq!(lost.saved_entry_count, left);
        assert_eq!(lost.gaps.len(), 1, "{report}");
        let gap = &lost.gaps[0];
        for number in 0..5000 {
            let key = format!("key{number:05}");
            let is_inside = **gap.after.as_ref().unwrap() < *key.as_bytes()
                && *key.as_bytes() < **gap.before.as_ref().unwrap();
            assert_eq!(
                db.get(&key).unwrap().is_none(),
                is_inside,
                "{compression}: {key}"
            );
        }
        assert!(db.verify().unwrap().is_whole());
    }
}

// Two large values of each of three keys in files, the older ones below; and one more in the log.
fn with_values() -> SimWorld {
    let world = SimWorld::new(8);
    let db = open(&world.env(), or_plain("lz4"));
    for round in 0..2u8 {
        for key in ["a", "b", "c"] {
            db.put(key, vec![b'0' + round; 1000]).unwrap();
        }
        db.flush().unwrap();
    }
    db.put("d", vec![b'd'; 1000]).unwrap();
    db.sync().unwrap();
    std::mem::forget(db);
    world.after_kill()
}

#[test]
fn a_lost_value_is_told_and_nothing_older_takes_its_place() {
    // The newer value of b is damaged. Verify says so, and keys can be counted; a repair deletes
    // the key, says so, and the database verifies.
    let world = with_values();
    let env = world.env();
    let segment = &files(&env, ".vlog")[0];
    let file = env.fs.open_read(segment).unwrap();
    let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    let values: Vec<usize> = (0..bytes.len() - 1000)
        .filter(|at| bytes[*at..*at + 1000] == [b'1'; 1000])
        .collect();
    assert_eq!(values.len(), 3);
    overwrite(&env, segment, values[1] as u64 + 17, b"x");
    let db = open(&env, or_plain("lz4"));
    let verified = db.verify().unwrap();
    assert_eq!(verified.damages.len(), 1, "{verified}");
    assert_eq!(db.get("b").unwrap_err().kind(), ErrorKind::Corruption);
    let keys = db.iter().unwrap().keys().map(Result::unwrap);
    assert_eq!(keys.collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    let report = repair(&env);
    assert!(
        report.lost_files.is_empty() && report.is_lossy(),
        "{report}"
    );
    assert_eq!(report.lost_values.len(), 1, "{report}");
    assert_eq!(report.lost_values[0].keys.0, "b");
    let db = open(&env, or_plain("lz4"));
    let verified = db.verify().unwrap();
    assert!(verified.is_whole(), "{verified}");
    let left: Vec<_> = db.iter().unwrap().map(|entry| entry.unwrap().0).collect();
    assert_eq!(left, ["a", "c", "d"]);
}

#[test]
fn a_segment_that_only_the_log_names_may_be_missing() {
    let world = SimWorld::new(9);
    let db = open(&world.env(), or_plain("lz4"));
    db.put("small", "stays").unwrap();
    db.put("large", vec![b'l'; 1000]).unwrap();
    db.sync().unwrap();
    db.put("later", "stays").unwrap();
    db.sync().unwrap();
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    for segment in files(&env, ".vlog") {
        env.fs.remove_file(&segment).unwrap();
    }
    let report = repair(&env);
    assert!(report.is_lossy(), "{report}");
    let db = open(&env, or_plain("lz4"));
    assert!(db.verify().unwrap().is_whole());
    assert_eq!(db.get("small").unwrap().unwrap(), "stays");
    assert_eq!(db.get("later").unwrap().unwrap(), "stays");
    assert_eq!(db.get("large").unwrap(), None);
}

#[test]
fn lost_values_of_the_log_are_told_together() {
    // Twenty large values were durable and are gone, with one that is there in the middle: two
    // lines say so, and not twenty.
    let world = SimWorld::new(10);
    let db = open(&world.env(), or_plain("lz4"));
    for number in 0..20 {
        if number == 10 {
            db.put("small", "stays").unwrap();
        }
        db.put(format!("{number:02}"), vec![b'l'; 1000]).unwrap();
    }
    db.sync().unwrap();
    db.put("later", "stays").unwrap();
    db.sync().unwrap();
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    for segment in files(&env, ".vlog") {
        env.fs.remove_file(&segment).unwrap();
    }
    let report = repair(&env);
    let told = report.lost_values.iter();
    let told = told.map(|lost| (&*lost.keys.0, &*lost.keys.1, lost.count));
    let told: Vec<(&[u8], &[u8], u64)> = told.collect();
    assert_eq!(
        told,
        [(&b"00"[..], &b"09"[..], 10), (b"10", b"19", 10)],
        "{report}"
    );
    let db = open(&env, or_plain("lz4"));
    assert!(db.verify().unwrap().is_whole());
    assert_eq!(db.iter().unwrap().count(), 2);
}

#[test]
fn a_segment_gets_a_new_head_and_keeps_its_values() {
    let world = with_values();
    let env = world.env();
    for segment in files(&env, ".vlog") {
        overwrite(&env, &segment, 3, b"oops");
    }
    let report = repair(&env);
    assert!(!report.is_lossy() && !report.is_whole(), "{report}");
    assert_eq!(report.mended_segments.len(), files(&env, ".vlog").len());
    let db = open(&env, or_plain("lz4"));
    assert!(db.verify().unwrap().is_whole());
    assert_eq!(db.get("b").unwrap().unwrap(), vec![b'1'; 1000]);
    assert_eq!(db.get("d").unwrap().unwrap(), vec![b'd'; 1000]);
}

#[test]
fn a_read_that_fails_is_no_damage() {
    // Each call that looks at the disk fails once: the repair stops and has changed nothing, or it
    // had no need of the answer.
    for class in [CallClass::Read, CallClass::Look] {
        let mut skip = 0;
        loop {
            let world = with_values();
            let fault = FaultFs::over_sim(&world.fs, skip);
            fault.set_plans(vec![Plan::once(Fault::Io, Calls::Of(class), skip)]);
            let watched = world.env_with(Arc::new(fault.clone()));
            let done = repair_in(&watched, Path::new("db"), WET, &[]);
            if let Ok(report) = &done {
                assert!(report.is_whole(), "{class:?} {skip}: {report}");
            }
            let env = world.env();
            assert!(
                !env.fs.exists(Path::new("db/lost")).unwrap(),
                "{class:?} {skip}"
            );
            assert!(repair(&env).is_whole(), "{class:?} {skip}");
            if fault.counts().of(Calls::Of(class)) <= skip {
                break;
            }
            skip += 1;
        }
        assert!(skip > 3, "{class:?}: only {skip} calls");
    }
}

#[test]
fn a_directory_without_a_database_stays_as_it_is() {
    let world = SimWorld::new(3);
    let env = world.env();
    env.fs.create_dir_all(Path::new("db")).unwrap();
    let error = repair_in(&env, Path::new("db"), WET, &[]).unwrap_err();
    assert_eq!(error.message(), "there is no database in db");
    assert!(env.fs.list(Path::new("db")).unwrap().is_empty());
}
