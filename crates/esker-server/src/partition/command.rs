//! What one entry of a partition's log says: some writes of clients, and the leader's time.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | version: 1 |
//! | 1 | 8 | u64 | the leader's clock: microseconds since 1970 |
//! | 9 | 4 | u32 | seconds that a value lives of which the client says nothing; 0 for ever |
//! | 13 | 1 | u8 | number of the cluster, at most 127 |
//! | 14 | … | calls | one behind the other to the end |
//!
//! A call is the length of its name (u8), its name, the length of its arguments (u32) and these as
//! the client sent them. Integers are little-endian. Valid if and only if the version is 1, the
//! cluster's number and the microseconds (56 bits) are no larger, there is a call at least, all of
//! them are whole, and each is a write of `esker_rpc::message::data`.

use esker_rpc::message::call::Access;
use esker_rpc::message::data::KeyCall;
use esker_rpc::value::CLUSTER_MAX;

/// Version of the layout.
const VERSION: u8 = 1;

/// Bytes before the calls.
const HEAD_BYTES: usize = 1 + 8 + 4 + 1;

/// Microseconds that a time tag has room for: enough for two thousand years.
const US_MAX: u64 = (1 << 56) - 1;

/// What all writes of an entry have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The leader's clock when it proposed them: microseconds since 1970.
    pub unix_us: u64,
    /// Seconds that a value lives of which the client says nothing; 0 for ever.
    pub default_ttl_s: u32,
    /// Number of the cluster that the clients wrote to.
    pub cluster: u8,
}

/// An entry that is being made.
pub struct CommandWriter {
    bytes: Vec<u8>,
}

impl CommandWriter {
    /// One without calls yet. A clock beyond what a time tag holds is cut to that.
    ///
    /// # Panics
    /// When the cluster's number is above 127.
    pub fn new(stamp: Stamp) -> CommandWriter {
        assert!(stamp.cluster <= CLUSTER_MAX);
        let mut bytes = Vec::with_capacity(HEAD_BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(&stamp.unix_us.min(US_MAX).to_le_bytes());
        bytes.extend_from_slice(&stamp.default_ttl_s.to_le_bytes());
        bytes.push(stamp.cluster);
        CommandWriter { bytes }
    }

    /// Adds a write, by its name and arguments as they came; they were read before.
    ///
    /// # Panics
    /// When the name is longer than 255 bytes or the arguments than 4 GiB, which no frame lets in.
    pub fn push(&mut self, name: &str, arguments: &[u8]) {
        let name_len = u8::try_from(name.len()).expect("names of calls are short");
        let len = u32::try_from(arguments.len()).expect("a frame is smaller");
        self.bytes.reserve(1 + name.len() + 4 + arguments.len());
        self.bytes.push(name_len);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(arguments);
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no call.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == HEAD_BYTES
    }

    /// The entry.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// An entry taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What its writes have in common.
    pub stamp: Stamp,
    /// The writes, in their order.
    pub calls: Vec<KeyCall>,
}

impl Command {
    /// Takes `bytes` apart; `None` if they are not valid.
    pub fn read(bytes: &[u8]) -> Option<Command> {
        let (&[VERSION], rest) = bytes.split_first_chunk::<1>()? else {
            return None;
        };
        let (unix_us, rest) = rest.split_first_chunk()?;
        let (default_ttl_s, rest) = rest.split_first_chunk()?;
        let (&cluster, mut rest) = rest.split_first()?;
        let stamp = Stamp {
            unix_us: u64::from_le_bytes(*unix_us),
            default_ttl_s: u32::from_le_bytes(*default_ttl_s),
            cluster,
        };
        if cluster > CLUSTER_MAX || stamp.unix_us > US_MAX || rest.is_empty() {
            return None;
        }
        let mut calls = Vec::new();
        while !rest.is_empty() {
            let (&name_len, behind) = rest.split_first()?;
            let (name, behind) = behind.split_at_checked(usize::from(name_len))?;
            let (len, behind) = behind.split_first_chunk()?;
            let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
            let (arguments, behind) = behind.split_at_checked(len)?;
            let call = KeyCall::read(str::from_utf8(name).ok()?, arguments).ok()?;
            if call.row().access == Access::Reads {
                return None;
            }
            calls.push(call);
            rest = behind;
        }
        Some(Command { stamp, calls })
    }
}

#[cfg(test)]
mod tests;
