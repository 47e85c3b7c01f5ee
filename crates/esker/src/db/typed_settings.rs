//! The settings that most programs meet, as typed methods of the builder.
//!
//! Each does what `set` does with the setting of its name; a test holds them against the catalogue.

use std::time::Duration;

use crate::base::options::call::Durability;
use crate::base::options::keyspace::ttl_millis;
use crate::base::options::profile::Profile;
use crate::base::options::sst::Compression;
use crate::db::open::Builder;

impl Builder {
    /// What the database is mostly for; chooses the defaults of other settings. The default is
    /// [`Profile::Balanced`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).profile(esker::Profile::ReadHeavy).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn profile(self, profile: Profile) -> Builder {
        self.given("profile", profile.name())
    }

    /// Bytes that memtables, caches, filters, indexes, iterators and compactions share.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).memory_limit(512 << 20).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn memory_limit(self, bytes: u64) -> Builder {
        self.given("memory_limit", bytes)
    }

    /// Threads that compact; 0, the default, takes one for each core.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).background_threads(1).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn background_threads(self, count: usize) -> Builder {
        match count {
            0 => self.given("background_threads", "auto"),
            _ => self.given("background_threads", count),
        }
    }

    /// What a write survives that does not say otherwise. The default is
    /// [`Durability::Buffered`].
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// use esker::Durability;
    ///
    /// let db = esker::Db::builder(dir.path()).durability(Durability::Sync).open()?;
    /// db.put("paid", "42")?; // On the medium when this returns.
    /// # db.close()
    /// # }
    /// ```
    pub fn durability(self, durability: Durability) -> Builder {
        self.given("durability", durability.name())
    }

    /// Bytes the directory may grow to; then writes are refused (`OutOfSpace`) and reads go on.
    /// 0, the default, leaves it to the disk.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).disk_limit(10 << 30).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn disk_limit(self, bytes: u64) -> Builder {
        self.given("disk_limit", bytes)
    }

    /// How many times its live bytes the value log may have before the rest is collected.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::builder(dir.path()).max_space_amp(1.2).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn max_space_amp(self, times: f64) -> Builder {
        self.given("max_space_amp", times)
    }

    /// How new sorted files of keyspaces are compressed: those of `default`, and of keyspaces that
    /// are made without options of their own.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// use esker::Compression;
    ///
    /// let db = esker::Db::builder(dir.path()).compression(Compression::Searchable).open()?;
    /// # db.close()
    /// # }
    /// ```
    pub fn compression(self, compression: Compression) -> Builder {
        self.given("compression", compression.name())
    }

    /// How long a put lives that does not say otherwise, in the same keyspaces as
    /// [`Builder::compression`]; rounded up to whole milliseconds, and zero, the default, is for
    /// ever. Otherwise as [`KeyspaceOptions::ttl`](crate::KeyspaceOptions::ttl).
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// use std::time::Duration;
    ///
    /// let db = esker::Db::builder(dir.path()).ttl(Duration::from_secs(3600)).open()?;
    /// db.put("session:7", "anna")?;
    /// assert!(db.expiry("session:7")?.expect("it was just put").is_some());
    /// # db.close()
    /// # }
    /// ```
    pub fn ttl(self, ttl: Duration) -> Builder {
        self.given("ttl", format_args!("{}ms", ttl_millis(ttl)))
    }
}

#[cfg(test)]
mod tests;
