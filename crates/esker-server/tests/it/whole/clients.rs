//! Who uses the cluster: each client has one call on its way, on rows that few share for a while.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::GroupId;
use esker_rpc::time::WireSecond;
use esker_server::node::{Answer, Reply, RequestId};

use crate::cluster_node::{Moment, Served, now};
use crate::requests::write;
use crate::whole::calls::{call_of, seen};
use crate::whole::linear::{Call, Deed, Held, Saw, Verdict, check};
use crate::whole::order::{self, Noted};
use crate::whole::world::World;

const CLIENTS: usize = 5;

/// Hash keys that are in use at a time, and for how many ticks.
const KEYS: u64 = 4;
const EPOCH: u64 = 100;

/// Ticks until a client takes the outcome for unknown.
const PATIENCE: u64 = 25;

/// Calls on one hash key at most, so that its history can be searched.
const CALLS_MAX: usize = 120;

/// Seconds that a value lives at the most which ends, by the clock of some node.
const LIVES_S_MAX: u64 = 15;

/// A call on its way.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    request: RequestId,
    group: GroupId,
    key: u64,
    deed: Deed,
    began: u64,
    tick: u64,
}

#[derive(Default)]
pub struct Clients {
    waiting: [Option<Waiting>; CLIENTS],
    next_request: u64,
    next_value: u64,
    /// The group that each hash key was drawn for.
    keys: BTreeMap<u64, GroupId>,
    pub histories: BTreeMap<GroupId, Vec<Noted>>,
    /// Values that were surely never written, as somebody was told.
    undone: BTreeSet<u64>,
    answered: BTreeSet<RequestId>,
    pub acknowledged: u64,
    pub reads: u64,
    pub unknown: u64,
    pub too_hard: u64,
}

impl World {
    /// Every client that waits for nothing may ask for something.
    pub fn use_it(&mut self) {
        let groups = self.open_groups();
        if groups.is_empty() {
            return;
        }
        for client in 0..CLIENTS {
            match self.clients.waiting[client] {
                Some(waiting) if self.tick > waiting.tick + PATIENCE => {
                    self.clients.waiting[client] = None;
                    self.note(waiting, Saw::Nothing, None, None);
                }
                Some(_) => {}
                None if self.dice.one_in(2) => {
                    let key = self.tick / EPOCH * KEYS + self.dice.below(KEYS);
                    let pick = self.dice.below(groups.len() as u64);
                    let drawn = groups[usize::try_from(pick).unwrap()];
                    let group = *self.clients.keys.entry(key).or_insert(drawn);
                    let deed = self.draw(key);
                    let history = self.clients.histories.get(&group);
                    let count = history
                        .map_or(0, |all| all.iter().filter(|noted| noted.key == key).count());
                    if count < CALLS_MAX {
                        self.ask(client, group, key, deed);
                    }
                }
                None => {}
            }
        }
    }

    fn draw(&mut self, key: u64) -> Deed {
        match self.dice.below(20) {
            0..=4 => Deed::Set(self.draw_value()),
            5 | 6 => Deed::SetBoth(self.draw_value()),
            7 => Deed::Swap(self.last_of(key), self.draw_value()),
            8 | 9 => Deed::Mutate(self.last_of(key), self.draw_value()),
            10 | 11 => Deed::Add,
            12 if self.dice.one_in(2) => Deed::Remove,
            12 => Deed::RemoveBoth,
            13 => Deed::Both,
            14 => Deed::Scan,
            _ => Deed::Get,
        }
    }

    // A value that nobody has written, which is often to end soon after what some clock says.
    fn draw_value(&mut self) -> Held {
        self.clients.next_value += 1;
        let value = self.clients.next_value;
        let at = self.dice.below(self.places.len() as u64);
        let skew_ms = self.places[usize::try_from(at).unwrap()].shape.skew_ms;
        let lives_s = 1 + self.dice.below(LIVES_S_MAX);
        let ends = match self.dice.one_in(2) {
            true => {
                let unix_us = now(self.tick).unix_us.saturating_add_signed(skew_ms * 1000);
                WireSecond::of_unix(unix_us / 1_000_000 + lives_s).0
            }
            false => 0,
        };
        Held { value, ends }
    }

