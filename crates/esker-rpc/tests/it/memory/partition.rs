//! The rows of one partition, and every call on them.

use std::collections::BTreeMap;

use esker_rpc::codec::scalars::{Blob, Gpid};
use esker_rpc::error::Status;
use esker_rpc::keys::{key_hash, partition_of, raw_key, split_raw_key};
use esker_rpc::message::call::Silence;
use esker_rpc::message::data::{
    BatchGetRequest, BatchGetResponse, CheckAndMutateRequest, CheckAndMutateResponse,
    CheckAndSetRequest, CheckAndSetResponse, CountResponse, FullRow, IncrRequest, IncrResponse,
    KeyAnswer, KeyCall, KeyValue, MultiGetRequest, MultiGetResponse, MultiPutRequest,
    MultiRemoveRequest, MultiRemoveResponse, MutateOperation, ReadResponse, SCAN_ENDED,
    ScanResponse, TtlResponse, UpdateRequest, UpdateResponse,
};
use esker_rpc::rules::check::{Verdict, check};
use esker_rpc::rules::counter::{Incremented, increment};
use esker_rpc::rules::expiry::{after_increment, after_write, ttl_s};
use esker_rpc::rules::filter::Filter;
use esker_rpc::rules::limits::{
    BATCH_GET_BYTES_MAX, MULTI_GET_BYTES_MAX, MULTI_GET_ROWS_MAX, asked,
};
use esker_rpc::rules::range::{KeyRange, of_multi_get};
use esker_rpc::time::WireSecond;
use esker_rpc::value::{StoredValue, TimeTag};

use super::scans::{Place, Scan, Scans, range};

/// Bytes of the longest raw key that a row can have: what the engine takes of what is shipped.
const RAW_KEY_BYTES_MAX: usize = 65_535;

/// The rows of one partition: raw keys and stored values.
#[derive(Debug)]
pub struct Partition {
    gpid: Gpid,
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    scans: Scans,
    decree: i64,
}

/// What a call depends on besides the rows.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Where rows belong, and the time.
    pub place: Place,
    /// Seconds that values live which no write gave an expiry; 0 for ever.
    pub default_ttl_s: u32,
    /// The server, in words.
    pub server: String,
}

// A response with where it comes from.
macro_rules! stamped {
    ($partition:ident, $moment:ident, $Name:ident { $($field:ident: $value:expr),* $(,)? }) => {
        $Name {
            $($field: $value,)*
            app_id: $partition.gpid.app_id,
            partition_index: $partition.gpid.partition_index,
            server: $moment.server.clone(),
            ..$Name::default()
        }
    };
}

#[allow(
    clippy::needless_update,
    reason = "not for all of the stamped responses"
)]
impl Partition {
    /// Without rows. Scan contexts count from `first_context` on.
    pub fn new(gpid: Gpid, first_context: i64) -> Partition {
        Partition {
            gpid,
            rows: BTreeMap::new(),
            scans: Scans::new(first_context),
            decree: 0,
        }
    }

    /// Forgets all scans, as a server does that restarts.
    pub fn forget_scans(&mut self) {
        self.scans.clear();
    }

    /// How many scans are under way.
    pub fn scan_count(&self) -> usize {
        self.scans.len()
    }

    /// Gives `child` the rows that belong to it when there are `count` partitions.
    pub fn part_with(&mut self, child: &mut Partition, count: u32) {
        let index = child.gpid.partition_index.cast_unsigned();
        let belongs = |key: &[u8]| {
            let (hash_key, sort_key) = split_raw_key(key).expect("written by this double");
            partition_of(key_hash(hash_key, sort_key), count) == index
        };
        let rows = std::mem::take(&mut self.rows).into_iter();
        let (theirs, ours) = rows.partition(|(key, _)| belongs(key));
        (child.rows, self.rows) = (theirs, ours);
    }

