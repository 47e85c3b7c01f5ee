//! One seed: what happens, what the leader does about it, and what must be true at the end.

use std::collections::BTreeSet;

use esker_raft::{Change, ChangeStep, GroupId, NodeId};
use esker_rpc::message::meta::{MetaAnswer, MetaCall, QueryConfigRequest};
use esker_server::meta::admin::{Decision, answer};
use esker_server::meta::balance::due;
use esker_server::meta::command::{Command, Deed, NewTable, Wish};
use esker_server::meta::directive::{Directive, decode_directives, encode_directives};
use esker_server::meta::ids::{META, PartitionId, TableId};
use esker_server::meta::live::Live;
use esker_server::meta::outcome::Outcome;
use esker_server::meta::plan::directives;
use esker_server::meta::repair::repairs;
use esker_server::meta::report::Report;
use esker_server::meta::rows::{Level, Stay, TableStatus};
use esker_server::meta::state::State;
use esker_server::meta::target::target;

use super::dice::Dice;
use super::even;
use super::world::{Bug, World};

/// Hosts that a cluster has at the least: as many as replicas, and one to move to.
const HOSTS_MIN: usize = 4;

/// Seconds until a table is open of which disks are full: ten until these count as away, and some
/// that reports and directives take of which one in eight is lost.
const FULL_TICKS_MAX: usize = 60;

/// Longer than a deposed leader of the meta group goes on, and than a message is on its way.
const LATE_MS: u64 = 20_000;

/// One seed's run.
pub struct Run {
    world: World,
    dice: Dice,
    live: Live,
    /// A leader of the meta group that was deposed and does not know, and for how many seconds.
    stale: Option<(State, Live, usize)>,
    /// Directives on their way, and commands that may come twice.
    late: Vec<(NodeId, Vec<Directive>)>,
    old: Vec<Command>,
    tables: usize,
    wipes: usize,
    /// Groups of which the balancer has moved replicas.
    moved: BTreeSet<GroupId>,
    pub commands: usize,
    pub moves: usize,
}

impl Run {
    /// A cluster of a few nodes, some of which share hosts.
    pub fn new(seed: u64, bug: Option<Bug>) -> Run {
        let mut run = Run {
            world: World::new(bug),
            dice: Dice::new(seed),
            live: Live::new(),
            stale: None,
            late: Vec::new(),
            old: Vec::new(),
            tables: 0,
            wipes: 0,
            moved: BTreeSet::new(),
            commands: 0,
            moves: 0,
        };
        for number in 1..4 + run.dice.below(3) {
            let label = if number >= 4 { "shared" } else { "" };
            run.world.join(label);
        }
        run
    }

    /// The whole of it.
    pub fn go(&mut self, ticks: usize) {
        for _ in 0..ticks {
            if self.dice.one_in(2) {
                self.happen();
            }
            self.tick();
        }
        self.heal();
        // The longest way: a dead node is replaced, then a drained one is emptied.
        for _ in 0..3 {
            self.wait(600);
            for _ in 0..60 {
                self.tick();
            }
        }
        self.wait(0);
        self.check();
    }

    /// A table is made on nodes of which some disks are full by then, for good: it opens where
    /// there is room. Whether there were any such disks.
    pub fn make_beside_full_disks(&mut self) -> bool {
        for _ in 0..20 {
            self.tick();
        }
        self.create();
        let mut first: Vec<NodeId> = Vec::new();
        for (_, row) in self.world.state.groups(TableId(1)) {
            first.extend(row.first.values());
        }
        let mut is_any_full = false;
        for _ in 0..2 {
            let replicas = self.world.state.tables[&TableId(1)].replica_count;
            let replicas = usize::try_from(replicas).expect("few");
            let full = self.dice.pick(&first).expect("a first voter");
            let has_room = |node: &super::world::Node| !node.is_full && node.id != full;
            let with_room = self.nodes(has_room);
            let hosts: BTreeSet<_> = with_room
                .iter()
                .map(|node| self.world.state.host(*node))
                .collect();
            if hosts.len() >= replicas {
                self.world.nodes.get_mut(&full).expect("a node").is_full = true;
                is_any_full = true;
            }
        }
        for _ in 0..FULL_TICKS_MAX {
            self.tick();
        }
        let tables = &self.world.state.tables;
        let is_open = tables.values().all(|row| row.status == TableStatus::Open);
        assert!(is_open, "a table waits for room: {tables:?}");
        is_any_full
    }

