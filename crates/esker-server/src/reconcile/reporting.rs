//! What a node says of itself and its replicas to the leader of meta.

use std::collections::BTreeMap;

use esker_raft::{GroupId, Member, ReplicaId, Status};

use crate::meta::codec::Field;
use crate::meta::ids::{ClusterId, META};
use crate::meta::limits::LEADERLESS_BYTES_MAX;
use crate::meta::report::{Leaderless, ReplicaReport, Report, Role};
use crate::meta::rows::Addresses;
use crate::node::{Found, Identity, NodeEvent, Replicas, View, stall};
use crate::reconcile::knowledge::Knowledge;

/// Who reports, and where it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Who.
    pub identity: Identity,
    /// Where, as others are to call it.
    pub addresses: Addresses,
    /// The host or the rack that it shares with others; empty for none.
    pub label: String,
}

/// Room on the disk of a node, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total: u64,
    /// What is free.
    pub free: u64,
}

/// Which replicas of before are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// None.
    None,
    /// Those of so many groups, which go on without them, or with one of them alone and have not
    /// yet: what becomes of these is asked with each report.
    Some(usize),
    /// All: meta has not answered yet.
    All,
}

/// Makes the reports of a node.
#[derive(Debug)]
pub struct Reporter {
    home: Home,
    /// Replicas that take no part any more, and why. What is left of them is on the disk.
    damaged: BTreeMap<Member, String>,
    /// The last replica of each group that was destroyed here since the node was opened.
    destroyed: BTreeMap<GroupId, ReplicaId>,
    /// The raft log has no room, so no replica here goes on.
    log_is_full: bool,
    /// Replicas of before are held here until meta says that they are free.
    held: Held,
    /// The number of the last report.
    number: u64,
}

impl Reporter {
    /// A reporter of a node that was opened and found like that.
    pub fn new(home: Home, found: &Found) -> Reporter {
        Reporter {
            home,
            damaged: found.damaged.iter().cloned().collect(),
            destroyed: BTreeMap::new(),
            log_is_full: false,
            held: match found.running.iter().any(|member| member.group != META) {
                true => Held::All,
                false => Held::None,
            },
            number: 0,
        }
    }

    /// Whether replicas here wait for meta to answer for the first time.
    pub fn is_holding(&self) -> bool {
        self.held == Held::All
    }

    /// Meta has answered the report of that number that they are free, but for those of so many
    /// groups. Nothing if that is the answer to an earlier one, which may have been on its way for
    /// long; else whether it is news.
    pub fn free(&mut self, asked: u64, held_count: usize) -> Option<bool> {
        if self.held == Held::None || asked == 0 || asked != self.number {
            return None;
        }
        let held = match held_count {
            0 => Held::None,
            count => Held::Some(count),
        };
        Some(std::mem::replace(&mut self.held, held) != held)
    }

    /// Whether the raft log has no room. True if meta should hear of it at once.
    pub fn set_log_is_full(&mut self, is_full: bool) -> bool {
        std::mem::replace(&mut self.log_is_full, is_full) != is_full
    }

    /// Why the replica here of that group takes no part any more, if it does not.
    pub fn damage_of(&self, group: GroupId) -> Option<&str> {
        let mut damaged = self.damaged.iter();
        let found = damaged.find(|row| row.0.group == group);
        found.map(|row| row.1.as_str())
    }

    /// Whose reports these are.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Takes up what happened. True if meta should hear of it at once.
    pub fn note(&mut self, event: &NodeEvent) -> bool {
        match event {
            NodeEvent::Damaged(member, why) => {
                self.damaged.insert(*member, why.clone());
                true
            }
            NodeEvent::Destroyed(member) => {
                self.damaged.remove(member);
                let last = self.destroyed.entry(member.group).or_insert(member.replica);
                *last = (*last).max(member.replica);
                true
            }
            // Whoever leads is reported as its leader from then on, and not before.
            NodeEvent::Established(_) | NodeEvent::Left(_) | NodeEvent::PeerDestroyed(_) => true,
            _ => false,
        }
    }

