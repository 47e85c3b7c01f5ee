//! The lock table against a model: several owners that take, wait and give back, in one thread.

use std::collections::BTreeMap;

use super::*;
use crate::base::types::ids::KeyspaceId;
use crate::db::txn::locks::lock_mode::KeyMode;
use crate::env::random::Random;

const OWNER_COUNT: u64 = 5;

/// The locks of the model: two keyspaces and two keys in each.
fn lock_ids() -> Vec<LockId> {
    let keyspaces = [KeyspaceId(1), KeyspaceId(2)];
    let of_one = |keyspace| {
        [
            LockId::of_keyspace(keyspace),
            LockId::of_key(keyspace, b"anna"),
            LockId::of_key(keyspace, b"berta"),
        ]
    };
    keyspaces.into_iter().flat_map(of_one).collect()
}

/// What the table should do, said as plainly as can be: lists, and loops over all of them.
#[derive(Debug, Default)]
struct Model {
    held: BTreeMap<(TxnId, LockId), Mode>,
    /// Everybody who waits, in the order in which they are served.
    waiting: Vec<Request>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    owner: TxnId,
    id: LockId,
    target: Mode,
    is_upgrade: bool,
}

/// What the model says of a request.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Held,
    Taken(Option<Mode>),
    Waits,
    Deadlock,
}

impl Model {
    fn mode(&self, owner: TxnId, id: LockId) -> Option<Mode> {
        self.held.get(&(owner, id)).copied()
    }

    fn is_waiting(&self, owner: TxnId) -> bool {
        self.waiting.iter().any(|request| request.owner == owner)
    }

    /// For whom a request waits, or would, before those at `place` and behind.
    fn blockers(&self, request: Request, place: usize) -> Vec<TxnId> {
        let mut blockers = Vec::new();
        for ((holder, id), mode) in &self.held {
            let is_other = *id == request.id && *holder != request.owner;
            if is_other && request.target.conflicts_with(*mode) {
                blockers.push(*holder);
            }
        }
        let own = self.mode(request.owner, request.id);
        for ahead in &self.waiting[..place] {
            let waits_for_me = own.is_some_and(|own| own.conflicts_with(ahead.target));
            let conflicts = request.target.conflicts_with(ahead.target);
            if ahead.id == request.id && conflicts && !waits_for_me {
                blockers.push(ahead.owner);
            }
        }
        blockers
    }

    fn request(&mut self, owner: TxnId, id: LockId, wanted: Mode) -> Verdict {
        let own = self.mode(owner, id);
        let request = Request {
            owner,
            id,
            target: own.map_or(wanted, |own| own.joined(wanted)),
            is_upgrade: own.is_some(),
        };
        if own == Some(request.target) {
            return Verdict::Held;
        }
        // Upgrades before the others, else in order of arrival.
        let is_behind = |other: &Request| request.is_upgrade && !other.is_upgrade;
        let place = self.waiting.iter().position(is_behind);
        let place = place.unwrap_or(self.waiting.len());
        if self.blockers(request, place).is_empty() {
            self.held.insert((owner, id), request.target);
            return Verdict::Taken(own);
        }
        self.waiting.insert(place, request);
        if self.reaches(owner, owner) {
            self.waiting.remove(place);
            return Verdict::Deadlock;
        }
        Verdict::Waits
    }

    /// Whether one waits for the other, in however many steps.
    fn reaches(&self, from: TxnId, to: TxnId) -> bool {
        let mut met = vec![from];
        let mut index = 0;
        while let Some(owner) = met.get(index).copied() {
            index += 1;
            for (place, request) in self.waiting.iter().enumerate() {
                if request.owner == owner {
                    let blockers = self.blockers(*request, place);
                    if blockers.contains(&to) {
                        return true;
                    }
                    let new = blockers.into_iter().filter(|next| !met.contains(next));
                    let new: Vec<_> = new.collect();
                    met.extend(new);
                }
            }
        }
        false
    }

    fn put_back(&mut self, owner: TxnId, id: LockId, before: Option<Mode>) {
        match before {
            Some(mode) => self.held.insert((owner, id), mode),
            None => self.held.remove(&(owner, id)),
        };
        self.settle();
    }

    fn give_up(&mut self, owner: TxnId) {
        self.waiting.retain(|request| request.owner != owner);
        self.settle();
    }

    /// Grants the first that can be granted, as long as there is one.
    fn settle(&mut self) {
        let may_go = |model: &Model, place: usize| {
            let request = model.waiting[place];
            model.blockers(request, place).is_empty()
        };
        while let Some(place) = (0..self.waiting.len()).find(|place| may_go(self, *place)) {
            let Request {
                owner, id, target, ..
            } = self.waiting.remove(place);
            self.held.insert((owner, id), target);
        }
    }

