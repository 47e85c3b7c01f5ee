//! Waiting until every node that lives has heard of a change to a table.

use std::time::{Duration, Instant};

use esker_rpc::message::own::NodeFacts;

use crate::remote::link::Link;
use crate::remote::nodes::is_unknown_call;

/// How often they are looked at. A node hears of it with its next report, within a second.
const LOOK: Duration = Duration::from_millis(50);

/// How long it may take, if the time of the command is longer: one that says nothing is taken for
/// dead long before, and not waited for.
const HEARING_MAX: Duration = Duration::from_secs(30);

/// Waits until a setting that was changed is in force wherever somebody may ask; says where it may
/// not be yet, if that takes long. One of Pegasus says nothing of that, and is not waited for.
pub fn await_nodes(link: &Link) {
    let deadline = Instant::now() + link.patience().min(HEARING_MAX);
    // Of the tables as they were when it was looked first: later changes are others' to wait for.
    let mut wanted = None;
    loop {
        let line = match link.attempt(link.admin_within(HEARING_MAX).show_nodes()) {
            Ok(told) => match behind(*wanted.get_or_insert(told.tables_revision), &told.nodes) {
                None => return,
                Some(line) => line,
            },
            Err(error) if is_unknown_call(&error) => return,
            Err(why) => format!("whether every node has heard of it is not known: {why}"),
        };
        if Instant::now() >= deadline {
            remark!("esker: {line}");
            return;
        }
        link.rest(LOOK);
    }
}

/// Who lives and goes by tables of before that revision, if somebody does. A server of before
/// tells no revision.
fn behind(wanted: i64, nodes: &[NodeFacts]) -> Option<String> {
    let is_behind = |one: &&NodeFacts| one.is_alive && one.tables_revision < wanted;
    let behind = nodes.iter().filter(is_behind);
    let numbers: Vec<String> = behind.map(|one| one.node.to_string()).collect();
    let (noun, has) = match numbers.len() {
        0 => return None,
        1 => ("node", "has"),
        _ => ("nodes", "have"),
    };
    let numbers = numbers.join(", ");
    Some(format!(
        "{noun} {numbers} {has} not heard of it yet: what was before is in force there"
    ))
}

#[cfg(test)]
mod tests;
