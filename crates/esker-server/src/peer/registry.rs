//! Who holds which identity: a second holder of one is refused.
//!
//! Each opening of a directory raises its incarnation, and each process draws a number; a directory
//! remembers the numbers of those that had it open before. The process with the highest incarnation
//! holds the node's number, and of two with the same the one that spoke first. A node that was
//! started again has a higher one than before. So has a copy of its directory that runs beside it.
//! They are told apart by three things:
//!
//! - The process of before still speaks: the later one is told to ask again, and once the earlier
//!   one has been heard a second after that, it is refused for good. One that was killed speaks no
//!   more, and its connections end, at the latest after the silence that ends any.
//! - The process that was seen is none of those that the later one says came before it: the
//!   directories have parted, and whoever comes second is refused.
//! - A node that is dialled by its own number met a copy of itself, or is one: the process that
//!   had the directory open before, and speaks, has the original. Where neither came before the
//!   other, the one that others speak to stays; who has nobody yet leaves it to them.
//!
//! Nodes that heed two meta services, of which one lost its majority (`meta/epoch.rs`), greet
//! and part: the one that heeds the earlier one is told so ([`Registry::later_claims`]), and
//! comes again when it has let go of that.
//!
//! Who is refused so is to stop ([`Registry::ousted`]). What is not found out: a copy that is
//! opened while nobody here hears the original, because that one has ended, hangs, or was cut off.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::meta::epoch::{Claim, Epoch};
use crate::peer::format::{Greeting, Origin, Reason, Refusal, Speaker};

/// Nodes that are remembered at most: a stranger on loopback may invent numbers.
const NODES_MAX: usize = 10_000;

/// How long after a later process has come the earlier one must have been heard to be there still.
/// What is heard sooner may have been under way when it was killed; a node that lives says so each
/// second.
const PROOF: Duration = Duration::from_secs(1);

/// Later meta services that are remembered at most, for the same reason: the latest of them.
const EPOCHS_MAX: usize = 16;

/// Why a node is not spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    /// It is of another cluster.
    OtherCluster(u64),
    /// It wants another node than this one.
    WrongNode(u64),
    /// It has this node's own number, and its directory is the copy.
    Myself,
    /// It has this node's own number, and this node's directory is the copy.
    Original,
    /// It has this node's own number; which directory is the copy is not known here.
    Twin,
    /// A later incarnation of it was seen.
    Outdated(u64),
    /// Another process with its number and incarnation was seen: one is a copy of the other.
    SecondHolder,
    /// The process of before, of that incarnation, may live still.
    EarlierLives(u64),
    /// The process of before, of that incarnation, was heard after this one had come.
    Impostor(u64),
    /// Incarnation so and so was seen, and is none of those before this one.
    Parted(u64),
    /// More nodes than there can be have spoken.
    TooMany,
    /// It heeds another meta service.
    OtherEpoch(Epoch),
}

impl fmt::Display for Stranger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stranger::OtherCluster(cluster) => write!(out, "it is of the cluster {cluster:016x}"),
            Stranger::WrongNode(node) => {
                write!(out, "it wants node {node}, which does not listen here")
            }
            Stranger::Myself => out
                .write_str("it has this node's own number: its directory is a copy of this one's"),
            Stranger::Original => out.write_str(
                "it has this node's own number: the directory here is a copy, and this one ends",
            ),
            Stranger::Twin => out.write_str(
                "it has this node's own number: one of the two directories is a copy, and nobody \
                 has spoken to the one here yet",
            ),
            Stranger::Outdated(seen) => {
                write!(
                    out,
                    "incarnation {seen} of that node was seen: this is an older one"
                )
            }
            Stranger::SecondHolder => {
                out.write_str("another process has that number: a copy of its directory?")
            }
            Stranger::EarlierLives(seen) => {
                write!(out, "incarnation {seen} of that node has not ended yet")
            }
            Stranger::Impostor(seen) => write!(
                out,
                "incarnation {seen} of that node lives and speaks: this is a copy of its directory"
            ),
            Stranger::Parted(seen) => write!(
                out,
                "incarnation {seen} of that node, which was seen, was of another directory: one is \
                 a copy of the other"
            ),
            Stranger::TooMany => out.write_str("too many nodes have spoken"),
            Stranger::OtherEpoch(epoch) => write!(out, "it heeds {epoch}"),
        }
    }
}

