//! Asks the other nodes before the meta service is taken from them: who lives has lost nothing.

use std::net::SocketAddrV4;
use std::thread::scope;

use esker_server::shell::MetaFound;
use esker_server::shell::living::{Asked, Said};
use serde_json::{Value, json};

use crate::remote::page::{Absent, who_is_at};

/// Nodes that are asked at a time.
const ASKED_AT_ONCE: usize = 64;

/// Asks all other nodes that are known, at once.
pub fn ask(found: &MetaFound) -> Vec<Asked> {
    let others: Vec<(u64, SocketAddrV4)> =
        found.others.iter().map(|row| (row.0.0, *row.1)).collect();
    let mut all = Vec::new();
    for some in others.chunks(ASKED_AT_ONCE) {
        scope(|scope| {
            let asking: Vec<_> = some
                .iter()
                .map(|&(node, address)| {
                    let asked = scope.spawn(move || heard(found.cluster, address));
                    (node, address, asked)
                })
                .collect();
            for (node, address, asked) in asking {
                let (node, said) = match asked.join() {
                    Ok((Some(other), said)) => (other, said),
                    Ok((None, said)) => (node, said),
                    // As if it were there: nothing is known of it.
                    Err(_) => (node, Said::IsMute),
                };
                all.push(Asked {
                    node,
                    address,
                    said,
                });
            }
        });
    }
    all
}

/// What is said there, and by which node of the cluster.
fn heard(cluster: u64, address: SocketAddrV4) -> (Option<u64>, Said) {
    let page = match who_is_at(address) {
        Ok(page) => page,
        Err(Absent::Away) => return (None, Said::IsAway),
        Err(Absent::Mute) => return (None, Said::IsMute),
    };
    if page["cluster"] != format!("{cluster:016x}") {
        return (None, Said::IsAway);
    }
    (page["node"].as_u64(), said(&page))
}

fn said(page: &Value) -> Said {
    match (page["leads_meta"] == true, page["meta_is_led"] == true) {
        (true, _) => Said::Leads,
        (false, true) => Said::IsLed,
        (false, false) => match page.get("meta_replica") {
            // An earlier version does not say it, and may have one.
            None => Said::IsMute,
            Some(replica) => replica.as_u64().map_or(Said::HasNone, Said::Has),
        },
    }
}

/// Who was asked, and what each said, in a few words.
pub fn told(asked: &[Asked]) -> Vec<String> {
    let told = asked.iter().map(|one| {
        let said = match one.said {
            Said::Leads => "leads the meta service".to_owned(),
            Said::IsLed => "is answered by a leader of the meta service".to_owned(),
            Said::Has(replica) => format!("runs, has replica {replica} and no leader"),
            Said::HasNone => "runs, has no replica of the meta service and no leader".to_owned(),
            Said::IsMute => "has somebody who does not say what he has".to_owned(),
            Said::IsAway => "does not answer".to_owned(),
        };
        format!("node {} at {} {said}", one.node, one.address)
    });
    told.collect()
}

/// The same for programs.
pub fn page(asked: &[Asked]) -> Value {
    let rows = asked.iter().map(|one| {
        let says = match one.said {
            Said::Leads => "leads",
            Said::IsLed => "led",
            Said::Has(_) => "leaderless",
            Said::HasNone => "without",
            Said::IsMute => "mute",
            Said::IsAway => "away",
        };
        json!({ "node": one.node, "address": one.address.to_string(), "says": says })
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
