//! Images of replicas: those that are offered here, and those that have arrived.
//!
//! A leader's image is a snapshot between two entries, of which any thread reads pages for whoever
//! fetches it. A follower writes them to a new keyspace, the mark last, and flushes it; only then
//! is consensus told, and only the log's new beginning makes that keyspace the replica's own
//! (`rejoining`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use esker::{Db, Durability, Error, Keyspace, KeyspaceSnapshot, Result, WriteOptions};
use esker_raft::{Mark, Member, Point, ReplicaId, Ticket};

use crate::node::ask::Ask;
use crate::node::image_page::{PageAnswer, PageRequest, Tally, Whole, Wish};
use crate::node::keyspace_name::ReplicaKeyspace;
use crate::node::limits::{IMAGE_PAGE_BYTES, IMAGE_TICKS_MAX, IMAGE_TICKS_SPARE};
use crate::partition::ended::{keyspace_options, put_mark};
use crate::partition::mark::ReplicaMark;

/// An image that is offered here.
struct Offer {
    index: u64,
    mark: Vec<u8>,
    rows: KeyspaceSnapshot,
    /// Ticks since somebody read in it.
    idle_ticks: u64,
    /// The last two pages of each who fetches it: behind which key, and what was read up to there.
    /// Two, since an answer may be lost and its page be asked for again.
    read: BTreeMap<ReplicaId, Vec<ReadUpTo>>,
    /// Who has all of it.
    has_it: BTreeSet<ReplicaId>,
}

/// Behind which key a page begins, and what was read up to there.
type ReadUpTo = (Option<Vec<u8>>, Tally);

/// An image that lies here, whole and in files.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Its keyspace.
    pub keyspace: ReplicaKeyspace,
    /// Its mark.
    pub mark: ReplicaMark,
}

/// All images of a node. Any thread may call anything; a page is read under no lock.
#[derive(Default)]
pub struct Images {
    offers: Mutex<BTreeMap<Member, Offer>>,
    arrived: Mutex<BTreeMap<(Member, u64), Arrived>>,
}

impl Images {
    /// Offers the state that `rows` are, in place of what the replica has offered before.
    pub fn offer(&self, member: Member, rows: KeyspaceSnapshot, mark: &ReplicaMark) {
        let offer = Offer {
            index: mark.raft.applied.index,
            mark: mark.encode(),
            rows,
            idle_ticks: 0,
            read: BTreeMap::new(),
            has_it: BTreeSet::new(),
        };
        self.offers().insert(member, offer);
    }

    /// A tick: lets go of what nobody has read for a long time; tells consensus of it.
    pub fn tick(&self) -> Vec<Ask> {
        let mut gone = Vec::new();
        self.offers().retain(|member, offer| {
            offer.idle_ticks += 1;
            let is_kept = offer.idle_ticks <= IMAGE_TICKS_MAX;
            if !is_kept {
                gone.push(Ask::ImageGone(*member, offer.index));
            }
            is_kept
        });
        gone
    }

    /// A replica is no more, or leads no more: what it has offered is of no use.
    pub fn withdraw(&self, member: Member) {
        self.offers().remove(&member);
    }

    /// Answers one who fetches an image; says what consensus is to be told.
    ///
    /// Errors: those of reading rows. `Corruption` retires the replica that offers them.
    pub fn answer(&self, request: &PageRequest) -> Result<(PageAnswer, Option<Ask>)> {
        let (member, to, index) = (request.from, request.to, request.index);
        let behind = match &request.wish {
            Wish::Behind(key) => key,
            Wish::Arrived => {
                self.spare(member, index, to);
                let told = Ask::ImageSent(member, to, true);
                return Ok((PageAnswer::Heard, Some(told)));
            }
            Wish::Lost => {
                let told = Ask::ImageSent(member, to, false);
                return Ok((PageAnswer::Heard, Some(told)));
            }
        };
        let found = {
            let mut offers = self.offers();
            let offer = offers.get_mut(&member).filter(|it| it.index == index);
            offer.and_then(|offer| {
                offer.idle_ticks = 0;
                let tally = match behind {
                    None => {
                        // It may have had it, and have died before it took it.
                        offer.has_it.remove(&to);
                        Tally::default()
                    }
                    Some(_) => {
                        let mut pages = offer.read.get(&to)?.iter();
                        pages.find(|page| page.0 == *behind)?.1
                    }
                };
                Some((offer.rows.clone(), tally, offer.mark.clone()))
            })
        };
        let Some((rows, mut tally, mark)) = found else {
            return Ok((PageAnswer::Gone, Some(Ask::ImageGone(member, index))));
        };
        let (page, is_last) = read_page(&rows, behind.as_deref(), &mut tally)?;
        let last = page.last().map(|row| row.0.clone());
        if let Some(offer) = self.offers().get_mut(&member) {
            let pages = offer.read.entry(to).or_default();
            pages.retain(|page| page.0 == *behind);
            pages.push((last, tally));
        }
        let whole = is_last.then_some(Whole { tally, mark });
        Ok((PageAnswer::Rows(page, whole), None))
    }

    // One who fetched it has it. If nobody else does it goes soon, for what it holds is held for
    // all keyspaces.
    fn spare(&self, member: Member, index: u64, to: ReplicaId) {
        let mut offers = self.offers();
        if let Some(offer) = offers.get_mut(&member).filter(|it| it.index == index) {
            offer.has_it.insert(to);
            if offer.read.keys().all(|one| offer.has_it.contains(one)) {
                offer.idle_ticks = offer.idle_ticks.max(IMAGE_TICKS_MAX - IMAGE_TICKS_SPARE);
            }
        }
    }

