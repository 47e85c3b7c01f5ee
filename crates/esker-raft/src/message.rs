//! What replicas say to one another, and its bytes.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | kind, of the list below |
//! | 1 | 8 | u64 | group |
//! | 9 | 8 | u64 | replica that speaks |
//! | 17 | 8 | u64 | node that it is on |
//! | 25 | 8 | u64 | replica that is spoken to |
//! | 33 | 8 | u64 | version of the configuration that the speaker has applied |
//!
//! Kinds 32 (the replica that speaks is destroyed) and 34 (it has left the group, and asks who
//! knows) end here. Of kind 33 (the replica spoken to has left the group) the configuration
//! follows, as `configuration.rs` has it. All others go on:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 41 | 8 | u64 | term |
//! | 49 | 8 | u64 | term of the entry before |
//! | 57 | 8 | u64 | index |
//! | 65 | 8 | u64 | commit |
//! | 73 | 8 | u64 | term of the commit |
//! | 81 | 8 | u64 | 0: nobody asks for an image this way |
//! | 89 | 8 | u64 | hint: where a refusal would have the leader look |
//! | 97 | 8 | i64 | priority |
//! | 105 | 1 | u8 | 1 if it is a refusal |
//! | 106 | 4 | u32 | length of the context |
//! | 110 | … | bytes | context |
//! | … | 4 | u32 | count of entries |
//! | … | … | entries | as `entry.rs` has them |
//! | … | … | ticket | of kind 6 only, as `ticket.rs` has it |
//!
//! A heartbeat's hint is for how many milliseconds its leader asks to be left alone (`lease.rs`).
//! Kinds are 2 append, 3 its answer, 4 vote, 5 its answer, 6 image, 7 heartbeat, 8 its answer, 9
//! campaign now, 10 read index, 11 its answer, 12 vote before the vote, 13 its answer. Integers are
//! little-endian. Valid if and only if the kind is known, both replicas are above 0 and not the
//! same, every number is at most 2^62, an append names a term before, only an append has entries,
//! which follow on its index one by one with terms that never fall and are at most its own, and a
//! read index and its answer have a context of 1 to 64 bytes. Proposals, and what only a replica
//! says to itself, have no kind: they cannot be said.
//!
//! A frame is the count of its messages (u32), their CRC32C (u32, of all that follows), and each
//! message behind its length (u32).

use raft::eraftpb::{Entry, Message, MessageType};

use crate::codec::{DecodeError, Put, Reader, count};
use crate::configuration::Configuration;
use crate::entry;
use crate::ids::{GroupId, NodeId, ReplicaId};
use crate::limits::{
    CONTEXT_BYTES_MAX, FRAME_BYTES_MAX, FRAME_MESSAGES_MAX, MESSAGE_BYTES_MAX, MESSAGE_ENTRIES_MAX,
    NUMBER_MAX,
};
use crate::ticket::Ticket;

const DESTROYED: u8 = 32;
const REMOVED: u8 = 33;
const LEAVING: u8 = 34;

/// Every kind that `raft` may say to another replica, with its number.
const KINDS: [(MessageType, u8); 12] = [
    (MessageType::MsgAppend, 2),
    (MessageType::MsgAppendResponse, 3),
    (MessageType::MsgRequestVote, 4),
    (MessageType::MsgRequestVoteResponse, 5),
    (MessageType::MsgSnapshot, 6),
    (MessageType::MsgHeartbeat, 7),
    (MessageType::MsgHeartbeatResponse, 8),
    (MessageType::MsgTimeoutNow, 9),
    (MessageType::MsgReadIndex, 10),
    (MessageType::MsgReadIndexResp, 11),
    (MessageType::MsgRequestPreVote, 12),
    (MessageType::MsgRequestPreVoteResponse, 13),
];

/// Bytes of the context of a read; ours are 24.
const READ_CONTEXT_BYTES_MAX: usize = 64;

/// Bytes of a frame before its messages: their count, and the checksum of all behind it.
const FRAME_HEAD_BYTES: usize = 8;

/// One message of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The group that both replicas are of.
    pub group: GroupId,
    /// The replica that speaks.
    pub from: ReplicaId,
    /// The node that it is on, so that it can be answered by one who does not know it.
    pub from_node: NodeId,
    /// The replica that is spoken to.
    pub to: ReplicaId,
    /// Version of the configuration that the speaker has applied.
    pub version: u64,
    /// What is said.
    pub body: Body,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A step of the protocol.
    Step(Box<Step>),
    /// The replica that is asked was destroyed: nobody answers under this id any more.
    Destroyed,
    /// The replica that is spoken to has left the group: these are the members now. Whoever says so
    /// will still know after a crash.
    Removed(Box<Configuration>),
    /// The speaker has left the group, and asks whether the one it speaks to knows.
    Leaving,
}

/// A message of `raft`, which only this crate looks into.
#[derive(Clone, Debug, PartialEq)]
pub struct Step(pub(crate) Message);

