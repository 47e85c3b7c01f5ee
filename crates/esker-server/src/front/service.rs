//! Who answers the calls that doors take.

use std::fmt;
use std::net::SocketAddr;

use esker_rpc::codec::scalars::Gpid;
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{MetaAnswer, MetaCall};
use esker_rpc::message::node::{NodeAnswer, NodeCall};
use tokio::time::Instant;

use crate::front::http::Page;
use crate::reply::Responder;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A client.
    Client(SocketAddr),
    /// A node that does not lead, for one.
    Node(u64),
}

impl fmt::Display for Caller {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::Client(address) => write!(out, "{address}"),
            Caller::Node(node) => write!(out, "node {node}"),
        }
    }
}

/// A call on the keys of one partition, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysCall {
    /// The table and the partition that the client named.
    pub gpid: Gpid,
    /// The hash that the client computed; for a scan of a whole table the partition's index.
    pub partition_hash: u64,
    /// True if a follower may answer, with what it has.
    pub is_backup_request: bool,
    /// The call, taken apart.
    pub call: KeyCall,
    /// Its arguments as they came, for the log: they were read without fault.
    pub arguments: Vec<u8>,
    /// Who asks.
    pub caller: Caller,
    /// When the last of its bytes had come.
    pub received: Instant,
}

/// A node, as its doors see it. Calls come from the threads of sockets and must not wait in here
/// for others, nor for long: whoever knows the outcome replies, later and from any thread.
pub trait Service: Send + Sync + 'static {
    /// A call on keys.
    fn keys(&self, call: KeysCall, reply: Responder<KeyAnswer>);
    /// A call about tables, and its arguments as they came.
    fn meta(&self, call: MetaCall, arguments: Vec<u8>, reply: Responder<MetaAnswer>);
    /// A call about this node.
    fn node(&self, call: NodeCall, reply: Responder<NodeAnswer>);
    /// A page of HTTP, by its path.
    fn page(&self, path: &str) -> Page;
}
