//! Every interleaving of threads that bar the gate, open it and ask it.

use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread::{self, JoinHandle};

use crate::base::types::error::{Error, ErrorKind};
use crate::flow::write::gate::Gate;

fn full() -> Error {
    Error::new(ErrorKind::OutOfSpace, "the disk is full")
}

fn spawn<T: 'static>(gate: &Arc<Gate>, work: impl FnOnce(&Gate) -> T + 'static) -> JoinHandle<T> {
    let gate = Arc::clone(gate);
    thread::spawn(move || work(&gate))
}

fn refusal(gate: &Gate) -> Option<ErrorKind> {
    gate.check_write().err().map(|error| error.kind())
}

#[test]
fn a_fault_outlasts_space_that_comes_back() {
    // The disk fills and drains while a write fails: the hint that writers look at must not be
    // taken away by who knows of the space only.
    loom::model(|| {
        let gate = Arc::new(Gate::default());
        let disk = spawn(&gate, |gate| {
            gate.set_full(Some(full()));
            gate.set_full(None);
        });
        gate.fail(&Error::corruption("torn"));
        assert_eq!(refusal(&gate), Some(ErrorKind::Faulted));
        disk.join().expect("the gate does not fail");
        assert_eq!(refusal(&gate), Some(ErrorKind::Faulted));
    });
}

#[test]
fn of_two_that_close_one_closed() {
    // And whoever is refused is told why; never is a refusal without its reason.
    loom::model(|| {
        let gate = Arc::new(Gate::default());
        let other = spawn(&gate, Gate::close);
        let asking = spawn(&gate, |gate| {
            let first = refusal(gate);
            assert!(matches!(first, None | Some(ErrorKind::Closed)));
            assert!(first.is_none() || gate.check_read().is_err());
        });
        let is_own = gate.close();
        assert_ne!(is_own, other.join().expect("the gate does not fail"));
        assert!(gate.is_closed() && gate.check_read().is_err());
        asking.join().expect("its claims hold");
    });
}

#[test]
fn who_hears_of_a_fault_is_refused() {
    // The news travels by an acknowledgement: from then on no write passes.
    loom::model(|| {
        let gate = Arc::new(Gate::default());
        let told = Arc::new(AtomicBool::new(false));
        let failing = {
            let told = Arc::clone(&told);
            spawn(&gate, move |gate| {
                gate.fail(&Error::corruption("torn"));
                told.store(true, Ordering::Release);
            })
        };
        if told.load(Ordering::Acquire) {
            assert_eq!(refusal(&gate), Some(ErrorKind::Faulted));
        }
        failing.join().expect("the gate does not fail");
    });
}
