//! Calls that took long, kept with what they waited for.
//!
//! Every call carries a `Trace` of plain numbers; only one that was slow is written down. The list
//! is bounded: the oldest goes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_raft::GroupId;
use esker_rpc::keys::split_raw_key;
use esker_rpc::message::call::Access;
use esker_rpc::message::data::KeyCall;

use crate::front::{Caller, KeysCall};
use crate::meta::ids::PartitionId;
use crate::node::EntryTimes;
use crate::shell::known::Known;
use crate::shell::metrics_text::json_text;

/// Calls that are kept.
const KEPT_MAX: usize = 256;

/// Bytes of a hash key that are kept.
const KEY_BYTES_MAX: usize = 32;

/// What is noted of every call that comes to a leader: nothing of it is allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace {
    /// From so long on it is slow.
    pub(crate) threshold: Duration,
    /// When its bytes had come.
    pub(crate) begun: Duration,
    /// How long it waited for a limit of its table.
    pub(crate) limited: Duration,
    /// When it came to the leader's replica.
    pub(crate) submitted: Duration,
    /// What it does to the table.
    pub(crate) access: Access,
    caller: Caller,
    group: GroupId,
    name: &'static str,
    arguments_bytes: usize,
    key: KeyHead,
}

/// The beginning of a hash key.
#[derive(Clone, Copy, Debug)]
struct KeyHead {
    bytes: [u8; KEY_BYTES_MAX],
    /// How long the whole key is.
    whole: usize,
}

/// What a read that was served has waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadTimes {
    /// When consensus cleared it; none if a lease did.
    pub(crate) cleared: Option<Duration>,
    /// When a thread took it.
    pub(crate) taken: Duration,
    /// When its rows were there.
    pub(crate) done: Duration,
}

/// A call that was slow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlowCall {
    unix_us: u64,
    caller: Caller,
    group: GroupId,
    name: &'static str,
    arguments_bytes: usize,
    key: String,
    total: Duration,
    phases: Vec<(&'static str, Duration)>,
}

/// The latest of them. Any thread may call; the lock is held over a push or a copy.
#[derive(Debug, Default)]
pub(crate) struct SlowLog {
    calls: Mutex<VecDeque<SlowCall>>,
    total: AtomicU64,
}

impl Trace {
    /// Of a call on a group that comes to its leader at `now`, having waited `limited` for a limit.
    pub(crate) fn of(
        call: &KeysCall,
        group: GroupId,
        (now, limited, threshold): (Duration, Duration, Duration),
    ) -> Trace {
        Trace {
            threshold,
            begun: now.saturating_sub(call.received.elapsed()),
            limited,
            submitted: now,
            access: call.call.row().access,
            caller: call.caller,
            group,
            name: call.call.row().name,
            arguments_bytes: call.arguments.len(),
            key: KeyHead::of(hash_key(&call.call)),
        }
    }

    /// Whether it is slow, if its answer is given at `now`. A threshold of nothing is none.
    pub(crate) fn is_slow(&self, now: Duration) -> bool {
        !self.threshold.is_zero() && now.saturating_sub(self.begun) >= self.threshold
    }

    // The phases that every call has, before its own.
    fn before(&self) -> Vec<(&'static str, Duration)> {
        let door = self.submitted.saturating_sub(self.begun);
        vec![
            ("door", door.saturating_sub(self.limited)),
            ("limit", self.limited),
        ]
    }
}

impl SlowLog {
    /// A write that was slow is answered: its entry had these times, it was applied at `applied`,
    /// and now it is `now`, by two clocks.
    pub(crate) fn wrote(
        &self,
        trace: &Trace,
        (times, applied): (EntryTimes, Duration),
        (now, unix_us): (Duration, u64),
    ) {
        let mut phases = trace.before();
        let proposed = times.proposed.max(trace.submitted);
        phases.extend([
            ("queue", proposed.saturating_sub(trace.submitted)),
            ("commit", times.committed.saturating_sub(proposed)),
            ("apply", applied.saturating_sub(times.committed)),
            ("answer", now.saturating_sub(applied)),
        ]);
        self.push(trace, phases, (now, unix_us));
    }

    /// A read that was slow is answered.
    pub(crate) fn read(&self, trace: &Trace, times: ReadTimes, (now, unix_us): (Duration, u64)) {
        let mut phases = trace.before();
        let cleared = times.cleared.unwrap_or(trace.submitted);
        let cleared = cleared.max(trace.submitted);
        phases.extend([
            ("confirm", cleared.saturating_sub(trace.submitted)),
            ("queue", times.taken.saturating_sub(cleared)),
            ("read", times.done.saturating_sub(times.taken)),
            ("answer", now.saturating_sub(times.done)),
        ]);
        self.push(trace, phases, (now, unix_us));
    }

