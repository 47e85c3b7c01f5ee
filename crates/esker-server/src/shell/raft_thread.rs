//! The thread of consensus: what came in, one turn, what came out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Duration;

use esker_raft::{GroupId, NodeId, Save, Status};

use crate::log_lines::{Level, LogLines, Seldom};
use crate::meta::ids::{META, PartitionId, ReplicaName};
use crate::node::turn::Cleared;
use crate::node::{Ask, Consensus, NodeEvent, Now, Replicas, Turn, View};
use crate::peer::links::Links;
use crate::shell::apply_thread::Order;
use crate::shell::brain::{Brain, is_of_meta};
use crate::shell::image_thread::Offered;
use crate::shell::inbox::{Outlet, Told};
use crate::shell::moments::Moments;
use crate::shell::pending::{Pending, Waiting};
use crate::shell::read_threads::{OwnedReadQueue, Readable};
use crate::shell::shortage::Shortage;

/// How often time passes for the groups.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Things that one turn takes at most, so that ticks and saves are never far away.
const TOLD_MAX: usize = 8192;

pub(crate) struct RaftThread {
    pub(crate) consensus: Consensus,
    pub(crate) brain: Brain,
    pub(crate) outlet: Outlet,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) saves: Sender<Vec<Save>>,
    pub(crate) orders: Sender<Order>,
    pub(crate) reads: OwnedReadQueue,
    pub(crate) offers: Sender<Offered>,
    pub(crate) links: Arc<Links>,
    pub(crate) moments: Moments,
    pub(crate) log: LogLines,
    pub(crate) bad_frames: Seldom,
    pub(crate) shortage: Shortage,
}

