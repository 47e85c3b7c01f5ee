//! Sets of files through crashes and failing disks: all of one is taken in, or nothing.
//!
//! A story of writing, taking in, exporting and moving sets is played once to learn what holds
//! after each of its steps. Then it is played again, and at every call of the file system the power
//! fails, or the call does: each database and each set is as it was before the step or as it is
//! behind it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimFs, SimWorld};
use esker::{Db, ErrorKind, IngestOptions, KeyspaceOptions, Place, SstWriter, Transfer, merge};

use crate::watched_fs::{Eye, Lie, WatchedFs};
use crate::workload::patient_env;

/// What keyspaces hold that hold anything.
type State = BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>>;

/// What databases and finished sets hold, by their directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Scene {
    dbs: BTreeMap<&'static str, State>,
    sets: BTreeMap<&'static str, Option<State>>,
}

const DBS: [&str; 2] = ["/db", "/other"];
const SETS: [&str; 5] = ["/written", "/more", "/export", "/one", "/large"];
const STEPS: usize = 13;

fn open_at(env: &Env, dir: &str) -> esker::Result<Db> {
    let settings = [
        ("memtable.size", "16KiB"),
        ("wal.segment_size", "64KiB"),
        ("value_log.threshold", "1000B"),
        ("memory_limit", "4MiB"),
        ("merge_operator", "append:,"),
        ("durability", "sync"),
    ];
    let mut builder = Db::builder(dir).env(env.clone());
    for (name, text) in settings {
        builder = builder.set(name, text)?;
    }
    builder.open()
}

fn options() -> KeyspaceOptions {
    let mut options = KeyspaceOptions::default().merge_operator(merge::append(","));
    options.sst.file_size_bytes = 1 << 10;
    options
}

fn key(number: u32) -> Vec<u8> {
    format!("k{number:03}").into_bytes()
}

/// The databases of the story, each from the step on that first needs it.
#[derive(Default)]
struct Stage {
    dbs: RefCell<BTreeMap<&'static str, Db>>,
}

impl Stage {
    fn db(&self, env: &Env, dir: &'static str) -> esker::Result<Db> {
        if let Some(db) = self.dbs.borrow().get(dir) {
            return Ok(db.clone());
        }
        let db = open_at(env, dir)?;
        self.dbs.borrow_mut().insert(dir, db.clone());
        Ok(db)
    }

    fn step(&self, env: &Env, step: usize) -> esker::Result<()> {
        let all = IngestOptions::default();
        let write = |dir: &str, numbers: std::ops::Range<u32>, tag: &str| {
            let mut writer = SstWriter::create_in(env, Path::new(dir), options())?;
            writer.delete_range(key(50), key(55))?;
            for number in numbers {
                match number % 7 {
                    0 => writer.delete(key(number))?,
                    1 => writer.merge(key(number), tag)?,
                    _ => writer.put(key(number), tag.repeat(30))?,
                }
            }
            writer.finish().map(drop)
        };
        match step {
            0 => {
                let db = self.db(env, "/db")?;
                let ships = db.keyspace("ships")?;
                let mut batch = db.batch();
                for number in 0..60 {
                    batch.put(&db, key(number), "old");
                    batch.put(&ships, key(number), "old ship");
                }
                batch.commit()?;
            }
            1 => write("/written", 20..90, "w")?,
            2 => {
                // By links into two keyspaces at once, and what is in memory lies below.
                let db = self.db(env, "/db")?;
                let ships = db.keyspace("ships")?;
                db.ingest_all(&[(&db, "/written"), (&ships, "/written")], &all)?;
            }
            3 => {
                self.db(env, "/db")?.put(key(21), "later")?;
                self.db(env, "/other")?.put(key(30), "own")?;
            }
            4 => {
                let db = self.db(env, "/db")?;
                let ships = db.keyspace("ships")?;
                db.export_all(&[&db, &ships], "/export")?;
            }
            5 => {
                self.db(env, "/db")?.compact::<&str>(..)?;
                write("/more", 70..120, "m")?;
            }
            6 => {
                // Copied, and below.
                let below = all.transfer(Transfer::Copy).place(Place::Below);
                self.db(env, "/db")?.ingest("/more", &below)?;
            }
            7 => {
                let other = self.db(env, "/other")?;
                other.ingest_by_name("/export", &all)?;
            }
            8 => {
                // What one side removes stays on the other.
                let other = self.db(env, "/other")?;
                other.delete_range(key(0)..key(80))?;
                other.compact::<&str>(..)?;
            }
            9 => {
                let db = self.db(env, "/db")?;
                db.existing_keyspace("ships")
                    .expect("made")
                    .export("/one")?;
            }
            10 => {
                let moved = all.transfer(Transfer::Move);
                self.db(env, "/other")?.ingest("/one", &moved)?;
            }
            11 => {
                let db = self.db(env, "/db")?;
                db.put(key(200), "large ".repeat(400))?;
                db.export("/large")?;
            }
            // Written anew, for its values lie elsewhere.
            _ => drop(self.db(env, "/other")?.ingest("/large", &all)?),
        }
        Ok(())
    }

