//! Where a node is reached, and who it is, for whoever has started it.

use std::net::SocketAddr;

/// Where a node is reached, and who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where clients ask for tables.
    pub meta: SocketAddr,
    /// Where clients read and write.
    pub client: SocketAddr,
    /// Where other nodes come in.
    pub peer: SocketAddr,
    /// The cluster.
    pub cluster: u64,
    /// Its number in the cluster.
    pub node: u64,
    /// How often its directory was opened.
    pub incarnation: u64,
}
