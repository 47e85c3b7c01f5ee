//! Every call of the wire with a number, by which an input chooses it.

use esker_rpc::message::call::Row;
use esker_rpc::message::data::KeyCall;
use esker_rpc::message::meta::MetaCall;
use esker_rpc::message::node::NodeCall;

/// Which server a call is for.
#[derive(Clone, Copy, Debug)]
pub enum Door {
    /// A data server, about keys.
    Keys,
    /// A meta server.
    Meta,
    /// A data server, about itself.
    Node,
}

/// Every call, in the order of their numbers.
pub fn rows() -> Vec<(Door, Row)> {
    let of = |door, rows: &'static [Row]| rows.iter().map(move |row| (door, *row));
    of(Door::Keys, KeyCall::ROWS)
        .chain(of(Door::Meta, MetaCall::ROWS))
        .chain(of(Door::Node, NodeCall::ROWS))
        .collect()
}
