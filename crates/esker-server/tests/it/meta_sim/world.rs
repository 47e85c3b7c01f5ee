//! Nodes, what is on their disks, and the log of the meta group.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};
use esker_server::meta::command::{Command, Deed, NewNode};
use esker_server::meta::directive::Directive;
use esker_server::meta::ids::{ClusterId, META, PartitionId};
use esker_server::meta::outcome::Outcome;
use esker_server::meta::report::{ReplicaReport, Report, Role};
use esker_server::meta::rows::Addresses;
use esker_server::meta::state::State;

use super::group::{Copies, Copy, Group};

/// What a node is and has. A wiped one begins again as another node.
#[derive(Clone, Debug)]
pub struct Node {
    pub id: NodeId,
    pub port: u16,
    pub label: String,
    pub incarnation: u64,
    pub is_up: bool,
    /// It hears and says nothing, and its replicas go on.
    pub is_cut_off: bool,
    /// Its disk has no room for another replica.
    pub is_full: bool,
    pub disk: BTreeMap<GroupId, Copy>,
    pub lost: Vec<(GroupId, ReplicaId)>,
    pub destroyed: BTreeMap<GroupId, ReplicaId>,
    pub tables_revision: u64,
    pub nodes_revision: u64,
}

/// A bug that is planted to see that the run finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A replica that its node has lost is made again.
    MakesLostAgain,
    /// A replica that is not wished is destroyed at once.
    DestroysUnwished,
    /// The old one leaves before the new one votes.
    RemovesFirst,
    /// Nodes that are to leave get replicas.
    FillsDraining,
    /// Dropped tables are never forgotten.
    NeverForgets,
    /// A lost replica is never replaced.
    LeavesLost,
    /// A table opens before its partitions have leaders.
    OpensEarly,
    /// A table that cannot be made where it was placed stays there.
    MakesNothingAnew,
    /// Nobody notes which first voters were made.
    SkipsMade,
    /// The balancer moves what is even already.
    PingPong,
    /// What the balancer moves leaves before the new one votes.
    MovesByRemoving,
    /// The balancer wishes a replica away, and none in its place.
    DropsWithoutAdding,
    /// The balancer puts two replicas on a host.
    IgnoresLabels,
    /// The balancer moves replicas of a group that is under change.
    MovesUnderChange,
    /// The balancer does nothing.
    NeverEvens,
    /// A node that is to leave is let go before it is empty.
    RemovesInUse,
}

/// All that is true.
pub struct World {
    pub state: State,
    /// The same, of another replica of the meta group, read anew now and then.
    pub twin: State,
    pub unix_ms: u64,
    pub nodes: BTreeMap<NodeId, Node>,
    pub groups: BTreeMap<GroupId, Group>,
    /// The fewest replicas that were wished of a group in the last seconds, and until when that is
    /// remembered: who was told before is not wrong.
    fewest: BTreeMap<GroupId, (usize, u64)>,
    /// Replicas that ever had a vote or an image, and since when.
    pub made: BTreeMap<(GroupId, ReplicaId), u64>,
    /// Replicas that were ever wished.
    pub given: BTreeMap<GroupId, BTreeSet<ReplicaId>>,
    pub bug: Option<Bug>,
    /// Nodes whose number is gone.
    pub removed: BTreeSet<NodeId>,
    next_nonce: u64,
}

fn addresses(port: u16) -> Addresses {
    let at = |ip: [u8; 4]| std::net::SocketAddrV4::new(ip.into(), port);
    Addresses {
        client: at([127, 0, 0, 1]),
        meta: Some(at([127, 0, 0, 2])),
        peer: at([127, 0, 0, 3]).into(),
    }
}

impl World {
    /// A cluster that has begun with one node.
    pub fn new(bug: Option<Bug>) -> World {
        let mut world = World {
            state: State::default(),
            twin: State::default(),
            unix_ms: 1_700_000_000_000,
            nodes: BTreeMap::new(),
            groups: BTreeMap::new(),
            fewest: BTreeMap::new(),
            made: BTreeMap::new(),
            given: BTreeMap::new(),
            bug,
            removed: BTreeSet::new(),
            next_nonce: 0,
        };
        let node = world.new_node("");
        let deed = Deed::Begin {
            cluster: ClusterId(9),
            name: "sim".into(),
            node: node.clone(),
        };
        let Outcome::Node { node: id } = world.commit(deed) else {
            panic!("a node")
        };
        world.nodes.insert(id, Node::new(id, &node));
        let first = [(ReplicaId(1), id)];
        world.groups.insert(META, Group::new(&first));
        world.given.insert(META, BTreeSet::from([ReplicaId(1)]));
        world.put(
            id,
            META,
            Copy {
                replica: ReplicaId(1),
                writes: Some(0),
                is_damaged: false,
            },
        );
        world
    }

