//! A small cluster for tests: commands, reports, and groups that do at once what they are told.

use std::collections::BTreeMap;

use esker_raft::{ChangeStep, Configuration, GroupId, NodeId, ReplicaId};
use esker_rpc::message::meta::{MetaAnswer, MetaCall};

use crate::meta::admin::{Decision, Memory, answer, answered};
use crate::meta::balance::due;
use crate::meta::command::{Command, Deed, NewNode, NewTable};
use crate::meta::directive::Directive;
use crate::meta::epoch::Epoch;
use crate::meta::ids::{ClusterId, PartitionId, TableId};
use crate::meta::live::Live;
use crate::meta::outcome::{Cause, Outcome};
use crate::meta::plan::directives;
use crate::meta::repair::repairs;
use crate::meta::report::{ReplicaReport, Report, Role};
use crate::meta::rows::Addresses;
use crate::meta::state::State;

/// When all of it happens: milliseconds since 1970.
pub const UNIX_MS: u64 = 1_700_000_000_000;

/// A state, its rows as a keyspace has them, and what its nodes have.
pub struct Trial {
    pub state: State,
    pub kept: BTreeMap<Vec<u8>, Vec<u8>>,
    pub entries: Vec<Vec<u8>>,
    pub live: Live,
    pub reports: BTreeMap<NodeId, Report>,
}

/// Where node `number` is reached.
pub fn addresses(number: u64) -> Addresses {
    let port = 34_000 + u16::try_from(number).expect("few nodes");
    let at = |ip: [u8; 4]| std::net::SocketAddrV4::new(ip.into(), port);
    Addresses {
        client: at([127, 0, 0, 1]),
        meta: Some(at([127, 0, 0, 2])),
        peer: at([127, 0, 0, 3]).into(),
    }
}

pub fn new_node(number: u64, label: &str) -> NewNode {
    NewNode {
        nonce: 900 + number,
        addresses: addresses(number),
        label: label.to_owned(),
    }
}

pub fn new_table(name: &str, partition_count: u32, replica_count: u32) -> NewTable {
    NewTable {
        name: name.to_owned(),
        partition_count,
        replica_count,
        kind: "pegasus".to_owned(),
        envs: BTreeMap::new(),
        or_same: false,
        candidates: (1..=9).map(NodeId).collect(),
    }
}

pub fn group(table: u32, index: u32) -> GroupId {
    let table = TableId(table);
    PartitionId { table, index }.group()
}

impl Trial {
    /// A cluster of `nodes` nodes that has begun; all of them have reported.
    pub fn new(nodes: u64) -> Trial {
        let mut trial = Trial {
            state: State::default(),
            kept: BTreeMap::new(),
            entries: Vec::new(),
            live: Live::new(),
            reports: BTreeMap::new(),
        };
        let (cluster, name) = (ClusterId(77), "trial".to_owned());
        let node = new_node(1, "");
        trial.done(Deed::Begin {
            cluster,
            name,
            node,
        });
        trial.reports.insert(NodeId(1), report(1));
        let first = Configuration::first(1, &[(ReplicaId(1), NodeId(1))]);
        trial.put(NodeId(1), GroupId(0), ReplicaId(1), Some(first));
        for number in 2..=nodes {
            trial.done(Deed::RegisterNode {
                node: new_node(number, ""),
            });
            trial.reports.insert(NodeId(number), report(number));
        }
        trial.hear();
        trial
    }

    /// Applies a command as an entry, and holds its rows against the state.
    pub fn apply(&mut self, deed: Deed) -> Outcome {
        let unix_ms = UNIX_MS;
        self.apply_command(&Command { unix_ms, deed })
    }

    pub fn apply_command(&mut self, command: &Command) -> Outcome {
        let entry = command.encode();
        let before = self.state.clone();
        let applied = self.state.apply(&entry).expect("a known layout");
        let outcome = Outcome::decode(&applied.answer).expect("an outcome");
        if let Outcome::Refused { .. } = outcome {
            assert_eq!(
                (&self.state, applied.rows.len()),
                (&before, 0),
                "{command:?}"
            );
        }
        for row in applied.rows {
            match row.value {
                Some(value) => self.kept.insert(row.key, value),
                None => self.kept.remove(&row.key),
            };
        }
        assert!(
            self.kept.clone().into_iter().eq(self.state.rows()),
            "{command:?}"
        );
        self.entries.push(entry);
        outcome
    }

