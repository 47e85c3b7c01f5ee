//! The side of meta on a simulated node: what the thread of consensus does for it in the shell.
//!
//! Reports, directives and numbers are the shipped ones; what the shell has links for is a packet.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Duration;

use esker_raft::{GroupId, NodeId, Status};
use esker_rpc::message::meta::MetaCall;
use esker_server::log_lines::Level;
use esker_server::meta::command::{Deed, NewNode};
use esker_server::meta::directive::{Directive, decode_directives};
use esker_server::meta::ids::{ClusterId, META};
use esker_server::meta::report::{Report, Role};
use esker_server::meta::rows::Addresses;
use esker_server::meta::state::State;
use esker_server::node::turn::Cleared;
use esker_server::node::{Ask, Create, Found, NodeEvent, Now, Reply, RequestId, Stages};
use esker_server::reconcile::knowledge::FACTS;
use esker_server::reconcile::{
    Action, CallId, Home, Knowledge, Leading, Out, Reporter, Space, Told, Untold, actions,
};

/// The cluster of every simulation.
pub const CLUSTER: u64 = 77;

/// Requests of a brain have this bit, those of clients have not.
pub const BRAINS: u64 = 1 << 62;

const REPORT_EVERY: Duration = Duration::from_secs(1);
const REPORT_AGAIN: Duration = Duration::from_millis(50);
const HOLDING_AGAIN: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(2);

/// What nodes say to one another.
#[derive(Clone, Debug)]
pub enum Packet {
    /// Messages of consensus.
    Frame(Vec<u8>),
    /// A report, by its number.
    Report(u64, Vec<u8>),
    /// What came of the report of that number.
    Told(u64, Answer),
    /// A node without a number asks for one.
    Register(NewNode),
    /// That is the number of the node that drew this.
    Number(u64, NodeId),
}

/// What comes of a report.
#[derive(Clone, Debug)]
pub enum Answer {
    Directives(Vec<u8>),
    Elsewhere(Option<NodeId>),
}

/// What leaves a brain.
#[derive(Default)]
pub struct Said {
    pub to_nodes: Vec<(NodeId, Packet)>,
    pub to_places: Vec<(NodeId, Packet)>,
}

/// Who a node is beside its number: what it says when it asks for one.
pub fn new_node(place: u64, nonce: u64) -> NewNode {
    let port = 20_000 + u16::try_from(place).unwrap();
    let at = |ip: [u8; 4]| SocketAddrV4::new(ip.into(), port);
    NewNode {
        nonce,
        addresses: Addresses {
            client: at([127, 0, 0, 1]),
            meta: Some(at([127, 0, 0, 2])),
            peer: at([127, 0, 0, 3]).into(),
        },
        label: String::new(),
    }
}

/// A mistake of what takes part in recoveries, or destroys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slip {
    #[default]
    Nothing,
    /// A purge destroys the replica of another partition.
    PurgesAnother,
    /// Who is freed takes part with all of its replicas, also those that are lost.
    FreesAll,
    /// Replicas that are to be thrown away stay, and take part.
    KeepsFenced,
    /// Of logs without a leader the shorter is told to be the longer.
    TurnsLogsRound,
    /// Whoever was elected is told to lead, whether it ever commits anything or not.
    LeadsTooEarly,
}

/// The side of meta of one process.
pub struct Brain {
    reporter: Reporter,
    leading: Leading,
    pub knowledge: Knowledge,
    /// Somebody who may know the cluster, for who does not yet.
    pub seed: Option<NodeId>,
    /// Who has reported, by the number that it gave its report; `None` of this node.
    reports: BTreeMap<CallId, Option<(NodeId, u64)>>,
    /// Places of the network whose nodes ask for a number, and what they drew.
    new_nodes: BTreeMap<CallId, (NodeId, u64)>,
    last_call: u64,
    drawn: u64,
    hint: Option<NodeId>,
    tried: usize,
    /// The last report, and since when its answer is waited for.
    number: u64,
    waits: Option<Duration>,
    is_news: bool,
    reported: Option<Duration>,
    ticked: Option<Duration>,
    said: Said,
    /// Room on the disk, as the node has it.
    pub space: Space,
    /// Why the node must stop, if it must.
    pub stopped: Option<String>,
    /// What it was told to have.
    pub made: Vec<Create>,
    /// A planted mistake.
    pub slip: Slip,
    /// What was told of nodes while it led, in the order of time.
    pub lines: Vec<(Level, String)>,
}

