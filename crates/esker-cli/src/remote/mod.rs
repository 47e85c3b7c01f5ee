//! What a person does in a cluster, over the wire: keys, tables, nodes.
//!
//! `flags` names the cluster, `refusal` says what a client's error means for the person, `link`
//! reaches the cluster, `agreeing` asks before something is destroyed and `waiting` waits.
//! `keys`, `checks`, `rows` and `scans` are what `kv` does; `placing` says which node has what,
//! `nodes` what is to be said of one, `page` what one shows over HTTP, `described` what a table is
//! like, `creating` makes one, `compacting` compacts it, `recovering` has it go on without what is
//! lost, `unsetting` takes settings away, `in_force` waits until nodes have heard of one; `table`,
//! `node` (with `slow`) and `balance` administer.
//!
//! Law: nothing here opens a database; whoever asks for a cluster gets the same answers from
//! Apache Pegasus as from ours. Not here: starting a node.

pub mod flags;
pub mod refusal;
pub mod link;
pub mod agreeing;
pub mod waiting;
pub mod keys;
pub mod checks;
pub mod rows;
pub mod scans;
pub mod kv;
pub mod placing;
pub mod nodes;
pub mod page;
pub mod stalls;
pub mod described;
pub mod creating;
pub mod compacting;
pub mod recovering;
pub mod unsetting;
pub mod in_force;
pub mod table;
pub mod slow;
pub mod node;
pub mod balance;
