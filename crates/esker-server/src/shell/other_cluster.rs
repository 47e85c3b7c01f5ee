//! A directory in the wrong place: the nodes that a node is to join are of another cluster.
//!
//! Such a node would live, and its clients would be told that their tables are not there. Who it
//! dials for its groups refuses it; this asks those that whoever started it has named, as one who
//! has no number, and says no more than which cluster they are of. Those that its directory knows
//! are asked as well, for one of its own cluster is enough: whom it was to join may have lost its
//! disk, and have begun a cluster of its own.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::node::Identity;
use crate::peer::dialling::cluster_at;
use crate::peer::links::Links;
use crate::shell::fault::Faults;

/// How long a start waits for an answer: nodes that run say at once who they are, and those that
/// start beside this one do not speak yet.
const STARTING_MAX: Duration = Duration::from_millis(300);

/// How long one is waited for once this node runs.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// How often those are asked that the start has missed.
const AGAIN: Duration = Duration::from_secs(2);

/// Whom a node is to join, and who it is itself.
#[derive(Clone, Debug)]
pub(crate) struct Joining {
    /// What it was told to join.
    pub(crate) join: Vec<SocketAddr>,
    /// Where the other nodes of its cluster were, as its directory knows.
    pub(crate) known: Vec<SocketAddr>,
    /// Where it listens for them.
    pub(crate) own_address: SocketAddr,
    /// Whose its directory is.
    pub(crate) own: Identity,
    /// Drawn for this process.
    pub(crate) nonce: u64,
}

impl Joining {
    /// Refuses a start in the place of another cluster's node.
    pub(crate) async fn check(&self) -> Result<(), String> {
        match self.join.is_empty() {
            true => Ok(()),
            false => self.look(STARTING_MAX).await.map_or(Ok(()), Err),
        }
    }

    /// Ends the node if those that it is to join turn out to be of another cluster before anybody
    /// of its own was connected. Once somebody was it is where it belongs, and stays that when it
    /// is left alone: who it was to join may have lost its disk and begun a cluster of its own.
    pub(crate) async fn watch(self, links: Arc<Links>, faults: Faults) {
        if self.join.is_empty() {
            return;
        }
        loop {
            sleep(AGAIN).await;
            if links.is_any_up() {
                return;
            }
            if let Some(why) = self.look(ANSWER_MAX).await {
                return faults.tell(why);
            }
        }
    }

    /// Why it may not be here: of those that answer, one at least, none is of its own cluster.
    async fn look(&self, patience: Duration) -> Option<String> {
        let mut asked = JoinSet::new();
        let all: BTreeSet<SocketAddr> = self.join.iter().chain(&self.known).copied().collect();
        for address in all.into_iter().filter(|one| *one != self.own_address) {
            let nonce = self.nonce;
            asked.spawn(async move { (address, cluster_at(address, nonce, patience).await) });
        }
        let own = self.own.cluster;
        let mut other = None;
        while let Some(told) = asked.join_next().await {
            match told {
                Ok((_, Some(cluster))) if cluster == own => return None,
                // Somebody else may be where a node of its own was.
                Ok((address, Some(_))) if !self.join.contains(&address) => {}
                Ok((address, Some(cluster))) => other = Some((address, cluster)),
                // Who does not answer says nothing.
                Ok((_, None)) | Err(_) => {}
            }
        }
        other.map(|(address, cluster)| {
            format!(
                "the directory is of node {} of cluster {own:016x}, and the node at {address}, \
                 which it is to join, is of cluster {cluster:016x}: give this node the directory \
                 that it had, or an empty one, with which it joins as a new node; or have it join \
                 nodes of its own cluster",
                self.own.node.0
            )
        })
    }
}

#[cfg(test)]
mod tests;
