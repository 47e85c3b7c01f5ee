//! What consensus keeps of one group beside the group itself: who leads, and who waits.

use std::collections::VecDeque;
use std::time::Duration;

use esker_raft::{GroupId, Member, NodeId};

use crate::node::limits::ENTRY_BYTES_WISHED;
use crate::node::request::RequestId;
use crate::partition::command::{CommandWriter, Stamp};

/// Who leads a group, as far as its replica here knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// Nobody that is known of: it elects.
    Nobody,
    /// This replica.
    Here,
    /// This replica, which hands the lead over: whoever asks waits for what comes of it.
    Leaving,
    /// Another one, on that node if it is known where.
    There(Option<NodeId>),
}

/// Who waits for what has a token.
#[derive(Debug)]
pub enum Waiting {
    /// Writes.
    Writes(ProposedWrites),
    /// A change of the members.
    Change(RequestId),
    /// A read.
    Read(RequestId),
}

/// Writes that are one entry.
#[derive(Debug)]
pub struct ProposedWrites {
    /// Of which group.
    pub group: GroupId,
    /// Who asks, one for each write.
    pub requests: Vec<RequestId>,
    /// What they count for.
    pub bytes: usize,
    /// When they were proposed.
    pub time: Duration,
}

/// A write that waits to be proposed.
#[derive(Debug)]
pub struct QueuedWrite {
    /// Who asks.
    pub request: RequestId,
    /// What is asked.
    pub content: Content,
}

/// What a write says.
#[derive(Debug)]
pub enum Content {
    /// A call on keys, by its name and its arguments.
    Call(&'static str, Vec<u8>),
    /// A command that is an entry of its own.
    Command(Vec<u8>),
}

impl QueuedWrite {
    /// Bytes that it takes in an entry, about.
    pub fn size_bytes(&self) -> usize {
        match &self.content {
            Content::Call(name, arguments) => name.len() + arguments.len() + 5,
            Content::Command(bytes) => bytes.len(),
        }
    }
}

/// A request that waits for a leader.
#[derive(Debug)]
pub enum Held {
    /// A write.
    Write(QueuedWrite),
    /// A read.
    Read(RequestId),
}

impl Held {
    /// Who asks.
    pub fn request(&self) -> RequestId {
        match self {
            Held::Write(write) => write.request,
            Held::Read(request) => *request,
        }
    }

    /// Bytes that it counts for.
    pub fn size_bytes(&self) -> usize {
        match self {
            Held::Write(write) => write.size_bytes(),
            Held::Read(_) => 0,
        }
    }
}

/// One group.
#[derive(Debug)]
pub struct Seat {
    /// Its replica here.
    pub member: Member,
    /// Who leads.
    pub lead: Lead,
    /// It takes no part any more.
    pub is_damaged: bool,
    /// Writes of this turn.
    pub writes: Vec<QueuedWrite>,
    /// Requests that wait for a leader, and until when, oldest first.
    pub held: VecDeque<(Duration, Held)>,
}

impl Seat {
    /// A group of which nothing is known yet.
    pub fn new(member: Member) -> Seat {
        Seat {
            member,
            lead: Lead::Nobody,
            is_damaged: false,
            writes: Vec::new(),
            held: VecDeque::new(),
        }
    }

    /// How many requests wait here.
    pub fn waiting_count(&self) -> usize {
        self.writes.len() + self.held.len()
    }
}

/// A payload of an entry, and who waits for it.
pub struct Payload {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// One for each write in it.
    pub requests: Vec<RequestId>,
    /// What these writes counted for.
    pub write_bytes: usize,
}

/// Puts writes together, in their order, into as few entries as may be.
pub fn payloads(writes: Vec<QueuedWrite>, stamp: Stamp) -> Vec<Payload> {
    let mut all = Vec::new();
    let mut open: Option<(CommandWriter, Vec<RequestId>, usize)> = None;
    for write in writes {
        let bytes = write.size_bytes();
        match write.content {
            Content::Call(name, arguments) => {
                let fits = |row: &(CommandWriter, _, _)| row.0.len() + bytes <= ENTRY_BYTES_WISHED;
                if !open.as_ref().is_some_and(fits) {
                    all.extend(open.take().map(finish));
                }
                let (writer, requests, write_bytes) =
                    open.get_or_insert_with(|| (CommandWriter::new(stamp), Vec::new(), 0));
                writer.push(name, &arguments);
                requests.push(write.request);
                *write_bytes += bytes;
            }
            Content::Command(command) => {
                all.extend(open.take().map(finish));
                all.push(Payload {
                    bytes: command,
                    requests: vec![write.request],
                    write_bytes: bytes,
                });
            }
        }
    }
    all.extend(open.map(finish));
    all
}

fn finish((writer, requests, write_bytes): (CommandWriter, Vec<RequestId>, usize)) -> Payload {
    Payload {
        bytes: writer.finish(),
        requests,
        write_bytes,
    }
}
