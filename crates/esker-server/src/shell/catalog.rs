//! Every setting of a node, told once: name, unit, what it means, how it is read and shown.

use std::net::SocketAddr;

use esker_raft::PROMISE_MAX;

use crate::front::check_loopback;
use crate::shell::quantity::{parse_bytes, parse_duration, show_bytes, show_duration};
use crate::shell::settings::Settings;

/// A setting.
pub struct Setting {
    /// Its name, in files and after `--set`.
    pub name: &'static str,
    /// What its values are.
    pub unit: &'static str,
    /// What it means, and why one would change it.
    pub doc: &'static str,
    /// Takes the value that a text says.
    pub take: fn(&mut Settings, &str) -> Result<(), String>,
    /// The value as text that is read back.
    pub show: fn(&Settings) -> String,
}

macro_rules! settings {
    ($(
        $name:literal, $unit:literal, $($field:ident).+, $parse:expr, $show:expr, $doc:literal;
    )*) => {
        /// Every setting but those of the engine.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            unit: $unit,
            doc: $doc,
            take: |settings, text| {
                settings.$($field).+ = $parse(text)?;
                Ok(())
            },
            show: |settings| $show(&settings.$($field).+),
        },)*];
    };
}

settings! {
    "dir", "path", dir, path, |dir: &std::path::PathBuf| dir.display().to_string(),
        "Directory of the node: its log, its database, and who it is.";
    "meta_address", "host:port", meta_address, address, SocketAddr::to_string,
        "Where clients ask for tables and partitions. Port 0 takes any that is free.";
    "data_address", "host:port", data_address, address, SocketAddr::to_string,
        "Where clients read and write. Port 0 takes any that is free.";
    "peer_address", "host:port", peer_address, address, SocketAddr::to_string,
        "Where other nodes come in. Port 0 takes any that is free, for a node that stays alone.";
    "join", "list of host:port", join, addresses, show_addresses,
        "Peer addresses of nodes of the cluster that a new node joins; without any a new node \
         begins a cluster.";
    "cluster_name", "text", cluster_name, text, String::clone,
        "How people call a new cluster.";
    "label", "text", label, text, String::clone,
        "The host or rack that the node shares with others: two replicas never share one.";
    "memory_limit", "bytes", memory_limit, parse_bytes, shown_bytes,
        "Memory of the engine: memtables, cache, compactions. More makes reads and loads faster.";
    "log_segment", "bytes", log_segment, parse_bytes, shown_bytes,
        "Size of one segment of the raft log.";
    "log_max", "bytes", log_max, parse_bytes, shown_bytes,
        "Size of the raft log from which on writers are told that the node is busy.";
    "election_timeout", "duration", election_timeout, ticks, shown_duration,
        "How long a follower waits for its leader before it has a vote, at least; twice that at \
         most. Shorter fails over faster, and for less reason.";
    "heartbeat", "duration", heartbeat, ticks, shown_duration,
        "How often a leader says that it is there; below election_timeout.";
    "read_promise", "duration", read_promise, promise, shown_duration,
        "For how long voters do not vote that confirm a read of this node: it reads without \
         asking for four fifths of that. Reads are faster; a leader that dies is replaced that \
         much later, and clocks must run. 0s has every read ask a majority; at most 1s.";
    "seed", "number", seed, number, u64::to_string,
        "What election timeouts are drawn from; 0 draws it from the node's number.";
    "read_threads", "number", read_threads, threads, u64::to_string,
        "Threads that serve reads. More help where reads wait for the disk.";
    "socket_threads", "number", socket_threads, sockets, u64::to_string,
        "Threads of sockets, which also serve reads of memory. 0 takes half as many as there are \
         processors, 8 at most: each further one is woken by the others.";
    "slow_query_threshold", "duration", slow_query, parse_duration, shown_duration,
        "From so long on a call is kept among the slow ones, `esker node slow`; 0s for never. A \
         table's setting replica.slow_query_threshold goes before it.";
    "connections_max", "number", bounds.connections_max, size, usize::to_string,
        "Connections to each door; further ones are closed at once.";
    "body_max", "bytes", bounds.body_bytes_max, byte_size, shown_size,
        "Longest body of a request; a longer one is refused.";
    "in_flight_max", "bytes", bounds.in_flight_bytes_max, byte_size, shown_size,
        "What calls of one connection may stand for (16 KiB a row, 1 MiB a range) before it waits.";
    "door_in_flight_max", "bytes", bounds.door_bytes_max, byte_size, shown_size,
        "The same for all connections of a door; calls beyond are told that the node is busy.";
    "unread_max", "bytes", bounds.unread_bytes_max, byte_size, shown_size,
        "Replies that one connection may leave unread before it is closed.";
    "idle_max", "duration", bounds.idle_max, parse_duration, shown_duration,
        "How long a connection may say nothing.";
    "half_request_max", "duration", bounds.half_request_max, parse_duration, shown_duration,
        "How long a request that has begun may stand still.";
    "slow_reader_max", "duration", bounds.slow_reader_max, parse_duration, shown_duration,
        "How long a client may read nothing of what is written to it.";
}

