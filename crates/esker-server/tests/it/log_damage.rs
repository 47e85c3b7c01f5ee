//! Damage to what was durable: it is found, named, and whom it may concern never votes again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker_raft::{GroupId, LogRead, ReadError, Record, ReplicaId};
use esker_server::disk_log::{DiskLog, DiskLogOptions, Opened};

use crate::log_model::{Model, Work, begin, entry};

const OPTIONS: DiskLogOptions = DiskLogOptions {
    segment_bytes: 64 << 10,
};

const DIR: &str = "/raft";

fn open(world: &SimWorld) -> (DiskLog, Opened) {
    DiskLog::open(&world.env(), Path::new(DIR), OPTIONS).unwrap()
}

fn segments(fs: &dyn Fs) -> Vec<PathBuf> {
    let mut names = fs.list(Path::new(DIR)).unwrap();
    names.sort();
    names.iter().map(|name| Path::new(DIR).join(name)).collect()
}

fn flip(fs: &dyn Fs, path: &Path, offset: u64) {
    let mut bytes = vec![0; fs.file_size(path).unwrap() as usize];
    fs.open_read(path).unwrap().read_at(0, &mut bytes).unwrap();
    bytes[offset as usize] ^= 1 << (offset % 8);
    let mut file = fs.open_log(path, bytes.len() as u64).unwrap();
    file.write_at(0, &bytes).unwrap();
    file.syncer().sync().unwrap();
}

fn append(group: GroupId, index: u64) -> Record {
    Record::Append {
        group,
        entries: vec![entry(index, 1, &[7; 900])],
    }
}

// A log with a group that has one entry behind the one it begins with; nothing is synced.
fn with_one_entry(world: &SimWorld) -> (DiskLog, GroupId) {
    let (mut log, group) = (open(world).0, GroupId(1));
    log.append(&[begin(group, ReplicaId(1), 1, 1)]).unwrap();
    log.append(&[append(group, 2)]).unwrap();
    (log, group)
}

// Everything is durable, and marked as such.
fn rest(log: &mut DiskLog) {
    log.sync().unwrap();
    log.mark().unwrap();
}

// A log of some segments, closed; and what it holds.
fn written(seed: u64) -> (SimWorld, Model) {
    let world = SimWorld::new(seed);
    let mut work = Work::new(Model::default(), seed);
    let mut log = open(&world).0;
    for _ in 0..40 {
        work.step(&mut log).unwrap();
    }
    rest(&mut log);
    (world, work.now().clone())
}