impl From<Stranger> for Reason {
    fn from(stranger: Stranger) -> Reason {
        match stranger {
            Stranger::OtherCluster(_) => Reason::OtherCluster,
            Stranger::WrongNode(_) => Reason::WrongNode,
            Stranger::Myself => Reason::Myself,
            // Whoever has dialled is not the one that ends.
            Stranger::Original | Stranger::Twin => Reason::Other,
            Stranger::Outdated(_) => Reason::Outdated,
            Stranger::SecondHolder | Stranger::Impostor(_) => Reason::SecondHolder,
            Stranger::EarlierLives(_) => Reason::EarlierLives,
            Stranger::Parted(_) => Reason::Parted,
            Stranger::TooMany => Reason::TooMany,
            // It is not refused: it is greeted, and left.
            Stranger::OtherEpoch(_) => Reason::Other,
        }
    }
}

/// Who holds a number, as far as was seen.
#[derive(Debug)]
struct Holder {
    incarnation: u64,
    instance: u64,
    /// The meta service that it heeded when it spoke last.
    epoch: Epoch,
    /// Where it listens.
    address: Option<SocketAddr>,
    /// Connections to it and from it that stand.
    standing: usize,
    /// The process that came last to take its place, and when it came first.
    rival: Option<(u64, Instant)>,
    /// The holder was heard after that.
    is_proven: bool,
}

/// What is known of who holds which number. Any thread may ask.
#[derive(Debug)]
pub struct Registry {
    myself: Speaker,
    origin: Origin,
    /// By node. Taken last.
    seen: Mutex<BTreeMap<u64, Holder>>,
    ousted: Mutex<Option<String>>,
    epochs: Mutex<Epochs>,
}

/// The meta service that this node says it heeds, and what others have said.
#[derive(Debug, Default)]
struct Epochs {
    own: Claim,
    /// Those that others have named, and whether anybody has said that one has gone on.
    heard: BTreeMap<Epoch, bool>,
}

impl Epochs {
    fn hear(&mut self, Claim { epoch, has_gone_on }: Claim) {
        if epoch <= self.own.epoch {
            return;
        }
        *self.heard.entry(epoch).or_default() |= has_gone_on;
        if self.heard.len() > EPOCHS_MAX {
            self.heard.pop_first();
        }
    }
}

impl Registry {
    /// One of a node that says of itself that it is `myself`.
    pub fn new(myself: Speaker) -> Registry {
        Registry::of(myself, Origin::default())
    }

    /// As [`Registry::new`], of a node that says as well where it is and who came before it.
    pub fn of(myself: Speaker, origin: Origin) -> Registry {
        Registry {
            myself,
            origin,
            seen: Mutex::default(),
            ousted: Mutex::default(),
            epochs: Mutex::default(),
        }
    }

    /// From now on this node says that it heeds that meta service, and converses with those only
    /// that do.
    pub fn set_claim(&self, claim: Claim) {
        self.epochs().own = claim;
    }

    /// The meta service that this node says it heeds.
    pub fn claim(&self) -> Claim {
        self.epochs().own
    }

    /// Later ones than that of which nodes have spoken, in their order.
    pub fn later_claims(&self) -> Vec<Claim> {
        let epochs = self.epochs();
        let later = epochs.heard.iter().filter(|row| *row.0 > epochs.own.epoch);
        let claim = |(&epoch, &has_gone_on): (&Epoch, &bool)| Claim { epoch, has_gone_on };
        later.map(claim).collect()
    }

    /// Who this node is.
    pub fn myself(&self) -> Speaker {
        self.myself
    }

    /// What it says of where it is, and of who came before it.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Where a node listens as it said itself, and its incarnation.
    pub fn address(&self, node: u64) -> Option<(u64, SocketAddr)> {
        let seen = self.lock();
        let holder = seen.get(&node)?;
        holder.address.map(|address| (holder.incarnation, address))
    }

