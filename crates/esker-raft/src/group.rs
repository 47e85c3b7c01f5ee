//! One group on this node: what it is made of, and what all its calls share.
//!
//! What comes in is in `step.rs` (peers, the clock), `asks.rs` (callers) and `answers.rs` (disk and
//! state machine), and what comes out in `collect.rs`. Nothing here waits: each call leaves the
//! consensus core with something to say, or does not.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use raft::eraftpb::{Message, MessageType};
use raft::{Config, RawNode, StateRole};

use crate::alone::Forcing;
use crate::configuration::Configuration;
use crate::ids::{GroupId, Member, NodeId, Point, ReplicaId, SaveNumber};
use crate::image::ImageDesk;
use crate::lease::Leases;
use crate::leaving::Leaving;
use crate::log::LogRead;
use crate::membership::ChangeRefusal;
use crate::message::{Body, Envelope, Step, has_kind};
use crate::options::Options;
use crate::output::Output;
use crate::proposals::Proposals;
use crate::read::Reads;
use crate::record::Record;
use crate::start::{FIRST, Start, StartError, beginning};
use crate::store::GroupStore;
use crate::timeout::Draw;

/// Why a proposal, a change or a read is not taken. It had no effect, and may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The group is not here.
    NoGroup,
    /// Another replica leads, or nobody does.
    NotLeader(Option<ReplicaId>),
    /// The lead is being handed over.
    Transferring,
    /// As much waits as may wait.
    Busy,
    /// An entry has 1 byte at least, and at most as many as `limits.rs` says.
    Size,
    /// A rule of membership is against the change.
    Change(ChangeRefusal),
}

/// What a group knows of itself.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its replica here.
    pub replica: ReplicaId,
    /// Its term.
    pub term: u64,
    /// Who leads, as far as it knows.
    pub leader: Option<ReplicaId>,
    /// It leads, and an entry of its term is committed: also the one that says who the members are,
    /// if it goes on alone. Until then it may have been elected by a vote that is lost with its
    /// disk, and may never commit anything.
    pub is_established: bool,
    /// Up to where it knows entries to be committed.
    pub commit: u64,
    /// Up to where its owner has applied them.
    pub applied: u64,
    /// The last entry that is compacted.
    pub compacted: u64,
    /// The last entry of its log.
    pub last: u64,
    /// The term of that.
    pub last_term: u64,
    /// The members, as of what was handed out.
    pub configuration: Configuration,
    /// It is on its way to go on alone: of its members no entry says yet that they are all.
    pub is_going_alone: bool,
    /// Why it takes no part any more, if it does not.
    pub damage: Option<&'static str>,
}

/// One replica of one group.
pub(crate) struct Group {
    pub(crate) id: GroupId,
    pub(crate) replica: ReplicaId,
    pub(crate) node: NodeId,
    pub(crate) options: Arc<Options>,
    pub(crate) raw: RawNode<GroupStore>,
    pub(crate) configuration: Configuration,
    /// The configurations that an image may have, by the index from which on they hold.
    pub(crate) history: BTreeMap<u64, Configuration>,
    pub(crate) applied: u64,
    pub(crate) handed_out: u64,
    /// What was known to be committed when it was opened.
    pub(crate) known: u64,
    /// Records that no `Ready` asks for.
    pub(crate) records: Vec<Record>,
    /// Messages that wait for a save.
    pub(crate) held: VecDeque<(SaveNumber, Message)>,
    /// Which `Ready` of `raft` each save that is not durable makes durable.
    pub(crate) persisting: VecDeque<(SaveNumber, u64)>,
    pub(crate) released: Vec<Message>,
    /// The save that ends the installation of an image, and the image's index.
    pub(crate) installing: Option<(SaveNumber, u64)>,
    pub(crate) offered: Option<Offered>,
    pub(crate) proposals: Proposals,
    pub(crate) reads: Reads,
    pub(crate) leases: Leases,
    pub(crate) addresses: BTreeMap<ReplicaId, NodeId>,
    pub(crate) heard: BTreeMap<ReplicaId, u64>,
    pub(crate) now: u64,
    /// Until then it asks often whether others would vote for it: it was freed lately.
    pub(crate) eager_until: u64,
    pub(crate) leader_told: (u64, u64),
    /// The last term in which it was told that this replica is established.
    established_told: u64,
    /// Term and vote as they were last saved, and the save that is not durable yet.
    pub(crate) promise: (u64, u64),
    pub(crate) promising: Option<SaveNumber>,
    pub(crate) leaving: Option<Leaving>,
    pub(crate) forcing: Forcing,
    /// The save that makes it durable that the configuration is committed.
    pub(crate) unsure: Option<SaveNumber>,
    // Term, version and the timeout that follows from them.
    timeout: (u64, u64, usize),
    pub(crate) damage: Option<&'static str>,
}

