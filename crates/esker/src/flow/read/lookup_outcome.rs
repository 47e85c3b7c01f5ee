//! What one entry means for its key.

use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;

/// What one visible entry that no range deletion hides means for its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupOutcome {
    /// The key has a value.
    Value(Part),
    /// The key has no value.
    Gone,
    /// The entry is an operand: the key's value needs older entries too.
    Operand,
}

impl LookupOutcome {
    /// When the value ends; `None` when it stays or is none.
    pub fn expiry(&self) -> Option<Expiry> {
        match self {
            LookupOutcome::Value(part) => part.expiry,
            LookupOutcome::Gone | LookupOutcome::Operand => None,
        }
    }
}

/// The user's part of a raw value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where in the raw value it begins.
    pub start: usize,
    /// When it ends.
    pub expiry: Option<Expiry>,
    /// Whether what lies there is a pointer into the value log.
    pub is_separated: bool,
}

impl Part {
    /// All of a value that is at hand and stays.
    pub const WHOLE: Part = Part {
        start: 0,
        expiry: None,
        is_separated: false,
    };
}

/// What an entry means at `now_unix_ms`. That and its raw value are asked for only where they
/// matter: the value may have to be uncompressed first.
///
/// # Errors
/// `Corruption` for an entry that cannot be among point entries, or that is cut short; those of
/// `raw`.
#[inline]
pub fn outcome<'a>(
    user_key: &[u8],
    trailer: Trailer,
    raw: impl FnOnce() -> Result<&'a [u8]>,
    now_unix_ms: impl FnOnce() -> u64,
) -> Result<LookupOutcome> {
    Ok(match trailer.kind() {
        kind @ (Kind::Put | Kind::PutSeparated) => LookupOutcome::Value(Part {
            start: 0,
            expiry: None,
            is_separated: kind.is_separated(),
        }),
        Kind::Delete => LookupOutcome::Gone,
        Kind::Merge | Kind::MergeFolded => LookupOutcome::Operand,
        kind @ (Kind::PutExpiring
        | Kind::PutSeparatedExpiring
        | Kind::PutExpiringMillis
        | Kind::PutSeparatedExpiringMillis) => match Expiry::split(kind, raw()?) {
            None => return Err(damaged(user_key, trailer, "no expiry")),
            Some((expiry, _)) if expiry.is_past(now_unix_ms()) => LookupOutcome::Gone,
            Some((expiry, _)) => LookupOutcome::Value(Part {
                start: kind.expiry_bytes(),
                expiry: Some(expiry),
                is_separated: kind.is_separated(),
            }),
        },
        Kind::RangeDelete => {
            return Err(damaged(user_key, trailer, "the kind of a range deletion"));
        }
    })
}

#[cold]
fn damaged(user_key: &[u8], trailer: Trailer, what: &str) -> Error {
    Error::corruption(format!(
        "the entry of key b\"{}\" with sequence number {} has {what}",
        user_key.escape_ascii(),
        trailer.seqno(),
    ))
}
