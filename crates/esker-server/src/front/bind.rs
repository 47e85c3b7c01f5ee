//! Where a node may listen: on this machine alone, until there is a rule who may come in.

use std::net::SocketAddr;
use std::{fmt, io};

use tokio::net::TcpListener;

/// An address that other machines could reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLoopback(pub SocketAddr);

impl fmt::Display for NotLoopback {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} can be reached from other machines, and this version can neither encrypt nor tell \
             who asks: it listens on loopback only (127.0.0.1); reach it from elsewhere through a \
             tunnel such as `ssh -L`",
            self.0
        )
    }
}

impl std::error::Error for NotLoopback {}

/// Refuses an address that is not of this machine alone.
pub fn check_loopback(address: SocketAddr) -> Result<SocketAddr, NotLoopback> {
    match address.ip().to_canonical().is_loopback() {
        true => Ok(address),
        false => Err(NotLoopback(address)),
    }
}

/// Listens at `address`, or at any free port of it for port 0. Needs a runtime of tokio.
///
/// Errors: `PermissionDenied` with the sentence why for an address that is not of this machine
/// alone; those of the system.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let checked = check_loopback(address);
    let denied =
        |error: NotLoopback| io::Error::new(io::ErrorKind::PermissionDenied, error.to_string());
    TcpListener::bind(checked.map_err(denied)?).await
}

#[cfg(test)]
mod tests;
