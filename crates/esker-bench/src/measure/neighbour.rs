//! What another process of this machine used, which listens at an address.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::measure::process::field;

/// The system counts a process's time in these, on every platform that has `/proc`.
const TICKS_A_SECOND: u64 = 100;

/// The state of a socket that listens, as the system spells it.
const LISTENS: &str = "0A";

/// What a process used since it began. Bytes are 0 where the system does not tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Milliseconds of processor, all threads together; exact to ten.
    pub cpu_ms: u64,
    /// Bytes that it caused to be read from storage.
    pub device_read_bytes: u64,
    /// Bytes that it caused to be written to storage.
    pub device_write_bytes: u64,
}

/// The process of this machine that listens at `address`; `None` if it is elsewhere, or if the
/// system does not tell.
pub fn listener_at(address: SocketAddrV4) -> Option<u32> {
    if !address.ip().is_loopback() {
        return None;
    }
    let sockets = fs::read_to_string("/proc/net/tcp").ok()?;
    let inode = sockets.lines().find_map(|line| inode_of(line, address))?;
    let wanted = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|number: &u32| {
        // Of other users' processes nothing is told.
        let files = fs::read_dir(format!("/proc/{number}/fd"));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| {
            fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == wanted.as_str())
        })
    })
}

/// The number of the socket that a line of the system's table tells of, if it listens there.
fn inode_of(line: &str, address: SocketAddrV4) -> Option<&str> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (local, state, inode) = (*fields.get(1)?, *fields.get(3)?, *fields.get(9)?);
    let spelled = |ip: Ipv4Addr| {
        let bits = u32::from_ne_bytes(ip.octets());
        format!("{bits:08X}:{:04X}", address.port())
    };
    let is_there = local == spelled(*address.ip()) || local == spelled(Ipv4Addr::UNSPECIFIED);
    (state == LISTENS && is_there).then_some(inode)
}

/// What the process used so far; nothing once it has ended.
pub fn used_by(process: u32) -> Used {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
    let (stat, io) = (read("stat"), read("io"));
    let ticks = stat.ok().and_then(|stat| ticks_of(&stat)).unwrap_or(0);
    let io = io.unwrap_or_default();
    Used {
        cpu_ms: ticks * 1000 / TICKS_A_SECOND,
        device_read_bytes: field(&io, "read_bytes").unwrap_or(0),
        device_write_bytes: field(&io, "write_bytes").unwrap_or(0),
    }
}

/// Bytes of memory that the process holds; 0 once it has ended.
pub fn memory_of(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    // The file counts in units of 1024 bytes.
    field(&status.unwrap_or_default(), "VmRSS").unwrap_or(0) << 10
}

/// Time of the process itself and of the system for it; its name before may have anything in it.
fn ticks_of(stat: &str) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests;
