//! A value that is read when somebody wants it.

use std::sync::OnceLock;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::flow::read::values::follow;
use crate::store::vlog::open_values::OpenValues;

/// A user's value, or where it lies apart; then it is read once, by who asks first. So a walk over
/// keys reads no large value.
#[derive(Debug, Default)]
pub struct LazyValue {
    part: Bytes,
    is_separated: bool,
    expiry: Option<Expiry>,
    read: OnceLock<Bytes>,
}

impl LazyValue {
    /// A value that is there.
    pub fn here(value: Bytes) -> LazyValue {
        LazyValue::of(value, false)
    }

    /// The value itself, or the pointer to it when it lies apart.
    pub fn of(part: Bytes, is_separated: bool) -> LazyValue {
        let read = OnceLock::new();
        LazyValue {
            part,
            is_separated,
            expiry: None,
            read,
        }
    }

    /// The same value, which ends then; `None` where it stays.
    pub fn until(self, expiry: Option<Expiry>) -> LazyValue {
        LazyValue { expiry, ..self }
    }

    /// When the value ends; `None` when it stays.
    pub fn expiry(&self) -> Option<Expiry> {
        self.expiry
    }

    /// The value.
    ///
    /// Errors: those of reading it; asked again, it is read again.
    pub fn get(&self, values: &OpenValues) -> Result<&Bytes> {
        if !self.is_separated {
            return Ok(&self.part);
        }
        if let Some(value) = self.read.get() {
            return Ok(value);
        }
        let value = follow(values, self.part.clone(), true)?;
        Ok(self.read.get_or_init(|| value))
    }
}