    /// What the leader answers to a call, which is done.
    pub fn ask(&mut self, call: &MetaCall) -> MetaAnswer {
        match answer(&self.state, &self.live, call, UNIX_MS) {
            Decision::Answer(answer) => answer,
            Decision::Propose(command) => {
                let outcome = self.apply_command(&command);
                answered(&self.state, call, &outcome)
            }
            Decision::Remember(memory, answer) => {
                match memory {
                    Memory::Lead(group, to) => self.live.hand_over(group, to),
                    Memory::Balance => self.live.ask_balance(true),
                }
                answer
            }
        }
    }

    /// Applies what must succeed.
    pub fn done(&mut self, deed: Deed) -> Outcome {
        let outcome = self.apply(deed.clone());
        let is_refused = matches!(outcome, Outcome::Refused { .. });
        assert!(!is_refused, "{deed:?}: {outcome:?}");
        outcome
    }

    /// Applies what must be refused, and says why it was.
    pub fn refused(&mut self, deed: Deed) -> Cause {
        match self.apply(deed.clone()) {
            Outcome::Refused { refusal } => refusal.cause,
            done => panic!("{deed:?}: {done:?}"),
        }
    }

    /// Creates a table that is open.
    pub fn table(&mut self, new: NewTable) -> TableId {
        let Outcome::Table { table } = self.done(Deed::CreateTable { table: new }) else {
            panic!("a table");
        };
        self.rounds(3);
        table
    }

    /// The leader hears every node.
    pub fn hear(&mut self) {
        self.live.pass(1000);
        for report in self.reports.values() {
            self.live.hear(&self.state, report);
        }
    }

    /// The same, each second of so many.
    pub fn seconds(&mut self, count: usize) {
        (0..count).for_each(|_| self.hear());
    }

    /// Reports, directives that are done at once, and repairs, so many times. Returns how many
    /// directives and commands there were in the last one.
    pub fn rounds(&mut self, count: usize) -> usize {
        self.some_rounds(count, |state, live| repairs(state, live, UNIX_MS))
    }

    /// The same with all that is due, balance included.
    pub fn even_out(&mut self, count: usize) -> usize {
        self.some_rounds(count, |state, live| due(state, live, UNIX_MS))
    }

    fn some_rounds(
        &mut self,
        count: usize,
        due: impl Fn(&State, &mut Live) -> Vec<Command>,
    ) -> usize {
        let mut work = 0;
        for _ in 0..count {
            self.hear();
            let mut told = Vec::new();
            for (node, report) in &self.reports {
                let directives = directives(&self.state, &self.live, report);
                told.extend(directives.into_iter().map(|directive| (*node, directive)));
            }
            let commands = due(&self.state, &mut self.live);
            work = told.len() + commands.len();
            for (node, directive) in told {
                self.obey(node, directive);
            }
            for command in commands {
                self.apply_command(&command);
            }
        }
        work
    }

    fn obey(&mut self, node: NodeId, directive: Directive) {
        let report = self.reports.get_mut(&node).expect("a node that reports");
        match directive {
            Directive::Tables { revision, .. } => report.tables_revision = revision,
            Directive::Nodes { revision, .. } => report.nodes_revision = revision,
            Directive::Create {
                group,
                replica,
                first,
            } => {
                let leads = first.first().is_some_and(|voter| voter.0 == replica);
                let members = leads.then(|| Configuration::first(1, &first));
                self.put(node, group, replica, members);
                let applied = u64::from(!first.is_empty());
                self.replica(node, group).expect("it was put").applied = applied;
            }
            Directive::Destroy { group, replica, .. } => {
                let is_it = |one: &ReplicaReport| (one.group, one.replica) == (group, replica);
                report.replicas.retain(|one| !is_it(one));
            }
            Directive::Change {
                group,
                version,
                change,
            } => {
                let leader = self.replica(node, group).expect("it leads");
                let members = leader.configuration.as_mut().expect("it leads");
                assert_eq!(members.version, version);
                members.version += 1;
                for step in change.steps {
                    follow(members, step);
                }
                let nodes: Vec<NodeId> = members.nodes.values().copied().collect();
                for node in nodes {
                    // An image comes at once.
                    if let Some(replica) = self.replica(node, group) {
                        replica.applied = version + 1;
                    }
                }
            }
            Directive::Transfer { group, to } => {
                let leader = self.replica(node, group).expect("it leads");
                let members = leader.configuration.take().expect("it leads");
                (leader.role, leader.term) = (Role::Follower, leader.term + 1);
                let (term, heir) = (leader.term, members.nodes[&to]);
                let heir = self.replica(heir, group).expect("it is there");
                (heir.role, heir.term, heir.configuration) = (Role::Leader, term, Some(members));
            }
            Directive::Discard { group, replica } => {
                let is_it = |one: &ReplicaReport| (one.group, one.replica) == (group, replica);
                report.replicas.retain(|one| !is_it(one) || one.applied > 0);
            }
            Directive::Free { .. } | Directive::Recover { .. } | Directive::Fence { .. } => {
                panic!("no test of this kind is about that")
            }
            Directive::Stop { why } => panic!("{node:?} must stop: {why}"),
        }
    }

