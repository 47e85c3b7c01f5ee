//! Unary calls of gRPC over one connection, with as little of HTTP/2 as they need.
//!
//! One call at a time: a frame of headers and one of data go out in one write, and frames are read
//! until the stream ends. Headers are sent without compression, and those that come back are not
//! read: a call that succeeds has a message, one that fails has none. Source: RFC 9113, RFC 7541,
//! and gRPC's description of itself over HTTP/2.
//!
//! What this saves against a whole library is given to the server, which shares the processor.

use std::net::SocketAddrV4;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::fail::{Failure, Outcome};

/// What a client says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's head: length 3, type 1, flags 1, stream 4.
const HEAD_BYTES: usize = 9;

/// Bytes that a server may send before it is told that they were taken.
const WINDOW: u32 = 1 << 30;

/// The window that either side has before anybody says otherwise.
const FIRST_WINDOW: u32 = 65_535;

/// Longest message that is sent: one frame of data takes it.
const MESSAGE_BYTES_MAX: usize = 16_000;

/// Longest frame that a server may send to one who has not allowed more.
const FRAME_BYTES_MAX: usize = 16_384;

/// Bytes in front of a message: whether it is packed, and its length.
const PREFIX_BYTES: usize = 5;

/// Least room for what the socket brings at once.
const READ_BYTES: usize = 16 << 10;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// The setting that says how much of one stream may be unread.
const INITIAL_WINDOW: u16 = 4;

/// A connection to a server of gRPC, for one call at a time.
pub struct Grpc {
    stream: TcpStream,
    authority: String,
    // What has come and is not taken, from `at` on.
    come: Vec<u8>,
    at: usize,
    out: Vec<u8>,
    next_stream: u32,
    // Bytes that the server takes on all streams, and on each new one.
    window: i64,
    stream_window: i64,
    // Bytes that have come since the server was told.
    taken: u32,
}

/// A frame: its type, flags and stream, and where its payload lies.
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Grpc {
    /// Connects.
    ///
    /// Errors: if nobody listens there.
    pub async fn connect(address: SocketAddrV4) -> Outcome<Grpc> {
        let stream = TcpStream::connect(address).await;
        let stream = stream.map_err(|error| told(address, &error))?;
        // Requests are small, and each is waited for.
        stream
            .set_nodelay(true)
            .map_err(|error| told(address, &error))?;
        let mut out = PREFACE.to_vec();
        let mut setting = INITIAL_WINDOW.to_be_bytes().to_vec();
        setting.extend(WINDOW.to_be_bytes());
        put_frame(&mut out, (SETTINGS, 0), 0, &setting);
        let more = (WINDOW - FIRST_WINDOW).to_be_bytes();
        put_frame(&mut out, (WINDOW_UPDATE, 0), 0, &more);
        let mut grpc = Grpc {
            stream,
            authority: address.to_string(),
            come: Vec::new(),
            at: 0,
            out,
            next_stream: 1,
            window: FIRST_WINDOW.into(),
            stream_window: FIRST_WINDOW.into(),
            taken: 0,
        };
        grpc.flush().await?;
        Ok(grpc)
    }

    /// Calls the method at `path`, such as `/etcdserverpb.KV/Put`, with a message, and returns the
    /// one that it answers.
    ///
    /// Errors: if it fails, by whose ever fault; the connection is of no use after that.
    pub async fn call(&mut self, path: &str, message: &[u8]) -> Outcome<Vec<u8>> {
        assert!(message.len() <= MESSAGE_BYTES_MAX, "one frame takes it");
        let stream = self.next_stream;
        self.next_stream += 2;
        let len = message.len() + PREFIX_BYTES;
        let needed = i64::try_from(len).unwrap_or(i64::MAX);
        if needed > self.stream_window {
            return Err(Failure::failed("the server takes no message of that size"));
        }
        while needed > self.window {
            let frame = self.next_frame().await?;
            self.take_control(&frame)?;
        }
        self.window -= needed;
        let headers = headers(path, &self.authority);
        put_frame(&mut self.out, (HEADERS, END_HEADERS), stream, &headers);
        put_head(&mut self.out, len, (DATA, END_STREAM), stream);
        self.out.push(0);
        // At most 16 000, as asserted.
        self.out
            .extend(u32::try_from(message.len()).unwrap_or(0).to_be_bytes());
        self.out.extend(message);
        self.flush().await?;
        let mut body = Vec::new();
        loop {
            let frame = self.next_frame().await?;
            if frame.stream != stream {
                self.take_control(&frame)?;
                continue;
            }
            match frame.kind {
                DATA => {
                    self.count_taken(frame.payload.len());
                    body.extend(unpadded(&frame));
                }
                RESET => return Err(Failure::failed(format!("{path}: the call was reset"))),
                HEADERS | WINDOW_UPDATE => {}
                kind => return Err(unexpected(kind)),
            }
            if matches!(frame.kind, DATA | HEADERS) && frame.flags & END_STREAM != 0 {
                return message_of(path, &body);
            }
        }
    }

    /// What is not of the call that waits.
    fn take_control(&mut self, frame: &Frame) -> Outcome {
        let payload = &frame.payload;
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => {
                for setting in payload.chunks_exact(6) {
                    let (name, value) = setting.split_at(2);
                    if name == INITIAL_WINDOW.to_be_bytes() {
                        self.stream_window = number(value).into();
                    }
                }
                put_frame(&mut self.out, (SETTINGS, ACK), 0, &[]);
            }
            PING if frame.flags & ACK == 0 => put_frame(&mut self.out, (PING, ACK), 0, payload),
            WINDOW_UPDATE if frame.stream == 0 => self.window += i64::from(number(payload)),
            GO_AWAY => return Err(Failure::failed("the server closes the connection")),
            // Of a stream that has ended.
            DATA => self.count_taken(payload.len()),
            _ => {}
        }
        Ok(())
    }

    /// Tells the server, at times, that it may send more.
    fn count_taken(&mut self, bytes: usize) {
        self.taken += u32::try_from(bytes).unwrap_or(0);
        if self.taken > WINDOW / 2 {
            let taken = std::mem::take(&mut self.taken).to_be_bytes();
            put_frame(&mut self.out, (WINDOW_UPDATE, 0), 0, &taken);
        }
    }

    async fn flush(&mut self) -> Outcome {
        let written = self.stream.write_all(&self.out).await;
        self.out.clear();
        written.map_err(|error| Failure::system("the connection to the server broke", &error))
    }

    async fn next_frame(&mut self) -> Outcome<Frame> {
        loop {
            if let Some(frame) = self.take_frame()? {
                return Ok(frame);
            }
            if !self.out.is_empty() {
                self.flush().await?;
            }
            self.come.drain(..self.at);
            self.at = 0;
            self.come.reserve(READ_BYTES);
            let read = self.stream.read_buf(&mut self.come).await;
            let read = read
                .map_err(|error| Failure::system("the connection to the server broke", &error))?;
            if read == 0 {
                return Err(Failure::failed("the server has closed the connection"));
            }
        }
    }

    fn take_frame(&mut self) -> Outcome<Option<Frame>> {
        let come = &self.come[self.at..];
        let Some((head, rest)) = come.split_at_checked(HEAD_BYTES) else {
            return Ok(None);
        };
        let len = number(&head[..3]) as usize;
        if len > FRAME_BYTES_MAX {
            return Err(Failure::failed(
                "the server sends a longer frame than it may",
            ));
        }
        let Some(payload) = rest.get(..len) else {
            return Ok(None);
        };
        let frame = Frame {
            kind: head[3],
            flags: head[4],
            stream: number(&head[5..]) & (u32::MAX >> 1),
            payload: payload.to_vec(),
        };
        self.at += HEAD_BYTES + len;
        Ok(Some(frame))
    }
}

