//! Nodes of a cluster by number or address, and what is to be said of each.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use esker_bench::report::date::millis;
use esker_rpc::client::ClientError;
use esker_rpc::error::ErrorCode;
use esker_rpc::message::own::{NodeFacts, NodeStay, ShowNodesResponse};
use esker_server::meta::limits::QUICK_MS;

use crate::fail::{Failure, Outcome};
use crate::quantity::counted;
use crate::remote::link::{Link, shown};
use crate::remote::placing::address;
use crate::remote::refusal::failure;

/// How long nodes are waited for that are asked for notes only: whoever leads the meta service has
/// heard all that live in less, mostly.
const NOTES_PATIENCE: Duration = Duration::from_secs(2);

/// The nodes, and what is to be known of others, where the cluster tells of them by numbers: one of
/// Pegasus does not.
pub fn told(link: &Link) -> Outcome<Option<ShowNodesResponse>> {
    match link.attempt(link.admin().show_nodes()) {
        Ok(told) => Ok(Some(told)),
        Err(error) if is_unknown_call(&error) => Ok(None),
        Err(error) => Err(failure("cannot ask for the nodes", &error)),
    }
}

/// The nodes alone.
pub fn facts(link: &Link) -> Outcome<Option<Vec<NodeFacts>>> {
    Ok(told(link)?.map(|told| told.nodes))
}

/// The same for what may be left unsaid: not for long, and with the reason in words.
pub fn facts_for_notes(link: &Link) -> Result<Vec<NodeFacts>, String> {
    match link.attempt(link.admin_within(NOTES_PATIENCE).node_facts()) {
        Ok(facts) => Ok(facts),
        Err(error) if is_unknown_call(&error) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// The same, where they are needed.
pub fn facts_of_ours(link: &Link) -> Outcome<Vec<NodeFacts>> {
    facts(link)?.ok_or_else(not_ours)
}

/// That the cluster does not know a call of Esker's own.
pub fn not_ours() -> Failure {
    Failure::failed(
        "the cluster does not know the call, as one of Apache Pegasus does not; its own tools have \
         others",
    )
}

/// Whether the error says that the server has no such call.
pub fn is_unknown_call(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(name) if name.code() == ErrorCode::HandlerNotFound)
}

/// The node that a person means, by its number or by an address of it.
pub fn find<'a>(facts: &'a [NodeFacts], word: &str) -> Outcome<&'a NodeFacts> {
    let is_meant = |one: &&NodeFacts| match word.parse::<i64>() {
        Ok(number) => one.node == number,
        Err(_) => {
            let addresses = [address(one.address), address(one.meta), one.peer.clone()];
            addresses.iter().any(|address| address == word)
        }
    };
    let meant = facts.iter().filter(is_meant);
    // Of two at one address the living one: the other one's directory is gone.
    meant.max_by_key(|one| one.is_alive).ok_or_else(|| {
        let all: Vec<String> = facts.iter().map(|one| one.node.to_string()).collect();
        let (nodes, their) = match all.len() {
            1 => ("node", "its address"),
            _ => ("nodes", "their addresses"),
        };
        Failure::failed(format!(
            "there is no node {word}; the cluster has {nodes} {}, and `esker node list` {their}",
            all.join(", ")
        ))
    })
}

/// How much keeps a node from being empty; more than nothing where that is not known.
pub fn left_on(one: &NodeFacts) -> i32 {
    match one.copies {
        ..0 => one.replicas.max(1),
        copies => one.replicas.max(copies),
    }
}

/// How a node is, in a word or two.
pub fn state(one: &NodeFacts) -> &'static str {
    match (one.is_alive, one.stay) {
        (true, NodeStay::NS_STAYS) => "alive",
        (true, NodeStay::NS_DRAINS) if left_on(one) == 0 => "drained",
        (true, NodeStay::NS_DRAINS) => "draining",
        (true, _) => "leaving",
        (false, NodeStay::NS_LEAVES) => "dead, leaving",
        (false, _) => "dead",
    }
}

