//! Scans of a partition, page by page.
//!
//! A scan that is under way is a position, not a snapshot: each page sees what is there when it is
//! read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker::{Keyspace, Result};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::keys::{key_hash, partition_of, split_raw_key};
use esker_rpc::message::data::{GetScannerRequest, KeyValue, SCAN_ENDED, ScanResponse};
use esker_rpc::rules::filter::Filter;
use esker_rpc::rules::limits::{SCAN_BYTES_MAX, SCAN_CONTEXT_MS_MAX, SCAN_ROWS_MAX, scan_rows};
use esker_rpc::rules::range::{KeyRange, of_scan};

use crate::partition::rows::{Moment, Walk};

/// Scans of a partition that are under way at the most. The one that was not used for the longest
/// time is forgotten for another; its client opens it again behind the last key that it has seen.
const CONTEXTS_MAX: usize = 1000;

/// Bits of an id that count scans; those above tell one life of the server from another.
const COUNT_BITS: u32 = 32;

/// Which keys of a table a partition has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the partition.
    pub index: u32,
    /// How many there are of the table.
    pub count: u32,
}

/// A scan that is under way.
struct Context {
    request: GetScannerRequest,
    /// What is left of its range.
    left: KeyRange,
    used_at: Duration,
}

/// The scans of a partition that are under way. Any thread may call anything; no lock is held while
/// a page is read.
pub struct Scans {
    contexts: Mutex<Contexts>,
    /// What the next id is made of.
    incarnation: i64,
    /// Rows that belong elsewhere are passed over, as a partition that was split has them.
    validated: Option<Share>,
}

#[derive(Default)]
struct Contexts {
    open: BTreeMap<i64, Context>,
    /// How many there were.
    count: u32,
}

impl Contexts {
    // Those that nobody has used for five minutes.
    fn forget_idle(&mut self, now: Duration) {
        let idle_max = Duration::from_millis(SCAN_CONTEXT_MS_MAX);
        self.open
            .retain(|_, context| now.saturating_sub(context.used_at) < idle_max);
    }
}

