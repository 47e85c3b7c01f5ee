//! What the thread of consensus does for meta: it reports, does what it is told, and leads.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use esker_raft::{GroupId, Member, NodeId, Status};
use esker_rpc::error::ErrorCode;
use esker_rpc::message::meta::{MetaAnswer, MetaCall};

use crate::log_lines::Level;
use crate::meta::command::NewNode;
use crate::meta::directive::{KnownNode, decode_directives};
use crate::meta::epoch;
use crate::meta::ids::{META, PartitionId, ReplicaName};
use crate::meta::live::{REMOVED, REMOVED_FACT};
use crate::meta::report::Report;
use crate::node::turn::Cleared;
use crate::node::{Ask, NodeEvent, Now, Reply, RequestId};
use crate::peer::ask::{Answer, Ask as PeerAsk, Asker};
use crate::peer::link::Link;
use crate::reconcile::{
    self, Action, CallId, Due, Knowledge, Leading, Out, Reporter, Succession, actions,
};
use crate::shell::apply_thread::Order;
use crate::shell::inbox::{CallBack, Told};
use crate::shell::pending::Waiting;
use crate::shell::repeats::{Deed, Repeats, Telling};
use crate::shell::surroundings::Surroundings;

/// How often a node reports.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// How long after a report the next one may follow, if something has happened.
const REPORT_AGAIN: Duration = Duration::from_millis(50);

/// The same while replicas here are held until meta answers: they lack nothing but that.
const HOLDING_AGAIN: Duration = Duration::from_millis(200);

/// How long the answer to a report is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What groups know of themselves.
type Statuses = BTreeMap<GroupId, Status>;

/// The side of meta on one node. The thread of consensus calls it.
pub(crate) struct Brain {
    around: Surroundings,
    reporter: Reporter,
    leading: Leading,
    succession: Succession,
    knowledge: Knowledge,
    admin_calls: BTreeMap<CallId, CallBack<MetaAnswer>>,
    registrations: BTreeMap<CallId, CallBack<Result<NodeId, ErrorCode>>>,
    reports: BTreeMap<CallId, CallBack<Vec<u8>>>,
    last_call: u64,
    /// Who may lead meta, as somebody said.
    hint: Option<NodeId>,
    /// How often a report found nobody.
    tried: usize,
    is_reporting: bool,
    /// A leader of meta has answered a report, in this life.
    was_answered: bool,
    /// Something has happened of which meta should hear.
    is_news: bool,
    /// What it was told to do last.
    repeats: Repeats,
    reported: Option<Duration>,
    ticked: Option<Duration>,
    /// Those whom the node was told to join, until it is connected to all nodes that it knows: they
    /// may be where meta has not heard of yet, or cannot for want of a majority.
    seeds: Vec<Link>,
}

impl Brain {
    pub(crate) fn new(
        around: Surroundings,
        (reporter, leading, succession): (Reporter, Leading, Succession),
        (knowledge, seeds): (Knowledge, Vec<SocketAddr>),
    ) -> Brain {
        let links = &around.links;
        let seeds = seeds
            .into_iter()
            .filter(|address| *address != reporter.home().addresses.peer)
            .map(|address| links.open(0, address))
            .collect();
        let mut brain = Brain {
            around,
            reporter,
            leading,
            succession,
            knowledge,
            admin_calls: BTreeMap::new(),
            registrations: BTreeMap::new(),
            reports: BTreeMap::new(),
            last_call: 0,
            hint: None,
            tried: 0,
            is_reporting: false,
            was_answered: false,
            is_news: true,
            repeats: Repeats::default(),
            reported: None,
            ticked: None,
            seeds,
        };
        let is_base = brain.succession.is_base();
        brain.leading.go_on(brain.succession.epoch(), is_base);
        brain.use_knowledge();
        brain.look_at_damage();
        brain
    }

    /// Takes up what happened in a turn.
    pub(crate) fn note(&mut self, event: &NodeEvent) {
        self.is_news |= self.reporter.note(event);
        self.look_at_damage();
    }

    /// What is damaged is told as soon as the log tells it.
    fn look_at_damage(&self) {
        let watch = &self.around.known.meta;
        watch.set_damage(self.reporter.damage_of(META));
    }

    /// Who leads meta as the replica here knows, if there is one.
    pub(crate) fn look_at_lead(&mut self) {
        let view = self.around.replicas.view(META);
        let leader = view.as_ref().and_then(|view| view.leader());
        let here = view.is_some_and(|view| view.is_leader());
        let was_here = self.leading.is_leading();
        self.leading.lead(leader.and_then(|leader| leader.1), here);
        if here && !was_here {
            let line = "this node leads the meta service from now on";
            self.around.log.write(Level::Note, line);
        }
    }

