//! What a group has to say after its input: records, messages, committed entries, reads.
//!
//! The order within is the law of `raft`'s asynchronous `Ready`. A leader's messages go at once:
//! they promise nothing about its own disk. Votes and acknowledgements promise something, so they
//! are held until the save that they speak of is durable. Entries are readable from the moment
//! `raft` is told that they were taken (trap 1), therefore they are in the cache before.

use std::time::Duration;

use raft::eraftpb::{Entry, HardState as RaftHardState, Message};
use raft::{Ready, StateRole};

use crate::alone::Forcing;
use crate::change::{Change, ChangeStep};
use crate::configuration::Configuration;
use crate::entry::is_change;
use crate::group::Group;
use crate::ids::{Point, ReplicaId, SaveNumber};
use crate::lease::Begun;
use crate::membership::admits;
use crate::output::{Apply, Committed, Effect, Event, Install, Output, ServedRead};
use crate::proposals::Outcome;
use crate::record::{HardState, Record, appends};

/// Messages of a ready whose room is kept for the next one: there may be a thousand groups.
const SPENT_MAX: usize = 8;

/// Whether a leader keeps entries that it does not need itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those that a live follower lacks, and those that follow on an image under way, within a
    /// bound.
    ForFollowers,
    /// None: the disk has no room for them. Who lacks them gets an image.
    Nothing,
}

impl Group {
    /// Says everything there is to say into `out`, whose save will have `number`. Returns whether
    /// there is more for the next turn.
    pub(crate) fn collect(
        &mut self,
        number: SaveNumber,
        clock: Duration,
        out: &mut Output,
    ) -> bool {
        if !self.records.is_empty() {
            // Its owner writes down elsewhere that the log knows it, and waits for that.
            let begins = |record: &Record| matches!(record, Record::Begin { .. });
            out.save.must_sync |= self.records.iter().any(begins);
            out.save.records.append(&mut self.records);
        }
        self.notice_damage(out);
        if self.damage.is_none() {
            for message in std::mem::take(&mut self.released) {
                self.send(message, out);
            }
        }
        if self.installing.is_some() || self.damage.is_some() {
            self.propose_queued(out);
            self.tell_lease(out);
            return false;
        }
        self.propose_queued(out);
        self.propose_alone();
        self.begin_reads(clock);
        if self.raw.has_ready() {
            let ready = self.raw.ready();
            self.take(ready, (number, clock), out);
        }
        self.notice_damage(out);
        self.serve_reads(out);
        if let Some(index) = self.desk().take_wanted() {
            // The one who lacks it must be a member in it.
            let index = index.max(self.configuration.version);
            out.events.push(Event::ImageWanted(self.member(), index));
        }
        self.tell_leader(out);
        self.tell_lease(out);
        self.installing.is_none() && self.damage.is_none() && self.raw.has_ready()
    }

    // What the log could not give back, `raft` took for nothing; it must hear no more.
    fn notice_damage(&mut self, out: &mut Output) {
        if self.raw.store().is_damaged.get() && self.damage.is_none() {
            self.retire("the log cannot be read", out);
        }
    }

    fn take(
        &mut self,
        mut ready: Ready,
        (number, clock): (SaveNumber, Duration),
        out: &mut Output,
    ) {
        if !ready.snapshot().is_empty() {
            let ticket = crate::ticket::Ticket::of_raft(ready.snapshot());
            self.begin_install(
                Install {
                    member: self.member(),
                    ticket,
                },
                number,
                out,
            );
        }
        let entries = ready.take_entries();
        if !entries.is_empty() {
            self.raw.mut_store().append(number, &entries);
            for record in appends(self.id, entries) {
                out.record(record);
            }
        }
        if let Some(hard) = ready.hs() {
            let state = of_raft(hard);
            out.record(Record::Hard {
                group: self.id,
                state,
            });
        }
        for read in ready.take_read_states() {
            self.confirm_reads(&read.request_ctx, read.index, clock);
        }
        let spent = self.hold(&mut ready, number, out);
        let committed = ready.take_committed_entries();
        let (ready_number, must_sync) = (ready.number(), ready.must_sync());
        self.raw.advance_append_async(ready);
        self.give_back(spent);
        if !must_sync {
            // `raft` notes each ready until it hears of it; idle groups would note them for ever.
            match self.persisting.back_mut() {
                Some(last) => last.1 = ready_number,
                None => self.raw.on_persist_ready(ready_number),
            }
        }
        let version = self.configuration.version;
        self.hand_out(committed, out);
        if self.configuration.version != version {
            self.remember_commit(number, out);
        }
        self.set_timeout();
    }

