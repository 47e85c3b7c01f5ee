//! What a person does in a cluster, over the wire: keys, tables, nodes.
//!
//! `flags` names the cluster, `refusal` says what a client's error means for the person, `link`
//! reaches the cluster. `keys`, `checks`, `rows` and `scans` are what `kv` does; `placing` says
//! which node has what, `described` what a table is like, `creating` makes one; `table` and `node`
//! administer.
//!
//! Law: nothing here opens a database; whoever asks for a cluster gets the same answers from
//! Apache Pegasus as from ours. Not here: starting a node.

pub mod flags;
pub mod refusal;
pub mod link;
pub mod keys;
pub mod checks;
pub mod rows;
pub mod scans;
pub mod kv;
pub mod placing;
pub mod described;
pub mod creating;
pub mod table;
pub mod node;
