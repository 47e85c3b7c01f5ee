//! The rows of the keyspace `node`: which replica a group has here, and what is to become of it.
//!
//! The key is `r` and the group (u64, big-endian). The value:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | version: 1 |
//! | 1 | 8 | u64 | replica id, above 0 |
//! | 9 | 1 | u8 | state: 0 beginning, 1 living, 2 retired, 3 purging |
//! | 10 | 1 | u8 | count of the voters that its group began with; 0 if it was added later |
//! | 11 | 16 each | u64, u64 | replica id and node of each of them |
//!
//! Integers of the value are little-endian. Valid if and only if the version is 1, the state is
//! known, there are no more voters than a group may have, and the value ends behind them.
//!
//! Under `w` and the group lies why a replica of it was retired: its id (u64), then words. An
//! opening that finds a retired replica has nothing else to tell it by.
//!
//! Beside them lie facts that the node keeps for others, under `f` and a name: whatever bytes.

use esker::internals::base::codec::reader::ByteReader;
use esker::{Durability, Error, ErrorKind, Keyspace, Result, WriteOptions};
use esker_raft::{GroupId, Member, NodeId, ReplicaId};

/// Version of the layout.
const VERSION: u8 = 1;

const ROW: u8 = b'r';
const FACT: u8 = b'f';
const REASON: u8 = b'w';

/// As many voters as a group has replicas at the most.
pub const VOTERS_MAX: usize = 16;

/// What is to become of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The raft log may not know it yet. Without a log it begins again as it was told to.
    Beginning,
    /// The raft log knows it, durably. Without a log it has lost what it promised.
    Living,
    /// It has lost something, and never takes part again. What is left of it is kept until somebody
    /// says that it is not needed.
    Retired,
    /// It is being destroyed, and nothing of it is needed.
    Purging,
}

/// What a node has of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The replica here.
    pub member: Member,
    /// What is to become of it.
    pub state: State,
    /// The voters that its group began with, if it was one of them.
    pub first: Vec<(ReplicaId, NodeId)>,
}

impl Switch {
    fn encode(&self) -> Vec<u8> {
        assert!(self.first.len() <= VOTERS_MAX);
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.member.replica.0.to_le_bytes());
        out.push(match self.state {
            State::Beginning => 0,
            State::Living => 1,
            State::Retired => 2,
            State::Purging => 3,
        });
        out.push(u8::try_from(self.first.len()).expect("sixteen at the most"));
        for (replica, node) in &self.first {
            out.extend_from_slice(&replica.0.to_le_bytes());
            out.extend_from_slice(&node.0.to_le_bytes());
        }
        out
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Switch> {
        if value.first().is_some_and(|version| *version != VERSION) {
            let message = "a row of the keyspace `node` has another version";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        read(key, value)
            .ok_or_else(|| Error::corruption("a row of the keyspace `node` is not whole"))
    }
}

fn read(key: &[u8], value: &[u8]) -> Option<Switch> {
    let group = GroupId(u64::from_be_bytes(key.get(1..)?.try_into().ok()?));
    let mut reader = ByteReader::new(value.get(1..)?);
    let replica = ReplicaId(reader.u64().filter(|id| *id > 0)?);
    let state = match reader.byte()? {
        0 => State::Beginning,
        1 => State::Living,
        2 => State::Retired,
        3 => State::Purging,
        _ => return None,
    };
    let count = usize::from(reader.byte()?);
    let mut first = Vec::new();
    for _ in 0..count {
        first.push((ReplicaId(reader.u64()?), NodeId(reader.u64()?)));
    }
    let member = Member { group, replica };
    let is_whole = count <= VOTERS_MAX && reader.is_empty();
    is_whole.then_some(Switch {
        member,
        state,
        first,
    })
}

/// The keyspace `node`. What is written to it is on the medium when the call returns, but for what
/// is written lazily.
#[derive(Clone)]
pub struct Switches {
    rows: Keyspace,
}

impl Switches {
    /// Those of a keyspace, which is a logged one.
    pub fn new(rows: &Keyspace) -> Switches {
        let options = WriteOptions {
            durability: Some(Durability::Sync),
            ..WriteOptions::default()
        };
        Switches {
            rows: rows.with_write(options),
        }
    }

    /// All of them, by their groups.
    pub fn all(&self) -> Result<Vec<Switch>> {
        let rows = self.rows.prefix([ROW])?;
        rows.map(|row| {
            let (key, value) = row?;
            Switch::decode(&key, &value)
        })
        .collect()
    }

    /// That of a group.
    pub fn get(&self, group: GroupId) -> Result<Option<Switch>> {
        let key = key_of(group);
        let value = self.rows.get(&key)?;
        value.map(|value| Switch::decode(&key, &value)).transpose()
    }

    /// Sets that of its group.
    pub fn set(&self, switch: &Switch) -> Result<()> {
        self.rows.put(key_of(switch.member.group), switch.encode())
    }

    /// The same, on the medium whenever it comes about.
    pub fn set_lazily(&self, switch: &Switch) -> Result<()> {
        let rows = self.lazily();
        rows.put(key_of(switch.member.group), switch.encode())
    }

    fn lazily(&self) -> Keyspace {
        let options = WriteOptions {
            durability: Some(Durability::Buffered),
            ..WriteOptions::default()
        };
        self.rows.with_write(options)
    }

    /// Forgets that of a group.
    pub fn remove(&self, group: GroupId) -> Result<()> {
        self.rows.delete(key_of(group))?;
        self.rows.delete(reason_key(group))
    }

    /// Why a replica was retired, in the words that were found for it then.
    pub fn reason(&self, member: Member) -> Result<Option<String>> {
        let value = self.rows.get(reason_key(member.group))?;
        let of_member = value.as_ref().and_then(|value| {
            let (replica, words) = value.split_first_chunk::<8>()?;
            let is_own = u64::from_le_bytes(*replica) == member.replica.0;
            is_own.then(|| String::from_utf8_lossy(words).into_owned())
        });
        Ok(of_member)
    }

    /// Keeps why a replica is retired. Lazily: whoever retires it says so durably right after.
    pub fn keep_reason(&self, member: Member, why: &str) -> Result<()> {
        let value = [&member.replica.0.to_le_bytes()[..], why.as_bytes()].concat();
        self.lazily().put(reason_key(member.group), value)
    }

    /// A fact that is kept under that name.
    pub fn fact(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let value = self.rows.get(fact_key(name))?;
        Ok(value.map(|value| value.to_vec()))
    }

    /// Keeps a fact.
    pub fn keep_fact(&self, name: &str, fact: &[u8]) -> Result<()> {
        self.rows.put(fact_key(name), fact)
    }
}

fn key_of(group: GroupId) -> Vec<u8> {
    [&[ROW][..], &group.0.to_be_bytes()].concat()
}

fn reason_key(group: GroupId) -> Vec<u8> {
    [&[REASON][..], &group.0.to_be_bytes()].concat()
}

fn fact_key(name: &str) -> Vec<u8> {
    [&[FACT][..], name.as_bytes()].concat()
}

#[cfg(test)]
mod tests;
