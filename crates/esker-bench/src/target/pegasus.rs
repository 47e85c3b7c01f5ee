//! A table of a cluster that speaks the wire of Apache Pegasus: ours or theirs.
//!
//! A key is a hash key, and its value is kept under the sort keys that the mode says. Each client
//! has connections and a thread of its own, as programs have them; the threads that measure share
//! the clients.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::Future;
use std::net::{SocketAddr, SocketAddrV4, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use esker_rpc::client::{CallSettings, Client, ClientError, ClientSettings, MultiGet, Table};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::meta::NodeStatus;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::fail::{Failure, Outcome};
use crate::measure::neighbour::{Used, listener_at, used_by};
use crate::target::counters::Counters;
use crate::target::store::{Batch, Cursor, Store, WriteHow};

/// How long a call may take: a write that waits for an election is slow, and no failure.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What the addresses of such tables begin with.
const SCHEME: &str = "pegasus://";

/// Where a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAddress {
    /// Meta servers, each as host and port.
    pub metas: Vec<String>,
    /// The table; empty if none was named.
    pub table: String,
}

impl TableAddress {
    /// The address that a text such as `pegasus://127.0.0.1:34601/usertable` says.
    ///
    /// Errors: `Usage`, with what it looks like.
    pub fn parse(text: &str) -> Outcome<TableAddress> {
        let rest = text.strip_prefix(SCHEME).filter(|rest| !rest.is_empty());
        let rest = rest.ok_or_else(|| {
            Failure::usage(format!(
                "{text} is no table of a cluster; write {SCHEME}HOST:PORT/TABLE, with the address \
                 of a meta server"
            ))
        })?;
        let (metas, table) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(TableAddress {
            metas: metas.split(',').map(str::to_owned).collect(),
            table: table.to_owned(),
        })
    }

    /// Whether its meta servers are on this machine, by their names.
    pub fn is_local(&self) -> bool {
        let is_local = |meta: &String| meta.starts_with("127.") || meta.starts_with("localhost");
        self.metas.iter().all(is_local)
    }

    /// The addresses of its meta servers.
    ///
    /// Errors: `Usage` for one that cannot be found.
    pub fn resolve(&self) -> Outcome<Vec<SocketAddrV4>> {
        let mut found = Vec::new();
        for meta in &self.metas {
            let resolved = meta.to_socket_addrs().map_err(|error| {
                Failure::usage(format!("cannot find the meta server {meta}: {error}"))
            })?;
            found.extend(resolved.filter_map(|address| match address {
                SocketAddr::V4(address) => Some(address),
                SocketAddr::V6(_) => None,
            }));
        }
        match found.is_empty() {
            true => Err(Failure::usage("the meta servers have no IPv4 address")),
            false => Ok(found),
        }
    }
}

impl std::fmt::Display for TableAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.metas.join(","), self.table)
    }
}

/// How one value is written, as YCSB's binding of Pegasus names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// Under the empty sort key.
    #[default]
    Single,
    /// Under each sort key, by a call for each, all under way at once.
    Batch,
    /// Under each sort key, by one call that does all or none.
    Multi,
}

/// How it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// From the empty sort key.
    #[default]
    Single,
    /// From each sort key, by one call of keys.
    Batch,
    /// From each sort key, by one call of a hash key.
    Multi,
    /// From the sort keys between 3 and 7, by one call of a range.
    Range,
}

/// What a table is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// How values are written.
    pub write: WriteMode,
    /// How they are read.
    pub read: ReadMode,
    /// Sort keys of a hash key: numbers from 0 on.
    pub sort_key_count: u32,
    /// Clients, each with connections and a thread of its own.
    pub clients: usize,
}

/// A table, open.
pub struct PegasusTable {
    clients: Vec<OneClient>,
    next_client: AtomicUsize,
    modes: Modes,
    sort_keys: Vec<Vec<u8>>,
    // Processes of this machine that serve it.
    servers: BTreeSet<u32>,
}

struct OneClient {
    handle: Handle,
    client: Client,
    table: Table,
    // Ends the thread when it is dropped.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

thread_local! {
    /// Which of the clients a thread uses, once it has used one.
    static CLIENT: Cell<Option<usize>> = const { Cell::new(None) };
}

impl PegasusTable {
    /// Connects to the table at `address`.
    ///
    /// Errors: `Usage` if there is no such table, with how one is made.
    pub fn connect(address: &TableAddress, modes: Modes) -> Outcome<PegasusTable> {
        let metas = address.resolve()?;
        let mut clients = Vec::new();
        for _ in 0..modes.clients.max(1) {
            clients.push(OneClient::start(&metas, address)?);
        }
        let servers = servers_of(&clients[0], &metas);
        Ok(PegasusTable {
            clients,
            next_client: AtomicUsize::new(0),
            modes,
            sort_keys: (0..modes.sort_key_count)
                .map(|number| number.to_string().into_bytes())
                .collect(),
            servers,
        })
    }

    /// The client of this thread.
    fn client(&self) -> &OneClient {
        let index = CLIENT.with(|client| {
            let index = client.get().unwrap_or_else(|| {
                // Relaxed: the number orders nothing.
                self.next_client.fetch_add(1, Ordering::Relaxed)
            });
            client.set(Some(index));
            index
        });
        &self.clients[index % self.clients.len()]
    }

