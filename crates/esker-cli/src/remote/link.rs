//! Reaches a cluster: a client, the runtime that it runs on, and what is told if it is not there.

use std::future::Future;
use std::io::{ErrorKind, Read as _};
use std::net::{SocketAddr, SocketAddrV4, TcpStream, ToSocketAddrs};
use std::time::Duration;

use esker_bench::flags::nearest::nearest;
use esker_rpc::client::{Admin, CallSettings, Client, ClientError, ClientSettings, Table};
use esker_rpc::message::meta::{TableDescription, TableStatus};
use tokio::runtime::Runtime;

use crate::fail::{Failure, Outcome};
use crate::remote::flags::ClusterFlags;
use crate::remote::refusal::{failure, is_leaderless, is_no_table, without_meta, write_failure};
use crate::text::escape;

/// How long a meta server may take to accept a connection before it counts as not there.
const KNOCK_MAX: Duration = Duration::from_secs(1);

/// How long whoever leads the meta service is looked for, where a partition has no leader.
const META_PATIENCE: Duration = Duration::from_secs(3);

/// Names of tables that are told where the one that was named is not there.
const NAMES_TOLD_MAX: usize = 10;

/// A cluster that has been found.
pub struct Link {
    runtime: Runtime,
    client: Client,
    metas: Vec<SocketAddrV4>,
    timeout: Duration,
}

impl Link {
    /// To the cluster that the command line names, of which one meta server listens at least.
    pub fn open(flags: &ClusterFlags) -> Outcome<Link> {
        let metas = addresses(flags)?;
        let is_listening =
            |meta: &SocketAddrV4| TcpStream::connect_timeout(&(*meta).into(), KNOCK_MAX).is_ok();
        if !metas.iter().any(is_listening) {
            return Err(Failure::failed(format!(
                "no cluster answers at {}; name its meta servers with --meta HOST:PORT or set \
                 ESKER_META. Do its nodes run? Where there is no cluster yet `esker serve` begins \
                 one",
                flags.metas().join(",")
            )));
        }
        Link::among(metas, flags.timeout)
    }