/// The setting of that name.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// The name that was probably meant, if one is near.
pub fn near(name: &str) -> Option<&'static str> {
    let distance = |setting: &&Setting| strsim::osa_distance(setting.name, name);
    let nearest = SETTINGS.iter().min_by_key(distance)?;
    (distance(&nearest) <= 3).then_some(nearest.name)
}

// The macro gives each parser a text; that it may fail is part of its form.
#[allow(clippy::unnecessary_wraps, reason = "one form for all parsers")]
fn path(text: &str) -> Result<std::path::PathBuf, String> {
    Ok(text.into())
}

fn text(text: &str) -> Result<String, String> {
    match text.len() <= 255 && !text.contains(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err("a name has at most 255 bytes, and no control characters".to_owned()),
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    }
    .map_err(|_| format!("\"{text}\" is no address: write it like 127.0.0.1:34801"))?;
    if !address.is_ipv4() {
        return Err(format!(
            "{address} is not of IPv4, the only kind that clients can be told"
        ));
    }
    check_loopback(address).map_err(|error| error.to_string())
}

fn addresses(text: &str) -> Result<Vec<SocketAddr>, String> {
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    words.map(address).collect()
}

fn show_addresses(addresses: &[SocketAddr]) -> String {
    let words: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    words.join(",")
}

fn number(text: &str) -> Result<u64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("\"{text}\" is no number"))
}

fn threads(text: &str) -> Result<u64, String> {
    match number(text)? {
        count @ 1..=256 => Ok(count),
        count => Err(format!("{count} threads are none, or too many: 1 to 256")),
    }
}

fn sockets(text: &str) -> Result<u64, String> {
    match number(text)? {
        count @ 0..=256 => Ok(count),
        count => Err(format!("{count} threads are too many: at most 256")),
    }
}

fn size(text: &str) -> Result<usize, String> {
    let number = number(text)?;
    usize::try_from(number).map_err(|_| format!("{number} is too large for this machine"))
}

fn byte_size(text: &str) -> Result<usize, String> {
    let bytes = parse_bytes(text)?;
    usize::try_from(bytes).map_err(|_| format!("{bytes} bytes are too many for this machine"))
}

fn ticks(text: &str) -> Result<std::time::Duration, String> {
    let duration = parse_duration(text)?;
    match duration.as_millis() {
        millis if millis >= 100 && millis % 100 == 0 => Ok(duration),
        _ => Err("nodes count in ticks of 100ms: name a multiple of that".to_owned()),
    }
}

fn promise(text: &str) -> Result<std::time::Duration, String> {
    let duration = parse_duration(text)?;
    match duration <= PROMISE_MAX {
        true => Ok(duration),
        false => Err(format!("at most {}", show_duration(PROMISE_MAX))),
    }
}

fn shown_bytes(bytes: &u64) -> String {
    show_bytes(*bytes)
}

fn shown_size(bytes: &usize) -> String {
    show_bytes(u64::try_from(*bytes).unwrap_or(u64::MAX))
}

fn shown_duration(duration: &std::time::Duration) -> String {
    show_duration(*duration)
}
