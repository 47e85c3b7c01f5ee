//! A link to each node whose address is known.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_rpc::error::ErrorCode;

use crate::log_lines::LogLines;
use crate::meta::epoch::Claim;
use crate::peer::ask::{Answer, Ask, Asker};
use crate::peer::format::{ASK_BYTES_MAX, RAFT_BYTES_MAX};
use crate::peer::link::{Link, LinkOpening, LinkSettings};
use crate::peer::registry::Registry;

/// Links of one node. Any thread may call; those that open links need a runtime of tokio.
pub struct Links {
    links: Mutex<BTreeMap<u64, Link>>,
    registry: Arc<Registry>,
    settings: LinkSettings,
    log: LogLines,
    on_broken: Arc<dyn Fn(u64) + Send + Sync>,
}

impl Links {
    /// None yet. `on_broken` is told when a connection to a node that stood has broken.
    pub fn new(
        registry: Arc<Registry>,
        settings: LinkSettings,
        log: LogLines,
        on_broken: Arc<dyn Fn(u64) + Send + Sync>,
    ) -> Links {
        Links {
            links: Mutex::default(),
            registry,
            settings,
            log,
            on_broken,
        }
    }

    /// Where the nodes are, all of them: links to others end, and this node has none to itself.
    pub fn set_addresses(&self, addresses: &BTreeMap<u64, SocketAddr>) {
        let myself = self.registry.myself().node;
        let mut links = self.lock();
        let (kept, gone): (BTreeMap<u64, Link>, BTreeMap<u64, Link>) = std::mem::take(&mut *links)
            .into_iter()
            .partition(|(node, link)| addresses.get(node) == Some(&link.address()));
        *links = kept;
        for (&node, &address) in addresses {
            if node != myself && node != 0 {
                links
                    .entry(node)
                    .or_insert_with(|| self.open(node, address));
            }
        }
        drop(links);
        // Outside of the lock: those who wait are told, and may ask elsewhere.
        drop(gone);
    }

    /// A link to whoever listens at `address`, for one who knows no numbers yet.
    pub fn open(&self, node: u64, address: SocketAddr) -> Link {
        Link::open(LinkOpening {
            node,
            address,
            registry: Arc::clone(&self.registry),
            settings: self.settings.clone(),
            log: self.log.clone(),
            on_broken: Arc::clone(&self.on_broken),
        })
    }

    /// Sends a frame of raft, or drops it where nobody is there.
    pub fn send(&self, node: u64, frame: Vec<u8>) {
        assert!(frame.len() <= RAFT_BYTES_MAX);
        // Not under the lock: it may write.
        let sending = self.lock().get(&node).map(Link::sending);
        if let Some(sending) = sending {
            sending.send(frame, &self.settings);
        }
    }

    /// Asks a node; refused if that was surely not sent.
    pub fn ask(&self, node: u64, ask: &Ask, patience: Duration, asker: Asker) {
        let bytes = ask.encode();
        if bytes.len() > ASK_BYTES_MAX {
            return asker.tell(Answer::refused(ErrorCode::InvalidData));
        }
        let links = self.lock();
        match links.get(&node) {
            // It may tell the asker at once, who may ask elsewhere: not under the lock.
            Some(link) => {
                let sending = link.sending();
                drop(links);
                sending.ask(bytes, patience, asker, &self.settings);
            }
            None => {
                drop(links);
                asker.tell(Answer::refused(ErrorCode::ServiceNotActive));
            }
        }
    }

    /// Asks whoever listens at the other end of a link that [`Links::open`] gave.
    pub fn ask_by(&self, link: &Link, ask: &Ask, patience: Duration, asker: Asker) {
        let bytes = ask.encode();
        match bytes.len() <= ASK_BYTES_MAX {
            true => link.sending().ask(bytes, patience, asker, &self.settings),
            false => asker.tell(Answer::refused(ErrorCode::InvalidData)),
        }
    }

    /// True while the connection to that node stands.
    pub fn is_up(&self, node: u64) -> bool {
        self.lock().get(&node).is_some_and(Link::is_up)
    }

    /// True while the connection to any node stands.
    pub fn is_any_up(&self) -> bool {
        self.lock().values().any(Link::is_up)
    }

    /// As [`Registry::address`].
    pub fn address(&self, node: u64) -> Option<(u64, SocketAddr)> {
        self.registry.address(node)
    }

    /// As [`Registry::ousted`].
    pub fn ousted(&self) -> Option<String> {
        self.registry.ousted()
    }

    /// As [`Registry::later_claims`].
    pub fn later_claims(&self) -> Vec<Claim> {
        self.registry.later_claims()
    }

    /// As [`Registry::set_claim`].
    pub fn set_claim(&self, claim: Claim) {
        self.registry.set_claim(claim);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Link>> {
        // A panic between two lines of this file leaves the map as it was.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