    /// What must hold whatever the rules are.
    fn check(&self) {
        for ((owner, id), mode) in &self.held {
            for ((other, other_id), other_mode) in &self.held {
                let goes = owner == other || id != other_id || !mode.conflicts_with(*other_mode);
                assert!(goes, "two hold what they cannot hold together");
            }
        }
        for request in &self.waiting {
            assert!(
                !self.reaches(request.owner, request.owner),
                "a deadlock stays"
            );
        }
    }
}

/// One owner: what it has taken, and the wait that it is in.
#[derive(Debug, Default)]
struct Actor<'a> {
    taken: Vec<(LockId, Option<Mode>)>,
    waiting: Option<(LockId, Waiting<'a>)>,
}

/// The table and the model, which do the same.
struct Play<'a> {
    table: &'a LockTable,
    model: Model,
    actors: BTreeMap<TxnId, Actor<'a>>,
    random: Random,
    deadlock_count: u64,
    grant_count: u64,
}

impl<'a> Play<'a> {
    fn step(&mut self) {
        let owner = TxnId(self.random.below(OWNER_COUNT));
        match self.actors[&owner].waiting.is_some() {
            true => self.step_waiting(owner),
            false if self.random.one_in(5) => self.release(owner),
            false => self.ask(owner),
        }
        self.compare();
    }

    /// One that waits takes what it was granted, or gives up now and then.
    fn step_waiting(&mut self, owner: TxnId) {
        let is_granted = !self.model.is_waiting(owner);
        let (gives_up, is_dropped) = (self.random.one_in(20), self.random.one_in(4));
        if !is_granted && !gives_up {
            return;
        }
        let actor = self.actors.get_mut(&owner).expect("all are there");
        let (id, waiting) = actor.waiting.take().expect("it waits");
        assert_eq!(waiting.is_called(), is_granted);
        if is_dropped {
            // As by a panic: the owner has what it had before.
            drop(waiting);
            let before = self.table.mode_of(owner, id);
            match is_granted {
                true => self.model.put_back(owner, id, before),
                false => self.model.give_up(owner),
            }
            return;
        }
        match waiting.end(Duration::ZERO) {
            Ok(Attempt::Taken { before }) => {
                assert!(is_granted);
                actor.taken.push((id, before));
                self.grant_count += 1;
            }
            Err(Refused::Timeout { holder, .. }) => {
                assert!(!is_granted);
                let requests = &self.model.waiting;
                let place = requests.iter().position(|request| request.owner == owner);
                let place = place.expect("it waits");
                let blockers = self.model.blockers(requests[place], place);
                assert!(blockers.contains(&holder));
                self.model.give_up(owner);
            }
            other => panic!("{other:?}"),
        }
    }

    /// One that does not wait goes back to a moment before, often to its beginning.
    fn release(&mut self, owner: TxnId) {
        let actor = self.actors.get_mut(&owner).expect("all are there");
        let kept = match self.random.one_in(2) {
            true => 0,
            false => self.random.below(actor.taken.len() as u64 + 1) as usize,
        };
        for (id, before) in actor.taken.split_off(kept).into_iter().rev() {
            self.table.give_back(owner, id, before);
            self.model.put_back(owner, id, before);
        }
    }

