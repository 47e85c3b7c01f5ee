//! The folder `lost`: what a recovery keeps there is whole, bounded, and inside the directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::crash::CrashMode;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::world::SimWorld;
use esker::{Builder, Db, ErrorKind};

use crate::stored_bytes::{read, write};

const DIR: &str = "/db";
const KEPT: &str = "/db/lost/torn";

fn builder(world: &SimWorld) -> Builder {
    let builder = Db::builder(DIR).env(world.env());
    builder.set("wal.segment_size", "64KiB").unwrap()
}

/// A killed database whose log has a hole with intact records behind it; and that segment.
fn torn() -> (SimWorld, PathBuf) {
    let world = SimWorld::new(3);
    let db = builder(&world).open().unwrap();
    for number in 0..300 {
        db.put(format!("key {number:05}"), [b'v'; 40]).unwrap();
    }
    let next = world.after_kill();
    drop(db);
    let names = next.fs.list(Path::new(DIR)).unwrap();
    let paths = names.iter().map(|name| Path::new(DIR).join(name));
    let wals = paths.filter(|path| path.extension().is_some_and(|end| end == "wal"));
    let text = b"key 00020";
    let place = |path: PathBuf| {
        let bytes = read(&*next.fs, &path);
        let at = bytes.windows(text.len()).position(|window| window == text);
        at.map(|at| (path, at, bytes.len()))
    };
    let (path, at, len) = wals.filter_map(place).next().unwrap();
    let mut log = next.fs.open_log(&path, len as u64).unwrap();
    log.write_at(at as u64, b"x").unwrap();
    log.syncer().sync().unwrap();
    next.fs.sync_dir(Path::new(DIR)).unwrap();
    (next, path)
}

fn kept(world: &SimWorld) -> Vec<String> {
    let mut names = world.fs.list(Path::new(KEPT)).unwrap();
    names.sort();
    names
}

#[test]
fn a_copy_is_whole_or_not_there() {
    // The power goes at every call of an opening that keeps a torn segment aside: under its name
    // there is all of it or nothing, and the next opening keeps it.
    let mut skip = 0;
    loop {
        let (world, segment) = torn();
        let copy = Path::new(KEPT).join(segment.file_name().unwrap());
        let fault = FaultFs::over_sim(&world.fs, skip);
        fault.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
        let opened = builder(&world)
            .env(world.env_with(Arc::new(fault.clone())))
            .open();
        drop(opened);
        let mode = CrashMode::ALL[skip as usize % CrashMode::ALL.len()];
        let image = world.fs.crash_image(mode, skip);
        let after = SimWorld::with_disk(image, Arc::clone(&world.clock), 0);
        let whole = |world: &SimWorld| {
            let bytes = read(&*world.fs, &copy);
            let last = b"key 00299";
            bytes.windows(last.len()).any(|window| window == last)
        };
        if after.fs.exists(&copy).unwrap() {
            assert!(whole(&after), "call {skip}, {mode:?}: half a copy");
        }
        drop(builder(&after).open().unwrap());
        assert!(whole(&after), "call {skip}, {mode:?}");
        if !fault.is_off() {
            break;
        }
        skip += 1;
    }
    assert!(skip > 10, "only {skip} calls were met");
}

#[test]
fn copies_have_a_bound_and_the_oldest_go_first() {
    // A hundred copies of earlier recoveries, one of them huge, and a draft that a crash left. What
    // a repair took out lies beside them and is nobody's to remove.
    let (world, segment) = torn();
    let name = segment.file_name().unwrap().to_str().unwrap().to_string();
    let dir = Path::new(KEPT);
    world.fs.create_dir_all(dir).unwrap();
    let old = |number: u64| format!("{number:06}.wal");
    let number: u64 = name[..6].parse().unwrap();
    for other in number + 1..=number + 100 {
        write(&*world.fs, &dir.join(old(other)), b"old");
    }
    let huge = old(number + 60);
    world.fs.open_log(&dir.join(&huge), 2 << 30).unwrap();
    write(&*world.fs, &dir.join("000003.tmp"), b"draft");
    write(&*world.fs, &dir.join("note.txt"), b"the user's");
    write(&*world.fs, Path::new("/db/lost/000001.wal"), b"a repair's");
    builder(&world).open().unwrap().close().unwrap();
    let kept = kept(&world);
    assert!(kept.contains(&name), "{kept:?}");
    assert!(kept.contains(&"note.txt".to_string()), "{kept:?}");
    assert!(!kept.contains(&"000003.tmp".to_string()), "{kept:?}");
    // The newest that fit: those behind the huge one.
    let expected = (number + 61..=number + 100).map(old);
    let others = kept
        .iter()
        .filter(|one| **one != name && **one != "note.txt");
    assert!(others.eq(expected.collect::<Vec<_>>().iter()), "{kept:?}");
    assert!(world.fs.exists(Path::new("/db/lost/000001.wal")).unwrap());
}

#[test]
fn without_room_for_a_copy_nothing_is_cut_off() {
    // The opening says so; and older copies give way where that makes enough room.
    let (world, segment) = torn();
    let dir = Path::new(KEPT);
    world.fs.create_dir_all(dir).unwrap();
    write(&*world.fs, &dir.join("000001.wal"), &[1; 4096]);
    let name = segment.file_name().unwrap().to_str().unwrap().to_string();
    let before = read(&*world.fs, &segment);
    world.fs.set_free_bytes(1000);
    let error = builder(&world).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::OutOfSpace, "{error}");
    assert!(error.to_string().contains("lost"), "{error}");
    assert!(read(&*world.fs, &segment) == before);
    assert_eq!(kept(&world), ["000001.wal"]);
    world.fs.set_free_bytes(1 << 30);
    write(&*world.fs, &dir.join("000001.wal"), &vec![1; 8 << 20]);
    world.fs.set_free_bytes(1000);
    drop(builder(&world).open().unwrap());
    let names = kept(&world);
    assert!(
        names.contains(&name) && !names.contains(&"000001.wal".to_string()),
        "{names:?}"
    );
}
