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
    changed: Notify,
}

#[derive(Debug)]
struct Queue<H> {
    bytes: Vec<u8>,
    held: Vec<H>,
    is_closed: bool,
    is_overfull: bool,
}

impl<H> Outbox<H> {
    pub(crate) fn new() -> Outbox<H> {
        Outbox {
            queue: Mutex::new(Queue {
                bytes: Vec::new(),
                held: Vec::new(),
                is_closed: false,
                is_overfull: false,
            }),
            changed: Notify::new(),
        }
    }

    /// Lets `put` append a reply; its permits are given back once it is written. A reply that
    /// comes when more than `bytes_max` wait closes the outbox.
    pub(crate) fn push(&self, permits: H, bytes_max: usize, put: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.lock();
        if queue.is_closed {
            return;
        }
        put(&mut queue.bytes);
        queue.held.push(permits);
        if queue.bytes.len() > bytes_max {
            queue.is_overfull = true;
            queue.close();
        }
        drop(queue);
        self.changed.notify_one();
    }

    /// Nothing more is taken or given out, and nothing is kept.
    pub(crate) fn close(&self) {
        self.lock().close();
        self.changed.notify_one();
    }

    /// True if it was closed because nobody read.
    pub(crate) fn is_overfull(&self) -> bool {
        self.lock().is_overfull
    }

    /// Waits for replies and swaps them into `bytes`; `None` once it is closed. The permits are to
    /// be dropped when the bytes are written. One task calls it.
    pub(crate) async fn take(&self, bytes: &mut Vec<u8>) -> Option<Vec<H>> {
        bytes.clear();
        bytes.shrink_to(KEPT_BYTES);
        loop {
            {
                let mut queue = self.lock();
                if queue.is_closed {
                    return None;
                }
                if !queue.bytes.is_empty() || !queue.held.is_empty() {
                    std::mem::swap(&mut queue.bytes, bytes);
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
    fn close(&mut self) {
        self.is_closed = true;
        self.bytes = Vec::new();
        self.held = Vec::new();
    }
}
