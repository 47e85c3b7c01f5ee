//! A file that cannot be read: told, left out, tried again; and everything else is compacted on.

use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{FaultFs, SimWorld};
use esker::{Db, ErrorKind, Keyspace, WriteOptions};

use crate::compressions::or_plain;

const SETTINGS: [(&str, &str); 6] = [
    ("memory_limit", "4MiB"),
    ("memtable.size", "64KiB"),
    ("sst.file_size", "16KiB"),
    ("compaction.l0_trigger", "2"),
    ("compaction.base_level", "64KiB"),
    ("compaction.level_growth", "2"),
];

fn open(world: &SimWorld) -> (Db, FaultFs) {
    let faults = FaultFs::over_sim(&world.fs, 1);
    let mut builder = Db::builder("/db").env(world.env_with(Arc::new(faults.clone())));
    for (name, text) in SETTINGS {
        builder = builder.set(name, text).unwrap();
    }
    if or_plain("lz4") == "none" {
        // Smaller files would be in memory whole, and not read again.
        builder = builder.set("compression", "none").unwrap();
    }
    (builder.open().unwrap(), faults)
}

fn fill(world: &SimWorld, keyspace: &Keyspace, round: u32) {
    flush(keyspace, round);
    world.pool.run_all();
}

fn flush(keyspace: &Keyspace, round: u32) {
    for number in 0..200 {
        let mut value = format!("{number} {round} ").into_bytes();
        // Not to be compressed to nothing.
        value.extend((0..200_u32).map(|at| (at.wrapping_mul(number + 7 * round) >> 3) as u8));
        keyspace.put(format!("key{number:04}"), value).unwrap();
    }
    keyspace.flush().unwrap();
}

fn counter(db: &Db, name: &str) -> u64 {
    let counters = db.stats().counters;
    counters
        .iter()
        .find(|(other, ..)| *other == name)
        .unwrap()
        .2
}

#[test]
fn an_error_that_passes_delays_a_compaction_and_ends_none() {
    // One read fails, once: the files are told, left out for a second, and then compacted as if
    // nothing had been.
    let world = SimWorld::new(1);
    let (db, faults) = open(&world);
    fill(&world, &db, 1);
    let read = Calls::Of(CallClass::Read);
    faults.set_plans(vec![Plan::once(Fault::Io, read, 0).in_files(".sst")]);
    fill(&world, &db, 2);
    assert_eq!(faults.hit_count(), 1);
    let stats = db.stats();
    assert_eq!(stats.state, "degraded", "{stats}");
    let file = stats.left_out.first().unwrap();
    assert!(file.error.contains("simulated failure"), "{}", file.error);
    assert!(file.next_try.unwrap() <= Duration::from_secs(1));
    assert!(stats.to_string().contains("left out     "), "{stats}");
    assert_eq!(counter(&db, "esker_compaction_failures_total"), 1);
    world.clock.advance(Duration::from_secs(1));
    world.pool.run_all();
    let stats = db.stats();
    assert_eq!((stats.state.as_str(), stats.left_out.len()), ("open", 0));
    assert!(
        stats.keyspaces[0]
            .levels
            .iter()
            .all(|level| level.depth > 0),
        "{stats}"
    );
    db.close().unwrap();
}

#[test]
fn a_failure_is_told_only_while_something_is_left_out() {
    // One read fails in a compaction that somebody asked for, and nothing is due by itself. When
    // the files may be compacted again, the database is as good as before: it said `degraded` for
    // ever, and that they would be tried "again in 0.0 s".
    let world = SimWorld::new(5);
    let (db, faults) = open(&world);
    db.set("compaction.l0_trigger", "8").unwrap();
    for round in 1..4 {
        fill(&world, &db, round);
    }
    let read = Calls::Of(CallClass::Read);
    faults.set_plans(vec![Plan::once(Fault::Io, read, 0).in_files(".sst")]);
    assert_eq!(db.compact::<&str>(..).unwrap_err().kind(), ErrorKind::Io);
    let stats = db.stats();
    assert_eq!(stats.state, "degraded", "{stats}");
    assert!(!stats.left_out.is_empty(), "{stats}");
    world.clock.advance(Duration::from_secs(2));
    world.pool.run_all();
    let stats = db.stats();
    assert_eq!((stats.state.as_str(), stats.left_out.len()), ("open", 0));
    db.compact::<&str>(..).unwrap();
    db.close().unwrap();
}

