//! What is read at one moment: single rows, several of them, ranges of one hash key, counts.

use esker::{Keyspace, Result};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::keys::split_raw_key;
use esker_rpc::message::data::{
    BatchGetRequest, BatchGetResponse, CountResponse, FullRow, KeyValue, MultiGetRequest,
    MultiGetResponse, ReadResponse, TtlResponse,
};
use esker_rpc::rules::expiry::ttl_s;
use esker_rpc::rules::filter::Filter;
use esker_rpc::rules::limits::{
    BATCH_GET_BYTES_MAX, MULTI_GET_BYTES_MAX, MULTI_GET_ROWS_MAX, asked,
};
use esker_rpc::rules::range::{KeyRange, of_multi_get};
use esker_rpc::value::StoredValue;

use crate::partition::overlay::read_stored;
use crate::partition::raw_keys::RawKeys;
use crate::partition::rows::{Moment, Walk};

/// Rows that are asked for together: enough for a disk to be busy with.
const TOGETHER: usize = 100;

/// Reads the rows of a partition at one moment.
pub struct Reads<'a> {
    /// Its rows.
    pub keyspace: &'a Keyspace,
    /// When.
    pub moment: Moment<'a>,
}

impl Reads<'_> {
    /// The value under a raw key.
    pub fn get(&self, key: &[u8]) -> Result<ReadResponse> {
        let value = match self.keyspace.get(key)? {
            Some(stored) => self.lent(stored)?,
            None => None,
        };
        let (error, value) = match value {
            None => (Status::NOT_FOUND, Blob::default()),
            Some(value) => (Status::OK, value),
        };
        Ok(ReadResponse {
            error,
            value,
            ..ReadResponse::default()
        })
    }

    /// How long the value under a raw key lives.
    pub fn ttl(&self, key: &[u8]) -> Result<TtlResponse> {
        let stored = self.keyspace.get(key)?;
        let living = stored.as_deref().map(|stored| self.living(stored));
        let (error, ttl_seconds) = match living.transpose()?.flatten() {
            None => (Status::NOT_FOUND, 0),
            Some(stored) => (Status::OK, ttl_s(stored.expiry, self.moment.now)),
        };
        Ok(TtlResponse {
            error,
            ttl_seconds,
            ..TtlResponse::default()
        })
    }

    /// Rows of one hash key: those that are named, or a range.
    pub fn multi_get(&self, request: &MultiGetRequest) -> Result<MultiGetResponse> {
        let filter = Filter::new(
            request.sort_key_filter_type,
            &request.sort_key_filter_pattern,
        );
        let (Some(filter), Some(range)) = (filter, of_multi_get(request)) else {
            return Ok(MultiGetResponse {
                error: Status::INVALID_ARGUMENT,
                ..MultiGetResponse::default()
            });
        };
        let mut page = Page::of(request);
        let error = match request.sort_keys.is_empty() {
            true => self.rows_in(&range, filter, request.reverse, &mut page)?,
            false => self.rows_named(request, &mut page)?,
        };
        if request.reverse && request.sort_keys.is_empty() {
            page.rows.reverse();
        }
        Ok(MultiGetResponse {
            error,
            kvs: page.rows,
            ..MultiGetResponse::default()
        })
    }

    fn rows_named(&self, request: &MultiGetRequest, page: &mut Page) -> Result<Status> {
        for sort_keys in request.sort_keys.chunks(TOGETHER) {
            let mut keys = RawKeys::default();
            for sort_key in sort_keys {
                keys.push(&request.hash_key, sort_key);
            }
            let stored = self.keyspace.multi_get(&keys.slices())?;
            for (sort_key, stored) in sort_keys.iter().zip(stored) {
                let Some(stored) = stored else { continue };
                let Some(value) = self.lent(stored)? else {
                    continue;
                };
                if page.is_full() {
                    return Ok(Status::INCOMPLETE);
                }
                page.push(sort_key.clone(), value);
            }
        }
        Ok(Status::OK)
    }

    fn rows_in(
        &self,
        range: &KeyRange,
        filter: Filter<'_>,
        is_reverse: bool,
        page: &mut Page,
    ) -> Result<Status> {
        if range.is_empty() {
            return Ok(Status::OK);
        }
        let rows_max = MULTI_GET_ROWS_MAX;
        let mut walk = Walk::new(self.keyspace, range, is_reverse, rows_max, self.moment)?;
        while walk.advance()? {
            if page.is_full() || walk.is_spent() || walk.is_late() {
                return Ok(Status::INCOMPLETE);
            }
            let (key, living) = walk.look()?;
            let (Some((_, sort_key)), Some(living)) = (split_raw_key(key), living) else {
                continue;
            };
            if filter.matches(sort_key) {
                page.push(Blob::of(sort_key), Blob::of(living.user));
            }
        }
        Ok(Status::OK)
    }

    /// Those of the rows that there are; none, and status 7, if they are too long for one answer.
    pub fn batch_get(&self, request: &BatchGetRequest) -> Result<BatchGetResponse> {
        if request.keys.is_empty() {
            return Ok(BatchGetResponse {
                error: Status::INVALID_ARGUMENT,
                ..BatchGetResponse::default()
            });
        }
        let (mut data, mut size_bytes) = (Vec::new(), 0);
        for asked in request.keys.chunks(TOGETHER) {
            let mut keys = RawKeys::default();
            for key in asked {
                keys.push(&key.hash_key, &key.sort_key);
            }
            for (key, stored) in asked.iter().zip(self.keyspace.multi_get(&keys.slices())?) {
                let Some(stored) = stored else { continue };
                let Some(value) = self.lent(stored)? else {
                    continue;
                };
                size_bytes += key.hash_key.len() + key.sort_key.len() + value.len();
                if size_bytes > BATCH_GET_BYTES_MAX {
                    return Ok(BatchGetResponse {
                        error: Status::INCOMPLETE,
                        ..BatchGetResponse::default()
                    });
                }
                data.push(FullRow {
                    hash_key: key.hash_key.clone(),
                    sort_key: key.sort_key.clone(),
                    value,
                });
            }
        }
        Ok(BatchGetResponse {
            error: Status::OK,
            data,
            ..BatchGetResponse::default()
        })
    }

    /// How many sort keys a hash key has.
    pub fn sortkey_count(&self, hash_key: &[u8]) -> Result<CountResponse> {
        let answer = |error, count| CountResponse {
            error,
            count,
            ..CountResponse::default()
        };
        let Some(range) = KeyRange::of_hash_key(hash_key) else {
            return Ok(answer(Status::INVALID_ARGUMENT, 0));
        };
        let mut walk = Walk::new(self.keyspace, &range, false, usize::MAX, self.moment)?;
        let mut count = 0;
        while walk.advance()? {
            if walk.is_late() {
                return Ok(answer(Status::OK, -1));
            }
            let (_, living) = walk.look()?;
            count += i64::from(living.is_some());
        }
        Ok(answer(Status::OK, count))
    }

    /// The user's part of what is stored, if it lives, without a copy.
    fn lent(&self, stored: esker::Bytes) -> Result<Option<Blob>> {
        let living = self.living(&stored)?;
        let user = living.map(|living| stored.len() - living.user.len()..stored.len());
        Ok(user.map(|user| Blob::lent(stored, user)))
    }

    fn living<'v>(&self, stored: &'v [u8]) -> Result<Option<StoredValue<'v>>> {
        let stored = read_stored(stored)?;
        Ok(Some(stored).filter(|stored| !stored.expiry.is_expired(self.moment.now)))
    }
}

/// Rows of an answer, as many as were asked for.
struct Page {
    rows: Vec<KeyValue>,
    size_bytes: usize,
    rows_max: usize,
    bytes_max: usize,
    has_values: bool,
}

impl Page {
    fn of(request: &MultiGetRequest) -> Page {
        Page {
            rows: Vec::new(),
            size_bytes: 0,
            rows_max: asked(request.max_kv_count),
            bytes_max: asked(request.max_kv_size).min(MULTI_GET_BYTES_MAX),
            has_values: !request.no_value,
        }
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.rows_max || self.size_bytes >= self.bytes_max
    }

    fn push(&mut self, key: Blob, value: Blob) {
        let value = match self.has_values {
            true => value,
            false => Blob::default(),
        };
        self.size_bytes += key.len() + value.len();
        self.rows.push(KeyValue {
            key,
            value,
            expire_ts_seconds: None,
        });
    }
}
