//! Tests of what a write would meet, and of a write that must not wait.

use std::sync::Arc;
use std::sync::mpsc;

use super::*;
use crate::base::options::call::Durability;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::error::ErrorKind;
use crate::db::database_ref::DatabaseRef;
use crate::db::open::Builder;
use crate::db::open_keyspace::find_or_create;
use crate::flow::write::admission::CommitOptions;
use crate::store::batch::writer::Batch;

fn replica(database: &DatabaseRef) -> Arc<KeyspaceParts> {
    let options = KeyspaceOptions {
        is_unlogged: true,
        ..KeyspaceOptions::default()
    };
    find_or_create(database.core(), "replica", Some(options)).unwrap()
}

const AT_ONCE: CommitOptions<'_> = CommitOptions {
    durability: Durability::Memory,
    no_wait: true,
    unchanged: &[],
    alive_until: None,
    holds_locks: false,
    mark: None,
};

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the lock of all writers is held by another thread"
)]
fn who_must_not_wait_does_not_wait_for_the_lock_of_all_writers() {
    // As while its holder makes a segment of the log.
    let dir = tempfile::tempdir().unwrap();
    let database = Builder::new(dir.path()).open_database().unwrap();
    let core = Arc::clone(database.core());
    let parts = replica(&database);
    let mut batch = Batch::new();
    batch.put(parts.id, b"key", b"value").unwrap();
    let (held, is_held) = mpsc::channel();
    let (let_go, may_go) = mpsc::channel::<()>();
    let holder = Arc::clone(&core);
    let thread = std::thread::spawn(move || {
        holder.committer.paused(|_| {
            held.send(()).unwrap();
            may_go.recv().unwrap();
        });
    });
    is_held.recv().unwrap();
    let refused = core.committer.commit(&mut batch, &AT_ONCE);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Busy);
    // Nor does who asks what a write would meet.
    assert_eq!(of(&core, &parts).state, WriteState::Open);
    let_go.send(()).unwrap();
    thread.join().unwrap();
    core.committer.commit(&mut batch, &AT_ONCE).unwrap();
    assert!(of(&core, &parts).unflushed_bytes > 0);
}

#[test]
fn debt_and_rate_are_told_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let database = Builder::new(dir.path()).open_database().unwrap();
    let core = database.core();
    let parts = replica(&database);
    assert_eq!(
        (of(core, &parts).state, of(core, &parts).debt_bytes),
        (WriteState::Open, 0)
    );
    let why = Some("a file is left out".into());
    core.write_controller.set_rate(parts.id, 1_000, why);
    core.write_controller.set_debt(parts.id, 5_000);
    let told = of(core, &parts);
    assert_eq!(told.debt_bytes, 5_000);
    match told.state {
        WriteState::Slowed {
            bytes_per_s,
            reason,
        } => {
            assert_eq!(bytes_per_s, 1_000);
            assert!(reason.contains("a file is left out"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    // Who is refused again and again is not made to wait longer for it.
    let mut batch = Batch::new();
    batch.put(parts.id, b"key", &[b'x'; 500]).unwrap();
    core.committer.commit(&mut batch, &AT_ONCE).unwrap();
    for _ in 0..100 {
        let refused = core.committer.commit(&mut batch, &AT_ONCE);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Busy);
    }
    let waiting = core
        .write_controller
        .delay_of(parts.id, core.env.clock.monotonic());
    assert!(waiting.as_millis() <= 600, "{waiting:?}");
    crate::db::manual::close(core).unwrap();
    let state = of(core, &parts).state;
    assert!(matches!(state, WriteState::Stopped { .. }), "{state:?}");
}
