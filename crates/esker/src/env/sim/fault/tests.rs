//! Tests of `fault`.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::env::fs::Unchanging;
use crate::env::fs::contract::{check_all, names, read_file, write_file};
use crate::env::sim::crash::CrashMode;
use crate::env::sim::fault_plan::Calls;

const DIR: &str = "/db";
const WRITES: Calls = Calls::Of(CallClass::Write);
const SYNCS: Calls = Calls::Of(CallClass::Sync);
const READS: Calls = Calls::Of(CallClass::Read);

fn new_fs() -> (SimFs, FaultFs) {
    let sim = SimFs::new(1);
    sim.create_dir_all(Path::new(DIR)).unwrap();
    let faulty = FaultFs::over_sim(&sim, 1);
    (sim, faulty)
}

fn at(name: &str) -> PathBuf {
    Path::new(DIR).join(name)
}

#[test]
fn without_a_plan_nothing_changes() {
    // The wrapper itself keeps the contract.
    let (_, fs) = new_fs();
    check_all(&fs, Path::new("/contract"));
    assert_eq!(fs.hit_count(), 0);
}

#[test]
fn calls_are_counted_by_class() {
    // The numbers agree with those of the disk.
    let (sim, fs) = new_fs();
    let before = sim.call_count();
    write_file(&fs, &at("a"), b"x");
    fs.sync_dir(Path::new(DIR)).unwrap();
    read_file(&fs, &at("a"));
    names(&fs, Path::new(DIR));
    let counts = fs.counts();
    let expected = CallCounts {
        read: 1,
        write: 1,
        sync: 2,
        meta: 1,
        look: 2,
    };
    assert_eq!(counts, expected);
    assert_eq!(counts.mutating(), sim.call_count() - before);
    assert_eq!(counts.of(Calls::All), 7);
}

#[test]
fn one_fault_hits_once_and_a_sticky_one_for_ever() {
    // The third write fails; then the disk is well again, or not.
    for is_sticky in [false, true] {
        let (_, fs) = new_fs();
        let mut file = fs.create(&at("a")).unwrap();
        let plan = if is_sticky { Plan::sticky } else { Plan::once };
        fs.set_plans(vec![plan(Fault::Io, WRITES, 2)]);
        let failed: Vec<bool> = (0..5).map(|_| file.append(b"x").is_err()).collect();
        assert_eq!(failed, [false, false, true, is_sticky, is_sticky]);
        assert_eq!(
            fs.file_size(&at("a")).unwrap(),
            if is_sticky { 2 } else { 4 }
        );
        fs.set_plans(Vec::new());
        file.append(b"x").unwrap();
    }
}