/// An image that the leader offers.
pub(crate) struct Offered {
    pub(crate) message: Message,
    pub(crate) point: Point,
    pub(crate) is_fetched: bool,
}

/// Who a replica is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) group: GroupId,
    pub(crate) replica: ReplicaId,
    pub(crate) node: NodeId,
}

impl Group {
    pub(crate) fn new(
        who: Identity,
        start: Start,
        options: &Arc<Options>,
        log: &Arc<dyn LogRead>,
    ) -> Result<Group, StartError> {
        let is_again = matches!(start, Start::Again(..));
        let begin = beginning(who.group, who.replica, start, log.as_ref())?;
        let configuration = begin.mark.configuration.clone();
        // Its state has its removal, and nobody tells it of that again: it asks whether it may go.
        let leaving = configuration
            .has_left(who.replica)
            .then(|| Leaving::new(configuration.clone()));
        let store = GroupStore {
            group: who.group,
            log: Arc::clone(log),
            cache: Default::default(),
            compacted: begin.compacted,
            last: begin.last,
            initial: (begin.hard.to_raft(), configuration.conf_state()),
            desk: Default::default(),
            is_damaged: Default::default(),
        };
        let applied = begin.mark.applied.index;
        let silent = slog::Logger::root(slog::Discard, slog::o!());
        let raw = RawNode::new(&core_config(who.replica, options, applied), store, &silent);
        let mut group = Group {
            id: who.group,
            replica: who.replica,
            node: who.node,
            options: Arc::clone(options),
            raw: raw.expect("the settings are sound and the beginning was checked"),
            history: BTreeMap::from([(configuration.version, configuration.clone())]),
            configuration,
            applied,
            handed_out: applied,
            known: begin.hard.commit.max(applied),
            records: begin.records,
            held: VecDeque::new(),
            persisting: VecDeque::new(),
            released: Vec::new(),
            installing: None,
            offered: None,
            proposals: Proposals::default(),
            reads: Reads::new(who.replica, options.incarnation),
            leases: Leases::new(options.read_promise, is_again),
            addresses: BTreeMap::new(),
            heard: BTreeMap::new(),
            now: 0,
            eager_until: 0,
            leader_told: (0, 0),
            established_told: 0,
            promise: (begin.hard.term, begin.hard.vote),
            promising: None,
            leaving,
            forcing: Forcing::No,
            unsure: None,
            timeout: (0, 0, 0),
            damage: None,
        };
        group.set_timeout();
        if group.is_alone() {
            // There is nobody to wait for: it leads with its first tick.
            group.raw.raft.election_elapsed = group.timeout.2 - 1;
        }
        Ok(group)
    }

    pub(crate) fn member(&self) -> Member {
        Member {
            group: self.id,
            replica: self.replica,
        }
    }

    /// Whether input is taken: not while an image is being installed (trap 2), nor after damage.
    pub(crate) fn is_open(&self) -> bool {
        self.installing.is_none() && self.damage.is_none()
    }

    /// Whether it is the only one who votes, in a joint configuration on both sides.
    pub(crate) fn is_alone(&self) -> bool {
        let configuration = &self.configuration;
        let mut voters = configuration.voters.union(&configuration.outgoing);
        voters.next() == Some(&self.replica) && voters.next().is_none()
    }

    /// Whether it hears nothing of its group, and says nothing, before somebody frees it: neither a
    /// vote nor an acknowledgement nor a promise of its may count in a majority of before. Who was
    /// told to go on alone is the one that the group goes on with.
    pub(crate) fn is_held(&self) -> bool {
        self.leases.is_held() && self.forcing == Forcing::No && !self.is_surely_alone()
    }

    /// Whether nobody can have gone on without it: nobody else was ever a member, by all that was
    /// known to be committed when it was opened. A learner is one, for this replica may have had it
    /// vote, and have forgotten that in a crash; that it is a learner is durable by then.
    pub(crate) fn is_surely_alone(&self) -> bool {
        self.was_ever_alone() && self.handed_out >= self.known
    }

    /// Whether nobody else was ever a voter, as far as this replica has handed out. Others lead
    /// without it only once a change is committed that it knows to be, durably, and `raft` does not
    /// campaign before that is handed out: so it has promised nothing to anybody else.
    pub(crate) fn was_ever_alone(&self) -> bool {
        // Who goes on alone has a configuration that no entry says.
        self.forcing == Forcing::No && self.configuration.version == FIRST.index && self.is_alone()
    }

    // The only voter of a group leads as soon as it campaigns, and `raft` insists that its log is
    // durable by then. A leader always ticks.
    pub(crate) fn may_campaign(&self) -> bool {
        let raft = &self.raw.raft;
        let is_durable = raft.raft_log.persisted == raft.raft_log.last_index();
        raft.state == StateRole::Leader || is_durable || !self.is_alone()
    }