    /// A report of now, in milliseconds since 1970; `statuses` are those of all groups, from
    /// consensus.
    pub fn report(
        &mut self,
        statuses: &BTreeMap<GroupId, Status>,
        replicas: &Replicas,
        (knowledge, space, unix_ms): (&Knowledge, Space, u64),
    ) -> Report {
        let views = replicas.views();
        let mut told: BTreeMap<Member, ReplicaReport> = BTreeMap::new();
        for view in &views {
            let status = statuses.get(&view.member.group);
            let status = status.filter(|status| status.replica == view.member.replica);
            let mut report = of_view(view, status);
            if self.log_is_full && report.stall.is_none() {
                report.stall = Some(stall::LOG_HAS_NO_ROOM.to_owned());
            }
            told.insert(view.member, report);
        }
        limit_leaderless(told.values_mut());
        self.number += 1;
        for (member, why) in &self.damaged {
            let report = told.entry(*member).or_insert_with(|| nothing_of(*member));
            report.role = Role::Follower;
            report.configuration = None;
            report.leaderless = None;
            report.damage = Some(why.clone());
        }
        Report {
            cluster: ClusterId(self.home.identity.cluster),
            node: self.home.identity.node,
            incarnation: self.home.identity.incarnation,
            addresses: self.home.addresses.clone(),
            label: self.home.label.clone(),
            tables_revision: knowledge.tables_revision,
            nodes_revision: knowledge.nodes_revision,
            space_total_bytes: space.total,
            space_free_bytes: space.free,
            replicas: told.into_values().collect(),
            // What was lost is damaged here until meta says that it is not needed. What was
            // destroyed is never made again, and meta may wish it: it must know.
            lost: self
                .destroyed
                .iter()
                .map(|(group, id)| (*group, *id))
                .collect(),
            asks: match self.held {
                Held::None => 0,
                Held::Some(_) | Held::All => self.number,
            },
            unix_ms,
        }
    }
}

// Of more replicas there is no room: the first groups come first, on every node alike.
fn limit_leaderless<'a>(replicas: impl Iterator<Item = &'a mut ReplicaReport>) {
    let mut bytes = 0;
    for report in replicas {
        let mut encoded = Vec::new();
        if let Some(leaderless) = &report.leaderless {
            leaderless.put(&mut encoded);
        }
        bytes += encoded.len();
        if bytes > LEADERLESS_BYTES_MAX {
            report.leaderless = None;
        }
    }
}

fn nothing_of(member: Member) -> ReplicaReport {
    ReplicaReport {
        stall: None,
        group: member.group,
        replica: member.replica,
        role: Role::Learner,
        term: 0,
        applied: 0,
        bytes: 0,
        damage: None,
        configuration: None,
        leaderless: None,
    }
}

fn of_view(view: &View, status: Option<&Status>) -> ReplicaReport {
    let member = view.member;
    let Some(status) = status else {
        // It was opened, and has not begun yet, or takes no part any more.
        return ReplicaReport {
            applied: view.applied(),
            damage: view.standing().damage,
            stall: view.stall(),
            ..nothing_of(member)
        };
    };
    // Of who goes on alone no entry says yet who the members are, and a crash would bring the
    // others back.
    let is_sound = status.damage.is_none() && !status.is_going_alone;
    // Whoever was elected by a vote of which the disk was lost on the way leads, and nobody can
    // write to its group.
    let leads = status.is_established && is_sound;
    let is_leaderless = status.leader.is_none() && is_sound;
    let role = match leads {
        true => Role::Leader,
        false if status.configuration.votes(member.replica) => Role::Follower,
        false => Role::Learner,
    };
    ReplicaReport {
        role,
        term: status.term,
        applied: view.applied(),
        // The engine's guess reads no file; without one the balancer counts replicas alone.
        bytes: view.keyspace.approximate_size::<&[u8]>(..).unwrap_or(0),
        damage: status.damage.map(str::to_owned),
        stall: view.stall(),
        configuration: leads.then(|| status.configuration.clone()),
        leaderless: is_leaderless.then(|| Leaderless {
            last_term: status.last_term,
            last: status.last,
            configuration: status.configuration.clone(),
        }),
        ..nothing_of(member)
    }
}

#[cfg(test)]
mod tests;
