//! Finds a place among the entries of a block without putting keys together.

use std::cmp::Ordering;

use crate::base::codec::fixed::u64_at;
use crate::base::types::error::Result;
use crate::base::types::key::Trailer;
use crate::base::types::prefix::common_len;
use crate::store::sst::block::checked::damaged_entry;
use crate::store::sst::block::format::{Head, whole_at};

/// The first entry that is not before the target of a search.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Its offset.
    pub at: usize,
    /// Its parts. What it shares with the entry before it also shares with the target: of its
    /// user key the first `head.shared` bytes are those of the target's.
    pub head: Head,
    /// Its trailer, when it is an entry of the target's user key.
    pub trailer: Option<Trailer>,
}

/// The first entry, from the one at `start` on, that is not before the internal key of `user_key`
/// and `newest`, in the bytewise order; `None` when all are. `start` is the offset of a restart,
/// and nothing before it is wanted.
///
/// Walks without putting any key together. `alike` is how many bytes the entry before begins with
/// like the wanted key, which is behind it. An entry that shares more than that with the entry
/// before differs from the wanted key where that one does, so it is before the wanted key too;
/// one that shares less is behind.
#[inline]
pub fn first_not_before(
    entries: &[u8],
    start: usize,
    user_key: &[u8],
    newest: Trailer,
) -> Result<Option<Reached>> {
    let mut next = start;
    let mut alike = 0;
    while next < entries.len() {
        let at = next;
        let head = whole_at(entries, at).ok_or_else(damaged_entry)?;
        next = head.value_end;
        if head.shared > alike {
            continue;
        }
        if head.shared < alike {
            if head.shared > 0 {
                return reached(entries, at, head, None);
            }
            // At a restart it shares nothing whatever its key is.
            alike = 0;
        }
        let suffix = &entries[head.suffix_start..head.trailer_start];
        let rest = &user_key[alike..];
        // Mostly the first byte decides: keys of one interval are close to one another.
        if let (Some(own), Some(wanted)) = (suffix.first(), rest.first())
            && own != wanted
        {
            if own > wanted {
                return reached(entries, at, head, None);
            }
            continue;
        }
        let common = common_len(suffix, rest);
        let by_key = match (suffix.get(common), rest.get(common)) {
            (None, None) => Ordering::Equal,
            (own, other) => own.cmp(&other),
        };
        match by_key {
            Ordering::Less => {}
            Ordering::Greater => return reached(entries, at, head, None),
            Ordering::Equal => {
                let raw = u64_at(entries, head.trailer_start).ok_or_else(damaged_entry)?;
                let trailer = Trailer::checked(raw).ok_or_else(damaged_entry)?;
                if trailer <= newest {
                    return reached(entries, at, head, Some(trailer));
                }
            }
        }
        alike += common;
    }
    Ok(None)
}

fn reached(
    entries: &[u8],
    at: usize,
    head: Head,
    trailer: Option<Trailer>,
) -> Result<Option<Reached>> {
    if !head.is_of_point_kind(entries) {
        return Err(damaged_entry());
    }
    Ok(Some(Reached { at, head, trailer }))
}
