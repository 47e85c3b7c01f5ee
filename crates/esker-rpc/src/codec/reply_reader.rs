//! Takes replies out of a stream of bytes.

use crate::codec::frame::{FrameError, REPLY, STRICT};
use crate::codec::incoming::{Incoming, Words};
use crate::codec::thrift::{Malformed, Reader, Wire};
use crate::error::ErrorName;

/// Fewest bytes of a reply: three numbers, two lengths, no texts.
const REPLY_LEN_MIN: usize = 20;

/// A reply as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// `ERR_OK`, or why there is no result.
    pub error: ErrorName,
    /// Name of the request, and `_ACK`.
    pub name: String,
    /// Number of the request.
    pub sequence: i32,
    /// The struct with the result.
    pub result: Vec<u8>,
}

/// Takes replies out of the bytes of a connection, however these are split.
#[derive(Debug)]
pub struct ReplyReader {
    incoming: Incoming,
    len_max: usize,
}

impl ReplyReader {
    /// A reader at the start of a connection that refuses replies of more than `len_max` bytes.
    pub fn new(len_max: usize) -> ReplyReader {
        ReplyReader {
            incoming: Incoming::default(),
            len_max,
        }
    }

    /// Where what the connection brings is appended; then [`ReplyReader::next`] is asked until it
    /// has nothing more.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.incoming.buffer()
    }

    /// The next reply, `None` while bytes are missing. After an error the connection is useless.
    #[allow(clippy::should_implement_trait, reason = "more may come after a None")]
    pub fn next(&mut self) -> Result<Option<Reply>, FrameError> {
        let bytes = self.incoming.rest();
        let Some(len) = Words(bytes).word() else {
            return Ok(None);
        };
        let fitting = usize::try_from(len).ok();
        let fitting = fitting.filter(|len| (REPLY_LEN_MIN..=self.len_max).contains(len));
        let Some(reply) = bytes.get(..fitting.ok_or(FrameError::Length(len))?) else {
            return Ok(None);
        };
        let reply = read_reply(reply)?;
        self.incoming.take(fitting.unwrap_or_default());
        Ok(Some(reply))
    }
}

fn read_reply(bytes: &[u8]) -> Result<Reply, FrameError> {
    let mut reader = Reader::new(bytes);
    let _: [u8; 4] = reader.array()?; // The length is known.
    let text = |bytes| str::from_utf8(bytes).map_err(|_| Malformed::Text);
    let error = ErrorName::of(text(reader.counted_bytes()?)?);
    let version = u32::from_be_bytes(reader.array()?);
    if version != STRICT | u32::from(REPLY) {
        return Err(FrameError::Version(version));
    }
    let name = text(reader.counted_bytes()?)?.to_owned();
    let sequence = i32::take(&mut reader)?;
    Ok(Reply {
        error,
        name,
        sequence,
        result: reader.rest().to_vec(),
    })
}

#[cfg(test)]
mod tests;
