//! What an opening makes of a disk that has lost something, row by row of its table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker::{Db, ErrorKind};
use esker_raft::{Member, ReplicaId};
use esker_server::node::switch::{State, Switches};
use esker_server::node::{Ask, Create, Found, Stages, Work};

use crate::sole_node::{Client, DIR, live, member, new_world, now, open_node, rows};

// A node that has written some, and was killed.
fn written() -> (SimWorld, Client) {
    let world = new_world(5);
    let mut client = Client::default();
    let (mut stages, _) = open_node(&world.env()).unwrap();
    live(&mut stages, &world, 1..60, &mut client).unwrap();
    drop(stages);
    (world.after_kill(), client)
}

// One of which nothing is in files yet, and nothing compacted.
fn written_shortly() -> SimWorld {
    let world = new_world(6);
    let (mut stages, _) = open_node(&world.env()).unwrap();
    live(&mut stages, &world, 1..5, &mut Client::default()).unwrap();
    drop(stages);
    world.after_kill()
}

pub fn files(fs: &dyn Fs, part: &str) -> Vec<PathBuf> {
    let dir = Path::new(DIR).join(part);
    let mut names = fs.list(&dir).unwrap();
    names.sort();
    names.iter().map(|name| dir.join(name)).collect()
}

fn remove_all(fs: &dyn Fs, part: &str) {
    for path in files(fs, part) {
        fs.remove_file(&path).unwrap();
    }
    fs.remove_dir(&Path::new(DIR).join(part)).unwrap();
}

// It is retired, whatever it was told, and its rows are there, in this opening and the next.
fn is_retired_and_keeps_its_rows(world: &SimWorld, client: &Client) {
    let mut told = None;
    for opening in 0..2 {
        let (mut stages, found) = open_node(&world.env()).unwrap();
        assert_eq!(found.running, [], "opening {opening}");
        assert_eq!(found.damaged.len(), 1, "opening {opening}: {found:?}");
        // Later ones find nothing but the word of it, and say as much.
        let why = &found.damaged[0].1;
        assert_eq!(told.get_or_insert_with(|| why.clone()), why);
        assert_eq!(found.dropped, [] as [String; 0]);
        let first = vec![(ReplicaId(1), esker_raft::NodeId(1))];
        let member = member();
        // The same replica never begins again.
        assert!(stages.create(Create { member, first }, now(1000)).is_err());
        let names = stages.db.keyspaces();
        let name = names.iter().find(|name| name.starts_with("r.")).unwrap();
        let kept = stages.db.existing_keyspace(name).unwrap();
        assert!(kept.iter().unwrap().count() > client.acknowledged.len() / 2);
        let known = stages.applying.switches().unwrap();
        assert_eq!(known[0].state, State::Retired);
    }
}

/// A bit of what was durable is another one.
pub fn flip_in_raft_log(world: &SimWorld, at: usize) {
    let segments = files(&*world.fs, "raft");
    let path = segments.iter().rev().nth(1).unwrap_or(&segments[0]);
    let mut bytes = vec![0; world.fs.file_size(path).unwrap() as usize];
    let file = world.fs.open_read(path).unwrap();
    file.read_at(0, &mut bytes).unwrap();
    bytes[at] ^= 4;
    let mut file = world.fs.open_log(path, bytes.len() as u64).unwrap();
    file.write_at(0, &bytes).unwrap();
    file.syncer().sync().unwrap();
}

/// The engine's database of the node, which does not run.
fn database(world: &SimWorld) -> Db {
    let db = Db::builder(Path::new(DIR).join("db")).env(world.env());
    db.open().unwrap()
}

#[test]
fn a_raft_log_that_was_wiped_retires_its_replicas() {
    let (world, client) = written();
    remove_all(&*world.fs, "raft");
    is_retired_and_keeps_its_rows(&world, &client);
}