/// The message in front of which its length stands.
fn message_of(path: &str, body: &[u8]) -> Outcome<Vec<u8>> {
    match body.split_at_checked(PREFIX_BYTES) {
        Some((prefix, message))
            if prefix[0] == 0 && number(&prefix[1..]) as usize == message.len() =>
        {
            Ok(message.to_vec())
        }
        None => Err(Failure::failed(format!("{path}: the server refuses it"))),
        Some(_) => Err(Failure::failed(format!("{path}: the answer is no message"))),
    }
}

/// The data of a frame without what it is padded with.
fn unpadded(frame: &Frame) -> &[u8] {
    let payload = &frame.payload[..];
    match payload.split_first() {
        Some((padding, rest)) if frame.flags & PADDED != 0 => {
            &rest[..rest.len().saturating_sub((*padding).into())]
        }
        _ => payload,
    }
}

/// The headers of a call, none of which the server is to remember.
fn headers(path: &str, authority: &str) -> Vec<u8> {
    // Numbers of the static table: method POST, scheme http; then names with texts.
    let mut block = vec![0x83, 0x86];
    let named = [
        (&[0x04][..], path),
        (&[0x01][..], authority),
        (&[0x0f, 0x10][..], "application/grpc"),
        (&[0x00, 0x02, b't', b'e'][..], "trailers"),
    ];
    for (name, text) in named {
        block.extend(name);
        // Paths and addresses are shorter than 127 bytes, which take one byte for their length.
        block.push(u8::try_from(text.len()).unwrap_or(0x7e).min(0x7e));
        block.extend(&text.as_bytes()[..text.len().min(0x7e)]);
    }
    block
}

fn put_head(out: &mut Vec<u8>, len: usize, (kind, flags): (u8, u8), stream: u32) {
    // Frames of ours are below 2^24.
    out.extend(&u32::try_from(len).unwrap_or(0).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
}

fn put_frame(out: &mut Vec<u8>, kind: (u8, u8), stream: u32, payload: &[u8]) {
    put_head(out, payload.len(), kind, stream);
    out.extend(payload);
}

/// Up to four bytes as a number, the largest first.
fn number(bytes: &[u8]) -> u32 {
    let bytes = bytes.iter().take(4);
    bytes.fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

fn unexpected(kind: u8) -> Failure {
    Failure::failed(format!("the server sends a frame of type {kind} in a call"))
}

fn told(address: SocketAddrV4, error: &std::io::Error) -> Failure {
    Failure::system(format!("cannot connect to {address}"), error)
}

#[cfg(test)]
mod tests;
