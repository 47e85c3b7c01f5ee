//! The thread that fetches images which leaders offer, one after another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

use esker::Db;
use esker_raft::{Member, NodeId, Ticket};

use crate::log_lines::{Level, LogLines};
use crate::node::{Ask, Fetch, Images, PageAnswer, PageRequest, Progress, Replicas, Wish, stall};
use crate::peer::ask::{Answer, Ask as PeerAsk, Asker};
use crate::peer::links::Links;
use crate::shell::inbox::{Inbox, Told};

/// How long a page is waited for: 1 MiB, read from a disk.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long until the same page is asked for again.
const REST: Duration = Duration::from_millis(200);

/// How often one page is asked for in vain before the image counts as lost: half a minute, for a
/// node that is started again meanwhile has forgotten what it offered.
const FAILURES_MAX: u32 = 15;

/// An image that a leader offers.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    /// The replica here, which needs it.
    pub(crate) member: Member,
    /// The replica that offers it.
    pub(crate) from: Member,
    /// Where that is.
    pub(crate) from_node: NodeId,
    /// What it is.
    pub(crate) ticket: Ticket,
}

pub(crate) struct ImageThread {
    pub(crate) offers: Receiver<Offered>,
    /// Offers that have come; the newest one of each replica counts.
    pub(crate) waiting: BTreeMap<Member, Offered>,
    pub(crate) db: Db,
    pub(crate) images: Arc<Images>,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) links: Arc<Links>,
    pub(crate) inbox: Inbox,
    pub(crate) log: LogLines,
}

impl ImageThread {
    /// Fetches until nobody can offer any more.
    pub(crate) fn run(mut self) {
        while let Some(offered) = self.next() {
            let (member, index) = (offered.member, offered.ticket.index);
            // One that a newer offer has taken the place of is not spoken of any more.
            if let Some(is_here) = self.fetch(&offered) {
                let what = if is_here {
                    "has arrived"
                } else {
                    "could not be had"
                };
                let line = format!("the image of entry {index} for {member} {what}");
                self.log.write(Level::Note, &line);
                let ask = Ask::ImageFetched(member, index, is_here);
                self.inbox.tell(Told::Stage(ask));
            }
        }
    }

    fn next(&mut self) -> Option<Offered> {
        self.look()?;
        if self.waiting.is_empty() {
            let offered = self.offers.recv().ok()?;
            self.waiting.insert(offered.member, offered);
        }
        self.waiting.pop_first().map(|row| row.1)
    }

    // Takes what has been offered meanwhile; `None` once nobody can offer any more.
    fn look(&mut self) -> Option<()> {
        loop {
            match self.offers.try_recv() {
                Ok(offered) => {
                    self.waiting.insert(offered.member, offered);
                }
                Err(TryRecvError::Empty) => return Some(()),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    /// Whether it lies here in the end; `None` if it is not wanted any more.
    fn fetch(&mut self, offered: &Offered) -> Option<bool> {
        let (member, from, node) = (offered.member, offered.from, offered.from_node);
        let mut fetch = match Fetch::begin(&self.db, member, from, offered.ticket.clone()) {
            Ok(fetch) => fetch,
            Err(error) => {
                self.complain(member, &error);
                return Some(false);
            }
        };
        let mut failures = 0;
        loop {
            if self.look().is_none() || self.waiting.contains_key(&member) {
                self.give_up(member, fetch);
                return None;
            }
            let Some(answer) = self.ask(node, &fetch.request()) else {
                failures += 1;
                if failures <= FAILURES_MAX {
                    self.rest();
                    continue;
                }
                self.give_up(member, fetch);
                return Some(false);
            };
            failures = 0;
            match fetch.take(&self.db, &self.images, answer) {
                Ok(Progress::More) => continue,
                Ok(Progress::Arrived) => {
                    self.tell(node, &fetch.word(Wish::Arrived));
                    return Some(true);
                }
                Ok(Progress::Lost) => {}
                Err(error) => self.complain(member, &error),
            }
            self.tell(node, &fetch.word(Wish::Lost));
            self.give_up(member, fetch);
            return Some(false);
        }
    }

    fn ask(&self, node: NodeId, request: &PageRequest) -> Option<PageAnswer> {
        let (tell, told) = channel();
        // The receiver waits right below, and no longer than the asker.
        let asker = Asker::new(move |answer| drop(tell.send(answer)));
        let ask = PeerAsk::Page(request.encode());
        self.links.ask(node.0, &ask, PATIENCE, asker);
        match told.recv() {
            Ok(Answer::Done(bytes)) => PageAnswer::decode(&bytes),
            _ => None,
        }
    }

    // If it does not hear of it, it finds out by itself after a while.
    fn tell(&self, node: NodeId, word: &PageRequest) {
        let ask = PeerAsk::Page(word.encode());
        self.links.ask(node.0, &ask, PATIENCE, Asker::new(|_| {}));
    }

    fn give_up(&self, member: Member, fetch: Fetch) {
        if let Err(error) = fetch.give_up(&self.db) {
            self.complain(member, &error);
        }
    }

    fn rest(&mut self) {
        match self.offers.recv_timeout(REST) {
            Ok(offered) => {
                self.waiting.insert(offered.member, offered);
            }
            // Whoever looks next sees that nobody offers any more.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    fn complain(&self, member: Member, error: &esker::Error) {
        let words = stall::words(error);
        let view = self.replicas.view(member.group);
        if let (Some(words), Some(view)) = (words, view.filter(|view| view.member == member)) {
            view.set_stall(Some(format!("it gets no image: {words}")));
        }
        let words = words.map_or_else(|| error.to_string(), str::to_owned);
        let line = format!("no image for {member}: {words}");
        self.log.write(Level::Warning, &line);
    }
}