type Statuses = BTreeMap<GroupId, Status>;

pub fn statuses(stages: &Stages) -> Statuses {
    let groups = stages.consensus.groups();
    let statuses = groups.filter_map(|group| Some((group, stages.consensus.status(group)?)));
    statuses.collect()
}

fn state(stages: &Stages) -> Arc<State> {
    let view = stages.replicas.view(META);
    view.and_then(|view| view.meta()).unwrap_or_default()
}

impl Brain {
    /// Of a process that was just opened at that place.
    pub fn new(stages: &Stages, found: &Found, place: u64) -> Brain {
        let it = new_node(place, CLUSTER);
        let home = Home {
            identity: stages.identity,
            addresses: it.addresses.clone(),
            label: String::new(),
        };
        let founding = (stages.identity.node == NodeId(1)).then(|| Deed::Begin {
            cluster: ClusterId(CLUSTER),
            name: "simulated".to_owned(),
            node: it,
        });
        let rows = stages.applying.own_rows();
        let facts = FACTS.iter().filter_map(|name| rows.fact(name).unwrap());
        let facts: Vec<Vec<u8>> = facts.collect();
        let knowledge = Knowledge::load(facts.iter().map(Vec::as_slice)).unwrap();
        let brain = Brain {
            reporter: Reporter::new(home, found),
            leading: Leading::new(founding),
            knowledge,
            seed: None,
            reports: BTreeMap::new(),
            new_nodes: BTreeMap::new(),
            last_call: 0,
            drawn: 0,
            hint: None,
            tried: 0,
            number: stages.identity.incarnation << 32,
            waits: None,
            is_news: true,
            reported: None,
            ticked: None,
            said: Said::default(),
            space: Space::default(),
            stopped: None,
            made: Vec::new(),
            slip: Slip::Nothing,
            lines: Vec::new(),
        };
        brain.use_knowledge(stages);
        brain
    }

    fn use_knowledge(&self, stages: &Stages) {
        for (table, facts) in &self.knowledge.tables {
            let replicas = &stages.replicas;
            replicas.set_default_ttl(table.0, facts.default_ttl_s);
        }
    }

    fn id(&mut self) -> CallId {
        self.last_call += 1;
        CallId(self.last_call)
    }

    /// Takes up what happened in a turn.
    pub fn note(&mut self, event: &NodeEvent) {
        let is_early =
            self.slip == Slip::LeadsTooEarly && matches!(event, NodeEvent::Leader { .. });
        self.is_news |= self.reporter.note(event) || is_early;
    }

    /// Whether it leads meta, as far as it knows.
    pub fn is_leading(&self) -> bool {
        self.leading.is_leading()
    }

    /// Somebody asks for administration.
    pub fn admin(&mut self, call: MetaCall) {
        let id = self.id();
        let (drawn, leading) = (&mut self.drawn, &mut self.leading);
        leading.admin(id, call, &mut || draw(drawn));
    }

    /// A packet that is for the side of meta has come.
    pub fn hear(&mut self, from: NodeId, packet: Packet, stages: &mut Stages, now: Now) {
        match packet {
            Packet::Report(number, bytes) => {
                let report = Report::decode(&bytes).unwrap();
                if stages.replicas.view(META).is_none() {
                    let answer = Answer::Elsewhere(self.some_meta(report.node));
                    let told = Packet::Told(number, answer);
                    return self.said.to_nodes.push((report.node, told));
                }
                let id = self.id();
                self.reports.insert(id, Some((report.node, number)));
                let (drawn, leading) = (&mut self.drawn, &mut self.leading);
                leading.report(id, &report, (&state(stages), now), &mut || draw(drawn));
            }
            Packet::Told(number, answer) => self.told(number, answer, stages, now),
            Packet::Register(node) => {
                let id = self.id();
                self.new_nodes.insert(id, (from, node.nonce));
                let (drawn, leading) = (&mut self.drawn, &mut self.leading);
                leading.register(id, node, &mut || draw(drawn));
            }
            Packet::Frame(_) | Packet::Number(..) => unreachable!("not for the side of meta"),
        }
    }

