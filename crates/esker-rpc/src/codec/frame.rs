//! Frames: what stands around the bytes of a request and of a reply.
//!
//! Request, version 0 (Go, Python, Node), 48 bytes and the body:
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 4 | `THFT` |
//! | 4 | 4 | version: 0 |
//! | 8 | 4 | length of the header: 48 |
//! | 12 | 4 | checksum of the header: 0, nobody looks |
//! | 16 | 4 | length of the body |
//! | 20 | 4 | checksum of the body: 0, nobody looks |
//! | 24 | 4 | table id |
//! | 28 | 4 | partition index |
//! | 32 | 4 | client's timeout in milliseconds; often wrong, never enforced |
//! | 36 | 4 | thread hash: table id × 7919 + partition index |
//! | 40 | 8 | partition hash: of the key; for a scan of a whole table the partition index |
//!
//! Request, version 1 (Java), 16 bytes, the meta and the body:
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 4 | `THFT` |
//! | 4 | 4 | version: 1 |
//! | 8 | 4 | length of the meta |
//! | 12 | 4 | length of the body |
//! | 16 | | meta: a struct, `request_meta` |
//!
//! Body: version word 80 01 00 and the type of the message (1 call, 4 one way), name, sequence
//! number, and a struct with one field, id 1. Or the older form without a version word: name, type
//! in one byte, sequence number.
//!
//! Reply:
//!
//! | size | what |
//! |---|---|
//! | 4 | length of the whole reply, these bytes included |
//! | 4 + | name of an error |
//! | 4 | 80 01 00 02 |
//! | 4 + | name of the request and `_ACK` |
//! | 4 | sequence number of the request |
//! | | for `ERR_OK` only: a struct with one field, id 0 |
//!
//! Integers are big-endian. A request is valid if and only if the version is 0 or 1, a header of
//! version 0 says 48, header and meta together have at most 64 KiB, the meta is a struct, the type
//! is 1 or 4, and the name has at most 128 bytes of UTF-8. A body that is longer than the reader's
//! limit is stepped over, so that the caller can answer it.

use std::fmt;

use crate::codec::thrift::{Malformed, Reader, Wire, put_bytes, put_field, put_stop};
use crate::error::ErrorName;

/// What a request begins with.
pub(crate) const MAGIC: [u8; 4] = *b"THFT";

/// Most bytes of header and meta. A meta has 37.
pub const HEAD_LEN_MAX: usize = 64 * 1024;

/// Most bytes of a call's name. The longest that there is has 42.
pub const NAME_LEN_MAX: usize = 128;

pub(crate) const STRICT: u32 = 0x8001_0000;
pub(crate) const CALL: u8 = 1;
pub(crate) const REPLY: u8 = 2;
pub(crate) const ONE_WAY: u8 = 4;

/// What is behind the first four bytes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Requests as in this file.
    Thrift,
    /// The frames of the original servers and of their client in C++.
    Rdsn,
    /// HTTP.
    Http,
    /// Nothing that is known.
    Unknown,
}

/// Tells a connection's protocol from its first bytes.
pub fn sniff(first: [u8; 4]) -> Protocol {
    match &first {
        b"THFT" => Protocol::Thrift,
        b"RDSN" => Protocol::Rdsn,
        b"GET " | b"POST" => Protocol::Http,
        _ => Protocol::Unknown,
    }
}

/// Which of the two headers a request has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// 48 fixed bytes.
    #[default]
    V0,
    /// A struct.
    V1,
}

/// Where a request goes, and what its header says besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// Which header it has.
    pub version: Version,
    /// Number of the table; anything for a meta call.
    pub app_id: i32,
    /// Number of the partition; anything for a meta call.
    pub partition_index: i32,
    /// How long the client says it waits; never to be relied upon.
    pub client_timeout_ms: i32,
    /// Hash of the key.
    pub partition_hash: u64,
    /// True if a secondary may answer, with what it has.
    pub is_backup_request: bool,
}

/// Why a connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// A request does not begin with `THFT`.
    Magic([u8; 4]),
    /// There is no such version of the header.
    Version(u32),
    /// A length in a header, or of a reply, is none that it may be.
    Length(u32),
    /// The meta, or what stands before the arguments or the result, cannot be read.
    Malformed(Malformed),
    /// A message is of another type than it must be here.
    MessageType(u8),
}

impl fmt::Display for FrameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::Magic(bytes) => {
                write!(formatter, "\"{}\" begins no request", bytes.escape_ascii())
            }
            FrameError::Version(version) => write!(formatter, "no header has version {version}"),
            FrameError::Length(length) => write!(formatter, "a length of {length} is refused"),
            FrameError::Malformed(malformed) => malformed.fmt(formatter),
            FrameError::MessageType(byte) => write!(formatter, "type {byte} of a message"),
        }
    }
}

impl std::error::Error for FrameError {}

