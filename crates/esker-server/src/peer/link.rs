//! The dialler's end of a connection to another node, which keeps itself up.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_rpc::error::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval, timeout};

use crate::log_lines::{Level, LogLines, Seldom};
use crate::peer::ask::{Answer, Asker};
use crate::peer::format::{FrameReader, Greeting, Kind, PeerError, Speaker, put_frame};
use crate::peer::registry::Registry;

/// Least room for what the socket brings at once.
const READ_BYTES: usize = 64 << 10;

/// How often asks whose time is over are looked for.
const SWEEP: Duration = Duration::from_millis(100);

/// How a link waits, and how much it holds.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// How long connecting and greeting take at most.
    pub connect_max: Duration,
    /// How long the link rests after the first attempt that failed; twice as long after each.
    pub rest_min: Duration,
    /// The longest rest.
    pub rest_max: Duration,
    /// How long the other node may read nothing of what is written to it.
    pub stall_max: Duration,
    /// Bytes that wait to be written; frames beyond are dropped, asks are refused.
    pub queue_bytes_max: usize,
    /// Asks that wait for an answer; those beyond are refused.
    pub asks_max: usize,
}

impl Default for LinkSettings {
    fn default() -> LinkSettings {
        LinkSettings {
            connect_max: Duration::from_secs(2),
            rest_min: Duration::from_millis(50),
            rest_max: Duration::from_secs(1),
            stall_max: Duration::from_secs(10),
            queue_bytes_max: 32 << 20,
            asks_max: 4096,
        }
    }
}

/// What a link is opened with.
#[derive(Clone)]
pub struct LinkOpening {
    /// The node that is wanted; 0 for whoever listens there.
    pub node: u64,
    /// Where it listens.
    pub address: SocketAddr,
    /// Who this node is, and who others are.
    pub registry: Arc<Registry>,
    /// How the link waits.
    pub settings: LinkSettings,
    /// Where it tells that it fails.
    pub log: LogLines,
    /// Is told when a connection that stood has broken. Must not wait.
    pub on_broken: Arc<dyn Fn(u64) + Send + Sync>,
}

/// A connection to one node. Dropping it ends it; what waits is told.
pub struct Link {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: AbortHandle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// An attempt to connect is under way: what is given may yet be sent.
    Dialling,
    Up,
    /// The last attempt failed, and the next is not due.
    Resting,
}

struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    phase: Phase,
    queue: VecDeque<Outgoing>,
    queue_bytes: usize,
    waiting: HashMap<u64, Waiting>,
    next_number: u64,
}

enum Outgoing {
    Raft(Vec<u8>),
    Ask(u64, Vec<u8>),
}

struct Waiting {
    asker: Asker,
    deadline: Instant,
    was_sent: bool,
}

impl Link {
    /// Opens a link; it dials at once. Needs a runtime of tokio.
    pub fn open(opening: LinkOpening) -> Link {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                phase: Phase::Dialling,
                queue: VecDeque::new(),
                queue_bytes: 0,
                waiting: HashMap::new(),
                next_number: 1,
            }),
            changed: Notify::new(),
        });
        let address = opening.address;
        let task = tokio::spawn(run(opening, Arc::clone(&shared))).abort_handle();
        Link {
            shared,
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
        self.shared.lock().phase == Phase::Up
    }

    /// Its sending end, which does not keep it up.
    pub fn sending(&self) -> Sending {
        Sending(Arc::clone(&self.shared))
    }

    /// As [`Sending::send`].
    pub fn send(&self, frame: Vec<u8>, settings: &LinkSettings) {
        self.sending().send(frame, settings);
    }
}

/// Where a link takes what it is to send.
pub struct Sending(Arc<Shared>);

