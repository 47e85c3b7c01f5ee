//! One borrowed entry: internal key and value.

use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;

/// One entry as it lies in a memtable, a block or a merge of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The user's key.
    pub key: &'a [u8],
    /// Sequence number and kind.
    pub trailer: Trailer,
    /// The raw value: for [`Kind::PutExpiring`] with the expiry in front.
    pub value: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry with an encoded internal key that is known to be whole.
    pub fn from_internal(internal: &'a [u8], value: &'a [u8]) -> Entry<'a> {
        let (key, trailer) = key::split(internal);
        Entry {
            key,
            trailer,
            value,
        }
    }

    /// The sequence number.
    pub fn seqno(&self) -> SeqNo {
        self.trailer.seqno()
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.trailer.kind()
    }

    /// When its value ends, if its kind says that it does. `Corruption` when it does not say when.
    pub fn expiry(&self) -> Result<Option<Expiry>> {
        if !self.kind().is_expiring() {
            return Ok(None);
        }
        match Expiry::split(self.kind(), self.value) {
            Some((expiry, _)) => Ok(Some(expiry)),
            None => Err(Error::corruption(
                "an expiring value without a valid expiry",
            )),
        }
    }
}
