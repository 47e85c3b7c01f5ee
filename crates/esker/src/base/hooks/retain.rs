//! What a retain rule is: a user's say in which values live on when files are rewritten.

use std::fmt;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::user_code;

/// Says which values of a keyspace live on when compactions rewrite them: what is known elsewhere
/// as a compaction filter. See [`Builder::retain_rule`](crate::Builder::retain_rule) and
/// [`KeyspaceOptions::retain_rule`](crate::KeyspaceOptions::retain_rule).
///
/// The rule is asked at times that nobody promises: for any one value never, once or often, by
/// several threads at once. What it says must follow from the entry and the time that comes with it
/// alone, and what it has dropped once it must drop whenever it is asked again: until a compaction
/// comes by, readers go on seeing the value. Only [`compact`](crate::Keyspace::compact) asks about
/// everything in its range. A flush asks about nothing.
///
/// It is asked about whole values: not about merge operands, nor about a value that they lie over
/// in the same files, only about what both make. It is not asked about what a snapshot or a
/// transaction sees that was there when the compaction began. One that begins while a compaction is
/// under way may lose what that drops, as it may lose what expires, and never gains anything. What
/// is dropped is gone with all its older versions, as if deleted; for transactions it is no write.
///
/// The rule is not part of the database: whoever opens it without one reads the same entries, and
/// drops none.
///
/// It is called in the middle of compactions. So it must not use the database: every operation
/// called from here is refused as `Invalid`, or panics if it cannot return an error. A rule that
/// panics or returns an error ends its compaction, which [`compact`](crate::Keyspace::compact)
/// returns and [`stats`](crate::Db::stats) lists; from then on compactions by themselves go without
/// the rule, so that the tree keeps its shape, until somebody calls `compact` or gives the keyspace
/// a rule.
pub trait RetainRule: Send + Sync {
    /// The name by which statistics and errors call it.
    fn name(&self) -> &str;

    /// Whether an entry lives on. Errors: those of reading its value, and any reason not to say;
    /// a value that is damaged is kept, whatever the rule says then.
    fn retain(&self, entry: &RetainEntry<'_>) -> Result<Retain>;
}

impl fmt::Debug for dyn RetainRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RetainRule({})", self.name())
    }
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retain {
    /// It lives on.
    Keep,
    /// It goes, as if it were deleted.
    Drop,
}

/// An entry that a [`RetainRule`] is asked about.
pub struct RetainEntry<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// When it ends by itself; `None` when it stays.
    pub expiry: Option<Expiry>,
    /// The level that it is about to be written to.
    pub level: usize,
    /// What time it is for the keyspace, in unix milliseconds: by the machine's clock, or by its
    /// own ([`has_own_clock`](crate::KeyspaceOptions::has_own_clock)) as far as that is on the
    /// medium, so that no crash takes it back. A rule that drops what is over asks this, and no
    /// clock.
    pub now_unix_ms: u64,
    pub(crate) value: &'a dyn RetainedValue,
}

/// A value that is read when somebody asks for it.
pub trait RetainedValue {
    /// The value.
    fn value(&self) -> Result<&[u8]>;
}

impl RetainEntry<'_> {
    /// Its value, which is read, or uncompressed, by this call if it has to be. Whoever decides by
    /// the key or the expiry alone leaves large and compressed values unread.
    pub fn value(&self) -> Result<&[u8]> {
        self.value.value()
    }
}

impl fmt::Debug for RetainEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetainEntry")
            .field("key", &self.key)
            .field("expiry", &self.expiry)
            .field("level", &self.level)
            .field("now_unix_ms", &self.now_unix_ms)
            .finish_non_exhaustive()
    }
}

/// Why a rule did not say.
#[derive(Debug)]
pub struct NotTold(String);

impl fmt::Display for NotTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The only way in which the engine asks a rule: marked, and its panics caught.
pub fn ask(rule: &dyn RetainRule, entry: &RetainEntry<'_>) -> std::result::Result<Retain, NotTold> {
    user_code::catch(|| rule.retain(entry))
        .map_err(|text| NotTold(format!("it panicked: {text}")))?
        .map_err(|error| NotTold(format!("it refused: {error}")))
}

/// A retain rule made of a name and a function: for what needs no type of its own.
///
/// ```
/// use esker::{Retain, retain};
///
/// let drafts = retain::by("drafts", |entry| {
///     Ok(if entry.key.starts_with(b"draft:") { Retain::Drop } else { Retain::Keep })
/// });
/// assert_eq!(drafts.name(), "drafts");
/// ```
pub fn by(
    name: &str,
    retain: impl Fn(&RetainEntry<'_>) -> Result<Retain> + Send + Sync + 'static,
) -> Arc<dyn RetainRule> {
    Arc::new(RetainBy {
        name: name.into(),
        retain,
    })
}

struct RetainBy<F> {
    name: Box<str>,
    retain: F,
}

impl<F: Fn(&RetainEntry<'_>) -> Result<Retain> + Send + Sync> RetainRule for RetainBy<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn retain(&self, entry: &RetainEntry<'_>) -> Result<Retain> {
        (self.retain)(entry)
    }
}
