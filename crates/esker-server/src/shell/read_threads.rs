//! Threads that serve reads which consensus has cleared.

use std::ops::Deref;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use esker::ErrorKind;
use esker_raft::Member;
use esker_rpc::error::ErrorCode;

use crate::log_lines::{Level, LogLines, Seldom};
use crate::meta::ids::ReplicaName;
use crate::node::{Ask, Images, PageRequest, Replicas};
use crate::peer::ask::{Answer, Asker};
use crate::shell::inbox::{Inbox, Told};
use crate::shell::moments::Moments;
use crate::shell::pending::{Pending, Reading, Waiting};
use crate::shell::slow_log::ReadTimes;

/// Reads that one thread takes at once: others share the rest of a turn's.
const READS_AT_ONCE: usize = 8;

/// A read that may be served from that very replica, once it has applied so much.
pub(crate) struct Readable {
    pub(crate) member: Member,
    pub(crate) index: u64,
    pub(crate) reading: Box<Reading>,
}

/// What a reading thread has to do.
enum Job {
    Reads(Vec<Readable>),
    /// A page of an image, for another node.
    Page(Vec<u8>, Asker),
    /// One thread is to end.
    End,
}

/// Where cleared reads are given.
#[derive(Clone)]
pub(crate) struct ReadQueue(Sender<Job>);

/// The queue, in the hands of the one with whom its threads end.
pub(crate) struct OwnedReadQueue {
    queue: ReadQueue,
    thread_count: u64,
}

impl Drop for OwnedReadQueue {
    fn drop(&mut self) {
        for _ in 0..self.thread_count {
            // Threads that have ended need not be told.
            let _ = self.queue.0.send(Job::End);
        }
    }
}

impl Deref for OwnedReadQueue {
    type Target = ReadQueue;

    fn deref(&self) -> &ReadQueue {
        &self.queue
    }
}

impl ReadQueue {
    /// The same for the one with whom its so many threads end: doors may be there for longer.
    pub(crate) fn owned(&self, thread_count: u64) -> OwnedReadQueue {
        let queue = self.clone();
        OwnedReadQueue {
            queue,
            thread_count,
        }
    }

    /// Reads that may be served now.
    pub(crate) fn serve(&self, mut reads: Vec<Readable>) {
        while !reads.is_empty() {
            let rest = reads.split_off(reads.len().min(READS_AT_ONCE));
            // Threads that have ended serve nobody: whoever waits hears nothing.
            let _ = self.0.send(Job::Reads(reads));
            reads = rest;
        }
    }

    /// A page of an image is asked for by another node.
    pub(crate) fn page(&self, request: Vec<u8>, asker: Asker) {
        // As above: who asks is told that nobody knows.
        let _ = self.0.send(Job::Page(request, asker));
    }
}

/// What each thread has.
#[derive(Clone)]
pub(crate) struct ReadThread {
    queue: Arc<Mutex<Receiver<Job>>>,
    pub(crate) reader: Reader,
    images: Arc<Images>,
}

/// Who serves reads that are cleared, on whatever thread.
#[derive(Clone)]
pub(crate) struct Reader {
    replicas: Arc<Replicas>,
    pending: Arc<Pending>,
    inbox: Inbox,
    moments: Moments,
    log: LogLines,
    failures: Arc<Seldom>,
}

/// The queue, and what its threads are made of.
pub(crate) fn read_queue(
    (replicas, images): (&Arc<Replicas>, &Arc<Images>),
    (pending, inbox): (&Arc<Pending>, &Inbox),
    (moments, log): (&Moments, &LogLines),
) -> (ReadQueue, ReadThread) {
    let (sender, receiver) = channel();
    let reader = Reader {
        replicas: Arc::clone(replicas),
        pending: Arc::clone(pending),
        inbox: inbox.clone(),
        moments: moments.clone(),
        log: log.clone(),
        failures: Arc::default(),
    };
    let thread = ReadThread {
        queue: Arc::new(Mutex::new(receiver)),
        reader,
        images: Arc::clone(images),
    };
    (ReadQueue(sender), thread)
}

impl ReadThread {
    /// Serves until it is told to end.
    pub(crate) fn run(self) {
        loop {
            // One thread waits in the channel, the others for the lock: the next read wakes one.
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(job) = queue.recv() else {
                return;
            };
            drop(queue);
            match job {
                Job::Reads(reads) => {
                    let mut taken = self.reader.moments.monotonic();
                    for readable in reads {
                        taken = self.reader.serve(readable, taken);
                    }
                }
                Job::Page(request, asker) => self.page(&request, asker),
                Job::End => return,
            }
        }
    }

    fn page(&self, request: &[u8], asker: Asker) {
        let Some(request) = PageRequest::decode(request) else {
            return asker.tell(Answer::refused(ErrorCode::InvalidData));
        };
        match self.images.answer(&request) {
            Ok((answer, ask)) => {
                if let Some(ask) = ask {
                    self.reader.inbox.tell(Told::Stage(ask));
                }
                asker.tell(Answer::Done(answer.encode()));
            }
            Err(error) => {
                let line = format!("an image of {} cannot be read: {error}", request.from);
                self.reader.log.write(Level::Error, &line);
                if error.kind() == ErrorKind::Corruption {
                    self.reader
                        .inbox
                        .tell(Told::Stage(Ask::Retired(request.from)));
                }
                asker.tell(Answer::refused(ErrorCode::LocalAppFailure));
            }
        }
    }
}

impl Reader {
    /// Serves a read that was taken then, and says when it was done.
    pub(crate) fn serve(&self, readable: Readable, taken: Duration) -> Duration {
        let Readable {
            member,
            index,
            mut reading,
        } = readable;
        let view = self.replicas.cleared_view(member, index);
        let Some(view) = view else {
            // The replica has gone, and its successor may know less.
            if reading.retries == 0 {
                reading.reply.refuse(ErrorCode::InvalidState);
                return taken;
            }
            reading.retries -= 1;
            let group = member.group;
            let ask = |request| Ask::Read { request, group };
            self.pending.ask(Waiting::Read(reading), ask);
            return taken;
        };
        let served = view.serve(&reading.call, &*self.moments.0);
        let done = self.moments.monotonic();
        match served {
            Ok(answer) => {
                if let Some(rate) = reading.bytes_s_max {
                    view.throttle.have_read(rate, answer.size().1, done);
                }
                reading.reply.answer(answer);
                if reading.trace.is_slow(done) {
                    let times = ReadTimes {
                        cleared: reading.cleared,
                        taken,
                        done,
                    };
                    let now = self.moments.now();
                    let now = (now.monotonic, now.unix_us);
                    self.pending.slow.read(&reading.trace, times, now);
                }
                // With what it takes to write the answer down: of many rows that is most of it.
                return self.moments.monotonic();
            }
            Err(error) => {
                if let Some(count) = self.failures.count() {
                    let name = ReplicaName(member);
                    let line = format!("a read of {name} failed: {error} ({count} so far)");
                    self.log.write(Level::Error, &line);
                }
                // As Pegasus: storage that cannot be read answers nobody.
                drop(reading);
            }
        }
        done
    }
}
