//! What a follower gets when the entries it lacks are compacted: asked for, made, sent, reported.
//!
//! `raft` asks in the middle of a step, when nothing can be made yet; the answer is then
//! "temporarily unavailable", and it asks again. Meanwhile the group tells its owner that an image
//! is wanted. While an image is offered or under way, the leader keeps its log from the image's
//! index on: a follower that has taken it would otherwise need the next one at once, and so on for
//! ever. Both the time and the entries that this may cost are bounded.

use std::collections::BTreeMap;

use crate::ids::ReplicaId;
use crate::ticket::Ticket;

/// The images of one group, on the side that sends them.
#[derive(Debug, Default)]
pub(crate) struct ImageDesk {
    now: u64,
    offer: Option<Offer>,
    wanted: Option<u64>,
    is_told: bool,
    sending: BTreeMap<ReplicaId, Sending>,
}

#[derive(Debug)]
struct Offer {
    ticket: Ticket,
    since: u64,
    // Nobody has it yet, or somebody is on the way to.
    is_open: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    index: u64,
    since: u64,
}

impl ImageDesk {
    /// `raft` asks for an image of at least `index` for `to`. `None` is "temporarily unavailable".
    pub(crate) fn ask(&mut self, index: u64, to: ReplicaId) -> Option<Ticket> {
        // One that is not in the image's configuration would not take it.
        let fits = |ticket: &Ticket| ticket.index >= index && ticket.configuration.contains(to);
        let fresh = self.offer.as_mut().filter(|offer| fits(&offer.ticket));
        let Some(offer) = fresh else {
            self.wanted = Some(self.wanted.map_or(index, |wanted| wanted.max(index)));
            return None;
        };
        offer.since = self.now;
        offer.is_open = true;
        let (index, since) = (offer.ticket.index, self.now);
        self.sending.insert(to, Sending { index, since });
        Some(offer.ticket.clone())
    }

    /// The index from which on an image is wanted, once for each that is made.
    pub(crate) fn take_wanted(&mut self) -> Option<u64> {
        let wanted = self.wanted.filter(|_| !self.is_told)?;
        self.is_told = true;
        Some(wanted)
    }

    /// An image was made and is offered from now on.
    pub(crate) fn made(&mut self, ticket: Ticket) {
        self.wanted = None;
        self.is_told = false;
        let (since, is_open) = (self.now, true);
        self.offer = Some(Offer {
            ticket,
            since,
            is_open,
        });
    }

    /// No image could be made; the next time `raft` asks, it is wanted again.
    pub(crate) fn not_made(&mut self) {
        self.wanted = None;
        self.is_told = false;
    }

    /// What was sent to `replica` has arrived, or never will.
    pub(crate) fn ended(&mut self, replica: ReplicaId) -> bool {
        let was_sent = self.sending.remove(&replica).is_some();
        if let Some(offer) = self.offer.as_mut().filter(|_| self.sending.is_empty()) {
            offer.is_open &= !was_sent;
        }
        was_sent
    }

    /// Whether an image was under way to `replica`, whose connection broke: it is to be offered
    /// again. The offer stays open, and so does the log behind it, for whoever fetches goes on.
    pub(crate) fn interrupted(&mut self, replica: ReplicaId) -> bool {
        self.sending.remove(&replica).is_some()
    }

    /// To whom images are under way.
    pub(crate) fn receivers(&self) -> Vec<ReplicaId> {
        self.sending.keys().copied().collect()
    }

    /// The index from which on the log is kept, if it is.
    pub(crate) fn keeps_from(&self) -> Option<u64> {
        let open = self.offer.as_ref().filter(|offer| offer.is_open);
        let offered = open.map(|offer| offer.ticket.index);
        let sending = self.sending.values().map(|sending| sending.index);
        sending.chain(offered).min()
    }

    /// The image of `index` cannot be had any more. Returns to whom it is under way.
    pub(crate) fn withdraw(&mut self, index: u64) -> Vec<ReplicaId> {
        self.offer.take_if(|offer| offer.ticket.index == index);
        let lost = self.sending.iter().filter(|row| row.1.index == index);
        lost.map(|row| *row.0).collect()
    }

    /// Lets go of all that stands in the way of compacting beyond `index`.
    pub(crate) fn let_go_below(&mut self, index: u64) {
        self.offer.take_if(|offer| offer.ticket.index < index);
    }

    /// One tick. Returns to whom an image is under way for more than `ticks_max`: it counts as
    /// lost.
    pub(crate) fn tick(&mut self, ticks_max: u64) -> Vec<ReplicaId> {
        self.now += 1;
        let now = self.now;
        let is_idle = self.sending.is_empty();
        self.offer
            .take_if(|offer| is_idle && now - offer.since > ticks_max);
        let late = self
            .sending
            .iter()
            .filter(|row| now - row.1.since > ticks_max);
        late.map(|row| *row.0).collect()
    }

    /// The images that this side has to give are of no use any more.
    pub(crate) fn clear(&mut self) {
        let now = self.now;
        *self = ImageDesk {
            now,
            ..ImageDesk::default()
        };
    }
}
