//! Does what an entry of the log says: some writes, one after the other, as one batch.
//!
//! Each write sees those before it. The clock is the partition's: the leader's of the entry, but
//! never before that of an earlier entry.

use esker::internals::base::types::limits::KEY_BYTES_MAX;
use esker::{Keyspace, Result, WriteBatch};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::keys::{HASH_KEY_LEN_MAX, raw_key, split_raw_key};
use esker_rpc::message::data::{
    CasCheckType, CheckAndMutateRequest, CheckAndMutateResponse, CheckAndSetRequest,
    CheckAndSetResponse, IncrRequest, IncrResponse, KeyAnswer, KeyCall, MultiPutRequest,
    MultiRemoveRequest, MultiRemoveResponse, MutateOperation, UpdateRequest, UpdateResponse,
};
use esker_rpc::rules::check::{Verdict, check};
use esker_rpc::rules::counter::{Incremented, increment};
use esker_rpc::rules::expiry::{after_increment, after_write};
use esker_rpc::time::WireSecond;
use esker_rpc::value::TimeTag;

use crate::partition::command::{Command, Stamp};
use crate::partition::overlay::{Overlay, Row};

/// Bytes before the hash key in a raw key.
const HASH_KEY_LEN_BYTES: usize = 2;

/// Microseconds of a second.
const US_PER_S: u64 = 1_000_000;

/// A partition's state beside its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The largest clock of the entries so far: microseconds since 1970.
    pub clock_us: u64,
}

impl Machine {
    /// The second that reads see which ask for no other.
    pub fn now(&self) -> WireSecond {
        WireSecond::of_unix(self.clock_us / US_PER_S)
    }

    /// Does what `command` says to the rows of `keyspace`: puts it into `batch`, and gives an
    /// answer to each write. What a write is refused for is in its answer.
    ///
    /// Errors: those of reading rows. Nothing counts then, not even the clock.
    pub fn apply(
        &mut self,
        keyspace: &Keyspace,
        command: &Command,
        batch: &mut WriteBatch,
    ) -> Result<Vec<KeyAnswer>> {
        let clock_us = self.clock_us.max(command.stamp.unix_us);
        let now = WireSecond::of_unix(clock_us / US_PER_S);
        let mut writes = Writes {
            rows: Overlay::new(keyspace, now),
            stamp: command.stamp,
            now,
            tag: TimeTag::new(clock_us, command.stamp.cluster, false),
        };
        let answers = command.calls.iter().map(|call| writes.call(call));
        let answers = answers.collect::<Result<Vec<_>>>()?;
        writes.rows.drain_into(batch);
        self.clock_us = clock_us;
        Ok(answers)
    }
}

/// The writes of one entry.
struct Writes<'a> {
    rows: Overlay<'a>,
    stamp: Stamp,
    now: WireSecond,
    tag: TimeTag,
}

/// What was looked at before a conditional write.
struct Checked {
    status: Status,
    row: Option<Row>,
}