impl RaftThread {
    /// Takes turns until it is told to stop, or nobody is there to tell it anything.
    pub(crate) fn run(mut self) {
        let mut next_tick = self.moments.now().monotonic + TICK;
        loop {
            let is_due = self.consensus.is_busy()
                || (self.consensus.awaits_applied() && self.outlet.await_applied());
            let wait = match is_due {
                true => Duration::ZERO,
                false => next_tick.saturating_sub(self.moments.now().monotonic),
            };
            match self.outlet.receiver.recv_timeout(wait) {
                Ok(told) => {
                    if !self.take_all(told) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = self.moments.now();
            let is_tick = now.monotonic >= next_tick;
            if is_tick {
                // A pause is not caught up: nobody has watched the time in between.
                next_tick = now.monotonic + TICK;
            }
            self.turn(now, is_tick);
        }
    }

    // False if the thread is to end.
    fn take_all(&mut self, first: Told) -> bool {
        let now = self.moments.now();
        // What is told may depend on it.
        self.take_applied(now);
        let mut told = Some(first);
        let mut count = 0;
        while let Some(one) = told {
            self.outlet.count_off(&one);
            if !self.take(one, now) {
                return false;
            }
            count += 1;
            told = match count < TOLD_MAX {
                true => self.outlet.receiver.try_recv().ok(),
                false => None,
            };
        }
        true
    }

    fn take(&mut self, told: Told, now: Now) -> bool {
        match told {
            Told::Request(ask) | Told::Stage(ask) => {
                if let Ask::LogPressure(pressure) = &ask {
                    self.shortage.log_is_full = pressure.has_no_room;
                    self.brain.log_is_full(pressure.has_no_room);
                }
                self.consensus.ask(ask, now);
            }
            // Each turn looks for itself.
            Told::Applied => {}
            Told::Frame(frame) => self.consensus.ask(Ask::Frame(frame), now),
            Told::NodeGone(node) => self.consensus.ask(Ask::NodeGone(node), now),
            Told::Replied(request, reply) => self.brain.replied(request, &reply, now),
            Told::Admin(call, back) => self.brain.admin(call, back),
            Told::Register(node, back) => self.brain.register(node, back),
            Told::Report(report, back) => self.brain.hear(&report, back, now),
            Told::Directives(bytes) => {
                let asks = self.brain.directives(&bytes, || statuses(&self.consensus));
                asks.into_iter()
                    .for_each(|ask| self.consensus.ask(ask, now));
            }
            Told::Elsewhere(hint) => self.brain.elsewhere(hint),
            Told::Page(request, asker) => self.reads.page(request, asker),
            Told::HandOver(tell) => {
                let all = (&Shortage::default(), |_: &View| true);
                tell(self.hand_over(now, all));
            }
            Told::Stop => return false,
        }
        true
    }

    fn take_applied(&mut self, now: Now) {
        for (member, index) in self.outlet.take_applied() {
            self.consensus.ask(Ask::Applied(member, index), now);
        }
    }

    fn turn(&mut self, now: Now, is_tick: bool) {
        self.take_applied(now);
        let turn = self.consensus.turn(now, is_tick);
        let Turn {
            saves,
            work,
            frames,
            cleared,
            replies,
            events,
        } = turn;
        if !saves.is_empty() {
            // A thread that has ended says why by itself.
            let _ = self.saves.send(saves);
        }
        for (node, frame) in frames {
            self.links.send(node.0, frame);
        }
        if !work.is_empty() {
            // As above.
            let _ = self.orders.send(Order::Work(work));
        }
        if is_tick {
            // As above.
            let _ = self.orders.send(Order::Retry);
            self.evade(now);
            let meta = self.consensus.status(META);
            for ask in self.brain.succeed(meta.as_ref(), now) {
                self.consensus.ask(ask, now);
            }
        }
        self.clear(cleared, now);
        self.pending.reply_all(replies);
        for event in events {
            self.note(event);
        }
        self.brain.look_at_lead();
        self.brain.pass(|| statuses(&self.consensus), now);
        for ask in self.brain.out() {
            self.consensus.ask(ask, now);
        }
    }

    fn clear(&mut self, cleared: Vec<Cleared>, now: Now) {
        let mut reads = Vec::new();
        for one in cleared {
            match is_of_meta(one.member) {
                true => {
                    // The brain has drawn that request, and remembers it by itself.
                    let _ = self.pending.take(one.request);
                    self.brain.cleared(one, now);
                }
                false => {
                    if let Some(Waiting::Read(mut reading)) = self.pending.take(one.request) {
                        reading.cleared = Some(now.monotonic);
                        reads.push(Readable {
                            member: one.member,
                            index: one.index,
                            reading,
                        });
                    }
                }
            }
        }
        self.reads.serve(reads);
    }

    /// What cannot go on here is led elsewhere, and told.
    fn evade(&mut self, now: Now) {
        let time = now.monotonic;
        if !self.shortage.is_due(time) {
            return;
        }
        let views = self.replicas.views();
        if let Some((level, line)) = self.shortage.line(&views) {
            self.log.write(level, &line);
        }
        self.shortage.forget_who_goes_on(&views);
        let shortage = std::mem::take(&mut self.shortage);
        let handed = self.hand_over(now, (&shortage, |view: &View| shortage.evades(view)));
        self.shortage = shortage;
        let why = |group: GroupId| Shortage::why(self.replicas.view(group).as_deref());
        if let Some(line) = self.shortage.gave(&handed, time, why) {
            self.log.write(Level::Warning, &line);
        }
    }

    /// What this node leads, of those that are meant, is handed to voters on other nodes.
    fn hand_over(
        &mut self,
        now: Now,
        (shortage, is_meant): (&Shortage, impl Fn(&View) -> bool),
    ) -> Vec<GroupId> {
        let mut handed = Vec::new();
        for view in self.replicas.views() {
            if !is_meant(&view) {
                continue;
            }
            let group = view.member.group;
            let Some(status) = self.consensus.status(group) else {
                continue;
            };
            if status.leader != Some(status.replica) {
                continue;
            }
            let is_up = |node: NodeId| self.links.is_up(node.0);
            let heir = shortage.heir((group, status.replica), &status.configuration, is_up);
            if let Some(to) = heir {
                let request = self.pending.add(Waiting::Nobody);
                self.consensus
                    .ask(Ask::Transfer { request, group, to }, now);
                handed.push(group);
            }
        }
        handed
    }

    /// The same event; of damage with the words of the stage that found it, which names the file.
    fn with_reason(&self, event: NodeEvent) -> NodeEvent {
        match event {
            NodeEvent::Damaged(member, why) => {
                let view = self.replicas.view(member.group);
                let view = view.filter(|view| view.member == member);
                let found = view.and_then(|view| view.standing().damage);
                NodeEvent::Damaged(member, found.unwrap_or(why))
            }
            event => event,
        }
    }

    fn note(&mut self, event: NodeEvent) {
        let event = self.with_reason(event);
        self.brain.note(&event);
        let line = match event {
            NodeEvent::Leader {
                member,
                term,
                leader: Some((replica, node)),
            } => {
                let partition = PartitionId::of(member.group);
                let node = node.map_or("an unknown node".to_owned(), node_name);
                let line = format!(
                    "partition {partition}: replica {} on {node} leads in term {term}",
                    replica.0
                );
                (Level::Note, line)
            }
            NodeEvent::ImageOffered {
                member,
                from,
                from_node,
                ticket,
            } => {
                // A thread that has ended says why by itself.
                let _ = self.offers.send(Offered {
                    member,
                    from,
                    from_node,
                    ticket,
                });
                return;
            }
            NodeEvent::Damaged(member, why) => {
                let name = ReplicaName(member);
                let line = format!("{name} takes no part any more: {why}");
                (Level::Error, line)
            }
            NodeEvent::Destroyed(member) => {
                (Level::Note, format!("{} is destroyed", ReplicaName(member)))
            }
            NodeEvent::Left(member) => {
                let line = format!("{} has left its group", ReplicaName(member));
                (Level::Note, line)
            }
            NodeEvent::PeerDamaged(member, why) => (
                Level::Warning,
                format!("what {} says cannot be: {why}", ReplicaName(member)),
            ),
            NodeEvent::BadFrame(why) => match self.bad_frames.count() {
                Some(count) => {
                    let line = format!("a frame cannot be read: {why} ({count} so far)");
                    (Level::Warning, line)
                }
                None => return,
            },
            _ => return,
        };
        self.log.write(line.0, &line.1);
    }
}

/// What every group that takes part here knows of itself.
fn statuses(consensus: &Consensus) -> BTreeMap<GroupId, Status> {
    let groups = consensus.groups();
    let statuses = groups.filter_map(|group| Some((group, consensus.status(group)?)));
    statuses.collect()
}

fn node_name(node: NodeId) -> String {
    format!("node {}", node.0)
}
