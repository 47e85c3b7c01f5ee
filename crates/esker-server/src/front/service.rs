//! Who answers the calls that doors take.

use esker_rpc::codec::scalars::Gpid;
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{MetaAnswer, MetaCall};
use esker_rpc::message::node::{NodeAnswer, NodeCall};

use crate::front::http::Page;
use crate::reply::Responder;

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
}

/// A node, as its doors see it. Calls come from many threads and must not wait in here: whoever
/// knows the outcome replies, later and from any thread.
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
