//! Serves one socket: reads requests, and writes replies in whatever order they come.

use std::net::SocketAddr;
use std::sync::Arc;

use esker_rpc::codec::frame::{Protocol, sniff};
use esker_rpc::codec::request_reader::{Request, RequestReader};
use esker_rpc::error::ErrorCode;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::front::bounds::{Bounds, page_permits, permits_of};
use crate::front::counters::Cause;
use crate::front::dispatch::{Permits, Return, to_keys, to_meta};
use crate::front::door::{Door, DoorKind};
use crate::front::http::{Head, Page, read_head};
use crate::front::outbox::{Closing, Outbox};
use crate::front::pace::Pace;
use crate::front::service::{Caller, Service};
use crate::front::writing::{Slowest, Unwritten, write_all};

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
    // However this ends, by a panic of the service as well: who replies late keeps nothing alive.
    let closing = Closing(&outbox);
    let slowest = Slowest {
        grace: door.bounds.slow_reader_max,
        bytes_s_min: door.bounds.pace_bytes_s_min,
    };
    let mut reading = Reading {
        permits: Arc::new(Semaphore::new(door.bounds.connection_permits())),
        outbox: Arc::clone(&outbox),
        reader: RequestReader::new(door.bounds.body_bytes_max),
        half: read_half,
        door: Arc::clone(&door),
        peer,
        received: Instant::now(),
    };
    let end = tokio::select! {
        end = reading.run() => end,
        end = write_all(write_half, &outbox, slowest) => match end {
            Unwritten::Closed => End::Closed,
            Unwritten::Slow => End::Refused(Cause::SlowReader, String::new()),
            Unwritten::Overfull => End::Refused(Cause::Unread, String::new()),
        },
    };
    drop(closing);
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
    permits: Arc<Semaphore>,
    outbox: Arc<Outbox<Permits>>,
    peer: SocketAddr,
    /// When something came last.
    received: Instant,
}

impl<S: Service> Reading<S> {
    async fn run(&mut self) -> End {
        let mut is_first = true;
        // Of the request whose first bytes are there, and the rest is not.
        let mut begun: Option<Pace> = None;
        loop {
            if let Some(end) = self.receive(begun.as_mut()).await {
                return end;
            }
            if is_first && let Some(first) = self.reader.buffer().first_chunk() {
                match sniff(*first) {
                    Protocol::Thrift => {}
                    Protocol::Http => return self.show_page().await,
                    protocol @ (Protocol::Rdsn | Protocol::Unknown) => {
                        return End::Refused(Cause::Protocol, format!("{protocol:?}"));
                    }
                }
                is_first = false;
            }
            loop {
                match self.reader.next() {
                    Ok(Some(request)) => {
                        begun = None;
                        self.take(request).await;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        self.finish().await;
                        return End::Refused(Cause::Malformed, error.to_string());
                    }
                }
            }
            let Bounds {
                half_request_max,
                pace_bytes_s_min,
                ..
            } = self.door.bounds;
            begun = match self.reader.is_in_request() {
                true => begun.or_else(|| Some(Pace::new(half_request_max, pace_bytes_s_min))),
                false => None,
            };
        }
    }

    /// Reads what has come; the end, if nothing comes.
    async fn receive(&mut self, begun: Option<&mut Pace>) -> Option<End> {
        let (wait, cause) = match &begun {
            Some(pace) => (pace.left(), Cause::HalfRequest),
            None => (self.door.bounds.idle_max, Cause::Idle),
        };
        let buffer = self.reader.buffer();
        buffer.reserve(READ_BYTES);
        match timeout(wait, self.half.read_buf(buffer)).await {
            Err(_) => Some(End::Refused(cause, String::new())),
            Ok(Ok(0)) => {
                self.finish().await;
                Some(End::Closed)
            }
            Ok(Err(_)) => Some(End::Closed),
            Ok(Ok(read)) => {
                self.received = Instant::now();
                if let Some(pace) = begun {
                    pace.went(read);
                }
                None
            }
        }
    }

