//! Up to when a value is what is there, for who writes because of it.

use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::flow::read::get::{Lookup, LookupMode, ReadAt, Stored, Valued, search};
use crate::flow::read::view::View;

impl Stored {
    /// Up to when it is what is there: operands make something else once what lies below them has
    /// ended.
    pub fn alive_until(&self) -> Option<Expiry> {
        match self {
            Stored::Folded(_, base) => *base,
            Stored::Here(_) | Stored::Separated(..) => self.expiry(),
        }
    }
}

/// The value of `key` with its expiry, if it has one, and up to when that is what is there: see
/// [`Stored::alive_until`]. Errors as [`get`](crate::flow::read::get::get).
pub fn get_lasting(
    view: &View,
    key: &[u8],
    at: &ReadAt,
) -> Result<Option<(Valued, Option<Expiry>)>> {
    let mut lookup = Lookup::new(key, at, LookupMode::Value);
    search(view, &mut lookup)?;
    let alive_until = lookup.base_expiry();
    Ok(lookup.finish(view)?.map(|valued| (valued, alive_until)))
}
