//! Whether the meta service may go on with one node alone, by what the others say of it.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;

use esker_raft::ReplicaId;

use crate::shell::recovering::MetaFound;

/// What a node says of the meta service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It leads it.
    Leads,
    /// A leader answers it.
    IsLed,
    /// It has that replica of it, and hears of no leader.
    Has(u64),
    /// It has none, and hears of no leader.
    HasNone,
    /// Somebody listens at its address and does not say who it is: it may be frozen.
    IsMute,
    /// It does not answer: nobody is there, or another cluster's node.
    IsAway,
}

/// A node, where it was asked, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The node.
    pub node: u64,
    /// Where it was last known to be.
    pub address: SocketAddrV4,
    /// What it says.
    pub said: Said,
}

/// Why the meta service is not to go on with this node alone, if those that were asked are against
/// it.
pub fn objection(found: &MetaFound, asked: &[Asked]) -> Option<String> {
    let of = |said: Said| asked.iter().find(move |one| one.said == said);
    let led = match (of(Said::Leads), of(Said::IsLed)) {
        (Some(one), _) => Some(format!("node {} leads", one.node)),
        (None, Some(one)) => Some(format!("a leader answers node {}", one.node)),
        (None, None) => None,
    };
    if let Some(led) = led {
        return Some(format!(
            "the meta service of this cluster lives, {led}: nothing is lost, start this node as \
             always"
        ));
    }
    let has = asked.iter().filter_map(|one| match one.said {
        Said::Has(replica) => Some((one.node, ReplicaId(replica))),
        _ => None,
    });
    let mut unknown = has
        .clone()
        .filter(|row| !found.members.contains_key(&row.1));
    if let Some((node, replica)) = unknown.next() {
        return Some(format!(
            "node {node} runs and has {replica} of the meta service, of which this node does not \
             know: what it has itself may be older; start it as always, or stop that one and look \
             at it"
        ));
    }
    // One that does not say who it is has whatever replica is there.
    let mute = asked.iter().filter(|one| one.said == Said::IsMute);
    let mute = mute.flat_map(|one| {
        let members = found.members.iter();
        members.filter(move |row| row.1.0 == one.node)
    });
    let running: BTreeSet<(ReplicaId, u64)> = has
        .map(|(node, replica)| (replica, node))
        .chain(mute.map(|(replica, node)| (*replica, node.0)))
        .collect();
    let mut replicas: BTreeSet<ReplicaId> = running.iter().map(|row| row.0).collect();
    let names: Vec<String> = running.iter().map(|row| row.1.to_string()).collect();
    let names = names.join(" and ");
    let are = match running.len() {
        1 => "runs and has a replica",
        _ => "run and have replicas",
    };
    if found.can_elect(&replicas) {
        return Some(format!(
            "node {names} {are} of the meta service, which are enough for a leader: wait until \
             there is one, and start this node as always"
        ));
    }
    replicas.insert(found.replica);
    found.can_elect(&replicas).then(|| match running.len() {
        0 => "this node alone is enough for a leader of the meta service: nothing is lost, start \
              it as always"
            .to_owned(),
        _ => format!(
            "node {names} {are} of the meta service, which with this one are enough for a leader: \
             nothing is lost, start this node as always"
        ),
    })
}

#[cfg(test)]
mod tests;
