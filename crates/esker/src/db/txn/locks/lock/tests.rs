//! Tests of `lock`.

use super::*;

const FRESH: Attempt = Attempt::Taken { before: None };
const S: Mode = Mode::Shared;
const X: Mode = Mode::Exclusive;
const IX: Mode = Mode::IntentionExclusive;
const IS: Mode = Mode::IntentionShared;

const A: TxnId = TxnId(1);
const B: TxnId = TxnId(2);
const C: TxnId = TxnId(3);
const D: TxnId = TxnId(4);

/// A lock and those who wait for it.
struct Stage {
    lock: Lock,
    signals: Vec<(TxnId, Arc<Signal>)>,
}

impl Stage {
    fn new(owner: TxnId, mode: Mode) -> Stage {
        Stage {
            lock: Lock::new(owner, mode),
            signals: Vec::new(),
        }
    }

    /// Takes the lock or waits for it; whoever is in the way.
    fn ask(&mut self, owner: TxnId, mode: Mode) -> Attempt {
        let attempt = self.lock.attempt(owner, mode);
        if let Attempt::Blocked { by } = attempt {
            let signal = Arc::new(Signal::default());
            self.signals.push((owner, Arc::clone(&signal)));
            self.lock.enqueue(owner, mode, signal);
            assert_eq!(self.lock.blockers(owner)[0], by);
        }
        attempt
    }

    fn release(&mut self, owner: TxnId) -> Vec<TxnId> {
        let woken = self.lock.give_back(owner, None);
        self.woken(woken)
    }

    fn withdraw(&mut self, owner: TxnId) -> Vec<TxnId> {
        let woken = self.lock.withdraw(owner).expect("it waits");
        self.woken(woken)
    }

    /// Who was woken, now and by nothing else.
    fn woken(&mut self, woken: Woken) -> Vec<TxnId> {
        woken.raise();
        let is_woken = |(_, signal): &(TxnId, Arc<Signal>)| signal.raised_count() > 0;
        let woken = self.signals.iter().filter(|waiting| is_woken(waiting));
        let woken = woken.map(|(owner, _)| *owner).collect();
        self.signals.retain(|waiting| !is_woken(waiting));
        woken
    }
}

fn blocked(by: TxnId) -> Attempt {
    Attempt::Blocked { by }
}

fn raised(before: Mode) -> Attempt {
    let before = Some(before);
    Attempt::Taken { before }
}

#[test]
fn shared_locks_are_shared_and_exclusive_ones_are_not() {
    // Two read; one who writes waits for both, and the next reader for it.
    let mut stage = Stage::new(A, S);
    assert_eq!(stage.ask(B, S), FRESH);
    assert_eq!(stage.ask(C, X), blocked(A));
    assert_eq!(stage.lock.blockers(C), [A, B]);
    assert_eq!(stage.ask(D, S), blocked(C));
    assert_eq!(stage.release(A), []);
    assert_eq!(stage.release(B), [C]);
    assert_eq!(stage.lock.mode_of(C), Some(X));
    assert_eq!(stage.release(C), [D]);
    assert_eq!(stage.release(D), []);
    assert!(stage.lock.is_free());
}

#[test]
fn an_owner_may_take_it_again() {
    // Whoever holds more need not ask for less.
    let mut stage = Stage::new(A, X);
    assert_eq!(stage.ask(A, X), Attempt::Held);
    assert_eq!(stage.ask(A, S), Attempt::Held);
    assert_eq!(stage.ask(A, IX), Attempt::Held);
    assert_eq!(stage.lock.holder_count(), 1);
    // Even when others wait.
    assert_eq!(stage.ask(B, S), blocked(A));
    assert_eq!(stage.ask(A, X), Attempt::Held);
}

#[test]
fn first_come_first_served() {
    // A stream of readers does not starve a writer; readers in a row go together.
    let mut stage = Stage::new(A, X);
    for (owner, mode) in [(B, S), (C, S), (D, X), (TxnId(5), S)] {
        assert!(matches!(stage.ask(owner, mode), Attempt::Blocked { .. }));
    }
    assert_eq!(stage.release(A), [B, C]);
    assert_eq!(stage.release(C), []);
    assert_eq!(stage.release(B), [D]);
    assert_eq!(stage.release(D), [TxnId(5)]);
}

#[test]
fn who_holds_up_nobody_may_pass() {
    // A scan waits for a writer; who only means to read a key goes with both.
    let mut stage = Stage::new(A, IX);
    assert_eq!(stage.ask(B, S), blocked(A));
    assert_eq!(stage.ask(C, IS), FRESH);
    // Another writer would hold up the scan.
    assert_eq!(stage.ask(D, IX), blocked(B));
    assert_eq!(stage.release(A), [B]);
    assert_eq!(stage.release(B), [D]);
}

