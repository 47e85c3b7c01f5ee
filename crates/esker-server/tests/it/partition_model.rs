//! What a partition must answer, as a small and obvious model, written from the protocol alone.

use std::collections::BTreeMap;

use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::*;

/// A row: its value, and the second since 2016 at which it ends, 0 for never.
pub type Row = (Vec<u8>, u32);

/// What a write without conditions is answered.
const UPDATED: UpdateResponse = UpdateResponse {
    error: Status(0),
    app_id: 0,
    partition_index: 0,
    decree: 0,
    server: String::new(),
};

/// A sort key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// The rows of a partition, by hash key and sort key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Those that were ever put and not removed, ended or not.
    pub rows: BTreeMap<(Vec<u8>, Vec<u8>), Row>,
    /// The second of now.
    pub now: u32,
    /// Seconds that a value lives of which nobody says how long.
    pub default_ttl_s: u32,
}

/// Hash key and sort key of a raw key.
pub fn split(raw: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let len = usize::from(raw[0]) * 256 + usize::from(raw[1]);
    (raw[2..2 + len].to_vec(), raw[2 + len..].to_vec())
}

/// The raw key of both.
pub fn raw(hash_key: &[u8], sort_key: &[u8]) -> Vec<u8> {
    let len = hash_key.len();
    [&[(len / 256) as u8, (len % 256) as u8], hash_key, sort_key].concat()
}

impl Model {
    fn live(&self, hash_key: &[u8], sort_key: &[u8]) -> Option<&Row> {
        let row = self.rows.get(&(hash_key.to_vec(), sort_key.to_vec()))?;
        (row.1 == 0 || row.1 > self.now).then_some(row)
    }

    fn put(&mut self, hash_key: &[u8], sort_key: &[u8], value: &[u8], asked: i32) {
        let mut ends = asked as u32;
        if ends == 0 && self.default_ttl_s > 0 {
            ends = self.now + self.default_ttl_s;
        }
        let key = (hash_key.to_vec(), sort_key.to_vec());
        self.rows.insert(key, (value.to_vec(), ends));
    }

    fn remove(&mut self, hash_key: &[u8], sort_key: &[u8]) {
        self.rows.remove(&(hash_key.to_vec(), sort_key.to_vec()));
    }

    /// Does a write.
    pub fn write(&mut self, call: &KeyCall) -> KeyAnswer {
        match call {
            KeyCall::Put(it) => {
                let (hash_key, sort_key) = split(&it.key);
                self.put(&hash_key, &sort_key, &it.value, it.expire_ts_seconds);
                KeyAnswer::Put(UPDATED)
            }
            KeyCall::Remove(key) => {
                let (hash_key, sort_key) = split(key);
                self.remove(&hash_key, &sort_key);
                KeyAnswer::Remove(UPDATED)
            }
            KeyCall::MultiPut(it) => {
                for row in &it.kvs {
                    self.put(&it.hash_key, &row.key, &row.value, it.expire_ts_seconds);
                }
                KeyAnswer::MultiPut(UpdateResponse {
                    error: Status(if it.kvs.is_empty() { 4 } else { 0 }),
                    ..UpdateResponse::default()
                })
            }
            KeyCall::MultiRemove(it) => {
                for sort_key in &it.sort_keys {
                    self.remove(&it.hash_key, sort_key);
                }
                KeyAnswer::MultiRemove(MultiRemoveResponse {
                    error: Status(if it.sort_keys.is_empty() { 4 } else { 0 }),
                    count: it.sort_keys.len() as i64,
                    ..MultiRemoveResponse::default()
                })
            }
            KeyCall::Incr(it) => KeyAnswer::Incr(self.incr(it)),
            KeyCall::CheckAndSet(it) => KeyAnswer::CheckAndSet(self.check_and_set(it)),
            KeyCall::CheckAndMutate(it) => KeyAnswer::CheckAndMutate(self.check_and_mutate(it)),
            other => panic!("{other:?} is no write"),
        }
    }

    fn incr(&mut self, it: &IncrRequest) -> IncrResponse {
        let (hash_key, sort_key) = split(&it.key);
        let (value, ends) = self.live(&hash_key, &sort_key).cloned().unwrap_or_default();
        let answer = |error, new_value| IncrResponse {
            error: Status(error),
            new_value,
            ..IncrResponse::default()
        };
        let text = String::from_utf8_lossy(&value);
        let old = match text.is_empty() {
            true => 0,
            false => match text.parse::<i64>() {
                Ok(number) => number,
                Err(_) => return answer(4, 0),
            },
        };
        let Some(new) = old.checked_add(it.increment) else {
            return answer(4, old);
        };
        let asked = match it.expire_ts_seconds {
            0 => ends as i32,
            asked if asked > 0 => asked,
            _ => 0,
        };
        self.put(&hash_key, &sort_key, new.to_string().as_bytes(), asked);
        answer(0, new)
    }

    // The checks that the test draws.
    fn passes(&self, kind: CasCheckType, row: Option<&Row>, operand: &[u8]) -> bool {
        let value = row.map(|row| &row.0[..]);
        match kind {
            CasCheckType::CT_NO_CHECK => true,
            CasCheckType::CT_VALUE_NOT_EXIST => value.is_none(),
            CasCheckType::CT_VALUE_EXIST => value.is_some(),
            CasCheckType::CT_VALUE_BYTES_LESS => value.is_some_and(|value| value < operand),
            CasCheckType::CT_VALUE_MATCH_PREFIX => value.is_some_and(|it| it.starts_with(operand)),
            other => panic!("{other:?} is not drawn"),
        }
    }

