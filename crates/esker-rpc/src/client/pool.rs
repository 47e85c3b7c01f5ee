//! One connection to each server, made when somebody needs it.

use std::collections::HashMap;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use crate::client::connection::Connection;
use crate::client::settings::ClientSettings;

/// Servers that are remembered. Beyond that, those without a connection are forgotten.
const SERVERS_MAX: usize = 1024;

/// Connections by address.
#[derive(Debug)]
pub struct Pool {
    settings: ClientSettings,
    servers: Mutex<HashMap<SocketAddrV4, Arc<Server>>>,
}

/// What is known of one server.
#[derive(Debug, Default)]
struct Server {
    open: Mutex<Option<Arc<Connection>>>,
    // Held by the one that connects; when the last attempt failed.
    connecting: tokio::sync::Mutex<Option<Instant>>,
}

impl Server {
    fn usable(&self) -> Option<Arc<Connection>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().filter(|connection| !connection.is_lost())
    }

    fn set(&self, connection: Option<Arc<Connection>>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = connection;
    }
}

impl Pool {
    /// Without connections.
    pub fn new(settings: ClientSettings) -> Pool {
        Pool {
            settings,
            servers: Mutex::default(),
        }
    }

    /// The connection to `address`, made if there is none. `None` if it cannot be made, or could
    /// not a moment ago.
    pub async fn connection(&self, address: SocketAddrV4) -> Option<Arc<Connection>> {
        let server = self.server(address);
        if let Some(connection) = server.usable() {
            return Some(connection);
        }
        let mut failed_at = server.connecting.lock().await;
        // Another call has connected while this one waited.
        if let Some(connection) = server.usable() {
            return Some(connection);
        }
        let is_recent = |at: Instant| at.elapsed() < self.settings.refresh_interval;
        if failed_at.is_some_and(is_recent) {
            return None;
        }
        server.set(None);
        match Connection::open(address, &self.settings).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                server.set(Some(Arc::clone(&connection)));
                *failed_at = None;
                Some(connection)
            }
            Err(_) => {
                *failed_at = Some(Instant::now());
                None
            }
        }
    }

    fn server(&self, address: SocketAddrV4) -> Arc<Server> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if servers.len() >= SERVERS_MAX {
            servers.retain(|_, server| server.usable().is_some());
        }
        Arc::clone(servers.entry(address).or_default())
    }
}
