//! The dialler's end of a connection to another node, which keeps itself up.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::peer::ask::Asker;
use crate::peer::dialling::run;
pub use crate::peer::dialling::{LinkOpening, LinkSettings};
use crate::peer::outgoing::{Outgoing, Phase};

/// A connection to one node. Dropping it ends it; what waits is told.
pub struct Link {
    outgoing: Arc<Outgoing>,
    address: SocketAddr,
    task: AbortHandle,
}

impl Link {
    /// Opens a link; it dials at once. Needs a runtime of tokio.
    pub fn open(opening: LinkOpening) -> Link {
        let outgoing = Arc::new(Outgoing::new());
        let address = opening.address;
        let task = tokio::spawn(run(opening, Arc::clone(&outgoing))).abort_handle();
        Link {
            outgoing,
            address,
            task,
        }
    }

    /// Where it leads.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// True while the connection stands.
    pub fn is_up(&self) -> bool {
        self.outgoing.phase() == Phase::Up
    }

    /// Its sending end, which does not keep it up.
    pub fn sending(&self) -> Sending {
        Sending(Arc::clone(&self.outgoing))
    }
}

/// Where a link takes what it is to send.
pub struct Sending(Arc<Outgoing>);

impl Sending {
    /// Sends a frame of raft, or drops it where there is no room or nobody to read it.
    pub fn send(&self, frame: Vec<u8>, settings: &LinkSettings) {
        self.0.send(frame, settings.most());
    }

    /// Asks, and waits `patience` for the answer: refused if it was surely not sent.
    pub fn ask(&self, ask: Vec<u8>, patience: Duration, asker: Asker, settings: &LinkSettings) {
        self.0.ask(ask, patience, asker, settings.most());
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
        self.outgoing.give_up();
    }
}