    // A leader's messages wait for nothing while its term and its vote are durable. Before that,
    // nothing leaves: the only voter of a group leads at once, and after a crash it would lead in
    // the same term again, with other entries. All others wait for this save if it has something to
    // sync; otherwise for the last one of this group that is under way, since they may acknowledge
    // what is in it. What carried them comes back empty.
    fn hold(&mut self, ready: &mut Ready, number: SaveNumber, out: &mut Output) -> Vec<Message> {
        if ready.must_sync() {
            self.persisting.push_back((number, ready.number()));
            out.save.must_sync = true;
        }
        if let Some(hard) = ready.hs() {
            let promise = (hard.term, hard.vote);
            if promise != self.promise {
                self.promise = promise;
                self.promising = Some(number);
            }
        }
        let waits_for = self.persisting.back().map(|row| row.0);
        let mut waiting = ready.take_persisted_messages();
        let mut free = ready.take_messages();
        if self.promising.is_some() {
            waiting.append(&mut free);
        }
        for message in free.drain(..) {
            self.send(message, out);
        }
        for message in waiting.drain(..) {
            match waits_for {
                Some(number) => self.held.push_back((number, message)),
                None => self.send(message, out),
            }
        }
        // One of the two is `raft`'s, the other was never used.
        if free.capacity() > waiting.capacity() {
            free
        } else {
            waiting
        }
    }

    // `raft` would take new room for the messages of each ready, which is more than `malloc` has at
    // hand: of 1 024 groups that nobody uses that was a fifteenth of this thread's time.
    fn give_back(&mut self, spent: Vec<Message>) {
        if self.raw.raft.msgs.is_empty() && spent.capacity() <= SPENT_MAX {
            self.raw.raft.msgs = spent;
        }
    }

    // Trap 2: from here until the save is durable the group takes no input.
    fn begin_install(&mut self, install: Install, number: SaveNumber, out: &mut Output) {
        let ticket = &install.ticket;
        let (index, term) = (ticket.index, ticket.term);
        assert!(self.applied == self.handed_out && index > self.applied);
        self.raw.mut_store().begin(Point { index, term });
        self.set_configuration(ticket.configuration.clone());
        // What was forgotten is known again, by one who had more: whoever wants it tells it again.
        self.forcing = Forcing::No;
        self.history
            .retain(|&from, _| from == ticket.configuration.version);
        self.installing = Some((number, index));
        self.unsure = Some(number);
        self.handed_out = index;
        for token in self.proposals.skipped(index) {
            out.events
                .push(Event::Proposal(self.id, token, Outcome::Unknown));
        }
        let (group, last) = (self.id, Point { index, term });
        self.proposals.committed(last, |token| {
            out.events
                .push(Event::Proposal(group, token, Outcome::Overwritten));
        });
        out.record(Record::Begin {
            group: self.id,
            replica: self.replica,
            index,
            term,
            configuration: ticket.configuration.clone(),
        });
        out.installs.push(install);
    }

    pub(crate) fn set_configuration(&mut self, configuration: Configuration) {
        // Who was the only member ever knows that its group did not go on without it, and may have
        // had nobody to tell it so: it does not stop for that when others come to vote. A change
        // that was known to be committed when it was opened is older than that.
        if self.is_surely_alone() && self.handed_out > self.known {
            self.leases.free();
        }
        self.addresses
            .retain(|replica, _| !configuration.contains(*replica));
        self.heard
            .retain(|replica, _| !configuration.has_left(*replica));
        self.history
            .insert(configuration.version, configuration.clone());
        self.configuration = configuration;
        // A majority of other voters has promised nothing.
        self.leases.forget();
    }