impl From<Malformed> for FrameError {
    fn from(malformed: Malformed) -> FrameError {
        FrameError::Malformed(malformed)
    }
}

wire_struct! {
    /// The header of a request of version 1.
    pub struct RequestMeta as "request_meta" {
        1 app_id: Option<i32>,
        2 partition_index: Option<i32>,
        3 client_timeout: Option<i32>,
        4 partition_hash: Option<i64>,
        5 is_backup_request: Option<bool>,
    }
}

/// Appends a request to `out`: `arguments` is the value of its one field.
pub fn put_request<T: Wire>(
    out: &mut Vec<u8>,
    head: &RequestHead,
    (name, sequence): (&str, i32),
    arguments: &T,
) {
    let start = out.len();
    match head.version {
        Version::V0 => put_v0(out, head),
        Version::V1 => put_v1(out, head),
    }
    let body_start = out.len();
    out.extend_from_slice(&(STRICT | u32::from(CALL)).to_be_bytes());
    put_bytes(out, name.as_bytes());
    sequence.put(out);
    put_field(out, 1, arguments);
    put_stop(out);
    let body_len = u32_of(out.len() - body_start);
    let at = match head.version {
        Version::V0 => start + 16,
        Version::V1 => start + 12,
    };
    out[at..at + 4].copy_from_slice(&body_len.to_be_bytes());
}

// Without the length of the body, which is not known yet.
fn put_v0(out: &mut Vec<u8>, head: &RequestHead) {
    let thread_hash = head
        .app_id
        .wrapping_mul(7919)
        .wrapping_add(head.partition_index);
    out.extend_from_slice(&MAGIC);
    for number in [
        0,
        48,
        0,
        0,
        0,
        head.app_id,
        head.partition_index,
        head.client_timeout_ms,
        thread_hash,
    ] {
        number.put(out);
    }
    out.extend_from_slice(&head.partition_hash.to_be_bytes());
}

fn put_v1(out: &mut Vec<u8>, head: &RequestHead) {
    let mut meta = Vec::new();
    RequestMeta {
        app_id: Some(head.app_id),
        partition_index: Some(head.partition_index),
        client_timeout: Some(head.client_timeout_ms),
        partition_hash: Some(head.partition_hash.cast_signed()),
        is_backup_request: Some(head.is_backup_request),
    }
    .put(&mut meta);
    out.extend_from_slice(&MAGIC);
    for number in [1, u32_of(meta.len()), 0] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(&meta);
}

fn u32_of(len: usize) -> u32 {
    u32::try_from(len).expect("a message is far below four gigabytes")
}

/// The call that is never answered, in whatever way: an answer makes the client in Go deaf.
pub const SILENT_CALL: &str = "RPC_RRDB_RRDB_CLEAR_SCANNER";

/// Appends a reply that has a result: `ERR_OK`, and `result` as the value of its one field.
/// Nothing for [`SILENT_CALL`].
pub fn put_reply<T: Wire>(out: &mut Vec<u8>, (name, sequence): (&str, i32), result: &T) {
    if name == SILENT_CALL {
        return;
    }
    put_framed(out, |out| {
        put_reply_head(out, &ErrorName::OK, name, sequence);
        put_field(out, 0, result);
        put_stop(out);
    });
}

/// Appends a reply without a result. The error is not `ERR_OK`: that needs a result.
/// Nothing for [`SILENT_CALL`].
pub fn put_refusal(out: &mut Vec<u8>, (name, sequence): (&str, i32), error: &ErrorName) {
    assert!(!error.is_ok());
    if name == SILENT_CALL {
        return;
    }
    put_framed(out, |out| put_reply_head(out, error, name, sequence));
}

fn put_framed(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    put(out);
    let len = u32_of(out.len() - start);
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}

fn put_reply_head(out: &mut Vec<u8>, error: &ErrorName, name: &str, sequence: i32) {
    put_bytes(out, error.sent().as_bytes());
    out.extend_from_slice(&(STRICT | u32::from(REPLY)).to_be_bytes());
    // Go and Python choose what to do with a reply by this name.
    put_bytes(out, format!("{name}_ACK").as_bytes());
    sequence.put(out);
}

/// The value of the one field of `arguments`, of a request.
pub fn read_arguments<T: Wire>(arguments: &[u8]) -> Result<T, Malformed> {
    read_only_field(arguments)
}

/// The value of the one field of `result`, of a reply.
pub fn read_result<T: Wire>(result: &[u8]) -> Result<T, Malformed> {
    read_only_field(result)
}

// The id says nothing: there is one field, and the original servers do not look at it either.
fn read_only_field<T: Wire>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut reader = Reader::new(bytes);
    let (kind, _) = reader.field()?.ok_or(Malformed::Ends)?;
    let value = reader.value(kind)?;
    if let Some((kind, _)) = reader.field()? {
        return Err(Malformed::Mismatch(kind));
    }
    reader.end()?;
    Ok(value)
}

#[cfg(test)]
pub(crate) mod tests;
