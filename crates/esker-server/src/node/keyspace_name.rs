//! Names of the keyspaces of replicas, and the groups that they are of.
//!
//! `r.<table>.<partition>.<replica id>`, and `.i<index>` behind it of one that came as an image of
//! that index: numbers without leading zeros.

use esker_raft::{GroupId, Member, ReplicaId};

/// What the names of all replicas begin with.
const PREFIX: &str = "r.";

/// The group of a partition: `table << 32 | partition`. Table 0 is the meta service.
pub fn group_of(table: u32, partition: u32) -> GroupId {
    GroupId((u64::from(table) << 32) | u64::from(partition))
}

/// Table and partition of a group.
pub fn partition_of(group: GroupId) -> (u32, u32) {
    let half = |word: u64| u32::try_from(word & u64::from(u32::MAX)).expect("32 bits");
    (half(group.0 >> 32), half(group.0))
}

/// A keyspace that a replica has or had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReplicaKeyspace {
    /// Whose.
    pub member: Member,
    /// The index of the image that it came as; `None` if it began with the replica.
    pub image: Option<u64>,
}

impl ReplicaKeyspace {
    /// Its name.
    pub fn name(&self) -> String {
        let (table, partition) = partition_of(self.member.group);
        let replica = self.member.replica.0;
        let name = format!("{PREFIX}{table}.{partition}.{replica}");
        match self.image {
            None => name,
            Some(index) => format!("{name}.i{index}"),
        }
    }

    /// The keyspace of that name; `None` if it is no replica's.
    pub fn parse(name: &str) -> Option<ReplicaKeyspace> {
        let mut parts = name.strip_prefix(PREFIX)?.split('.');
        let table = number(parts.next()?)?;
        let partition = number(parts.next()?)?;
        let replica = ReplicaId(number(parts.next()?)?);
        let group = group_of(u32::try_from(table).ok()?, u32::try_from(partition).ok()?);
        let image = match parts.next() {
            None => None,
            Some(part) => Some(number(part.strip_prefix('i')?)?),
        };
        let member = Member { group, replica };
        parts
            .next()
            .is_none()
            .then_some(ReplicaKeyspace { member, image })
    }
}

// A number as it is written, in one form only.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_others_are_none() {
        for (table, partition, replica, image) in [
            (0, 0, 1, None),
            (7, 63, 12, Some(99)),
            (u32::MAX, u32::MAX, u64::MAX, Some(0)),
        ] {
            let group = group_of(table, partition);
            assert_eq!(partition_of(group), (table, partition));
            let replica = ReplicaId(replica);
            let member = Member { group, replica };
            let keyspace = ReplicaKeyspace { member, image };
            assert_eq!(ReplicaKeyspace::parse(&keyspace.name()), Some(keyspace));
        }
        let foreign = [
            "default",
            "node",
            "r.",
            "r.1.2",
            "r.1.2.3.4",
            "r.01.2.3",
            "r.1.2.3.i",
            "r.1.2.3.i4.5",
            "r.4294967296.0.1",
            "r.+1.2.3",
            "r.1.2.-3",
        ];
        for name in foreign {
            assert_eq!(ReplicaKeyspace::parse(name), None, "{name}");
        }
    }
}