#[test]
fn a_shortage_of_descriptors_delays_a_compaction_and_ends_none() {
    // As above: whoever has all descriptors closes some of them one day. The files are whole.
    let world = SimWorld::new(4);
    let (db, faults) = open(&world);
    fill(&world, &db, 1);
    flush(&db, 2);
    let make = Calls::Of(CallClass::Meta);
    let plan = Plan::once(Fault::NoFiles, make, 0).in_files(".sst");
    faults.set_plans(vec![plan]);
    world.pool.run_all();
    assert_eq!(faults.hit_count(), 1);
    for _ in 0..3 {
        world.clock.advance(Duration::from_secs(1));
        world.pool.run_all();
    }
    let stats = db.stats();
    assert_eq!((stats.state.as_str(), stats.left_out.len()), ("open", 0));
    let levels = &stats.keyspaces[0].levels;
    assert!(levels.iter().all(|level| level.depth > 0), "{stats}");
    db.close().unwrap();
}

#[test]
fn an_error_that_stays_is_tried_ever_less_often() {
    // For an hour: a dozen tries, not thousands.
    let world = SimWorld::new(2);
    let (db, faults) = open(&world);
    fill(&world, &db, 1);
    let read = Calls::Of(CallClass::Read);
    faults.set_plans(vec![Plan::sticky(Fault::Io, read, 0).in_files(".sst")]);
    fill(&world, &db, 2);
    for _ in 0..3_600 {
        world.clock.advance(Duration::from_secs(1));
        world.pool.run_all();
    }
    let failures = counter(&db, "esker_compaction_failures_total");
    assert!((8..=40).contains(&failures), "{failures} tries in an hour");
    faults.set_plans(Vec::new());
    db.compact::<&str>(..).unwrap();
    assert_eq!(db.stats().state, "open");
    db.close().unwrap();
}

#[test]
fn a_damaged_file_is_left_out_and_all_others_are_compacted() {
    // A bit is flipped in one file of the first sorted level: it alone stays where it is and is
    // told; its neighbours move on, and so does another keyspace. Who asks for a compaction of it
    // gets the error; when the file is whole again (a cable, a copy put back) that mends it.
    let world = SimWorld::new(3);
    let (db, faults) = open(&world);
    fill(&world, &db, 1);
    fill(&world, &db, 2);
    let files = db.files();
    let upper = files.iter().find(|file| file.depth > 0).unwrap();
    let name = format!("{:06}.sst", upper.number);
    let read = Calls::Of(CallClass::Read);
    let flip = Plan::sticky(Fault::BitFlip, read, 0).in_files(&name);
    faults.set_plans(vec![flip]);
    let other = db.keyspace("other").unwrap();
    for round in 3..8 {
        fill(&world, &other, round);
        // Beside the damaged file, as its range is known.
        for number in 0..200 {
            let key = format!("later{number:04}{round}");
            db.put(key, vec![u8::try_from(round).unwrap(); 300])
                .unwrap();
        }
        db.flush().unwrap();
        world.pool.run_all();
    }
    let failed = db.compact::<&str>(..).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Corruption, "{failed}");
    assert!(failed.to_string().contains(&name), "{failed}");
    let stats = db.stats();
    assert_eq!(stats.state, "degraded");
    let out: Vec<_> = stats.left_out.iter().map(|file| &file.file[..]).collect();
    assert_eq!(out, [&name[..]]);
    assert_eq!(stats.left_out[0].next_try, None);
    let before = counter(&db, "esker_compactions_total");
    for round in 8..14 {
        fill(&world, &other, round);
        for number in 0..200 {
            let key = format!("later{number:04}{round}");
            db.put(key, vec![u8::try_from(round).unwrap(); 300])
                .unwrap();
        }
        db.flush().unwrap();
        world.pool.run_all();
    }
    assert!(counter(&db, "esker_compactions_total") > before + 3);
    assert_eq!(db.get("later00078").unwrap().unwrap().len(), 300);
    let stats = db.stats();
    for keyspace in &stats.keyspaces {
        let runs = keyspace.levels.first().map_or(0, |level| level.run_count);
        assert!(runs < 8, "{stats}");
    }
    faults.set_plans(Vec::new());
    db.compact::<&str>(..).unwrap();
    let stats = db.stats();
    assert_eq!((stats.state.as_str(), stats.left_out.len()), ("open", 0));
    db.close().unwrap();
}

