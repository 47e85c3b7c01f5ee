//! The listener's end of connections between nodes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker_rpc::error::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::front::bounds::permits_of;
use crate::front::outbox::Outbox;
use crate::log_lines::{Level, LogLines, Seldom};
use crate::peer::ask::{Answer, Ask, Asker};
use crate::peer::format::{
    ANSWER_BYTES_MAX, Frame, FrameReader, Greeting, Kind, PeerError, REFUSAL_BYTES_MAX, Speaker,
    put_frame,
};
use crate::peer::registry::Registry;

/// Connections at a time: a node dials another once, and a cluster has dozens of nodes.
const CONNECTIONS_MAX: usize = 256;

/// How long a greeting may take to come.
const GREETING_MAX: Duration = Duration::from_secs(2);

/// How long the other node may read nothing of what is written to it.
const STALL_MAX: Duration = Duration::from_secs(10);

/// What asks of one connection may stand for until they are answered, in permits of 16 KiB: the
/// same 64 MiB that a client's connection has.
const PERMITS: usize = 4096;

/// Bytes of answers that may wait for one node.
const UNREAD_BYTES_MAX: usize = 256 << 20;

/// How long nothing is accepted after the machine had no connection to give.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Least room for what the socket brings at once.
const READ_BYTES: usize = 64 << 10;

/// A node, as others see it. Calls come from many threads and must not wait in here.
pub trait PeerService: Send + Sync + 'static {
    /// A frame of raft.
    fn raft(&self, from: u64, frame: Vec<u8>);
    /// An ask; its speaker has the number 0 if it is of no cluster yet.
    fn ask(&self, from: Speaker, ask: Ask, asker: Asker);
}

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
    seldom: Seldom,
    total: AtomicU64,
}

impl Refusals {
    fn refuse(&self, peer: SocketAddr, why: &str) {
        // Nothing hangs on the order of a count among other writes.
        self.total.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = self.seldom.count() {
            let line = format!("refused a node at {peer}: {why} ({count} so far)");
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
    pub fn open<S: PeerService>(opening: PeerOpening<S>) -> std::io::Result<PeerListener> {
        let listener = opening.listener;
        let address = listener.local_addr()?;
        let refused = Arc::new(Refusals {
            log: opening.log,
            seldom: Seldom::default(),
            total: AtomicU64::new(0),
        });
        let door = Door {
            service: opening.service,
            registry: opening.registry,
            refused: Arc::clone(&refused),
        };
        let task = tokio::spawn(accept_all(door, listener)).abort_handle();
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
        // As in `refuse`.
        self.refused.total.load(Ordering::Relaxed)
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
}

impl<S> Clone for Door<S> {
    fn clone(&self) -> Door<S> {
        Door {
            service: Arc::clone(&self.service),
            registry: Arc::clone(&self.registry),
            refused: Arc::clone(&self.refused),
        }
    }
}

async fn accept_all<S: PeerService>(door: Door<S>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) if connections.len() < CONNECTIONS_MAX => {
                    connections.spawn(serve(door.clone(), stream, peer));
                }
                Ok((_, peer)) => door.refused.refuse(peer, "as many as may be are connected"),
                Err(error) => {
                    door.refused.refuse(listener_address(&listener), &error.to_string());
                    sleep(AFTER_FAILURE).await;
                }
            },
        }
    }
}

fn listener_address(listener: &TcpListener) -> SocketAddr {
    // Only for a line of the log.
    listener
        .local_addr()
        .unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)))
}

async fn serve<S: PeerService>(door: Door<S>, mut stream: TcpStream, peer: SocketAddr) {
    // What is answered is waited for. A socket that cannot be told so only waits longer.
    let _ = stream.set_nodelay(true);
    let mut reader = FrameReader::default();
    let greeted = timeout(GREETING_MAX, greet(&door, &mut stream, &mut reader)).await;
    let speaker = match greeted {
        Ok(Ok(speaker)) => speaker,
        Ok(Err(why)) => return door.refused.refuse(peer, &why),
        Err(_) => return door.refused.refuse(peer, "it did not say who it is"),
    };
    let (read_half, write_half) = stream.into_split();
    let outbox = Arc::new(Outbox::new());
    let reading = Reading {
        door: &door,
        speaker,
        outbox: &outbox,
        permits: Arc::new(Semaphore::new(PERMITS)),
    };
    let end = tokio::select! {
        end = reading.run(read_half, reader) => end,
        end = write_all(write_half, &outbox) => end,
    };
    outbox.close();
    if let Some(why) = end {
        door.refused
            .refuse(peer, &format!("node {}: {why}", speaker.node));
    }
}

