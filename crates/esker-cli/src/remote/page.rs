//! Pages that nodes show over HTTP at their ports for clients.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::time::Duration;

use esker_rpc::message::own::NodeFacts;
use serde_json::Value;

use crate::remote::link::shown;
use crate::remote::placing::address;

/// How long a node may take with its page.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longest page that is read: those that are lists end before it.
const PAGE_BYTES_MAX: u64 = 4 << 20;

/// What nodes say of their replicas of a table: each by its number, with its page or why there is
/// none, in words.
pub type Statuses = Vec<(i64, Result<Value, String>)>;

/// How long a node of this machine may take to say whether it is well.
const AILMENTS_PATIENCE: Duration = Duration::from_secs(1);

/// Why a node of this machine does not serve, or not all that it has; nothing where it cannot be
/// asked.
pub fn ailments(address: SocketAddrV4) -> Option<Vec<String>> {
    // Of no table: replicas are not asked for.
    let page = get(address, "/status/0", AILMENTS_PATIENCE).ok()?;
    let page: Value = serde_json::from_str(&page).ok()?;
    let ailments = page["ailments"].as_array()?.iter();
    Some(ailments.filter_map(Value::as_str).map(shown).collect())
}

/// How long a node may take to say who it is, anywhere.
const NAME_PATIENCE: Duration = Duration::from_secs(3);

/// Why nobody has said who is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Nobody listens there, or it cannot be reached.
    Away,
    /// Somebody listens, and says nothing that can be read.
    Mute,
}

/// Who is at an address for clients, and how it is: the page of a node, without its replicas.
pub fn who_is_at(address: SocketAddrV4) -> Result<Value, Absent> {
    let stream = TcpStream::connect_timeout(&address.into(), NAME_PATIENCE);
    let stream = stream.map_err(|_| Absent::Away)?;
    let page = read(stream, "/status/0", NAME_PATIENCE).map_err(|_| Absent::Mute)?;
    serde_json::from_str(&page).map_err(|_| Absent::Mute)
}

/// Asks each node that lives.
pub fn statuses(nodes: &[NodeFacts], table: i32) -> Statuses {
    let path = format!("/status/{table}");
    let living = nodes.iter().filter(|node| node.is_alive);
    living.map(|node| (node.node, page(node, &path))).collect()
}

/// A page of a node that is JSON. Errors: why there is none, in words.
pub fn page(node: &NodeFacts, path: &str) -> Result<Value, String> {
    let unreachable = || format!("{} is no address", address(node.address));
    let page = get(node.address.0.ok_or_else(unreachable)?, path, PATIENCE)?;
    serde_json::from_str(&page).map_err(|error| error.to_string())
}

/// The body of a page.
fn get(address: SocketAddrV4, path: &str, patience: Duration) -> Result<String, String> {
    let stream = TcpStream::connect_timeout(&address.into(), patience);
    read(stream.map_err(|error| error.to_string())?, path, patience)
}

/// The same over a connection. A node answers one request, and closes.
fn read(mut stream: TcpStream, path: &str, patience: Duration) -> Result<String, String> {
    let asked = || {
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        let address = stream.peer_addr()?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(PAGE_BYTES_MAX + 1).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = asked().map_err(|error: std::io::Error| error.to_string())?;
    if answer.len() as u64 > PAGE_BYTES_MAX {
        return Err("its page is longer than any that is read".to_owned());
    }
    body(&String::from_utf8_lossy(&answer)).map(str::to_owned)
}

/// What is behind the head of an answer that has a page.
fn body(answer: &str) -> Result<&str, String> {
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or("it closed the connection, as an older one does")?;
    let status = head.lines().next().unwrap_or_default();
    match status.split(' ').nth(1) {
        Some("200") => Ok(body),
        _ => Err(format!("it answers {}", shown(status))),
    }
}

#[cfg(test)]
mod tests;
