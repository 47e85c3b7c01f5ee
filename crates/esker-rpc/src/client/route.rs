//! Which data server leads which partition of a table, kept fresh.

use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::client::failure::{ClientError, Result};
use crate::client::metas::Metas;
use crate::codec::thrift::Malformed;
use crate::error::ErrorName;
use crate::keys::partition_of;
use crate::message::meta::{QueryConfig, QueryConfigRequest, QueryConfigResponse};

/// Partitions of a table, at most: what a meta server says is not believed beyond.
const PARTITIONS_MAX: i32 = 1 << 16;

/// The partitions of a table as a meta server knew them.
#[derive(Debug, PartialEq, Eq)]
pub struct Routing {
    /// Which answer this is, counted from 1.
    pub version: u64,
    /// Number of the table.
    pub app_id: i32,
    partitions: Vec<Partition>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Partition {
    ballot: i64,
    primary: Option<SocketAddrV4>,
}

impl Routing {
    fn of(answer: &QueryConfigResponse, version: u64) -> Result<Routing> {
        let count = answer.partition_count;
        if !(1..=PARTITIONS_MAX).contains(&count) {
            return Err(ClientError::Malformed(Malformed::Length(count)));
        }
        let count = usize::try_from(count).unwrap_or_default();
        let mut partitions = vec![Partition::default(); count];
        for one in &answer.partitions {
            let index = usize::try_from(one.pid.partition_index).unwrap_or(usize::MAX);
            if let Some(partition) = partitions.get_mut(index) {
                *partition = Partition {
                    ballot: one.ballot,
                    primary: one.primary.0,
                };
            }
        }
        Ok(Routing {
            version,
            app_id: answer.app_id,
            partitions,
        })
    }

    /// How many partitions the table has.
    pub fn partition_count(&self) -> u32 {
        u32::try_from(self.partitions.len()).expect("at most 65 536")
    }

    /// The partition that answers for keys of that hash.
    pub fn partition_of(&self, hash: u64) -> u32 {
        let count = self.partition_count();
        let index = partition_of(hash, count);
        // After a split a child is served by its parent until it is ready.
        let is_ready = self.place(index).is_some_and(|one| one.ballot >= 0);
        match is_ready || index < count / 2 {
            true => index,
            false => index - count / 2,
        }
    }

    /// Who leads that partition, if anybody does.
    pub fn primary(&self, index: u32) -> Option<SocketAddrV4> {
        self.place(index).and_then(|one| one.primary)
    }

    fn place(&self, index: u32) -> Option<&Partition> {
        self.partitions.get(usize::try_from(index).ok()?)
    }
}

/// Keeps the routing of one table.
#[derive(Debug)]
pub struct Route {
    table: String,
    metas: Arc<Metas>,
    interval: Duration,
    current: Mutex<Option<Arc<Routing>>>,
    // Held by the one that asks; when a meta server was asked last.
    asking: tokio::sync::Mutex<Option<Instant>>,
    // The version by which a call was never answered; 0 for none, or once somebody asks.
    doubted: AtomicU64,
}

impl Route {
    /// Of `table`, not known yet; asked for at most once per `interval`.
    pub fn new(table: &str, metas: Arc<Metas>, interval: Duration) -> Route {
        Route {
            table: table.to_owned(),
            metas,
            interval,
            current: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            doubted: AtomicU64::new(0),
        }
    }

    /// What was told last; asked for if nothing was.
    pub async fn current(&self, deadline: Instant) -> Result<Arc<Routing>> {
        match self.known() {
            Some(routing) => Ok(routing),
            None => self.newer_than(0, deadline).await,
        }
    }

    /// What was told after `version`, which has turned out to be wrong; asked for if need be. Of
    /// many calls that want it, one asks.
    pub async fn newer_than(&self, version: u64, deadline: Instant) -> Result<Arc<Routing>> {
        let asking = tokio::time::timeout_at(deadline, self.asking.lock()).await;
        let mut asked_at = asking.map_err(|_| ClientError::Unreachable)?;
        let known = self.known();
        if let Some(routing) = known.as_ref().filter(|one| one.version > version) {
            return Ok(Arc::clone(routing));
        }
        if let Some(at) = *asked_at {
            sleep_until((at + self.interval).min(deadline)).await;
            if Instant::now() >= deadline {
                // Nobody was asked, so the next one need not wait for it.
                return Err(ClientError::Unreachable);
            }
        }
        *asked_at = Some(Instant::now());
        let request = QueryConfigRequest {
            app_name: self.table.clone(),
            partition_indices: Vec::new(),
        };
        let answer = self.metas.ask::<QueryConfig>(&request, deadline).await?;
        if answer.err != ErrorName::OK {
            return Err(ClientError::Refused(answer.err));
        }
        let version = known.map_or(0, |one| one.version) + 1;
        let routing = Arc::new(Routing::of(&answer, version)?);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::clone(&routing));
        Ok(routing)
    }

    /// A call by that version was never answered: its server may have frozen, and others lead what
    /// it led. Who writes may not ask a second one, so the next call looks for a newer route.
    pub fn doubt(&self, version: u64) {
        // A call of an earlier route may end after one of a later.
        self.doubted.fetch_max(version, Ordering::Relaxed);
    }

    /// Whether that version is doubted and nobody looks for another one yet; the caller does now.
    pub fn take_doubt(&self, version: u64) -> bool {
        // Which call asks, and a call sooner or later, is all that depends on it.
        let (order, doubted) = (Ordering::Relaxed, &self.doubted);
        doubted.compare_exchange(version, 0, order, order).is_ok()
    }

    /// What a meta server tells now.
    pub async fn renewed(&self, deadline: Instant) -> Result<Arc<Routing>> {
        let version = self.known().map_or(0, |one| one.version);
        self.newer_than(version, deadline).await
    }

    fn known(&self) -> Option<Arc<Routing>> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }
}

#[cfg(test)]
mod tests;