    fn new_node(&mut self, label: &str) -> NewNode {
        self.next_nonce += 1;
        let port = 20_000 + u16::try_from(self.next_nonce).expect("few nodes");
        NewNode {
            nonce: self.next_nonce,
            addresses: addresses(port),
            label: label.to_owned(),
        }
    }

    /// A new node joins.
    pub fn join(&mut self, label: &str) -> NodeId {
        let node = self.new_node(label);
        self.register(node)
    }

    /// A new node joins where another one was, whose directory is gone.
    pub fn join_at(&mut self, label: &str, port: u16) -> NodeId {
        let node = NewNode {
            addresses: addresses(port),
            ..self.new_node(label)
        };
        self.register(node)
    }

    fn register(&mut self, node: NewNode) -> NodeId {
        let deed = Deed::RegisterNode { node: node.clone() };
        let Outcome::Node { node: id } = self.commit(deed) else {
            panic!("a node")
        };
        let is_new = !self.nodes.contains_key(&id) && !self.removed.contains(&id);
        assert!(is_new, "a number was given twice");
        self.nodes.insert(id, Node::new(id, &node));
        id
    }

    /// Applies a command on both replicas of the meta group.
    pub fn commit(&mut self, deed: Deed) -> Outcome {
        let unix_ms = self.unix_ms;
        self.commit_command(&Command { unix_ms, deed })
    }

    pub fn commit_command(&mut self, command: &Command) -> Outcome {
        let entry = command.encode();
        let one = self.state.apply(&entry).expect("a known layout");
        let other = self.twin.apply(&entry).expect("a known layout");
        assert_eq!(one, other);
        let outcome = Outcome::decode(&one.answer).expect("an outcome");
        if let (Deed::RemoveNode { node }, Outcome::Done) = (&command.deed, &outcome) {
            self.check_removed(*node);
        }
        assert!(
            self.removed
                .iter()
                .all(|node| !self.state.nodes.contains_key(node))
        );
        if let Deed::Wish { wish } = &command.deed
            && !matches!(outcome, Outcome::Refused { .. })
        {
            self.check_wish(wish.group);
        }
        let groups: Vec<GroupId> = match &outcome {
            Outcome::Table { table } => self.state.groups(*table).map(|one| one.0).collect(),
            _ => Vec::new(),
        };
        for group in groups {
            self.check_wish(group);
        }
        outcome
    }

    /// No group counts on a node whose number goes.
    fn check_removed(&mut self, node: NodeId) {
        self.removed.insert(node);
        for (id, group) in &self.groups {
            let votes = |replica: &ReplicaId| group.members.nodes[replica] == node;
            let is_kept = self.state.partitions.contains_key(id);
            let counts = group.members.voters.iter().any(votes);
            assert!(!is_kept || !counts, "{id} counts on {node:?}: {group:?}");
        }
    }

    /// No two replicas of a wish share a host, and each id was given for one node.
    fn check_wish(&mut self, group: GroupId) {
        let row = &self.state.partitions[&group];
        let hosts: BTreeSet<_> = row
            .wished
            .values()
            .map(|node| self.state.host(*node))
            .collect();
        assert_eq!(hosts.len(), row.wished.len(), "two on a host: {row:?}");
        assert!(row.wished.keys().all(|id| id.0 <= row.replica_max));
        let given = self.given.entry(group).or_default();
        let most = given.last().copied();
        let new = row.wished.keys().filter(|id| !given.contains(id)).copied();
        let new: Vec<ReplicaId> = new.collect();
        assert!(
            new.iter().all(|id| most.is_none_or(|most| *id > most)),
            "an id came again"
        );
        given.extend(new);
    }

    /// Notes how many are wished of each group, for who is told late.
    fn note_wishes(&mut self) {
        for (group, row) in &self.state.partitions {
            let now = (row.wished.len(), self.unix_ms + 10_000);
            let fewest = self.fewest.entry(*group).or_insert(now);
            if fewest.0 >= now.0 || fewest.1 < self.unix_ms {
                *fewest = now;
            }
        }
    }

    fn fewest_wished(&self, group: GroupId) -> usize {
        let wished = self
            .state
            .partitions
            .get(&group)
            .map_or(0, |row| row.wished.len());
        let before = self.fewest.get(&group).map_or(wished, |fewest| fewest.0);
        wished.min(before)
    }

