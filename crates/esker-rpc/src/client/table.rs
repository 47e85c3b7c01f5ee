//! The calls that a program makes on the keys of a table.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::client::failure::{ClientError, Result};
use crate::client::metas::Metas;
use crate::client::pool::Pool;
use crate::client::route::{Route, Routing};
use crate::client::sending::{Sender, Target};
use crate::client::settings::{CallSettings, ClientSettings};
use crate::codec::scalars::Blob;
use crate::error::Status;
use crate::keys::{HASH_KEY_LEN_MAX, hash, key_hash, raw_key};
use crate::message::data::{
    BatchGet, BatchGetRequest, CheckAndMutate, CheckAndMutateRequest, CheckAndSet,
    CheckAndSetRequest, FullKey, FullRow, Get, Incr, IncrRequest, KeyValue, MultiGetRequest,
    MultiPut, MultiPutRequest, MultiRemove, MultiRemoveRequest, Put, Remove, SortkeyCount, Ttl,
    UpdateRequest,
};
use crate::time::WireSecond;

/// A client of one cluster. Copies share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) settings: ClientSettings,
    pub(crate) metas: Arc<Metas>,
    pool: Arc<Pool>,
}

impl Client {
    /// A client of the cluster whose meta servers are at `metas`, of which there is one at least.
    /// Nothing is connected yet.
    pub fn new(metas: Vec<SocketAddrV4>, settings: ClientSettings) -> Client {
        let pool = Arc::new(Pool::new(settings));
        Client {
            settings,
            metas: Arc::new(Metas::new(metas, Arc::clone(&pool), settings)),
            pool,
        }
    }

    /// The table of that name, once a meta server has told where its partitions are.
    pub async fn table(&self, name: &str) -> Result<Table> {
        let metas = Arc::clone(&self.metas);
        let route = Route::new(name, metas, self.settings.refresh_interval);
        let sender = Sender {
            pool: Arc::clone(&self.pool),
            route: Arc::new(route),
        };
        let deadline = self.settings.call.deadline();
        sender.route.current(deadline).await?;
        Ok(Table {
            sender: Arc::new(sender),
            call: self.settings.call,
            unix_s: self.settings.unix_s,
        })
    }
}

/// A table. Copies share what they know of its partitions.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) sender: Arc<Sender>,
    pub(crate) call: CallSettings,
    unix_s: fn() -> u64,
}

/// Rows below one hash key, by sort key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Sort keys and values.
    pub rows: Vec<(Vec<u8>, Vec<u8>)>,
    /// True if the server stopped before the end: go on behind the last row. There may be none,
    /// where all that it looked at was filtered or had expired.
    pub is_incomplete: bool,
}

/// What came of a check and its write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// True if the check passed and the write was done.
    pub has_passed: bool,
    /// The checked value before that, if it was asked for and there was one.
    pub value: Option<Vec<u8>>,
}

/// Which rows of a hash key a `multi_get` reads.
pub type MultiGet = MultiGetRequest;

impl Table {
    /// The same table, with calls made otherwise.
    pub fn with(&self, call: CallSettings) -> Table {
        Table {
            call,
            ..self.clone()
        }
    }

    /// The wire second now.
    pub fn now(&self) -> WireSecond {
        WireSecond::of_unix((self.unix_s)())
    }

    // Of what lives for so many seconds from now on; for ever for 0.
    fn expiry(&self, ttl_s: u32) -> i32 {
        self.now().after(ttl_s).to_bits()
    }

    /// The value of a key.
    pub async fn get(&self, hash_key: &[u8], sort_key: &[u8]) -> Result<Option<Vec<u8>>> {
        let (target, raw) = single(hash_key, sort_key)?;
        let answer = self.sender.send::<Get>(target, &raw, self.call).await?;
        found(answer.error).map(|is_there| is_there.then_some(answer.value.into_vec()))
    }

    /// How many seconds a value has left: `Some(None)` if it never ends.
    pub async fn ttl(&self, hash_key: &[u8], sort_key: &[u8]) -> Result<Option<Option<u32>>> {
        let (target, raw) = single(hash_key, sort_key)?;
        let answer = self.sender.send::<Ttl>(target, &raw, self.call).await?;
        let left = u32::try_from(answer.ttl_seconds).ok();
        found(answer.error).map(|is_there| is_there.then_some(left))
    }

