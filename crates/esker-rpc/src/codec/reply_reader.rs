//! Takes replies out of a stream of bytes.

use crate::codec::frame::{FrameError, NAME_LEN_MAX, REPLY, STRICT};
use crate::codec::incoming::{Incoming, Words};
use crate::codec::thrift::{Malformed, Reader, Wire};
use crate::error::ErrorName;

/// Fewest bytes of a reply: three numbers, two lengths, no texts.
const REPLY_LEN_MIN: usize = 20;

/// Most bytes of a reply before its result: four numbers, the name of an error and that of a call.
const HEAD_LEN_MAX: usize = 16 + NAME_LEN_MAX + NAME_LEN_MAX + 4;

/// A reply as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// `ERR_OK`, or why there is no result.
    pub error: ErrorName,
    /// Name of the request, and `_ACK`.
    pub name: String,
    /// Number of the request.
    pub sequence: i32,
    /// The struct with the result. `None` if the reply was longer than the limit and was stepped
    /// over: other replies of the connection are not lost by it.
    pub result: Option<Vec<u8>>,
}

/// Takes replies out of the bytes of a connection, however these are split.
#[derive(Debug)]
pub struct ReplyReader {
    incoming: Incoming,
    to_skip: usize,
    len_max: usize,
}

impl ReplyReader {
    /// A reader at the start of a connection that steps over results of replies of more than
    /// `len_max` bytes.
    pub fn new(len_max: usize) -> ReplyReader {
        ReplyReader {
            incoming: Incoming::default(),
            to_skip: 0,
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
        let skipped = self.to_skip.min(self.incoming.rest().len());
        self.incoming.take(skipped);
        self.to_skip -= skipped;
        if self.to_skip > 0 {
            return Ok(None);
        }
        let bytes = self.incoming.rest();
        let Some(word) = Words(bytes).word() else {
            return Ok(None);
        };
        // Who announces two gigabytes has lost its place.
        let len = i32::try_from(word)
            .ok()
            .and_then(|len| usize::try_from(len).ok());
        let len = len.filter(|len| *len >= REPLY_LEN_MIN);
        let len = len.ok_or(FrameError::Length(word))?;
        let is_too_long = len > self.len_max;
        let needed = match is_too_long {
            true => len.min(HEAD_LEN_MAX),
            false => len,
        };
        let Some(reply) = bytes.get(..needed) else {
            return Ok(None);
        };
        let reply = read_reply(reply, is_too_long)?;
        self.incoming.take(needed);
        self.to_skip = len - needed;
        Ok(Some(reply))
    }
}

fn read_reply(bytes: &[u8], is_too_long: bool) -> Result<Reply, FrameError> {
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
        result: (!is_too_long).then(|| reader.rest().to_vec()),
    })
}

#[cfg(test)]
mod tests;
