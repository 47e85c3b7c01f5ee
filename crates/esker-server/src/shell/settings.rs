//! What a node may be told, as plain values.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::front::Bounds;
use crate::peer::bounds::PeerBounds;

/// Settings of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The directory that has all of it.
    pub dir: PathBuf,
    /// Where administration is asked.
    pub meta_address: SocketAddr,
    /// Where keys are asked for.
    pub data_address: SocketAddr,
    /// Where other nodes come in.
    pub peer_address: SocketAddr,
    /// Peer addresses of nodes of the cluster that this one joins; none begins one.
    pub join: Vec<SocketAddr>,
    /// How people call the cluster.
    pub cluster_name: String,
    /// The host or the rack that the node shares with others.
    pub label: String,
    /// Bytes of memory that the engine takes.
    pub memory_limit: u64,
    /// Bytes of one segment of the raft log.
    pub log_segment: u64,
    /// Bytes of the raft log before writers are told that the node is busy.
    pub log_max: u64,
    /// How long a follower waits for its leader before it has a vote, at least.
    pub election_timeout: Duration,
    /// How often a leader says that it is there.
    pub heartbeat: Duration,
    /// For how long voters promise to leave a leader alone, so that it may read without asking.
    pub read_promise: Duration,
    /// What election timeouts are drawn from; 0 draws it from the node's number.
    pub seed: u64,
    /// Threads that serve reads.
    pub read_threads: u64,
    /// Threads of sockets; 0 goes by the processors that there are.
    pub socket_threads: u64,
    /// From so long on a call is slow and kept; nothing for never.
    pub slow_query: Duration,
    /// Bounds of each door for clients.
    pub bounds: Bounds,
    /// Bounds of the door for other nodes.
    pub peer_bounds: PeerBounds,
    /// Settings of the engine by their names.
    pub engine: Vec<(String, String)>,
}

impl Default for Settings {
    fn default() -> Settings {
        let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
        Settings {
            dir: "./esker-data".into(),
            meta_address: loopback(34601),
            data_address: loopback(34801),
            peer_address: loopback(34701),
            join: Vec::new(),
            cluster_name: "esker".to_owned(),
            label: String::new(),
            memory_limit: 256 << 20,
            log_segment: 64 << 20,
            log_max: 4 << 30,
            election_timeout: Duration::from_secs(1),
            heartbeat: Duration::from_millis(300),
            read_promise: Duration::ZERO,
            seed: 0,
            read_threads: 4,
            socket_threads: 0,
            slow_query: Duration::from_millis(100),
            bounds: Bounds::default(),
            peer_bounds: PeerBounds::default(),
            engine: Vec::new(),
        }
    }
}
