//! What a merge knows of a source's entry: nearly always enough to tell which comes first.

use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::Way;
use crate::base::types::key::{self, Trailer};
use crate::base::types::prefix::KeyHead;
use crate::base::types::seqno::SeqNo;

/// What is known of a source's entry: all that decides, where user keys are short.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Of the user key; where the order is not bytewise, one that decides nothing. Of a source
    /// without an entry, one with the last prefix in the direction of movement.
    pub key: KeyHead,
    /// Of the entry.
    pub trailer: Trailer,
    /// Whether there is an entry.
    pub is_valid: bool,
}

impl Head {
    /// Of the entry with that internal key.
    #[inline]
    pub fn of(internal_key: &[u8], comparator: &Comparator) -> Head {
        let (user_key, trailer) = key::split(internal_key);
        let key = match comparator.is_bytewise() {
            true => KeyHead::of(user_key),
            false => KeyHead {
                prefix: 0,
                len: usize::MAX,
            },
        };
        Head {
            key,
            trailer,
            is_valid: true,
        }
    }

    /// Of a source without an entry, which comes last.
    pub fn of_none(way: Way) -> Head {
        let prefix = match way {
            Way::Forward => u128::MAX,
            Way::Back => 0,
        };
        Head {
            key: KeyHead { prefix, len: 0 },
            trailer: Trailer::seek(SeqNo::ZERO),
            is_valid: false,
        }
    }
}
