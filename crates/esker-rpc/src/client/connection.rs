//! One socket, many calls in flight.
//!
//! Two tasks serve a connection: one writes the requests that wait, many at a time, the other reads
//! replies and gives each to the call with its sequence number. A call that ends before its request
//! was written takes it back; after that its outcome is the server's secret.

use std::collections::HashMap;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::client::settings::ClientSettings;
use crate::codec::reply_reader::{Reply, ReplyReader};

/// Least room for what the socket brings at once.
const READ_BYTES: usize = 32 * 1024;

/// So much of a long reply is a sign of life, before it is whole.
const SIGN_OF_LIFE_BYTES: usize = 64 * 1024;

/// Requests that are written at once, at most.
const WRITTEN_AT_ONCE: usize = 256;

/// Capacity of the buffer of what is written that is kept.
const KEPT_BYTES: usize = 256 * 1024;

/// What one permit of the bound on requests in flight stands for.
const PERMIT_BYTES: usize = 1024;

/// Least permits of a request: what a short one costs besides its bytes.
const PERMITS_MIN: usize = 16;

/// Why a call was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoReply {
    /// False if no byte of the request was written: the server knows nothing of it.
    pub was_sent: bool,
    /// True if the deadline came, false if the connection was lost.
    pub is_late: bool,
}

/// A connection to one server; dropping it closes it.
#[derive(Debug)]
pub struct Connection {
    waiting: Arc<Waiting>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    in_flight: Arc<Semaphore>,
    permits: usize,
    tasks: [AbortHandle; 2],
}

/// A request on its way to the socket.
#[derive(Debug)]
struct Outgoing {
    // None if no reply will come.
    sequence: Option<i32>,
    bytes: Vec<u8>,
    // Given back once it is written, and the call has ended that waits for the reply.
    _permit: Arc<OwnedSemaphorePermit>,
}

