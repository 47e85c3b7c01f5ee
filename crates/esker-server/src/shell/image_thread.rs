//! The thread that fetches images which leaders offer, one after another.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

use esker::Db;
use esker_raft::{Member, NodeId, Ticket};
use tokio::time::Instant;

use crate::log_lines::{Level, LogLines};
use crate::meta::ids::ReplicaName;
use crate::node::{Ask, Fetch, Images, PageAnswer, PageRequest, Progress, Replicas, Wish, stall};
use crate::peer::ask::{Answer, Ask as PeerAsk, Asker};
use crate::peer::links::Links;
use crate::shell::complaints::Complaints;
use crate::shell::inbox::{Inbox, Told};

/// How long a page is waited for, which is read from a disk.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long until the same page is asked for again.
const REST: Duration = Duration::from_millis(200);

/// A page that has arrived is followed by a rest as long as it took, and no longer than this: who
/// gets an image is in no hurry, and those who serve clients meanwhile are the ones who send it.
const PAGE_REST_MAX: Duration = Duration::from_millis(100);

/// How often one page is asked for in vain before the image counts as lost: half a minute, for a
/// node that is started again meanwhile has forgotten what it offered.
const FAILURES_MAX: u32 = 15;

/// How many such rests it takes until its leader hears that an image could not be written here: it
/// is offered again at once.
const FAULT_RESTS: u32 = 5;

/// What became of an image that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It lies here.
    Arrived,
    /// It could not be had.
    Lost,
    /// It could not be written here, for want of room mostly.
    Failed,
}

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
    pub(crate) complaints: Complaints,
}

impl ImageThread {
    /// Fetches until nobody can offer any more.
    pub(crate) fn run(mut self) {
        let mut last = None;
        while let Some(offered) = self.next(last) {
            last = Some(offered.member);
            // One that a newer offer has taken the place of is not spoken of any more.
            if let Some(end) = self.fetch(&offered) {
                self.tell_end(&offered, end);
            }
        }
    }

    // Consensus here first: as soon as its leader hears of it, an image that is lost is offered
    // again, and would be taken for the one that is being fetched. And the leader in any case: it
    // takes the image for under way until then.
    fn tell_end(&mut self, offered: &Offered, end: End) {
        let (member, index) = (offered.member, offered.ticket.index);
        let is_here = end == End::Arrived;
        let (what, wish) = match is_here {
            true => ("has arrived", Wish::Arrived),
            false => ("could not be had", Wish::Lost),
        };
        // What failed was complained of.
        if end != End::Failed {
            let name = ReplicaName(member);
            let line = format!("the image of entry {index} for {name} {what}");
            self.log.write(Level::Note, &line);
        }
        let ask = Ask::ImageFetched(member, index, is_here);
        self.inbox.tell(Told::Stage(ask));
        if end == End::Failed {
            (0..FAULT_RESTS).for_each(|_| self.rest(REST));
        }
        let word = PageRequest {
            from: offered.from,
            to: member.replica,
            index,
            wish,
        };
        // If it does not hear that, it finds out by itself after a while.
        let (node, ask) = (offered.from_node.0, PeerAsk::Page(word.encode()));
        self.links.ask(node, &ask, PATIENCE, Asker::new(|_| {}));
    }

    // Each has its turn: one for which there is no room is offered again and again.
    fn next(&mut self, last: Option<Member>) -> Option<Offered> {
        self.look()?;
        if self.waiting.is_empty() {
            let offered = self.offers.recv().ok()?;
            self.waiting.insert(offered.member, offered);
        }
        let behind = |last| (Bound::Excluded(last), Bound::Unbounded);
        let others = last.and_then(|last| self.waiting.range(behind(last)).next());
        let member = *others.or_else(|| self.waiting.iter().next())?.0;
        self.waiting.remove(&member)
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

    /// What becomes of it; `None` if it is not wanted any more.
    fn fetch(&mut self, offered: &Offered) -> Option<End> {
        let (member, from, node) = (offered.member, offered.from, offered.from_node);
        if !self.complaints.is_of(&unwritten(member)) {
            let (name, index) = (ReplicaName(member), offered.ticket.index);
            let line = format!("{name} gets an image of entry {index}");
            self.log.write(Level::Note, &line);
        }
        let mut fetch = match Fetch::begin(&self.db, member, from, offered.ticket.clone()) {
            Ok(fetch) => fetch,
            Err(error) => return Some(self.complain(member, &error)),
        };
        let mut failures = 0;
        loop {
            if self.look().is_none() || self.waiting.contains_key(&member) {
                self.give_up(member, fetch);
                return None;
            }
            let begun = Instant::now();
            let Some(answer) = self.ask(node, &fetch.request()) else {
                failures += 1;
                if failures <= FAILURES_MAX {
                    self.rest(REST);
                    continue;
                }
                self.give_up(member, fetch);
                return Some(End::Lost);
            };
            failures = 0;
            let end = match fetch.take(&self.db, &self.images, answer) {
                Ok(Progress::More) => {
                    self.rest(begun.elapsed().min(PAGE_REST_MAX));
                    continue;
                }
                Ok(Progress::Arrived) => {
                    self.complaints.settle(&unwritten(member));
                    return Some(End::Arrived);
                }
                Ok(Progress::Lost) => End::Lost,
                Err(error) => self.complain(member, &error),
            };
            self.give_up(member, fetch);
            return Some(end);
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

    fn give_up(&mut self, member: Member, fetch: Fetch) {
        if let Err(error) = fetch.give_up(&self.db) {
            self.complain(member, &error);
        }
    }

    fn rest(&mut self, time: Duration) {
        match self.offers.recv_timeout(time) {
            Ok(offered) => {
                self.waiting.insert(offered.member, offered);
            }
            // Whoever looks next sees that nobody offers any more.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    fn complain(&mut self, member: Member, error: &esker::Error) -> End {
        let words = stall::words(error);
        let view = self.replicas.view(member.group);
        if let (Some(words), Some(view)) = (words, view.filter(|view| view.member == member)) {
            view.set_stall(Some(format!("it gets no image: {words}")));
        }
        let words = words.map_or_else(|| error.to_string(), str::to_owned);
        if let Some(line) = self.complaints.line(&unwritten(member), &words) {
            self.log.write(Level::Warning, &line);
        }
        End::Failed
    }
}

fn unwritten(member: Member) -> String {
    format!("no image for {}", ReplicaName(member))
}

#[cfg(test)]
mod tests;
