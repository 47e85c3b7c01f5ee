//! Dials a node again and again, and sends and receives while the connection stands.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::yield_now;
use tokio::time::{Instant, interval, sleep, timeout, timeout_at};

use crate::front::bind::check_loopback;
use crate::front::pace::Pace;
use crate::front::shortage;
use crate::log_lines::{Level, LogLines};
use crate::peer::ask::Answer;
use crate::peer::cause::{Causes, Ended, PeerCause};
use crate::peer::format::{FrameReader, Greeting, Kind, PeerError, Refusal, Speaker, put_frame};
use crate::peer::outgoing::{Most, Outgoing, Phase, Way};
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
    /// How long the link rests after the first attempt that failed; twice as long after each, a
    /// fifth more or less.
    pub rest_min: Duration,
    /// The longest rest.
    pub rest_max: Duration,
    /// How long a connection stands until it is no failure any more.
    pub settled_min: Duration,
    /// How often this node says that it is alive, which the other node answers.
    pub alive_every: Duration,
    /// How long the other node may say nothing. A node that hangs is down: what is forwarded to it
    /// would be unknown to its client, and what is refused can be asked elsewhere.
    pub silence_max: Duration,
    /// How long the other node may take to read what is written at once, beyond what
    /// `pace_bytes_s_min` grants it.
    pub stall_max: Duration,
    /// Bytes a second at which it takes no time of that.
    pub pace_bytes_s_min: usize,
    /// Bytes that wait to be written; frames beyond are dropped, asks are refused. Asks may have
    /// half of it.
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
            settled_min: Duration::from_secs(5),
            alive_every: Duration::from_secs(1),
            silence_max: Duration::from_secs(5),
            stall_max: Duration::from_secs(10),
            pace_bytes_s_min: 64 << 10,
            queue_bytes_max: 32 << 20,
            asks_max: 4096,
        }
    }
}

impl LinkSettings {
    pub(crate) fn most(&self) -> Most {
        Most {
            queue_bytes: self.queue_bytes_max,
            asks: self.asks_max,
        }
    }
}

/// What a link is opened with.
#[derive(Clone)]
pub struct LinkOpening {
    /// The node that is wanted; 0 for whoever listens there.
    pub node: u64,
    /// Where it listens. An address of another machine is never dialled: nothing is encrypted.
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

/// Keeps a link up until it is aborted.
pub(crate) async fn run(opening: LinkOpening, outgoing: Arc<Outgoing>) {
    let sweeping = async {
        let mut ticks = interval(SWEEP);
        loop {
            ticks.tick().await;
            outgoing.sweep();
        }
    };
    // Asks wait while the link dials as well, so they are swept whatever it does.
    tokio::select! {
        () = keep_up(&opening, &outgoing) => {}
        () = sweeping => {}
    }
}

/// What a link has told of its failures since its connection stood last.
#[derive(Default)]
struct Told {
    causes: Causes,
    is_down: bool,
}

async fn keep_up(opening: &LinkOpening, outgoing: &Outgoing) {
    let settings = &opening.settings;
    let mut told = Told::default();
    let mut rest = settings.rest_min;
    let mut attempt: u64 = 0;
    loop {
        outgoing.set_phase(Phase::Dialling);
        let ended = match timeout(settings.connect_max, dial(opening)).await {
            Ok(Ok(connection)) => {
                let speaker = connection.speaker;
                outgoing.set_phase(Phase::Up);
                let settled = async {
                    sleep(settings.settled_min).await;
                    // Only now: a connection that breaks as soon as it stands is a failure too.
                    rest = settings.rest_min;
                    if std::mem::take(&mut told).is_down {
                        let line = format!("connection to {} stands again", named(opening));
                        opening.log.write(Level::Note, &line);
                    }
                    std::future::pending().await
                };
                let ended = tokio::select! {
                    ended = converse(opening, outgoing, connection) => ended,
                    ended = settled => ended,
                };
                outgoing.give_up();
                (opening.on_broken)(speaker.node);
                ended
            }
            Ok(Err(ended)) => ended,
            Err(_) => Ended::new(PeerCause::Silent, "it does not answer"),
        };
        outgoing.give_up();
        told.is_down = true;
        if let Some(count) = told.causes.count(ended.cause) {
            let (name, words) = (named(opening), &ended.words);
            let line = format!("no connection to {name}: {words} ({count} so far)");
            opening.log.write(Level::Warning, &line);
        }
        attempt += 1;
        // Dropping the link aborts this task, so nothing needs to cut the rest short.
        sleep(scattered(
            rest,
            opening.registry.myself().instance ^ attempt,
        ))
        .await;
        rest = (rest * 2).min(settings.rest_max);
    }
}

fn named(opening: &LinkOpening) -> String {
    match opening.node {
        0 => format!("the node at {}", opening.address),
        node => format!("node {node} at {}", opening.address),
    }
}

/// A rest, a fifth longer or shorter by the draw of `seed`: nodes that lost the same node at the
/// same moment do not all come back at the same.
fn scattered(rest: Duration, seed: u64) -> Duration {
    // One step of splitmix64.
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let percent = 80 + (mixed >> 33) % 41;
    rest * u32::try_from(percent).expect("at most 120") / 100
}

struct Connection {
    stream: TcpStream,
    reader: FrameReader,
    speaker: Speaker,
}

/// The cluster of the node that listens at `address`, as it says to one who has no number; `None`
/// if nobody says one before `patience` has passed.
pub(crate) async fn cluster_at(
    address: SocketAddr,
    instance: u64,
    patience: Duration,
) -> Option<u64> {
    let nobody = Speaker {
        cluster: 0,
        node: 0,
        incarnation: 0,
        instance,
    };
    let opening = LinkOpening {
        node: 0,
        address,
        registry: Arc::new(Registry::new(nobody)),
        settings: LinkSettings::default(),
        log: LogLines::silent(),
        on_broken: Arc::new(|_| {}),
    };
    let connection = timeout(patience, dial(&opening)).await.ok()?.ok()?;
    Some(connection.speaker.cluster)
}

/// Connects and greets; why not, if so.
async fn dial(opening: &LinkOpening) -> Result<Connection, Ended> {
    let unreachable = |words: String| Ended::new(PeerCause::Unreachable, words);
    let address =
        check_loopback(opening.address).map_err(|error| unreachable(error.to_string()))?;
    let stream = TcpStream::connect(address).await;
    let mut stream = stream.map_err(|error| unreachable(shortage::words(&error)))?;
    // What is sent is waited for. A socket that cannot be told so only waits longer.
    let _ = stream.set_nodelay(true);
    let greeting = Greeting {
        speaker: opening.registry.myself(),
        wants: opening.node,
        origin: opening.registry.origin(),
        claim: opening.registry.claim(),
    };
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Hello, 0, &greeting.encode());
    stream.write_all(&bytes).await?;
    let mut reader = FrameReader::of(&[Kind::Welcome, Kind::Refusal]);
    let frame = loop {
        if let Some(frame) = reader.next()? {
            break frame;
        }
        if stream.read_buf(reader.buffer()).await? == 0 {
            return Err(Ended::closed());
        }
    };
    if frame.kind == Kind::Refusal {
        let refusal = Refusal::decode(&frame.payload)?;
        opening.registry.hear(&refusal);
        let words = format!("it says: {}", refusal.words.escape_debug());
        return Err(Ended::new(refusal.reason.into(), words));
    }
    let welcome = Greeting::decode(&frame.payload)?;
    opening.registry.recognize(opening.node, &welcome)?;
    reader.expect(&[Kind::Answer, Kind::Alive]);
    Ok(Connection {
        stream,
        reader,
        speaker: welcome.speaker,
    })
}