    /// A connection to `speaker` or from it stands until the answer is dropped.
    pub fn stand(self: &Arc<Self>, speaker: Speaker) -> Standing {
        self.count(&speaker, |standing| standing + 1);
        Standing {
            registry: Arc::clone(self),
            speaker,
        }
    }

    /// A node that this one dialled has refused it so.
    pub fn hear(&self, refusal: &Refusal) {
        let is_ousted = matches!(
            refusal.reason,
            Reason::Myself | Reason::Outdated | Reason::SecondHolder | Reason::Parted
        );
        if is_ousted && self.myself().node != 0 {
            self.oust(refusal.words.escape_debug().to_string());
        }
    }

    fn oust(&self, why: String) {
        let mut ousted = self.ousted.lock().unwrap_or_else(PoisonError::into_inner);
        ousted.get_or_insert(why);
    }

    /// A process has dialled that has this node's number.
    fn meet(&self, greeting: &Greeting) -> Stranger {
        let (myself, other) = (self.myself(), &greeting.speaker);
        let is_among = |instance: u64, before: &[u64]| instance != 0 && before.contains(&instance);
        if is_among(myself.instance, &greeting.origin.before) {
            return Stranger::Myself;
        }
        if is_among(other.instance, &self.origin.before) {
            let place = greeting.origin.address;
            let place = place.map_or("an unknown address".to_owned(), |place| place.to_string());
            self.oust(format!(
                "the node at {place} had this directory open before, and lives: this is a copy of \
                 its directory"
            ));
            return Stranger::Original;
        }
        let is_known = self.lock().values().any(|holder| holder.standing > 0);
        match is_known {
            true => Stranger::Myself,
            false => Stranger::Twin,
        }
    }

    /// Why this node must stop, in the words of the node that told it, if another process holds its
    /// number. It may not serve a client any more: others heed the other.
    pub fn ousted(&self) -> Option<String> {
        let ousted = self.ousted.lock().unwrap_or_else(PoisonError::into_inner);
        ousted.clone()
    }

    /// Whether whoever greets this node so may speak to it. From now on older incarnations may not.
    pub fn admit(&self, greeting: &Greeting) -> Result<(), Stranger> {
        let myself = self.myself();
        let speaker = &greeting.speaker;
        if greeting.wants != 0 && greeting.wants != myself.node {
            return Err(Stranger::WrongNode(greeting.wants));
        }
        if speaker.node == 0 {
            return Ok(());
        }
        if speaker.cluster != myself.cluster {
            return Err(Stranger::OtherCluster(speaker.cluster));
        }
        if speaker.node == myself.node && speaker.instance != myself.instance {
            return Err(self.meet(greeting));
        }
        self.note(greeting)
    }

    /// Whether whoever answered this node's greeting, which wanted `wanted`, is that node.
    pub fn recognize(&self, wanted: u64, welcome: &Greeting) -> Result<(), Stranger> {
        let myself = self.myself();
        let speaker = &welcome.speaker;
        if wanted != 0 && speaker.node != wanted {
            return Err(Stranger::WrongNode(speaker.node));
        }
        if myself.cluster != 0 && speaker.cluster != myself.cluster {
            return Err(Stranger::OtherCluster(speaker.cluster));
        }
        self.note(welcome)
    }

    /// Whether `speaker` is still the one that holds its number.
    pub fn is_current(&self, speaker: &Speaker) -> bool {
        let myself = self.myself();
        if speaker.node == myself.node {
            return speaker.node == 0 || speaker.instance == myself.instance;
        }
        let epoch = self.claim().epoch;
        let seen = self.lock();
        let is_it = |it: &Holder| it.is(speaker) && (it.epoch == epoch || myself.node == 0);
        speaker.node == 0 || seen.get(&speaker.node).is_some_and(is_it)
    }

