//! What a group's owner answers: saved, applied, an image made, fetched or sent.

use bytes::Bytes;
use raft::{SnapshotStatus, StateRole};

use crate::group::Group;
use crate::ids::{ReplicaId, SaveNumber};
use crate::output::{Event, Output};
use crate::ticket::Ticket;

impl Group {
    /// Everything saved up to `number` is durable.
    pub(crate) fn durable(&mut self, number: SaveNumber) {
        self.raw.mut_store().cache.durable(number);
        let mut ready = None;
        while self.persisting.front().is_some_and(|row| row.0 <= number) {
            ready = self.persisting.pop_front().map(|row| row.1);
        }
        if let Some(ready) = ready {
            self.raw.on_persist_ready(ready);
        }
        while self.held.front().is_some_and(|row| row.0 <= number) {
            self.released.extend(self.held.pop_front().map(|row| row.1));
        }
        if let Some((_, index)) = self.installing.take_if(|row| row.0 <= number) {
            self.applied = index;
            self.handed_out = index;
            self.raw.advance_apply_to(index);
        }
        self.promising.take_if(|promising| *promising <= number);
        self.unsure.take_if(|unsure| *unsure <= number);
        let bytes_max = self.options.cache_bytes_max;
        self.raw.mut_store().cache.shrink(bytes_max);
        self.set_timeout();
    }

    /// Whether something follows from what the owner has yet to apply: who waits for that is to be
    /// told at once, and everybody else with the next turn.
    pub(crate) fn awaits_applied(&self) -> bool {
        let raft = &self.raw.raft;
        let is_image_here = self.offered.as_ref().is_some_and(|it| it.is_fetched);
        let is_changing = self.configuration.auto_leave
            || (raft.state == StateRole::Leader && raft.has_pending_conf());
        self.is_open() && (self.reads.are_confirmed() || is_image_here || is_changing)
    }

    /// The owner has applied all entries up to `index`. Returns whether something follows.
    pub(crate) fn applied(&mut self, index: u64, out: &mut Output) -> bool {
        let is_awaited = self.awaits_applied();
        // What was handed out before an image came is applied before it, so nothing is ever ahead.
        assert!(
            index <= self.handed_out,
            "what was not handed out is not applied"
        );
        if index > self.applied && self.installing.is_none() {
            self.applied = index;
            let last = self.raw.raft.raft_log.last_index();
            self.raw.advance_apply_to(index);
            // A leader that has applied a joint configuration appends the entry that leaves it, and
            // `raft` 0.7.0 sends that to nobody: it would wait for the next heartbeats.
            if self.raw.raft.raft_log.last_index() > last {
                self.raw.raft.bcast_append();
            }
        }
        self.install_fetched(out);
        is_awaited || self.raw.has_ready()
    }

    /// The owner has fetched the image of `index`, and can switch to it.
    pub(crate) fn image_fetched(&mut self, index: u64, out: &mut Output) {
        match self
            .offered
            .as_mut()
            .filter(|offered| offered.point.index == index)
        {
            Some(offered) => offered.is_fetched = true,
            None => out.events.push(Event::ImageUnused(self.member(), index)),
        }
        self.install_fetched(out);
    }

    /// The owner could not fetch the image of `index`; the leader will offer one again.
    pub(crate) fn image_lost(&mut self, index: u64) {
        self.offered.take_if(|offered| offered.point.index == index);
    }

    // Entries that are still being applied come first, so that nobody applies one to the image.
    pub(crate) fn install_fetched(&mut self, out: &mut Output) {
        if self.applied < self.handed_out || !self.is_open() {
            return;
        }
        let Some(offered) = self.offered.take_if(|offered| offered.is_fetched) else {
            return;
        };
        self.step_raft(offered.message);
        if self.raw.raft.raft_log.unstable_snapshot().is_none() {
            out.events
                .push(Event::ImageUnused(self.member(), offered.point.index));
        }
    }

    /// The owner made an image as of `index`, and offers it; or could make none.
    pub(crate) fn image_made(&mut self, image: Option<(u64, Bytes)>) {
        let found = image.and_then(|(index, contents)| {
            let term = self.raw.store().term_at(index).ok()?;
            // The members as of the image's own index: those of today would be applied twice.
            let (_, configuration) = self.history.range(..=index).next_back()?;
            let configuration = configuration.clone();
            Some(Ticket {
                index,
                term,
                configuration,
                contents,
            })
        });
        let desk = self.raw.mut_store().desk.get_mut();
        match found {
            Some(ticket) => desk.made(ticket),
            None => desk.not_made(),
        }
    }

    /// The image of `index` is not here any more.
    pub(crate) fn image_gone(&mut self, index: u64) {
        for replica in self.raw.mut_store().desk.get_mut().withdraw(index) {
            self.image_sent(replica, false);
        }
    }

    /// What became of the image that was offered to `replica`.
    pub(crate) fn image_sent(&mut self, replica: ReplicaId, arrived: bool) {
        if self.raw.mut_store().desk.get_mut().ended(replica) {
            let status = if arrived {
                SnapshotStatus::Finish
            } else {
                SnapshotStatus::Failure
            };
            self.raw.report_snapshot(replica.0, status);
        }
    }
}
