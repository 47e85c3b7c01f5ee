//! Nodes of this machine that the cluster has let go of for ever.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;
use std::time::Duration;

use crate::remote::link::Link;
use crate::remote::nodes::facts;
use crate::serving::process::{Condition, Process};
use crate::serving::roster::{Roster, Row};

/// How long the nodes that run may take to say who they are: whoever looks waits for it.
const ASKING_MAX: Duration = Duration::from_secs(1);

/// The numbers of nodes, as they were seen, that are none of the cluster any more: they have said
/// so themselves, or those that run do not know them.
pub fn removed(roster: &Roster, seen: &[(Row, Process)]) -> BTreeSet<u64> {
    let of = |condition| {
        let rows = seen.iter().filter(move |one| one.1.condition == condition);
        rows.map(|one| &one.0)
    };
    let dead = of(Condition::Dead).filter(|row| roster.has_number(row.number));
    let (left, unsure): (Vec<&Row>, Vec<&Row>) = dead.partition(|row| roster.has_left(row.number));
    let mut numbers: BTreeSet<u64> = left.iter().map(|row| row.number).collect();
    let metas: Vec<SocketAddrV4> = of(Condition::Running)
        .map(|row| SocketAddrV4::new([127, 0, 0, 1].into(), row.ports[0]))
        .collect();
    if unsure.is_empty() || metas.is_empty() {
        return numbers;
    }
    // Who cannot ask does not know: then they are dead, which they are.
    let told = Link::among(metas, ASKING_MAX).and_then(|link| facts(&link));
    if let Ok(Some(known)) = told {
        let members: BTreeSet<i64> = known.iter().map(|one| one.node).collect();
        // By the number that it was given: it may have run at other ports.
        let is_unknown = |row: &&Row| {
            let node = roster.identity_of(row.number);
            let node = node.and_then(|node| i64::try_from(node).ok());
            node.is_some_and(|node| !members.contains(&node))
        };
        numbers.extend(unsure.into_iter().filter(is_unknown).map(|row| row.number));
    }
    numbers
}
