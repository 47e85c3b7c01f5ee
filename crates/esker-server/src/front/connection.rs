//! Serves one socket: reads requests, and writes replies in whatever order they come.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use esker_rpc::codec::frame::{Protocol, sniff};
use esker_rpc::codec::request_reader::{Request, RequestReader};
use esker_rpc::error::ErrorCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::front::bounds::permits_of;
use crate::front::counters::Cause;
use crate::front::dispatch::{Permits, Return, to_keys, to_meta};
use crate::front::door::{Door, DoorKind};
use crate::front::outbox::Outbox;
use crate::front::service::Service;

/// Least room for what the socket brings at once.
const READ_BYTES: usize = 32 << 10;

/// Why a connection ends.
enum End {
    /// The peer closed it.
    Closed,
    /// The door does, for this reason.
    Refused(Cause, String),
}

/// Serves `stream` until its peer closes it or breaks a bound.
pub(crate) async fn serve<S: Service>(door: Arc<Door<S>>, stream: TcpStream, peer: SocketAddr) {
    // Replies are short, and each is waited for. A socket that cannot be told so only waits longer.
    let _ = stream.set_nodelay(true);
    let (read_half, write_half) = stream.into_split();
    let outbox = Arc::new(Outbox::new());
    let mut reading = Reading {
        permits: Arc::new(Semaphore::new(door.bounds.connection_permits())),
        outbox: Arc::clone(&outbox),
        reader: RequestReader::new(door.bounds.body_bytes_max),
        half: read_half,
        is_in_request: false,
        door: Arc::clone(&door),
    };
    let end = tokio::select! {
        end = reading.run() => end,
        end = write_all(write_half, &outbox, door.bounds.slow_reader_max) => end,
    };
    outbox.close();
    if let End::Refused(cause, detail) = end {
        let detail = match detail.as_str() {
            "" => format!("{peer}"),
            detail => format!("{peer}, {detail}"),
        };
        door.counters.refuse(&door.log, cause, &detail);
    }
}

struct Reading<S> {
    door: Arc<Door<S>>,
    half: OwnedReadHalf,
    reader: RequestReader,
    /// True while the first bytes of a request are there and the rest is not.
    is_in_request: bool,
    permits: Arc<Semaphore>,
    outbox: Arc<Outbox<Permits>>,
}

impl<S: Service> Reading<S> {
    async fn run(&mut self) -> End {
        let mut is_first = true;
        loop {
            if let Some(end) = self.receive().await {
                return end;
            }
            if is_first && let Some(first) = self.reader.buffer().first_chunk() {
                if let protocol @ (Protocol::Rdsn | Protocol::Http | Protocol::Unknown) =
                    sniff(*first)
                {
                    return End::Refused(Cause::Protocol, format!("{protocol:?}"));
                }
                is_first = false;
            }
            loop {
                match self.reader.next() {
                    Ok(Some(request)) => self.take(request).await,
                    Ok(None) => break,
                    Err(error) => return End::Refused(Cause::Malformed, error.to_string()),
                }
            }
            self.is_in_request = self.reader.is_in_request();
        }
    }

    /// Reads what has come; the end, if nothing comes.
    async fn receive(&mut self) -> Option<End> {
        let (wait, cause) = match self.is_in_request {
            true => (self.door.bounds.half_request_max, Cause::HalfRequest),
            false => (self.door.bounds.idle_max, Cause::Idle),
        };
        let buffer = self.reader.buffer();
        buffer.reserve(READ_BYTES);
        match timeout(wait, self.half.read_buf(buffer)).await {
            Err(_) => Some(End::Refused(cause, String::new())),
            Ok(Ok(0) | Err(_)) => Some(End::Closed),
            Ok(Ok(_)) => None,
        }
    }

    /// Waits until the connection may have one more call under way, and begins it.
    async fn take(&self, request: Request) {
        self.door.counters.request();
        let needed = permits_of(&request.name);
        let own = Arc::clone(&self.permits).acquire_many_owned(needed).await;
        let own = own.expect("nobody closes the semaphore");
        let (shared, is_busy) = match Arc::clone(&self.door.permits).try_acquire_many_owned(needed)
        {
            Ok(shared) => (shared, false),
            Err(_) => {
                let none = Arc::clone(&self.door.permits).try_acquire_many_owned(0);
                (none.expect("no permits are always there"), true)
            }
        };
        let back = Return {
            outbox: Arc::clone(&self.outbox),
            permits: [own, shared],
            unread_bytes_max: self.door.bounds.unread_bytes_max,
            name: request.name.clone(),
            sequence: request.sequence,
        };
        let (counters, log) = (&self.door.counters, &self.door.log);
        if is_busy {
            counters.refuse(log, Cause::Busy, "");
            return back.refuse(&ErrorCode::Busy.into());
        }
        if request.arguments.is_none() {
            counters.refuse(log, Cause::TooLong, &request.name);
        }
        match self.door.kind {
            DoorKind::Keys => to_keys(&*self.door.service, request, back),
            DoorKind::Meta => to_meta(&*self.door.service, request, back),
        }
    }
}

async fn write_all(
    mut half: OwnedWriteHalf,
    outbox: &Outbox<Permits>,
    slow_reader_max: Duration,
) -> End {
    let mut bytes = Vec::new();
    while let Some(held) = outbox.take(&mut bytes).await {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match timeout(slow_reader_max, half.write(rest)).await {
                Err(_) => return End::Refused(Cause::SlowReader, String::new()),
                Ok(Ok(0) | Err(_)) => return End::Closed,
                Ok(Ok(written)) => rest = &rest[written..],
            }
        }
        drop(held);
    }
    match outbox.is_overfull() {
        true => End::Refused(Cause::Unread, String::new()),
        false => End::Closed,
    }
}