    /// Answers `call`.
    pub fn answer(&mut self, call: KeyCall, moment: &Moment) -> KeyAnswer {
        match call {
            KeyCall::Get(key) => KeyAnswer::Get(self.get(&key, moment)),
            KeyCall::Ttl(key) => KeyAnswer::Ttl(self.ttl(&key, moment)),
            KeyCall::MultiGet(request) => KeyAnswer::MultiGet(self.multi_get(&request, moment)),
            KeyCall::BatchGet(request) => KeyAnswer::BatchGet(self.batch_get(&request, moment)),
            KeyCall::SortkeyCount(key) => KeyAnswer::SortkeyCount(self.count(&key, moment)),
            KeyCall::GetScanner(request) => {
                let scan = Scans::begin(request).ok_or(Status::INVALID_ARGUMENT);
                KeyAnswer::GetScanner(self.scan(scan, moment))
            }
            KeyCall::Scan(request) => {
                let scan = self.scans.take(request.context_id).ok_or(Status::NOT_FOUND);
                KeyAnswer::Scan(self.scan(scan, moment))
            }
            KeyCall::ClearScanner(context) => {
                self.scans.take(context);
                KeyAnswer::ClearScanner(Silence)
            }
            KeyCall::Put(request) => KeyAnswer::Put(self.put(&request, moment)),
            KeyCall::Remove(key) => KeyAnswer::Remove(self.remove(&key, moment)),
            KeyCall::MultiPut(request) => KeyAnswer::MultiPut(self.multi_put(&request, moment)),
            KeyCall::MultiRemove(request) => {
                KeyAnswer::MultiRemove(self.multi_remove(&request, moment))
            }
            KeyCall::Incr(request) => KeyAnswer::Incr(self.incr(&request, moment)),
            KeyCall::CheckAndSet(request) => {
                KeyAnswer::CheckAndSet(self.check_and_set(&request, moment))
            }
            KeyCall::CheckAndMutate(request) => {
                KeyAnswer::CheckAndMutate(self.check_and_mutate(&request, moment))
            }
        }
    }

