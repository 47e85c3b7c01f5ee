//! Tests of `fork`: what a child may do to the database of its parent.
#![allow(
    clippy::disallowed_methods,
    reason = "files are looked at, and processes begun, from outside"
)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionMode, TransactionOptions};
use crate::base::types::error::{ErrorKind, Result};
use crate::db::handle::Db;

const CHILD: &str = "ESKER_FORK_DIR";

const LOCKING: TransactionOptions = TransactionOptions {
    isolation: Isolation::Serializable,
    mode: TransactionMode::Locking,
    lock_timeout: Duration::ZERO,
};

// Runs the test again in a process of its own, so that nobody else's threads hold anything when it
// forks; there it gets a directory.
fn in_own_process(test: &str, work: fn(&Path)) {
    if let Some(dir) = std::env::var_os(CHILD) {
        return work(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("env::real::fork::tests::{test}")])
        .arg("--nocapture")
        .env(CHILD, dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}", output.status);
}

// 0 in the child, which ends after 20 seconds at the latest; its id in the parent.
fn fork() -> libc::pid_t {
    // SAFETY: the child only does what these tests are about.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: ends a child that hangs.
        unsafe { libc::alarm(20) };
    }
    child
}

// Ends the child without ending anything in order that is its parent's.
fn end(code: i32) -> ! {
    // SAFETY: nothing of the program runs afterwards.
    unsafe { libc::_exit(code) }
}

fn end_of(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: our own child, and a place for what became of it.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

fn is_refused<T>(result: Result<T>) -> bool {
    result.is_err_and(|error| {
        error.kind() == ErrorKind::Invalid && error.to_string().contains("forked")
    })
}

// What no background work of an idle parent changes: all but the log and what it waits to remove.
fn contents(dir: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .filter(|entry| {
            let name = entry.file_name().into_string().unwrap();
            name.ends_with(".sst") || name.starts_with("MANIFEST") || name == "LOCK"
        })
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_child_leaves_the_database_of_its_parent_alone() {
    // The child tries everything with the handles that it was born with, and drops them: each call
    // is refused, and no byte changes. The directory is still locked for it, and it has threads and
    // databases of its own. The parent goes on as if nothing had been.
    in_own_process("a_child_leaves_the_database_of_its_parent_alone", |dir| {
        let path = dir.join("db");
        let db = Db::builder(&path).open().unwrap();
        db.put("parent", "before").unwrap();
        let snapshot = db.snapshot();
        let mut cursor = db.cursor().unwrap();
        cursor.seek_to_first().unwrap();
        // The next segment of the log is being prepared.
        db.flush().unwrap();
        db.put("parent 2", "before").unwrap();
        let mut tx = db.begin_with(LOCKING);
        tx.put(&db, "parent 4", "locked").unwrap();
        tx.set_savepoint();
        let before = contents(&path);
        let child = fork();
        if child == 0 {
            let mut right = is_refused(db.put("child", "after"));
            right &= is_refused(db.get("parent"));
            right &= is_refused(snapshot.get("parent"));
            right &= is_refused(cursor.seek_to_first());
            right &= is_refused(db.iter());
            right &= is_refused(db.flush());
            right &= is_refused(db.compact::<&[u8]>(..));
            right &= is_refused(db.keyspace("child"));
            right &= is_refused(db.checkpoint(dir.join("copy")));
            right &= is_refused(db.sync());
            right &= is_refused(db.close());
            right &= is_refused(tx.put(&db, "child", "after"));
            right &= is_refused(tx.get_for_update(&db, "parent"));
            right &= is_refused(tx.rollback_to_savepoint());
            right &= is_refused(tx.commit());
            right &= is_refused(db.process().check_call());
            drop((cursor, snapshot, db));
            let locked = Db::builder(&path).open().map(drop);
            right &= locked.is_err_and(|error| error.kind() == ErrorKind::Locked);
            let own = Db::builder(dir.join("own")).open().and_then(|own| {
                own.put("child", "after")?;
                own.flush()?;
                own.close()
            });
            end(i32::from(!(right && own.is_ok())));
        }
        assert_eq!(
            end_of(child),
            0,
            "in its second byte 1 if a call did not do as it must"
        );
        assert_eq!(contents(&path), before);
        db.put("parent 3", "after").unwrap();
        // What the parent locked is locked here, and was not committed there.
        assert_eq!(db.stats().locks.holder_count, 1);
        tx.commit().unwrap();
        assert_eq!(db.stats().locks.holder_count, 0);
        db.close().unwrap();
        let db = Db::builder(&path).open().unwrap();
        let keys: Vec<_> = db.iter().unwrap().map(|row| row.unwrap().0).collect();
        assert!(
            keys.iter()
                .eq(&["parent", "parent 2", "parent 3", "parent 4"]),
            "{keys:?}"
        );
    });
}

#[test]
fn a_child_that_lives_on_keeps_no_lock() {
    // It has the lock file open, as all files of its parent. When the parent closes the database
    // the lock is free all the same, and so it is when the parent ends after the child dropped its
    // handle.
    in_own_process("a_child_that_lives_on_keeps_no_lock", |dir| {
        let path = dir.join("db");
        let db = Db::builder(&path).open().unwrap();
        let child = fork();
        if child == 0 {
            // SAFETY: waits for a signal.
            unsafe { libc::pause() };
            end(0);
        }
        db.close().unwrap();
        let db = Db::builder(&path).open().unwrap();
        db.put("parent", "after").unwrap();
        // SAFETY: our own child.
        assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
        assert_eq!(end_of(child), libc::SIGKILL);
        db.close().unwrap();
    });
}