    pub(crate) fn is_live(&self, replica: ReplicaId) -> bool {
        let ticks_max = self.options.election_ticks as u64;
        let heard = self.heard.get(&replica);
        heard.is_some_and(|&heard| self.now - heard <= ticks_max)
    }

    pub(crate) fn leader(&self) -> Option<ReplicaId> {
        let leader = self.raw.raft.leader_id;
        (leader != raft::INVALID_ID).then_some(ReplicaId(leader))
    }

    fn is_established(&self) -> bool {
        let raft = &self.raw.raft;
        let leads = raft.state == StateRole::Leader && self.is_open();
        leads && self.forcing == Forcing::No && raft.commit_to_current_term()
    }

    /// Whether it has become established since this was asked last.
    pub(crate) fn is_newly_established(&mut self) -> bool {
        let term = self.raw.raft.term;
        let is_new = self.established_told != term && self.is_established();
        if is_new {
            self.established_told = term;
        }
        is_new
    }

    pub(crate) fn status(&self) -> Status {
        let log = &self.raw.raft.raft_log;
        Status {
            replica: self.replica,
            term: self.raw.raft.term,
            leader: self.leader(),
            is_established: self.is_established(),
            commit: log.committed,
            applied: self.applied,
            compacted: self.raw.store().compacted.index,
            last: log.last_index(),
            last_term: log.last_term(),
            configuration: self.configuration.clone(),
            is_going_alone: self.forcing != Forcing::No,
            damage: self.damage,
        }
    }

    pub(crate) fn draw(&self) -> Draw {
        let count = self
            .configuration
            .voters
            .union(&self.configuration.outgoing)
            .count();
        Draw {
            seed: self.options.seed,
            group: self.id,
            replica: self.replica,
            term: self.raw.raft.term,
            rank: (self.configuration.rank(self.replica).unwrap_or(0), count),
        }
    }

    // After every call that may have changed the term: `raft` has drawn a timeout by chance.
    pub(crate) fn set_timeout(&mut self) {
        let now = (self.raw.raft.term, self.configuration.version);
        if (self.timeout.0, self.timeout.1) != now || self.timeout.2 == 0 {
            let ticks = self.draw().ticks(self.options.election_ticks);
            self.timeout = (now.0, now.1, ticks);
        }
        self.raw
            .raft
            .set_randomized_election_timeout(self.timeout.2);
    }

    pub(crate) fn envelope(&self, to: ReplicaId, body: Body) -> Envelope {
        Envelope {
            group: self.id,
            from: self.replica,
            from_node: self.node,
            to,
            version: self.configuration.version,
            body,
        }
    }

    /// Sends a message of `raft`; one to a replica that nobody knows an address of is lost.
    pub(crate) fn send(&self, mut message: Message, out: &mut Output) {
        let to = ReplicaId(message.to);
        let known = self
            .configuration
            .nodes
            .get(&to)
            .or_else(|| self.addresses.get(&to));
        // A heartbeat of a round of reads has a context, which its answer repeats.
        let is_of_round =
            message.get_msg_type() == MessageType::MsgHeartbeat && !message.context.is_empty();
        if is_of_round && self.leases.are_used(message.term) {
            message.reject_hint = self.leases.asked_ms();
        }
        // Forwarded proposals and transfers never leave: they are refused where they were made.
        if let Some(&node) = known.filter(|_| has_kind(&message)) {
            let body = Body::Step(Box::new(Step(message)));
            out.send(node, self.envelope(to, body));
        }
    }

    pub(crate) fn desk(&mut self) -> &mut ImageDesk {
        self.raw.mut_store().desk.get_mut()
    }
}

fn core_config(replica: ReplicaId, options: &Options, applied: u64) -> Config {
    Config {
        id: replica.0,
        election_tick: options.election_ticks,
        heartbeat_tick: options.heartbeat_ticks,
        applied,
        max_size_per_msg: options.message_bytes_max,
        max_inflight_msgs: options.inflight_messages_max,
        check_quorum: true,
        pre_vote: true,
        read_only_option: raft::ReadOnlyOption::Safe,
        // Trap 9, found by the simulator: `raft` adds entries to an empty message for the same
        // follower without a look at where that one stands. After a refusal in the same turn the
        // follower would take old entries for new ones.
        batch_append: false,
        // Followers learn what is committed from the next entries, or from the next heartbeat.
        // Telling each at once costs two of four messages of a write, and as many wake-ups. While
        // the configuration changes `raft` tells them at once all the same.
        skip_bcast_commit: true,
        max_uncommitted_size: (options.proposal_bytes_max as u64).max(options.message_bytes_max),
        max_committed_size_per_ready: options.apply_bytes_max,
        ..Config::default()
    }
}