#[test]
fn a_plan_can_be_about_some_files_only() {
    // Only calls on sorted files are counted and hit.
    let (_, fs) = new_fs();
    fs.set_plans(vec![
        Plan::once(Fault::NoSpace, Calls::Mutating, 1).in_files(".sst"),
    ]);
    write_file(&fs, &at("1.wal"), b"x");
    let mut file = fs.create(&at("1.sst")).unwrap();
    let error = file.append(b"x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfSpace);
    assert!(error.to_string().contains("1.sst"), "{error}");
}

#[test]
fn a_short_write_leaves_a_part() {
    // Some seed leaves more than nothing and less than all.
    let (_, fs) = new_fs();
    fs.set_plans(vec![Plan::sticky(Fault::ShortWrite, WRITES, 0)]);
    let mut has_part = false;
    for _ in 0..20 {
        let mut log = fs.open_log(&at("1.wal"), 512).unwrap();
        assert!(log.write_at(0, &[7; 100]).is_err());
        let len = read_file(&fs, &at("1.wal"))
            .iter()
            .filter(|byte| **byte == 7)
            .count();
        has_part |= (1..100).contains(&len);
        fs.remove_file(&at("1.wal")).unwrap();
    }
    assert!(has_part);
}

#[test]
fn a_lost_sync_is_not_repaired_by_the_next() {
    // The trap that a second sync "succeeds": the crash shows that the bytes are gone.
    let (sim, fs) = new_fs();
    let mut log = fs.open_log(&at("1.wal"), 512 * 64).unwrap();
    log.syncer().sync().unwrap();
    fs.sync_dir(Path::new(DIR)).unwrap();
    log.write_at(0, &[7; 512 * 64]).unwrap();
    fs.set_plans(vec![Plan::once(Fault::LostSync, SYNCS, 0)]);
    assert!(log.syncer().sync().is_err());
    log.syncer().sync().unwrap();
    assert!(read_file(&fs, &at("1.wal")) == [7; 512 * 64]);
    let image = sim.crash_image(CrashMode::KeepAll, 1);
    assert!(read_file(&image, &at("1.wal")).contains(&0));
}

#[test]
fn a_flipped_bit_is_one_bit() {
    // The read succeeds, and only a checksum can tell.
    let (_, fs) = new_fs();
    write_file(&fs, &at("a"), &[0; 1000]);
    fs.set_plans(vec![Plan::once(Fault::BitFlip, READS, 0)]);
    let bytes = read_file(&fs, &at("a"));
    assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    assert!(read_file(&fs, &at("a")) == [0; 1000]);
}

#[test]
fn a_map_is_a_read_of_all_the_file() {
    // One flipped bit, the same each time; a map that is refused; and none without power.
    let (_, fs) = new_fs();
    write_file(&fs, &at("a"), &[0; 1000]);
    let file = fs.open_read(&at("a")).unwrap();
    fs.set_plans(vec![
        Plan::once(Fault::BitFlip, READS, 0),
        Plan::once(Fault::Io, READS, 1),
        Plan::once(Fault::PowerOff, READS, 3),
    ]);
    let flipped = file.map(Unchanging::word()).unwrap();
    for _ in 0..2 {
        let bytes = flipped.bytes(0, 1000).unwrap();
        assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
    assert!(file.map(Unchanging::word()).is_none());
    assert_eq!(
        file.map(Unchanging::word()).unwrap().bytes(0, 1000),
        Some(&[0; 1000][..])
    );
    assert!(file.map(Unchanging::word()).is_none() && fs.is_off());
}

#[test]
fn the_call_in_flight_at_a_power_cut_may_survive() {
    // At each call of a small work: everything fails from there on, what was acknowledged as
    // durable before is in every image, and the write in flight is in some.
    let work = |fs: &FaultFs| -> Result<bool> {
        let mut file = fs.create(&at("a"))?;
        file.append(b"one")?;
        file.sync()?;
        fs.sync_dir(Path::new(DIR))?;
        Ok(true)
    };
    let mut in_flight_seen = false;
    for skip in 0..=4 {
        let (sim, fs) = new_fs();
        fs.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
        let is_acknowledged = work(&fs).unwrap_or(false);
        assert_eq!(is_acknowledged, skip == 4);
        assert_eq!(fs.is_off(), skip < 4);
        assert_eq!(fs.list(Path::new(DIR)).is_err(), skip < 4);
        for (seed, mode) in (0..100).flat_map(|seed| CrashMode::ALL.map(|mode| (seed, mode))) {
            let image = sim.crash_image(mode, seed);
            let is_there = image.exists(&at("a")).unwrap();
            assert!(is_there || !is_acknowledged);
            if is_there {
                let bytes = read_file(&image, &at("a"));
                assert!(bytes == b"one" || !is_acknowledged);
                in_flight_seen |= skip == 1 && bytes == b"one";
            }
        }
    }
    assert!(in_flight_seen);
}

#[test]
fn a_plan_works_on_real_files_too() {
    // Any file system can be wrapped.
    let dir = tempfile::tempdir().unwrap();
    let fs = FaultFs::new(Arc::new(crate::env::real::fs::RealFs), 1);
    let path = dir.path().join("a");
    let mut file = fs.create(&path).unwrap();
    fs.set_plans(vec![Plan::once(Fault::LostSync, SYNCS, 0)]);
    file.append(b"x").unwrap();
    assert_eq!(file.sync().unwrap_err().kind(), ErrorKind::Io);
    file.sync().unwrap();
    assert_eq!(read_file(&fs, &path), b"x");
}
