//! Asks a user's retain rule about entries that are being rewritten.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::hooks::retain::{self, Retain, RetainEntry, RetainRule, RetainedValue};
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::Level;
use crate::base::types::shown_key::shown_key;
use crate::flow::read::lookup_outcome::Part;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;

/// The retain rule of a keyspace, as a compaction asks it.
#[derive(Clone, Debug)]
pub struct Retaining {
    /// The rule.
    pub rule: Arc<dyn RetainRule>,
    /// Name of the keyspace.
    pub keyspace: Arc<str>,
    /// Where survivors are written to.
    pub level: Level,
    /// What time it is for the keyspace.
    pub now_unix_ms: u64,
    /// Set when the rule fails.
    pub has_failed: Arc<AtomicBool>,
}

impl Retaining {
    /// Whether the rule drops the value that is that part of what `raw` gives.
    ///
    /// Errors: those of reading the value, but for damage: what cannot be read is kept for whoever
    /// reads it to be told. `Invalid` when the rule panics or will not say.
    pub fn drops<'a>(
        &self,
        key: &[u8],
        part: Part,
        raw: &dyn Fn() -> Result<&'a [u8]>,
        values: &OpenValues,
    ) -> Result<bool> {
        let value = LazyValue {
            part,
            raw,
            values,
            read: OnceCell::new(),
            failure: RefCell::new(None),
        };
        let entry = RetainEntry {
            key,
            expiry: part.expiry,
            level: self.level.index(),
            now_unix_ms: self.now_unix_ms,
            value: &value,
        };
        let told = retain::ask(&*self.rule, &entry);
        match (value.failure.into_inner(), told) {
            (Some(error), _) if error.kind() == ErrorKind::Corruption => Ok(false),
            (Some(error), _) => Err(error),
            (None, Ok(retain)) => Ok(retain == Retain::Drop),
            (None, Err(reason)) => Err(self.failed(key, &reason)),
        }
    }

    #[cold]
    fn failed(&self, key: &[u8], reason: &retain::NotTold) -> Error {
        // Relaxed: whoever asks does so after the job, behind the lock of the books.
        self.has_failed.store(true, Ordering::Relaxed);
        Error::invalid(format!(
            "retain rule `{}` of keyspace `{}` did not say whether key {} lives on: {reason}; \
             until somebody compacts by hand, or gives the keyspace a rule, compactions go \
             without it",
            self.rule.name(),
            self.keyspace,
            shown_key(key),
        ))
    }
}

/// A value that is read when it is asked for.
struct LazyValue<'r, 'a> {
    part: Part,
    raw: &'r dyn Fn() -> Result<&'a [u8]>,
    values: &'r OpenValues,
    /// One that lies apart, once it was read.
    read: OnceCell<Bytes>,
    failure: RefCell<Option<Error>>,
}

impl RetainedValue for LazyValue<'_, '_> {
    fn value(&self) -> Result<&[u8]> {
        self.get().inspect_err(|error| {
            self.failure.replace(Some(error.again()));
        })
    }
}

impl LazyValue<'_, '_> {
    fn get(&self) -> Result<&[u8]> {
        let part = &(self.raw)()?[self.part.start..];
        if !self.part.is_separated {
            return Ok(part);
        }
        if let Some(value) = self.read.get() {
            return Ok(value);
        }
        let value = self.values.value(&ValuePointer::decode(part)?)?;
        Ok(self.read.get_or_init(|| value))
    }
}
