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
    connecting: Arc<tokio::sync::Mutex<Option<Instant>>>,
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
        let mut failed_at = Arc::clone(&server.connecting).lock_owned().await;
        // Another call has connected while this one waited.
        if let Some(connection) = server.usable() {
            return Some(connection);
        }
        let is_recent = |at: Instant| at.elapsed() < self.settings.refresh_interval;
        if failed_at.is_some_and(is_recent) {
            return None;
        }
        server.set(None);
        // In a task of its own: whoever waits may give up, and what came of it is to be known.
        let settings = self.settings;
        let connecting = tokio::spawn(async move {
            let opened = Connection::open(address, &settings).await;
            let opened = opened.ok().map(Arc::new);
            server.set(opened.clone());
            *failed_at = opened.is_none().then(Instant::now);
            opened
        });
        connecting.await.ok().flatten()
    }

    fn server(&self, address: SocketAddrV4) -> Arc<Server> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if servers.len() >= SERVERS_MAX {
            servers.retain(|_, server| server.usable().is_some());
        }
        Arc::clone(servers.entry(address).or_default())
    }
}
