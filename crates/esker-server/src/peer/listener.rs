//! The listener's end of connections between nodes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker_rpc::error::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::front::bounds::permits_of;
use crate::front::outbox::{Closing, Outbox};
use crate::front::pace::Pace;
use crate::front::shortage;
use crate::front::writing::{Slowest, Unwritten, write_all};
use crate::log_lines::{Level, LogLines};
use crate::peer::ask::{Answer, Ask, Asker};
use crate::peer::bounds::{PeerBounds, permits_of_bytes};
use crate::peer::cause::{Causes, Ended, PeerCause};
use crate::peer::format::{
    ANSWER_BYTES_MAX, Frame, FrameReader, Greeting, Kind, PeerError, Reason, Refusal, Speaker,
    put_frame,
};
use crate::peer::places::Places;
use crate::peer::registry::{Registry, Stranger};

/// How long nothing is accepted after the machine had no connection to give.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Least room for what the socket brings at once.
const READ_BYTES: usize = 64 << 10;

/// A node, as others see it. Calls come from many threads and must not wait in here.
pub trait PeerService: Send + Sync + 'static {
    /// A frame of raft.
    fn raft(&self, from: u64, frame: Vec<u8>);
    /// A frame of raft, and what it holds of the bound on them until it is dropped. Whoever puts
    /// frames into a queue keeps that beside each: frames that find no room are dropped here.
    fn raft_held(&self, from: u64, frame: Vec<u8>, held: Held) {
        drop(held);
        self.raft(from, frame);
    }
    /// An ask; its speaker has the number 0 if it is of no cluster yet.
    fn ask(&self, from: Speaker, ask: Ask, asker: Asker);
}

/// What a frame holds of a bound until it is dropped.
#[derive(Debug)]
pub struct Held(#[allow(dead_code, reason = "it is held")] OwnedSemaphorePermit);

/// An open door for other nodes. Dropping it closes it, with its connections.
#[derive(Debug)]
pub struct PeerListener {
    address: SocketAddr,
    refused: Arc<Refusals>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Refusals {
    log: LogLines,
    causes: Causes,
    total: AtomicU64,
}

impl Refusals {
    fn note(&self, who: &str, ended: &Ended) {
        let line = format!("refused a node at {who}: {}", ended.words);
        self.tell(ended.cause, &line);
    }

    /// The machine gave none, so nobody knows whose it would have been.
    fn no_connection(&self, error: &std::io::Error) {
        let words = shortage::words(error);
        let line = format!("could not accept a connection of a node: {words}");
        self.tell(PeerCause::Accept, &line);
    }

    fn tell(&self, cause: PeerCause, line: &str) {
        // Nothing hangs on the order of a count among other writes.
        self.total.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = self.causes.count(cause) {
            let line = format!("{line} ({count} so far)");
            self.log.write(Level::Warning, &line);
        }
    }
}

/// What a peer door is opened with.
#[derive(Debug)]
pub struct PeerOpening<S> {
    /// Where, as [`bind`](crate::front::bind::bind) gives it.
    pub listener: TcpListener,
    /// Who is asked.
    pub service: Arc<S>,
    /// Who this node is, and who others are.
    pub registry: Arc<Registry>,
    /// Where refusals are told.
    pub log: LogLines,
}

impl PeerListener {
    /// Opens the door. Needs a runtime of tokio.
    pub fn open<S: PeerService>(
        opening: PeerOpening<S>,
        bounds: PeerBounds,
    ) -> std::io::Result<PeerListener> {
        let listener = opening.listener;
        let address = listener.local_addr()?;
        let refused = Arc::new(Refusals {
            log: opening.log,
            causes: Causes::default(),
            total: AtomicU64::new(0),
        });
        let door = Door {
            service: opening.service,
            registry: opening.registry,
            refused: Arc::clone(&refused),
            places: Places::new(bounds.of_node_max),
            nameless: Semaphore::new(bounds.nameless_max),
            raft_room: Arc::new(Semaphore::new(bounds.raft_permits())),
            bounds,
        };
        let task = tokio::spawn(accept_all(Arc::new(door), listener)).abort_handle();
        Ok(PeerListener {
            address,
            refused,
            task,
        })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections were refused or broken off.
    pub fn refused_count(&self) -> u64 {
        // As in `note`.
        self.refused.total.load(Ordering::Relaxed)
    }

    /// How often that was why.
    pub fn refused(&self, cause: PeerCause) -> u64 {
        self.refused.causes.of(cause)
    }
}

impl Drop for PeerListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Door<S> {
    service: Arc<S>,
    registry: Arc<Registry>,
    refused: Arc<Refusals>,
    bounds: PeerBounds,
    /// Where connections of each node are.
    places: Places,
    /// Places of those who have no number.
    nameless: Semaphore,
    /// What frames of raft hold until the service has taken them.
    raft_room: Arc<Semaphore>,
}

async fn accept_all<S: PeerService>(door: Arc<Door<S>>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(ended) = connections.join_next() => note(&door, ended),
            accepted = listener.accept() => {
                // Many may have ended at once, and one is noticed at a turn.
                while let Some(ended) = connections.try_join_next() {
                    note(&door, ended);
                }
                match accepted {
                    Ok((stream, peer)) if connections.len() < door.bounds.connections_max => {
                        connections.spawn(serve(Arc::clone(&door), stream, peer));
                    }
                    Ok((_, peer)) => {
                        let words = "as many as may be are connected";
                        let ended = Ended::new(PeerCause::TooMany, words);
                        door.refused.note(&peer.to_string(), &ended);
                    }
                    Err(error) => {
                        door.refused.no_connection(&error);
                        sleep(AFTER_FAILURE).await;
                    }
                }
            }
        }
    }
}

/// Tells of a connection that ended by a fault of this program.
fn note<S>(door: &Door<S>, ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        let fault = error.to_string().escape_debug().to_string();
        let ended = Ended::new(PeerCause::Panicked, fault);
        door.refused.note("its connection, by a fault here", &ended);
    }
}