    fn close(&self) {
        for (_, db) in std::mem::take(&mut *self.dbs.borrow_mut()) {
            db.close().unwrap();
        }
    }
}

fn state_of(db: &Db) -> State {
    let names = db.keyspaces().into_iter();
    let states = names.map(|name| {
        let keyspace = db.existing_keyspace(&name).unwrap();
        let entries = keyspace.iter().unwrap().map(|entry| entry.unwrap());
        let entries = entries.map(|(key, value)| (key.to_vec(), value.to_vec()));
        (name, entries.collect())
    });
    let states: State = states.collect();
    let filled = states
        .into_iter()
        .filter(|(_, entries)| !entries.is_empty());
    filled.collect()
}

/// What a database holds that lies there, or is made there now.
fn look_at_db(env: &Env, dir: &str) -> Result<State, String> {
    let db = open_at(env, dir).map_err(|error| format!("opening {dir}: {error}"))?;
    let state = state_of(&db);
    let report = db.verify().unwrap();
    if !report.is_whole() {
        return Err(format!("{dir} is not whole: {report:?}"));
    }
    db.close()
        .map_err(|error| format!("closing {dir}: {error}"))?;
    Ok(state)
}

/// What a set holds, as a database has it that takes it in; `None` when it is no finished one.
fn look_at_set(env: &Env, dir: &str) -> Result<Option<State>, String> {
    let db = open_at(env, &format!("/probe{dir}")).unwrap();
    let taken = match dir {
        "/export" => db.ingest_by_name(dir, &IngestOptions::default()).map(drop),
        _ => db.ingest(dir, &IngestOptions::default()).map(drop),
    };
    match taken {
        Ok(()) => Ok(Some(state_of(&db))),
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
        Err(error) => Err(format!("{dir}: {error}")),
    }
}

/// Holds all that is on a disk against what may be there.
fn check(env: &Env, may_be: [&Scene; 2]) -> Result<(), String> {
    let is_one_of = |what: &str, found: &dyn Fn(&Scene) -> bool, told: String| match may_be
        .iter()
        .any(|scene| found(scene))
    {
        true => Ok(()),
        false => Err(format!("{what} has {told}")),
    };
    for dir in SETS {
        let set = look_at_set(env, dir)?;
        is_one_of(dir, &|scene| scene.sets[dir] == set, format!("{set:?}"))?;
    }
    for dir in DBS {
        let state = look_at_db(env, dir)?;
        is_one_of(dir, &|scene| scene.dbs[dir] == state, format!("{state:?}"))?;
    }
    Ok(())
}

fn image_env(sim: &SimFs, mode: CrashMode, seed: u64) -> Env {
    SimWorld::with_disk(sim.crash_image(mode, seed), Arc::default(), seed).env()
}

/// What holds before each step and behind the last one, and the disk as it is then.
fn scenes() -> Vec<(Scene, SimFs)> {
    let world = SimWorld::new(7);
    let stage = Stage::default();
    let mut scenes = Vec::new();
    for step in 0..=STEPS {
        let image = world.fs.crash_image(CrashMode::KeepAll, 1);
        let env = image_env(&image, CrashMode::KeepAll, 1);
        let mut scene = Scene::default();
        for dir in SETS {
            scene.sets.insert(dir, look_at_set(&env, dir).unwrap());
        }
        for dir in DBS {
            scene.dbs.insert(dir, look_at_db(&env, dir).unwrap());
        }
        scenes.push((scene, image));
        if step < STEPS {
            stage.step(&world.env(), step).unwrap();
        }
    }
    stage.close();
    let (last, _) = scenes.last().unwrap();
    let full = ["/written", "/more", "/export", "/large"];
    assert!(full.iter().all(|dir| last.sets[dir].is_some()));
    assert!(last.sets["/one"].is_none(), "it was moved");
    scenes
}

