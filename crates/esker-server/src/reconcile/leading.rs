//! The side of the node that leads the meta group: it hears, answers, and proposes what is due.
//!
//! Every call is read through consensus first: who was deposed and does not know it answers nobody.
//! Then it is answered from the state as it is, or becomes an entry, whose outcome is the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use esker_raft::NodeId;
use esker_rpc::error::ErrorCode;
use esker_rpc::message::meta::{MetaAnswer, MetaCall};

use crate::log_lines::Level;
use crate::meta::admin::{self, Decision, Memory, answer, answered, is_being_made};
use crate::meta::balance::due;
use crate::meta::command::{Command, Deed, NewNode};
use crate::meta::directive::encode_directives;
use crate::meta::epoch::Epoch;
use crate::meta::ids::META;
use crate::meta::live::Live;
use crate::meta::notices::Notices;
use crate::meta::outcome::Outcome;
use crate::meta::plan::directives;
use crate::meta::recovery::freed;
use crate::meta::report::Report;
use crate::meta::state::State;
use crate::node::{Answer, Ask, Now, Reply, RequestId};

/// How long the creator of a table waits for its partitions to have leaders.
const MAKING_MAX: Duration = Duration::from_secs(10);

/// Calls that wait at once. Beyond it callers are told that the service is busy.
const CALLS_MAX: usize = 1024;

/// Names a call, as whoever takes calls does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// What comes of a call. Each gets exactly one.
pub type Told<T> = Result<T, Untold>;

/// Why nobody here can say what comes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untold {
    /// Another node leads the meta group, or nobody that is known.
    NotLeader(Option<NodeId>),
    /// Nobody knows whether it was done.
    Unknown,
}

/// What leaves the leader's side.
#[derive(Debug)]
pub enum Out {
    /// Consensus is asked.
    Ask(Ask),
    /// A call of administration is answered.
    Admin(CallId, Told<MetaAnswer>),
    /// A node that asks for a number gets it, or is refused.
    Register(CallId, Told<Result<NodeId, ErrorCode>>),
    /// A node that reports is told what must be true there: the bytes of its directives.
    Report(CallId, Told<Vec<u8>>),
}

/// What a request to consensus is for.
#[derive(Debug)]
enum Wait {
    /// To see that the answer is of now.
    Look(CallId, Call),
    /// An entry that a call became.
    Entry(CallId, Call),
    /// To see that what a node is told of what it holds is of now: what it has reported.
    Free(CallId, Box<Report>),
    /// An entry that was due by itself.
    Due,
    /// To see that the state here is as new as any, in that reign.
    Current(u64),
}

#[derive(Clone, Debug)]
enum Call {
    Admin(MetaCall),
    Register(NewNode),
}

/// A table whose creator waits for its leaders.
#[derive(Debug)]
struct Making {
    until: Duration,
    call: MetaCall,
    outcome: Outcome,
}

impl Making {
    /// A table that cannot be made where it was placed gets another number.
    fn follow(&mut self, state: &State) {
        let Outcome::Table { table } = &mut self.outcome else {
            return;
        };
        if let MetaCall::CreateTable(asked) = &self.call
            && !state.tables.contains_key(table)
            && let Some((anew, _)) = state.table(&asked.app_name)
        {
            *table = anew;
        }
    }
}

/// What this node does while it leads the meta group, and how it turns callers away while it does
/// not.
///
/// One thread calls it. `state` is always that of the replica here, as it is now.
#[derive(Debug, Default)]
pub struct Leading {
    /// What was heard since this node leads; `None` while it does not.
    live: Option<Live>,
    leader: Option<NodeId>,
    /// A read was cleared since: the state here has all that was committed before. Until then it
    /// may lack nodes and tables, and nobody is told anything by it.
    is_current: bool,
    /// How often this node began or ceased to lead.
    reign: u64,
    waits: BTreeMap<RequestId, Wait>,
    making: BTreeMap<CallId, Making>,
    /// Entries that are due and on their way: no others are proposed before they are done.
    due: BTreeSet<RequestId>,
    notices: Notices,
    /// What begins a new cluster, on the node that founds it.
    founding: Option<Deed>,
    /// The meta service that there is to be. Until the state says so, whoever leads with it tells
    /// nobody anything: it does not know what the others have given.
    epoch: Epoch,
    /// The replica that went on in it is here.
    is_base: bool,
    out: Vec<Out>,
}