    async fn write(&self, table: &Table, key: &[u8], value: &[u8]) -> Result<(), ClientError> {
        match self.modes.write {
            WriteMode::Single => table.set(key, b"", value, 0).await,
            WriteMode::Multi => {
                let rows = self.sort_keys.iter().map(|sort| (&sort[..], value));
                table.multi_set(key, &rows.collect::<Vec<_>>(), 0).await
            }
            WriteMode::Batch => {
                let mut calls = JoinSet::new();
                for sort in &self.sort_keys {
                    let (table, sort) = (table.clone(), sort.clone());
                    let (key, value) = (key.to_vec(), value.to_vec());
                    calls.spawn(async move { table.set(&key, &sort, &value, 0).await });
                }
                while let Some(call) = calls.join_next().await {
                    call.map_err(|_| ClientError::OutcomeUnknown)??;
                }
                Ok(())
            }
        }
    }

    async fn read(&self, table: &Table, key: &[u8]) -> Result<Vec<Vec<u8>>, ClientError> {
        let blobs = || self.sort_keys.iter().map(|sort| Blob::of(sort)).collect();
        let request = match self.modes.read {
            ReadMode::Single => {
                return Ok(table.get(key, b"").await?.into_iter().collect());
            }
            ReadMode::Batch => {
                let keys = self.sort_keys.iter().map(|sort| (key, &sort[..]));
                let rows = table.batch_get(&keys.collect::<Vec<_>>()).await?;
                return Ok(rows.into_iter().map(|row| row.value.into_vec()).collect());
            }
            ReadMode::Multi => MultiGet {
                sort_keys: blobs(),
                ..MultiGet::default()
            },
            ReadMode::Range => MultiGet {
                start_sortkey: Blob::of(b"3"),
                stop_sortkey: Blob::of(b"7"),
                start_inclusive: true,
                ..MultiGet::default()
            },
        };
        let request = MultiGet {
            hash_key: Blob::of(key),
            ..request
        };
        let rows = table.multi_get(&request).await?.rows;
        Ok(rows.into_iter().map(|(_, value)| value).collect())
    }
}

impl OneClient {
    fn start(metas: &[SocketAddrV4], address: &TableAddress) -> Outcome<OneClient> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::system("cannot start a client", &error))?;
        let settings = ClientSettings {
            call: CallSettings {
                timeout: TIMEOUT,
                resends_writes: false,
            },
            ..ClientSettings::default()
        };
        let client = Client::new(metas.to_vec(), settings);
        let table = runtime.block_on(client.table(&address.table));
        let table = table.map_err(|error| match error {
            ClientError::Unreachable => Failure::failed(format!(
                "no cluster answers at {}; start one, or name another meta server",
                address.metas.join(",")
            )),
            error => Failure::usage(format!(
                "cannot find the table {address}: {error}; esker table create {} --partitions 64 \
                 makes one",
                address.table
            )),
        })?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            // That nobody can stop it any more is a reason to stop.
            let _ = runtime.block_on(stopped);
        });
        Ok(OneClient {
            handle,
            client,
            table,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    fn wait<T>(&self, call: impl Future<Output = Result<T, ClientError>>) -> Outcome<T> {
        let done = self.handle.block_on(call);
        done.map_err(|error| Failure::failed(error.to_string()))
    }
}

impl Drop for OneClient {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A client that panicked has failed the calls that waited for it.
            let _ = thread.join();
        }
    }
}

/// The processes of this machine, other than this one, that serve the cluster.
fn servers_of(client: &OneClient, metas: &[SocketAddrV4]) -> BTreeSet<u32> {
    let admin = client.client.admin(TIMEOUT);
    let nodes = client.wait(admin.nodes(NodeStatus::NS_ALIVE));
    let nodes = nodes.unwrap_or_default();
    let nodes = nodes.iter().filter_map(|node| node.node.0);
    let all = nodes.chain(metas.iter().copied()).filter_map(listener_at);
    all.filter(|process| *process != std::process::id())
        .collect()
}

impl Store for PegasusTable {
    fn put(&self, key: &[u8], value: &[u8], _: WriteHow) -> Outcome {
        let client = self.client();
        client.wait(self.write(&client.table, key, value))
    }

    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        let client = self.client();
        let values = client.wait(self.read(&client.table, key))?;
        values.iter().for_each(|value| take(value));
        Ok(!values.is_empty())
    }

    fn delete(&self, key: &[u8], _: WriteHow) -> Outcome {
        let client = self.client();
        client.wait(client.table.remove(key, b""))
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        Err(Failure::unsupported(
            "a table of a cluster has no batches over hash keys",
        ))
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        Err(Failure::unsupported(
            "a table of a cluster has no order of its hash keys",
        ))
    }

    fn flush(&self) -> Outcome {
        Err(Failure::unsupported("a cluster flushes by itself"))
    }

    fn compact(&self) -> Outcome {
        Err(Failure::unsupported("a cluster compacts by itself"))
    }

    fn drain(&self) -> Outcome {
        Err(Failure::unsupported(
            "a cluster does not say when it has settled",
        ))
    }

    fn property(&self, _: &str) -> Option<String> {
        None
    }

    /// What the servers used, where they are processes of this machine: told apart from the
    /// clients, which are this process.
    fn counters(&self) -> Counters {
        let mut all = Used::default();
        for server in &self.servers {
            let used = used_by(*server);
            all.cpu_ms += used.cpu_ms;
            all.device_read_bytes += used.device_read_bytes;
            all.device_write_bytes += used.device_write_bytes;
        }
        let own = [
            ("ServerCpuTime(ms)", all.cpu_ms),
            ("ServerDeviceReadBytes", all.device_read_bytes),
            ("ServerDeviceWrittenBytes", all.device_write_bytes),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        Counters {
            own: match self.servers.is_empty() {
                true => Vec::new(),
                false => own.to_vec(),
            },
            ..Counters::default()
        }
    }

    fn close(self: Box<Self>) -> Outcome {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
