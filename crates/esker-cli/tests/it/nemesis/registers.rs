//! Clients that change and read the same few rows, and a note of all that they saw.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use esker_rpc::client::{CallSettings, ClientError, MultiGet, ScanSettings, Table};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{
    CasCheckType, CheckAndMutateRequest, CheckAndSetRequest, Mutate, MutateOperation,
};
use tokio::task::JoinHandle;

use crate::nemesis::chance::Chance;
use crate::nemesis::linear::{Call, Deed, Held, Saw, Verdict, check};
use crate::nemesis::probes::patience;

/// Clients, and hash keys that they share at a time. Others come with each fault: a history must
/// stay short enough to be searched.
const CLIENTS: u64 = 4;
const KEYS: u64 = 4;

/// Calls on one hash key at most.
const CALLS_MAX: usize = 300;

/// Calls of unknown outcome on one hash key at most: each may have been done at any time since.
const UNKNOWN_MAX: usize = 6;

const PACE: Duration = Duration::from_millis(15);

const TIMEOUT: Duration = Duration::from_millis(700);

const REGISTER: &[u8] = b"a register";
const COUNTER: &[u8] = b"the counter";

#[derive(Default)]
struct Shared {
    epoch: AtomicU64,
    next_value: AtomicU64,
    is_over: AtomicBool,
    histories: Mutex<BTreeMap<(u64, u64), Vec<Call>>>,
}

/// What came of all that was checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judged {
    pub keys: u64,
    pub calls: u64,
    pub unknown: u64,
    pub too_hard: u64,
}

pub struct Registers {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
    pub judged: Judged,
}

impl Registers {
    pub fn start(table: &Table, began: Instant) -> Registers {
        let shared = Arc::<Shared>::default();
        let tasks = (0..CLIENTS).map(|client| {
            let (table, shared) = (table.clone(), Arc::clone(&shared));
            tokio::spawn(async move {
                let mut chance = Chance::new(client);
                let mut in_vain = 0;
                while !shared.is_over.load(Ordering::SeqCst) {
                    let table = table.with(CallSettings {
                        timeout: patience(TIMEOUT, in_vain),
                        resends_writes: false,
                    });
                    let is_seen = one_call(&table, &shared, &mut chance, began).await;
                    in_vain = if is_seen { 0 } else { in_vain + 1 };
                    tokio::time::sleep(PACE).await;
                }
            })
        });
        Registers {
            tasks: tasks.collect(),
            shared,
            judged: Judged::default(),
        }
    }

    /// Calls so far that were noted.
    pub fn calls(&self) -> u64 {
        let histories = self.shared.histories.lock().unwrap();
        let now: usize = histories.values().map(Vec::len).sum();
        self.judged.calls + now as u64
    }

    /// Other keys from now on; those of two turns ago are judged, on which nobody is at work.
    pub fn turn(&mut self) {
        let epoch = self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        self.judge(epoch);
    }

    /// Ends the clients and judges what is left.
    pub async fn finish(mut self) -> Judged {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for task in std::mem::take(&mut self.tasks) {
            task.await.unwrap();
        }
        self.judge(u64::MAX);
        self.judged
    }

    fn judge(&mut self, below: u64) {
        let mut histories = self.shared.histories.lock().unwrap();
        let later = histories.split_off(&(below, 0));
        let done = std::mem::replace(&mut *histories, later);
        drop(histories);
        for (key, calls) in done {
            self.judged.keys += 1;
            self.judged.calls += calls.len() as u64;
            let unknown = calls.iter().filter(|call| call.saw == Saw::Nothing);
            self.judged.unknown += unknown.count() as u64;
            match check(&calls) {
                Verdict::Linear => {}
                Verdict::TooHard => self.judged.too_hard += 1,
                Verdict::Broken => panic!("hash key {key:?} is not linearizable: {calls:#?}"),
            }
        }
    }
}

fn draw(shared: &Shared, key: (u64, u64), chance: &mut Chance) -> Option<Deed> {
    let histories = shared.histories.lock().unwrap();
    let known = histories.get(&key).map(Vec::as_slice).unwrap_or_default();
    if known.len() >= CALLS_MAX {
        return None;
    }
    let unknown = known.iter().filter(|call| call.saw == Saw::Nothing);
    if unknown.count() >= UNKNOWN_MAX {
        let reads = [Deed::Get, Deed::Both, Deed::Scan];
        return Some(reads[usize::try_from(chance.below(3)).unwrap()]);
    }
    // None of them ends: the clocks of real nodes are those of one machine.
    let held = || Held {
        value: 1 + shared.next_value.fetch_add(1, Ordering::SeqCst),
        ends: 0,
    };
    // Mostly what was there a moment ago.
    let seen = || {
        let last = known.iter().rev().find_map(|call| match call.saw {
            Saw::Register(value) | Saw::Both(value, _) => Some(value),
            _ => call.deed.register().map(|held| held.value),
        });
        last.unwrap_or(0)
    };
    Some(match chance.below(20) {
        0..=2 => Deed::Set(held()),
        3 => Deed::SetBoth(held()),
        4..=6 => Deed::Swap(seen(), held()),
        7 | 8 => Deed::Mutate(seen(), held()),
        9..=11 => Deed::Add,
        12 => Deed::Remove,
        13 => Deed::RemoveBoth,
        14 => Deed::Both,
        15 => Deed::Scan,
        _ => Deed::Get,
    })
}

