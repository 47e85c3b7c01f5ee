//! Waiting until every node that lives has heard of a change to a table.

use std::time::{Duration, Instant};

use esker_rpc::message::own::NodeFacts;

use crate::remote::link::Link;
use crate::remote::nodes::facts_for_notes;

/// How often they are looked at. A node hears of it with its next report, within a second.
const LOOK: Duration = Duration::from_millis(50);

/// How long it may take: one that says nothing is taken for dead long before, and not waited for.
const HEARING_MAX: Duration = Duration::from_secs(30);

/// Waits until a setting that was changed is in force wherever somebody may ask; says where it may
/// not be yet, if that takes long. One of Pegasus says nothing of that, and is not waited for.
pub fn await_nodes(link: &Link) {
    let deadline = Instant::now() + HEARING_MAX;
    loop {
        let told = facts_for_notes(link);
        let line = match &told {
            Ok(nodes) => match behind(nodes) {
                None => return,
                Some(line) => line,
            },
            Err(why) => format!("whether every node has heard of it is not known: {why}"),
        };
        if Instant::now() >= deadline {
            remark!("esker: {line}");
            return;
        }
        link.rest(LOOK);
    }
}

/// Who lives and goes by what was before, if somebody does.
fn behind(nodes: &[NodeFacts]) -> Option<String> {
    let behind = nodes.iter().filter(|one| one.is_alive && one.is_behind);
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