impl Leading {
    /// The side of a node that founds a cluster by `founding`, if it does.
    pub fn new(founding: Option<Deed>) -> Leading {
        Leading {
            founding,
            ..Leading::default()
        }
    }

    /// The meta group goes on in that epoch, without most of its voters; whether the replica that
    /// does is here. No other one says so in its group, which would be another one then: it says
    /// nothing to anybody any more.
    pub fn go_on(&mut self, epoch: Epoch, is_here: bool) {
        self.epoch = epoch;
        self.is_base = is_here;
    }

    /// Whether the state here is that of the meta service that there is, and as new as any.
    fn is_ready(&self, state: &State) -> bool {
        self.is_current && state.epoch() >= self.epoch
    }

    /// Who leads the meta group, as far as the replica here knows; whether that is this node.
    pub fn lead(&mut self, leader: Option<NodeId>, is_here: bool) {
        self.leader = leader;
        if is_here != self.live.is_some() {
            self.live = is_here.then(Live::new);
            self.is_current = false;
            self.notices = Notices::default();
            self.reign += 1;
            // What was due for another leader, or in another term, is due anew.
            self.due.clear();
        }
    }

    /// Whether this node leads the meta group, as far as it knows.
    pub fn is_leading(&self) -> bool {
        self.live.is_some()
    }

    /// A call of administration came, from a client or from a node that forwards it.
    pub fn admin(&mut self, id: CallId, call: MetaCall, draw: &mut dyn FnMut() -> RequestId) {
        self.look(id, Call::Admin(call), draw);
    }

    /// A node without a number asks for one.
    pub fn register(&mut self, id: CallId, node: NewNode, draw: &mut dyn FnMut() -> RequestId) {
        self.look(id, Call::Register(node), draw);
    }

    /// A node reports, and is told what must be true there: at once, unless it asks whether what
    /// it holds is free. A leader that was deposed must not say that, so it looks first.
    pub fn report(
        &mut self,
        id: CallId,
        report: &Report,
        (state, now): (&State, Now),
        draw: &mut dyn FnMut() -> RequestId,
    ) {
        let (has_room, is_ready) = (self.has_room(), self.is_ready(state));
        let told = match &mut self.live {
            None => Err(Untold::NotLeader(self.leader)),
            Some(_) if !is_ready => {
                if !self.is_current {
                    // Its own report is what comes first: nobody waits for the next tick.
                    self.look_current(draw);
                }
                Ok(encode_directives(&[]))
            }
            Some(live) => {
                // Who is not heard is a stranger, and is told to stop.
                let is_heard = live.hear(state, report);
                let of_here_ms = i64::try_from(now.unix_ms()).unwrap_or(i64::MAX);
                let of_there_ms = i64::try_from(report.unix_ms).unwrap_or(i64::MAX);
                live.hear_clock(report.node, of_there_ms.saturating_sub(of_here_ms));
                if is_heard && report.asks > 0 && has_room {
                    return self.read(Wait::Free(id, Box::new(report.clone())), draw);
                }
                Ok(encode_directives(&directives(state, live, report)))
            }
        };
        self.out.push(Out::Report(id, told));
    }

    /// What a node is told that asks whether what it holds is free, by a state that is read since.
    fn told_freed(&self, report: &Report, state: &State) -> Told<Vec<u8>> {
        let Some(live) = self.live.as_ref() else {
            return Err(Untold::NotLeader(self.leader));
        };
        let is_ready = self.is_ready(state);
        let mut told = match is_ready {
            true => directives(state, live, report),
            false => Vec::new(),
        };
        // A recovery that is proposed may come behind the read, and be of a replica there.
        let is_recovery = |wait: &Wait| {
            let Wait::Entry(_, Call::Admin(call)) = wait else {
                return false;
            };
            matches!(call, MetaCall::RecoverTable(_))
        };
        if is_ready && !self.waits.values().any(is_recovery) {
            told.extend(freed(state, live, report));
        }
        Ok(encode_directives(&told))
    }