    // What a register was said to be by the last that was heard of it; 0 if nothing.
    fn last_of(&self, key: u64) -> u64 {
        let group = self.clients.keys[&key];
        let mut history = self.clients.histories.get(&group).into_iter().flatten();
        let last = history.rfind(|noted| noted.key == key);
        let last = last.and_then(|noted| match noted.call.saw {
            Saw::Register(value) | Saw::Both(value, _) => Some(value),
            _ => noted.call.deed.register().map(|held| held.value),
        });
        last.unwrap_or(0)
    }

    // Mostly somebody is asked who believes to lead, of which there may be two.
    fn ask(&mut self, client: usize, group: GroupId, key: u64, deed: Deed) {
        let up: Vec<usize> = (0..self.places.len()).filter(|at| self.runs(*at)).collect();
        let leads = |at: &usize| {
            let node = self.places[*at].node.as_ref();
            node.is_some_and(|node| node.is_leader(group))
        };
        let leaders: Vec<usize> = up.iter().copied().filter(leads).collect();
        let from = match leaders.is_empty() || self.dice.one_in(30) {
            true => up,
            false => leaders,
        };
        if from.is_empty() {
            return;
        }
        let at = from[usize::try_from(self.dice.below(from.len() as u64)).unwrap()];
        self.clients.next_request += 1;
        self.moment += 1;
        let request = RequestId(self.clients.next_request);
        let waiting = Waiting {
            request,
            group,
            key,
            deed,
            began: self.moment,
            tick: self.tick,
        };
        self.clients.waiting[client] = Some(waiting);
        let (call, tick) = (call_of(key, deed), self.tick);
        let node = self.places[at].node.as_mut().unwrap();
        match deed.is_read() {
            true => node.read(request, group, call, tick),
            false => {
                let call = node.take_up(group, call);
                node.ask(write(request, group, &call), tick);
            }
        }
        self.places[at].asked.insert(request, waiting);
    }

    fn note(&mut self, waiting: Waiting, saw: Saw, entry: Option<u64>, moment: Option<Moment>) {
        self.moment += 1;
        let is_read = waiting.deed.is_read();
        if is_read && saw == Saw::Nothing {
            return;
        }
        self.clients.unknown += u64::from(saw == Saw::Nothing);
        self.clients.reads += u64::from(is_read);
        self.clients.acknowledged += u64::from(!is_read && saw != Saw::Nothing);
        if let Saw::Register(value) | Saw::Both(value, _) = saw {
            let is_there = self.clients.undone.contains(&value);
            assert!(
                !is_there,
                "{value} was told undone, and is there: {waiting:?}"
            );
        }
        let call = Call {
            began: waiting.began,
            ended: self.moment,
            deed: waiting.deed,
            saw,
            // Known once the clocks of all entries are.
            now: None,
        };
        let history = self.clients.histories.entry(waiting.group).or_default();
        history.push(Noted {
            key: waiting.key,
            call,
            entry,
            moment,
        });
    }

    // Every request is answered once at most, and exactly once by a process that lives.
    fn taken(&mut self, at: usize, request: RequestId) -> Option<Waiting> {
        let is_first = self.clients.answered.insert(request);
        assert!(is_first, "{request:?} is answered twice");
        self.places[at].asked.remove(&request);
        let waits = |waiting: &Option<Waiting>| waiting.is_some_and(|it| it.request == request);
        let cell = self.clients.waiting.iter_mut().find(|it| waits(it));
        cell.and_then(Option::take)
    }