    fn nodes(&self, fits: impl Fn(&super::world::Node) -> bool) -> Vec<NodeId> {
        let nodes = self.world.nodes.values().filter(|node| fits(node));
        nodes.map(|node| node.id).collect()
    }

    /// A second: groups live, nodes report and do what they are told, and what is due is proposed.
    fn tick(&mut self) {
        let draw = self.dice.draw();
        self.world.pass(draw);
        self.live.pass(1000);
        for (node, told) in std::mem::take(&mut self.late) {
            self.tell(node, told);
        }
        for node in self.nodes(|node| node.is_up && !node.is_cut_off) {
            if !self.dice.one_in(8) {
                self.report(node);
            }
        }
        // It steps down once it has not heard a majority of the meta group for so long.
        if let Some((_, _, left)) = &mut self.stale {
            *left -= 1;
            if *left == 0 {
                self.stale = None;
            }
        }
        let repairs = repairs(&self.world.state, &self.live, self.world.unix_ms).len();
        let mut due = due(&self.world.state, &mut self.live, self.world.unix_ms);
        let balance = due.split_off(repairs);
        self.tamper_commands(&mut due);
        self.even_out(balance);
        if let Some(again) = self.old.pop()
            && self.dice.one_in(4)
        {
            due.push(again);
        }
        for command in due {
            assert_eq!(Command::decode(&command.encode()), Ok(command.clone()));
            if self.dice.one_in(8) {
                continue;
            }
            self.world.commit_command(&command);
            self.commands += 1;
            if let Deed::OpenTable { table } = command.deed {
                let mut groups = self.world.state.groups(table);
                assert!(groups.all(|group| self.world.groups.contains_key(&group.0)));
            }
            self.old.push(command);
        }
        self.old.truncate(8);
    }

    /// What the balancer has wished.
    fn even_out(&mut self, due: Vec<Command>) {
        let wishes = due.into_iter().map(|command| match command.deed {
            Deed::Wish { wish } => wish,
            other => panic!("{other:?} evens nothing out"),
        });
        let mut wishes: Vec<Wish> = wishes.collect();
        even::tamper_round(self.world.bug, &self.world, &self.live, &mut wishes);
        even::check_round(&self.world.state, &self.live, &wishes);
        for wish in wishes {
            if self.dice.one_in(8) {
                continue;
            }
            self.moves += 1;
            self.moved.insert(wish.group);
            even::check_outcome(&self.world.commit(Deed::Wish { wish }));
        }
    }

    fn report(&mut self, node: NodeId) {
        let report = self.world.report(node);
        let report = Report::decode(&report.encode()).expect("what was written");
        self.live.hear(&self.world.state, &report);
        let mut told = directives(&self.world.state, &self.live, &report);
        self.tamper_directives(&report, &mut told);
        self.send(node, told);
        if let Some((state, live, _)) = &mut self.stale {
            live.pass(100);
            live.hear(state, &report);
            let told = directives(state, live, &report);
            self.send(node, told);
        }
    }

    fn send(&mut self, node: NodeId, told: Vec<Directive>) {
        let told = decode_directives(&encode_directives(&told)).expect("what was written");
        match self.dice.below(8) {
            0 => {}
            1 | 2 => self.late.push((node, told)),
            _ => self.tell(node, told),
        }
    }

    fn tell(&mut self, node: NodeId, told: Vec<Directive>) {
        for directive in told {
            let is_there = self.world.nodes.get(&node).is_some_and(|node| node.is_up);
            if is_there {
                if let Directive::Stop { why } = &directive {
                    let is_gone = !self.world.state.nodes.contains_key(&node);
                    assert!(is_gone, "{node:?} is to stop: {why}");
                }
                self.world.obey(node, directive);
            }
        }
    }

