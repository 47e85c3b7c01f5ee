//! Numbers of tables and partitions, and how a partition is a group.

use std::fmt;

use esker_raft::codec::{DecodeError, Put, Reader};
use esker_raft::{GroupId, Member};

use crate::meta::codec::Field;

/// A table, by the number that it keeps for ever once it is open. 0 is the meta service's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

/// A cluster: drawn at its first start, and what nodes say before all else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub u64);

/// A partition of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId {
    /// Its table.
    pub table: TableId,
    /// Counted from 0.
    pub index: u32,
}

/// A replica as lines for people call it, who know tables and partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaName(pub Member);

/// The group of the meta service.
pub const META: GroupId = GroupId(0);

impl PartitionId {
    /// The group that a partition is.
    pub fn group(self) -> GroupId {
        GroupId(u64::from(self.table.0) << 32 | u64::from(self.index))
    }

    /// The partition that `group` is.
    pub fn of(group: GroupId) -> PartitionId {
        let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("32 bits");
        PartitionId {
            table: TableId(half(group.0 >> 32)),
            index: half(group.0),
        }
    }
}

impl TableId {
    /// As the wire has it.
    pub fn wire(self) -> i32 {
        i32::try_from(self.0).unwrap_or(i32::MAX)
    }

    /// The table that the wire calls `number`.
    pub fn of_wire(number: i32) -> Option<TableId> {
        u32::try_from(number).ok().map(TableId)
    }
}

impl fmt::Display for PartitionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.table.0, self.index)
    }
}

impl fmt::Display for ReplicaName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Member { group, replica } = self.0;
        let PartitionId { table, index } = PartitionId::of(group);
        match group == META {
            true => write!(out, "{replica} of the meta service"),
            false => write!(out, "{replica} of partition {index} of table {}", table.0),
        }
    }
}

impl Field for TableId {
    const BYTES_MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(self.0);
    }

    fn take(reader: &mut Reader<'_>) -> Result<TableId, DecodeError> {
        reader.u32("number of a table").map(TableId)
    }
}

impl Field for ClusterId {
    const BYTES_MIN: usize = 8;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(self.0);
    }

    fn take(reader: &mut Reader<'_>) -> Result<ClusterId, DecodeError> {
        reader.u64("number of a cluster").map(ClusterId)
    }
}
