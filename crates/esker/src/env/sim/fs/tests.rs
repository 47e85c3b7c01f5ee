//! Tests of `fs`.

use std::collections::BTreeSet;

use super::*;
use crate::env::fs::contract::{check_all, names, read_file, write_file};

const DIR: &str = "/db";

fn new_fs() -> SimFs {
    let fs = SimFs::new(1);
    fs.create_dir_all(Path::new(DIR)).unwrap();
    fs
}

fn at(name: &str) -> PathBuf {
    Path::new(DIR).join(name)
}

fn sync_names(fs: &SimFs) {
    fs.sync_dir(Path::new(DIR)).unwrap();
}

// What is in the directory after many power cuts of all kinds: names with contents.
fn survivals(fs: &SimFs) -> BTreeSet<Vec<(String, Vec<u8>)>> {
    let mut found = BTreeSet::new();
    for mode in CrashMode::ALL {
        for seed in 0..200 {
            let image = fs.crash_image(mode, seed);
            let files = names(&image, Path::new(DIR)).into_iter();
            found.insert(
                files
                    .map(|name| {
                        let bytes = read_file(&image, &at(&name));
                        (name, bytes)
                    })
                    .collect(),
            );
        }
    }
    found
}

fn disk_with(files: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    let files = files.iter();
    files
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()))
        .collect()
}

#[test]
fn the_simulated_file_system_keeps_the_contract() {
    // What the operating system does, the simulation does too.
    check_all(&new_fs(), Path::new("/root/of/it"));
    check_all(&new_fs(), Path::new("relative"));
}

#[test]
fn synced_bytes_under_a_synced_name_survive_everything() {
    // The promise under which the engine acknowledges.
    let fs = new_fs();
    write_file(&fs, &at("1.wal"), b"durable");
    sync_names(&fs);
    let expected = disk_with(&[("1.wal", b"durable")]);
    assert_eq!(survivals(&fs), BTreeSet::from([expected]));
}

#[test]
fn synced_bytes_under_an_unsynced_name_may_vanish() {
    // Syncing a new file is not enough: its directory must be synced too.
    let fs = new_fs();
    write_file(&fs, &at("1.wal"), b"bytes");
    let expected = [disk_with(&[]), disk_with(&[("1.wal", b"bytes")])];
    assert_eq!(survivals(&fs), BTreeSet::from(expected));
}

#[test]
fn unsynced_bytes_under_a_synced_name_may_vanish() {
    // Syncing the directory is not enough: the file must be synced too.
    let fs = new_fs();
    let mut file = fs.create(&at("1.wal")).unwrap();
    file.append(b"bytes").unwrap();
    sync_names(&fs);
    let found = survivals(&fs);
    let expected: [&[u8]; 3] = [b"", b"bytes", b"\0\0\0\0\0"];
    assert_eq!(
        found,
        BTreeSet::from(expected.map(|bytes| disk_with(&[("1.wal", bytes)])))
    );
}

#[test]
fn an_unsynced_rename_is_seen_whole_or_not_at_all() {
    // CURRENT always names something: the old manifest or the new.
    let fs = new_fs();
    write_file(&fs, &at("CURRENT"), b"1");
    write_file(&fs, &at("CURRENT.tmp"), b"2");
    sync_names(&fs);
    fs.rename(&at("CURRENT.tmp"), &at("CURRENT")).unwrap();
    let before = disk_with(&[("CURRENT", b"1"), ("CURRENT.tmp", b"2")]);
    let after = disk_with(&[("CURRENT", b"2")]);
    assert_eq!(survivals(&fs), BTreeSet::from([before, after.clone()]));
    sync_names(&fs);
    assert_eq!(survivals(&fs), BTreeSet::from([after]));
}

#[test]
fn unsynced_removals_and_links_come_back_or_go() {
    // Each change of names is on its own; the journal may or may not keep their order.
    let fs = new_fs();
    write_file(&fs, &at("a"), b"a");
    sync_names(&fs);
    fs.hard_link(&at("a"), &at("b")).unwrap();
    fs.remove_file(&at("a")).unwrap();
    let states: [&[(&str, &[u8])]; 4] = [
        &[("a", b"a")],
        &[("a", b"a"), ("b", b"a")],
        &[("b", b"a")],
        &[],
    ];
    assert_eq!(survivals(&fs), BTreeSet::from(states.map(disk_with)));
}

#[test]
fn a_rename_between_directories_is_one_change() {
    // Syncing one of the two makes both sides durable, with what they build on.
    let fs = new_fs();
    let other = Path::new("/other");
    fs.create_dir_all(other).unwrap();
    write_file(&fs, &other.join("f"), b"f");
    fs.rename(&other.join("f"), &at("f")).unwrap();
    sync_names(&fs);
    for mode in CrashMode::ALL {
        let image = fs.crash_image(mode, 3);
        assert_eq!(names(&image, Path::new(DIR)), ["f"]);
        assert!(names(&image, other).is_empty());
    }
}

#[test]
fn a_recycled_log_keeps_its_durable_sectors() {
    // The new name and the new bytes are unsynced; what lies below is the old segment.
    let fs = new_fs();
    let mut log = fs.open_log(&at("1.wal"), 1024).unwrap();
    log.write_at(0, &[1; 1024]).unwrap();
    log.syncer().sync().unwrap();
    drop(log);
    sync_names(&fs);
    fs.rename(&at("1.wal"), &at("2.wal")).unwrap();
    let mut log = fs.open_log(&at("2.wal"), 1024).unwrap();
    log.write_at(0, &[2; 512]).unwrap();
    let (old, new) = (vec![1; 1024], [vec![2; 512], vec![1; 512]].concat());
    let states = ["1.wal", "2.wal"]
        .into_iter()
        .flat_map(|name| [disk_with(&[(name, &old)]), disk_with(&[(name, &new)])]);
    assert_eq!(survivals(&fs), states.collect());
}