async fn serve<S: PeerService>(door: Arc<Door<S>>, mut stream: TcpStream, peer: SocketAddr) {
    // What is answered is waited for. A socket that cannot be told so only waits longer.
    let _ = stream.set_nodelay(true);
    let mut reader = FrameReader::of(&[Kind::Hello]);
    let greeted = greet(&door, &mut stream, &mut reader);
    let ended = match timeout(door.bounds.greeting_max, greeted).await {
        Ok(Ok(speaker)) => {
            let ended = converse(&door, speaker, stream, reader).await;
            ended.map(|ended| Ended {
                words: format!("node {}: {}", speaker.node, ended.words),
                ..ended
            })
        }
        Ok(Err(ended)) => Some(ended),
        Err(_) => Some(Ended::new(PeerCause::Silent, "it did not say who it is")),
    };
    if let Some(ended) = ended {
        door.refused.note(&peer.to_string(), &ended);
    }
}

async fn greet<S>(
    door: &Door<S>,
    stream: &mut TcpStream,
    reader: &mut FrameReader,
) -> Result<Speaker, Ended> {
    let frame = loop {
        if let Some(frame) = reader.next()? {
            break frame;
        }
        if stream.read_buf(reader.buffer()).await? == 0 {
            return Err(Ended::closed());
        }
    };
    let mut bytes = Vec::new();
    let refused = match Greeting::decode(&frame.payload) {
        Ok(greeting) => match door.registry.admit(&greeting) {
            // One that knows of another meta service is told of this one, and left.
            admitted @ (Ok(()) | Err(Stranger::OtherEpoch(_))) => {
                let welcome = Greeting {
                    speaker: door.registry.myself(),
                    wants: greeting.speaker.node,
                    origin: door.registry.origin(),
                    claim: door.registry.claim(),
                };
                put_frame(&mut bytes, Kind::Welcome, 0, &welcome.encode());
                stream.write_all(&bytes).await?;
                return admitted.map(|()| greeting.speaker).map_err(Ended::from);
            }
            Err(stranger) => (Reason::from(stranger), Ended::from(stranger)),
        },
        Err(error) => (Reason::Other, Ended::from(error)),
    };
    let (reason, ended) = refused;
    let words = ended.words.clone();
    let refusal = Refusal { reason, words };
    put_frame(&mut bytes, Kind::Refusal, 0, &refusal.encode());
    stream.write_all(&bytes).await?;
    Err(ended)
}

