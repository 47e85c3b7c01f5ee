//! What is told of an image that cannot be had.
#![allow(
    clippy::disallowed_methods,
    reason = "the thread is a real one between sockets"
)]

use std::sync::Mutex;

use esker::internals::env::sim::SimWorld;
use esker_raft::{Configuration, GroupId, ReplicaId};
use tokio::sync::mpsc;

use crate::front::listen;
use crate::peer::bounds::PeerBounds;
use crate::peer::format::Speaker;
use crate::peer::link::LinkSettings;
use crate::peer::listener::{PeerListener, PeerOpening, PeerService};
use crate::peer::registry::Registry;
use crate::shell::inbox::inbox;

use super::*;

/// Longest that anything takes.
const SOON: Duration = Duration::from_secs(120);

/// The node that offers images: the test answers for it.
struct Offering(Mutex<mpsc::UnboundedSender<(PageRequest, Asker)>>);

impl PeerService for Offering {
    fn raft(&self, _: u64, _: Vec<u8>) {}

    fn ask(&self, _: Speaker, ask: PeerAsk, asker: Asker) {
        if let PeerAsk::Page(bytes) = ask {
            let request = PageRequest::decode(&bytes).unwrap();
            // A test that has ended hears no more.
            let _ = self.0.lock().unwrap().send((request, asker));
        }
    }
}

fn registry(node: u64) -> Arc<Registry> {
    Arc::new(Registry::new(Speaker {
        cluster: 77,
        node,
        incarnation: 1,
        instance: node,
    }))
}

fn member(replica: u64) -> Member {
    Member {
        group: GroupId(9),
        replica: ReplicaId(replica),
    }
}

/// What is said of an image that is there no more, or that cannot even be begun: here first, and
/// then to the one that offers it.
async fn is_told_here_and_there(may_begin: bool) {
    let silent = LogLines::new(|_, _| {});
    let (sender, mut heard) = mpsc::unbounded_channel();
    let opening = PeerOpening {
        listener: listen(([127, 0, 0, 1], 0).into()).await.unwrap(),
        service: Arc::new(Offering(Mutex::new(sender))),
        registry: registry(2),
        log: silent.clone(),
    };
    let listener = PeerListener::open(opening, PeerBounds::default()).unwrap();
    let settings = LinkSettings::default();
    let links = Links::new(registry(1), settings, silent.clone(), Arc::new(|_| {}));
    links.set_addresses(&BTreeMap::from([(2, listener.address())]));
    let deadline = tokio::time::Instant::now() + SOON;
    while !links.is_up(2) {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let env = SimWorld::new(1).env();
    let db = Db::builder("/db").env(env).open().unwrap();
    if !may_begin {
        db.close().unwrap();
    }
    let (inbox, outlet) = inbox();
    let (offer, offers) = channel();
    let image_thread = ImageThread {
        offers,
        waiting: BTreeMap::new(),
        db,
        images: Arc::default(),
        replicas: Arc::default(),
        links: Arc::new(links),
        inbox,
        log: silent,
        complaints: Complaints::default(),
    };
    let running = std::thread::spawn(move || image_thread.run());
    let contents = Default::default();
    let (index, term, configuration) = (5, 1, Configuration::default());
    let ticket = Ticket {
        index,
        term,
        configuration,
        contents,
    };
    offer
        .send(Offered {
            member: member(3),
            from: member(2),
            from_node: NodeId(2),
            ticket,
        })
        .unwrap();
    loop {
        let (request, asker) = tokio::time::timeout(SOON, heard.recv())
            .await
            .expect("it is told")
            .unwrap();
        asker.tell(Answer::Done(PageAnswer::Gone.encode()));
        if request.wish == Wish::Lost {
            assert_eq!((request.from, request.to), (member(2), ReplicaId(3)));
            assert_eq!(request.index, 5);
            break;
        }
    }
    // An offer that follows on that word finds no other.
    let told = outlet.receiver.try_recv();
    assert!(
        matches!(told, Ok(Told::Stage(Ask::ImageFetched(it, 5, false))) if it == member(3)),
        "consensus has not heard it yet"
    );
    drop(offer);
    running.join().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_offers_an_image_hears_that_it_is_lost_behind_consensus_here() {
    is_told_here_and_there(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_offers_an_image_hears_that_it_cannot_be_begun() {
    // It would take it for under way.
    is_told_here_and_there(false).await;
}
