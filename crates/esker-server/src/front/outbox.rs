//! What a connection has yet to write.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Room that is kept between two writes: most replies are short, and idle connections are many.
const KEPT_BYTES: usize = 64 << 10;

/// Replies in the order in which they came, as bytes; and of each call the permits `H` that it
/// holds until its reply is written.
#[derive(Debug)]
pub(crate) struct Outbox<H> {
    queue: Mutex<Queue<H>>,
    /// Something is there to write, or nothing ever will be. The writer waits.
    changed: Notify,
    /// The writer's other half waits, while the socket takes nothing.
    closed: Notify,
    /// Something was written. The reader waits.
    written: Notify,
}

#[derive(Debug)]
struct Queue<H> {
    bytes: Vec<u8>,
    /// Of those that the writer has taken, how many are not written.
    taken_bytes: usize,
    held: Vec<H>,
    is_closed: bool,
    is_overfull: bool,
}

impl<H> Outbox<H> {
    pub(crate) fn new() -> Outbox<H> {
        Outbox {
            queue: Mutex::new(Queue {
                bytes: Vec::new(),
                taken_bytes: 0,
                held: Vec::new(),
                is_closed: false,
                is_overfull: false,
            }),
            changed: Notify::new(),
            closed: Notify::new(),
            written: Notify::new(),
        }
    }

    /// Lets `put` append a reply; its permits are given back once it is written. A reply that makes
    /// more than `bytes_max` wait, with those that the writer has taken, closes the outbox.
    pub(crate) fn push(&self, permits: H, bytes_max: usize, put: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.lock();
        if queue.is_closed {
            return;
        }
        put(&mut queue.bytes);
        queue.held.push(permits);
        if queue.unread_bytes() > bytes_max {
            queue.is_overfull = true;
            drop(queue);
            return self.close();
        }
        drop(queue);
        self.changed.notify_one();
    }

    /// Nothing more is taken or given out, and nothing is kept.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.is_closed = true;
        let bytes = std::mem::take(&mut queue.bytes);
        let held = std::mem::take(&mut queue.held);
        drop(queue);
        // Outside of the lock: what is held may be much.
        drop((bytes, held));
        self.changed.notify_one();
        self.closed.notify_one();
    }

    /// Waits until it is closed. One task calls it.
    pub(crate) async fn closed(&self) {
        while !self.lock().is_closed {
            self.closed.notified().await;
        }
    }

    /// Waits until no more than `bytes_max` wait to be written. One task calls it.
    pub(crate) async fn caught_up(&self, bytes_max: usize) {
        while self.lock().unread_bytes() > bytes_max {
            self.written.notified().await;
        }
    }

    /// The writer has written so many of the bytes that it took.
    pub(crate) fn wrote(&self, bytes: usize) {
        let mut queue = self.lock();
        queue.taken_bytes = queue.taken_bytes.saturating_sub(bytes);
        drop(queue);
        self.written.notify_one();
    }

    /// True if it was closed because nobody read.
    pub(crate) fn is_overfull(&self) -> bool {
        self.lock().is_overfull
    }

    /// Waits for replies and swaps them into `bytes`; `None` once it is closed. The permits are to
    /// be dropped when the bytes are written. One task calls it.
    pub(crate) async fn take(&self, bytes: &mut Vec<u8>) -> Option<Vec<H>> {
        bytes.clear();
        if bytes.capacity() > KEPT_BYTES {
            *bytes = Vec::new();
        }
        loop {
            {
                let mut queue = self.lock();
                if queue.is_closed {
                    return None;
                }
                if !queue.bytes.is_empty() || !queue.held.is_empty() {
                    std::mem::swap(&mut queue.bytes, bytes);
                    queue.taken_bytes = bytes.len();
                    return Some(std::mem::take(&mut queue.held));
                }
            }
            self.changed.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<H>> {
        // A panic between two lines of this file leaves the queue as it was.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H> Queue<H> {
    fn unread_bytes(&self) -> usize {
        self.bytes.len() + self.taken_bytes
    }
}

/// Closes an outbox when it is dropped.
pub(crate) struct Closing<'a, H>(pub(crate) &'a Outbox<H>);

impl<H> Drop for Closing<'_, H> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