impl Step {
    /// The ticket of an image, if the message offers one.
    pub fn ticket(&self) -> Option<Ticket> {
        let offers = self.0.get_msg_type() == MessageType::MsgSnapshot;
        offers.then(|| Ticket::of_raft(self.0.get_snapshot()))
    }

    /// Bytes that the message takes in memory, about.
    pub fn size_bytes(&self) -> usize {
        let entries: usize = self.0.entries.iter().map(entry::size_bytes).sum();
        size_of::<Message>() + entries + self.0.context.len() + self.0.get_snapshot().data.len()
    }

    /// How many entries the message brings.
    pub fn entry_count(&self) -> usize {
        self.0.entries.len()
    }
}

/// Whether `message` may be said to another replica at all.
pub(crate) fn has_kind(message: &Message) -> bool {
    KINDS.iter().any(|row| row.0 == message.get_msg_type())
}

impl Envelope {
    /// Bytes that the message takes in memory, and no less than its encoded form.
    pub fn size_bytes(&self) -> usize {
        match &self.body {
            Body::Step(step) => size_of::<Envelope>() + step.size_bytes(),
            Body::Removed(configuration) => {
                size_of::<Envelope>() + 64 * (1 + configuration.nodes.len())
            }
            Body::Destroyed | Body::Leaving => size_of::<Envelope>(),
        }
    }

    /// Appends the message to `out`.
    ///
    /// # Panics
    ///
    /// On a message without a kind, which no group lets out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let kind = match &self.body {
            Body::Destroyed => DESTROYED,
            Body::Removed(_) => REMOVED,
            Body::Leaving => LEAVING,
            Body::Step(step) => {
                let kind = step.0.get_msg_type();
                let row = KINDS.iter().find(|row| row.0 == kind);
                row.expect("a group lets out only what has a kind").1
            }
        };
        out.put_u8(kind);
        out.put_u64(self.group.0);
        out.put_u64(self.from.0);
        out.put_u64(self.from_node.0);
        out.put_u64(self.to.0);
        out.put_u64(self.version);
        match &self.body {
            Body::Step(step) => encode_step(&step.0, out),
            Body::Removed(configuration) => configuration.encode(out),
            Body::Destroyed | Body::Leaving => {}
        }
    }

    /// The message that `bytes` are, all of them.
    pub fn decode(bytes: &[u8]) -> Result<Envelope, DecodeError> {
        let mut reader = Reader::new(bytes);
        let kind = reader.u8("kind of a message")?;
        let group = GroupId(reader.u64("group")?);
        let from = ReplicaId(reader.u64_to(NUMBER_MAX, "replica that speaks")?);
        let from_node = NodeId(reader.u64("node that speaks")?);
        let to = ReplicaId(reader.u64_to(NUMBER_MAX, "replica spoken to")?);
        let version = reader.u64_to(NUMBER_MAX, "version of a configuration")?;
        if from.0 == 0 || to.0 == 0 || from == to {
            return Err(reader.refuse("two replica ids above 0"));
        }
        let body = match kind {
            DESTROYED => Body::Destroyed,
            REMOVED => Body::Removed(Box::new(Configuration::read(&mut reader)?)),
            LEAVING => Body::Leaving,
            _ => {
                let row = KINDS.iter().find(|row| row.1 == kind);
                let (kind, _) = row.ok_or_else(|| reader.refuse("kind of a message"))?;
                let mut message = decode_step(*kind, &mut reader)?;
                message.from = from.0;
                message.to = to.0;
                Body::Step(Box::new(Step(message)))
            }
        };
        reader.end()?;
        Ok(Envelope {
            group,
            from,
            from_node,
            to,
            version,
            body,
        })
    }
}

fn encode_step(message: &Message, out: &mut Vec<u8>) {
    for number in [
        message.term,
        message.log_term,
        message.index,
        message.commit,
        message.commit_term,
        message.request_snapshot,
        message.reject_hint,
    ] {
        out.put_u64(number);
    }
    out.extend_from_slice(&message.priority.to_le_bytes());
    out.put_u8(u8::from(message.reject));
    let context = match read_context(message) {
        Some(context) => context,
        None => &message.context,
    };
    out.put_bytes(context);
    let entries: &[Entry] = match read_context(message) {
        Some(_) => &[],
        None => &message.entries,
    };
    out.put_u32(count(entries.len()));
    for one in entries {
        entry::encode(one, out);
    }
    if message.get_msg_type() == MessageType::MsgSnapshot {
        out.extend_from_slice(&message.get_snapshot().data);
    }
}

// `raft` carries the context of a read as the payload of an entry that is none.
fn read_context(message: &Message) -> Option<&[u8]> {
    is_read(message.get_msg_type()).then(|| {
        message
            .entries
            .first()
            .map_or(&[][..], |carrier| &carrier.data[..])
    })
}

fn is_read(kind: MessageType) -> bool {
    matches!(
        kind,
        MessageType::MsgReadIndex | MessageType::MsgReadIndexResp
    )
}