impl Scans {
    /// None. Lives of the server have different incarnations, of which the lower 31 bits count.
    pub fn new(incarnation: u64, validated: Option<Share>) -> Scans {
        Scans {
            contexts: Mutex::default(),
            incarnation: i64::from((incarnation & 0x7fff_ffff) as u32),
            validated,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.contexts().open.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.contexts().open.is_empty()
    }

    /// Begins a scan, and reads its first page.
    pub fn begin(
        &self,
        keyspace: &Keyspace,
        request: GetScannerRequest,
        moment: Moment<'_>,
    ) -> Result<ScanResponse> {
        let left = of_scan(&request);
        self.page(keyspace, request, left, moment)
    }

    /// Reads the next page of a scan. An id is good for one page: the answer has another.
    pub fn go_on(
        &self,
        keyspace: &Keyspace,
        context_id: i64,
        moment: Moment<'_>,
    ) -> Result<ScanResponse> {
        let found = {
            let mut contexts = self.contexts();
            contexts.forget_idle(moment.clock.monotonic());
            contexts.open.remove(&context_id)
        };
        let Some(context) = found else {
            return Ok(ended(Status::NOT_FOUND));
        };
        self.page(keyspace, context.request, context.left, moment)
    }

    /// Forgets a scan.
    pub fn clear(&self, context_id: i64) {
        self.contexts().open.remove(&context_id);
    }

    // Contexts are whole whatever the thread that panicked was about to do.
    fn contexts(&self) -> MutexGuard<'_, Contexts> {
        let contexts = &self.contexts;
        contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(
        &self,
        keyspace: &Keyspace,
        request: GetScannerRequest,
        mut left: KeyRange,
        moment: Moment<'_>,
    ) -> Result<ScanResponse> {
        let filters = (
            Filter::new(
                request.hash_key_filter_type,
                &request.hash_key_filter_pattern,
            ),
            Filter::new(
                request.sort_key_filter_type,
                &request.sort_key_filter_pattern,
            ),
        );
        let (Some(of_hash_key), Some(of_sort_key)) = filters else {
            return Ok(ended(Status::INVALID_ARGUMENT));
        };
        if left.is_empty() {
            return Ok(self.answer(&request, Vec::new(), 0, SCAN_ENDED));
        }
        let share = self
            .validated
            .filter(|_| request.validate_partition_hash != Some(false));
        let rows_max = scan_rows(request.batch_size);
        let (mut rows, mut count, mut size_bytes) = (Vec::new(), 0, 0);
        let mut walk = Walk::new(keyspace, &left, false, SCAN_ROWS_MAX, moment)?;
        // The last row that was looked at.
        let mut last: Option<Vec<u8>> = None;
        while walk.advance()? {
            if walk.is_late() {
                let late = self.answer(&request, rows, count, SCAN_ENDED);
                return Ok(ScanResponse {
                    error: Status::INCOMPLETE,
                    ..late
                });
            }
            if count >= rows_max || size_bytes >= SCAN_BYTES_MAX || walk.is_spent() {
                let mut next = last.unwrap_or_default();
                // The first key behind it.
                next.push(0);
                left.start = next;
                let id = self.keep(request.clone(), left, moment.clock.monotonic());
                return Ok(self.answer(&request, rows, count, id));
            }
            let (key, living) = walk.look()?;
            let seen = last.get_or_insert_default();
            seen.clear();
            seen.extend_from_slice(key);
            let (Some((hash_key, sort_key)), Some(living)) = (split_raw_key(key), living) else {
                continue;
            };
            let is_elsewhere = share.is_some_and(|share| {
                partition_of(key_hash(hash_key, sort_key), share.count) != share.index
            });
            if is_elsewhere || !of_hash_key.matches(hash_key) || !of_sort_key.matches(sort_key) {
                continue;
            }
            count += 1;
            if request.only_return_count == Some(true) {
                continue;
            }
            let with_expiry = request.return_expire_ts == Some(true);
            let row = KeyValue {
                key: Blob::of(key),
                value: match request.no_value {
                    true => Blob::default(),
                    false => Blob::of(living.user),
                },
                expire_ts_seconds: with_expiry.then(|| living.expiry.to_bits()),
            };
            size_bytes += row.key.len() + row.value.len();
            rows.push(row);
        }
        Ok(self.answer(&request, rows, count, SCAN_ENDED))
    }

    fn keep(&self, request: GetScannerRequest, left: KeyRange, now: Duration) -> i64 {
        let mut contexts = self.contexts();
        contexts.forget_idle(now);
        if contexts.open.len() >= CONTEXTS_MAX {
            let by_use = |(id, context): (&i64, &Context)| (context.used_at, *id);
            if let Some((_, oldest)) = contexts.open.iter().map(by_use).min() {
                contexts.open.remove(&oldest);
            }
        }
        contexts.count = contexts.count.wrapping_add(1);
        let id = (self.incarnation << COUNT_BITS) | i64::from(contexts.count);
        let context = Context {
            request,
            left,
            used_at: now,
        };
        contexts.open.insert(id, context);
        id
    }

    fn answer(
        &self,
        request: &GetScannerRequest,
        kvs: Vec<KeyValue>,
        count: usize,
        context_id: i64,
    ) -> ScanResponse {
        let is_counted = request.only_return_count == Some(true);
        ScanResponse {
            error: Status::OK,
            kvs,
            context_id,
            kv_count: is_counted.then(|| i32::try_from(count).unwrap_or(i32::MAX)),
            ..ScanResponse::default()
        }
    }
}

// An answer without rows, and without a way to go on.
fn ended(error: Status) -> ScanResponse {
    ScanResponse {
        error,
        context_id: SCAN_ENDED,
        ..ScanResponse::default()
    }
}