#[test]
fn an_upgrade_goes_before_those_who_hold_nothing() {
    // Two read, a third wants to write, and then one of the readers.
    let mut stage = Stage::new(A, S);
    assert_eq!(stage.ask(B, S), FRESH);
    assert_eq!(stage.ask(C, X), blocked(A));
    assert_eq!(stage.ask(A, X), blocked(B));
    assert_eq!(stage.lock.blockers(C), [A, B, A]);
    assert_eq!(stage.release(B), [A]);
    assert_eq!(stage.lock.mode_of(A), Some(X));
    // Back to reading: the writer still waits for that.
    let woken = stage.lock.give_back(A, Some(S));
    assert_eq!(stage.woken(woken), []);
    assert_eq!(stage.release(A), [C]);
}

#[test]
fn an_upgrade_of_the_only_holder_is_at_once() {
    // Whoever waits, waits on.
    let mut stage = Stage::new(A, S);
    assert_eq!(stage.ask(B, X), blocked(A));
    assert_eq!(stage.ask(C, S), blocked(B));
    assert_eq!(stage.ask(A, X), raised(S));
    assert_eq!(stage.release(A), [B]);
}

#[test]
fn two_upgraders_wait_for_one_another() {
    // Each holds what the other cannot share: the table tells the second.
    let mut stage = Stage::new(A, S);
    assert_eq!(stage.ask(B, S), FRESH);
    assert_eq!(stage.ask(A, X), blocked(B));
    assert_eq!(stage.ask(B, X), blocked(A));
    assert_eq!(stage.lock.blockers(A), [B]);
    assert_eq!(stage.lock.blockers(B), [A]);
}

#[test]
fn an_upgrade_passes_those_who_wait_for_it_anyway() {
    // One wants the whole keyspace, for which another that is inside must go; that one may become
    // a writer first: to have it wait would be a deadlock that nobody needs.
    let mut stage = Stage::new(A, IS);
    assert_eq!(stage.ask(B, IS), FRESH);
    assert_eq!(stage.ask(A, X), blocked(B));
    assert_eq!(stage.ask(B, IX), raised(IS));
    // But an upgrade that waits for somebody else is not passed.
    let mut stage = Stage::new(A, IS);
    assert_eq!(stage.ask(B, IS), FRESH);
    assert_eq!(stage.ask(C, IX), FRESH);
    assert_eq!(stage.ask(A, S), blocked(C));
    assert_eq!(stage.ask(B, IX), blocked(A));
    assert_eq!(stage.release(C), [A]);
    assert_eq!(stage.release(A), [B]);
}

#[test]
fn a_joined_mode_is_what_waits() {
    // One that reads the whole and now writes a key waits for other readers of the whole only.
    let mut stage = Stage::new(A, S);
    assert_eq!(stage.ask(B, S), FRESH);
    assert_eq!(stage.ask(C, IS), FRESH);
    assert_eq!(stage.ask(A, IX), blocked(B));
    assert_eq!(stage.lock.blockers(A), [B]);
    assert_eq!(stage.release(B), [A]);
    assert_eq!(stage.lock.mode_of(A), Some(Mode::SharedIntentionExclusive));
}

#[test]
fn one_who_gives_up_lets_those_behind_go_on() {
    // A writer between readers stops waiting.
    let mut stage = Stage::new(A, S);
    assert_eq!(stage.ask(B, X), blocked(A));
    assert_eq!(stage.ask(C, S), blocked(B));
    assert_eq!(stage.ask(D, S), blocked(B));
    assert_eq!(stage.withdraw(B), [C, D]);
    // It waits no longer; neither do those who were granted.
    assert!(stage.lock.withdraw(B).is_none());
    assert!(stage.lock.withdraw(C).is_none());
    assert_eq!(stage.lock.blockers(B), []);
    assert_eq!(stage.lock.holder_count(), 3);
}

#[test]
fn a_weaker_mode_lets_others_go_on() {
    // Back to a savepoint: the writer of the keyspace only reads it again.
    let mut stage = Stage::new(A, IS);
    assert_eq!(stage.ask(A, X), raised(IS));
    assert_eq!(stage.ask(B, S), blocked(A));
    assert_eq!(stage.ask(C, IX), blocked(A));
    let woken = stage.lock.give_back(A, Some(IS));
    assert_eq!(stage.woken(woken), [B]);
}
