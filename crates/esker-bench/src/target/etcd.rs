//! A cluster of etcd as processes of this machine, and its calls.
//!
//! It runs with its own defaults: every write is on the medium of a majority when it is
//! acknowledged, and a read asks a majority. Source: etcd's definition of its messages, v3.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::fail::{Failure, Outcome};
use crate::target::grpc::Grpc;
use crate::target::protobuf::{bytes_field, field_bytes, field_number};

/// The program.
const PROGRAM: &str = "etcd";

/// How long the members may take until they have a leader.
const START_MAX: Duration = Duration::from_secs(30);

/// How often it is looked whether they have, which nobody tells, and how long one is waited for.
const LOOK: Duration = Duration::from_millis(100);
const LOOK_MAX: Duration = Duration::from_secs(1);

/// A cluster of etcd, whose members end with this.
pub struct Etcd {
    members: Vec<Member>,
    /// Its version.
    pub version: String,
    /// Where its leader takes calls.
    pub leader: SocketAddrV4,
}

struct Member {
    process: Child,
    address: SocketAddrV4,
}

impl Drop for Member {
    fn drop(&mut self) {
        // One that has ended by itself is ended.
        let _ = self.process.kill();
        // As just said.
        let _ = self.process.wait();
    }
}

/// The version of the program; `None` if it is not there.
pub fn version() -> Option<String> {
    let told = Command::new(PROGRAM).arg("--version").output().ok()?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let first = told.lines().next()?;
    Some(first.rsplit(' ').next()?.to_owned())
}

impl Etcd {
    /// Starts so many members with directories and logs below `dir`, and waits for their leader.
    ///
    /// Errors: if the program is not there, with how it comes.
    pub fn start(runtime: &Runtime, dir: &Path, count: usize) -> Outcome<Etcd> {
        let version = version().ok_or_else(|| {
            Failure::failed(
                "there is no etcd on this machine; scripts/setup.sh etcd installs it, on Debian \
                 and its kin",
            )
        })?;
        let told =
            |error| Failure::system(format!("cannot start etcd in {}", dir.display()), &error);
        std::fs::create_dir_all(dir).map_err(told)?;
        let ports = free_ports(2 * count).map_err(told)?;
        let (clients, peers) = ports.split_at(count);
        let cluster: Vec<String> = (peers.iter().enumerate())
            .map(|(at, peer)| format!("m{at}=http://{peer}"))
            .collect();
        let mut members = Vec::new();
        for (at, (client, peer)) in clients.iter().zip(peers).enumerate() {
            let log = File::create(dir.join(format!("m{at}.log"))).map_err(told)?;
            let (client_url, peer_url) = (format!("http://{client}"), format!("http://{peer}"));
            let process = Command::new(PROGRAM)
                .args(["--name", &format!("m{at}"), "--data-dir"])
                .arg(dir.join(format!("m{at}")))
                .args(["--listen-client-urls", &client_url])
                .args(["--advertise-client-urls", &client_url])
                .args(["--listen-peer-urls", &peer_url])
                .args(["--initial-advertise-peer-urls", &peer_url])
                .args(["--initial-cluster", &cluster.join(",")])
                .args(["--initial-cluster-state", "new"])
                .stdin(Stdio::null())
                .stdout(log.try_clone().map_err(told)?)
                .stderr(log)
                .spawn();
            members.push(Member {
                process: process.map_err(told)?,
                address: *client,
            });
        }
        let leader = runtime.block_on(leader(clients))?;
        Ok(Etcd {
            members,
            version,
            leader,
        })
    }

    /// The processes.
    pub fn processes(&self) -> Vec<u32> {
        let members = self.members.iter();
        members.map(|member| member.process.id()).collect()
    }

    /// Where its members take calls.
    pub fn addresses(&self) -> Vec<SocketAddrV4> {
        self.members.iter().map(|member| member.address).collect()
    }
}

/// Ports of this machine that nobody has; somebody may take one before it is used.
fn free_ports(count: usize) -> std::io::Result<Vec<SocketAddrV4>> {
    let listeners = (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let listeners = listeners.collect::<std::io::Result<Vec<_>>>()?;
    let ports = listeners.iter().map(|listener| listener.local_addr());
    ports
        .map(|address| Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, address?.port())))
        .collect()
}

/// Waits until one of them says that it leads.
async fn leader(addresses: &[SocketAddrV4]) -> Outcome<SocketAddrV4> {
    let deadline = Instant::now() + START_MAX;
    loop {
        for address in addresses {
            let asked = timeout(LOOK_MAX, leads(*address)).await;
            if matches!(asked, Ok(Ok(true))) {
                return Ok(*address);
            }
        }
        if Instant::now() >= deadline {
            return Err(Failure::failed(
                "etcd has no leader; its logs are beside its directories",
            ));
        }
        sleep(LOOK).await;
    }
}

/// Whether the member there leads.
async fn leads(address: SocketAddrV4) -> Outcome<bool> {
    let mut grpc = Grpc::connect(address).await?;
    let status = grpc.call("/etcdserverpb.Maintenance/Status", &[]).await?;
    let member = field_bytes(&status, 1).and_then(|header| field_number(header, 2));
    let leader = field_number(&status, 4);
    Ok(member.is_some_and(|member| member != 0) && member == leader)
}

/// One connection to a member.
pub struct EtcdCalls {
    grpc: Grpc,
    request: Vec<u8>,
}

impl EtcdCalls {
    /// Connects to a member.
    pub async fn connect(address: SocketAddrV4) -> Outcome<EtcdCalls> {
        Ok(EtcdCalls {
            grpc: Grpc::connect(address).await?,
            request: Vec::new(),
        })
    }

    /// Puts a value.
    pub async fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        self.request.clear();
        bytes_field(&mut self.request, 1, key);
        bytes_field(&mut self.request, 2, value);
        let called = self.grpc.call("/etcdserverpb.KV/Put", &self.request);
        called.await.map(drop)
    }

    /// Reads a value, linearizably. The bytes of the value; `None` if there is none.
    pub async fn get(&mut self, key: &[u8]) -> Outcome<Option<usize>> {
        self.request.clear();
        bytes_field(&mut self.request, 1, key);
        let called = self.grpc.call("/etcdserverpb.KV/Range", &self.request);
        let answer = called.await?;
        let row = field_bytes(&answer, 2);
        Ok(row.map(|row| field_bytes(row, 5).map_or(0, <[u8]>::len)))
    }
}