    fn check_and_set(&mut self, it: &CheckAndSetRequest) -> CheckAndSetResponse {
        let row = self.live(&it.hash_key, &it.check_sort_key).cloned();
        let passes = self.passes(it.check_type, row.as_ref(), &it.check_operand);
        if passes {
            let sort_key = match it.set_diff_sort_key {
                true => &it.set_sort_key,
                false => &it.check_sort_key,
            };
            self.put(
                &it.hash_key,
                sort_key,
                &it.set_value,
                it.set_expire_ts_seconds,
            );
        }
        let shown = row.filter(|_| it.return_check_value);
        CheckAndSetResponse {
            error: Status(if passes { 0 } else { 13 }),
            check_value_returned: it.return_check_value,
            check_value_exist: shown.is_some(),
            check_value: Blob::from(shown.map(|row| row.0).unwrap_or_default()),
            ..CheckAndSetResponse::default()
        }
    }

    fn check_and_mutate(&mut self, it: &CheckAndMutateRequest) -> CheckAndMutateResponse {
        let bad = it
            .mutate_list
            .iter()
            .any(|it| it.operation.name().is_none());
        if bad || it.mutate_list.is_empty() {
            return CheckAndMutateResponse {
                error: Status(4),
                ..CheckAndMutateResponse::default()
            };
        }
        let row = self.live(&it.hash_key, &it.check_sort_key).cloned();
        let passes = self.passes(it.check_type, row.as_ref(), &it.check_operand);
        for mutation in it.mutate_list.iter().filter(|_| passes) {
            match mutation.operation {
                MutateOperation::MO_DELETE => self.remove(&it.hash_key, &mutation.sort_key),
                _ => {
                    let (value, asked) = (&mutation.value, mutation.set_expire_ts_seconds);
                    self.put(&it.hash_key, &mutation.sort_key, value, asked);
                }
            }
        }
        let shown = row.filter(|_| it.return_check_value);
        CheckAndMutateResponse {
            error: Status(if passes { 0 } else { 13 }),
            check_value_returned: it.return_check_value,
            check_value_exist: shown.is_some(),
            check_value: Blob::from(shown.map(|row| row.0).unwrap_or_default()),
            ..CheckAndMutateResponse::default()
        }
    }

    /// The rows that live, in the order of raw keys.
    pub fn living(&self) -> Vec<(Vec<u8>, Row)> {
        let lives = |row: &Row| row.1 == 0 || row.1 > self.now;
        let rows = self.rows.iter().filter(|(_, row)| lives(row));
        let mut rows: Vec<_> = rows
            .map(|((hash_key, sort_key), row)| (raw(hash_key, sort_key), row.clone()))
            .collect();
        rows.sort();
        rows
    }

    /// What `GET` and `TTL` answer.
    pub fn get(&self, key: &[u8]) -> (Status, Vec<u8>, i32) {
        let (hash_key, sort_key) = split(key);
        match self.live(&hash_key, &sort_key) {
            None => (Status(1), Vec::new(), 0),
            Some((value, 0)) => (Status(0), value.clone(), -1),
            Some((value, ends)) => (Status(0), value.clone(), (ends - self.now) as i32),
        }
    }

    /// The rows of a `MULTI_GET` over a range, and whether there are more.
    pub fn range(&self, it: &MultiGetRequest) -> (Vec<Pair>, bool) {
        let is_in = |sort_key: &[u8]| {
            let (start, stop) = (&it.start_sortkey[..], &it.stop_sortkey[..]);
            let is_behind_start = sort_key > start || (it.start_inclusive && sort_key == start);
            let is_before_stop =
                stop.is_empty() || sort_key < stop || (it.stop_inclusive && sort_key == stop);
            is_behind_start && is_before_stop
        };
        // What is looked at includes what has ended, and what a filter by prefix narrows is not.
        let filter = it.sort_key_filter_type;
        let pattern = &it.sort_key_filter_pattern[..];
        let seen = self.rows.iter().filter(|((hash_key, sort_key), _)| {
            *hash_key == *it.hash_key
                && is_in(sort_key)
                && (filter != FilterType::FT_MATCH_PREFIX || sort_key.starts_with(pattern))
        });
        let mut seen: Vec<_> = seen.collect();
        if it.reverse {
            seen.reverse();
        }
        let (mut found, mut size, mut is_cut) = (Vec::new(), 0, false);
        for ((_, sort_key), (value, ends)) in seen {
            let is_many = it.max_kv_count > 0 && found.len() as i32 >= it.max_kv_count;
            if is_many || it.max_kv_size > 0 && size >= it.max_kv_size as usize {
                is_cut = true;
                break;
            }
            let lives = *ends == 0 || *ends > self.now;
            let is_matched = match filter {
                FilterType::FT_MATCH_POSTFIX => sort_key.ends_with(pattern),
                _ => true,
            };
            if lives && is_matched {
                let value = if it.no_value {
                    Vec::new()
                } else {
                    value.clone()
                };
                size += sort_key.len() + value.len();
                found.push((sort_key.clone(), value));
            }
        }
        found.sort();
        (found, is_cut)
    }
}