    /// True if a key has a value.
    pub async fn exists(&self, hash_key: &[u8], sort_key: &[u8]) -> Result<bool> {
        let ttl = self.ttl(hash_key, sort_key).await?;
        Ok(ttl.is_some())
    }

    /// Puts a value that lives for `ttl_s` seconds, or for ever for 0.
    pub async fn set(
        &self,
        hash_key: &[u8],
        sort_key: &[u8],
        value: &[u8],
        ttl_s: u32,
    ) -> Result<()> {
        let (target, raw) = single(hash_key, sort_key)?;
        let request = UpdateRequest {
            key: raw,
            value: Blob::of(value),
            expire_ts_seconds: self.expiry(ttl_s),
            ..UpdateRequest::default()
        };
        let answer = self.sender.send::<Put>(target, &request, self.call).await?;
        done(answer.error)
    }

    /// Removes a key, there or not.
    pub async fn remove(&self, hash_key: &[u8], sort_key: &[u8]) -> Result<()> {
        let (target, raw) = single(hash_key, sort_key)?;
        let answer = self.sender.send::<Remove>(target, &raw, self.call).await?;
        done(answer.error)
    }

    /// Reads sort keys of one hash key as `request` says: those that it names, or a range.
    pub async fn multi_get(&self, request: &MultiGet) -> Result<Rows> {
        use crate::message::data::MultiGet as Ask;
        let target = of_hash_key(&request.hash_key)?;
        let answer = self.sender.send::<Ask>(target, request, self.call).await?;
        let is_incomplete = answer.error == Status::INCOMPLETE;
        if !is_incomplete {
            done(answer.error)?;
        }
        let rows = answer
            .kvs
            .into_iter()
            .map(|row| (row.key.into_vec(), row.value.into_vec()));
        Ok(Rows {
            rows: rows.collect(),
            is_incomplete,
        })
    }

    /// Reads keys of any partitions, with one call for each. What there is comes back, in no order.
    pub async fn batch_get(&self, keys: &[(&[u8], &[u8])]) -> Result<Vec<FullRow>> {
        for (hash_key, sort_key) in keys {
            single(hash_key, sort_key)?;
        }
        let deadline = self.call.deadline();
        loop {
            let routing = self.sender.route.current(deadline).await?;
            let rows = self
                .batch_get_once(keys, &routing, self.call.until(deadline))
                .await?;
            let now = self.sender.route.current(deadline).await?;
            // After a split keys that were together are not any more, and some were not found.
            if now.partition_count() == routing.partition_count() {
                return Ok(rows);
            }
        }
    }

    async fn batch_get_once(
        &self,
        keys: &[(&[u8], &[u8])],
        routing: &Routing,
        call: CallSettings,
    ) -> Result<Vec<FullRow>> {
        let mut of_partition: BTreeMap<u32, (u64, Vec<FullKey>)> = BTreeMap::new();
        for (hash_key, sort_key) in keys {
            let hash = key_hash(hash_key, sort_key);
            let together = of_partition.entry(routing.partition_of(hash));
            together.or_insert((hash, Vec::new())).1.push(FullKey {
                hash_key: Blob::of(hash_key),
                sort_key: Blob::of(sort_key),
            });
        }
        // They end with this call, however it ends.
        let mut calls = JoinSet::new();
        for (hash, keys) in of_partition.into_values() {
            let sender = Arc::clone(&self.sender);
            calls.spawn(async move {
                let request = BatchGetRequest { keys };
                sender
                    .send::<BatchGet>(Target::Hash(hash), &request, call)
                    .await
            });
        }
        let mut rows = Vec::new();
        while let Some(call) = calls.join_next().await {
            let answer = call.map_err(|_| ClientError::TimedOut)??;
            done(answer.error)?;
            rows.extend(answer.data);
        }
        Ok(rows)
    }

    /// How many sort keys a hash key has; `None` if it took the server too long to count them.
    pub async fn sort_key_count(&self, hash_key: &[u8]) -> Result<Option<u64>> {
        let target = of_hash_key(hash_key)?;
        let request = Blob::of(hash_key);
        let answer = self
            .sender
            .send::<SortkeyCount>(target, &request, self.call)
            .await?;
        done(answer.error)?;
        Ok(u64::try_from(answer.count).ok())
    }

