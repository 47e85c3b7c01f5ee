//! Tests of `adopting`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::base::types::error::ErrorKind;
use crate::db::handle::Db;
use crate::env::bundle::Env;
use crate::env::sim::world::SimWorld;
use crate::flow::read::get::{ReadAt, contains};
use crate::{KeyspaceOptions, SstWriter, WriteOptions};

fn open(env: &Env) -> Db {
    Db::builder("/db").env(env.clone()).open().unwrap()
}

fn write(env: &Env, dir: &str, key: &str) {
    let mut writer = SstWriter::create_in(env, Path::new(dir), KeyspaceOptions::default()).unwrap();
    writer.put(key, "1").unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_view_from_before_gets_nothing_that_is_written_behind_the_files() {
    let env = SimWorld::new(1).env();
    let db = open(&env);
    write(&env, "/set", "a");
    let before = db.parts().current.view();
    db.ingest("/set", &IngestOptions::default()).unwrap();
    db.put("b", "2").unwrap();
    let at = ReadAt {
        visibility: Visibility::at(db.database().core().committer.visible()),
        now_unix_ms: 0,
        options: Default::default(),
    };
    let now = db.parts().current.view();
    assert!(contains(&now, b"a", &at).unwrap() && contains(&now, b"b", &at).unwrap());
    assert!(contains(&before, b"a", &at).unwrap() || !contains(&before, b"b", &at).unwrap());
}

#[test]
fn who_writes_is_let_go_on_while_a_set_is_prepared_anew() {
    // Prepared for an empty keyspace, which is not empty any more: twice nothing is done and nobody
    // is held up; the last time it is prepared once more while its keyspace is locked.
    let env = SimWorld::new(1).env();
    let db = open(&env);
    let core = db.database().core();
    for key in ["a", "b"] {
        db.put(key, "1").unwrap();
    }
    db.delete("b").unwrap();
    db.export("/set").unwrap();
    let source = {
        let other = db.keyspace("other").unwrap();
        let files = SetFiles::open(core, (Path::new("/set"), None)).unwrap();
        files.goes_to(Arc::clone(other.parts())).unwrap()
    };
    let sources = [source];
    let other = db.keyspace("other").unwrap();
    let how = (Place::Above, Transfer::Link);
    let mut staged = Staged::new(core, true);
    let mut prepared = [prepare_in(core, &sources[0], how, &mut staged).unwrap()];
    other.put("b", "2").unwrap();
    let mut take = |is_last| {
        let together = (&sources[..], &mut prepared[..]);
        take_prepared_in(core, together, (how, is_last), &mut staged).unwrap()
    };
    assert!(!take(false));
    other.put("c", "3").unwrap();
    assert!(other.get("a").unwrap().is_none());
    assert!(take(true));
    staged.installed(prepared[0].files());
    drop(staged);
    let keys = other.iter().unwrap().map(|entry| entry.unwrap().0.to_vec());
    assert_eq!(keys.collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    assert_eq!(other.get("b").unwrap().unwrap(), "2");
    other.put("d", "4").unwrap();
}

#[test]
fn an_ingest_that_waits_for_its_turn_holds_nobody_up() {
    // A checkpoint has the turn; plain writes and optimistic transactions pass.
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path().join("db")).unwrap();
    let core = db.database().core();
    write(&Env::real(1), dir.path().join("set").to_str().unwrap(), "a");
    let turn = Turn::take(core).unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let taking = std::thread::spawn({
        let (db, set, is_done) = (db.clone(), dir.path().join("set"), Arc::clone(&is_done));
        move || {
            db.ingest(set, &IngestOptions::default()).unwrap();
            is_done.store(true, Ordering::SeqCst);
        }
    });
    // Until its file is there, so that it comes to the turn next.
    let is_staged = || {
        let names = core.env.fs.list(&core.dir).unwrap();
        names.iter().any(|name| name.ends_with(".sst"))
    };
    while !is_staged() {
        std::thread::yield_now();
    }
    let at_once = WriteOptions {
        no_wait: true,
        ..WriteOptions::default()
    };
    for number in 0..2_000_u32 {
        let mut batch = db.batch();
        batch.put(&db, "b", number.to_be_bytes());
        batch.commit_with(at_once).unwrap();
    }
    let mut tx = db.begin();
    tx.put(&db, "c", "1").unwrap();
    tx.commit().unwrap();
    assert!(!is_done.load(Ordering::SeqCst));
    drop(turn);
    taking.join().unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "1");
}

#[test]
fn who_does_not_wait_is_told_that_files_come() {
    let env = SimWorld::new(1).env();
    let db = open(&env);
    let held = HeldWriters::hold(db.database().core());
    let put = || {
        let mut batch = db.batch();
        batch.put(&db, "y", "1");
        let at_once = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        batch.commit_with(at_once)
    };
    assert_eq!(put().unwrap_err().kind(), ErrorKind::Busy);
    drop(held);
    put().unwrap();
}