/// Sends and receives until the connection breaks; why.
async fn converse(opening: &LinkOpening, outgoing: &Outgoing, connection: Connection) -> Ended {
    let Connection {
        stream,
        reader,
        speaker,
    } = connection;
    let (read_half, write_half) = stream.into_split();
    let _standing = opening.registry.stand(speaker);
    tokio::select! {
        ended = receive(opening, outgoing, (read_half, reader, speaker)) => ended,
        ended = send(opening, outgoing, (write_half, speaker)) => ended,
    }
}

async fn receive(
    opening: &LinkOpening,
    outgoing: &Outgoing,
    (mut half, mut reader, speaker): (OwnedReadHalf, FrameReader, Speaker),
) -> Ended {
    loop {
        loop {
            match reader.next() {
                Ok(Some(frame)) => {
                    if !opening.registry.hears(&speaker) {
                        return Ended::outdated();
                    }
                    match frame.kind {
                        Kind::Answer => match Answer::decode(&frame.payload) {
                            Ok(answer) => outgoing.answer(frame.number, answer),
                            Err(error) => return error.into(),
                        },
                        Kind::Alive => {}
                        other => return PeerError::Unexpected(other).into(),
                    }
                }
                Ok(None) => break,
                Err(error) => return error.into(),
            }
        }
        let buffer = reader.buffer();
        buffer.reserve(READ_BYTES);
        match timeout(opening.settings.silence_max, half.read_buf(buffer)).await {
            Err(_) => return Ended::new(PeerCause::Silent, "it says nothing"),
            Ok(Ok(0)) => return Ended::closed(),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return error.into(),
        }
    }
}

/// Writes some of `bytes`, once the socket takes any.
async fn write(half: &OwnedWriteHalf, bytes: &[u8]) -> std::io::Result<usize> {
    loop {
        half.writable().await?;
        match half.try_write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            done => return done,
        }
    }
}

async fn send(
    opening: &LinkOpening,
    outgoing: &Outgoing,
    (half, speaker): (OwnedWriteHalf, Speaker),
) -> Ended {
    let half = Arc::new(half);
    outgoing.stand(Way {
        half: Arc::clone(&half),
        registry: Arc::clone(&opening.registry),
        speaker,
    });
    let settings = &opening.settings;
    let mut bytes = Vec::new();
    let mut alive_at = Instant::now();
    loop {
        bytes.clear();
        bytes.shrink_to(READ_BYTES);
        if !opening.registry.is_current(&speaker) {
            return Ended::outdated();
        }
        if alive_at <= Instant::now() {
            alive_at = Instant::now() + settings.alive_every;
            put_frame(&mut bytes, Kind::Alive, 0, &[]);
        }
        outgoing.take(&mut bytes);
        let mut pace = Pace::new(settings.stall_max, settings.pace_bytes_s_min);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match timeout(pace.left(), write(&half, rest)).await {
                Err(_) => return Ended::new(PeerCause::Deaf, "it does not read"),
                Ok(Ok(0)) => return Ended::closed(),
                Ok(Ok(written)) => {
                    rest = &rest[written..];
                    pace.went(written);
                }
                Ok(Err(error)) => return error.into(),
            }
        }
        // Nothing above gives way to other tasks where the socket takes all that there is.
        yield_now().await;
        if bytes.is_empty() {
            // Late or not: something is to be said now.
            let _ = timeout_at(alive_at, outgoing.changed()).await;
        }
    }
}

#[cfg(test)]
mod tests;