impl Writes<'_> {
    fn call(&mut self, call: &KeyCall) -> Result<KeyAnswer> {
        Ok(match call {
            KeyCall::Put(request) => KeyAnswer::Put(updated(self.put(request))),
            KeyCall::Remove(key) => KeyAnswer::Remove(updated(self.remove(key))),
            KeyCall::MultiPut(request) => KeyAnswer::MultiPut(updated(self.multi_put(request))),
            KeyCall::MultiRemove(request) => KeyAnswer::MultiRemove(self.multi_remove(request)),
            KeyCall::Incr(request) => KeyAnswer::Incr(self.incr(request)?),
            KeyCall::CheckAndSet(request) => KeyAnswer::CheckAndSet(self.check_and_set(request)?),
            KeyCall::CheckAndMutate(request) => {
                KeyAnswer::CheckAndMutate(self.check_and_mutate(request)?)
            }
            KeyCall::Get(_)
            | KeyCall::Ttl(_)
            | KeyCall::MultiGet(_)
            | KeyCall::BatchGet(_)
            | KeyCall::SortkeyCount(_)
            | KeyCall::GetScanner(_)
            | KeyCall::Scan(_)
            | KeyCall::ClearScanner(_) => unreachable!("a command has no read"),
        })
    }

    // When a value ends that a write puts which asks for `asked`.
    fn expiry(&self, asked: i32) -> WireSecond {
        after_write(asked, self.stamp.default_ttl_s, self.now)
    }

    fn put(&mut self, request: &UpdateRequest) -> Status {
        if !is_row_key(&request.key) {
            return Status::INVALID_ARGUMENT;
        }
        let expiry = self.expiry(request.expire_ts_seconds);
        let key = request.key.to_vec();
        self.rows.put(key, &request.value, expiry, self.tag);
        Status::OK
    }

    fn remove(&mut self, key: &[u8]) -> Status {
        if !is_row_key(key) {
            return Status::INVALID_ARGUMENT;
        }
        self.rows.remove(key.to_vec());
        Status::OK
    }

    fn multi_put(&mut self, request: &MultiPutRequest) -> Status {
        let sort_keys = request.kvs.iter().map(|row| &row.key[..]);
        if request.kvs.is_empty() || are_too_long(&request.hash_key, sort_keys) {
            return Status::INVALID_ARGUMENT;
        }
        let expiry = self.expiry(request.expire_ts_seconds);
        for row in &request.kvs {
            if let Some(key) = raw_key(&request.hash_key, &row.key) {
                self.rows.put(key, &row.value, expiry, self.tag);
            }
        }
        Status::OK
    }

    fn multi_remove(&mut self, request: &MultiRemoveRequest) -> MultiRemoveResponse {
        let sort_keys = request.sort_keys.iter().map(|sort_key| &sort_key[..]);
        if request.sort_keys.is_empty() || are_too_long(&request.hash_key, sort_keys) {
            return MultiRemoveResponse {
                error: Status::INVALID_ARGUMENT,
                ..MultiRemoveResponse::default()
            };
        }
        for sort_key in &request.sort_keys {
            if let Some(key) = raw_key(&request.hash_key, sort_key) {
                self.rows.remove(key);
            }
        }
        MultiRemoveResponse {
            error: Status::OK,
            // Those that were asked for, there or not.
            count: i64::try_from(request.sort_keys.len()).unwrap_or(i64::MAX),
            ..MultiRemoveResponse::default()
        }
    }

    fn incr(&mut self, request: &IncrRequest) -> Result<IncrResponse> {
        let answer = |error, new_value| IncrResponse {
            error,
            new_value,
            ..IncrResponse::default()
        };
        if !is_row_key(&request.key) {
            return Ok(answer(Status::INVALID_ARGUMENT, 0));
        }
        let row = self.rows.row(&request.key)?;
        let old = row.as_ref().map_or(WireSecond::NONE, |row| row.expiry);
        let user = row.as_ref().map(|row| &row.user[..]);
        Ok(match increment(user, request.increment) {
            Incremented::NoNumber => answer(Status::INVALID_ARGUMENT, 0),
            Incremented::Overflow(number) => answer(Status::INVALID_ARGUMENT, number),
            Incremented::To(number) => {
                let ttl_s = self.stamp.default_ttl_s;
                let expiry = after_increment(request.expire_ts_seconds, old, ttl_s, self.now);
                let text = number.to_string();
                let key = request.key.to_vec();
                self.rows.put(key, text.as_bytes(), expiry, self.tag);
                answer(Status::OK, number)
            }
        })
    }

    // Looks whether a conditional write is done; `None` if it is refused before that.
    fn check(
        &self,
        (hash_key, sort_key): (&[u8], &[u8]),
        kind: CasCheckType,
        operand: &[u8],
    ) -> Result<Option<Checked>> {
        if are_too_long(hash_key, [sort_key]) || kind.name().is_none() {
            return Ok(None);
        }
        let Some(key) = raw_key(hash_key, sort_key) else {
            return Ok(None);
        };
        let row = self.rows.row(&key)?;
        let user = row.as_ref().map(|row| &row.user[..]);
        let status = match check(kind, user, operand) {
            Verdict::Passed => Status::OK,
            Verdict::Failed => Status::TRY_AGAIN,
            Verdict::Invalid => Status::INVALID_ARGUMENT,
        };
        Ok(Some(Checked { status, row }))
    }

    fn check_and_set(&mut self, request: &CheckAndSetRequest) -> Result<CheckAndSetResponse> {
        let refused = CheckAndSetResponse {
            error: Status::INVALID_ARGUMENT,
            ..CheckAndSetResponse::default()
        };
        if are_too_long(&request.hash_key, [&request.set_sort_key[..]]) {
            return Ok(refused);
        }
        let at = (&request.hash_key[..], &request.check_sort_key[..]);
        let Some(checked) = self.check(at, request.check_type, &request.check_operand)? else {
            return Ok(refused);
        };
        if checked.status.is_ok() {
            let sort_key = match request.set_diff_sort_key {
                true => &request.set_sort_key,
                false => &request.check_sort_key,
            };
            let expiry = self.expiry(request.set_expire_ts_seconds);
            if let Some(key) = raw_key(&request.hash_key, sort_key) {
                self.rows.put(key, &request.set_value, expiry, self.tag);
            }
        }
        let shown = shown(checked.row, request.return_check_value);
        Ok(CheckAndSetResponse {
            error: checked.status,
            check_value_returned: request.return_check_value,
            check_value_exist: shown.is_some(),
            check_value: shown.unwrap_or_default(),
            ..CheckAndSetResponse::default()
        })
    }

    fn check_and_mutate(
        &mut self,
        request: &CheckAndMutateRequest,
    ) -> Result<CheckAndMutateResponse> {
        let is_known = |operation: MutateOperation| operation.name().is_some();
        let mutations = &request.mutate_list;
        let sort_keys = mutations.iter().map(|it| &it.sort_key[..]);
        // Refused before anything is looked at.
        let refused = CheckAndMutateResponse {
            error: Status::INVALID_ARGUMENT,
            ..CheckAndMutateResponse::default()
        };
        let are_known = mutations.iter().all(|it| is_known(it.operation));
        if mutations.is_empty() || !are_known || are_too_long(&request.hash_key, sort_keys) {
            return Ok(refused);
        }
        let at = (&request.hash_key[..], &request.check_sort_key[..]);
        let Some(checked) = self.check(at, request.check_type, &request.check_operand)? else {
            return Ok(refused);
        };
        if checked.status.is_ok() {
            for mutation in &request.mutate_list {
                let Some(key) = raw_key(&request.hash_key, &mutation.sort_key) else {
                    continue;
                };
                if mutation.operation == MutateOperation::MO_DELETE {
                    self.rows.remove(key);
                    continue;
                }
                let expiry = self.expiry(mutation.set_expire_ts_seconds);
                self.rows.put(key, &mutation.value, expiry, self.tag);
            }
        }
        let shown = shown(checked.row, request.return_check_value);
        Ok(CheckAndMutateResponse {
            error: checked.status,
            check_value_returned: request.return_check_value,
            check_value_exist: shown.is_some(),
            check_value: shown.unwrap_or_default(),
            ..CheckAndMutateResponse::default()
        })
    }
}

// Whether a raw key is one, and the engine takes it. What it does not take must be refused here: an
// entry that no replica can apply would be the end of all of them.
fn is_row_key(key: &[u8]) -> bool {
    key.len() <= KEY_BYTES_MAX && split_raw_key(key).is_some()
}

// Whether no raw key can have the hash key, or the engine takes none of them with a sort key.
fn are_too_long<'a>(hash_key: &[u8], sort_keys: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let bytes_left = (KEY_BYTES_MAX - HASH_KEY_LEN_BYTES).checked_sub(hash_key.len());
    let mut sort_keys = sort_keys.into_iter();
    hash_key.len() > HASH_KEY_LEN_MAX
        || sort_keys.any(|sort_key| bytes_left.is_none_or(|left| sort_key.len() > left))
}

// The value that was checked, for who asked to see it.
fn shown(row: Option<Row>, is_asked: bool) -> Option<Blob> {
    row.filter(|_| is_asked).map(|row| Blob::from(row.user))
}

fn updated(error: Status) -> UpdateResponse {
    UpdateResponse {
        error,
        ..UpdateResponse::default()
    }
}