    // What came of a report; of one that was given up as well.
    fn told(&mut self, number: u64, answer: Answer, stages: &mut Stages, now: Now) {
        // An answer to a process of before finds nobody who waits for it.
        if number >> 32 != self.number >> 32 {
            return;
        }
        if number == self.number {
            self.waits = None;
        }
        match answer {
            Answer::Elsewhere(hint) => {
                self.hint = hint;
                self.tried += 1;
            }
            Answer::Directives(bytes) => {
                self.tried = 0;
                let mut directives = decode_directives(&bytes).unwrap();
                let is_fence = |it: &Directive| matches!(it, Directive::Fence { .. });
                if self.slip == Slip::KeepsFenced && directives.iter().any(is_fence) {
                    directives.retain(|it| !is_fence(it));
                    stages.consensus.ask(Ask::Free(BTreeSet::new()), now);
                }
                let drawn = &mut self.drawn;
                let actions = actions(directives, &statuses(stages), &mut || draw(drawn));
                self.is_news |= !actions.is_empty();
                for action in actions {
                    self.act(action, stages, now);
                }
            }
        }
    }

    fn act(&mut self, action: Action, stages: &mut Stages, now: Now) {
        // What is refused, or has no room, is said again by the leader of meta.
        let refused = |error: esker::Error| {
            let is_mild = error.is_retryable() || error.kind() == esker::ErrorKind::Invalid;
            (!is_mild).then(|| error.to_string())
        };
        match action {
            Action::Ask(ask) => stages.consensus.ask(ask, now),
            Action::Create(create) => {
                self.made.push(create.clone());
                self.stop(stages.create(create, now).err().and_then(refused));
            }
            Action::Purge(member) => {
                let views = stages.replicas.views();
                let mut others = views.iter().map(|view| view.member);
                let another = others.find(|other| other.group != member.group);
                let is_slip = self.slip == Slip::PurgesAnother;
                let member = another.filter(|_| is_slip).unwrap_or(member);
                self.stop(stages.purge(member, now).err().and_then(refused));
            }
            Action::Learn(directive) => {
                if let Some((name, fact)) = self.knowledge.learn(&directive) {
                    self.use_knowledge(stages);
                    let kept = stages.applying.own_rows().keep_fact(name, &fact);
                    self.stop(kept.err().and_then(refused));
                }
            }
            Action::Free(asked, mut held) => {
                if self.reporter.free(asked, held.len()).is_some() {
                    if self.slip == Slip::FreesAll {
                        held.clear();
                    }
                    stages.consensus.ask(Ask::Free(held), now);
                }
            }
            Action::Stop(why) => self.stop(Some(why)),
        }
    }

    fn stop(&mut self, why: Option<String>) {
        self.stopped = self.stopped.take().or(why);
    }

    /// What came of requests that it made.
    pub fn replied(&mut self, request: RequestId, reply: &Reply, stages: &Stages, now: Now) {
        self.is_news |= self.leading.replied(request, reply, &state(stages), now);
    }

    /// A read of meta is cleared.
    pub fn cleared(&mut self, cleared: Cleared, stages: &Stages, now: Now) {
        let view = stages.replicas.cleared_view(cleared.member, cleared.index);
        let state = state(stages);
        let (drawn, leading) = (&mut self.drawn, &mut self.leading);
        match view {
            Some(_) => leading.cleared(cleared.request, &state, now, &mut || draw(drawn)),
            None => {
                // The replica has just been replaced, and the request is one of here.
                let _ = leading.replied(cleared.request, &Reply::Busy, &state, now);
            }
        }
    }

    /// Time passes: who leads, reports, and what the leader does by itself.
    pub fn pass(&mut self, stages: &mut Stages, now: Now) -> Said {
        let view = stages.replicas.view(META);
        let leader = view.as_ref().and_then(|view| view.leader());
        let here = view.is_some_and(|view| view.is_leader());
        self.leading.lead(leader.and_then(|leader| leader.1), here);
        let since = |then: Option<Duration>| then.map(|then| now.monotonic.saturating_sub(then));
        if since(self.waits).is_some_and(|waited| waited > PATIENCE) {
            let number = self.number;
            self.told(number, Answer::Elsewhere(None), stages, now);
        }
        let elapsed = since(self.ticked);
        if elapsed.is_none_or(|elapsed| elapsed >= REPORT_EVERY) {
            self.ticked = Some(now.monotonic);
            let (drawn, leading) = (&mut self.drawn, &mut self.leading);
            let elapsed = elapsed.unwrap_or_default();
            leading.tick(&state(stages), elapsed, now, &mut || draw(drawn));
            self.lines.extend(leading.notices(&state(stages)));
        }
        let since_report = since(self.reported).unwrap_or(REPORT_EVERY);
        let is_due = since_report >= REPORT_EVERY
            || self.is_news && since_report >= REPORT_AGAIN
            || self.reporter.is_holding() && since_report >= HOLDING_AGAIN;
        let is_begun = !self.leading.is_leading() || state(stages).cluster.is_some();
        if is_due && is_begun && self.waits.is_none() {
            self.reported = Some(now.monotonic);
            self.is_news = false;
            self.report(stages, now);
        }
        self.take(stages, now);
        std::mem::take(&mut self.said)
    }

