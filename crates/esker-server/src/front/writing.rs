//! Writes what waits in an outbox to its socket.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::timeout;

use crate::front::outbox::Outbox;
use crate::front::pace::Pace;

/// Why nothing more is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// The other side has closed the connection, or this one has.
    Closed,
    /// The other side reads too slowly.
    Slow,
    /// More waited than may.
    Overfull,
}

/// How slowly the other side may read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slowest {
    pub(crate) grace: Duration,
    pub(crate) bytes_s_min: usize,
}

/// Writes until the outbox is closed or the other side does not read. One task calls it.
pub(crate) async fn write_all<H>(
    mut half: OwnedWriteHalf,
    outbox: &Outbox<H>,
    slowest: Slowest,
) -> Unwritten {
    let write = async {
        let mut bytes = Vec::new();
        while let Some(held) = outbox.take(&mut bytes).await {
            let mut pace = Pace::new(slowest.grace, slowest.bytes_s_min);
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                match timeout(pace.left(), half.write(rest)).await {
                    Err(_) => return Unwritten::Slow,
                    Ok(Ok(0) | Err(_)) => return Unwritten::Closed,
                    Ok(Ok(written)) => {
                        rest = &rest[written..];
                        pace.went(written);
                        outbox.wrote(written);
                    }
                }
            }
            drop(held);
        }
        Unwritten::Closed
    };
    let end = tokio::select! {
        end = write => end,
        // The socket may take nothing for long after the outbox has been closed.
        () = outbox.closed() => Unwritten::Closed,
    };
    match outbox.is_overfull() {
        true => Unwritten::Overfull,
        false => end,
    }
}