    /// Something came from `speaker`. Whether it is still the one that holds its number.
    pub fn hears(&self, speaker: &Speaker) -> bool {
        let mut seen = self.lock();
        if let Some(holder) = seen.get_mut(&speaker.node)
            && holder.is(speaker)
            && let Some((_, since)) = holder.rival
        {
            holder.is_proven |= since.elapsed() >= PROOF;
        }
        drop(seen);
        self.is_current(speaker)
    }

    fn note(&self, greeting: &Greeting) -> Result<(), Stranger> {
        let (myself, speaker) = (self.myself(), &greeting.speaker);
        self.hold(greeting)?;
        // Whoever has no number yet knows of no meta service, and is to be told one.
        if speaker.node == myself.node || myself.node == 0 {
            return Ok(());
        }
        // Only now: a copy of a directory has no word in this.
        let mut epochs = self.epochs();
        epochs.hear(greeting.claim);
        let epoch = greeting.claim.epoch;
        match epoch == epochs.own.epoch {
            true => Ok(()),
            false => Err(Stranger::OtherEpoch(epoch)),
        }
    }

    /// Whether whoever says so holds its number.
    fn hold(&self, greeting: &Greeting) -> Result<(), Stranger> {
        let (myself, speaker, origin) = (self.myself(), &greeting.speaker, &greeting.origin);
        if speaker.node == myself.node {
            return match speaker.instance == myself.instance {
                // It has dialled its own address, as one of those it was told to ask.
                true => Ok(()),
                false => Err(Stranger::Myself),
            };
        }
        let mut seen = self.lock();
        if seen.len() >= NODES_MAX && !seen.contains_key(&speaker.node) {
            return Err(Stranger::TooMany);
        }
        let new = Holder {
            incarnation: speaker.incarnation,
            instance: speaker.instance,
            epoch: greeting.claim.epoch,
            address: origin.address,
            standing: 0,
            rival: None,
            is_proven: false,
        };
        let Some(holder) = seen.get_mut(&speaker.node) else {
            seen.insert(speaker.node, new);
            return Ok(());
        };
        if holder.is(speaker) {
            holder.address = origin.address.or(holder.address);
            holder.epoch = greeting.claim.epoch;
            return Ok(());
        }
        holder.yields_to(speaker, origin)?;
        *holder = new;
        Ok(())
    }

    fn epochs(&self) -> MutexGuard<'_, Epochs> {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, speaker: &Speaker, counted: impl FnOnce(usize) -> usize) {
        let mut seen = self.lock();
        let holder = seen.get_mut(&speaker.node);
        if let Some(holder) = holder.filter(|holder| holder.is(speaker)) {
            holder.standing = counted(holder.standing);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Holder>> {
        // A panic between two lines of this file leaves the map as it was.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holder {
    fn is(&self, speaker: &Speaker) -> bool {
        (self.incarnation, self.instance) == (speaker.incarnation, speaker.instance)
    }

    /// Whether another process may take its place.
    fn yields_to(&mut self, speaker: &Speaker, origin: &Origin) -> Result<(), Stranger> {
        let Some(later) = speaker.incarnation.checked_sub(self.incarnation) else {
            return Err(Stranger::Outdated(self.incarnation));
        };
        let Some(before) = later.checked_sub(1) else {
            return Err(Stranger::SecondHolder);
        };
        // The process that had the directory open when it was of the holder's incarnation.
        let before = usize::try_from(before).ok();
        let before = before.and_then(|before| origin.before.get(before).copied());
        if before.is_some_and(|before| before != 0 && before != self.instance) {
            return Err(Stranger::Parted(self.incarnation));
        }
        if self.standing == 0 {
            return Ok(());
        }
        match self.rival {
            Some((rival, _)) if rival == speaker.instance => {}
            _ => {
                self.rival = Some((speaker.instance, Instant::now()));
                self.is_proven = false;
            }
        }
        Err(match self.is_proven {
            true => Stranger::Impostor(self.incarnation),
            false => Stranger::EarlierLives(self.incarnation),
        })
    }
}

/// A connection that stands.
#[derive(Debug)]
pub struct Standing {
    registry: Arc<Registry>,
    speaker: Speaker,
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.registry
            .count(&self.speaker, |standing| standing.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests;