impl Connection {
    /// Connects to `address`.
    pub async fn open(
        address: SocketAddrV4,
        settings: &ClientSettings,
    ) -> std::io::Result<Connection> {
        let opening = TcpStream::connect(address);
        let stream = timeout(settings.connect_timeout, opening).await??;
        // Requests are small, and each is waited for.
        stream.set_nodelay(true)?;
        let (read_half, write_half) = stream.into_split();
        let waiting = Arc::new(Waiting(Mutex::new(Calls {
            silence_max: settings.silence_max,
            ..Calls::default()
        })));
        let (outgoing, queue) = mpsc::unbounded_channel();
        let writer =
            tokio::spawn(write_all(write_half, queue, Arc::clone(&waiting))).abort_handle();
        let reader = ReplyReader::new(settings.reply_len_max);
        let reading = Reading {
            half: read_half,
            reader,
            silence_max: settings.silence_max,
            unfinished: 0,
            writer: writer.clone(),
        };
        let reader = tokio::spawn(reading.run(Arc::clone(&waiting))).abort_handle();
        let permits = (settings.in_flight_bytes_max / PERMIT_BYTES).max(PERMITS_MIN);
        Ok(Connection {
            waiting,
            outgoing,
            in_flight: Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))),
            permits,
            tasks: [writer, reader],
        })
    }

    /// True once nothing can be asked here any more.
    pub fn is_lost(&self) -> bool {
        self.waiting.lock().is_lost
    }

    /// Sends what `put` appends for a sequence number, and waits for the reply until `deadline`.
    pub async fn call(
        &self,
        put: impl Fn(&mut Vec<u8>, i32),
        deadline: Instant,
    ) -> Result<Reply, NoReply> {
        let unsent = |is_late| NoReply {
            was_sent: false,
            is_late,
        };
        let (answer, reply) = oneshot::channel();
        let pending = self.waiting.add(answer, deadline).ok_or(unsent(false))?;
        let mut bytes = Vec::new();
        put(&mut bytes, pending.sequence);
        // A call that waits for room waits without its bytes, and makes them again.
        let permits = self.permits_for(&bytes);
        let in_flight = Arc::clone(&self.in_flight);
        let permit = match in_flight.try_acquire_many_owned(permits) {
            Ok(permit) => permit,
            Err(_) => {
                bytes = Vec::new();
                let room = Arc::clone(&self.in_flight).acquire_many_owned(permits);
                let room = timeout_at(deadline, room).await;
                let permit = room.map_err(|_| unsent(true))?.map_err(|_| unsent(false))?;
                put(&mut bytes, pending.sequence);
                permit
            }
        };
        // The room is taken until the reply is here and the bytes are gone: a call may give up
        // before.
        let permit = Arc::new(permit);
        let request = Outgoing {
            sequence: Some(pending.sequence),
            bytes,
            _permit: Arc::clone(&permit),
        };
        if self.outgoing.send(request).is_err() {
            return Err(unsent(false));
        }
        match timeout_at(deadline, reply).await {
            Ok(Ok(reply)) => Ok(reply),
            // The connection was lost: whoever loses it drops the senders.
            Ok(Err(_)) => Err(NoReply {
                was_sent: pending.was_sent(),
                is_late: false,
            }),
            Err(_) => Err(NoReply {
                was_sent: pending.was_sent(),
                is_late: true,
            }),
        }
    }

    /// Sends a request that is never answered, or nothing if too much is under way already.
    pub fn tell(&self, put: impl FnOnce(&mut Vec<u8>, i32)) {
        let mut bytes = Vec::new();
        put(&mut bytes, self.waiting.next_sequence());
        let permits = self.permits_for(&bytes);
        let Ok(permit) = Arc::clone(&self.in_flight).try_acquire_many_owned(permits) else {
            return;
        };
        let request = Outgoing {
            sequence: None,
            bytes,
            _permit: Arc::new(permit),
        };
        // If the connection is lost, so is what this would have told.
        let _ = self.outgoing.send(request);
    }

    // A request that is longer than the bound takes all of it.
    fn permits_for(&self, bytes: &[u8]) -> u32 {
        let permits = (bytes.len() / PERMIT_BYTES)
            .max(PERMITS_MIN)
            .min(self.permits);
        u32::try_from(permits).unwrap_or(u32::MAX)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// The calls that wait for replies.
#[derive(Debug)]
struct Waiting(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    last_sequence: i32,
    calls: HashMap<i32, Call>,
    // Since when a request is out and no reply has come.
    silent_since: Option<Instant>,
    // When the last of the calls ends that may wait longer than silence is borne.
    patient_until: Option<Instant>,
    silence_max: Duration,
    is_lost: bool,
}

#[derive(Debug)]
struct Call {
    answer: oneshot::Sender<Reply>,
    was_sent: Arc<AtomicBool>,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().expect("nothing panics under this lock")
    }

    fn next_sequence(&self) -> i32 {
        let mut calls = self.lock();
        calls.last_sequence = calls.last_sequence.wrapping_add(1);
        calls.last_sequence
    }

    /// Adds a call under a number of its own; `None` if the connection is lost.
    fn add(&self, answer: oneshot::Sender<Reply>, deadline: Instant) -> Option<Pending<'_>> {
        let mut calls = self.lock();
        if calls.is_lost {
            return None;
        }
        if deadline.saturating_duration_since(Instant::now()) > calls.silence_max {
            calls.patient_until = calls.patient_until.max(Some(deadline));
        }
        // After 2^32 calls one may still wait under the number whose turn it is.
        loop {
            calls.last_sequence = calls.last_sequence.wrapping_add(1);
            if !calls.calls.contains_key(&calls.last_sequence) {
                break;
            }
        }
        let sequence = calls.last_sequence;
        let was_sent = Arc::new(AtomicBool::new(false));
        let call = Call {
            answer,
            was_sent: Arc::clone(&was_sent),
        };
        calls.calls.insert(sequence, call);
        Some(Pending {
            waiting: self,
            sequence,
            was_sent,
        })
    }

    /// True if the call with that number still waits; from now on it counts as sent.
    fn mark_sent(&self, sequence: i32) -> bool {
        let mut calls = self.lock();
        let Some(call) = calls.calls.get(&sequence) else {
            return false;
        };
        call.was_sent.store(true, Ordering::SeqCst);
        calls.silent_since.get_or_insert_with(Instant::now);
        true
    }

    /// Gives a reply to its call. One that nobody waits for any more is dropped.
    fn answer(&self, reply: Reply) {
        let call = {
            let mut calls = self.lock();
            // No reply is true that comes before its request has gone.
            let is_out = |call: &Call| call.was_sent.load(Ordering::SeqCst);
            match calls.calls.get(&reply.sequence).is_some_and(is_out) {
                true => calls.calls.remove(&reply.sequence),
                false => None,
            }
        };
        if let Some(call) = call {
            // Its caller may have gone meanwhile.
            let _ = call.answer.send(reply);
        }
    }

    /// Notes that the other end is alive.
    fn heard(&self) {
        let mut calls = self.lock();
        calls.silent_since = (!calls.calls.is_empty()).then(Instant::now);
    }

    /// True if the other end has been silent for longer than is borne.
    fn is_silent(&self) -> bool {
        let calls = self.lock();
        let is_patient = calls
            .patient_until
            .is_some_and(|until| Instant::now() < until);
        let since = calls.silent_since.filter(|_| !is_patient);
        since.is_some_and(|since| since.elapsed() >= calls.silence_max)
    }

    /// Ends every call that waits, and refuses further ones.
    fn lose(&self) {
        let mut calls = self.lock();
        calls.is_lost = true;
        calls.calls.clear();
    }
}