    /// The image that has arrived for a replica, as of that entry.
    pub fn take_arrived(&self, member: Member, index: u64) -> Option<Arrived> {
        self.arrived().remove(&(member, index))
    }

    fn put_arrived(&self, arrived: Arrived) {
        let at = (arrived.keyspace.member, arrived.mark.raft.applied.index);
        self.arrived().insert(at, arrived);
    }

    // A map is whole whatever a thread that panicked was about to do, here and below.
    fn offers(&self) -> MutexGuard<'_, BTreeMap<Member, Offer>> {
        let offers = &self.offers;
        offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self) -> MutexGuard<'_, BTreeMap<(Member, u64), Arrived>> {
        let arrived = &self.arrived;
        arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Page = (Vec<(Vec<u8>, Vec<u8>)>, bool);

// The rows behind a key, one at least if there is one; and whether they are the last.
fn read_page(rows: &KeyspaceSnapshot, behind: Option<&[u8]>, tally: &mut Tally) -> Result<Page> {
    let lower = behind.map_or(Bound::Unbounded, Bound::Excluded);
    let (mut page, mut bytes) = (Vec::new(), 0);
    for row in rows.range::<&[u8]>((lower, Bound::Unbounded))? {
        let (key, value) = row?;
        if !page.is_empty() && bytes + key.len() + value.len() > IMAGE_PAGE_BYTES {
            return Ok((page, false));
        }
        bytes += key.len() + value.len();
        tally.add(&key, &value);
        page.push((key.to_vec(), value.to_vec()));
    }
    Ok((page, true))
}

/// An image that is on its way to a replica here.
pub struct Fetch {
    member: Member,
    ticket: Ticket,
    from: Member,
    keyspace: ReplicaKeyspace,
    rows: Keyspace,
    behind: Option<Vec<u8>>,
    tally: Tally,
}

/// How far a fetch has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another page is to be asked for.
    More,
    /// It lies here, whole and in files.
    Arrived,
    /// It cannot be had any more, or is not what it should be.
    Lost,
}

impl Fetch {
    /// Begins to fetch the image that the replica `from` offers to `member`. What is left of
    /// another try is dropped.
    ///
    /// Errors: those of the engine.
    pub fn begin(db: &Db, member: Member, from: Member, ticket: Ticket) -> Result<Fetch> {
        let image = Some(ticket.index);
        let keyspace = ReplicaKeyspace { member, image };
        let name = keyspace.name();
        if db.existing_keyspace(&name).is_some() {
            db.drop_keyspace(&name)?;
        }
        Ok(Fetch {
            member,
            ticket,
            from,
            keyspace,
            rows: db.keyspace_with(&name, keyspace_options(member.group))?,
            behind: None,
            tally: Tally::default(),
        })
    }

    /// What is to be asked for next.
    pub fn request(&self) -> PageRequest {
        self.word(Wish::Behind(self.behind.clone()))
    }

    /// What the offering node is to be told at the end.
    pub fn word(&self, wish: Wish) -> PageRequest {
        PageRequest {
            from: self.from,
            to: self.member.replica,
            index: self.ticket.index,
            wish,
        }
    }

    /// Takes what was answered. Waits for the flush when it is the last page.
    ///
    /// Errors: those of writing.
    pub fn take(&mut self, db: &Db, images: &Images, answer: PageAnswer) -> Result<Progress> {
        let PageAnswer::Rows(rows, whole) = answer else {
            return Ok(Progress::Lost);
        };
        let is_behind = |row: &(Vec<u8>, Vec<u8>)| Some(&row.0) > self.behind.as_ref();
        if rows.first().is_some_and(|row| !is_behind(row)) {
            return Ok(Progress::Lost);
        }
        let mut batch = db.batch();
        for (key, value) in &rows {
            self.tally.add(key, value);
            batch.put(&self.rows, key, value);
        }
        let arrived = match &whole {
            None => None,
            Some(whole) => match self.mark_of(whole) {
                None => return Ok(Progress::Lost),
                Some(mark) => {
                    put_mark(&mut batch, (self.member.group, &self.rows), &mark);
                    Some(mark)
                }
            },
        };
        batch.commit_with(WriteOptions {
            durability: Some(Durability::Memory),
            ..WriteOptions::default()
        })?;
        self.behind = rows.into_iter().next_back().map(|row| row.0);
        let Some(mark) = arrived else {
            return Ok(Progress::More);
        };
        self.rows.flush()?;
        let keyspace = self.keyspace;
        images.put_arrived(Arrived { keyspace, mark });
        Ok(Progress::Arrived)
    }

    // The mark of the image: it is as it began, for nothing of it came from the log here.
    fn mark_of(&self, whole: &Whole) -> Option<ReplicaMark> {
        let theirs = ReplicaMark::decode(&whole.mark).ok()?;
        let point = Point {
            index: self.ticket.index,
            term: self.ticket.term,
        };
        let is_whole = whole.tally == self.tally && theirs.raft.applied == point;
        is_whole.then(|| ReplicaMark {
            raft: Mark {
                applied: point,
                begun: point,
                configuration: self.ticket.configuration.clone(),
            },
            clock_us: theirs.clock_us,
        })
    }

    /// Gives the try up: what was written of it is dropped.
    ///
    /// Errors: those of the engine.
    pub fn give_up(self, db: &Db) -> Result<()> {
        let name = self.keyspace.name();
        match db.existing_keyspace(&name) {
            Some(_) => db.drop_keyspace(&name),
            None => Ok(()),
        }
    }
}

/// A replica was told to take an image that is not here.
pub fn missing(member: Member, index: u64) -> Error {
    Error::corruption(format!(
        "the image of entry {index} for {member} is not here"
    ))
}