#[test]
fn a_raft_log_that_was_wiped_is_no_beginning_though_nothing_was_flushed() {
    let world = written_shortly();
    remove_all(&*world.fs, "raft");
    let (_stages, found) = open_node(&world.env()).unwrap();
    assert_eq!(
        (found.running.len(), found.damaged.len()),
        (0, 1),
        "{found:?}"
    );
}

#[test]
fn a_raft_log_that_is_damaged_retires_its_replicas() {
    let (world, client) = written();
    flip_in_raft_log(&world, 1000);
    is_retired_and_keeps_its_rows(&world, &client);
}

#[test]
fn a_keyspace_that_is_missing_retires_its_replica() {
    let (world, _) = written();
    {
        let db = database(&world);
        let names = db.keyspaces();
        let name = names.iter().find(|name| name.starts_with("r.")).unwrap();
        db.drop_keyspace(name).unwrap();
    }
    let (_stages, found) = open_node(&world.env()).unwrap();
    assert_eq!(found.damaged.len(), 1, "{found:?}");
}

#[test]
fn a_database_that_was_wiped_under_its_node_is_refused() {
    for parts in [&["db", "raft"][..], &["db"][..]] {
        let (world, _) = written();
        for part in parts {
            remove_all(&*world.fs, part);
        }
        let error = open_node(&world.env()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{parts:?}: {error}");
    }
}

#[test]
fn rows_without_a_record_are_not_thrown_away() {
    let (world, _) = written();
    {
        let db = database(&world);
        let switches = Switches::new(&db.keyspace("node").unwrap());
        switches.remove(member().group).unwrap();
    }
    for _ in 0..2 {
        let error = open_node(&world.env()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
    }
}

#[test]
fn a_second_process_is_refused() {
    let (world, _) = written();
    let opened = open_node(&world.env()).unwrap();
    let error = open_node(&world.env()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    drop(opened);
}

fn settle(stages: &mut Stages, tick: u64) -> esker::Result<()> {
    for _ in 0..4 {
        stages.turn(now(tick), true);
        stages.write_log(now(tick))?;
        stages.apply(now(tick), 100)?;
    }
    Ok(())
}

// Destroys the replica while power may fail at the `skip`th call that changes the disk.
fn purge(world: &SimWorld, skip: u64) -> (u64, bool) {
    let faulty = Arc::new(FaultFs::new(Arc::clone(&world.fs) as Arc<dyn Fs>, 1));
    let (mut stages, _) = open_node(&world.env_with(Arc::clone(&faulty) as Arc<dyn Fs>)).unwrap();
    let before = faulty.counts().mutating();
    faulty.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
    let purged = stages.purge(member(), now(1000));
    let done = purged.and_then(|()| settle(&mut stages, 1000));
    (faulty.counts().mutating() - before, done.is_ok())
}

#[test]
fn a_replica_that_was_purged_is_gone_for_good_at_whatever_call_the_power_fails() {
    let (image, _) = written();
    let count = purge(&image.after_kill(), u64::MAX).0;
    assert!(count > 5, "{count}");
    let mut finished = 0;
    for skip in 0..count {
        let world = image.after_kill();
        let (_, is_done) = purge(&world, skip);
        let after = world.after_crash(CrashMode::ALL[(skip % 5) as usize], skip);
        let (mut stages, found) = open_node(&after.env()).unwrap();
        assert_eq!(found.damaged.len(), 0, "call {skip}: {:?}", found.damaged);
        if found.running.is_empty() {
            finished += 1;
        } else {
            // The word of it was not written down, and nobody was told that it was.
            assert!(!is_done, "call {skip}");
            stages.purge(member(), now(2000)).unwrap();
        }
        settle(&mut stages, 2000).unwrap();
        drop(stages);
        let after = after.after_kill();
        let (mut stages, found) = open_node(&after.env()).unwrap();
        assert_eq!(
            (found.running.len(), found.damaged.len()),
            (0, 0),
            "call {skip}"
        );
        let left = stages.db.keyspaces();
        assert!(!left.iter().any(|name| name.starts_with("r.")), "{left:?}");
        // Its id is never used again, a larger one is a new replica.
        let first = vec![(ReplicaId(1), esker_raft::NodeId(1))];
        let member = member();
        assert!(stages.create(Create { member, first }, now(3000)).is_err());
        let replica = ReplicaId(2);
        let member = Member { replica, ..member };
        let first = Vec::new();
        stages.create(Create { member, first }, now(3000)).unwrap();
    }
    assert!(finished > 2, "{finished}");
}

#[test]
fn a_retired_replica_keeps_its_rows_until_it_is_purged_and_then_has_a_successor() {
    let (world, _) = written();
    let (mut stages, _) = open_node(&world.env()).unwrap();
    // Rows that cannot be read are met by a reader first.
    let why = "its rows cannot be read".to_owned();
    stages.applying.take(Work::Retire(member(), why));
    stages.consensus.ask(Ask::Retired(member()), now(1000));
    settle(&mut stages, 1000).unwrap();
    let replica = ReplicaId(9);
    let successor = Create {
        member: Member {
            replica,
            ..member()
        },
        first: Vec::new(),
    };
    assert!(stages.create(successor.clone(), now(1001)).is_err());
    let has_rows = |stages: &Stages| {
        let names = stages.db.keyspaces();
        names.iter().any(|name| name.starts_with("r.1.0.1"))
    };
    assert!(has_rows(&stages));
    stages.purge(member(), now(1002)).unwrap();
    settle(&mut stages, 1002).unwrap();
    assert!(!has_rows(&stages));
    stages.create(successor, now(1003)).unwrap();
    settle(&mut stages, 1003).unwrap();
    let status = stages.consensus.status(member().group).unwrap();
    assert_eq!((status.replica, status.damage), (replica, None));
}

#[test]
fn a_log_that_has_lost_something_keeps_its_segments_aside() {
    let (world, _) = written();
    flip_in_raft_log(&world, 1000);
    let (_stages, found) = open_node(&world.env()).unwrap();
    let told = found.loss.unwrap();
    let folder = told.split("kept in ").nth(1).unwrap().trim_end_matches(')');
    let kept = world.fs.list(Path::new(folder)).unwrap();
    assert!(!kept.is_empty(), "{told}");
}

#[test]
fn rows_that_have_lost_their_mark_are_not_taken_for_a_beginning() {
    let world = written_shortly();
    {
        let db = database(&world);
        let names = db.keyspaces();
        let name = names.iter().find(|name| name.starts_with("r.")).unwrap();
        db.drop_keyspace(name).unwrap();
        let unlogged = esker::KeyspaceOptions {
            is_unlogged: true,
            ..esker::KeyspaceOptions::default()
        };
        // As a repair leaves them that has lost something.
        let bare = db.keyspace_with(name, unlogged).unwrap();
        bare.put("a", "row").unwrap();
        bare.flush().unwrap();
    }
    let (_stages, found) = open_node(&world.env()).unwrap();
    assert_eq!(found.damaged.len(), 1, "{found:?}");
}

#[test]
fn a_node_that_was_restarted_gives_back_the_log_of_idle_groups() {
    let (world, _) = written();
    let (mut stages, _) = open_node(&world.env()).unwrap();
    for tick in 1000..1010 {
        stages.upkeep(now(tick)).unwrap();
        settle(&mut stages, tick).unwrap();
        world.pool.run_all();
    }
    let status = stages.consensus.status(member().group).unwrap();
    let view = stages.replicas.view(member().group).unwrap();
    assert_eq!(status.compacted, view.flushed());
}

#[test]
fn what_is_opened_again_takes_part_and_has_its_rows() {
    let (world, client) = written();
    let (stages, found): (Stages, Found) = open_node(&world.env()).unwrap();
    assert_eq!(found.running, [member()]);
    drop(stages);
    let world = world.after_kill();
    let mut after = Client::default();
    let (mut stages, _) = open_node(&world.env()).unwrap();
    live(&mut stages, &world, 500..512, &mut after).unwrap();
    assert!(rows(&stages).len() >= client.acknowledged.len());
}