    /// A call of administration, to the leader of meta.
    pub(crate) fn admin(&mut self, call: MetaCall, back: CallBack<MetaAnswer>) {
        let id = self.id();
        self.admin_calls.insert(id, back);
        let pending = Arc::clone(&self.around.pending);
        let mut draw = || pending.add(Waiting::Brain);
        self.leading.admin(id, call, &mut draw);
    }

    /// A node without a number asks the leader of meta for one.
    pub(crate) fn register(&mut self, node: NewNode, back: CallBack<Result<NodeId, ErrorCode>>) {
        let id = self.id();
        self.registrations.insert(id, back);
        let pending = Arc::clone(&self.around.pending);
        let mut draw = || pending.add(Waiting::Brain);
        self.leading.register(id, node, &mut draw);
    }

    /// A node reports to the leader of meta.
    pub(crate) fn hear(&mut self, report: &Report, back: CallBack<Vec<u8>>, now: Now) {
        let id = self.id();
        self.reports.insert(id, back);
        let state = self.around.replicas.meta_state();
        let pending = Arc::clone(&self.around.pending);
        let mut draw = || pending.add(Waiting::Brain);
        self.leading.report(id, report, (&state, now), &mut draw);
    }

    /// What came of a request that was made here.
    pub(crate) fn replied(&mut self, request: RequestId, reply: &Reply, now: Now) {
        let state = self.around.replicas.meta_state();
        // An entry of meta may change what nodes are to do.
        self.is_news |= self.leading.replied(request, reply, &state, now);
    }

    /// A read of meta is cleared.
    pub(crate) fn cleared(&mut self, cleared: Cleared, now: Now) {
        let view = self
            .around
            .replicas
            .cleared_view(cleared.member, cleared.index);
        let state = self.around.replicas.meta_state();
        let pending = Arc::clone(&self.around.pending);
        let mut draw = || pending.add(Waiting::Brain);
        match view {
            Some(_) => self
                .leading
                .cleared(cleared.request, &state, now, &mut draw),
            None => {
                // The replica has just been replaced, and the request is one of here.
                let _ = self
                    .leading
                    .replied(cleared.request, &Reply::Busy, &state, now);
            }
        }
    }

    /// The leader of meta has answered a report.
    pub(crate) fn directives(
        &mut self,
        bytes: &[u8],
        statuses: impl FnOnce() -> Statuses,
    ) -> Vec<Ask> {
        self.is_reporting = false;
        self.was_answered = true;
        self.tried = 0;
        if let Some(line) = self.around.known.meta.answered() {
            self.around.log.write(Level::Note, &line);
        }
        let directives = match decode_directives(bytes) {
            Ok(directives) => directives,
            Err(error) => {
                let line = format!("what meta says cannot be read: {error}");
                self.around.log.write(Level::Error, &line);
                return Vec::new();
            }
        };
        let pending = Arc::clone(&self.around.pending);
        let mut draw = || pending.add(Waiting::Nobody);
        // Mostly there is nothing to do, and statuses of a thousand groups are dear.
        let actions = match directives.is_empty() {
            true => Vec::new(),
            false => actions(directives, &statuses(), &mut draw),
        };
        let deeds = actions.iter().filter_map(Deed::of).collect();
        self.repeats.hear(deeds);
        let asks = actions
            .into_iter()
            .filter_map(|action| self.act(action))
            .collect();
        let is_told = self.knowledge.nodes_revision > 0;
        self.around
            .serving
            .send_if_modified(|serving| is_told && !std::mem::replace(serving, true));
        asks
    }

    /// A report found no leader there.
    pub(crate) fn elsewhere(&mut self, hint: Option<NodeId>) {
        self.is_reporting = false;
        self.hint = hint;
        self.tried += 1;
    }

    /// Time has passed: which meta service there is, and what becomes of the replica here of that.
    pub(crate) fn succeed(&mut self, meta: Option<&Status>, now: Now) -> Vec<Ask> {
        let links = &self.around.links;
        let state = self.around.replicas.meta_state();
        // A replica that was away may have older rows than the list that its node was told.
        let was_removed =
            |node: NodeId| state.was_removed(node) || self.knowledge.was_removed(node);
        let claims = links.later_claims();
        let (later, refused) = self.succession.choose(&claims, was_removed);
        let gone_on = later.iter().filter(|it| it.has_gone_on);
        gone_on.for_each(|it| self.leading.go_on(it.epoch, false));
        let is_up = |node: NodeId| links.is_up(node.0);
        let meta = (meta, state.epoch());
        let is_led = self.was_answered && !self.around.known.meta.is_away();
        let told = (later, is_led);
        let due = self.succession.pass(told, meta, is_up, now.monotonic);
        let due = refused.into_iter().chain(due);
        due.filter_map(|due| self.settle(due)).collect()
    }