    /// The node falls silent, and whoever it led is led by another.
    pub fn silence(&mut self, node: u64) {
        let gone = self.reports.remove(&NodeId(node));
        for one in gone.expect("a node that reports").replicas {
            let Some(members) = one.configuration else {
                continue;
            };
            let mut nodes = members.nodes.values().copied();
            let Some(heir) = nodes.find(|at| self.reports.contains_key(at)) else {
                continue;
            };
            let heir = self.replica(heir, one.group).expect("it is there");
            heir.role = Role::Leader;
            (heir.term, heir.configuration) = (one.term + 1, Some(members));
        }
    }

    /// The replica of a group on a node.
    pub fn replica(&mut self, node: NodeId, group: GroupId) -> Option<&mut ReplicaReport> {
        let report = self.reports.get_mut(&node)?;
        report.replicas.iter_mut().find(|one| one.group == group)
    }

    /// Puts a replica on a node; it leads if it has members.
    pub fn put(
        &mut self,
        node: NodeId,
        group: GroupId,
        replica: ReplicaId,
        members: Option<Configuration>,
    ) {
        let report = self.reports.get_mut(&node).expect("a node that reports");
        report.replicas.push(ReplicaReport {
            stall: None,
            leaderless: None,
            group,
            replica,
            role: match members {
                Some(_) => Role::Leader,
                None => Role::Follower,
            },
            term: 5,
            applied: 1,
            bytes: 100,
            damage: None,
            configuration: members,
        });
    }

    /// The members of a group, as its leader has them.
    pub fn members(&self, group: GroupId) -> Configuration {
        let replicas = self.reports.values().flat_map(|report| &report.replicas);
        let mut leaders = replicas.filter(|one| one.group == group);
        let leader = leaders.find_map(|one| one.configuration.clone());
        leader.expect("a leader")
    }
}

/// What a group makes of a step.
fn follow(members: &mut Configuration, step: ChangeStep) {
    match step {
        ChangeStep::AddLearner(replica, node) => {
            assert!(
                replica.0 > members.replica_max && !members.nodes.values().any(|at| *at == node)
            );
            members.replica_max = replica.0;
            members.learners.insert(replica);
            members.nodes.insert(replica, node);
        }
        ChangeStep::Promote(replica) => {
            assert!(members.learners.remove(&replica));
            members.voters.insert(replica);
        }
        ChangeStep::Demote(_) | ChangeStep::Alone(..) => panic!("nobody is told so"),
        ChangeStep::Remove(replica) => {
            assert!(members.nodes.remove(&replica).is_some());
            members.voters.remove(&replica);
            members.learners.remove(&replica);
        }
    }
}

/// A meta service that went on with replica 1 on node 1.
pub fn epoch(number: u64) -> Epoch {
    Epoch {
        number,
        drawn: 3,
        base: ReplicaId(1),
        node: NodeId(1),
        last: ReplicaId(5000),
    }
}

/// A report of a node that has nothing.
pub fn report(number: u64) -> Report {
    Report {
        cluster: ClusterId(77),
        node: NodeId(number),
        incarnation: 1,
        addresses: addresses(number),
        label: String::new(),
        tables_revision: 0,
        nodes_revision: 0,
        space_total_bytes: 1000,
        space_free_bytes: 900,
        replicas: Vec::new(),
        lost: Vec::new(),
        asks: 0,
        unix_ms: 0,
    }
}