fn decode_step(kind: MessageType, reader: &mut Reader<'_>) -> Result<Message, DecodeError> {
    let mut message = Message::default();
    message.set_msg_type(kind);
    message.term = reader.u64_to(NUMBER_MAX, "term")?;
    message.log_term = reader.u64_to(NUMBER_MAX, "term of the entry before")?;
    message.index = reader.u64_to(NUMBER_MAX, "index")?;
    message.commit = reader.u64_to(NUMBER_MAX, "commit")?;
    message.commit_term = reader.u64_to(NUMBER_MAX, "term of the commit")?;
    // Nobody of ours asks so, and a leader would want an image of that index for ever.
    message.request_snapshot = reader.u64_to(0, "wish for an image, which is 0")?;
    message.reject_hint = reader.u64_to(NUMBER_MAX, "hint")?;
    let priority = reader.take(8, "priority")?;
    message.priority = i64::from_le_bytes(priority.try_into().expect("eight bytes"));
    message.reject = reader.flag("whether it is a refusal")?;
    let context = reader.bytes(CONTEXT_BYTES_MAX, "context")?;
    let entries = read_entries(&message, reader)?;
    if is_read(kind) {
        if context.is_empty() || context.len() > READ_CONTEXT_BYTES_MAX {
            return Err(reader.refuse("context of a read"));
        }
        let carrier = Entry {
            data: context.to_vec().into(),
            ..Entry::default()
        };
        message.set_entries(vec![carrier].into());
    } else {
        message.context = context.to_vec().into();
        message.set_entries(entries.into());
    }
    // Only a forwarded read has no term of its own; `raft` would take 0 for a message to itself.
    if message.term == 0 && kind != MessageType::MsgReadIndex {
        return Err(reader.refuse("term above 0"));
    }
    if kind == MessageType::MsgSnapshot {
        let ticket = Ticket::read(reader)?;
        if ticket.term > message.term {
            return Err(reader.refuse("image that its sender may have"));
        }
        message.set_snapshot(ticket.to_raft());
    }
    Ok(message)
}

fn read_entries(message: &Message, reader: &mut Reader<'_>) -> Result<Vec<Entry>, DecodeError> {
    let max = match message.get_msg_type() {
        MessageType::MsgAppend => MESSAGE_ENTRIES_MAX,
        _ => 0,
    };
    let len = reader.count(max, entry::ENTRY_HEAD_BYTES, "count of entries")?;
    let mut entries = Vec::with_capacity(len);
    for _ in 0..len {
        entries.push(entry::read(reader)?);
    }
    let last_term = entries.last().map_or(0, |entry| entry.term);
    // Beyond the end of a log `raft` finds term 0, so one that says 0 would match there.
    if message.get_msg_type() == MessageType::MsgAppend && message.log_term == 0 {
        return Err(reader.refuse("term of the entry before"));
    }
    let follow = entry::follow_on(&entries, message.index, message.log_term);
    if !follow || last_term > message.term {
        return Err(reader.refuse("entries in their order"));
    }
    Ok(entries)
}

/// The bytes of one frame: messages for one node, of whatever groups.
///
/// # Panics
///
/// On more messages than a frame has; [`encode_frames`] makes several.
pub fn encode_frame(messages: &[Envelope]) -> Vec<u8> {
    assert!(messages.len() <= FRAME_MESSAGES_MAX);
    let each = messages.iter().map(|message| 4 + message.size_bytes());
    let mut frame = Vec::with_capacity(FRAME_HEAD_BYTES + each.sum::<usize>());
    frame.put_u32(count(messages.len()));
    // Of the checksum, which is known at the end; below, of a length.
    frame.put_u32(0);
    for message in messages {
        let start = frame.len();
        frame.put_u32(0);
        message.encode(&mut frame);
        let len = count(frame.len() - start - 4);
        frame[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }
    let checksum = crc32c::crc32c(&frame[FRAME_HEAD_BYTES..]);
    frame[4..FRAME_HEAD_BYTES].copy_from_slice(&checksum.to_le_bytes());
    frame
}

/// Frames of messages for one node, in their order, each within the bounds of count and bytes.
pub fn encode_frames(messages: &[Envelope]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut rest = messages;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take(FRAME_MESSAGES_MAX).take_while(|message| {
            bytes += message.size_bytes();
            bytes <= FRAME_BYTES_MAX
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        frames.push(encode_frame(now));
        rest = later;
    }
    frames
}

/// The messages of one frame.
pub fn decode_frame(frame: &[u8]) -> Result<Vec<Envelope>, DecodeError> {
    let mut reader = Reader::new(frame);
    let len = reader.count(FRAME_MESSAGES_MAX, 5, "count of messages")?;
    let checksum = reader.u32("checksum of a frame")?;
    if checksum != crc32c::crc32c(&frame[FRAME_HEAD_BYTES..]) {
        return Err(reader.refuse("frame with its checksum"));
    }
    let mut messages = Vec::with_capacity(len);
    for _ in 0..len {
        let bytes = reader.bytes(MESSAGE_BYTES_MAX, "message")?;
        messages.push(Envelope::decode(bytes)?);
    }
    reader.end()?;
    Ok(messages)
}

#[cfg(test)]
mod tests;
