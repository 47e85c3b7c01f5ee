//! What must hold at every step, whatever goes wrong.

use std::collections::BTreeMap;

use esker_raft::{Effect, GroupId, NodeId, ReplicaId};

use esker_server::meta::command::{Command as MetaCommand, Deed};
use esker_server::meta::ids::META;
use esker_server::partition::command::Command;

use crate::cluster_node::{HandedOut, Node};

/// All that is known of all replicas, to hold them against one another.
#[derive(Default)]
pub struct Checks {
    leaders: BTreeMap<(GroupId, u64), ReplicaId>,
    /// Term and hash of each committed entry.
    entries: BTreeMap<(GroupId, u64), (u64, u64)>,
    /// The node of each replica.
    homes: BTreeMap<(GroupId, ReplicaId), NodeId>,
    /// Hash of the rows behind each entry at which they were looked at.
    states: BTreeMap<(GroupId, u64), u64>,
    /// The leader's clock that each entry of a partition carries: microseconds since 1970.
    stamps: BTreeMap<(GroupId, u64), u64>,
    pub elections: u64,
    pub committed: u64,
    pub changes: u64,
    /// Tables that were placed anew, as one entry each says.
    pub made_anew: u64,
    pub compared: u64,
}

pub fn mix(hash: u64, value: u64) -> u64 {
    let value = (hash.rotate_left(17) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value ^ (value >> 29)
}

pub fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(mix(hash, bytes.len() as u64), mix)
}

fn makes_anew(effect: &Effect) -> bool {
    let Effect::Write(bytes) = effect else {
        return false;
    };
    let command = MetaCommand::decode(bytes);
    command.is_ok_and(|it| matches!(it.deed, Deed::MakeAnew { .. }))
}

impl Checks {
    /// Entries that consensus has handed out as committed, at a time that no clock is ahead of.
    pub fn handed_out(&mut self, all: &[HandedOut], latest_us: u64) {
        for it in all {
            let hash = match &it.effect {
                Effect::Nothing => 1,
                Effect::Write(bytes) => mix_bytes(2, bytes),
                Effect::Configuration(members) => {
                    let mut bytes = Vec::new();
                    members.encode(&mut bytes);
                    mix_bytes(3, &bytes)
                }
            };
            let key = (it.member.group, it.index);
            let here = (it.term, hash);
            let first = *self.entries.entry(key).or_insert_with(|| {
                self.committed += 1;
                self.changes += u64::from(matches!(it.effect, Effect::Configuration(_)));
                self.made_anew += u64::from(key.0 == META && makes_anew(&it.effect));
                here
            });
            assert!(
                first == here,
                "two entries are committed at {key:?}: {first:?} {it:?}"
            );
            if let Effect::Write(bytes) = &it.effect
                && it.member.group != META
            {
                let stamp = Command::read(bytes).unwrap().stamp.unix_us;
                assert!(
                    stamp <= latest_us,
                    "{key:?} is of {stamp}, and it is {latest_us}"
                );
                self.stamps.insert(key, stamp);
            }
        }
    }

    /// The clock of a partition behind each of its entries that writes: the latest so far.
    pub fn clocks(&self, group: GroupId) -> BTreeMap<u64, u64> {
        let stamps = self.stamps.range((group, 0)..=(group, u64::MAX));
        let mut clock = 0;
        let clocks = stamps.map(|(&(_, index), &stamp)| {
            clock = clock.max(stamp);
            (index, clock)
        });
        clocks.collect()
    }

    /// A node as it is now.
    pub fn look(&mut self, node: &Node) {
        let Some(stages) = node.stages() else { return };
        for group in stages.consensus.groups() {
            let Some(status) = stages.consensus.status(group) else {
                continue;
            };
            let replica = status.replica;
            let home = *self.homes.entry((group, replica)).or_insert(node.id);
            assert!(
                home == node.id,
                "{group}: {replica} is on {home:?} and on {:?}",
                node.id
            );
            if status.leader == Some(replica) {
                let first = *self.leaders.entry((group, status.term)).or_insert_with(|| {
                    self.elections += 1;
                    replica
                });
                assert!(
                    first == replica,
                    "{group}: {first} and {replica} lead in term {}",
                    status.term
                );
            }
        }
    }

    /// The rows of a group on a node.
    pub fn compare(&mut self, node: &Node, group: GroupId) {
        let Some((replica, applied)) = node.applied(group) else {
            return;
        };
        let rows = node.rows(group);
        let hash = rows.iter().fold(0, |hash, (key, value)| {
            mix_bytes(mix_bytes(hash, key), value)
        });
        self.compared += 1;
        let first = *self.states.entry((group, applied)).or_insert(hash);
        assert!(
            first == hash,
            "{group}: {replica} on {:?} has other rows at entry {applied} than others had",
            node.id
        );
    }
}
