//! What a link has yet to send, and who waits for an answer.
//!
//! A frame of raft goes out by the thread that gives it, as long as nothing waits before it and the
//! socket takes it: to wake the link's task for it costs more than to write it. What the socket
//! does not take is the task's, and so is everything behind that.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_rpc::error::ErrorCode;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::peer::ask::{Answer, Asker};
use crate::peer::format::{HEAD_BYTES, Kind, Speaker, put_frame};
use crate::peer::registry::Registry;

/// What a frame costs beside its payload: its head, its place in the queue, and what the allocator
/// keeps of it. A million empty frames would be a hundred megabytes of "nothing" otherwise.
const ENTRY_BYTES: usize = HEAD_BYTES + 80;

/// Bytes after which no further frame is taken out of the queue at once: what is taken is copied,
/// and is not held against the queue's bound any more.
const TAKEN_BYTES_MAX: usize = 4 << 20;

/// Most bytes of a frame that goes out at once: to copy and to check a longer one takes the thread
/// of consensus more time than to wake the link's task, and heartbeats of all groups would wait.
const AT_ONCE_BYTES_MAX: usize = 64 << 10;

/// How far a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// An attempt to connect is under way: what is given may yet be sent.
    Dialling,
    /// The connection stands.
    Up,
    /// The last attempt failed, and the next is not due.
    Resting,
}

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    pub(crate) queue_bytes: usize,
    pub(crate) asks: usize,
}

/// The queue of a link. Any thread may add to it; the link's task takes.
#[derive(Debug)]
pub(crate) struct Outgoing {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Where frames go at once, while the connection stands.
    way: Option<Way>,
    /// The task has bytes that it has not written: nothing may go past it.
    is_writing: bool,
    /// A frame as it goes out at once; kept for its memory. Not empty: the rest of one.
    frame: Vec<u8>,
    queue: VecDeque<Item>,
    /// What the queue costs, and what the asks in it do.
    queue_bytes: usize,
    ask_bytes: usize,
    waiting: HashMap<u64, Waiting>,
    next_number: u64,
}

/// The writing half of a connection that stands, and whom it leads to.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) half: Arc<OwnedWriteHalf>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) speaker: Speaker,
}

#[derive(Debug)]
enum Item {
    Raft(Vec<u8>),
    Ask(u64, Vec<u8>),
}

#[derive(Debug)]
struct Waiting {
    asker: Asker,
    deadline: Instant,
    was_sent: bool,
}

