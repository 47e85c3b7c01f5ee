//! Takes requests out of a stream of bytes.

use crate::codec::frame::{
    CALL, FrameError, HEAD_LEN_MAX, MAGIC, NAME_LEN_MAX, ONE_WAY, RequestHead, RequestMeta, STRICT,
    Version,
};
use crate::codec::incoming::{Incoming, Words};
use crate::codec::thrift::{Malformed, Reader, Wire};

const V0_HEADER_LEN: usize = 48;

const V1_HEADER_LEN: usize = 16;

/// Most bytes before the arguments: version word, length of the name, name, sequence number.
const BODY_HEAD_LEN_MAX: usize = 12 + NAME_LEN_MAX;

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its header.
    pub head: RequestHead,
    /// Name of the call.
    pub name: String,
    /// Number by which the reply is matched.
    pub sequence: i32,
    /// The struct of arguments. `None` if the body was longer than the limit and was stepped over:
    /// the answer is `ERR_INVALID_DATA`.
    pub arguments: Option<Vec<u8>>,
}

/// Takes requests out of the bytes of a connection, however these are split.
///
/// It keeps a request's bytes until all are there: up to twice what 64 KiB, the limit of bodies and
/// what the caller appends at once come to, and 64 KiB afterwards.
#[derive(Debug)]
pub struct RequestReader {
    incoming: Incoming,
    // The head of the request whose body is on its way, its length, and that of the body.
    head: Option<(RequestHead, usize, usize)>,
    to_skip: usize,
    body_len_max: usize,
}

impl RequestReader {
    /// A reader at the start of a connection that steps over bodies of more than `body_len_max`
    /// bytes.
    pub fn new(body_len_max: usize) -> RequestReader {
        RequestReader {
            incoming: Incoming::default(),
            head: None,
            to_skip: 0,
            body_len_max,
        }
    }

    /// Where what the connection brings is appended; then [`RequestReader::next`] is asked until it
    /// has nothing more.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.incoming.buffer()
    }

    /// True if some bytes of a request are there and the rest is not, after [`RequestReader::next`]
    /// had nothing more.
    pub fn is_in_request(&self) -> bool {
        self.to_skip > 0 || !self.incoming.rest().is_empty()
    }

    /// The next request, `None` while bytes are missing. After an error the connection is useless.
    #[allow(clippy::should_implement_trait, reason = "more may come after a None")]
    pub fn next(&mut self) -> Result<Option<Request>, FrameError> {
        let skipped = self.to_skip.min(self.incoming.rest().len());
        self.incoming.take(skipped);
        self.to_skip -= skipped;
        if self.to_skip > 0 {
            return Ok(None);
        }
        let bytes = self.incoming.rest();
        // Once: a meta takes time to read, and a body may come in very many pieces.
        if self.head.is_none() {
            self.head = read_head(bytes)?;
        }
        let Some((head, head_len, body_len)) = self.head else {
            return Ok(None);
        };
        let is_too_long = body_len > self.body_len_max;
        let needed = match is_too_long {
            true => body_len.min(BODY_HEAD_LEN_MAX),
            false => body_len,
        };
        let Some(body) = bytes[head_len..].get(..needed) else {
            return Ok(None);
        };
        let (name, sequence, arguments) = read_body(body)?;
        let request = Request {
            head,
            name: name.to_owned(),
            sequence,
            arguments: (!is_too_long).then(|| arguments.to_vec()),
        };
        self.head = None;
        self.incoming.take(head_len + needed);
        self.to_skip = body_len - needed;
        Ok(Some(request))
    }
}

/// The head, its length and that of the body; `None` while bytes are missing.
fn read_head(bytes: &[u8]) -> Result<Option<(RequestHead, usize, usize)>, FrameError> {
    let mut reader = Words(bytes);
    let (Some(magic), Some(version)) = (reader.word(), reader.word()) else {
        return Ok(None);
    };
    if magic.to_be_bytes() != MAGIC {
        return Err(FrameError::Magic(magic.to_be_bytes()));
    }
    match version {
        0 => read_v0(bytes),
        1 => read_v1(bytes),
        other => Err(FrameError::Version(other)),
    }
}