    /// Puts several values of one hash key atomically. All live for `ttl_s` seconds, for ever for
    /// 0.
    pub async fn multi_set(
        &self,
        hash_key: &[u8],
        rows: &[(&[u8], &[u8])],
        ttl_s: u32,
    ) -> Result<()> {
        let target = of_hash_key(hash_key)?;
        let kvs = rows.iter().map(|(sort_key, value)| KeyValue {
            key: Blob::of(sort_key),
            value: Blob::of(value),
            expire_ts_seconds: None,
        });
        let request = MultiPutRequest {
            hash_key: Blob::of(hash_key),
            kvs: kvs.collect(),
            expire_ts_seconds: self.expiry(ttl_s),
        };
        let answer = self
            .sender
            .send::<MultiPut>(target, &request, self.call)
            .await?;
        done(answer.error)
    }

    /// Removes several sort keys of one hash key atomically, there or not.
    pub async fn multi_remove(&self, hash_key: &[u8], sort_keys: &[&[u8]]) -> Result<()> {
        let target = of_hash_key(hash_key)?;
        let request = MultiRemoveRequest {
            hash_key: Blob::of(hash_key),
            sort_keys: sort_keys.iter().map(|key| Blob::of(key)).collect(),
            max_count: 0,
        };
        let answer = self
            .sender
            .send::<MultiRemove>(target, &request, self.call)
            .await?;
        done(answer.error)
    }

    /// Adds to a number that is kept as text, and returns the sum. `expiry` is 0 to keep when the
    /// value ends, a wire second to set it, negative to clear it.
    pub async fn incr(
        &self,
        hash_key: &[u8],
        sort_key: &[u8],
        by: i64,
        expiry: i32,
    ) -> Result<i64> {
        let (target, raw) = single(hash_key, sort_key)?;
        let request = IncrRequest {
            key: raw,
            increment: by,
            expire_ts_seconds: expiry,
        };
        let answer = self
            .sender
            .send::<Incr>(target, &request, self.call)
            .await?;
        done(answer.error)?;
        Ok(answer.new_value)
    }

    /// Sets a value if another one, or the same, passes a check.
    pub async fn check_and_set(&self, request: &CheckAndSetRequest) -> Result<Checked> {
        let target = of_hash_key(&request.hash_key)?;
        let answer = self
            .sender
            .send::<CheckAndSet>(target, request, self.call)
            .await?;
        let value = answer
            .check_value_exist
            .then_some(answer.check_value.into_vec());
        checked(answer.error, value)
    }

    /// Makes several changes below one hash key, atomically, if a value passes a check.
    pub async fn check_and_mutate(&self, request: &CheckAndMutateRequest) -> Result<Checked> {
        let target = of_hash_key(&request.hash_key)?;
        let answer = self
            .sender
            .send::<CheckAndMutate>(target, request, self.call)
            .await?;
        let value = answer
            .check_value_exist
            .then_some(answer.check_value.into_vec());
        checked(answer.error, value)
    }
}

/// The partition and the raw key of one key.
fn single(hash_key: &[u8], sort_key: &[u8]) -> Result<(Target, Blob)> {
    let raw = raw_key(hash_key, sort_key);
    let raw = raw.ok_or(ClientError::Senseless(
        "the hash key has more than 65 534 bytes",
    ))?;
    Ok((Target::Hash(key_hash(hash_key, sort_key)), Blob::from(raw)))
}

/// The partition of a call that needs a hash key.
pub(crate) fn of_hash_key(hash_key: &[u8]) -> Result<Target> {
    match hash_key.len() {
        0 => Err(ClientError::Senseless("this call needs a hash key")),
        1..=HASH_KEY_LEN_MAX => Ok(Target::Hash(hash(hash_key))),
        _ => Err(ClientError::Senseless(
            "the hash key has more than 65 534 bytes",
        )),
    }
}

pub(crate) fn done(status: Status) -> Result<()> {
    match status {
        Status::OK => Ok(()),
        other => Err(ClientError::Status(other)),
    }
}

fn found(status: Status) -> Result<bool> {
    match status {
        Status::NOT_FOUND => Ok(false),
        other => done(other).map(|()| true),
    }
}

fn checked(status: Status, value: Option<Vec<u8>>) -> Result<Checked> {
    if status != Status::TRY_AGAIN {
        done(status)?;
    }
    Ok(Checked {
        has_passed: status.is_ok(),
        value,
    })
}
