//! Tests of `by_name`.
#![allow(clippy::disallowed_methods, reason = "only real threads race")]

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::Db;

#[test]
fn who_lacks_a_keyspace_waits_off_the_books_for_who_changes_them() {
    // Somebody changes keyspaces all the time that the set is checked: what was brought is given
    // up, as the database may be about to close, and comes again once they are done.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let ships = Db::open(path("maker")).unwrap().keyspace("ships").unwrap();
    ships.put("anna", "in port").unwrap();
    ships.export(path("set")).unwrap();
    let db = Db::open(path("db")).unwrap();
    let core = db.database().core();
    let changing = core.keyspaces.change();
    let is_done = Arc::new(AtomicBool::new(false));
    let taking = std::thread::spawn({
        let (db, set, is_done) = (db.clone(), path("set"), Arc::clone(&is_done));
        move || {
            let taken = db.ingest_by_name(set, &IngestOptions::default());
            is_done.store(true, Ordering::SeqCst);
            taken
        }
    });
    let files = || {
        let names = core.env.fs.list(&core.dir).unwrap();
        names.iter().filter(|name| name.ends_with(".sst")).count()
    };
    let until = |is_so: &dyn Fn() -> bool| {
        while !is_so() {
            std::thread::yield_now();
        }
    };
    // The numbers of files tell that one was brought: its name may be gone too soon to be seen.
    let first = core.numbers.peek();
    until(&|| core.numbers.peek() > first || is_done.load(Ordering::SeqCst));
    until(&|| core.work.state().job_count == 0);
    assert!(!is_done.load(Ordering::SeqCst));
    until(&|| files() == 0);
    assert!(core.keyspaces.find("ships").is_none());
    drop(changing);
    let (taken, names) = taking.join().unwrap().unwrap();
    assert_eq!((taken.entry_count, names), (1, vec!["ships".to_owned()]));
    let ships = db.existing_keyspace("ships").unwrap();
    assert_eq!(ships.get("anna").unwrap().unwrap(), "in port");
}