    /// A read was served at a place, or must be asked for again.
    pub fn read_served(&mut self, at: usize, served: Served) {
        let Some(waiting) = self.taken(at, served.request) else {
            return;
        };
        let Some((answer, moment)) = served.answer else {
            return;
        };
        let told = seen(&answer);
        let (saw, entry) = told.unwrap_or_else(|| panic!("{waiting:?}: {answer:?}"));
        self.note(waiting, saw, entry, Some(moment));
    }

    /// A reply came from a place.
    pub fn replied(&mut self, at: usize, request: RequestId, reply: &Reply) {
        let node = self.places[at].node.as_mut();
        if let Some(node) = node {
            node.asked_reads.remove(&request);
        }
        let Some(waiting) = self.taken(at, request) else {
            return;
        };
        match reply {
            Reply::Done(Answer::Key(answer)) => {
                let told = seen(answer);
                let (saw, entry) = told.unwrap_or_else(|| panic!("{waiting:?}: {answer:?}"));
                self.note(waiting, saw, entry, None);
            }
            Reply::Unknown => self.note(waiting, Saw::Nothing, None, None),
            Reply::Undone | Reply::Busy | Reply::NotLeader(_) => {
                let held = waiting.deed.register().filter(|held| held.value > 0);
                self.clients.undone.extend(held.map(|held| held.value));
            }
            other => panic!("{waiting:?}: {other:?}"),
        }
    }

    /// Reads every row once more; true once all of them were read.
    pub fn read_all(&mut self) -> bool {
        let open: BTreeSet<GroupId> = self.open_groups().into_iter().collect();
        let mut left: Vec<(u64, GroupId)> = Vec::new();
        for (&key, &group) in self.clients.keys.iter().filter(|row| open.contains(row.1)) {
            let known = self.clients.histories.get(&group).into_iter().flatten();
            let is_read = known.filter(|noted| noted.key == key).any(|noted| {
                matches!(noted.call.saw, Saw::Both(..)) && noted.call.began > self.calm
            });
            if !is_read {
                left.push((key, group));
            }
        }
        let is_over = left.is_empty() && self.clients.waiting.iter().all(Option::is_none);
        for client in 0..CLIENTS {
            match self.clients.waiting[client] {
                Some(waiting) if self.tick > waiting.tick + PATIENCE => {
                    self.clients.waiting[client] = None;
                    self.note(waiting, Saw::Nothing, None, None);
                }
                None => {
                    if let Some((key, group)) = left.pop() {
                        self.ask(client, group, key, Deed::Both);
                    }
                }
                Some(_) => {}
            }
        }
        is_over
    }

    // By which second each call was done: the clock of a partition is the latest that its entries
    // carry, and a read goes by the node's where that is ahead.
    fn tell_seconds(&mut self) {
        for (group, calls) in &mut self.clients.histories {
            let clocks = self.checks.clocks(*group);
            let clock_at = |entry: u64| clocks.range(..=entry).next_back().map_or(0, |it| *it.1);
            for noted in calls {
                let entry = noted.entry.map(clock_at);
                let read = noted.moment.map(|it| it.unix_us.max(clock_at(it.entry)));
                let unix_us = entry.or(read);
                noted.call.now = unix_us.map(|it| WireSecond::of_unix(it / 1_000_000).0);
            }
        }
    }

    /// Holds what was seen against what may be seen.
    pub fn judge(&mut self) {
        self.tell_seconds();
        for (group, calls) in &self.clients.histories {
            if let Err(why) = order::check(calls) {
                panic!("{group}: {why}");
            }
            let mut by_key: BTreeMap<u64, Vec<Call>> = BTreeMap::new();
            for noted in calls {
                by_key.entry(noted.key).or_default().push(noted.call);
            }
            for (key, calls) in by_key {
                match check(&calls) {
                    Verdict::Linear => {}
                    Verdict::TooHard => self.clients.too_hard += 1,
                    Verdict::Broken => {
                        panic!("{group}: hash key {key} is not linearizable: {calls:?}")
                    }
                }
            }
        }
    }
}
