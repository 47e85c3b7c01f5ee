//! Clients that change and read the same few rows, and a note of all that they saw.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use esker_rpc::client::{CallSettings, ClientError, MultiGet, Table};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{CasCheckType, CheckAndSetRequest};
use tokio::task::JoinHandle;

use crate::nemesis::chance::Chance;
use crate::nemesis::linear::{Call, Deed, Saw, Verdict, check};

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
        let table = table.with(CallSettings {
            timeout: TIMEOUT,
            resends_writes: false,
        });
        let tasks = (0..CLIENTS).map(|client| {
            let (table, shared) = (table.clone(), Arc::clone(&shared));
            tokio::spawn(async move {
                let mut chance = Chance::new(client);
                while !shared.is_over.load(Ordering::SeqCst) {
                    one_call(&table, &shared, &mut chance, began).await;
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
        return Some([Deed::Get, Deed::Both][usize::try_from(chance.below(2)).unwrap()]);
    }
    let value = || 1 + shared.next_value.fetch_add(1, Ordering::SeqCst);
    Some(match chance.below(10) {
        0 | 1 => Deed::Set(value()),
        2 | 3 => {
            // Mostly what was there a moment ago.
            let seen = known
                .iter()
                .rev()
                .find_map(|call| match (call.deed, call.saw) {
                    (Deed::Set(value), _) | (_, Saw::Register(value)) => Some(value),
                    _ => None,
                });
            Deed::Swap(seen.unwrap_or(0), value())
        }
        4 | 5 => Deed::Add,
        6 => Deed::Both,
        _ => Deed::Get,
    })
}

async fn one_call(table: &Table, shared: &Shared, chance: &mut Chance, started: Instant) {
    let key = (shared.epoch.load(Ordering::SeqCst), chance.below(KEYS));
    let Some(deed) = draw(shared, key, chance) else {
        return;
    };
    let hash_key = format!("register{}-{}", key.0, key.1);
    let now = || u64::try_from(started.elapsed().as_micros()).unwrap();
    let began = now();
    let saw = ask(table, hash_key.as_bytes(), deed).await;
    let ended = now();
    let is_read = matches!(deed, Deed::Get | Deed::Both);
    let saw = match saw {
        Ok(saw) => saw,
        // Nobody did anything, or nobody knows; of a read that is the same.
        Err(error) if is_read || error.is_undone() => return,
        Err(_) => Saw::Nothing,
    };
    let call = Call {
        began,
        ended,
        deed,
        saw,
    };
    let mut histories = shared.histories.lock().unwrap();
    histories.entry(key).or_default().push(call);
}

fn number(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |text| str::from_utf8(text).unwrap().parse().unwrap())
}

async fn ask(table: &Table, key: &[u8], deed: Deed) -> Result<Saw, ClientError> {
    match deed {
        Deed::Set(value) => {
            let text = value.to_string();
            table.set(key, REGISTER, text.as_bytes(), 0).await?;
            Ok(Saw::Done)
        }
        Deed::Get => {
            let found = table.get(key, REGISTER).await?;
            Ok(Saw::Register(number(found.as_deref())))
        }
        Deed::Add => Ok(Saw::Counter(table.incr(key, COUNTER, 1, 0).await?)),
        Deed::Both => {
            let all = MultiGet {
                hash_key: Blob::of(key),
                start_inclusive: true,
                max_kv_count: 10,
                ..MultiGet::default()
            };
            let rows = table.multi_get(&all).await?.rows;
            let of = |name: &[u8]| {
                let row = rows.iter().find(|row| row.0 == name);
                number(row.map(|row| &row.1[..]))
            };
            Ok(Saw::Both(of(REGISTER), i64::try_from(of(COUNTER)).unwrap()))
        }
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
            let request = CheckAndSetRequest {
                hash_key: Blob::of(key),
                check_sort_key: Blob::of(REGISTER),
                check_type,
                check_operand: operand,
                set_value: Blob::of(to.to_string().as_bytes()),
                ..CheckAndSetRequest::default()
            };
            Ok(Saw::Swapped(
                table.check_and_set(&request).await?.has_passed,
            ))
        }
    }
}