    /// No sound voter leaves while there are no more of them than are wished.
    fn check_change(&self, group: GroupId, before: &Configuration, after: &Configuration) {
        let wished = self.fewest_wished(group);
        if after.voters.len() >= before.voters.len().min(wished) {
            return;
        }
        let is_sound = |replica: &&ReplicaId| {
            let copy = self
                .nodes
                .get(&before.nodes[*replica])
                .and_then(|at| at.disk.get(&group));
            copy.is_some_and(|copy| copy.replica == **replica && !copy.is_damaged)
        };
        let left = before.voters.difference(&after.voters).find(is_sound);
        let row = self.state.partitions.get(&group);
        assert!(
            left.is_none(),
            "{group}: a copy too few: {before:?} to {after:?}, {row:?}"
        );
    }

    /// Puts a replica on a disk.
    ///
    /// # Panics
    ///
    /// If that replica was ever on a disk: what it had promised is forgotten.
    pub fn put(&mut self, node: NodeId, group: GroupId, copy: Copy) {
        let is_known = self.made.contains_key(&(group, copy.replica));
        assert!(!is_known, "{group} {}: it was made before", copy.replica);
        if copy.writes.is_some() {
            self.made.insert((group, copy.replica), self.unix_ms);
        }
        let node = self.nodes.get_mut(&node).expect("a node");
        node.disk.insert(group, copy);
    }