impl Sending {
    /// Sends a frame of raft, or drops it where there is no room or nobody to read it.
    pub fn send(&self, frame: Vec<u8>, settings: &LinkSettings) {
        let mut state = self.0.lock();
        let is_full = state.queue_bytes + frame.len() > settings.queue_bytes_max;
        if is_full || state.phase == Phase::Resting {
            return;
        }
        state.queue_bytes += frame.len();
        state.queue.push_back(Outgoing::Raft(frame));
        drop(state);
        self.0.changed.notify_one();
    }

    /// Asks, and waits `patience` for the answer: refused if it was surely not sent.
    pub fn ask(&self, ask: Vec<u8>, patience: Duration, asker: Asker, settings: &LinkSettings) {
        let mut state = self.0.lock();
        let is_full = state.queue_bytes + ask.len() > settings.queue_bytes_max
            || state.waiting.len() >= settings.asks_max;
        if is_full || state.phase == Phase::Resting {
            drop(state);
            return asker.tell(unsent());
        }
        let number = state.next_number;
        state.next_number += 1;
        state.queue_bytes += ask.len();
        state.queue.push_back(Outgoing::Ask(number, ask));
        let waiting = Waiting {
            asker,
            deadline: Instant::now() + patience,
            was_sent: false,
        };
        state.waiting.insert(number, waiting);
        drop(state);
        self.0.changed.notify_one();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.give_up(Phase::Resting);
    }
}

/// What an ask is told that was not sent: to come back later, here or elsewhere.
fn unsent() -> Answer {
    Answer::refused(ErrorCode::ServiceNotActive)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic between two lines of this file leaves the state as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells all that wait, and forgets what is not sent.
    fn give_up(&self, phase: Phase) {
        let mut state = self.lock();
        state.phase = phase;
        state.queue.clear();
        state.queue_bytes = 0;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for one in waiting.into_values() {
            one.end();
        }
    }

    /// Appends what waits to `out`; from now on it counts as sent.
    fn take_queue(&self, out: &mut Vec<u8>) {
        let mut state = self.lock();
        let queue = std::mem::take(&mut state.queue);
        state.queue_bytes = 0;
        for outgoing in queue {
            match outgoing {
                Outgoing::Raft(frame) => put_frame(out, Kind::Raft, 0, &frame),
                // One whose time was over is not there any more, and nobody waits for it.
                Outgoing::Ask(number, ask) => {
                    if let Some(waiting) = state.waiting.get_mut(&number) {
                        waiting.was_sent = true;
                        put_frame(out, Kind::Ask, number, &ask);
                    }
                }
            }
        }
    }

    fn sweep(&self) {
        let now = Instant::now();
        let mut state = self.lock();
        let is_over = |waiting: &mut Waiting| waiting.deadline <= now;
        let late: Vec<Waiting> = state
            .waiting
            .extract_if(|_, waiting| is_over(waiting))
            .map(|row| row.1)
            .collect();
        drop(state);
        for one in late {
            one.end();
        }
    }
}

impl Waiting {
    fn end(self) {
        self.asker.tell(match self.was_sent {
            true => Answer::Unknown,
            false => unsent(),
        });
    }
}

async fn run(opening: LinkOpening, shared: Arc<Shared>) {
    let failures = Seldom::default();
    let mut rest = opening.settings.rest_min;
    loop {
        shared.lock().phase = Phase::Dialling;
        let why = match timeout(opening.settings.connect_max, dial(&opening)).await {
            Ok(Ok((stream, reader, speaker))) => {
                shared.lock().phase = Phase::Up;
                rest = opening.settings.rest_min;
                let why = converse(&opening, &shared, stream, reader).await;
                shared.give_up(Phase::Resting);
                (opening.on_broken)(speaker.node);
                why
            }
            Ok(Err(why)) => why,
            Err(_) => "it does not answer".to_owned(),
        };
        shared.give_up(Phase::Resting);
        if let Some(count) = failures.count() {
            let (node, address) = (opening.node, opening.address);
            let line = format!("no connection to node {node} at {address}: {why} ({count} so far)");
            opening.log.write(Level::Warning, &line);
        }
        // Dropping the link aborts this task, so nothing needs to cut the rest short.
        tokio::time::sleep(rest).await;
        rest = (rest * 2).min(opening.settings.rest_max);
    }
}

