//! How many descriptors the process may have, and how a node shares out few of them.
//!
//! Connections of clients, connections of nodes and files all take descriptors, and strangers take
//! theirs first. So those of clients have a bound that leaves the others what they need.

use esker::internals::base::options::db::DbOptions;
use esker::internals::base::options::profile::Profile;
use esker::internals::base::options::resolve::{Origin, resolve};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::shell::settings::Settings;

/// Doors for clients: each has as many connections as the other.
const DOORS: u64 = 2;

/// Descriptors of a node at rest, beside connections and sorted files: its ports, its locks and
/// logs, and what its threads wait on. One of three nodes was seen to have 26, four of them links.
const AT_REST: u64 = 22;

/// Of all descriptors one in so many is for what is open for a moment: outputs of compactions,
/// images, segments of the raft log that somebody reads.
const PART_OF_MOMENTS: u64 = 16;

/// For each of these so many are for connections with nodes: one of theirs, one of this node.
const NODES_FOR_MOMENTS: u64 = 2;

/// Fewest of these: four other nodes, and strangers at their port, who leave soon.
const NODES_MIN: u64 = 12;

/// Fewest connections that a door has: with less nobody could even look at the node.
const DOOR_MIN: u64 = 4;

/// The setting of the engine that says how many sorted files it keeps open.
const FILES: &str = "files.open_max";

/// Fewest sorted files that the engine lets itself be told to keep open.
const FILES_MIN: u64 = 16;

/// Settings that fit the limit of the process, which is raised for them as far as it may be, and
/// the line to tell where that is not far enough.
pub(crate) fn fitted(settings: &Settings) -> (Settings, Option<String>) {
    fit(settings, raised(needed(settings)))
}

/// Descriptors that settings ask for at the most.
fn needed(settings: &Settings) -> u64 {
    let nodes = count(settings.peer_bounds.connections_max);
    let clients = count(settings.bounds.connections_max).saturating_mul(DOORS);
    let files = with_segments(files_wanted(settings));
    // To each node this one has a connection of its own.
    let fixed = AT_REST + nodes.saturating_mul(2);
    let needed = fixed.saturating_add(clients).saturating_add(files);
    needed.saturating_add(needed / (PART_OF_MOMENTS - 1) + 1)
}

fn fit(settings: &Settings, limit: u64) -> (Settings, Option<String>) {
    let needed = needed(settings);
    let mut fitting = settings.clone();
    if limit >= needed {
        return (fitting, None);
    }
    let moments = limit / PART_OF_MOMENTS;
    // Both parts together grow by one at a time, so that nobody has less of a higher limit.
    let nodes = (limit * (1 + NODES_FOR_MOMENTS) / PART_OF_MOMENTS - moments).max(NODES_MIN);
    let nodes = nodes.min(count(settings.peer_bounds.connections_max) * 2);
    let rest = limit.saturating_sub(AT_REST + nodes + moments);
    // Half for files, half for clients; who needs less leaves the other more.
    let files_wanted = with_segments(files_wanted(settings));
    let files_min = with_segments(FILES_MIN);
    let files = files_wanted.min(files_min.max(rest / 2));
    let door_max = count(settings.bounds.connections_max);
    let of_door = (rest.saturating_sub(files) / DOORS)
        .max(DOOR_MIN)
        .min(door_max);
    let files = match of_door < door_max {
        true => files,
        false => files_wanted.min(files_min.max(rest.saturating_sub(of_door * DOORS))),
    };
    fitting.bounds.connections_max = size(of_door);
    let of_nodes = size(nodes / 2);
    let peers = &mut fitting.peer_bounds;
    peers.connections_max = of_nodes;
    // Strangers, and one node by itself, leave places to the others.
    peers.nameless_max = peers.nameless_max.min((of_nodes / 4).max(1));
    peers.of_node_max = peers.of_node_max.min((of_nodes / 3).max(2));
    let kept = without_segments(files);
    // The engine refuses what is given twice, be it by another name.
    fitting.engine.retain(|row| !says_files(row));
    fitting.engine.push((FILES.to_owned(), kept.to_string()));
    let line = format!(
        "the process may have {limit} files and connections (ulimit -n): at most {of_door} clients \
         at each port, {of_nodes} other nodes, and {kept} sorted files that are kept open; \
         {needed} are enough for all"
    );
    (fitting, Some(line))
}

/// Sorted files that the engine would keep open.
fn files_wanted(settings: &Settings) -> u64 {
    let rows = settings.engine.iter();
    let pairs: Vec<(&str, &str)> = rows.map(|row| (&row.0[..], &row.1[..])).collect();
    // What the engine refuses it says itself, when it opens.
    let resolved = resolve(Profile::default(), &pairs, 1);
    let options = resolved.map_or_else(|_| DbOptions::default(), |resolved| resolved.db);
    count(options.open_files_max)
}

/// Whether a row says how many sorted files are kept open, by whatever name.
fn says_files((name, text): &(String, String)) -> bool {
    let resolved = resolve(Profile::default(), &[(name.as_str(), text.as_str())], 1);
    resolved.is_ok_and(|resolved| {
        let mut told = resolved.effective.iter();
        told.any(|one| one.setting.name == FILES && one.origin == Origin::User)
    })
}

/// With the segments of the value log that the engine keeps open beside so many sorted files: a
/// quarter as many, and half of that again.
fn with_segments(files: u64) -> u64 {
    files.saturating_add(files.saturating_mul(3) / 8)
}

/// The sorted files of so many.
fn without_segments(files: u64) -> u64 {
    files.saturating_mul(8) / 11
}

/// The limit of the process, which is `needed` or more if that is allowed.
fn raised(needed: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    // `None` is no limit.
    let soft = now.current.unwrap_or(u64::MAX);
    let wanted = needed.min(now.maximum.unwrap_or(u64::MAX));
    if wanted <= soft {
        return soft;
    }
    let limit = Rlimit {
        current: Some(wanted),
        maximum: now.maximum,
    };
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => wanted,
        Err(_) => soft,
    }
}

fn count(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