fn read_v0(bytes: &[u8]) -> Result<Option<(RequestHead, usize, usize)>, FrameError> {
    let Some(header) = bytes.first_chunk::<V0_HEADER_LEN>() else {
        return Ok(None);
    };
    let word = |at: usize| {
        let word = header[at..].first_chunk().expect("the header has 48 bytes");
        u32::from_be_bytes(*word)
    };
    if word(8) != 48 {
        return Err(FrameError::Length(word(8)));
    }
    let head = RequestHead {
        version: Version::V0,
        app_id: word(24).cast_signed(),
        partition_index: word(28).cast_signed(),
        client_timeout_ms: word(32).cast_signed(),
        partition_hash: (u64::from(word(40)) << 32) | u64::from(word(44)),
        is_backup_request: false,
    };
    Ok(Some((head, V0_HEADER_LEN, body_len(word(16))?)))
}

fn read_v1(bytes: &[u8]) -> Result<Option<(RequestHead, usize, usize)>, FrameError> {
    let mut words = Words(bytes.get(8..).unwrap_or_default());
    let (Some(meta_word), Some(body_word)) = (words.word(), words.word()) else {
        return Ok(None);
    };
    let meta_len = usize::try_from(meta_word).unwrap_or(usize::MAX);
    if meta_len > HEAD_LEN_MAX - V1_HEADER_LEN {
        return Err(FrameError::Length(meta_word));
    }
    let Some(meta) = words.0.get(..meta_len) else {
        return Ok(None);
    };
    let meta = RequestMeta::take(&mut Reader::new(meta))?;
    let head = RequestHead {
        version: Version::V1,
        app_id: meta.app_id.unwrap_or_default(),
        partition_index: meta.partition_index.unwrap_or_default(),
        client_timeout_ms: meta.client_timeout.unwrap_or_default(),
        partition_hash: meta.partition_hash.unwrap_or_default().cast_unsigned(),
        is_backup_request: meta.is_backup_request.unwrap_or_default(),
    };
    let body_len = body_len(body_word)?;
    Ok(Some((head, V1_HEADER_LEN + meta_len, body_len)))
}

// No limit of bodies is that high, and who announces more has lost its place.
fn body_len(word: u32) -> Result<usize, FrameError> {
    match i32::try_from(word) {
        Ok(_) => Ok(usize::try_from(word).expect("31 bits fit")),
        Err(_) => Err(FrameError::Length(word)),
    }
}

/// Name, sequence number and arguments of a body, or of its beginning.
fn read_body(body: &[u8]) -> Result<(&str, i32, &[u8]), FrameError> {
    let mut reader = Reader::new(body);
    let first = u32::from_be_bytes(reader.array()?);
    let (name, kind) = if first >> 31 == 1 {
        if first & 0xffff_0000 != STRICT {
            return Err(FrameError::Version(first));
        }
        let name_len = u32::from_be_bytes(reader.array()?);
        (read_name(&mut reader, name_len)?, first.to_be_bytes()[3])
    } else {
        let name = read_name(&mut reader, first)?;
        let [kind] = reader.array()?;
        (name, kind)
    };
    if kind != CALL && kind != ONE_WAY {
        return Err(FrameError::MessageType(kind));
    }
    let sequence = i32::take(&mut reader)?;
    Ok((name, sequence, reader.rest()))
}

fn read_name<'a>(reader: &mut Reader<'a>, len: u32) -> Result<&'a str, FrameError> {
    let fitting = usize::try_from(len).ok().filter(|len| *len <= NAME_LEN_MAX);
    let bytes = reader.bytes(fitting.ok_or(FrameError::Length(len))?)?;
    str::from_utf8(bytes).map_err(|_| FrameError::Malformed(Malformed::Text))
}

#[cfg(test)]
mod tests;
