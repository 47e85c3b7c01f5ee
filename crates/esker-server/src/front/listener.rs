//! Accepts connections at one address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::front::bounds::Bounds;
use crate::front::connection::serve;
use crate::front::counters::{Cause, Counters};
use crate::front::door::{Door, DoorKind};
use crate::front::service::Service;
use crate::front::shortage;
use crate::log_lines::LogLines;

/// How long the door stays shut when the machine has no connection to give (no descriptors are
/// left): asking again at once would only burn the processor that is needed to close some.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// What a door is opened with.
#[derive(Debug)]
pub struct Opening<S> {
    /// Which calls are asked here.
    pub kind: DoorKind,
    /// Where, as [`bind`](crate::front::bind::bind) gives it.
    pub listener: TcpListener,
    /// Who answers.
    pub service: Arc<S>,
    /// How much is taken.
    pub bounds: Bounds,
    /// Where refusals are told.
    pub log: LogLines,
}

/// An open door. Dropping it closes it, with its connections.
#[derive(Debug)]
pub struct Front {
    address: SocketAddr,
    counters: Arc<Counters>,
    stop: watch::Sender<Phase>,
}

/// How far a door is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// No connection is accepted; those that are there go on.
    Accepted,
}

impl Front {
    /// Opens a door: from here on connections are accepted. Needs a runtime of tokio.
    pub fn open<S: Service>(opening: Opening<S>) -> std::io::Result<Front> {
        let listener = opening.listener;
        let address = listener.local_addr()?;
        let counters = Arc::new(Counters::default());
        let door = Door {
            kind: opening.kind,
            service: opening.service,
            permits: Arc::new(Semaphore::new(opening.bounds.door_permits())),
            bounds: opening.bounds,
            counters: Arc::clone(&counters),
            log: opening.log,
        };
        let (stop, phase) = watch::channel(Phase::Open);
        tokio::spawn(accept_all(Arc::new(door), listener, phase));
        Ok(Front {
            address,
            counters,
            stop,
        })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has taken and refused.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Accepts no further connection; those that are there go on until the door is dropped.
    pub fn stop_accepting(&self) {
        self.stop.send_replace(Phase::Accepted);
    }
}

async fn accept_all<S: Service>(
    door: Arc<Door<S>>,
    listener: TcpListener,
    mut phase: watch::Receiver<Phase>,
) {
    // Dropped with the task, which ends every connection.
    let mut connections = JoinSet::new();
    let mut listener = Some(listener);
    loop {
        let accepted = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = phase.changed() => match changed {
                Ok(()) => listener = None,
                Err(_) => return,
            },
            Some(ended) = connections.join_next() => note(&door, &ended),
            accepted = accepted => match accepted {
                Ok((stream, peer)) => {
                    // Many may have ended at once, and one is noticed at a turn.
                    while let Some(ended) = connections.try_join_next() {
                        note(&door, &ended);
                    }
                    if connections.len() >= door.bounds.connections_max {
                        let detail = format!("{peer}, beside {}", connections.len());
                        door.counters.refuse(&door.log, Cause::TooMany, &detail);
                        continue;
                    }
                    door.counters.accept();
                    connections.spawn(serve(Arc::clone(&door), stream, peer));
                }
                Err(error) => {
                    door.counters.refuse(&door.log, Cause::Accept, &shortage::words(&error));
                    sleep(AFTER_FAILURE).await;
                }
            },
        }
    }
}

/// Tells of a connection that ended by a fault of this program.
fn note<S>(door: &Door<S>, ended: &Result<(), JoinError>) {
    if let Err(error) = ended {
        let fault = error.to_string().escape_debug().to_string();
        door.counters.refuse(&door.log, Cause::Panicked, &fault);
    }
}