    /// Nobody hears anybody for so many seconds of the leader's watch.
    fn wait(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.live.pass(1000);
        }
        self.world.unix_ms += seconds * 1000;
        for node in self.nodes(|node| node.is_up && !node.is_cut_off) {
            let report = self.world.report(node);
            self.live.hear(&self.world.state, &report);
        }
    }

    fn happen(&mut self) {
        match self.dice.below(25) {
            0 | 1 => self.crash(),
            2..=4 => self.start(),
            5 => self.cut_off(),
            6 => self.wipe(),
            7 | 8 => self.lose(),
            9 | 10 => self.drain(),
            11..=13 => self.create(),
            14 => self.drop_table(),
            15 => self.change_table(),
            16 => {
                let live = std::mem::take(&mut self.live);
                self.stale = Some((self.world.state.clone(), live, 5));
            }
            17 => {
                let levels = [Level::Frozen, Level::Steady, Level::Steady, Level::Lively];
                let level = levels[self.dice.below(4)];
                self.world.commit(Deed::SetLevel { level });
            }
            18 => self.wait(600),
            19 | 20 => self.live.ask_balance(true),
            21 => self.leave(),
            22 => self.move_one(),
            23 => self.fill(),
            _ => {
                let rows = self.world.state.rows();
                self.world.twin = State::load(rows).expect("rows of its own");
            }
        }
    }

    fn crash(&mut self) {
        let up = self.nodes(|node| node.is_up);
        if let Some(node) = self.dice.pick(&up)
            && self.world.can_spare(node)
        {
            self.world.nodes.get_mut(&node).expect("a node").is_up = false;
        }
    }

    fn start(&mut self) {
        let down = self.nodes(|node| !node.is_up);
        if let Some(node) = self.dice.pick(&down)
            && self.world.state.nodes.contains_key(&node)
        {
            let node = self.world.nodes.get_mut(&node).expect("a node");
            node.is_up = true;
            node.incarnation += 1;
        }
    }

    fn cut_off(&mut self) {
        let all = self.nodes(|_| true);
        if let Some(node) = self.dice.pick(&all) {
            let node = self.world.nodes.get_mut(&node).expect("a node");
            node.is_cut_off = !node.is_cut_off;
        }
    }

    /// A disk fills up, or there is room on it again.
    fn fill(&mut self) {
        let all = self.nodes(|_| true);
        if let Some(node) = self.dice.pick(&all) {
            let node = self.world.nodes.get_mut(&node).expect("a node");
            node.is_full = !node.is_full;
        }
    }

    /// A node loses all that it has, and with it who it was.
    fn wipe(&mut self) {
        let all = self.nodes(|_| true);
        if let Some(node) = self.dice.pick(&all)
            && self.wipes < 2
            && self.world.can_spare(node)
        {
            self.wipes += 1;
            let gone = self.world.nodes.remove(&node).expect("a node");
            match self.dice.one_in(2) {
                true => self.world.join(&gone.label),
                false => self.world.join_at(&gone.label, gone.port),
            };
        }
    }

    /// A node loses one replica, or finds it damaged.
    fn lose(&mut self) {
        let up = self.nodes(|node| node.is_up && !node.disk.is_empty());
        let Some(id) = self.dice.pick(&up) else {
            return;
        };
        if !self.world.can_spare(id) {
            return;
        }
        let is_damage = self.dice.one_in(2);
        let node = self.world.nodes.get_mut(&id).expect("a node");
        let groups: Vec<GroupId> = node.disk.keys().copied().collect();
        let Some(group) = self.dice.pick(&groups) else {
            return;
        };
        let copy = node.disk.get_mut(&group).expect("it is there");
        if is_damage {
            copy.is_damaged = true;
            return;
        }
        let replica = copy.replica;
        let row = self.world.state.partitions.get(&group);
        let is_noted = self.world.bug == Some(Bug::SkipsMade)
            || row.is_none_or(|row| !row.unmade.contains(&replica));
        let made_ms = self.world.made.get(&(group, replica));
        let is_old = made_ms.is_some_and(|made_ms| made_ms + LATE_MS < self.world.unix_ms);
        match self.dice.below(3) {
            // Without a trace. Of what was made just now nobody could know.
            0 if is_noted && is_old => {}
            // It says so once, and later it is just not there.
            1 => drop(node.destroyed.insert(group, replica)),
            _ => {
                node.destroyed.insert(group, replica);
                node.lost.push((group, replica));
            }
        }
        node.disk.remove(&group);
    }

    fn drain(&mut self) {
        let nodes: Vec<NodeId> = self.world.state.nodes.keys().copied().collect();
        let Some(node) = self.dice.pick(&nodes) else {
            return;
        };
        match self.dice.below(3) {
            0 => {
                let is_draining = self.hosts(Some(node)) >= HOSTS_MIN;
                self.world.commit(Deed::DrainNode { node, is_draining });
            }
            1 => {
                self.world.commit(Deed::DrainNode {
                    node,
                    is_draining: false,
                });
            }
            _ => {
                let is_enough = self.hosts(Some(node)) >= HOSTS_MIN
                    && self.live.needs(&self.world.state, node).is_none();
                if is_enough && self.world.commit(Deed::RemoveNode { node }) == Outcome::Done {
                    self.retire(node);
                }
            }
        }
    }

    /// Somebody lets go of a node: it is emptied first, or dead and made anew elsewhere.
    fn leave(&mut self) {
        let nodes: Vec<NodeId> = self.world.state.nodes.keys().copied().collect();
        if let Some(node) = self.dice.pick(&nodes)
            && self.hosts(Some(node)) >= HOSTS_MIN
        {
            self.world.commit(Deed::LeaveNode { node });
        }
    }

    /// Somebody moves a replica by hand.
    fn move_one(&mut self) {
        let groups: Vec<GroupId> = self.world.state.partitions.keys().copied().collect();
        let fit: Vec<NodeId> = self
            .live
            .alive(&self.world.state)
            .filter(|node| !self.world.state.nodes[node].is_draining())
            .collect();
        let (Some(group), Some(to)) = (self.dice.pick(&groups), self.dice.pick(&fit)) else {
            return;
        };
        let row = &self.world.state.partitions[&group];
        let replicas: Vec<_> = row.wished.keys().copied().collect();
        let may_move = self.live.led_group(group).is_some()
            && even::is_at_rest(&self.world.state, &self.live, group);
        if let Some(replica) = self.dice.pick(&replicas).filter(|_| may_move)
            && even::movable(&self.world.state, row, replica, to)
        {
            let wish = Wish {
                group,
                version: row.version,
                add: vec![to],
                adopt: Vec::new(),
                drop: vec![replica],
            };
            self.world.commit(Deed::Wish { wish });
        }
    }

    /// What a removed node has is of no use to anybody: it is told to stop, or never asks.
    fn retire(&mut self, node: NodeId) {
        if self.dice.one_in(2) && self.world.can_spare(node) {
            self.world.nodes.remove(&node);
        }
    }

    /// Hosts that take replicas, without `but`.
    fn hosts(&self, but: Option<NodeId>) -> usize {
        let nodes = self.world.state.nodes.iter();
        let stay = nodes.filter(|(id, row)| {
            let is_there = self.world.nodes.contains_key(id);
            is_there && !row.is_draining() && Some(**id) != but
        });
        stay.map(|(id, _)| self.world.state.host(*id))
            .collect::<BTreeSet<_>>()
            .len()
    }

    fn create(&mut self) {
        if self.tables == 6 {
            return;
        }
        self.tables += 1;
        let table = NewTable {
            name: format!("table{}", self.tables),
            partition_count: 1 << self.dice.below(3),
            replica_count: u32::try_from(1 + self.dice.below(3)).expect("few"),
            kind: "pegasus".into(),
            envs: [("default_ttl".to_owned(), "60".to_owned())].into(),
            or_same: false,
            candidates: self.live.alive(&self.world.state).collect(),
        };
        self.world.commit(Deed::CreateTable { table });
    }

    fn a_table(&mut self) -> Option<(TableId, String)> {
        let tables: Vec<TableId> = self.world.state.tables.keys().copied().collect();
        let table = self.dice.pick(&tables)?;
        Some((table, self.world.state.tables[&table].name.clone()))
    }

    fn drop_table(&mut self) {
        let Some((table, name)) = self.a_table() else {
            return;
        };
        if self.dice.one_in(2) {
            self.world.commit(Deed::RecallTable {
                table,
                name: String::new(),
            });
        } else {
            let reserve_s = u64::try_from(self.dice.below(900)).expect("few");
            self.world.commit(Deed::DropTable {
                name,
                reserve_s,
                or_absent: false,
            });
        }
    }

    fn change_table(&mut self) {
        let Some((_, name)) = self.a_table() else {
            return;
        };
        let count = u32::try_from(1 + self.dice.below(3)).expect("few");
        self.world.commit(match self.dice.one_in(2) {
            true => Deed::SetReplicaCount {
                name,
                count,
                hosts: 3,
            },
            false => Deed::RenameTable {
                old: name.clone(),
                new: format!("{name}x"),
            },
        });
    }

    /// Everybody that is left comes back, and has where to go.
    fn heal(&mut self) {
        self.stale = None;
        self.world.commit(Deed::SetLevel {
            level: Level::Lively,
        });
        for node in self.nodes(|_| true) {
            let is_known = self.world.state.nodes.contains_key(&node);
            let node = self.world.nodes.get_mut(&node).expect("a node");
            (node.is_cut_off, node.is_full) = (false, false);
            if is_known && !node.is_up {
                node.is_up = true;
                node.incarnation += 1;
            }
        }
        let draining = self
            .world
            .state
            .nodes
            .iter()
            .filter(|node| node.1.is_draining());
        let draining: Vec<NodeId> = draining.map(|node| *node.0).collect();
        for node in draining {
            if self.hosts(None) < HOSTS_MIN {
                self.world.commit(Deed::DrainNode {
                    node,
                    is_draining: false,
                });
            }
        }
        // A drained node cannot be emptied where it takes part in what nobody can move.
        while self.hosts(None) < HOSTS_MIN {
            self.world.join("");
        }
    }

    /// Every partition is whole, and nothing is where it does not belong.
    fn check(&mut self) {
        let world = &mut self.world;
        for (id, row) in &world.state.partitions {
            let table = world.state.tables.get(&PartitionId::of(*id).table);
            if table.is_some_and(|table| table.is_dropped()) {
                continue;
            }
            let status = table.map_or(TableStatus::Open, |table| table.status);
            assert_eq!(status, TableStatus::Open, "{id}: its table never opened");
            let truth = &world.groups[id];
            assert!(
                truth.members.voters.iter().eq(row.wished.keys()),
                "{id}: {row:?} {truth:?}"
            );
            assert!(
                truth.members.learners.is_empty() && truth.leader.is_some(),
                "{truth:?}"
            );
            let wanted = target(&world.state, &self.live, *id);
            assert_eq!(row.wished.len(), wanted, "{id}: {row:?}");
            for (replica, node) in &truth.members.nodes {
                let copy = world.nodes[node].disk.get(id);
                let copy = copy.unwrap_or_else(|| panic!("{id} {replica} is not on {node:?}"));
                assert!(
                    copy.replica == *replica && !copy.is_damaged,
                    "{id} {replica}"
                );
                assert_eq!(copy.writes, Some(truth.writes));
            }
        }
        for (id, node) in world.nodes.iter().filter(|node| node.1.is_up) {
            for (group, copy) in &node.disk {
                let is_kept = world.state.partitions.contains_key(group);
                assert!(is_kept, "{group} is forgotten, and on {id:?}");
                let members = &world.groups[group].members;
                let is_member = members.contains(copy.replica);
                let was_open = world.state.is_settled(*group);
                assert!(
                    is_member || !was_open,
                    "{group} {} is left on {id:?}",
                    copy.replica
                );
            }
            let row = &world.state.nodes[id];
            assert!(
                !row.is_draining() || !node.disk.keys().any(|group| world.state.is_settled(*group)),
                "{id:?} is not drained: {node:?}"
            );
        }
        let over = world.state.tables.values().any(|table| match table.status {
            TableStatus::Dropped { ends_s, .. } => ends_s + 60 < world.unix_ms / 1000,
            _ => false,
        });
        assert!(!over, "a dropped table is still there");
        even::check_end(&self.world, &self.live);
        self.check_answers();
    }

    /// Clients find a primary of every partition.
    fn check_answers(&self) {
        let state = &self.world.state;
        for table in state
            .tables
            .values()
            .filter(|table| table.status == TableStatus::Open)
        {
            let call = MetaCall::QueryConfig(QueryConfigRequest {
                app_name: table.name.clone(),
                partition_indices: Vec::new(),
            });
            let told = answer(state, &self.live, &call, self.world.unix_ms);
            let Decision::Answer(MetaAnswer::QueryConfig(told)) = told else {
                panic!("{told:?}");
            };
            assert!(told.err.is_ok(), "{told:?}");
            for one in told.partitions {
                let is_whole =
                    one.secondaries.len() + 1 == usize::try_from(table.replica_count).expect("few");
                assert!(one.primary.0.is_some() && is_whole, "{one:?}");
            }
        }
        assert!(state.partitions.contains_key(&META));
    }

    fn tamper_commands(&mut self, due: &mut Vec<Command>) {
        let state = &self.world.state;
        let lost: BTreeSet<_> = self
            .world
            .nodes
            .values()
            .flat_map(|node| &node.lost)
            .collect();
        let is_lost = |wish: &Wish| wish.drop.iter().any(|id| lost.contains(&(wish.group, *id)));
        match self.world.bug {
            Some(Bug::NeverForgets) => {
                due.retain(|one| !matches!(one.deed, Deed::ForgetTable { .. }));
            }
            Some(Bug::SkipsMade) => {
                due.retain(|one| !matches!(one.deed, Deed::NoteMade { .. }));
            }
            Some(Bug::MakesNothingAnew) => {
                due.retain(|one| !matches!(one.deed, Deed::MakeAnew { .. }));
            }
            Some(Bug::LeavesLost) => {
                due.retain(|one| !matches!(&one.deed, Deed::Wish { wish } if is_lost(wish)));
            }
            Some(Bug::OpensEarly) => {
                let creating = state
                    .tables
                    .iter()
                    .filter(|table| table.1.status == TableStatus::Creating);
                due.extend(creating.map(|table| Command {
                    unix_ms: self.world.unix_ms,
                    deed: Deed::OpenTable { table: *table.0 },
                }));
            }
            Some(Bug::RemovesInUse) => {
                let leaving = state
                    .nodes
                    .iter()
                    .filter(|node| node.1.stay == Stay::Leaves);
                let is_wished = |node: &NodeId| {
                    let mut rows = state.partitions.values();
                    rows.any(|row| row.wished.values().any(|at| at == node))
                };
                let free = leaving.map(|node| *node.0).filter(|node| !is_wished(node));
                due.extend(free.map(|node| Command {
                    unix_ms: self.world.unix_ms,
                    deed: Deed::RemoveNode { node },
                }));
            }
            Some(Bug::FillsDraining) => {
                let draining = state.nodes.iter().find(|node| node.1.is_draining());
                let Some((draining, _)) = draining else {
                    return;
                };
                for one in due {
                    if let Deed::Wish { wish } = &mut one.deed
                        && !wish.add.is_empty()
                    {
                        wish.add = vec![*draining];
                    }
                }
            }
            _ => {}
        }
    }

    fn tamper_directives(&self, report: &Report, told: &mut Vec<Directive>) {
        match self.world.bug {
            Some(Bug::MakesLostAgain) => {
                for (group, row) in &self.world.state.partitions {
                    let here = row.wished.iter().find(|wished| *wished.1 == report.node);
                    if let Some((replica, _)) = here {
                        let (group, replica) = (*group, *replica);
                        told.push(Directive::Create {
                            group,
                            replica,
                            first: Vec::new(),
                        });
                    }
                }
            }
            Some(Bug::DestroysUnwished) => {
                for one in &report.replicas {
                    let row = self.world.state.partitions.get(&one.group);
                    let is_wished = row.is_none_or(|row| row.wished.contains_key(&one.replica));
                    let (group, replica) = (one.group, one.replica);
                    if !is_wished && let Some(known) = self.live.group(group) {
                        let mut without = known.configuration.clone();
                        without.nodes.remove(&replica);
                        without.replica_max = without.replica_max.max(replica.0);
                        told.push(Directive::Destroy {
                            group,
                            replica,
                            without: Some(without),
                        });
                    }
                }
            }
            Some(Bug::MovesByRemoving) => {
                even::remove_first(&self.moved, &self.world.state, &self.live, told);
            }
            Some(Bug::RemovesFirst) => {
                for one in told {
                    if let Directive::Change { group, change, .. } = one
                        && let Some(leaving) = self.leaving(*group)
                        && matches!(change.steps[0], ChangeStep::AddLearner(..))
                    {
                        *change = Change::of(ChangeStep::Remove(leaving));
                    }
                }
            }
            _ => {}
        }
    }

    /// A member that is wished no more and does not lead.
    fn leaving(&self, group: GroupId) -> Option<esker_raft::ReplicaId> {
        let row = self.world.state.partitions.get(&group)?;
        let known = self.live.group(group)?;
        let mut voters = known.configuration.voters.iter().copied();
        voters.find(|id| !row.wished.contains_key(id) && *id != known.leader)
    }
}