    /// What lives under a raw key.
    fn live(&self, key: &[u8], moment: &Moment) -> Option<StoredValue<'_>> {
        let stored = StoredValue::read(self.rows.get(key)?).expect("written by this double");
        (!stored.expiry.is_expired(moment.place.now)).then_some(stored)
    }

    fn store(&mut self, key: Vec<u8>, user: &[u8], expiry: WireSecond, moment: &Moment) {
        let unix_us = moment.place.now.to_unix() * 1_000_000;
        let stored = StoredValue {
            expiry,
            time_tag: TimeTag::new(unix_us, 1, false),
            user,
        };
        self.rows.insert(key, stored.to_bytes());
    }

    fn next_decree(&mut self) -> i64 {
        self.decree += 1;
        self.decree
    }

    fn get(&self, key: &[u8], moment: &Moment) -> ReadResponse {
        let value = self.live(key, moment).map(|stored| Blob::of(stored.user));
        stamped!(
            self,
            moment,
            ReadResponse {
                error: status_of_read(value.is_some()),
                value: value.unwrap_or_default(),
            }
        )
    }

    fn ttl(&self, key: &[u8], moment: &Moment) -> TtlResponse {
        let expiry = self.live(key, moment).map(|stored| stored.expiry);
        stamped!(
            self,
            moment,
            TtlResponse {
                error: status_of_read(expiry.is_some()),
                ttl_seconds: expiry.map_or(0, |expiry| ttl_s(expiry, moment.place.now)),
            }
        )
    }

    fn multi_get(&self, request: &MultiGetRequest, moment: &Moment) -> MultiGetResponse {
        let filter = Filter::new(
            request.sort_key_filter_type,
            &request.sort_key_filter_pattern,
        );
        let (error, kvs) = match (filter, request.sort_keys.is_empty()) {
            (None, _) => (Status::INVALID_ARGUMENT, Vec::new()),
            (Some(_), false) => self.named_rows(request, moment),
            (Some(filter), true) => self.rows_of_range(request, filter, moment),
        };
        stamped!(
            self,
            moment,
            MultiGetResponse {
                error: error,
                kvs: kvs
            }
        )
    }

    fn named_rows(&self, request: &MultiGetRequest, moment: &Moment) -> (Status, Vec<KeyValue>) {
        let mut found = Found::new(request);
        for sort_key in &request.sort_keys {
            let Some(key) = raw_key(&request.hash_key, sort_key) else {
                return (Status::INVALID_ARGUMENT, Vec::new());
            };
            let Some(stored) = self.live(&key, moment) else {
                continue;
            };
            if found.is_full() {
                return (Status::INCOMPLETE, found.rows);
            }
            found.add(sort_key, stored.user);
        }
        (Status::OK, found.rows)
    }

    fn rows_of_range(
        &self,
        request: &MultiGetRequest,
        filter: Filter<'_>,
        moment: &Moment,
    ) -> (Status, Vec<KeyValue>) {
        let Some(keys) = of_multi_get(request) else {
            return (Status::INVALID_ARGUMENT, Vec::new());
        };
        let mut found = Found::new(request);
        let mut rows = range(&self.rows, &keys);
        let mut status = Status::OK;
        let mut looked = 0;
        while let Some((key, _)) = match request.reverse {
            false => rows.next(),
            true => rows.next_back(),
        } {
            if found.is_full() || looked == MULTI_GET_ROWS_MAX {
                status = Status::INCOMPLETE;
                break;
            }
            looked += 1;
            let (_, sort_key) = split_raw_key(key).expect("written by this double");
            if let Some(stored) = self.live(key, moment).filter(|_| filter.matches(sort_key)) {
                found.add(sort_key, stored.user);
            }
        }
        if request.reverse {
            found.rows.reverse();
        }
        (status, found.rows)
    }

    fn batch_get(&self, request: &BatchGetRequest, moment: &Moment) -> BatchGetResponse {
        let row = |hash_key: &Blob, sort_key: &Blob| {
            let key = raw_key(hash_key, sort_key)?;
            let stored = self.live(&key, moment)?;
            Some(FullRow {
                hash_key: hash_key.clone(),
                sort_key: sort_key.clone(),
                value: Blob::of(stored.user),
            })
        };
        let mut error = unless(request.keys.is_empty());
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for key in &request.keys {
            if let Some(row) = row(&key.hash_key, &key.sort_key) {
                bytes += row.hash_key.len() + row.sort_key.len() + row.value.len();
                rows.push(row);
            }
            if bytes > BATCH_GET_BYTES_MAX {
                (error, rows) = (Status::INCOMPLETE, Vec::new());
                break;
            }
        }
        stamped!(
            self,
            moment,
            BatchGetResponse {
                error: error,
                data: rows
            }
        )
    }

    fn count(&self, hash_key: &[u8], moment: &Moment) -> CountResponse {
        let keys = KeyRange::of_hash_key(hash_key);
        let count = keys.as_ref().map_or(0, |keys| {
            let rows = range(&self.rows, keys);
            rows.filter(|(key, _)| self.live(key, moment).is_some())
                .count()
        });
        stamped!(
            self,
            moment,
            CountResponse {
                error: unless(keys.is_none()),
                count: i64::try_from(count).expect("rows in memory"),
            }
        )
    }

    fn scan(&mut self, scan: Result<Scan, Status>, moment: &Moment) -> ScanResponse {
        match scan {
            Ok(scan) => {
                let step = self.scans.step(scan, &self.rows, moment.place);
                stamped!(
                    self,
                    moment,
                    ScanResponse {
                        error: Status::OK,
                        kvs: step.rows,
                        context_id: step.context,
                        kv_count: step.count,
                    }
                )
            }
            Err(status) => stamped!(
                self,
                moment,
                ScanResponse {
                    error: status,
                    context_id: SCAN_ENDED,
                }
            ),
        }
    }

    fn put(&mut self, request: &UpdateRequest, moment: &Moment) -> UpdateResponse {
        let error = unless(!is_row_key(&request.key));
        if error.is_ok() {
            let expiry = self.expiry(request.expire_ts_seconds, moment);
            self.store(request.key.to_vec(), &request.value, expiry, moment);
        }
        let decree = self.next_decree();
        stamped!(
            self,
            moment,
            UpdateResponse {
                error: error,
                decree: decree
            }
        )
    }

    fn remove(&mut self, key: &[u8], moment: &Moment) -> UpdateResponse {
        self.rows.remove(key);
        let decree = self.next_decree();
        let error = unless(!is_row_key(key));
        stamped!(
            self,
            moment,
            UpdateResponse {
                error: error,
                decree: decree
            }
        )
    }

    fn multi_put(&mut self, request: &MultiPutRequest, moment: &Moment) -> UpdateResponse {
        let keys = request
            .kvs
            .iter()
            .map(|row| row_key(&request.hash_key, &row.key));
        let keys: Option<Vec<_>> = keys.collect();
        let keys = keys.filter(|keys| !keys.is_empty());
        let error = unless(keys.is_none());
        let expiry = self.expiry(request.expire_ts_seconds, moment);
        for (key, row) in keys.into_iter().flatten().zip(&request.kvs) {
            self.store(key, &row.value, expiry, moment);
        }
        let decree = self.next_decree();
        stamped!(
            self,
            moment,
            UpdateResponse {
                error: error,
                decree: decree
            }
        )
    }

    fn multi_remove(
        &mut self,
        request: &MultiRemoveRequest,
        moment: &Moment,
    ) -> MultiRemoveResponse {
        let keys = request
            .sort_keys
            .iter()
            .map(|key| row_key(&request.hash_key, key));
        let keys: Option<Vec<_>> = keys.collect();
        let keys = keys.filter(|keys| !keys.is_empty());
        let error = unless(keys.is_none());
        let mut count = 0;
        for key in keys.into_iter().flatten() {
            self.rows.remove(&key);
            // There or not.
            count += 1;
        }
        let decree = self.next_decree();
        stamped!(
            self,
            moment,
            MultiRemoveResponse {
                error: error,
                count: count,
                decree: decree
            }
        )
    }

    fn incr(&mut self, request: &IncrRequest, moment: &Moment) -> IncrResponse {
        let old = self.live(&request.key, moment);
        let old_expiry = old.map_or(WireSecond::NONE, |stored| stored.expiry);
        let sum = increment(old.map(|stored| stored.user), request.increment);
        let is_key = is_row_key(&request.key);
        let (error, new_value) = match sum {
            Incremented::To(sum) if is_key => (Status::OK, sum),
            Incremented::Overflow(old) => (Status::INVALID_ARGUMENT, old),
            _ => (Status::INVALID_ARGUMENT, 0),
        };
        if error.is_ok() {
            let (now, default) = (moment.place.now, moment.default_ttl_s);
            let expiry = after_increment(request.expire_ts_seconds, old_expiry, default, now);
            let text = new_value.to_string();
            self.store(request.key.to_vec(), text.as_bytes(), expiry, moment);
        }
        let decree = self.next_decree();
        stamped!(
            self,
            moment,
            IncrResponse {
                error: error,
                new_value: new_value,
                decree: decree
            }
        )
    }

    fn check_and_set(
        &mut self,
        request: &CheckAndSetRequest,
        moment: &Moment,
    ) -> CheckAndSetResponse {
        let keys = [&request.check_sort_key, &request.set_sort_key];
        let [Some(check_key), Some(other_key)] = keys.map(|key| row_key(&request.hash_key, key))
        else {
            return stamped!(
                self,
                moment,
                CheckAndSetResponse {
                    error: Status::INVALID_ARGUMENT
                }
            );
        };
        if request.check_type.name().is_none() {
            return stamped!(
                self,
                moment,
                CheckAndSetResponse {
                    error: Status::INVALID_ARGUMENT
                }
            );
        }
        let old = self
            .live(&check_key, moment)
            .map(|stored| Blob::of(stored.user));
        let verdict = check(request.check_type, old.as_deref(), &request.check_operand);
        if verdict == Verdict::Passed {
            let key = match request.set_diff_sort_key {
                true => other_key,
                false => check_key,
            };
            let expiry = self.expiry(request.set_expire_ts_seconds, moment);
            self.store(key, &request.set_value, expiry, moment);
        }
        let old = old.filter(|_| request.return_check_value);
        let decree = self.next_decree();
        stamped!(
            self,
            moment,
            CheckAndSetResponse {
                error: status_of(verdict),
                check_value_returned: request.return_check_value,
                check_value_exist: old.is_some(),
                check_value: old.unwrap_or_default(),
                decree: decree,
            }
        )
    }

    fn check_and_mutate(
        &mut self,
        request: &CheckAndMutateRequest,
        moment: &Moment,
    ) -> CheckAndMutateResponse {
        let is_known = request.check_type.name().is_some()
            && !request.mutate_list.is_empty()
            && request
                .mutate_list
                .iter()
                .all(|one| one.operation.name().is_some());
        let check_key = row_key(&request.hash_key, &request.check_sort_key);
        let keys = request
            .mutate_list
            .iter()
            .map(|one| row_key(&request.hash_key, &one.sort_key));
        let keys: Option<Vec<_>> = keys.collect();
        let (Some(check_key), Some(keys), true) = (check_key, keys, is_known) else {
            let error = Status::INVALID_ARGUMENT;
            return stamped!(self, moment, CheckAndMutateResponse { error: error });
        };
        let old = self
            .live(&check_key, moment)
            .map(|stored| Blob::of(stored.user));
        let verdict = check(request.check_type, old.as_deref(), &request.check_operand);
        let changes = request.mutate_list.iter().zip(keys);
        for (one, key) in changes.filter(|_| verdict == Verdict::Passed) {
            match one.operation {
                MutateOperation::MO_PUT => {
                    let expiry = self.expiry(one.set_expire_ts_seconds, moment);
                    self.store(key, &one.value, expiry, moment);
                }
                _ => drop(self.rows.remove(&key)),
            }
        }
        let old = old.filter(|_| request.return_check_value);
        let decree = self.next_decree();
        stamped!(
            self,
            moment,
            CheckAndMutateResponse {
                error: status_of(verdict),
                check_value_returned: request.return_check_value,
                check_value_exist: old.is_some(),
                check_value: old.unwrap_or_default(),
                decree: decree,
            }
        )
    }

    fn expiry(&self, asked: i32, moment: &Moment) -> WireSecond {
        after_write(asked, moment.default_ttl_s, moment.place.now)
    }
}