    fn settle(&mut self, due: Due) -> Option<Ask> {
        let order = match due {
            Due::Keep(epoch) => {
                self.leading.go_on(epoch, self.succession.is_base());
                Order::Keep(epoch::FACT, epoch.encode())
            }
            Due::Purge(member) => Order::Purge(member),
            Due::Say(claim) => {
                self.around.links.set_claim(claim);
                return None;
            }
            Due::Refuse(epoch) => Order::Keep(epoch::REFUSED, epoch.encode()),
            Due::Await(epoch) => Order::Keep(epoch::HEARD, epoch.encode()),
            Due::GoOnAlone(member, last) => return Some(Ask::GoOnAlone(member, last)),
            Due::Free => {
                let views = self.around.replicas.views().into_iter();
                let groups = views.map(|view| view.member.group);
                return Some(Ask::Free(groups.filter(|group| *group != META).collect()));
            }
        };
        self.around.log.write(due.level(), &due.to_string());
        // A thread that has ended says why by itself.
        let _ = self.around.orders.send(order);
        None
    }

    /// Time has passed: reports, and what the leader does by itself.
    pub(crate) fn pass(&mut self, statuses: impl FnOnce() -> Statuses, now: Now) {
        let since = |then: Option<Duration>| then.map(|then| now.monotonic.saturating_sub(then));
        let elapsed = since(self.ticked);
        if elapsed.is_none_or(|elapsed| elapsed >= REPORT_EVERY) {
            self.ticked = Some(now.monotonic);
            if let Some(why) = self.around.links.ousted() {
                let why = format!("another process holds this node's number: {why}");
                self.around.faults.tell(why);
            }
            self.use_addresses();
            let elapsed = elapsed.unwrap_or_default();
            if let Some(line) = self.around.known.meta.pass(elapsed) {
                self.around.log.write(Level::Warning, &line);
            }
            let state = self.around.replicas.meta_state();
            let pending = Arc::clone(&self.around.pending);
            let mut draw = || pending.add(Waiting::Brain);
            self.leading.tick(&state, elapsed, now, &mut draw);
            for (level, line) in self.leading.notices(&state) {
                self.around.log.write(level, &line);
            }
            let apart = self.leading.clocks_apart(&state);
            self.around.known.set_clocks_apart(apart);
        }
        let since_report = since(self.reported).unwrap_or(REPORT_EVERY);
        let is_due = since_report >= REPORT_EVERY
            || self.is_news && since_report >= REPORT_AGAIN
            || self.reporter.is_holding() && since_report >= HOLDING_AGAIN;
        // A cluster that has not begun knows nobody; its first node is about to begin it.
        let is_begun =
            !self.leading.is_leading() || self.around.replicas.meta_state().cluster.is_some();
        if is_due && is_begun && !self.is_reporting {
            self.reported = Some(now.monotonic);
            self.is_news = false;
            self.report(&statuses(), now);
        }
    }

    /// Whether the raft log has no room.
    pub(crate) fn log_is_full(&mut self, is_full: bool) {
        self.is_news |= self.reporter.set_log_is_full(is_full);
    }

    /// Does what the leader's side wants done; what consensus is to be asked comes back.
    pub(crate) fn out(&mut self) -> Vec<Ask> {
        let mut asks = Vec::new();
        for out in self.leading.take() {
            match out {
                Out::Ask(ask) => asks.push(ask),
                Out::Admin(call, told) => tell(&mut self.admin_calls, call, told),
                Out::Register(call, told) => tell(&mut self.registrations, call, told),
                Out::Report(call, told) => tell(&mut self.reports, call, told),
            }
        }
        asks
    }

    fn report(&mut self, statuses: &Statuses, now: Now) {
        let space = (self.around.space)();
        let replicas = &self.around.replicas;
        let report =
            self.reporter
                .report(statuses, replicas, (&self.knowledge, space, now.unix_ms()));
        self.is_reporting = true;
        let inbox = self.around.inbox.clone();
        if self.leading.is_leading() {
            let back = Box::new(move |told| inbox.tell(Told::of_leader(told)));
            return self.hear(&report, back, now);
        }
        let asker = Asker::new(move |answer| inbox.tell(Told::of_answer(answer)));
        let ask = PeerAsk::Report(report.encode());
        match self.meta_leader() {
            Some(node) => self.around.links.ask(node.0, &ask, PATIENCE, asker),
            None if self.seeds.is_empty() => asker.tell(Answer::NotLeader(None)),
            None => {
                let seed = &self.seeds[self.tried % self.seeds.len()];
                self.around.links.ask_by(seed, &ask, PATIENCE, asker);
            }
        }
    }