async fn greet<S>(
    door: &Door<S>,
    stream: &mut TcpStream,
    reader: &mut FrameReader,
) -> Result<Speaker, String> {
    let frame = loop {
        if let Some(frame) = reader.next().map_err(|error| error.to_string())? {
            break frame;
        }
        match stream.read_buf(reader.buffer()).await {
            Ok(0) => return Err("it closed the connection".to_owned()),
            Ok(_) => {}
            Err(error) => return Err(error.to_string()),
        }
    };
    let greeting = match frame.kind {
        Kind::Hello => Greeting::decode(&frame.payload).map_err(|error| error.to_string()),
        other => Err(PeerError::Unexpected(other).to_string()),
    };
    let admitted = greeting.and_then(|greeting| {
        let admitted = door.registry.admit(&greeting);
        admitted.map_err(|stranger| stranger.to_string())?;
        Ok(greeting.speaker)
    });
    let mut bytes = Vec::new();
    match &admitted {
        Ok(speaker) => {
            let welcome = Greeting {
                speaker: door.registry.myself(),
                wants: speaker.node,
            };
            put_frame(&mut bytes, Kind::Welcome, 0, &welcome.encode());
        }
        Err(why) => {
            let words = &why.as_bytes()[..why.len().min(REFUSAL_BYTES_MAX)];
            put_frame(&mut bytes, Kind::Refusal, 0, words);
        }
    }
    stream
        .write_all(&bytes)
        .await
        .map_err(|error| error.to_string())?;
    admitted
}

struct Reading<'a, S> {
    door: &'a Door<S>,
    speaker: Speaker,
    outbox: &'a Arc<Outbox<OwnedSemaphorePermit>>,
    permits: Arc<Semaphore>,
}

impl<S: PeerService> Reading<'_, S> {
    /// Why the connection is broken off; `None` if the other node closed it.
    async fn run(self, mut half: OwnedReadHalf, mut reader: FrameReader) -> Option<String> {
        loop {
            loop {
                match reader.next() {
                    Ok(Some(frame)) => {
                        if let Err(why) = self.take(frame).await {
                            return Some(why);
                        }
                    }
                    Ok(None) => break,
                    Err(error) => return Some(error.to_string()),
                }
            }
            let buffer = reader.buffer();
            buffer.reserve(READ_BYTES);
            match half.read_buf(buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    async fn take(&self, frame: Frame) -> Result<(), String> {
        if !self.door.registry.is_current(&self.speaker) {
            return Err("a later incarnation of it has spoken".to_owned());
        }
        match frame.kind {
            Kind::Raft if self.speaker.node != 0 => {
                self.door.service.raft(self.speaker.node, frame.payload);
                Ok(())
            }
            Kind::Ask => {
                let ask = Ask::decode(&frame.payload).map_err(|error| error.to_string())?;
                let needed = match &ask {
                    Ask::Keys(call) => permits_of(&call.name, call.arguments.len(), PERMITS),
                    Ask::Page(_) => permits_of("RPC_RRDB_RRDB_SCAN", 0, PERMITS),
                    _ => 1,
                };
                let permit = Arc::clone(&self.permits).acquire_many_owned(needed).await;
                let permit = permit.expect("nobody closes the semaphore");
                let outbox = Arc::clone(self.outbox);
                let number = frame.number;
                let asker = Asker::new(move |answer| answer_with(&outbox, permit, number, &answer));
                self.door.service.ask(self.speaker, ask, asker);
                Ok(())
            }
            other => Err(PeerError::Unexpected(other).to_string()),
        }
    }
}

fn answer_with(
    outbox: &Outbox<OwnedSemaphorePermit>,
    permit: OwnedSemaphorePermit,
    number: u64,
    answer: &Answer,
) {
    let mut payload = answer.encode();
    if payload.len() > ANSWER_BYTES_MAX {
        payload = Answer::refused(ErrorCode::InvalidData).encode();
    }
    outbox.push(permit, UNREAD_BYTES_MAX, |out| {
        put_frame(out, Kind::Answer, number, &payload)
    });
}

async fn write_all(
    mut half: OwnedWriteHalf,
    outbox: &Outbox<OwnedSemaphorePermit>,
) -> Option<String> {
    let mut bytes = Vec::new();
    while let Some(held) = outbox.take(&mut bytes).await {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match timeout(STALL_MAX, half.write(rest)).await {
                Err(_) => return Some("it does not read".to_owned()),
                Ok(Ok(0) | Err(_)) => return None,
                Ok(Ok(written)) => rest = &rest[written..],
            }
        }
        drop(held);
    }
    outbox
        .is_overfull()
        .then(|| "it asks for more than it reads".to_owned())
}