/// A call that waits; dropping it takes it off.
#[derive(Debug)]
struct Pending<'a> {
    waiting: &'a Waiting,
    sequence: i32,
    was_sent: Arc<AtomicBool>,
}

impl Pending<'_> {
    /// Takes the call off, and says whether its request was written: it never will be after this.
    fn was_sent(&self) -> bool {
        self.waiting.lock().calls.remove(&self.sequence);
        self.was_sent.load(Ordering::SeqCst)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.waiting.lock().calls.remove(&self.sequence);
    }
}

/// Writes requests until the connection is lost or dropped.
async fn write_all(
    mut half: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    waiting: Arc<Waiting>,
) {
    let mut requests = Vec::new();
    let mut bytes = Vec::new();
    while queue.recv_many(&mut requests, WRITTEN_AT_ONCE).await > 0 {
        for request in requests.drain(..) {
            // Whoever has stopped waiting has taken its request back.
            if request
                .sequence
                .is_none_or(|sequence| waiting.mark_sent(sequence))
            {
                bytes.extend_from_slice(&request.bytes);
            }
        }
        if half.write_all(&bytes).await.is_err() {
            break;
        }
        bytes.clear();
        bytes.shrink_to(KEPT_BYTES);
    }
    waiting.lose();
}

/// What reads replies.
struct Reading {
    half: OwnedReadHalf,
    reader: ReplyReader,
    silence_max: Duration,
    // Bytes that have come since the last sign of life.
    unfinished: usize,
    writer: AbortHandle,
}

impl Reading {
    /// Reads replies until the connection is lost or dropped.
    async fn run(mut self, waiting: Arc<Waiting>) {
        while self.step(&waiting).await {}
        waiting.lose();
        // It may be stuck at a peer that reads nothing.
        self.writer.abort();
    }

    /// False if the connection is lost: closed, silent for too long, or talking rubbish.
    async fn step(&mut self, waiting: &Waiting) -> bool {
        let buffer = self.reader.buffer();
        buffer.reserve(READ_BYTES);
        // Twice in the time of the limit, so that silence ends within one and a half of it.
        let look_after = self.silence_max / 2;
        match timeout(look_after, self.half.read_buf(buffer)).await {
            Err(_) => return !waiting.is_silent(),
            Ok(Err(_) | Ok(0)) => return false,
            Ok(Ok(len)) => self.unfinished += len,
        }
        loop {
            match self.reader.next() {
                Ok(Some(reply)) => {
                    waiting.answer(reply);
                    self.unfinished = SIGN_OF_LIFE_BYTES;
                }
                Ok(None) => break,
                Err(_) => return false,
            }
        }
        // A byte now and then is none.
        if self.unfinished >= SIGN_OF_LIFE_BYTES {
            self.unfinished = 0;
            waiting.heard();
        }
        !waiting.is_silent()
    }
}