    /// Who leads meta, or may: as the replica here knows, as somebody said, or one after another.
    fn meta_leader(&self) -> Option<NodeId> {
        let myself = self.reporter.home().identity.node;
        let view = self.around.replicas.view(META);
        let known = view
            .and_then(|view| view.leader())
            .and_then(|leader| leader.1);
        // One that was asked in vain is not asked at once again.
        let told = known
            .or(self.hint)
            .filter(|node| *node != myself && self.tried % 3 != 2);
        told.or_else(|| {
            let metas = self.knowledge.metas().map(|facts| facts.node);
            let metas: Vec<NodeId> = metas.filter(|node| *node != myself).collect();
            (!metas.is_empty()).then(|| metas[self.tried % metas.len()])
        })
    }

    fn id(&mut self) -> CallId {
        self.last_call += 1;
        CallId(self.last_call)
    }

    fn act(&mut self, action: Action) -> Option<Ask> {
        let telling = Deed::of(&action).map(|deed| self.repeats.telling(deed));
        // Meta is to hear what came of it; once nothing has come of it often enough, with the next
        // report that is due.
        self.is_news |= telling != Some(Telling::Often);
        let is_repeated = telling.is_some_and(|telling| telling != Telling::New);
        let note = |line: &str| {
            if !is_repeated {
                self.around.log.write(Level::Note, line);
            }
        };
        let order = match action {
            Action::Ask(ask) => return Some(ask),
            Action::Create(create) => {
                note(&format!("{} is to be here", self.name_of(create.member)));
                Order::Create(create)
            }
            Action::Purge(member) => {
                note(&format!("{} is to go", self.name_of(member)));
                Order::Purge(member)
            }
            Action::Learn(directive) => {
                let (name, fact) = self.knowledge.learn(&directive)?;
                self.use_knowledge();
                Order::Keep(name, fact)
            }
            Action::Free(asked, held) => {
                let but = match held.len() {
                    0 => String::new(),
                    count => format!(", but for {count} whose groups go on without them"),
                };
                if self.reporter.free(asked, held.len())? {
                    let line = format!("replicas of before take part again{but}");
                    self.around.log.write(Level::Note, &line);
                }
                return Some(Ask::Free(held));
            }
            Action::Stop(why) => {
                if why.ends_with(REMOVED) {
                    let order = Order::Keep(REMOVED_FACT, why.clone().into_bytes());
                    // As below.
                    let _ = self.around.orders.send(order);
                }
                self.around.faults.tell(why);
                return None;
            }
        };
        // A thread that has ended says why by itself.
        let _ = self.around.orders.send(order);
        None
    }

    /// A replica, with the name of its table if the node was told that.
    fn name_of(&self, member: Member) -> String {
        let (name, table) = (ReplicaName(member), PartitionId::of(member.group).table);
        match self.knowledge.tables.get(&table) {
            Some(facts) => format!("{name}, {:?},", facts.name),
            None => name.to_string(),
        }
    }

    fn use_knowledge(&mut self) {
        for (table, facts) in &self.knowledge.tables {
            let replicas = &self.around.replicas;
            replicas.set_default_ttl(table.0, facts.default_ttl_s);
        }
        self.use_addresses();
        self.around.known.set(self.knowledge.clone());
    }

    /// Where the others are: as they said themselves in their last life that was heard of, or as
    /// meta says.
    fn use_addresses(&mut self) {
        let links = &self.around.links;
        let place = |facts: &KnownNode| {
            let heard = links.address(facts.node.0);
            let newer = heard.filter(|(incarnation, _)| *incarnation >= facts.incarnation);
            newer.map_or(facts.addresses.peer, |(_, address)| address)
        };
        let nodes = self.knowledge.nodes.iter();
        let addresses: BTreeMap<u64, SocketAddr> =
            nodes.map(|(node, facts)| (node.0, place(facts))).collect();
        links.set_addresses(&addresses);
        let myself = self.reporter.home().identity.node.0;
        let mut others = addresses.keys().filter(|node| **node != myself);
        if !addresses.is_empty() {
            let is_whole = others.all(|node| links.is_up(*node));
            // One that has answered has said who it is, and has a link under its number.
            self.seeds.retain(|seed| !is_whole && !seed.is_up());
        }
    }
}

fn tell<T>(calls: &mut BTreeMap<CallId, CallBack<T>>, call: CallId, told: reconcile::Told<T>) {
    if let Some(back) = calls.remove(&call) {
        back(told);
    }
}

/// Whether a cleared read is of the meta group.
pub(crate) fn is_of_meta(member: Member) -> bool {
    member.group == META
}