    /// To the cluster that has these meta servers, whether or not one of them listens.
    pub fn among(metas: Vec<SocketAddrV4>, timeout: Duration) -> Outcome<Link> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::system("cannot start a client", &error))?;
        let settings = ClientSettings {
            call: CallSettings {
                timeout,
                resends_writes: false,
            },
            ..ClientSettings::default()
        };
        Ok(Link {
            runtime,
            client: Client::new(metas.clone(), settings),
            metas,
            timeout,
        })
    }

    /// Waits for a call; `doing` reads like "cannot read the key".
    pub fn wait<T>(
        &self,
        doing: &str,
        call: impl Future<Output = Result<T, ClientError>>,
    ) -> Outcome<T> {
        let told = self.attempt(call);
        told.map_err(|error| self.advised(failure(doing, &error), &error))
    }

    /// Waits for a call that changes something.
    pub fn write<T>(
        &self,
        doing: &str,
        call: impl Future<Output = Result<T, ClientError>>,
    ) -> Outcome<T> {
        let told = self.attempt(call);
        told.map_err(|error| self.advised(write_failure(doing, &error), &error))
    }

    /// Waits for a call whose errors are the caller's business.
    pub fn attempt<T>(
        &self,
        call: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        self.runtime.block_on(call)
    }

    /// The same failure; where a server is there and lets nobody in it says so.
    fn advised(&self, failure: Failure, error: &ClientError) -> Failure {
        let full = || self.metas.iter().find(|meta| closes_at_once(**meta));
        match (failure, error) {
            (Failure::Told { code, message }, ClientError::Unreachable) => Failure::Told {
                code,
                message: match full() {
                    Some(meta) => format!(
                        "{message}; the server at {meta} closes new connections at once: has it as \
                         many as it takes?"
                    ),
                    None => message,
                },
            },
            (failure, error) if is_leaderless(error) && self.has_no_meta() => without_meta(failure),
            (failure, _) => failure,
        }
    }

    /// Whether it is surely known that nobody leads the meta service.
    fn has_no_meta(&self) -> bool {
        let tables = self.admin_within(META_PATIENCE);
        let told = self.attempt(tables.tables(TableStatus::AS_AVAILABLE));
        matches!(told, Err(ClientError::Leaderless))
    }

    /// How long the person wants to wait.
    pub fn patience(&self) -> Duration {
        self.timeout
    }

    /// Lets a moment pass.
    pub fn rest(&self, moment: Duration) {
        // Inside of the runtime, whose clock it is that is waited for.
        self.runtime.block_on(async {
            let until = tokio::time::Instant::now() + moment;
            tokio::time::sleep_until(until).await;
        });
    }

    /// The administration of the cluster.
    pub fn admin(&self) -> Admin {
        self.client.admin(self.timeout)
    }

    /// The same, for what may take so long at most.
    pub fn admin_within(&self, most: Duration) -> Admin {
        self.client.admin(self.timeout.min(most))
    }

    /// The table of that name. If there is none, the failure says which ones are meant perhaps.
    pub fn table(&self, name: &str) -> Outcome<Table> {
        let told = self.attempt(self.client.table(name));
        told.map_err(|error| match is_no_table(&error) {
            true => self.no_table(name),
            false => {
                let doing = format!("cannot find table \"{}\"", shown(name));
                self.advised(failure(&doing, &error), &error)
            }
        })
    }

    /// What the cluster says of the table of that name.
    pub fn description(&self, name: &str) -> Outcome<TableDescription> {
        let mut tables = self.tables(TableStatus::AS_AVAILABLE)?.into_iter();
        let table = tables.find(|table| table.app_name == name);
        table.ok_or_else(|| self.no_table(name))
    }

    /// All tables of that status.
    pub fn tables(&self, status: TableStatus) -> Outcome<Vec<TableDescription>> {
        self.wait("cannot list the tables", self.admin().tables(status))
    }

    /// Says that there is no table of that name, and which ones there are.
    pub fn no_table(&self, name: &str) -> Failure {
        let tables = match self.tables(TableStatus::AS_AVAILABLE) {
            Ok(tables) => tables,
            Err(failure) => return failure,
        };
        let names: Vec<&str> = tables.iter().map(|one| one.app_name.as_str()).collect();
        let near = nearest(name, names.iter().copied().filter(|name| name.is_ascii()));
        let advice = match (near, names.len()) {
            (Some(near), _) => format!("did you mean \"{}\"?", shown(near)),
            (None, 0) => "the cluster has no tables yet, `esker table create` makes one".to_owned(),
            (None, 1..=NAMES_TOLD_MAX) => {
                let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
                format!("the cluster has: {}", names.join(", "))
            }
            _ => "`esker table list` lists those there are".to_owned(),
        };
        // No answer to what was asked of a key: a slip must not look like one to a script.
        Failure::failed(format!("there is no table \"{}\"; {advice}", shown(name)))
    }
}

/// True if whoever listens there closes a connection without a word.
fn closes_at_once(address: SocketAddrV4) -> bool {
    let Ok(mut stream) = TcpStream::connect_timeout(&address.into(), KNOCK_MAX) else {
        return false;
    };
    let read = stream
        .set_read_timeout(Some(KNOCK_MAX))
        .and_then(|()| stream.read(&mut [0]));
    match read {
        Ok(len) => len == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

/// A name as a message shows it.
pub fn shown(name: &str) -> String {
    escape(name.as_bytes())
}

/// The addresses of the meta servers. One that cannot be found is passed over where others can.
fn addresses(flags: &ClusterFlags) -> Outcome<Vec<SocketAddrV4>> {
    let mut found = Vec::new();
    let mut wrong = Vec::new();
    for word in flags.metas() {
        let resolved = word.to_socket_addrs();
        let before = found.len();
        let why = match resolved {
            Ok(resolved) => {
                found.extend(resolved.filter_map(|address| match address {
                    SocketAddr::V4(address) => Some(address),
                    SocketAddr::V6(_) => None,
                }));
                "it has no IPv4 address, and the wire knows no others".to_owned()
            }
            Err(error) => format!("{error}; an address is HOST:PORT"),
        };
        if found.len() == before {
            wrong.push(format!(
                "cannot find the meta server \"{}\": {why}",
                shown(word)
            ));
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(wrong.join("; ")));
    }
    for told in wrong {
        remark!("esker: {told}");
    }
    Ok(found)
}