// Whoever is not named has all of its own, or is not known at all.
fn check_named(model: &Model, seen: &Model, named: &[(GroupId, ReplicaId)], told: &str) {
    for (id, group) in &model.groups {
        let is_named = named.contains(&(GroupId(*id), group.state.replica));
        let is_whole = seen.groups.get(id).is_none_or(|known| known == group);
        assert!(is_named || is_whole, "{told}: group {id}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_told_or_harms_nobody() {
    let mut found = 0;
    for seed in 0..3 {
        let (world, model) = written(seed);
        let image = world.after_kill();
        let count = segments(&*image.fs).len();
        for segment in 0..count {
            let path = &segments(&*image.fs)[segment];
            let size = image.fs.file_size(path).unwrap();
            for offset in (seed..size).step_by(797) {
                let world = SimWorld::with_disk(image.fs.kill_image(), Arc::default(), seed);
                flip(&*world.fs, path, offset);
                let told = format!("seed {seed}, {} at {offset}", path.display());
                let (log, opened) = open(&world);
                let seen = Model::seen(log.reader());
                let Some(loss) = opened.loss else {
                    assert_eq!(opened.torn_bytes, 0, "{told}: synced, and taken for torn");
                    assert!(seen == model, "{told}");
                    continue;
                };
                found += 1;
                check_named(&model, &seen, &loss.groups, &told);
                for (group, replica) in &loss.groups {
                    assert!(!seen.groups.contains_key(&group.0), "{told}");
                    assert!(seen.destroyed[&group.0] >= replica.0, "{told}");
                }
            }
        }
    }
    assert!(found > 25, "only {found}");
}

#[test]
fn the_next_record_says_as_well_how_far_the_log_was_synced() {
    // So a log that is written to all the time writes no marks, and one call for each batch.
    let world = SimWorld::new(1);
    let (mut log, group) = with_one_entry(&world);
    log.sync().unwrap();
    assert!(!log.is_marked());
    let calls = world.fs.call_count();
    log.append(&[append(group, 3)]).unwrap();
    assert!(log.is_marked());
    log.mark().unwrap();
    log.sync().unwrap();
    assert_eq!(world.fs.call_count() - calls, 2, "a write and its sync");
    drop(log);
    let first = segments(&*world.fs)[0].clone();
    flip(&*world.fs, &first, 600);
    let loss = open(&world).1.loss.expect("it was synced before entry 3");
    assert_eq!(loss.groups, [(group, ReplicaId(1))]);
}

#[test]
fn an_entry_that_cannot_be_read_back_damages_its_group_and_is_told() {
    let (world, harmed, bystander) = (SimWorld::new(1), GroupId(1), GroupId(2));
    let mut log = open(&world).0;
    for group in [harmed, bystander] {
        let entries = vec![entry(2, 1, &[7; 900])];
        log.append(&[begin(group, ReplicaId(1), 1, 1)]).unwrap();
        log.append(&[Record::Append { group, entries }]).unwrap();
    }
    log.sync().unwrap();
    flip(&*world.fs, &segments(&*world.fs)[0].clone(), 600);
    let reader = log.reader();
    assert_eq!(reader.entries(harmed, 2, 3, 1), Err(ReadError::Damaged));
    assert!(reader.fault().is_some());
    assert_eq!(reader.entries(bystander, 2, 3, 1).unwrap().len(), 1);
}

#[test]
fn a_segment_that_is_missing_is_told_by_the_groups_that_need_it() {
    let (world, model) = written(1);
    let count = segments(&*world.fs).len();
    for gone in 0..count - 1 {
        let world = SimWorld::with_disk(world.fs.kill_image(), Arc::default(), 1);
        let path = segments(&*world.fs)[gone].clone();
        world.fs.remove_file(&path).unwrap();
        let (log, opened) = open(&world);
        let seen = Model::seen(log.reader());
        let named = opened.loss.map(|loss| loss.groups).unwrap_or_default();
        check_named(&model, &seen, &named, &format!("segment {gone} is gone"));
    }
}

#[test]
fn a_replica_that_is_new_since_the_damage_is_not_blamed_for_it() {
    let world = SimWorld::new(1);
    let (mut log, group) = with_one_entry(&world);
    rest(&mut log);
    let first = segments(&*world.fs)[0].clone();
    drop(log);
    flip(&*world.fs, &first, 600);
    let (mut log, opened) = open(&world);
    let loss = opened.loss.unwrap();
    assert_eq!(loss.groups, [(group, ReplicaId(1))], "{}", loss.error);
    assert_eq!(log.reader().destroyed(group), Some(ReplicaId(1)));
    log.append(&[begin(group, ReplicaId(2), 1, 1), append(group, 2)])
        .unwrap();
    log.sync().unwrap();
    drop(log);
    let (log, opened) = open(&world);
    assert!(opened.loss.is_none_or(|loss| loss.groups.is_empty()));
    assert_eq!(log.reader().state(group).unwrap().replica, ReplicaId(2));
    // And the damage goes with its segment.
    drop(log);
    assert!(open(&world).1.loss.is_none());
}

// A log whose first segment has damage that one group needs, and a second group that does not.
fn harmed() -> (SimWorld, GroupId, GroupId) {
    let world = SimWorld::new(1);
    let (mut log, harmed) = with_one_entry(&world);
    let bystander = GroupId(2);
    log.append(&[begin(bystander, ReplicaId(1), 1, 1)]).unwrap();
    for index in 2..200 {
        log.append(&[append(bystander, index)]).unwrap();
    }
    log.sync().unwrap();
    // The bystander's live entries lie behind the first segments.
    let term = 1;
    let compact = Record::Compact {
        group: bystander,
        index: 180,
        term,
    };
    log.append(&[compact]).unwrap();
    log.sync().unwrap();
    drop(log);
    let first = segments(&*world.fs)[0].clone();
    flip(&*world.fs, &first, 600);
    (world, harmed, bystander)
}

#[test]
fn a_bystander_is_not_blamed_however_often_the_log_is_opened() {
    let (world, harmed, bystander) = harmed();
    for round in 0..4 {
        let (log, opened) = open(&world);
        let groups = opened.loss.map(|loss| loss.groups).unwrap_or_default();
        let first = [(harmed, ReplicaId(1))];
        assert_eq!(groups, first[..usize::from(round == 0)], "round {round}");
        assert_eq!(log.reader().destroyed(harmed), Some(ReplicaId(1)));
        let entries = log.reader().read(bystander, 181, 200, u64::MAX);
        assert_eq!(entries.unwrap().unwrap().len(), 19);
    }
}

#[test]
fn an_opening_that_is_cut_off_hides_no_damage() {
    // At each call of the opening that finds it, in each mode.
    for (mode, skip) in CrashMode::ALL
        .into_iter()
        .flat_map(|mode| (0..12).map(move |it| (mode, it)))
    {
        // In the last segment, of which no later checkpoint tells.
        let world = SimWorld::new(1);
        let harmed = GroupId(1);
        let entries = vec![entry(2, 1, &[7; 900])];
        let mut log = open(&world).0;
        log.append(&[begin(harmed, ReplicaId(1), 1, 1)]).unwrap();
        log.append(&[Record::Append {
            group: harmed,
            entries,
        }])
        .unwrap();
        rest(&mut log);
        drop(log);
        flip(&*world.fs, &segments(&*world.fs)[0].clone(), 600);
        let faults = FaultFs::over_sim(&world.fs, 1);
        faults.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
        let env = world.env_with(Arc::new(faults.clone()));
        let _cut = DiskLog::open(&env, Path::new(DIR), OPTIONS).map(drop);
        let world = match faults.is_off() {
            true => world.after_crash(mode, skip),
            false => world.after_kill(),
        };
        let (log, _) = open(&world);
        let told = format!("{mode:?}, call {skip}");
        assert_eq!(log.reader().destroyed(harmed), Some(ReplicaId(1)), "{told}");
        assert!(log.reader().state(harmed).is_none(), "{told}");
    }
}

#[test]
fn want_of_space_for_a_segment_loses_nothing_that_comes_after() {
    // Where the system has no room for a segment's beginning though it made the file.
    let group = GroupId(1);
    let append = |index, len| Record::Append {
        group,
        entries: vec![entry(index, 1, &vec![7; len])],
    };
    let mut refusals = 0;
    for skip in 0..40 {
        let world = SimWorld::new(1);
        let faults = FaultFs::over_sim(&world.fs, 1);
        let env = world.env_with(Arc::new(faults.clone()));
        let mut log = DiskLog::open(&env, Path::new(DIR), OPTIONS).unwrap().0;
        log.append(&[begin(group, ReplicaId(1), 1, 1), append(2, 60_000)])
            .unwrap();
        log.sync().unwrap();
        faults.set_plans(vec![Plan::once(Fault::NoSpace, Calls::Mutating, skip)]);
        let refused = log.append(&[append(3, 2_000_000)]);
        faults.set_plans(Vec::new());
        refusals += u32::from(refused.is_err());
        let last = 3 + u64::from(refused.is_ok());
        // What fits where the log ended goes there, or nothing is taken any more.
        let is_kept = log
            .append(&[append(last, 10)])
            .and_then(|_| log.sync())
            .is_ok();
        drop(log);
        let (log, opened) = open(&world.after_kill());
        assert!(opened.loss.is_none(), "{skip}");
        let found = log.reader().state(group).unwrap().last.index;
        assert!(found >= last - u64::from(!is_kept), "{skip}: {found}");
    }
    assert!(refusals > 2, "{refusals}");
}
