//! Every interleaving of raising and waiting.
//!
//! A wake-up that is lost is a deadlock here, because the checker's condition variable never
//! times out.

use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicBool, Ordering};

use crate::env::signal::Signal;

const NEVER: Duration = Duration::MAX;

/// A fact, and the signal that is raised when it becomes true.
#[derive(Debug)]
struct Fact {
    is_true: AtomicBool,
    changed: Signal,
}

impl Fact {
    fn new() -> Arc<Fact> {
        Arc::new(Fact {
            is_true: AtomicBool::new(false),
            changed: Signal::default(),
        })
    }

    fn come_true(&self) {
        // Relaxed: the signal alone must carry the news.
        self.is_true.store(true, Ordering::Relaxed);
        self.changed.raise();
    }

    // Count, look, wait: as everybody does who waits.
    fn wait_for(&self) {
        loop {
            let seen = self.changed.raised_count();
            if self.is_true.load(Ordering::Relaxed) {
                return;
            }
            assert!(self.changed.block(seen, NEVER));
        }
    }
}

#[test]
fn a_raise_between_looking_and_waiting_is_not_lost() {
    // Whenever the raise comes, the waiter goes on, and sees what was true before the raise.
    loom::model(|| {
        let fact = Fact::new();
        let raiser = {
            let fact = Arc::clone(&fact);
            loom::thread::spawn(move || fact.come_true())
        };
        fact.wait_for();
        raiser.join().expect("a raise does not fail");
    });
}

#[test]
fn everybody_who_waits_is_woken() {
    // One raise, two waiters: neither may be left behind.
    loom::model(|| {
        let fact = Fact::new();
        let waiters = [(); 2].map(|()| {
            let fact = Arc::clone(&fact);
            loom::thread::spawn(move || fact.wait_for())
        });
        fact.come_true();
        for waiter in waiters {
            waiter.join().expect("a wait does not fail");
        }
    });
}

#[test]
fn every_raise_is_counted() {
    // Two threads raise at the same time: the count passes what a waiter saw by both.
    loom::model(|| {
        let signal = Arc::new(Signal::default());
        let raiser = {
            let signal = Arc::clone(&signal);
            loom::thread::spawn(move || signal.raise())
        };
        signal.raise();
        assert!(signal.block(1, NEVER));
        raiser.join().expect("a raise does not fail");
        assert_eq!(signal.raised_count(), 2);
    });
}
