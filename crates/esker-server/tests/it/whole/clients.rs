//! Who uses the cluster: each client has one call on its way, on rows that few share for a while.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::GroupId;
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{
    CasCheckType, CheckAndSetRequest, IncrRequest, KeyAnswer, KeyCall, MultiGetRequest,
    UpdateRequest,
};
use esker_server::node::{Answer, Reply, RequestId};

use crate::partition_model::raw;
use crate::requests::write;
use crate::whole::linear::{Call, Deed, Saw, Verdict, check};
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

const REGISTER: &[u8] = b"a register";
const COUNTER: &[u8] = b"the counter";

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

fn hash_key(key: u64) -> Vec<u8> {
    format!("harbour{key}").into_bytes()
}

fn call_of(key: u64, deed: Deed) -> KeyCall {
    let hash_key = hash_key(key);
    match deed {
        Deed::Set(value) => KeyCall::Put(UpdateRequest {
            key: Blob(raw(&hash_key, REGISTER)),
            value: Blob::of(value.to_string().as_bytes()),
            ..UpdateRequest::default()
        }),
        Deed::Get => KeyCall::Get(Blob(raw(&hash_key, REGISTER))),
        Deed::Add => KeyCall::Incr(IncrRequest {
            key: Blob(raw(&hash_key, COUNTER)),
            increment: 1,
            expire_ts_seconds: 0,
        }),
        Deed::Both => KeyCall::MultiGet(MultiGetRequest {
            hash_key: Blob(hash_key),
            start_inclusive: true,
            max_kv_count: 10,
            ..MultiGetRequest::default()
        }),
        Deed::Swap(from, to) => {
            let (check_type, operand) = match from {
                0 => (CasCheckType::CT_VALUE_NOT_EXIST, Blob::default()),
                _ => {
                    let text = from.to_string();
                    (
                        CasCheckType::CT_VALUE_BYTES_EQUAL,
                        Blob::of(text.as_bytes()),
                    )
                }
            };
            KeyCall::CheckAndSet(CheckAndSetRequest {
                hash_key: Blob(hash_key),
                check_sort_key: Blob::of(REGISTER),
                check_type,
                check_operand: operand,
                set_value: Blob::of(to.to_string().as_bytes()),
                ..CheckAndSetRequest::default()
            })
        }
    }
}

fn number(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |text| str::from_utf8(text).unwrap().parse().unwrap())
}

/// What an answer says, and which entry it names.
fn seen(answer: &KeyAnswer) -> Option<(Saw, Option<u64>)> {
    let entry = |decree: i64| u64::try_from(decree).ok();
    match answer {
        KeyAnswer::Put(it) if it.error == Status::OK => Some((Saw::Done, entry(it.decree))),
        KeyAnswer::Incr(it) if it.error == Status::OK => {
            Some((Saw::Counter(it.new_value), entry(it.decree)))
        }
        KeyAnswer::CheckAndSet(it) if it.error == Status::OK => {
            Some((Saw::Swapped(true), entry(it.decree)))
        }
        KeyAnswer::CheckAndSet(it) if it.error == Status(13) => {
            Some((Saw::Swapped(false), entry(it.decree)))
        }
        KeyAnswer::Get(it) if it.error == Status::OK => {
            Some((Saw::Register(number(Some(&it.value))), None))
        }
        KeyAnswer::Get(it) if it.error == Status(1) => Some((Saw::Register(0), None)),
        KeyAnswer::MultiGet(it) if it.error == Status::OK => {
            let of = |name: &[u8]| {
                let row = it.kvs.iter().find(|row| row.key.0 == name);
                number(row.map(|row| &row.value[..]))
            };
            let count = i64::try_from(of(COUNTER)).unwrap();
            Some((Saw::Both(of(REGISTER), count), None))
        }
        _ => None,
    }
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
                    self.note(waiting, Saw::Nothing, None);
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
        let value = |clients: &mut Clients| {
            clients.next_value += 1;
            clients.next_value
        };
        match self.dice.below(10) {
            0..=2 => Deed::Set(value(&mut self.clients)),
            3 => {
                let group = self.clients.keys[&key];
                let mut history = self.clients.histories.get(&group).into_iter().flatten();
                let last = history.rfind(|noted| noted.key == key);
                let last = last.and_then(|noted| match (noted.call.deed, noted.call.saw) {
                    (Deed::Set(value), _) | (_, Saw::Register(value)) => Some(value),
                    _ => None,
                });
                Deed::Swap(last.unwrap_or(0), value(&mut self.clients))
            }
            4 | 5 => Deed::Add,
            6 => Deed::Both,
            _ => Deed::Get,
        }
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
        match deed {
            Deed::Get | Deed::Both => node.read(request, group, call, tick),
            _ => node.ask(write(request, group, &call), tick),
        }
        self.places[at].asked.insert(request, waiting);
    }

    fn note(&mut self, waiting: Waiting, saw: Saw, entry: Option<u64>) {
        self.moment += 1;
        let is_read = matches!(waiting.deed, Deed::Get | Deed::Both);
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
        };
        let history = self.clients.histories.entry(waiting.group).or_default();
        history.push(Noted {
            key: waiting.key,
            call,
            entry,
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
    pub fn read_served(&mut self, at: usize, request: RequestId, answer: Option<KeyAnswer>) {
        let Some(waiting) = self.taken(at, request) else {
            return;
        };
        let Some(answer) = answer else { return };
        let told = seen(&answer);
        let (saw, entry) = told.unwrap_or_else(|| panic!("{waiting:?}: {answer:?}"));
        self.note(waiting, saw, entry);
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
                self.note(waiting, saw, entry);
            }
            Reply::Unknown => self.note(waiting, Saw::Nothing, None),
            Reply::Undone | Reply::Busy | Reply::NotLeader(_) => {
                if let Deed::Set(value) | Deed::Swap(_, value) = waiting.deed {
                    self.clients.undone.insert(value);
                }
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
                    self.note(waiting, Saw::Nothing, None);
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

    /// Holds what was seen against what may be seen.
    pub fn judge(&mut self) {
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