    /// Answers one request of HTTP, and ends.
    async fn show_page(&mut self) -> End {
        let Bounds {
            half_request_max,
            pace_bytes_s_min,
            unread_bytes_max,
            ..
        } = self.door.bounds;
        let mut pace = Pace::new(half_request_max, pace_bytes_s_min);
        let head = loop {
            match read_head(self.reader.buffer()) {
                Head::Partial => {
                    if let Some(end) = self.receive(Some(&mut pace)).await {
                        return end;
                    }
                }
                head => break head,
            }
        };
        self.door.counters.page();
        let own = Arc::clone(&self.permits).acquire_many_owned(1).await;
        let own = own.expect("nobody closes the semaphore");
        let needed = page_permits(self.door.bounds.door_permits());
        let shared = Arc::clone(&self.door.permits).try_acquire_many_owned(needed);
        let (shared, page) = match (shared, head) {
            (Ok(shared), Head::Get(path)) => (Some(shared), self.door.service.page(&path)),
            (Ok(shared), Head::Refused(page)) => (Some(shared), page),
            (Ok(_), Head::Partial) => unreachable!("the loop goes on"),
            (Err(_), _) => {
                self.door.counters.refuse(&self.door.log, Cause::Busy, "");
                let why = "as many calls as may be are under way\n";
                (None, Page::text("503 Service Unavailable", why))
            }
        };
        let none = || Arc::clone(&self.door.permits).try_acquire_many_owned(0);
        let shared = shared.or_else(|| none().ok());
        let shared = shared.expect("no permits are always there");
        self.outbox
            .push([own, shared], unread_bytes_max, |out| page.put(out));
        self.finish().await;
        End::Closed
    }

    /// Waits until what was asked is answered, for a while: the peer may read though it does not
    /// write any more.
    async fn finish(&self) {
        let all = u32::try_from(self.door.bounds.connection_permits()).unwrap_or(u32::MAX);
        let answered = self.permits.acquire_many(all);
        // Calls that take longer are not answered, as if nobody knew.
        let _ = timeout(self.door.bounds.half_request_max, answered).await;
    }

    /// Waits until the connection may have one more call under way, and begins it: until the peer
    /// has read half of what it may leave unread, and calls before this one have been answered.
    async fn take(&self, request: Request) {
        let unread_bytes_max = self.door.bounds.unread_bytes_max;
        self.outbox.caught_up(unread_bytes_max / 2).await;
        self.door.counters.request();
        let arguments_bytes = request.arguments.as_ref().map_or(0, Vec::len);
        let needed_of = |all| permits_of(&request.name, arguments_bytes, all);
        let needed = needed_of(self.door.bounds.connection_permits());
        let own = Arc::clone(&self.permits).acquire_many_owned(needed).await;
        let own = own.expect("nobody closes the semaphore");
        let needed = needed_of(self.door.bounds.door_permits());
        let door_permits = Arc::clone(&self.door.permits);
        let (shared, is_busy) = match door_permits.try_acquire_many_owned(needed) {
            Ok(shared) => (shared, false),
            Err(_) => {
                let none = Arc::clone(&self.door.permits).try_acquire_many_owned(0);
                (none.expect("no permits are always there"), true)
            }
        };
        let back = Return {
            outbox: Arc::clone(&self.outbox),
            permits: [own, shared],
            unread_bytes_max,
            name: request.name.clone(),
            sequence: request.sequence,
        };
        let (counters, log) = (&self.door.counters, &self.door.log);
        if is_busy {
            counters.refuse(log, Cause::Busy, "");
            return back.refuse(&ErrorCode::Busy.into());
        }
        let taken = match self.door.kind {
            DoorKind::Keys => {
                let came = (Caller::Client(self.peer), self.received);
                to_keys(&*self.door.service, request, came, back)
            }
            DoorKind::Meta => to_meta(&*self.door.service, request, back),
        };
        if let Err((cause, name)) = taken {
            let detail = format!("{name} from {}", self.peer);
            counters.refuse(log, cause, &detail);
        }
    }
}