    fn report(&mut self, stages: &mut Stages, now: Now) {
        let knowledge = (&self.knowledge, self.space, now.unix_ms());
        let mut report = self
            .reporter
            .report(&statuses(stages), &stages.replicas, knowledge);
        if self.slip == Slip::TurnsLogsRound {
            let logs = report.replicas.iter_mut();
            for log in logs.filter_map(|it| it.leaderless.as_mut()) {
                log.last = u64::MAX - log.last;
            }
        }
        if self.slip == Slip::LeadsTooEarly {
            let statuses = statuses(stages);
            for one in &mut report.replicas {
                let status = statuses.get(&one.group);
                if let Some(status) = status.filter(|it| it.leader == Some(one.replica)) {
                    one.role = Role::Leader;
                    one.configuration = Some(status.configuration.clone());
                }
            }
        }
        self.number += 1;
        self.waits = Some(now.monotonic);
        if self.leading.is_leading() {
            let id = self.id();
            self.reports.insert(id, None);
            let (drawn, leading) = (&mut self.drawn, &mut self.leading);
            return leading.report(id, &report, (&state(stages), now), &mut || draw(drawn));
        }
        match self.meta_leader(stages) {
            Some(node) => {
                let packet = Packet::Report(self.number, report.encode());
                self.said.to_nodes.push((node, packet));
            }
            None => {
                let number = self.number;
                self.told(number, Answer::Elsewhere(None), stages, now);
            }
        }
    }

    fn myself(&self) -> NodeId {
        self.reporter.home().identity.node
    }

    // As the shell has it: as the replica here knows, as somebody said, or one after another.
    fn meta_leader(&self, stages: &Stages) -> Option<NodeId> {
        let known = stages.replicas.view(META).and_then(|view| view.leader());
        let known = known.and_then(|leader| leader.1);
        let told = known
            .or(self.hint)
            .filter(|node| *node != self.myself() && self.tried % 3 != 2);
        told.or_else(|| self.some_meta(self.myself())).or(self.seed)
    }

    fn some_meta(&self, but: NodeId) -> Option<NodeId> {
        let metas = self.knowledge.nodes.keys().copied();
        let metas: Vec<NodeId> = metas
            .filter(|node| *node != but && *node != self.myself())
            .collect();
        (!metas.is_empty()).then(|| metas[self.tried % metas.len()])
    }

    // What the leader's side wants done is done, until there is nothing.
    fn take(&mut self, stages: &mut Stages, now: Now) {
        for out in self.leading.take() {
            match out {
                Out::Ask(ask) => stages.consensus.ask(ask, now),
                // Whoever administers looks by itself at what has come of it.
                Out::Admin(..) => {}
                Out::Register(call, told) => {
                    if let (Some((place, nonce)), Ok(Ok(node))) =
                        (self.new_nodes.remove(&call), told)
                    {
                        let packet = Packet::Number(nonce, node);
                        self.said.to_places.push((place, packet));
                    }
                }
                Out::Report(call, told) => match self.reports.remove(&call) {
                    Some(Some((node, number))) => {
                        let packet = Packet::Told(number, answer(told));
                        self.said.to_nodes.push((node, packet));
                    }
                    Some(None) => self.told(self.number, answer(told), stages, now),
                    None => {}
                },
            }
        }
    }
}

fn draw(drawn: &mut u64) -> RequestId {
    *drawn += 1;
    RequestId(BRAINS | *drawn)
}

fn answer(told: Told<Vec<u8>>) -> Answer {
    match told {
        Ok(bytes) => Answer::Directives(bytes),
        Err(Untold::NotLeader(node)) => Answer::Elsewhere(node),
        Err(Untold::Unknown) => Answer::Elsewhere(None),
    }
}