    fn hand_out(&mut self, entries: Vec<Entry>, out: &mut Output) {
        if entries.is_empty() {
            return;
        }
        let mut committed = Vec::with_capacity(entries.len());
        for entry in entries {
            assert!(
                entry.index == self.handed_out + 1,
                "entries come out one by one"
            );
            self.handed_out = entry.index;
            let (index, term) = (entry.index, entry.term);
            let group = self.id;
            let token = self.proposals.committed(Point { index, term }, |token| {
                out.events
                    .push(Event::Proposal(group, token, Outcome::Overwritten));
            });
            let effect = if is_change(&entry) {
                self.apply_change(&entry)
            } else if entry.data.is_empty() {
                Effect::Nothing
            } else {
                Effect::Write(entry.data)
            };
            // Whoever proposed wanted an effect; `raft` makes nothing of a change that it refuses.
            let is_refused = effect == Effect::Nothing;
            if let Some(token) = token.filter(|_| is_refused) {
                out.events
                    .push(Event::Proposal(group, token, Outcome::Refused));
            }
            let token = token.filter(|_| !is_refused);
            committed.push(Committed {
                index,
                term,
                effect,
                token,
            });
        }
        out.applies.push(Apply {
            member: self.member(),
            entries: committed,
        });
    }

    // The configuration changes where the entry is handed out, so each state machine finds it in
    // its place among the writes. What follows from the log alone decides; every replica decides
    // the same.
    fn apply_change(&mut self, entry: &Entry) -> Effect {
        let change = match entry.context.is_empty() {
            true => None,
            false => Some(Change::decode(&entry.context).expect("checked when it was read")),
        };
        if let Some(ChangeStep::Alone(replica, last)) =
            change.as_ref().map(|change| change.steps[0])
        {
            return self.apply_alone(replica, last, entry.index);
        }
        let is_admitted = match &change {
            Some(change) => admits(&self.configuration, change).is_ok(),
            None => true,
        };
        if !is_admitted {
            return Effect::Nothing;
        }
        let told = change.as_ref().map(Change::as_raft).unwrap_or_default();
        let Ok(state) = self.raw.apply_conf_change(&told) else {
            return Effect::Nothing;
        };
        let added = change.as_ref().map(Change::added).unwrap_or_default();
        let next = self.configuration.next(entry.index, &state, &added);
        self.set_configuration(next.clone());
        self.stand_down_without_vote(&next);
        if next.has_left(self.replica) {
            self.leave(&next);
        }
        Effect::Configuration(next)
    }

    /// Trap 3: a leader without a vote panics at its next commit.
    pub(crate) fn stand_down_without_vote(&mut self, next: &Configuration) {
        if !next.votes(self.replica) && self.raw.raft.state != StateRole::Follower {
            let term = self.raw.raft.term;
            self.raw.raft.become_follower(term, raft::INVALID_ID);
        }
    }

    // A commit is not synced as a rule: it is found again. But who has left relies on being told by
    // those who will know for ever.
    fn remember_commit(&mut self, number: SaveNumber, out: &mut Output) {
        let state = of_raft(&self.raw.raft.hard_state());
        out.record(Record::Hard {
            group: self.id,
            state,
        });
        out.save.must_sync = true;
        self.unsure = Some(number);
    }

    // Those that a lease covers see what is committed by now; a lease that is used and grows old is
    // confirmed again meanwhile.
    fn begin_reads(&mut self, clock: Duration) {
        let term = self.leading_term();
        if let Some((lease, term)) =
            term.and_then(|term| Some((self.leases.held(term, clock)?, term)))
            && self.reads.are_queued()
        {
            let committed = self.raw.raft.raft_log.committed;
            self.reads.settle(self.now, committed);
            if self.leases.is_ageing(lease, clock) && self.leases.are_used(term) {
                self.reads.want_round();
            }
        }
        let begun = Begun { at: clock, term };
        if let Some(name) = self.reads.start(self.now, begun) {
            self.raw.read_index(name);
        }
    }

    fn confirm_reads(&mut self, name: &[u8], index: u64, clock: Duration) {
        let begun = self.reads.confirmed(self.now, name, index);
        if let (Some(begun), Some(term)) = (begun, self.leading_term()) {
            self.leases.confirmed(begun, (term, index), clock);
        }
    }

    // The term, while this replica leads.
    fn leading_term(&self) -> Option<u64> {
        let raft = &self.raw.raft;
        (raft.state == StateRole::Leader && self.is_open()).then_some(raft.term)
    }