/// Whether it was answered, or none is to be made.
async fn one_call(table: &Table, shared: &Shared, chance: &mut Chance, started: Instant) -> bool {
    let key = (shared.epoch.load(Ordering::SeqCst), chance.below(KEYS));
    let Some(deed) = draw(shared, key, chance) else {
        return true;
    };
    let hash_key = format!("register{}-{}", key.0, key.1);
    let now = || u64::try_from(started.elapsed().as_micros()).unwrap();
    let began = now();
    let saw = ask(table, hash_key.as_bytes(), deed).await;
    let ended = now();
    let saw = match saw {
        Ok(saw) => saw,
        // Nobody did anything, or nobody knows; of a read that is the same.
        Err(error) if deed.is_read() || error.is_undone() => return false,
        Err(_) => Saw::Nothing,
    };
    let call = Call {
        began,
        ended,
        deed,
        saw,
        now: Some(0),
    };
    let is_seen = call.saw != Saw::Nothing;
    let mut histories = shared.histories.lock().unwrap();
    histories.entry(key).or_default().push(call);
    is_seen
}

fn number(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |text| str::from_utf8(text).unwrap().parse().unwrap())
}

/// How a register is asked for a value; what is not there is 0.
fn compared_with(from: u64) -> (CasCheckType, Blob) {
    match from {
        0 => (CasCheckType::CT_VALUE_NOT_EXIST, Blob::default()),
        _ => (CasCheckType::CT_VALUE_BYTES_EQUAL, text(from)),
    }
}

fn text(value: u64) -> Blob {
    Blob::of(value.to_string().as_bytes())
}

/// Register and counter among the rows of a hash key.
fn both<'a>(rows: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Saw {
    let (mut register, mut counter) = (0, 0);
    for (name, value) in rows {
        match name {
            REGISTER => register = number(Some(value)),
            COUNTER => counter = number(Some(value)),
            _ => panic!("nobody wrote {name:?}"),
        }
    }
    Saw::Both(register, counter)
}

async fn ask(table: &Table, key: &[u8], deed: Deed) -> Result<Saw, ClientError> {
    match deed {
        Deed::Set(held) => {
            table.set(key, REGISTER, &text(held.value), 0).await?;
            Ok(Saw::Done)
        }
        Deed::SetBoth(held) => {
            let value = text(held.value);
            let rows: [(&[u8], &[u8]); 2] = [(REGISTER, &value), (COUNTER, &value)];
            table.multi_set(key, &rows, 0).await?;
            Ok(Saw::Done)
        }
        Deed::Remove => {
            table.remove(key, REGISTER).await?;
            Ok(Saw::Done)
        }
        Deed::RemoveBoth => {
            table.multi_remove(key, &[REGISTER, COUNTER]).await?;
            Ok(Saw::Done)
        }
        Deed::Get => {
            let found = table.get(key, REGISTER).await?;
            Ok(Saw::Register(number(found.as_deref())))
        }
        Deed::Add => {
            let sum = table.incr(key, COUNTER, 1, 0).await?;
            Ok(Saw::Counter(u64::try_from(sum).unwrap()))
        }
        Deed::Both => {
            let all = MultiGet {
                hash_key: Blob::of(key),
                start_inclusive: true,
                max_kv_count: 10,
                ..MultiGet::default()
            };
            let rows = table.multi_get(&all).await?.rows;
            Ok(both(rows.iter().map(|row| (&row.0[..], &row.1[..]))))
        }
        Deed::Scan => {
            let mut scanner = table.scan(key, (b"", b""), &ScanSettings::default())?;
            let mut rows = Vec::new();
            while let Some(row) = scanner.next().await? {
                rows.push((row.sort_key, row.value));
            }
            Ok(both(rows.iter().map(|row| (&row.0[..], &row.1[..]))))
        }
        Deed::Swap(from, to) => {
            let (check_type, check_operand) = compared_with(from);
            let request = CheckAndSetRequest {
                hash_key: Blob::of(key),
                check_sort_key: Blob::of(REGISTER),
                check_type,
                check_operand,
                set_value: text(to.value),
                ..CheckAndSetRequest::default()
            };
            let checked = table.check_and_set(&request).await?;
            Ok(Saw::Swapped(checked.has_passed))
        }
        Deed::Mutate(from, to) => {
            let (check_type, check_operand) = compared_with(from);
            let put = Mutate {
                operation: MutateOperation::MO_PUT,
                sort_key: Blob::of(REGISTER),
                value: text(to.value),
                ..Mutate::default()
            };
            let remove = Mutate {
                operation: MutateOperation::MO_DELETE,
                sort_key: Blob::of(COUNTER),
                ..Mutate::default()
            };
            let request = CheckAndMutateRequest {
                hash_key: Blob::of(key),
                check_sort_key: Blob::of(REGISTER),
                check_type,
                check_operand,
                mutate_list: vec![put, remove],
                ..CheckAndMutateRequest::default()
            };
            let checked = table.check_and_mutate(&request).await?;
            Ok(Saw::Swapped(checked.has_passed))
        }
    }
}