/// Connects and greets; why not, in words.
async fn dial(opening: &LinkOpening) -> Result<(TcpStream, FrameReader, Speaker), String> {
    let stream = TcpStream::connect(opening.address).await;
    let mut stream = stream.map_err(|error| error.to_string())?;
    // What is sent is waited for. A socket that cannot be told so only waits longer.
    let _ = stream.set_nodelay(true);
    let greeting = Greeting {
        speaker: opening.registry.myself(),
        wants: opening.node,
    };
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Hello, 0, &greeting.encode());
    stream
        .write_all(&bytes)
        .await
        .map_err(|error| error.to_string())?;
    let mut reader = FrameReader::default();
    loop {
        if let Some(frame) = reader.next().map_err(|error| error.to_string())? {
            return match frame.kind {
                Kind::Welcome => {
                    let welcome = Greeting::decode(&frame.payload);
                    let welcome = welcome.map_err(|error| error.to_string())?;
                    let known = opening.registry.recognize(opening.node, &welcome);
                    known.map_err(|stranger| stranger.to_string())?;
                    Ok((stream, reader, welcome.speaker))
                }
                Kind::Refusal => {
                    let words = String::from_utf8_lossy(&frame.payload);
                    Err(format!("it says: {}", words.escape_debug()))
                }
                other => Err(PeerError::Unexpected(other).to_string()),
            };
        }
        match stream.read_buf(reader.buffer()).await {
            Ok(0) => return Err("it closed the connection".to_owned()),
            Ok(_) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Sends and receives until the connection breaks; why, in words.
async fn converse(
    opening: &LinkOpening,
    shared: &Shared,
    stream: TcpStream,
    reader: FrameReader,
) -> String {
    let (read_half, write_half) = stream.into_split();
    let sweeping = async {
        let mut ticks = interval(SWEEP);
        loop {
            ticks.tick().await;
            shared.sweep();
        }
    };
    tokio::select! {
        why = receive(shared, read_half, reader) => why,
        why = send(shared, write_half, opening.settings.stall_max) => why,
        () = sweeping => String::new(),
    }
}

async fn receive(shared: &Shared, mut half: OwnedReadHalf, mut reader: FrameReader) -> String {
    loop {
        loop {
            match reader.next() {
                Ok(Some(frame)) if frame.kind == Kind::Answer => {
                    let answer = match Answer::decode(&frame.payload) {
                        Ok(answer) => answer,
                        Err(error) => return error.to_string(),
                    };
                    // Nobody waits for one whose time was over.
                    let waiting = shared.lock().waiting.remove(&frame.number);
                    if let Some(waiting) = waiting {
                        waiting.asker.tell(answer);
                    }
                }
                Ok(Some(frame)) => return PeerError::Unexpected(frame.kind).to_string(),
                Ok(None) => break,
                Err(error) => return error.to_string(),
            }
        }
        let buffer = reader.buffer();
        buffer.reserve(READ_BYTES);
        match half.read_buf(buffer).await {
            Ok(0) => return "it closed the connection".to_owned(),
            Ok(_) => {}
            Err(error) => return error.to_string(),
        }
    }
}

async fn send(shared: &Shared, mut half: OwnedWriteHalf, stall_max: Duration) -> String {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        bytes.shrink_to(READ_BYTES);
        shared.take_queue(&mut bytes);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match timeout(stall_max, half.write(rest)).await {
                Err(_) => return "it does not read".to_owned(),
                Ok(Ok(0)) => return "it closed the connection".to_owned(),
                Ok(Ok(written)) => rest = &rest[written..],
                Ok(Err(error)) => return error.to_string(),
            }
        }
        if bytes.is_empty() {
            shared.changed.notified().await;
        }
    }
}