    fn tell_lease(&mut self, out: &mut Output) {
        let term = self.leading_term();
        if let Some(lease) = self.leases.news(term) {
            out.events.push(Event::Lease(self.member(), lease));
        }
    }

    fn serve_reads(&mut self, out: &mut Output) {
        for (token, index) in self.reads.served(self.applied) {
            let group = self.id;
            out.reads.push(ServedRead {
                group,
                token,
                index,
            });
        }
    }

    fn tell_leader(&mut self, out: &mut Output) {
        let now = (self.raw.raft.term, self.raw.raft.leader_id);
        if now != self.leader_told {
            self.leader_told = now;
            out.events.push(Event::Leader {
                group: self.id,
                term: now.0,
                leader: self.leader(),
            });
        }
        if self.is_newly_established() {
            out.events.push(Event::Established(self.member()));
        }
    }

    /// Entries up to `durable`, which the owner has applied and made durable, may go. Returns
    /// whether some do.
    pub(crate) fn compact(&mut self, durable: u64, keep: Keep) -> bool {
        let last = self.raw.raft.raft_log.last_index();
        let mut target = durable.min(self.applied);
        let floor = last.saturating_sub(self.options.log_lag_max);
        if keep == Keep::ForFollowers && self.raw.raft.state == StateRole::Leader {
            let kept = self
                .followers_keep()
                .into_iter()
                .chain(self.desk().keeps_from());
            if let Some(kept) = kept.min() {
                target = target.min(kept.max(floor));
            }
        }
        if target <= self.raw.store().compacted.index || self.installing.is_some() {
            return false;
        }
        let term = self.raw.store().term_at(target);
        let term = term.expect("what is applied and not compacted has a term");
        let (group, index) = (self.id, target);
        self.raw.mut_store().compact(Point { index, term });
        self.desk().let_go_below(index);
        self.records.push(Record::Compact { group, index, term });
        let oldest = self.history.range(..=index).next_back().map(|row| *row.0);
        self.history
            .retain(|&from, _| oldest.is_none_or(|oldest| from >= oldest));
        true
    }

    fn followers_keep(&self) -> Option<u64> {
        let live = self
            .configuration
            .nodes
            .keys()
            .filter(|&&replica| self.is_live(replica));
        let matched = live.filter_map(|replica| self.raw.raft.prs().get(replica.0));
        matched
            .map(|progress| progress.matched)
            .filter(|&matched| matched > 0)
            .min()
    }

    /// Ends images under way to replicas that have come along, or left.
    pub(crate) fn settle_images(&mut self) {
        for replica in self.desk().receivers() {
            let progress = self.raw.raft.prs().get(replica.0);
            let is_waiting = progress.is_some_and(|pr| pr.state == raft::ProgressState::Snapshot);
            if !is_waiting || self.raw.raft.state != StateRole::Leader {
                self.desk().ended(replica);
            }
        }
    }

    /// The replica takes no part any more, for `why`.
    pub(crate) fn retire(&mut self, why: &'static str, out: &mut Output) {
        out.events.push(Event::Damaged(self.member(), why));
        self.damage = Some(why);
        self.answer_all(out);
    }

    /// Every proposal and every read is answered: the replica is destroyed.
    pub(crate) fn end(&mut self, out: &mut Output) {
        self.damage = Some("it is destroyed");
        self.answer_all(out);
    }

    fn answer_all(&mut self, out: &mut Output) {
        self.propose_queued(out);
        let id = self.id;
        let proposals = self.proposals.skipped(u64::MAX - 1).into_iter();
        let unknown = proposals.map(|token| Event::Proposal(id, token, Outcome::Unknown));
        out.events.extend(unknown);
        let failed = self.reads.drain().into_iter();
        out.events
            .extend(failed.map(|token| Event::ReadFailed(id, token)));
    }

    /// Whether `replica` is spoken to by a name that was used before this one.
    pub(crate) fn is_older(&self, replica: ReplicaId) -> bool {
        replica < self.replica
    }
}

fn of_raft(hard: &RaftHardState) -> HardState {
    HardState {
        term: hard.term,
        vote: hard.vote,
        commit: hard.commit,
    }
}