#[test]
fn who_compacts_is_told_of_the_file_that_is_in_the_way() {
    // A file of another keyspace, with a lower number, has been left out for long. The one that
    // fails while somebody waits to compact its range is the one that is named.
    let world = SimWorld::new(5);
    let (db, faults) = open(&world);
    fill(&world, &db, 1);
    let blamed = |db: &Keyspace| {
        let files = db.files();
        format!("{:06}.sst", files.first().unwrap().number)
    };
    let read = Calls::Of(CallClass::Read);
    let flip = |name: &str| Plan::sticky(Fault::BitFlip, read, 0).in_files(name);
    let elsewhere = blamed(&db);
    faults.set_plans(vec![flip(&elsewhere)]);
    fill(&world, &db, 2);
    assert_eq!(db.stats().left_out[0].file, elsewhere);
    let other = db.keyspace("other").unwrap();
    fill(&world, &other, 3);
    let here = blamed(&other);
    flush(&other, 4);
    assert!(world.pool.pending_names().contains(&"esker-compact"));
    faults.set_plans(vec![flip(&elsewhere), flip(&here)]);
    let failed = other.compact::<&str>(..).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Corruption, "{failed}");
    let text = failed.to_string();
    assert!(text.contains(&here) && text.contains("`other`"), "{text}");
    assert!(!text.contains(&elsewhere), "{text}");
    faults.set_plans(Vec::new());
    db.close().unwrap();
}

#[test]
fn a_stall_names_the_file_that_makes_it() {
    // Every file of the first sorted level is damaged, so nothing leaves level 0. Its small runs
    // are merged with one another all the same; but what is owed grows, and with it the stall. Who
    // does not want to wait is told of which file, and so are the statistics.
    let world = SimWorld::new(6);
    let (db, faults) = open(&world);
    fill(&world, &db, 1);
    fill(&world, &db, 2);
    assert!(db.files().iter().any(|file| file.depth > 0));
    let mut flips = Vec::new();
    for file in db.files() {
        let name = format!("{:06}.sst", file.number);
        let read = Calls::Of(CallClass::Read);
        flips.push(Plan::sticky(Fault::BitFlip, read, 0).in_files(&name));
    }
    faults.set_plans(flips);
    let impatient = db.with_write(WriteOptions {
        no_wait: true,
        ..WriteOptions::default()
    });
    let mut told = None;
    for round in 3..60 {
        fill(&world, &db, round);
        // One after the other, faster than any rate.
        told = (0..20).find_map(|_| impatient.put("x", vec![0; 3_000]).err());
        if told.is_some() {
            break;
        }
    }
    let stats = db.stats();
    let told = told.unwrap_or_else(|| panic!("no stall: {stats}"));
    assert_eq!(told.kind(), ErrorKind::Busy, "{told}");
    let file = &stats.left_out.first().unwrap().file;
    assert!(told.to_string().contains(file), "{told}");
    assert!(
        stats.keyspaces[0]
            .hindrance
            .as_ref()
            .unwrap()
            .contains(file)
    );
    assert!(stats.to_string().contains("held back to "), "{stats}");
    let runs = stats.keyspaces[0].levels[0].run_count;
    assert!(runs <= 20, "{stats}");
    faults.set_plans(Vec::new());
    db.compact::<&str>(..).unwrap();
    assert_eq!(db.stats().keyspaces[0].hindrance, None);
    db.close().unwrap();
}
