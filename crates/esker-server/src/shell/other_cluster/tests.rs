//! When those that a node is to join end it, and when not.
#![allow(
    clippy::disallowed_methods,
    reason = "the nodes are real ones between sockets"
)]

use std::collections::BTreeMap;

use esker_raft::NodeId;
use tokio::time::timeout;

use crate::front::listen;
use crate::log_lines::LogLines;
use crate::peer::ask::{Ask, Asker};
use crate::peer::bounds::PeerBounds;
use crate::peer::format::Speaker;
use crate::peer::link::LinkSettings;
use crate::peer::listener::{PeerListener, PeerOpening, PeerService};
use crate::peer::registry::Registry;

use super::*;

/// Longest that anything takes.
const SOON: Duration = Duration::from_secs(120);

struct Deaf;

impl PeerService for Deaf {
    fn raft(&self, _: u64, _: Vec<u8>) {}

    fn ask(&self, _: Speaker, _: Ask, _: Asker) {}
}

fn registry(cluster: u64, node: u64) -> Arc<Registry> {
    Arc::new(Registry::new(Speaker {
        cluster,
        node,
        incarnation: 1,
        instance: node,
    }))
}

async fn node(cluster: u64, node: u64) -> PeerListener {
    let opening = PeerOpening {
        listener: listen(([127, 0, 0, 1], 0).into()).await.unwrap(),
        service: Arc::new(Deaf),
        registry: registry(cluster, node),
        log: LogLines::silent(),
    };
    PeerListener::open(opening, PeerBounds::default()).unwrap()
}

/// Why node 1 of cluster 77 ends, if it does: who it is to join is of cluster 88, and the others of
/// its own are at those addresses.
async fn end_beside(others: BTreeMap<u64, SocketAddr>) -> Option<String> {
    let other = node(88, 1).await;
    let (settings, silent) = (LinkSettings::default(), LogLines::silent());
    let links = Links::new(registry(77, 1), settings, silent.clone(), Arc::new(|_| {}));
    links.set_addresses(&others);
    let faults = Faults::new(silent);
    let joining = joining(&[&other], &[]);
    let watching = joining.watch(Arc::new(links), faults.clone());
    timeout(SOON, watching).await.expect("it knows by then");
    faults.told()
}

/// Node 1 of cluster 77, which is to join those, and knows others.
fn joining(join: &[&PeerListener], known: &[&PeerListener]) -> Joining {
    let addresses = |all: &[&PeerListener]| all.iter().map(|one| one.address()).collect();
    Joining {
        join: addresses(join),
        known: addresses(known),
        own_address: ([127, 0, 0, 1], 1).into(),
        own: Identity {
            cluster: 77,
            node: NodeId(1),
            incarnation: 1,
            is_settled: true,
            instance: 0,
            before: [0; 16],
        },
        nonce: 5,
    }
}

#[tokio::test]
async fn who_is_to_join_one_that_is_of_another_cluster_by_now_starts_where_its_own_live() {
    let (other, own) = (node(88, 1).await, node(77, 2).await);
    let why = joining(&[&other], &[]).look(SOON).await.unwrap();
    assert!(why.contains("is of cluster 0000000000000058"), "{why}");
    assert_eq!(joining(&[&other], &[&own]).look(SOON).await, None);
    // Somebody else may be where others of its own were: that says nothing.
    let third = node(99, 1).await;
    assert!(joining(&[&other], &[&third]).look(SOON).await.is_some());
    assert_eq!(joining(&[], &[&third]).check().await, Ok(()));
    let gone = node(88, 2).await;
    let ended = joining(&[&gone], &[&third]);
    drop(gone);
    assert_eq!(ended.look(SOON).await, None);
}

#[tokio::test]
async fn who_was_connected_to_its_own_stays_whatever_stands_where_it_was_to_join() {
    let own = node(77, 2).await;
    let others = BTreeMap::from([(2, own.address())]);
    assert_eq!(end_beside(others).await, None);
}

#[tokio::test]
async fn who_meets_nobody_of_its_own_ends_where_another_cluster_is() {
    let why = end_beside(BTreeMap::new()).await.expect("it ends");
    assert!(why.contains("is of cluster 0000000000000058"), "{why}");
}
