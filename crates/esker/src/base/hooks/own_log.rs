//! The log of a user's own: asked before what was applied of it is flushed, and told behind that.

/// A log of the user's own, of which unlogged keyspaces hold what was applied.
///
/// Both methods are called on a thread for this alone, one call at a time, under no lock of the
/// engine's: they may read, write without waiting, and call [`Keyspace::mark`] and
/// [`Keyspace::flush_soon`]; what would wait for a flush there, or closes the database, is refused
/// (`Invalid`), and a write that would have to wait ends with `Busy`. A panic is told by `stats()`.
/// A slow call holds up flushes of unlogged keyspaces, and nothing else.
///
/// [`Keyspace::mark`]: crate::Keyspace::mark
/// [`Keyspace::flush_soon`]: crate::Keyspace::flush_soon
pub trait OwnLog: Send + Sync {
    /// Whether the log is durable up to that mark of a keyspace: only then is what came up to it
    /// flushed, so that the files never have what the log may lose. `false`, and a panic, is "not
    /// yet": nothing of the keyspace behind the last yes is flushed until it is asked for again,
    /// which [`Keyspace::own_log_is_durable`](crate::Keyspace::own_log_is_durable) brings about,
    /// and the next memtable that is full.
    fn is_durable(&self, keyspace: &str, mark: &[u8]) -> bool;

    /// All that came up to that mark is on the medium in files: the keyspace needs nothing of the
    /// log any more up to there. Of several flushes the last may be told alone. May come while the
    /// database is being closed, and after the keyspace was dropped.
    fn flushed(&self, _keyspace: &str, _mark: &[u8]) {}
}