    /// The copies of a group that take part now.
    pub fn copies<'a>(nodes: &'a mut BTreeMap<NodeId, Node>, group: GroupId) -> Copies<'a> {
        let up = nodes.iter_mut().filter(|node| node.1.is_up);
        let copies = up.filter_map(|(id, node)| Some((*id, node.disk.get_mut(&group)?)));
        copies.filter(|copy| !copy.1.is_damaged).collect()
    }

    /// A second passes for every group.
    pub fn pass(&mut self, draw: u64) {
        self.unix_ms += 1000;
        self.note_wishes();
        for (id, group) in &mut self.groups {
            let mut copies = World::copies(&mut self.nodes, *id);
            group.live(&mut copies, draw ^ id.0);
            for copy in copies.values().filter(|copy| copy.writes.is_some()) {
                self.made.entry((*id, copy.replica)).or_insert(self.unix_ms);
            }
        }
    }

    /// Whether every group that could elect still can without that node.
    pub fn can_spare(&mut self, gone: NodeId) -> bool {
        let groups: Vec<GroupId> = self.groups.keys().copied().collect();
        groups.into_iter().all(|id| {
            let group = self.groups[&id].clone();
            let mut copies = World::copies(&mut self.nodes, id);
            let is_there = copies.remove(&gone).is_some();
            // With one write that only the others lack nothing would be left to elect.
            let full = |member: &ReplicaId| {
                let copy = group
                    .members
                    .nodes
                    .get(member)
                    .and_then(|node| copies.get(node));
                copy.is_some_and(|copy| copy.writes == Some(group.writes))
            };
            let has_full = group.writes == 0 || group.members.voters.iter().any(full);
            !is_there || (group.has_quorum(&copies) && has_full)
        })
    }

    /// What a node says of itself.
    pub fn report(&self, id: NodeId) -> Report {
        let node = &self.nodes[&id];
        let replicas = node.disk.iter().map(|(group, copy)| {
            let truth = self.groups.get(group);
            let leads = truth.is_some_and(|truth| {
                truth.leader == Some(copy.replica)
                    && truth.members.nodes.get(&copy.replica) == Some(&id)
                    && !copy.is_damaged
            });
            let votes = truth.is_some_and(|truth| truth.members.votes(copy.replica));
            ReplicaReport {
                stall: None,
                leaderless: None,
                group: *group,
                replica: copy.replica,
                role: match (leads, votes) {
                    (true, _) => Role::Leader,
                    (false, true) => Role::Follower,
                    (false, false) => Role::Learner,
                },
                term: truth.map_or(0, |truth| truth.term),
                applied: copy.writes.map_or(0, |writes| writes + 1),
                bytes: 100,
                damage: copy.is_damaged.then(|| "a flipped bit".to_owned()),
                configuration: truth.filter(|_| leads).map(|truth| truth.members.clone()),
            }
        });
        Report {
            cluster: ClusterId(9),
            node: id,
            incarnation: node.incarnation,
            addresses: addresses(node.port),
            label: node.label.clone(),
            tables_revision: node.tables_revision,
            nodes_revision: node.nodes_revision,
            space_total_bytes: 1000,
            space_free_bytes: if node.is_full { 10 } else { 500 },
            replicas: replicas.collect(),
            lost: node.lost.clone(),
            asks: 0,
            unix_ms: 0,
        }
    }

    /// A node does what it is told.
    pub fn obey(&mut self, id: NodeId, directive: Directive) {
        match directive {
            Directive::Tables { revision, .. } => self.node(id).tables_revision = revision,
            Directive::Nodes { revision, .. } => self.node(id).nodes_revision = revision,
            Directive::Create {
                group,
                replica,
                first,
            } => self.create(id, group, replica, &first),
            Directive::Destroy {
                group,
                replica,
                without,
            } => {
                self.destroy(id, group, replica, without.as_ref());
            }
            Directive::Change {
                group,
                version,
                change,
            } => {
                let Some(truth) = self.groups.get_mut(&group) else {
                    return;
                };
                let leads = truth
                    .leader
                    .and_then(|leader| truth.members.nodes.get(&leader));
                if leads == Some(&id) {
                    let before = truth.members.clone();
                    let copies = World::copies(&mut self.nodes, group);
                    if truth.change(&change, version, &copies) {
                        let after = truth.members.clone();
                        self.check_change(group, &before, &after);
                    }
                }
            }
            Directive::Transfer { group, to } => {
                let Some(truth) = self.groups.get_mut(&group) else {
                    return;
                };
                let leads = truth
                    .leader
                    .and_then(|leader| truth.members.nodes.get(&leader));
                if leads == Some(&id) {
                    let copies = World::copies(&mut self.nodes, group);
                    truth.transfer(to, &copies);
                }
            }
            Directive::Discard { group, replica } => {
                let node = self.node(id);
                let copy = node.disk.get(&group);
                if copy.is_some_and(|copy| copy.replica == replica && copy.writes.is_none()) {
                    node.disk.remove(&group);
                    node.destroyed.insert(group, replica);
                }
            }
            Directive::Free { .. } | Directive::Recover { .. } | Directive::Fence { .. } => {
                panic!("{id:?} is told {directive:?}, and nobody has accepted a loss")
            }
            Directive::Stop { .. } => self.node(id).is_up = false,
        }
    }

    fn node(&mut self, id: NodeId) -> &mut Node {
        self.nodes.get_mut(&id).expect("a node")
    }

    fn create(
        &mut self,
        id: NodeId,
        group: GroupId,
        replica: ReplicaId,
        first: &[(ReplicaId, NodeId)],
    ) {
        let node = self.node(id);
        if node.disk.contains_key(&group) || node.is_full {
            return;
        }
        if node
            .destroyed
            .get(&group)
            .is_some_and(|gone| *gone >= replica)
        {
            // It says so, as often as it is told to make it.
            if !node.lost.contains(&(group, replica)) {
                node.lost.push((group, replica));
            }
            return;
        }
        let is_lost = node.lost.contains(&(group, replica));
        if is_lost && self.bug != Some(Bug::MakesLostAgain) {
            panic!("{group} {replica} is to be made, which its node has lost");
        }
        let writes = match first.is_empty() {
            true => None,
            false => {
                let known = self
                    .groups
                    .entry(group)
                    .or_insert_with(|| Group::new(first));
                let begun = Configuration::first(1, first);
                let is_same = known.members.version > 1 || known.members == begun;
                assert!(is_same, "{group} begins with others: {first:?}");
                Some(0)
            }
        };
        self.put(
            id,
            group,
            Copy {
                replica,
                writes,
                is_damaged: false,
            },
        );
    }

    fn destroy(
        &mut self,
        id: NodeId,
        group: GroupId,
        replica: ReplicaId,
        without: Option<&Configuration>,
    ) {
        let is_here = self.nodes[&id]
            .disk
            .get(&group)
            .is_some_and(|one| one.replica == replica);
        if !is_here {
            return;
        }
        match without {
            Some(members) => assert!(members.has_left(replica), "{group} {replica} is a member"),
            None => {
                let table = PartitionId::of(group).table;
                assert!(
                    !self.state.tables.contains_key(&table),
                    "{group}: its table is there"
                );
            }
        }
        let truth = &self.groups[&group];
        let is_member = without.is_some() && truth.members.contains(replica);
        assert!(!is_member, "{group} {replica} is a member and destroyed");
        let node = self.node(id);
        node.disk.remove(&group);
        node.destroyed.insert(group, replica);
    }
}

impl Node {
    fn new(id: NodeId, new: &NewNode) -> Node {
        Node {
            id,
            port: new.addresses.client.port(),
            label: new.label.clone(),
            incarnation: 1,
            is_up: true,
            is_cut_off: false,
            is_full: false,
            disk: BTreeMap::new(),
            lost: Vec::new(),
            destroyed: BTreeMap::new(),
            tables_revision: 0,
            nodes_revision: 0,
        }
    }
}
