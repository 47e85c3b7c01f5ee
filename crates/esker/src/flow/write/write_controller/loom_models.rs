//! Every interleaving of a writer that waits for memory with whoever should release it.
//!
//! Nothing times out here, so a writer that is not woken is a deadlock, which ends the model.

use std::sync::Arc;

use loom::sync::atomic::Ordering;
use loom::thread;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::env::bundle::Env;
use crate::env::sim::SimWorld;
use crate::flow::write::gate::Gate;
use crate::flow::write::patient::Patient;
use crate::flow::write::write_controller::WriteController;
use crate::store::batch::writer::Batch;

const BUDGET_BYTES: usize = 300;

fn env() -> Env {
    Env {
        pool: Arc::new(Patient),
        ..SimWorld::new(1).env()
    }
}

struct Path {
    gate: Arc<Gate>,
    controller: WriteController,
}

fn wait(path: &Path, env: &Env) -> Result<()> {
    path.controller.delay_write(&Batch::new(), false, env)
}

/// Two writers wait for memory, and one event comes; says how each of them went on.
fn released_by(event: fn(&Path), claim: fn(Result<()>)) {
    loom::model(move || {
        let gate = Arc::new(Gate::default());
        let controller = WriteController::new(BUDGET_BYTES, 0, Arc::clone(&gate));
        controller.set_sealed_bytes(BUDGET_BYTES);
        let path = Arc::new(Path { gate, controller });
        let writers = [(); 2].map(|()| {
            let path = Arc::clone(&path);
            thread::spawn(move || claim(wait(&path, &env())))
        });
        event(&path);
        for writer in writers {
            writer.join().expect("the writer's claims hold");
        }
    });
}

fn refused(kind: ErrorKind) -> impl Fn(Result<()>) {
    move |waited| assert_eq!(waited.map_err(|error| error.kind()), Err(kind))
}

#[test]
fn a_flush_releases_whoever_waits_for_memory() {
    // The memory of the sealed memtables is given back.
    released_by(
        |path| path.controller.set_sealed_bytes(0),
        |waited| assert!(waited.is_ok()),
    );
}

#[test]
fn a_failure_releases_whoever_waits_for_memory() {
    // No flush comes after a fault: the writers must hear of it, or they wait for ever.
    released_by(
        |path| path.gate.fail(&Error::corruption("torn")),
        |waited| refused(ErrorKind::Faulted)(waited),
    );
}

#[test]
fn a_close_releases_whoever_waits_for_memory() {
    // Each is refused; none keeps the database from closing.
    released_by(
        |path| assert!(path.gate.close()),
        |waited| refused(ErrorKind::Closed)(waited),
    );
}

#[test]
fn a_full_disk_releases_whoever_waits_for_memory() {
    // The flush that would have made room cannot be written.
    released_by(
        |path| {
            path.gate
                .set_full(Some(Error::new(ErrorKind::OutOfSpace, "the disk is full")));
        },
        |waited| refused(ErrorKind::OutOfSpace)(waited),
    );
}

#[test]
fn the_last_rate_counts() {
    // Two set the rates of their keyspaces, one holds back and one lets go: whoever comes last,
    // the slow one stays slow.
    loom::model(|| {
        let gate = Arc::new(Gate::default());
        let controller = Arc::new(WriteController::new(BUDGET_BYTES, 0, gate));
        let (slow, fast) = (KeyspaceId(1), KeyspaceId(2));
        controller.set_rate(slow, u64::MAX, None);
        controller.set_rate(fast, 1 << 20, None);
        let other = {
            let controller = Arc::clone(&controller);
            thread::spawn(move || controller.set_rate(fast, u64::MAX, None))
        };
        controller.set_rate(slow, 1 << 20, None);
        other.join().expect("setting a rate does not fail");
        assert_eq!(
            (controller.rate(slow).0, controller.rate(fast).0),
            (1 << 20, u64::MAX)
        );
        let is_limited = controller.is_any_limited.load(Ordering::Relaxed);
        assert!(is_limited);
    });
}
