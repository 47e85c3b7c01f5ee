//! Connections to a table of a cluster, and to etcd, that put and get the same records.

use std::sync::Arc;
use std::time::Duration;

use esker_rpc::client::{CallSettings, Client, ClientSettings, Table};
use tokio::runtime::Runtime;

use crate::fail::{Failure, Outcome};
use crate::make::random::scramble;
use crate::make::slices::{Slices, neutral};
use crate::run::calls::Calls;
use crate::scenario::suite::service::ground::{CONNECTIONS, VALUE_BYTES};
use crate::target::etcd::{Etcd, EtcdCalls};
use crate::target::own_cluster::OwnCluster;

/// How long a call may take: a write that waits for an election is slow, and no failure.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The start of all values.
const SEED: u64 = 7;

/// The bytes that values are cut from.
pub fn values() -> Slices {
    Slices::new(neutral(SEED, 0.5, VALUE_BYTES))
}

/// The key of a record.
pub fn key(number: u64) -> String {
    format!("user{}", scramble(number))
}

/// A connection that writes or reads.
pub trait Load: Calls {
    /// From now on it writes, or reads.
    fn set_write(&mut self, is_write: bool);
}

/// A client of a table, with a connection to each of its nodes.
pub struct TableCalls {
    table: Table,
    values: Slices,
    is_write: bool,
}

/// Clients of a table.
pub fn connect(
    runtime: &Runtime,
    cluster: &OwnCluster,
    table: &str,
    count: usize,
) -> Outcome<Vec<TableCalls>> {
    let values = values();
    let metas = cluster.address().resolve()?;
    let all = (0..count).map(|_| {
        let table = runtime.block_on(table_of(metas.clone(), table))?;
        Ok(TableCalls {
            table,
            values: values.clone(),
            is_write: true,
        })
    });
    all.collect()
}

/// A table, as a client of its own sees it.
pub async fn table_of(metas: Vec<std::net::SocketAddrV4>, table: &str) -> Outcome<Table> {
    let settings = ClientSettings {
        call: CallSettings {
            timeout: TIMEOUT,
            resends_writes: false,
        },
        ..ClientSettings::default()
    };
    let opened = Client::new(metas, settings).table(table).await;
    opened.map_err(|error| Failure::failed(format!("cannot find the table {table}: {error}")))
}

impl Load for TableCalls {
    fn set_write(&mut self, is_write: bool) {
        self.is_write = is_write;
    }
}

impl Calls for TableCalls {
    async fn call(&mut self, number: u64) -> Outcome<usize> {
        let key = key(number);
        match self.is_write {
            true => {
                let value = self.values.slice_of(number, VALUE_BYTES);
                let set = self.table.set(key.as_bytes(), b"", value, 0).await;
                set.map_err(|error| Failure::failed(error.to_string()))?;
            }
            false => {
                let value = self.table.get(key.as_bytes(), b"").await;
                let value = value.map_err(|error| Failure::failed(error.to_string()))?;
                check(&key, value.map(|value| value.len()))?;
            }
        }
        Ok(key.len() + VALUE_BYTES)
    }
}

/// A connection to etcd.
pub struct EtcdLoad {
    calls: EtcdCalls,
    values: Slices,
    is_write: bool,
}

/// Connections to etcd's leader: followers send writes on to it, and ask it before they read.
pub fn connect_etcd(runtime: &Runtime, etcd: &Etcd) -> Outcome<Vec<EtcdLoad>> {
    let values = values();
    let all = (0..CONNECTIONS).map(|_| {
        Ok(EtcdLoad {
            calls: runtime.block_on(EtcdCalls::connect(etcd.leader))?,
            values: values.clone(),
            is_write: true,
        })
    });
    all.collect()
}

impl Load for EtcdLoad {
    fn set_write(&mut self, is_write: bool) {
        self.is_write = is_write;
    }
}

impl Calls for EtcdLoad {
    async fn call(&mut self, number: u64) -> Outcome<usize> {
        let key = key(number);
        match self.is_write {
            true => {
                let value = self.values.slice_of(number, VALUE_BYTES);
                self.calls.put(key.as_bytes(), value).await?;
            }
            false => check(&key, self.calls.get(key.as_bytes()).await?)?,
        }
        Ok(key.len() + VALUE_BYTES)
    }
}

/// No rate is made of reads that find nothing.
fn check(key: &str, found: Option<usize>) -> Outcome {
    match found {
        Some(VALUE_BYTES) => Ok(()),
        Some(len) => Err(Failure::failed(format!("{key} has {len} bytes"))),
        None => Err(Failure::failed(format!(
            "{key} was loaded and is not there"
        ))),
    }
}

/// A client that gets a hundred values of one hash key at a time.
pub struct MultiGets {
    table: Table,
    sort_keys: Arc<Vec<Vec<u8>>>,
    values: Slices,
    is_write: bool,
}

impl MultiGets {
    /// The same table, by hundreds.
    pub fn of(one: TableCalls, sort_keys: Arc<Vec<Vec<u8>>>) -> MultiGets {
        MultiGets {
            table: one.table,
            sort_keys,
            values: one.values,
            is_write: true,
        }
    }
}

impl Load for MultiGets {
    fn set_write(&mut self, is_write: bool) {
        self.is_write = is_write;
    }
}

impl Calls for MultiGets {
    async fn call(&mut self, number: u64) -> Outcome<usize> {
        let hash = format!("many{}", scramble(number));
        let count = self.sort_keys.len();
        let failed = |error: esker_rpc::client::ClientError| Failure::failed(error.to_string());
        if self.is_write {
            let value = self.values.slice_of(number, VALUE_BYTES);
            let rows = self.sort_keys.iter().map(|sort| (&sort[..], value));
            let rows: Vec<_> = rows.collect();
            let set = self.table.multi_set(hash.as_bytes(), &rows, 0).await;
            set.map_err(failed)?;
        } else {
            let blob = esker_rpc::codec::scalars::Blob::of;
            let request = esker_rpc::client::MultiGet {
                hash_key: blob(hash.as_bytes()),
                sort_keys: self.sort_keys.iter().map(|sort| blob(sort)).collect(),
                ..esker_rpc::client::MultiGet::default()
            };
            let rows = self.table.multi_get(&request).await.map_err(failed)?.rows;
            if rows.len() != count {
                let found = rows.len();
                return Err(Failure::failed(format!(
                    "{found} of {count} rows are there"
                )));
            }
        }
        Ok(count * VALUE_BYTES)
    }
}