/// Serves one who has greeted; why the connection is broken off, `None` if the other node did that.
async fn converse<S: PeerService>(
    door: &Door<S>,
    speaker: Speaker,
    stream: TcpStream,
    mut reader: FrameReader,
) -> Option<Ended> {
    let is_nameless = speaker.node == 0;
    let nameless = match is_nameless {
        true => door.nameless.try_acquire().map(Some),
        false => Ok(None),
    };
    let Ok(_nameless) = nameless else {
        let words = "as many as may be without a number are connected";
        return Some(Ended::new(PeerCause::TooMany, words));
    };
    let place = (!is_nameless).then(|| door.places.take(speaker.node));
    let _standing = door.registry.stand(speaker);
    let lost_place = async {
        match &place {
            Some(place) => {
                place.replaced().await;
                Ended::new(
                    PeerCause::Replaced,
                    "later connections of it took its place",
                )
            }
            None => {
                sleep(door.bounds.nameless_life_max).await;
                Ended::new(PeerCause::Silent, "it has no number, and stays for long")
            }
        }
    };
    reader.expect(match is_nameless {
        true => &[Kind::Ask, Kind::Alive],
        false => &[Kind::Raft, Kind::Ask, Kind::Alive],
    });
    let (read_half, write_half) = stream.into_split();
    let outbox = Arc::new(Outbox::new());
    // However this ends, by a panic of the service as well: who answers late keeps nothing alive.
    let _closing = Closing(&outbox);
    let slowest = Slowest {
        grace: door.bounds.stall_max,
        bytes_s_min: door.bounds.pace_bytes_s_min,
    };
    let reading = Reading {
        door,
        speaker,
        outbox: &outbox,
        permits: Arc::new(Semaphore::new(door.bounds.ask_permits())),
    };
    tokio::select! {
        ended = reading.run(read_half, reader) => ended,
        end = write_all(write_half, &outbox, slowest) => match end {
            Unwritten::Closed => None,
            Unwritten::Slow => Some(Ended::new(PeerCause::Deaf, "it does not read")),
            Unwritten::Overfull => {
                Some(Ended::new(PeerCause::Deaf, "it asks for more than it reads"))
            }
        },
        ended = lost_place => Some(ended),
    }
}

struct Reading<'a, S> {
    door: &'a Door<S>,
    speaker: Speaker,
    outbox: &'a Arc<Outbox<OwnedSemaphorePermit>>,
    permits: Arc<Semaphore>,
}