    /// A read of the meta group is cleared: the replica here has applied what it must see.
    pub fn cleared(
        &mut self,
        request: RequestId,
        state: &State,
        now: Now,
        draw: &mut dyn FnMut() -> RequestId,
    ) {
        let (id, call) = match self.waits.remove(&request) {
            Some(Wait::Look(id, call)) => (id, call),
            Some(Wait::Free(id, report)) => {
                let told = self.told_freed(&report, state);
                return self.out.push(Out::Report(id, told));
            }
            Some(Wait::Current(reign)) => {
                self.is_current |= self.live.is_some() && reign == self.reign;
                if self.is_current {
                    self.propose_due(state, now, draw);
                }
                return;
            }
            _ => return,
        };
        let unix_ms = now.unix_ms();
        if state.epoch() < self.epoch {
            return self.turn_away(id, &call, ErrorCode::ServiceNotActive);
        }
        let command = match (&call, &mut self.live) {
            (_, None) => return self.end(id, &call, Untold::NotLeader(self.leader)),
            (Call::Admin(asked), Some(live)) => match answer(state, live, asked, unix_ms) {
                Decision::Answer(answer) => return self.out.push(Out::Admin(id, Ok(answer))),
                Decision::Propose(command) => command,
                Decision::Remember(memory, answer) => {
                    match memory {
                        Memory::Lead(group, to) => live.hand_over(group, to),
                        Memory::Balance => live.ask_balance(true),
                    }
                    return self.out.push(Out::Admin(id, Ok(answer)));
                }
            },
            (Call::Register(node), Some(_)) => Command {
                unix_ms,
                deed: Deed::RegisterNode { node: node.clone() },
            },
        };
        self.propose(&command, Wait::Entry(id, call), draw);
    }

    /// What consensus or the state machine says of a request. True if it was one of here.
    pub fn replied(&mut self, request: RequestId, reply: &Reply, state: &State, now: Now) -> bool {
        self.due.remove(&request);
        let (id, call) = match self.waits.remove(&request) {
            None => return false,
            Some(Wait::Due | Wait::Current(_)) => return true,
            Some(Wait::Free(id, _)) => {
                // It asks again, and must not take this for an answer: nobody has given one.
                let node = match reply {
                    Reply::NotLeader(node) => *node,
                    _ => self.leader,
                };
                self.out.push(Out::Report(id, Err(Untold::NotLeader(node))));
                return true;
            }
            Some(Wait::Look(id, call) | Wait::Entry(id, call)) => (id, call),
        };
        match reply {
            Reply::Done(Answer::Meta(bytes)) => match Outcome::decode(bytes) {
                Ok(outcome) => self.done(id, call, outcome, state, now),
                Err(_) => self.end(id, &call, Untold::Unknown),
            },
            Reply::Done(_) | Reply::Unknown => self.end(id, &call, Untold::Unknown),
            Reply::NotLeader(node) => self.end(id, &call, Untold::NotLeader(*node)),
            Reply::Undone | Reply::Busy | Reply::Refused(_) => {
                self.turn_away(id, &call, ErrorCode::Busy);
            }
        }
        true
    }

    /// Time has passed: tables that were made are told of, and what is due is proposed.
    pub fn tick(
        &mut self,
        state: &State,
        elapsed: Duration,
        now: Now,
        draw: &mut dyn FnMut() -> RequestId,
    ) {
        for making in self.making.values_mut() {
            making.follow(state);
        }
        let is_over = |making: &Making| {
            making.until <= now.monotonic || !is_being_made(state, &making.outcome)
        };
        // Also once another node leads: the state here follows.
        let over: Vec<CallId> = self
            .making
            .iter()
            .filter(|row| is_over(row.1))
            .map(|row| *row.0)
            .collect();
        for id in over {
            if let Some(making) = self.making.remove(&id) {
                let told = answered(state, &making.call, &making.outcome);
                self.out.push(Out::Admin(id, Ok(told)));
            }
        }
        let Some(live) = &mut self.live else { return };
        if !self.is_current {
            // Nobody is heard before, so nobody was watched either.
            return self.look_current(draw);
        }
        if state.epoch() >= self.epoch {
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            live.pass(elapsed_ms);
        }
        self.propose_due(state, now, draw);
    }

    /// What is new of the nodes, in lines for whoever runs this one.
    pub fn notices(&mut self, state: &State) -> Vec<(Level, String)> {
        let is_ready = self.is_ready(state);
        let Some(live) = self.live.as_ref().filter(|_| is_ready) else {
            return Vec::new();
        };
        let lines = self.notices.look(state, live).into_iter();
        let mut lines: Vec<_> = lines.map(|line| (Level::Note, line)).collect();
        lines.extend(self.notices.clocks(state, live));
        lines.extend(self.notices.unlisted(live));
        lines
    }