    fn ask(&mut self, owner: TxnId) {
        let ids = lock_ids();
        let id = ids[self.random.below(ids.len() as u64) as usize];
        let modes = if id.is_keyspace() {
            &Mode::ALL[..]
        } else {
            &[KeyMode::Shared, KeyMode::Beside, KeyMode::Exclusive].map(KeyMode::mode)
        };
        let mode = modes[self.random.below(modes.len() as u64) as usize];
        let waits = !self.random.one_in(4);
        let actor = self.actors.get_mut(&owner).expect("all are there");
        let attempt = self.table.attempt(owner, id, mode);
        if let (Attempt::Blocked { .. }, false) = (attempt, waits) {
            return;
        }
        let verdict = self.model.request(owner, id, mode);
        match attempt {
            Attempt::Held => assert_eq!(verdict, Verdict::Held),
            Attempt::Taken { before } => {
                assert_eq!(verdict, Verdict::Taken(before));
                actor.taken.push((id, before));
            }
            Attempt::Blocked { .. } => {
                let wanted = Wanted {
                    id,
                    mode,
                    key: None,
                };
                match Waiting::begin(self.table, owner, wanted, Duration::ZERO) {
                    Ok(Begun::Waiting(waiting)) => {
                        assert_eq!(verdict, Verdict::Waits);
                        actor.waiting = Some((id, waiting));
                    }
                    Err(Refused::Deadlock { cycle }) => {
                        assert_eq!(verdict, Verdict::Deadlock);
                        assert_eq!(cycle[0].owner, owner);
                        assert!(cycle.len() > 1);
                        // All but the refused one wait, each for the next.
                        for pair in cycle[1..].windows(2) {
                            assert!(self.model.reaches(pair[0].owner, pair[1].owner));
                        }
                        self.deadlock_count += 1;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    fn compare(&self) {
        self.model.check();
        for (owner, actor) in &self.actors {
            for id in lock_ids() {
                assert_eq!(self.table.mode_of(*owner, id), self.model.mode(*owner, id));
            }
            let is_called = actor
                .waiting
                .as_ref()
                .map(|(_, waiting)| waiting.is_called());
            let is_granted = actor
                .waiting
                .as_ref()
                .map(|_| !self.model.is_waiting(*owner));
            assert_eq!(
                is_called, is_granted,
                "{owner} is woken exactly when it can go on"
            );
        }
        let statistics = self.table.statistics();
        assert_eq!(statistics.held, self.model.held.len());
        assert_eq!(statistics.counts.deadlocks, self.deadlock_count);
    }
}

#[test]
fn the_table_does_what_the_model_does() {
    // Five owners at random: who holds what, who waits, who is told of a deadlock, who is woken.
    let (mut deadlock_count, mut grant_count) = (0, 0);
    for seed in 0..300 {
        let table = LockTable::new(Arc::default(), 1000);
        let owners = (0..OWNER_COUNT).map(|owner| (TxnId(owner), Actor::default()));
        let mut play = Play {
            table: &table,
            model: Model::default(),
            actors: owners.collect(),
            random: Random::new(seed),
            deadlock_count: 0,
            grant_count: 0,
        };
        for _ in 0..200 {
            play.step();
        }
        deadlock_count += play.deadlock_count;
        grant_count += play.grant_count;
        // Whoever waits gives up, and everybody goes.
        for actor in play.actors.values_mut() {
            actor.waiting = None;
        }
        for (owner, actor) in play.actors {
            for (id, before) in actor.taken.into_iter().rev() {
                table.give_back(owner, id, before);
            }
        }
        let statistics = table.statistics();
        assert_eq!((statistics.held, statistics.waiting), (0, 0), "seed {seed}");
    }
    // The test is about waiting: there was enough of it.
    assert!(deadlock_count > 300 && grant_count > 1000);
}

/// Begins a wait for a lock that is taken.
fn wait(table: &LockTable, owner: TxnId, id: LockId, mode: Mode) -> Result<Waiting<'_>, Refused> {
    let wanted = Wanted {
        id,
        mode,
        key: None,
    };
    match Waiting::begin(table, owner, wanted, Duration::ZERO)? {
        Begun::Waiting(waiting) => Ok(waiting),
        begun @ Begun::Over(_) => panic!("{begun:?}"),
    }
}

#[test]
fn a_plain_write_in_a_circle_gives_way_to_a_transaction() {
    // Each has one lock and wants the other's; who comes last is a transaction, or a plain write.
    let [anna, berta] = [lock_ids()[1], lock_ids()[2]];
    for is_granted_first in [false, true] {
        let table = LockTable::new(Arc::default(), 1000);
        let (tx, plain) = (TxnId(1), TxnId::momentary(1));
        for (owner, id) in [(tx, anna), (plain, berta)] {
            let taken = table.attempt(owner, id, Mode::Exclusive);
            assert_eq!(taken, Attempt::Taken { before: None });
        }
        let of_plain = wait(&table, plain, anna, Mode::Exclusive).unwrap();
        assert!(!of_plain.is_called());
        let of_tx = wait(&table, tx, berta, Mode::Exclusive).unwrap();
        assert!(of_plain.is_called() && !of_tx.is_called());
        if is_granted_first {
            // Before it comes to give way it has the lock, and goes on with it.
            table.give_back(tx, anna, None);
            let ended = of_plain.end(Duration::ZERO);
            assert_eq!(ended, Ok(Attempt::Taken { before: None }));
            table.give_back(plain, anna, None);
        } else {
            let Err(Refused::Deadlock { cycle }) = of_plain.end(Duration::ZERO) else {
                panic!("it has got what the transaction has");
            };
            assert_eq!((cycle.len(), cycle[0].owner), (1, plain));
            assert_eq!(table.statistics().counts.timeouts, 0);
        }
        table.give_back(plain, berta, None);
        assert!(of_tx.is_called());
        assert!(of_tx.end(Duration::ZERO).is_ok());
    }
}

#[test]
fn nobody_gives_way_to_a_plain_write() {
    // Neither a transaction nor another plain write: it is the one that is refused.
    let [anna, berta] = [lock_ids()[1], lock_ids()[2]];
    for other in [TxnId(1), TxnId::momentary(2)] {
        let table = LockTable::new(Arc::default(), 1000);
        let plain = TxnId::momentary(1);
        for (owner, id) in [(other, anna), (plain, berta)] {
            let taken = table.attempt(owner, id, Mode::Exclusive);
            assert_eq!(taken, Attempt::Taken { before: None });
        }
        let of_other = wait(&table, other, berta, Mode::Exclusive).unwrap();
        let refused = wait(&table, plain, anna, Mode::Exclusive);
        let Err(Refused::Deadlock { cycle }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((cycle.len(), cycle[0].owner), (2, plain));
        assert!(!of_other.is_called());
        table.give_back(plain, berta, None);
        assert!(of_other.end(Duration::ZERO).is_ok());
    }
}