#[test]
fn a_removed_directory_comes_back_with_its_files() {
    // Nothing about the removal was synced, so all of it may be undone, but never half a tree.
    let fs = new_fs();
    let (dir, file) = (at("old"), at("old").join("f"));
    fs.create_dir_all(&dir).unwrap();
    write_file(&fs, &file, b"f");
    fs.sync_dir(&dir).unwrap();
    fs.remove_file(&file).unwrap();
    fs.remove_dir(&dir).unwrap();
    assert!(!fs.exists(&dir).unwrap());
    let image = fs.crash_image(CrashMode::LoseUnsynced, 1);
    assert_eq!(read_file(&image, &file), b"f");
    sync_names(&fs);
    let image = fs.crash_image(CrashMode::LoseUnsynced, 1);
    assert!(!image.exists(&dir).unwrap());
}

#[test]
fn after_a_crash_old_handles_fail() {
    // Whoever still runs belongs to the past.
    let fs = new_fs();
    let mut file = fs.create(&at("a")).unwrap();
    file.append(b"x").unwrap();
    let mut log = fs.open_log(&at("1.wal"), 512).unwrap();
    let (reader, lock) = (
        fs.open_read(&at("a")).unwrap(),
        fs.lock(&at("LOCK")).unwrap(),
    );
    let image = fs.crash(CrashMode::KeepAll, 1);
    assert!(file.append(b"y").is_err() && file.sync().is_err());
    assert!(log.write_at(0, b"y").is_err() && log.syncer().sync().is_err());
    assert!(reader.read_at(0, &mut [0]).is_err());
    assert!(fs.list(Path::new(DIR)).is_err() && fs.lock(&at("LOCK")).is_err());
    assert_eq!(read_file(&image, &at("a")), b"x");
    image.lock(&at("LOCK")).unwrap();
    drop(lock);
}

#[test]
fn a_killed_process_loses_nothing_but_a_later_power_cut_does() {
    // The page cache outlives the process, not the machine.
    let fs = new_fs();
    write_file(&fs, &at("a"), b"1");
    sync_names(&fs);
    let mut file = fs.create(&at("b")).unwrap();
    file.append(b"unsynced").unwrap();
    let killed = fs.kill();
    assert!(fs.exists(&at("a")).is_err());
    assert_eq!(read_file(&killed, &at("b")), b"unsynced");
    let cut = killed.crash(CrashMode::LoseUnsynced, 1);
    assert_eq!(names(&cut, Path::new(DIR)), ["a"]);
}

#[test]
fn the_same_seed_gives_the_same_image() {
    // A failing seed can be run again.
    let fs = new_fs();
    let mut file = fs.create(&at("a")).unwrap();
    for value in 0..40 {
        file.append(&[value; 300]).unwrap();
    }
    sync_names(&fs);
    let image = |seed| {
        let image = fs.crash_image(CrashMode::Sectors, seed);
        read_file(&image, &at("a"))
    };
    let distinct: BTreeSet<Vec<u8>> = (0..50).map(image).collect();
    assert!(distinct.len() > 20);
    assert!((0..50).all(|seed| image(seed) == image(seed)));
}

#[test]
fn every_changing_call_has_a_number() {
    // Sweeps crash at each of them; looking does not count.
    let fs = SimFs::new(1);
    fs.create_dir_all(Path::new(DIR)).unwrap();
    let mut file = fs.create(&at("a")).unwrap();
    file.append(b"x").unwrap();
    file.sync().unwrap();
    fs.rename(&at("a"), &at("b")).unwrap();
    fs.hard_link(&at("b"), &at("c")).unwrap();
    fs.remove_file(&at("c")).unwrap();
    sync_names(&fs);
    let mut log = fs.open_log(&at("1.wal"), 512).unwrap();
    log.write_at(0, b"x").unwrap();
    log.syncer().sync().unwrap();
    drop(fs.lock(&at("LOCK")).unwrap());
    fs.remove_dir(Path::new(DIR)).unwrap_err();
    assert_eq!(fs.call_count(), 13);
    read_file(&fs, &at("b"));
    names(&fs, Path::new(DIR));
    fs.exists(&at("b")).unwrap();
    assert_eq!(fs.call_count(), 13);
}

#[test]
fn a_full_disk_takes_what_fits_and_gives_back_what_is_removed() {
    // Room comes back when the last name is gone, or when somebody buys a larger disk.
    let fs = new_fs();
    let dir = Path::new(DIR);
    write_file(&fs, &at("a"), &[1; 600]);
    fs.set_free_bytes(100);
    let mut file = fs.create(&at("b")).unwrap();
    let error = file.append(&[2; 150]).unwrap_err();
    assert_eq!(error.io_kind(), Some(Os::StorageFull));
    assert_eq!(fs.file_size(&at("b")).unwrap(), 100);
    assert_eq!(fs.free_bytes(dir).unwrap(), 0);
    assert!(fs.open_log(&at("1.wal"), 512).is_err());
    assert!(!fs.exists(&at("1.wal")).unwrap());
    fs.hard_link(&at("a"), &at("c")).unwrap();
    sync_names(&fs);
    fs.remove_file(&at("a")).unwrap();
    sync_names(&fs);
    assert_eq!(fs.free_bytes(dir).unwrap(), 0);
    fs.remove_file(&at("c")).unwrap();
    sync_names(&fs);
    assert_eq!(fs.free_bytes(dir).unwrap(), 600);
    fs.set_free_bytes(5_000);
    fs.open_log(&at("1.wal"), 5_000).unwrap();
}
