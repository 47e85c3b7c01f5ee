//! What a node asks another, and what it is answered.
//!
//! An ask begins with a byte that says what it is:
//!
//! | byte | what | then |
//! |---|---|---|
//! | 1 | report of a node to the leader of meta | as `meta/report.rs` has it |
//! | 2 | a node without a number asks for one | as `meta/command.rs` has it |
//! | 3 | a client's call on keys, forwarded | where it goes, and the call |
//! | 4 | a client's call about tables, forwarded | the call |
//! | 5 | a page of an image | as `node` has it |
//!
//! Where it goes is table (i32), partition (i32), hash (u64), and 1 if a follower may answer (u8).
//! A call is the length of its name (u8), its name and its arguments.
//!
//! An answer begins with a byte as well:
//!
//! | byte | what | then |
//! |---|---|---|
//! | 0 | done | what was asked for; of a client's call its reply frame |
//! | 1 | refused: surely not done | the name of an error |
//! | 2 | nobody knows | nothing |
//! | 3 | this node does not lead | the node that does, as far as it knows, or 0 (u64) |
//!
//! Integers are little-endian. Valid if and only if the byte is known, and of a call if the flag is
//! 0 or 1 and the name is UTF-8.

use std::fmt;

use esker_rpc::codec::scalars::Gpid;
use esker_rpc::error::{ErrorCode, ErrorName};

use crate::peer::format::PeerError;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A node says how it is, and asks what to do.
    Report(Vec<u8>),
    /// A node without a number asks for one.
    Register(Vec<u8>),
    /// A client's call on keys. It is never forwarded again: who does not lead refuses it.
    Keys(ForwardedKeys),
    /// A client's call about tables.
    Meta(ForwardedMeta),
    /// A page of an image.
    Page(Vec<u8>),
}

/// A client's call on keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedKeys {
    /// The table and the partition.
    pub gpid: Gpid,
    /// The hash that the client computed.
    pub partition_hash: u64,
    /// True if a follower may answer.
    pub is_backup_request: bool,
    /// Name of the call.
    pub name: String,
    /// Its arguments as they came.
    pub arguments: Vec<u8>,
}

/// A client's call about tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedMeta {
    /// Name of the call.
    pub name: String,
    /// Its arguments as they came.
    pub arguments: Vec<u8>,
}

impl Ask {
    /// Its bytes.
    ///
    /// # Panics
    /// When the name of a call is longer than 255 bytes, which no door lets in.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Ask::Report(bytes) => put_plain(&mut out, 1, bytes),
            Ask::Register(bytes) => put_plain(&mut out, 2, bytes),
            Ask::Page(bytes) => put_plain(&mut out, 5, bytes),
            Ask::Keys(call) => {
                out.push(3);
                out.extend_from_slice(&call.gpid.app_id.to_le_bytes());
                out.extend_from_slice(&call.gpid.partition_index.to_le_bytes());
                out.extend_from_slice(&call.partition_hash.to_le_bytes());
                out.push(u8::from(call.is_backup_request));
                put_call(&mut out, &call.name, &call.arguments);
            }
            Ask::Meta(call) => {
                out.push(4);
                put_call(&mut out, &call.name, &call.arguments);
            }
        }
        out
    }

    /// The ask in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Ask, PeerError> {
        read(bytes).ok_or(PeerError::Payload("ask"))
    }
}

fn put_plain(out: &mut Vec<u8>, what: u8, bytes: &[u8]) {
    out.push(what);
    out.extend_from_slice(bytes);
}

fn put_call(out: &mut Vec<u8>, name: &str, arguments: &[u8]) {
    out.push(u8::try_from(name.len()).expect("names of calls are short"));
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(arguments);
}

fn read(bytes: &[u8]) -> Option<Ask> {
    let (&what, rest) = bytes.split_first()?;
    match what {
        1 => Some(Ask::Report(rest.to_vec())),
        2 => Some(Ask::Register(rest.to_vec())),
        5 => Some(Ask::Page(rest.to_vec())),
        3 => {
            let (app_id, rest) = rest.split_first_chunk()?;
            let (partition_index, rest) = rest.split_first_chunk()?;
            let (partition_hash, rest) = rest.split_first_chunk()?;
            let (&flag, rest) = rest.split_first()?;
            let (name, arguments) = read_call(rest)?;
            (flag <= 1).then(|| {
                Ask::Keys(ForwardedKeys {
                    gpid: Gpid {
                        app_id: i32::from_le_bytes(*app_id),
                        partition_index: i32::from_le_bytes(*partition_index),
                    },
                    partition_hash: u64::from_le_bytes(*partition_hash),
                    is_backup_request: flag == 1,
                    name,
                    arguments,
                })
            })
        }
        4 => {
            let (name, arguments) = read_call(rest)?;
            Some(Ask::Meta(ForwardedMeta { name, arguments }))
        }
        _ => None,
    }
}

fn read_call(bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let (&len, rest) = bytes.split_first()?;
    let (name, arguments) = rest.split_at_checked(usize::from(len))?;
    Some((str::from_utf8(name).ok()?.to_owned(), arguments.to_vec()))
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was done.
    Done(Vec<u8>),
    /// It was surely not done.
    Refused(ErrorName),
    /// Nobody knows.
    Unknown,
    /// It was not done: this node does not lead, and that one may.
    NotLeader(Option<u64>),
}

impl Answer {
    /// A refusal.
    pub fn refused(code: ErrorCode) -> Answer {
        Answer::Refused(code.into())
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Answer::Done(bytes) => put_plain(&mut out, 0, bytes),
            Answer::Refused(error) => put_plain(&mut out, 1, error.code().name().as_bytes()),
            Answer::Unknown => out.push(2),
            Answer::NotLeader(node) => {
                put_plain(&mut out, 3, &node.unwrap_or(0).to_le_bytes());
            }
        }
        out
    }

    /// The answer in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Answer, PeerError> {
        let read = || match bytes.split_first()? {
            (0, rest) => Some(Answer::Done(rest.to_vec())),
            (1, rest) => {
                let code = ErrorCode::of(str::from_utf8(rest).ok()?)?;
                (code != ErrorCode::Ok).then(|| Answer::refused(code))
            }
            (2, []) => Some(Answer::Unknown),
            (3, rest) => {
                let node = u64::from_le_bytes(rest.try_into().ok()?);
                Some(Answer::NotLeader((node != 0).then_some(node)))
            }
            _ => None,
        };
        read().ok_or(PeerError::Payload("answer"))
    }
}

/// Whoever waits for an answer, on this node or another. One that is dropped without a word is told
/// that nobody knows.
pub struct Asker(Option<Box<dyn FnOnce(Answer) + Send>>);

impl Asker {
    /// The answer is given to `tell`, which must not wait.
    pub fn new(tell: impl FnOnce(Answer) + Send + 'static) -> Asker {
        Asker(Some(Box::new(tell)))
    }

    /// Answers.
    pub fn tell(mut self, answer: Answer) {
        if let Some(tell) = self.0.take() {
            tell(answer);
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            tell(Answer::Unknown);
        }
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Asker")
    }
}

#[cfg(test)]
mod tests;