fn sweep(mode: CrashMode, one_in: u64) {
    let scenes = Arc::new(scenes());
    let world = SimWorld::new(9);
    let now = Arc::new(Mutex::new((0, 0_u64, None)));
    let eye: Eye = {
        let (scenes, now) = (Arc::clone(&scenes), Arc::clone(&now));
        Arc::new(move |sim, doing| {
            let (step, call) = {
                let mut now = now.lock().unwrap();
                now.1 += 1;
                (now.0, now.1)
            };
            if call % one_in != 0 || now.lock().unwrap().2.is_some() {
                return;
            }
            let env = image_env(sim, mode, call);
            if let Err(error) = check(&env, [&scenes[step].0, &scenes[step + 1].0]) {
                let text = format!("step {step}, before call {call} ({doing}), {mode:?}: {error}");
                now.lock().unwrap().2 = Some(text);
            }
        })
    };
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let env = world.env_with(Arc::new(watched.clone()));
    let stage = Stage::default();
    for step in 0..STEPS {
        now.lock().unwrap().0 = step;
        stage.step(&env, step).unwrap();
        if let Some(error) = &now.lock().unwrap().2 {
            panic!("{error}");
        }
    }
    watched.shut();
    stage.close();
    let call_count = now.lock().unwrap().1;
    assert!(call_count > 200, "only {call_count} calls");
}

#[test]
fn whatever_call_the_power_fails_at_a_set_is_in_whole_or_not_at_all() {
    // What was not synced is lost: each call.
    sweep(CrashMode::LoseUnsynced, 1);
}

#[test]
fn and_so_it_is_when_pages_survive_as_they_like() {
    sweep(CrashMode::Pages, 3);
    sweep(CrashMode::Prefix, 3);
    sweep(CrashMode::KeepAll, 3);
}

#[test]
fn whatever_call_fails_the_sets_are_as_they_were_and_the_database_too() {
    // A full disk and an error of the device, once each at every call of a step: what was asked for
    // is done or not; and where writing goes on, the step can be taken once more.
    let scenes = scenes();
    let mut hits = 0;
    for (step, fault) in [2, 4, 6, 7, 10, 12]
        .into_iter()
        .flat_map(|step| [(step, Fault::NoSpace), (step, Fault::Io)])
    {
        let calls = match fault {
            Fault::NoSpace => Calls::Mutating,
            _ => Calls::All,
        };
        for skip in 0.. {
            let image = scenes[step].1.crash_image(CrashMode::KeepAll, 1);
            let world = SimWorld::with_disk(image, Arc::default(), 11);
            let faults = FaultFs::over_sim(&world.fs, 11);
            let env = patient_env(&world, Arc::new(faults.clone()));
            let stage = Stage::default();
            stage.db(&env, "/db").unwrap();
            stage.db(&env, "/other").unwrap();
            faults.set_plans(vec![Plan::once(fault, calls, skip)]);
            let taken = stage.step(&env, step);
            let is_met = faults.hit_count() > 0;
            faults.set_plans(Vec::new());
            let told = format!("step {step}, {fault:?} at call {skip}: {taken:?}");
            let image = image_env(&world.fs, CrashMode::KeepAll, 1);
            let (before, after) = (&scenes[step].0, &scenes[step + 1].0);
            if let Err(error) = check(&image, [before, after]) {
                panic!("{told}: {error}");
            }
            let states: Vec<State> = stage.dbs.borrow().values().map(state_of).collect();
            let is_in = |scene: &Scene| {
                let all: Vec<&State> = stage
                    .dbs
                    .borrow()
                    .keys()
                    .map(|dir| &scene.dbs[dir])
                    .collect();
                all.into_iter().eq(&states)
            };
            assert!(is_in(after) || (taken.is_err() && is_in(before)), "{told}");
            let is_faulted = |db: &Db| db.stats().state == "faulted";
            let goes_on = !stage.dbs.borrow().values().any(is_faulted);
            if taken.is_err() && goes_on {
                stage
                    .step(&env, step)
                    .unwrap_or_else(|error| panic!("{told}: {error}"));
            }
            drop(stage);
            if !is_met {
                break;
            }
            hits += 1;
        }
    }
    assert!(hits > 100, "only {hits} faults");
}