    fn push(
        &self,
        trace: &Trace,
        phases: Vec<(&'static str, Duration)>,
        (now, unix_us): (Duration, u64),
    ) {
        let call = SlowCall {
            unix_us,
            caller: trace.caller,
            group: trace.group,
            name: trace.name,
            arguments_bytes: trace.arguments_bytes,
            key: trace.key.text(),
            total: now.saturating_sub(trace.begun),
            phases,
        };
        // Nothing hangs on the order of a count among other writes; here and below.
        self.total.fetch_add(1, Ordering::Relaxed);
        let mut calls = self.lock();
        if calls.len() == KEPT_MAX {
            calls.pop_front();
        }
        calls.push_back(call);
    }

    /// How many there have been.
    pub(crate) fn total(&self) -> u64 {
        // As above.
        self.total.load(Ordering::Relaxed)
    }

    /// Those that are kept as JSON, latest first, with the names of tables that are known.
    pub(crate) fn to_json(&self, known: &Known) -> String {
        let calls: Vec<SlowCall> = self.lock().iter().rev().cloned().collect();
        let known = known.get();
        let spelled = calls.iter().map(|call| {
            let partition = PartitionId::of(call.group);
            let facts = known.tables.get(&partition.table);
            let name = facts.map(|facts| facts.name.clone());
            call.to_json(&name.unwrap_or_else(|| partition.table.0.to_string()))
        });
        let spelled: Vec<String> = spelled.collect();
        let total = self.total();
        format!("{{\"total\":{total},\"kept\":[{}]}}\n", spelled.join(","))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<SlowCall>> {
        // A list of whole calls is whole whatever a thread that panicked was about to do.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlowCall {
    fn to_json(&self, table: &str) -> String {
        let phases = self.phases.iter();
        let phases: Vec<String> = phases
            .map(|(name, time)| format!("\"{name}_us\":{}", time.as_micros()))
            .collect();
        let call = self
            .name
            .trim_start_matches("RPC_RRDB_RRDB_")
            .to_lowercase();
        format!(
            "{{\"unix_us\":{},\"call\":{},\"table\":{},\"partition\":{},\"hash_key\":{},\
             \"argument_bytes\":{},\"from\":{},\"total_us\":{},\"phases\":{{{}}}}}",
            self.unix_us,
            json_text(&call),
            json_text(table),
            PartitionId::of(self.group).index,
            json_text(&self.key),
            self.arguments_bytes,
            json_text(&self.caller.to_string()),
            self.total.as_micros(),
            phases.join(","),
        )
    }
}

impl KeyHead {
    fn of(key: &[u8]) -> KeyHead {
        let mut bytes = [0; KEY_BYTES_MAX];
        let kept = key.len().min(KEY_BYTES_MAX);
        bytes[..kept].copy_from_slice(&key[..kept]);
        KeyHead {
            bytes,
            whole: key.len(),
        }
    }

    /// As text, shortened, with bytes that are no letters spelled out.
    fn text(&self) -> String {
        let kept = &self.bytes[..self.whole.min(KEY_BYTES_MAX)];
        let text = kept.escape_ascii().to_string();
        match self.whole > KEY_BYTES_MAX {
            true => format!("{text}…({} bytes)", self.whole),
            false => text,
        }
    }
}

/// The hash key that a call is for, or the first one; none of a scan that goes on.
fn hash_key(call: &KeyCall) -> &[u8] {
    let of_raw = |raw| split_raw_key(raw).map_or(&[][..], |keys| keys.0);
    match call {
        KeyCall::Get(key) | KeyCall::Ttl(key) | KeyCall::Remove(key) => of_raw(key),
        KeyCall::Put(request) => of_raw(&request.key),
        KeyCall::Incr(request) => of_raw(&request.key),
        KeyCall::GetScanner(request) => of_raw(&request.start_key),
        KeyCall::SortkeyCount(key) => key,
        KeyCall::MultiGet(request) => &request.hash_key,
        KeyCall::MultiPut(request) => &request.hash_key,
        KeyCall::MultiRemove(request) => &request.hash_key,
        KeyCall::CheckAndSet(request) => &request.hash_key,
        KeyCall::CheckAndMutate(request) => &request.hash_key,
        KeyCall::BatchGet(request) => request.keys.first().map_or(&[][..], |key| &key.hash_key),
        KeyCall::Scan(_) | KeyCall::ClearScanner(_) => &[],
    }
}

#[cfg(test)]
mod tests;