/// Rows of a `MULTI_GET` so far.
struct Found {
    rows: Vec<KeyValue>,
    bytes: usize,
    rows_max: usize,
    bytes_max: usize,
    no_value: bool,
}

impl Found {
    fn new(request: &MultiGetRequest) -> Found {
        Found {
            rows: Vec::new(),
            bytes: 0,
            rows_max: asked(request.max_kv_count),
            bytes_max: asked(request.max_kv_size).min(MULTI_GET_BYTES_MAX),
            no_value: request.no_value,
        }
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.rows_max || self.bytes >= self.bytes_max
    }

    fn add(&mut self, sort_key: &[u8], user: &[u8]) {
        let value = if self.no_value { &[][..] } else { user };
        self.bytes += sort_key.len() + value.len();
        self.rows.push(KeyValue {
            key: Blob::of(sort_key),
            value: Blob::of(value),
            expire_ts_seconds: None,
        });
    }
}

fn is_row_key(key: &[u8]) -> bool {
    key.len() <= RAW_KEY_BYTES_MAX && split_raw_key(key).is_some()
}

/// The raw key of a row; none if no row can have it.
fn row_key(hash_key: &[u8], sort_key: &[u8]) -> Option<Vec<u8>> {
    raw_key(hash_key, sort_key).filter(|key| is_row_key(key))
}

fn status_of_read(is_there: bool) -> Status {
    match is_there {
        true => Status::OK,
        false => Status::NOT_FOUND,
    }
}

fn status_of(verdict: Verdict) -> Status {
    match verdict {
        Verdict::Passed => Status::OK,
        Verdict::Failed => Status::TRY_AGAIN,
        Verdict::Invalid => Status::INVALID_ARGUMENT,
    }
}

fn unless(is_senseless: bool) -> Status {
    match is_senseless {
        true => Status::INVALID_ARGUMENT,
        false => Status::OK,
    }
}