    /// How many nodes have a clock that is far from this one's, if this one leads.
    pub fn clocks_apart(&self, state: &State) -> usize {
        self.live.as_ref().map_or(0, |live| {
            let is_apart = |node: &NodeId| live.clock_apart_ms(*node).is_some();
            live.alive(state).filter(is_apart).count()
        })
    }

    /// What is to be done, in this order.
    pub fn take(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    fn look(&mut self, id: CallId, call: Call, draw: &mut dyn FnMut() -> RequestId) {
        if self.live.is_none() {
            return self.end(id, &call, Untold::NotLeader(self.leader));
        }
        if !self.has_room() {
            return self.turn_away(id, &call, ErrorCode::Busy);
        }
        self.read(Wait::Look(id, call), draw);
    }

    fn has_room(&self) -> bool {
        self.waits.len() + self.making.len() < CALLS_MAX
    }

    /// Has consensus clear a read of the meta group.
    fn read(&mut self, wait: Wait, draw: &mut dyn FnMut() -> RequestId) {
        let request = draw();
        self.waits.insert(request, wait);
        let group = META;
        self.out.push(Out::Ask(Ask::Read { request, group }));
    }

    /// Proposes what is due by itself, unless what was due before is still on its way.
    fn propose_due(&mut self, state: &State, now: Now, draw: &mut dyn FnMut() -> RequestId) {
        let Some(live) = &mut self.live else { return };
        let unix_ms = now.unix_ms();
        let founding = self.founding.clone().filter(|_| state.cluster.is_none());
        let commands = match (self.due.is_empty(), founding) {
            (false, _) => Vec::new(),
            // The state refuses a second one.
            (true, Some(deed)) => vec![Command { unix_ms, deed }],
            (true, None) if state.epoch() < self.epoch => {
                let epoch = self.epoch;
                let deed = Deed::RecoverMeta { epoch };
                let command = self.is_base.then_some(Command { unix_ms, deed });
                command.into_iter().collect()
            }
            (true, None) => due(state, live, unix_ms),
        };
        for command in commands {
            self.propose(&command, Wait::Due, draw);
        }
    }

    /// Asks once more whether this node leads in earnest, unless that is asked already.
    fn look_current(&mut self, draw: &mut dyn FnMut() -> RequestId) {
        let reign = self.reign;
        let is_asked = |wait: &Wait| matches!(wait, Wait::Current(asked) if *asked == reign);
        if self.waits.values().any(is_asked) {
            return;
        }
        self.read(Wait::Current(reign), draw);
    }

    fn propose(&mut self, command: &Command, wait: Wait, draw: &mut dyn FnMut() -> RequestId) {
        let request = draw();
        if matches!(wait, Wait::Due) {
            self.due.insert(request);
        }
        self.waits.insert(request, wait);
        self.out.push(Out::Ask(Ask::Command {
            request,
            group: META,
            bytes: command.encode(),
        }));
    }

    fn done(&mut self, id: CallId, call: Call, outcome: Outcome, state: &State, now: Now) {
        match (call, outcome) {
            (Call::Register(_), outcome) => {
                let told = match outcome {
                    Outcome::Node { node } => Ok(Ok(node)),
                    Outcome::Refused { refusal } => Ok(Err(refusal.code())),
                    _ => Err(Untold::Unknown),
                };
                self.out.push(Out::Register(id, told));
            }
            (Call::Admin(call @ MetaCall::CreateTable(_)), outcome)
                if is_being_made(state, &outcome) =>
            {
                let until = now.monotonic + MAKING_MAX;
                let making = Making {
                    until,
                    call,
                    outcome,
                };
                self.making.insert(id, making);
            }
            (Call::Admin(call), outcome) => {
                let told = answered(state, &call, &outcome);
                self.out.push(Out::Admin(id, Ok(told)));
            }
        }
    }

    fn turn_away(&mut self, id: CallId, call: &Call, code: ErrorCode) {
        self.out.push(match call {
            Call::Admin(call) => Out::Admin(id, Ok(admin::refused(call, code))),
            Call::Register(_) => Out::Register(id, Ok(Err(code))),
        });
    }

    fn end(&mut self, id: CallId, call: &Call, why: Untold) {
        self.out.push(match call {
            Call::Admin(_) => Out::Admin(id, Err(why)),
            Call::Register(_) => Out::Register(id, Err(why)),
        });
    }
}

#[cfg(test)]
mod tests;