/// What a person should know of a node, if there is anything.
pub fn note(one: &NodeFacts, unix_ms: u64) -> Option<String> {
    if !one.is_alive {
        return Some(note_of_silence(one, unix_ms));
    }
    let notes: Vec<String> = [note_of_stay(one), note_of_clock(one)]
        .into_iter()
        .flatten()
        .collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// That what is on a node goes elsewhere.
fn note_of_stay(one: &NodeFacts) -> Option<String> {
    let node = one.node;
    let replicas = counted(u64::from(left_on(one).unsigned_abs()), "replica");
    match one.stay {
        NodeStay::NS_DRAINS if left_on(one) == 0 => Some(format!(
            "node {node} is empty: `esker node remove {node}` lets go of it, `esker node drain \
             {node} --undo` keeps it"
        )),
        NodeStay::NS_DRAINS if one.copies < 0 => Some(format!(
            "node {node} is being emptied: nobody knows yet what it has"
        )),
        NodeStay::NS_DRAINS => Some(with_reason(
            format!("node {node} is being emptied: {replicas} left"),
            one,
        )),
        NodeStay::NS_LEAVES => Some(with_reason(
            format!("node {node} is let go of once it is empty: {replicas} left"),
            one,
        )),
        _ => None,
    }
}

/// That the clock of a node is wrong, or that of who holds it against its own.
fn note_of_clock(one: &NodeFacts) -> Option<String> {
    let (side, what) = match one.clock_ahead_ms {
        0 => return None,
        1.. => ("ahead of", "end early"),
        _ => ("behind", "end late"),
    };
    let seconds = (one.clock_ahead_ms.unsigned_abs() + 500) / 1000;
    Some(format!(
        "the clock of node {} is {seconds} s {side} that of the leader of the meta service: \
         records {what} where it leads",
        one.node
    ))
}

/// The same, with why it does not go on, if it does not.
fn with_reason(sentence: String, one: &NodeFacts) -> String {
    match one.waits_for.as_str() {
        "" => sentence,
        why => format!("{sentence}; {}", shown(why)),
    }
}

fn note_of_silence(one: &NodeFacts, unix_ms: u64) -> String {
    let node = one.node;
    let silent = format!("node {node} is silent for {} s", one.silent_ms / 1000);
    if one.replicas == 0 {
        return match one.stay {
            NodeStay::NS_LEAVES => format!("{silent}, and about to be let go of"),
            _ => format!("{silent}; nothing counts on it: `esker node remove {node}` forgets it"),
        };
    }
    let fate = fate_of_replicas(one, unix_ms);
    let told = [silent, fate, shown(&one.kept_for)];
    let told = told.into_iter().filter(|part| !part.is_empty());
    told.collect::<Vec<_>>().join("; ")
}

/// What becomes of the replicas of a silent node; empty where nothing does.
fn fate_of_replicas(one: &NodeFacts, unix_ms: u64) -> String {
    // Where there is no elsewhere none is promised.
    let waits = match (one.waits_for.as_str(), one.successor) {
        ("", _) => String::new(),
        (why, 0) => format!(
            "{}: start it again, or bring another node (`esker serve --join`)",
            shown(why)
        ),
        // Its directory is lost.
        (why, _) => shown(why),
    };
    let told = [fate_of_others(one, unix_ms), waits];
    let told = told.into_iter().filter(|part| !part.is_empty());
    told.collect::<Vec<_>>().join("; ")
}

/// What becomes of those that have somewhere to go.
fn fate_of_others(one: &NodeFacts, unix_ms: u64) -> String {
    let node = one.node;
    // Without a leader nothing is made anew. A server of before does not say how many wait.
    let stuck = match (one.stuck, one.waits_for.is_empty()) {
        (0, false) => one.replicas,
        (stuck, _) => stuck.max(one.leaderless),
    };
    let (replicas, are) = match (stuck, one.replicas.saturating_sub(stuck)) {
        (0, count) => {
            let replicas = counted(u64::from(count.unsigned_abs()), "replica");
            let are = if count == 1 { "is" } else { "are" };
            (format!("its {replicas}"), are)
        }
        (_, ..=0) => return String::new(),
        (_, 1) => ("1 of its replicas".to_owned(), "is"),
        (_, count) => (format!("{count} of its replicas"), "are"),
    };
    match (one.successor, u64::try_from(one.replaced_in_ms)) {
        (0, Ok(0)) => format!("{replicas} {are} being made anew elsewhere"),
        (0, Ok(wait_ms)) => {
            let at = clock(unix_ms + wait_ms);
            let silent_ms = u64::try_from(one.silent_ms).unwrap_or(0);
            let remove = match (one.kept_for.is_empty(), QUICK_MS.saturating_sub(silent_ms)) {
                (false, _) => String::new(),
                (true, 0) => format!(", or now by `esker node remove {node}`"),
                (true, wait_ms) => format!(
                    ", or in {} s by `esker node remove {node}`",
                    wait_ms.div_ceil(1000)
                ),
            };
            format!("{replicas} {are} made anew elsewhere at {at}{remove}")
        }
        (other, _) => {
            format!("node {other} is at its address now, so {replicas} {are} made anew elsewhere")
        }
    }
}

/// The time of the day, as the log lines of servers have it.
fn clock(unix_ms: u64) -> String {
    let text = millis(unix_ms);
    match text.get(11..19) {
        Some(clock) => format!("{clock} UTC"),
        None => text,
    }
}

/// Milliseconds since 1970.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests;