impl Outgoing {
    /// An empty one, of a link that dials.
    pub(crate) fn new() -> Outgoing {
        Outgoing {
            state: Mutex::new(State {
                phase: Phase::Dialling,
                way: None,
                is_writing: false,
                frame: Vec::new(),
                queue: VecDeque::new(),
                queue_bytes: 0,
                ask_bytes: 0,
                waiting: HashMap::new(),
                next_number: 1,
            }),
            changed: Notify::new(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.lock().phase
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.lock().phase = phase;
    }

    /// The connection stands, and the task writes what waits.
    pub(crate) fn stand(&self, way: Way) {
        let mut state = self.lock();
        state.is_writing = true;
        state.way = Some(way);
    }

    /// Sends a frame of raft, or adds it, or drops it where there is no room or nobody to read it.
    pub(crate) fn send(&self, mut frame: Vec<u8>, most: Most) {
        let mut state = self.lock();
        let cost = frame.len() + ENTRY_BYTES;
        if state.queue_bytes + cost > most.queue_bytes || state.phase == Phase::Resting {
            return;
        }
        if state.sends_at_once(&frame) {
            let is_left = !state.frame.is_empty();
            drop(state);
            if is_left {
                self.changed.notify_one();
            }
            return;
        }
        state.queue_bytes += cost;
        // It may wait for as long as the other node is away.
        frame.shrink_to_fit();
        state.queue.push_back(Item::Raft(frame));
        drop(state);
        self.changed.notify_one();
    }

    /// Adds an ask, or refuses it. Asks may have half of the queue: consensus has the other.
    pub(crate) fn ask(&self, ask: Vec<u8>, patience: Duration, asker: Asker, most: Most) {
        let mut state = self.lock();
        let cost = ask.len() + ENTRY_BYTES;
        let is_full = state.queue_bytes + cost > most.queue_bytes
            || state.ask_bytes + cost > most.queue_bytes / 2
            || state.waiting.len() >= most.asks;
        if is_full || state.phase == Phase::Resting {
            drop(state);
            return asker.tell(unsent());
        }
        let number = state.next_number;
        state.next_number += 1;
        state.queue_bytes += cost;
        state.ask_bytes += cost;
        state.queue.push_back(Item::Ask(number, ask));
        let waiting = Waiting {
            asker,
            deadline: Instant::now() + patience,
            was_sent: false,
        };
        state.waiting.insert(number, waiting);
        drop(state);
        self.changed.notify_one();
    }

    /// Gives an answer to whoever waits for it; nobody does if its time was over.
    pub(crate) fn answer(&self, number: u64, answer: Answer) {
        let waiting = self.lock().waiting.remove(&number);
        if let Some(waiting) = waiting {
            waiting.asker.tell(answer);
        }
    }

    /// Tells all that wait, and forgets what is not sent.
    pub(crate) fn give_up(&self) {
        let mut state = self.lock();
        state.phase = Phase::Resting;
        state.way = None;
        state.frame = Vec::new();
        let queue = std::mem::take(&mut state.queue);
        state.queue_bytes = 0;
        state.ask_bytes = 0;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(queue);
        for one in waiting.into_values() {
            one.end();
        }
    }

    /// Appends what waits to `out`, up to a few megabytes; from now on it counts as sent. An ask
    /// whose time is over is not sent: its asker is told so, and may ask elsewhere.
    pub(crate) fn take(&self, out: &mut Vec<u8>) {
        let now = Instant::now();
        let mut late = Vec::new();
        let mut state = self.lock();
        // The beginning of this one is on the wire: it goes before whatever is in `out`.
        if !state.frame.is_empty() {
            let said = std::mem::replace(out, std::mem::take(&mut state.frame));
            out.extend_from_slice(&said);
        }
        while out.len() < TAKEN_BYTES_MAX
            && let Some(item) = state.queue.pop_front()
        {
            match item {
                Item::Raft(frame) => {
                    state.queue_bytes -= frame.len() + ENTRY_BYTES;
                    put_frame(out, Kind::Raft, 0, &frame);
                }
                Item::Ask(number, ask) => {
                    state.queue_bytes -= ask.len() + ENTRY_BYTES;
                    state.ask_bytes -= ask.len() + ENTRY_BYTES;
                    match state.waiting.get_mut(&number) {
                        Some(waiting) if waiting.deadline > now => {
                            waiting.was_sent = true;
                            put_frame(out, Kind::Ask, number, &ask);
                        }
                        Some(_) => late.extend(state.waiting.remove(&number)),
                        // The sweep has found it.
                        None => {}
                    }
                }
            }
        }
        state.is_writing = !out.is_empty();
        drop(state);
        for one in late {
            one.end();
        }
    }

    /// Waits until something was added since it was waited for last. One task calls it.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Tells those whose time is over.
    pub(crate) fn sweep(&self) {
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

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic between two lines of this file leaves the state as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes the frame to the socket, all of it or its beginning; false if it is to wait. Of what
    /// is left of one the task is yet to be told.
    fn sends_at_once(&mut self, frame: &[u8]) -> bool {
        let waits = self.is_writing || !self.queue.is_empty() || !self.frame.is_empty();
        if waits || frame.len() > AT_ONCE_BYTES_MAX {
            return false;
        }
        let Some(way) = self.way.as_ref().filter(|way| way.is_current()) else {
            return false;
        };
        put_frame(&mut self.frame, Kind::Raft, 0, frame);
        let written = way.half.try_write(&self.frame);
        // Whatever is wrong with the socket, the task will find it.
        let written = written.unwrap_or(0);
        match written {
            0 => self.frame.clear(),
            written => drop(self.frame.drain(..written)),
        }
        written > 0
    }
}

impl Way {
    fn is_current(&self) -> bool {
        self.registry.is_current(&self.speaker)
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

/// What an ask is told that was not sent: to come back later, here or elsewhere.
fn unsent() -> Answer {
    Answer::refused(ErrorCode::ServiceNotActive)
}

#[cfg(test)]
mod tests;
