//! Settings of a keyspace, chosen in code.

use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::retain::RetainRule;
use crate::base::options::catalog::set_keyspace;
use crate::base::options::keyspace::{KeyspaceOptions, TTL_MS_MAX, ttl_millis};
use crate::base::options::sst::Compression;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;

/// For [`Db::keyspace_with`](crate::Db::keyspace_with), which checks what is chosen here.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// # let db = esker::Db::open(dir.path())?;
/// use std::time::Duration;
/// use esker::{Compression, KeyspaceOptions, merge};
///
/// let options = KeyspaceOptions::default()
///     .merge_operator(merge::uint64_add())
///     .ttl(Duration::from_secs(7 * 86_400))
///     .compression(Compression::Searchable)
///     .set("sst.block_size", "16KiB")?;
/// let visits = db.keyspace_with("visits", options)?;
/// visits.merge("anna", 1_u64.to_le_bytes())?;
/// # Ok(())
/// # }
/// ```
impl KeyspaceOptions {
    /// How merge operands fold; without one, `merge` is refused.
    pub fn merge_operator(mut self, rule: MergeRule) -> KeyspaceOptions {
        self.merge = Some(rule);
        self
    }

    /// Which values live on when compactions rewrite them. A keyspace that is open takes it at
    /// once, in the place of the rule that it had.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path())?;
    /// use esker::{KeyspaceOptions, Retain, retain};
    ///
    /// let drafts = retain::by("drafts", |entry| {
    ///     Ok(if entry.key.starts_with(b"draft:") { Retain::Drop } else { Retain::Keep })
    /// });
    /// let pages = db.keyspace_with("pages", KeyspaceOptions::default().retain_rule(drafts))?;
    /// pages.put("draft:anna", "…")?;
    /// pages.put("page:anna", "in port")?;
    /// pages.compact::<&[u8]>(..)?;
    /// assert!(!pages.contains_key("draft:anna")?);
    /// assert!(pages.contains_key("page:anna")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn retain_rule(mut self, rule: Arc<dyn RetainRule>) -> KeyspaceOptions {
        self.retain = Some(rule);
        self
    }

    /// How keys compare, when not bytewise: one that the builder was given, too, when the database
    /// was opened. It can never be changed.
    pub fn comparator(mut self, comparator: Comparator) -> KeyspaceOptions {
        self.comparator = comparator;
        self
    }

    /// How long a put lives that does not say otherwise, rounded up to whole milliseconds; zero,
    /// the default, is for ever. Merge operands have no expiry. It counts as that of
    /// [`put_with_ttl`](crate::Keyspace::put_with_ttl) does; one that is no whole number of seconds
    /// raises the format of the database, and an older Esker refuses it from then on.
    pub fn ttl(mut self, ttl: Duration) -> KeyspaceOptions {
        self.ttl_ms = ttl_millis(ttl).min(TTL_MS_MAX);
        self
    }

    /// How new sorted files are compressed.
    pub fn compression(mut self, compression: Compression) -> KeyspaceOptions {
        self.sst.compression = compression;
        self
    }

    /// A setting of the catalogue by its name. `Invalid` for an unknown name, for a setting of the
    /// database, and for an impossible value.
    pub fn set(mut self, name: &str, text: &str) -> Result<KeyspaceOptions> {
        set_keyspace(&mut self, name, text)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
