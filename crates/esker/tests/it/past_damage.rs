//! Reading past damage: what a repair would keep, of a database that stays as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::world::SimWorld;
use esker::{Builder, Db, ErrorKind, RepairOptions, repair_in};

type Contents = BTreeMap<String, Vec<(Vec<u8>, Vec<u8>)>>;

const DIR: &str = "db";
const SCRATCH: &str = "scratch";

fn builder(env: &Env) -> Builder {
    let settings = [
        ("merge_operator", "uint64add"),
        ("value_log.threshold", "300B"),
        ("sst.dictionary_min", "4KiB"),
        ("compaction.automatic", "false"),
    ];
    let builder = Db::builder(DIR).env(env.clone());
    let set = settings
        .iter()
        .try_fold(builder, |builder, (name, text)| builder.set(name, text));
    set.unwrap()
}

// Blocks and a searchable file under a file with newer rows, large values, sums; and a log.
fn filled() -> SimWorld {
    let world = SimWorld::new(5);
    let db = builder(&world.env()).open().unwrap();
    let texts = db.keyspace("texts").unwrap();
    texts.set("compression", "searchable").unwrap();
    for round in 0..2u64 {
        for number in 0..600 {
            let value = format!("entry {number} of the book of entries, round {round}");
            db.put(format!("key{number:05}"), value.clone()).unwrap();
            texts.put(format!("text{number:05}"), value).unwrap();
        }
        for number in 0..3 {
            db.put(format!("large{number}"), vec![b'0' + round as u8; 1000])
                .unwrap();
        }
        db.delete_range("key00100".."key00110").unwrap();
        db.merge("sum", (round + 1).to_le_bytes()).unwrap();
        match round {
            0 => {
                db.compact::<&[u8]>(..).unwrap();
                texts.compact::<&[u8]>(..).unwrap();
            }
            _ => db.flush_all().unwrap(),
        }
    }
    for number in 0..5 {
        db.put(format!("late{number}"), "in the log").unwrap();
        db.merge("sum", 10u64.to_le_bytes()).unwrap();
        db.sync().unwrap();
    }
    std::mem::forget(db);
    world.after_kill()
}

fn names(env: &Env, ending: &str) -> Vec<PathBuf> {
    let mut names = env.fs.list(Path::new(DIR)).unwrap();
    names.retain(|name| name.contains(ending));
    names.sort();
    let paths = names.iter().map(|name| Path::new(DIR).join(name));
    paths.collect()
}

fn image(env: &Env) -> BTreeMap<PathBuf, Vec<u8>> {
    let read = |path: PathBuf| {
        let file = env.fs.open_read(&path).unwrap();
        let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        (path, bytes)
    };
    names(env, "").into_iter().map(read).collect()
}

fn contents(db: &Db) -> Contents {
    let read = |name: String| {
        let keyspace = db.existing_keyspace(&name).unwrap();
        let entries = keyspace.iter().unwrap().map(Result::unwrap);
        let rows = entries.map(|(key, value)| (key.to_vec(), value.to_vec()));
        (name, rows.collect())
    };
    db.keyspaces().into_iter().map(read).collect()
}

fn harm(env: &Env, path: &Path, share: u64) {
    let size_bytes = env.fs.file_size(path).unwrap();
    let mut file = env.fs.open_log(path, size_bytes).unwrap();
    let offset = size_bytes * share / 100;
    file.write_at(offset, &[0xde, 0xad, 0xbe, 0xef]).unwrap();
}

// A byte in the middle of the first place in such a file that reads so.
fn overwrite(env: &Env, ending: &str, text: &[u8]) {
    let files = image(env).into_iter();
    let place = |(path, bytes): (PathBuf, Vec<u8>)| {
        let is_file = path.to_str().unwrap().ends_with(ending);
        let at = bytes.windows(text.len()).position(|window| window == text);
        at.filter(|_| is_file).map(|at| (path, at, bytes.len()))
    };
    let (path, at, len) = files.filter_map(place).next().unwrap();
    let mut file = env.fs.open_log(&path, len as u64).unwrap();
    file.write_at((at + text.len() / 2) as u64, b"x").unwrap();
}

// Reads past what `damage` does to a database, and holds it against what a repair keeps of it.
fn check(what: &str, is_lossy: bool, damage: impl Fn(&Env)) {
    let world = filled();
    damage(&world.env());
    let env = world.env();
    env.fs.create_dir_all(Path::new(SCRATCH)).unwrap();
    let before = image(&env);
    let (db, report) = builder(&env).open_past_damage(SCRATCH).unwrap();
    let read = contents(&db);
    assert!(db.verify().unwrap().is_whole(), "{what}");
    drop(db);
    assert_eq!(image(&env), before, "{what}: the database was changed");
    assert_eq!(report.is_lossy(), is_lossy, "{what}: {report}");

    let mut expected = repair_in(&env, Path::new(DIR), RepairOptions::default(), &[]).unwrap();
    expected.moved.clear();
    assert_eq!(report, expected, "{what}");
    assert_eq!(read, contents(&builder(&env).open().unwrap()), "{what}");
    let rows: usize = read.values().map(Vec::len).sum();
    assert!(rows > 600, "{what}: {rows} rows");
}

#[test]
fn what_a_repair_would_keep_is_read_and_nothing_is_changed() {
    // Each kind of file in turn, and the names of all of them.
    check("whole", false, |_| {});
    for file in 0..4 {
        check("a sorted file", true, |env| {
            harm(env, &names(env, ".sst")[file], 30);
        });
    }
    check("the value log", true, |env| {
        overwrite(env, ".vlog", &[b'1'; 100])
    });
    check("the log", true, |env| overwrite(env, ".wal", b"late1"));
    check("CURRENT", false, |env| {
        env.fs.remove_file(&Path::new(DIR).join("CURRENT")).unwrap();
    });
    check("all manifests", true, |env| {
        for path in names(env, "MANIFEST") {
            env.fs.remove_file(&path).unwrap();
        }
    });
}

#[test]
fn nobody_writes_meanwhile() {
    // A writer keeps us away, and we keep writers away until we are done.
    let world = filled();
    let env = world.env();
    env.fs.create_dir_all(Path::new(SCRATCH)).unwrap();
    let db = builder(&env).open().unwrap();
    let refused = builder(&env).open_past_damage(SCRATCH).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    db.close().unwrap();
    let (past, _) = builder(&env).open_past_damage(SCRATCH).unwrap();
    let refused = builder(&env).open().err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    assert_eq!(past.put("a", "b").unwrap_err().kind(), ErrorKind::Invalid);
    drop(past);
    builder(&env).open().unwrap();
}

#[test]
fn a_medium_without_locks_is_read_past_damage() {
    // A dry run reads it there, since nobody can write to it either; and so does this.
    let world = filled();
    let env = world.env();
    env.fs.create_dir_all(Path::new(SCRATCH)).unwrap();
    let fault = FaultFs::over_sim(&world.fs, 0);
    let lock = Plan::sticky(Fault::Io, Calls::Of(CallClass::Look), 0).in_files("LOCK");
    fault.set_plans(vec![lock]);
    let bare = world.env_with(Arc::new(fault));
    let dry = RepairOptions { dry_run: true };
    let report = repair_in(&bare, Path::new(DIR), dry, &[]).unwrap();
    assert!(report.is_whole(), "{report}");
    let (db, report) = builder(&bare).open_past_damage(SCRATCH).unwrap();
    assert!(report.is_whole(), "{report}");
    assert!(contents(&db).values().map(Vec::len).sum::<usize>() > 600);
}