impl<S: PeerService> Reading<'_, S> {
    /// Why the connection is broken off; `None` if the other node closed it. It never waits for
    /// anything but bytes: behind an ask that must wait there may be what it waits for.
    async fn run(self, mut half: OwnedReadHalf, mut reader: FrameReader) -> Option<Ended> {
        let bounds = &self.door.bounds;
        // Of the frame whose first bytes are there, and the rest is not.
        let mut begun: Option<Pace> = None;
        let mut alive_at = Instant::now();
        loop {
            loop {
                match reader.next() {
                    Ok(Some(frame)) => {
                        begun = None;
                        if let Err(ended) = self.take(frame) {
                            return Some(ended);
                        }
                    }
                    Ok(None) => break,
                    Err(error) => return Some(error.into()),
                }
            }
            begun = match reader.is_in_frame() {
                true => {
                    begun.or_else(|| Some(Pace::new(bounds.stall_max, bounds.pace_bytes_s_min)))
                }
                false => None,
            };
            let left = begun.as_ref().map_or(bounds.silence_max, Pace::left);
            let buffer = reader.buffer();
            buffer.reserve(READ_BYTES);
            let wait = left.min(bounds.silence_max);
            match timeout(wait, half.read_buf(buffer)).await {
                Err(_) => return Some(Ended::new(PeerCause::Silent, "it says nothing more")),
                Ok(Ok(0) | Err(_)) => return None,
                Ok(Ok(read)) => {
                    if let Some(pace) = &mut begun {
                        pace.went(read);
                    }
                }
            }
            if alive_at <= Instant::now() {
                alive_at = Instant::now() + bounds.alive_every;
                self.say(Kind::Alive, 0, &[]);
            }
        }
    }

    fn take(&self, frame: Frame) -> Result<(), Ended> {
        if !self.door.registry.hears(&self.speaker) {
            return Err(Ended::outdated());
        }
        match frame.kind {
            Kind::Raft => {
                self.raft(frame.payload);
                Ok(())
            }
            Kind::Ask => self.ask(&frame),
            Kind::Alive => Ok(()),
            other => Err(PeerError::Unexpected(other).into()),
        }
    }

    fn raft(&self, frame: Vec<u8>) {
        let door = self.door;
        let needed = permits_of_bytes(frame.len(), door.bounds.raft_permits());
        match Arc::clone(&door.raft_room).try_acquire_many_owned(needed) {
            Ok(permit) => {
                let from = self.speaker.node;
                door.service.raft_held(from, frame, Held(permit));
            }
            Err(_) => {
                let words = "more frames of raft came than are taken, and one was dropped";
                let who = format!("node {}", self.speaker.node);
                door.refused
                    .note(&who, &Ended::new(PeerCause::RaftDropped, words));
            }
        }
    }

    fn ask(&self, frame: &Frame) -> Result<(), Ended> {
        let ask = Ask::decode(&frame.payload)?;
        if self.speaker.node == 0 && !matches!(ask, Ask::Register(_)) {
            let words = "it has no number, and may only ask for one";
            return Err(Ended::new(PeerCause::Malformed, words));
        }
        let name = match &ask {
            Ask::Keys(call) => &call.name,
            Ask::Page(_) => "RPC_RRDB_RRDB_SCAN",
            Ask::Report(_) | Ask::Register(_) | Ask::Meta(_) => "",
        };
        let needed = permits_of(name, frame.payload.len(), self.door.bounds.ask_permits());
        let number = frame.number;
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_many_owned(needed) else {
            let busy = Answer::refused(ErrorCode::Busy).encode();
            self.say(Kind::Answer, number, &busy);
            return Ok(());
        };
        let outbox = Arc::clone(self.outbox);
        let unread_bytes_max = self.door.bounds.unread_bytes_max;
        let asker = Asker::new(move |answer| {
            let mut payload = answer.encode();
            if payload.len() > ANSWER_BYTES_MAX {
                payload = Answer::refused(ErrorCode::InvalidData).encode();
            }
            outbox.push(permit, unread_bytes_max, |out| {
                put_frame(out, Kind::Answer, number, &payload)
            });
        });
        self.door.service.ask(self.speaker, ask, asker);
        Ok(())
    }

    /// Says something that holds nothing.
    fn say(&self, kind: Kind, number: u64, payload: &[u8]) {
        let none = Arc::clone(&self.permits).try_acquire_many_owned(0);
        let none = none.expect("no permits are always there");
        let unread_bytes_max = self.door.bounds.unread_bytes_max;
        self.outbox.push(none, unread_bytes_max, |out| {
            put_frame(out, kind, number, payload)
        });
    }
}
