//! Who holds which identity: a second holder of one is refused.
//!
//! Each opening of a directory raises its incarnation, and each process draws a number. The process
//! with the highest incarnation holds the node's number, and of two with the same the one that
//! spoke first. A node that was started again has a higher one than before. So has a copy of its
//! directory that runs beside it, and looks no different: the others heed the copy, refuse the
//! original with the reason, and that one is to stop ([`Registry::ousted`]).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::peer::format::{Greeting, Reason, Refusal, Speaker};

/// Nodes that are remembered at most: a stranger on loopback may invent numbers.
const NODES_MAX: usize = 10_000;

/// Why a node is not spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    /// It is of another cluster.
    OtherCluster(u64),
    /// It wants another node than this one.
    WrongNode(u64),
    /// It has this node's own number.
    Myself,
    /// A later incarnation of it was seen.
    Outdated(u64),
    /// Another process with its number and incarnation was seen: one is a copy of the other.
    SecondHolder,
    /// More nodes than there can be have spoken.
    TooMany,
}

impl fmt::Display for Stranger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stranger::OtherCluster(cluster) => write!(out, "it is of the cluster {cluster:016x}"),
            Stranger::WrongNode(node) => {
                write!(out, "it wants node {node}, which does not listen here")
            }
            Stranger::Myself => {
                out.write_str("it has this node's own number: a copy of its directory?")
            }
            Stranger::Outdated(seen) => {
                write!(
                    out,
                    "incarnation {seen} of that node was seen: this is an older one"
                )
            }
            Stranger::SecondHolder => {
                out.write_str("another process has that number: a copy of its directory?")
            }
            Stranger::TooMany => out.write_str("too many nodes have spoken"),
        }
    }
}

impl From<Stranger> for Reason {
    fn from(stranger: Stranger) -> Reason {
        match stranger {
            Stranger::OtherCluster(_) => Reason::OtherCluster,
            Stranger::WrongNode(_) => Reason::WrongNode,
            Stranger::Myself => Reason::Myself,
            Stranger::Outdated(_) => Reason::Outdated,
            Stranger::SecondHolder => Reason::SecondHolder,
            Stranger::TooMany => Reason::TooMany,
        }
    }
}

/// What is known of who holds which number. Any thread may ask.
#[derive(Debug)]
pub struct Registry {
    myself: Speaker,
    /// By node the incarnation and the number of its process. Taken last.
    seen: Mutex<BTreeMap<u64, (u64, u64)>>,
    ousted: Mutex<Option<String>>,
}

impl Registry {
    /// One of a node that says of itself that it is `myself`.
    pub fn new(myself: Speaker) -> Registry {
        Registry {
            myself,
            seen: Mutex::default(),
            ousted: Mutex::default(),
        }
    }

    /// Who this node is.
    pub fn myself(&self) -> Speaker {
        self.myself
    }

    /// A node that this one dialled has refused it so.
    pub fn hear(&self, refusal: &Refusal) {
        let is_ousted = matches!(
            refusal.reason,
            Reason::Myself | Reason::Outdated | Reason::SecondHolder
        );
        if is_ousted && self.myself().node != 0 {
            let mut ousted = self.ousted.lock().unwrap_or_else(PoisonError::into_inner);
            ousted.get_or_insert_with(|| refusal.words.escape_debug().to_string());
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
        self.note(speaker)
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
        self.note(speaker)
    }

    /// Whether `speaker` is still the one that holds its number.
    pub fn is_current(&self, speaker: &Speaker) -> bool {
        let myself = self.myself();
        if speaker.node == myself.node {
            return speaker.node == 0 || speaker.instance == myself.instance;
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        speaker.node == 0
            || seen.get(&speaker.node) == Some(&(speaker.incarnation, speaker.instance))
    }

    fn note(&self, speaker: &Speaker) -> Result<(), Stranger> {
        let myself = self.myself();
        if speaker.node == myself.node {
            return match speaker.instance == myself.instance {
                // It has dialled its own address, as one of those it was told to ask.
                true => Ok(()),
                false => Err(Stranger::Myself),
            };
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= NODES_MAX && !seen.contains_key(&speaker.node) {
            return Err(Stranger::TooMany);
        }
        let now = (speaker.incarnation, speaker.instance);
        let before = *seen.entry(speaker.node).or_insert(now);
        if before.0 > now.0 {
            return Err(Stranger::Outdated(before.0));
        }
        if before.0 == now.0 && before.1 != now.1 {
            return Err(Stranger::SecondHolder);
        }
        seen.insert(speaker.node, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
